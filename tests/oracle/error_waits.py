"""How long a server asks to wait: Retry-After, its relatives in headers and bodies, reset times."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from .error_packs import Evidence
from .instants import FURTHEST, read, retry_after, write
from .number_text import number_text
from .values import is_finite_number

MAX_EPOCH_SECONDS = 8_640_000_000_000
EPOCH_FROM, EPOCH_MS_FROM = 1_000_000_000, 1_000_000_000_000
SECONDS_FIELDS = (
    *("retry_after", "retryAfter", "retry_after_seconds", "retryAfterSeconds"),
    "resets_in_seconds",
)
MILLIS_FIELDS = ("retry_after_ms", "retryAfterMs")
MILLIS_HEADERS = ("retry-after-ms", "x-ms-retry-after-ms")
RESETS = (
    *((f"x-ratelimit-reset-{w}", f"x-ratelimit-remaining-{w}") for w in ("requests", "tokens")),
    *(
        (f"anthropic-ratelimit-{w}-reset", f"anthropic-ratelimit-{w}-remaining")
        for w in ("requests", "tokens", "input-tokens", "output-tokens")
    ),
    ("anthropic-ratelimit-unified-reset", "anthropic-ratelimit-unified-remaining"),
    ("x-ratelimit-reset-after", "x-ratelimit-remaining"),
    ("x-ratelimit-reset", "x-ratelimit-remaining"),
    ("x-rate-limit-reset", "x-rate-limit-remaining"),
    ("ratelimit-reset", "ratelimit-remaining"),
)
NUMBER = r"[0-9]+(?:\.[0-9]+)?"
DURATION = re.compile(
    rf"(?=[0-9])(?:({NUMBER})d)?(?:({NUMBER})h)?(?:({NUMBER})m(?!s))?(?:({NUMBER})s)?(?:({NUMBER})ms)?"
)
UNITS_MS = (86_400_000, 3_600_000, 60_000, 1_000, 1)

Json = Mapping[str, Any]


class Wait(NamedTuple):
    """Milliseconds from now, or an instant, or both."""

    ms: int | None = None
    at: int | None = None

    @property
    def known(self) -> bool:
        """Whether anything was read."""
        return self.ms is not None or self.at is not None


def named_wait(signals: Json, known: Evidence) -> Wait:
    """Give the first hint that can be read; the caller's own outranks headers, they the body."""
    now = instant(signals)
    for found in hints(signals, known, now):
        if found.known:
            return found
    return Wait()


def hints(signals: Json, known: Evidence, now: int | None) -> Iterator[Wait]:
    """Give every hint in the order of rank."""
    if signals.get("retryAfter") is not None:
        yield header_wait(header_text(signals["retryAfter"]), now)
    for name in MILLIS_HEADERS:
        yield Wait(scaled(number(known.headers.get(name)), 1))
    if "retry-after" in known.headers:
        yield header_wait(known.headers["retry-after"], now)
    readers: tuple[tuple[tuple[str, ...], Callable[[Any], Wait]], ...] = (
        (("retryDelay",), lambda value: Wait(proto_duration(value))),
        (SECONDS_FIELDS, lambda value: Wait(scaled(number(value), 1_000))),
        (MILLIS_FIELDS, lambda value: Wait(scaled(number(value), 1))),
        (("resets_at",), lambda value: epoch(number(value), now)),
    )
    for names, reader in readers:
        for name, value in known.fields:
            if name in names:
                yield reader(value)


def reset_wait(signals: Json, known: Evidence) -> Wait:
    """Give the longest wait that the reset headers name; one whose allowance is left is none."""
    now, headers = instant(signals), known.headers
    found = [
        reset(headers[name], now)
        for name, twin in RESETS
        if name in headers and number(headers.get(twin, "0")) == 0
    ]
    timed = [wait for wait in found if wait.ms is not None]
    if timed:
        return max(timed, key=lambda wait: wait.ms or 0)
    return max(
        (wait for wait in found if wait.known), key=lambda wait: wait.at or 0, default=Wait()
    )


def instant(signals: Json) -> int | None:
    """The present instant, when it is given."""
    return None if signals.get("now") is None else read(signals["now"], "now")


def header_text(value: Any) -> str:
    """Write a number as a header would hold it: in digits."""
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value)


def header_wait(text: str, now: int | None) -> Wait:
    """Read a `Retry-After` value."""
    answer = retry_after({"retryAfter": text, "now": now})
    wait, at = answer["waitMs"], answer["retryAt"]
    return Wait(
        wait if isinstance(wait, int) else None, None if at is None else read(at, "retryAt")
    )


def number(value: Any) -> Decimal | None:
    """Read a number that is not negative, or its text."""
    if isinstance(value, str):
        text = value.strip(" \t\r\n")
        return Decimal(text) if re.fullmatch(NUMBER, text) else None
    return number(number_text(value)) if is_finite_number(value) else None


def scaled(amount: Decimal | None, unit_ms: int) -> int | None:
    """Milliseconds of an amount in some unit."""
    if amount is None or amount > FURTHEST:
        return None
    return rounded(Fraction(amount) * unit_ms)


def rounded(millis: Fraction) -> int | None:
    """Whole milliseconds, never fewer; nothing for more than every date."""
    return math.ceil(millis) if millis <= FURTHEST else None


def proto_duration(value: Any) -> int | None:
    """Read the JSON form of a protobuf duration: decimal seconds with `s`."""
    text = value if isinstance(value, str) else ""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)s", text)
    return scaled(Decimal(found[1]), 1_000) if found else None


def duration(text: str) -> int | None:
    """Read a duration such as `1h2m3.5s`."""
    found = DURATION.fullmatch(text)
    if found is None:
        return None
    parts = zip(found.groups(default="0"), UNITS_MS, strict=True)
    return rounded(sum((Fraction(part) * unit for part, unit in parts), Fraction(0)))


def epoch(seconds: Decimal | None, now: int | None) -> Wait:
    """Read seconds from 1970."""
    if seconds is None or seconds > MAX_EPOCH_SECONDS:
        return Wait()
    return until(math.ceil(Fraction(seconds) * 1_000), now)


def reset(text: str, now: int | None) -> Wait:
    """Read a number (of seconds, or of seconds or milliseconds from 1970), a duration, a date."""
    amount = number(text)
    if amount is not None and amount >= EPOCH_MS_FROM:
        return epoch(amount / 1_000, now)
    if amount is not None and amount >= EPOCH_FROM:
        return epoch(amount, now)
    if amount is not None:
        return Wait(scaled(amount, 1_000))
    length = duration(text)
    return Wait(length) if length is not None else header_wait(text, now)


def until(at: int | None, now: int | None) -> Wait:
    """The wait until an instant; a past one is none."""
    if at is None or now is None:
        return Wait(None, at)
    return Wait(max(0, at - now), at)


def shown(wait: Wait) -> str | None:
    """The instant as it is reported."""
    return None if wait.at is None else write(wait.at)
