"""Orchestrate: plans are checked before anything runs, workers do the steps, a merge sees all."""

from __future__ import annotations

import json
import pickle
from datetime import UTC, datetime
from typing import Any, cast

import anyio
import pytest

from interlock import (
    Limits,
    Orchestrate,
    OrchestrateResult,
    Reply,
    Retry,
    Run,
    Usage,
    UsageError,
    chain,
    orchestrate,
)
from interlock.harness import Inputs, NodeOutcome, Plan, PlanCtx, Work
from interlock.testing import ManualClock, scripted

from .conftest import Go

VALUES: dict[str, Any] = {"topic": "rails"}
LONG = {"topic": "b" * (2**23 + 1)}
"""A text over the limit of patterns: whether it matches one cannot be decided."""
NOW = "2023-11-14T22:13:20Z"
"""The instant at which a manual clock stands."""

Outcomes = dict[str, NodeOutcome]


def step(name: str, worker: str = "work", **more: Any) -> dict[str, Any]:
    return {"id": name, "worker": worker, **more}


def plan(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"steps": list(steps)}


def work(inputs: Inputs) -> dict[str, object]:
    return {"params": inputs.params, **inputs.results}


def bad(_inputs: Inputs) -> str:
    raise ValueError("no")


def states(outcomes: Outcomes) -> dict[str, str]:
    return {name: one.state for name, one in outcomes.items()}


WORKERS = {"work": work, "bad": bad}


def run(go: Go, *plans: Any, **options: Any) -> OrchestrateResult:
    lead = options.pop("lead", None) or scripted(*plans)
    options = {"workers": WORKERS, "merge": states, "values": VALUES, **options}
    values = options.pop("values")
    result: OrchestrateResult = go(orchestrate, values, plan=lead, **options)
    return result


def decided(result: OrchestrateResult, path: str) -> dict[str, Any]:
    return cast("dict[str, Any]", result.rollout.step(path).decision)


def test_N_05_stages_are_unknown_until_the_input_was_read(go: Go) -> None:
    called: list[tuple[str, object]] = []

    def worker(name: str) -> Any:
        async def does(inputs: Inputs) -> str:
            called.append((name, inputs.params))
            return f"{name} {inputs.params}"

        return does

    def lead(values: list[str]) -> Plan:
        return Plan([step(f"s{at}", "long" if len(one) > 3 else "short", params=one)
                     for at, one in enumerate(values)])  # fmt: skip

    made = Orchestrate(
        plan=lead,
        workers={"long": worker("long"), "short": worker("short")},
        merge=lambda outcomes: " + ".join(str(one.output) for one in outcomes.values()),
        concurrency=1,
    )
    first, second = go(made.run, ["a", "long one"]), go(made.run, ["bbbb"])

    assert called == [("short", "a"), ("long", "long one"), ("long", "bbbb")]
    assert (first.output, second.output) == ("short a + long long one", "long bbbb")
    assert first.plan != second.plan
    refused = go(made.run, [])
    assert (refused.stopped_by, refused.status, refused.plans, len(called)) == (
        "plan",
        "failed",
        2,
        3,
    )


