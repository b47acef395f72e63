"""What is known of an error, read from data: types and ranges checked, waits worked out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from interlock import _core
from interlock._compiled import unknown_fields
from interlock._instant import read_instant
from interlock.errors import ConfigError, Problem
from interlock.tools._fields import one_spelling

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
)
"""The signals by their names in data."""


class Signals(NamedTuple):
    """The signals, checked."""

    status: int | None
    exit_code: int | None
    signal: str | None
    code: str | None
    message: str | None
    wait_ms: int | None
    retry_at: str | None
    exhausted: bool


def read_signals(given: Mapping[str, object]) -> Signals:
    """Check signals; one that is None is the same as one left out.

    Raises:
        ConfigError: With every signal of a wrong type or out of range, and every unknown field.
    """
    fields, problems = one_spelling(given, SIGNALS)
    problems += unknown_fields(fields, SIGNALS)
    whole = _reader(fields, problems, _is_whole, "must be a whole number")
    text = _reader(fields, problems, lambda value: isinstance(value, str), "must be a string")
    attempt, most = whole("attempt"), whole("maxAttempts")
    if isinstance(most, int) and most < 1:
        shown = _core.preview(most)
        problems.append(Problem("spec/wrong-type", "maxAttempts", shown, "must be at least 1"))
    now = None
    if fields.get("now") is not None:
        now, found = read_instant(fields["now"], "now")
        problems += found
    raw = fields.get("retryAfter")
    if raw is not None and not isinstance(raw, str) and not _is_number(raw):
        message = "must be a string or a number of seconds"
        problems.append(Problem("spec/wrong-type", "retryAfter", _core.preview(raw), message))
        raw = None
    signals = (whole("status"), whole("exitCode"), text("signal"), text("code"), text("message"))
    if problems:
        raise ConfigError(tuple(problems))
    wait_ms, at_ms = (None, None) if raw is None else _core.retry_after(str(raw), now)
    status, exit_code, signal, code, message_text = signals
    return Signals(
        cast("int | None", status),
        cast("int | None", exit_code),
        cast("str | None", signal),
        cast("str | None", code),
        cast("str | None", message_text),
        wait_ms,
        None if at_ms is None else _core.format_instant(at_ms),
        isinstance(attempt, int) and isinstance(most, int) and attempt >= most,
    )


def _reader(
    fields: Mapping[str, object],
    problems: list[Problem],
    fits: Callable[[object], bool],
    message: str,
) -> Callable[[str], object]:
    def read(field: str) -> object:
        value = fields.get(field)
        if value is None or fits(value):
            return value
        problems.append(Problem("spec/wrong-type", field, _core.preview(value), message))
        return None

    return read


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
