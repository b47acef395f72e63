"""Nodes as they are run, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from interlock.harness._workflow import LIMITED
from interlock.harness.inputs import NodeOutcome
from interlock.record.reply import as_json_reply
from interlock.record.usage import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interlock.harness._callables import Call
    from interlock.harness._frame import Outcome
    from interlock.harness.inputs import NodeState
    from interlock.harness.judge import Judge
    from interlock.record.result import ResultStatus
    from interlock.record.usage import Usage
    from interlock.record.values import Reply
    from interlock.tools._steps import Step

__all__ = ["Done", "Fresh", "Job", "done_of", "held_back", "status_by"]


@dataclass(frozen=True, slots=True)
class Job:
    """A node as it is run.

    Attributes:
        step: Its id, the positions of its needs, its time, its parameters.
        call: What is called with its `Inputs`.
        judge: Its own condition; None where it has none.
        options: How its step is taken, as of `Walk.step`.
    """

    step: Step
    call: Call
    judge: Judge | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Done(NamedTuple):
    """What a node returned, as it did, and what became of it."""

    value: object
    outcome: NodeOutcome


class Fresh:
    """Reads an answer; what was handed on as it came in was counted where it came from."""

    def __init__(self, dones: Iterable[Done]) -> None:
        """Take what the callable was given."""
        self.given = [one for done in dones for one in (done.value, done.outcome.answer)]

    def __call__(self, value: object, *, step: str) -> Reply:
        """Read any JSON value, and all that `as_reply` takes."""
        reply = as_json_reply(value, step=step)
        is_given = value is not None and any(value is one for one in self.given)
        return replace(reply, usage=NOTHING) if is_given else reply


def done_of(node: str, outcome: Outcome, before: Usage) -> Done:
    """Say what became of a node that ran; its condition used something before."""
    error = outcome.step.error if not outcome.ok else None
    made = NodeOutcome(
        id=node,
        state="completed" if outcome.ok else "failed",
        answer=outcome.reply,
        error=error,
        reason=str(error or "failed") if not outcome.ok else "",
        usage=before + outcome.usage,
    )
    return Done(outcome.value, made)


def held_back(node: str, state: NodeState, said: Outcome, reason: str) -> Done:
    """Say what became of a node whose condition does not hold."""
    error = said.step.error if state == "undetermined" else None
    made = NodeOutcome(id=node, state=state, error=error, reason=reason, usage=said.usage)
    return Done(None, made)


def status_by(stopped_by: str, outcomes: Iterable[NodeOutcome]) -> ResultStatus:
    """Return the status of a run of nodes: completed when all of it was done."""
    if stopped_by in ("done", "cancelled"):
        return "completed" if stopped_by == "done" else "cancelled"
    states = {outcome.state for outcome in outcomes}
    if stopped_by in LIMITED or "completed" in states:
        return "incomplete"
    return "failed" if "failed" in states or not states else "incomplete"