class TestPlans:
    WHOLE = plan(step("a"), step("b", needs=["a"]))

    @pytest.mark.parametrize(
        "returned",
        [
            WHOLE,
            Plan(WHOLE["steps"]),
            json.dumps(WHOLE),
            f"\n {json.dumps(WHOLE)}\n",
            Reply(json.dumps(WHOLE), usage=Usage(3)),
            Reply("here it is", data=WHOLE),
        ],
    )
    def test_forms_that_are_taken(self, go: Go, returned: object) -> None:
        result = run(go, returned)

        assert (result.status, result.stopped_by) == ("completed", "done")
        assert result.merged == {"a": "completed", "b": "completed"}
        assert result.plan == Plan(self.WHOLE["steps"])

    @pytest.mark.parametrize(
        ("returned", "said"),
        [
            (f"```json\n{json.dumps(WHOLE)}\n```", "no words or fence around it"),
            (f"Here is the plan: {json.dumps(WHOLE)}", "no words or fence around it"),
            (json.dumps(WHOLE)[:-9], "no words or fence around it"),
            ('{"steps": [{"id": "a", "worker": "work", "worker": "bad"}]}', "stands twice"),
            (None, "no words or fence around it"),
            ([step("a")], "must be a mapping"),
            (5, "must be a mapping"),
            ("[]", "must be a mapping"),
            ({"step": []}, 'did you mean "steps"'),
            ({}, "steps: is required"),
            (plan(), "must not be empty"),
            ({"steps": {"a": 1}}, "must be a list of steps"),
            (plan("a"), "steps[0]"),  # type: ignore[arg-type]
            (plan({}), "steps[0].worker: is required"),
            (Plan(5), "must be a list of steps"),  # type: ignore[arg-type]
            (Reply(json.dumps(WHOLE), status="incomplete", stop="length"), "cut off (length)"),
        ],
    )  # fmt: skip
    def test_forms_that_are_not(self, go: Go, returned: object, said: str) -> None:
        result = run(go, returned, returned)

        assert (result.stopped_by, result.status, result.plans) == ("plan", "failed", 2)
        assert said in str(result.error)
        assert any(said in fault for fault in result.faults)
        assert (result.outcomes, result.merged, result.plan) == ({}, None, None)

    def test_a_plan_with_faults_goes_back_with_all_of_them(self, go: Go) -> None:
        told: list[PlanCtx] = []

        def lead(_values: object, ctx: PlanCtx) -> Any:
            told.append(ctx)
            if not ctx.faults:
                return plan(step("a", "wrok"), step("b", needs=["c"], speed=1))
            return plan(step("a"))

        result = run(go, lead=lead)

        first, second = told
        assert (first.faults, first.plan, first.outcomes) == ((), None, {})
        assert (first.values, first.workers, first.path) == (VALUES, ("work", "bad"), "plan")
        assert [fault.field for fault in second.faults] == [
            "steps[0].worker",
            "steps[1].speed",
            "steps[1].needs[0]",
        ]
        assert 'did you mean "work"? (workers: "work", "bad")' in second.faults[0].message
        assert (result.status, result.plans, second.path) == ("completed", 2, "plan.2")
        steps = result.rollout.steps
        assert [(one.path, one.status) for one in steps] == [
            ("plan", "failed"),
            ("plan.2", "completed"),
            ("plan.2/a", "completed"),
            ("merge", "completed"),
        ]
        assert len(steps[0].decision["faults"]) == 3  # type: ignore[index]
        assert steps[0].input_digest != steps[1].input_digest

    @pytest.mark.parametrize("retries", [0, 1, 3])
    def test_only_so_often(self, go: Go, retries: int) -> None:
        lead = scripted(plan(step("a", "nobody")), repeat=True)
        result = run(go, lead=lead, plan_retries=retries)

        assert (result.stopped_by, result.plans, len(lead.calls)) == (
            "plan",
            retries + 1,
            retries + 1,
        )

    def test_what_a_lead_uses_counts(self, go: Go) -> None:
        text = json.dumps(plan(step("a")))
        result = run(go, Reply("?", usage=Usage(5)), Reply(text, usage=Usage(7)))

        assert result.usage == Usage(12)

    @pytest.mark.parametrize("said", [ValueError("down"), Reply("no", status="failed")])
    def test_a_lead_that_fails_is_not_asked_again(self, go: Go, said: object) -> None:
        result = run(go, said)

        assert (result.status, result.stopped_by, result.plans) == ("failed", "failed", 1)
        assert result.faults == ()

    def test_but_as_the_run_says(self, go: Go, clock: ManualClock) -> None:
        lead = scripted(ConnectionResetError("reset"), plan(step("a")))
        result = run(go, lead=lead, run=Run(retry=Retry(), clock=clock))

        assert (result.status, result.plans) == ("completed", 1)

    def test_a_plan_with_faults_is_no_failure_to_retry(self, go: Go, clock: ManualClock) -> None:
        lead = scripted(plan(step("a", "x")), repeat=True)
        result = run(go, lead=lead, plan_retries=0, run=Run(retry=Retry(), clock=clock))

        assert (result.stopped_by, len(lead.calls)) == ("plan", 1)

    def test_a_lead_that_returns_what_is_nothing_is_misuse(self, go: Go) -> None:
        with pytest.raises(UsageError, match=r"plan `plan` returned a builtins\.object"):
            run(go, object())


