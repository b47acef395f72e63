"""Records as data: written by their fields, read back by their annotations, every fault named."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, Union, cast, get_args, get_origin, get_type_hints

from interlock import _core
from interlock._compiled import unknown_fields
from interlock._wire import WireForm
from interlock.errors import Problem, SpecInvalid

__all__ = ["Record", "encoded", "record_of"]

_Read = Callable[[object, str, list[Problem]], object]


_SCALARS = (str, int, bool, NoneType)
_ALWAYS = object()
"""In place of a default: the field is always written."""

_KNOWN: dict[str, object] = {}
"""The records of this package by name."""


class Record(WireForm):
    """A frozen dataclass that can be written as data and read back equal.

    A field whose default is None or empty is left out when it has that value. Annotations may be
    plain types, `Literal`, other records, and tuples, sequences, mappings and unions of these; a
    field annotated `object` holds any JSON value.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        """Make a class of this package known by name to the annotations of others."""
        # What has no `__init__` is not made yet, or for objects in the making.
        if cls.__module__.startswith("interlock.") and cls.__init__ is not object.__init__:
            _KNOWN[cls.__name__] = cls

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        wire: dict[str, Any] = {}
        for name, written, default in _written(type(self)):  # type: ignore[arg-type]
            value: object = getattr(self, name)
            # PERF: most of what is left out is the default itself.
            if value is not default and (default is _ALWAYS or value != default):
                wire[written] = value if type(value) in _SCALARS else encoded(value)
        return wire

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read a record from plain data.

        Raises:
            SpecInvalid: With every fault found.
        """
        problems: list[Problem] = []
        read = _read_record(cls, data, "", problems)
        if problems:
            raise SpecInvalid(tuple(problems))
        return cast("Self", read)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a record from JSON.

        Raises:
            InputInvalid: Where the text is no JSON.
            SpecInvalid: As `from_dict`.
        """
        return cls.from_dict(_core.Json(text).to_python())


def record_of(name: object) -> type[Record] | None:
    """Return the record of this package that has a name."""
    return cast("type[Record] | None", _KNOWN.get(name)) if isinstance(name, str) else None


def encoded(value: object) -> Any:
    """Write a value of a field as plain data.

    Raises:
        ConfigError: Where JSON cannot hold it.
    """
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, WireForm):
        return value.to_dict()
    if isinstance(value, (tuple, list)):
        return [encoded(item) for item in cast("Sequence[object]", value)]
    items = _items(value)
    return (
        _core.plain(value, finite=True)
        if items is None
        else {key: encoded(one) for key, one in items}
    )


def _items(value: object) -> list[tuple[str, object]] | None:
    """Give what a mapping with text for keys holds; None for all else."""
    if not isinstance(value, Mapping):
        return None
    items = list(cast("Mapping[str, object]", value).items())
    return items if all(isinstance(key, str) for key, _ in items) else None  # pyright: ignore[reportUnnecessaryIsInstance]


# mypy takes the hash of objects for that of their class, which is why it is told to ignore that.
@lru_cache(maxsize=128)
def _written(cls: type[Record]) -> tuple[tuple[str, str, object], ...]:
    """Give the fields that are data, their names as data, and when each is left out."""
    return tuple(
        (field.name, field.metadata.get("name", field.name), _left_out(field))
        for field in fields(cast("Any", cls))
        if field.metadata.get("data", True)
    )


def _left_out(field: Field[Any]) -> object:
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return default if default is None or default in ((), {}, "") else _ALWAYS


@lru_cache(maxsize=128)
def _readers(cls: type[Record]) -> dict[str, tuple[str, _Read, bool]]:
    """Give by its name as data for each field its own, how it is read, whether it must be there."""
    names = {"Mapping": Mapping, "Literal": Literal, "Sequence": Sequence, **_KNOWN}
    hints = get_type_hints(cls, localns=names)
    written = {name: as_data for name, as_data, _ in _written(cls)}  # type: ignore[arg-type]
    return {
        written[field.name]: (
            field.name,
            _reader(hints[field.name]),
            field.default is MISSING and field.default_factory is MISSING,
        )
        for field in fields(cast("Any", cls))
        if field.name in written
    }


def _read_record(cls: type[Record], data: object, place: str, problems: list[Problem]) -> object:
    if not isinstance(data, Mapping):
        problems.append(_wrong(data, place or "value", "must be a mapping"))
        return None
    given = cast("Mapping[str, object]", data)
    readers, before = _readers(cls), len(problems)  # type: ignore[arg-type]
    prefix = f"{place}." if place else ""
    problems += unknown_fields(given, tuple(readers), prefix)
    read: dict[str, object] = {}
    for name, (own, reader, required) in readers.items():
        if name in given:
            read[own] = reader(given[name], prefix + name, problems)
        elif required:
            problems.append(Problem("spec/missing-field", prefix + name, None, "is required"))
    if len(problems) > before:
        return None
    try:
        return cls(**read)
    except SpecInvalid as error:
        problems += [fault._replace(field=prefix + fault.field) for fault in error.problems]
        return None


def _reader(hint: Any) -> _Read:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _union(inner)
    if origin is Literal:
        return _literal(inner)
    if origin in (tuple, Sequence):
        return _listed(_reader(inner[0]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapped(_reader(inner[1]))
    if isinstance(hint, type) and issubclass(hint, Record):
        return lambda value, field, problems: _read_record(hint, value, field, problems)
    return _plain(hint)


def _plain(kind: Any) -> _Read:
    if kind is object or kind is Any:
        return lambda value, _field, _problems: value
    # A duration that is whole is an `int` in JSON.
    allowed = (int, float) if kind is float else (kind,)
    said = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}[kind]

    def read(value: object, field: str, problems: list[Problem]) -> object:
        if type(value) not in allowed:
            problems.append(_wrong(value, field, f"must be {said}"))
        return value

    return read


def _union(kinds: tuple[Any, ...]) -> _Read:
    (reader,) = (_reader(kind) for kind in kinds if kind is not NoneType)

    def read(value: object, field: str, problems: list[Problem]) -> object:
        return None if value is None else reader(value, field, problems)

    return read


def _literal(choices: tuple[object, ...]) -> _Read:
    def read(value: object, field: str, problems: list[Problem]) -> object:
        if value not in choices:
            message = f"must be one of {', '.join(map(str, choices))}"
            shown = _core.preview(value)
            problems.append(Problem("spec/unknown-choice", field, shown, message))
        return value

    return read


def _listed(item: _Read) -> _Read:
    def read(value: object, field: str, problems: list[Problem]) -> object:
        if not isinstance(value, (list, tuple)):
            problems.append(_wrong(value, field, "must be a list"))
            return ()
        values = cast("Sequence[object]", value)
        return tuple(item(one, f"{field}[{at}]", problems) for at, one in enumerate(values))

    return read


def _mapped(item: _Read) -> _Read:
    def read(value: object, field: str, problems: list[Problem]) -> object:
        if not isinstance(value, Mapping):
            problems.append(_wrong(value, field, "must be a mapping"))
            return {}
        values = cast("Mapping[str, object]", value)
        return {name: item(one, f"{field}.{name}", problems) for name, one in values.items()}

    return read


def _wrong(value: object, field: str, message: str) -> Problem:
    return Problem("spec/wrong-type", field, _core.preview(value), message)
