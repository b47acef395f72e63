"""A run: limits, nesting, reserves, time, retries, events, cancellation, sync code."""

from __future__ import annotations

import asyncio  # noqa: TID251 (as callers use it)
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ClassVar

import anyio
import pytest

from interlock import (
    Cascade,
    Chain,
    ConfigError,
    ErrorInfo,
    Limits,
    Loop,
    Reply,
    Retry,
    Rollout,
    Run,
    RunFailed,
    Stage,
    Tier,
    ToolCall,
    Usage,
    UsageError,
    cascade,
    chain,
    streamed,
    tool,
    toolbus,
)
from interlock.harness import Ctx, Event, inline_sync
from interlock.testing import ManualClock, run_checked, scripted

from .conftest import Go


def used(output: str, tokens: int, **more: Any) -> Reply:
    return Reply(output, usage=Usage(tokens, **more))


def yes(_reply: Reply) -> bool:
    return True


def no(_reply: Reply) -> bool:
    return False


def paths(rollout: Rollout) -> list[str]:
    return [step.path for step in rollout.all_steps()]


class TestNesting:
    def test_a_result_that_is_returned_keeps_its_record(self, go: Go) -> None:
        inner = Chain([("ask", scripted(used("in", 10)))], name="inner")
        result = go(chain, 1, [("outer", inner), ("own", scripted(used("x", 1)))])
        step = result.rollout.step("outer")

        assert step.child is not None
        assert (step.child.workflow, step.child.kind) == ("inner", "chain")
        assert paths(result.rollout) == ["outer", "outer/inner/ask", "own"]
        assert step.usage == step.child.usage == Usage(10)
        assert result.usage == Usage(11)

    def test_one_that_is_not_returned_is_found_too(self, go: Go) -> None:
        async def work(_value: object) -> Reply:
            await chain(1, [("ask", scripted(used("in", 10)))])
            return used("own", 1)

        result = go(chain, 1, [("outer", work)])

        assert result.rollout.step("outer").child.usage == Usage(10)
        assert result.rollout.step("outer").usage == result.usage == Usage(11)

    def test_several_stand_side_by_side(self, go: Go) -> None:
        async def work(_value: object) -> str:
            for _ in range(2):
                await chain(1, [("ask", scripted(used("in", 10)))])
            return "own"

        result = go(chain, 1, [("outer", work)])
        child = result.rollout.step("outer").child

        assert [step.child.workflow for step in child.steps if step.child] == ["chain", "chain"]
        assert [path for path in paths(result.rollout) if path.endswith("ask")] == [
            "outer/chain/ask",
            "outer/chain.2/ask",
        ]
        assert result.usage == Usage(20)

    def test_one_that_ran_elsewhere_counts_once(self, go: Go) -> None:
        async def work() -> Any:
            before = await chain(1, [("ask", scripted(used("in", 10)))])
            return await chain(1, [("a", lambda _x: before), ("b", lambda x: x)])

        result = go(work)

        assert result.rollout.step("a").usage == Usage(10)
        assert result.rollout.step("b").usage == Usage()
        assert result.usage == Usage(10)

    def test_what_a_stage_hands_back_as_it_came_in_counts_once(self, go: Go) -> None:
        stages = [("a", scripted(used("a", 10))), ("check", lambda reply: reply)]

        assert go(chain, 1, stages).usage == Usage(10)

    def test_a_failed_run_inside_fails_the_step(self, go: Go) -> None:
        inner = Chain([("ask", scripted(ValueError("bad")))])
        result = go(cascade, 1, [("inner", inner), ("next", scripted("next"))], accept=yes)

        assert result.tier == "next"
        assert result.history[0].error.type == "ValueError"

    def test_sync_code_in_a_thread_joins_as_well(self, go: Go) -> None:
        inner = Chain([("ask", scripted(used("in", 10)))])
        result = go(chain, 1, [("outer", inner.sync)])

        assert paths(result.rollout) == ["outer", "outer/chain/ask"]
        assert result.usage == Usage(10)

    def test_ceilings_outside_hold_inside(self, go: Go) -> None:
        later = scripted()
        inner = Chain(
            [("a", scripted(used("a", 60))), ("b", scripted(used("b", 60))), ("c", later)]
        )
        result = go(chain, 1, [("outer", inner), ("own", later)], max_tokens=100)

        assert (result.stopped_by, result.status, later.calls) == ("tokens", "incomplete", [])
        assert result.rollout.step("outer").child.stopped_by == "tokens"
        assert result.usage == Usage(120)

    def test_a_ceiling_inside_does_not_hold_outside(self, go: Go) -> None:
        inner = Chain([("a", scripted(used("a", 60))), ("b", scripted())], max_tokens=50)
        result = go(chain, 1, [("outer", inner), ("own", scripted(used("own", 1)))])

        assert (result.stopped_by, result.output) == ("done", "own")

    def test_a_run_inside_a_run_is_held_by_both(self, go: Go) -> None:
        inner = Chain([("a", scripted(used("a", 60))), ("b", scripted(used("b", 60)))])

        async def work(_value: object) -> Any:
            return await inner.run(1, run=Run(limits=Limits(max_steps=1)))

        result = go(
            chain,
            1,
            [("outer", work), ("own", scripted(used("own", 1))), ("last", scripted())],
            max_tokens=61,
        )

        assert result.rollout.step("outer").child.stopped_by == "steps"
        assert (result.stopped_by, result.usage) == ("tokens", Usage(61))

    def test_steps_of_the_whole_tree_count(self, go: Go) -> None:
        inner = Chain([("a", scripted("a")), ("b", scripted("b"))])
        run = Run(limits=Limits(max_steps=3))
        result = go(chain, 1, [("outer", inner), ("own", scripted())], run=run)

        assert (result.stopped_by, len(paths(result.rollout))) == ("steps", 3)

    def test_workflows_beside_each_other_have_paths_of_their_own(self, go: Go) -> None:
        async def both() -> Run:
            run = Run()
            for _ in range(3):
                await chain(1, [("a", scripted("a"))], run=run)
            return run

        assert [path for one in go(both).rollouts for path in paths(one)] == [
            "a",
            "chain/a",
            "chain.2/a",
        ]


