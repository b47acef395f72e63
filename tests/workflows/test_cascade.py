"""The promises of cascade, each by its id."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import pytest

from interlock import Branch as BranchTool
from interlock import (
    Cascade,
    CascadeResult,
    Checks,
    ConfigError,
    DecisionTable,
    ErrorClassify,
    Gate,
    Limits,
    Reply,
    Rollout,
    RuleScore,
    Run,
    Tier,
    Usage,
    UsageError,
    Verdict,
    cascade,
    consensus_vote,
)
from interlock.harness import tier_report
from interlock.testing import ManualClock, scripted

from .conftest import Go

VALUES = {"question": "why"}


def yes(_reply: Reply) -> bool:
    return True


def no(_reply: Reply) -> bool:
    return False


def used(output: str, read: int, wrote: int = 0, **more: Any) -> Reply:
    return Reply(output, usage=Usage(read, wrote), **more)


def only(output: str) -> Any:
    return lambda reply: reply.output == output


def escalations(result: CascadeResult) -> list[str | None]:
    return [one.escalated_by for one in result.history]


def test_C_01_takes_values_named_tiers_and_a_judge(go: Go) -> None:
    weak, strong = scripted("weak", repeat=True), scripted("strong", repeat=True)
    objects = go(
        cascade, VALUES, [Tier("first", weak), Tier("second", strong)], accept=only("strong")
    )
    pairs = go(cascade, VALUES, [("first", weak), ("second", strong)], accept=only("strong"))

    assert isinstance(objects, CascadeResult)
    assert objects.output == pairs.output == "strong"
    assert objects.rollout.same_as(pairs.rollout)
    assert inspect.iscoroutinefunction(cascade)


def test_C_02_tiers_are_tried_in_declared_order(go: Go) -> None:
    order: list[str] = []

    def tier(name: str) -> tuple[str, Any]:
        def asked(_values: object) -> str:
            order.append(name)
            return name

        return name, asked

    go(cascade, VALUES, [tier(name) for name in "cab"], accept=no)

    assert order == ["c", "a", "b"]


def test_C_03_every_tier_gets_the_same_values_and_nothing_else(go: Go) -> None:
    tiers = [scripted("a"), scripted(ValueError("b")), scripted("c")]
    go(cascade, VALUES, [(str(at), tier) for at, tier in enumerate(tiers)], accept=no)

    assert all(tier.calls == [VALUES] and tier.calls[0] is VALUES for tier in tiers)


def test_C_04_tier_names_the_one_whose_answer_it_is(go: Go) -> None:
    tiers = [("first", scripted("a")), ("second", scripted("b"))]

    assert go(cascade, VALUES, tiers, accept=only("b")).tier == "second"


def test_C_05_escalated_lists_those_that_did_not_answer(go: Go) -> None:
    tiers = [("first", scripted("a", repeat=True)), ("second", scripted("b", repeat=True))]

    assert go(cascade, VALUES, tiers, accept=yes).escalated == ()
    assert go(cascade, VALUES, tiers, accept=only("b")).escalated == ("first",)


def test_C_06_under_the_fallback_escalated_are_all_tried_but_the_one_returned(go: Go) -> None:
    tiers = [("haiku", scripted("weak")), ("opus", scripted(RuntimeError("down")))]
    result = go(cascade, VALUES, tiers, accept=no)

    assert (result.tier, result.escalated) == ("haiku", ("opus",))


def test_C_07_accepted_only_when_the_judge_said_yes_to_what_is_returned(go: Go) -> None:
    tiers = [("a", scripted("a", repeat=True)), ("b", scripted("b", repeat=True))]

    assert go(cascade, VALUES, tiers, accept=only("b")).accepted is True
    assert go(cascade, VALUES, tiers, accept=no).accepted is False


def test_C_08_the_first_accepted_answer_ends_the_run(go: Go) -> None:
    later = scripted()
    result = go(cascade, VALUES, [("a", scripted("a")), ("b", later)], accept=yes)

    assert later.calls == []
    assert (result.status, result.stopped_by) == ("completed", "accepted")


@pytest.mark.parametrize("given", [{}, {"accept": None}])
def test_C_09_a_judge_must_be_given(go: Go, given: dict[str, None]) -> None:
    tier = scripted()
    with pytest.raises(ConfigError, match=r"accept: .*is required"):
        go(cascade, VALUES, [("a", tier)], **given)

    assert tier.calls == []


class Answer:
    """Something of a client of one's own."""

    confident = True


