"""What a policy is made of, beside its steps: tools, gates, checks, order rules, budgets."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast, get_args

from interlock import _core
from interlock._compiled import CompiledSpec
from interlock.errors import ConfigError, Problem
from interlock.supervise._frozen import EMPTY, FrozenMap
from interlock.supervise.capability import capability_class_of, matches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from interlock.conditions import Checks
    from interlock.supervise.policy import Policy
    from interlock.supervise.risk import Effect
    from interlock.typing import JSON

__all__ = [
    "CalledRunbook",
    "Ceilings",
    "Edge",
    "Escalation",
    "Exit",
    "OrderRule",
    "PolicyInput",
    "PolicyTool",
    "Progress",
    "Scope",
    "Selector",
    "Verify",
    "Via",
    "Wait",
    "as_data",
]

Via: TypeAlias = Literal["next", "failure", "timeout", "case", "otherwise", "rollback"]
Response: TypeAlias = Literal["abort", "block-and-continue", "pause"]
RESPONSES: tuple[Response, ...] = get_args(Response)

DEVIATION_CLASSES = (
    "undeclared-tool",
    "out-of-scope-tool",
    "out-of-order-step",
    "unchecked-advance",
    "budget-exhausted",
    "unrouted-failure",
    "terminal-not-reached",
)
"""The seven kinds of deviation; closed, so that counts of many runs stay comparable."""

MAX_TOTAL = 3


class Exit(NamedTuple):
    """A way out of a step.

    Attributes:
        target: The id of a step or terminal.
        via: What leads there; None where the policy was built from bare transitions.
    """

    target: str
    via: Via | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """A way from a step to a step or terminal.

    Attributes:
        source: The step.
        target: The step or terminal that it leads to.
        via: next, failure, timeout, case, otherwise or rollback; None when it is untyped.
        budget: How often a run may take it; None when that is not bounded. Edges between the same
            two steps share one budget.
    """

    source: str
    target: str
    via: Via | None = None
    budget: int | None = None

    @property
    def key(self) -> str:
        """The edge as budgets name it: `from->to`."""
        return f"{self.source}->{self.target}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyTool:
    """What calls a procedure may make.

    Attributes:
        id: The capability; one that ends in `*` stands for all that begin so.
        effect: What a call does; None when that is not known, and then no call is allowed.
        args: What the arguments must hold; None: anything.
        idempotent: Whether the same call twice is as once; None when that is not known.
        timeout_s: Seconds after which a call is given up; None when it has no bound.
        labels: Words by which order rules know it.
    """

    id: str
    effect: Effect | None = None
    args: Checks | None = None
    idempotent: bool | None = None
    timeout_s: float | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What the arguments of a step's calls must hold, narrower than the tool's own.

    Attributes:
        tool: The calls it is about; `*` for all.
        checks: The conditions, over the arguments.
    """

    tool: str
    checks: Checks

    def covers(self, capability: str) -> bool:
        """Say whether calls of a capability are in its scope."""
        return matches(self.tool, capability)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verify:
    """What must hold before a step is left by its success edge.

    Attributes:
        checks: The conditions.
        source: What they look at: `evidence` that is brought, or the output of a `tool`.
    """

    checks: Checks
    source: Literal["evidence", "tool"] = "evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """How long a step waits, and how often it looks, in seconds."""

    max_s: float
    poll_s: float = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """When a loop that repeats itself is ended: signals of the facts, and how many snapshots."""

    signals: tuple[str, ...]
    window: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledRunbook:
    """The runbook that a step enters.

    Attributes:
        id: Its id.
        digest: The digest of its policy, by which it is known.
        outcomes: Where each of its outcomes leads; another leads where `otherwise` does.
        policy: Its policy; None where it was not given and the faults were passed over.
    """

    id: str
    digest: str
    outcomes: FrozenMap[str, str] = FrozenMap()  # noqa: RUF009 (it cannot be changed)
    policy: Policy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyInput:
    """What a run is given before it starts; see `check_inputs`.

    Attributes:
        type: What it must be: string, integer, number, boolean, array, object or null.
        required: Whether a run does not start without it.
        default_json: What it is when it is not given, as JSON; None: there is no default.
        checks: What must hold of it; None: anything.
        secret: Whether it is never shown.
    """

    type: str = "string"
    required: bool = True
    default_json: str | None = None
    checks: Checks | None = None
    secret: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """Which calls an order rule is about; all that is not None must hold."""

    tool: str | None = None
    capability_class: str | None = None
    effect: Effect | None = None
    step: str | None = None
    label: str | None = None

    def selects(
        self, *, tool: str, effect: str | None, step: str | None, labels: tuple[str, ...] = ()
    ) -> bool:
        """Say whether a call is one of those."""
        return (
            (self.tool is None or matches(self.tool, tool))
            and self.capability_class in (None, capability_class_of(tool))
            and self.effect in (None, effect)
            and self.step in (None, step)
            and (self.label is None or self.label in labels)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRule:
    """After one call another is no longer allowed, though each is alone."""

    after: Selector
    then: Selector
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """What a deviation does to the run.

    Attributes:
        responses: By class: `abort`, `block-and-continue` or `pause`; every class is in it.
        max_total: How many deviations of all classes a run may have; one more ends it.

    Raises:
        ConfigError: For a class or a response that is none, or a `max_total` that is no number.
    """

    responses: Mapping[str, Response] = EMPTY
    max_total: int = MAX_TOTAL

    def __post_init__(self) -> None:
        """Fill in what is not said: everything aborts but a call out of the step's scope."""
        given: Mapping[str, Response] = self.responses
        problems = tuple(_escalation_problems(given, self.max_total))
        if problems:
            raise ConfigError(problems)
        whole: dict[str, Response] = dict.fromkeys(DEVIATION_CLASSES, "abort")
        whole["out-of-scope-tool"] = "block-and-continue"
        object.__setattr__(self, "responses", FrozenMap({**whole, **given}))