class TestLimits:
    def test_weigh_says_what_counts(self, go: Go) -> None:
        stages = [("a", scripted(Reply("a", usage=Usage(5, 100)))), ("b", scripted("b"))]
        run = Run(limits=Limits(max_tokens=10, weigh=lambda usage: usage.input))

        assert go(chain, 1, stages, run=run).stopped_by == "done"

    @pytest.mark.parametrize("seconds", [1e-9, 1e9])
    def test_the_shortest_and_the_longest_time(self, go: Go, seconds: float) -> None:
        limits = Limits(timeout=seconds, step_timeout=1e9)
        result = go(chain, 1, [Stage("a", scripted("a"), timeout=1e9)], run=Run(limits=limits))

        assert result.stopped_by == ("done" if seconds > 1 else "deadline")

    def test_cost(self, go: Go) -> None:
        stages = [("a", scripted(used("a", 5, cost=70))), ("b", scripted())]
        result = go(chain, 1, stages, run=Run(limits=Limits(max_cost=70)))

        assert (result.stopped_by, result.usage.cost) == ("cost", 70)

    def test_an_unknown_price_is_not_free(self, go: Go) -> None:
        stages = [("a", scripted(used("a", 5), repeat=True))]
        run = Run(limits=Limits(max_cost=70))
        with pytest.raises(ConfigError, match=r"limits\.max_cost: 70: step `a` told no cost"):
            go(chain, 1, stages, run=run)
        allowed = Run(limits=Limits(max_cost=70, allow_unpriced=True))

        assert run.rollout.usage == Usage(5)
        assert go(chain, 1, stages, run=allowed).stopped_by == "done"

    @pytest.mark.parametrize("inside", [False, True])
    def test_an_unmetered_reply_ends_a_metered_run(self, go: Go, inside: bool) -> None:
        unmetered = Reply("a", usage=Usage(requests=1), meta={"usage_missing": True})
        first: Any = scripted(unmetered, repeat=True)
        first = Chain([("ask", first)]) if inside else first
        later = scripted("b", repeat=True)
        stages = [("a", first), ("b", later)]
        result = go(chain, 1, stages, max_tokens=100)
        last = go(chain, 1, [("a", first)], max_tokens=100)
        allowed = Run(limits=Limits(allow_unmetered=True))

        assert (result.stopped_by, result.status, later.calls) == ("unmetered", "incomplete", [])
        assert (last.stopped_by, last.output) == ("unmetered", "a")
        assert go(chain, 1, stages, max_tokens=100, run=allowed).stopped_by == "done"
        assert go(chain, 1, stages).stopped_by == "done"

    def test_a_reserve_makes_the_ceiling_hard(self, go: Go) -> None:
        later = scripted()
        tiers = [
            Tier("a", scripted(used("a", 60)), reserve=60),
            Tier("b", later, reserve=lambda values: values["most"]),
        ]
        result = go(cascade, {"most": 41}, tiers, accept=no, max_tokens=100)

        assert (result.stopped_by, later.calls, result.tier) == ("tokens", [], "a")

    def test_a_reserve_is_taken_and_given_back(self, go: Go) -> None:
        seen: list[float] = []

        async def look(_value: object, ctx: Ctx) -> Reply:
            seen.append(ctx.remaining.tokens)
            return used("a", 10)

        stages = [Stage(name, look, reserve=40) for name in "ab"]
        go(chain, 1, stages, max_tokens=100)

        assert seen == [60, 50]

    def test_a_step_inside_lives_in_the_reserve_around_it(self, go: Go) -> None:
        inner = Chain([("ask", scripted(used("a", 90)))])
        result = go(chain, 1, [Stage("outer", inner, reserve=100)], max_tokens=100)

        assert (result.stopped_by, result.usage) == ("done", Usage(90))

    def test_concurrent_reserves_never_add_up_to_more(self, go: Go) -> None:
        async def many() -> tuple[Run, list[Any]]:
            run, results = Run(limits=Limits(max_tokens=100)), list[Any]()
            model = scripted(used("a", 30), repeat=True)

            async def one(number: int) -> None:
                made = Chain([Stage("ask", model, reserve=30)], name=f"c{number}")
                results.append(await made.run(1, run=run))

            async with anyio.create_task_group() as group:
                for number in range(10):
                    group.start_soon(one, number)
            return run, results

        run, results = go(many)

        assert sorted(one.stopped_by for one in results) == ["done"] * 3 + ["tokens"] * 7
        assert sum(one.usage.total for one in results) == 90
        assert run.remaining.tokens == 10

    @pytest.mark.parametrize("said", [-1, 1.5, None, True, ZeroDivisionError])
    def test_a_function_that_does_not_say_how_many_is_misuse(self, go: Go, said: Any) -> None:
        def how_many(_value: object) -> Any:
            if said is ZeroDivisionError:
                raise said
            return said

        run = Run(limits=Limits(weigh=how_many))
        with pytest.raises(UsageError, match="reserve of step `a`"):
            go(chain, 1, [Stage("a", scripted(), reserve=how_many)])
        with pytest.raises(UsageError, match=r"limits\.weigh"):
            go(chain, 1, [("a", scripted(used("a", 5)))], run=run)

        assert run.rollout.step("a").usage == Usage(5)

    def test_what_nothing_limits_is_infinite(self) -> None:
        left = Run().remaining

        assert {left.tokens, left.cost, left.ms, left.steps, left.turns} == {math.inf}

    def test_a_limiter_bounds_what_runs_at_once(self, go: Go) -> None:
        async def many() -> int:
            run = Run(limiters={"model": 2})
            most = now = 0

            async def ask(_value: object) -> str:
                nonlocal most, now
                now += 1
                most = max(most, now)
                await anyio.lowlevel.checkpoint()
                now -= 1
                return "a"

            async def one(number: int) -> None:
                inner = Chain([Stage("in", ask, limiter="model")])
                made = Chain([Stage("ask", inner, limiter="model")], name=f"c{number}")
                assert (await made.run(1, run=run)).stopped_by == "done"

            async with anyio.create_task_group() as group:
                for number in range(8):
                    group.start_soon(one, number)
            return most

        assert go(many) == 2

    def test_a_limiter_that_there_is_not(self, go: Go) -> None:
        with pytest.raises(ConfigError, match="limiter"):
            go(chain, 1, [Stage("a", scripted(), limiter="model")])


