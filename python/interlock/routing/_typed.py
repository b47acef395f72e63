"""What the parts of a plan, and what is handed over with them, must be: told with every fault."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from interlock import _core
from interlock.errors import Problem
from interlock.harness._config import raise_problems, wrong

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import UnionType

__all__ = ["must_be", "must_count", "take_fields"]

_NAMES: dict[type, str] = {str: "text", bool: "true or false", object: "a value"}


def must_be(value: object, kind: type | UnionType, field: str, wanted: str) -> None:
    """Refuse what is of another kind.

    Raises:
        ConfigError: With the field, and what to write.
    """
    if not isinstance(value, kind):
        raise_problems([wrong(value, field, f"must be {wanted}")])


def must_count(value: object, field: str) -> None:
    """Refuse what is no whole number from 1."""
    if type(value) is not int or value < 1:
        raise_problems([wrong(value, field, "must be a whole number, 1 or more")])


def take_fields(
    shape: object,
    fields: Mapping[str, type],
    *,
    lists: Mapping[str, type],
    optional: Sequence[str] = (),
    choices: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Test the fields of a frozen value, and make tuples of its lists.

    Raises:
        ConfigError: With every fault.
    """
    problems: list[Problem] = []
    for name, kind in fields.items():
        value: object = getattr(shape, name)
        if not isinstance(value, kind) and not (value is None and name in optional):
            otherwise = ", or None" if name in optional else ""
            problems.append(wrong(value, name, f"must be {_named(kind)}{otherwise}"))
    for name, kind in lists.items():
        items = _items(shape, name, kind, problems)
        object.__setattr__(shape, name, items)
    for name, known in (choices or {}).items():
        value = getattr(shape, name)
        if value not in known:
            message = f"must be one of {', '.join(known)}"
            problems.append(Problem("spec/unknown-choice", name, _core.preview(value), message))
    raise_problems(problems)


def _items(shape: object, name: str, kind: type, problems: list[Problem]) -> tuple[object, ...]:
    value: object = getattr(shape, name)
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
        given: object = getattr(shape, name)
        problems.append(wrong(given, name, f"must be a list, each {_named(kind)}"))
        return ()
    items = tuple(cast("Iterable[object]", value))
    problems += [
        wrong(item, f"{name}[{at}]", f"must be {_named(kind)}")
        for at, item in enumerate(items)
        if not isinstance(item, kind)
    ]
    return items


def _named(kind: type) -> str:
    return _NAMES.get(kind, f"{kind.__name__}(...)")