class TestWork:
    def test_a_worker_gets_its_params_and_what_it_needs(self, go: Go) -> None:
        seen: list[Inputs] = []

        def worker(inputs: Inputs) -> str:
            seen.append(inputs)
            return f"did {inputs.params}"

        steps = plan(step("b", "w", needs=["a"]), step("a", "w", params=[1]))
        result = run(go, steps, workers={"w": worker})
        first, second = seen

        assert (first.params, dict(first.results), first.values) == ([1], {}, VALUES)
        assert (second.params, second["a"]) == (None, "did [1]")
        assert list(result.outcomes) == ["b", "a"]
        assert result.rollout.step("plan/a").meta["worker"] == "w"

    def test_a_worker_may_say_what_its_steps_may_use(self, go: Go, clock: ManualClock) -> None:
        slow = Work(scripted("late", seconds=9, clock=clock), timeout=5)
        result = run(go, plan(step("a", "w")), workers={"w": slow}, run=Run(clock=clock))

        assert result.error is not None
        assert (result.outcomes["a"].state, result.error.type) == ("failed", "TimeoutError")

    @pytest.mark.parametrize("part", ["plan", "merge"])
    def test_so_may_the_lead_and_the_merge(self, go: Go, clock: ManualClock, part: str) -> None:
        good = {"plan": plan(step("a")), "merge": "m"}
        slow = Work(scripted("late", seconds=5, clock=clock), timeout=2)
        again = Work(scripted(TimeoutError("slow"), good[part]), retry=Retry(2))
        dear = Work(scripted(good[part]), reserve=lambda given: 5 + len(given), limiter="one")

        def ended(work: Work, **options: Any) -> tuple[str, str]:
            calls = {"plan": scripted(good["plan"]), "merge": scripted("m"), part: work}
            lead, merge = calls["plan"], calls["merge"]
            result = run(go, lead=lead, merge=merge, run=Run(clock=clock, **options))
            errors = [one.error.type for one in result.rollout.failed() if one.error]
            return result.stopped_by, " ".join(errors)

        assert ended(slow) == ("failed", "TimeoutError")
        assert ended(again) == ("done", "TimeoutError")
        assert ended(dear, limiters={"one": 1}) == ("done", "")
        assert ended(dear, limiters={"one": 1}, limits=Limits(max_tokens=5)) == ("tokens", "")

    @pytest.mark.parametrize("params", [{"q": "x"}, [1], "x", 0, False, None])
    def test_params_are_any_json_value(self, go: Go, params: object) -> None:
        result = run(go, plan(step("a", params=params)))

        assert result.outcomes["a"].data == {"params": params}

    def test_params_are_its_own(self, go: Go) -> None:
        def greedy(inputs: Inputs) -> None:
            inputs.params["list"].append(1)  # type: ignore[index]

        result = run(go, plan(step("a", "w", params={"list": []})), workers={"w": greedy})

        assert result.plan == Plan([step("a", "w", params={"list": []})])

    def test_a_failed_step_leaves_the_others_alone(self, go: Go) -> None:
        steps = plan(step("a", "bad"), step("b", needs=["a"]), step("c"), step("d", needs=["c"]))
        result = run(go, steps)

        assert (result.status, result.stopped_by) == ("incomplete", "halted")
        assert result.merged == {
            "a": "failed",
            "b": "unreachable",
            "c": "completed",
            "d": "completed",
        }
        assert (result.error.type, result.outcomes["a"].reason) == ("ValueError", "no")  # type: ignore[union-attr]

    def test_where_nothing_was_done_it_failed(self, go: Go) -> None:
        assert run(go, plan(step("a", "bad"))).status == "failed"

    @pytest.mark.parametrize(
        ("when", "match", "state"),
        [
            ([{"path": "results.a.params", "op": "equals", "expected": 3}], "all", "completed"),
            ([{"path": "values.topic", "op": "equals", "expected": "roads"}], "all", "skipped"),
            ([{"path": "values.topic", "op": "matches", "expected": "^b"}], "all", "undetermined"),
            (
                [
                    {"path": "values.topic", "op": "equals", "expected": "roads"},
                    {"path": "results.a.params", "op": "equals", "expected": 3},
                ],
                "any",
                "completed",
            ),
            ([{"path": "values.topic", "op": "equals", "expected": "roads"}], "any", "skipped"),
        ],
    )  # fmt: skip
    def test_conditions(self, go: Go, when: Any, match: str, state: str) -> None:
        steps = plan(step("a", params=3), step("b", needs=["a"], when=when, match=match))
        result = run(go, steps, values=LONG if state == "undetermined" else VALUES)
        ends = {"completed": "done", "skipped": "done", "undetermined": "waiting"}

        assert states(dict(result.outcomes)) == {"a": "completed", "b": state}
        assert result.stopped_by == ends[state]
        assert result.rollout.step("plan/when_b").kind == "decision"

    @pytest.mark.parametrize("most", [1, 2])
    def test_so_many_at_once(self, go: Go, most: int) -> None:
        running: list[int] = [0, 0]

        async def busy(_inputs: object) -> str:
            running[0] += 1
            running[1] = max(running)
            await anyio.lowlevel.checkpoint()
            running[0] -= 1
            return "a"

        steps = plan(*(step(f"s{at}", "w") for at in range(6)))
        assert run(go, steps, workers={"w": busy}, concurrency=most).stopped_by == "done"
        assert running == [0, most]

    def test_paths_are_those_of_the_plan(self, go: Go) -> None:
        inner = Orchestrate(
            plan=lambda _values: plan(step("in")),
            workers=WORKERS,
            merge=lambda _o: "m",
            name="inner",
        )
        steps = plan(step("plan", "w"), step("merge", "w", needs=["plan"]), step("x.2", "w"))
        result = run(go, steps, workers={"w": inner}, concurrency=1)

        assert [one.path for one in result.rollout.all_steps()] == [
            "plan",
            *(
                path
                for name in ("plan", "merge", "x.2")
                for path in (
                    f"plan/{name}",
                    f"plan/{name}/inner/plan",
                    f"plan/{name}/inner/plan/in",
                    f"plan/{name}/inner/merge",
                )
            ),
            "merge",
        ]


