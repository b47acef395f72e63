"""Instants in their forms, headers, budgets and sequences that are mostly sound."""

import datetime as dt
import os
import time
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

from hypothesis import strategies as st
from laws.strategies import check_lists

import oracle
from interlock import _core

FURTHEST = 8_640_000_000_000_000
_NEAR = 1_790_154_000_000
_EDGES = (0, _NEAR, FURTHEST, -FURTHEST, -62_167_219_200_000, 253_402_300_800_000)
_FORMS = ("int", "text", "float", "decimal", "datetime")
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)

Wire = dict[str, Any]


@cache
def millis() -> st.SearchStrategy[int]:
    """Epoch milliseconds: often near each other, some at the edges, some anywhere."""
    near = st.builds(lambda edge, step: edge + step, st.sampled_from(_EDGES), st.integers(-3, 3))
    inside = near.filter(lambda ms: abs(ms) <= FURTHEST)
    minute = st.integers(_NEAR - 60_000, _NEAR + 60_000)
    return st.one_of(minute, inside, st.integers(-FURTHEST, FURTHEST))


def formed(ms: int, form: str, zone: int = 0) -> object:
    """An instant in one of its forms."""
    if form == "text":
        return _core.format_instant(ms)
    if form == "datetime" and -62_135_500_000_000 < ms < 253_402_200_000_000:
        offset = dt.timezone(dt.timedelta(minutes=zone))
        return (_EPOCH + dt.timedelta(milliseconds=ms)).astimezone(offset)
    return {"float": float, "decimal": Decimal}.get(form, int)(ms)


@cache
def texts() -> st.SearchStrategy[str]:
    """Texts of instants and what only looks like one."""
    two = st.integers(0, 62).map("{:02}".format)
    date = st.builds(
        "{}-{}-{}".format, st.sampled_from(("2024", "1900", "0000", "+002024")), two, two
    )
    time = st.one_of(
        st.builds("{}:{}".format, two, two),
        st.builds("{}:{}:{}".format, two, two, two),
        st.builds(
            "{}:{}:{}.{}".format, two, two, two, st.from_regex(r"[0-9]{0,10}", fullmatch=True)
        ),
    )
    zone = st.sampled_from(("Z", "z", "", "+02:00", "-0330", "+24:00", "+0060", "+02", " Z", "A"))
    made = st.builds("{}{}{}{}".format, date, st.sampled_from("Tt _"), time, zone)
    return st.one_of(made, st.text("0123456789-+:.TtZz ", max_size=30))


@cache
def headers() -> st.SearchStrategy[str]:
    """Values of a `Retry-After` header in every form, also of days and zones that do not exist."""
    two = st.integers(0, 62).map("{:02}".format)
    day = st.one_of(two, st.integers(0, 31).map("{:2}".format), st.integers(0, 31).map(str))
    month = st.sampled_from(("Jan", "feb", "Apr", "DEC", "Foo", "9"))
    year = st.sampled_from(("2024", "2023", "0026", "24", "76", "77", "99999"))
    time = st.one_of(
        st.builds("{}:{}:{}".format, two, two, two), st.builds("{}:{}".format, two, two)
    )
    weekday = st.sampled_from(("Wed, ", "wed,", "Foo, ", "", "Sunday, ", "Wed ", "SUN "))
    zone = st.sampled_from((*oracle.ZONES, "GMT", "A", "+0530", "-0000", "+2400", "+02:00", ""))
    mail = st.builds("{}{} {} {} {} {}".format, weekday, day, month, year, time, zone)
    rfc_850 = st.builds("{}{}-{}-{} {} {}".format, weekday, day, month, year, time, zone)
    asctime = st.builds("{}{} {} {} {}".format, weekday, month, day, time, year)
    seconds = st.one_of(
        st.integers(-5, 10**30).map(str), st.text("0123456789.e \u0663", max_size=5)
    )
    padded = st.sampled_from(("{}", " {}", "{}\t ", "\n{}", "{}\xa0"))
    forms = st.one_of(mail, mail, rfc_850, asctime, seconds, texts())
    return st.builds(lambda pad, form: pad.format(form), padded, forms)


@st.composite
def deadlines(draw: st.DrawFn) -> Wire:
    """The input of a DeadlineCheck, mostly a sound one, with instants as numbers."""
    given: Wire = {"now": draw(millis())}
    if draw(st.booleans()):
        given["deadline"] = draw(millis())
    if "deadline" not in given or draw(st.booleans()):
        given["budgetMs"] = draw(st.one_of(st.integers(0, 120_000), st.integers(0, FURTHEST)))
    if draw(st.booleans()):
        given["startedAt"] = draw(millis())
    if draw(st.booleans()):
        given["stepCostMs"] = draw(st.one_of(st.integers(1, 60_000), st.just(7.0)))
    if draw(st.booleans()):
        shares = sorted(draw(st.lists(st.floats(0, 1), min_size=2, max_size=2)))
        given["criticalAt"], given["tightAt"] = shares
    return given


@st.composite
def sequences(draw: st.DrawFn, value: object) -> Wire:
    """The input of a SequenceRun: needs point to steps drawn before, the order is another."""
    names = draw(st.lists(st.sampled_from("abcdef\U0001f600"), min_size=1, max_size=6, unique=True))
    steps: list[Wire] = []
    for index, name in enumerate(names):
        step: Wire = {"id": name}
        if index and draw(st.booleans()):
            step["needs"] = draw(st.lists(st.sampled_from(names[:index]), max_size=3))
        if draw(st.integers(0, 2)) == 0:
            step["when"] = draw(check_lists(value))
        if draw(st.booleans()):
            step["match"] = draw(st.sampled_from(("all", "any")))
        if draw(st.integers(0, 3)) == 0:
            step["after"] = draw(millis())
        if draw(st.booleans()):
            step["params"] = draw(st.sampled_from((None, {"url": "/a"}, [1, {}], "x")))
        steps.append(step)
    reported = draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
    cut = draw(st.integers(0, len(reported)))
    given: Wire = {"value": value, "steps": draw(st.permutations(steps)), "now": draw(millis())}
    return {**given, "completed": reported[:cut], "failed": reported[cut:]}


def under_zone(zone: str, answer: Callable[[], object]) -> object:
    """Answer as on a host in this zone."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = zone
    time.tzset()
    try:
        return answer()
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()