class TestTime:
    def test_the_deadline_is_tested_before_each_step(self, go: Go, clock: ManualClock) -> None:
        later = scripted()

        def judge(_reply: Reply) -> bool:
            clock.advance(1)
            return True

        run = Run(limits=Limits(timeout=2), clock=clock)
        stages = [Stage("a", scripted("a", seconds=1, clock=clock), judge), Stage("b", later)]
        result = go(chain, 1, stages, run=run)

        assert (result.stopped_by, later.calls) == ("deadline", [])

    def test_step_timeout_of_the_run(self, go: Go, clock: ManualClock) -> None:
        run = Run(limits=Limits(step_timeout=1), clock=clock)
        result = go(chain, 1, [("a", scripted("a", seconds=2, clock=clock))], run=run)

        assert (result.stopped_by, result.error.type) == ("failed", "TimeoutError")
        assert result.error.cls == "timeout"

    def test_durations_are_measured_by_the_clock_that_never_goes_back(self, go: Go) -> None:
        class Backwards(ManualClock):
            def now(self) -> int:
                return -super().now()

        back = Backwards(0)
        run = Run(clock=back, limits=Limits(timeout=10))
        result = go(chain, 1, [("a", scripted("a", seconds=1, clock=back))], run=run)
        step = result.rollout.step("a")

        assert (step.duration_ms, step.started_at > step.ended_at) == (1000, True)
        assert result.stopped_by == "done"

    def test_sync_code_that_hangs_is_left(self, go: Go, backend: str) -> None:
        del backend
        release = threading.Event()

        def hang(_value: object) -> str:
            release.wait(20)
            return "late"

        async def work() -> Any:
            result = await chain(1, [Stage("a", hang, timeout=0.05)])
            release.set()
            return result

        result = go(work)

        assert (result.stopped_by, result.error.cls) == ("failed", "timeout")


