"""The model-facing form of the tools that look at an instant; left out, the clock says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlock.tools import _clock
from interlock.tools.deadline_check import DeadlineResult, deadline_check
from interlock.tools.sequence_run import SequenceRun, input_problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlock._compiled import CompiledSpec
    from interlock.errors import Problem

__all__ = ["check_deadline", "moment_for", "plan_problems"]


def check_deadline(**given: object) -> DeadlineResult:
    """Ask DeadlineCheck; null is the same as leaving a field out, `now` is then the clock's.

    Raises:
        InputInvalid: With every problem found.
    """
    named: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if "now" not in named:
        named["now"] = _clock.read()
    return deadline_check(**named)


def moment_for(compiled: CompiledSpec) -> int | None:
    """Read the clock for a spec that looks at an instant; nothing for the others."""
    needed = isinstance(compiled, SequenceRun) and compiled.uses_now
    return _clock.read() if needed else None


def plan_problems(steps: object, options: Mapping[str, object], now: object) -> list[Problem]:
    """Say what is wrong with the rest of a call of SequenceRun that is refused anyhow."""
    completed, failed = options.get("completed", ()), options.get("failed", ())
    return input_problems(steps, options.get("now", now), completed, failed)
