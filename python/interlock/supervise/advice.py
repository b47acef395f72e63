"""What is advised after a call that failed; it is told, and allows nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from interlock.record._data import Record
from interlock.supervise._allowance import budgets_of, edge_left, left_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlock.supervise.failed import FailedCall
    from interlock.supervise.policy import Policy, PolicyStep
    from interlock.supervise.state import RunState

__all__ = ["Advice", "advice_of"]

Way: TypeAlias = Literal["retry", "failure-edge", "escalate", "continue"]

_WAYS: dict[str, Way] = {
    "retry": "retry",
    "retry_after": "retry",
    "backoff": "retry",
    "reduce_input": "retry",
    "fail": "failure-edge",
    "skip": "continue",
    "continue": "continue",
    "escalate": "escalate",
    "reauth": "escalate",
}
"""What the actions of ErrorClassify come to in a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice(Record):
    """What is advised after a call that failed.

    Attributes:
        way: `retry`: call it again. `failure-edge`: leave the step as failed. `escalate`: a person
            is to look. `continue`: the step goes on without it.
        call_id: The call that failed.
        tool: The capability.
        error_class: What kind of error it was; `class` in data.
        action: What ErrorClassify says to it, of which the way was made.
        message: The same in words.
        to: Where the failure edge leads; None where there is none.
        back: The budgeted edge that leads back to where the run has been, as `from->to`; None where
            there is none, or it is spent.
        left: How often the call, or that edge where it is what is advised, may still be had; None:
            not bounded.
        wait_ms: How long to wait before, in milliseconds; None when nobody said.
    """

    way: Way
    call_id: str
    tool: str
    error_class: str = field(metadata={"name": "class"})
    action: str
    message: str
    to: str | None = None
    back: str | None = None
    left: int | None = None
    wait_ms: int | None = None


def advice_of(policy: Policy, here: Policy, state: RunState) -> Advice | None:
    """Say what is advised after the last call that failed, as things stand by now.

    Computed of policy and state alone. None where none failed in this visit of the step, or where
    the tool has answered since.

    Args:
        policy: What the run follows.
        here: The policy of the runbook that the run is in.
        state: Where it stands.
    """
    failed = state.failed
    if failed is None or state.is_over or state.current is None:
        return None
    if (failed.step, failed.visit) != (state.place(state.current), state.visit):
        return None
    step = here.steps[state.current]
    to, back = _failure_edge(here, state, step), _edge_back(here, state, step)
    rest = left_of(budgets_of(policy, state, step, failed.tool))
    way, why = _way(failed, _against(here, state, failed, rest), can_fail=to is not None)
    left = min((rest[kind] for kind in rest if kind != "tokens"), default=None)
    return Advice(
        way=way,
        call_id=failed.call_id,
        tool=failed.tool,
        error_class=failed.error_class,
        action=failed.action,
        message=_said(failed, way, why, to, back),
        to=to,
        back=back,
        left=left if way != "failure-edge" else edge_left(here, state, step.id, to or ""),
        wait_ms=failed.wait_ms if way == "retry" else None,
    )


def _failure_edge(here: Policy, state: RunState, step: PolicyStep) -> str | None:
    """Return where a step is left to when it fails; None where it is not, or the budget is spent.

    To take an edge whose budget is spent would end the run.
    """
    found = next((one.target for one in step.exits if one.via == "failure"), None)
    if found is None or edge_left(here, state, step.id, found) == 0:
        return None
    bound = here.visit_budgets.get(found)
    return None if bound is not None and state.visits.get(found, 0) >= bound else found


def _edge_back(here: Policy, state: RunState, step: PolicyStep) -> str | None:
    """Return the budgeted edge that leads to where the run has been, and may still be taken."""
    for target, via in step.exits:
        if via not in ("failure", "rollback", None) or not state.visits.get(target):
            continue
        if edge_left(here, state, step.id, target):
            return f"{step.id}->{target}"
    return None


def _against(here: Policy, state: RunState, failed: FailedCall, rest: Mapping[str, int]) -> str:
    """Say what stands against calling it again; empty where nothing does."""
    declared = here.tool_of(failed.tool)
    if 0 in rest.values():
        return "the budget of such calls is spent"
    if declared is not None and declared.idempotent is False:
        return "calling it twice is not as calling it once"
    limit, started, now = state.wall_clock_seconds, state.started_at, state.last_now
    if limit is None or started is None or now is None or failed.wait_ms is None:
        return ""
    is_late = now + failed.wait_ms / 1000 - started > limit
    return "the time of the run is over before that" if is_late else ""


def _way(failed: FailedCall, against: str, *, can_fail: bool) -> tuple[Way, str]:
    """Return what is advised, and why it is not what the kind of error asks for."""
    way, why = _WAYS.get(failed.action, "escalate"), ""
    if way == "retry" and against:
        way, why = "failure-edge", against
    if way == "failure-edge" and not can_fail:
        none = "there is no failure edge to leave by"
        way, why = "escalate", f"{why}, and {none}" if why else none
    return way, why


_WORDS: dict[Way, str] = {
    "retry": "call it again",
    "failure-edge": "leave the step by its failure edge",
    "escalate": "ask a person",
    "continue": "go on without it",
}


def _said(failed: FailedCall, way: Way, why: str, to: str | None, back: str | None) -> str:
    words = _WORDS[way]
    if way == "retry" and failed.action == "reduce_input":
        words += " with less"
    if way == "retry" and failed.wait_ms is not None:
        words += f" after {failed.wait_ms / 1000:g} s"
    if way == "failure-edge":
        words += f", which leads to {to}"
    if back is not None and way != "continue":
        words += f"; the edge {back} leads back"
    why = f" ({why})" if why else ""
    return f"{failed.tool} failed ({failed.error_class}); it is advised to {words}{why}"
