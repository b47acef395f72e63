"""How the arguments of workflows are checked: everything that is wrong, in one ConfigError."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from interlock import _core
from interlock._compiled import unknown_fields
from interlock.errors import ConfigError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "Frozen",
    "count_problems",
    "keywords",
    "name_problems",
    "names_problems",
    "raise_problems",
    "read_entries",
    "reserve_problems",
    "seconds_problems",
    "wrong",
]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

_LONGEST = 1_000_000_000
"""Thirty years of seconds: an end that no date can have would be no end."""


class Frozen:
    """An object that is set up once: no attribute can be set or deleted afterwards."""

    __slots__ = ()

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse."""
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        """Refuse."""
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be deleted")

    def __setstate__(self, state: tuple[object, dict[str, object]]) -> None:
        """Take over what was pickled."""
        self._set(**state[1])


def keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse keywords that a function does not have, naming the nearest that it has."""
    known = tuple(name for name in inspect.signature(function).parameters if name != "self")

    def refuse(kwargs: dict[str, Any]) -> None:
        if not kwargs.keys() <= set(known):
            raise ConfigError(tuple(unknown_fields(kwargs, known)))

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*args: P.args, **kwargs: P.kwargs) -> Any:
            refuse(kwargs)
            return await function(*args, **kwargs)

        return cast("Callable[P, R]", awaited)

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        refuse(kwargs)
        return function(*args, **kwargs)

    return checked


def raise_problems(problems: Iterable[Problem]) -> None:
    """Raise with everything found, if anything was.

    Raises:
        ConfigError: With every problem.
    """
    found = tuple(problems)
    if found:
        raise ConfigError(found)


def wrong(value: object, field: str, message: str) -> Problem:
    """Say that a value is not of the type that it must be."""
    return Problem("spec/wrong-type", field, _core.preview(value), message)


def name_problems(name: object, field: str) -> list[Problem]:
    """Check a name: it becomes a part of a path."""
    if not isinstance(name, str) or not name:
        return [wrong(name, field, "must be a text that is not empty")]
    if "/" in name or not name.isprintable():
        return [wrong(name, field, "must have no `/` and no control characters: it is in a path")]
    return []


def names_problems(names: Iterable[tuple[str, object]], *, beside: str = "") -> list[Problem]:
    """Check names, each with its field, and that each is its own.

    `beside` is what stands before a name in the name of the step beside it, such as `gate_`: no
    name may be that of another's.
    """
    problems: list[Problem] = []
    seen: dict[object, str] = {}
    for field, name in names:
        found = name_problems(name, field)
        if not found and name in seen:
            message = f"the name of {seen[name]} too; each must be its own"
            found = [Problem("spec/duplicate-name", field, _core.preview(name), message)]
        problems += found
        seen.setdefault(name, field.removesuffix(".name"))
    for name, field in seen.items():
        owner = seen.get(name.removeprefix(beside)) if isinstance(name, str) else None
        if beside and owner not in (None, field):
            message = f"the name of the step beside {owner}; each must be its own"
            shown = _core.preview(name)
            problems.append(Problem("spec/duplicate-name", f"{field}.name", shown, message))
    return problems


def read_entries(given: object, field: str, kind: type[T], problems: list[Problem]) -> list[T]:
    """Read a list of entries such as `Tier(...)`, or pairs of name and callable.

    What is wrong with it is added to the problems.
    """
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        message = f"must be a list of {kind.__name__}(...) or (name, callable)"
        problems.append(wrong(given, field, message))
        return []
    entries = list(cast("Sequence[object]", given))
    build = cast("Callable[..., T]", kind)
    if not entries:
        problems.append(Problem("spec/empty-list", field, "[]", "must not be empty"))
    read: list[T] = []
    for at, one in enumerate(entries):
        pair = _pair(one)
        entry = one if pair is None else build(*pair)
        if isinstance(entry, kind):
            read.append(entry)
        else:
            message = f"must be {kind.__name__}(...) or a pair of name and callable"
            problems.append(wrong(one, f"{field}[{at}]", message))
    return read


def _pair(value: object) -> tuple[object, object] | None:
    if not isinstance(value, tuple):
        return None
    parts = cast("tuple[object, ...]", value)
    return (parts[0], parts[1]) if len(parts) == 2 else None  # noqa: PLR2004 (a pair)


def count_problems(value: object, field: str, *, least: int = 0) -> list[Problem]:
    """Check a whole number; None is no bound."""
    if value is None or (type(value) is int and value >= least):
        return []
    return [wrong(value, field, f"must be a whole number, {least} or more, or None for no limit")]


def seconds_problems(value: object, field: str) -> list[Problem]:
    """Check a duration in seconds; None is no bound."""
    if value is None:
        return []
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if is_number and 0 < cast("float", value) <= _LONGEST:
        return []
    message = f"must be seconds, more than 0 and at most {_LONGEST:,}, or None for no limit"
    return [wrong(value, field, message)]


def reserve_problems(value: object, field: str) -> list[Problem]:
    """Check what a step reserves: tokens, or a function that says how many."""
    return [] if callable(value) else count_problems(value, field)
