"""Votes, histories, scores and rosters: what is refused, all of it at once."""

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from unit.entries import Wire, owner, rule, vote

from interlock import (
    LeadAssign,
    SpecInvalid,
    consensus_vote,
    lead_assign,
    rule_score,
    stall_detect,
)

NOT_COUNTED: tuple[object, ...] = (
    math.nan,
    math.inf,
    True,
    "1",
    None,
    [],
    Decimal("sNaN"),
    Decimal("-Infinity"),
)
TOO_FAR = (10**401, Decimal("1E+401"), Decimal("1E-401"), Decimal("1E+999999"), 10**19_999)


def refused(action: Callable[[], object]) -> set[tuple[str, str]]:
    with pytest.raises(SpecInvalid) as caught:
        action()
    return {(problem.code.partition("/")[2], problem.field) for problem in caught.value.problems}


def test_every_fault_of_votes_at_once() -> None:
    votes = [vote(weight=-1, voter=3), {"weight": 1}, 5, vote(wieght=1), vote(value={1})]
    normalize = {"trim": 1, "lower": True, "stripPunctuation": True, "strip_punctuation": True}
    bad: Wire = {"mode": "exat", "tolerance": -1, "overlap": 2, "threshold": "1"}
    assert {
        ("wrong-type", "votes[0].weight"),
        ("wrong-type", "votes[0].voter"),
        ("missing-field", "votes[1].value"),
        ("wrong-type", "votes[2]"),
        ("unknown-field", "votes[3].wieght"),
        ("not-json", "votes[4].value"),
        ("unknown-choice", "mode"),
        ("wrong-type", "tolerance"),
        ("wrong-type", "overlap"),
        ("wrong-type", "threshold"),
        ("wrong-type", "normalize.trim"),
        ("unknown-field", "normalize.lower"),
        ("repeated-key", "normalize.stripPunctuation"),
    } == refused(lambda: consensus_vote(votes, normalize=normalize, **bad))


def test_every_fault_of_a_history_at_once() -> None:
    history: Any = [{"a": math.nan}, 4, {str(n): "" for n in range(65)}]
    assert {
        ("not-json", "history[0].a"),
        ("wrong-type", "history[1]"),
        ("over-limit", "history[2]"),
        ("wrong-type", "window"),
        ("wrong-type", "maxCycle"),
        ("duplicate-name", "signals[1]"),
        ("wrong-type", "signals[2]"),
    } == refused(
        lambda: stall_detect(history, window=1, max_cycle=17, signals=["a", "a", 3])  # type: ignore[list-item]  # the point
    )


def test_every_fault_of_a_score_at_once() -> None:
    rules = [
        {"id": "a", "when": [], "points": "5", "label": 3},
        {"id": "a", "when": [{"op": "exist"}], "match": "any"},
        rule("c", pionts=1),
    ]
    bands = [{"name": "x", "min": 0}, {"name": "x"}, {"min": 1, "max": 2}, "y"]
    bad: Wire = {"min": 3, "max": 1, "version": 7}
    assert {
        ("empty-list", "rules[0].when"),
        ("wrong-type", "rules[0].points"),
        ("wrong-type", "rules[0].label"),
        ("duplicate-name", "rules[1].id"),
        ("unknown-op", "rules[1].when[0].op"),
        ("unknown-choice", "rules[1].match"),
        ("missing-field", "rules[1].points"),
        ("unknown-field", "rules[2].pionts"),
        ("duplicate-name", "bands[1].name"),
        ("missing-field", "bands[1].min"),
        ("missing-field", "bands[2].name"),
        ("unknown-field", "bands[2].max"),
        ("wrong-type", "bands[3]"),
        ("wrong-type", "min"),
        ("wrong-type", "version"),
    } == refused(lambda: rule_score(1, rules, bands=bands, **bad))


def test_every_fault_of_a_roster_at_once() -> None:
    owners = [
        {"id": "greedy", "when": []},
        owner("b", load=-1, capacity="3", available="no"),
        owner("b", weight=1),
    ]
    bad: Wire = {"strategy": "whoever", "cursor": -1, "fallback": {"name": "q"}, "version": 7}
    assert {
        ("empty-list", "owners[0].when"),
        ("wrong-type", "owners[1].load"),
        ("wrong-type", "owners[1].capacity"),
        ("wrong-type", "owners[1].available"),
        ("duplicate-name", "owners[2].id"),
        ("unknown-field", "owners[2].weight"),
        ("unknown-choice", "strategy"),
        ("wrong-type", "cursor"),
        ("unknown-field", "fallback.name"),
        ("missing-field", "fallback.id"),
        ("wrong-type", "version"),
    } == refused(lambda: lead_assign(1, owners, **bad))


def test_a_catch_all_is_spelled_as_the_tool_has_it() -> None:
    with pytest.raises(SpecInvalid, match=r'"a; b".*spelled `fallback`'):
        lead_assign(1, [owner("a; b", when=[])], strategy="first")
    with pytest.raises(SpecInvalid, match=r'"a; b".*the op `exists`'):
        rule_score(1, [rule("a; b", when=[])])


