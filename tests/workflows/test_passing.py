"""What passes a workflow and what does not: cancellations, false ones, interrupts."""

from __future__ import annotations

import asyncio  # noqa: TID251 (its cancellation, which anybody can raise)
import inspect
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from interlock import (
    Cascade,
    Chain,
    Compact,
    Graph,
    Hooks,
    Loop,
    Orchestrate,
    Parallel,
    Refine,
    Reply,
    Route,
    Run,
    Stage,
    Verdict,
    Vote,
    chain,
    streamed,
    tool,
    toolbus,
)
from interlock.harness import Ctx
from interlock.testing import scripted

from .conftest import Go
from .loops import asks, call, says

Faulty = Callable[..., Any]


def ok(*_given: object) -> str:
    return "fine"


def looping(faulty: Faulty, *, count: int = 1, parallel: bool = False) -> Loop:
    async def awaited() -> object:
        return await faulty(None)

    def at_once() -> object:
        return faulty(None)

    function = awaited if inspect.iscoroutinefunction(faulty) else at_once
    bus = toolbus([tool(function, name="t", effect="readonly")])
    turn = scripted(asks(*(call("t", str(at)) for at in range(count))), says("end"))
    return Loop(turn, tools=bus, parallel_tools=parallel)


def hooked(**hooks: Any) -> Loop:
    bus = toolbus([tool(ok, name="t", schema={"type": "object"}, effect="readonly")])
    return Loop(scripted(asks(call("t")), says("end")), tools=bus, hooks=[Hooks(**hooks)])


def compacting(faulty: Faulty) -> Loop:
    bus = toolbus([tool(lambda: "found", name="t", effect="readonly")])
    turns = scripted(*(asks(call("t")) for _ in range(4)), says("end"))
    return Loop(turns, tools=bus, compact=Compact(faulty, after=2, keep=1))


def graph(**nodes: Faulty) -> Graph:
    made = Graph("graph")
    for name, function in nodes.items():
        made.node(name, function)
    return made


def orchestrate(**parts: Faulty) -> Orchestrate:
    steps: list[dict[str, Any]] = [{"id": one, "worker": "w", "params": {}} for one in ("a", "b")]
    given: dict[str, Any] = {"plan": lambda _v: {"steps": steps}, "merge": ok, "worker": ok}
    given |= parts
    return Orchestrate(plan=given["plan"], workers={"w": given["worker"]}, merge=given["merge"])


def stepping(faulty: Faulty) -> Chain:
    async def stage(value: object, ctx: Ctx) -> str:
        return str(await ctx.step("inner", faulty, value))

    return Chain([("a", stage)])


def consuming(faulty: Faulty) -> Chain:
    async def pieces() -> Any:
        yield "half"
        answer = faulty(None)
        yield await answer if hasattr(answer, "__await__") else answer

    async def stage(_value: object, ctx: Ctx) -> Reply:
        return await ctx.consume(pieces())

    return Chain([("a", stage)])


PLACES: dict[str, Callable[[Faulty], Any]] = {
    "tier": lambda bad: Cascade([("a", bad), ("b", ok)], accept=lambda _r: True),
    "accept": lambda bad: Cascade([("a", ok), ("b", ok)], accept=bad),
    "stage": lambda bad: Chain([("a", bad), ("b", ok)]),
    "gate": lambda bad: Chain([Stage("a", ok, bad), ("b", ok)]),
    "turn": Loop,
    "tool": looping,
    "several tools": lambda bad: looping(bad, count=3),
    "parallel tools": lambda bad: looping(bad, count=3, parallel=True),
    "summarise": compacting,
    "stop rule": lambda bad: Loop(scripted(says("end")), stop=[bad]),
    "before_turn": lambda bad: hooked(before_turn=bad),
    "before_tool": lambda bad: hooked(before_tool=lambda one, _effect: bad(one)),
    "after_tool": lambda bad: hooked(after_tool=lambda one, _result: bad(one)),
    "classify": lambda bad: Route(classify=bad, arms={"a": ok}, default="a"),
    "arm": lambda bad: Route(classify=lambda _v: "a", arms={"a": bad}),
    "draft": lambda bad: Refine(draft=bad, judge=lambda _r: True),
    "judge": lambda bad: Refine(draft=ok, judge=bad),
    "revise": lambda bad: Refine(
        draft=ok, judge=lambda _r: Verdict(ok=False), revise=lambda v, *_: bad(v)
    ),
    "branch": lambda bad: Parallel({"a": bad, "b": ok, "c": bad}),
    "voter": lambda bad: Vote(bad, n=3),
    "node": lambda bad: graph(a=bad, b=ok),
    "plan": lambda bad: orchestrate(plan=bad),
    "worker": lambda bad: orchestrate(worker=bad),
    "merge": lambda bad: orchestrate(merge=bad),
    "step inside": stepping,
    "stream": consuming,
}
"""Every place where a callable of the user stands; a new one is one row."""


def raising(error: BaseException, *, is_async: bool) -> Faulty:
    def at_once(_value: object) -> Any:
        raise error

    async def awaited(_value: object) -> Any:
        await anyio.lowlevel.checkpoint()
        raise error

    return awaited if is_async else at_once


def seen(result: Any) -> list[object]:
    steps = [(step.path, step.status) for step in result.rollout.all_steps()]
    return [result.status, result.stopped_by, result.output, sorted(steps)]


