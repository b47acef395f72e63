"""YAML 1.2 as data: the safe loader with aliases refused and dates left as text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

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


# ruamel.yaml has no complete types: what comes out of it is Any until it is checked.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false


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


def _segments(field: str) -> Iterator[str | int]:
    """Split a field such as `arms[2].when` into keys and positions."""
    for match in re.finditer(r"\[(\d+)\]|[^.\[\]]+", field):
        yield match[0] if match[1] is None else int(match[1])


def place(text: str, field: str) -> tuple[int, int] | None:
    """Return line and column of a field, or of the nearest enclosing one; None without any."""
    # Only the round-trip loader keeps places; it is slower, so it runs on a fault only.
    yaml: Any = YAML(typ="rt", pure=True)
    try:
        node: Any = yaml.load(text)
    except (YAMLError, ValueError, RecursionError):
        return None
    found: tuple[int, int] | None = None
    for segment in _segments(field):
        try:
            lookup = node.lc.item if isinstance(segment, int) else node.lc.value
            line, column = lookup(segment)
            node = node[segment]
        except (AttributeError, KeyError, IndexError, TypeError):
            break
        found = (line + 1, column + 1)
    return found
