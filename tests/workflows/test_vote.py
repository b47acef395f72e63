"""Vote: who is asked, what counts, when it ends early, and that no decision is a silent pick."""

from __future__ import annotations

import math
import pickle
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import (
    ConfigError,
    ConsensusVote,
    Limits,
    Parallel,
    Reply,
    Run,
    SpecInvalid,
    Stage,
    Usage,
    UsageError,
    Vote,
    VotingResult,
    Work,
    chain,
    consensus_vote,
    route,
    vote,
)
from interlock.testing import run_checked, scripted

from .conftest import Go

ALL = {"early_stop": False}
ERROR = ValueError("down")


def one_by_one(*answers: object) -> dict[str, Any]:
    return {"run_one": scripted(*answers), "n": len(answers), "concurrency": 1}


# What the voters answer, the rules, and what comes of it.
CASES: list[tuple[list[object], dict[str, Any], tuple[bool, object, str, str]]] = [
    (["a", "a", "b"], ALL, (True, "a", "decided", "completed")),
    (["a", "b", "c"], ALL, (False, None, "undecided", "completed")),
    (["a", "b"], ALL, (False, None, "undecided", "completed")),
    (["a", "b", ERROR], ALL, (False, None, "undecided", "incomplete")),
    (["a", "a", ERROR], ALL, (True, "a", "decided", "completed")),
    ([ERROR, ERROR, "a"], ALL, (True, "a", "decided", "completed")),
    ([ERROR, ERROR], ALL, (False, None, "failed", "failed")),
    ([" a ", "a"], ALL, (True, "a", "decided", "completed")),
    ([{"x": 1, "y": 2}, {"y": 2, "x": 1}, "c"], ALL,
     (True, {"x": 1, "y": 2}, "decided", "completed")),
    ([Reply("x", data=3), Reply("y", data=3.0)], ALL, (True, 3, "decided", "completed")),
    (["a", "a", "b"], {**ALL, "agree": ConsensusVote(threshold=0.7)},
     (False, None, "undecided", "completed")),
    ([10, 10.4, 20], {**ALL, "agree": ConsensusVote(mode="numeric", tolerance=0.5)},
     (True, 10, "decided", "completed")),
    (["YES!", "yes", "no"],
     {**ALL, "agree": ConsensusVote(normalize={"lowercase": True, "stripPunctuation": True})},
     (True, "yes", "decided", "completed")),
    ([Reply("a", data={"v": "a", "w": 0.9}), Reply("b", data={"v": "b", "w": 0.2})],
     {**ALL, "weight": lambda reply: reply.data["w"]},
     (True, {"v": "a", "w": 0.9}, "decided", "completed")),
]  # fmt: skip


@pytest.mark.parametrize(("answers", "options", "expected"), CASES)
def test_what_the_votes_settle_on(
    go: Go,
    answers: list[object],
    options: dict[str, Any],
    expected: tuple[bool, object, str, str],
) -> None:
    result = go(vote, "q", **one_by_one(*answers), **options)

    assert (result.decided, result.winner, result.stopped_by, result.status) == expected
    assert len(result.rollout.find(kind="vote")) == len(answers)
    assert VotingResult.from_json(result.to_json()) == result


def test_every_voter_is_asked_the_same(go: Go) -> None:
    values = {"q": 1}
    voter = scripted("a", repeat=True)
    result = go(vote, values, voter, n=4, early_stop=False)

    assert all(asked is values for asked in voter.calls)
    assert [step.path for step in result.rollout.find(kind="vote")] == [
        *("vote_0", "vote_1", "vote_2", "vote_3")
    ]
    assert len({step.input_digest for step in result.rollout.find(kind="vote")}) == 1
    assert result.groups[0].voters == ("vote_0", "vote_1", "vote_2", "vote_3")


def test_the_count_is_recorded_in_full(go: Go) -> None:
    result = go(vote, 1, **one_by_one("a", "b", "a"), **ALL)
    step = result.rollout.step("consensus")
    votes = [{"value": value, "voter": f"vote_{at}"} for at, value in enumerate("aba")]

    assert (step.kind, step.status) == ("decision", "completed")
    assert step.decision == consensus_vote(votes).to_dict()
    assert (result.agreement, result.dissenters) == (2 / 3, ("vote_1",))
    assert [(one.value, one.weight) for one in result.groups] == [("a", 2), ("b", 1)]


def test_no_decision_names_the_groups_and_picks_none(go: Go) -> None:
    result = go(vote, 1, **one_by_one("a", "b"))

    assert (result.decided, result.winner, result.output, result.data) == (False, None, None, None)
    assert [one.value for one in result.groups] == ["a", "b"]
    assert result.rollout.step("consensus").status == "undetermined"


