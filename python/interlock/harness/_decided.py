"""A decision that a workflow makes between its steps, as a step of its own in the record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock import _core
from interlock.record.rollout import Step

if TYPE_CHECKING:
    from interlock._wire import WireForm
    from interlock.harness._walk import Walk
    from interlock.record.rollout import StepStatus

__all__ = ["note_decision"]


async def note_decision(
    walk: Walk, name: str, decided: WireForm, status: StepStatus = "completed"
) -> None:
    """Record the full answer of a decision tool; it counts as no step and no ceiling holds it."""
    at = _core.format_instant(walk.run.clock.now())
    await walk.note(
        Step(
            path=walk.place(name),
            name=name,
            kind="decision",
            status=status,
            started_at=at,
            ended_at=at,
            decision=decided.to_dict(),
        )
    )
