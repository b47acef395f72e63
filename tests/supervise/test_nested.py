"""Runbooks that call others: nothing of the one that is called is got round by calling it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from interlock import Checks
from interlock.supervise import (
    AdapterCoverage,
    Answer,
    CalledRunbook,
    Ceilings,
    Deployment,
    Exit,
    Gate,
    LogEntry,
    OrderRule,
    Policy,
    PolicyStep,
    PolicyTool,
    ProposedCall,
    RunbookInvalid,
    RunState,
    Selector,
    Verify,
    advance,
    aggregate,
    answer,
    card,
    derive_policy,
    fail,
    lint,
    observe,
    propose,
    refusals_to_start,
    report,
    start_run,
    verify,
)
from interlock.supervise._frozen import FrozenMap
from interlock.supervise.state import OpenCall

ANN = Gate(on="enter", approvers=("ann",))
X = ProposedCall("cli:x")


def policy(name: str, *steps: PolicyStep, **fields: Any) -> Policy:
    given: dict[str, Any] = {
        "terminals": {"end": "well", "lost": "lost"},
        "tools": [
            PolicyTool(id="cli:x", effect="readonly"),
            PolicyTool(id="http:y", effect="write"),
        ],
        **fields,
    }
    return Policy(id=name, steps=list(steps), **given)  # type: ignore[arg-type]


def step(name: str, to: str = "end", **fields: Any) -> PolicyStep:
    given: dict[str, Any] = {"tools": ("cli:x", "http:y"), "risk": "reversible-write", **fields}
    return PolicyStep(id=name, exits=(Exit(to, "next"), Exit("lost", "failure")), **given)


def calling(name: str, inner: Policy, to: str = "end") -> PolicyStep:
    outcomes = FrozenMap(dict.fromkeys(inner.terminals.values(), to))
    called = CalledRunbook(id=inner.id, digest=inner.digest, outcomes=outcomes, policy=inner)
    return PolicyStep(id=name, kind="call", exits=(Exit(to, "case"),), calls=called)


def begun(made: Policy) -> RunState:
    return start_run(made, agent_identity="agent").unwrap()


def gone(made: Policy, state: RunState, *steps: str) -> RunState:
    for to in steps:
        state = advance(made, state, to).state
    return state


GATED = step("g", gate=ANN)
INNER = policy("inner", GATED)
WAYS: dict[str, tuple[Policy, Any]] = {
    "first step": (policy("p", GATED), begun),
    "success": (policy("p", step("a", "g"), GATED), lambda made: gone(made, begun(made), "g")),
    "failure": (
        policy("p", PolicyStep(id="a", exits=(Exit("end", "next"), Exit("g", "failure"))), GATED),
        lambda made: fail(made, begun(made), "x").state,
    ),
    "first step of a called one": (
        policy("p", step("a", "c"), calling("c", INNER)),
        lambda made: gone(made, begun(made), "c"),
    ),
    "after a called one": (
        policy("p", calling("c", policy("short", step("b")), "g"), GATED),
        lambda made: gone(made, begun(made), "end"),
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_however_a_step_is_come_to_its_gate_is_asked(way: str) -> None:
    made, come = WAYS[way]
    state: RunState = come(made)
    (question,) = state.pending
    assert (question.kind, question.step) == ("enter", "g")
    assert state.current != "g" or propose(made, state, X).code == "gate/enter"
    agreed = answer(made, state, Answer(question.id, "ann", approve=True)).state
    if agreed.current != "g":
        agreed = fail(made, agreed, "x").state if way == "failure" else gone(made, agreed, "g")
    assert (agreed.current, propose(made, agreed, X).verdict) == ("g", "allow")

    refused = answer(made, state, Answer(question.id, "ann", approve=False)).state
    held = gone(made, refused, "g" if refused.current != "g" else "end")
    assert held.current != "g" or held.outcome == "aborted"
    assert "end" not in held.path


def test_an_approval_is_for_no_step_of_the_same_name_elsewhere() -> None:
    gate = Gate(approvers=("ann",))
    inner = policy("inner", step("g", gate=gate))
    made = policy("p", step("g", "c", gate=gate), calling("c", inner, "c"), budgets={"c->c": 1})
    asked = propose(made, begun(made), X).state
    state = answer(made, asked, Answer(asked.pending[0].id, "ann", approve=True)).state
    state = gone(made, state, "c")
    assert ([frame.step for frame in state.stack], state.current) == (["c"], "g")
    asked = propose(made, state, X).state
    assert len(asked.pending) == 1
    state = answer(made, asked, Answer(asked.pending[0].id, "ann", approve=True)).state
    again = gone(made, state, "end")
    assert (again.stack[0].visit, again.current) == (2, "g")
    assert propose(made, again, X).verdict == "ask"


def test_a_step_that_calls_has_no_gate() -> None:
    with pytest.raises(RunbookInvalid, match="gate"):
        policy("p", PolicyStep(id="c", gate=ANN, exits=(Exit("end", "case"),), calls=CalledRunbook(
            id="inner", digest=INNER.digest, policy=INNER)))  # fmt: skip


NEVER = OrderRule(after=Selector(tool="cli:x"), then=Selector(capability_class="http"))
Y = ProposedCall("http:y")


def called_with_rules(*, outer: bool, inner: bool) -> Policy:
    within = policy("inner", step("b"), never=[NEVER] if inner else [])
    return policy(
        "p", step("a", "c"), calling("c", within, "z"), step("z", "c"),
        never=[NEVER] if outer else [], budgets={"z->c": 2},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("outer", "inner", "first", "then", "code"),
    [
        (True, False, "a", "c", "call/order-rule"),
        (False, True, "a", "c", "call/order-rule"),
        (True, False, "c", "z", "call/order-rule"),
        (False, True, "c", "z", "call/allowed"),
        (False, True, "c", "z, c", "call/order-rule"),
        (False, False, "a", "c", "call/allowed"),
    ],
)
def test_an_order_rule_looks_at_the_whole_run(
    *, outer: bool, inner: bool, first: str, then: str, code: str
) -> None:
    made = called_with_rules(outer=outer, inner=inner)
    state = gone(made, begun(made), *([] if first == "a" else [first]))
    state = observe(made, propose(made, state, X, now=1).state, "call-1", "completed").state
    for to in then.split(", "):
        state = gone(made, state, "end" if state.stack else to)
    assert propose(made, state, Y).code == code


def test_an_order_rule_about_a_step_is_about_one_of_its_own_runbook() -> None:
    rule = OrderRule(after=Selector(step="b"), then=Selector(tool="http:*"))
    made = policy("p", calling("c", policy("inner", step("b")), "b"), step("b"), never=[rule])
    inside = propose(made, begun(made), X).state
    inside = observe(made, inside, "call-1", "completed").state
    assert propose(made, inside, Y).verdict == "allow"
    outside = propose(made, gone(made, inside, "end"), X).state
    assert propose(made, outside, Y).code == "call/order-rule"


def test_the_card_shows_what_is_left_of_all_budgets_that_a_call_counts_against() -> None:
    inner = policy(
        "inner", step("b"),
        ceilings=Ceilings(calls=3, calls_by_step={"b": 2}, calls_by_tool={"cli:*": 9}),
    )  # fmt: skip
    ceilings = Ceilings(calls=6, tokens=100, calls_by_tool={"cli:x": 5})
    made = policy("p", step("a", "c"), calling("c", inner), ceilings=ceilings)

    def spent(state: RunState, count: int) -> RunState:
        for _ in range(count):
            decision = propose(made, state, X)
            state = observe(made, decision.state, decision.call_id, "completed", tokens=9).state
        return state

    def left(state: RunState) -> tuple[dict[str, object], list[int | None]]:
        told = card(made, state)
        return dict(told.left), [tool.left for tool in told.tools]

    state = spent(begun(made), 1)
    assert left(state) == ({"calls": 5, "tokens": 91, "deviations": 3}, [4, None])
    state = spent(gone(made, state, "c"), 1)
    assert left(state) == (
        {"calls": 2, "tokens": 82, "calls_here": 1, "deviations": 3}, [3, None]
    )  # fmt: skip


INPUTS = {"mount": {"type": "string", "checks": [{"op": "startsWith", "expected": "/"}]}}
DOCUMENT: dict[str, Any] = {
    "runbook": "1",
    "id": "called",
    "inputs": INPUTS,
    "tools": [{"id": "cli:x", "effect": "readonly"}],
    "steps": [{"id": "b", "tools": ["cli:x"], "next": "end", "on_failure": "end"}],
    "terminals": [{"id": "end"}],
}


def outer(called: Policy, **fields: Any) -> dict[str, Any]:
    calls = {"id": called.id, "digest": called.digest}
    steps = [{"id": "c", "kind": "call", "calls": calls, "otherwise": "end"}]
    return {**DOCUMENT, "id": "outer", "tools": [], "steps": steps, **fields}


def faults(document: Any, called: Policy) -> list[tuple[str, str]]:
    found = lint(document, runbooks=[called])
    return [(one.code, one.field) for one in found if not one.is_warning]


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (INPUTS, []),
        ({"mount": {**INPUTS["mount"], "default": "/"}, "more": {}}, []),
        ({}, [("runbook/call-inputs", "steps[0].calls.id")]),
        ({"mount": {"type": "string"}}, [("runbook/call-inputs", "inputs.mount")]),
        ({"mount": {**INPUTS["mount"], "secret": True}}, [("runbook/call-inputs", "inputs.mount")]),
    ],
)
def test_a_called_runbook_is_given_the_inputs_that_it_asks_for(inputs: Any, expected: Any) -> None:
    called = derive_policy(DOCUMENT)
    assert faults(outer(called, inputs=inputs), called) == expected


def test_an_outcome_that_the_called_runbook_has_not_is_told() -> None:
    called = derive_policy(DOCUMENT)
    document = outer(called)
    document["steps"][0]["calls"]["outcomes"] = {"end": "end", "ned": "end"}
    found = [one for one in lint(document, runbooks=[called]) if not one.is_warning]
    assert [one.field for one in found] == ["steps[0].calls.outcomes.ned"]
    assert 'did you mean "end"?' in found[0].message


def test_a_faulty_runbook_is_not_called() -> None:
    called = derive_policy({**DOCUMENT, "entry": "nowhere"}, strict=False)
    assert faults(outer(called), called) == [("runbook/faulty", "steps[0].calls.id")]


@pytest.mark.parametrize(
    ("fields", "least"),
    [
        ({}, "R0"),
        ({"execution": "agent-autonomous"}, "R1"),
        ({"min_runtime_profile": "R2", "execution": "human-only"}, "R2"),
    ],
)
def test_what_a_called_runbook_asks_of_a_client_is_asked(fields: Any, least: Any) -> None:
    called = derive_policy({**DOCUMENT, **fields})
    made = derive_policy(outer(called), runbooks=[called])
    assert (made.implied_minimum, made.min_runtime_profile) == (least, least)
    full = AdapterCoverage(True, True, True, source="probed")
    by_hand = policy("p", calling("c", called))
    for one in (made, by_hand):
        for profile in ("R0", "R1", "R2"):
            codes = [refusal.code for refusal in refusals_to_start(one, Deployment(profile, full))]
            assert (codes == []) == (profile >= least)


def test_what_happens_in_a_called_runbook_is_told_at_its_place() -> None:
    shown = Verify(checks=Checks([{"path": "ok", "op": "equals", "expected": True}]), source="tool")
    inner = policy("inner", step("g", verify=shown))
    made = policy("p", step("g", "c"), calling("c", inner, "z"), step("z"))
    log = [*start_run(made, agent_identity="agent").events]
    state = begun(made)

    def did(moved: Any) -> Any:
        nonlocal state
        state = moved.state
        log.extend(moved.events)
        return moved

    early = did(propose(made, state, X)).call_id
    state = replace(state, open=())
    did(advance(made, state, "c"))
    late = replace(state, open=(OpenCall(call_id=early, tool="cli:x", step="g"),))
    assert not observe(made, late, early, "completed", output={"ok": True}).state.verified
    for ok in (False, True):
        call = did(propose(made, state, X)).call_id
        did(observe(made, state, call, "completed", output={"ok": ok}))
    did(propose(made, state, ProposedCall("http:z")))
    did(propose(made, state, replace(X, effect="irreversible")))
    did(advance(made, state, "end"))
    did(advance(made, state, "end"))
    told = report(state, [LogEntry(seq=0, operation="all", events=tuple(log))], policy=made)
    assert told.outcome == "aborted"
    assert dict(told.deviations.by_step) == {"c/g": 1}
    uses = {one.step: (one.shown, one.not_shown, one.verified) for one in told.steps}
    assert uses["c/g"] == (1, 1, True)


def test_reports_together_of_runs_that_call_others() -> None:
    shown = Verify(checks=Checks([{"path": "ok", "op": "equals", "expected": True}]))
    inner = policy("inner", step("b", verify=shown))
    made = policy("p", step("a", "c", verify=shown), calling("c", inner, "z"), step("z"))

    def ran(*, first: bool, then: bool) -> Any:
        state, log = begun(made), list[Any]()
        for ok, to in ((first, "c"), (then, "end")):
            for shows in dict.fromkeys((ok, True)):
                moved = verify(made, state, {"ok": shows}, by="agent")
                state = moved.state
                log += moved.events
            state = gone(made, state, to)
        state = gone(made, state, "end")
        return report(state, [LogEntry(seq=0, operation="all", events=tuple(log))], policy=made)

    told = aggregate([ran(first=True, then=True), ran(first=False, then=True)], policy=made)
    assert dict(told.outcomes) == {"well": 2}
    assert dict(told.never_failed) == {"c/b": 2}
    assert told.unused == ("a->lost", "z->lost")
    assert dict(told.unchecked) == {"z": 2}
    bare = report(begun(made), policy=made)
    assert [(one.shown, one.not_shown, one.verified) for one in bare.steps] == [(None, None, None)]
