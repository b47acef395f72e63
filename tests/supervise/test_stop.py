"""A person stops a run: what runs is cut off, told as it is, and nothing runs afterwards."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from interlock import Reply, ToolCall, loop, tool, toolbus
from interlock.supervise import (
    Answer,
    MemoryStore,
    ProposedCall,
    Supervisor,
    verify_run,
)
from interlock.testing import scripted

from .docs import INPUTS, disk

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

CAPABILITIES = {"df": "cli:df", "rm": "cli:rm"}
BACKENDS = pytest.mark.parametrize("backend", ["asyncio", "trio"])


class Slow:
    """Tools that do not end by themselves."""

    def __init__(self) -> None:
        self.began = anyio.Event()
        self.cut: list[str] = []
        self.ended: list[str] = []

    def bus(self) -> Any:
        async def work(name: str) -> None:
            self.began.set()
            try:
                await anyio.sleep_forever()
            except BaseException:
                self.cut.append(name)
                raise
            self.ended.append(name)

        @tool(effect="readonly")
        async def df() -> None:
            """Look."""
            await work("df")

        @tool(effect="destructive")
        async def rm(path: str) -> None:
            """Remove a file."""
            await work(f"rm {path}")

        return toolbus([df, rm])


def agree(question: Any) -> Answer:
    return Answer(question.id, "ann", approve=True)


async def cleaning(**options: Any) -> Supervisor:
    sup = Supervisor(disk(), capabilities=CAPABILITIES, **{"on_question": agree, **options})
    await sup.start(agent_identity="agent", inputs=INPUTS)
    await sup.verify({"used": 91}, by="agent")
    await sup.advance("clean")
    return sup


RM = ToolCall("1", "rm", {"path": "/var/log/a"})
DF = ToolCall("2", "df", {})


async def stopped(
    sup: Supervisor, tools: Any, began: Callable[[], Awaitable[object]], error: str | None = None
) -> Any:
    """Stop a run while a call of it runs, and give what came of the call."""
    bus, results = sup.bus(tools), list[Any]()

    async def invoked() -> None:
        results.append(await bus.invoke(RM))

    async with anyio.create_task_group() as group:
        group.start_soon(invoked)
        await began()
        with nullcontext() if error is None else pytest.raises(OSError, match=error):
            await sup.stop(by="ann")
    return results[0]


@BACKENDS
@pytest.mark.parametrize("calls", [(RM,), (DF,), (RM, DF)], ids=["write", "read", "both"])
@pytest.mark.parametrize("mode", ["enforce", "observe"])
def test_a_stop_cuts_off_what_runs_and_it_is_in_doubt(
    backend: str, calls: tuple[ToolCall, ...], mode: Any
) -> None:
    async def work() -> tuple[Supervisor, Slow, list[Any]]:
        sup, slow, results = await cleaning(mode=mode), Slow(), list[Any]()
        bus = sup.bus(slow.bus())

        async def invoked(call: ToolCall) -> None:
            results.append(await bus.invoke(call))

        async with anyio.create_task_group() as group:
            for call in calls:
                slow.began = anyio.Event()
                group.start_soon(invoked, call)
                await slow.began.wait()
            await sup.stop(by="ann")
        return sup, slow, [*results, await bus.invoke(RM), await bus.invoke(DF)]

    sup, slow, results = anyio.run(work, backend=backend)
    count, told = len(calls), sup.report()
    assert (len(slow.cut), slow.ended) == (count, [])
    assert [one.status for one in results] == ["in_doubt"] * count + ["blocked"] * 2
    assert [one.error.type for one in results[:count]] == ["cut_off"] * count
    assert (told.outcome, told.calls["in_doubt"]) == ("stopped", count)
    assert {one.call_id for one in sup.state.open if one.in_doubt} == {one.id for one in calls}
    assert "call/in-doubt" in [one.code for one in told.caveats]
    assert verify_run(disk(), sup.log).ok


@BACKENDS
@pytest.mark.parametrize("way", ["bus", "hooks"])
def test_a_stop_ends_the_asking(backend: str, way: str) -> None:
    async def work() -> tuple[Supervisor, Slow, Any]:
        asking = anyio.Event()

        async def nobody(_question: Any) -> None:
            asking.set()
            await anyio.sleep_forever()

        sup, slow, results = await cleaning(on_question=nobody), Slow(), list[Any]()

        async def looped() -> None:
            given: dict[str, Any] = {"tools": slow.bus(), "hooks": (sup.hooks(),)}
            if way == "bus":
                given = {"tools": sup.bus(slow.bus())}
            turn = scripted(Reply(calls=(RM,)), Reply(output="over"))
            results.append(await loop("x", turn=turn, **given, max_turns=3))

        async with anyio.create_task_group() as group:
            group.start_soon(looped)
            await asking.wait()
            await sup.stop(by="ann")
        return sup, slow, results[0]

    sup, slow, result = anyio.run(work, backend=backend)
    (step,) = [one for one in result.rollout.steps if one.kind == "tool"]
    assert (step.status, slow.cut, sup.state.open) == ("blocked", [], ())
    assert "the run is over" in str(step.error)
    assert verify_run(disk(), sup.log).ok


@BACKENDS
def test_a_call_that_ends_in_spite_of_the_stop_is_told_as_it_ended(backend: str) -> None:
    async def work() -> tuple[Supervisor, Any]:
        began = anyio.Event()

        @tool(effect="destructive")
        async def rm(path: str) -> str:
            """Remove a file, whatever comes."""
            with anyio.CancelScope(shield=True):
                began.set()
                await anyio.sleep(0.01)
            return f"removed {path}"

        sup = await cleaning()
        return sup, await stopped(sup, toolbus([rm]), began.wait)

    sup, result = anyio.run(work, backend=backend)
    assert result.output == "removed /var/log/a"
    assert (sup.state.open, sup.state.calls["completed"]) == ((), 1)
    assert verify_run(disk(), sup.log).ok


@BACKENDS
def test_a_thread_cannot_be_cut_off_and_is_in_doubt(backend: str) -> None:
    began, go, ended = threading.Event(), threading.Event(), threading.Event()

    @tool(effect="destructive")
    def rm(path: str) -> None:
        """Remove a file."""
        del path
        began.set()
        go.wait(30)
        ended.set()

    async def work() -> tuple[Supervisor, Any]:
        sup = await cleaning()
        result = await stopped(sup, toolbus([rm]), lambda: anyio.to_thread.run_sync(began.wait))
        assert not ended.is_set()
        go.set()
        return sup, result

    sup, result = anyio.run(work, backend=backend)
    assert (result.status, [one.in_doubt for one in sup.state.open]) == ("in_doubt", [True])
    assert ended.wait(30)


class Down(MemoryStore):
    """A store that takes nothing more from a moment on."""

    is_down = False

    async def append(self, state: Any, entry: Any) -> None:
        if self.is_down:
            raise OSError("disk full")
        await super().append(state, entry)


@BACKENDS
def test_a_stop_that_cannot_be_logged_still_cuts_off(backend: str) -> None:
    async def work() -> tuple[Supervisor, Slow, Any]:
        store, slow = Down(), Slow()
        sup = await cleaning(store=store)

        async def down() -> None:
            await slow.began.wait()
            store.is_down = True

        result = await stopped(sup, slow.bus(), down, error="disk full")
        assert (await sup.propose(ProposedCall("cli:df"))).code == "audit/unavailable"
        return sup, slow, result

    sup, slow, result = anyio.run(work, backend=backend)
    assert (result.status, slow.cut) == ("in_doubt", ["rm /var/log/a"])
    assert [one.call_id for one in sup.state.open] == ["1"]
    assert verify_run(disk(), sup.log).ok


@BACKENDS
def test_a_loop_that_is_stopped_takes_no_further_turn(backend: str) -> None:
    async def work() -> tuple[Supervisor, Slow, Any, int]:
        sup, slow, results, turns = await cleaning(), Slow(), list[Any](), list[int]()

        def turn(_messages: Any) -> Reply:
            turns.append(1)
            return Reply(calls=(DF,))

        async def looped() -> None:
            tools = sup.bus(slow.bus())
            results.append(await loop("x", turn=turn, tools=tools, stop=[sup.over], max_turns=9))

        async with anyio.create_task_group() as group:
            group.start_soon(looped)
            await slow.began.wait()
            await sup.stop(by="ann")
        return sup, slow, results[0], len(turns)

    _, slow, result, turns = anyio.run(work, backend=backend)
    assert (turns, slow.cut) == (1, ["df"])
    assert "stopped" in str(result.report)