def test_a_failed_voter_abstains_and_is_listed(go: Go) -> None:
    answers = ["a", ValueError("x"), Reply("b", status="failed"), "a"]
    result = go(vote, 1, **one_by_one(*answers), **ALL)

    assert (result.decided, result.abstained) == (True, ("vote_1", "vote_2"))
    assert result.agreement == 1.0
    assert [one.status for one in result.outcomes] == [
        *("completed", "failed", "failed", "completed")
    ]


# What is answered, one after the other, and how many of them are heard.
HEARD: list[tuple[list[object], dict[str, Any], int]] = [
    (["a", "a", "b"], {}, 2),
    (["a", "a", "a", "b", "b"], {}, 3),
    (["a", "b", "a", "a", "b"], {}, 4),
    (["a", "b", "c"], {}, 3),
    (["a", ERROR, "a"], {}, 2 + 1),
    (["a", "a", "a"], {"agree": ConsensusVote(threshold=1)}, 3),
    (["a", "b", "a", "a"], {"agree": ConsensusVote(threshold=1)}, 2),
    (["a", "b", "c", "d", "e"], {"agree": ConsensusVote(threshold=0.8)}, 2 + 1),
    (["a", "a", "b"], {"weight": lambda _reply: 1}, 3),
    ([1, 1.1, 2], {"agree": ConsensusVote(mode="numeric", tolerance=0.5)}, 2),
    (["a"], {}, 1),
]


class TestEarlyStop:
    @pytest.mark.parametrize(("answers", "options", "heard"), HEARD)
    def test_it_ends_once_nothing_can_change(
        self, go: Go, answers: list[object], options: dict[str, Any], heard: int
    ) -> None:
        early = go(vote, 1, **one_by_one(*answers), **options)
        whole = go(vote, 1, **one_by_one(*answers), **ALL, **options)
        asked = [one for one in early.outcomes if one.status != "cancelled"]

        assert len(asked) == heard
        assert (early.decided, early.winner) == (whole.decided, whole.winner)

    def test_those_that_run_are_cancelled(self, go: Go) -> None:
        asked: list[int] = []

        async def voter(_value: object) -> str:
            asked.append(len(asked))
            if len(asked) == 3:
                await anyio.sleep_forever()
            await anyio.lowlevel.checkpoint()
            return "a"

        result = go(vote, 1, voter, n=3)

        assert (result.decided, result.status) == (True, "completed")
        assert sorted(one.status for one in result.outcomes) == [
            *("cancelled", "completed", "completed")
        ]
        assert result.abstained == ()

    def test_where_the_order_matters_those_before_are_waited_for(self, go: Go) -> None:
        async def work() -> VotingResult:
            done = anyio.Event()

            async def voter(_value: object, ctx: Any) -> float:
                if ctx.path == "vote_0":
                    await done.wait()
                    return 1.4
                if ctx.path == "vote_2":
                    done.set()
                return {"vote_1": 1.0, "vote_2": 1.8}[ctx.path]

            agree = ConsensusVote(mode="numeric", tolerance=0.5)
            return await vote(1, voter, n=3, agree=agree)

        result = go(work)

        assert (result.decided, result.winner, result.agreement) == (True, 1.4, 1.0)


class TestLimits:
    def test_votes_that_are_missing_must_not_have_made_a_difference(self, go: Go) -> None:
        voter = scripted(*(Reply("a", usage=Usage(10)) for _ in range(5)))
        short = go(vote, 1, voter, n=5, concurrency=1, max_tokens=20)
        enough = go(
            vote,
            1,
            scripted(*(Reply("a", usage=Usage(10)) for _ in range(3))),
            n=3,
            concurrency=1,
            max_tokens=20,
        )

        assert (short.decided, short.winner, short.stopped_by) == (False, None, "tokens")
        assert (short.status, [one.value for one in short.groups]) == ("incomplete", ["a"])
        assert (enough.decided, enough.stopped_by, enough.status) == (True, "decided", "completed")

    def test_without_any_vote_it_fails(self, go: Go) -> None:
        result = go(vote, 1, scripted(), max_tokens=0)

        assert (result.status, result.stopped_by, result.groups) == ("failed", "tokens", ())

    def test_a_reserve_makes_it_wait(self, go: Go) -> None:
        voter = Work(scripted(Reply("a", usage=Usage(1)), repeat=True), reserve=60)
        result = go(vote, 1, voter, n=5, max_tokens=100)

        assert (result.decided, result.usage.total) == (True, 3)

    def test_the_count_is_no_step_of_the_ceiling(self, go: Go) -> None:
        run = Run(limits=Limits(max_steps=3))

        assert go(vote, 1, scripted("a", "b", "a"), run=run, concurrency=1).decided

    def test_it_can_be_cancelled(self, go: Go) -> None:
        async def work() -> VotingResult:
            run = Run()

            async def voter(_value: object) -> None:
                run.cancel()
                await anyio.sleep_forever()

            return await vote(1, voter, run=run)

        result = go(work)

        assert (result.status, result.decided) == ("cancelled", False)
        assert {one.status for one in result.outcomes} == {"cancelled"}


