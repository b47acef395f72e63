"""Spec files: YAML 1.2 or JSON, read safely, with the place of every field.

What is read must be JSON data: no aliases (a small file could stand for a huge value), no dates
(they stay text), no other types. A repeated key is refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from interlock import _core
from interlock.errors import ConfigError, Problem, SpecInvalid

if TYPE_CHECKING:
    from os import PathLike

    from interlock.typing import JSON

__all__ = ["Placed", "SpecFile", "load", "parse", "read"]

_SIZE_LIMIT = 32 << 20
_SPEC = "a spec is a mapping with a field `tool`"


class Placed(NamedTuple):
    """A problem and its place in a file: line and column from 1, None where not known."""

    problem: Problem
    line: int | None
    column: int | None


class SpecFile:
    """A spec as read from a file.

    Attributes:
        fields: The spec as plain data.
    """

    __slots__ = ("_text", "_tree", "fields")

    def __init__(self, text: str, fields: dict[str, JSON]) -> None:
        """Take the text and what it says."""
        self.fields = fields
        self._text = text
        self._tree: object = None

    def placed(self, problem: Problem) -> Placed:
        """Find the place of a problem, or of the nearest enclosing field that is there."""
        from interlock.spec import _yaml

        if self._tree is None:
            self._tree = _yaml.tree(self._text)
        return Placed(problem, *_yaml.place(self._tree, problem.field))


def load(path: str | PathLike[str]) -> SpecFile:
    """Read a spec from a file: JSON when its name ends in `.json`, else YAML.

    Raises:
        SpecInvalid: When it is not well formed, not JSON data, or no mapping; with line and column.
        OSError: When the file cannot be read.
    """
    found = read(path)
    if isinstance(found, SpecFile):
        return found
    problems = (
        problem._replace(field=":".join(map(str, filter(None, (path, line, column)))))
        for problem, line, column in found
    )
    raise SpecInvalid(tuple(problems))


def read(
    path: str | PathLike[str], *, limit: int = _SIZE_LIMIT, what: str = _SPEC
) -> SpecFile | list[Placed]:
    """As `load`, with what is wrong with the text as an answer.

    Args:
        path: The file.
        limit: How many bytes are read at most.
        what: What it must hold, for the message when it is no mapping.

    Raises:
        OSError: When the file cannot be read.
    """
    raw = Path(path).read_bytes()
    return parse(raw, is_json=str(path).endswith(".json"), limit=limit, what=what)


def parse(
    raw: bytes, *, is_json: bool, limit: int = _SIZE_LIMIT, what: str = _SPEC
) -> SpecFile | list[Placed]:
    """As `read`, of a text in UTF-8."""
    if len(raw) > limit:
        message = f"{len(raw)} bytes, over the limit of {limit}"
        return [_fault("spec/over-limit", message)]
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8")
        return [_fault("spec/unreadable", "invalid UTF-8", *_place_after(before))]
    return _read_json(text, what) if is_json else _read_yaml(text, what)


def _spec_of(text: str, data: JSON, what: str) -> SpecFile | list[Placed]:
    if isinstance(data, dict):
        return SpecFile(text, data)
    return [_fault("spec/wrong-type", what)]


def _place_after(text: str) -> tuple[int, int]:
    lines = text.split("\n")
    return len(lines), len(lines[-1]) + 1


def _read_json(text: str, what: str) -> SpecFile | list[Placed]:
    try:
        return _spec_of(text, _core.Json(text, unique_keys=True).to_python(), what)
    except ConfigError as error:
        return [_at_place(problem) for problem in error.problems]


def _at_place(problem: Problem) -> Placed:
    """Split the field of a fault in a text, which is its line and column."""
    line, colon, column = problem.field.partition(":")
    if not colon:
        return Placed(problem, None, None)
    return Placed(problem._replace(field="file"), int(line), int(column))


def _read_yaml(text: str, what: str) -> SpecFile | list[Placed]:
    from interlock.spec import _yaml

    try:
        data = _yaml.read(text)
    except _yaml.Fault as fault:
        return [_fault(fault.code, fault.message, fault.line, fault.column)]
    try:
        return _spec_of(text, _core.plain(data, "", finite=True), what)
    except ConfigError as error:
        spec = SpecFile(text, {})
        return [spec.placed(problem) for problem in error.problems]


def _fault(code: str, message: str, line: int | None = None, column: int | None = None) -> Placed:
    return Placed(Problem(code, "file", None, message), line, column)
