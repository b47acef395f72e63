"""JSON Schemas (2020-12) of specs and of model-facing inputs, made from the core's registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from interlock import _core

if TYPE_CHECKING:
    from interlock.typing import JSON

__all__ = ["ARMS_LIMIT", "ROWS_LIMIT", "model_input", "spec"]

ARMS_LIMIT = 64
"""Arms of a branch."""
ROWS_LIMIT = 512
"""Rows of a table in the model-facing form; the library form has no limit."""

Schema: TypeAlias = "dict[str, JSON]"

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ANY: Schema = {"description": "Any JSON value."}


def spec(tool: str) -> Schema:
    """Return the schema of a spec file of a tool."""
    named: Schema = {"const": tool, "description": "Which tool this is for."}
    fields: dict[str, JSON] = {**_fields(tool), "tool": named}
    return {"$schema": _DIALECT, "title": tool, **_object(fields, _REQUIRED[tool])}


def model_input(tool: str) -> Schema:
    """Return the schema of a model-facing call: the spec's fields and the value."""
    value: Schema = {"description": "The record that the conditions look at: any JSON value."}
    fields: dict[str, JSON] = {"value": value, **_fields(tool)}
    if tool == "DecisionTable":
        fields["rows"] = _list(_row(), ROWS_LIMIT, "Rows in order.")
    if tool == "Branch":
        fields["verbose"] = {
            "type": "boolean",
            "description": "Whether the answer says how each arm fared, up to the winner.",
        }
    return {
        "$schema": _DIALECT,
        "title": tool,
        **_object(fields, ("value", *_REQUIRED[tool])),
    }


_REQUIRED: dict[str, tuple[str, ...]] = {
    "Assert": ("checks",),
    "Branch": ("arms",),
    "DecisionTable": ("rows", "policy"),
}


def _fields(tool: str) -> dict[str, JSON]:
    if tool == "Assert":
        return {"checks": _checks("Checks that must all hold.")}
    if tool == "Branch":
        return {
            "arms": _list(_arm(), ARMS_LIMIT, "Arms in order: the first that holds is taken."),
            "otherwise": _object(
                {"name": _string("Its name."), "result": _ANY},
                ("name",),
                "What answers when no arm holds.",
            ),
        }
    return {
        "rows": _list(_row(), None, "Rows in order."),
        "policy": {
            "enum": ["first", "unique", "priority", "collect"],
            "description": "first: the first row that holds. unique: at most one may hold. "
            "priority: the highest priority, which must not be shared. collect: all of them.",
        },
        "otherwise": {"description": "The outputs of a miss: any JSON value."},
        "version": _string("Comes back with the answer."),
    }


def _arm() -> Schema:
    fields: dict[str, JSON] = {
        "name": _string("Its name; no two arms share one."),
        **_conditions(),
        "result": {"description": "What the arm stands for: any JSON value, handed back as is."},
    }
    return _object(fields, ("name", "when"))


def _row() -> Schema:
    fields: dict[str, JSON] = {
        "id": _string("Its id; no two rows share one."),
        **_conditions(),
        "priority": {"type": "number", "description": "Higher wins; 0 when left out."},
        "outputs": {"description": "What the row decides: any JSON value."},
    }
    return _object(fields, ("id", "when", "outputs"))


def _conditions() -> dict[str, JSON]:
    return {
        "when": _checks("Its conditions. A catch-all is spelled otherwise."),
        "match": {
            "enum": ["all", "any"],
            "description": "Whether all checks must hold (the default) or one is enough.",
        },
    }


def _checks(description: str) -> Schema:
    limits = _core.limits()
    return _list(_check(), limits["checks"], description)


def _check() -> Schema:
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
            "lookaround and backreferences."
        },
        "flags": _string("Flags of a pattern: letters of d g i m s y."),
        "message": _string("Replaces the generated reason when the check fails."),
    }
    return _object(fields, ("op",))


def _string(description: str) -> Schema:
    return {"type": "string", "description": description}


def _list(items: Schema, limit: int | None, description: str) -> Schema:
    most: Schema = {} if limit is None else {"maxItems": limit}
    return {
        "type": "array",
        "items": items,
        "minItems": 1,
        **most,
        "description": description,
    }


def _object(
    fields: dict[str, JSON], required: tuple[str, ...], description: str | None = None
) -> Schema:
    schema: Schema = {
        "type": "object",
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
    }
    return schema if description is None else {**schema, "description": description}
