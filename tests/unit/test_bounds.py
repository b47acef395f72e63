"""What is bounded, and what stays right at the bounds."""

from __future__ import annotations

import enum
import pickle
from collections import UserDict, deque
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
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
    PatternTooLarge,
    PatternUnsupported,
    _compiled,
    canonical,
    resolve,
)


def verdict(value: object, op: str, *expected: object, path: str = "") -> str:
    check: dict[str, object] = {"path": path, "op": op}
    if expected:
        (check["expected"],) = expected
    return Checks([check]).verdict(value)


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


class TestPatterns:
    @pytest.mark.parametrize(
        ("source", "text"),
        [
            (r"x(?:^|a){99999999999}", "x"),
            (r"a(?:$|b){3000000000}c", "ac"),
            (r"x(?:\b|a){4294967296,}y", "xy"),
        ],
    )
    def test_a_count_without_end_over_an_assertion_is_never_read_as_none(
        self, source: str, text: str
    ) -> None:
        try:
            answer = Pattern(source).test(text)
        except PatternTooLarge:
            return
        assert answer is False

    @pytest.mark.parametrize(
        ("source", "text", "found"),
        [
            (r"(?:\b){99999999999}", "", False),
            (r"a(?:^){2147483648}b", "ab", False),
            (r"(?:a|){99999999999}", "b", True),
            (r"a{99999999999}", "aaa", False),
        ],
    )
    def test_a_count_without_end(self, source: str, text: str, *, found: bool) -> None:
        assert found is Pattern(source).test(text)

    def test_the_patterns_of_one_spec_share_a_budget(self) -> None:
        checks = [{"op": "matches", "expected": f"[^a]{{700}}{n}"} for n in range(64)]
        results = Checks(checks, limits={"patternsBytes": 1 << 20}).report("x").results
        assert 0 < sum(result.undetermined for result in results) < 64

    def test_much_pattern_over_much_text_is_not_run(self) -> None:
        with pytest.raises(PatternUnsupported, match="write smaller repeats"):
            Pattern("(?:a|b)*a(?:a|b){9000}c").test("ab" * 500_000)


class TestNumbers:
    @pytest.mark.parametrize("value", [10**20_001, Json("1" * 20_001)], ids=["object", "json"])
    def test_an_integer_of_too_many_digits_is_undetermined(self, value: object) -> None:
        assert "undetermined" == verdict(value, "greaterThan", 1)
        assert "pass" == verdict(value, "exists")

    @pytest.mark.parametrize("value", [5e-324, 1e-310, Json("1e-310"), Decimal("1e-310")])
    def test_the_smallest_numbers_have_a_fraction(self, value: object) -> None:
        assert "fail" == verdict(value, "isType", "integer")

    def test_a_decimal_is_what_it_is_however_it_is_shown(self) -> None:
        class Money(Decimal):
            def __str__(self) -> str:
                return "much"

        assert "pass" == verdict(Money(5), "equals", 5)
        assert "5" == canonical(Money(5))

    def test_a_float_of_another_make_ranks(self) -> None:
        class Shown(float):
            def __repr__(self) -> str:
                return "much"

        rows = [{"id": "a", "when": [{"op": "exists"}], "priority": Shown(2), "outputs": 1}]
        assert 1 == DecisionTable(rows, policy="priority").decide(0).outputs


class TestDepth:
    @pytest.mark.parametrize("depth", [124, 128, 129])
    def test_an_operand_near_the_limit_makes_a_whole_object(self, depth: int) -> None:
        when = [{"op": "equals", "expected": nested(depth)}]
        for compiled in (
            Checks(when),
            Branch([{"name": "a", "when": when}]),
            DecisionTable([{"id": "a", "when": when, "outputs": nested(depth)}], policy="first"),
        ):
            again = pickle.loads(pickle.dumps(compiled))  # noqa: S301
            assert (compiled, hash(compiled)) == (again, hash(again))
            assert compiled.fingerprint[:16] in repr(compiled)

    def test_parts_that_are_shared_are_counted_as_often_as_they_stand(self) -> None:
        value: list[Any] = []
        for _ in range(40):
            value = [value, value]
        with pytest.raises(ConfigError, match="more values than the limit of 4000000"):
            canonical(value)


class TestForeignParts:
    @pytest.mark.parametrize(
        ("value", "op", "expected"),
        [
            ([datetime.now(tz=UTC)], "notEquals", [1]),
            ([{1}, 2], "notContains", 1),
            ([datetime.now(tz=UTC)], "notOneOf", [[1]]),
            ({1: 2}, "notEquals", {"1": 2}),
        ],
    )
    def test_a_negation_does_not_hold_for_what_is_no_value(
        self, value: object, op: str, expected: object
    ) -> None:
        assert "fail" == verdict(value, op, expected)

    def test_a_member_whose_value_is_a_member(self) -> None:
        class Inner(enum.Enum):
            A = 7

        class Outer(enum.Enum):
            B = Inner.A

        assert "pass" == verdict(Outer.B, "equals", 7)

    def test_a_missing_hook_is_not_run(self) -> None:
        class Filling(UserDict[str, int]):
            def __missing__(self, key: str) -> int:
                self[key] = 1
                return 1

        record = Filling()
        assert not resolve(record, "q").found
        assert not record

    def test_a_sequence_that_grows_has_an_end(self) -> None:
        class Growing(Sequence[int]):
            size = 1

            def __len__(self) -> int:
                self.size += 1
                return self.size

            def __getitem__(self, index: Any) -> Any:
                return index

        assert "fail" == verdict(Growing(), "contains", "x")
        assert "pass" == verdict(deque([1, 2]), "contains", 2)


