"""Instants, waits and deadlines by regular expressions and the standard calendar."""

import datetime as dt
import math
import re
from collections.abc import Mapping
from fractions import Fraction

from .operations import short
from .values import exact, is_finite_number

FURTHEST = 8_640_000_000_000_000
CYCLE_YEARS, CYCLE_DAYS = 400, 146_097
EPOCH_DAY = dt.date(1970, 1, 1).toordinal()
DAY_MS = 86_400_000

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
LONG_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
ZONES = {
    **dict.fromkeys(("gmt", "utc", "ut", "z"), 0),
    "edt": -4,
    "est": -5,
    "cdt": -5,
    "cst": -6,
    "mdt": -6,
    "mst": -7,
    "pdt": -7,
    "pst": -8,
}

TIME = r"(?P<hour>\d\d):(?P<minute>\d\d)"
SECONDS = r":(?P<second>\d\d)"
NAME = f"(?P<name>{'|'.join(MONTHS)})"
SHORT_DAY = f"(?:{'|'.join(day[:3] for day in LONG_DAYS)})"
ISO = re.compile(
    rf"(?P<year>\d{{4}}|[+-]\d{{6}})-(?P<month>\d\d)-(?P<day>\d\d)[t ]{TIME}"
    rf"(?:{SECONDS}(?:\.(?P<fraction>\d{{1,9}}))?)?(?P<zone>z|[+-]\d\d:?\d\d)?",
    re.ASCII,
)
MAIL = re.compile(
    rf"(?:{SHORT_DAY},[ \t]*)?(?P<day>\d\d?)[ \t]+{NAME}[ \t]+(?P<year>\d{{4}})[ \t]+"
    rf"{TIME}(?:{SECONDS})?[ \t]+(?P<zone>[+-]\d{{4}}|{'|'.join(ZONES)})",
    re.ASCII,
)
RFC_850 = re.compile(
    rf"(?:{'|'.join(LONG_DAYS)}), (?P<day>\d\d)-{NAME}-(?P<short_year>\d\d) {TIME}{SECONDS} gmt",
    re.ASCII,
)
ASCTIME = re.compile(
    rf"{SHORT_DAY} {NAME} (?P<day>\d\d| \d) {TIME}{SECONDS} (?P<year>\d{{4}})", re.ASCII
)

Json = Mapping[str, object]


def day_number(year: int, month: int, day: int) -> int:
    """Days from 1970; a day that does not exist is refused by the standard calendar."""
    cycles, within = divmod(year - 2000, CYCLE_YEARS)
    return dt.date(2000 + within, month, day).toordinal() - EPOCH_DAY + cycles * CYCLE_DAYS


def offset_minutes(zone: str | None) -> int:
    """Minutes east of UTC."""
    if zone is None or zone in ZONES:
        return 60 * ZONES[zone or "gmt"]
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    if hours > 23 or minutes > 59:
        raise ValueError(f"there is no offset {zone}")
    return (hours * 60 + minutes) * (-1 if zone[0] == "-" else 1)


def moment(found: re.Match[str], now: int | None = None) -> int:
    """Epoch milliseconds of what one of the forms matched."""
    part = {name: text for name, text in found.groupdict().items() if text is not None}
    if "short_year" in part:
        assert now is not None
        this_year = int(write(now)[: -len("-09-23T09:00:00.000Z")])
        year = this_year - this_year % 100 + int(part["short_year"])
        year -= 100 if year > this_year + 50 else 0
    else:
        year = int(part["year"])
    month = MONTHS.index(part["name"]) + 1 if "name" in part else int(part["month"])
    hour, minute, second = (int(part.get(name, "0")) for name in ("hour", "minute", "second"))
    if hour > 23 or minute > 59 or second > 60:
        raise ValueError("there is no such time")
    whole = day_number(year, month, int(part["day"])) * 86_400 + hour * 3_600 + minute * 60 + second
    millis = int(part.get("fraction", "").ljust(3, "0")[:3])
    return checked((whole - 60 * offset_minutes(part.get("zone"))) * 1_000 + millis)


def checked(millis: int) -> int:
    """Refuse what is beyond every date."""
    if abs(millis) > FURTHEST:
        raise ValueError(f"{millis} is beyond every date")
    return millis


