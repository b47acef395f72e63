"""Tool: a callable that a model may ask for, with what it takes and what it does to the world."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast, overload

from interlock import _core
from interlock.errors import ConfigError, Problem, UsageError
from interlock.harness._by_name import ByName, at_name, label, name_of, source_of
from interlock.harness._callables import Call, is_async_callable
from interlock.harness._config import (
    Frozen,
    count_problems,
    keywords,
    raise_problems,
    seconds_problems,
    wrong,
)
from interlock.harness._parameters import Signature, signature_of
from interlock.record.values import EFFECTS, Effect
from interlock.spec.arguments import of_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlock.spec.arguments import Arguments

__all__ = ["Tool", "tool"]

P = ParamSpec("P")
R = TypeVar("R")

_ALTERED = ("name", "description", "effect", "idempotent", "timeout", "max_output")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


class Tool(Frozen, Generic[P, R]):
    """A tool as a bus has it; made by `tool`, `finish` and `mcp_tools`.

    It can be called as the function that it was made of.

    Attributes:
        name: What a model calls it by.
        description: What it is for, as a model reads it.
        effect: What it does to the world; None when nobody said, which is not `readonly`.
        idempotent: Whether calling it again with the same arguments does no harm; None when nobody
            said.
        timeout: Seconds that a call may take; None for no limit of its own.
        max_output: Characters of output that a model is shown; None for no limit.
        reconcile: Asked, after a crash, whether a call happened.
        source: Where it comes from, for errors.
        is_finish: Whether its arguments are the answer of a loop.
        function: What it was made of.
        arguments: How its arguments are described and read.
        call: How it is called with them.
    """

    __slots__ = (
        "__weakref__",
        "arguments",
        "call",
        "description",
        "effect",
        "function",
        "idempotent",
        "is_finish",
        "max_output",
        "name",
        "reconcile",
        "source",
        "timeout",
    )

    name: str
    description: str
    effect: Effect | None
    idempotent: bool | None
    timeout: float | None
    max_output: int | None
    reconcile: Callable[..., Any] | None
    source: str
    is_finish: bool
    function: Callable[P, R]
    arguments: Arguments
    call: Call

    def __init__(  # noqa: PLR0913 (all by name)
        self,
        *,
        name: str,
        function: Callable[P, R],
        call: Call,
        arguments: Arguments,
        source: str,
        description: str = "",
        effect: Effect | None = None,
        idempotent: bool | None = None,
        timeout: float | None = None,
        max_output: int | None = None,
        reconcile: Callable[..., Any] | None = None,
        is_finish: bool = False,
    ) -> None:
        """Check and keep everything."""
        raise_problems(
            _problems(name, description, effect, idempotent, timeout, max_output, reconcile)
        )
        self._set(name=name, description=description, effect=effect, idempotent=idempotent)
        self._set(timeout=timeout, max_output=max_output, reconcile=reconcile, source=source)
        self._set(is_finish=is_finish, arguments=arguments, call=call, function=function)
        raise_problems([*_unpinned(description, "description"), *_unpinned(self.schema, "schema")])

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself, past every check."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Tool {self.name} effect={self.effect} of {self.source}>"

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments, as a copy of one's own."""
        return cast("dict[str, Any]", _core.plain(self.arguments.schema))

    @property
    def digest(self) -> str:
        """SHA-256 of what a model is told of it, and of what it declared."""
        return _core.digest(self.told())

    @property
    def may_repeat(self) -> bool:
        """Whether a call of which nobody knows the end may be made again."""
        return self.effect == "readonly" or self.idempotent is True

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Write a tool that stands for its function by their name, as a function is written."""
        place = name_of(self.function)
        found = None if place is None else at_name(*place)
        if place is None or not isinstance(found, Tool) or found.function is not self.function:
            return super().__reduce_ex__(protocol)
        changes = {field: getattr(self, field) for field in _ALTERED}
        return _standing, (*place, {} if found is self else changes)

    def told(self) -> dict[str, Any]:
        """Return what a model is told of it, and what it declared, as data."""
        return {
            "name": self.name,
            "description": self.description,
            "schema": self.schema,
            "effect": self.effect,
            "idempotent": self.idempotent,
        }

    def altered(self, **changes: Any) -> Tool[P, R]:
        """Return the tool with another name, effect or the like."""
        kept: dict[str, Any] = {field: getattr(self, field) for field in _ALTERED}
        return Tool(
            **{**kept, **changes},
            function=self.function,
            call=self.call,
            arguments=self.arguments,
            source=self.source,
            reconcile=self.reconcile,
            is_finish=self.is_finish,
        )


def _unpinned(told: object, field: str) -> list[Problem]:
    """Refuse what has no digest, such as half of a surrogate pair: no model can be sent it."""
    try:
        _core.digest(told)
    except ConfigError as error:
        return [one._replace(field=field) for one in error.problems]
    return []


def _is_name(name: object) -> bool:
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def _problems(
    name: object,
    description: object,
    effect: object,
    idempotent: object,
    timeout: object,
    max_output: object,
    reconcile: object,
) -> list[Problem]:
    problems: list[Problem] = []
    if not _is_name(name):
        message = "must be 1 to 128 letters, digits, `_`, `-` and `.` of ASCII; say name=..."
        problems.append(wrong(name, "name", message))
    if description is not None and not isinstance(description, str):
        problems.append(wrong(description, "description", "must be a text, or None"))
    if effect is not None and effect not in EFFECTS:
        message = f"must be one of {', '.join(EFFECTS)}, or None for undeclared"
        problems.append(Problem("spec/unknown-choice", "effect", _core.preview(effect), message))
    if idempotent is not None and type(idempotent) is not bool:
        problems.append(wrong(idempotent, "idempotent", "must be True, False, or None"))
    problems += seconds_problems(timeout, "timeout")
    problems += count_problems(max_output, "max_output", least=1)
    if reconcile is not None and not callable(reconcile):
        problems.append(wrong(reconcile, "reconcile", "must be a callable, or None"))
    return problems


@overload
def tool(
    function: Callable[P, R],
    /,
    *,
    effect: Effect | None = None,
    idempotent: bool | None = None,
    name: str | None = None,
    description: str | None = None,
    schema: Mapping[str, object] | None = None,
    timeout: float | None = None,
    max_output: int | None = None,
    reconcile: Callable[..., Any] | None = None,
) -> Tool[P, R]: ...


@overload
def tool(
    function: None = None,
    /,
    *,
    effect: Effect | None = None,
    idempotent: bool | None = None,
    name: str | None = None,
    description: str | None = None,
    schema: Mapping[str, object] | None = None,
    timeout: float | None = None,
    max_output: int | None = None,
    reconcile: Callable[..., Any] | None = None,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...


@keywords
def tool(  # noqa: PLR0913 (all by name)
    function: Callable[..., Any] | None = None,
    /,
    *,
    effect: Effect | None = None,
    idempotent: bool | None = None,
    name: str | None = None,
    description: str | None = None,
    schema: Mapping[str, object] | None = None,
    timeout: float | None = None,
    max_output: int | None = None,
    reconcile: Callable[..., Any] | None = None,
) -> Any:
    """Make a tool of a function: as a decorator, with or without arguments, or called with it.

    The function takes its arguments by name. A parameter named `ctx`, or annotated `Ctx`, is given
    the step's context and is not shown to the model. A sync function runs in a worker thread.

    Args:
        function: Sync or async. It may return text, JSON data, a dataclass, a pydantic model, a
            Reply or the result of a workflow.
        effect: `readonly`, `write`, `destructive` or `irreversible`; None declares nothing, which
            is not `readonly`.
        idempotent: Whether calling it again with the same arguments does no harm.
        name: What a model calls it by; the function's name when None.
        description: What it is for; the function's docstring when None.
        schema: The JSON Schema of the arguments, an object; made of the annotations when None, and
            then arguments are converted to the annotated types. With one that is given, the
            function gets plain JSON data.
        timeout: Seconds. A call that takes longer has failed if it may be repeated (readonly or
            idempotent); else it is in doubt.
        max_output: Characters; a longer output is cut and a failed result that says so.
        reconcile: Asked, after a crash, whether a call happened.

    Raises:
        ConfigError: With every problem found.
        UsageError: For a *schema* where the package `jsonschema` is not installed.
    """

    def made(function: Callable[P, R]) -> Tool[P, R]:
        given = label(function) if name is None else name
        problems = _problems(given, description, effect, idempotent, timeout, max_output, reconcile)
        taken = signature_of(function, problems)
        arguments = _arguments(taken, schema, problems)
        at = f"{given}." if _is_name(given) else ""
        raise_problems(one._replace(field=at + one.field) for one in problems)
        said = inspect.getdoc(function) if description is None else description
        return Tool(
            name=given,
            function=function,
            call=_call(function, taken),
            arguments=cast("Arguments", arguments),
            source=source_of(function),
            description=said or "",
            effect=effect,
            idempotent=idempotent,
            timeout=timeout,
            max_output=max_output,
            reconcile=reconcile,
        )

    return made if function is None else made(function)


def _call(function: Callable[..., Any], taken: Signature) -> Call:
    """Make a call of `(values)` or `(values, ctx)` that hands the values on by name."""
    named, takes_ctx = ByName(function, taken.context), taken.context is not None
    return Call(named, takes_ctx=takes_ctx, is_async=is_async_callable(function))


def _standing(module: str, name: str, changes: dict[str, Any]) -> Tool[..., Any]:
    """Find a pickled tool, or the one it was made of, where it stands.

    Raises:
        UsageError: When no tool stands there.
    """
    found = at_name(module, name)
    if not isinstance(found, Tool):
        raise UsageError(f"the pickled tool {module}.{name} is no tool in this process")
    return cast("Tool[..., Any]", found.altered(**changes) if changes else found)


def _arguments(
    taken: Signature, schema: Mapping[str, object] | None, problems: list[Problem]
) -> Arguments | None:
    """Describe and read the parameters; what cannot be is added to the problems."""
    try:
        if schema is None:
            return _annotated(taken)
        if isinstance(schema, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            arguments = of_schema(schema)
            problems += taken.unfit(arguments.schema)
            return arguments
    except ConfigError as error:
        problems += error.problems
        return None
    message = "must be a JSON Schema as a mapping, or None to make it of the annotations"
    problems.append(wrong(schema, "schema", message))
    return None


def _annotated(taken: Signature) -> Arguments:
    from interlock.spec.typed import Parameter, of_parameters

    if taken.is_open:
        message = "must be named one by one, or say what they are with schema=..."
        raise_problems([Problem("spec/wrong-type", "**parameters", None, message)])
    return of_parameters({one.name: Parameter(*one[1:]) for one in taken.parameters})
