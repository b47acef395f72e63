"""Runbooks that call others: nothing of the one that is called is got round by calling it."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.supervise import (
    Answer,
    CalledRunbook,
    Exit,
    Gate,
    Policy,
    PolicyStep,
    PolicyTool,
    ProposedCall,
    RunbookInvalid,
    RunState,
    advance,
    answer,
    fail,
    propose,
    start_run,
)
from interlock.supervise._frozen import FrozenMap

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