class TestRetry:
    def test_attempts_share_path_and_key_and_are_all_recorded(
        self, go: Go, clock: ManualClock
    ) -> None:
        keys: list[tuple[int, str]] = []
        answers = [ConnectionResetError(104, "reset"), TimeoutError(), used("a", 5)]

        async def ask(_value: object, ctx: Ctx) -> Any:
            keys.append((ctx.attempt, ctx.idempotency_key))
            answer = answers[len(keys) - 1]
            if isinstance(answer, Exception):
                raise answer
            return answer

        result = go(chain, 1, [("a", ask)], run=Run(retry=Retry(), clock=clock))
        steps = result.rollout.steps

        assert [(s.path, s.attempt, s.status) for s in steps] == [
            ("a", 1, "failed"),
            ("a", 2, "failed"),
            ("a", 3, "completed"),
        ]
        assert [attempt for attempt, _ in keys] == [1, 2, 3]
        assert {key for _, key in keys} == {step.idempotency_key for step in steps}
        assert len(clock.slept) == 2

    def test_the_wait_doubles_up_to_the_longest(self) -> None:
        retry = Retry(max_attempts=10_000, max_wait=9)
        reset = ErrorInfo("reset", action="backoff")

        assert [retry.wait(reset, at) for at in (1, 2, 3, 4, 5, 6, 9_999)] == [
            0.5, 1, 2, 4, 8, 9, 9]  # fmt: skip
        assert retry.wait(reset, 10_000) is None

    def test_what_is_not_worth_it_is_not_retried(self, go: Go, clock: ManualClock) -> None:
        model = scripted(ValueError("bad"))
        result = go(chain, 1, [Stage("a", model, retry=Retry())], run=Run(clock=clock))

        assert (len(model.calls), result.stopped_by) == (1, "failed")

    def test_the_wait_of_a_server_is_honoured(self, go: Go, clock: ManualClock) -> None:
        class Answer:
            status_code = 429
            headers: ClassVar = {"retry-after": "7"}

        class TooMany(Exception):
            response = Answer()

        model = scripted(TooMany("slow down"), "a")
        impatient = scripted(TooMany("slow down"))
        go(chain, 1, [Stage("a", model, retry=Retry())], run=Run(clock=clock))
        result = go(
            chain, 1, [Stage("a", impatient, retry=Retry(max_wait=5))], run=Run(clock=clock)
        )

        assert clock.slept == [7]
        assert (result.stopped_by, len(impatient.calls)) == ("failed", 1)

    def test_a_wait_beyond_the_deadline_is_not_waited(self, go: Go, clock: ManualClock) -> None:
        class Busy(Exception):
            status_code = 429

        model = scripted(Busy("slow down"), repeat=True)
        run = Run(clock=clock, limits=Limits(timeout=3), retry=Retry(max_attempts=9))
        result = go(chain, 1, [("a", model)], run=run)

        assert (result.stopped_by, clock.slept) == ("deadline", [0.5, 1.0])

    def test_a_ceiling_is_tested_before_each_attempt(self, go: Go, clock: ManualClock) -> None:
        model = scripted(TimeoutError("slow"), repeat=True)
        run = Run(clock=clock, limits=Limits(max_steps=2), retry=Retry(max_attempts=9))
        result = go(chain, 1, [("a", model)], run=run)

        assert (result.stopped_by, len(result.rollout.steps)) == ("steps", 2)


