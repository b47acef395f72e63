"""How a run moves from step to step, and comes to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock import _core
from interlock.supervise._arrive import ask_to_pass, asks_first, deviate, entering, take_edge
from interlock.supervise._draft import Draft, Instant, Transition, begin, read_now
from interlock.supervise.questions import ask, denied, granted, lapse
from interlock.supervise.shown import decided

if TYPE_CHECKING:
    from interlock.supervise.asked import Question
    from interlock.supervise.parts import Exit, Via
    from interlock.supervise.policy import Policy, PolicyStep
    from interlock.supervise.state import RunState

__all__ = ["advance", "fail", "finish", "out_of_time"]


def advance(
    policy: Policy,
    state: RunState,
    to: str,
    *,
    now: Instant = None,
    via: Via | None = None,
    by: str | None = None,
) -> Transition:
    """Leave the current step for another, or for a terminal.

    Looked at in this order: whether the run is over; the wall clock; whether the step leads there
    (else `out-of-order-step`); whether what it must show has been shown (else `unchecked-advance`);
    what a decision says; who must agree; the budgets of edge and step.

    Args:
        policy: What the run follows.
        state: Where it stands.
        to: The step or terminal.
        now: The instant.
        via: What leads there, where two edges lead to one target; of a decision the facts say it.
        by: Who has done a manual step; needed there, and not the agent, unless people alone carry
            the runbook out.

    Raises:
        PolicyMismatch: When the run follows another policy.
        ConfigError: When `now` is no instant.
    """
    draft = begin(policy, state, now)
    if isinstance(draft, Transition):
        return draft
    lapse(draft)
    if paused := _paused(draft):
        return paused
    exits = [one for one in draft.step.exits if one.target == to and via in (None, one.via)]
    if not exits:
        targets = ", ".join(draft.step.transitions)
        by_edge = "" if via is None else f" by {via}"
        said = f"step {draft.step.id} does not lead to {_core.preview(to)}{by_edge}; it leads to "
        said += targets
        deviate(draft, "out-of-order-step", "move/no-such-edge", said)
        return draft.done()
    if draft.step.kind != "decision" and len({one.via for one in exits}) > 1:
        ways = ", ".join(str(one.via) for one in exits)
        draft.event("blocked", "move/via-needed", f"several edges lead to {to}: say via ({ways})")
        return draft.done()
    return _leave(draft, exits[0], by)


def _paused(draft: Draft) -> Transition | None:
    """Hold a run of which a person has to say whether it goes on."""
    question = next((one for one in draft.state.pending if one.kind == "continue"), None)
    if question is None:
        return None
    draft.event("blocked", "run/paused", f"{question.id} is open: {question.text}")
    return draft.done(question)


def _leave(draft: Draft, way: Exit, by: str | None) -> Transition:
    """Take an edge that is there, where nothing stands against it."""
    step = draft.step
    is_success = way.via == "next"
    if is_success and step.verify is not None and not draft.state.verified:
        said = (
            f"step {step.id} was to be left by its success edge, and what it must show is not shown"
        )
        deviate(draft, "unchecked-advance", "verify/unmet", said)
        return draft.done()
    if step.kind == "decision":
        target, reason = decided(step, draft.state)
        if way.target != target:
            deviate(draft, "out-of-order-step", "decision/elsewhere", reason)
            return draft.done()
    held = _held(draft, step, way, by)
    if held is not None:
        return held
    if is_success and step.verify is None and step.kind != "approval":
        place = draft.state.place(step.id)
        if place not in draft.state.unchecked:
            draft.change(unchecked=(*draft.state.unchecked, place))
    take_edge(draft, way.target, "run/advanced", f"{step.id}->{way.target}{_who(by)}")
    return draft.done()


def _who(by: str | None) -> str:
    return f" by {by}" if by else ""


def _held(draft: Draft, step: PolicyStep, way: Exit, by: str | None) -> Transition | None:
    """Say what keeps the run where it is, without being a departure; None where nothing does."""
    state, is_success = draft.state, way.via in ("next", None)
    if is_success and not state.admitted:
        return _unadmitted(draft, step)
    if unsigned := _unsigned(draft, by):
        return unsigned
    if way.via == "next" and state.open:
        calls = ", ".join(one.call_id for one in state.open)
        said = f"calls without an outcome ({calls}): observe them before step {step.id} is left"
        draft.event("blocked", "call/open", said)
        return draft.done()
    if way.via == "timeout" and step.wait is not None and not _waited(draft, step.wait.max_s):
        said = f"step {step.id} waits {step.wait.max_s:g} s before it is left by its timeout"
        draft.event("blocked", "wait/not-over", said)
        return draft.done()
    return _at_gate(draft, way.target)


def _unsigned(draft: Draft, by: str | None) -> Transition | None:
    """Hold a run at what a person does, until it is said who has done it, or given it up."""
    step, agent = draft.step, draft.state.agent_identity
    if step.kind != "manual" or (by and (by != agent or draft.is_by_people)):
        return None
    said = f"step {step.id} is done by a person other than {agent}: say who in `by`"
    draft.event("blocked", "manual/by-needed", said)
    return draft.done()


def _waited(draft: Draft, seconds: float) -> bool:
    """Say whether a step was waited in long enough, as far as there is a clock."""
    entered, at = draft.state.entered_at, draft.state.last_now if draft.now is None else draft.now
    return entered is None or at is None or at - entered >= seconds


def _unadmitted(draft: Draft, step: PolicyStep) -> Transition:
    """Hold a run at a step that people have not agreed to."""
    if denied(draft.state, entering(draft.state, step, draft.state.visit)) is not None:
        said = f"step {step.id} was not agreed to; it can only be left as a failure"
        deviate(draft, "unchecked-advance", "gate/denied", said)
        return draft.done()
    return _asked(draft, ask_to_pass(draft, step))


def _at_gate(draft: Draft, to: str) -> Transition | None:
    """Hold a run before a step that people must agree to first."""
    target, state = draft.here.steps.get(to), draft.state
    gate = None if target is None or target.kind == "approval" else target.gate
    if target is None or gate is None or not asks_first(target):
        return None
    visit = state.visits.get(target.id, 0) + 1
    digest = entering(state, target, visit)
    if granted(state, digest, draft.now) is not None:
        return None
    if denied(state, digest) is not None:
        draft.event("blocked", "gate/denied", f"step {target.id} was not agreed to")
        return draft.done()
    return _asked(draft, ask(draft, gate, target, kind="enter", visit=visit, digest=digest))


def _asked(draft: Draft, question: Question | str) -> Transition:
    if isinstance(question, str):
        draft.event("blocked", "gate/nobody", question)
        return draft.done()
    return draft.done(question)


def fail(
    policy: Policy, state: RunState, code: str, *, now: Instant = None, by: str | None = None
) -> Transition:
    """Say that the current step has failed: it is left by its failure edge.

    A step without one is a departure, `unrouted-failure`.

    Args:
        policy: What the run follows.
        state: Where it stands.
        code: Why, as a word.
        now: The instant.
        by: Who says so of a manual step; needed there, and not the agent.

    Raises:
        PolicyMismatch: When the run follows another policy.
        ConfigError: When `now` is no instant.
    """
    draft = begin(policy, state, now)
    if isinstance(draft, Transition):
        return draft
    if held := _paused(draft) or _unsigned(draft, by):
        return held
    step = draft.step
    way = next((one for one in step.exits if one.via == "failure"), None)
    if way is None:
        said = f"step {step.id} failed ({code}) and does not say what then"
        deviate(draft, "unrouted-failure", "step/unrouted-failure", said)
        return draft.done()
    held = _at_gate(draft, way.target)
    if held is not None:
        return held
    take_edge(
        draft, way.target, "step/failed", f"{step.id}->{way.target}: failed ({code}){_who(by)}"
    )
    return draft.done()


def finish(policy: Policy, state: RunState, *, now: Instant = None) -> Transition:
    """Say that the work is done: where no terminal was reached, that is a departure.

    Raises:
        PolicyMismatch: When the run follows another policy.
        ConfigError: When `now` is no instant.
    """
    draft = begin(policy, state, now)
    if isinstance(draft, Transition):
        return draft
    if paused := _paused(draft):
        return paused
    said = f"the run stands at step {draft.step.id}, and that is no end of the procedure"
    deviate(draft, "terminal-not-reached", "run/not-at-terminal", said)
    return draft.done()


def out_of_time(state: RunState, now: Instant) -> bool:
    """Say whether a run is past the time it was given; exactly at its end it is not.

    Raises:
        ConfigError: When `now` is no instant.
    """
    at, limit, started = read_now(now), state.wall_clock_seconds, state.started_at
    return not (at is None or limit is None or started is None) and at - started > limit
