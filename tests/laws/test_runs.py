"""Runs of random procedures against the slow reference: verdicts, outcomes, counts, logs."""

from __future__ import annotations

import os
import random  # noqa: TID251 (seeded)
from typing import Any

import pytest

from interlock import Checks, DecisionTable
from interlock.supervise import (
    Answer,
    Escalation,
    Exit,
    Gate,
    LogEntry,
    OrderRule,
    Policy,
    PolicyStep,
    PolicyTool,
    ProposedCall,
    RunState,
    Selector,
    Verify,
    advance,
    answer,
    fail,
    finish,
    observe,
    propose,
    recompute,
    start_run,
    verify,
    verify_run,
)
from interlock.supervise._frozen import FrozenMap
from interlock.supervise.parts import Ceilings
from oracle.runs import ABORTING, EFFECTS, RISKS, Plan, Run

WALKS = 100_000 if os.environ.get("LAWS") == "deep" else 2_000
FAILURES: list[Any] = [None, {"status": 503}, {"message": "no such host"}, {"status": "x"}, []]
SHOWN = Checks([{"path": "ok", "op": "equals", "expected": True}])
WORDS = ("allow", "ask", "block")
TOOLS = ("cli:a", "cli:b", "mcp:c", "http:d")


def plan_of(chance: random.Random) -> Plan:
    names = [f"s{n}" for n in range(chance.randint(1, 5))]
    ends = {"t0": "resolved", "t1": "lost"}
    steps: dict[str, dict[str, Any]] = {}
    for name in names:
        targets = [*names, *ends]
        exits = [(chance.choice(targets), "next")]
        if chance.random() < 0.6:
            exits.append((chance.choice(targets), "failure"))
        steps[name] = {
            "exits": exits,
            "tools": [one for one in TOOLS if chance.random() < 0.6],
            "verify": chance.random() < 0.4,
            "gate": chance.choice([None, None, None, "call", "enter"]),
            "risk": chance.choice(RISKS),
            "ruled": {one: chance.choice(WORDS) for one in TOOLS if chance.random() < 0.3},
        }
    steps[names[0]]["gate"] = None
    pairs = {f"{name}->{target}" for name, one in steps.items() for target, _ in one["exits"]}
    return Plan(
        steps=steps,
        terminals=ends,
        edges={pair: chance.randint(1, 3) for pair in sorted(pairs) if chance.random() < 0.7},
        entered={name: chance.randint(1, 4) for name in names if chance.random() < 0.2},
        tools={one: chance.choice(EFFECTS) for one in TOOLS if chance.random() < 0.85},
        never=[(chance.choice(TOOLS), chance.choice(TOOLS))] if chance.random() < 0.3 else [],
        calls=chance.choice([None, None, 2, 5]),
    )


def gate_of(on: Any, ruled: dict[str, str]) -> Gate:
    rows = [
        {
            "id": f"r{n}",
            "outputs": word,
            "when": [{"path": "tool", "op": "equals", "expected": one}],
        }
        for n, (one, word) in enumerate(ruled.items())
    ]
    is_ruled = on == "call" and rows
    return Gate(on=on, rules=DecisionTable(rows, policy="unique") if is_ruled else None)


def policy_of(plan: Plan) -> Policy:
    return Policy(
        id="random",
        steps=[  # type: ignore[arg-type]
            PolicyStep(
                id=name,
                exits=tuple(Exit(target, via) for target, via in one["exits"]),
                tools=tuple(one["tools"]),
                verify=Verify(checks=SHOWN) if one["verify"] else None,
                gate=gate_of(one["gate"], one["ruled"]) if one["gate"] else None,
                risk=one["risk"],
            )
            for name, one in plan.steps.items()
        ],
        terminals=plan.terminals,
        budgets=plan.edges,
        visit_budgets=plan.entered,
        tools=[PolicyTool(id=one, effect=effect) for one, effect in plan.tools.items()],  # type: ignore[arg-type]
        never=[  # type: ignore[arg-type]
            OrderRule(after=Selector(tool=after), then=Selector(tool=then))
            for after, then in plan.never
        ],
        ceilings=Ceilings(calls=plan.calls),
    )


