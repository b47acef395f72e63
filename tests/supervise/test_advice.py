"""What is advised after a call that failed: a table, that it allows nothing, and bad input."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock import ErrorClassify, ErrorInfo, Reply, ToolCall, finish, loop, tool, toolbus
from interlock.cli._runbook_card import card_lines
from interlock.supervise import (
    Advice,
    Answer,
    ErrorRules,
    Policy,
    ProposedCall,
    RunState,
    Supervisor,
    Transition,
    advance,
    answer,
    card,
    derive_policy,
    fail,
    observe,
    propose,
    start_run,
    verify_run,
)
from interlock.testing import scripted

RULE = {"id": "full", "contains": "no space", "class": "capacity", "action": "fail"}
SKIP = {"id": "gone", "status": 404, "class": "not_found", "action": "skip"}
X = ProposedCall("cli:x")


def document(**changes: Any) -> dict[str, Any]:
    return {
        "runbook": "1",
        "id": "p",
        "tools": [{"id": "cli:x", "effect": "readonly"}, {"id": "cli:y", "effect": "write"}],
        "steps": [
            {"id": "look", "tools": ["cli:x"], "next": "act", "on_failure": "lost"},
            {"id": "act", "tools": ["cli:x", "cli:y"], "next": "done", "on_failure": "look"},
        ],
        "terminals": [{"id": "done"}, {"id": "lost"}],
        "budgets": {"edges": {"act->look": 1}},
        "errors": {"rules": [RULE, SKIP]},
        **changes,
    }


POLICY = derive_policy(document())
PAUSING = derive_policy(document(errors={"on_escalate": "pause"}))


def at(step: str, policy: Policy = POLICY, rounds: int = 0) -> RunState:
    state = start_run(policy, agent_identity="agent", now=0).unwrap()
    for _ in range(rounds):
        state = fail(policy, advance(policy, state, "act").state, "x").state
    return state if step == "look" else advance(policy, state, step).state


def failed(state: RunState, policy: Policy = POLICY, call: Any = X, **known: Any) -> Transition:
    decision = propose(policy, state, call, now=1)
    return observe(policy, decision.state, decision.call_id, "failed", now=2, **known)


def advised(state: RunState, policy: Policy = POLICY) -> Advice:
    found = card(policy, state).advice
    assert found is not None
    return found


BUSY = {"status": 503, "retryAfter": "7"}
FULL = {"message": "No space left on device", "status": 503}
JUDGED = {"class": "rate_limited", "action": "backoff", "waitMs": 50}

WAYS: dict[str, tuple[str, dict[str, Any], tuple[Any, ...]]] = {
    "busy": ("look", {"failure": BUSY}, ("retry", "unavailable", "lost", None, 7000)),
    "busy, with a way back": (
        "act",
        {"failure": BUSY},
        ("retry", "unavailable", "look", "act->look", 7000),
    ),
    "a word": (
        "look",
        {"error": "connection refused"},
        ("retry", "unavailable", "lost", None, None),
    ),
    "too much": ("look", {"failure": {"status": 413}}, ("retry", "too_large", "lost", None, None)),
    "not there": (
        "look",
        {"failure": {"exitCode": 127}},
        ("failure-edge", "not_found", "lost", None, None),
    ),
    "a rule first": (
        "act",
        {"failure": FULL},
        ("failure-edge", "capacity", "look", "act->look", None),
    ),
    "a rule that goes on": (
        "act",
        {"failure": {"status": 404}},
        ("continue", "not_found", "look", "act->look", None),
    ),
    "no leave": ("look", {"failure": {"status": 401}}, ("escalate", "auth", "lost", None, None)),
    "unknown": ("look", {"error": "hm"}, ("escalate", "unknown", "lost", None, None)),
    "judged": ("look", {"failure": JUDGED}, ("retry", "rate_limited", "lost", None, 50)),
    "judged outranks tables": (
        "look",
        {"failure": {**JUDGED, "status": 401}},
        ("retry", "rate_limited", "lost", None, 50),
    ),
    "a rule outranks judged": (
        "look",
        {"failure": {**JUDGED, **FULL}},
        ("failure-edge", "capacity", "lost", None, None),
    ),
    "signals that are none": (
        "look",
        {"failure": {"status": "503"}},
        ("escalate", "unknown", "lost", None, None),
    ),
    "an unknown signal": (
        "look",
        {"failure": {"sttus": 503}},
        ("escalate", "unknown", "lost", None, None),
    ),
    "no mapping": ("look", {"failure": ["x"]}, ("escalate", "unknown", "lost", None, None)),
    "an action that is none": (
        "look",
        {"failure": {**JUDGED, "action": "allow"}},
        ("escalate", "unknown", "lost", None, None),
    ),
    "a wait that is none": (
        "look",
        {"failure": {**JUDGED, "waitMs": -1}},
        ("escalate", "unknown", "lost", None, None),
    ),
    "half of it": (
        "look",
        {"failure": {"action": "retry"}},
        ("escalate", "unknown", "lost", None, None),
    ),
    "an unhashable class": (
        "look",
        {"failure": {**JUDGED, "class": []}},
        ("escalate", "unknown", "lost", None, None),
    ),
}


@pytest.mark.parametrize("name", WAYS)
def test_what_is_advised(name: str) -> None:
    step, known, expected = WAYS[name]
    moved = failed(at(step), **known)
    told = advised(moved.state)
    assert (told.way, told.error_class, told.to, told.back, told.wait_ms) == expected
    codes = [event.code for event in moved.events]
    assert codes == ["call/failed", f"observed/{expected[0]}"]
    assert moved.events[-1].message == told.message
    assert (moved.question, moved.state.status, moved.state.current) == (None, "running", step)


def spent(**budgets: Any) -> Policy:
    return derive_policy(document(budgets={"edges": {"act->look": 1}, **budgets}))


TWICE = document()["tools"]
TWICE = [{**TWICE[0], "idempotent": False}, TWICE[1]]
NO_EDGE = document()["steps"]
NO_EDGE = [{**NO_EDGE[0], "on_failure": None}, NO_EDGE[1]]

BOUNDS: dict[str, tuple[Policy, str, int, tuple[Any, ...]]] = {
    "calls are left": (spent(calls=2), "look", 0, ("retry", 1, "lost")),
    "calls are spent": (spent(calls=1), "look", 0, ("failure-edge", None, "lost")),
    "calls here are spent": (
        spent(calls={"steps": {"look": 1}}),
        "look",
        0,
        ("failure-edge", None, "lost"),
    ),
    "calls of it are spent": (
        spent(calls={"tools": {"cli:x": 1}}),
        "act",
        0,
        ("failure-edge", 1, "look"),
    ),
    "not to be called twice": (
        derive_policy(document(tools=TWICE)),
        "look",
        0,
        ("failure-edge", None, "lost"),
    ),
    "the edge is spent as well": (spent(calls=1), "act", 1, ("escalate", 0, None)),
    "the step is spent as well": (
        spent(calls=1, steps={"look": 1}),
        "act",
        0,
        ("escalate", 0, None),
    ),
    "there is no edge": (
        derive_policy(document(tools=TWICE, steps=NO_EDGE)),
        "look",
        0,
        ("escalate", None, None),
    ),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_a_budget_is_never_advised_beyond(name: str) -> None:
    policy, step, rounds, expected = BOUNDS[name]
    told = advised(failed(at(step, policy, rounds), policy, failure=BUSY).state, policy)
    assert (told.way, told.left, told.to) == expected
    assert (told.wait_ms is None) == (told.way != "retry")


@pytest.mark.parametrize(("seconds", "way"), [(9, "retry"), (8.9, "failure-edge"), (None, "retry")])
def test_no_wait_is_advised_that_the_time_of_the_run_does_not_allow(
    seconds: float | None, way: str
) -> None:
    state = start_run(POLICY, agent_identity="agent", now=0, wall_clock_seconds=seconds).unwrap()
    assert advised(failed(state, failure=BUSY).state).way == way


def test_nothing_known_is_no_advice() -> None:
    moved = failed(at("look"))
    assert ([event.code for event in moved.events], moved.state.failed) == (["call/failed"], None)
    decision = propose(POLICY, at("look"), X)
    doubt = observe(POLICY, decision.state, decision.call_id, "in_doubt", failure=BUSY)
    assert doubt.state.failed is None


def test_it_is_told_until_the_tool_answers_or_the_step_is_left() -> None:
    state = failed(at("act"), failure=BUSY).state
    assert advised(state).call_id == "call-1"
    again = propose(POLICY, state, X)
    assert card(POLICY, again.state).advice is None
    answered = observe(POLICY, again.state, again.call_id, "completed").state
    assert (answered.failed, card(POLICY, answered).advice) == (None, None)
    other = propose(POLICY, state, ProposedCall("cli:y"))
    beside = observe(POLICY, other.state, other.call_id, "completed").state
    assert advised(beside).call_id == "call-1"
    left = fail(POLICY, state, "busy").state
    assert (left.current, card(POLICY, left).advice) == ("look", None)
    back = advance(POLICY, left, "act").state
    assert (back.current, card(POLICY, back).advice) == ("act", None)


def test_a_call_of_an_earlier_step_hides_no_advice_here() -> None:
    earlier = propose(POLICY, at("act"), ProposedCall("cli:y"), now=1)
    here = failed(fail(POLICY, earlier.state, "x", now=1).state, failure=BUSY)
    told = advised(here.state)

    late = observe(POLICY, here.state, earlier.call_id, "failed", now=3, failure=FULL)

    assert advised(late.state) == told


def test_a_call_of_an_earlier_step_advises_nothing_here() -> None:
    decision = propose(POLICY, at("look"), X)
    state = fail(derive_policy(document()), decision.state, "x").state
    late = observe(POLICY, state, decision.call_id, "failed", failure=BUSY)
    assert late.state.failed is None
    assert [e.code for e in late.events] == ["call/failed"]


SIGNALS = st.fixed_dictionaries(
    {},
    optional={
        "status": st.integers(100, 599) | st.just("503"),
        "exitCode": st.integers(-1, 300),
        "code": st.sampled_from(["", "ECONNRESET", "insufficient_quota"]),
        "message": st.sampled_from(["no space", "rate limit", "timed out", "?"]),
        "class": st.sampled_from(["timeout", "quota", "x"]),
        "action": st.sampled_from(["retry", "skip", "fail", "allow"]),
        "waitMs": st.integers(-1, 10**6) | st.none(),
        "other": st.none(),
    },
)
CALLS = st.sampled_from(["cli:x", "cli:y", "cli:z", "http:x"])


@given(st.lists(SIGNALS, max_size=4), st.sampled_from(["look", "act"]), CALLS)
def test_advice_never_changes_what_is_allowed(
    failures: list[dict[str, Any]], step: str, then: str
) -> None:
    plain = told = at(step)
    for one in failures:
        plain, told = failed(plain).state, failed(told, failure=one).state
    assert replace(told, failed=None) == plain
    assert RunState.from_dict(told.to_dict()) == told
    for state in (plain, told):
        assert state.status == "running"
    before, after = (propose(POLICY, state, ProposedCall(then), now=3) for state in (plain, told))
    assert (before.verdict, before.code) == (after.verdict, after.code)
    assert before.message == after.message
    assert replace(after.state, failed=None) == before.state
    moves = (advance(POLICY, state, "done", now=3) for state in (plain, told))
    assert len({tuple(event.code for event in move.events) for move in moves}) == 1


def test_a_run_waits_for_a_person_where_the_document_says_so() -> None:
    moved = failed(at("look", PAUSING), PAUSING, failure={"status": 401})
    (question,) = moved.state.pending
    assert (moved.question, question.kind) == (question, "continue")
    assert propose(PAUSING, moved.state, X).code == "run/paused"
    assert [e.code for e in advance(PAUSING, moved.state, "act").events] == ["run/paused"]
    own = answer(PAUSING, moved.state, Answer(question.id, "agent", approve=True)).state
    assert own.pending
    on = answer(PAUSING, moved.state, Answer(question.id, "ann", approve=True)).state
    assert (on.pending, propose(PAUSING, on, X).verdict) == ((), "allow")
    off = answer(PAUSING, moved.state, Answer(question.id, "ann", approve=False)).state
    assert (off.status, off.outcome) == ("ended", "aborted")
    again = failed(on, PAUSING, failure={"status": 401})
    assert again.question is not None
    assert again.question.id != question.id
    assert failed(at("look", PAUSING), PAUSING, failure=BUSY).question is None


def test_a_call_beside_it_does_not_hide_that_a_person_is_to_decide() -> None:
    both = propose(PAUSING, propose(PAUSING, at("look", PAUSING), X).state, X).state
    moved = observe(PAUSING, both, "call-1", "failed", failure={"status": 401})
    assert moved.question is not None
    assert [event.code for event in moved.events] == ["call/failed", "observed/escalate"]
    more = observe(PAUSING, moved.state, "call-2", "failed", failure={"status": 401}).state
    assert len({one.id for one in more.pending}) == 2


def test_errors_of_a_policy_by_hand() -> None:
    rules = ErrorRules(classify=ErrorClassify([{**RULE, "action": "escalate"}]))
    made = replace(POLICY, errors=rules)
    assert made.digest != POLICY.digest
    assert advised(failed(at("look", made), made, failure=FULL).state, made).way == "escalate"


@tool(effect="readonly")
def x() -> str:
    """Look."""
    raise ConnectionRefusedError("hunter2 is not at home")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("way", ["bus", "hooks"])
@pytest.mark.parametrize("mode", ["enforce", "observe"])
def test_what_a_tool_raises_is_judged_and_logged(backend: str, way: str, mode: Any) -> None:
    inputs = {"token": {"secret": True}}
    policy = derive_policy(document(inputs=inputs, errors={"on_escalate": "pause"}))
    turn = scripted(
        Reply(calls=(ToolCall("1", "x", {}),)),
        Reply(calls=(ToolCall("2", "runbook_card", {}),)),
        Reply(calls=(ToolCall("3", "finish", {"answer": "x"}),)),
    )

    async def work() -> Supervisor:
        sup = Supervisor(policy, capabilities={"x": "cli:x"}, mode=mode)
        await sup.start(agent_identity="agent", inputs={"token": "hunter2"})
        tools = toolbus([x, finish()])
        if way == "bus":
            await loop("go", turn=turn, tools=sup.bus(tools))
        else:
            await loop("go", turn=turn, tools=tools + sup.tools(), hooks=[sup.hooks()])
        return sup

    sup = anyio.run(work, backend=backend)
    told = sup.card().advice
    assert told is not None
    assert (told.way, told.error_class) == ("retry", "unavailable")
    (entry,) = [one for one in sup.log if one.operation == "observe"]
    known = entry.given["failure"]
    assert isinstance(known, dict)
    assert known["code"] == "ConnectionRefusedError"
    assert "hunter2" not in str(entry)
    assert verify_run(policy, sup.log).ok


def test_a_run_that_is_only_watched_is_not_held_up() -> None:
    async def work(mode: Any) -> Supervisor:
        sup = Supervisor(PAUSING, mode=mode)
        await sup.start(agent_identity="agent")
        await sup.propose(replace(X, call_id="1"))
        await sup.observe("1", "failed", failure={"status": 401})
        return sup

    watched, held = anyio.run(work, "observe"), anyio.run(work, "enforce")
    assert (watched.state.pending, len(held.state.pending)) == ((), 1)
    assert watched.card().advice == held.card().advice


def test_a_person_at_a_terminal_is_told() -> None:
    shown = card(POLICY, failed(at("act"), failure=BUSY).state)
    assert shown.advice is not None
    assert f"  failed {shown.advice.message}" in card_lines(shown)
    assert "after 7 s; the edge act->look leads back" in shown.advice.message
    assert "  calls  1 of 3 done" in card_lines(replace(shown, calls="1 of 3 done"))
    assert not any("calls" in line for line in card_lines(shown))


def test_an_error_that_the_client_judged_is_taken_as_it_is() -> None:
    info = ErrorInfo.of(TimeoutError("late"))
    known = {"class": info.cls, "action": info.action, "waitMs": info.wait_ms}
    assert advised(failed(at("look"), failure=known).state).error_class == info.cls
