"""The reference itself answers every conformance case, and some finer points beside."""

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from . import patterns
from .canonical import canonical, digest
from .checks import evaluate, report, verdict
from .compare import matches_expectation, missing_mentions
from .errors import classify
from .formats import check_format
from .instants import deadline_check, retry_after
from .more_tools import consensus_vote, lead_assign, rule_score, stall_detect
from .paths import PathError, parse, resolve
from .previews import preview
from .sequences import sequence_run
from .tools import branch, decision_table
from .values import equal, is_too_deep, length, type_name

Json = Mapping[str, Any]
CASES = Path(__file__).parent.parent / "conformance"


def run_path(given: Json) -> dict[str, object]:
    found, value, missing_at = resolve(given["value"], given["path"])
    answer: dict[str, object] = {"found": found, "missingAt": missing_at}
    return answer | ({"value": value} if found else {})


RUNNERS: dict[str, Callable[[Json], dict[str, object]]] = {
    "checks": lambda given: report(given["checks"], given["value"]),
    "paths": run_path,
    "formats": lambda given: {"valid": check_format(given["value"], given["format"])},
    "branch": branch,
    "decision_table": decision_table,
    "consensus_vote": consensus_vote,
    "stall_detect": stall_detect,
    "rule_score": rule_score,
    "lead_assign": lead_assign,
    "retry_after": retry_after,
    "deadline_check": deadline_check,
    "sequence_run": sequence_run,
    "error_classify": classify,
}


def load(name: str) -> list[Json]:
    file = CASES / f"{name}.json"
    cases: list[Json] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    return cases


LOADED = [(name, case) for name in RUNNERS for case in load(name)]


@pytest.mark.parametrize("name", RUNNERS)
def test_the_cases_are_there(name: str) -> None:
    assert load(name), f"no cases in {CASES / name}.json"


@pytest.mark.parametrize(("name", "case"), LOADED, ids=[case["id"] for _, case in LOADED])
def test_case(name: str, case: Json) -> None:
    if "expect_error" in case:
        with pytest.raises(ValueError) as caught:
            RUNNERS[name](case["input"])
        assert missing_mentions(case["expect_error"]["mentions"], str(caught.value)) == []
    else:
        assert matches_expectation(case["expect"], RUNNERS[name](case["input"])) == []


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (0.1, Decimal("0.1"), True),
        (2**53, float(2**53), True),
        (2**53 + 1, float(2**53), False),
        (2**70, float(2**70), False),
        (1180591620717411300000, float(2**70), True),
        (-0.0, 0, True),
        (float("nan"), float("nan"), False),
        (float("inf"), Decimal("Infinity"), True),
        (Decimal("sNaN"), Decimal("sNaN"), False),
        (True, 1, False),
        ((1, 2), [1.0, 2], True),
        ("\ud83d\ude00", "\U0001f600", True),
        ("\ud83d", "\U0001f600", False),
        ({"\ud83d\ude00": 1}, {"\U0001f600": 1}, True),
    ],
)
def test_equality(left: object, right: object, same: bool) -> None:
    assert equal(left, right) is same
    assert equal(right, left) is same


def test_kinds_lengths_depth() -> None:
    assert [type_name(x) for x in (3, 3.0, Decimal("3.00"), 3.5, 1e300)] == [
        *("integer", "integer", "integer", "number", "integer")
    ]
    assert type_name(float("inf")) == "number"
    assert type_name({1, 2}) == "opaque"
    assert length("\ud83d\ude00\ud83d") == 2
    nested: object = 1
    for _ in range(128):
        nested = [nested]
    assert not is_too_deep(nested)
    assert is_too_deep([nested])
    assert evaluate({"op": "equals", "expected": nested}, nested) == "ok"
    assert evaluate({"op": "notEquals", "expected": {"a": nested}}, 1) == "undetermined"


