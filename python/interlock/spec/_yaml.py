"""YAML 1.2 as data: the safe loader with aliases refused and dates left as text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer, ComposerError
from ruamel.yaml.constructor import DuplicateKeyError, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Fault", "place", "read"]


class Fault(Exception):
    """Text that is not YAML of the kind a spec is; line and column from 1 where known."""

    def __init__(self, code: str, message: str, line: int | None, column: int | None) -> None:
        """Take what is wrong and where."""
        super().__init__(message)
        self.code, self.message, self.line, self.column = code, message, line, column


class _Composer(Composer):
    """Refuses aliases: shared nodes make a small text stand for a huge value."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.parser.check_event(AliasEvent):
            event = self.parser.peek_event()
            message = "aliases are not read; write the value out"
            raise ComposerError(None, None, message, event.start_mark)
        return super().compose_node(parent, index)


class _Constructor(SafeConstructor):
    """Leaves dates as the text they are."""


_Constructor.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)


def read(text: str) -> object:
    """Read one YAML document as plain data.

    Raises:
        Fault: Where the text is not well formed, repeats a key, uses an alias or nests too deep.
    """
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = _Composer
    yaml.Constructor = _Constructor
    try:
        return cast("object", yaml.load(text))
    except DuplicateKeyError as error:
        key = re.search(r'key "([^"]*)"', str(error.problem))
        shown = f' "{key[1]}"' if key else ""
        raise _fault(error, "spec/repeated-key", f"the key{shown} stands twice") from None
    except MarkedYAMLError as error:
        raise _fault(error, "spec/unreadable", f"not YAML: {error.problem}") from None
    except RecursionError:
        raise Fault("spec/over-limit", "nested too deep to be read", None, None) from None
    except (YAMLError, ValueError) as error:
        raise Fault("spec/unreadable", f"not YAML: {error}", None, None) from None


def _fault(error: MarkedYAMLError, code: str, message: str) -> Fault:
    mark = error.problem_mark
    if mark is None:
        return Fault(code, message, None, None)
    return Fault(code, message, mark.line + 1, mark.column + 1)


class _Segment(NamedTuple):
    key: str | None
    index: int | None


def _segments(field: str) -> Iterator[_Segment]:
    for match in re.finditer(r"\[(\d+)\]|[^.\[\]]+", field):
        if match[1] is not None:
            yield _Segment(None, int(match[1]))
        else:
            yield _Segment(match[0], None)


def place(text: str, field: str) -> tuple[int, int] | None:
    """Return line and column of a field, or of the nearest enclosing one; None without any."""
    try:
        # Anything typed would lose its place in C; the round-trip loader keeps it.
        node: Any = YAML(typ="rt", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError):
        return None
    found: tuple[int, int] | None = None
    for segment in _segments(field):
        try:
            if segment.index is not None:
                line, column = node.lc.item(segment.index)
                node = node[segment.index]
            else:
                line, column = node.lc.value(segment.key)
                node = node[segment.key]
        except (AttributeError, KeyError, IndexError, TypeError):
            break
        found = (line + 1, column + 1)
    return found
