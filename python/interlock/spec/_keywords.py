"""Keywords of JSON Schema that a hostile schema cannot hang a process with.

Replaced are those that match patterns with backtracking or compare every item with every other;
all are counted.
"""

from __future__ import annotations

from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from jsonschema import validators
from jsonschema.exceptions import ValidationError

from interlock import _core
from interlock.errors import PatternInvalid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Keyword = Callable[[Any, Any, Any, Any], Iterator[Any] | None]

__all__ = [  # noqa: RUF022 (by code point, as every other list of names)
    "TooMuch",
    "UNBOUNDED",
    "WORK_LIMIT",
    "bounded",
    "pattern_of",
    "work",
]

WORK_LIMIT = 100_000
"""Keywords applied in one check, each by the size of what it is and of what it looks at."""
UNBOUNDED = ("unevaluatedProperties", "unevaluatedItems")
"""Keywords that are not checked: what they look at is found out by ways that are not counted."""

_DEARER = ("$ref", "$dynamicRef", "$recursiveRef", "anyOf", "oneOf")
_DEAR = 10
"""What those take beside the others: a reference is looked up, alternatives keep their errors."""

work: ContextVar[list[int]] = ContextVar("interlock_schema_work")
"""What is left of the work of a check, the one number of a list."""


class TooMuch(Exception):
    """A check takes more work than the limit."""


@lru_cache(maxsize=1024)
def pattern_of(source: str) -> _core.Pattern:
    """Compile a pattern: with the flag `u`, as the standard recommends, or without.

    Raises:
        PatternError: For one that is no ECMAScript, or is not run in linear time.
    """
    try:
        return _core.Pattern(source, "u")
    except PatternInvalid:
        # Such as `\-`, which is in use, and no escape with that flag.
        return _core.Pattern(source)


@lru_cache(maxsize=8)
def bounded(kind: Any) -> Any:
    """Make of a class of validators one whose work is counted."""
    keywords: dict[str, Keyword] = {**kind.VALIDATORS, **_OWN}
    extend: Any = cast("Any", validators).extend
    return extend(kind, {name: _counted(name, one) for name, one in keywords.items()})


def _counted(name: str, keyword: Keyword) -> Keyword:
    cost = _DEAR if name in _DEARER else 1

    def counted(validator: Any, operand: Any, instance: Any, schema: Any) -> Iterator[Any]:
        _spend(cost + _size(operand) + _size(instance))
        yield from keyword(validator, operand, instance, schema) or ()

    return counted


def _spend(amount: int) -> None:
    left = work.get()
    left[0] -= amount
    if left[0] < 0:
        raise TooMuch


def _size(value: Any) -> int:
    """Count a part of a value in keywords: by the time that going through it takes."""
    if isinstance(value, str):
        return len(value) // 100
    return len(cast("Any", value)) // 5 if isinstance(value, (dict, list)) else 0


def _pattern(validator: Any, source: str, instance: Any, schema: Any) -> Iterator[Any]:
    del schema
    if validator.is_type(instance, "string") and not pattern_of(source).test(instance):
        yield ValidationError(f"does not match {_core.preview(source)}")


def _pattern_properties(
    validator: Any, by_pattern: dict[str, Any], instance: Any, schema: Any
) -> Iterator[Any]:
    del schema
    if not validator.is_type(instance, "object"):
        return
    for source, inner in by_pattern.items():
        _spend(len(instance))
        for name in instance:
            if pattern_of(source).test(name):
                value = instance[name]
                yield from validator.descend(value, inner, path=name, schema_path=source)


def _additional_properties(validator: Any, inner: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    known: dict[str, Any] = schema.get("properties", {})
    patterns = [pattern_of(source) for source in schema.get("patternProperties", {})]
    _spend(len(instance) * len(patterns))
    for name, value in instance.items():
        if name in known or any(one.test(name) for one in patterns):
            continue
        if inner is False:
            error = ValidationError(_not_taken(name, known), instance=value)
            error.path.append(name)
            yield error
        else:
            yield from validator.descend(value, inner, path=name)


def _not_taken(name: str, known: dict[str, Any]) -> str:
    near = _core.nearest(name, list(known))
    return f'is not taken here; did you mean "{near}"?' if near else "is not taken here"


def _unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    del schema
    if not wanted or not validator.is_type(instance, "array"):
        return
    if len({_core.fingerprint(item) for item in instance}) < len(instance):
        yield ValidationError("has the same item twice")


def _unbounded(validator: Any, operand: Any, instance: Any, schema: Any) -> Iterator[Any]:
    del validator, operand, instance, schema
    # Met only in data that a reference takes for a schema; elsewhere the schema was refused.
    raise TooMuch


_OWN: dict[str, Any] = {
    **dict.fromkeys(UNBOUNDED, _unbounded),
    "additionalProperties": _additional_properties,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "uniqueItems": _unique_items,
}
