"""Parallel: its promise by its id, order, failures, limits, cancellation, many branches."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from interlock import (
    Chain,
    ConfigError,
    Limits,
    Parallel,
    ParallelResult,
    Reply,
    Result,
    Retry,
    Run,
    RunFailed,
    Usage,
    UsageError,
    Work,
    parallel,
)
from interlock.harness import BranchOutcome, Ctx, Event
from interlock.testing import ManualClock, scripted

from .conftest import Go

Callable_ = Callable[[object], Awaitable[object]]


class Meeting:
    """Branches that wait until so many of them are there, or given up on."""

    def __init__(self, size: int) -> None:
        self.size, self.there, self.most = size, 0, 0
        self.all_there = anyio.Event()

    def branch(self, answer: object) -> Callable_:
        async def work(_value: object) -> object:
            self.there += 1
            self.most = max(self.most, self.there)
            if self.there == self.size:
                self.all_there.set()
            with anyio.move_on_after(10):
                await self.all_there.wait()
            self.there -= 1
            return answer

        return work


class Turns:
    """Branches that end in a given order, whatever the order in which they start."""

    def __init__(self, order: str) -> None:
        self.order = order
        self.done = {name: anyio.Event() for name in order}

    def branch(self, name: str, answer: object) -> Callable_:
        async def work(_value: object) -> object:
            before = self.order[: self.order.index(name)]
            for other in before:
                await self.done[other].wait()
            self.done[name].set()
            if isinstance(answer, BaseException):
                raise answer
            return answer

        return work


def statuses(result: ParallelResult) -> list[tuple[str, str]]:
    return [(one.name, one.status) for one in result.outcomes]


def test_N_04_branches_run_side_by_side_and_cost_the_sum(go: Go) -> None:
    async def work() -> tuple[ParallelResult, int]:
        meeting = Meeting(5)
        parts = {name: meeting.branch(Reply(name, usage=Usage(10))) for name in "abcde"}
        return await parallel(1, parts), meeting.most

    result, most = go(work)

    assert most == 5
    assert (result.status, result.stopped_by) == ("completed", "done")
    assert result.usage == Usage(50) == sum((one.usage for one in result.outcomes), Usage())


class TestSections:
    def test_every_branch_gets_the_values(self, go: Go) -> None:
        values = {"a": 1}
        parts = [scripted("x"), scripted("y")]
        result = go(parallel, values, parts)

        assert all(part.calls[0] is values for part in parts)
        assert [step.path for step in result.rollout.steps] == ["0", "1"]
        assert {step.kind for step in result.rollout.steps} == {"branch"}

    @pytest.mark.parametrize("order", ["abc", "cba", "bca"])
    def test_results_are_in_declared_order_whatever_ends_first(self, go: Go, order: str) -> None:
        async def work() -> tuple[ParallelResult, ParallelResult]:
            turns = Turns(order)
            named = {name: turns.branch(name, name.upper()) for name in "abc"}
            again = Turns(order)
            listed = [again.branch(name, name.upper()) for name in "abc"]
            return await parallel(1, named), await parallel(1, listed)

        named, listed = go(work)

        assert named.outputs == listed.outputs == ("A", "B", "C")
        assert named.data == {"a": "A", "b": "B", "c": "C"}
        assert named.output == '{"a":"A","b":"B","c":"C"}'
        assert (listed.data, listed.output) == (["A", "B", "C"], '["A","B","C"]')
        assert [step.path for step in named.rollout.steps] == ["a", "b", "c"]

    def test_each_item_of_over(self, go: Go) -> None:
        each = scripted(1, 2, 3)
        result = go(parallel, None, over=iter("xyz"), each=each, concurrency=1)

        assert (each.calls, result.data) == (["x", "y", "z"], [1, 2, 3])
        assert [step.path for step in result.rollout.steps] == ["0", "1", "2"]

    def test_the_values_may_say_what_it_is_over(self, go: Go) -> None:
        made = Parallel(over=lambda values: values["docs"], each=lambda text: text.upper())

        assert go(made.run, {"docs": ["a", "b"]}).data == ["A", "B"]
        assert go(made.run, {"docs": ("c",)}).data == ["C"]

    def test_over_nothing_nothing_runs(self, go: Go) -> None:
        each = scripted()
        result = go(parallel, None, over=[], each=each)

        assert (result.status, result.stopped_by, result.data) == ("completed", "done", [])

    @pytest.mark.parametrize("given", [3, "text", {"a": 1}, None])
    def test_over_what_gives_no_items_is_misuse(self, go: Go, given: object) -> None:
        with pytest.raises(UsageError, match=r"parallel: `over` gave a .*must give items"):
            go(parallel, None, over=lambda _values: given, each=str)

    def test_data_that_json_cannot_hold_is_handed_on(self, go: Go) -> None:
        thing = object()
        result = go(parallel, 1, {"a": scripted(Reply("x", data=thing))})

        assert result.data == {"a": thing}
        assert result.output is None

    def test_a_context_is_passed(self, go: Go) -> None:
        async def branch(_values: object, ctx: Ctx) -> str:
            return ctx.path

        assert go(parallel, 1, {"a": branch, "b": branch}).outputs == ("a", "b")

    def test_sync_branches_run_in_threads(self, go: Go) -> None:
        barrier = threading.Barrier(3)

        def branch(_value: object) -> str:
            barrier.wait(10)
            return "met"

        assert go(parallel, 1, [branch] * 3).outputs == ("met",) * 3


class TestConcurrency:
    @pytest.mark.parametrize(
        ("own", "of_the_run", "most"), [(None, None, 8), (3, None, 3), (None, 5, 5), (2, 5, 2)]
    )
    def test_it_is_bounded(
        self, go: Go, own: int | None, of_the_run: int | None, most: int
    ) -> None:
        async def work() -> int:
            meeting = Meeting(most)
            run = Run() if of_the_run is None else Run(concurrency=of_the_run)
            parts = [meeting.branch("x")] * 20
            await parallel(1, parts, concurrency=own, run=run)
            return meeting.most

        assert go(work) == most

    def test_a_thousand_branches_are_few_tasks(self, go: Go) -> None:
        seen: list[int] = []

        async def each(item: int) -> int:
            seen.append(len(anyio.get_running_tasks()))
            await anyio.lowlevel.checkpoint()
            return item

        async def work() -> tuple[ParallelResult, int, int]:
            before = len(anyio.get_running_tasks())
            result = await parallel(None, over=range(1_000), each=each)
            return result, before, len(anyio.get_running_tasks())

        result, before, after = go(work)

        assert result.data == list(range(1_000))
        assert len(result.rollout.steps) == 1_000
        assert max(seen) <= before + 8
        assert after == before

    def test_a_limiter_bounds_branches_of_several(self, go: Go) -> None:
        async def work() -> int:
            meeting = Meeting(2)
            part = Work(meeting.branch("x"), limiter="model")
            await parallel(1, [part] * 6, run=Run(limiters={"model": 2}))
            return meeting.most

        assert go(work) == 2


class TestFailures:
    def test_one_that_fails_loses_nobody_elses_answer(self, go: Go) -> None:
        parts = {"a": scripted({"k": 1}), "b": scripted(TimeoutError("late")), "c": scripted("z")}
        seen: list[BranchOutcome] = []

        def join(outcomes: tuple[BranchOutcome, ...]) -> str:
            seen.extend(outcomes)
            return "joined"

        result = go(parallel, 1, parts, join=join)

        assert statuses(result) == [("a", "completed"), ("b", "failed"), ("c", "completed")]
        assert (result.status, result.stopped_by, result.output) == ("incomplete", "done", "joined")
        assert result.outputs == ({"k": 1}, None, "z")
        assert [one.value for one in seen] == [{"k": 1}, None, "z"]
        assert seen[1].error is not None
        assert (seen[1].error.cls, result.error) == ("timeout", seen[1].error)
        with pytest.raises(RunFailed):
            result.unwrap()

    def test_a_failed_reply_counts_as_none(self, go: Go) -> None:
        half = Reply("half", status="failed", usage=Usage(3))
        result = go(parallel, 1, {"a": scripted(half), "b": scripted("b")})

        assert (result.outputs, result.status, result.usage) == (
            (None, "b"),
            "incomplete",
            Usage(3),
        )

    def test_none_that_succeeds_fails(self, go: Go) -> None:
        join = scripted()
        parts = [scripted(ValueError("x")), scripted(KeyError("y"))]
        result = go(parallel, 1, parts, join=join)

        assert (result.status, result.stopped_by, result.error.type) == (
            *("failed", "failed"),
            "ValueError",
        )
        assert (result.data, join.calls) == (None, [])

    def test_the_first_failure_cancels_those_that_wait(self, go: Go) -> None:
        parts = {
            "a": scripted(1),
            "b": scripted(PermissionError("no")),
            "c": scripted(),
            "d": scripted(),
        }
        result = go(parallel, 1, parts, fail="first", concurrency=1)

        assert statuses(result) == [
            ("a", "completed"),
            ("b", "failed"),
            ("c", "cancelled"),
            ("d", "cancelled"),
        ]
        assert (result.status, result.stopped_by) == ("incomplete", "failed")
        assert result.error.type == "PermissionError"
        assert result.data == {"a": 1, "b": None, "c": None, "d": None}
        assert [step.name for step in result.rollout.steps] == ["a", "b"]

    def test_and_those_that_run_which_keep_what_they_used(self, go: Go) -> None:
        async def work() -> ParallelResult:
            asked = anyio.Event()

            async def long(_value: object, ctx: Ctx) -> str:
                await ctx.step("ask", scripted(Reply("half", usage=Usage(5))), 1)
                asked.set()
                await anyio.sleep_forever()
                return "never"

            async def fails(_value: object) -> str:
                await asked.wait()
                raise ValueError("bad")

            return await parallel(1, {"long": long, "fails": fails}, fail="first")

        result = go(work)

        assert statuses(result) == [("long", "cancelled"), ("fails", "failed")]
        assert (result.status, result.error.type) == ("failed", "ValueError")
        assert result.rollout.step("long").status == "cancelled"
        assert result.rollout.step("long/ask").usage == Usage(5) == result.usage
        assert result.outcomes[0].usage == Usage(5)

    def test_a_join_that_fails_keeps_the_outcomes(self, go: Go) -> None:
        result = go(parallel, 1, {"a": scripted("A")}, join=scripted(ValueError("join")))

        assert (result.status, result.stopped_by, result.output) == ("failed", "failed", None)
        assert (result.error.type, result.outputs) == ("ValueError", ("A",))

    def test_a_branch_is_tried_again(self, go: Go, clock: ManualClock) -> None:
        part = Work(scripted(ConnectionResetError("reset"), "a"), retry=Retry())
        result = go(parallel, 1, {"a": part, "b": scripted("b")}, run=Run(clock=clock))

        assert (result.outputs, len(result.rollout.find(name="a"))) == (("a", "b"), 2)

    def test_one_of_no_use_as_an_answer_is_misuse_alone(self, go: Go) -> None:
        cancelled: list[str] = []

        async def long(_value: object) -> str:
            try:
                await anyio.sleep_forever()
            except anyio.get_cancelled_exc_class():
                cancelled.append("long")
                raise
            return "never"

        run = Run()
        with pytest.raises(UsageError, match=r"branch `bad` returned a builtins\.object"):
            go(parallel, 1, {"long": long, "bad": scripted(object())}, run=run)

        assert cancelled == ["long"]
        assert [step.status for step in run.rollout.steps] == ["cancelled", "failed"]

    @pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
    def test_an_interrupt_passes_through_by_itself(
        self, go: Go, error: type[BaseException]
    ) -> None:
        async def work() -> str:
            try:
                await parallel(1, {"a": anyio.sleep, "b": scripted(error())})
            except error as found:
                return type(found).__name__
            return "none"

        assert go(work) == error.__name__


class TestQuorum:
    def test_so_many_successes_suffice(self, go: Go) -> None:
        async def forever(_value: object) -> None:
            await anyio.sleep_forever()

        parts = {"a": scripted("A"), "b": forever, "c": scripted("C"), "d": scripted()}
        result = go(parallel, 1, parts, quorum=2, concurrency=3)

        assert (result.status, result.stopped_by, result.error) == ("completed", "quorum", None)
        assert dict(statuses(result)) == {
            "a": "completed",
            "b": "cancelled",
            "c": "completed",
            "d": "cancelled",
        }
        assert result.data == {"a": "A", "b": None, "c": "C", "d": None}

    def test_once_it_is_out_of_reach_no_other_starts(self, go: Go) -> None:
        parts = [scripted(ValueError("x")), scripted("b"), scripted(ValueError("y")), scripted()]
        result = go(parallel, 1, parts, quorum=3, concurrency=1)

        assert (result.status, result.stopped_by) == ("incomplete", "failed")
        assert [one.status for one in result.outcomes] == [
            "failed",
            "completed",
            "failed",
            "cancelled",
        ]

    def test_failures_beside_a_quorum_do_not_count(self, go: Go) -> None:
        parts = [scripted(ValueError("x")), scripted("b"), scripted("c")]
        join: Any = scripted("joined")
        result = go(parallel, 1, parts, quorum=2, join=join, concurrency=1)

        assert (result.status, result.stopped_by, result.output) == (
            *("completed", "quorum"),
            "joined",
        )
        assert [one.status for one in join.calls[0]] == ["failed", "completed", "completed"]

    def test_over_too_few_items_nothing_starts(self, go: Go) -> None:
        each = scripted()
        made = Parallel(over=lambda values: values, each=each, quorum=3)
        result = go(made.run, [1, 2])

        assert (result.status, result.stopped_by, each.calls) == ("failed", "failed", [])
        assert "2 branches cannot give the 3" in result.error.message


def model(tokens: int) -> Callable_:
    async def ask(_value: object) -> Reply:
        await anyio.lowlevel.checkpoint()
        return Reply("a", usage=Usage(tokens))

    return ask


class TestLimits:
    def test_a_ceiling_is_passed_by_no_more_than_run_at_once(self, go: Go) -> None:
        result = go(parallel, 1, [model(10)] * 20, concurrency=3, max_tokens=40)
        done = [one for one in result.outcomes if one.ok]

        assert (result.stopped_by, result.status) == ("tokens", "incomplete")
        assert 40 <= result.usage.total < 40 + 3 * 10
        assert len(done) == len(result.rollout.steps) == result.usage.total // 10
        cut = [one for one in result.outcomes if not one.ok]
        assert {(one.status, one.error and one.error.message) for one in cut} == {
            ("cancelled", "tokens")
        }

    def test_with_reserves_it_is_hard(self, go: Go) -> None:
        result = go(parallel, 1, [Work(model(10), reserve=15)] * 20, concurrency=8, max_tokens=50)

        assert result.usage.total <= 50
        assert result.stopped_by == "tokens"
        # Each was started as soon as what the others held was given back: 4 of 10 fit, 15 no more.
        assert sum(one.ok for one in result.outcomes) == 4

    def test_one_that_does_not_fit_beside_others_waits_for_them(self, go: Go) -> None:
        parts = [Work(model(1), reserve=40)] * 10
        result = go(parallel, 1, parts, max_tokens=50)

        assert (result.status, result.stopped_by, result.usage) == ("completed", "done", Usage(10))

    def test_a_reserve_may_be_a_function_of_the_item(self, go: Go) -> None:
        each = Work(model(1), reserve=lambda item: item)
        result = go(parallel, None, over=[30, 30, 99, 5], each=each, max_tokens=50, concurrency=1)

        assert [one.ok for one in result.outcomes] == [True, True, False, False]
        with pytest.raises(UsageError, match="the reserve of step `0` raised"):
            go(parallel, None, over=["x"], each=Work(model(1), reserve=int), max_tokens=50)

    def test_ceilings_around_it_hold(self, go: Go) -> None:
        inner = Parallel([model(10)] * 5, concurrency=1)
        result = go(Chain([("fan", inner), ("next", scripted())], max_tokens=30).run, 1)

        assert result.stopped_by == "tokens"
        assert result.rollout.step("fan").child.stopped_by == "tokens"
        assert result.usage == Usage(30)

    def test_steps_are_counted_over_all_branches(self, go: Go) -> None:
        run = Run(limits=Limits(max_steps=4))
        result = go(parallel, 1, [model(1)] * 9, run=run)

        assert (result.stopped_by, len(result.rollout.steps)) == ("steps", 4)

    def test_the_join_is_held_by_them_too(self, go: Go) -> None:
        join = scripted()
        result = go(parallel, 1, [model(10)], join=join, max_tokens=10)

        assert (result.stopped_by, result.status, join.calls) == ("tokens", "incomplete", [])
        assert result.outputs == ("a",)

    def test_a_ceiling_of_nothing_fails(self, go: Go) -> None:
        result = go(parallel, 1, [scripted(), scripted()], max_tokens=0)

        assert (result.status, result.stopped_by, result.data) == ("failed", "tokens", None)

    def test_a_deadline_ends_those_that_run(self, go: Go, clock: ManualClock) -> None:
        async def late(_value: object) -> str:
            clock.advance(60)
            await anyio.sleep_forever()
            return "never"

        run = Run(clock=clock, limits=Limits(timeout=10))
        result = go(parallel, 1, {"a": scripted("A"), "late": late, "b": scripted()},
                    concurrency=1, run=run)  # fmt: skip

        assert (result.stopped_by, result.status) == ("deadline", "incomplete")
        assert statuses(result) == [("a", "completed"), ("late", "failed"), ("b", "cancelled")]

    def test_a_branch_has_a_timeout_of_its_own(self, go: Go, clock: ManualClock) -> None:
        slow = Work(scripted("late", seconds=30, clock=clock), timeout=10)
        result = go(parallel, 1, {"slow": slow, "b": scripted("B")}, run=Run(clock=clock),
                    concurrency=1)  # fmt: skip

        assert statuses(result) == [("slow", "failed"), ("b", "completed")]


class TestCancellation:
    def test_the_run_cancels_all(self, go: Go) -> None:
        async def work() -> tuple[ParallelResult, int]:
            run = Run()
            started: list[int] = []

            async def forever(item: int) -> None:
                started.append(item)
                if len(started) == 4:
                    run.cancel("enough")
                await anyio.sleep_forever()

            result = await parallel(None, over=range(100), each=forever, concurrency=4, run=run)
            return result, len(started)

        result, started = go(work)

        assert (result.status, result.stopped_by, started) == ("cancelled", "cancelled", 4)
        assert {one.status for one in result.outcomes} == {"cancelled"}
        assert [step.status for step in result.rollout.steps] == ["cancelled"] * 4

    def test_a_scope_around_it_cancels_all_and_is_told(self, go: Go) -> None:
        async def work() -> tuple[bool, Run]:
            run = Run()
            with anyio.CancelScope() as scope:

                async def ends(_value: object) -> None:
                    scope.cancel()

                async def forever(_value: object) -> None:
                    await anyio.sleep_forever()

                await parallel(1, [forever, forever, ends], run=run)
            return scope.cancelled_caught, run

        caught, run = go(work)

        assert caught
        assert [step.status for step in run.rollout.steps][:2] == ["cancelled", "cancelled"]
        assert run.rollout.status == "cancelled"


class TestNesting:
    def test_paths_tell_where_not_when(self, go: Go) -> None:
        async def work() -> ParallelResult:
            turns = Turns("dcba")
            one = Parallel({name: turns.branch(name, name) for name in "ab"}, name="one")
            two = Parallel({name: turns.branch(name, name) for name in "cd"}, name="two")
            return await parallel(1, {"x": one, "y": two})

        result = go(work)

        assert sorted(step.path for step in result.rollout.all_steps()) == [
            *("x", "x/one/a", "x/one/b", "y", "y/two/c", "y/two/d")
        ]
        assert result.data == {"x": {"a": "a", "b": "b"}, "y": {"c": "c", "d": "d"}}

    def test_the_record_is_the_same_whatever_ends_first(self, go: Go) -> None:
        async def work() -> list[str]:
            digests: list[str] = []
            for order in ("abcd", "dcba", "badc"):
                turns = Turns(order)
                parts = {name: turns.branch(name, name) for name in "abcd"}
                digests.append((await parallel(1, parts)).rollout.digest())
            return digests

        assert len(set(go(work))) == 1

    def test_a_result_reads_back_equal(self, go: Go) -> None:
        result = go(parallel, 1, {"a": scripted({"k": 1}), "b": scripted(ValueError("x"))})

        assert ParallelResult.from_json(result.to_json()) == result
        assert isinstance(result, Result)


class TestEvents:
    def test_every_step_is_told_once_and_a_broken_listener_changes_nothing(self, go: Go) -> None:
        told: list[tuple[str, str]] = []

        def listen(event: Event) -> None:
            told.append((event.event, event.path))
            raise ValueError("listener")

        run = Run(on_event=listen)
        result = go(parallel, None, over=range(20), each=model(1), concurrency=4, run=run)
        paths = [step.path for step in result.rollout.steps]

        assert result.status == "completed"
        assert [path for event, path in told if event == "step_started"] == paths
        assert sorted(path for event, path in told if event == "step_ended") == sorted(paths)
        # The end of the run is told when the record is closed.
        assert len(result.rollout.faults) == len(told) - 1


BAD: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["branches"]),
    ({"branches": {}}, ["branches"]),
    ({"branches": []}, ["branches"]),
    ({"branches": "ab"}, ["branches"]),
    ({"branches": 3}, ["branches"]),
    ({"branches": [str, 3]}, ["branches[1]"]),
    ({"branches": {"a": 3, "b/c": str}}, ["branches.b/c", "branches.a"]),
    ({"branches": {"": str, "a\t": str, 4: str}}, ["branches.", "branches.a\t", "branches.4"]),
    ({"branches": [Work(str, cost_ms=0)]}, ["branches[0].cost_ms"]),
    ({"branches": {"join": str}, "join": str}, ["branches.join"]),
    ({"branches": [str], "over": [1]}, ["over"]),
    ({"branches": [str], "each": str}, ["each"]),
    ({"over": [1]}, ["each"]),
    ({"each": str}, ["over"]),
    ({"over": 3, "each": 4}, ["each", "over"]),
    ({"over": "text", "each": str}, ["over"]),
    ({"branches": [str], "join": 3}, ["join"]),
    ({"branches": [str], "fail": "last"}, ["fail"]),
    ({"branches": [str], "quorum": 0}, ["quorum"]),
    ({"branches": [str], "quorum": 2}, ["quorum"]),
    ({"over": [1], "each": str, "quorum": 2}, ["quorum"]),
    ({"branches": [str], "quorum": 1, "fail": "first"}, ["quorum"]),
    ({"branches": [str], "concurrency": 0}, ["concurrency"]),
    ({"branches": [str], "concurrency": True}, ["concurrency"]),
    ({"branches": [str], "max_tokens": -1}, ["max_tokens"]),
    ({"branches": [str], "name": "a/b"}, ["name"]),
    ({"branches": [3], "fail": 1, "quorum": -1, "name": ""},
     ["name", "branches[0]", "fail", "quorum"]),
]  # fmt: skip


@pytest.mark.parametrize(("options", "fields"), BAD)
def test_refused_with_every_field(options: dict[str, Any], fields: list[str]) -> None:
    with pytest.raises(ConfigError) as refused:
        Parallel(**options)

    assert [problem.field for problem in refused.value.problems] == fields


def test_its_flow_and_what_is_probably_not_meant_so() -> None:
    made = Parallel({"a": str, "b": repr}, join=str)

    assert made.flow().ids == ("a", "b", "join")
    assert made.flow().nodes[-1].needs == ("a", "b")
    assert Parallel(over=range(9), each=str).flow().ids == ("each",)
    assert [one.field for one in Parallel([str]).lint()] == ["branches"]
    assert made.lint() == Parallel(over=[1], each=str).lint() == ()


def test_digests_tell_setups_apart() -> None:
    made = [
        Parallel({"a": str}),
        Parallel({"b": str}),
        Parallel({"a": repr}),
        Parallel([str]),
        Parallel({"0": str}),
        Parallel({"a": str}, join=str),
        Parallel({"a": str}, fail="first"),
        Parallel({"a": str}, quorum=1),
        Parallel({"a": str}, concurrency=1),
        Parallel(over=[1, 2], each=str),
        Parallel(over=[1, 3], each=str),
        Parallel(over=list, each=str),
    ]

    assert len({one.digest for one in made}) == len(made)
    again = pickle.loads(pickle.dumps(made[-1]))  # noqa: S301
    assert (again.digest, again.sync([1]).data) == (made[-1].digest, ["1"])
