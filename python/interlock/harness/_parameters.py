"""The parameters of a tool's function: which a model fills in, and which is the context."""

from __future__ import annotations

import functools
import inspect
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_type_hints

from interlock import _core
from interlock.errors import Problem
from interlock.harness._config import wrong
from interlock.harness.ctx import Ctx

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Named", "Signature", "signature_of"]

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_OPEN = inspect.Parameter.VAR_KEYWORD


class Named(NamedTuple):
    """A parameter that a model fills in."""

    name: str
    annotation: Any
    required: bool
    default: object


class Signature(NamedTuple):
    """What a function takes.

    Attributes:
        parameters: Those that a model fills in.
        context: The name of the one that is given the context.
        is_open: Whether it takes any other name too.
    """

    parameters: tuple[Named, ...]
    context: str | None
    is_open: bool

    def unfit(self, schema: dict[str, Any]) -> list[Problem]:
        """Say where a given schema and the function do not fit."""
        shown: dict[str, Any] = schema.get("properties", {})
        names = [one.name for one in self.parameters]
        problems = [
            Problem("spec/unknown-field", f"schema.properties.{name}", None, "is no parameter")
            for name in shown
            if name not in names and not self.is_open
        ]
        always: list[str] = schema.get("required", [])
        problems += [
            Problem("spec/missing-field", "schema.required", one.name, "must list this parameter")
            for one in self.parameters
            if one.required and one.name not in always
        ]
        return problems


def signature_of(function: object, problems: list[Problem]) -> Signature:
    """Read what a function takes; what cannot be filled in by name is added to the problems."""
    if not callable(function):
        problems.append(wrong(function, "function", "must be a callable"))
        return Signature((), None, is_open=False)
    try:
        given = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        problems.append(wrong(function, "function", "must tell its parameters; wrap it in a def"))
        return Signature((), None, is_open=False)
    context = next((one.name for one in given if _is_context(one)), None)
    filled = [one for one in given if one.name != context]
    problems += [problem for one in filled for problem in _unfillable(one)]
    named = [one for one in filled if one.kind in _BY_NAME]
    hints = _hints(function, named, problems)
    return Signature(
        tuple(
            Named(one.name, hints.get(one.name, Any), one.default is one.empty, one.default)
            for one in named
        ),
        context,
        any(one.kind is _OPEN for one in given),
    )


def _is_context(parameter: inspect.Parameter) -> bool:
    if parameter.name == "ctx":
        return True
    annotation: Any = parameter.annotation
    if isinstance(annotation, str):
        # Perhaps imported for type checkers alone, so that it cannot be looked up.
        parts = (part.strip().rpartition(".")[2] for part in annotation.split("|"))
        return "Ctx" in parts
    return annotation is Ctx or Ctx in get_args(annotation)


def _unfillable(parameter: inspect.Parameter) -> list[Problem]:
    kind, field = parameter.kind, parameter.name
    if kind is parameter.POSITIONAL_ONLY:
        return [Problem("spec/wrong-type", field, None, "must be one that can be given by name")]
    if parameter.name in ("self", "cls") and parameter.annotation is parameter.empty:
        message = "belongs to a method: make the tool of the bound one, as in tool(object.method)"
        return [Problem("spec/wrong-type", field, None, message)]
    return []


def _hints(
    function: Callable[..., Any], named: list[inspect.Parameter], problems: list[Problem]
) -> dict[str, Any]:
    """Look annotations up, that of the context aside."""
    told = {one.name: one.annotation for one in named if one.annotation is not one.empty}
    holder: Any = SimpleNamespace(__annotations__=told)
    try:
        return get_type_hints(holder, _globals(function), include_extras=True)
    except Exception as error:  # noqa: BLE001 (an annotation may be any expression)
        message = (
            f"cannot be looked up: {error}; import what they name where the function is "
            "defined, at the top of its module"
        )
        problems.append(Problem("spec/wrong-type", "annotations", _core.preview(told), message))
        return {}


def _globals(function: Any) -> dict[str, Any]:
    while isinstance(function, functools.partial):
        function = function.func
    if not hasattr(function, "__globals__") and not inspect.ismethod(function):
        function = type(function).__call__
    function = inspect.unwrap(getattr(function, "__func__", function))
    found: dict[str, Any] = getattr(function, "__globals__", {})
    return found