@pytest.mark.parametrize(
    "accept",
    [
        lambda reply: reply.output == "text",
        lambda reply: reply.data["score"] == 1,
        lambda reply: reply.usage.total == 7,
        lambda reply: reply.raw.confident,
    ],
    ids=["output", "data", "usage", "raw"],
)
def test_C_10_the_judge_sees_the_whole_answer(go: Go, accept: Any) -> None:
    answer = Reply("text", data={"score": 1}, usage=Usage(3, 4), raw=Answer())

    assert go(cascade, VALUES, [("a", scripted(answer))], accept=accept).accepted


def test_C_11_the_judge_may_be_sync_or_async(go: Go) -> None:
    asked = scripted(False, True)
    tiers = [("a", scripted("a", repeat=True)), ("b", scripted("b", repeat=True))]
    result = go(cascade, VALUES, tiers, accept=asked)

    assert [reply.output for reply in asked.calls if isinstance(reply, Reply)] == ["a", "b"]
    assert result.tier == go(cascade, VALUES, tiers, accept=only("b")).tier == "b"


@pytest.mark.parametrize(
    "said",
    [
        lambda ok: Verdict(ok, usage=Usage(5, 1)),
        lambda ok: Reply(data={"ok": ok}, usage=Usage(5, 1)),
    ],
    ids=["verdict", "reply"],
)
def test_C_12_what_a_judging_model_uses_counts_once_per_answer(go: Go, said: Any) -> None:
    tiers = [("a", scripted(used("a", 10))), ("b", scripted(used("b", 100)))]
    result = go(cascade, VALUES, tiers, accept=scripted(said(False), said(True)))

    assert result.usage == Usage(120, 2)
    assert [one.usage.total for one in result.history] == [16, 106]


def test_C_13_a_tier_that_raises_hands_on(go: Go) -> None:
    tiers = [("a", scripted(OSError("down"))), ("b", scripted("b"))]
    result = go(cascade, VALUES, tiers, accept=yes)

    assert (result.status, result.tier) == ("completed", "b")


def test_C_14_a_failed_reply_hands_on_and_is_not_judged(go: Go) -> None:
    judge = scripted(True)
    tiers = [("a", scripted(Reply("part", status="failed"))), ("b", scripted("b"))]
    result = go(cascade, VALUES, tiers, accept=judge)

    assert result.tier == "b"
    assert [reply.output for reply in judge.calls if isinstance(reply, Reply)] == ["b"]


def mixed(go: Go) -> CascadeResult:
    tiers = [
        ("a", scripted(OSError("down"))),
        ("b", scripted("poor")),
        ("c", scripted("good")),
    ]
    result = go(
        cascade, VALUES, tiers, accept=lambda reply: (reply.output == "good", f"{reply.output}!")
    )
    assert isinstance(result, CascadeResult)
    return result


def test_C_15_history_has_a_record_per_tier_in_order(go: Go) -> None:
    result = mixed(go)

    assert [one.name for one in result.history] == ["a", "b", "c"]
    assert escalations(result) == ["failed", "rejected", None]


def test_C_16_failed_and_rejected_are_told_apart(go: Go) -> None:
    failed, rejected, accepted = mixed(go).history

    assert failed.error is not None
    assert (failed.error.type, failed.verdict, failed.answer) == ("OSError", None, None)
    assert rejected.verdict is not None
    assert (rejected.verdict.reason, rejected.error) == ("poor!", None)
    assert accepted.verdict is not None
    assert accepted.verdict.ok


