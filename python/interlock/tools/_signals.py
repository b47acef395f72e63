"""What is known of an error, read from data: types and ranges checked, spellings made one."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from os import PathLike, fspath
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from interlock import _core
from interlock._compiled import unknown_fields
from interlock._instant import header_text, read_instant
from interlock.errors import ConfigError, Problem
from interlock.tools._errno import errno_name
from interlock.tools._fields import (
    one_spelling,
    own_type,
    snake_case,
    what_raised,
    whole_number,
)
from interlock.tools._limits import HEADERS_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SIGNALS", "Signals", "read_signals"]

SIGNALS = (
    "status",
    "exitCode",
    "signal",
    "code",
    "message",
    "retryAfter",
    "attempt",
    "maxAttempts",
    "now",
    "maxWaitMs",
    "provider",
    "body",
    "headers",
    "command",
    "errno",
    "stdout",
)
"""The signals by their names in data."""

_SPELLED = {spelling: name for name in SIGNALS for spelling in (name, snake_case(name))}
_PLAIN = frozenset({type(None), str, int, float, bool, bytes, dict, list, tuple})
_PAIR = 2
_NUMBER_BITS = 1024
_WITH_PACKS = ("provider", "body", "headers", "command", "errno", "stdout")

Headers: TypeAlias = list[tuple[str, str]]
"""Names and values of headers."""

More: TypeAlias = tuple[str | None, object, Headers | None, str | None, str | None, str | None]
"""What calls for packs: provider, body, headers, command, errno, stdout."""


class Signals(NamedTuple):
    """The signals, checked, as the core takes them."""

    status: int | None
    exit_code: int | None
    signal: str | None
    code: str | None
    message: str | None
    retry_after: str | None
    now_ms: int | None
    exhausted: bool
    max_wait_ms: int | None
    more: More | None


def read_signals(given: object, place: str = "") -> Signals:
    """Check signals; one that is None is the same as one left out.

    Args:
        given: The signals by their names in data or in Python.
        place: What they are called in problems, such as `records[3]`.

    Raises:
        ConfigError: With every signal of a wrong type or out of range, and every unknown field.
    """
    plain = _plain(given)
    fields, problems = _fields(given, place or "signals") if plain is None else (plain, [])
    reader = _Reader(fields, problems)
    signals = Signals(
        status=reader.whole("status"),
        exit_code=reader.whole("exitCode"),
        signal=reader.text("signal"),
        code=reader.text("code"),
        message=reader.text("message"),
        retry_after=reader.retry_after(),
        now_ms=reader.instant("now"),
        exhausted=reader.exhausted(),
        max_wait_ms=reader.whole("maxWaitMs", least=0),
        more=reader.more(),
    )
    if problems:
        prefix = place and f"{place}."
        raise ConfigError(tuple(one._replace(field=prefix + one.field) for one in problems))
    return signals


def _plain(given: object) -> dict[str, object] | None:
    """Give the fields of a plain mapping of plain values; None for all that needs a closer look."""
    if type(given) is not dict:
        return None
    fields: dict[str, object] = {}
    for name, value in cast("dict[object, object]", given).items():
        if type(name) is not str or type(value) not in _PLAIN:
            return None
        field = _SPELLED.get(name)
        if field is None or field in fields:
            return None
        fields[field] = value
    return fields


def _fields(given: object, place: str) -> tuple[dict[str, object], list[Problem]]:
    if isinstance(given, _core.Json):
        given = given.to_python()
    if not isinstance(given, Mapping):
        message = "must be a mapping of signals"
        raise ConfigError((Problem("spec/wrong-type", place, _core.preview(given), message),))
    try:
        pairs = cast("Mapping[str, object]", given).items()
        named = [(cast("str", own_type(name)), value) for name, value in pairs]
        plain = {name: _own(name, value) for name, value in named}
    except Exception as error:  # noqa: BLE001 (whatever somebody's mapping raises)
        problem = Problem("spec/wrong-type", place, None, what_raised(error))
        raise ConfigError((problem,)) from None
    fields, problems = one_spelling(plain, SIGNALS)
    return fields, [*problems, *unknown_fields(fields, SIGNALS)]


class _Reader:
    """Reads fields and collects what is wrong with them."""

    def __init__(self, fields: Mapping[str, object], problems: list[Problem]) -> None:
        self._fields = fields
        self._problems = problems

    def whole(self, field: str, *, least: int | None = None) -> int | None:
        value = self._fields.get(field)
        if value is None:
            return None
        number = whole_number(value)
        if number is None:
            self._fault(field, value, "must be a whole number" + _beyond(value))
        elif least is not None and number < least:
            self._fault(field, value, f"must be at least {least}")
        return number

    def text(self, field: str) -> str | None:
        value = self._fields.get(field)
        if value is None or isinstance(value, str):
            return value
        self._fault(field, value, "must be a string")
        return None

    def instant(self, field: str) -> int | None:
        if self._fields.get(field) is None:
            return None
        millis, found = read_instant(self._fields[field], field)
        self._problems += found
        return millis

    def retry_after(self) -> str | None:
        message = "must be a string or a number of seconds"
        value = self._checked(
            "retryAfter", lambda value: isinstance(value, str) or _is_number(value), message
        )
        return None if value is None else header_text(value)

    def exhausted(self) -> bool:
        attempt, most = self.whole("attempt"), self.whole("maxAttempts", least=1)
        return attempt is not None and most is not None and attempt >= most

    def more(self) -> More | None:
        if all(self._fields.get(field) is None for field in _WITH_PACKS):
            return None
        return (
            self.text("provider"),
            self._body(),
            self._headers(),
            self._command(),
            self._errno(),
            self.text("stdout"),
        )

    def _body(self) -> object:
        body = self._checked(
            "body", _is_body, "must be JSON or text: a mapping, list, str or bytes"
        )
        if not isinstance(body, (bytearray, memoryview)):
            return body
        try:
            return bytes(cast("bytearray", body))
        except ValueError as error:
            self._fault("body", None, what_raised(error))
            return None

    def _headers(self) -> Headers | None:
        value = self._fields.get("headers")
        if value is None:
            return None
        try:
            lines = _lines(value)
        except Exception as error:  # noqa: BLE001 (whatever somebody's mapping raises)
            self._fault("headers", None, what_raised(error))
            return None
        if lines is None:
            self._fault("headers", value, "must be a mapping of names to values, or pairs of both")
            return None
        if len(lines) > HEADERS_LIMIT:
            message = f"{len(lines)} headers, over the limit of {HEADERS_LIMIT}"
            self._problems.append(Problem("spec/over-limit", "headers", None, message))
            return None
        return [pair for name, value in lines for pair in self._header(name, value)]

    def _header(self, name: object, value: object) -> Headers:
        shown, text = _as_text(name), _as_text(value)
        if value is None and shown is not None:
            return []
        if shown is None or text is None:
            message = "must be a string, or a list of strings"
            self._fault(f"headers.{shown or _core.preview(name)}", value, message)
            return []
        return [(shown, text)]

    def _command(self) -> str | None:
        value = self._fields.get("command")
        try:
            items = _items(value)
            if items is not None:
                words = [_word(word) for word in items]
                known = [word for word in words if word is not None]
                text = " ".join(map(_quoted, known)) if len(known) == len(words) else None
            else:
                text = _word(value)
                # A path is a program and no command line, whatever stands in it.
                is_path = not isinstance(value, (str, bytes))
                text = _quoted(text) if text and is_path else text
        except Exception as error:  # noqa: BLE001 (whatever somebody's path raises)
            self._fault("command", None, what_raised(error))
            return None
        if text is None and value is not None:
            message = "must be a string, bytes or a path, or a list of these"
            self._fault("command", value, message)
        return text

    def _errno(self) -> str | None:
        message = "must be the name of an error number, or a number as Linux has them"
        value = self._checked(
            "errno",
            lambda value: isinstance(value, str) or whole_number(value) is not None,
            message,
        )
        number = whole_number(value)
        return cast("str | None", value) if number is None else errno_name(number)

    def _checked(self, field: str, fits: Callable[[object], bool], message: str) -> object:
        value = self._fields.get(field)
        if value is None or fits(value):
            return value
        self._fault(field, value, message)
        return None

    def _fault(self, field: str, value: object, message: str) -> None:
        shown = None if value is None else _core.preview(value)
        self._problems.append(Problem("spec/wrong-type", field, shown, message))


def _beyond(value: object) -> str:
    """Say why a whole number is none that counts."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return ", less than 2^53 either way" if is_whole else ""