class TestCtx:
    def test_what_it_knows(self, go: Go) -> None:
        seen: list[Any] = []

        async def look(_value: object, ctx: Ctx) -> str:
            seen.extend(
                [ctx.run_id, ctx.path, ctx.attempt, ctx.deadline, ctx.now(), ctx.random.random()]
            )
            return "a"

        def once() -> Any:
            run = Run("r", clock=ManualClock(0), limits=Limits(timeout=2))
            return go(chain, 1, [("a", look)], run=run)

        result, first = once(), list(seen)
        seen.clear()
        once()

        assert first[:5] == ["r", "a", 1, 2000, 0]
        assert first == seen
        # One reading for the deadline, and one that was asked for.
        assert result.rollout.step("a").meta["now"] == [0, 0]

    def test_a_step_of_ones_own(self, go: Go) -> None:
        async def ask(question: str, times: int) -> Reply:
            return used(question * times, 10)

        async def work(_value: object, ctx: Ctx) -> Reply:
            first: Reply = await ctx.step("ask", ask, "a", 2)
            await ctx.step("ask", ask, "b", 1)
            assert await ctx.step("plain", len, [1, 2], effect="readonly") == 2
            return first

        result = go(chain, 1, [("work", work)])

        assert [(s.path, s.kind, s.effect) for s in result.rollout.steps] == [
            ("work", "stage", None),
            ("work/ask", "tool", None),
            ("work/ask.2", "tool", None),
            ("work/plain", "tool", "readonly"),
        ]
        assert result.usage == Usage(20)
        assert result.output == "aa"

    def test_what_a_step_of_ones_own_raises_comes_back(self, go: Go) -> None:
        def fail() -> None:
            raise OSError("disk")

        async def work(_value: object, ctx: Ctx) -> str:
            with pytest.raises(OSError, match="disk"):
                await ctx.step("fail", fail)
            return "went on"

        result = go(chain, 1, [("work", work)])

        assert (result.output, result.rollout.step("work/fail").status) == ("went on", "failed")

    def test_a_ceiling_ends_the_step_around(self, go: Go) -> None:
        async def work(_value: object, ctx: Ctx) -> str:
            for _ in range(9):
                await ctx.step("ask", scripted(used("a", 50)), 1)
            return "never"

        result = go(chain, 1, [("work", work)], max_tokens=100)

        assert (result.stopped_by, result.usage) == ("tokens", Usage(100))
        assert result.rollout.step("work").status == "cancelled"


