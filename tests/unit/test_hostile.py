"""Values and specs that nobody should write: an answer or an error of our own, never a crash."""

import math
import pickle
from decimal import Decimal
from typing import Any

import pytest

from interlock import (
    Branch,
    Checks,
    ConfigError,
    DecisionTable,
    Json,
    Pattern,
    PatternInvalid,
    SpecInvalid,
    canonical,
    digest,
    resolve,
)

HALF = "\ud800"
HUGE = 10**5000
DEPTH = 10_000
EXISTS = {"op": "exists"}


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


def _endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def _pickled(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))  # noqa: S301  # made on the spot


def _verdict(value: object, op: str, *expected: object, path: str = "") -> str:
    check: dict[str, object] = {"op": op, "path": path}
    if expected:
        check["expected"] = expected[0]
    return Checks([check]).verdict(value)


DEEP = [_nested(DEPTH), Json("[" * DEPTH + "]" * DEPTH)]
BACK_ENDS = ["objects", "json"]


@pytest.mark.parametrize("deep", DEEP, ids=BACK_ENDS)
def test_a_deep_value_is_answered_where_its_depth_is_not_asked_for(deep: object) -> None:
    assert "pass" == _verdict(deep, "isType", "array")
    assert "pass" == _verdict(deep, "hasLength", 1)
    assert "fail" == _verdict(deep, "equals", [])
    assert "pass" == _verdict(deep, "exists", path="[0]" * 64)
    assert "[" * 77 + "..." == Checks([{"op": "isEmpty"}]).report(deep).results[0].actual


@pytest.mark.parametrize("deep", DEEP, ids=BACK_ENDS)
def test_a_deep_value_has_no_canonical_form(deep: object) -> None:
    with pytest.raises(ConfigError, match="nested deeper than the limit of 128"):
        canonical(deep)
    with pytest.raises(ConfigError, match="nested deeper than the limit of 128"):
        digest(deep)


def test_deep_text_is_not_made_python_data() -> None:
    with pytest.raises(ConfigError, match="nested deeper than the limit of 200"):
        Json("[" * DEPTH + "]" * DEPTH).to_python()
    assert _nested(200) == Json("[" * 200 + "]" * 200).to_python()


def test_a_value_that_holds_itself_is_answered() -> None:
    endless = _endless()
    assert "fail" == _verdict(endless, "equals", [[]])
    assert "fail" == _verdict(endless, "contains", 1)
    assert "pass" == _verdict(endless, "hasLength", 1)
    assert "pass" == _verdict({"a": endless}, "exists", path="a" + "[0]" * 63)
    with pytest.raises(ConfigError, match="128"):
        canonical(endless)


@pytest.mark.parametrize(
    "operand", [_endless(), _nested(DEPTH), {"a": _endless()}], ids=["endless", "deep", "inside"]
)
def test_an_operand_without_end_is_refused_by_its_field(operand: object) -> None:
    with pytest.raises(SpecInvalid) as caught:
        Checks([{"op": "equals", "expected": operand}])
    assert caught.value.problems[0].field.startswith("checks[0].expected")
    assert "limit of 200" in caught.value.problems[0].message


def test_an_operand_over_128_levels_is_undetermined() -> None:
    for value in (1, _nested(129), [[1]]):
        assert "undetermined" == _verdict(value, "equals", _nested(129))
    assert "pass" == _verdict(_nested(128), "equals", _nested(128))
    with pytest.raises(SpecInvalid, match="limit of 128"):
        Checks([{"op": "equals", "expected": _nested(129)}], strict=True)


def test_100_megabytes_of_text() -> None:
    text = "x" * 100_000_000
    assert "pass" == _verdict(text, "endsWith", "xx")
    assert "fail" == _verdict(text, "contains", "y")
    assert "pass" == _verdict(text, "hasLength", len(text))
    assert "undetermined" == _verdict(text, "matches", "y")
    result = Checks([{"op": "equals", "expected": 1}]).report({"a": text}).results[0]
    assert 80 == len(result.actual or "")
    unread = Checks([{"op": "notMatches", "expected": "y"}]).report(text).results[0]
    assert (True, True) == (unread.undetermined, "100000000 bytes" in unread.reason)
    assert "limit of 8388608" in unread.reason