class TestTime:
    LATER = "2023-11-14T23:00:00+00:00"

    def test_later_steps_are_waited_for_by_nobody(self, go: Go, clock: ManualClock) -> None:
        merge = scripted()
        steps = plan(step("a"), step("b", after=self.LATER), step("c", needs=["b"]))
        result = run(go, steps, merge=merge, run=Run(clock=clock))

        assert (result.status, result.stopped_by) == ("incomplete", "waiting")
        assert states(dict(result.outcomes)) == {"a": "completed", "b": "waiting", "c": "waiting"}
        assert result.outcomes["b"].reason == "is not due before 2023-11-14T23:00:00.000Z"
        assert result.outcomes["c"].reason == 'needs "b", which waits itself'
        assert decided(result, "plan/b")["dueInMs"] == 2_800_000
        assert (merge.calls, clock.slept) == ([], [])

    def test_a_time_that_comes_while_others_run_has_come(self, go: Go, clock: ManualClock) -> None:
        workers = {"slow": scripted("a", seconds=3_000, clock=clock), "work": work}
        steps = plan(step("late", after=self.LATER), step("a", "slow"))
        result = run(go, steps, workers=workers, run=Run(clock=clock))

        assert result.stopped_by == "done"
        assert [one.path for one in result.rollout.find(kind="worker")] == ["plan/a", "plan/late"]

    @pytest.mark.parametrize(
        "after", [NOW, 1_700_000_000_000, 0, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)]
    )
    def test_a_time_that_is_now_has_come(self, go: Go, clock: ManualClock, after: object) -> None:
        steps = plan(step("a", after=after))

        assert run(go, steps, run=Run(clock=clock)).stopped_by == "done"
        assert run(go, Plan(steps["steps"]), run=Run(clock=clock)).stopped_by == "done"

    def test_a_deadline_ends_it(self, go: Go, clock: ManualClock) -> None:
        workers = {"slow": scripted("a", seconds=6, clock=clock, repeat=True)}
        steps = plan(
            step("a", "slow"), step("b", "slow", needs=["a"]), step("c", "slow", needs=["b"])
        )
        result = run(go, steps, workers=workers, run=Run(limits=Limits(timeout=10), clock=clock))

        assert (result.stopped_by, result.status) == ("deadline", "incomplete")


