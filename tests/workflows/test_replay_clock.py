"""Replay of what was decided by a clock: it reads what it read, whatever the clock says now."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import anyio
import pytest

from interlock import (
    Block,
    Cascade,
    Chain,
    Hooks,
    Limits,
    Loop,
    Orchestrate,
    Parallel,
    ReplayDivergence,
    Reply,
    Rollout,
    Route,
    Run,
    Stage,
    ToolCall,
    _core,
    finish,
    tool,
    toolbus,
)
from interlock.harness import Ctx
from interlock.record import replay
from interlock.testing import ManualClock, scripted

from .conftest import Go

SOON, LATER, NEVER = "2023-11-14T22:30:00Z", "2023-11-14T23:00:00Z", "2033-11-14T23:00:00Z"
"""A manual clock stands a quarter of an hour before the first; slow work takes an hour."""
HOLDS, FAILS = ([{"path": "values", "op": op}] for op in ("exists", "notExists"))


def step(name: str, worker: str = "work", **more: Any) -> dict[str, Any]:
    return {"id": name, "worker": worker, **more}


PLANS: dict[str, list[dict[str, Any]]] = {
    "due from the start": [step("a", after=0), step("b", needs=["a"], after=SOON)],
    "due while another runs": [step("late", after=LATER), step("a", "slow"), step("b")],
    "due behind another": [step("a", "slow"), step("b", needs=["a"], after=LATER), step("c")],
    "two at once": [step("x", after=SOON), step("y", after=LATER), step("a", "slow"), step("b")],
    "never due": [step("a", "slow"), step("b", after=NEVER), step("c", needs=["b"])],
    "due or not": [step("a", "slow"), step("b", after=LATER), step("c", after=NEVER)],
    "due, on a condition": [step("b", after=LATER, when=HOLDS), step("a", "slow")],
    "due, and not wanted": [step("b", after=LATER, when=FAILS), step("a", "slow")],
    "due behind a failure": [step("a", "bad"), step("b", needs=["a"], after=0), step("c", "slow")],
    "due, with steps inside": [step("b", "steps", after=SOON), step("a", "slow"), step("c")],
}


async def steps(_inputs: object, ctx: Ctx) -> str:
    for at in range(3):
        await ctx.step("look", scripted("x"), at)
    return "seen"


def orchestrated(plan: str, clock: ManualClock, concurrency: int) -> Orchestrate:
    workers: dict[str, Any] = {
        "work": scripted("w", repeat=True),
        "slow": scripted("s", seconds=3_600, clock=clock, repeat=True),
        "bad": scripted(ValueError("bad")),
        "steps": steps,
    }
    lead = scripted({"steps": PLANS[plan]})
    return Orchestrate(plan=lead, workers=workers, merge=scripted("m"), concurrency=concurrency)


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("concurrency", [1, 2, 4])
@pytest.mark.parametrize("most", [None, 2, 3, 4, 5])
def test_the_times_of_a_plan(
    go: Go, clock: ManualClock, plan: str, concurrency: int, most: int | None
) -> None:
    limits = Limits(max_steps=most)
    made = orchestrated(plan, clock, concurrency)
    ran = go(made.run, 1, run=Run(clock=clock, limits=limits))
    run = Run(clock=ManualClock(1), limits=limits)
    back = Rollout.from_json(ran.rollout.to_json())
    again = go(replay, back, orchestrated(plan, ManualClock(1), concurrency), run=run)

    assert again == ran


def test_what_a_step_that_waits_is_told_by_is_its_own_instant(go: Go, clock: ManualClock) -> None:
    made = orchestrated("never due", clock, 4)
    waiting = go(made.run, 1, run=Run(clock=clock)).rollout.step("plan/b")
    noted = _core.parse_instant(waiting.started_at)

    assert noted == ManualClock().now() + 3_600_000
    assert waiting.decision["dueInMs"] == _core.parse_instant(NEVER) - noted


def hurried(_value: object, ctx: Ctx) -> bool:
    return ctx.remaining.ms > 3_000


def early(_value: object, ctx: Ctx) -> bool:
    return ctx.deadline is None or ctx.deadline - ctx.now() > 3_000


def turns(clock: ManualClock) -> Any:
    calls = (ToolCall("1", "look", {}),)
    return scripted(Reply("t", calls=calls), seconds=1, clock=clock, repeat=True)


@tool(effect="readonly")
async def look() -> str:
    """Look."""
    return "seen"


def guarded(clock: ManualClock, judge: Any, at: str) -> Loop:
    def block(*given: Any) -> Block | None:
        return None if judge(given[:-1], given[-1]) else Block("late")

    def stop(state: object, ctx: Ctx) -> str | None:
        return None if judge(state, ctx) else "late"

    def before_tool(call: object, effect: object, ctx: Ctx) -> Block | None:
        return block(call, effect, ctx)

    def before_turn(state: object, ctx: Ctx) -> Block | None:
        return block(state, ctx)

    more: dict[str, dict[str, Any]] = {
        "stop": {"stop": [stop]},
        "before_tool": {"hooks": [Hooks(before_tool=before_tool)]},
        "before_turn": {"hooks": [Hooks(before_turn=before_turn)]},
    }
    return Loop(turns(clock), tools=toolbus([look, finish()]), max_turns=4, **more[at])


READERS: dict[str, Any] = {
    "gate": lambda clock, judge: Chain(
        [Stage(f"s{at}", scripted("x", seconds=1, clock=clock), judge) for at in range(4)]
    ),
    "accept": lambda clock, judge: Cascade(
        [(f"t{at}", scripted("x", seconds=1, clock=clock)) for at in range(4)],
        accept=lambda reply, ctx: not judge(reply, ctx),
    ),
    "classify": lambda clock, judge: Chain(
        [
            ("first", scripted("x", seconds=4, clock=clock)),
            (
                "route",
                Route(
                    classify=lambda values, ctx: "a" if judge(values, ctx) else "b",
                    arms={"a": scripted("A"), "b": scripted("B")},
                ),
            ),
        ]
    ),
    **{
        at: lambda clock, judge, at=at: guarded(clock, judge, at)
        for at in ("stop", "before_tool", "before_turn")
    },
}
"""Workflows with judgement that reads the time, and work that takes some."""


@pytest.mark.parametrize("judge", [hurried, early])
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("timeout", [None, 5, 7])
def test_the_time_left_that_judgement_reads(
    go: Go, clock: ManualClock, reader: str, judge: Any, timeout: float | None
) -> None:
    limits = Limits(timeout=timeout)
    made = READERS[reader](clock, judge)
    ran = go(made.run, {"q": 1}, run=Run(clock=clock, limits=limits))
    back = Rollout.from_json(ran.rollout.to_json())
    for run in (None, Run(limits=limits, clock=ManualClock(1))):
        again = go(replay, back, READERS[reader](ManualClock(2), judge), run=run)

        assert again.rollout == back
        assert (again.stopped_by, again.output) == (ran.stopped_by, ran.output)


def test_the_time_of_a_state_is_not_recorded_and_the_difference_is_named(
    go: Go, clock: ManualClock
) -> None:
    def thrifty(state: Any) -> Block | None:
        return Block("late") if state.remaining.ms < 3_000 else None

    made = Loop(turns(clock), tools=toolbus([look]), hooks=[Hooks(before_turn=thrifty)])
    rollout = go(made.run, 1, run=Run(clock=clock, limits=Limits(timeout=5))).rollout

    assert (rollout.stopped_by, rollout.steps[-1].path) == ("blocked", "turn_3/before_turn")
    with pytest.raises(ReplayDivergence) as found:
        go(replay, rollout, made)
    assert found.value.path == "turn_3"


@pytest.mark.parametrize("left", [[], ["x"], [None], {}, [float("inf")], [-1], [True, 2]])
def test_hostile_readings_break_nothing(go: Go, clock: ManualClock, left: object) -> None:
    made = READERS["gate"](clock, hurried)
    rollout = go(made.run, 1, run=Run(clock=clock, limits=Limits(timeout=7))).rollout
    gate = replace(rollout.steps[1], meta={"left": left})

    with contextlib.suppress(ReplayDivergence):
        go(replay, replace(rollout, steps=(rollout.steps[0], gate, *rollout.steps[2:])), made)


@pytest.mark.parametrize("at", ["before_turn", "stop"])
def test_a_slow_hook_is_waited_for(go: Go, at: str) -> None:
    """Hooks run for real: while one does, what is to be cancelled after it is not lost."""
    enters: list[object] = []

    async def slow(state: object) -> None:
        enters.append(state)
        # Far more turns of the event loop than a replay waits where nothing happens.
        for _ in range(5_000):
            await anyio.lowlevel.checkpoint()

    async def forever(_value: object) -> str:
        await anyio.sleep_forever()
        return "never"

    more: dict[str, Any] = {"stop": [slow]} if at == "stop" else {"hooks": [Hooks(slow)]}

    def made() -> Parallel:
        loop = Loop(scripted("end"), **more)
        return Parallel({"a": loop, "b": forever, "c": Chain([("d", forever)])}, quorum=1)

    ran = go(made().run, 1)

    assert go(replay, ran.rollout, made()) == ran
    assert len(enters) == 2
