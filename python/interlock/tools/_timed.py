"""The model-facing form of the tools that look at an instant; left out, the clock says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlock import _core
from interlock._compiled import CompiledSpec, unknown_fields
from interlock.errors import ConfigError, Problem
from interlock.tools import _clock
from interlock.tools.deadline_check import DeadlineResult, deadline_check
from interlock.tools.sequence_run import SequenceRun, input_problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlock.tools._plan import SequencePlan

__all__ = ["PLAN_FIELDS", "check_deadline", "moment_for", "plan_problems", "plan_with"]

PLAN_FIELDS = ("completed", "failed", "now")
"""What a call of SequenceRun has beside the spec and the value."""

_DEADLINE_FIELDS = {
    "now": "now",
    "deadline": "deadline",
    "budgetMs": "budget_ms",
    "startedAt": "started_at",
    "stepCostMs": "step_cost_ms",
    "tightAt": "tight_at",
    "criticalAt": "critical_at",
}


def check_deadline(arguments: Mapping[str, object], now: object) -> DeadlineResult:
    """Ask DeadlineCheck; `now` stands for the clock.

    Raises:
        ConfigError: With every problem found.
    """
    given, problems = _in_one_spelling(arguments)
    problems += unknown_fields(given, tuple(_DEADLINE_FIELDS))
    named: dict[str, Any] = {
        name: given[field]
        for field, name in _DEADLINE_FIELDS.items()
        # Null is the same as leaving it out.
        if given.get(field) is not None
    }
    if "now" not in named:
        named["now"] = _clock.read() if now is None else now
    try:
        result = deadline_check(**named)
    except ConfigError as error:
        raise ConfigError((*problems, *error.problems)) from None
    if problems:
        raise ConfigError(tuple(problems))
    return result


def _in_one_spelling(arguments: Mapping[str, object]) -> tuple[dict[str, object], list[Problem]]:
    """Read `budget_ms` as `budgetMs`; both at once is refused."""
    spelled = {name: field for field, name in _DEADLINE_FIELDS.items()}
    given: dict[str, object] = {}
    problems: list[Problem] = []
    for name, value in arguments.items():
        field = spelled.get(name, name)
        if field in given:
            message = f"stands there a second time, as {name}"
            problems.append(Problem("spec/conflict", field, _core.preview(value), message))
        given[field] = value
    return given, problems


def moment_for(compiled: CompiledSpec) -> int | None:
    """Read the clock for a spec that looks at an instant; nothing for the others."""
    needed = isinstance(compiled, SequenceRun) and compiled.uses_now
    return _clock.read() if needed else None


def plan_with(
    compiled: SequenceRun, value: object, given: Mapping[str, object], now: object
) -> SequencePlan:
    """Ask SequenceRun with the progress that a call gives; `now` stands for the clock.

    Raises:
        ConfigError: With every problem found.
    """
    named: dict[str, Any] = {
        field: given[field] for field in PLAN_FIELDS if _is_given(given, field)
    }
    if "now" not in named:
        named["now"] = moment_for(compiled) if now is None else now
    return compiled.plan(value, **named)


def plan_problems(steps: object, given: Mapping[str, object], now: object) -> list[Problem]:
    """Say what is wrong with the rest of a call whose steps are refused."""
    completed, failed = (given[f] if _is_given(given, f) else () for f in PLAN_FIELDS[:2])
    return input_problems(steps, given.get("now", now), completed, failed)


def _is_given(given: Mapping[str, object], field: str) -> bool:
    return given.get(field) is not None
