"""Laws over generated loops: every call is answered once, in its place, whatever is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import (
    Block,
    Compact,
    Hooks,
    Limits,
    Loop,
    LoopResult,
    Reply,
    Run,
    ToolCall,
    ToolResult,
    Usage,
    finish,
    tool,
    toolbus,
)
from interlock.harness import LoopState, anthropic_messages
from interlock.testing import ManualClock, run_checked

BACKENDS = ["asyncio", "trio"]
SOME = settings(max_examples=60, deadline=None, derandomize=True)
NAMES = ("look", "write", "broken", "inner", "nope", "a/b", "finish", "refused")


@dataclass(frozen=True)
class Script:
    """What a model asks for, turn by turn, and how its loop is set up."""

    turns: tuple[tuple[tuple[str, bool], ...], ...]
    tokens: int
    parallel: bool
    compact: bool
    max_tokens: int | None
    max_steps: int | None


calls = st.tuples(st.sampled_from(NAMES), st.sampled_from([True] * 5 + [False]))
scripts = st.builds(
    Script,
    st.lists(st.lists(calls, max_size=4).map(tuple), min_size=1, max_size=6).map(tuple),
    st.integers(0, 20),
    st.booleans(),
    st.booleans(),
    st.none() | st.integers(0, 120),
    st.none() | st.integers(0, 12),
)


class World:
    """Makes a loop of a script, and counts what is run and used."""

    def __init__(self, script: Script, *, parallel: bool | None = None) -> None:
        self.script = script
        self.ran: list[str] = []
        self.states: list[LoopState] = []
        self.used = self.beyond = 0
        parallel = script.parallel if parallel is None else parallel
        self.loop = Loop(
            self.turn,
            tools=self.bus(),
            max_turns=10,
            max_tokens=script.max_tokens,
            hooks=[Hooks(before_tool=refuse)],
            compact=Compact(lambda _older: "s", after=3, keep=2) if script.compact else None,
            parallel_tools=parallel,
        )

    def use(self, tokens: int) -> Usage:
        most = self.script.max_tokens
        self.beyond += most is not None and self.used >= most
        self.used += tokens
        return Usage(tokens)

    async def turn(self, state: LoopState) -> Reply:
        self.states.append(state)
        at = state.turn
        asked = self.script.turns[at] if at < len(self.script.turns) else ()
        usage = self.use(self.script.tokens)
        return Reply(
            f"turn {at}",
            calls=tuple(
                ToolCall(f"{at}.{number}", name, {}, None if good else "cut off")
                for number, (name, good) in enumerate(asked)
            ),
            usage=usage,
        )

    def bus(self) -> Any:
        async def look() -> Reply:
            self.ran.append("look")
            return Reply("seen", usage=self.use(3))

        def write() -> str:
            self.ran.append("write")
            self.use(0)
            return "written"

        async def broken() -> None:
            self.ran.append("broken")
            self.use(0)
            raise ValueError("broken")

        async def inner() -> LoopResult:
            self.ran.append("inner")
            return await Loop(self.once).run()

        return toolbus(
            [
                tool(look, effect="readonly"),
                tool(write, effect="write"),
                tool(broken, effect="readonly"),
                tool(inner),
                tool(lambda: self.ran.append("refused"), name="refused"),
                finish(),
            ]
        )

    async def once(self, _state: LoopState) -> Reply:
        return Reply("in", usage=self.use(2))


def refuse(each: ToolCall, _effect: object) -> Block | None:
    return Block("no") if each.name == "refused" else None


def ran(script: Script, backend: str, **options: Any) -> tuple[LoopResult, World]:
    world = World(script, **options)
    run = Run("r", limits=Limits(max_steps=script.max_steps), clock=ManualClock())
    result: LoopResult = run_checked(lambda: world.loop.run("?", run=run), backend=backend)
    return result, world


def of_turns(result: LoopResult) -> list[Any]:
    """Give the steps of the calls, in the order of the record."""
    return [step for step in result.rollout.steps if step.kind == "tool"]


@pytest.mark.parametrize("backend", BACKENDS)
@SOME
@given(script=scripts)
def test_every_call_has_its_result(backend: str, script: Script) -> None:
    result, world = ran(script, backend)
    asked = [
        f"{at}.{number}"
        for at in range(result.turns)
        for number in range(len(script.turns[at]) if at < len(script.turns) else 0)
    ]

    assert sorted(step.call_id for step in of_turns(result)) == sorted(asked)
    for state in world.states:
        for exchange in state.exchanges:
            assert [each.id for each in exchange.reply.calls] == [
                one.call_id for one in exchange.results
            ]
        assert anthropic_messages(state)


@pytest.mark.parametrize("backend", BACKENDS)
@SOME
@given(script=scripts)
def test_what_ran_is_what_is_recorded_as_run(backend: str, script: Script) -> None:
    result, world = ran(script, backend)
    done = [
        step.name
        for step in of_turns(result)
        if step.status in ("completed", "failed", "cancelled", "in_doubt")
        and step.name in ("look", "write", "broken", "inner")
        and (step.error is None or step.error.type != "invalid_arguments")
    ]

    assert sorted(done) == sorted(world.ran)
    assert "refused" not in world.ran
    assert {step.status for step in of_turns(result) if step.name == "refused"} <= {
        "blocked",
        "failed",
        "skipped",
    }
    assert {step.status for step in of_turns(result) if step.name in ("nope", "a_b")} <= {
        "failed",
        "skipped",
    }


@pytest.mark.parametrize("backend", BACKENDS)
@SOME
@given(script=scripts)
def test_ceilings_hold_and_all_is_counted_once(backend: str, script: Script) -> None:
    result, world = ran(script, backend)
    started = [
        step for step in result.rollout.all_steps() if step.status not in ("blocked", "skipped")
    ]
    unread = [step for step in started if step.error and step.error.type == "invalid_arguments"]

    # Calls that overlap start before any of them has used anything.
    assert world.beyond == 0 or script.parallel
    assert result.usage.total == world.used
    assert script.max_steps is None or len(started) - len(unread) <= script.max_steps


@SOME
@given(script=scripts)
def test_the_record_is_the_same_on_both_backends_and_reads_back(script: Script) -> None:
    (first, _), (second, _) = (ran(script, backend) for backend in BACKENDS)

    assert first.rollout.same_as(second.rollout)
    assert (first.answer, first.stopped_by, first.turns, first.compactions) == (
        second.answer,
        second.stopped_by,
        second.turns,
        second.compactions,
    )
    assert LoopResult.from_json(first.to_json()) == first
    found = [(step.path, step.attempt) for step in first.rollout.all_steps()]
    assert len(set(found)) == len(found)


@SOME
@given(script=scripts)
def test_overlapping_changes_nothing_but_the_order_of_work(script: Script) -> None:
    free = Script(script.turns, script.tokens, script.parallel, script.compact, None, None)
    (one, first), (two, second) = (ran(free, "trio", parallel=how) for how in (True, False))
    wires = [result.rollout.canonical() for result in (one, two)]
    for wire in wires:
        wire.pop("config_digest")

    assert wires[0] == wires[1]
    assert sorted(first.ran) == sorted(second.ran)
    assert [state.results for state in first.states] == [state.results for state in second.states]


@dataclass(frozen=True)
class Long:
    """A loop whose history is compacted: how many calls and tokens each turn has, and when."""

    turns: tuple[tuple[int, int], ...]
    keep: int
    after: int | None
    summaries: tuple[str | None, ...]

    @property
    def compact(self) -> Compact:
        said = iter(self.summaries)

        def summarise(older: tuple[ToolResult, ...]) -> str:
            self.seen.append(older)
            summary = next(said, "s")
            if summary is None:
                raise OSError("down")
            return summary

        when: dict[str, Any] = {"after": self.after} if self.after else {"at": 0.5, "window": 100}
        return Compact(summarise, keep=self.keep, **when)

    @cached_property
    def seen(self) -> list[tuple[ToolResult, ...]]:
        return []

    @cached_property
    def states(self) -> list[LoopState]:
        return []

    async def turn(self, state: LoopState) -> Reply:
        self.states.append(state)
        count, tokens = (*self.turns, (0, 0))[state.turn]
        asked = (ToolCall(f"{state.turn}.{at}", "look") for at in range(count))
        return Reply(calls=tuple(asked), usage=Usage(tokens))


longs = st.builds(
    Long,
    st.lists(st.tuples(st.integers(1, 4), st.sampled_from([0, 49, 50, 90])), max_size=12).map(
        tuple
    ),
    st.integers(1, 6),
    st.none() | st.integers(1, 8),
    st.lists(st.sampled_from(["s", "", "x" * 999, None]), max_size=8).map(tuple),
)


@pytest.mark.parametrize("backend", BACKENDS)
@SOME
@given(script=longs)
def test_the_laws_of_compaction(backend: str, script: Long) -> None:
    made = Loop(
        script.turn,
        tools=toolbus([tool(lambda: "found", name="look", effect="readonly")]),
        max_turns=None,
        stop=[lambda state: "over" if state.turn > len(script.turns) else None],
        compact=script.compact,
    )
    run = Run(limits=Limits(max_steps=500), clock=ManualClock())
    result: LoopResult = run_checked(lambda: made.run("?", run=run), backend=backend)
    came: list[ToolResult] = []
    before: tuple[ToolResult, ...] = ()
    for state in script.states:
        fresh = [one for one in state.results if not one.replaced]
        stand_ins = [one for one in state.results if one.replaced]
        came += [one for one in fresh if one.turn == state.turn - 1]

        # One stands for all older ones, at the front; the rest are the latest, as they were.
        assert [one.name for one in stand_ins] == ["compacted"] * bool(stand_ins)
        assert state.results[: len(stand_ins)] == tuple(stand_ins)
        gone = sum(one.replaced for one in stand_ins)
        assert gone + len(fresh) == len(came)
        assert all(one is two for one, two in zip(fresh, came[gone:], strict=True))
        assert len(fresh) >= min(script.keep, len(came))
        # The cut falls between replies, and what is shown of them is what is shown of results.
        assert [one for each in state.exchanges for one in each.results] == fresh
        assert all(len(each.results) == len(each.reply.calls) for each in state.exchanges)
        # What was not compacted is as it was in the turn before.
        assert bool(stand_ins) or state.results[: len(before)] == before
        before = state.results
    steps = result.rollout.find(kind="compact")
    done = [one.decision for one in steps if one.status == "completed"]
    taken = [one for one in done if isinstance(one, dict) and "kept_out" not in one]

    # Every summary is a step, of the older results alone; one of no use replaces nothing.
    assert len(steps) == len(script.seen)
    assert result.compactions.count == len(taken)
    assert result.compactions.replaced == sum(one.replaced for one in before)
    assert all(older and not any(one.replaced for one in older[1:]) for older in script.seen)