def _is_number(value: object) -> bool:
    if isinstance(value, int) and value.bit_length() > _NUMBER_BITS:
        return False
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_body(value: object) -> bool:
    texts = (str, bytes, bytearray, memoryview)
    return isinstance(value, (*texts, Mapping, list, tuple, int, float, _core.Json))


def _items(value: object) -> list[object] | None:
    return list(cast("list[object]", value)) if isinstance(value, (list, tuple)) else None


def _own(name: object, value: object) -> object:
    """Give a value as one of its own type; a signal that has name and number is its name."""
    if isinstance(value, Enum) and name == "signal" and not isinstance(value, str):
        return value.name
    return own_type(value)


def _word(value: object) -> str | None:
    """Give a word of a command line as text; None when it is none."""
    if not isinstance(value, str) and isinstance(value, PathLike):
        value = cast("object", fspath(cast("PathLike[str]", value)))
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str.__str__(value) if isinstance(value, str) else None


def _quoted(word: str) -> str:
    """Write a word of a command line so that it stays one, and ends no command."""
    if word and not any(letter.isspace() or letter in "'\";|&" for letter in word):
        return word
    # A quote after a backslash is not the same quote to everybody.
    return '"' + word.replace('"', "'") + (' "' if word.endswith("\\") else '"')


def _lines(headers: object) -> list[tuple[object, object]] | None:
    """List names with values; of a list of values each is a line. None when they are no pairs."""
    if isinstance(headers, Mapping):
        pairs = [(name, value) for name, value in cast("Mapping[object, object]", headers).items()]
    else:
        items = _items(headers)
        found = [tuple(_items(item) or ()) for item in items or ()]
        if items is None or any(len(pair) != _PAIR for pair in found):
            return None
        pairs = cast("list[tuple[object, object]]", found)
    lines: list[tuple[object, object]] = []
    for name, value in pairs:
        values = _items(value)
        lines += [(name, one) for one in ([value] if values is None else values)]
    return lines


def _as_text(value: object) -> str | None:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    value = own_type(value)
    if isinstance(value, str):
        return value
    if not _is_number(value):
        return None
    return header_text(value) or (float.__repr__(value) if isinstance(value, float) else "")
