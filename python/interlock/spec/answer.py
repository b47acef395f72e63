"""What an answer must be, as the arguments of the tool that gives it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from interlock.errors import ConfigError, Problem
from interlock.spec.arguments import ANSWER, of_schema

if TYPE_CHECKING:
    from interlock.spec.arguments import Arguments

__all__ = ["of_answer"]

_DEFINITIONS = ("$schema", "$defs", "definitions")


class _Anything:
    """An answer of which nothing was said: `answer` is offered, and all else is taken too."""

    @property
    def schema(self) -> dict[str, Any]:
        described = {"description": "The answer."}
        return {"type": "object", "properties": {ANSWER: described}, "required": [ANSWER]}

    def read(self, args: dict[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
        missing = Problem("spec/missing-field", ANSWER, None, "is required")
        return args, [] if args else [missing]


def of_answer(schema: object) -> tuple[Arguments, bool]:
    """Read an answer by a type or a JSON Schema; say whether it is the arguments as a whole.

    What is no object is the one argument `answer`. When the schema is None that is offered, and
    whatever else comes is the answer as it is.

    Raises:
        ConfigError: For a schema that is none.
        UsageError: For a JSON Schema where the package `jsonschema` is not installed.
    """
    if schema is None:
        return _Anything(), False
    if isinstance(schema, bool):
        message = (
            "must say what an answer is; leave it out for any answer, which is what True means"
        )
        raise ConfigError((Problem("spec/wrong-type", "schema", str(schema).lower(), message),))
    if not isinstance(schema, Mapping):
        from interlock.spec.typed import of_type

        return of_type(schema)
    given = cast("Mapping[str, object]", schema)
    if given.get("type") == "object" or "properties" in given:
        return of_schema({"type": "object", **given}), True
    # References point from the top, so that what they point to stays there.
    kept = {name: one for name, one in given.items() if name in _DEFINITIONS}
    inner = {name: one for name, one in given.items() if name not in _DEFINITIONS}
    whole = {
        **kept,
        "type": "object",
        "properties": {ANSWER: inner},
        "required": [ANSWER],
        "additionalProperties": False,
    }
    try:
        return of_schema(whole), False
    except ConfigError as error:
        inside = f"schema.properties.{ANSWER}"
        raise ConfigError(
            tuple(one._replace(field=one.field.replace(inside, "schema")) for one in error.problems)
        ) from None
