"""The model-facing form: name, description, JSON Schema, and a call that is wire in, wire out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from interlock import _core
from interlock._compiled import CompiledSpec, unknown_fields
from interlock.conditions import Checks
from interlock.errors import ConfigError, InputInvalid, Problem
from interlock.tools import _schema
from interlock.tools.branch import Branch
from interlock.tools.decision_table import DecisionTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlock._wire import WireForm
    from interlock.typing import JSON

__all__ = ["DESCRIPTIONS", "TOOLS", "call", "decide", "definitions"]

TOOLS: dict[str, type[CompiledSpec]] = {tool.tool: tool for tool in (Branch, DecisionTable, Checks)}
"""The compiled class of each tool, by its name in data."""

DESCRIPTIONS = {
    "Branch": "Decide which of several named arms a record takes: the first whose conditions hold. "
    "Use it to route by facts that are in the record. Not for judging free text by its meaning.",
    "DecisionTable": "Decide what a table of rules says of a record, under the hit policy first, "
    "unique, priority or collect. Use it when several rules may hold at once. Not for ordered "
    "either-or choices: that is Branch.",
    "Assert": "Check that a record meets a list of conditions, and say of each one why not. Use it "
    "as a gate before or after a step. Not for choosing between alternatives: that is Branch.",
}

_LIMITS = {"DecisionTable": {"rules": _schema.ROWS_LIMIT}}
"""What the model-facing form holds to and the library form does not."""


def call(
    name: str,
    arguments: Mapping[str, object],
    *,
    now: object = None,  # noqa: ARG001 (for tools that read a clock)
) -> dict[str, JSON]:
    """Call a tool in its model-facing form.

    Args:
        name: `Branch`, `DecisionTable` or `Assert`.
        arguments: The input in wire form: `value`, the fields of the tool's spec, and for Branch
            and Assert what `json_schema` lists.
        now: The clock, for tools that read one; these three do not.

    Returns:
        The wire form of the result.

    Raises:
        InputInvalid: With every fault of the input.
    """
    tool = next((tool for known, tool in TOOLS.items() if known == name), None)
    if tool is None:
        near = _core.nearest(str(name), list(TOOLS))
        hint = f'; did you mean "{near}"?' if near else ""
        message = f"no tool of that name{hint} (known: {', '.join(TOOLS)})"
        raise _invalid([Problem("spec/unknown-choice", "name", _core.preview(name), message)])
    fields, problems = _read(tool, arguments)
    value = fields.pop("value", None)
    verbose = fields.pop("verbose", False)
    try:
        compiled = tool.from_spec(fields, limits=_LIMITS.get(name))
    except ConfigError as error:
        raise _invalid([*problems, *error.problems]) from None
    if problems:
        raise _invalid(problems)
    return decide(compiled, value, verbose=verbose is True).to_dict()


def decide(compiled: CompiledSpec, value: object, *, verbose: bool = False) -> WireForm:
    """Ask a compiled record tool about a record."""
    if isinstance(compiled, (Branch, DecisionTable)):
        return compiled.decide(value, verbose=verbose)
    return cast("Checks", compiled).report(value)


def _read(tool: type[CompiledSpec], arguments: object) -> tuple[dict[str, object], list[Problem]]:
    """Split an input into its fields and what is wrong beside the spec itself."""
    from collections.abc import Mapping as AnyMapping

    if not isinstance(arguments, AnyMapping):
        message = "must be a mapping of the tool's fields"
        problem = Problem("spec/wrong-type", "arguments", _core.preview(arguments), message)
        raise _invalid([problem])
    fields = dict(cast("Mapping[str, object]", arguments))
    problems: list[Problem] = []
    extra = ("value", "verbose") if tool is Branch else ("value",)
    known = (*tool.spec_fields, *extra)
    problems += unknown_fields(fields, known)
    fields = {field: value for field, value in fields.items() if field in known}
    if "value" not in fields:
        message = "is required: the record to decide (any JSON value, also null)"
        problems.append(Problem("spec/missing-field", "value", None, message))
    if not isinstance(fields.get("verbose", False), bool):
        shown = _core.preview(fields["verbose"])
        problems.append(Problem("spec/wrong-type", "verbose", shown, "must be true or false"))
    return fields, problems


def _invalid(problems: list[Problem]) -> InputInvalid:
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
    return [_definition(name, style) for name in TOOLS]


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
