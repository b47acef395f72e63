"""The runbook document: its fields, their types and bounds, and its JSON Schema.

What a field means is in `docs/runbooks.md`. Only the shape is read here; whether the targets, the
budgets and the conditions make a procedure is for `interlock.supervise` to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from interlock.spec._shape import shape_problems

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interlock.errors import Problem
    from interlock.typing import JSON

__all__ = ["Case", "Gate", "Runbook", "Selector", "Step", "read_runbook", "runbook_schema"]

_STEPS_LIMIT = 500
_LIST_LIMIT = 256
_CONDITION = "a check"
_ERROR_RULE = "a rule for errors"
_RULES_LIMIT = 256
_ID = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$"

Execution = Literal["human-only", "human-with-agent", "agent-autonomous"]
Profile = Literal["R0", "R1", "R2"]
Bucket = Literal["<5m", "5-15m", "15-60m", "1-4h", ">4h"]
Effect = Literal["readonly", "write", "destructive", "irreversible"]
Risk = Literal["read-only", "reversible-write", "destructive", "irreversible"]
Kind = Literal["action", "check", "decision", "wait", "manual", "approval", "call", "end"]
Type = Literal["null", "boolean", "integer", "number", "string", "array", "object"]
Response = Literal["abort", "block-and-continue", "pause"]
DeviationClass = Literal[
    "undeclared-tool",
    "out-of-scope-tool",
    "out-of-order-step",
    "unchecked-advance",
    "budget-exhausted",
    "unrouted-failure",
    "terminal-not-reached",
]

Id = Annotated[str, Field(pattern=_ID)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Seconds = Annotated[float, Field(gt=0, le=10**9, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=10**9)]
# A budget that is none is told together with what is wrong with the graph.
Budget = Annotated[Any, WithJsonSchema({"type": "integer", "minimum": 1})]
Total = Annotated[int, WithJsonSchema({"type": "integer", "minimum": 1})]
Condition = Annotated[Any, WithJsonSchema({"$comment": _CONDITION})]
ErrorRule = Annotated[Any, WithJsonSchema({"$comment": _ERROR_RULE})]
Conditions = Annotated[list[Condition], Field(min_length=1)]
Capability = Annotated[str, Field(min_length=1, max_length=256)]
Capabilities = Annotated[list[Capability], Field(max_length=_LIST_LIMIT)]


class _Part(BaseModel):
    """A part of a document: no other fields, nothing coerced, not changed afterwards."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=False)


class Input(_Part):
    """What a run is given before it starts."""

    type: Annotated[Type, Field(description="What it must be.")] = "string"
    required: Annotated[
        bool | None, Field(description="Whether it must be given; yes when it has no default.")
    ] = None
    default: Annotated[Any, Field(description="What it is when it is not given.")] = None
    checks: Annotated[
        Conditions | None, Field(description="What must hold of it; an empty path is the value.")
    ] = None
    secret: Annotated[bool, Field(description="Whether it is never shown.")] = False
    description: Annotated[str, Field(max_length=2_000)] = ""


class Tool(_Part):
    """What calls the procedure may make."""

    id: Annotated[
        Capability,
        Field(description="Class first: cli:kubectl, mcp:server/tool; a trailing * for any rest."),
    ]
    effect: Annotated[
        Effect | None, Field(description="What a call does; without one it counts as destructive.")
    ] = None
    args: Annotated[Conditions | None, Field(description="What its arguments must hold.")] = None
    idempotent: Annotated[
        bool | None, Field(description="Whether the same call twice is as once.")
    ] = None
    timeout_s: Annotated[Seconds | None, Field(description="Seconds until it is given up.")] = None
    labels: Annotated[
        list[Id], Field(max_length=16, description="Words by which order rules know it.")
    ] = []


