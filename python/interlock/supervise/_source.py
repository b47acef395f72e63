"""Where a document comes from: a file, a text, or plain data; and the place of each fault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from interlock import _core
from interlock.errors import ConfigError, Problem

if TYPE_CHECKING:
    from os import PathLike

    from interlock.spec import Placed, SpecFile
    from interlock.typing import JSON

__all__ = [  # noqa: RUF022 (by code point, as every other list of names)
    "Document",
    "SIZE_LIMIT",
    "Source",
    "placed",
    "read_source",
]

SIZE_LIMIT = 1 << 20
_WHAT = 'a runbook is a mapping with `runbook: "1"`, an id and steps'

Document: TypeAlias = "Mapping[str, object] | str | PathLike[str]"
"""A runbook as plain data, the path of a YAML or JSON file, or (with a line break) its text."""


class Source(NamedTuple):
    """A document as it was read.

    Attributes:
        data: The document as plain data; None where it cannot be read.
        file: Its text, for places; None where there is none.
        faults: What is wrong with the text, each with its place.
    """

    data: dict[str, JSON] | None
    file: SpecFile | None
    faults: tuple[Placed, ...]


def read_source(document: Document) -> Source:
    """Read a document of any source.

    Raises:
        OSError: When it is the path of a file that cannot be read.
    """
    from interlock.spec import Placed, SpecFile, parse, read

    if isinstance(document, Mapping):
        return _of_data(document)
    if isinstance(document, str) and ("\n" in document or document.lstrip().startswith("{")):
        raw = document.encode("utf-8", "surrogatepass")
        is_json = document.lstrip().startswith("{")
        found = parse(raw, is_json=is_json, limit=SIZE_LIMIT, what=_WHAT)
    elif isinstance(document, str) or hasattr(document, "__fspath__"):
        found = read(document, limit=SIZE_LIMIT, what=_WHAT)
    else:
        wrong = Problem("spec/wrong-type", "document", _core.preview(document), _WHAT)
        return Source(None, None, (Placed(wrong, None, None),))
    if isinstance(found, SpecFile):
        return Source(found.fields, found, ())
    return Source(None, None, tuple(found))


def _of_data(document: Mapping[str, object]) -> Source:
    from interlock.spec import Placed

    try:
        data = _core.plain(document, "", finite=True)
    except ConfigError as error:
        return Source(None, None, tuple(Placed(one, None, None) for one in error.problems))
    if not isinstance(data, dict):
        wrong = Problem("spec/wrong-type", "document", _core.preview(document), _WHAT)
        return Source(None, None, (Placed(wrong, None, None),))
    return Source(data, None, ())


def placed(source: Source, problems: tuple[Problem, ...]) -> tuple[Placed, ...]:
    """Give each problem its line and column, and order them as the document is read."""
    from interlock.spec import Placed

    if source.data is None:
        return source.faults
    if source.file is None:
        return tuple(Placed(one, None, None) for one in problems)
    found = [source.file.placed(problem) for problem in problems]
    return tuple(sorted(found, key=lambda one: (one.line or 0, one.column or 0)))