def test_C_17_a_judge_that_raises_leaves_the_answer_a_candidate(go: Go) -> None:
    judge = scripted(ZeroDivisionError("oh"), True)
    tiers = [("a", scripted("a")), ("b", scripted("b"))]
    result = go(cascade, VALUES, tiers, accept=judge)
    alone = go(cascade, VALUES, [("a", scripted("a"))], accept=scripted(ZeroDivisionError("oh")))

    assert escalations(result) == ["unjudged", None]
    assert result.history[0].error is not None
    assert result.history[0].error.type == "ZeroDivisionError"
    assert result.rollout.step("accept_a").status == "undetermined"
    assert (alone.output, alone.tier, alone.accepted) == ("a", "a", False)


def test_C_18_nothing_accepted_the_latest_answer_comes_back(go: Go) -> None:
    tiers = [(name, scripted(name)) for name in "abc"]
    result = go(cascade, VALUES, tiers, accept=no)

    assert (result.output, result.tier, result.accepted) == ("c", "c", False)
    assert (result.status, result.stopped_by) == ("completed", "exhausted")


def test_C_19_a_tier_that_raised_is_never_what_comes_back(go: Go) -> None:
    tiers = [("a", scripted("weak")), ("b", scripted(RuntimeError("down")))]
    result = go(cascade, VALUES, tiers, accept=no)

    assert (result.output, result.tier, result.accepted) == ("weak", "a", False)


def test_C_20_a_failed_reply_delivered_nothing_even_with_text(go: Go) -> None:
    tiers = [("a", scripted("weak")), ("b", scripted(Reply("half", status="failed")))]
    result = go(cascade, VALUES, tiers, accept=no)

    assert (result.output, result.tier) == ("weak", "a")
    assert result.rollout.step("b").output == "half"


def test_C_21_without_any_answer_the_run_fails_with_the_latest_error(go: Go) -> None:
    tiers = [("a", scripted(OSError("one"))), ("b", scripted(ValueError("two")))]
    result = go(cascade, VALUES, tiers, accept=yes)

    assert (result.status, result.stopped_by, result.output) == ("failed", "failed", None)
    assert (result.error.type, result.error.message) == ("ValueError", "two")


def test_C_22_totals_count_every_tier_tried(go: Go) -> None:
    tiers = [("a", scripted(used("a", 10, 5))), ("b", scripted(used("b", 100, 50)))]
    result = go(cascade, VALUES, tiers, accept=only("b"))

    assert (result.input_tokens, result.output_tokens) == (110, 55)
    assert result.usage == result.rollout.usage == Usage(110, 55)


def test_C_23_what_a_failed_tier_used_counts(go: Go) -> None:
    tiers = [("a", scripted(used("", 7, status="failed"))), ("b", scripted(used("b", 1)))]

    assert go(cascade, VALUES, tiers, accept=yes).usage.total == 8


def test_C_24_the_ceiling_is_tested_before_each_tier(go: Go) -> None:
    later = scripted()
    tiers = [("a", scripted(used("a", 100))), ("b", later)]
    result = go(cascade, VALUES, tiers, accept=no, max_tokens=100)

    assert later.calls == []
    assert (result.stopped_by, result.status) == ("tokens", "incomplete")


def test_C_25_at_the_ceiling_the_best_answer_so_far_comes_back(go: Go) -> None:
    tiers = [("a", scripted(used("a", 100))), ("b", scripted())]
    result = go(cascade, VALUES, tiers, accept=no, max_tokens=100)

    assert (result.output, result.tier, result.accepted) == ("a", "a", False)
    assert escalations(result) == ["rejected"]


