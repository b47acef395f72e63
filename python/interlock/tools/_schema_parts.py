"""The pieces that JSON Schemas (2020-12) of tools are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from interlock import _core

if TYPE_CHECKING:
    from interlock.typing import JSON

__all__ = [
    "Schema",
    "check",
    "checks",
    "choice",
    "conditions",
    "either",
    "entries",
    "instant",
    "known",
    "number",
    "record",
    "string",
    "truth",
    "whole",
]

Schema: TypeAlias = "dict[str, JSON]"


def conditions(
    description: str = "Its conditions. A catch-all is spelled otherwise.",
) -> dict[str, JSON]:
    """Describe `when` and `match`."""
    return {
        "when": checks(description),
        "match": {
            "enum": ["all", "any"],
            "description": "Whether all checks must hold (the default) or one is enough.",
        },
    }


def checks(description: str) -> Schema:
    """Describe a list of checks."""
    limits = _core.limits()
    return entries(check(), limits["checks"], description)


def check() -> Schema:
    """Describe one check, from the registry of ops."""
    limits = _core.limits()
    ops = _core.ops()
    meanings = "; ".join(f"{name}: {summary}" for name, _, summary in ops)
    names = " ".join(name for name, _ in _core.formats())
    fields: dict[str, JSON] = {
        "path": {
            "type": "string",
            "maxLength": limits["pathCharacters"],
            "description": "Where to look, such as order.items[0].sku; left out or empty: the "
            "value itself.",
        },
        "op": {
            "enum": [name for name, _, _ in ops],
            "description": f"{meanings}. Every op but exists and notExists needs the path to "
            "resolve.",
        },
        "expected": {
            "description": "What the op compares with; nothing is coerced. exists, notExists, "
            f"isEmpty and isNotEmpty take none. Formats: {names}. Patterns are ECMAScript without "
            "backreferences."
        },
        "flags": string("Flags of a pattern: letters of d g i m s u v y."),
        "message": string("Replaces the generated reason when the check fails."),
    }
    return record(fields, ("op",))


def number(description: str, least: int | None = None, most: int | None = None) -> Schema:
    """Describe a finite number within bounds."""
    return _bounded("number", description, least, most)


def whole(description: str, least: int | None = None, most: int | None = None) -> Schema:
    """Describe a whole number within bounds."""
    return _bounded("integer", description, least, most)


def _bounded(kind: str, description: str, least: int | None, most: int | None) -> Schema:
    bounds = {"minimum": least, "maximum": most}
    given = {name: bound for name, bound in bounds.items() if bound is not None}
    return {"type": kind, **given, "description": description}


def choice(meanings: dict[str, str]) -> Schema:
    """Describe a closed set of texts, each with its meaning."""
    told = " ".join(f"{name}: {meaning}." for name, meaning in meanings.items())
    return {"enum": [*meanings], "description": told}


def known(names: list[str], description: str) -> Schema:
    """Describe a closed set of texts that say what they are."""
    return {"enum": [*names], "description": description}


def truth(description: str) -> Schema:
    """Describe a truth value."""
    return {"type": "boolean", "description": description}


def string(description: str, least: int = 0) -> Schema:
    """Describe a text of at least so many characters."""
    bound: Schema = {"minLength": least} if least else {}
    return {"type": "string", **bound, "description": description}


def instant(description: str) -> Schema:
    """Describe an instant."""
    forms = "ISO-8601 with an offset, such as 2026-01-31T09:00:00Z, or epoch milliseconds."
    return either(("string", "number"), f"{description} {forms}")


def either(kinds: tuple[str, ...], description: str) -> Schema:
    """Describe a value of one of several types; `strings` is a list of texts."""
    texts: Schema = {"type": "array", "items": {"type": "string"}}
    choices: list[JSON] = [texts if kind == "strings" else {"type": kind} for kind in kinds]
    return {"anyOf": choices, "description": description}


def entries(items: Schema, limit: int, description: str, *, least: int = 1) -> Schema:
    """Describe a list."""
    return {
        "type": "array",
        "items": items,
        "minItems": least,
        "maxItems": limit,
        "description": description,
    }


def record(
    fields: dict[str, JSON], required: tuple[str, ...], description: str | None = None
) -> Schema:
    """Describe a mapping with these fields and no others."""
    schema: Schema = {
        "type": "object",
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
    }
    return schema if description is None else {**schema, "description": description}
