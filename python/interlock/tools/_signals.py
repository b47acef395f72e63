"""What is known of an error, read from data: types and ranges checked, spellings made one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from interlock import _core
from interlock._compiled import unknown_fields
from interlock._instant import header_text, read_instant
from interlock.errors import ConfigError, Problem
from interlock.tools._errno import errno_name
from interlock.tools._fields import (
    one_spelling,
    own_type,
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
    fields, problems = _fields(given, place or "signals")
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


def _fields(given: object, place: str) -> tuple[dict[str, object], list[Problem]]:
    if isinstance(given, _core.Json):
        given = given.to_python()
    if not isinstance(given, Mapping):
        message = "must be a mapping of signals"
        raise ConfigError((Problem("spec/wrong-type", place, _core.preview(given), message),))
    try:
        pairs = cast("Mapping[str, object]", given).items()
        plain = {cast("str", own_type(name)): own_type(value) for name, value in pairs}
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
        number = whole_number(value)
        if number is None and value is not None:
            self._fault(field, value, "must be a whole number" + _beyond(value))
        elif number is not None and least is not None and number < least:
            self._fault(field, value, f"must be at least {least}")
        return number

    def text(self, field: str) -> str | None:
        value = self._checked(field, lambda value: isinstance(value, str), "must be a string")
        return cast("str | None", value)

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
        more = (
            self.text("provider"),
            self._body(),
            self._headers(),
            self._command(),
            self._errno(),
            self.text("stdout"),
        )
        return None if all(self._fields.get(field) is None for field in _WITH_PACKS) else more

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
        words = _items(value)
        if words is not None and all(isinstance(word, str) for word in words):
            return " ".join(_quoted(cast("str", word)) for word in words)
        message = "must be a string, or a list of strings"
        fits = self._checked("command", lambda value: isinstance(value, str), message)
        return cast("str | None", fits)

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


def _quoted(word: str) -> str:
    """Write a word of a command line so that it stays one."""
    is_plain = word and not any(letter.isspace() or letter in "'\"" for letter in word)
    return word if is_plain else '"' + word.replace('"', "'") + '"'


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