@pytest.mark.parametrize(
    ("value", "op", "expected", "answer"),
    [
        ({1: 2}, "hasLength", [1], "pass"),
        ({1: 2}, "contains", ["1"], "fail"),
        ({None: 2, "a": 1}, "equals", [{"a": 1}], "fail"),
        ({(1, 2): 3}, "isNotEmpty", [], "pass"),
        (math.nan, "equals", [math.nan], "fail"),
        (math.nan, "notEquals", [math.nan], "pass"),
        (Decimal("NaN"), "lessThan", [1], "fail"),
        (Decimal("sNaN"), "greaterThanOrEqual", [1], "fail"),
        (math.inf, "greaterThan", [1], "fail"),
        (math.inf, "equals", [Decimal("Infinity")], "pass"),
        (math.inf, "equals", [1e308], "fail"),
        (math.inf, "isType", ["integer"], "fail"),
        (math.nan, "isType", ["number"], "pass"),
        (HUGE, "equals", [HUGE], "pass"),
        (HUGE, "greaterThan", [HUGE - 1], "pass"),
        (HUGE, "lessThan", [math.inf], "fail"),
        (HUGE, "equals", [Decimal("1E+5000")], "pass"),
        (-HUGE, "lessThan", [-1e308], "pass"),
        (HUGE, "isType", ["integer"], "pass"),
        (Decimal("1e999999999"), "greaterThan", [HUGE], "pass"),
        (Decimal("1e-999999999"), "greaterThan", [0], "pass"),
        (Decimal("1e999999999"), "isType", ["integer"], "pass"),
        ([1], "hasLength", [HUGE], "fail"),
        ([1], "maxLength", [Decimal("1e999999999")], "pass"),
    ],
    ids=lambda part: part if isinstance(part, str) else type(part).__name__,
)
def test_odd_keys_and_numbers(value: object, op: str, expected: list[object], answer: str) -> None:
    assert answer == _verdict(value, op, *expected)


@pytest.mark.parametrize("number", [math.nan, -math.inf, Decimal("sNaN")])
def test_a_number_that_is_not_finite_is_a_fault_of_a_spec(number: object) -> None:
    for op, operand in (("notEquals", number), ("notOneOf", [1, number]), ("equals", number)):
        with pytest.raises(SpecInvalid, match=r"^checks\[0\]\.expected"):
            Checks([{"op": op, "expected": operand}], strict=True)
    with pytest.raises(SpecInvalid, match=r"^arms\[0\]\.result"):
        Branch([{"name": "a", "when": [EXISTS], "result": number}])


def test_canonical_forms_of_odd_values() -> None:
    assert "1e+999999999" == canonical(Decimal("1e999999999"))
    assert "1" + "0" * 400 == canonical(10**400)
    for value in (math.nan, math.inf, Decimal("-Infinity"), {1: 2}, HALF, {HALF: 1}, {1, 2}):
        with pytest.raises(ConfigError):
            canonical([value])


def test_lone_halves_everywhere() -> None:
    assert "pass" == _verdict(f"a{HALF}", "equals", f"a{HALF}")
    assert "pass" == _verdict(HALF, "hasLength", 1)
    assert "pass" == _verdict(HALF, "matches", HALF)
    assert "pass" == _verdict(HALF, "matches", "\\ud800")
    assert "pass" == _verdict({HALF: 1}, "equals", 1, path=HALF)
    assert "fail" == _verdict("\U0001f600", "contains", "\ud83d")
    assert 7 == resolve(Json('{"\\ud800":[7]}'), f"{HALF}[0]").value
    assert HALF == resolve({}, HALF).missing_at
    assert Pattern(f"^{HALF}$").test(HALF)
    with pytest.raises(PatternInvalid):
        Pattern(f"({HALF}")


def test_a_message_with_a_lone_half_comes_back_as_it_is() -> None:
    miss = {"op": "notExists", "message": f"a{HALF}"}
    assert f"a{HALF}" == Checks([miss]).report(1).results[0].reason


def test_lone_halves_in_names() -> None:
    arms = [{"name": HALF, "when": [EXISTS], "result": {HALF: HALF}}]
    route = Branch(arms, otherwise={"name": "z"})
    assert HALF == route.decide(1).to_dict()["name"]
    assert (route, hash(route)) == (_pickled(route), hash(_pickled(route)))
    rows = [{"id": HALF, "when": [EXISTS], "outputs": HALF}]
    assert (HALF,) == DecisionTable(rows, policy="first").decide(1).matched_ids


def test_a_wire_form_with_lone_halves_can_be_sent() -> None:
    result = Branch([{"name": HALF, "when": [EXISTS]}]).decide(1)
    assert result.to_dict() == Json(result.to_json().encode("utf-8")).to_python()


@pytest.mark.parametrize("number", [Decimal("0.10000000000000000000001"), Decimal("1E+5000")])
def test_a_wire_form_keeps_every_digit(number: Decimal) -> None:
    text = Branch([{"name": "a", "when": [EXISTS], "result": number}]).decide(1).to_json()
    assert canonical(number) in text
