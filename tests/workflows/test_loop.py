"""The promises of loop, each by its id."""

from __future__ import annotations

import math
from typing import Any

import pytest

from interlock import ConfigError, Reply, ToolCall, ToolResult, Usage, finish, loop, toolbus
from interlock.harness import (
    Block,
    Compact,
    DeadlineCheck,
    Exchange,
    Hooks,
    Loop,
    Remaining,
    Stall,
)
from interlock.testing import scripted

from .conftest import Go
from .loops import Desk, Turns, asks, call, says, statuses


def names(result: Any) -> list[str]:
    return [step.name for step in result.rollout.steps]


def no_destruction(_call: ToolCall, effect: str | None) -> Block | None:
    return Block("not on my watch") if effect == "destructive" else None


def test_L_01_turns_go_on_until_a_reply_asks_for_no_tool(go: Go, desk: Desk) -> None:
    turn = scripted(asks(call("lookup", key="a")), asks(call("lookup", key="b")), says("done"))
    result = go(loop, "?", turn=turn, tools=desk.bus)

    assert (result.turns, result.stopped_by, result.output) == (3, "quiet", "done")
    assert desk.ran == ["lookup a", "lookup b"]
    assert len(result.rollout.find(kind="tool")) == 2


def test_L_02_a_turn_is_given_the_state(go: Go, desk: Desk) -> None:
    values = {"question": "?"}
    first, last = asks(call("lookup", key="a")), says("done")
    turn = Turns(first, last)
    go(loop, values, turn=turn, tools=desk.bus)
    one, two = turn.states

    assert (one.values, one.turn, one.results, one.last, one.exchanges) == (values, 0, (), None, ())
    assert one.values is values
    assert isinstance(one.remaining, Remaining)
    assert [type(each) for each in two.results] == [ToolResult]
    assert (two.turn, two.last, two.results[0].output) == (1, first, "found a")
    assert two.exchanges == (Exchange(first, two.results),)
    with pytest.raises(AttributeError):
        one.turn = 3  # type: ignore[misc]


def test_L_03_max_turns_is_8(go: Go, desk: Desk) -> None:
    turn = scripted(asks(call("lookup")), repeat=True)
    result = go(loop, "?", turn=turn, tools=desk.bus)

    assert (result.turns, result.stopped_by, len(turn.calls)) == (8, "turns", 8)


def test_L_04_no_turn_begins_at_or_beyond_the_ceiling(go: Go, desk: Desk) -> None:
    turn = scripted(asks(call("lookup"), tokens=50), repeat=True)
    result = go(loop, "?", turn=turn, tools=desk.bus, max_tokens=100)

    assert (result.turns, result.stopped_by, len(turn.calls)) == (2, "tokens", 2)
    assert result.usage == Usage(100)


def test_L_05_turns_and_calls_are_steps_in_order(go: Go, desk: Desk) -> None:
    turn = scripted(asks(call("lookup", key="a"), call("lookup", key="b")), says("done"))
    result = go(loop, "?", turn=turn, tools=desk.bus)

    assert names(result) == ["turn_0", "lookup", "lookup", "turn_1"]
    assert [step.kind for step in result.rollout.steps] == ["turn", "tool", "tool", "turn"]
    assert [step.path for step in result.rollout.find(kind="tool")] == [
        "turn_0/lookup",
        "turn_0/lookup.2",
    ]


def test_L_06_failed_calls_are_recorded(go: Go, desk: Desk) -> None:
    result = go(loop, "?", turn=scripted(asks(call("broken")), says("done")), tools=desk.bus)
    (step,) = result.rollout.failed()

    assert (step.name, step.error.type, step.error.message) == (
        "broken",
        "ValueError",
        "no such key",
    )


def test_L_07_finished_and_quiet_are_told_apart(go: Go, desk: Desk) -> None:
    done = go(loop, "?", turn=scripted(asks(call("finish", answer=1))), tools=desk.bus)
    quiet = go(loop, "?", turn=scripted(says("done")), tools=desk.bus)

    assert (done.stopped_by, quiet.stopped_by) == ("finished", "quiet")