class TestReplans:
    @staticmethod
    def amending(*plans: dict[str, Any]) -> Any:
        """Make a lead that notes what it is told."""
        given = list(plans)

        def lead(_values: object, ctx: PlanCtx) -> Any:
            lead.told.append((states(dict(ctx.outcomes)), ctx.plan, ctx.faults))  # type: ignore[attr-defined]
            return given.pop(0)

        lead.told = []  # type: ignore[attr-defined]
        return lead

    FIRST = plan(step("a"), step("b", "bad", needs=["a"]), step("c", needs=["b"]))

    def test_the_rest_can_be_amended(self, go: Go) -> None:
        second = plan(step("b2", needs=["a"]), step("c", needs=["b2"]))
        lead = self.amending(self.FIRST, second)
        result = run(go, lead=lead, replans=1)

        assert lead.told[1] == (
            {"a": "completed", "b": "failed", "c": "unreachable"},
            Plan(self.FIRST["steps"]),
            (),
        )
        assert (result.status, result.stopped_by, result.plans) == ("completed", "done", 2)
        assert result.merged == {
            "a": "completed",
            "b": "failed",
            "c": "completed",
            "b2": "completed",
        }
        assert result.plan == Plan(second["steps"])
        assert [one.path for one in result.rollout.find(kind="worker", status="completed")] == [
            "plan/a",
            "plan.2/b2",
            "plan.2/c",
        ]

    def test_what_is_completed_does_not_run_again(self, go: Go) -> None:
        once = scripted("once")
        first = plan(step("a", "once"), step("b", "bad", needs=["a"]))
        again = plan(step("a", "once"), step("b", "work", needs=["a"]))
        result = run(go, first, again, workers={**WORKERS, "once": once}, replans=1)

        assert (result.stopped_by, len(once.calls)) == ("done", 1)
        assert result.outcomes["b"].data == {"params": None, "a": "once"}

    @pytest.mark.parametrize(
        "change", [{"worker": "bad"}, {"params": 1}, {"needs": []}, {"after": NOW}]
    )
    def test_nor_can_it_be_changed(self, go: Go, change: dict[str, Any]) -> None:
        changed = plan({**step("a"), **change}, step("b", needs=["a"]))
        result = run(go, self.FIRST, changed, replans=1, plan_retries=0)

        assert (result.stopped_by, result.status) == ("plan", "incomplete")
        assert "is completed and cannot be changed" in result.faults[0]
        assert result.merged == {"a": "completed", "b": "failed", "c": "unreachable"}

    def test_a_failed_step_can_be_done_again(self, go: Go) -> None:
        workers = {"work": work, "bad": scripted(ValueError("no"), "done")}
        result = run(go, self.FIRST, self.FIRST, workers=workers, replans=1)

        assert (result.stopped_by, result.outcomes["b"].output) == ("done", "done")

    def test_a_need_that_was_dropped_is_told(self, go: Go) -> None:
        dropped = plan(step("d", needs=["b"]))
        result = run(go, self.FIRST, dropped, replans=1, plan_retries=0)

        assert result.stopped_by == "plan"
        assert '"d" needs a step that is not there' in result.faults[0]

    def test_what_is_done_is_not_asked_about(self, go: Go) -> None:
        assert run(go, plan(step("a")), replans=5).plans == 1

    def test_nor_is_what_only_waits_for_its_time(self, go: Go, clock: ManualClock) -> None:
        steps = plan(step("a", after="2030-01-01T00:00:00Z"))

        assert run(go, steps, replans=5, run=Run(clock=clock)).plans == 1

    def test_a_condition_that_cannot_be_decided_can_be_amended(self, go: Go) -> None:
        when = [{"path": "values.topic", "op": "matches", "expected": "^b"}]
        lead = self.amending(plan(step("a", when=when)), plan(step("a")))
        result = run(go, lead=lead, replans=1, values=LONG)

        assert lead.told[1][0] == {"a": "undetermined"}
        assert (result.stopped_by, result.status) == ("done", "completed")

    def test_plans_that_come_to_the_same_are_a_stall(self, go: Go) -> None:
        lead = scripted(self.FIRST, repeat=True)
        result = run(go, lead=lead, replans=9)

        assert (result.stopped_by, result.status, result.plans) == ("stalled", "incomplete", 2)
        assert decided(result, "stall")["reason"] == "unchanged"
        assert result.merged == {"a": "completed", "b": "failed", "c": "unreachable"}

    def test_so_are_plans_that_come_again_in_turn(self, go: Go) -> None:
        one, two = plan(step("a", "bad")), plan(step("a", "bad", params=2))
        result = run(go, one, two, one, two, replans=9)

        assert (result.stopped_by, result.plans, result.status) == ("stalled", 4, "failed")
        assert decided(result, "stall")["reason"] == "oscillating"

    def test_a_lead_that_fails_then_leaves_what_was_done(self, go: Go) -> None:
        result = run(go, self.FIRST, ValueError("down"), replans=1)

        assert (result.stopped_by, result.status) == ("failed", "incomplete")
        assert result.error is not None
        assert result.error.message == "down"
        assert result.merged == {"a": "completed", "b": "failed", "c": "unreachable"}

    def test_a_lead_cannot_change_the_plan_behind_the_back(self, go: Go) -> None:
        def lead(_values: object, ctx: PlanCtx) -> Any:
            if ctx.plan is None:
                return self.FIRST
            ctx.plan.steps[0]["worker"] = "bad"  # type: ignore[index]
            return Plan(ctx.plan.steps)

        result = run(go, lead=lead, replans=1, plan_retries=0)
        assert "cannot be changed" in result.faults[0]