class TestFalseCancellations:
    @pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
    @pytest.mark.parametrize("place", PLACES)
    def test_one_that_nobody_asked_for_is_a_failure_like_any_other(
        self, go: Go, place: str, is_async: bool
    ) -> None:
        results = [
            go(PLACES[place](raising(error, is_async=is_async)).run, {"q": 1})
            for error in (ValueError("bad"), asyncio.CancelledError("bad"))
        ]

        assert seen(results[0]) == seen(results[1])

    def test_the_record_says_what_it_was(self, go: Go) -> None:
        result = go(chain, 1, [("a", raising(asyncio.CancelledError("why"), is_async=True))])

        assert (result.error.type, result.error.message) == (
            "CancelledError",
            "raised, though nothing was cancelled: why",
        )

    def test_one_that_was_kept_from_another_scope(self, go: Go) -> None:
        async def keeps(_value: object) -> None:
            kept: list[BaseException] = []
            with anyio.CancelScope() as scope:
                scope.cancel()
                try:
                    await anyio.lowlevel.checkpoint()
                except anyio.get_cancelled_exc_class() as error:
                    kept.append(error)
            raise kept[0]

        assert go(chain, 1, [("a", keeps)]).status == "failed"

    def test_a_task_that_was_waited_for(self) -> None:
        async def waits(_value: object) -> None:
            task = asyncio.ensure_future(asyncio.sleep(60))
            task.cancel()
            await task

        assert anyio.run(chain, 1, [("a", waits)]).status == "failed"

    def test_a_listener(self, go: Go) -> None:
        run = Run(on_event=raising(asyncio.CancelledError(), is_async=True))

        assert go(chain, 1, [("a", ok)], run=run).status == "completed"
        assert {fault.type for fault in run.faults} == {"CancelledError"}

    def test_a_function_that_is_streamed(self, go: Go) -> None:
        async def bad(*, run: Run) -> None:
            del run
            raise asyncio.CancelledError("why")

        async def work() -> None:
            async with streamed(bad) as stream:
                await stream.result()

        with pytest.raises(Exception, match="nothing was cancelled: why"):
            go(work)


class TestCancellations:
    @pytest.mark.parametrize("place", PLACES)
    @pytest.mark.parametrize("mine", [False, True], ids=["passes", "is raised anew"])
    def test_a_scope_around_the_run_ends_it(self, go: Go, place: str, mine: bool) -> None:
        run = Run()

        async def work() -> bool:
            with anyio.CancelScope() as scope:

                async def waits(_value: object) -> None:
                    scope.cancel()
                    try:
                        await anyio.sleep_forever()
                    except anyio.get_cancelled_exc_class():
                        if mine and anyio.get_cancelled_exc_class() is asyncio.CancelledError:
                            raise asyncio.CancelledError("mine") from None
                        raise

                await PLACES[place](waits).run({"q": 1}, run=run)
            return scope.cancelled_caught

        assert go(work) is True
        assert run.rollout.status == "cancelled"

    @pytest.mark.parametrize("place", PLACES)
    def test_a_task_that_is_cancelled_ends_it(self, place: str) -> None:
        run = Run()

        async def work() -> None:
            task = asyncio.current_task()
            assert task is not None

            async def waits(_value: object) -> None:
                task.cancel()
                await anyio.sleep_forever()

            await PLACES[place](waits).run({"q": 1}, run=run)

        async def main() -> None:
            with pytest.raises(asyncio.CancelledError):
                await asyncio.ensure_future(work())

        anyio.run(main)
        assert run.rollout.status == "cancelled"


class Interrupt(BaseException):
    """What is no Exception."""


SIDE_BY_SIDE: dict[str, Callable[[Faulty], Any]] = {
    "tools": lambda bad: looping(bad, count=3, parallel=True),
    "branches": lambda bad: Parallel({"a": bad, "b": bad, "c": bad}),
    "votes": lambda bad: Vote(bad, n=3),
    "nodes": lambda bad: graph(a=bad, b=bad, c=bad),
    "workers": lambda bad: orchestrate(worker=bad),
}


class TestInterrupts:
    @pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
    @pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, Interrupt])
    @pytest.mark.parametrize("place", [*SIDE_BY_SIDE, *PLACES])
    def test_what_is_no_exception_passes_as_it_is(
        self, go: Go, place: str, kind: type[BaseException], is_async: bool
    ) -> None:
        run, error = Run(), kind("now")
        made = (SIDE_BY_SIDE | PLACES)[place](raising(error, is_async=is_async))
        with pytest.raises(kind) as caught:
            go(made.run, {"q": 1}, run=run)

        assert caught.value is error
        assert (run.rollout.status, run.rollout.stopped_by) == ("cancelled", "cancelled")

    @pytest.mark.parametrize("place", SIDE_BY_SIDE)
    def test_its_siblings_are_ended_first(self, go: Go, place: str) -> None:
        ended: list[int] = []
        started: list[int] = []

        async def worker(_value: object) -> str:
            started.append(1)
            if len(started) == 1:
                try:
                    await anyio.sleep_forever()
                finally:
                    ended.append(1)
            while not started[1:]:
                await anyio.lowlevel.checkpoint()
            raise SystemExit(3)

        async def work() -> None:
            with pytest.raises(SystemExit):
                await SIDE_BY_SIDE[place](worker).run({"q": 1})
            assert ended == [1]

        go(work)