def test_L_08_answer_is_what_finish_was_called_with(go: Go, desk: Desk) -> None:
    turn = scripted(asks(call("finish", answer="42"), text="I think it is 41"))
    done = go(loop, "?", turn=turn, tools=desk.bus)
    quiet = go(loop, "?", turn=scripted(says("done")), tools=desk.bus)
    data = go(loop, "?", turn=scripted(asks(call("finish", answer={"n": 1}))), tools=desk.bus)

    assert (done.answer, done.output) == ("42", "42")
    assert (quiet.answer, quiet.output) == (None, "done")
    assert (data.answer, data.data, data.output) == ({"n": 1}, {"n": 1}, '{"n":1}')


def test_L_09_without_finish_only_quiet_can_happen(go: Go, desk: Desk) -> None:
    turn = scripted(asks(call("finish", answer="42")), says("done"))
    result = go(loop, "?", turn=turn, tools=desk.bus.only("lookup"))

    assert (result.stopped_by, result.answer, result.turns) == ("quiet", None, 2)


ENDS: dict[str, tuple[str, dict[str, Any]]] = {
    "finished": ("completed", {"turn": scripted(asks(call("finish", answer=1)), repeat=True)}),
    "quiet": ("completed", {"turn": scripted(says("done"), repeat=True)}),
    "turns": ("incomplete", {"turn": scripted(asks(call("lookup")), repeat=True)}),
    "tokens": (
        "incomplete",
        {"turn": scripted(asks(call("lookup"), tokens=9), repeat=True), "max_tokens": 9},
    ),
    "stalled": (
        "incomplete",
        {"turn": scripted(asks(call("lookup")), repeat=True), "stop": [Stall()]},
    ),
    "deadline": (
        "incomplete",
        {"turn": scripted(says("never")), "stop": [DeadlineCheck(budget_ms=0)]},
    ),
    "failed": ("failed", {"turn": scripted(ValueError("down"), repeat=True)}),
    "blocked": (
        "failed",
        {"turn": scripted(), "hooks": [Hooks(before_turn=lambda _state: Block("no"))]},
    ),
}


@pytest.mark.parametrize("word", ENDS)
def test_L_10_stopped_by_is_one_of_few_words(go: Go, desk: Desk, word: str) -> None:
    _, options = ENDS[word]

    assert go(loop, "?", tools=desk.bus, **options).stopped_by == word


def test_L_11_turns_counts_those_that_were_taken(go: Go, desk: Desk) -> None:
    for _, options in ENDS.values():
        result = go(loop, "?", tools=desk.bus, **options)
        taken = [name for name in names(result) if name.startswith("turn_")]

        assert result.turns == len(taken)


def test_L_12_a_tool_that_fails_is_read_by_the_next_turn(go: Go, desk: Desk) -> None:
    turn = Turns(asks(call("broken")), says("I see"))
    result = go(loop, "?", turn=turn, tools=desk.bus)
    (failed,) = turn.states[1].results

    assert (failed.status, failed.output) == ("failed", "ValueError: no such key")
    assert (failed.error.message if failed.error else "", failed.turn) == ("no such key", 0)
    assert (result.stopped_by, result.status) == ("quiet", "completed")


def test_L_13_a_call_to_no_tool_names_it_and_lists_what_there_is(go: Go, desk: Desk) -> None:
    turn = Turns(asks(call("nope")), says("I see"))
    go(loop, "?", turn=turn, tools=desk.bus.only("lookup", "finish"))
    (failed,) = turn.states[1].results

    assert failed.status == "failed"
    assert all(name in str(failed.output) for name in ("nope", "lookup", "finish"))


@pytest.mark.parametrize("answer", [ValueError("down"), Reply("partly", status="failed")])
def test_L_14_a_failing_provider_ends_the_run(go: Go, desk: Desk, answer: object) -> None:
    result = go(loop, "?", turn=scripted(asks(call("lookup")), answer), tools=desk.bus)

    assert (result.stopped_by, result.status, result.turns) == ("failed", "failed", 2)
    assert result.error is not None


def test_L_15_four_points_run_in_code(go: Go, desk: Desk) -> None:
    seen: list[str] = []
    hooks = Hooks(
        lambda state: seen.append(f"before_turn {state.turn}"),
        lambda each, effect: seen.append(f"before_tool {each.name} {effect}"),
        lambda each, result: seen.append(f"after_tool {each.name} {result.status}"),
        lambda state: seen.append(f"after_turn {state.turn} {len(state.results)}"),
    )
    go(loop, "?", turn=scripted(asks(call("lookup")), says("x")), tools=desk.bus, hooks=[hooks])

    assert seen == [
        "before_turn 0",
        "before_tool lookup readonly",
        "after_tool lookup completed",
        "after_turn 0 1",
        "before_turn 1",
        "after_turn 1 1",
    ]