class Gate(_Part):
    """Who must agree, and when."""

    on: Annotated[
        Literal["call", "enter"], Field(description="Before each call, or on entering the step.")
    ] = "call"
    approvers: Annotated[
        list[Text] | dict[str, Any] | None,
        Field(description="Who may agree: names, or a roster as LeadAssign takes it."),
    ] = None
    quorum: Annotated[Count, Field(description="How many must agree.")] = 1
    expires_s: Annotated[
        Seconds | None, Field(description="Seconds from asking after which it is refused.")
    ] = None
    question: Annotated[str, Field(max_length=2_000, description="What they are asked.")] = ""
    separate_from: Annotated[
        Literal["requester"] | None, Field(description="Who may not agree to their own.")
    ] = None
    rules: Annotated[
        dict[str, Any] | None,
        Field(
            description="Which calls are asked about: a DecisionTable (unique or priority) whose "
            "outputs are allow, ask or block."
        ),
    ] = None
    score: Annotated[
        dict[str, Any] | None,
        Field(
            description="How risky a call is: a RuleScore whose bands are named allow, ask or "
            "block; the stricter of rules and score holds."
        ),
    ] = None


class Verify(_Part):
    """What must hold before a step is left by its success edge."""

    checks: Conditions
    source: Annotated[
        Literal["evidence", "tool"],
        Field(alias="from", description="What the checks look at: evidence, or a tool's output."),
    ] = "evidence"


class Case(_Part):
    """An arm of a decision."""

    when: Conditions
    match: Literal["all", "any"] = "all"
    to: Id


class Wait(_Part):
    """How long a step waits, and how often it looks."""

    max_s: Annotated[Seconds | None, Field(description="Seconds after which it gives up.")] = None
    poll_s: Annotated[Seconds, Field(description="Seconds between two looks.")] = 15


class Called(_Part):
    """The runbook that a step of kind call enters."""

    id: Id
    digest: Annotated[
        str,
        Field(
            pattern="^[0-9a-f]{64}$", description="The digest of its policy, by which it is known."
        ),
    ]
    outcomes: Annotated[
        dict[Id, Id], Field(max_length=64, description="Where each of its outcomes leads.")
    ] = {}


class Progress(_Part):
    """When a loop that repeats itself is ended before its budget."""

    signals: Annotated[list[Name], Field(min_length=1, max_length=64)]
    window: Annotated[int, Field(ge=2, le=64)] = 3


class Step(_Part):
    """One step."""

    id: Id
    title: Annotated[str, Field(max_length=200)] = ""
    kind: Kind = "action"
    risk: Annotated[
        Risk | None, Field(description="How far its calls may go; as its tools say when left out.")
    ] = None
    do: Annotated[str, Field(max_length=20_000, description="What to do, in words.")] = ""
    tools: Capabilities = []
    args: Annotated[
        Conditions | dict[Capability, Conditions] | None,
        Field(description="What the arguments of its calls must hold, for all or by tool."),
    ] = None
    gate: Gate | Literal["none"] | None = None
    reason: Annotated[str, Field(max_length=2_000, description="Why there is no gate.")] = ""
    verify: Verify | None = None
    next: Id | None = None
    on_failure: Id | None = None
    on_timeout: Id | None = None
    cases: Annotated[list[Case], Field(max_length=64)] = []
    otherwise: Id | None = None
    wait: Wait | None = None
    rollback: Id | None = None
    calls: Called | None = None
    progress: Progress | None = None
    outcome: Annotated[Id | None, Field(description="What the run has come to at this end.")] = None


class Terminal(_Part):
    """A place where the procedure ends."""

    id: Id
    outcome: Annotated[Id | None, Field(description="Its id when left out.")] = None


class Calls(_Part):
    """How many calls there may be."""

    total: Budget = None
    tools: Annotated[dict[Capability, Budget], Field(max_length=_LIST_LIMIT)] = {}
    steps: Annotated[dict[Id, Budget], Field(max_length=_STEPS_LIMIT)] = {}


class Budgets(_Part):
    """What a run may spend."""

    edges: Annotated[
        dict[str, Budget], Field(description='By "from->to": how often it is taken.')
    ] = {}
    steps: Annotated[dict[Id, Budget], Field(description="How often a step is entered.")] = {}
    calls: Annotated[
        Calls | Total | None, Field(description="Of all calls, or total, tools and steps apart.")
    ] = None
    tokens: Budget = None
    seconds: Seconds | None = None


