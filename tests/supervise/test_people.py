"""People who answer: nobody agrees to what is their own, and what is no answer is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from interlock import LeadAssign
from interlock.errors import ConfigError
from interlock.supervise import (
    Answer,
    Escalation,
    Exit,
    Gate,
    Policy,
    PolicyStep,
    PolicyTool,
    ProposedCall,
    RunState,
    advance,
    answer,
    fail,
    finish,
    handover,
    propose,
    start_run,
)
from interlock.supervise.state import EscalationRules

from .test_nested import begun, calling, policy

X = ProposedCall("cli:x")


def small(gate: Gate | None = None, **fields: Any) -> Policy:
    return Policy(
        id="small",
        steps=[  # type: ignore[arg-type]
            PolicyStep(
                id="a",
                tools=("cli:x",),
                exits=(Exit("end", "next"), Exit("lost", "failure")),
                gate=gate,
                **fields,
            )
        ],
        terminals={"end": "well", "lost": "lost"},
        tools=[PolicyTool(id="cli:x", effect="readonly")],  # type: ignore[arg-type]
    )


APART = small(Gate(separate_from="requester"))


def asked(made: Policy, call: ProposedCall = X, who: str = "agent") -> RunState:
    return propose(made, start_run(made, agent_identity=who).unwrap(), call).state


def said(made: Policy, state: RunState, by: Any = "ann", **fields: Any) -> Any:
    given: dict[str, Any] = {"approve": True, **fields}
    return answer(made, state, Answer(state.pending[0].id, by, **given))


@pytest.mark.parametrize(
    ("by", "code"),
    [
        ("ann", "answer/taken"),
        ("", "answer/no-identity"),
        (" \t", "answer/no-identity"),
        ("agent", "answer/own-request"),
        ("Agent", "answer/own-request"),
        (" agent ", "answer/own-request"),
    ],
)
def test_who_may_answer(by: str, code: str) -> None:
    assert [one.code for one in said(APART, asked(APART), by).events] == [code]


@pytest.mark.parametrize(
    "fields",
    [
        {"approve": "no"}, {"approve": "true"}, {"approve": 1}, {"approve": None},
        {"note": 3}, {"by": None}, {"by": 5}, {"by": ["ann"]},
    ],
)  # fmt: skip
def test_what_is_no_answer_is_refused(fields: Any) -> None:
    state = asked(APART)
    with pytest.raises(ConfigError, match=next(iter(fields))):
        said(APART, state, **fields)
    assert propose(APART, state, X).verdict == "ask"


def test_a_quorum_counts_no_name_twice() -> None:
    made = small(Gate(quorum=2))
    state = said(made, asked(made), "ann").state
    assert [one.code for one in said(made, state, "Ann ").events] == ["answer/second"]
    assert propose(made, said(made, state, "bob").state, X).verdict == "allow"


def test_whoever_carries_a_run_on_does_not_approve_it() -> None:
    handed = handover(asked(APART), to="ann").state
    assert [one.code for one in said(APART, handed, "ann").events] == ["answer/own-request"]
    assert [one.code for one in said(APART, handed, "agent").events] == ["answer/own-request"]
    assert propose(APART, said(APART, handed, "bob").state, X).verdict == "allow"
    agreed = said(APART, asked(APART), "ann").state
    assert propose(APART, handover(agreed, to="ann").state, X).verdict == "ask"
    assert propose(APART, handover(agreed, to="bob").state, X).verdict == "allow"


def test_who_proposes_a_call_asks_for_it() -> None:
    state = asked(APART, replace(X, actor="ann"))
    assert state.pending[0].requested_by == "ann"
    assert [one.code for one in said(APART, state, "ann").events] == ["answer/own-request"]


@pytest.mark.parametrize("on", ["Call", "calls", "", None])
def test_a_gate_that_is_no_gate_on_entering_is_one_before_each_call(on: Any) -> None:
    assert propose(small(Gate(on=on)), begun(small(Gate(on=on))), X).verdict == "ask"


def paused() -> RunState:
    rules = Escalation(responses={"undeclared-tool": "pause"})
    state = start_run(small(), agent_identity="agent", escalation=rules).unwrap()
    return propose(small(), state, ProposedCall("cli:other")).state


def test_nothing_moves_a_run_that_is_paused() -> None:
    made, state = small(), paused()
    for moved in (
        advance(made, state, "end"),
        advance(made, state, "lost"),
        fail(made, state, "x"),
        finish(made, state),
        propose(made, state, X),
    ):
        assert [one.code for one in moved.events] == ["run/paused"]
        assert (moved.state.current, moved.state.pending) == ("a", state.pending)


def test_the_agent_does_not_say_that_the_run_goes_on() -> None:
    assert [one.code for one in said(small(), paused(), "agent").events] == ["answer/own-request"]
    assert fail(small(), said(small(), paused(), "ann").state, "x").state.outcome == "lost"


@pytest.mark.parametrize(
    "fields",
    [
        {"responses": {"undeclared-tool": "abrt"}},
        {"responses": {"undeclared": "abort"}},
        {"max_total": "3"}, {"max_total": -1}, {"max_total": True},
    ],
)  # fmt: skip
def test_an_escalation_that_is_none_is_refused(fields: Any) -> None:
    with pytest.raises(ConfigError, match=next(iter(fields))):
        Escalation(**fields)


def test_a_response_that_nobody_knows_ends_the_run() -> None:
    rules = EscalationRules(responses={"undeclared-tool": "carry on"})
    state = replace(begun(small()), escalation=rules)
    assert propose(small(), state, ProposedCall("cli:other")).state.outcome == "aborted"


BY_HAND = PolicyStep(id="m", kind="manual", exits=(Exit("end", "next"), Exit("lost", "failure")))
MANUAL = policy("m", BY_HAND)


@pytest.mark.parametrize("by", [None, "", "agent"])
def test_what_a_person_does_is_left_by_no_edge_without_one(by: Any) -> None:
    state = begun(MANUAL)
    for moved in (
        advance(MANUAL, state, "end", by=by),
        advance(MANUAL, state, "lost", by=by),
        fail(MANUAL, state, "x", by=by),
    ):
        assert [one.code for one in moved.events] == ["manual/by-needed"]
        assert moved.state.current == "m"
    assert fail(MANUAL, state, "x", by="ann").state.outcome == "lost"
    assert "ann" in advance(MANUAL, state, "end", by="ann").events[0].message


def test_where_people_alone_work_nobody_else_is_needed() -> None:
    made = replace(MANUAL, execution="human-only")
    assert advance(made, begun(made), "end", by="agent").state.outcome == "well"
    assert advance(made, begun(made), "end").state.current == "m"


def test_the_agent_calls_nothing_in_a_runbook_of_people_that_is_called() -> None:
    inner = policy("inner", PolicyStep(id="b", tools=("cli:x",), transitions=("end",)))
    people = policy("people", calling("d", inner), execution="human-only")
    for called in (replace(inner, execution="human-only"), people):
        made = policy("p", calling("c", called))
        state = begun(made)
        assert (state.current, propose(made, state, X).verdict) == ("b", "block")
        assert propose(made, state, replace(X, actor="ann")).verdict == "allow"


@pytest.mark.parametrize(
    "fields",
    [{"tool": None}, {"tool": 3}, {"effect": ["readonly"]}, {"effect": 1}, {"call_id": 3},
     {"actor": None}, {"actor": ""}, {"actor": 1}],
)  # fmt: skip
def test_a_call_that_names_no_tool_or_nobody_is_refused(fields: Any) -> None:
    with pytest.raises(ConfigError, match=next(iter(fields))):
        ProposedCall(**{"tool": "cli:x", **fields})


@pytest.mark.parametrize(("tool", "owner"), [("cli:x", "ann"), ("mcp:y", "bob"), ("http:z", None)])
def test_a_roster_says_who_is_asked(tool: str, owner: str | None) -> None:
    owners = [
        {"id": name, "when": [{"path": "tool", "op": "startsWith", "expected": start}]}
        for name, start in (("ann", "cli:"), ("bob", "mcp:"))
    ]
    roster = LeadAssign(owners, strategy="first")
    gate = Gate(approvers=("ann", "bob"), roster=roster)
    made = replace(
        small(gate, risk="irreversible"),
        tools=[PolicyTool(id=one, effect="readonly") for one in ("cli:x", "mcp:y", "http:z")],
    )
    step = replace(made.steps["a"], tools=("cli:x", "mcp:y", "http:z"))
    made = replace(made, steps=[step])
    decision = propose(made, begun(made), ProposedCall(tool))
    if owner is None:
        assert (decision.verdict, decision.code) == ("block", "gate/nobody")
        return
    assert decision.question is not None
    assert decision.question.to == (owner,)
    other = "bob" if owner == "ann" else "ann"
    refused = said(made, decision.state, other)
    assert [one.code for one in refused.events] == ["answer/not-approver"]