def test_L_16_before_turn_may_block(go: Go, desk: Desk) -> None:
    turn = scripted(asks(call("lookup")), says("never"))
    hooks = Hooks(lambda state: Block("enough") if state.turn == 1 else None)
    result = go(loop, "?", turn=turn, tools=desk.bus, hooks=[hooks])

    assert (result.stopped_by, result.status, result.turns) == ("blocked", "failed", 1)
    assert (len(turn.calls), str(result.error)) == (1, "enough")
    assert [step.name for step in result.rollout.blocked()] == ["before_turn"]


def blocked(go: Go, desk: Desk) -> tuple[Any, Turns]:
    turn = Turns(asks(call("remove", key="a")), asks(call("finish", answer="kept")))
    result = go(loop, "?", turn=turn, tools=desk.bus, hooks=[Hooks(before_tool=no_destruction)])
    return result, turn


def test_L_17_a_blocked_tool_never_runs(go: Go, desk: Desk) -> None:
    result, turn = blocked(go, desk)
    (refused,) = turn.states[1].results
    step = result.rollout.step("turn_0/remove")

    assert desk.ran == []
    assert (refused.status, refused.output) == ("blocked", "blocked: not on my watch")
    assert (step.name, step.status, str(step.error)) == ("remove", "blocked", "not on my watch")


def test_L_18_the_run_goes_on_and_the_model_sees_the_refusal(go: Go, desk: Desk) -> None:
    result, turn = blocked(go, desk)

    assert turn.states[1].results[0].status == "blocked"
    assert (result.stopped_by, result.answer) == ("finished", "kept")


def test_L_19_refused_calls_can_be_queried(go: Go, desk: Desk) -> None:
    result, _ = blocked(go, desk)
    (step,) = result.rollout.blocked()

    assert (step.path, step.call_id, step.effect) == ("turn_0/remove", "id_remove", "destructive")


def test_L_20_before_tool_is_told_the_call_and_the_effect(go: Go, desk: Desk) -> None:
    seen: list[tuple[str, object, object]] = []
    hooks = Hooks(before_tool=lambda each, effect: seen.append((each.name, each.args, effect)))
    turn = scripted(asks(call("lookup", key="a"), call("remove", key="b")), says("x"))
    go(loop, "?", turn=turn, tools=desk.bus, hooks=[hooks])

    assert seen == [
        ("lookup", {"key": "a"}, "readonly"),
        ("remove", {"key": "b"}, "destructive"),
    ]


def test_L_21_a_rule_on_the_effect_outlives_a_new_name(go: Go, desk: Desk) -> None:
    renamed = toolbus(desk.bus, prefix="old_")
    turn = scripted(asks(call("old_remove")), says("x"), repeat=True)
    by_name = Hooks(before_tool=lambda each, _e: Block("no") if each.name == "remove" else None)
    go(loop, "?", turn=turn, tools=renamed, hooks=[Hooks(before_tool=no_destruction)])
    assert desk.ran == []
    again = scripted(asks(call("old_remove")), says("x"))
    go(loop, "?", turn=again, tools=renamed, hooks=[by_name])

    assert desk.ran == ["remove "]


def test_L_22_nothing_declared_is_not_readonly(go: Go, desk: Desk) -> None:
    seen: list[object] = []
    hooks = Hooks(before_tool=lambda _call, effect: seen.append(effect))
    turn = scripted(asks(call("undeclared")), says("x"))
    result = go(loop, "?", turn=turn, tools=desk.bus, hooks=[hooks], parallel_tools=True)

    assert seen == [None]
    assert result.rollout.step("turn_0/undeclared").effect is None


def test_L_23_a_bus_lists_what_declared_nothing(desk: Desk) -> None:
    assert desk.bus.unannotated() == ("undeclared",)
    assert desk.bus.only("lookup", "remove", "finish").unannotated() == ()


class Anything:
    """Something with `invoke`, and an effect that nobody asked it for."""

    async def invoke(self, each: ToolCall) -> ToolResult:
        return ToolResult(each.id, each.name, "completed", "ok", effect="readonly")