def test_unpickling_gives_back_what_was_pickled() -> None:
    first, second = (
        Branch([{"name": "a", "when": [{"op": "exists"}], "result": r}]) for r in (1, 1.0)
    )
    kinds = [type(pickle.loads(pickle.dumps(b)).decide(0).result) for b in (first, second)]  # noqa: S301
    assert [int, float] == kinds


def test_a_wire_form_is_the_callers_own() -> None:
    result = Branch([{"name": "a", "when": [{"op": "exists"}], "result": {"x": [1]}}]).decide(0)
    wire: dict[str, Any] = dict(result.to_dict())
    wire["result"]["x"].append(2)
    assert {"x": [1]} == result.result


def test_reasons_are_one_line_whatever_the_path() -> None:
    for path in ("a\nb", "k" * 1000, "x]" * 3_000_000):
        (result,) = Checks([{"path": path, "op": "exists"}]).report({}).results
        assert "\n" not in result.reason
        assert len(result.reason) < 1_500


def test_objects_with_many_keys_are_read_as_they_stand() -> None:
    record = Json("{" + ",".join(f'"k{n}":{n}' for n in range(50_000)) + "}")
    checks = [{"op": "hasLength", "expected": n} for n in range(64)]
    assert 0 == Checks(checks).report(record).passed
    assert "pass" == verdict(Json('{"a":1,"a":2,"b":3}'), "hasLength", 2)
    assert "pass" == verdict(Json('{"a":1,"a":2}'), "equals", {"a": 2})


class TestDecisions:
    """Borders where another reading would change a decision."""

    def test_an_undecided_row_that_shares_the_top_priority_leaves_it_open(self) -> None:
        undecided = {"op": "matches", "expected": "(a+)\\1"}
        rows = [
            {"id": "sure", "when": [{"op": "exists"}], "priority": 5, "outputs": 1},
            {"id": "open", "when": [undecided], "priority": 5, "outputs": 2},
        ]
        assert DecisionTable(rows, policy="priority").decide("aa").undetermined is not None
        rows[1]["priority"] = 4
        assert 1 == DecisionTable(rows, policy="priority").decide("aa").outputs

    def test_a_pattern_over_a_limit_is_undetermined(self) -> None:
        assert "undetermined" == verdict("x", "matches", "a{1000000}")
        assert "undetermined" == verdict("x", "notMatches", "(" * 101 + ")" * 101)

    @pytest.mark.parametrize(("flags", "found"), [("y", False), ("", True), ("gy", False)])
    def test_a_sticky_pattern_starts_at_the_start(self, flags: str, *, found: bool) -> None:
        assert found is Pattern(r"\Bb", flags).test("ab")

    @pytest.mark.parametrize("text", ["aéa", "中", "aéb"])
    def test_no_border_lies_within_a_character(self, text: str) -> None:
        inside = any(
            text[at - 1].isascii() == text[at].isascii() for at in range(1, len(text))
        ) or not (text[0].isascii() and text[-1].isascii())
        assert inside is Pattern(r"\B").test(text)

    def test_nesting_limits_stop_where_the_stack_does(self) -> None:
        deep = Checks([{"op": "equals", "expected": nested(190)}], limits={"depth": 10**9})
        assert "pass" == deep.verdict(nested(190))
        with pytest.raises(ConfigError, match="limit of 200"):
            Checks([{"op": "equals", "expected": nested(5_000)}], limits={"depth": 10**9})

    def test_a_key_spelled_in_halves_is_the_same_key(self) -> None:
        record = {"\ud83d\ude00": 1}
        assert resolve(record, "\U0001f600").found
        assert "pass" == verdict(record, "contains", "\U0001f600")
        assert "pass" == verdict(record, "equals", {"\U0001f600": 1})


def test_a_path_is_looked_up_once_a_record() -> None:
    reads: list[str] = []

    class Counting(Mapping[str, Any]):
        def __init__(self, data: dict[str, Any]) -> None:
            self.data = data

        def __getitem__(self, key: str) -> Any:
            reads.append(key)
            found = self.data[key]
            return Counting(found) if isinstance(found, dict) else found

        def __contains__(self, key: object) -> bool:
            return key in self.data

        def __iter__(self) -> Iterator[str]:
            return iter(self.data)

        def __len__(self) -> int:
            return len(self.data)

    rows = [
        {
            "id": f"r{number}",
            "when": [
                {"path": "a.b", "op": "equals", "expected": number},
                {"path": "a.c", "op": "exists"},
            ],
            "outputs": number,
        }
        for number in range(5)
    ]
    table = DecisionTable(rows, policy="collect")
    assert [3] == table.decide(Counting({"a": {"b": 3, "c": 1}})).outputs
    assert ["a", "b", "c"] == reads


def test_unpickled_specs_are_not_kept_without_end() -> None:
    for number in range(300):
        pickle.loads(pickle.dumps(Checks([{"op": "equals", "expected": number}])))  # noqa: S301
    assert len(_compiled._restored) <= _compiled._RESTORED_LIMIT
