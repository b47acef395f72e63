"""What holds of every workflow: its record, its stream, its replay, its report."""

from __future__ import annotations

from itertools import count
from typing import Any

import anyio
import pytest

from interlock import (
    Cascade,
    Chain,
    Compact,
    Hooks,
    Loop,
    Orchestrate,
    Parallel,
    Refine,
    Reply,
    Rollout,
    Route,
    Run,
    ToolCall,
    Usage,
    Verdict,
    Vote,
    finish,
    report,
    streamed,
    tool,
    toolbus,
)
from interlock.harness import Event, LoopState, Stall
from interlock.record import replay
from interlock.testing import ManualClock

from .conftest import Go
from .every import EVERY

STATUSES = {"completed", "failed", "blocked", "skipped", "cancelled", "undetermined", "in_doubt"}


@pytest.mark.parametrize("name", EVERY)
def test_N_07_a_run_comes_back_as_a_rollout(go: Go, name: str, clock: ManualClock) -> None:
    result = go(EVERY[name]().run, {"q": 1}, run=Run("r", clock=clock))
    rollout = result.rollout

    assert (rollout.kind, rollout.status, rollout.run_id) == (name, result.status, "r")
    assert rollout.steps
    for step in rollout.all_steps():
        assert step.name
        assert step.path.endswith(step.name) or "." in step.path
        assert step.status in STATUSES
        assert (step.status == "completed") == (step.error is None)
        assert step.started_at
        assert step.ended_at
    assert rollout.usage == sum((step.usage for step in rollout.steps), Usage()) == result.usage
    assert result.usage.total > 0
    assert Rollout.from_json(rollout.to_json()) == rollout
    assert Rollout.from_json_lines(rollout.to_json_lines()) == rollout


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("buffer", [1, 64])
def test_N_08_a_stream_watches_any_workflow(go: Go, name: str, buffer: int) -> None:
    async def work() -> tuple[list[Event], Any]:
        async with streamed(EVERY[name]().run, {"q": 1}, buffer=buffer) as stream:
            events = [event async for event in stream]
            return events, await stream.result()

    events, result = go(work)
    steps = list(result.rollout.all_steps())
    ended = [event.step for event in events if event.event == "step_ended"]

    # Each step once, as it stands in the record; of steps one after the other in its order.
    assert sorted(ended, key=repr) == sorted(steps, key=repr)
    own = [step for step in ended if step in result.rollout.steps]
    if all(not step.order for step in result.rollout.steps):
        assert tuple(own) == result.rollout.steps
    assert (events[0].event, events[-1].event) == ("run_started", "run_ended")
    assert [event.seq for event in events] == sorted({event.seq for event in events})
    assert events[-1].data["status"] == result.status


@pytest.mark.parametrize("name", EVERY)
def test_a_replay_asks_nobody_and_is_equal(go: Go, name: str) -> None:
    made = EVERY[name]()
    first = go(made.run, {"q": 1}, run=Run("r", clock=ManualClock()))
    back = Rollout.from_json(first.rollout.to_json())

    # The scripts are at their end: a call would be an error.
    again = go(replay, back, made)

    assert again.rollout == back
    assert (again.status, again.stopped_by, again.output) == (
        first.status,
        first.stopped_by,
        first.output,
    )


@pytest.mark.parametrize("name", EVERY)
def test_a_report_names_every_step(go: Go, name: str) -> None:
    result = go(EVERY[name]().run, {"q": 1})
    made = report(result.rollout)

    for text in (made.to_html(), made.to_markdown()):
        assert all(step.path in text for step in result.rollout.all_steps())
    assert made.to_mermaid().count("<br/>") == len(list(result.rollout.all_steps()))
    assert made.to_dict()["usage"] == result.usage.to_dict()


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("how", ["by its scope", "by its run"])
def test_cancelled_wherever_it_is_its_record_is_whole(go: Go, name: str, how: str) -> None:
    statuses: list[str] = []

    async def work(moment: int) -> None:
        events: list[Event] = []
        run = Run("r", clock=ManualClock(), on_event=events.append)
        result: Any = None

        async def cancel() -> None:
            for _ in range(moment):
                await anyio.lowlevel.checkpoint()
            if how == "by its run":
                run.cancel("enough")
            scope.cancel()

        async with anyio.create_task_group() as group:
            with anyio.CancelScope() as outer:
                scope = outer if how == "by its scope" else anyio.CancelScope()
                group.start_soon(cancel)
                result = await EVERY[name]().run({"q": 1}, run=run)
            group.cancel_scope.cancel()
        if not run.walks:
            return
        rollout = run.rollout
        statuses.append(rollout.status)
        steps = [event.path for event in events if event.event == "step_started"]
        ended = [event.path for event in events if event.event == "step_ended"]

        assert rollout.status == ("cancelled" if result is None else result.status)
        assert Rollout.from_json(rollout.to_json()) == rollout
        assert set(steps) <= set(ended)
        assert events[-1].event == "run_ended"
        assert all(step.ended_at for step in rollout.all_steps())
        assert rollout.usage == sum((step.usage for step in rollout.steps), Usage())

    for moment in range(12):
        go(work, moment)

    assert "cancelled" in statuses
    assert statuses[-1] != "cancelled"


SECRET = "s3cret"  # noqa: S105 (of no use to anybody)


def tells(*_given: object) -> str:
    return SECRET


def turn(state: LoopState) -> Reply:
    ask = "look" if state.turn < 3 else "finish"
    args = {"q": SECRET} if state.turn < 3 else {"answer": SECRET}
    return Reply(SECRET, data={"a": SECRET}, calls=(ToolCall(str(state.turn), ask, args),))


NUMBERS = count()
PLAN = {"steps": [{"id": "a", "worker": "w", "params": {"q": SECRET}}]}
LOOK = tool(lambda q: q, name="look", effect="readonly")
TELLING: list[Any] = [
    Chain([("a", tells), ("b", lambda told: {"k": told}), ("c", Chain([("in", tells)]))]),
    Cascade([("a", tells), ("b", tells)], accept=lambda _reply: False),
    Loop(
        turn,
        tools=toolbus([LOOK, finish()]),
        compact=Compact(lambda _older: SECRET, after=1, keep=1),
        hooks=[Hooks(rewrite_tool=lambda call, _effect: dict(call.args))],
        stop=[Stall(window=2, tell=True)],
    ),
    Route(classify=lambda _values: "a", arms={"a": tells, "b": tells}),
    Refine(draft=tells, judge=lambda _reply: Verdict(ok=False, score=0.5)),
    Parallel({"a": tells, "b": tells}, join=tells),
    Vote(tells, n=3),
    Vote(lambda _values: f"{SECRET} {next(NUMBERS)}", n=3),
    Orchestrate(plan=lambda _values: PLAN, workers={"w": tells}, merge=tells),
]


@pytest.mark.parametrize("made", TELLING, ids=lambda made: made.kind)
def test_a_record_of_digests_tells_no_answer(go: Go, made: Any) -> None:
    events: list[Event] = []
    full = go(made.run, {"q": SECRET})
    result = go(made.run, {"q": SECRET}, run=Run(content="digest", on_event=events.append))

    assert SECRET in full.rollout.to_json()
    assert SECRET not in result.rollout.to_json()
    assert not any(SECRET in event.to_json() for event in events)
    assert SECRET in result.to_json()