def test_L_24_the_effect_comes_from_what_was_passed(go: Go, desk: Desk) -> None:
    def effects(tools: object) -> list[object]:
        turn = scripted(asks(call("remove"), call("lookup")), says("x"))
        result = go(loop, "?", turn=turn, tools=tools)
        return [step.effect for step in result.rollout.find(kind="tool")]

    assert effects(desk.bus) == ["destructive", "readonly"]
    # Only the shortlist is known: what is not on it has no effect, and is no tool.
    assert effects(desk.bus.trace("look something up", k=1)) == [None, "readonly"]
    assert effects(Anything()) == [None, None]


def test_L_25_a_hook_that_raises_is_permission(go: Go, desk: Desk) -> None:
    def fail(_call: ToolCall, _effect: object) -> None:
        raise RuntimeError("guard is down")

    def run(*hooks: Hooks) -> Any:
        turn = scripted(asks(call("remove", key="a")), says("x"))
        return go(loop, "?", turn=turn, tools=desk.bus, hooks=hooks)

    second = run(Hooks(before_tool=fail), Hooks(before_tool=no_destruction))
    assert (desk.ran, second.hook_errors) == ([], 1)
    only = run(Hooks(before_tool=fail, name="guard"))

    assert (desk.ran, only.hook_errors, only.stopped_by) == (["remove a"], 1, "quiet")
    assert [str(fault) for fault in only.rollout.faults] == [
        "hook before_tool of guard: guard is down"
    ]


def test_L_26_observers_change_nothing_when_they_raise(go: Go, desk: Desk) -> None:
    def fail(*_given: object) -> None:
        raise RuntimeError("observer")

    def run(*hooks: Hooks) -> Any:
        turn = scripted(asks(call("lookup", key="a")), says("x"))
        return go(loop, "?", turn=turn, tools=desk.bus, hooks=hooks)

    plain, watched = run(), run(Hooks(after_tool=fail, after_turn=fail))
    wire, seen = plain.rollout.canonical(), watched.rollout.canonical()

    assert seen.pop("config_digest") != wire.pop("config_digest")
    assert len(seen.pop("faults")) == 3
    assert seen == wire
    assert (plain.hook_errors, watched.hook_errors) == (0, 3)
    assert (plain.output, plain.turns, plain.stopped_by) == (
        watched.output,
        watched.turns,
        watched.stopped_by,
    )


def test_L_27_after_tool_sees_refused_and_failed_results_too(go: Go, desk: Desk) -> None:
    seen: list[ToolResult] = []
    hooks = [Hooks(before_tool=no_destruction), Hooks(after_tool=seen.append)]
    turn = scripted(asks(call("lookup"), call("remove"), call("broken")), says("x"))
    go(loop, "?", turn=turn, tools=desk.bus, hooks=hooks)

    assert [(each.name, each.status) for each in seen] == [
        ("lookup", "completed"),
        ("remove", "blocked"),
        ("broken", "failed"),
    ]


def test_L_28_remaining_turns_counts_the_one_to_be_taken(go: Go, desk: Desk) -> None:
    turn = Turns(asks(call("lookup")), repeat=True)
    go(loop, "?", turn=turn, tools=desk.bus, max_turns=3)

    assert [state.remaining.turns for state in turn.states] == [3, 2, 1]


def test_L_29_remaining_tokens_never_fall_below_0(go: Go, desk: Desk) -> None:
    seen: list[float] = []
    turn = Turns(asks(call("lookup"), tokens=70), repeat=True)
    hooks = Hooks(after_turn=lambda state: seen.append(state.remaining.tokens))
    go(loop, "?", turn=turn, tools=desk.bus, max_tokens=100, hooks=[hooks])

    assert [state.remaining.tokens for state in turn.states] == [100, 30]
    assert seen == [30, 0]


def test_L_30_what_nothing_limits_is_infinite(go: Go, desk: Desk) -> None:
    turn = Turns(says("x"))
    go(loop, "?", turn=turn, tools=desk.bus)
    left = turn.states[0].remaining

    assert left.tokens == left.cost == left.ms == left.steps == math.inf
    assert not left.tokens < 1000


def test_L_31_before_turn_sees_what_remains(go: Go, desk: Desk) -> None:
    turn = Turns(asks(call("lookup"), tokens=70), repeat=True)
    hooks = Hooks(lambda state: Block("too little") if state.remaining.tokens < 50 else None)
    result = go(loop, "?", turn=turn, tools=desk.bus, max_tokens=100, hooks=[hooks])

    assert (result.stopped_by, result.turns) == ("blocked", 1)


