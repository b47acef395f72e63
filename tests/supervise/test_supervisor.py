"""A loop that is really supervised: tools behind the runbook, people asked, all of it logged."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from interlock import Reply, ToolCall, finish, loop, tool, toolbus
from interlock.errors import StaleState, UsageError
from interlock.supervise import (
    AdapterCoverage,
    Answer,
    Deployment,
    MemoryStore,
    ProposedCall,
    Supervisor,
    verify_run,
)
from interlock.testing import ManualClock, scripted

from .docs import INPUTS, disk

CAPABILITIES = {"df": "cli:df", "rm": "cli:rm", "send": "http:example"}
BACKENDS = pytest.mark.parametrize("backend", ["asyncio", "trio"])


class Disk:
    """A disk that can be looked at and cleaned."""

    def __init__(self) -> None:
        self.used = 91
        self.removed: list[str] = []

    def bus(self) -> Any:
        @tool(effect="readonly")
        def df() -> dict[str, int]:
            """Show how much is used."""
            return {"used": self.used}

        @tool(effect="destructive")
        def rm(path: str) -> str:
            """Remove a file."""
            self.removed.append(path)
            self.used = 40
            return "removed"

        return toolbus([df, rm, finish()])


def call(name: str, **args: Any) -> Reply:
    return Reply(calls=(ToolCall(f"{name}-1", name, args),))


WORK = (
    call("df"),
    call("runbook_evidence", evidence={"used": 91}),
    call("runbook_done"),
    call("rm", path="/var/log/old"),
    call("runbook_evidence", evidence={"used": 40}),
    call("runbook_done"),
    call("finish", answer="cleaned"),
)


def run(backend: str, work: Any) -> Any:
    return anyio.run(work, backend=backend)


def ann(question: Any) -> Answer:
    return Answer(question.id, "ann", approve=True)


@BACKENDS
@pytest.mark.parametrize("way", ["bus", "hooks"])
def test_an_agent_loop_is_supervised_end_to_end(backend: str, way: str) -> None:
    real, policy = Disk(), disk()

    async def work() -> tuple[Supervisor, Any]:
        clock = ManualClock()
        sup = Supervisor(policy, on_question=ann, clock=clock, capabilities=CAPABILITIES)
        assert (await sup.start(agent_identity="agent", inputs=INPUTS)).ok
        turn = scripted(*WORK)
        if way == "bus":
            tools: Any = sup.bus(real.bus())
            return sup, await loop("clean up", turn=turn, tools=tools, max_turns=20)
        tools, hooks = real.bus() + sup.tools(), (sup.hooks(),)
        return sup, await loop("clean up", turn=turn, tools=tools, hooks=hooks, max_turns=20)

    sup, result = run(backend, work)
    told = sup.report()
    assert (result.stopped_by, result.answer, result.error) == ("finished", "cleaned", None)
    assert (real.removed, told.outcome) == (["/var/log/old"], "resolved")
    assert told.path == ("look", "clean", "fine")
    assert told.calls["allowed"] == told.calls["completed"] == 2
    assert verify_run(policy, sup.log).ok


@BACKENDS
def test_what_is_out_of_scope_is_not_offered_and_blocked(backend: str) -> None:
    real = Disk()

    async def work() -> tuple[Any, Any, Any]:
        sup = Supervisor(disk(), capabilities=CAPABILITIES)
        await sup.start(agent_identity="agent", inputs=INPUTS)
        bus = sup.bus(real.bus())
        offered = bus.names
        result = await bus.invoke(ToolCall("1", "rm", {"path": "/var/log/x"}))
        return offered, result, sup.state

    offered, result, state = run(backend, work)
    assert "df" in offered
    assert "rm" not in offered
    assert {"runbook_card", "runbook_done", "runbook_failed", "runbook_evidence"} <= set(offered)
    assert (result.status, real.removed) == ("blocked", [])
    assert "cli:rm" in str(result.output)
    assert [one.deviation_class for one in state.deviations] == ["out-of-scope-tool"]


@BACKENDS
def test_without_an_answer_the_call_does_not_run(backend: str) -> None:
    real = Disk()

    async def work() -> Supervisor:
        sup = Supervisor(disk(), capabilities=CAPABILITIES)
        await sup.start(agent_identity="agent", inputs=INPUTS)
        await sup.verify({"used": 91}, by="agent")
        await sup.advance("clean")
        bus, asked = sup.bus(real.bus()), ToolCall("1", "rm", {"path": "/var/log/x"})
        assert (await bus.invoke(asked)).status == "blocked"
        (question,) = sup.state.pending
        await sup.answer(Answer(question.id, "bob", approve=True))
        assert (await bus.invoke(asked)).status == "completed"
        assert (await bus.invoke(asked)).status == "blocked"
        return sup

    assert run(backend, work).state.status == "running"
    assert real.removed == ["/var/log/x"]


@BACKENDS
def test_observing_blocks_nothing_and_says_so(backend: str) -> None:
    real = Disk()

    async def work() -> Supervisor:
        sup = Supervisor(disk(), capabilities=CAPABILITIES, mode="observe")
        await sup.start(agent_identity="agent", inputs=INPUTS)
        await sup.bus(real.bus()).invoke(ToolCall("1", "rm", {"path": "/var/log/x"}))
        return sup

    told = run(backend, work).report()
    assert (real.removed, told.calls["blocked"]) == (["/var/log/x"], 1)
    assert "runtime/nothing-enforced" in [one.code for one in told.caveats]
    assert [one.code for one in told.blocked] == ["out-of-scope-tool"]


@BACKENDS
def test_a_call_that_is_cancelled_is_in_doubt(backend: str) -> None:
    @tool(effect="readonly")
    async def df() -> None:
        await anyio.sleep_forever()

    async def work() -> Supervisor:
        sup = Supervisor(disk(), capabilities=CAPABILITIES)
        await sup.start(agent_identity="agent", inputs=INPUTS)
        with anyio.move_on_after(0.05):
            await sup.bus(toolbus([df])).invoke(ToolCall("1", "df"))
        return sup

    state = run(backend, work).state
    assert [one.in_doubt for one in state.open] == [True]


@BACKENDS
def test_two_supervisors_do_not_both_move_a_run(backend: str) -> None:
    async def work() -> None:
        store = MemoryStore()
        one, two = (Supervisor(disk(), store=store) for _ in range(2))
        began = (await one.start(agent_identity="agent", inputs=INPUTS)).unwrap()
        await two.load(began.run_id, secrets={"token": INPUTS["token"]})
        await one.advance("fine")
        with pytest.raises(StaleState):
            await two.propose(ProposedCall("cli:df"))
        assert two.state.outcome == "resolved"
        assert (await two.propose(ProposedCall("cli:df"))).code == "run/over"

    run(backend, work)


def test_a_refused_start_is_no_run() -> None:
    weak = Deployment("R1", AdapterCoverage(mcp_calls=True), risk_ceiling="read-only")

    async def work() -> None:
        sup = Supervisor(disk(), deployment=weak)
        refused = await sup.start(agent_identity="agent")
        assert {one.code for one in refused.refusals} == {
            "runtime/profile-too-low",
            "runtime/coverage-insufficient",
            "runtime/risk-above-ceiling",
            "input/missing",
        }
        with pytest.raises(UsageError, match="start"):
            sup.card()

    anyio.run(work)


@BACKENDS
@pytest.mark.parametrize(
    "taken",
    [
        lambda bus: bus.only("rm"),
        lambda bus: bus.trace("remove a file"),
        toolbus,
        lambda bus: toolbus(bus, prefix="x_"),
        lambda bus: bus + toolbus([]),
    ],
)
def test_tools_that_are_taken_from_a_supervised_bus_run_nowhere(backend: str, taken: Any) -> None:
    real = Disk()

    async def work() -> Any:
        sup = Supervisor(disk(), capabilities=CAPABILITIES)
        await sup.start(agent_identity="agent", inputs=INPUTS)
        bus = taken(sup.bus(real.bus()))
        name = next(one for one in bus.names if one.endswith("rm"))
        return await bus.invoke(ToolCall("1", name, {"path": "/var/log/x"}))

    result = run(backend, work)
    assert (result.status, real.removed) == ("failed", [])
    assert "supervised bus" in str(result.output)


class Slow(MemoryStore):
    """A store that takes its time, and can be down."""

    is_down = False

    async def append(self, state: Any, entry: Any) -> None:
        await anyio.lowlevel.checkpoint()
        if self.is_down:
            raise OSError("down")
        await super().append(state, entry)


@BACKENDS
def test_a_cancelled_call_that_cannot_be_logged_either_is_still_cancelled(backend: str) -> None:
    @tool(effect="readonly")
    async def df() -> None:
        await anyio.sleep_forever()

    async def work() -> Supervisor:
        store = Slow()
        sup = Supervisor(disk(), store=store, capabilities=CAPABILITIES)
        await sup.start(agent_identity="agent", inputs=INPUTS)
        async with anyio.create_task_group() as group:
            group.start_soon(sup.bus(toolbus([df])).invoke, ToolCall("1", "df"))
            while not sup.state.open:
                await anyio.lowlevel.checkpoint()
            store.is_down = True
            group.cancel_scope.cancel()
        return sup

    (call,) = run(backend, work).state.open
    assert (call.call_id, call.in_doubt) == ("1", False)


@BACKENDS
def test_a_run_is_started_once_and_its_operations_take_turns(backend: str) -> None:
    async def work() -> None:
        sup = Supervisor(disk(), store=Slow(), clock=ManualClock())
        begun: list[str] = []
        verdicts: list[str] = []

        async def start(run_id: str) -> None:
            try:
                await sup.start(agent_identity="agent", inputs=INPUTS, run_id=run_id)
            except UsageError:
                return
            begun.append(run_id)

        async def ask() -> None:
            verdicts.append((await sup.propose(ProposedCall("cli:df"))).verdict)

        async with anyio.create_task_group() as group:
            group.start_soon(start, "one")
            group.start_soon(start, "two")
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(ask)
        assert begun == [sup.state.run_id]
        assert sorted(verdicts) == ["allow"] * 3 + ["block"] * 3
        assert sup.state.outcome == "budget-exhausted"
        assert verify_run(disk(), sup.log).ok

    run(backend, work)


@BACKENDS
def test_a_call_that_ends_after_its_run_is_told(backend: str) -> None:
    async def work() -> None:
        is_over = anyio.Event()

        @tool(effect="readonly")
        async def df() -> str:
            await is_over.wait()
            return "seen"

        sup = Supervisor(disk(), capabilities=CAPABILITIES)
        await sup.start(agent_identity="agent", inputs=INPUTS)
        async with anyio.create_task_group() as group:
            group.start_soon(sup.bus(toolbus([df])).invoke, ToolCall("1", "df"))
            while not sup.state.open:
                await anyio.lowlevel.checkpoint()
            await sup.finish()
            is_over.set()
        assert (sup.state.outcome, sup.state.open) == ("aborted", ())
        assert sup.state.calls["completed"] == 1
        assert verify_run(disk(), sup.log).ok

    run(backend, work)


@BACKENDS
def test_observing_goes_on_after_what_would_have_ended_the_run(backend: str) -> None:
    real = Disk()

    async def work() -> Supervisor:
        sup = Supervisor(disk(), capabilities=CAPABILITIES, mode="observe")
        await sup.start(agent_identity="agent", inputs=INPUTS)
        bus = sup.bus(real.bus())
        for name, args in (("rm", {"path": "/a"}), ("curl", {}), ("rm", {"path": "/b"})):
            await bus.invoke(ToolCall("1", name, args))
        for _ in range(4):
            await sup.advance("call")
        await sup.verify({"used": 91}, by="agent")
        await sup.advance("clean")
        await bus.invoke(ToolCall("2", "rm", {"path": "/var/log/x"}))
        return sup

    sup = run(backend, work)
    assert real.removed == ["/a", "/b", "/var/log/x"]
    told = sup.report()
    assert (told.status, len(told.deviations.records), told.calls["asked"]) == ("running", 7, 1)
    assert verify_run(disk(), sup.log).ok
