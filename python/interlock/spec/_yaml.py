"""YAML 1.2 as data: the safe loader with aliases refused and dates left as text."""

# ruamel.yaml has no complete types: what comes out of it is Any until it is checked.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer, ComposerError
from ruamel.yaml.constructor import ConstructorError, DuplicateKeyError, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent
from ruamel.yaml.reader import ReaderError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Fault", "place", "read", "tree"]


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
    """Leaves dates as the text they are, and gives every value that cannot be read its place."""

    def construct_object(self, node: Any, deep: bool = False) -> Any:  # noqa: FBT002 (ruamel's own)
        try:
            return super().construct_object(node, deep=deep)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            message = f"a value that its tag does not allow: {error}"
            raise ConstructorError(None, None, message, node.start_mark) from None

    def flatten_mapping(self, node: Any) -> Any:
        """Refuse `<<`, which is no key of YAML 1.2 and would hide those that stand twice."""
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                message = "merge keys are not read; write the values out"
                raise ConstructorError(None, None, message, key.start_mark)
        return super().flatten_mapping(node)

    def construct_yaml_int(self, node: Any) -> Any:
        return self._unless_spaced(node, super().construct_yaml_int)

    def construct_yaml_float(self, node: Any) -> Any:
        return self._unless_spaced(node, super().construct_yaml_float)

    def _unless_spaced(self, node: Any, read: Callable[[Any], Any]) -> Any:
        """Leave `1_000` the text it is in YAML 1.2."""
        text = self.construct_scalar(node)
        return text if isinstance(text, str) and "_" in text else read(node)


_Constructor.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)
_Constructor.add_constructor("tag:yaml.org,2002:int", _Constructor.construct_yaml_int)
_Constructor.add_constructor("tag:yaml.org,2002:float", _Constructor.construct_yaml_float)


def read(text: str) -> object:
    """Read one YAML document as plain data.

    Raises:
        Fault: Where the text is not well formed, repeats a key, uses an alias or nests too deep.
    """
    older = re.search(r"^%YAML[ \t]+(?!1\.2\b)", text, re.MULTILINE)
    if older:
        line = text.count("\n", 0, older.start()) + 1
        raise Fault("spec/unreadable", "only YAML 1.2 is read; leave the directive out", line, 1)
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = _Composer
    yaml.Constructor = _Constructor
    try:
        return cast("object", yaml.load(text))
    except DuplicateKeyError as error:
        key = re.search(r'key "([^"]*)"', str(error.problem))
        shown = f' "{key[1]}"' if key else ""
        raise _marked(error, "spec/repeated-key", f"the key{shown} stands twice") from None
    except MarkedYAMLError as error:
        raise _marked(error, "spec/unreadable", f"not YAML: {error.problem}") from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        message = "a control character; write it as an escape in double quotes"
        raise Fault("spec/unreadable", message, line, column) from None
    except RecursionError:
        raise Fault("spec/over-limit", "nested too deep to be read", None, None) from None
    except YAMLError as error:
        raise Fault("spec/unreadable", f"not YAML: {error}", None, None) from None


def _marked(error: MarkedYAMLError, code: str, message: str) -> Fault:
    mark = error.problem_mark
    if mark is None:
        return Fault(code, message, None, None)
    return Fault(code, message, mark.line + 1, mark.column + 1)


def tree(text: str) -> object:
    """Read a text for places only; an empty one where it cannot be read.

    Only the round-trip loader keeps places; it is slower, so it runs when there is a fault.
    """
    yaml: Any = YAML(typ="rt", pure=True)
    try:
        return cast("object", yaml.load(text))
    except (YAMLError, ArithmeticError, LookupError, TypeError, ValueError, RecursionError):
        return {}


def place(node: Any, field: str) -> tuple[int | None, int | None]:
    """Return line and column of a field, or of the nearest enclosing one."""
    line, column = None, None
    for segment in _segments(field):
        try:
            lookup = node.lc.item if isinstance(segment, int) else node.lc.value
            line, column = (part + 1 for part in lookup(segment))
            node = node[segment]
        except (AttributeError, KeyError, IndexError, TypeError):
            break
    return line, column


def _segments(field: str) -> Iterator[str | int]:
    """Split a field such as `arms[2]["odd.key"].when` into keys and positions."""
    for match in re.finditer(r'\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|[^.\[\]]+', field):
        if match[1] is not None:
            yield int(match[1])
        elif match[2] is not None:
            yield str(json.loads(match[2]))
        else:
            yield match[0]
