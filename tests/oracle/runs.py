"""A slow and plain reference of supervised runs, written from what is promised of them.

It knows nothing of the package: a plan is plain data, and a run is one object that changes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

ABORTING = {
    "undeclared-tool",
    "out-of-order-step",
    "unchecked-advance",
    "unrouted-failure",
    "terminal-not-reached",
    "budget-exhausted",
}
RISKS = ["read-only", "reversible-write", "destructive", "irreversible"]
EFFECTS = ["readonly", "write", "destructive", "irreversible"]


@dataclass
class Plan:
    """A procedure.

    Its steps by id: `exits` (target, via), `tools`, `verify`, `gate`, `risk`, and `ruled`: what
    the rules of the gate say of a tool.
    """

    steps: dict[str, dict[str, Any]]
    terminals: dict[str, str]
    edges: dict[str, int]
    entered: dict[str, int]
    tools: dict[str, str]
    never: list[tuple[str, str]]
    calls: int | None


@dataclass
class Run:
    """A run of a plan, as promised."""

    plan: Plan
    entry: str
    limit: float | None
    aborting: frozenset[str] = frozenset(ABORTING)
    most: int = 3
    status: str = "running"
    outcome: str | None = None
    retries: Counter[str] = field(default_factory=Counter)
    visits: Counter[str] = field(default_factory=Counter)
    deviations: list[str] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    open: dict[str, str] = field(default_factory=dict)
    history: list[str] = field(default_factory=list)
    questions: list[Any] = field(default_factory=list)
    agreed: list[Any] = field(default_factory=list)
    refused: list[Any] = field(default_factory=list)
    moves: int = 0
    verified: bool = False

    def __post_init__(self) -> None:
        self.here = self.entry
        self.visits[self.entry] += 1

    def _end(self, outcome: str) -> None:
        self.status, self.outcome, self.questions = "ended", outcome, []

    def _deviate(self, name: str) -> None:
        self.deviations.append(name)
        if self.status == "running" and (len(self.deviations) > self.most or name in self.aborting):
            self._end("aborted")

    def _late(self, now: float) -> bool:
        if self.limit is not None and now > self.limit:
            self._end("timed-out")
            return True
        return False

    def _take(self, target: str) -> None:
        edge = f"{self.here}->{target}"
        if self.retries[edge] >= self.plan.edges.get(edge, 10**9) or self.visits[
            target
        ] >= self.plan.entered.get(target, 10**9):
            self._end("budget-exhausted")
            self._deviate("budget-exhausted")
            return
        if edge in self.plan.edges:
            self.retries[edge] += 1
        self.moves += 1
        self.here = target
        if target in self.plan.terminals:
            self._end(self.plan.terminals[target])
            return
        self.visits[target] += 1
        self.verified, self.questions = False, []

    def advance(self, to: str, now: float) -> None:
        """Go to a step or terminal."""
        if self.status == "ended" or self._late(now):
            return
        step = self.plan.steps[self.here]
        ways = [via for target, via in step["exits"] if target == to]
        if not ways:
            self._deviate("out-of-order-step")
        elif len(set(ways)) > 1:
            return
        elif ways[0] == "next" and step["verify"] and not self.verified:
            self._deviate("unchecked-advance")
        elif ways[0] == "next" and self.open:
            return
        elif to in self.plan.steps and self.plan.steps[to]["gate"] == "enter":
            self._enter(to)
        else:
            self._take(to)

    def _enter(self, to: str) -> None:
        action = ("enter", to, self.visits[to] + 1)
        if action in self.agreed:
            self.agreed.remove(action)
            self._take(to)
        elif action not in self.refused and action not in self.questions:
            self.questions.append(action)

    def propose(self, tool: str, now: float) -> str:
        """Judge a call."""
        if self.status == "ended" or self._late(now):
            return "block"
        self.calls["attempted"] += 1
        verdict = self._judged(tool)
        self.calls[{"allow": "allowed", "block": "blocked", "ask": "asked"}[verdict]] += 1
        return verdict

    def _judged(self, tool: str) -> str:
        step = self.plan.steps[self.here]
        if tool not in self.plan.tools:
            self._deviate("undeclared-tool")
            return "block"
        effect = EFFECTS.index(self.plan.tools[tool])
        if (
            tool not in step["tools"]
            or effect > RISKS.index(step["risk"])
            or any(then == tool and after in self.history for after, then in self.plan.never)
        ):
            self._deviate("out-of-scope-tool")
            return "block"
        if self.plan.calls is not None and len(self.history) >= self.plan.calls:
            self._end("budget-exhausted")
            self._deviate("budget-exhausted")
            return "block"
        gate = step["gate"]
        if gate == "call":
            word = step["ruled"].get(tool, "ask")
            if word == "block":
                return "block"
            if word == "allow" and step["risk"] in RISKS[:2]:
                gate = None
        return self._agreed(tool, gate)

    def _agreed(self, tool: str, gate: str | None) -> str:
        action = ("call", self.here, self.visits[self.here], tool)
        if gate == "call":
            if action not in self.agreed:
                if action in self.refused:
                    return "block"
                if action not in self.questions:
                    self.questions.append(action)
                return "ask"
            self.agreed.remove(action)
        self.history.append(tool)
        self.open[f"call-{self.calls['attempted']}"] = tool
        return "allow"

    def observe(self, call: str, outcome: str) -> None:
        """Note what became of a call."""
        if call not in self.open:
            return
        if self.open[call] == "?":
            self.calls["in_doubt"] -= 1
        self.calls[outcome] += 1
        if outcome == "in_doubt":
            self.open[call] = "?"
        else:
            del self.open[call]

    def verify(self, shown: bool, now: float) -> None:
        """Show evidence."""
        if self.status == "running" and not self._late(now):
            self.verified = bool(self.plan.steps[self.here]["verify"]) and shown

    def fail(self, now: float) -> None:
        """Let the step fail."""
        if self.status == "ended" or self._late(now):
            return
        ways = [target for target, via in self.plan.steps[self.here]["exits"] if via == "failure"]
        if ways and ways[0] in self.plan.steps and self.plan.steps[ways[0]]["gate"] == "enter":
            self._enter(ways[0])
        elif ways:
            self._take(ways[0])
        else:
            self._deviate("unrouted-failure")

    def finish(self, now: float) -> None:
        """Say that it is done."""
        if self.status == "running" and not self._late(now):
            self._deviate("terminal-not-reached")

    def answer(self, yes: bool, now: float) -> None:
        """Answer the first open question."""
        if self.status == "ended" or self._late(now) or not self.questions:
            return
        action = self.questions.pop(0)
        (self.agreed if yes else self.refused).append(action)
