"""Rows of columns are answered as the same records as plain data, whatever their types."""

from typing import Any

import pytest
from engines import engine
from hypothesis import given
from hypothesis import strategies as st
from laws.arrow_slots import Slotted
from laws.arrow_strategies import arrays
from laws.strategies import check_lists

from interlock import Branch, DecisionTable, LeadAssign, RuleScore

pa: Any = engine("pyarrow")


def plain(array: Any) -> list[object]:
    """The records as plain data; mappings of names are `dict`."""
    return [_plain(value) for value in array.to_pylist(maps_as_pydicts="strict")]


def _plain(value: Any) -> object:
    # Half floats come as numbers of another library.
    return value.item() if type(value).__module__ == "numpy" else value


def rules(draw: Any, records: list[object], least: int) -> list[dict[str, Any]]:
    about = draw(st.sampled_from(records or [{}]), "about")
    some = draw(st.lists(check_lists(about), min_size=1, max_size=8), "checks")
    match = st.sampled_from(("all", "any"))
    shapes = st.tuples(st.sampled_from(some), st.sampled_from(some), match)
    drawn = draw(st.lists(shapes, min_size=least, max_size=least + 6), "rules")
    return [
        {"id": f"r{at}", "when": [*left, *right], "match": either}
        for at, (left, right, either) in enumerate(drawn)
    ]


@pytest.mark.parametrize("least", [1, 20])
@given(data=st.data())
def test_rows_are_answered_as_plain_data(least: int, data: st.DataObject) -> None:
    array = data.draw(arrays(pa), "array")
    records = plain(array)
    threads = data.draw(st.integers(1, 3), "threads")
    drawn = rules(data.draw, records, least)
    arms = [{"name": one["id"], "when": one["when"], "match": one["match"]} for one in drawn]
    route = Branch(arms, otherwise={"name": "other"})
    assert route.decide_many(array, threads=threads).to_list() == [
        route.decide(record) for record in records
    ]
    rows = [{**rule, "outputs": at} for at, rule in enumerate(drawn)]
    for policy in ("first", "collect", "unique"):
        table = DecisionTable(rows, policy=policy)
        assert table.decide_many(array).to_list() == list(map(table.decide, records))
    score = RuleScore([{**rule, "points": at, "match": "all"} for at, rule in enumerate(drawn)])
    assert score.score_many(array).to_list() == list(map(score.score, records))
    roster = LeadAssign(drawn, strategy="first")
    assert roster.assign_many(array).to_list() == list(map(roster.assign, records))


NONE = pa.null()
NULLS: dict[str, Any] = {
    "alone": pa.nulls(4),
    "struct": pa.array([{"x": None}, None, {"x": None}, {}], pa.struct([("x", NONE)])),
    "list": pa.array([[None], None, [], [None] * 2], pa.list_(NONE)),
    "large_list": pa.array([[None], None, [], [None] * 2], pa.large_list(NONE)),
    "fixed_size_list": pa.array([[None] * 2, None, [None] * 2, None], pa.list_(NONE, 2)),
    "list_view": pa.array([[None], None, [], [None] * 2], pa.list_view(NONE)),
    "large_list_view": pa.array([[None], None, [], [None] * 2], pa.large_list_view(NONE)),
    "map": pa.array([[("x", None)], None, [], [("y", None)]], pa.map_(pa.string(), NONE)),
    "dictionary": pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 0]), pa.nulls(2)),
    "runs": pa.RunEndEncodedArray.from_arrays([1, 4], pa.nulls(2)),
    "empty_struct": pa.array([{}, None, {}, {}], pa.struct([])),
}
OPS = [
    {"name": f"{op} {path}", "when": [{"path": path, "op": op}]}
    for path in ("c", "c.x", "c[0]")
    for op in ("isEmpty", "exists")
]
IS = {"path": "c", "op": "equals"}


@pytest.mark.parametrize("name", NULLS)
@pytest.mark.parametrize("rows", [slice(0, 4), slice(1, 3), slice(0, 0)])
def test_nulls_of_no_type_with_a_buffer_or_without(name: str, rows: slice) -> None:
    given = {"c": NULLS[name], "n": pa.array([1, 2, 3, 4]), "d": pa.nulls(4)}
    batch = pa.record_batch(given).slice(rows.start, rows.stop - rows.start)
    slotted: Any = Slotted(batch)
    records = plain(batch.to_struct_array())
    values: tuple[Any, ...] = (None, {}, [None])
    for arm in (*OPS, *({"name": "is", "when": [{**IS, "expected": one}]} for one in values)):
        route = Branch([arm])
        assert route.decide_many(slotted).to_list() == list(map(route.decide, records))
    assert slotted.slots
