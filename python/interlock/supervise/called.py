"""The list of the runbooks that a runbook calls: what is done, what runs, what waits and for what.

Nothing is run by it: it tells how far a procedure made of procedures has come.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from interlock.record._data import Record
from interlock.supervise._graph import reachable
from interlock.tools.sequence_run import SequenceRun

if TYPE_CHECKING:
    from interlock.supervise.policy import Policy
    from interlock.supervise.state import RunState

__all__ = ["CallList", "HeldCall", "call_list"]


@dataclass(frozen=True, slots=True)
class HeldCall(Record):
    """A call that has not begun, and why: what it needs, as SequenceRun says."""

    step: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallList(Record):
    """How far the calls of a procedure made of procedures have come.

    Those of the runbook that was started, in the order of the document. A call needs the last of
    those that every way to it leads through. One that was entered again stands where it stands by
    now.

    Attributes:
        total: How many steps of kind call there are that can be come to.
        done: Those whose runbook has come to an end, and which were left.
        running: The one that the run is in; None where it is in none.
        failed: Those in which the run has ended.
        open: Those that need no other one any more.
        waiting: Those that need one that is not done or, after the end of the run, cannot be.
    """

    total: int
    done: tuple[str, ...] = ()
    running: str | None = None
    failed: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    waiting: tuple[HeldCall, ...] = ()

    def __str__(self) -> str:
        return f"{len(self.done)} of {self.total} done"


def call_list(policy: Policy, state: RunState) -> CallList | None:
    """Say how far the calls of a run have come; None where its runbook calls none.

    Args:
        policy: What the run follows.
        state: Where it stands.
    """
    listed = _compiled(policy)
    if listed is None:
        return None
    sequence, ids = listed
    outermost = state.stack[0] if state.stack else None
    visits = state.visits if outermost is None else outermost.visits
    at = state.current if outermost is None else outermost.step
    entered = [one for one in ids if visits.get(one)]
    done = [one for one in entered if one != at]
    failed = [one for one in entered if one == at and state.is_over]
    running = next((one for one in entered if one == at and not state.is_over), None)
    plan = sequence.plan({}, now=None, completed=done, failed=failed)
    return CallList(
        total=len(ids),
        done=plan.completed,
        running=running,
        failed=plan.failed,
        open=tuple(one.id for one in plan.ready if one.id != running),
        waiting=tuple(HeldCall(one.id, one.reason) for one in (*plan.waiting, *plan.unreachable)),
    )


# PERF: a card is made before every turn of a loop, and the ways of a policy are always the same.
@lru_cache(maxsize=32)
def _compiled(policy: Policy) -> tuple[SequenceRun, tuple[str, ...]] | None:
    """Compile the calls of a policy; None where there are none."""
    leads_to = {step.id: step.transitions for step in policy.steps.values()}
    there = reachable([policy.entry], leads_to)
    ids = [one.id for one in policy.steps.values() if one.calls is not None and one.id in there]
    if not ids:
        return None
    passed: dict[str, list[str]] = {one: [] for one in ids}
    for need in ids:
        met = reachable([policy.entry], {**leads_to, need: ()})
        for one in ids:
            if one not in met:
                passed[one].append(need)
    # Of those that every way leads through, the last is the one that itself needs all the others.
    steps = [
        {"id": one, "needs": sorted(needs, key=lambda need: len(passed[need]))[-1:]}
        for one, needs in passed.items()
    ]
    return SequenceRun(steps, limits={"rules": len(ids)}), tuple(ids)
