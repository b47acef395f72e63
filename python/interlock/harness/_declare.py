"""Tools as others are told of them: declarations for providers, and pins to see what changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from interlock import _core
from interlock.errors import Problem
from interlock.harness._config import raise_problems, wrong
from interlock.record._data import Record

if TYPE_CHECKING:
    from interlock.harness.tool import Tool
    from interlock.record.values import Effect

__all__ = ["Style", "ToolChange", "changes", "declared", "effect_of_hints", "pin_of"]

Style = Literal["openai", "openai-responses", "anthropic", "mcp"]
_STYLES = ("openai", "openai-responses", "anthropic", "mcp")
_TAKEN = {"openai": 64, "openai-responses": 64, "anthropic": 128}
"""How long a name may be, where it may be letters, digits, `_` and `-`; MCP takes every other."""

_HINTS: dict[Effect | None, dict[str, bool]] = {
    "readonly": {"readOnlyHint": True},
    "write": {"readOnlyHint": False, "destructiveHint": False},
    "destructive": {"readOnlyHint": False, "destructiveHint": True},
    # No hint says that it cannot be undone; this one is true as well.
    "irreversible": {"readOnlyHint": False, "destructiveHint": True},
    None: {},
}


def effect_of_hints(hints: Mapping[str, object]) -> Effect | None:
    """Return the effect that the annotations of an MCP tool mean; None where they do not say.

    `destructiveHint` counts only where it is there, not by the default of the protocol; the hint of
    harm outranks that of none.
    """
    readonly, destructive = hints.get("readOnlyHint"), hints.get("destructiveHint")
    if destructive is True:
        return "destructive"
    if readonly is True:
        return "readonly"
    return "write" if destructive is False else None


def declared(tools: tuple[Tool[..., Any], ...], style: Style) -> list[dict[str, Any]]:
    """Write tools as a provider takes them.

    Raises:
        ConfigError: For another style, and for names that the provider refuses.
    """
    if style not in _STYLES:
        message = f"must be one of {', '.join(_STYLES)}"
        shown = _core.preview(style)
        raise_problems([Problem("spec/unknown-choice", "style", shown, message)])
    if style in _TAKEN:
        _refuse_names(tools, style)
    return [_declaration(one, style) for one in tools]


def _refuse_names(tools: tuple[Tool[..., Any], ...], style: Style) -> None:
    most = _TAKEN[style]
    taken = re.compile(rf"[A-Za-z0-9_-]{{1,{most}}}")
    message = f"{style} takes at most {most} letters, digits, `_` and `-`; give it another name"
    raise_problems(
        wrong(one.name, f"{one.name}.name", message)
        for one in tools
        if not taken.fullmatch(one.name)
    )


def _declaration(tool: Tool[..., Any], style: Style) -> dict[str, Any]:
    described: dict[str, Any] = {"name": tool.name, "description": tool.description}
    if style == "openai":
        return {"type": "function", "function": {**described, "parameters": tool.schema}}
    if style == "openai-responses":
        # Both keys are required there; strict would refuse what is optional.
        return {"type": "function", **described, "parameters": tool.schema, "strict": False}
    if style == "anthropic":
        return {**described, "input_schema": tool.schema}
    hints = dict(_HINTS[tool.effect])
    if tool.idempotent is not None:
        hints["idempotentHint"] = tool.idempotent
    told = {**described, "inputSchema": tool.schema}
    return {**told, "annotations": hints} if hints else told


@dataclass(frozen=True, slots=True)
class ToolChange(Record):
    """What became of a tool since it was pinned.

    Attributes:
        name: The tool's name.
        change: `added`, `removed` or `changed`.
        fields: What of it changed: description, effect, schema.
    """

    name: str
    change: Literal["added", "removed", "changed"]
    fields: tuple[str, ...] = ()


def pin_of(tool: Tool[..., Any]) -> str:
    """Write a tool as one text: a digest of each part, so that a change can be named."""
    parts = {
        "description": tool.description,
        "effect": [tool.effect, tool.idempotent],
        "schema": tool.schema,
    }
    return " ".join(f"{field}={_core.digest(part, 32)}" for field, part in parts.items())


def changes(tools: tuple[Tool[..., Any], ...], pins: Mapping[str, str]) -> tuple[ToolChange, ...]:
    """Compare tools with pins: what was removed or changed in the order of the pins, then added.

    Raises:
        ConfigError: For pins that are none.
    """
    _refuse_pins(pins)
    now = {one.name: pin_of(one) for one in tools}
    found: list[ToolChange] = []
    for name, pin in pins.items():
        if name not in now:
            found.append(ToolChange(name, "removed"))
        elif now[name] != pin:
            before, after = pin.split(" "), now[name].split(" ")
            fields = tuple(one.partition("=")[0] for one in after if one not in before)
            found.append(ToolChange(name, "changed", fields))
    return (*found, *(ToolChange(name, "added") for name in now if name not in pins))


def _refuse_pins(pins: object) -> None:
    if not isinstance(pins, Mapping):
        raise_problems([wrong(pins, "pins", "must be a mapping that pin() returned")])
    items = cast("Mapping[object, object]", pins).items()
    raise_problems(
        wrong(pin, f"pins.{name}", "must be a text that pin() returned")
        for name, pin in items
        if not isinstance(name, str) or not isinstance(pin, str)
    )
