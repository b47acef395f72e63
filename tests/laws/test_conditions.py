"""The core answers every check as the reference does, on objects and on JSON text alike."""

import json
from decimal import Decimal
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from laws.pattern_strategies import UNDECIDED
from laws.strategies import NEGATIONS, check_lists, json_values, keys, numbers, texts, values

from interlock import Checks, Json
from oracle import equal, exact, report, verdict

Wire = dict[str, Any]
BACK_ENDS = (lambda value: value, lambda value: Json(json.dumps(value)))
OPPOSITE = {"pass": "fail", "fail": "pass", "undetermined": "undetermined"}


def _statuses(wire: Wire) -> list[str]:
    names = {True: "ok", False: "failed"}
    return [
        "undetermined" if result.get("undetermined") else names[result["ok"]]
        for result in wire["results"]
    ]


def _shown(wire: Wire) -> list[tuple[object, ...]]:
    shown = ("index", "path", "op", "ok", "actual", "expected")
    return [tuple(result[name] for name in shown) for result in wire["results"]]


def _counts(wire: Wire) -> tuple[object, ...]:
    return tuple(wire[name] for name in ("ok", "passed", "failed", "undetermined"))


@given(st.data())
def test_objects_are_judged_as_by_the_reference(data: st.DataObject) -> None:
    value = data.draw(values(), "value")
    checks = data.draw(check_lists(value), "checks")
    expected, actual = report(checks, value), Checks(checks).report(value).to_dict()
    assert _statuses(expected) == _statuses(actual)
    assert _shown(expected) == _shown(actual)
    assert _counts(expected) == _counts(actual)


@given(st.data())
def test_json_text_is_judged_as_by_the_reference(data: st.DataObject) -> None:
    value = data.draw(json_values(), "value")
    checks = data.draw(check_lists(value), "checks")
    expected = report(checks, value)
    actual = Checks(checks).report(Json(json.dumps(value))).to_dict()
    assert _statuses(expected) == _statuses(actual)
    assert _shown(expected) == _shown(actual)
    assert _counts(expected) == _counts(actual)


@given(st.data())
def test_both_back_ends_report_the_same(data: st.DataObject) -> None:
    value = data.draw(json_values(), "value")
    checks = Checks(data.draw(check_lists(value), "checks"))
    assert checks.report(value).to_dict() == checks.report(Json(json.dumps(value))).to_dict()
    utf_8 = json.dumps(value).encode("utf-8")
    assert checks.report(value).to_dict() == checks.report(Json(utf_8)).to_dict()


@given(st.data())
def test_verdicts_are_those_of_the_reference(data: st.DataObject) -> None:
    value = data.draw(json_values(), "value")
    checks = data.draw(check_lists(value), "checks")
    compiled = Checks(checks)
    for back_end in BACK_ENDS:
        assert verdict(checks, value, "all") == compiled.verdict(back_end(value), "all")
        assert verdict(checks, value, "any") == compiled.verdict(back_end(value), "any")


@given(st.data())
def test_every_failure_has_a_reason_and_every_success_has_none(data: st.DataObject) -> None:
    value = data.draw(values(), "value")
    checks = [
        {name: part for name, part in check.items() if name != "message"}
        for check in data.draw(check_lists(value), "checks")
    ]
    whole = Checks(checks).report(value)
    assert [result.ok for result in whole.results] == [not r.reason for r in whole.results]
    assert tuple(r for r in whole.results if r.reason) == whole.failures


@given(st.data())
def test_a_message_stands_for_the_reason_of_a_failed_check_only(data: st.DataObject) -> None:
    value = data.draw(json_values(), "value")
    plain = [{**check, "message": "x"} for check in data.draw(check_lists(value), "checks")]
    for result in Checks(plain).report(value).results:
        failed = not result.ok and not result.undetermined
        assert failed == (result.reason == "x")


@st.composite
def _sound(draw: st.DrawFn) -> tuple[dict[str, object], list[dict[str, object]]]:
    """A record, and checks of negatable ops that its values and their operands suit."""
    number, text = draw(numbers()), draw(texts())
    items, members = draw(st.lists(json_values(), max_size=3)), draw(st.lists(keys(), max_size=3))
    record: dict[str, object] = {"n": number, "t": text, "l": items, "o": dict.fromkeys(members, 1)}
    near = st.one_of(numbers(), st.just(number))
    operands: dict[str, st.SearchStrategy[object]] = {
        "exists": st.none(),
        "isEmpty": st.none(),
        "equals": st.one_of(st.sampled_from(list(record.values())), json_values()),
        "oneOf": st.lists(st.one_of(st.sampled_from([number, text]), json_values()), max_size=2),
        "greaterThan": near,
        "lessThan": near,
        "contains": st.one_of(keys(), st.just(text[1:])),
        "matches": st.sampled_from(("a", "^$", "[ab]", *UNDECIDED)),
    }
    fields = {"matches": "t", "greaterThan": "n", "lessThan": "n"}
    checks: list[dict[str, object]] = []
    for op in draw(st.lists(st.sampled_from(list(operands)), min_size=1, max_size=4)):
        path = fields.get(op) or draw(st.sampled_from("tlo"))
        checks.append({"path": path, "op": op, "expected": draw(operands[op])})
    return record, checks


@given(_sound())
def test_all_fails_where_any_of_the_negated_passes(
    drawn: tuple[dict[str, object], list[dict[str, object]]],
) -> None:
    record, checks = drawn
    negated = Checks([{**check, "op": NEGATIONS[str(check["op"])]} for check in checks])
    assert OPPOSITE[negated.verdict(record, "any")] == Checks(checks).verdict(record, "all")
    assert OPPOSITE[negated.verdict(record, "all")] == Checks(checks).verdict(record, "any")


def _holds(left: object, op: str, right: object) -> bool:
    return Checks([{"op": op, "expected": right}]).holds(left)


@given(numbers(), numbers())
@example(1424953923781206.25, Decimal("1424953923781206.2"))
@example(2**53 + 1, 2.0**53)
@example(10**400, Decimal("1E+400"))
def test_one_of_less_equal_greater_holds(left: object, right: object) -> None:
    order = (exact(left) > exact(right)) - (exact(left) < exact(right))
    ops = {-1: "lessThan", 0: "equals", 1: "greaterThan"}
    assert {ops[order]} == {op for op in ops.values() if _holds(left, op, right)}
    assert {ops[-order]} == {op for op in ops.values() if _holds(right, op, left)}
    assert (order >= 0) == _holds(left, "greaterThanOrEqual", right)
    assert (order <= 0) == _holds(left, "lessThanOrEqual", right)


@given(values(), st.data())
def test_equality_is_that_of_the_reference_both_ways(left: object, data: st.DataObject) -> None:
    right = data.draw(json_values(), "right")
    assert equal(left, right) == _holds(left, "equals", right)
    assert equal(right, right) == _holds(right, "equals", right)
