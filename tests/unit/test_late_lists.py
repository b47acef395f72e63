"""Lists that an answer makes when they are first read: nobody can tell."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.entries import rule

from interlock import DecisionTable, RuleScore
from interlock.tools._numbers import EXPONENT_LIMIT, exact, places, scaled, unscaled, written

NEVER = [{"op": "notExists"}]
Ask = Callable[[], Any]


def _table(*outputs: object) -> DecisionTable:
    rows = [
        {"id": str(at), "when": [{"op": "exists"}], "outputs": each}
        for at, each in enumerate(outputs)
    ]
    return DecisionTable([{"id": "no", "when": NEVER, "outputs": 0}, *rows], policy="collect")


def _score() -> RuleScore:
    return RuleScore([rule("a", points=2), rule("b", when=NEVER), rule("c", points=0.5)])


ASKED = {
    "score": lambda: _score().score(1),
    "plain outputs": lambda: _table(1, "x", None).decide(1),
    "outputs that can be changed": lambda: _table({"a": [1]}, 2).decide(1),
    "many rows": lambda: _table(*range(600)).decide(1),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
class TestUnread:
    @pytest.mark.parametrize(
        "same",
        [
            copy.copy,
            copy.deepcopy,
            dataclasses.replace,
            lambda answer: pickle.loads(pickle.dumps(answer)),  # noqa: S301 (made on the spot)
        ],
        ids=["copy", "deepcopy", "replace", "pickle"],
    )
    def test_a_copy_is_the_same(self, ask: Ask, same: Callable[[Any], Any]) -> None:
        made = same(ask())
        assert made == ask()
        assert made.to_json() == ask().to_json()

    def test_reading_changes_nothing(self, ask: Ask) -> None:
        read, unread = ask(), ask()
        assert read.to_dict() == read.to_dict()
        assert read == unread
        assert repr(ask()) == repr(read)

    def test_it_is_made_once(self, ask: Ask) -> None:
        answer = ask()
        for field in dataclasses.fields(answer):
            assert getattr(answer, field.name) is getattr(answer, field.name)

    def test_it_is_frozen(self, ask: Ask) -> None:
        answer = ask()
        for field in dataclasses.fields(answer):
            with pytest.raises(AttributeError):
                setattr(answer, field.name, None)
            with pytest.raises(AttributeError):
                delattr(answer, field.name)

    def test_there_is_nothing_else(self, ask: Ask) -> None:
        answer = ask()
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            _ = answer.nothing
        empty = object.__new__(type(answer))
        with pytest.raises(AttributeError):
            repr(empty)


def test_who_holds() -> None:
    assert ("a", "c") == tuple(one.id for one in _score().score(1).contributors)
    answer = _table("x", None).decide(1)
    assert (("0", "1"), ("0", "1")) == (answer.matched_ids, answer.decided_by)
    assert ["x", None] == answer.outputs


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 511, 512, 600])
def test_any_number_of_rows(rows: int) -> None:
    answer = _table(*range(rows)).decide(1)
    assert [*range(rows)] == answer.outputs
    assert tuple(map(str, range(rows))) == answer.matched_ids


def test_outputs_belong_to_whoever_gets_them() -> None:
    table = _table({"a": [1]}, 2)
    mine: Any = table.decide(1).outputs
    yours = table.decide(1)
    mine[0]["a"].append(mine)
    mine.clear()
    assert [{"a": [1]}, 2] == yours.outputs == table.decide(1).outputs


def _decimals() -> st.SearchStrategy[Decimal]:
    numbers = st.decimals(allow_nan=False, allow_infinity=False)
    return st.one_of(numbers, st.floats(allow_nan=False, allow_infinity=False).map(exact)).filter(
        lambda number: number.adjusted() <= EXPONENT_LIMIT and places(number) <= EXPONENT_LIMIT
    )


@given(st.lists(_decimals(), min_size=1))
def test_parts_are_the_number_itself(numbers: list[Decimal]) -> None:
    scale = max(map(places, numbers))
    for number in numbers:
        back, expected = unscaled(scaled(number, scale), scale), written(number)
        assert (type(expected), expected) == (type(back), back)


@given(st.integers(-(10**17), 10**17), st.integers(0, 30))
def test_short_numbers_are_written_as_long_ones(parts: int, scale: int) -> None:
    back, expected = unscaled(parts, scale), written(Decimal(parts).scaleb(-scale))
    assert (type(expected), expected) == (type(back), back)