def test_C_26_at_the_ceiling_without_any_answer_it_fails(go: Go) -> None:
    tier = scripted()
    result = go(cascade, VALUES, [("a", tier)], accept=yes, max_tokens=0)

    assert (result.status, result.stopped_by, result.output) == ("failed", "tokens", None)
    assert (tier.calls, result.tier, result.history) == ([], None, ())


def test_C_27_how_often_each_tier_answers_at_what_cost(go: Go) -> None:
    cheap = used("cheap", 10)
    dear = used("dear", 100)

    async def many() -> list[Rollout]:
        found: list[Rollout] = []
        for at in range(100):
            # 30 accepted at once, 60 by the second, 10 by none.
            accept = only("cheap") if at < 30 else only("dear") if at < 90 else no
            tiers = [("cheap", scripted(cheap)), ("dear", scripted(dear))]
            result = await cascade(at, tiers, accept=accept)
            found.append(Rollout.from_json(result.rollout.to_json()))
        return found

    report = tier_report(go(many))
    first, second = report.tiers

    assert (report.runs, report.unit, report.cost) == (100, "tokens", 1_000 + 7_000)
    assert (first.name, first.tried, first.answered, first.accepted) == ("cheap", 100, 30, 30)
    assert (second.name, second.tried, second.answered, second.accepted) == ("dear", 70, 70, 60)
    assert (first.share, first.accepted_share, second.share) == (0.3, 0.3, 0.7)
    assert (first.cost, second.cost) == (1_000, 7_000)
    assert (first.cost_if_direct, second.cost_if_direct) == (1_000, 10_000)
    assert (first.break_even, second.break_even) == (0.1, None)


def test_C_28_no_feedback_and_no_judging_beforehand(go: Go) -> None:
    order: list[str] = []

    def tier(_values: object) -> str:
        order.append("tier")
        return "a"

    def judge(_reply: Reply) -> bool:
        order.append("judge")
        return True

    go(cascade, VALUES, [("a", tier)], accept=judge)

    assert order == ["tier", "judge"]
    assert not {"feedback", "revise"} & set(inspect.signature(cascade).parameters)


