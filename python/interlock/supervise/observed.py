"""What became of a call that was allowed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from interlock import _core
from interlock._compiled import plain_problems
from interlock.errors import ConfigError, Problem
from interlock.supervise._draft import Draft, Instant, Transition, over, read_now
from interlock.supervise.advice import advice_of
from interlock.supervise.deviation import whether_to_go_on
from interlock.supervise.failed import judge
from interlock.supervise.parts import WATCHING
from interlock.supervise.shown import FACTS, check
from interlock.supervise.state import EscalationRules, Event, OpenCall, RunState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlock.supervise.asked import Question
    from interlock.supervise.policy import Policy

__all__ = ["observe"]

CallOutcome: TypeAlias = Literal["completed", "failed", "in_doubt"]
_WATCHED = EscalationRules.of(WATCHING)
_OUTCOMES = ("completed", "failed", "in_doubt")


def observe(  # noqa: PLR0913 (all by name)
    policy: Policy,
    state: RunState,
    call_id: str,
    outcome: CallOutcome,
    *,
    now: Instant = None,
    output: object = None,
    tokens: int = 0,
    error: str = "",
    failure: Mapping[str, object] | None = None,
) -> Transition:
    """Say what became of a call that was allowed.

    A step that is verified by the output of its tool is judged by it. A call in doubt keeps its
    step from being left by its success edge until it is observed again.

    Args:
        policy: What the run follows.
        state: Where it stands.
        call_id: The call.
        outcome: completed, failed, or in_doubt: it may or may not have happened.
        now: The instant.
        output: What it answered; looked at where the step is verified by it.
        tokens: What it used.
        error: What went wrong, in short.
        failure: What is known of it, as `ErrorClassify.classify_data` takes it (`status`,
            `exitCode`, `code`, `message`, ...); and `class`, `action` and `waitMs` where it was
            judged already. An event says what is advised, and so does the card; it allows nothing.

    Raises:
        PolicyMismatch: When the run follows another policy.
        ConfigError: When the outcome is none of the three, or another argument is no such thing.
    """
    _check_observed(outcome, tokens)
    if state.is_over:
        return _late(state, call_id, outcome, now)
    draft = Draft(policy, state, now)
    call = next((one for one in state.open if one.call_id == call_id), None)
    if call is None:
        draft.event("blocked", "call/unknown", f"no call {_core.preview(call_id)} is open")
        return draft.done()
    calls = _counted(state, call, outcome)
    draft.change(open=_rest(state, call, outcome), calls=calls, tokens=state.tokens + tokens)
    said = f"{call.tool} ({call_id}): {outcome}" + (f": {error}" if error else "")
    draft.event("observed", f"call/{outcome.replace('_', '-')}", said, call.step)
    is_here = call.step == state.place(state.current or "") and call.visit == state.visit
    question = None
    if outcome == "completed" and is_here:
        _answered(draft, call, output)
    elif outcome == "failed" and is_here:
        question = _failed(draft, call, error, failure)
    return draft.done(None if draft.out_of_time() else question)


def _failed(draft: Draft, call: OpenCall, error: str, failure: object) -> Question | None:
    """Judge a call that failed with an error, and say what is advised.

    Returns:
        What a person is asked, where the document says that the run then waits for one.
    """
    failed = judge(draft.here.errors, call, error, failure)
    if failed is None:
        return None
    draft.change(failed=failed)
    advice = advice_of(draft.policy, draft.here, draft.state)
    if advice is None:
        return None
    draft.event("observed", f"observed/{advice.way}", advice.message, call.step)
    if advice.way != "escalate" or draft.here.errors.on_escalate == "tell":
        return None
    if draft.state.escalation == _WATCHED:
        # What is only tried on live work holds nothing up.
        return None
    said = f"{advice.message}. Shall the run go on?"
    question = whether_to_go_on(draft.state, call.call_id, said)
    draft.change(pending=(*draft.state.pending, question))
    return question


def _answered(draft: Draft, call: OpenCall, output: object) -> None:
    failed = draft.state.failed
    if failed is not None and failed.tool == call.tool:
        draft.change(failed=None)
    if output is not None:
        _shown(draft, call, output)


def _shown(draft: Draft, call: OpenCall, output: object) -> None:
    verify = draft.step.verify
    if verify is None or verify.source != "tool":
        return
    plain, problems = plain_problems(output, "output", finite=True)
    if problems:
        draft.event("blocked", "verify/undetermined", f"the output of {call.tool}: {problems[0]}")
        return
    brought = plain if isinstance(plain, dict) else {"output": plain}
    brought = {name: value for name, value in brought.items() if name != "inputs"}
    if len(draft.state.facts.keys() | brought.keys()) > FACTS:
        said = f"the output of {call.tool} makes more than {FACTS:,} facts"
        draft.event("blocked", "verify/undetermined", said)
        return
    check(draft, brought, call.tool, source="tool")


def _counted(state: RunState, call: OpenCall, outcome: str) -> dict[str, int]:
    calls = dict(state.calls)
    if call.in_doubt:
        calls["in_doubt"] -= 1
    calls[outcome] = calls.get(outcome, 0) + 1
    return calls


def _rest(state: RunState, call: OpenCall, outcome: str) -> tuple[OpenCall, ...]:
    if outcome == "in_doubt":
        return tuple(replace(one, in_doubt=True) if one is call else one for one in state.open)
    return tuple(one for one in state.open if one is not call)


def _late(state: RunState, call_id: str, outcome: str, now: Instant) -> Transition:
    """Count a call that ends after its run: what happened is told, and nothing else changes."""
    call = next((one for one in state.open if one.call_id == call_id), None)
    if call is None:
        return over(state, now)
    seq = state.seq + 1
    said = f"{call.tool} ({call_id}): {outcome}, after the end of the run"
    event = Event(
        seq, "observed", f"call/{outcome.replace('_', '-')}", said, call.step, read_now(now)
    )
    changed = replace(
        state, open=_rest(state, call, outcome), calls=_counted(state, call, outcome), seq=seq
    )
    return Transition(changed, (event,))


def _check_observed(outcome: object, tokens: object) -> None:
    problems: list[Problem] = []
    if outcome not in _OUTCOMES:
        message = f"must be one of {', '.join(_OUTCOMES)}"
        problems.append(Problem("spec/unknown-choice", "outcome", _core.preview(outcome), message))
    if type(tokens) is not int or tokens < 0:
        message = "must be a whole number, 0 or more"
        problems.append(Problem("supervise/argument", "tokens", _core.preview(tokens), message))
    if problems:
        raise ConfigError(tuple(problems))