class TestEvents:
    def test_they_equal_the_steps_in_order(self, go: Go) -> None:
        events: list[Event] = []
        inner = Chain([("in", scripted("in"))])

        async def work(_value: object, ctx: Ctx) -> str:
            await ctx.emit("piece")
            return "a"

        run = Run(on_event=events.append)
        result = go(chain, 1, [Stage("a", work, yes), ("b", inner)], run=run)
        ended = [event.step for event in events if event.event == "step_ended"]

        assert [event.seq for event in events] == list(range(len(events)))
        assert [event.event for event in events if event.path == "a"] == [
            "step_started",
            "delta",
            "step_ended",
        ]
        assert sorted(step.path for step in ended if step) == sorted(paths(result.rollout))
        assert [step for step in ended if step in result.rollout.steps] == [*result.rollout.steps]
        assert (events[0].event, events[-1].event) == ("run_started", "run_ended")
        assert events[-1].data == {"status": "completed", "stopped_by": "done"}
        assert all(Event.from_dict(event.to_dict()) == event for event in events)

    @pytest.mark.parametrize(
        ("limits", "reason"),
        [
            (Limits(max_tokens=5), "tokens"),
            (Limits(max_cost=9), "cost"),
            (Limits(max_steps=1), "steps"),
            (Limits(timeout=9), "deadline"),
            (Limits(max_tokens=6), None),
        ],
    )
    def test_a_limit_that_ends_a_workflow_is_told(
        self, go: Go, clock: ManualClock, limits: Limits, reason: str | None
    ) -> None:
        events: list[Event] = []
        model = scripted(used("a", 5, cost=9), seconds=9, clock=clock)
        run = Run(limits=limits, clock=clock, on_event=events.append)
        result = go(chain, 1, [("a", model), ("b", lambda _a: "b")], run=run)
        told = [(event.event, event.data) for event in events[-2:]]

        assert result.stopped_by == (reason or "done")
        assert (told[0] == ("budget", {"stopped_by": reason})) == (reason is not None)
        assert [event.event for event in events].count("budget") == (reason is not None)
        assert told[1][0] == "run_ended"

    def test_a_listener_that_raises_changes_nothing(self, go: Go) -> None:
        def broken(_event: Event) -> None:
            raise ValueError("listener")

        plain = go(chain, 1, [("a", scripted("a"))], run=Run("r"))
        result = go(chain, 1, [("a", scripted("a"))], run=Run("r", on_event=broken))

        assert result.output == plain.output
        assert result.rollout.steps[0].output == "a"
        assert {fault.message for fault in result.rollout.faults} == {"listener"}

    def test_an_async_listener_is_waited_for(self, go: Go) -> None:
        told: list[str] = []

        async def listen(event: Event) -> None:
            await anyio.lowlevel.checkpoint()
            told.append(event.event)

        go(chain, 1, [("a", scripted("a"))], run=Run(on_event=listen))

        assert told == ["run_started", "step_started", "step_ended", "run_ended"]