class TestMerge:
    def test_it_gets_every_outcome_and_what_it_should_know(self, go: Go) -> None:
        seen: list[Any] = []

        def merge(outcomes: Outcomes, ctx: PlanCtx) -> Reply:
            seen.append((outcomes, ctx))
            return Reply("text", data={"n": 1}, usage=Usage(3))

        result = run(go, plan(step("a"), step("b", "bad")), merge=merge)
        ((outcomes, ctx),) = seen

        assert outcomes == ctx.outcomes == result.outcomes
        assert (ctx.values, ctx.plan, ctx.path) == (VALUES, result.plan, "merge")
        assert (result.output, result.data, result.merged) == ("text", {"n": 1}, {"n": 1})
        assert result.usage == Usage(3)

    def test_one_that_raises_fails_the_run_and_nothing_is_lost(self, go: Go) -> None:
        result = run(go, plan(step("a")), merge=scripted(ValueError("odd")))

        assert (result.status, result.stopped_by) == ("failed", "failed")
        assert str(result.error) == "odd"
        assert (result.merged, result.outcomes["a"].state) == (None, "completed")

    def test_an_answer_that_is_handed_on_counts_once(self, go: Go) -> None:
        said = Reply("a", usage=Usage(9))
        result = run(go, plan(step("a", "w")), workers={"w": lambda _i: said},
                     merge=lambda outcomes: outcomes["a"].answer)  # fmt: skip

        assert (result.output, result.usage) == ("a", Usage(9))

    def test_a_ceiling_keeps_it_from_starting(self, go: Go) -> None:
        merge = scripted()
        result = run(go, plan(step("a", "w")), merge=merge, max_tokens=5,
                     workers={"w": lambda _i: Reply("a", usage=Usage(5))})  # fmt: skip

        assert (result.stopped_by, result.status, merge.calls) == ("tokens", "incomplete", [])
        assert result.outcomes["a"].output == "a"


class TestResults:
    def test_it_reads_back_equal_and_can_be_pickled(self, go: Go) -> None:
        for result in (run(go, TestReplans.FIRST), run(go, "no plan", "none")):
            assert OrchestrateResult.from_json(result.to_json()) == result
            assert pickle.loads(pickle.dumps(result)) == result  # noqa: S301

    def test_cancelled_from_another_task(self, go: Go) -> None:
        async def both() -> OrchestrateResult:
            run, started = Run(), anyio.Event()
            found: list[OrchestrateResult] = []

            async def hangs(_inputs: object) -> str:
                started.set()
                await anyio.sleep_forever()
                return ""

            async def runs() -> None:
                steps = plan(step("a", "w"), step("b", "w", needs=["a"]))
                made = Orchestrate(plan=lambda _v: steps, workers={"w": hangs}, merge=states)
                found.append(await made.run(VALUES, run=run))

            async with anyio.create_task_group() as group:
                group.start_soon(runs)
                await started.wait()
                run.cancel()
            return found[0]

        result = go(both)
        assert (result.status, result.stopped_by) == ("cancelled", "cancelled")
        assert states(dict(result.outcomes)) == {"a": "cancelled", "b": "waiting"}

    def test_a_diagram_and_a_digest(self) -> None:
        made = Orchestrate(plan=work, workers=WORKERS, merge=states)
        again = pickle.loads(pickle.dumps(made))  # noqa: S301

        assert made.flow().ids == ("plan", "plan/work", "plan/bad", "merge")
        assert made.to_mermaid().count("-->") == 4
        assert again.digest == made.digest
        assert (
            made.digest != Orchestrate(plan=work, workers=WORKERS, merge=states, replans=1).digest
        )
        assert made.lint() == ()

    def test_it_stands_wherever_a_callable_can(self, go: Go) -> None:
        made = Orchestrate(plan=lambda _v: plan(step("a")), workers=WORKERS, merge=lambda _o: "m")
        result = go(chain, "x", [("first", made), ("then", lambda said: f"{said.merged}!")])

        assert (result.output, result.rollout.step("first").child.kind) == ("m!", "orchestrate")
