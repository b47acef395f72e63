"""Reads objects that are not ours: whatever they raise, what was asked for is not there."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, cast

from interlock.tools._limits import HEADERS_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["attribute", "called", "decoded", "headers_of", "mapping", "root", "shown", "whole"]

_TEXT = 64_000


class _Nothing:
    """A class that no foreign object is of."""


def attribute(owner: object, *names: str) -> object:
    """Return the first attribute of these names that is there and not None."""
    for name in names:
        value = _one(owner, name)
        if value is not None:
            return value
    return None


def _one(owner: object, name: str) -> object:
    try:
        value = cast("object", getattr(owner, name, None))
        if value is not None:
            isinstance(value, _Nothing)  # raises for what does not even tell its class
    except Exception:  # noqa: BLE001 (an answer that was not read yet, and the like)
        return None
    return value


def called(owner: object, name: str) -> object:
    """Return what a method without arguments answers; None when there is none, or it raises."""
    method = attribute(owner, name)
    try:
        return method() if callable(method) else None
    except Exception:  # noqa: BLE001 (as above)
        return None


def shown(value: object) -> str | None:
    """Return what `str` makes of it, not more than anybody reads; None when empty."""
    try:
        return str(value)[:_TEXT] or None
    except Exception:  # noqa: BLE001 (as above)
        return None


def decoded(text: object) -> str | None:
    """Return a string, or bytes as one."""
    if isinstance(text, (bytes, bytearray)):
        return text.decode("utf-8", "replace")
    return text if isinstance(text, str) else None


def whole(value: object) -> int | None:
    """Return a whole number that fits 32 bits: a status, an exit code, an error number."""
    fits = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 32
    return int(cast("int", value)) if fits else None


def mapping(value: object) -> Mapping[str, object]:
    """Return a mapping; an empty one when it is none."""
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def root(kind: type) -> str:
    """Return the name of the package that a class is of."""
    return str(attribute(kind, "__module__") or "").partition(".")[0]


def headers_of(headers: object) -> list[tuple[str, str]] | None:
    """Return headers as pairs, from a mapping or from pairs; None when there are none."""
    items = called(headers, "items")
    if items is None and isinstance(headers, (list, tuple)):
        items = cast("object", headers)
    try:
        found = [_header(pair) for pair in islice(cast("Iterable[object]", items), HEADERS_LIMIT)]
    except Exception:  # noqa: BLE001 (as above)
        return None
    return [pair for pair in found if pair is not None] or None


def _header(pair: object) -> tuple[str, str] | None:
    name, value = cast("tuple[object, object]", pair)
    texts = (_header_text(name), _header_text(value))
    return None if None in texts else cast("tuple[str, str]", texts)


def _header_text(value: object) -> str | None:
    return value.decode("latin-1") if isinstance(value, bytes) else shown(value)
