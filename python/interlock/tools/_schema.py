"""JSON Schemas (2020-12) of specs and of model-facing inputs, made from the core's registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from interlock import _core

if TYPE_CHECKING:
    from interlock.typing import JSON

__all__ = ["ARMS_LIMIT", "ROWS_LIMIT", "STEPS_LIMIT", "model_input", "spec"]

ARMS_LIMIT = 64
"""Arms of a branch."""
ROWS_LIMIT = 512
"""Rows of a table in the model-facing form; the library form has no limit."""
STEPS_LIMIT = 256
"""Steps of a sequence."""

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
    if tool == "DeadlineCheck":
        return {"$schema": _DIALECT, "title": tool, **_object(_deadline(), ())}
    value: Schema = {"description": "The record that the conditions look at: any JSON value."}
    fields: dict[str, JSON] = {"value": value, **_fields(tool)}
    if tool == "Branch":
        fields["verbose"] = {
            "type": "boolean",
            "description": "Whether the answer says how each arm fared, up to the winner.",
        }
    if tool == "SequenceRun":
        fields |= {
            "completed": _ids("Ids of the steps that are done."),
            "failed": _ids("Ids of the steps that failed."),
            "now": _instant("The present instant; the clock when left out."),
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
    "SequenceRun": ("steps",),
}


def _fields(tool: str) -> dict[str, JSON]:
    if tool == "Assert":
        return {"checks": _checks("Checks that must all hold.")}
    if tool == "SequenceRun":
        return {
            "steps": _list(_step(), STEPS_LIMIT, "Steps in order; needs may point either way."),
            "version": _string("Comes back with the answer."),
        }
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
        "rows": _list(_row(), ROWS_LIMIT, "Rows in order."),
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


def _step() -> Schema:
    fields: dict[str, JSON] = {
        "id": _string("Its id; no two steps share one."),
        **_conditions("Its conditions; left out where nothing is asked."),
        "needs": _ids("Ids of the steps that must be done before."),
        "after": _instant("The instant before which it waits."),
        "params": {"description": "What it is run with: any JSON value, handed back as is."},
    }
    return _object(fields, ("id",))


def _deadline() -> dict[str, JSON]:
    milliseconds: Schema = {"type": "integer", "minimum": 0}
    share: Schema = {"type": "number", "minimum": 0, "maximum": 1}
    return {
        "deadline": _instant("The end. Required unless budgetMs is given, and wins over it."),
        "budgetMs": {**milliseconds, "description": "Milliseconds from the start to the end."},
        "startedAt": _instant("The start; now when left out."),
        "now": _instant("The present instant; the clock when left out."),
        "stepCostMs": {
            **milliseconds,
            "minimum": 1,
            "description": "Milliseconds that one more step takes.",
        },
        "tightAt": {
            **share,
            "description": "The fraction left at which time is tight; 0.5 when left out.",
        },
        "criticalAt": {
            **share,
            "description": "The fraction left at which it is critical; 0.2 when left out, and not "
            "above tightAt.",
        },
    }


def _conditions(
    description: str = "Its conditions. A catch-all is spelled otherwise.",
) -> dict[str, JSON]:
    return {
        "when": _checks(description),
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


def _instant(description: str) -> Schema:
    forms = "ISO-8601 with an offset, such as 2026-01-31T09:00:00Z, or epoch milliseconds."
    return {
        "anyOf": [{"type": "string"}, {"type": "number"}],
        "description": f"{description} {forms}",
    }


def _ids(description: str) -> Schema:
    items: Schema = {"type": "string"}
    return {"type": "array", "items": items, "maxItems": STEPS_LIMIT, "description": description}


def _string(description: str) -> Schema:
    return {"type": "string", "description": description}


def _list(items: Schema, limit: int, description: str) -> Schema:
    return {
        "type": "array",
        "items": items,
        "minItems": 1,
        "maxItems": limit,
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