def read(value: object, field: str) -> int:
    """Epoch milliseconds of a number of them or of a text with an offset."""
    try:
        if is_finite_number(value):
            if abs(exact(value)) > FURTHEST:
                raise ValueError("beyond every date")
            return math.floor(exact(value))
        found = ISO.fullmatch(value.lower()) if isinstance(value, str) else None
        if found is None or found["zone"] is None or found["year"] == "-000000":
            raise ValueError("no instant with an offset")
        return moment(found)
    except ValueError as error:
        raise ValueError(f"{field}: {short(value)}: {error}") from error


def write(millis: int) -> str:
    """The text of an instant."""
    days, rest = divmod(millis, DAY_MS)
    cycles, within = divmod(days + EPOCH_DAY - dt.date(2000, 1, 1).toordinal(), CYCLE_DAYS)
    date = dt.date.fromordinal(dt.date(2000, 1, 1).toordinal() + within)
    year = date.year + cycles * CYCLE_YEARS
    time = (dt.datetime(2000, 1, 1) + dt.timedelta(milliseconds=rest)).time()  # noqa: DTZ001
    shown = f"{year:04}" if 0 <= year <= 9999 else f"{year:+07}"
    return f"{shown}-{date:%m-%d}T{time:%H:%M:%S}.{rest % 1_000:03}Z"


def retry_after(given: Json) -> dict[str, object]:
    """What a Retry-After header asks for."""
    now = None if given.get("now") is None else read(given["now"], "now")
    text = str(given["retryAfter"]).strip(" \t\r\n\f").lower()
    if re.fullmatch(r"[0-9]+", text):
        wait = int(text) * 1_000 if len(text.lstrip("0")) < 20 else FURTHEST + 1
        return {"waitMs": wait if wait <= FURTHEST else None, "retryAt": None}
    until = None
    for form in (ISO, MAIL, RFC_850, ASCTIME):
        found = form.fullmatch(text)
        if found is None or (form is RFC_850 and now is None):
            continue
        if form is ISO and (found["zone"] is None or found["year"] == "-000000"):
            continue
        try:
            until = moment(found, now)
        except ValueError:
            continue
    wait_ms = None if until is None or now is None else max(0, until - now)
    return {"waitMs": wait_ms, "retryAt": None if until is None else write(until)}


def deadline_check(given: Json) -> dict[str, object]:
    """How much time is left."""
    now = read(given.get("now"), "now")
    start = read(given.get("startedAt", now), "startedAt")
    cost = None
    if "stepCostMs" in given:
        cost = whole(given["stepCostMs"], "stepCostMs", 1)
    tight, critical = share(given, "tightAt", "0.5"), share(given, "criticalAt", "0.2")
    if critical > tight:
        raise ValueError("criticalAt is above tightAt")
    budget = whole(given["budgetMs"], "budgetMs", 0) if "budgetMs" in given else None
    if "deadline" in given:
        end = read(given["deadline"], "deadline")
    elif budget is not None:
        end = checked(start + budget)
    else:
        raise ValueError("deadline or budgetMs is needed")
    remaining, total = end - now, max(0, end - start)
    left = min(Fraction(1), max(Fraction(0), Fraction(remaining, total))) if total else Fraction(0)
    fraction = left.numerator / left.denominator
    phase = "critical" if fraction <= critical else "tight" if fraction <= tight else "ample"
    return {
        "nowMs": now,
        "deadlineMs": end,
        "remainingMs": remaining,
        "elapsedMs": now - start,
        "totalMs": total,
        "fractionRemaining": fraction,
        "phase": phase if remaining > 0 else "expired",
        "expired": remaining <= 0,
        "fits": None if cost is None else remaining > 0 and remaining >= cost,
        "stepsRemaining": None if cost is None else math.floor(Fraction(max(0, remaining), cost)),
        "deadline": write(end),
    }


def whole(value: object, field: str, least: int) -> int:
    """A whole number of milliseconds."""
    if not is_finite_number(value) or exact(value) != math.floor(exact(value)):
        raise ValueError(f"{field}: {short(value)} is no whole number")
    if not least <= exact(value) <= 2 * FURTHEST:
        raise ValueError(f"{field}: {short(value)} is out of bounds")
    return int(exact(value))


def share(given: Json, field: str, default: str) -> float:
    """A number from 0 to 1."""
    value = given.get(field, float(default))
    if not is_finite_number(value) or not 0 <= exact(value) <= 1:
        raise ValueError(f"{field}: {short(value)} is not from 0 to 1")
    return float(exact(value))