@pytest.mark.parametrize("weight", [-1, math.nan, math.inf, True, None, "1"])
def test_a_weight_that_is_none_is_misuse(go: Go, weight: object) -> None:
    with pytest.raises(UsageError, match=r"the weight of step `vote_0` is"):
        go(vote, 1, scripted("a"), n=1, weight=lambda _reply: weight)


def test_so_is_one_that_raises(go: Go) -> None:
    with pytest.raises(UsageError, match=r"the weight of step `vote_0` raised: TypeError"):
        go(vote, 1, scripted("a"), n=1, weight=lambda reply: reply.data["x"])


def test_so_is_a_vote_that_json_cannot_hold(go: Go) -> None:
    with pytest.raises(UsageError, match=r"step `vote_0` voted with data"):
        go(vote, 1, scripted(Reply("x", data=object())), n=1)


JUDGES: list[tuple[list[Any], str, str]] = [
    ([True, False, True], "done", "completed"),
    (["yes", "yes", "no"], "done", "completed"),
    ([{"decision": "allow"}] * 2 + [ERROR], "done", "completed"),
    (["no", "no", "yes"], "gate", "failed"),
    (["yes", "no", ERROR], "gate", "undetermined"),
    ([ERROR, ERROR, ERROR], "gate", "undetermined"),
]


@pytest.mark.parametrize(("answers", "stopped_by", "status"), JUDGES)
def test_several_judges_may_stand_at_a_gate(
    go: Go, answers: list[Any], stopped_by: str, status: str
) -> None:
    judge = scripted(*(Reply("x", data=one, usage=Usage(2)) if one in (True, False) else one
                       for one in answers))  # fmt: skip
    gate = Vote(judge, n=3, concurrency=1, early_stop=False)
    result = go(chain, 1, [Stage("draft", scripted("text"), gate)])
    step = result.rollout.step("gate_draft")

    assert (result.stopped_by, step.status) == (stopped_by, status)
    assert step.decision["decided"] is (status != "undetermined")
    assert step.child.stopped_by == ("decided" if step.decision["decided"] else
                                     step.child.stopped_by)  # fmt: skip
    assert result.usage.total == 2 * sum(one in (True, False) for one in answers)
    assert all(isinstance(asked, Reply) and asked.output == "text" for asked in judge.calls)


def test_votes_for_neither_yes_nor_no_are_no_verdict(go: Go) -> None:
    with pytest.raises(UsageError, match=r"returned a VotingResult, which is no verdict"):
        go(chain, 1, [Stage("a", scripted("A"), Vote(scripted("blue"), n=1))])


def test_votes_may_classify(go: Go) -> None:
    def routed(*answers: object) -> Any:
        made = Vote(scripted(*answers), n=len(answers), concurrency=1)
        return go(route, 1, classify=made, arms={"a": str, "b": str}, default="b")

    assert (routed("a", "a", "b").arm, routed("a", "b").stopped_by) == ("a", "unrouted")


def test_votes_nest_in_branches(go: Go) -> None:
    made = Parallel({"x": Vote(scripted("a", repeat=True)), "y": scripted("b")})

    assert go(made.run, 1).data == {"x": "a", "y": "b"}


BAD: list[tuple[dict[str, Any], list[str]]] = [
    ({"run_one": 3}, ["run_one"]),
    ({"run_one": lambda: 1}, ["run_one"]),
    ({"run_one": Work(str, timeout=0)}, ["run_one.timeout"]),
    ({"n": 0}, ["n"]),
    ({"n": 513}, ["n"]),
    ({"n": True}, ["n"]),
    ({"n": None}, ["n"]),
    ({"agree": "exact"}, ["agree"]),
    ({"early_stop": 1}, ["early_stop"]),
    ({"weight": 2}, ["weight"]),
    ({"concurrency": 0}, ["concurrency"]),
    ({"max_tokens": -1}, ["max_tokens"]),
    ({"name": "\n"}, ["name"]),
    ({"run_one": 3, "n": -1, "weight": 0}, ["run_one", "n", "weight"]),
]


@pytest.mark.parametrize(("options", "fields"), BAD)
def test_refused_with_every_field(options: dict[str, Any], fields: list[str]) -> None:
    with pytest.raises(ConfigError) as refused:
        Vote(**{"run_one": str, **options})

    assert [problem.field for problem in refused.value.problems] == fields


