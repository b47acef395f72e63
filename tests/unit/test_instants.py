"""Instants as arguments and headers as they come; the host's zone and locale say nothing."""

import datetime as dt
import json
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from interlock import ConfigError, InputInvalid, _core, deadline_check, parse_retry_after

NINE = 1_790_154_000_000
EAST = dt.timezone(dt.timedelta(hours=2))
CASES = Path(__file__).parents[1] / "conformance" / "retry_after.json"
ZONES = ("UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "Europe/Berlin")


def now_of(value: Any) -> int:
    return deadline_check(now=value, budget_ms=1).now_ms


@pytest.mark.parametrize(
    "value",
    [
        NINE,
        float(NINE),
        NINE + 0.9,
        Decimal(NINE),
        "2026-09-23T09:00:00Z",
        "2026-09-23t11:00+0200",
        dt.datetime(2026, 9, 23, 9, tzinfo=dt.UTC),
        dt.datetime(2026, 9, 23, 11, 0, 0, 999, tzinfo=EAST),
    ],
    ids=repr,
)
def test_every_form_is_one_instant(value: object) -> None:
    assert NINE == now_of(value)


REFUSED = {
    "2026-09-23T09:00:00": "has no offset, and local time differs between machines",
    "2026-09-23": "has no offset",
    "2026-02-30T09:00:00Z": "day that does not exist",
    "2025-02-29T09:00:00Z": "day that does not exist",
    "2026-09-23T24:00:00Z": "hour, minute or second",
    "2026-09-23T09:00:00+24:00": "offset that does not exist",
    "tomorrow": "ISO-8601 text with an offset",
    str(NINE): "ISO-8601 text with an offset",
    8_640_000_000_000_001: "beyond every date",
    Decimal("-1E+400"): "beyond every date",
    float("nan"): "must be finite",
    float("-inf"): "must be finite",
    dt.datetime(2026, 9, 23, 9): "has no offset",  # noqa: DTZ001 (that is the point)
    dt.date(2026, 9, 23): "epoch milliseconds",
    None: "epoch milliseconds",
    True: "epoch milliseconds",
    b"2026-09-23T09:00:00Z": "epoch milliseconds",
    "\ud800": "epoch milliseconds",
}


@pytest.mark.parametrize(("value", "why"), REFUSED.items(), ids=map(repr, REFUSED))
def test_what_is_no_instant_is_refused_with_field_value_and_reason(value: object, why: str) -> None:
    with pytest.raises(InputInvalid) as caught:
        now_of(value)
    (problem,) = caught.value.problems
    assert ("spec/no-instant", "now") == (problem.code, problem.field)
    assert problem.value
    assert why in problem.message


def test_years_beyond_four_digits_are_written_with_six() -> None:
    shown = {
        253_402_300_799_999: "9999-12-31T23:59:59.999Z",
        253_402_300_800_000: "+010000-01-01T00:00:00.000Z",
        -62_167_219_200_000: "0000-01-01T00:00:00.000Z",
        -62_167_219_200_001: "-000001-12-31T23:59:59.999Z",
        8_640_000_000_000_000: "+275760-09-13T00:00:00.000Z",
        -8_640_000_000_000_000: "-271821-04-20T00:00:00.000Z",
    }
    assert shown == {ms: _core.format_instant(ms) for ms in shown}
    assert list(shown) == [_core.parse_instant(text) for text in shown.values()]


@pytest.mark.parametrize("ms", [8_640_000_000_000_001, 10**400, float("nan"), "x", None])
def test_nothing_else_is_written(ms: object) -> None:
    with pytest.raises(ConfigError, match="spec/no-instant"):
        _core.format_instant(ms)


class TestRetryAfter:
    @pytest.mark.parametrize(
        ("raw", "wait_ms"),
        [
            (120, 120_000),
            (0, 0),
            (2.0, 2_000),
            ("\t7 ", 7_000),
            ("007", 7_000),
            ("8640000000000", 8_640_000_000_000_000),
        ],
    )
    def test_seconds(self, raw: object, wait_ms: int) -> None:
        assert (wait_ms, None) == parse_retry_after(raw)

    @pytest.mark.parametrize(
        "raw",
        [
            *(None, True, -1, 1.5, float("nan"), float("inf"), 10**400, b"7", [7], ""),
            *("-7", "+7", "1.5", "7s", "7,7", "8640000000001", "9" * 5_000, "\u0667", "\ud800"),
            *("Wed, 23 Sep 2026 10:00:00 CET", "Wed, 23 Sep 2026 10:00:00 GMT (noon)"),
            *("Wednesday, 23 Sep 2026 10:00:00 GMT", "Wednesday, 23-Sep-2026 10:00:00 GMT"),
            *("Wednesday, 23-Sep-26 10:00:00 UTC", "Wed, 23 Sep 2026 10:00:00 +2400"),
        ],
        ids=lambda raw: repr(raw)[:40],
    )
    def test_what_is_not_certain_is_not_read(self, raw: object) -> None:
        assert (None, None) == parse_retry_after(raw, now=NINE)

    @pytest.mark.parametrize("form", ["Wed, 23 Sep 2026 09:00:60 GMT", "2026-09-23T09:00:60Z"])
    def test_second_60_is_the_next_second(self, form: str) -> None:
        assert (60_000, "2026-09-23T09:01:00.000Z") == parse_retry_after(form, now=NINE)

    def test_now_in_every_form(self) -> None:
        date = "Wed, 23 Sep 2026 10:00:00 GMT"
        for now in (NINE, "2026-09-23T09:00:00Z", dt.datetime(2026, 9, 23, 11, tzinfo=EAST)):
            assert 3_600_000 == parse_retry_after(date, now=now).wait_ms
        with pytest.raises(InputInvalid, match="now"):
            parse_retry_after(date, now="noon")

    def test_the_wire_form(self) -> None:
        assert '{"waitMs":5000,"retryAt":null}' == parse_retry_after("5").to_json()


SCRIPT = """\
import json, locale, sys
try:
    locale.setlocale(locale.LC_ALL, "")
except locale.Error:
    pass
from interlock import parse_retry_after
cases = [case["input"] for case in json.load(open(sys.argv[1], encoding="utf-8"))]
print(json.dumps([parse_retry_after(c["retryAfter"], c.get("now")) for c in cases]))
"""


def test_no_zone_and_no_locale_changes_an_answer() -> None:
    answers = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(CASES)],
            capture_output=True,
            check=True,
            env={**os.environ, "TZ": zone, "LC_ALL": tongue},
        ).stdout
        for zone in ZONES
        for tongue in ("C", "de_DE.UTF-8")
    }
    assert 1 == len(answers)
    assert 68 == len(json.loads(answers.pop()))