class TestDecisionTools:
    """Decision tools in place of a callable."""

    CHECKS = Checks([{"path": "score", "op": "greaterThanOrEqual", "expected": 0.7}])
    TABLE = DecisionTable(
        [
            {
                "id": "good",
                "when": [{"path": "score", "op": "greaterThanOrEqual", "expected": 0.7}],
                "outputs": "allow",
            }
        ],
        policy="unique",
        otherwise="block",
    )
    SCORE = RuleScore(
        [
            {
                "id": "high",
                "when": [{"path": "score", "op": "greaterThanOrEqual", "expected": 0.7}],
                "points": 1,
            }
        ],
        bands=[{"name": "good", "min": 1}],
    )
    ARMS = BranchTool(
        [
            {
                "name": "good",
                "when": [{"path": "score", "op": "greaterThanOrEqual", "expected": 0.7}],
            }
        ],
        otherwise={"name": "poor"},
    )

    @pytest.mark.parametrize(
        "accept",
        [
            CHECKS,
            TABLE,
            SCORE,
            Gate(ARMS, pass_=["good"]),
            Gate(SCORE, pass_=["good"]),
            lambda reply: TestDecisionTools.CHECKS.report(reply.data),
        ],
        ids=["checks", "table", "score", "branch", "bands", "returned"],
    )
    def test_accept(self, go: Go, accept: Any) -> None:
        tiers = [("a", scripted({"score": 0.69})), ("b", scripted({"score": 0.7}))]
        result = go(cascade, VALUES, tiers, accept=accept)

        assert (result.tier, escalations(result)) == ("b", ["rejected", None])
        assert result.history[0].verdict.reason != ""
        assert isinstance(result.rollout.step("accept_a").decision, dict)
        assert result.data == {"score": 0.7}

    def test_checks_give_a_score_and_feedback(self, go: Go) -> None:
        checks = Checks(
            [
                {"path": "score", "op": "greaterThanOrEqual", "expected": 0.7},
                {"path": "a", "op": "exists"},
            ]
        )
        result = go(cascade, VALUES, [("a", scripted({"score": 0.1, "a": 1}))], accept=checks)
        verdict = result.history[0].verdict

        assert verdict.score == 0.5
        assert verdict.feedback == verdict.reason == "score: 0.1 is less than 0.7"

    def test_text_is_looked_at_as_a_reply(self, go: Go) -> None:
        checks = Checks([{"path": "output", "op": "equals", "expected": "b"}])

        assert go(cascade, VALUES, [("a", scripted("b"))], accept=checks).accepted

    OPEN: ClassVar = {"when": [{"path": "t", "op": "matches", "expected": "(a+)\\1"}]}

    @pytest.mark.parametrize(
        "accept",
        [
            Checks(OPEN["when"]),
            Gate(BranchTool([{"name": "ok", **OPEN}]), pass_=["ok"]),
            DecisionTable([{"id": "a", "outputs": "allow", **OPEN}], policy="first"),
            RuleScore([{"id": "a", "points": 1, **OPEN}], bands=[{"name": "good", "min": 0}]),
        ],
        ids=["checks", "branch", "table", "score"],
    )
    def test_undetermined_is_not_yes(self, go: Go, accept: Any) -> None:
        result = go(cascade, VALUES, [("a", scripted({"t": "aa"}))], accept=accept)

        assert (escalations(result), result.accepted) == (["unjudged"], False)
        assert result.rollout.step("accept_a").status == "undetermined"

    @pytest.mark.parametrize(
        ("votes", "escalated_by"),
        [
            (["yes", "no", "yes"], None),
            ([True, True], None),
            (["allow"], None),
            (["no", "no", "yes"], "rejected"),
            ([False], "rejected"),
            (["yes", "no"], "unjudged"),
        ],
    )
    def test_votes_that_a_judge_counted_itself(
        self, go: Go, votes: list[Any], escalated_by: str | None
    ) -> None:
        counted = consensus_vote([{"value": one} for one in votes])
        result = go(cascade, VALUES, [("a", scripted("b"))], accept=lambda _reply: counted)

        assert escalations(result) == [escalated_by]
        assert result.accepted == (escalated_by is None)
        assert result.rollout.step("accept_a").decision == counted.to_dict()

    @pytest.mark.parametrize("vote", ["maybe", 1, {"ok": True}])
    def test_votes_for_neither_yes_nor_no_are_no_verdict(self, go: Go, vote: Any) -> None:
        counted = consensus_vote([{"value": vote}])
        with pytest.raises(UsageError, match="VoteResult, which is no verdict"):
            go(cascade, 1, [("a", scripted("b"))], accept=lambda _reply: counted)

    def test_a_conflict_refuses(self, go: Go) -> None:
        everything = [{"path": "score", "op": "exists"}]
        table = DecisionTable(
            [{"id": name, "when": everything, "outputs": "allow"} for name in "ab"],
            policy="unique",
        )
        result = go(cascade, VALUES, [("a", scripted({"score": 1}))], accept=table)

        assert escalations(result) == ["rejected"]
        assert "all hold" in result.history[0].verdict.reason

    @pytest.mark.parametrize(
        ("accept", "field"),
        [
            (ARMS, "accept"),
            (Gate(ARMS, pass_=["god"]), "accept.pass_"),
            (Gate(yes, pass_=[]), "accept.tool"),  # type: ignore[arg-type]
            (
                DecisionTable(
                    [{"id": "a", "when": [{"op": "exists"}], "outputs": {"queue": 1}}],
                    policy="first",
                ),
                "accept.rows[0].outputs",
            ),
            (RuleScore([{"id": "a", "when": [{"op": "exists"}], "points": 1}]), "accept"),
            ("yes", "accept"),
        ],
    )
    def test_one_that_cannot_judge_is_refused(self, accept: Any, field: str) -> None:
        with pytest.raises(ConfigError) as refused:
            Cascade([("a", yes)], accept=accept)

        assert [problem.field for problem in refused.value.problems] == [field]

    def test_on_error_ends_the_walk_where_no_tier_can_help(self, go: Go) -> None:
        rules = [{"id": "policy", "contains": "policy", "class": "bad_request", "action": "fail"}]
        later = scripted("b", repeat=True)
        tiers = [("a", scripted(ValueError("against the policy"), repeat=True)), ("b", later)]
        ended = go(cascade, VALUES, tiers, accept=yes, on_error=ErrorClassify(rules))
        handed_on = go(cascade, VALUES, tiers, accept=yes)

        assert (ended.stopped_by, ended.status, ended.history[0].error.cls) == (
            "failed",
            "failed",
            "bad_request",
        )
        assert (handed_on.tier, len(later.calls)) == ("b", 1)


