"""Many rules answer as each of them answers alone: an index changes no answer.

A single list of checks is always walked, and sixteen rules or more over the same paths are indexed.
"""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from laws.strategies import check_lists, json_values, values

from interlock import Branch, Checks, DecisionTable, Json, RuleScore

Rule = dict[str, Any]


class _Raises(Mapping[str, object]):
    """A mapping whose values cannot be read."""

    def __getitem__(self, key: str) -> object:
        message = f"no {key} today"
        raise RuntimeError(message)

    def __iter__(self) -> Iterator[str]:
        return iter("ab")

    def __len__(self) -> int:
        return 2


ODD = (object(), {1, 2}, b"a", math.nan, -math.inf, _Raises(), ["a", {1}], {"a": _Raises()})


@st.composite
def _rules(draw: st.DrawFn, record: object) -> list[Rule]:
    """Rules that suit a record, mostly about the same few paths."""
    some = draw(st.lists(check_lists(record), min_size=6, max_size=12))
    match = st.sampled_from(("all", "any"))
    shapes = st.tuples(st.sampled_from(some), st.sampled_from(some), match)
    drawn = draw(st.lists(shapes, min_size=16, max_size=32))
    return [
        {"id": f"r{at}", "when": [*left, *right], "match": match}
        for at, (left, right, match) in enumerate(drawn)
    ]


def _alone(rules: list[Rule], record: object) -> list[str]:
    return [Checks(rule["when"]).verdict(record, rule["match"]) for rule in rules]


def _at(verdicts: list[str], wanted: str) -> tuple[str, ...]:
    return tuple(f"r{at}" for at, verdict in enumerate(verdicts) if verdict == wanted)


def _agrees(rules: list[Rule], records: list[object]) -> None:
    rows = [{**rule, "outputs": at} for at, rule in enumerate(rules)]
    every, one = DecisionTable(rows, policy="collect"), DecisionTable(rows, policy="first")
    arms = [{"name": rule["id"], "when": rule["when"], "match": rule["match"]} for rule in rules]
    branch = Branch(arms)
    for record in records:
        verdicts = _alone(rules, record)
        assert every.decide(record).matched_ids == _at(verdicts, "pass")
        first = next((at for at, verdict in enumerate(verdicts) if verdict != "fail"), -1)
        undecided = first >= 0 and verdicts[first] == "undetermined"
        assert (one.decide(record).undetermined is not None) == undecided
        hits = () if undecided or first < 0 else (f"r{first}",)
        assert one.decide(record).matched_ids == hits
        assert branch.decide(record).name == next(iter(hits), None)


@given(st.data())
def test_json_values(data: st.DataObject) -> None:
    record = data.draw(json_values(), "record")
    rules = data.draw(_rules(record), "rules")
    others = data.draw(st.lists(json_values(), max_size=2), "others")
    _agrees(rules, [form for one in (record, *others) for form in (one, Json(json.dumps(one)))])


@given(st.data())
def test_any_values(data: st.DataObject) -> None:
    record = {"a": data.draw(values(), "a"), "b": data.draw(values(), "b")}
    rules = data.draw(_rules(record), "rules")
    odd = data.draw(st.sampled_from(ODD), "odd")
    _agrees(rules, [record, {**record, "a": odd}, {**record, "b": odd}, {}, odd])


@given(st.data())
def test_scores(data: st.DataObject) -> None:
    record = data.draw(json_values(), "record")
    drawn = data.draw(_rules(record), "rules")
    rules = [{**rule, "points": at + 1, "match": "all"} for at, rule in enumerate(drawn)]
    verdicts = _alone(rules, record)
    answer = RuleScore(rules).score(record)
    assert tuple(one.id for one in answer.contributors) == _at(verdicts, "pass")
    assert tuple(one.id for one in answer.undetermined) == _at(verdicts, "undetermined")
    held = sum(at + 1 for at, verdict in enumerate(verdicts) if verdict == "pass")
    assert answer.raw_score == (None if answer.undetermined else held)