def test_path_limits() -> None:
    assert parse("a." * 64) == ["a"] * 64
    assert parse('[\'it\\\'s\']."q".[""]') == ["it's", '"q"', ""]
    for path in ("a." * 65, "a" * 1025, "a]b", '["a', '["a"', "[1", '["a"x]'):
        with pytest.raises(PathError):
            parse(path)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e21, "1e+21"),
        (10**21, "1e+21"),
        (10**21 + 1, "1000000000000000000001"),
        (Decimal("1.23E+402"), "123" + "0" * 74 + "..."),
        (1e-7, "1e-7"),
        (0.000001, "0.000001"),
        (-0.0, "0"),
        (Decimal("1.50"), "1.5"),
        (Decimal("0.10000000000000000000001"), "0.10000000000000000000001"),
        (Decimal("-12E-9"), "-1.2e-8"),
        (float("-inf"), "-Infinity"),
        ("\ud800\x01\x7f\u2028\t", '"\\ud800\\u0001\x7f\u2028\\t"'),
        ("x" * 78, '"' + "x" * 78 + '"'),
        ("x" * 79, '"' + "x" * 76 + "..."),
    ],
)
def test_previews(value: object, text: str) -> None:
    assert preview(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (Decimal(100), "100"),
        (10**21, "1e+21"),
        (Decimal("1E+21"), "1e+21"),
        (10**21 + 1, "1000000000000000000001"),
        (2**70, "1180591620717411303424"),
        (float(2**70), "1.1805916207174113e+21"),
        (10**400, "1" + "0" * 400),
        (2**53 + 1, "9007199254740993"),
        (Decimal("1E-400"), "1e-400"),
        (-0.0, "0"),
        ({"\U0001f600": 1, "\ufb33": 2, "b": [None, True]}, None),
    ],
)
def test_canonical(value: object, text: str | None) -> None:
    if text is None:
        text = '{"b":[null,true],"\U0001f600":1,"\ufb33":2}'
    assert canonical(value) == text
    assert len(digest(value)) == 64


@pytest.mark.parametrize("value", [float("nan"), Decimal("-Infinity"), "\udc00", {1: 2}, {1, 2}])
def test_no_canonical_form(value: object) -> None:
    with pytest.raises(ValueError):
        canonical([value])


def test_leap_seconds() -> None:
    assert check_format("23:59:60Z", "time")
    assert check_format("00:59:60+01:00", "time")
    assert check_format("1998-12-31t15:59:60.123-08:00", "date-time")
    assert not check_format("23:59:60+01:00", "time")
    assert not check_format("22:59:60Z", "time")


def test_patterns() -> None:
    assert patterns.test("^..$", "", "\U0001f600")
    assert patterns.test("(?<=\\ud83d)\\ude00", "", "\U0001f600")
    assert patterns.test("^$", "m", "a\r\nb")
    assert not patterns.test("a|b", "y", "xa")
    assert patterns.test("(?i:A)b", "", "ab")
    assert not patterns.test("(?:a{1000}){99999999999}", "", "a" * 50)
    assert patterns.test("^(?:a*)*$", "", "a" * 200)
    patterns.check_syntax("(a)\\1")
    with pytest.raises(patterns.PatternUnsupported):
        patterns.test("(a)\\1", "", "aa")
    with pytest.raises(patterns.PatternInvalid):
        patterns.test("a", "gg", "a")


def test_three_values() -> None:
    back = {"op": "matches", "expected": "(a)\\1", "message": "own words"}
    good = {"op": "exists"}
    bad = {"op": "notExists"}
    assert [verdict([back, good, bad], "a", match) for match in ("all", "any")] == [
        "fail",
        "pass",
    ]
    assert verdict([back, good], "a", "all") == "undetermined"
    assert verdict([back, bad], "a", "any") == "undetermined"
    whole = report([back], "a")
    assert (whole["failed"], whole["undetermined"]) == (1, 1)
    assert "own words" not in str(whole)
    arms = [{"name": "x", "when": [back]}, {"name": "y", "when": [good]}]
    answer = branch({"value": "a", "arms": arms, "otherwise": {"name": "z"}})
    assert answer["matched"] is False
    assert "x" in str(answer["undetermined"])
    rows = [
        {"id": "low", "when": [back], "priority": 1, "outputs": 1},
        {"id": "high", "when": [good], "priority": 2, "outputs": None},
    ]
    for policy, decided in (("first", False), ("priority", True), ("collect", False)):
        table = decision_table({"value": "a", "policy": policy, "rows": rows})
        assert table["ok"] is decided
        assert ("undetermined" in table) is not decided


def test_comparison_finds_differences() -> None:
    expect = {
        "results": [{"ok": True}],
        "reason_mentions": ["a"],
        "absent": ["x"],
        "n": 1,
    }
    assert (
        matches_expectation(expect, {"results": [{"ok": True, "z": 1}], "reason": "ba", "n": 1.0})
        == []
    )
    assert len(matches_expectation(expect, {"results": [], "reason": "b", "x": 1, "n": True})) == 4
