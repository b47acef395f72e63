"""Votes, histories, scores and rosters: what comes out, and in which form."""

import enum
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from unit.entries import Wire, owner, rule, vote

from interlock import (
    Json,
    LeadAssign,
    RuleScore,
    consensus_vote,
    lead_assign,
    rule_score,
    stall_detect,
)
from interlock.tools import call

# A number of more digits than are read as one.
OPEN = [{"path": "t", "op": "greaterThan", "expected": 1}]
RECORD = {"t": 10**20_001}


@pytest.mark.parametrize(
    ("points", "score"),
    [
        ((0.7, 0.1), 0.8),
        ((0.5, 0.5), 1),
        ((1e16, 0.1, -1e16), 0.1),
        ((0.1, Decimal("1E-30")), Decimal("0.100000000000000000000000000001")),
        ((-0.0,), 0),
        ((10**400, -(10**400), 3), 3),
        ((1e308, 5e-324), Decimal("1E+308") + 0),
    ],
    ids=str,
)
def test_a_score_is_what_it_is(points: tuple[Any, ...], score: object) -> None:
    result = rule_score(1, [rule(str(n), points=p) for n, p in enumerate(points)]).score
    if points[-1] == 5e-324:
        assert isinstance(result, Decimal)
        assert (result.as_tuple().exponent, result > Decimal("1E+308")) == (-324, True)
    else:
        assert (type(score), score) == (type(result), result)


@dataclass
class Ballot:
    value: object
    weight: float = 1


class Answer(enum.Enum):
    YES = "yes"


class Shout(str):
    __slots__ = ()

    def strip(self, _chars: str | None = None) -> str:
        raise AssertionError


def test_votes_in_other_forms() -> None:
    votes = (Ballot(Answer.YES), Ballot(Shout("yes"), 2), {"value": " yes"})
    assert consensus_vote(votes).support == 4
    assert consensus_vote(Json('[{"value": "\\ud835\\udfd9"}]')).winner == "\U0001d7d9"  # type: ignore[arg-type]  # is a list in data
    halves = [vote(value="\ud835\udfd9"), vote(value="\U0001d7d9")]
    assert consensus_vote(halves, normalize={"stripPunctuation": True}).winner == "\U0001d7d9"


@pytest.mark.parametrize(
    ("tool", "fields", "spelled"),
    [
        ("StallDetect", {"history": [{"a": 1}] * 4}, {"max_cycle": 2}),
        ("RuleScore", {"value": 1, "rules": [rule("a")]}, {"include_missed": True}),
        ("ConsensusVote", {"votes": [vote()]}, {"normalize": {"collapse_whitespace": True}}),
    ],
)
def test_both_spellings_are_read(tool: str, fields: Wire, spelled: Wire) -> None:
    camel = {"max_cycle": "maxCycle", "include_missed": "includeMissed"}
    in_data = {camel.get(name, name): value for name, value in spelled.items()}
    if tool == "ConsensusVote":
        in_data = {"normalize": {"collapseWhitespace": True}}
    assert call(tool, {**fields, **spelled}) == call(tool, {**fields, **in_data})
    if tool != "ConsensusVote":
        with pytest.raises(ValueError, match="stands twice"):
            call(tool, {**fields, **spelled, **in_data})


def test_an_undecided_rule_leaves_the_score_open() -> None:
    score = RuleScore([rule("a"), rule("b", when=OPEN)], bands=[{"name": "x", "min": 0}])
    result = score.score(RECORD)
    assert (None, None, None, "(undetermined)") == (
        result.score,
        result.raw_score,
        result.band,
        result.outcome,
    )
    assert [("b", True)] == [
        (r.id, "could not be decided" in r.reason) for r in result.undetermined
    ]
    assert result.to_dict()["undetermined"] == [r.to_dict() for r in result.undetermined]


def test_an_undecided_owner_refuses_the_answer() -> None:
    owners = [owner("a"), owner("b", when=OPEN, available=False)]
    result = lead_assign(RECORD, owners, strategy="first", fallback={"id": "z"})
    assert (False, None, ("a",), "(undetermined)") == (
        result.ok,
        result.owner,
        result.eligible,
        result.outcome,
    )
    assert '"b": ' in str(result.conflict)


def test_outcomes() -> None:
    assert consensus_vote([vote(), vote(value=1)]).outcome == "(tie)"
    assert consensus_vote([vote(), vote(), vote(value=1)], threshold=1).outcome == "(undecided)"
    assert [consensus_vote([vote(value=v)]).outcome for v in ("a", {"b": 1})] == ["a", '{"b":1}']
    assert stall_detect([{}]).outcome == "insufficient"
    assert rule_score(1, [rule("a")]).outcome == "(no band)"
    away = [owner("a", available=False), owner("b", available=False)]
    assert lead_assign(1, away, strategy="first").outcome == "(no match)"
    assert lead_assign(1, away, strategy="first", fallback={"id": "z"}).outcome == "z"
    assert lead_assign(1, [owner("a"), owner("b")], strategy="specific").outcome == "(conflict)"


def test_results_and_compiled_ones_are_frozen() -> None:
    score, roster = RuleScore([rule("a")]), LeadAssign([owner("a")], strategy="first")
    for frozen, name in (
        (score, "_points"),
        (roster, "_ids"),
        (score.score(1), "score"),
        (roster.assign(1), "owner"),
        (consensus_vote([vote()]), "winner"),
        (stall_detect([{}]), "reason"),
    ):
        with pytest.raises(AttributeError):
            setattr(frozen, name, None)
    rules: list[Any] = [rule("a", points=2)]
    again = RuleScore(rules)
    rules[0]["points"] = 3
    assert again.score(1).score == 2


def test_a_wire_form_is_the_callers_own() -> None:
    answer = consensus_vote([{"value": {"a": [1]}}])
    wire: Any = answer.to_dict()
    wire["winner"]["a"].append(2)
    wire["groups"][0]["value"]["a"].append(3)
    assert {"a": [1]} == answer.winner == answer.groups[0].value
