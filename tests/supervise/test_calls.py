"""Calls: what is allowed, refused and asked; one test for each promise, and the bad input."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from interlock.errors import ConfigError
from interlock.supervise import (
    Answer,
    Gate,
    Policy,
    PolicyStep,
    PolicyTool,
    ProposedCall,
    RunState,
    advance,
    answer,
    decide,
    derive_policy,
    fail,
    finish,
    observe,
    propose,
    start_run,
    verify,
)

from .docs import DF, DISK, INPUTS, RM, at_clean, at_look, disk

DISKS = disk()


def classes(state: RunState) -> list[str]:
    return [one.deviation_class for one in state.deviations]


def test_V_60_propose_decides_one_call() -> None:
    decision = propose(DISKS, at_look(DISKS), DF, now=1)
    assert decision.verdict == "allow"
    assert [call.call_id for call in decision.state.open] == [decision.call_id]


def test_V_61_an_undeclared_tool_aborts() -> None:
    decision = propose(DISKS, at_look(DISKS), ProposedCall("cli:curl"), now=1)
    assert (decision.verdict, decision.code) == ("block", "undeclared-tool")
    assert (decision.state.status, decision.state.outcome) == ("ended", "aborted")
    assert classes(decision.state) == ["undeclared-tool"]


def test_V_62_a_tool_of_another_step_is_blocked_and_the_run_goes_on() -> None:
    decision = propose(DISKS, at_look(DISKS), RM, now=1)
    assert (decision.verdict, decision.code) == ("block", "out-of-scope-tool")
    assert (decision.state.status, classes(decision.state)) == ("running", ["out-of-scope-tool"])


def test_V_63_a_step_that_is_not_led_to_is_out_of_order() -> None:
    state = advance(DISKS, at_look(DISKS), "call", now=1).state
    assert (classes(state), state.outcome) == (["out-of-order-step"], "aborted")


def test_V_64_moving_on_unverified_is_an_unchecked_advance() -> None:
    state = advance(DISKS, at_look(DISKS), "clean", now=1).state
    assert (classes(state), state.outcome) == (["unchecked-advance"], "aborted")


@pytest.mark.parametrize("used", [10, "91", None])
def test_evidence_that_fails_or_decides_nothing_does_not_verify(used: Any) -> None:
    state = verify(DISKS, at_look(DISKS), {"used": used}, by="agent", now=1).state
    assert classes(advance(DISKS, state, "clean", now=1).state) == ["unchecked-advance"]


def test_V_65_a_failure_without_a_route() -> None:
    policy = derive_policy(
        {**DISK, "steps": [{**DISK["steps"][0], "on_failure": None}, *DISK["steps"][1:]]}
    )
    state = fail(policy, at_look(policy), "no-df", now=1).state
    assert (classes(state), state.outcome) == (["unrouted-failure"], "aborted")
    assert fail(DISKS, at_look(DISKS), "no-df", now=1).state.outcome == "resolved"


def test_V_66_ending_in_the_middle() -> None:
    state = finish(DISKS, at_look(DISKS), now=1).state
    assert (classes(state), state.outcome) == (["terminal-not-reached"], "aborted")


def test_V_67_after_the_end_nothing_is_authorised_and_nothing_moves() -> None:
    state = advance(DISKS, at_look(DISKS), "fine", now=1).state
    decision, moved = propose(DISKS, state, DF, now=2), advance(DISKS, state, "clean", now=2)
    assert (decision.verdict, decision.code) == ("block", "run/over")
    assert (decision.state, moved.state) == (state, state)
    assert [one.code for one in moved.events] == ["run/over"]
    assert "over" in moved.events[0].message


def test_V_68_a_terminal_ends_with_its_outcome() -> None:
    policy = derive_policy(
        {
            **DISK,
            "steps": [*DISK["steps"][:2], {**DISK["steps"][2], "next": "lost"}],
            "terminals": [*DISK["terminals"], {"id": "lost", "outcome": "unresolved"}],
        }
    )
    good = advance(policy, at_look(policy), "fine", now=1).state
    bad = advance(policy, fail(policy, at_clean(policy), "rm", now=3).state, "lost", now=4).state
    assert (good.outcome, bad.outcome) == ("resolved", "unresolved")
    assert bad.path == ("look", "clean", "call", "lost")


@pytest.mark.parametrize(
    "args", [{}, {"path": "/etc/passwd"}, {"path": 5}, {"path": "/var/log/a", "x": {1, 2}}]
)
def test_arguments_out_of_scope_are_blocked(args: Any) -> None:
    decision = propose(DISKS, at_clean(DISKS), ProposedCall("cli:rm", args=args), now=3)
    assert (decision.verdict, decision.code) == ("block", "call/arguments")
    assert classes(decision.state) == ["out-of-scope-tool"]


@pytest.mark.parametrize("effect", ["destructive", "irreversible", "harmless"])
def test_an_effect_above_the_step_is_blocked(effect: str) -> None:
    decision = propose(DISKS, at_look(DISKS), ProposedCall("cli:df", effect=effect), now=1)
    assert (decision.verdict, decision.code) == ("block", "call/risk-above-step")


def test_an_agent_calls_nothing_where_people_work() -> None:
    people = derive_policy({**DISK, "execution": "human-only"})
    assert propose(people, at_look(people), DF, now=1).code == "out-of-scope-tool"
    assert propose(people, at_look(people), replace(DF, actor="ann"), now=1).verdict == "allow"


def approved(policy: Any, call: ProposedCall = RM, now: float = 4) -> RunState:
    asked = propose(policy, at_clean(policy), call, now=3)
    assert asked.verdict == "ask"
    assert asked.question is not None
    agreed = Answer(asked.question.id, "ann", approve=True)
    return answer(policy, asked.state, agreed, now=now).state


def test_an_approval_lets_exactly_that_call_through_once() -> None:
    state = approved(DISKS)
    for args in ({"path": "/var/log/b"}, {"path": "/var/log/a", "force": True}):
        other = propose(DISKS, state, ProposedCall("cli:rm", args=args), now=5)
        assert other.verdict == "ask"
    first = propose(DISKS, state, RM, now=5)
    again = propose(DISKS, observe(DISKS, first.state, first.call_id, "completed").state, RM, now=6)
    assert (first.verdict, again.verdict) == ("allow", "ask")
    assert [one.used_by for one in first.state.approvals] == [first.call_id]


def test_an_approval_lapses() -> None:
    state = approved(DISKS)
    assert propose(DISKS, state, RM, now=603).verdict == "allow"
    late = propose(DISKS, state, RM, now=604)
    assert (late.verdict, late.question.id if late.question else "") == (
        "ask",
        f"{state.approvals[0].question_id}-2",
    )


def test_an_approval_is_for_one_visit() -> None:
    state = fail(DISKS, approved(DISKS), "later", now=5).state
    state = fail(DISKS, state, "again", now=5).state
    state = verify(DISKS, state, {"used": 91}, by="agent", now=6).state
    state = advance(DISKS, state, "clean", now=6).state
    assert state.visit == 2
    assert propose(DISKS, state, RM, now=7).verdict == "ask"


@pytest.mark.parametrize(
    ("given", "now", "code"),
    [
        ({"question_id": "q-none"}, 4, "answer/unknown"),
        ({"by": ""}, 4, "answer/no-identity"),
        ({"by": "eve"}, 4, "answer/not-approver"),
        ({"by": "agent"}, 4, "answer/not-approver"),
        ({}, 604, "answer/late"),
        ({}, None, "answer/late"),
        ({"action_digest": "0" * 64}, 4, "answer/wrong-digest"),
    ],
)
def test_answers_that_are_refused(given: dict[str, Any], now: float | None, code: str) -> None:
    asked = propose(DISKS, at_clean(DISKS), RM, now=3)
    assert asked.question is not None
    said = Answer(**{"question_id": asked.question.id, "by": "ann", "approve": True, **given})
    moved = answer(DISKS, asked.state, said, now=now)
    assert [one.code for one in moved.events] == [code]
    assert propose(DISKS, moved.state, RM, now=5 if now != 604 else 605).verdict == "ask"


def test_the_requester_may_not_approve_its_own() -> None:
    asked = propose(DISKS, at_clean(DISKS, agent_identity="ann"), RM, now=3)
    assert asked.question is not None
    moved = answer(DISKS, asked.state, Answer(asked.question.id, "ann", approve=True), now=4)
    assert [one.code for one in moved.events] == ["answer/own-request"]


def test_a_second_answer_is_refused_and_a_denial_is_told() -> None:
    asked = propose(DISKS, at_clean(DISKS), RM, now=3)
    assert asked.question is not None
    said = Answer(asked.question.id, "ann", approve=False, note="not in office hours")
    state = answer(DISKS, asked.state, said, now=4).state
    second = answer(DISKS, state, Answer(asked.question.id, "bob", approve=True), now=5)
    assert [one.code for one in second.events] == ["answer/second"]
    refused = propose(DISKS, second.state, RM, now=6)
    assert (refused.verdict, refused.code) == ("block", "gate/denied")
    assert "not in office hours" in refused.message
    assert refused.state.status == "running"


def test_a_quorum_needs_different_people() -> None:
    gate = {"approvers": ["ann", "bob", "cid"], "quorum": 2}
    steps = [DISK["steps"][0], {**DISK["steps"][1], "gate": gate}, DISK["steps"][2]]
    policy = disk(steps=steps)
    asked = propose(policy, at_clean(policy), RM, now=3)
    assert asked.question is not None
    yes = Answer(asked.question.id, "ann", approve=True)
    state = answer(policy, asked.state, yes, now=4).state
    twice = answer(policy, state, yes, now=4)
    assert [one.code for one in twice.events] == ["answer/second"]
    assert propose(policy, twice.state, RM, now=5).verdict == "ask"
    state = answer(policy, twice.state, replace(yes, by="cid"), now=5).state
    assert propose(policy, state, RM, now=6).verdict == "allow"


def test_what_people_see_leaves_secrets_out() -> None:
    call = ProposedCall("cli:rm", args={"path": "/var/log/a", "auth": ["hunter2"]})
    asked = propose(DISKS, at_clean(DISKS), call, now=3)
    assert asked.question is not None
    assert asked.question.args == {"path": "/var/log/a", "auth": ["(secret 4ddbb67bf993)"]}
    assert "hunter2" not in asked.state.to_json()


def test_order_rules_cover_calls_that_are_each_allowed_alone() -> None:
    gate_off = {**DISK["steps"][1], "gate": "none", "reason": "a test"}
    policy = disk(steps=[DISK["steps"][0], gate_off, DISK["steps"][2]])
    send = ProposedCall("http:example.org")
    assert propose(policy, at_clean(policy), send, now=3).verdict == "allow"
    after = propose(policy, propose(policy, at_clean(policy), RM, now=3).state, send, now=4)
    assert (after.verdict, after.code) == ("block", "call/order-rule")
    assert "no leaks" in after.message


def spent(policy: Any, call: ProposedCall, count: int) -> list[str]:
    state, found = at_clean(policy), list[str]()
    for now in range(count):
        decision = propose(policy, state, call, now=3 + now)
        found.append(decision.verdict)
        state = decision.state
    return [*found, str(state.outcome)]


def test_budgets_of_calls_end_the_run() -> None:
    gate_off = {**DISK["steps"][1], "gate": "none", "reason": "a test"}
    policy = disk(steps=[DISK["steps"][0], gate_off, DISK["steps"][2]])
    assert spent(policy, DF, 4) == ["allow", "allow", "allow", "block", "budget-exhausted"]
    assert spent(policy, RM, 6) == [*["allow"] * 5, "block", "budget-exhausted"]


def test_budgets_of_tokens_end_the_run() -> None:
    policy = disk(budgets={**DISK["budgets"], "tokens": 100})
    first = propose(policy, at_look(policy), DF, now=1)
    state = observe(policy, first.state, first.call_id, "completed", tokens=100, now=2).state
    assert (state.tokens, propose(policy, state, DF, now=3).state.outcome) == (
        100,
        "budget-exhausted",
    )


def test_a_call_without_an_outcome_holds_its_step() -> None:
    first = propose(DISKS, at_look(DISKS), DF, now=1)
    state = verify(DISKS, first.state, {"used": 91}, by="agent", now=2).state
    held = advance(DISKS, state, "clean", now=3)
    assert ([one.code for one in held.events], held.state.current) == (["call/open"], "look")
    doubt = observe(DISKS, state, first.call_id, "in_doubt", now=3).state
    assert advance(DISKS, doubt, "clean", now=4).state.current == "look"
    settled = observe(DISKS, doubt, first.call_id, "completed", now=5).state
    assert settled.calls["in_doubt"] == 0
    assert advance(DISKS, settled, "clean", now=6).state.current == "clean"


def test_the_same_call_twice_is_one_call() -> None:
    call = replace(DF, call_id="c1")
    first = propose(DISKS, at_look(DISKS), call, now=1)
    second = propose(DISKS, first.state, call, now=2)
    assert (first.verdict, second.verdict, second.code) == ("allow", "block", "call/open")


def test_outcomes_of_calls_that_nobody_allowed_are_refused() -> None:
    moved = observe(DISKS, at_look(DISKS), "c9", "completed", now=1)
    assert [one.code for one in moved.events] == ["call/unknown"]
    with pytest.raises(ConfigError, match=r"outcome.*\n.*tokens"):
        observe(DISKS, at_look(DISKS), "c9", "fine", tokens=-1)  # type: ignore[arg-type]


def test_a_call_that_ends_after_its_run_is_still_told() -> None:
    first = propose(DISKS, at_look(DISKS), DF, now=1)
    over = finish(DISKS, first.state, now=2).state
    moved = observe(DISKS, over, first.call_id, "completed", now=3)
    assert (moved.state.open, moved.state.calls["completed"]) == ((), 1)
    assert moved.state.outcome == "aborted"


def test_a_step_may_be_verified_by_its_tool_alone() -> None:
    verified = {**DISK["steps"][0]["verify"], "from": "tool"}
    policy = disk(steps=[{**DISK["steps"][0], "verify": verified}, *DISK["steps"][1:]])
    told = verify(policy, at_look(policy), {"used": 91}, by="agent", now=1)
    assert ([one.code for one in told.events], told.state.verified) == (["verify/from-tool"], False)
    call = propose(policy, told.state, DF, now=2)
    state = observe(policy, call.state, call.call_id, "completed", output={"used": 91}, now=3).state
    assert (state.verified, state.facts["used"]) == (True, 91)


def test_inputs_are_checked_beside_the_contract() -> None:
    assert start_run(DISKS, agent_identity="a", inputs=INPUTS).ok


def test_a_denied_next_visit_does_not_hold_the_current_one() -> None:
    policy = Policy(
        id="again",
        steps=[  # type: ignore[arg-type]
            PolicyStep(id="a", transitions=("b",), tools=("cli:x",)),
            PolicyStep(id="b", transitions=("b",), tools=("cli:x",), gate=Gate(on="enter")),
        ],
        tools=[PolicyTool(id="cli:x", effect="readonly")],  # type: ignore[arg-type]
        budgets={"b->b": 2},
    )
    state = start_run(policy, agent_identity="agent").unwrap()
    for approve in (True, False):
        asked = advance(policy, state, "b").state
        said = Answer(asked.pending[0].id, "ann", approve=approve)
        state = advance(policy, answer(policy, asked, said).state, "b").state
    assert (state.current, state.visit) == ("b", 1)
    assert propose(policy, state, ProposedCall("cli:x")).verdict == "allow"


def test_a_decision_is_left_where_the_facts_lead_by_whichever_edge() -> None:
    full = {"path": "used", "op": "greaterThan", "expected": 80}
    policy = derive_policy(
        {
            "runbook": "1",
            "id": "choice",
            "steps": [
                {
                    "id": "which",
                    "kind": "decision",
                    "cases": [{"when": [full], "to": "person"}, {"when": [full], "to": "well"}],
                    "otherwise": "person",
                }
            ],
            "terminals": [{"id": "person"}, {"id": "well"}],
        }
    )
    for used in (91, 20):
        state = start_run(policy, agent_identity="agent").unwrap()
        state = decide(policy, state, {"used": used}).state
        assert advance(policy, state, "person").state.outcome == "person"
        assert classes(advance(policy, state, "well").state) == ["out-of-order-step"]


@pytest.mark.parametrize(("since", "verdict"), [(9_999, "block"), (10_000, "allow")])
def test_an_order_rule_looks_back_ten_thousand_calls(since: int, verdict: str) -> None:
    gate_off = {**DISK["steps"][1], "gate": "none", "reason": "a test"}
    policy = disk(steps=[DISK["steps"][0], gate_off, DISK["steps"][2]], budgets={"edges": EDGES})
    state = propose(policy, at_clean(policy), RM, now=3).state
    state = replace(state, calls={**state.calls, "allowed": state.calls["allowed"] + since})
    assert propose(policy, state, ProposedCall("http:example.org"), now=4).verdict == verdict


EDGES = DISK["budgets"]["edges"]


@pytest.mark.parametrize(("now", "code"), [(603, "gate/asked"), (604, "answer/lapsed")])
def test_a_question_is_open_until_its_last_instant(now: int, code: str) -> None:
    asked = propose(DISKS, at_clean(DISKS), RM, now=3)
    assert asked.question is not None
    assert asked.question.expires_at == 603
    again = propose(DISKS, asked.state, RM, now=now)
    first = next(iter(again.events), None)
    assert (first.code if first else again.code) == code
    assert len(again.state.approvals) == (now > 603)


@pytest.mark.parametrize(("now", "left"), [(9.9, False), (10, True), (None, False)])
def test_a_wait_is_left_by_its_timeout_at_the_end_of_it(now: float | None, *, left: bool) -> None:
    steps = [{"id": "a", "kind": "wait", "wait": {"max_s": 10}, "next": "b", "on_timeout": "c"}]
    ends = [{"id": "b"}, {"id": "c"}]
    policy = derive_policy({"runbook": "1", "id": "w", "steps": steps, "terminals": ends})
    state = start_run(policy, agent_identity="agent", now=0).unwrap()
    assert advance(policy, state, "c", now=now).state.is_over == left