def test_L_32_the_loop_writes_nothing_into_messages(go: Go, desk: Desk) -> None:
    messages = [{"role": "user", "content": "?"}]
    turn = Turns(asks(call("lookup", key="a")), repeat=True)
    go(loop, messages, turn=turn, tools=desk.bus, max_tokens=10, max_turns=3, stop=[Stall()])

    assert messages == [{"role": "user", "content": "?"}]
    for state in turn.states:
        assert state.values is messages
        assert state.notice is None
        assert {each.output for each in state.results} <= {"found a"}


def summary(_older: object) -> str:
    return "s"


def test_L_33_at_or_after(go: Go, desk: Desk) -> None:
    def run(compact: Compact, **options: Any) -> Any:
        turn = scripted(*[asks(call("lookup"), tokens=60)] * 3, says("x", 60))
        return go(loop, "?", turn=turn, tools=desk.bus, compact=compact, **options)

    assert run(Compact(summary, at=0.5, window=100, keep=1)).compactions.count == 1
    assert run(Compact(summary, at=0.05, keep=1), max_tokens=1000).compactions.count == 1
    assert run(Compact(summary, after=3, keep=1)).compactions.count == 1
    with pytest.raises(ConfigError, match=r"compact\.at"):
        Compact(summary, at=0.5, after=3, window=9)
    with pytest.raises(ConfigError, match=r"compact\.at"):
        Compact(summary)
    with pytest.raises(ConfigError, match=r"compact\.at: 0\.5: is a fraction of"):
        Loop(scripted(), compact=Compact(summary, at=0.5))


def compacting(
    go: Go, desk: Desk, turns: int, compact: Compact, tokens: tuple[int, ...] = (), **options: Any
) -> tuple[Any, Turns]:
    """Run turns of one call each, then a quiet one."""
    used = (*tokens, *[0] * turns)
    replies = [asks(call("lookup", key=f"k{at}"), tokens=used[at]) for at in range(turns)]
    turn = Turns(*replies, says("done"))
    options = {"max_turns": 50, **options}
    return go(loop, "?", turn=turn, tools=desk.bus, compact=compact, **options), turn


def test_L_34_older_results_become_a_single_one(go: Go, desk: Desk) -> None:
    _, turn = compacting(go, desk, 5, Compact(summary, after=4, keep=2))
    before, after = turn.states[3].results, turn.states[4].results

    assert [each.name for each in before] == ["lookup"] * 3
    assert [each.name for each in after] == ["compacted", "lookup", "lookup"]
    assert (after[0].output, after[0].replaced, after[0].status) == ("s", 2, "completed")
    assert len(turn.states[4].exchanges) == 2


def test_L_35_the_latest_stay_as_they_were(go: Go, desk: Desk) -> None:
    seen: list[tuple[ToolResult, ...]] = []
    hooks = Hooks(after_turn=lambda state: seen.append(state.results))
    _, turn = compacting(go, desk, 4, Compact(summary, after=4, keep=2), hooks=[hooks])
    kept = turn.states[4].results[1:]

    assert len(kept) == 2
    assert all(one is two for one, two in zip(kept, seen[3][-2:], strict=True))


def test_L_36_the_threshold_looks_at_the_last_turns_input(go: Go, desk: Desk) -> None:
    compact = Compact(summary, at=0.5, window=100, keep=1)
    result, _ = compacting(go, desk, 9, compact, (49,) * 9)

    assert (result.usage.input, result.compactions.count) == (441, 0)


def test_L_37_the_next_one_comes_once_it_is_over_the_line_anew(go: Go, desk: Desk) -> None:
    compact = Compact(summary, at=0.5, window=100, keep=1)
    result, turn = compacting(go, desk, 7, compact, (10, 60, 60, 60, 20, 20, 60))
    first = [state.results[0].replaced for state in turn.states if state.results]

    assert (result.compactions.count, result.compactions.replaced) == (2, 6)
    assert first == [0, 1, 1, 1, 1, 1, 6]


def test_L_38_after_needs_no_ceiling(go: Go, desk: Desk) -> None:
    result, _ = compacting(go, desk, 3, Compact(summary, after=3, keep=1))

    assert result.compactions.count == 1