class TestCancellation:
    @pytest.mark.parametrize("inside", [False, True])
    def test_from_another_task_it_gives_a_result(self, go: Go, inside: bool) -> None:
        async def work() -> Any:
            run, started = Run(), anyio.Event()
            results: list[Any] = []

            async def hang(_value: object) -> str:
                started.set()
                await anyio.sleep_forever()
                return "never"

            inner: Any = Chain([("hang", hang)]) if inside else hang

            async def go_on() -> None:
                results.append(await chain(1, [("a", scripted("A")), ("hang", inner)], run=run))

            async with anyio.create_task_group() as group:
                group.start_soon(go_on)
                await started.wait()
                run.cancel("enough")
            return results[0]

        result = go(work)

        assert (result.status, result.stopped_by, result.output) == ("cancelled", "cancelled", "A")
        assert {step.status for step in result.rollout.all_steps()} == {"completed", "cancelled"}

    def test_from_outside_it_goes_on_and_the_record_stays(self, go: Go) -> None:
        async def work() -> Run:
            run = Run()
            with anyio.CancelScope() as scope:

                async def stop(_value: object) -> str:
                    scope.cancel()
                    await anyio.sleep_forever()
                    return "never"

                await chain(1, [("a", scripted("A")), ("stop", stop)], run=run)
                pytest.fail("the cancellation was swallowed")
            assert scope.cancelled_caught
            return run

        rollout = go(work).rollout

        assert [step.status for step in rollout.steps] == ["completed", "cancelled"]
        assert (rollout.status, rollout.stopped_by) == ("cancelled", "cancelled")

    def test_a_tool_that_may_have_done_something_is_in_doubt(self, go: Go) -> None:
        async def work() -> Run:
            run = Run()
            with anyio.CancelScope() as scope:

                async def stop() -> None:
                    scope.cancel()
                    await anyio.sleep_forever()

                async def tool(_value: object, ctx: Ctx) -> str:
                    await ctx.step("write", stop, effect="write")
                    return "never"

                await chain(1, [("tool", tool)], run=run)
            return run

        assert go(work).rollout.step("tool/write").status == "in_doubt"

    def test_a_run_that_was_cancelled_starts_nothing(self, go: Go) -> None:
        run, model = Run(), scripted()
        run.cancel()
        result = go(chain, 1, [("a", model)], run=run)

        assert (result.status, model.calls) == ("cancelled", [])

    def test_an_interrupt_of_the_process_passes(self, go: Go) -> None:
        run = Run()
        with pytest.raises(KeyboardInterrupt):
            go(chain, 1, [("a", scripted(KeyboardInterrupt()))], run=run)

        assert run.rollout.step("a").status == "cancelled"