def _escalation_problems(given: Mapping[str, object], most: object) -> Iterator[Problem]:
    for name, response in given.items():
        for value, known in ((name, DEVIATION_CLASSES), (response, RESPONSES)):
            if value not in known:
                shown, message = _core.preview(value), f"must be one of {', '.join(known)}"
                yield Problem("spec/unknown-choice", f"responses.{name}", shown, message)
    if type(most) is not int or most < 0:
        message = "must be a whole number, 0 or more"
        yield Problem("spec/wrong-type", "max_total", _core.preview(most), message)


WATCHING = Escalation(
    responses=dict.fromkeys(DEVIATION_CLASSES, "block-and-continue"), max_total=10_000
)
"""What a deviation does where a runbook is tried on live work: the rest is to be seen as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    """What a whole run may spend, beside the budgets of edges and steps; None: no bound.

    Attributes:
        calls: Calls in all.
        calls_by_tool: Calls of a capability (or all that a pattern stands for).
        calls_by_step: Calls in a step, over all its visits.
        tokens: Tokens, from the usage that was observed.
        seconds: What the document asks for; only the operator's own bound ends a run by time.
    """

    calls: int | None = None
    calls_by_tool: Mapping[str, int] = EMPTY
    calls_by_step: Mapping[str, int] = EMPTY
    tokens: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Take mappings of any kind."""
        for name in ("calls_by_tool", "calls_by_step"):
            object.__setattr__(self, name, FrozenMap(getattr(self, name)))


def as_data(value: object) -> JSON:
    """Write a part as plain data: what a digest is computed from."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, CompiledSpec):
        return value.to_spec()
    if isinstance(value, CalledRunbook):
        return {"id": value.id, "digest": value.digest, "outcomes": dict(value.outcomes)}
    if is_dataclass(value):
        told = ((one, getattr(value, one.name)) for one in fields(value))
        return {
            one.name: as_data(given)
            for one, given in told
            if given is not None or "sparse" not in one.metadata
        }
    if isinstance(value, FrozenMap):
        entries = cast("FrozenMap[str, object]", value)
        return {key: as_data(one) for key, one in entries.items()}
    return [as_data(one) for one in cast("tuple[Any, ...]", value)]