class Pair:
    """A run and its reference, driven together, with the log of the run."""

    def __init__(self, plan: Plan, chance: random.Random) -> None:
        self.policy = policy_of(plan)
        self.asked: list[str] = []
        entry, limit = next(iter(plan.steps)), chance.choice([None, None, None, 60.0])
        aborting = frozenset(one for one in sorted(ABORTING) if chance.random() < 0.3)
        most = chance.choice([0, 1, 3, 20])
        goes_on = dict.fromkeys(ABORTING - aborting, "block-and-continue")
        given = {
            "agent_identity": "agent",
            "now": 0.0,
            "wall_clock_seconds": limit,
            "escalation": Escalation(responses=FrozenMap(goes_on), max_total=most),  # type: ignore[arg-type]
        }
        began = start_run(self.policy, **given)  # type: ignore[arg-type]
        self.state: RunState = began.unwrap()
        self.reference = Run(plan, entry, limit, aborting, most)
        self.log = [self._entry("start_run", given, began.events)]

    def _entry(
        self, name: str, given: dict[str, Any], events: Any, verdict: Any = None
    ) -> LogEntry:
        digest = self.state.digest() if self.keeps_log else ""
        return LogEntry(
            seq=len(getattr(self, "log", ())),
            operation=name,
            given=given,
            events=events,
            verdict=verdict,
            digest=digest,
        )

    keeps_log = False

    def take(self, chance: random.Random, now: float) -> None:
        """Do one thing to both."""
        asks = 20 if self.state.pending else 1
        name = chance.choices(
            ["advance", "propose", "observe", "verify", "fail", "finish", "answer"],
            [6, 10, 6, 4, 2, 0.3, asks],
        )[0]
        getattr(self, f"_{name}")(chance, now)

    def _did(self, name: str, given: dict[str, Any], moved: Any, verdict: Any = None) -> None:
        self.state = moved.state
        if self.keeps_log:
            self.log.append(self._entry(name, given, moved.events, verdict))

    def _advance(self, chance: random.Random, now: float) -> None:
        step = self.reference.plan.steps.get(self.reference.here)
        targets = [target for target, _ in step["exits"]] if step else ["t0"]
        to = chance.choice(targets) if chance.random() < 0.95 else chance.choice(["s9", "s0", "t1"])
        self.reference.advance(to, now)
        self._did("advance", {"to": to, "now": now}, advance(self.policy, self.state, to, now=now))

    def _propose(self, chance: random.Random, now: float) -> None:
        step = self.reference.plan.steps.get(self.reference.here)
        tools = step["tools"] if step and step["tools"] and chance.random() < 0.85 else TOOLS
        tool = chance.choice(self.asked or tools) if chance.random() < 0.6 else chance.choice(tools)
        expected = self.reference.propose(tool, now)
        decision = propose(self.policy, self.state, ProposedCall(tool), now=now)
        assert decision.verdict == expected
        if decision.verdict == "ask":
            self.asked = [tool]
        self._did("propose", {"tool": tool, "now": now}, decision, decision.verdict)

    def _observe(self, chance: random.Random, _now: float) -> None:
        call = chance.choice([*self.reference.open, "call-99"])
        outcome: Any = chance.choice(["completed", "completed", "failed", "in_doubt"])
        if self.reference.status == "ended":
            return
        self.reference.observe(call, outcome)
        # The reference knows nothing of errors: what is advised changes no verdict and no move.
        given = {"call_id": call, "outcome": outcome, "failure": chance.choice(FAILURES)}
        self._did("observe", given, observe(self.policy, self.state, **given))

    def _verify(self, chance: random.Random, now: float) -> None:
        shown = chance.random() < 0.7
        self.reference.verify(shown, now)
        given = {"evidence": {"ok": shown}, "by": "agent", "now": now}
        self._did(
            "verify", given, verify(self.policy, self.state, {"ok": shown}, by="agent", now=now)
        )

    def _fail(self, _chance: random.Random, now: float) -> None:
        self.reference.fail(now)
        self._did("fail", {"code": "x", "now": now}, fail(self.policy, self.state, "x", now=now))

    def _finish(self, _chance: random.Random, now: float) -> None:
        self.reference.finish(now)
        self._did("finish", {"now": now}, finish(self.policy, self.state, now=now))

    def _answer(self, chance: random.Random, now: float) -> None:
        yes = chance.random() < 0.7
        if not self.state.pending:
            assert not self.reference.questions
            return
        self.reference.answer(yes, now)
        asked = self.state.pending[0].id
        given = {"question_id": asked, "by": "ann", "approve": yes}
        said = Answer(asked, "ann", approve=yes)
        self._did("answer", {**given, "now": now}, answer(self.policy, self.state, said, now=now))

    def same(self) -> None:
        """Compare them."""
        state, reference = self.state, self.reference
        assert (state.status, state.outcome) == (reference.status, reference.outcome)
        assert state.current == reference.here
        assert dict(state.retries) == {k: n for k, n in reference.retries.items() if n}
        assert dict(state.visits) == {k: n for k, n in reference.visits.items() if n}
        assert [one.deviation_class for one in state.deviations] == reference.deviations
        counted = {name: count for name, count in state.calls.items() if count}
        assert counted == {name: count for name, count in reference.calls.items() if count}
        assert len(state.pending) == len(reference.questions)
        assert state.verified == reference.verified or state.is_over


@pytest.mark.timeout(600)
def test_random_walks_are_as_promised() -> None:
    bounded = 0
    for seed in range(WALKS):
        chance = random.Random(seed)  # noqa: S311
        pair = Pair(plan_of(chance), chance)
        pair.keeps_log = seed % 20 == 0
        pair.log = (
            pair.log
            if not pair.keeps_log
            else [LogEntry.from_dict({**pair.log[0].to_dict(), "digest": pair.state.digest()})]
        )
        most, now = pair.policy.max_moves, 0.0
        for _ in range(chance.randint(1, 40)):
            now += chance.choice([0, 1, 1, 5])
            pair.take(chance, now)
            pair.same()
            if pair.reference.status == "ended" and chance.random() < 0.5:
                break
        if most is not None:
            bounded += 1
            assert pair.reference.moves <= most, seed
        if pair.keeps_log:
            assert recompute(pair.policy, pair.log) == pair.state, seed
            assert verify_run(pair.policy, pair.log).ok, seed
    assert bounded > WALKS / 4
