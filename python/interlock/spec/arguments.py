"""Arguments of tools: how they are described to a model, and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from interlock import _core
from interlock.errors import ConfigError, Problem, UsageError

__all__ = ["ANSWER", "Arguments", "of_schema", "placed", "refused"]

ANSWER = "answer"
"""The one argument of what is no object."""


class Arguments(Protocol):
    """How the arguments of a tool are described and read."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments, an object."""
        ...

    def read(self, args: dict[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
        """Read plain JSON data: the arguments by name, and everything that is wrong."""
        ...


def of_schema(schema: Mapping[str, object]) -> Arguments:
    """Read arguments by a JSON Schema: 2020-12, or the draft 6, 7 or 2019-09 that `$schema` names.

    Patterns are ECMAScript, with the flag `u` where they are valid with it. `format` describes and
    is not checked, as the standard leaves it.

    Raises:
        ConfigError: For what is no JSON Schema of an object, and for what is not checked within
            bounds here: patterns that are not run in linear time, `unevaluatedProperties`,
            `unevaluatedItems`, a reference to another document, to nothing, or back to itself at
            the same value, a schema that is too large.
        UsageError: Where the package `jsonschema` is not installed.
    """
    if not isinstance(schema, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        message = (
            'must be a JSON Schema of an object, as a mapping such as {"type": "object"}; '
            "True and False, which take anything and nothing, name no arguments"
        )
        shown = _core.preview(schema)
        raise ConfigError((Problem("spec/wrong-type", "schema", shown, message),))
    try:
        from interlock.spec.json_schema import read_schema
    except ModuleNotFoundError as error:
        raise UsageError(
            f"a JSON Schema is checked by the package jsonschema, which is not there ({error}): "
            "install interlock with the extra `schema`"
        ) from None
    return read_schema(schema)


def refused(message: str) -> Problem:
    """Say what is wrong with arguments as a whole."""
    return Problem("spec/wrong-type", "arguments", None, message)


def placed(parts: tuple[int | str, ...]) -> str:
    """Write the place of a value in arguments: `orders[0].id`."""
    said = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return said.removeprefix(".") or "arguments"
