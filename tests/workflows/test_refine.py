"""Refine: its promise by its id, what ends it, and which draft comes back."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import (
    Checks,
    ConfigError,
    Limits,
    Refine,
    RefineResult,
    Reply,
    Retry,
    RuleScore,
    Run,
    Usage,
    UsageError,
    Verdict,
    Work,
    refine,
)
from interlock.harness import Ctx
from interlock.testing import ManualClock, run_checked, scripted

from .conftest import Go

VALUES = {"topic": "rails"}


def drafts(count: int) -> Any:
    return scripted(*(f"draft {number}" for number in range(count)))


def scores(*given: float | None, ok: bool = False) -> Any:
    return scripted(*(Verdict(ok=ok, score=one, feedback=f"not {one}") for one in given))


def test_N_03_revise_is_told_what_was_wrong_until_it_is_good_enough(go: Go) -> None:
    no = Verdict(ok=False, feedback="shorter")
    judge = scripted(no, Verdict(ok=False, feedback="more"), Verdict(ok=True))
    draft, revise = scripted("one"), scripted("two", "three", "four")
    fed_back: Any = revise.calls
    result = go(refine, VALUES, draft=draft, judge=judge, revise=revise, max_rounds=9)

    assert draft.calls == [VALUES]
    assert draft.calls[0] is VALUES
    told = [(values, drafted, verdict.feedback) for values, drafted, verdict, _ in fed_back]
    assert told == [(VALUES, "one", "shorter"), (VALUES, "two", "more")]
    assert [len(history) for *_, history in fed_back] == [1, 2]
    assert (result.output, result.accepted, result.stopped_by) == ("three", True, "accepted")
    assert [step.path for step in result.rollout.steps] == [
        *("draft_0", "judge_0", "draft_1", "judge_1", "draft_2", "judge_2")
    ]
    assert [step.kind for step in result.rollout.steps[:4]] == [
        *("draft", "judge", "revise", "judge")
    ]


def test_every_draft_is_judged_the_last_included(go: Go) -> None:
    judge: Any = scripted(Verdict(ok=False), repeat=True)
    result = go(refine, VALUES, draft=drafts(3), judge=judge)

    assert [reply.output for reply in judge.calls] == ["draft 0", "draft 1", "draft 2"]
    assert (result.stopped_by, result.status, result.rounds) == ("rounds", "incomplete", 3)


# What the judge says in each round, and what comes of it.
NO, YES = Verdict(ok=False), Verdict(ok=True)
OPEN = Verdict(ok=False, undetermined=True)
CASES: list[tuple[dict[str, Any], list[object], tuple[str, int, float | None, bool, int]]] = [
    ({}, [NO, NO, NO], ("rounds", 2, None, False, 3)),
    ({}, [NO, YES], ("accepted", 1, None, True, 2)),
    ({}, [NO, OPEN, OPEN], ("rounds", 2, None, False, 3)),
    ({}, [0.5, 0.7, 0.6], ("rounds", 1, 0.7, False, 3)),
    ({}, [0.5, 0.5, 0.5], ("rounds", 0, 0.5, False, 3)),
    ({}, [NO, 0.1, NO], ("rounds", 1, 0.1, False, 3)),
    ({}, [ValueError("judge"), 0.1, NO], ("rounds", 1, 0.1, False, 3)),
    ({}, [0.9, Verdict(ok=True, score=0.2)], ("accepted", 1, 0.2, True, 2)),
    ({"target": 0.9}, [0.66, 0.62, 0.59], ("rounds", 0, 0.66, False, 3)),
    ({"target": 0.9}, [0.5, 0.9], ("accepted", 1, 0.9, True, 2)),
    ({"target": 0.9}, [Verdict(ok=True, score=0.5), 1], ("accepted", 1, 1, True, 2)),
    ({"target": 0.9}, [YES, NO, YES], ("rounds", 2, None, False, 3)),
    ({"target": 0.5}, [Verdict(ok=False, score=1.0, undetermined=True), 0.6],
     ("accepted", 1, 0.6, True, 2)),
    ({"target": 0}, [-1, 0.0], ("accepted", 1, 0, True, 2)),
    ({"patience": 1}, [0.5, 0.7, 0.6], ("patience", 1, 0.7, False, 3)),
    ({"patience": 1}, [0.7, 0.7], ("patience", 0, 0.7, False, 2)),
    ({"patience": 1}, [NO, NO], ("patience", 1, None, False, 2)),
    ({"patience": 2, "max_rounds": 9}, [0.7, 0.6, 0.8, 0.1, 0.2], ("patience", 2, 0.8, False, 5)),
    ({"max_rounds": 1}, [0.5], ("rounds", 0, 0.5, False, 1)),
]  # fmt: skip


def verdict_of(said: object) -> object:
    return Verdict(ok=False, score=said) if isinstance(said, (int, float)) else said


@pytest.mark.parametrize(("options", "said", "expected"), CASES)
def test_what_comes_back(
    go: Go,
    options: dict[str, Any],
    said: list[object],
    expected: tuple[str, int, float | None, bool, int],
) -> None:
    judge = scripted(*map(verdict_of, said))
    result = go(refine, VALUES, draft=drafts(9), judge=judge, **options)
    stopped_by, best, score, accepted, rounds = expected

    assert (result.stopped_by, result.best_round, result.score) == (stopped_by, best, score)
    assert (result.accepted, result.rounds, len(judge.calls)) == (accepted, rounds, rounds)
    assert result.output == f"draft {best}"
    assert result.status == ("completed" if accepted else "incomplete")
    assert [one.round for one in result.history] == list(range(rounds))


class TestEqualDrafts:
    def test_they_end_it_at_once(self, go: Go) -> None:
        judge = scripted(NO, repeat=True)
        result = go(refine, VALUES, draft=scripted("a", "b", "b"), judge=judge, max_rounds=9)
        step = result.rollout.steps[-1]

        assert (result.stopped_by, result.status, result.rounds) == ("stalled", "incomplete", 3)
        assert (step.path, step.kind, step.decision["reason"]) == (
            "stalled",
            "decision",
            "unchanged",
        )

    def test_so_do_drafts_in_a_circle(self, go: Go) -> None:
        draft = scripted("a", "b", "a", "b")
        result = go(refine, 1, draft=draft, judge=scripted(NO, repeat=True), max_rounds=9)

        assert (result.stopped_by, result.rounds) == ("stalled", 4)
        assert result.rollout.step("stalled").decision["reason"] == "oscillating"

    def test_a_yes_goes_first(self, go: Go) -> None:
        result = go(refine, 1, draft=scripted("a", "a"), judge=scripted(NO, YES))

        assert (result.stopped_by, result.best_round) == ("accepted", 1)

    def test_data_tell_drafts_apart(self, go: Go) -> None:
        draft = scripted(*(Reply("same", data={"n": number}) for number in range(3)))
        result = go(refine, 1, draft=draft, judge=scripted(NO, repeat=True))

        assert result.stopped_by == "rounds"

    def test_data_that_json_cannot_hold_do_not(self, go: Go) -> None:
        draft = scripted(Reply("same", data=object()), Reply("same", data=object()))
        result = go(refine, 1, draft=draft, judge=scripted(NO, repeat=True))

        assert result.stopped_by == "stalled"


class TestFailures:
    def test_a_raising_revise_keeps_the_best_so_far(self, go: Go) -> None:
        revise = scripted("b", ValueError("bad"))
        result = go(refine, 1, draft=scripted("a"), judge=scores(0.7, 0.2), revise=revise)

        assert (result.stopped_by, result.status, result.error.type) == (
            *("failed", "failed"),
            "ValueError",
        )
        assert (result.output, result.best_round, result.score) == ("a", 0, 0.7)
        assert [one.status for one in result.history] == ["completed", "completed", "failed"]

    @pytest.mark.parametrize("draft", [ValueError("bad"), Reply("half", status="failed")])
    def test_without_any_draft_there_is_nothing(self, go: Go, draft: object) -> None:
        judge = scripted()
        result = go(refine, 1, draft=scripted(draft), judge=judge)

        assert (result.status, result.stopped_by, result.output) == ("failed", "failed", None)
        assert (result.best_round, result.rounds, judge.calls) == (None, 1, [])

    def test_a_judge_that_raises_refuses(self, go: Go) -> None:
        judge = scripted(ValueError("down"), YES)
        result = go(refine, 1, draft=drafts(2), judge=judge)

        assert (result.stopped_by, result.best_round) == ("accepted", 1)
        assert result.history[0].error.type == "ValueError"
        assert result.rollout.step("judge_0").status == "undetermined"

    def test_a_draft_is_tried_again(self, go: Go, clock: ManualClock) -> None:
        draft = Work(scripted(ConnectionResetError("reset"), "a"), retry=Retry())
        result = go(refine, 1, draft=draft, judge=scripted(YES), run=Run(clock=clock))

        assert (result.output, len(result.rollout.find(name="draft_0"))) == ("a", 2)

    @pytest.mark.parametrize("score", [math.nan, math.inf, True, "high"])
    def test_a_score_that_is_none_is_misuse(self, go: Go, score: Any) -> None:
        judge = scripted(Verdict(ok=False, score=score))
        with pytest.raises(UsageError, match=r"judge `judge_0` gave the score"):
            go(refine, 1, draft=drafts(1), judge=judge)

    def test_a_judge_that_gives_no_verdict_is_misuse(self, go: Go) -> None:
        with pytest.raises(UsageError, match=r"judge `judge_0` returned a float"):
            go(refine, 1, draft=drafts(1), judge=scripted(0.5))


class TestLimits:
    def test_a_ceiling_ends_it_with_the_best(self, go: Go) -> None:
        draft = scripted(*(Reply(text, usage=Usage(50)) for text in "abc"))
        result = go(refine, 1, draft=draft, judge=scores(0.5, 0.4), max_tokens=100)

        assert (result.stopped_by, result.status, result.output) == ("tokens", "incomplete", "a")
        assert result.usage == Usage(100)

    def test_one_that_leaves_no_draft_fails(self, go: Go) -> None:
        result = go(refine, 1, draft=drafts(1), judge=scripted(), max_tokens=0)

        assert (result.stopped_by, result.status, result.best_round) == ("tokens", "failed", None)

    def test_a_draft_that_nobody_judged_comes_last(self, go: Go) -> None:
        run = Run(limits=Limits(max_steps=3))
        result = go(refine, 1, draft=drafts(2), judge=scores(0.1), run=run)
        alone = go(
            refine, 1, draft=drafts(1), judge=scores(0.1), run=Run(limits=Limits(max_steps=1))
        )

        assert (result.stopped_by, result.output) == ("steps", "draft 0")
        assert (alone.status, alone.output, alone.accepted) == ("incomplete", "draft 0", False)
        assert alone.history[0].verdict is None

    def test_a_reserve_holds_for_drafts_and_revisions(self, go: Go) -> None:
        revise = scripted()
        result = go(
            refine,
            1,
            draft=Work(scripted(Reply("a", usage=Usage(40))), reserve=60),
            judge=scores(0.1),
            revise=Work(revise, reserve=61),
            max_tokens=100,
        )

        assert (result.stopped_by, result.output, revise.calls) == ("tokens", "a", [])

    def test_a_judging_model_counts(self, go: Go) -> None:
        judge = scripted(Verdict(ok=True, usage=Usage(7)))
        result = go(refine, 1, draft=scripted(Reply("a", usage=Usage(5))), judge=judge)

        assert result.usage == result.history[0].usage == Usage(12)


class TestWhatDraftsAgain:
    def test_draft_with_the_same_where_it_takes_four(self, go: Go) -> None:
        asked: list[object] = []

        def draft(values: object, before: object = None, verdict: Any = None, history: Any = ()):  # type: ignore[no-untyped-def]  # noqa: ANN202
            asked.append((values, before, verdict and verdict.feedback, len(history)))
            return f"{before}+"

        result = go(refine, 1, draft=draft, judge=scores(0.1, 0.2, 0.3))

        assert asked == [
            (1, None, None, 0),
            (1, "None+", "not 0.1", 1),
            (1, "None++", "not 0.2", 2),
        ]
        assert {step.kind for step in result.rollout.find(name="draft_1")} == {"draft"}

    def test_draft_of_the_values_alone_where_it_takes_one(self, go: Go) -> None:
        draft = drafts(3)
        made = Refine(draft=draft, judge=scores(0.1, 0.2, 0.3))
        go(made.run, VALUES)

        assert draft.calls == [VALUES] * 3
        assert "nothing is fed back" in made.lint()[0].message

    def test_a_revise_may_look_at_its_context(self, go: Go) -> None:
        async def revise(_v: object, draft: str, _said: Verdict, _rest: object, ctx: Ctx) -> str:
            return f"{draft} {ctx.path}"

        judge = scripted(NO, NO, YES)
        result = go(refine, 1, draft=scripted("a"), judge=judge, revise=revise)

        assert result.output == "a draft_1 draft_2"

    def test_it_gets_what_a_draft_returned_as_it_is(self, go: Go) -> None:
        data = {"text": "a"}
        revise: Any = scripted("b")
        go(refine, 1, draft=scripted(data), judge=scripted(NO, YES), revise=revise)

        assert revise.calls[0][1] is data

    def test_sync_code_runs_in_a_thread(self, go: Go) -> None:
        import threading

        here: list[int] = []

        def revise(_values: object, draft: str, *_more: object) -> str:
            here.append(threading.get_ident())
            return draft + "!"

        async def work() -> tuple[RefineResult, int]:
            made = await refine(1, draft=scripted("a"), judge=scripted(NO, YES), revise=revise)
            return made, threading.get_ident()

        result, loop = go(work)

        assert result.output == "a!"
        assert here != [loop]

    def test_what_is_fed_back_changes_the_digest_of_the_input(self, go: Go) -> None:
        def digests(feedback: str) -> list[str | None]:
            judge = scripted(Verdict(ok=False, feedback=feedback), YES)
            made = go(refine, 1, draft=scripted("a"), judge=judge, revise=scripted("b"))
            return [step.input_digest for step in made.rollout.find(name="draft_1")]

        assert digests("x") == digests("x") != digests("y")
        assert None not in digests("x")


class TestDecisionTools:
    CHECKS = Checks(
        [
            {"path": "output", "op": "contains", "expected": "a"},
            {"path": "output", "op": "contains", "expected": "b"},
        ]
    )

    def test_checks_give_the_share_that_holds_and_what_failed(self, go: Go) -> None:
        revise: Any = scripted("a", "ab")
        result = go(refine, 1, draft=scripted("c"), judge=self.CHECKS, revise=revise)
        feedback = [verdict.feedback for _, _, verdict, _ in revise.calls]

        assert [one.score for one in result.history] == [0.0, 0.5, 1.0]
        assert feedback[0].count("output") == 2
        assert feedback[1].count("output") == 1
        assert (result.stopped_by, result.output) == ("accepted", "ab")
        assert result.rollout.step("judge_1").decision["passed"] == 1

    def test_part_of_the_checks_may_be_the_target(self, go: Go) -> None:
        result = go(refine, 1, draft=scripted("c", "a"), judge=self.CHECKS, target=0.5)

        assert (result.output, result.accepted, result.score) == ("a", True, 0.5)

    def test_a_score_by_its_band(self, go: Go) -> None:
        rules = [{"id": "a", "when": [{"path": "n", "op": "greaterThan", "expected": 1}],
                  "points": 3}]  # fmt: skip
        judge = RuleScore(rules, bands=[{"name": "good", "min": 2}])
        result = go(refine, 1, draft=scripted({"n": 1}, {"n": 2}), judge=judge)

        assert ([one.score for one in result.history], result.data) == ([0, 3], {"n": 2})


def test_equal_runs_of_one_object_give_equal_results(go: Go) -> None:
    made = Refine(draft=lambda _v: "a", judge=lambda _r: Verdict(ok=False, score=0.5), patience=1)
    results = [go(made.run, 1, run=Run("r", clock=ManualClock())) for _ in range(3)]

    assert results[0] == results[1] == results[2]


def test_its_flow() -> None:
    made = Refine(draft=str, judge=bool, revise=lambda _v, d, _j, _h: d)

    assert made.flow().ids == ("draft_0", "judge_0", "draft_n", "judge_n")
    assert [node.kind for node in made.flow().nodes] == ["draft", "judge", "revise", "judge"]
    assert Refine(draft=str, judge=bool, max_rounds=1).flow().ids == ("draft_0", "judge_0")
    assert not hasattr(made, "compile")


BAD: list[tuple[dict[str, Any], list[str]]] = [
    ({"judge": None}, ["judge"]),
    ({"judge": 3}, ["judge"]),
    ({"draft": 3}, ["draft"]),
    ({"draft": lambda _a, _b, _c: ""}, ["draft"]),
    ({"revise": 3}, ["revise"]),
    ({"revise": lambda _v: ""}, ["revise"]),
    ({"revise": lambda _v, _d, _j: ""}, ["revise"]),
    ({"revise": lambda _v, _d, _j, _h, _c, _x: ""}, ["revise"]),
    ({"revise": lambda _v, _d, _j, _h, *, x: x}, ["revise"]),
    ({"revise": Work(lambda *_all: "", timeout=-1)}, ["revise.timeout"]),
    ({"max_rounds": 0}, ["max_rounds"]),
    ({"max_rounds": None}, ["max_rounds"]),
    ({"max_rounds": True}, ["max_rounds"]),
    ({"target": math.nan}, ["target"]),
    ({"target": "high"}, ["target"]),
    ({"target": True}, ["target"]),
    ({"patience": 0}, ["patience"]),
    ({"patience": 1.5}, ["patience"]),
    ({"max_tokens": -1}, ["max_tokens"]),
    ({"name": ""}, ["name"]),
    ({"draft": 3, "judge": 4, "patience": 0}, ["draft", "judge", "patience"]),
]


@pytest.mark.parametrize(("options", "fields"), BAD)
def test_refused_with_every_field(options: dict[str, Any], fields: list[str]) -> None:
    with pytest.raises(ConfigError) as refused:
        Refine(**{"draft": str, "judge": bool, **options})

    assert [problem.field for problem in refused.value.problems] == fields


def test_a_single_round_is_warned_of() -> None:
    assert [one.field for one in Refine(draft=str, judge=bool, max_rounds=1).lint()] == [
        "max_rounds"
    ]
    assert Refine(draft=str, judge=bool, revise=lambda *_all: "").lint() == ()


def plain(_values: object) -> str:
    return "a"


def again(_values: object, draft: str, _said: Verdict, _history: object) -> str:
    return draft + "a"


def test_digests_tell_setups_apart() -> None:
    made = [
        Refine(draft=plain, judge=bool),
        Refine(draft=str, judge=bool),
        Refine(draft=plain, judge=callable),
        Refine(draft=plain, judge=bool, revise=again),
        Refine(draft=plain, judge=bool, max_rounds=4),
        Refine(draft=plain, judge=bool, target=1),
        Refine(draft=plain, judge=bool, patience=1),
        Refine(draft=Work(plain, timeout=1), judge=bool),
    ]

    assert len({one.digest for one in made}) == len(made)


def test_it_can_be_pickled() -> None:
    checks = Checks([{"path": "output", "op": "equals", "expected": "aaa"}])
    made = Refine(draft=plain, judge=checks, revise=again)
    copy = pickle.loads(pickle.dumps(made))  # noqa: S301

    assert (copy.digest, copy.sync(1).output) == (made.digest, "aaa")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    given_scores=st.lists(st.integers(0, 5), min_size=1, max_size=6),
    target=st.none() | st.integers(0, 6),
    patience=st.none() | st.integers(1, 3),
)
def test_the_highest_score_comes_back_the_earliest_of_equal_ones(
    backend: str, given_scores: list[int], target: int | None, patience: int | None
) -> None:
    judge = scores(*given_scores)
    made = Refine(
        draft=drafts(len(given_scores)),
        judge=judge,
        max_rounds=len(given_scores),
        target=target,
        patience=patience,
    )
    result = run_checked(lambda: made.run(1), backend=backend)
    seen = given_scores[: len(judge.calls)]

    assert result.rounds == len(seen)
    assert (result.score, result.best_round) == (max(seen), seen.index(max(seen)))
    assert result.accepted == (target is not None and max(seen) >= target)
    assert RefineResult.from_json(result.to_json()) == result
