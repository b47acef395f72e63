"""Rows of columns are answered as the same records as plain data, whatever their types."""

from typing import Any

import pytest
from engines import engine
from hypothesis import given
from hypothesis import strategies as st
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
