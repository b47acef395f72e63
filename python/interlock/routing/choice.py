"""A choice as it stands in a file: one JSON object that names a route."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from interlock import _core
from interlock.errors import ConfigError, RouteFileError
from interlock.record._data import Record
from interlock.routing._names import FIELDS
from interlock.routing._typed import must_be, must_count

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Choice",
    "choices_in",
    "is_evidence",
    "json_of",
    "read_choice",
    "read_object",
    "written",
]

SIZE_LIMIT = 65_536
RECORD_LIMIT = 32 << 20
"""How many bytes a plan, a record with checks, or what a run keeps may have."""
DEPTH_LIMIT = 32
_BOM = b"\xef\xbb\xbf"
_MARK = "interlock.route-evidence/"
_NAMED = ", ".join(FIELDS)


@dataclass(frozen=True, slots=True)
class Choice(Record):
    """What a file says.

    Attributes:
        field: `select_route`, `route_id` or `selected_route_id`.
        value: The id of a route, or of the step that one route alone leads to; without blanks
            around it.
    """

    field: str
    value: str


def read_choice(content: bytes, *, limit: int = SIZE_LIMIT) -> Choice:
    """Read a choice.

    A choice is one JSON object (RFC 8259) in UTF-8 with a text under `select_route`, or under one
    of its aliases `route_id` and `selected_route_id`. Other fields are for readers. Several that
    say the same are one choice.

    Args:
        content: The bytes of the file; a byte-order mark is passed over.
        limit: How many bytes there may be.

    Raises:
        RouteFileError: `route/unreadable` (no UTF-8, over a limit of size or of 32 levels),
            `route/not-json`, `route/duplicate-key` (readers differ on which of two equal keys
            counts, RFC 8259 section 4), `route/not-object`, `route/field-missing`,
            `route/not-string`, `route/blank`, `route/conflicting-fields`,
            `route/evidence-as-source`.
        ConfigError: For a content that is no bytes, or a limit that is none.
    """
    found = choices_in(content, limit=limit)
    if len({choice.value for choice in found}) > 1:
        raise conflicting(found)
    return found[0]


def choices_in(content: bytes, *, limit: int = SIZE_LIMIT) -> list[Choice]:
    """Read every field of a choice that is there, in their order; raises as `read_choice`."""
    data = read_object(content, limit=limit)
    if is_marked(data):
        raise RouteFileError(
            "route/evidence-as-source",
            "is what a router wrote of itself, and never a source: name the file of the step "
            "that decides",
        )
    present = [name for name in FIELDS if name in data]
    if not present:
        raise RouteFileError(
            "route/field-missing", f"has none of {_NAMED}; write {{{_quoted('<route_id>')}}}"
        )
    return [_choice(name, data[name]) for name in present]


def written(route_id: str, **more: str) -> bytes:
    """Return the content of a file of a choice."""
    return _core.to_json({FIELDS[0]: route_id, **more}).encode() + b"\n"


def conflicting(found: list[Choice]) -> RouteFileError:
    """Make the error of fields that name different routes."""
    said = ", ".join(f"{choice.field} {_core.preview(choice.value)}" for choice in found)
    return RouteFileError(
        "route/conflicting-fields", f"names different routes ({said}); write {FIELDS[0]} alone"
    )


def is_evidence(content: bytes) -> bool:
    """Say whether a file is what a router wrote of itself; one that cannot be read is not."""
    try:
        return is_marked(read_object(content))
    except RouteFileError:
        return False


def is_marked(data: Mapping[str, object]) -> bool:
    """Say whether an object bears the mark of evidence."""
    schema = data.get("schema")
    return data.get("evidence") is True or (isinstance(schema, str) and schema.startswith(_MARK))


def read_object(content: bytes, *, limit: int = SIZE_LIMIT) -> dict[str, object]:
    """Read one JSON object; raises as `read_choice`."""
    must_be(content, bytes, "content", "bytes: what stands in the file")
    must_count(limit, "limit")
    if len(content) > limit:
        raise RouteFileError(
            "route/unreadable", f"has {len(content)} bytes, over the limit of {limit}"
        )
    try:
        data: object = json_of(content).to_python()
    except ConfigError:
        raise _too_deep() from None
    if _depth(data) > DEPTH_LIMIT:
        raise _too_deep()
    if not isinstance(data, dict):
        raise RouteFileError(
            "route/not-object",
            f"is no JSON object; write {{{_quoted('<route_id>')}}}",
            value=_core.preview(data),
        )
    return cast("dict[str, object]", data)


def json_of(content: bytes) -> _core.Json:
    """Read JSON in UTF-8, of which no key stands twice; a byte-order mark is passed over.

    Raises:
        RouteFileError: `route/unreadable`, `route/not-json`, `route/duplicate-key`.
    """
    try:
        decoded = content.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"is no UTF-8: byte {error.start}; write it in UTF-8"
        raise RouteFileError("route/unreadable", message) from None
    if not decoded.strip():
        raise RouteFileError("route/not-json", "is empty; write a JSON object, or no file at all")
    try:
        return _core.Json(decoded, unique_keys=True)
    except ConfigError as error:
        raise _unparsed(error) from None


def _unparsed(error: ConfigError) -> RouteFileError:
    problem = error.problems[0]
    place = f"line {problem.field.replace(':', ', column ')}"
    if problem.code == "spec/repeated-key":
        message = f"has a key twice at {place}, and readers differ on which counts; keep one"
        return RouteFileError("route/duplicate-key", message, value=problem.value)
    message = f"is no JSON at {place}: {problem.message}"
    return RouteFileError("route/not-json", message, value=problem.value)


def _too_deep() -> RouteFileError:
    return RouteFileError("route/unreadable", f"is nested deeper than {DEPTH_LIMIT} levels")


def _depth(value: object) -> int:
    """Count the levels of arrays and objects."""
    depth, level = 0, [value]
    while level := [one for one in level if type(one) in (dict, list)]:
        depth += 1
        level = [inner for one in level for inner in _inside(one)]
    return depth


def _inside(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(cast("dict[str, object]", value).values())
    return cast("list[object]", value)


def _choice(name: str, value: object) -> Choice:
    if not isinstance(value, str):
        message = f"{name} must be a text: {_quoted('<route_id>')}"
        raise RouteFileError("route/not-string", message, value=_core.preview(value))
    trimmed = value.strip()
    if not trimmed:
        raise RouteFileError(
            "route/blank", f"{name} is blank; name a route", value=_core.preview(value)
        )
    return Choice(name, trimmed)


def _quoted(value: str) -> str:
    return f'"{FIELDS[0]}": "{value}"'