class TestSync:
    def test_sync_work_runs_in_a_thread_and_judgement_inline(self, go: Go) -> None:
        seen: dict[str, int] = {}

        def work(_value: object) -> str:
            seen["work"] = threading.get_ident()
            return "a"

        def judge(_reply: Reply) -> bool:
            seen["judge"] = threading.get_ident()
            return True

        go(chain, 1, [Stage("a", work, judge)])

        assert seen["judge"] == threading.get_ident() != seen["work"]
        with inline_sync():
            go(chain, 1, [Stage("a", work, judge)])
        assert seen["judge"] == threading.get_ident() == seen["work"]

    def test_a_sync_function_may_return_something_to_wait_for(self, go: Go) -> None:
        model = scripted("A")

        def ask(value: object) -> Any:
            return model(value)

        assert go(chain, 1, [("a", ask)]).output == "A"

    @pytest.mark.parametrize("ends_by", ["timeout", "run timeout", "tool timeout", "cancellation"])
    def test_a_run_inside_a_thread_that_was_left_behind_ends_and_is_counted_until_then(
        self, go: Go, clock: ManualClock, ends_by: str
    ) -> None:
        ended = threading.Event()
        limits = Limits(timeout=10 if ends_by == "run timeout" else None)
        run = Run(limits=limits, clock=clock)

        async def work() -> Any:
            waiting, left = anyio.Event(), anyio.Event()

            async def wait(_value: object) -> str:
                waiting.set()
                try:
                    await anyio.sleep_forever()
                finally:
                    left.set()
                return "never"

            inner = Chain([("one", scripted(Reply("a", usage=Usage(10)))), ("two", wait)])

            def thread(_value: object = None) -> Any:
                try:
                    return inner.sync(1)
                finally:
                    ended.set()

            async with anyio.create_task_group() as group:
                if ends_by == "tool timeout":
                    made: Any = tool(thread, name="t", schema={"type": "object"}, timeout=10)
                    turn = scripted(Reply(calls=(ToolCall("1", "t"),)), "end")
                    group.start_soon(partial(Loop(turn, tools=toolbus(made)).run, run=run))
                else:
                    stage = Stage("s", thread, timeout=10 if ends_by == "timeout" else None)
                    group.start_soon(partial(Chain([stage]).run, 1, run=run))
                await waiting.wait()
                if ends_by == "cancellation":
                    group.cancel_scope.cancel()
                clock.advance(10)
            with anyio.fail_after(5):
                await left.wait()

        go(work)
        assert ended.wait(5)
        assert run.rollout.usage == Usage(10)
        assert run.account.tokens == 10

    @pytest.mark.parametrize("asks", ["nobody", "sync", "the loop"])
    def test_what_a_thread_that_was_left_behind_answers_is_not_counted(
        self, go: Go, asks: str
    ) -> None:
        later, ended, run = threading.Event(), threading.Event(), Run()
        model = scripted(Reply("late", usage=Usage(99)))

        def thread(_value: object) -> Any:
            later.wait(5)
            try:
                made = Chain([("a", model)])
                if asks == "the loop":
                    return anyio.from_thread.run(made.run, 1)
                return made.sync(1) if asks == "sync" else Reply("late", usage=Usage(99))
            finally:
                ended.set()

        async def work() -> None:
            result = await chain(1, [Stage("s", thread, timeout=0.05)], run=run)
            assert result.status == "failed"
            later.set()
            assert await anyio.to_thread.run_sync(ended.wait, 5)

        go(work)
        assert (run.account.tokens, run.rollout.usage, model.calls) == (0, Usage(), [])

    @pytest.mark.parametrize("backend_name", ["asyncio", "trio"])
    def test_in_a_script(self, backend_name: str) -> None:
        made = Cascade([("a", scripted("A"))], accept=yes)

        assert made.sync(1, backend=backend_name).output == "A"

    def test_not_in_a_thread_that_a_step_started_itself(self) -> None:
        inner = Chain([("ask", scripted("in"))], name="inner")
        refused: list[str] = []

        async def tier(value: object) -> object:
            try:
                return await asyncio.to_thread(inner.sync, value)
            except UsageError as error:
                refused.append(str(error))
                return await inner.run(value)

        async def watch() -> Any:
            async with streamed(Chain([("a", tier)]), 1, buffer=1) as stream:
                events = [event.path async for event in stream if event.event == "step_ended"]
                return events, await stream.result()

        events, result = run_checked(watch)

        assert (events, result.output) == (["a/inner/ask", "a"], "in")
        assert len(refused) == 1
        assert refused[0].startswith("inner: sync() was called in a thread that a step started")

    def test_a_thread_of_the_callers_own_is_a_script(self) -> None:
        made = Chain([("a", lambda value: value)])
        with ThreadPoolExecutor() as pool:
            assert [one.output for one in pool.map(made.sync, "abc")] == ["a", "b", "c"]

    def test_not_inside_a_running_loop(self, go: Go) -> None:
        async def work() -> None:
            made = Chain([("a", scripted("A"))])
            with pytest.raises(UsageError, match="running event loop"):
                made.sync(1)

        go(work)


class TestResults:
    def test_unwrap(self, go: Go) -> None:
        good = go(chain, 1, [("a", scripted("A"))])
        bad = go(chain, 1, [("a", scripted(ValueError("bad")))])

        assert good.unwrap() is good
        with pytest.raises(RunFailed, match="chain is failed, stopped by failed: ValueError: bad"):
            bad.unwrap()

    def test_content_as_digests(self, go: Go) -> None:
        result = go(chain, 1, [("a", scripted({"secret": 1}))], run=Run(content="digest"))
        step = result.rollout.step("a")

        assert set(step.output) == {"digest"}
        assert "secret" not in result.rollout.to_json()
        assert result.data == {"secret": 1}
