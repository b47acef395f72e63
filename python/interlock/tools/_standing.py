"""Where a step of a sequence stands, by what it needs: one rule, for a plan and for a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock import _core
from interlock.tools._plan import HeldStep

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from interlock.tools._steps import Step
    from interlock.typing import SequenceState

__all__ = ["DEAD", "held", "standing", "state_of"]

DEAD = {
    "failed": "which failed",
    "skipped": "which was skipped",
    "unreachable": "which is unreachable",
}
"""States of a need behind which nothing can run, in words."""
_PENDING = {
    "ready": "which is not done",
    "waiting": "which waits itself",
    "undetermined": "which is undetermined",
}
_STATES: tuple[tuple[frozenset[str], SequenceState], ...] = (
    (frozenset({"ready"}), "ready"),
    (frozenset({"waiting", "undetermined"}), "blocked"),
    (frozenset({"failed", "unreachable"}), "halted"),
)


def standing(step: Step, known: Mapping[int, str], now: int) -> str | None:
    """Say where a step stands by its needs and its time; None: its own conditions decide.

    Args:
        step: The step.
        known: The states of the steps that it needs, by position.
        now: The present instant, in epoch milliseconds.
    """
    needed = [known[need] for need in step.needs]
    if any(state in DEAD for state in needed):
        return "unreachable"
    if any(state != "completed" for state in needed):
        return "waiting"
    return "waiting" if step.after is not None and step.after > now else None


def held(steps: Sequence[Step], index: int, known: Mapping[int, str], now: int) -> HeldStep:
    """Say why a step is unreachable or waits: by its needs, or by its time."""
    step, words = steps[index], DEAD if known[index] in DEAD else _PENDING
    reason = "; ".join(
        f"needs {_core.preview(steps[need].id)}, {words[known[need]]}"
        for need in step.needs
        if known[need] in words
    )
    if reason or step.after is None:
        return HeldStep(id=step.id, reason=reason)
    reason = f"is not due before {_core.format_instant(step.after)}"
    return HeldStep(id=step.id, reason=reason, due_in_ms=step.after - now)


def state_of(found: Collection[str]) -> SequenceState:
    """Say where a sequence stands by the states of its steps."""
    for states, state in _STATES:
        if not states.isdisjoint(found):
            return state
    return "finished"
