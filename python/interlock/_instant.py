"""Instants as arguments: epoch milliseconds, text with an offset, aware `datetime` objects."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from interlock import _core
from interlock._wire import to_json
from interlock.errors import ConfigError, InputInvalid, Problem

if TYPE_CHECKING:
    from interlock.typing import JSON, Instant

__all__ = [
    "FURTHEST",
    "RetryAfter",
    "header_text",
    "parse_retry_after",
    "read_instant",
    "written",
]

FURTHEST = 8_640_000_000_000_000
"""The most milliseconds from 1970, either way (ECMA-262, time values)."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def read_instant(value: object, field: str) -> tuple[int, tuple[Problem, ...]]:
    """Read an instant in any of its forms as epoch milliseconds, or say what is wrong with it."""
    try:
        plain = written(value)
        return _core.parse_instant(plain, field), ()
    except ConfigError as error:
        return 0, error.problems


def written(value: object) -> object:
    """Write a `datetime` as text; a naive one as text without an offset. All else is as it was."""
    if not isinstance(value, datetime):
        return value
    if value.utcoffset() is None:
        return value.isoformat()
    return _core.format_instant((value - _EPOCH) // _MILLISECOND)


class RetryAfter(NamedTuple):
    """What a `Retry-After` header asks for.

    Attributes:
        wait_ms: Milliseconds to wait, never negative; None when that is not known.
        retry_at: The instant of a date as `YYYY-MM-DDTHH:MM:SS.mmmZ`; None where none was read.
    """

    wait_ms: int | None
    retry_at: str | None

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        return {"waitMs": self.wait_ms, "retryAt": self.retry_at}

    def to_json(self) -> str:
        """Return the wire form as one line of JSON."""
        return to_json(self.to_dict())


def parse_retry_after(raw: object, now: Instant | None = None) -> RetryAfter:
    """Read the value of a `Retry-After` header.

    Digits are seconds. A date is read only when its instant is certain. What is not is no error:
    servers send all sorts of things, and no wait is better than an invented one.

    Args:
        raw: The value as it was sent, white space around it ignored; a whole number is seconds.
        now: The present instant, for the wait until a date; without it a date stays a date, and
            one with a two-digit year is not read.

    Returns:
        Seconds give `wait_ms`; a date gives `retry_at`, and with *now* also `wait_ms`, which is 0
        for a date that is past. Both are None for all else: a date without a zone or that does not
        exist, prose, a fraction, a negative number, seconds beyond every date.

    Raises:
        InputInvalid: When *now* is no instant.

    Example:
        >>> from interlock import parse_retry_after
        >>> parse_retry_after("120").wait_ms
        120000
        >>> parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT", now="2015-10-21T07:27:15Z")
        RetryAfter(wait_ms=45000, retry_at='2015-10-21T07:28:00.000Z')

    Source:
        RFC 9110 sections 10.2.3 and 5.6.7 (seconds; the three HTTP dates), RFC 5322 sections 3.3
        and 4.3 (mail dates; zones), RFC 3339 section 5.6 (ISO-8601 with an offset).
    """
    moment = None
    if now is not None:
        moment, problems = read_instant(now, "now")
        if problems:
            raise InputInvalid(problems)
    wait, until = _core.retry_after(header_text(raw), moment)
    return RetryAfter(wait, None if until is None else _core.format_instant(until))


def header_text(raw: object) -> str:
    """Give a header as text: a whole number in its digits, nothing for what no header holds."""
    if isinstance(raw, (int, float)) and not isinstance(raw, bool):
        whole = 0 <= raw <= FURTHEST and raw == int(raw)
        return str(int(raw)) if whole else ""
    return raw if isinstance(raw, str) else ""
