"""The model-facing form: name, description, JSON Schema, and a call that is wire in, wire out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from interlock import _core
from interlock._compiled import CompiledSpec, beside, unknown_fields
from interlock.conditions import Checks
from interlock.errors import ConfigError, InputInvalid, Problem
from interlock.tools import _schema
from interlock.tools._fields import missing, one_spelling, snake_case, truth_problems
from interlock.tools._limits import ROWS_LIMIT
from interlock.tools._owners import cursor_problems
from interlock.tools._signals import SIGNALS
from interlock.tools._timed import check_deadline, moment_for, plan_problems
from interlock.tools.branch import Branch
from interlock.tools.consensus_vote import consensus_vote
from interlock.tools.decision_table import DecisionTable
from interlock.tools.error_classify import ErrorClassify
from interlock.tools.lead_assign import LeadAssign
from interlock.tools.rule_score import RuleScore
from interlock.tools.sequence_run import SequenceRun
from interlock.tools.stall_detect import stall_detect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from interlock._wire import WireForm
    from interlock.typing import JSON, Instant

__all__ = [
    "DESCRIPTIONS",
    "INPUT_TOOLS",
    "TOOLS",
    "call",
    "decide",
    "definitions",
    "moment_for",
    "schema",
    "unknown_tool",
]

TOOLS: dict[str, type[CompiledSpec]] = {
    tool.tool: tool
    for tool in (
        Branch,
        DecisionTable,
        ErrorClassify,
        RuleScore,
        LeadAssign,
        SequenceRun,
        Checks,
    )
}
"""The compiled class of each tool that decides records by a spec, by its name in data."""

INPUT_TOOLS: dict[str, Callable[..., WireForm]] = {
    "ConsensusVote": consensus_vote,
    "StallDetect": stall_detect,
    "DeadlineCheck": check_deadline,
}
"""The function of each tool without a spec; its arguments are the fields of the input."""

DESCRIPTIONS = {
    "Branch": "Decide which of several named arms a record takes: the first whose conditions hold. "
    "Use it to route by facts that are in the record. Not for judging free text by its meaning.",
    "DecisionTable": "Decide what a table of rules says of a record, under the hit policy first, "
    "unique, priority or collect. Use it when several rules may hold at once. Not for ordered "
    "either-or choices: that is Branch.",
    "ErrorClassify": "Say what kind of error it is and what to do next (retry, wait, back off, "
    "renew credentials, send less, escalate, skip, give up), from its status, exit code, code, "
    "message, headers or body. Use it when a call or a command has failed, before trying again. "
    "Not for waiting or retrying itself, and not for finding the cause of a bug.",
    "ConsensusVote": "Count what several answers to one question settled on: the winner, its "
    "weight, ties and dissenters. Use it when samples, models or reviewers have answered. Not for "
    "judging which answer is right, and not for texts that agree in meaning alone.",
    "StallDetect": "Say whether a loop still moves: unchanged, oscillating or progressing, from "
    "snapshots of its signals. Use it between the rounds of a repeating task. Not for deciding "
    "what to do about it, and not for time limits.",
    "RuleScore": "Score a record: the exact sum of the points of the rules that hold, with bands. "
    "Use it when several facts add up to one number. Not for choosing between alternatives: that "
    "is Branch or DecisionTable.",
    "LeadAssign": "Say which owner of a roster gets a record: first, most specific, least loaded "
    "or in turn. Use it to hand out work by conditions, load and availability. Not for routing to "
    "steps or queues by facts alone: that is Branch.",
    "DeadlineCheck": "Say how much is left of a deadline or a time budget, in which phase it is, "
    "and how many more steps fit. Use it before the next step of work that has an end. Not for "
    "waiting.",
    "SequenceRun": "Say which steps of a plan can run now, which wait and for what, and which can "
    "run no more. Use it between the steps of work that has an order. Not for running anything.",
    "Assert": "Check that a record meets a list of conditions, and say of each one why not. Use it "
    "as a gate before or after a step. Not for choosing between alternatives: that is Branch.",
}
"""What each tool is for and what it is not for, in the order in which they are listed."""

_LIMITS = {"DecisionTable": {"rules": ROWS_LIMIT}}
"""What the model-facing form holds to and the library form does not."""


def call(
    name: str,
    arguments: Mapping[str, object],
    *,
    now: object = None,
) -> dict[str, JSON]:
    """Call a tool in its model-facing form.

    Args:
        name: One of the names that `definitions` lists, such as `Branch` or `ConsensusVote`.
        arguments: The input in wire form, as its JSON Schema says; both spellings of a name are
            read. Tools that decide a record take it as `value` beside the fields of their spec;
            ErrorClassify takes what is known of the error beside them.
        now: The present instant, instead of the clock. DeadlineCheck, SequenceRun and ErrorClassify
            look at it where *arguments* have no `now` of their own, ErrorClassify at no clock
            either way; the others never do.

    Returns:
        The wire form of the result.

    Raises:
        InputInvalid: With every fault of the input.
    """
    if not any(known == name for known in DESCRIPTIONS):
        raise _invalid([unknown_tool(name, "name")])
    if name == ErrorClassify.tool:
        return _classified(arguments, now).to_dict()
    run = _decided if name in TOOLS else _run
    return run(name, arguments, now).to_dict()


def _decided(name: str, arguments: object, now: object) -> WireForm:
    """Compile the spec of a call and decide its record."""
    tool, known = TOOLS[name], _schema.options(name)
    fields, problems = _read(arguments, (*tool.spec_fields, "value", *known))
    if "value" not in fields:
        problems.append(missing("value", "the record to decide (any JSON value, also null)"))
    value = fields.pop("value", None)
    given = {option: fields.pop(option) for option in known if option in fields}
    problems += _option_problems(given)
    # Of an option, null is the same as leaving it out.
    options: dict[str, Any] = {o: told for o, told in given.items() if told is not None}
    compiled = None
    try:
        compiled = tool.from_spec(fields, limits=_LIMITS.get(name))
    except ConfigError as error:
        problems += error.problems
    if compiled is None or problems:
        if tool is SequenceRun:
            problems += plan_problems(fields.get("steps"), options, now)
        raise _invalid(problems)
    options["verbose"] = options.get("verbose", options.pop("includeMissed", False))
    if "now" not in options:
        options["now"] = moment_for(compiled) if now is None else now
    try:
        return decide(compiled, value, **options)
    except ConfigError as error:
        raise _invalid(error.problems) from None


def _classified(arguments: object, now: object) -> WireForm:
    """Compile the rules of a call and classify the error that the rest of it tells of."""
    fields, problems = _read(arguments, (*SIGNALS, *ErrorClassify.spec_fields))
    spec = {name: fields.pop(name) for name in ErrorClassify.spec_fields if name in fields}
    if fields.get("now") is None:
        fields["now"] = now
    try:
        compiled = ErrorClassify.from_spec(spec)
    except ConfigError as error:
        compiled = ErrorClassify()
        problems += error.problems
    try:
        verdict = compiled.classify_data(fields)
    except ConfigError as error:
        raise _invalid([*problems, *beside(problems, error.problems)]) from None
    if problems:
        raise _invalid(problems)
    return verdict


def decide(
    compiled: CompiledSpec,
    value: object,
    *,
    verbose: bool = False,
    cursor: int | None = None,
    now: Instant | None = None,
    completed: Iterable[str] = (),
    failed: Iterable[str] = (),
) -> WireForm:
    """Ask a compiled record tool about a record; each tool takes the options that are its own."""
    if isinstance(compiled, (Branch, DecisionTable)):
        return compiled.decide(value, verbose=verbose)
    if isinstance(compiled, RuleScore):
        return compiled.score(value, include_missed=verbose)
    if isinstance(compiled, LeadAssign):
        return compiled.assign(value, cursor=cursor, verbose=verbose)
    if isinstance(compiled, SequenceRun):
        return compiled.plan(value, now=now, completed=completed, failed=failed)
    if isinstance(compiled, ErrorClassify):
        return compiled.classify_data(cast("Mapping[str, object]", value))
    return cast("Checks", compiled).report(value)


def unknown_tool(name: object, field: str) -> Problem:
    """Say that there is no tool of that name, with the nearest that there is."""
    near = _core.nearest(name, list(DESCRIPTIONS)) if isinstance(name, str) else None
    hint = f'; did you mean "{near}"?' if near else ""
    message = f"no tool of that name{hint} (known: {', '.join(DESCRIPTIONS)})"
    return Problem("spec/unknown-choice", field, _core.preview(name), message)


def schema(name: str) -> dict[str, JSON]:
    """Return the JSON Schema of a spec file, or of the input of a tool without a spec."""
    return TOOLS[name].json_schema() if name in TOOLS else _model_input(name)


def _run(name: str, arguments: object, now: object) -> WireForm:
    """Call a tool without a spec: the whole input goes into one call."""
    known, required = _schema.input_fields(name)
    fields, problems = _read(arguments, known)
    for field in required:
        if field not in fields:
            problems.append(missing(field))
            fields[field] = ()
    if "now" in known and fields.get("now") is None:
        fields["now"] = now
    try:
        result = INPUT_TOOLS[name](**{snake_case(field): fields[field] for field in fields})
    except ConfigError as error:
        raise _invalid([*problems, *beside(problems, error.problems)]) from None
    if problems:
        raise _invalid(problems)
    return result


def _read(arguments: object, known: tuple[str, ...]) -> tuple[dict[str, object], list[Problem]]:
    """Read the known fields of an input, and what is wrong with the others."""
    from collections.abc import Mapping as AnyMapping

    if not isinstance(arguments, AnyMapping):
        message = "must be a mapping of the tool's fields"
        problem = Problem("spec/wrong-type", "arguments", _core.preview(arguments), message)
        raise _invalid([problem])
    given = cast("Mapping[str, object]", arguments)
    fields, problems = one_spelling(given, known)
    problems += unknown_fields(fields, known)
    return {field: value for field, value in fields.items() if field in known}, problems


def _option_problems(given: Mapping[str, object]) -> list[Problem]:
    problems = [] if "cursor" not in given else cursor_problems(given["cursor"])
    for name in ("verbose", "includeMissed"):
        problems += truth_problems(given.get(name, False), name)
    return problems


def _invalid(problems: Sequence[Problem]) -> InputInvalid:
    return InputInvalid(tuple(problems))


Style = Literal["mcp", "openai", "anthropic"]
"""Whose tool list a definition is for."""


def definitions(style: Style = "mcp") -> list[dict[str, JSON]]:
    """Return the tools as a model harness takes them.

    Args:
        style: `mcp` (`inputSchema`), `openai` (chat: `function.parameters`) or `anthropic`
            (`input_schema`).

    Raises:
        ConfigError: For another style.
    """
    if style not in ("mcp", "openai", "anthropic"):
        message = "must be one of mcp, openai, anthropic"
        problem = Problem("spec/unknown-choice", "style", _core.preview(style), message)
        raise ConfigError((problem,))
    return [_definition(name, style) for name in DESCRIPTIONS]


def _model_input(name: str) -> dict[str, JSON]:
    # The record of ErrorClassify is its signals, beside the rest.
    return _schema.model_input(name, has_record=name in TOOLS and name != ErrorClassify.tool)


def _definition(name: str, style: Style) -> dict[str, JSON]:
    inputs: JSON = dict(_model_input(name))
    described: dict[str, JSON] = {"name": name, "description": DESCRIPTIONS[name]}
    if style == "openai":
        return {"type": "function", "function": {**described, "parameters": inputs}}
    if style == "anthropic":
        return {**described, "input_schema": inputs}
    annotations: JSON = {
        "readOnlyHint": True,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    return {**described, "inputSchema": inputs, "annotations": annotations}