class TestFaults:
    """What a tier or a judge does wrong."""

    def test_a_tier_that_takes_too_long_has_failed(self, go: Go, clock: ManualClock) -> None:
        slow = scripted("slow", seconds=10, clock=clock)
        tiers = [Tier("slow", slow, timeout=5), Tier("quick", scripted("quick"))]
        result = go(cascade, VALUES, tiers, accept=yes, run=Run(clock=clock))

        assert (result.tier, escalations(result)) == ("quick", ["failed", None])
        assert result.history[0].error.cls == "timeout"

    def test_the_end_of_the_run_cuts_a_tier(self, go: Go, clock: ManualClock) -> None:
        slow = scripted("slow", seconds=10, clock=clock)
        run = Run(limits=Limits(timeout=5), clock=clock)
        tiers = [("first", scripted("first")), ("slow", slow)]
        result = go(cascade, VALUES, tiers, accept=no, run=run)

        assert (result.stopped_by, result.status, result.output) == (
            "deadline",
            "incomplete",
            "first",
        )
        assert result.rollout.step("slow").status == "failed"

    def test_one_that_does_not_fit_is_not_started(self, go: Go, clock: ManualClock) -> None:
        later = scripted()
        run = Run(limits=Limits(timeout=5), clock=clock)
        tiers = [Tier("a", scripted("a", seconds=2, clock=clock)), Tier("b", later, cost_ms=4_000)]
        result = go(cascade, VALUES, tiers, accept=no, run=run)

        assert (result.stopped_by, later.calls) == ("deadline", [])

    @pytest.mark.parametrize("said", [None, "yes", 1, {}, (True,), ("yes", ""), [True]])
    def test_what_is_no_verdict_is_an_error(self, go: Go, said: object) -> None:
        with pytest.raises(UsageError, match=r"accept `accept_a` returned .* no verdict|only as"):
            go(cascade, VALUES, [("a", scripted("a"))], accept=lambda _reply: said)

    def test_an_answer_that_is_none_is_an_error(self, go: Go) -> None:
        run = Run()
        with pytest.raises(UsageError, match=r"tier `a` returned a builtins\.object"):
            go(cascade, VALUES, [("a", scripted(object()))], accept=yes, run=run)

        assert run.rollout.step("a").status == "failed"
        assert (run.rollout.status, run.rollout.stopped_by) == ("failed", "error")


@pytest.mark.parametrize("most", [1, 3, 5])
def test_an_answer_that_a_limit_kept_from_its_judge_is_the_latest(go: Go, most: int) -> None:
    """The steps are tiers and judges in turn: the ceiling comes before the judge of the latest."""
    tiers: list[Any] = [(name, scripted(name)) for name in ("a", "b", "c")]
    made = Cascade(tiers, accept=lambda _reply: False)
    result = go(made.run, 1, run=Run(limits=Limits(max_steps=most)))
    last = "abc"[most // 2]

    assert (result.stopped_by, result.tier, result.output) == ("steps", last, last)
    assert (result.accepted, result.history[-1].escalated_by) == (False, "unjudged")
