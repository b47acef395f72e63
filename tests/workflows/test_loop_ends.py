"""What ends a loop, or makes it shorter: stop rules and compaction."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from interlock import (
    Block,
    Compact,
    ConfigError,
    Hooks,
    Limits,
    Loop,
    LoopResult,
    Reply,
    Run,
    ToolCall,
    Usage,
    UsageError,
    loop,
    replay,
    tool,
    toolbus,
)
from interlock.harness import Ctx, DeadlineCheck, Event, LoopState, Stall, StallDetect
from interlock.testing import ManualClock, scripted

from .conftest import Go
from .loops import Desk, Turns, asks, call, paths, says


def stopped(go: Go, desk: Desk, stop: list[Any], *answers: object, **options: Any) -> Any:
    """Run a loop of these answers, over and over, until something ends it."""
    at = -1

    def turn(state: LoopState) -> object:
        nonlocal at
        at += 1
        seen.append(state)
        return answers[at % len(answers)]

    seen: list[LoopState] = []
    options = {"max_turns": 20, "tools": desk.bus, **options}
    return go(loop, "?", turn=turn, stop=stop, **options), seen


START = 1_700_000_000_000
"""Where a ManualClock stands."""
SAME = asks(call("lookup", key="a"))
OTHER = asks(call("lookup", key="b"))


class TestStall:
    @pytest.mark.parametrize("window", [2, 3, 5])
    def test_equal_turns(self, go: Go, desk: Desk, window: int) -> None:
        result, _ = stopped(go, desk, [StallDetect(window=window)], SAME)

        assert (result.stopped_by, result.status, result.turns) == (
            "stalled",
            "incomplete",
            window,
        )
        assert result.report["rule"] == "stop[0]"
        assert (result.report["reason"], result.report["repeats"]) == ("unchanged", window)

    def test_a_cycle(self, go: Go, desk: Desk) -> None:
        result, _ = stopped(go, desk, [StallDetect()], SAME, OTHER)

        assert (result.turns, result.report["reason"]) == (4, "oscillating")
        assert result.report["cycleLength"] == 2

    def test_ids_of_calls_are_no_progress(self, go: Go, desk: Desk) -> None:
        answers = [asks(call("lookup", f"c{at}", key="a")) for at in range(20)]

        assert stopped(go, desk, [StallDetect()], *answers)[0].turns == 3

    @pytest.mark.parametrize("what", ["calls", "results", "output"])
    def test_any_signal_that_moves_is_progress(self, go: Go, what: str) -> None:
        count = iter(range(100))

        @tool(effect="readonly")
        def look(key: int = 0) -> int:
            del key
            return next(count) if what == "results" else 0

        def turn(state: LoopState) -> Reply:
            args = {"key": state.turn if what == "calls" else 0}
            text = str(state.turn) if what == "output" else ""
            return Reply(text, calls=(ToolCall("1", "look", args),))

        moving = [StallDetect()]
        blind = [
            StallDetect(signals=[one for one in ("calls", "results", "output") if one != what])
        ]
        options: dict[str, Any] = {"turn": turn, "tools": toolbus([look]), "max_turns": 6}

        assert go(loop, "?", stop=moving, **options).stopped_by == "turns"
        assert go(loop, "?", stop=blind, **options).turns == 3

    def test_it_may_tell_first(self, go: Go, desk: Desk) -> None:
        result, seen = stopped(go, desk, [Stall(tell=True)], SAME)

        assert (result.stopped_by, result.turns) == ("stalled", 4)
        assert [state.notice for state in seen] == [None] * 3 + ["the last 3 turns were the same"]
        assert [one.decision["told"] for one in result.rollout.find(name="stop")[:1]] == [True]

    def test_who_heeds_the_notice_goes_on(self, go: Go, desk: Desk) -> None:
        def turn(state: LoopState) -> Reply:
            return asks(call("finish", answer="found")) if state.notice else SAME

        result = go(loop, "?", turn=turn, tools=desk.bus, stop=[Stall(tell=True)])

        assert (result.answer, result.report) == ("found", None)

    def test_it_tells_once(self, go: Go, desk: Desk) -> None:
        answers = [SAME, SAME, SAME, OTHER, OTHER, OTHER]
        result, seen = stopped(go, desk, [Stall(tell=True, max_cycle=1)], *answers)

        assert [state.turn for state in seen if state.notice] == [3]
        assert (result.turns, result.stopped_by) == (6, "stalled")

    def test_a_cycle_is_worded_too(self, go: Go, desk: Desk) -> None:
        _, seen = stopped(go, desk, [Stall(tell=True)], SAME, OTHER)

        assert seen[-1].notice == "the last 4 turns were the same 2 turns twice"

    def test_its_answer_is_recorded(self, go: Go, desk: Desk) -> None:
        result, _ = stopped(go, desk, [StallDetect()], SAME)
        (step,) = result.rollout.find(kind="decision")

        assert (step.path, step.decision) == ("turn_3/stop", result.report)
        assert LoopResult.from_json(result.to_json()) == result

    def test_a_long_loop_is_still_seen(self, go: Go) -> None:
        def turn(state: LoopState) -> Reply:
            return asks(call("look", key=min(state.turn, 600)))

        @tool(effect="readonly")
        def look(key: int) -> int:
            return key

        result = go(
            loop, "?", turn=turn, tools=toolbus([look]), max_turns=700, stop=[StallDetect()]
        )

        assert (result.turns, result.stopped_by) == (603, "stalled")


class TestDeadline:
    def timed(self, go: Go, clock: ManualClock, check: DeadlineCheck, **options: Any) -> Any:
        """Run a loop whose turns take 10 s."""
        turn = scripted(asks(call("lookup")), repeat=True, seconds=10, clock=clock)
        options = {"max_turns": None, **options}
        return go(loop, "?", turn=turn, stop=[check], run=Run(clock=clock), **options)

    @pytest.mark.parametrize(
        ("options", "turns"),
        [
            ({"budget_ms": 25_000}, 3),
            ({"budget_ms": 30_000}, 3),
            ({"budget_ms": 25_000, "step_cost_ms": 10_000}, 2),
            ({"budget_ms": 0}, 0),
            ({"deadline": 1_700_000_015_000}, 2),
            ({"deadline": datetime.fromtimestamp(1_700_000_015, UTC)}, 2),
            ({"budget_ms": 25_000, "started_at": 1_700_000_000_000 - 20_000}, 1),
        ],
    )
    def test_no_turn_beyond_it(
        self, go: Go, clock: ManualClock, options: dict[str, Any], turns: int
    ) -> None:
        result = self.timed(go, clock, DeadlineCheck(**options))

        assert (result.stopped_by, result.status, result.turns) == (
            "deadline",
            "incomplete",
            turns,
        )
        assert result.report["deadlineMs"] > 0

    def test_every_reading_and_answer_is_recorded(self, go: Go, clock: ManualClock) -> None:
        result = self.timed(go, clock, DeadlineCheck(budget_ms=15_000))
        steps = result.rollout.find(kind="decision")

        assert [step.path for step in steps] == ["turn_0/stop", "turn_1/stop", "turn_2/stop"]
        assert [step.decision["remainingMs"] for step in steps] == [15_000, 5_000, -5_000]
        assert [step.meta["now"][0] - 1_700_000_000_000 for step in steps] == [0, 10_000, 20_000]

    @pytest.mark.parametrize(
        ("options", "turns", "left"),
        [
            # A budget is none the longer for it; a deadline goes by what is read.
            ({"budget_ms": 15_000}, 2, [15_000, 5_000, -5_000]),
            ({"budget_ms": 15_000, "started_at": START - 5_000}, 1, [10_000, 0]),
            ({"deadline": START + 15_000}, 3, [15_000, 25_000, 35_000, 45_000]),
            ({"deadline": START + 15_000, "budget_ms": 1}, 3, [15_000, 25_000, 35_000, 45_000]),
        ],
    )
    def test_a_clock_that_goes_back(
        self, go: Go, options: dict[str, Any], turns: int, left: list[int]
    ) -> None:
        class Backwards(ManualClock):
            def now(self) -> int:
                return 2 * START - super().now()

        check = DeadlineCheck(**options)
        result = self.timed(go, Backwards(), check, max_turns=3)
        again = go(replay, result.rollout, Loop(scripted(), stop=[check], max_turns=3))

        assert result.turns == turns
        assert result.stopped_by == ("turns" if turns == 3 else "deadline")
        assert [one.decision["remainingMs"] for one in result.rollout.find(kind="decision")] == left
        assert again.rollout.same_as(result.rollout)


class TestCallables:
    def test_its_reason_is_the_report(self, go: Go, desk: Desk) -> None:
        def enough(state: LoopState) -> str | None:
            return "two are enough" if len(state.results) == 2 else None

        result, _ = stopped(go, desk, [lambda _state: None, enough], SAME)

        assert (result.stopped_by, result.status, result.turns) == ("stalled", "incomplete", 2)
        assert result.report == {"rule": "stop[1]", "reason": "two are enough"}
        assert result.rollout.step("turn_2/stop.2").decision == {"reason": "two are enough"}

    def test_async_and_with_a_context(self, go: Go, desk: Desk) -> None:
        async def rule(state: LoopState, ctx: Ctx) -> str | None:
            return ctx.path if state.turn == 1 else None

        result, _ = stopped(go, desk, [rule], SAME)

        assert result.report["reason"] == "turn_1/stop"

    @pytest.mark.parametrize("answer", [True, False, 3, "", ["why"], Block("no")])
    def test_what_is_no_reason_is_misuse(self, go: Go, desk: Desk, answer: object) -> None:
        with pytest.raises(UsageError, match=r"stop\[0\] returned"):
            stopped(go, desk, [lambda _state: answer], SAME)

    def test_one_that_raises_ends_the_loop(self, go: Go, desk: Desk) -> None:
        def broken(state: LoopState) -> None:
            raise KeyError(f"turn {state.turn}")

        result, seen = stopped(go, desk, [broken], SAME)
        (step,) = result.rollout.find(kind="decision")

        assert (result.stopped_by, result.status, len(seen)) == ("failed", "failed", 0)
        assert (result.error.type, step.status) == ("KeyError", "undetermined")

    def test_rules_come_before_ceilings(self, go: Go, desk: Desk) -> None:
        result, _ = stopped(go, desk, [StallDetect()], SAME, max_turns=3)

        assert result.stopped_by == "stalled"


def compacted(
    go: Go, desk: Desk, batches: list[int], compact: Compact, **options: Any
) -> tuple[Any, Turns]:
    """Run turns that ask for so many calls each, then a quiet one."""
    replies: list[object] = []
    for at, size in enumerate(batches):
        calls = (call("lookup", f"c{at}.{one}", key=f"{at}.{one}") for one in range(size))
        replies.append(asks(*calls, tokens=options.get("tokens", 0)))
    options.pop("tokens", None)
    turn = Turns(*replies, says("done"))
    return go(loop, "?", turn=turn, tools=desk.bus, compact=compact, **options), turn


def short(_older: object) -> str:
    return "s"


class TestCompaction:
    @pytest.mark.parametrize(
        ("batches", "keep", "replaced", "kept"),
        [
            ([1, 1, 1, 1], 2, 2, 2),
            ([3, 3], 1, 3, 3),
            ([3, 3], 3, 3, 3),
            ([3, 3], 4, 0, 6),
            ([2, 1, 3], 4, 2, 4),
            ([6], 1, 0, 6),
            ([1, 5], 2, 1, 5),
        ],
    )
    def test_the_cut_falls_between_exchanges(
        self, go: Go, desk: Desk, batches: list[int], keep: int, replaced: int, kept: int
    ) -> None:
        after = sum(batches)
        result, turn = compacted(go, desk, batches, Compact(short, after=after, keep=keep))
        state = turn.states[-1]
        first = [one for one in state.results if one.name == "compacted"]

        assert result.compactions.replaced == replaced
        assert len(state.results) - len(first) == kept
        assert sum(one.replaced for one in first) == replaced
        for exchange in state.exchanges:
            assert [one.call_id for one in exchange.results] == [
                each.id for each in exchange.reply.calls
            ]

    @pytest.mark.parametrize(
        ("summary", "why"),
        [
            ("x" * 21, "the summary is longer than what it replaces"),
            ("", "the summary is empty"),
            (None, "the summary is empty"),
            (Reply("part", status="incomplete", stop="length"), "the summary was cut off"),
        ],
    )
    def test_a_summary_of_no_use_is_kept_out_and_noted(
        self, go: Go, desk: Desk, summary: object, why: str
    ) -> None:
        compact = Compact(lambda _older: summary, after=3, keep=1)
        result, turn = compacted(go, desk, [1, 1, 1], compact)
        (step,) = result.rollout.find(kind="compact")

        assert step.decision["kept_out"] == why
        assert step.decision["characters"]["before"] == 18
        assert [one.name for one in turn.states[-1].results] == ["lookup"] * 3
        assert (result.compactions.count, result.stopped_by) == (0, "quiet")

    def test_as_long_as_what_it_replaces_is_short_enough(self, go: Go, desk: Desk) -> None:
        compact = Compact(lambda _older: "x" * 18, after=3, keep=1)
        result, _ = compacted(go, desk, [1, 1, 1], compact)

        assert result.compactions.count == 1

    @pytest.mark.parametrize(("tokens", "count"), [(49, 0), (50, 1), (51, 1)])
    def test_the_line_itself_is_over_it(self, go: Go, desk: Desk, tokens: int, count: int) -> None:
        compact = Compact(short, at=0.5, window=100, keep=1)
        result, _ = compacted(go, desk, [1] * 4, compact, tokens=tokens)

        assert result.compactions.count == count

    def test_what_failed_is_tried_again(self, go: Go, desk: Desk) -> None:
        summarise = scripted(OSError("down"), Reply("bad", status="failed"), "s")
        compact = Compact(summarise, at=0.5, window=100, keep=1)
        result, turn = compacted(go, desk, [1] * 5, compact, tokens=60)

        assert [step.status for step in result.rollout.find(kind="compact")] == [
            "failed",
            "failed",
            "completed",
        ]
        assert result.compactions.count == 1
        assert len(turn.states[-1].results) > 1

    def test_a_summary_after_the_last_turn_is_not_made(self, go: Go, desk: Desk) -> None:
        summarise = scripted()
        compact = Compact(summarise, after=3, keep=1)
        turn = scripted(SAME, repeat=True)
        result = go(loop, "?", turn=turn, tools=desk.bus, compact=compact, max_turns=3)

        assert (result.stopped_by, summarise.calls) == ("turns", [])

    def test_it_is_told_of_as_it_happens(self, go: Go, desk: Desk) -> None:
        events: list[Event] = []
        run = Run(on_event=events.append)
        compacted(go, desk, [1, 1, 1], Compact(short, after=3, keep=1), run=run)
        (told,) = [event for event in events if event.event == "compacted"]

        assert (told.path, told.data) == ("compact", {"replaced": 2})

    @pytest.mark.parametrize(("after", "keep"), [(5, 4), (4, 4), (3, 4), (1, 1), (6, 1), (2, 9)])
    def test_results_that_stayed_have_not_come_since(
        self, go: Go, desk: Desk, after: int, keep: int
    ) -> None:
        result, turn = compacted(
            go, desk, [1] * 20, Compact(short, after=after, keep=keep), max_turns=30
        )
        stood_for = [state.results[0].replaced for state in turn.states if state.results]
        at = [turn for turn in range(1, 21) if stood_for[turn - 1] > (0, *stood_for)[turn - 1]]
        first = max(after, keep + 1)

        assert at == list(range(first, 21, after))
        assert result.compactions.count == len(at)

    def test_paths_of_several(self, go: Go, desk: Desk) -> None:
        result, _ = compacted(go, desk, [1] * 6, Compact(short, after=3, keep=1))

        assert [path for path in paths(result) if "compact" in path] == ["compact", "compact.2"]

    def test_the_summariser_may_be_a_model_with_a_context(self, go: Go, desk: Desk) -> None:
        async def summarise(older: object, ctx: Ctx) -> Reply:
            assert isinstance(older, tuple)
            return Reply(f"{len(older)} {ctx.path}", usage=Usage(3))

        result, turn = compacted(go, desk, [1, 1, 1], Compact(summarise, after=3, keep=1))

        assert turn.states[-1].results[0].output == "2 compact"
        assert result.usage == Usage(3)

    def test_input_of_a_model_inside_the_turn_counts_as_read(self, go: Go, desk: Desk) -> None:
        async def turn(state: LoopState, ctx: Ctx) -> Reply:
            await ctx.step("ask", scripted(Reply("a", usage=Usage(60))), 1, kind="turn")
            return SAME if state.turn < 3 else says("done")

        compact = Compact(short, at=0.5, window=100, keep=1)
        result = go(loop, "?", turn=turn, tools=desk.bus, compact=compact)

        assert result.compactions.count == 1


NO_FRACTIONS: list[Any] = [0, -0.5, 1.01, float("nan"), float("inf"), True, "1"]
BAD: list[tuple[Any, list[str]]] = [
    (lambda: Loop(None), ["turn"]),
    (lambda: Loop(3), ["turn"]),  # type: ignore[arg-type]
    (lambda: Loop(lambda: None), ["turn"]),
    (lambda: Loop(short, tools=[short]), ["tools"]),
    (lambda: Loop(short, tools=3), ["tools"]),
    (lambda: Loop(short, max_turns=0), ["max_turns"]),
    (lambda: Loop(short, max_turns=True), ["max_turns"]),
    (lambda: Loop(short, max_turns=2.5), ["max_turns"]),  # type: ignore[arg-type]
    (lambda: Loop(short, max_turns=float("inf")), ["max_turns"]),  # type: ignore[arg-type]
    (lambda: Loop(short, max_tokens=-1), ["max_tokens"]),
    (lambda: Loop(short, hooks=3), ["hooks"]),  # type: ignore[arg-type]
    (lambda: Loop(short, compact=short), ["compact"]),  # type: ignore[arg-type]
    (lambda: Loop(short, stop=StallDetect()), ["stop"]),  # type: ignore[arg-type]
    (lambda: Loop(short, stop=[3, lambda: None]), ["stop[0]", "stop[1]"]),
    (lambda: Loop(short, parallel_tools=1), ["parallel_tools"]),  # type: ignore[arg-type]
    (lambda: Loop(short, name="a/b"), ["name"]),
    (lambda: Loop(short, max_turn=3), ["max_turn"]),  # type: ignore[call-arg]
    (lambda: Loop(None, name="", max_turns=0, stop=[3]), ["name", "turn", "stop[0]", "max_turns"]),
    (lambda: Compact(3, after=1), ["compact.summarise"]),  # type: ignore[arg-type]
    *(
        (lambda at=at: Compact(short, at=at, window=9), ["compact.at"])
        for at in NO_FRACTIONS
    ),
    (lambda: Compact(short), ["compact.at"]),
    (lambda: Compact(short, at=0.5, after=3), ["compact.at"]),
    (lambda: Compact(short, after=0), ["compact.after"]),
    (lambda: Compact(short, after=3, keep=0), ["compact.keep"]),
    (lambda: Compact(short, after=3, keep=None), ["compact.keep"]),  # type: ignore[arg-type]
    (lambda: Compact(short, after=3, window=9), ["compact.window"]),
    (lambda: Compact(short, at=0.5, window=0), ["compact.window"]),
    (lambda: Compact(short, keeps=3), ["keeps"]),  # type: ignore[call-arg]
    (lambda: Compact(3, at=2, keep=-1), ["compact.summarise", "compact.at", "compact.keep"]),  # type: ignore[arg-type]
    (lambda: StallDetect(window=1), ["window"]),
    (lambda: StallDetect(max_cycle=17), ["maxCycle"]),
    (lambda: StallDetect(signals=["call"]), ["signals"]),
    (lambda: Stall(windows=3), ["windows"]),  # type: ignore[call-arg]
    (DeadlineCheck, ["deadline"]),
    (lambda: DeadlineCheck(budget_ms=-1), ["budgetMs"]),
    (lambda: DeadlineCheck(deadline="tomorrow"), ["deadline"]),
    (lambda: DeadlineCheck(budget=3), ["budget"]),  # type: ignore[call-arg]
]  # fmt: skip


@pytest.mark.parametrize(("make", "fields"), BAD)
def test_refused_with_every_field(make: Any, fields: list[str]) -> None:
    with pytest.raises(ConfigError) as refused:
        make()

    assert [problem.field for problem in refused.value.problems] == fields


def test_a_loop_refuses_before_any_turn(go: Go) -> None:
    turn = scripted()
    with pytest.raises(ConfigError, match='did you mean "max_turns"'):
        go(loop, "?", turn=turn, max_turn=3)
    with pytest.raises(ConfigError, match="run: 3: must be Run"):
        go(loop, "?", turn=turn, run=3)
    with pytest.raises(ConfigError, match="turn"):
        go(loop, "?")

    assert turn.calls == []


@pytest.mark.parametrize("answer", [3, object(), {"a": object()}, ["x"]])
def test_what_is_no_reply_is_misuse(go: Go, answer: object) -> None:
    with pytest.raises(UsageError, match="turn `turn_0`"):
        go(loop, "?", turn=scripted(answer))


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply("part", status="incomplete", stop="length"), "cut_off"),
        (Reply("", status="incomplete"), "cut_off"),
        (Reply("no", status="failed"), "failed"),
    ],
)
def test_half_an_answer_is_none(go: Go, reply: Reply, error: str) -> None:
    result = go(loop, "?", turn=scripted(reply))

    assert (result.stopped_by, result.status, result.error.type) == ("failed", "failed", error)
    assert result.output == reply.output


def test_an_unmetered_turn_ends_a_metered_loop(go: Go, desk: Desk) -> None:
    unmetered = Reply(calls=SAME.calls, usage=Usage(requests=1), meta={"usage_missing": True})
    result = go(loop, "?", turn=scripted(unmetered), tools=desk.bus, max_tokens=100)

    assert (result.stopped_by, desk.ran) == ("unmetered", [])


def test_values_that_json_cannot_hold_are_handed_on(go: Go, desk: Desk) -> None:
    values = {"client": object()}
    turn = Turns(SAME, says("x"))
    result = go(loop, values, turn=turn, tools=desk.bus)

    assert all(state.values is values for state in turn.states)
    assert {step.input_digest for step in result.rollout.find(kind="turn")} == {None}


def test_digests_of_turns_tell_states_apart(go: Go, desk: Desk) -> None:
    def digests(values: object, *replies: object) -> list[str]:
        result = go(loop, values, turn=scripted(*replies), tools=desk.bus)
        return [step.input_digest for step in result.rollout.find(kind="turn")]

    one = digests("?", SAME, SAME, says("x"))
    other = digests("?", OTHER, SAME, says("x"))

    assert len(set(one)) == 3
    assert one == digests("?", SAME, SAME, says("x"))
    assert (one[0] == other[0], one[1] == other[1], one[2] == other[2]) == (True, False, False)
    assert digests("!", SAME, says("x"))[0] != one[0]
    assert digests(None, says("x")) != digests({}, says("x"))


def test_before_turn_is_not_asked_for_a_turn_that_is_not_taken(go: Go, desk: Desk) -> None:
    seen: list[int] = []
    hooks = Hooks(lambda state: seen.append(state.turn))
    run = Run(limits=Limits(max_steps=2), hooks=[hooks])
    result = go(loop, "?", turn=scripted(SAME), tools=desk.bus, run=run)

    assert (result.stopped_by, seen) == ("steps", [0])