class Selector(_Part):
    """Which calls an order rule is about; all that is given must hold."""

    tool: Capability | None = None
    class_: Annotated[str | None, Field(alias="class")] = None
    effect: Effect | None = None
    step: Id | None = None
    label: Id | None = None


class Never(_Part):
    """An order rule: after one call, another is no longer allowed."""

    after: Selector
    then: Selector
    message: Annotated[str, Field(max_length=500)] = ""


class Escalation(_Part):
    """What a deviation does to the run."""

    responses: dict[DeviationClass, Response] = {}
    max_total: Annotated[int, Field(ge=0, le=10_000)] = 3


class Errors(_Part):
    """How calls that failed are judged."""

    rules: Annotated[
        list[ErrorRule],
        Field(max_length=_RULES_LIMIT, description="As ErrorClassify takes them; asked first."),
    ] = []
    on_escalate: Annotated[
        Literal["tell", "pause"],
        Field(description="Where a person is to decide: it is told, or the run waits for one."),
    ] = "tell"


class Runbook(_Part):
    """A written procedure."""

    runbook: Annotated[Literal["1"], Field(description="The version of this format.")]
    id: Id
    title: Annotated[str, Field(max_length=200)] = ""
    version: Annotated[str, Field(max_length=64)] = ""
    summary: Annotated[str, Field(max_length=20_000)] = ""
    owner: Annotated[str, Field(max_length=200)] = ""
    execution: Execution = "human-with-agent"
    min_runtime_profile: Profile | None = None
    duration: Annotated[Bucket | None, Field(description="How long it usually takes.")] = None
    inputs: Annotated[dict[Name, Input], Field(max_length=_LIST_LIMIT)] = {}
    tools: Annotated[list[Tool], Field(max_length=_LIST_LIMIT)] = []
    steps: Annotated[list[Step], Field(max_length=_STEPS_LIMIT)]
    entry: Annotated[Id | None, Field(description="The first step when left out.")] = None
    terminals: Annotated[list[Terminal], Field(max_length=_STEPS_LIMIT)] = []
    budgets: Budgets = Budgets()
    never: Annotated[list[Never], Field(max_length=64)] = []
    escalation: Escalation = Escalation()
    errors: Errors = Errors()


def read_runbook(data: JSON) -> tuple[Runbook | None, list[Problem]]:
    """Read a document from plain data.

    Returns:
        The document without what is at fault, or None where it cannot do without; and every fault
        of its shape.
    """
    try:
        return Runbook.model_validate(data), []
    except ValidationError as error:
        problems, without = shape_problems(Runbook, data, error.errors(include_url=False))
    if without is None:
        return None, problems
    try:
        return Runbook.model_validate(without), problems
    except ValidationError:
        return None, problems


def runbook_schema(condition: JSON, error_rule: JSON) -> dict[str, JSON]:
    """Return the JSON Schema (2020-12) of a document, with those of a check and an error rule."""
    schema = _finished(Runbook.model_json_schema(by_alias=True))
    schema["$defs"] |= {"Condition": condition, "ErrorRule": error_rule}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


_ELSEWHERE = {_CONDITION: "Condition", _ERROR_RULE: "ErrorRule"}


def _finished(node: Any) -> Any:
    """Point every place of a condition or rule to its one schema, and close mappings."""
    if isinstance(node, list):
        return list(map(_finished, cast("Iterable[Any]", node)))
    if not isinstance(node, dict):
        return node
    parts = dict(cast("Mapping[str, Any]", node))
    if parts.get("$comment") in _ELSEWHERE:
        return {"$ref": f"#/$defs/{_ELSEWHERE[parts['$comment']]}"}
    if "patternProperties" in parts:
        parts["additionalProperties"] = False
    return {key: _finished(one) for key, one in parts.items()}
