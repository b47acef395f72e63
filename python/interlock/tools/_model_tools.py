"""The model-facing form: name, description, JSON Schema, and a call that is wire in, wire out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from interlock import _core
from interlock._compiled import CompiledSpec, unknown_fields
from interlock.conditions import Checks
from interlock.errors import ConfigError, InputInvalid, Problem
from interlock.tools import _schema
from interlock.tools._timed import (
    PLAN_FIELDS,
    check_deadline,
    moment_for,
    plan_problems,
    plan_with,
)
from interlock.tools.branch import Branch
from interlock.tools.decision_table import DecisionTable
from interlock.tools.sequence_run import SequenceRun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlock._wire import WireForm
    from interlock.typing import JSON

__all__ = ["DESCRIPTIONS", "TOOLS", "call", "decide", "definitions", "moment_for"]

TOOLS: dict[str, type[CompiledSpec]] = {
    tool.tool: tool for tool in (Branch, DecisionTable, SequenceRun, Checks)
}
"""The compiled class of each tool that has one, by its name in data."""

DESCRIPTIONS = {
    "Branch": "Decide which of several named arms a record takes: the first whose conditions hold. "
    "Use it to route by facts that are in the record. Not for judging free text by its meaning.",
    "DecisionTable": "Decide what a table of rules says of a record, under the hit policy first, "
    "unique, priority or collect. Use it when several rules may hold at once. Not for ordered "
    "either-or choices: that is Branch.",
    "DeadlineCheck": "Say how much is left of a deadline or a time budget, in which phase it is, "
    "and how many more steps fit. Use it before the next step of work that has an end. Not for "
    "waiting.",
    "SequenceRun": "Say which steps of a plan can run now, which wait and for what, and which can "
    "run no more. Use it between the steps of work that has an order. Not for running anything.",
    "Assert": "Check that a record meets a list of conditions, and say of each one why not. Use it "
    "as a gate before or after a step. Not for choosing between alternatives: that is Branch.",
}

_LIMITS = {"DecisionTable": {"rules": _schema.ROWS_LIMIT}}
"""What the model-facing form holds to and the library form does not."""


def call(
    name: str,
    arguments: Mapping[str, object],
    *,
    now: object = None,
) -> dict[str, JSON]:
    """Call a tool in its model-facing form.

    Args:
        name: `Branch`, `DecisionTable`, `DeadlineCheck`, `SequenceRun` or `Assert`.
        arguments: The input in wire form, as the tool's definition describes it.
        now: The present instant, instead of the clock. DeadlineCheck and SequenceRun look at it
            where *arguments* have no `now` of their own; the others never do.

    Returns:
        The wire form of the result.

    Raises:
        InputInvalid: With every fault of the input.
    """
    if not any(known == name for known in DESCRIPTIONS):
        near = _core.nearest(str(name), list(DESCRIPTIONS))
        hint = f'; did you mean "{near}"?' if near else ""
        message = f"no tool of that name{hint} (known: {', '.join(DESCRIPTIONS)})"
        raise _invalid([Problem("spec/unknown-choice", "name", _core.preview(name), message)])
    fields = _mapping(arguments)
    try:
        if name == "DeadlineCheck":
            return check_deadline(fields, now).to_dict()
        return _call_compiled(TOOLS[name], fields, now).to_dict()
    except ConfigError as error:
        raise _invalid(error.problems) from None


def _call_compiled(tool: type[CompiledSpec], given: dict[str, object], now: object) -> WireForm:
    fields, problems = _read(tool, given)
    spec = {field: value for field, value in fields.items() if field in tool.spec_fields}
    try:
        compiled = tool.from_spec(spec, limits=_LIMITS.get(tool.tool))
    except ConfigError as error:
        problems += error.problems
        if tool is SequenceRun:
            problems += plan_problems(spec.get("steps"), fields, now)
        raise _invalid(problems) from None
    if isinstance(compiled, SequenceRun):
        try:
            plan = plan_with(compiled, fields.get("value"), fields, now)
        except ConfigError as error:
            raise _invalid([*problems, *error.problems]) from None
        if not problems:
            return plan
    if problems:
        raise _invalid(problems)
    return decide(compiled, fields["value"], verbose=fields.get("verbose") is True)


def decide(
    compiled: CompiledSpec, value: object, *, verbose: bool = False, now: int | None = None
) -> WireForm:
    """Ask a compiled record tool about a record; `now` is for a tool that looks at an instant."""
    if isinstance(compiled, (Branch, DecisionTable)):
        return compiled.decide(value, verbose=verbose)
    if isinstance(compiled, SequenceRun):
        return compiled.plan(value, now=now)
    return cast("Checks", compiled).report(value)


def _mapping(arguments: object) -> dict[str, object]:
    from collections.abc import Mapping as AnyMapping

    if not isinstance(arguments, AnyMapping):
        message = "must be a mapping of the tool's fields"
        problem = Problem("spec/wrong-type", "arguments", _core.preview(arguments), message)
        raise _invalid([problem])
    return dict(cast("Mapping[str, object]", arguments))


def _read(
    tool: type[CompiledSpec], fields: dict[str, object]
) -> tuple[dict[str, object], list[Problem]]:
    """Give the known fields of an input, and what is wrong beside the spec itself."""
    problems: list[Problem] = []
    extra = {"Branch": ("verbose",), "SequenceRun": PLAN_FIELDS}.get(tool.tool, ())
    known = (*tool.spec_fields, "value", *extra)
    problems += unknown_fields(fields, known)
    fields = {field: value for field, value in fields.items() if field in known}
    if "value" not in fields:
        message = "is required: the record to decide (any JSON value, also null)"
        problems.append(Problem("spec/missing-field", "value", None, message))
    if not isinstance(fields.get("verbose", False), bool):
        shown = _core.preview(fields["verbose"])
        problems.append(Problem("spec/wrong-type", "verbose", shown, "must be true or false"))
    return fields, problems


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


def _definition(name: str, style: Style) -> dict[str, JSON]:
    schema: JSON = dict(_schema.model_input(name))
    described: dict[str, JSON] = {"name": name, "description": DESCRIPTIONS[name]}
    if style == "openai":
        return {"type": "function", "function": {**described, "parameters": schema}}
    if style == "anthropic":
        return {**described, "input_schema": schema}
    annotations: JSON = {
        "readOnlyHint": True,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    return {**described, "inputSchema": schema, "annotations": annotations}
