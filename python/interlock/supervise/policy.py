"""Policy: what a runbook allows, step by step, and how long a run of it can be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from interlock import _core
from interlock.errors import Problem, RunbookInvalid
from interlock.supervise._bound import most_moves
from interlock.supervise._frozen import EMPTY, FrozenMap
from interlock.supervise._problems import budget_problems, unknown_key, unknown_target
from interlock.supervise.capability import matches, meets
from interlock.supervise.contract import implied_minimum
from interlock.supervise.failed import ERRORS, ErrorRules
from interlock.supervise.parts import (
    CalledRunbook,
    Ceilings,
    Edge,
    Escalation,
    Exit,
    OrderRule,
    PolicyInput,
    PolicyTool,
    Progress,
    Scope,
    Verify,
    Wait,
    as_data,
)
from interlock.supervise.risk import Risk, highest

if TYPE_CHECKING:
    from interlock.supervise.gate import Gate
    from interlock.tools.branch import Branch
    from interlock.typing import JSON

__all__ = ["Policy", "PolicyStep", "Profile"]

Kind: TypeAlias = Literal[
    "action", "check", "decision", "wait", "manual", "approval", "call", "end"
]
Execution: TypeAlias = Literal["human-only", "human-with-agent", "agent-autonomous"]
Profile: TypeAlias = Literal["R0", "R1", "R2"]

_CEILINGS = Ceilings()
_ESCALATION = Escalation()


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyStep:
    """A step of a policy.

    Attributes:
        id: Its id.
        title: Its title.
        kind: action, check, decision, wait, manual, approval, call or end.
        risk: How far its calls may go: what it declares, or what its tools imply.
        do: What to do, in words.
        tools: The capabilities that it may use, patterns included.
        undeclared: Those that it names, in its list or its text, and the document does not hold.
        exits: Its ways out, each with what leads there, in the order of the document.
        transitions: Where they lead, each once. What the step is built from by hand.
        gate: Who must agree; None: nobody.
        verify: What must hold before its success edge; None: nothing.
        args: What the arguments of its calls must hold, beside what the tools ask for.
        branch: Where a decision leads: the `result` of its answer is a target.
        wait: How long it waits.
        calls: The runbook that it enters.
        progress: When a loop through it is ended because it repeats itself.
        rollback: The step that undoes it.
        outcome: What the run has come to at this end.
    """

    id: str
    title: str = ""
    kind: Kind = "action"
    risk: Risk = "read-only"
    do: str = ""
    tools: tuple[str, ...] = ()
    undeclared: tuple[str, ...] = ()
    exits: tuple[Exit, ...] = ()
    transitions: tuple[str, ...] = ()
    gate: Gate | None = None
    verify: Verify | None = None
    args: tuple[Scope, ...] = ()
    branch: Branch | None = None
    wait: Wait | None = None
    calls: CalledRunbook | None = None
    progress: Progress | None = None
    rollback: str | None = None
    outcome: str | None = None

    def __post_init__(self) -> None:
        """Make exits of transitions, or transitions of exits."""
        if not self.exits:
            exits = tuple(Exit(target) for target in self.transitions)
            object.__setattr__(self, "exits", exits)
        targets = tuple(dict.fromkeys(target for target, _ in self.exits))
        object.__setattr__(self, "transitions", targets)
        object.__setattr__(self, "tools", tuple(self.tools))

    @property
    def gated(self) -> bool:
        """Whether somebody must agree."""
        return self.gate is not None

    def allows(self, capability: str) -> bool:
        """Say whether its tools hold a capability."""
        return any(matches(pattern, capability) for pattern in self.tools)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What a runbook allows: frozen, hashable, picklable; the same document, the same policy.

    `derive_policy` makes it of a document. By hand, steps with `transitions`, an entry and
    terminals are enough: `Policy(id="p", steps=[PolicyStep(id="a", transitions=("done",))],
    terminals={"done": "resolved"})`.

    Attributes:
        id: The id of the document.
        version: Its version.
        title: Its title.
        steps: By id, in the order of the document.
        entry: Where a run begins; the first step when left out.
        terminals: By id: the outcome of a run that ends there.
        budgets: By `from->to`: how often the edges between the two are taken.
        visit_budgets: By step: how often it is entered; beginning a run there is entering it.
        ceilings: What a whole run may spend.
        tools: By capability.
        execution: human-only, human-with-agent or agent-autonomous.
        min_runtime_profile: What the client must enforce at least; None: what is implied.
        inputs: By name.
        suggested_wall_clock_seconds: How long it usually takes; it ends no run.
        escalation: What a deviation does.
        never: Order rules.
        errors: How calls that failed are judged.
        warnings: What lint has found that is no fault.
        faults: What is wrong with the document; under these it runs at R0 alone.

    Raises:
        RunbookInvalid: When a target, the entry or a budget is of nothing that is there.
    """

    id: str
    version: str = ""
    title: str = ""
    steps: Mapping[str, PolicyStep]
    entry: str = ""
    terminals: Mapping[str, str] = EMPTY
    budgets: Mapping[str, int] = EMPTY
    visit_budgets: Mapping[str, int] = EMPTY
    ceilings: Ceilings = _CEILINGS
    tools: Mapping[str, PolicyTool] = EMPTY
    execution: Execution = "human-with-agent"
    min_runtime_profile: Profile | None = None
    inputs: Mapping[str, PolicyInput] = EMPTY
    suggested_wall_clock_seconds: int | None = None
    escalation: Escalation = _ESCALATION
    never: tuple[OrderRule, ...] = ()
    errors: ErrorRules = ERRORS
    warnings: tuple[Problem, ...] = ()
    faults: tuple[Problem, ...] = ()

    def __post_init__(self) -> None:
        """Take mappings and lists of any kind, and refuse what leads nowhere."""
        steps = _by_id(self.steps)
        # Mappings by name, also where they were given as lists or plain mappings.
        frozen: dict[str, object] = {
            "steps": steps,
            "tools": _by_id(self.tools),
            "terminals": FrozenMap(dict(self.terminals)),
            "budgets": FrozenMap(self.budgets),
            "visit_budgets": FrozenMap(self.visit_budgets),
            "inputs": FrozenMap(self.inputs),
            "entry": self.entry or next(iter(steps), ""),
            "never": tuple(self.never),
        }
        for name, value in frozen.items():
            object.__setattr__(self, name, value)
        problems = tuple(_hand_problems(self))
        if problems:
            raise RunbookInvalid(problems)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __getstate__(self) -> dict[str, object]:
        """Pickle the fields, and nothing that was computed from them."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    def digest(self) -> str:
        """SHA-256 (64 hexadecimal digits) of the canonical form of all fields.

        What lint says of the document is left out, and `errors` that say nothing: by those a log of
        before goes on. It is computed, so that a policy changed by `replace` has another.
        """
        left_out = {"warnings", "faults"} | ({"errors"} if self.errors == ERRORS else set())
        kept = (one.name for one in fields(self) if one.name not in left_out)
        return _core.digest({name: as_data(getattr(self, name)) for name in kept})

    def to_dict(self) -> dict[str, JSON]:
        """Return the policy as plain data, with what is computed from it."""
        computed: dict[str, JSON] = {
            "digest": self.digest,
            "max_risk": self.max_risk,
            "implied_minimum": self.implied_minimum,
            "max_moves": self.max_moves,
        }
        fields_ = ((one.name, as_data(getattr(self, one.name))) for one in fields(self))
        return {**dict(fields_), **computed}

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """All edges, in the order of the document."""
        return tuple(
            Edge(step.id, target, via, self.budgets.get(f"{step.id}->{target}"))
            for step in self.steps.values()
            for target, via in step.exits
        )

    @property
    def max_risk(self) -> Risk:
        """The highest risk of a step, those of called runbooks included."""
        return self._max_risk

    @cached_property
    def _max_risk(self) -> Risk:
        risks: list[Risk] = [step.risk for step in self.steps.values()]
        return highest([*risks, *(policy.max_risk for policy in self.called)])

    @property
    def called(self) -> tuple[Policy, ...]:
        """The policies of the runbooks that its steps enter, as far as they are at hand."""
        found = (step.calls.policy for step in self.steps.values() if step.calls)
        return tuple(policy for policy in found if policy is not None)

    @property
    def implied_minimum(self) -> Profile:
        """What risk and execution ask of a client, and what the runbooks that it calls ask."""
        return implied_minimum(self)

    @cached_property
    def max_moves(self) -> int | None:
        """A number of moves that no run exceeds, those in called runbooks included.

        None where a cycle has no budget, which only a policy built by hand can have.
        """
        costs: dict[str, int] = {}
        for step in self.steps.values():
            if step.calls is not None:
                inner = step.calls.policy.max_moves if step.calls.policy else None
                if inner is None:
                    return None
                costs[step.id] = inner
        return most_moves(
            self.entry,
            {step.id: step.transitions for step in self.steps.values()},
            edges=self.budgets,
            visits=self.visit_budgets,
            costs=costs,
        )

    @cached_property
    def order_rules(self) -> tuple[tuple[str, Policy, OrderRule], ...]:
        """The order rules of this runbook and of all that it calls, each with its place."""
        rules = [(f"{self.digest[:12]}/{at}", self, rule) for at, rule in enumerate(self.never)]
        rules += [rule for policy in self.called for rule in policy.order_rules]
        return tuple({place: (place, policy, rule) for place, policy, rule in rules}.values())

    def tool_of(self, capability: str) -> PolicyTool | None:
        """Return the tool that a capability is declared by, the most specific; None for none."""
        exact = self.tools.get(capability)
        if exact is not None:
            return exact
        found = (tool for id_, tool in self.tools.items() if matches(id_, capability))
        return max(found, key=lambda tool: len(tool.id), default=None)

    def scopes_of(self, step: PolicyStep, capability: str) -> tuple[Scope, ...]:
        """Return all that the arguments of a call must hold: of its tool, then of the step."""
        tool = self.tool_of(capability)
        own = () if tool is None or tool.args is None else (Scope(tool=tool.id, checks=tool.args),)
        return (*own, *(scope for scope in step.args if scope.covers(capability)))


def tools_met(tools: Mapping[str, PolicyTool], pattern: str) -> list[PolicyTool]:
    """Return the declared tools that a step can use under a pattern."""
    if pattern in tools and not pattern.endswith("*"):
        return [tools[pattern]]
    met = [tool for tool in tools.values() if meets(tool.id, pattern)]
    covering = [tool for tool in met if matches(tool.id, pattern.removesuffix("*"))]
    if not covering:
        return met
    # Of those that cover all of it, the most specific decides.
    nearest = max(covering, key=lambda tool: len(tool.id))
    return [tool for tool in met if tool is nearest or tool not in covering]


def _by_id(given: object) -> FrozenMap[str, Any]:
    """Take things by id, or a list of things that have one."""
    if isinstance(given, FrozenMap):
        return cast("FrozenMap[str, Any]", given)
    if isinstance(given, Mapping):
        return FrozenMap(cast("Mapping[str, Any]", given))
    return FrozenMap({one.id: one for one in cast("Iterable[Any]", given)})


def _hand_problems(policy: Policy) -> Iterable[Problem]:
    """Say what leads nowhere; nothing of a policy that was derived."""
    known = {*policy.steps, *policy.terminals}
    if policy.entry not in policy.steps:
        message = "there is no step of that id; name one of steps"
        yield Problem("runbook/no-entry", "entry", _core.preview(policy.entry), message)
    for id_ in (one.id for one in policy.steps.values() if one.calls and one.gate):
        message = "a step that enters a runbook has none; put an approval before it"
        yield Problem("runbook/unread-field", f"steps.{id_}.gate", None, message)
    yield from _lost_targets(policy, known)
    yield from _lost_budgets(policy)


def _lost_targets(policy: Policy, known: set[str]) -> Iterable[Problem]:
    for step in policy.steps.values():
        for at, target in enumerate(step.transitions):
            if target not in known:
                yield unknown_target(f"steps.{step.id}.transitions[{at}]", target, known)


def _lost_budgets(policy: Policy) -> Iterable[Problem]:
    pairs = {
        f"{step.id}->{target}" for step in policy.steps.values() for target in step.transitions
    }
    groups = (
        ("budgets", policy.budgets, pairs),
        ("visit_budgets", policy.visit_budgets, {*policy.steps}),
    )
    for field, budgets, there in groups:
        for key, budget in budgets.items():
            if key not in there:
                yield unknown_key(f'{field}["{key}"]', key, there)
            yield from budget_problems(budget, f'{field}["{key}"]')
