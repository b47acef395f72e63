"""Spec files: YAML 1.2 or JSON, read safely, with the place of every field.

What is read must be JSON data: no anchors and aliases (a small file could stand for a huge value),
no dates (they stay text), no tags. A repeated key is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.errors import ConfigError, Problem, SpecInvalid

if TYPE_CHECKING:
    from os import PathLike

    from interlock.typing import JSON

__all__ = ["SpecFile", "load"]

_SIZE_LIMIT = 32 << 20


@dataclass(frozen=True, slots=True)
class SpecFile:
    """A spec as read from a file.

    Attributes:
        path: The file's path as it was given.
        text: What it holds.
        fields: The spec as plain data.
    """

    path: str
    text: str
    fields: dict[str, JSON]

    def place(self, field: str) -> tuple[int, int] | None:
        """Return line and column, from 1, of a field such as `arms[2].when[0].op`.

        The nearest enclosing field that is there answers for one that is not.
        """
        from interlock.spec import _yaml

        return _yaml.place(self.text, field)


def load(path: str | PathLike[str]) -> SpecFile:
    """Read a spec from a file: JSON when its name ends in `.json`, else YAML.

    Raises:
        SpecInvalid: When it is not well formed, not JSON data, or no mapping; with line and column.
        OSError: When the file cannot be read.
    """
    name = str(path)
    raw = Path(path).read_bytes()
    if len(raw) > _SIZE_LIMIT:
        message = f"{len(raw)} bytes, over the limit of {_SIZE_LIMIT}"
        raise _invalid(name, "spec/over-limit", message)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _invalid(name, "spec/unreadable", f"invalid UTF-8 at byte {error.start}") from None
    data = _read_json(name, text) if name.endswith(".json") else _read_yaml(name, text)
    if not isinstance(data, dict):
        raise _invalid(name, "spec/wrong-type", "a spec is a mapping with a field `tool`")
    return SpecFile(name, text, data)


def _read_json(name: str, text: str) -> JSON:
    from interlock import _core

    try:
        return _core.Json(text, unique_keys=True).to_python()
    except ConfigError as error:
        problems = tuple(problem._replace(field=name) for problem in error.problems)
        raise SpecInvalid(problems) from None


def _read_yaml(name: str, text: str) -> JSON:
    from interlock import _core
    from interlock.spec import _yaml

    try:
        return _core.plain(_yaml.read(text), "spec")
    except _yaml.Fault as fault:
        place = name if fault.line is None else f"{name}:{fault.line}:{fault.column}"
        raise _invalid(place, fault.code, fault.message) from None
    except ConfigError as error:
        raise SpecInvalid(error.problems) from None


def _invalid(place: str, code: str, message: str) -> SpecInvalid:
    return SpecInvalid((Problem(code, place, None, message),))