@pytest.mark.parametrize(
    ("action", "field", "number", "limit"),
    [
        (lambda: consensus_vote([vote()] * 513), "votes", 513, 512),
        (lambda: stall_detect([{"a": ""}] * 513), "history", 513, 512),
        (lambda: stall_detect([{str(n): "" for n in range(65)}]), "history[0]", 65, 64),
        (lambda: stall_detect([{}], signals=[str(n) for n in range(65)]), "signals", 65, 64),
        (lambda: rule_score(1, [rule(str(n)) for n in range(257)]), "rules", 257, 256),
        (
            lambda: rule_score(
                1, [rule("a")], bands=[{"name": str(n), "min": n} for n in range(257)]
            ),
            "bands",
            257,
            256,
        ),
        (
            lambda: lead_assign(1, [owner(str(n)) for n in range(257)], strategy="first"),
            "owners",
            257,
            256,
        ),
    ],
)
def test_limits(action: Callable[[], object], field: str, number: int, limit: int) -> None:
    with pytest.raises(SpecInvalid) as caught:
        action()
    (problem,) = caught.value.problems
    assert ("spec/over-limit", field) == (problem.code, problem.field)
    assert f"{number} " in problem.message
    assert problem.message.endswith(f"the limit of {limit}")


def test_at_the_limit_all_is_well() -> None:
    assert consensus_vote([vote()] * 512).support == 512
    assert stall_detect([{str(n): "" for n in range(64)}] * 512).repeats == 512
    assert rule_score(1, [rule(str(n)) for n in range(256)]).score == 256
    roster = [owner(str(n)) for n in range(256)]
    assert lead_assign(1, roster, strategy="round_robin", cursor=255).owner == "255"
    assert len(LeadAssign(roster * 1, strategy="first", limits={"rules": 300}).to_spec()) == 2


COUNTED: dict[str, Callable[[Any], object]] = {
    "votes[0].weight": lambda n: consensus_vote([vote(weight=n)]),
    "tolerance": lambda n: consensus_vote([vote()], tolerance=n),
    "overlap": lambda n: consensus_vote([vote()], overlap=n),
    "threshold": lambda n: consensus_vote([vote()], threshold=n),
    "window": lambda n: stall_detect([{}], window=n),
    "maxCycle": lambda n: stall_detect([{}], max_cycle=n),
    "rules[0].points": lambda n: rule_score(1, [rule("a", points=n)]),
    "bands[0].min": lambda n: rule_score(1, [rule("a")], bands=[{"name": "b", "min": n}]),
    "owners[0].load": lambda n: lead_assign(1, [owner("a", load=n)], strategy="first"),
    "owners[0].capacity": lambda n: lead_assign(1, [owner("a", capacity=n)], strategy="first"),
}
ABSENT_WHEN_NULL: dict[str, Callable[[Any], object]] = {
    "min": lambda n: rule_score(1, [rule("a")], min=n),
    "max": lambda n: rule_score(1, [rule("a")], max=n),
    "cursor": lambda n: lead_assign(1, [owner("a")], strategy="first", cursor=n),
}


@pytest.mark.parametrize("number", NOT_COUNTED, ids=repr)
@pytest.mark.parametrize("field", [*COUNTED, *ABSENT_WHEN_NULL])
def test_what_is_no_number_does_not_count(field: str, number: object) -> None:
    if number is None and field in ABSENT_WHEN_NULL:
        ABSENT_WHEN_NULL[field](number)
    else:
        action = {**COUNTED, **ABSENT_WHEN_NULL}[field]
        assert {("wrong-type", field)} == refused(lambda: action(number))


@pytest.mark.parametrize("number", TOO_FAR, ids=lambda n: type(n).__name__)
@pytest.mark.parametrize("field", [*COUNTED, *ABSENT_WHEN_NULL])
def test_a_hostile_number_makes_no_million_digits(field: str, number: object) -> None:
    action = {**COUNTED, **ABSENT_WHEN_NULL}[field]
    with pytest.raises(SpecInvalid) as caught:
        action(number)
    (problem,) = caught.value.problems
    assert ("spec/over-limit", field) == (problem.code, problem.field)
    assert len(str(problem)) < 300


def test_values_count_only_where_they_are_compared_as_numbers() -> None:
    votes = [vote(value=Decimal("1E+500")), vote(value=Decimal("1E+500"))]
    assert consensus_vote(votes).unanimous
    fields = {("over-limit", "votes[0].value"), ("over-limit", "votes[1].value")}
    assert fields == refused(lambda: consensus_vote(votes, mode="numeric"))


@pytest.mark.parametrize("bad", ["abc", None, 3, {"value": 1}, b"ab", object()], ids=repr)
def test_no_list(bad: Any) -> None:
    for action in (
        lambda: consensus_vote(bad),
        lambda: stall_detect(bad),
        lambda: rule_score(1, bad),
        lambda: lead_assign(1, bad, strategy="first"),
    ):
        assert {code for code, _ in refused(action)} <= {"wrong-type", "not-json"}


def test_a_deep_value_is_refused_by_name() -> None:
    deep: list[Any] = []
    for _ in range(200):
        deep = [deep]
    for place, action in (
        ("votes[0].value[0]", lambda: consensus_vote([vote(value=deep)])),
        ("history[0].a[0]", lambda: stall_detect([{"a": deep}])),
    ):
        ((code, field),) = refused(action)
        assert ("over-limit", place) == (code, field[: len(place)])
