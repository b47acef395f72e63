"""Streams: the events of a run as they happen, whoever reads them and however slowly."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from interlock import (
    Cascade,
    Chain,
    ConfigError,
    Reply,
    Run,
    Stage,
    Usage,
    UsageError,
    cascade,
    chain,
)
from interlock.harness import Ctx, Event, streamed
from interlock.testing import scripted

from .conftest import Go


async def talk(_value: object, ctx: Ctx) -> Reply:
    for word in ("a", "b", "c"):
        await ctx.emit(word)
    await anyio.lowlevel.checkpoint()
    await ctx.emit("d")
    return Reply("abcd", usage=Usage(4))


async def forever(_value: object) -> str:
    await anyio.sleep_forever()
    return "never"


def three() -> Chain:
    return Chain([("a", talk), Stage("b", scripted("b"), lambda _reply: True), ("c", talk)])


def deltas(events: list[Event]) -> str:
    return "".join(str(event.data["text"]) for event in events if event.event == "delta")


class TestReading:
    @pytest.mark.parametrize("buffer", [1, 2, 64])
    def test_events_are_the_steps_in_order_and_the_result_follows(
        self, go: Go, buffer: int
    ) -> None:
        async def work() -> Any:
            async with streamed(three().run, 1, buffer=buffer) as stream:
                events = [event async for event in stream]
                return events, await stream.result()

        events, result = go(work)
        ended = [event.step for event in events if event.event == "step_ended"]

        assert tuple(ended) == result.rollout.steps
        assert (events[0].event, events[-1].event) == ("run_started", "run_ended")
        assert [event.seq for event in events] == sorted(event.seq for event in events)
        assert deltas(events) == "abcdabcd"
        assert result.status == "completed"

    def test_a_slow_reader_holds_the_run_up_and_loses_nothing(self, go: Go) -> None:
        started = 0

        async def count(_value: object) -> str:
            nonlocal started
            started += 1
            return "x"

        async def work() -> tuple[int, list[Event]]:
            made = Chain([(str(at), count) for at in range(50)])
            async with streamed(made.run, 1, buffer=3) as stream:
                await anyio.wait_all_tasks_blocked()
                ahead = started
                return ahead, [event async for event in stream]

        ahead, events = go(work)

        assert ahead <= 3
        assert len(events) == 102
        assert started == 50

    @pytest.mark.parametrize("count", [0, 1, 2, 3, 1_000])
    def test_pieces_are_put_together_while_nobody_reads(self, go: Go, count: int) -> None:
        async def chatter(_value: object, ctx: Ctx) -> str:
            for number in range(count):
                await ctx.emit(f"{number},")
                if number % 100 == 0:
                    await anyio.lowlevel.checkpoint()
            return "x"

        async def work() -> list[Event]:
            async with streamed(Chain([("a", chatter)]).run, 1, buffer=2) as stream:
                await anyio.wait_all_tasks_blocked()
                return [event async for event in stream]

        events = go(work)

        assert deltas(events) == "".join(f"{number}," for number in range(count))
        assert len([event for event in events if event.event == "delta"]) == min(count, 1)

    def test_a_reader_that_keeps_up_gets_every_piece(self, go: Go) -> None:
        read: list[str] = []

        async def chatter(_value: object, ctx: Ctx) -> str:
            for letter in "abc":
                await ctx.emit(letter)
                await anyio.wait_all_tasks_blocked()
            return "x"

        async def work() -> None:
            async with streamed(Chain([("a", chatter)]).run, 1) as stream:
                read.extend([deltas([event]) async for event in stream if event.event == "delta"])

        go(work)

        assert read == ["a", "b", "c"]

    def test_the_result_alone_needs_no_reader(self, go: Go) -> None:
        async def work() -> tuple[Any, list[Event]]:
            async with streamed(three().run, 1, buffer=1) as stream:
                result = await stream.result()
                return result, [event async for event in stream]

        result, events = go(work)

        assert result.status == "completed"
        assert len([event for event in events if event.event == "step_ended"]) == 4

    def test_a_function_and_a_workflow_will_do(self, go: Go) -> None:
        async def work() -> list[str]:
            tiers = [("small", scripted("s", repeat=True))]
            found: list[str] = []
            made = Cascade(tiers, accept=bool)
            for stream in (
                streamed(cascade, 1, tiers, accept=bool),
                streamed(made, 1),
                streamed(made.run, 1, run=Run("mine")),
            ):
                async with stream as opened:
                    found.append(str((await opened.result()).tier))
            return found

        assert go(work) == ["small"] * 3

    def test_steps_side_by_side_are_all_told(self, go: Go) -> None:
        async def many(_value: object, ctx: Ctx) -> str:
            async with anyio.create_task_group() as group:
                for number in range(5):
                    group.start_soon(ctx.step, f"s{number}", talk_twice, number)
            return "x"

        async def talk_twice(_value: object) -> str:
            await anyio.lowlevel.checkpoint()
            return "x"

        async def work() -> Any:
            async with streamed(Chain([("a", many)]).run, 1, buffer=1) as stream:
                events = [event async for event in stream]
                return events, await stream.result()

        events, result = go(work)
        started = [event.path for event in events if event.event == "step_started"]
        ended = [event.step for event in events if event.event == "step_ended"]

        assert started == [step.path for step in result.rollout.steps]
        assert sorted(ended, key=lambda step: step.path) == sorted(
            result.rollout.steps, key=lambda step: step.path
        )

    def test_sync_code_in_a_thread_is_heard(self, go: Go) -> None:
        inner = Chain([("in", talk)], name="inner")

        async def work() -> list[str]:
            async with streamed(Chain([("a", inner.sync)]).run, 1) as stream:
                return [event.path async for event in stream if event.event == "step_ended"]

        assert go(work) == ["a/inner/in", "a"]


class TestLeaving:
    def test_leaving_early_cancels_the_run(self, go: Go) -> None:
        async def work() -> Any:
            async with streamed(Chain([("a", talk), ("b", forever)]).run, 1) as stream:
                async for event in stream:
                    if event.path == "b":
                        break
            return await stream.result(), stream

        result, stream = go(work)

        assert (result.status, result.stopped_by) == ("cancelled", "cancelled")
        assert [step.status for step in stream.rollout.steps] == ["completed", "cancelled"]

    def test_or_lets_it_end(self, go: Go) -> None:
        async def work() -> Any:
            async with streamed(three().run, 1, on_exit="finish", buffer=1) as stream:
                async for _event in stream:
                    break
            return await stream.result()

        assert go(work).status == "completed"

    @pytest.mark.parametrize("on_exit", ["cancel", "finish"])
    def test_what_the_body_raises_goes_on_as_it_is(self, go: Go, on_exit: Any) -> None:
        streams: list[Any] = []

        async def work() -> None:
            async with streamed(three().run, 1, on_exit=on_exit) as stream:
                streams.append(stream)
                raise LookupError("body")

        with pytest.raises(LookupError, match="body"):
            go(work)

        ended = "cancelled" if on_exit == "cancel" else "completed"
        assert streams[0].rollout.status == ended

    @pytest.mark.parametrize("on_exit", ["cancel", "finish"])
    def test_cancelled_from_outside(self, go: Go, on_exit: Any) -> None:
        async def work() -> Any:
            made = Chain([("a", talk), ("b", forever)])
            stream = streamed(made.run, 1, on_exit=on_exit)
            with anyio.CancelScope() as scope:
                async with stream:
                    async for event in stream:
                        if event.path == "b":
                            scope.cancel()
            return scope.cancelled_caught, stream.rollout

        caught, rollout = go(work)

        assert caught
        assert rollout.status == "cancelled"

    def test_a_shared_run_goes_on(self, go: Go) -> None:
        async def work() -> Any:
            run = Run()
            async with streamed(Chain([("a", forever)]).run, 1, run=run) as stream:
                async for event in stream:
                    if event.path == "a":
                        break
            with pytest.raises(UsageError, match="cancelled before it had a result"):
                await stream.result()
            return await Chain([("b", scripted("b"))]).run(1, run=run), run

        result, run = go(work)

        assert result.status == "completed"
        assert run.listeners == []

    def test_only_work_of_the_stream_is_told(self, go: Go) -> None:
        async def work() -> list[str]:
            run = Run()
            async with streamed(three().run, 1, run=run) as stream:
                await Chain([("beside", scripted("x"))]).run(1, run=run)
                return [event.path async for event in stream]

        assert not [path for path in go(work) if "beside" in path]

    def test_streams_nest(self, go: Go) -> None:
        async def outer(value: object, ctx: Ctx) -> Reply:
            inner = Chain([("in", talk)], name="inner")
            async with streamed(inner.run, value, buffer=1) as stream:
                async for event in stream:
                    if event.event == "delta":
                        await ctx.emit(str(event.data["text"]).upper())
                return Reply(str((await stream.result()).output))

        async def work() -> Any:
            async with streamed(Chain([("a", outer)]).run, 1, buffer=1) as stream:
                events = [event async for event in stream]
                return events, await stream.result()

        events, result = go(work)

        assert deltas([event for event in events if event.path == "a"]) == "ABCD"
        assert deltas([event for event in events if event.path == "a/inner/in"]) == "abcd"
        assert result.rollout.step("a").child.workflow == "inner"
        assert result.usage == Usage(4)


class TestFaults:
    def test_what_the_run_raises_is_told_by_the_result(self, go: Go) -> None:
        async def work() -> list[str]:
            async with streamed(Chain([("a", scripted(object()))]).run, 1) as stream:
                events: list[str] = [event.event async for event in stream]
                with pytest.raises(UsageError, match="stage `a` returned"):
                    await stream.result()
            return events

        assert go(work)[-1] == "run_ended"

    def test_and_on_leaving_when_nobody_asked(self, go: Go) -> None:
        async def work() -> None:
            async with streamed(Chain([("a", scripted(object()))]).run, 1) as stream:
                async for _event in stream:
                    pass

        with pytest.raises(UsageError, match="stage `a` returned"):
            go(work)

    def test_an_interrupt_passes(self, go: Go) -> None:
        async def stop(_value: object) -> str:
            raise SystemExit(3)

        async def work() -> None:
            async with streamed(Chain([("a", stop)]).run, 1) as stream:
                async for _event in stream:
                    pass
                raise LookupError("body")

        with pytest.raises(SystemExit):
            go(work)

    def test_out_of_order(self, go: Go) -> None:
        async def work() -> None:
            stream = streamed(three().run, 1)
            with pytest.raises(UsageError, match="inside `async with"):
                await stream.result()
            with pytest.raises(UsageError, match="inside `async with"):
                await anext(aiter(stream))
            async with stream:
                pass
            with pytest.raises(UsageError, match="entered once"):
                await stream.__aenter__()
            assert [event async for event in stream] == []

        go(work)

    @pytest.mark.parametrize(
        ("function", "options", "field"),
        [
            (None, {}, "function"),
            (lambda values: values, {}, "function"),
            (three().run, {"on_exit": "stay"}, "on_exit"),
            (three().run, {"buffer": 0}, "buffer"),
            (three().run, {"buffer": None}, "buffer"),
            (three().run, {"buffer": True}, "buffer"),
            (three().run, {"run": 5}, "run"),
            (three(), {"bufer": 5}, "bufer"),
            (chain, {"step": []}, "step"),
        ],
    )
    def test_refused(self, function: Any, options: dict[str, Any], field: str) -> None:
        with pytest.raises(ConfigError) as refused:
            streamed(function, 1, **options)

        assert [problem.field for problem in refused.value.problems] == [field]