def test_its_flow_its_lint_and_its_digest() -> None:
    made = [
        Vote(str),
        Vote(repr),
        Vote(str, n=5),
        Vote(str, agree=ConsensusVote(threshold=0.6)),
        Vote(str, early_stop=False),
        Vote(str, weight=lambda _reply: 1),
        Vote(str, concurrency=1),
    ]

    assert made[0].flow().ids == ("vote_0", "vote_1", "vote_2", "consensus")
    assert [one.field for one in Vote(str, n=1).lint()] == ["n"]
    assert made[0].lint() == ()
    assert len({one.digest for one in made}) == len(made)
    again = pickle.loads(pickle.dumps(made[3]))  # noqa: S301
    assert (again.digest, again.sync("x").winner) == (made[3].digest, "x")


class TestRules:
    def test_they_count_as_the_function_does(self) -> None:
        votes = [{"value": 1}, {"value": 1.2}, {"value": 3}]
        rules = ConsensusVote(mode="numeric", tolerance=0.5, threshold=0.6)

        assert rules.count(votes) == consensus_vote(
            votes, mode="numeric", tolerance=0.5, threshold=0.6
        )

    def test_all_that_is_wrong_is_told(self) -> None:
        with pytest.raises(SpecInvalid) as refused:
            ConsensusVote(mode="some", tolerance=-1, overlap=2, threshold=9, normalize={"x": 1})  # type: ignore[arg-type]

        assert [one.field for one in refused.value.problems] == [
            *("mode", "tolerance", "overlap", "threshold", "normalize.x")
        ]

    def test_digests_tell_them_apart(self) -> None:
        made = [
            ConsensusVote(),
            ConsensusVote(mode="set"),
            ConsensusVote(tolerance=1),
            ConsensusVote(overlap=0.5),
            ConsensusVote(threshold=1),
            ConsensusVote(normalize={"lowercase": True}),
        ]

        assert len({one.fingerprint for one in made}) == len(made)

    def test_whether_the_order_matters(self) -> None:
        assert ConsensusVote().is_orderless
        assert ConsensusVote(mode="numeric").is_orderless
        assert ConsensusVote(mode="set").is_orderless
        assert not ConsensusVote(mode="numeric", tolerance=0.1).is_orderless
        assert not ConsensusVote(mode="set", overlap=0.9).is_orderless

    def test_without_votes_only_no_voters_settle_it(self) -> None:
        assert ConsensusVote().is_settled([], 0)
        assert not ConsensusVote().is_settled([], 1)


ANSWERS = st.lists(st.sampled_from([0, 1, 2, 4]), min_size=1, max_size=4)
RULES = st.builds(
    ConsensusVote,
    mode=st.sampled_from(["exact", "numeric"]),
    tolerance=st.sampled_from([0, 1]),
    threshold=st.sampled_from([0, 0.5, 0.6, 0.75, 1]),
)


def endings(rules: ConsensusVote, given_votes: list[int], pending: int) -> set[tuple[bool, object]]:
    """Give every way in which it can end: each one to come votes for anything, or abstains."""
    votes = [{"value": value} for value in given_votes]
    ends: set[tuple[bool, object]] = set()
    rests: list[list[int]] = [[]]
    for _ in range(pending):
        rests += [[*rest, value] for rest in rests for value in (0, 1, 2, 4, 9)]
    for rest in rests:
        answer = rules.count([*votes, *({"value": value} for value in rest)])
        ends.add((answer.decided, answer.winner if answer.decided else None))
    return ends


@settings(max_examples=150, deadline=None, derandomize=True)
@given(rules=RULES, given_votes=ANSWERS, pending=st.integers(0, 3))
def test_settled_means_that_every_way_on_ends_alike(
    rules: ConsensusVote, given_votes: list[int], pending: int
) -> None:
    votes = [{"value": value} for value in given_votes]
    settled = rules.is_settled(votes, pending)

    ways = endings(rules, given_votes, pending)

    assert not settled or len(ways) == 1
    assert settled or len(ways) > 1 or not rules.is_orderless


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    answers=st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=6),
    threshold=st.sampled_from([0, 0.5, 0.75, 1]),
    concurrency=st.integers(1, 4),
)
def test_ending_early_changes_no_decision(
    backend: str, answers: list[str | None], threshold: float, concurrency: int
) -> None:
    async def voter(_value: object, ctx: Any) -> str:
        await anyio.lowlevel.checkpoint()
        said = answers[int(ctx.path.removeprefix("vote_"))]
        if said is None:
            raise ERROR
        return said

    rules = ConsensusVote(threshold=threshold)
    early, whole = (
        run_checked(
            Vote(voter, n=len(answers), agree=rules, early_stop=is_early,
                 concurrency=concurrency).run,
            backend=backend,
        )
        for is_early in (True, False)
    )  # fmt: skip

    assert (early.decided, early.winner) == (whole.decided, whole.winner)
    assert len(whole.rollout.find(kind="vote")) == len(answers)