def test_L_39_the_summary_is_a_step_that_counts(go: Go, desk: Desk) -> None:
    def costly(_older: object) -> Reply:
        return Reply("s", usage=Usage(30, 10))

    result, _ = compacting(go, desk, 3, Compact(costly, after=3, keep=1))
    (step,) = result.rollout.find(kind="compact")
    limited, turn = compacting(go, desk, 3, Compact(costly, after=3, keep=1), max_tokens=40)

    assert (step.name, step.usage, result.usage) == ("compact", Usage(30, 10), Usage(30, 10))
    assert (limited.stopped_by, len(turn.states)) == ("tokens", 3)


def test_L_40_a_failing_summariser_leaves_the_results(go: Go, desk: Desk) -> None:
    compact = Compact(scripted(OSError("down"), repeat=True), after=3, keep=1)
    result, turn = compacting(go, desk, 3, compact)
    (step,) = result.rollout.find(kind="compact")

    assert (step.status, step.error.type) == ("failed", "OSError")
    assert [each.name for each in turn.states[3].results] == ["lookup"] * 3
    assert (result.stopped_by, result.compactions.count) == ("quiet", 0)


def test_L_41_compactions_says_how_often_and_how_many(go: Go, desk: Desk) -> None:
    result, turn = compacting(go, desk, 8, Compact(summary, after=4, keep=1))

    assert result.compactions.to_dict() == {"count": 2, "replaced": 7}
    assert turn.states[8].results[0].replaced == 7


def test_L_42_the_summariser_gets_the_older_ones_only(go: Go, desk: Desk) -> None:
    summarise = scripted("one", "two")
    compacting(go, desk, 8, Compact(summarise, after=4, keep=1))
    first, second = summarise.calls

    assert isinstance(first, tuple)
    assert isinstance(second, tuple)
    assert [each.output for each in first] == ["found k0", "found k1", "found k2"]
    assert [each.output for each in second] == ["one", *(f"found k{at}" for at in (3, 4, 5, 6))]


def test_L_43_a_loop_is_not_compiled() -> None:
    made = Loop(scripted())

    assert not hasattr(made, "compile")
    assert '"turn"' in made.to_mermaid()


def test_L_44_an_empty_bus_makes_it_one_call(go: Go) -> None:
    for tools in (None, toolbus([])):
        turn = scripted(says("x"))
        result = go(loop, "?", turn=turn, tools=tools)

        assert (result.turns, result.stopped_by, len(turn.calls)) == (1, "quiet", 1)


def test_L_45_calls_after_finish_are_skipped(go: Go, desk: Desk) -> None:
    calls = (call("lookup", key="a"), call("finish", answer="x"), call("remove", key="b"))
    result = go(loop, "?", turn=scripted(asks(*calls)), tools=desk.bus)

    assert statuses(result) == [
        ("turn_0", "completed"),
        ("lookup", "completed"),
        ("finish", "completed"),
        ("remove", "skipped"),
    ]
    assert (result.stopped_by, result.answer, desk.ran) == ("finished", "x", ["lookup a"])


def test_L_46_finish_with_the_wrong_arguments_is_a_failed_result(go: Go, desk: Desk) -> None:
    bus = toolbus([desk.lookup, finish(int)])
    turn = Turns(
        asks(call("finish", answer="many"), call("lookup", key="a")),
        asks(call("finish", answer=3)),
    )
    result = go(loop, "?", turn=turn, tools=bus)

    assert [each.status for each in turn.states[1].results] == ["failed", "completed"]
    assert (result.stopped_by, result.answer, desk.ran) == ("finished", 3, ["lookup a"])


def test_L_47_arguments_that_are_no_json_never_reach_the_tool(go: Go, desk: Desk) -> None:
    cut = ToolCall("c1", "lookup", {}, "the arguments are no JSON: ends too early")
    turn = Turns(Reply(calls=(cut,), status="incomplete", stop="length"), says("x"))
    result = go(loop, "?", turn=turn, tools=desk.bus)
    (failed,) = turn.states[1].results

    assert (failed.status, failed.call_id, desk.ran) == ("failed", "c1", [])
    assert "no JSON" in str(failed.output)
    assert result.rollout.step("turn_0/lookup").status == "failed"


@pytest.mark.parametrize("word", ENDS)
def test_L_48_status_follows_what_ended_it(go: Go, desk: Desk, word: str) -> None:
    status, options = ENDS[word]
    result = go(loop, "?", tools=desk.bus, **options)

    assert (result.status, result.stopped_by) == (status, word)
