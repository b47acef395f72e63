"""The calls of a loop: one after the other or overlapping, retried, in doubt, cancelled, nested."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from interlock import (
    Block,
    Cascade,
    Chain,
    Compact,
    ConfigError,
    Hooks,
    Limits,
    Loop,
    LoopResult,
    Reply,
    Retry,
    Rollout,
    Run,
    ToolCall,
    ToolResult,
    Usage,
    UsageError,
    finish,
    loop,
    tool,
    toolbus,
)
from interlock.harness import Ctx, DeadlineCheck, ErrorInfo, Event, Stall, StallDetect, Work
from interlock.testing import ManualClock, scripted

from .conftest import Go
from .loops import Desk, Turns, asks, call, paths, says, statuses


class TestResults:
    def test_they_answer_their_calls_in_order(self, go: Go, desk: Desk) -> None:
        calls = [call("lookup", f"c{at}", key=str(at)) for at in range(4)]
        turn = Turns(asks(*calls), says("x"))
        go(loop, "?", turn=turn, tools=desk.bus)
        results = turn.states[1].results

        assert [(one.call_id, one.output, one.turn) for one in results] == [
            (f"c{at}", f"found {at}", 0) for at in range(4)
        ]

    def test_usage_of_a_tool_counts(self, go: Go) -> None:
        @tool(effect="readonly")
        def costly() -> Reply:
            return Reply("out", usage=Usage(30, 5))

        turn = scripted(asks(call("costly"), tokens=10), says("x"))
        result = go(loop, "?", turn=turn, tools=toolbus([costly]))

        assert result.rollout.step("turn_0/costly").usage == Usage(30, 5)
        assert result.usage == Usage(40, 5)

    def test_data_stays_data(self, go: Go) -> None:
        @tool(effect="readonly")
        def found() -> dict[str, object]:
            return {"n": [1, 2]}

        turn = Turns(asks(call("found")), says("x"))
        result = go(loop, "?", turn=turn, tools=toolbus([found]))

        assert turn.states[1].results[0].output == {"n": [1, 2]}
        assert result.rollout.step("turn_0/found").output == {"n": [1, 2]}
        assert LoopResult.from_json(result.to_json()) == result

    @pytest.mark.parametrize("where", ["output", "error", "reply", "id", "name"])
    def test_text_without_a_canonical_form_ends_no_loop(self, go: Go, where: str) -> None:
        half = "\udc80"  # Half a surrogate pair, as in the name of a file that is no UTF-8.

        @tool(effect="readonly")
        def look() -> str:
            if where == "error":
                raise ValueError(half)
            return half * 9 if where == "output" else "found it"

        asked = ToolCall(half if where == "id" else "c1", half if where == "name" else "look", {})
        reply = asks(asked, text=half if where == "reply" else "")
        turn = Turns(reply, reply, says("x"))
        compact = Compact(lambda _older: "s", after=1, keep=1)
        result = go(loop, "?", turn=turn, tools=toolbus([look]), compact=compact)

        assert (result.stopped_by, result.turns, result.compactions.count) == ("quiet", 3, 1)
        if where == "output":
            assert turn.states[1].results[0].output == half * 9

    def test_a_record_of_digests_holds_no_output(self, go: Go) -> None:
        turn = scripted(asks(call("found")), says("x"))
        tools = toolbus([tool(lambda: "secret", name="found")])
        result = go(loop, "?", turn=turn, tools=tools, run=Run(content="digest"))

        assert "secret" not in result.rollout.to_json()
        assert set(result.rollout.step("turn_0/found").output) == {"digest"}

    @pytest.mark.parametrize("name", ["a/b", "x\n\x1b[31m", "", "/", "é" * 500, "turn_0", "stop"])
    def test_what_a_model_writes_as_a_name_is_no_path(self, go: Go, desk: Desk, name: str) -> None:
        turn = Turns(asks(call(name, "c"), call(name, "d")), says("x"))
        result = go(loop, "?", turn=turn, tools=desk.bus)
        steps = result.rollout.find(kind="tool")

        assert [one.name for one in turn.states[1].results] == [name, name]
        assert all(step.path.count("/") == 1 and step.name.isprintable() for step in steps)
        assert len({step.path for step in steps}) == 2
        assert max(len(step.name) for step in steps) <= 64

    @pytest.mark.parametrize(
        "args", [{"key": object()}, {"key": float("nan")}, {1: "x"}, [1], "key=a", None]
    )
    def test_arguments_that_json_cannot_hold_never_reach_the_tool(
        self, go: Go, desk: Desk, args: Any
    ) -> None:
        turn = Turns(Reply(calls=(ToolCall("c", "lookup", args),)), says("x"))
        go(loop, "?", turn=turn, tools=desk.bus)

        assert (desk.ran, turn.states[1].results[0].status) == ([], "failed")

    @pytest.mark.parametrize(
        "bad",
        [{"name": "lookup"}, "lookup", ToolCall("c", 3)],  # type: ignore[arg-type]
    )
    def test_a_call_that_is_none_is_misuse(self, go: Go, desk: Desk, bad: Any) -> None:
        with pytest.raises(UsageError, match="turn `turn_0`"):
            go(loop, "?", turn=scripted(Reply(calls=(bad,))), tools=desk.bus)


class Other:
    """Something with `invoke` that is no bus."""

    def __init__(self, *answers: object) -> None:
        self.answers = iter(answers)

    def invoke(self, _call: ToolCall) -> Any:
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def effect(self, _name: str) -> str:
        raise AssertionError("only a bus is asked for effects")

    get = is_idempotent = effect


class TestAnythingWithInvoke:
    def test_sync_and_any_answer(self, go: Go) -> None:
        answers = ("text", {"n": 1}, [1, 2], None, ToolResult("?", "?", "completed", "own"))
        turn = Turns(asks(*(call("x", f"c{at}") for at in range(5))), says("done"))
        go(loop, "?", turn=turn, tools=Other(*answers))
        results = turn.states[1].results

        assert [one.output for one in results] == ["text", {"n": 1}, [1, 2], "", "own"]
        assert [(one.call_id, one.name) for one in results] == [(f"c{at}", "x") for at in range(5)]

    def test_one_that_raises_is_a_failed_result(self, go: Go) -> None:
        turn = Turns(asks(call("x")), says("done"))
        error = FileNotFoundError(2, "No such file or directory", "/home/me/secret/keys.txt")
        go(loop, "?", turn=turn, tools=Other(error))
        (failed,) = turn.states[1].results

        assert failed.status == "failed"
        assert "keys.txt" in str(failed.output)
        assert "/home/me" not in str(failed.output)

    @pytest.mark.parametrize(
        "answer", [object(), ToolResult("c", "x", "completed", object()), {1, 2}]
    )
    def test_an_answer_that_json_cannot_hold_is_misuse(self, go: Go, answer: object) -> None:
        with pytest.raises(UsageError, match="tool `turn_0/x`"):
            go(loop, "?", turn=scripted(asks(call("x"))), tools=Other(answer))

    def test_it_may_take_a_context(self, go: Go) -> None:
        seen: list[str] = []

        class Contextual:
            async def invoke(self, each: ToolCall, ctx: Ctx) -> str:
                seen.append(f"{ctx.path} {each.name}")
                return "ok"

        go(loop, "?", turn=scripted(asks(call("x")), says("done")), tools=Contextual())

        assert seen == ["turn_0/x x"]


class TestCeilings:
    def test_tokens_end_a_batch_too(self, go: Go) -> None:
        @tool(effect="readonly")
        def costly() -> Reply:
            return Reply("out", usage=Usage(60))

        seen: list[str] = []
        hooks = Hooks(before_tool=lambda each, _effect: seen.append(each.id))
        turn = scripted(asks(*(call("costly", f"c{at}") for at in range(5))))
        options: dict[str, Any] = {"tools": toolbus([costly]), "hooks": [hooks]}
        result = go(loop, "?", turn=turn, max_tokens=100, **options)

        # Once a call could not start, nobody is asked about the ones behind it.
        assert seen == ["c0", "c1", "c2"]
        assert (result.stopped_by, result.usage) == ("tokens", Usage(120))
        assert [step.status for step in result.rollout.find(kind="tool")] == [
            "completed",
            "completed",
            "skipped",
            "skipped",
            "skipped",
        ]

    def test_a_ceiling_inside_a_tool_ends_the_loop(self, go: Go) -> None:
        @tool(effect="readonly")
        async def deep(ctx: Ctx) -> str:
            for _ in range(9):
                await ctx.step("ask", scripted(Reply("a", usage=Usage(40))), 1)
            return "never"

        turn = scripted(asks(call("deep", "c1"), call("deep", "c2")))
        result = go(loop, "?", turn=turn, tools=toolbus([deep]), max_tokens=100)

        assert (result.stopped_by, result.usage) == ("tokens", Usage(120))
        assert statuses(result)[-1] == ("deep", "skipped")
        assert result.rollout.step("turn_0/deep").status == "cancelled"

    @pytest.mark.parametrize("left", ["max_turns", "both"])
    def test_a_loop_without_an_end_is_refused(self, go: Go, desk: Desk, left: str) -> None:
        model = scripted(says("x"), repeat=True)
        made = Loop(model, tools=desk.bus, max_turns=None)
        if left == "max_turns":
            with pytest.raises(ConfigError, match="max_turns"):
                go(made.run, "?")
            assert model.calls == []
        limits = [Limits(max_steps=9), Limits(max_tokens=9), Limits(max_cost=9), Limits(timeout=9)]
        for limit in limits:
            assert go(made.run, "?", run=Run(limits=limit)).stopped_by == "quiet"
        own = Loop(model, max_turns=None, max_tokens=9)
        assert go(own.run, "?").stopped_by == "quiet"

    def test_a_loop_inside_is_ended_by_what_is_around_it(self, go: Go, desk: Desk) -> None:
        inner = Loop(
            scripted(asks(call("lookup"), tokens=30), repeat=True), tools=desk.bus, max_turns=None
        )
        outer = Chain([("research", inner)], max_tokens=100)
        result = go(outer.run, "?")
        child = result.rollout.step("research").child

        assert (child.stopped_by, result.usage.total) == ("tokens", 120)


class TestWork:
    def test_a_turn_with_a_reserve_makes_the_ceiling_hard(self, go: Go, desk: Desk) -> None:
        model = scripted(asks(call("lookup"), tokens=40), repeat=True)
        result = go(loop, "?", turn=Work(model, reserve=50), tools=desk.bus, max_tokens=100)

        assert (result.stopped_by, result.turns, result.usage.total) == ("tokens", 2, 80)

    def test_a_turn_with_a_timeout_and_retries(
        self, go: Go, desk: Desk, clock: ManualClock
    ) -> None:
        slow = scripted("late", seconds=9, clock=clock)
        late = go(loop, "?", turn=Work(slow, timeout=5), tools=desk.bus, run=Run(clock=clock))
        flaky = scripted(ConnectionResetError(104, "reset"), says("x"))
        again = go(loop, "?", turn=Work(flaky, retry=Retry()), run=Run(clock=clock))

        assert (late.stopped_by, late.error.type) == ("failed", "TimeoutError")
        assert (again.stopped_by, again.turns) == ("quiet", 1)

    def test_a_summary_too(self, go: Go, desk: Desk, clock: ManualClock) -> None:
        slow = scripted("s", seconds=9, clock=clock)
        compact = Compact(Work(slow, timeout=5), after=2, keep=1)
        turn = scripted(asks(call("lookup", "1"), call("lookup", "2")), SECOND, says("x"))
        run = Run(clock=clock)
        result = go(loop, "?", turn=turn, tools=desk.bus, compact=compact, run=run)

        assert (result.stopped_by, result.compactions.count) == ("quiet", 0)
        assert result.rollout.step("compact").error.type == "TimeoutError"

    @pytest.mark.parametrize("make", [Loop, lambda work: Compact(work, after=1)])
    def test_what_is_no_work_is_refused(self, make: Any) -> None:
        with pytest.raises(ConfigError, match="timeout"):
            make(Work(str, timeout=-1))


SECOND = asks(call("lookup", "3"))


class TestParallel:
    def meeting(self, clock: ManualClock | None = None) -> tuple[Any, dict[str, int]]:
        """Make tools of which all calls of a batch are seen to overlap, or not."""
        seen = {"now": 0, "most": 0}

        async def meet(key: str = "") -> str:
            seen["now"] += 1
            seen["most"] = max(seen["most"], seen["now"])
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            seen["now"] -= 1
            return f"met {key}"

        del clock
        effects: list[Any] = ["readonly", "write", None]
        tools = [tool(meet, name=str(effect), effect=effect) for effect in effects]
        return toolbus([*tools, finish()]), seen

    @pytest.mark.parametrize(
        ("name", "parallel", "most"),
        [
            ("readonly", True, 5),
            ("readonly", False, 1),
            ("write", True, 1),
            ("None", True, 1),
        ],
    )
    def test_only_readonly_calls_overlap_and_only_when_asked(
        self, go: Go, name: str, parallel: bool, most: int
    ) -> None:
        bus, seen = self.meeting()
        turn = Turns(asks(*(call(name, f"c{at}", key=str(at)) for at in range(5))), says("x"))
        result = go(loop, "?", turn=turn, tools=bus, parallel_tools=parallel)

        assert seen["most"] == most
        assert [one.output for one in turn.states[1].results] == [f"met {at}" for at in range(5)]
        assert paths(result)[1:6] == [
            f"turn_0/{name}",
            *(f"turn_0/{name}.{at}" for at in range(2, 6)),
        ]

    def test_concurrency_of_the_run_bounds_them(self, go: Go) -> None:
        bus, seen = self.meeting()
        turn = scripted(asks(*(call("readonly", f"c{at}") for at in range(9))), says("x"))
        go(loop, "?", turn=turn, tools=bus, parallel_tools=True, run=Run(concurrency=3))

        assert seen["most"] == 3

    def test_a_call_that_is_not_readonly_stands_between(self, go: Go) -> None:
        order: list[str] = []

        def made(name: str, effect: Any) -> Any:
            async def work() -> str:
                order.append(f"{name} begins")
                await anyio.lowlevel.checkpoint()
                order.append(f"{name} ends")
                return name

            return tool(work, name=name, effect=effect)

        bus = toolbus([made("a", "readonly"), made("b", "write"), made("c", "readonly")])
        turn = scripted(asks(call("a"), call("b"), call("c")), says("x"))
        go(loop, "?", turn=turn, tools=bus, parallel_tools=True)

        assert order == [f"{name} {what}" for name in "abc" for what in ("begins", "ends")]

    def test_they_start_in_their_order_so_that_a_ceiling_skips_the_last(self, go: Go) -> None:
        bus, _ = self.meeting()
        turn = scripted(asks(*(call("readonly", f"c{at}") for at in range(6))))
        run = Run(limits=Limits(max_steps=4))
        result = go(loop, "?", turn=turn, tools=bus, parallel_tools=True, run=run)
        by_path = sorted(result.rollout.find(kind="tool"), key=lambda step: step.call_id)

        assert result.stopped_by == "steps"
        assert [step.status for step in by_path] == ["completed"] * 3 + ["skipped"] * 3

    def test_one_that_fails_leaves_the_others(self, go: Go, desk: Desk) -> None:
        turn = Turns(asks(call("lookup", key="a"), call("broken"), call("lookup")), says("x"))
        go(loop, "?", turn=turn, tools=desk.bus, parallel_tools=True)

        assert [one.status for one in turn.states[1].results] == [
            "completed",
            "failed",
            "completed",
        ]

    def test_hooks_are_asked_in_order_before_and_after(self, go: Go) -> None:
        bus, _ = self.meeting()
        seen: list[str] = []
        hooks = Hooks(
            before_tool=lambda each, _e: Block("no") if each.id == "c1" else None,
            after_tool=lambda each, result: seen.append(f"{each.id} {result.status}"),
        )
        turn = scripted(asks(*(call("readonly", f"c{at}") for at in range(3))), says("x"))
        go(loop, "?", turn=turn, tools=bus, parallel_tools=True, hooks=[hooks])

        assert seen == ["c0 completed", "c1 blocked", "c2 completed"]

    def test_misuse_in_one_ends_all(self, go: Go) -> None:
        async def odd(ctx: Ctx) -> Any:
            await ctx.step("x", scripted("a"), 1)
            return "a"

        @tool(effect="readonly")
        async def unpriced(ctx: Ctx) -> Any:
            return await ctx.step("x", scripted(Reply("a", usage=Usage(5))), 1)

        @tool(effect="readonly")
        async def hangs() -> None:
            await anyio.sleep_forever()

        turn = scripted(asks(call("hangs"), call("unpriced"), call("hangs", "h2")))
        run = Run(limits=Limits(max_cost=9))
        with pytest.raises(ConfigError, match="told no cost"):
            go(
                loop,
                "?",
                turn=turn,
                tools=toolbus([tool(odd), unpriced, hangs]),
                parallel_tools=True,
                run=run,
            )

        assert run.rollout.step("turn_0/hangs").status == "cancelled"

    def test_finish_never_overlaps(self, go: Go) -> None:
        bus, _ = self.meeting()
        turn = scripted(asks(call("readonly"), call("finish", answer=1), call("readonly", "c2")))
        result = go(loop, "?", turn=turn, tools=bus, parallel_tools=True)

        assert (result.answer, statuses(result)[-1]) == (1, ("readonly", "skipped"))


class TestTime:
    @pytest.mark.parametrize(
        ("effect", "status"), [("readonly", "failed"), ("write", "in_doubt"), (None, "in_doubt")]
    )
    @pytest.mark.parametrize("by_run", [True, False])
    def test_a_call_that_takes_too_long(
        self, go: Go, clock: ManualClock, effect: Any, status: str, by_run: bool
    ) -> None:
        async def slow() -> str:
            await clock.sleep(9)
            return "late"

        bus = toolbus([tool(slow, effect=effect, timeout=None if by_run else 5)])
        turn = Turns(asks(call("slow")), says("x"))
        run = Run(clock=clock, limits=Limits(step_timeout=5 if by_run else None))
        result = go(loop, "?", turn=turn, tools=bus, run=run)
        (found,) = turn.states[1].results
        step = result.rollout.step("turn_0/slow")

        assert (found.status, step.status) == (status, status)
        assert "no answer within 5 s" in str(found.output)
        assert ("may or may not have happened" in str(found.output)) is (status == "in_doubt")

    @pytest.mark.parametrize(
        ("effect", "idempotent", "tried"),
        [("readonly", None, 3), ("write", True, 3), ("write", None, 1), (None, None, 1)],
    )
    def test_retries_are_for_what_may_be_repeated(
        self, go: Go, clock: ManualClock, effect: Any, idempotent: Any, tried: int
    ) -> None:
        keys: list[str] = []

        @tool(effect=effect, idempotent=idempotent)
        async def flaky(ctx: Ctx) -> str:
            keys.append(ctx.idempotency_key)
            raise ConnectionResetError(104, "reset")

        turn = Turns(asks(call("flaky")), says("x"))
        run = Run(clock=clock, retry=Retry())
        result = go(loop, "?", turn=turn, tools=toolbus([flaky]), run=run)
        steps = result.rollout.find(name="flaky")

        assert [step.attempt for step in steps] == list(range(1, tried + 1))
        assert len(keys) == tried
        assert len(set(keys)) == 1
        assert len(turn.states[1].results) == 1

    def test_a_turn_is_retried_when_the_run_says_so(self, go: Go, clock: ManualClock) -> None:
        turn = scripted(ConnectionResetError(104, "reset"), says("x"))
        result = go(loop, "?", turn=turn, run=Run(clock=clock, retry=Retry()))

        assert (result.stopped_by, result.turns, paths(result)) == (
            "quiet",
            1,
            ["turn_0", "turn_0"],
        )

    def test_a_failed_reply_is_retried_likewise(self, go: Go, clock: ManualClock) -> None:
        busy = Reply(
            status="failed", error=ErrorInfo("Busy", "busy", "unavailable", "backoff", True)
        )
        result = go(loop, "?", turn=scripted(busy, says("x")), run=Run(clock=clock, retry=Retry()))

        assert (result.stopped_by, len(clock.slept)) == ("quiet", 1)

    def test_two_wanted_equal_calls_have_keys_of_their_own(self, go: Go) -> None:
        keys: list[str] = []

        @tool(effect="write")
        async def pay(ctx: Ctx) -> str:
            keys.append(ctx.idempotency_key)
            return "paid"

        turn = scripted(asks(call("pay", "c1"), call("pay", "c2")), asks(call("pay")), says("x"))
        result = go(loop, "?", turn=turn, tools=toolbus([pay]))

        assert len(set(keys)) == 3
        assert keys == [step.idempotency_key for step in result.rollout.find(name="pay")]


class TestCancellation:
    def hanging(self, effect: Any) -> tuple[Any, anyio.Event]:
        started = anyio.Event()

        @tool(effect=effect)
        async def hang() -> None:
            started.set()
            await anyio.sleep_forever()

        return toolbus([hang]), started

    @pytest.mark.parametrize(
        ("effect", "status"), [("readonly", "cancelled"), ("write", "in_doubt")]
    )
    def test_from_another_task(self, go: Go, effect: Any, status: str) -> None:
        async def work() -> Any:
            bus, started = self.hanging(effect)
            run, results = Run(), list[Any]()
            turn = scripted(asks(call("hang"), text="working"))

            async def go_on() -> None:
                results.append(await loop("?", turn=turn, tools=bus, run=run))

            async with anyio.create_task_group() as group:
                group.start_soon(go_on)
                await started.wait()
                run.cancel("enough")
            return results[0]

        result = go(work)

        assert (result.status, result.stopped_by, result.turns) == ("cancelled", "cancelled", 1)
        assert result.rollout.step("turn_0/hang").status == status

    @pytest.mark.parametrize("parallel", [True, False])
    def test_from_outside_it_goes_on(self, go: Go, parallel: bool) -> None:
        async def work() -> Run:
            bus, started = self.hanging("readonly")
            run, turn = Run(), scripted(asks(call("hang", "1"), call("hang", "2")))
            with anyio.CancelScope() as scope:

                async def stop() -> None:
                    await started.wait()
                    scope.cancel()

                async with anyio.create_task_group() as group:
                    group.start_soon(stop)
                    await loop("?", turn=turn, tools=bus, run=run, parallel_tools=parallel)
                    pytest.fail("the cancellation was swallowed")
            assert scope.cancelled_caught
            return run

        rollout = go(work).rollout

        assert rollout.status == "cancelled"
        assert {step.status for step in rollout.find(kind="tool")} == {"cancelled"}

    def test_the_deadline_of_the_run(self, go: Go, clock: ManualClock) -> None:
        @tool(effect="readonly")
        async def slow() -> str:
            await clock.sleep(9)
            return "late"

        turn = scripted(asks(call("slow"), text="so far"), says("never"))
        run = Run(clock=clock, limits=Limits(timeout=5))
        result = go(loop, "?", turn=turn, tools=toolbus([slow]), run=run)

        assert (result.stopped_by, result.status, result.output) == (
            "deadline",
            "incomplete",
            "so far",
        )


class TestNesting:
    def test_a_loop_as_a_tool_counts_once(self, go: Go, desk: Desk) -> None:
        inner = Loop(scripted(asks(call("lookup"), tokens=20), says("found", 5)), tools=desk.bus)

        @tool(effect="readonly")
        async def research() -> LoopResult:
            return await inner.run("in")

        turn = Turns(asks(call("research"), tokens=10), says("x"))
        result = go(loop, "?", turn=turn, tools=toolbus([research]))
        step = result.rollout.step("turn_0/research")

        assert turn.states[1].results[0].output == "found"
        assert (step.usage, step.child.usage, result.usage) == (Usage(25), Usage(25), Usage(35))
        assert [one.path for one in step.child.steps] == [
            "turn_0/research/loop/turn_0",
            "turn_0/research/loop/turn_0/lookup",
            "turn_0/research/loop/turn_1",
        ]
        assert Rollout.from_json(result.rollout.to_json()) == result.rollout

    def test_a_loop_as_a_stage_hands_its_answer_on(self, go: Go, desk: Desk) -> None:
        inner = Loop(scripted(asks(call("finish", answer={"n": 4}))), tools=desk.bus)
        after = scripted("end")
        result = go(Chain([("work", inner), ("after", after)]).run, "?")

        assert after.calls[0] == result.rollout.step("work") or isinstance(
            after.calls[0], LoopResult
        )
        assert result.rollout.step("work").output == '{"n":4}'

    def test_a_cascade_as_the_turn_asks_for_tools(self, go: Go, desk: Desk) -> None:
        cheap = scripted(says("no idea"), says("done"))
        strong = scripted(asks(call("lookup", key="a"), tokens=7))
        turn = Cascade(
            [("cheap", cheap), ("strong", strong)],
            accept=lambda reply: bool(reply.calls) or reply.output == "done",
        )
        result = go(loop, "?", turn=turn, tools=desk.bus)

        assert (desk.ran, result.stopped_by, result.turns) == (["lookup a"], "quiet", 2)
        assert result.usage == Usage(7)


class TestPause:
    def test_a_reply_that_pauses_is_gone_on_with(self, go: Go) -> None:
        turn = Turns(Reply("thinking", stop="pause"), says("done"))
        result = go(loop, "?", turn=turn)

        assert (result.stopped_by, result.turns) == ("quiet", 2)
        assert turn.states[1].exchanges[0].results == ()


def test_events_equal_the_steps(go: Go, desk: Desk) -> None:
    events: list[Event] = []
    run = Run(on_event=events.append)
    hooks = Hooks(before_tool=lambda each, _e: Block("no") if each.name == "remove" else None)
    turn = scripted(asks(call("lookup"), call("remove")), asks(call("finish", answer=1)))
    result = go(loop, "?", turn=turn, tools=desk.bus, run=run, hooks=[hooks])
    ended = [event.step for event in events if event.event == "step_ended"]

    assert [step.path for step in ended if step] == paths(result)
    assert tuple(ended) == result.rollout.steps


def test_a_run_is_told_by_its_setup() -> None:
    def quiet(_state: object) -> str:
        return "x"

    def loud(_state: object) -> str:
        return "X"

    bus = toolbus([tool(quiet, name="a")])
    made = [
        Loop(quiet),
        Loop(loud),
        Loop(quiet, tools=bus),
        Loop(quiet, tools=toolbus([tool(quiet, name="a", effect="readonly")])),
        Loop(quiet, max_turns=3),
        Loop(quiet, max_tokens=3),
        Loop(quiet, parallel_tools=True),
        Loop(quiet, hooks=[Hooks(quiet)]),
        Loop(quiet, hooks=[Hooks(quiet, on_error="block")]),
        Loop(quiet, stop=[quiet]),
        Loop(quiet, stop=[loud]),
        Loop(quiet, stop=[quiet, loud]),
        Loop(quiet, stop=[StallDetect()]),
        Loop(quiet, stop=[StallDetect(window=4)]),
        Loop(quiet, stop=[Stall()]),
        Loop(quiet, stop=[Stall(tell=True)]),
        Loop(quiet, stop=[DeadlineCheck(budget_ms=1)]),
        Loop(quiet, stop=[DeadlineCheck(budget_ms=2)]),
        Loop(quiet, compact=Compact(loud, after=3)),
        Loop(quiet, compact=Compact(loud, after=4)),
        Loop(quiet, compact=Compact(loud, after=3, keep=1)),
        Loop(quiet, compact=Compact(loud, at=0.5, window=9)),
        Loop(quiet, compact=Compact(Work(loud, timeout=3), after=3)),
        Loop(Work(quiet, reserve=3)),
    ]

    assert len({one.digest for one in made}) == len(made)
    assert Loop(quiet, tools=bus).digest == made[2].digest
    # Not where in memory it is.
    again = Loop(_quiet(), stop=[_quiet()], hooks=[Hooks(_quiet())]).digest
    assert again == Loop(_quiet(), stop=[_quiet()], hooks=[Hooks(_quiet())]).digest


def _quiet() -> Any:
    return lambda _state: None
