"""Replay: a run once more from its record, with nothing asked again, and every difference told."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import (
    Cascade,
    Chain,
    Checks,
    ConfigError,
    ErrorClassify,
    Graph,
    Limits,
    Loop,
    Parallel,
    ReplayDivergence,
    Reply,
    Result,
    Retry,
    Rollout,
    Run,
    Stage,
    Usage,
    UsageError,
    Verdict,
    tool,
    toolbus,
)
from interlock.harness import Ctx, Inputs
from interlock.record import ToolCall, replay
from interlock.record.rollout import SCHEMA
from interlock.testing import ManualClock, run_checked, scripted

from .conftest import Go
from .every import EVERY

BACKENDS = ["asyncio", "trio"]
SOME = settings(max_examples=60, deadline=None, derandomize=True)


@dataclass(frozen=True)
class Leaf:
    """A callable: what it returns or raises, at each attempt."""

    says: str
    tokens: int
    fails: int = 0


@dataclass(frozen=True)
class Tree:
    """A workflow of parts, how the callable around it hands it on, and what judges it."""

    kind: str
    how: str
    judge: str
    parts: tuple[Any, ...]


@dataclass
class Point:
    x: int


class Asked(Exception):
    """What is asked in a replay, where nothing may be."""


SAYS = ("text", "reply", "data", "list", "none", "point", "failed", "same", "steps", "unmetered")
HOW = ("object", "run", "result", "text", "reply", "twice")
JUDGES = ("yes", "no", "raise", "open", "checks", "clock", "model", "pair")

leaves = st.builds(Leaf, st.sampled_from(SAYS), st.integers(0, 40), st.integers(0, 3))
trees = st.recursive(
    leaves,
    lambda parts: st.builds(
        Tree,
        st.sampled_from(["chain", "cascade"]),
        st.sampled_from(HOW),
        st.sampled_from(JUDGES),
        st.lists(parts, min_size=1, max_size=3).map(tuple),
    ),
    max_leaves=8,
)
workflows = trees.filter(lambda tree: isinstance(tree, Tree))


class World:
    """Makes workflows of a tree; once it is closed, nothing in it may be called."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock, self.is_closed = clock, False

    def enter(self) -> None:
        if self.is_closed:
            raise Asked
        self.clock.advance(0.25)

    def leaf(self, leaf: Leaf) -> Any:
        failed = 0

        async def work(value: object, ctx: Ctx) -> Any:
            nonlocal failed
            self.enter()
            await ctx.emit("piece")
            ctx.now()
            if leaf.says == "steps":
                await ctx.step("look", lambda x: f"saw {ctx.attempt}", value)
                await ctx.step("ask", scripted(Reply("in", usage=Usage(leaf.tokens))), "q")
            if failed < leaf.fails:
                failed += 1
                raise ConnectionResetError(104, f"reset {failed}")
            return self.answer(leaf, value)

        return work

    def answer(self, leaf: Leaf, value: object) -> Any:
        usage = Usage(leaf.tokens, requests=1)
        answers: dict[str, Any] = {
            "text": "text",
            "steps": "text",
            "reply": Reply("reply", usage=usage, model="m"),
            "data": {"ok": leaf.tokens > 20, "n": [leaf.tokens]},
            "list": {"items": [1, None, "x"]},
            "none": None,
            "point": Point(leaf.tokens),
            "failed": Reply("part", usage=usage, status="failed"),
            "same": value if isinstance(value, (str, dict, Reply)) else "text",
            "unmetered": Reply("u", usage=Usage(requests=1), meta={"usage_missing": True}),
        }
        return answers[leaf.says]

    def judge(self, name: str) -> Any:
        async def model(reply: Reply) -> Verdict:
            self.enter()
            await anyio.lowlevel.checkpoint()
            return Verdict(len(reply.output) % 2 == 0, "odd", usage=Usage(3, requests=1))

        def clock(_reply: Reply, ctx: Ctx) -> bool:
            return (ctx.now() + ctx.now()) % 500 == 0

        def fail(_reply: Reply) -> bool:
            raise ValueError("judge")

        return {
            "yes": lambda _reply: True,
            "no": lambda _reply: Verdict(ok=False, reason="no", score=0.5),
            "raise": fail,
            "open": lambda _reply: Verdict(ok=False, reason="?", undetermined=True),
            "checks": Checks([{"path": "ok", "op": "equals", "expected": True}]),
            "clock": clock,
            "model": model,
            "pair": lambda reply: (reply.output != "text", "is text"),
        }[name]

    def workflow(self, tree: Tree) -> Any:
        parts = [(str(at), self.callable(part)) for at, part in enumerate(tree.parts)]
        judge = self.judge(tree.judge)
        if tree.kind == "cascade":
            return Cascade(parts, accept=judge, on_error=ErrorClassify(), max_tokens=200)
        return Chain([Stage(name, part, judge) for name, part in parts])

    def callable(self, tree: Any) -> Any:
        if isinstance(tree, Leaf):
            return self.leaf(tree)
        made = self.workflow(tree)

        async def result(value: object) -> Result:
            self.enter()
            answer: Result = await made.run(value)
            return answer

        async def text(value: object) -> str:
            return str((await result(value)).output)

        async def reply(value: object) -> Reply:
            return Reply(str((await result(value)).output), usage=Usage())

        async def twice(value: object) -> Any:
            await result(value)
            return await result(value)

        ways = {"object": made, "run": made.run, "result": result, "text": text}
        return {**ways, "reply": reply, "twice": twice}[tree.how]


def recorded(tree: Tree, backend: str, run: Run, clock: ManualClock) -> Result:
    async def work() -> Result:
        result: Result = await World(clock).workflow(tree).run({"q": [1, "x"]}, run=run)
        return result

    result: Result = run_checked(work, backend=backend)
    return result


def again(rollout: Rollout, tree: Tree, backend: str) -> Result:
    world = World(ManualClock())
    world.is_closed = True
    result: Result = run_checked(lambda: replay(rollout, world.workflow(tree)), backend=backend)
    return result


@pytest.mark.parametrize("backend", BACKENDS)
@SOME
@given(tree=workflows, ceiling=st.none() | st.integers(0, 90), tries=st.integers(1, 3))
def test_a_replay_is_equal_to_the_run(
    backend: str, tree: Tree, ceiling: int | None, tries: int
) -> None:
    clock = ManualClock()
    limits = Limits(max_tokens=ceiling, timeout=4, allow_unmetered=ceiling == 1)
    run = Run("r", limits=limits, clock=clock, retry=Retry(tries), tags={"a": 1})
    first = recorded(tree, backend, run, clock)
    back = Rollout.from_json(first.rollout.to_json())

    assert again(back, tree, backend).rollout == back
    assert again(first.rollout, tree, backend).rollout == first.rollout
    assert again(back, tree, backend).stopped_by == first.stopped_by


def used(output: str, tokens: int = 5, **more: Any) -> Reply:
    return Reply(output, usage=Usage(tokens, requests=1), **more)


def judged(name: str = "chain", *, least: int = 3) -> Chain:
    gate = Checks([{"path": "output", "op": "minLength", "expected": least}])
    return Chain([Stage("a", scripted(used("text")), gate), ("b", scripted("end"))], name=name)


def differs(go: Go, rollout: Rollout, workflow: Any, **options: Any) -> ReplayDivergence:
    with pytest.raises(ReplayDivergence) as found:
        go(replay, rollout, workflow, **options)
    return found.value


class TestDifferences:
    def test_the_first_one_is_told(self, go: Go) -> None:
        rollout = go(judged().run, 1).rollout
        found = differs(go, rollout, judged(least=9))

        assert found.path == "gate_a"
        assert isinstance(found.expected, dict)
        assert isinstance(found.got, dict)
        assert (found.expected["status"], found.got["status"]) == ("completed", "failed")
        assert "at `gate_a`" in str(found)
        again = pickle.loads(pickle.dumps(found))  # noqa: S301
        assert (again.path, again.expected, again.got, str(again)) == (
            found.path,
            found.expected,
            found.got,
            str(found),
        )

    def test_a_step_that_the_record_lacks(self, go: Go) -> None:
        rollout = go(judged().run, 1).rollout
        later = scripted()
        longer = Chain([*judged().steps, Stage("c", later)])

        assert (differs(go, rollout, longer).path, later.calls) == ("c", [])

    def test_a_step_that_is_not_taken_any_more(self, go: Go) -> None:
        rollout = go(judged().run, 1).rollout
        shorter = Chain(judged().steps[:1])
        found = differs(go, rollout, shorter)

        assert (found.path, found.got) == ("b", None)

    def test_another_configuration_that_changes_nothing_else(self, go: Go) -> None:
        rollout = go(judged().run, 1).rollout
        found = differs(go, rollout, judged(least=2))

        assert (found.path, list(found.expected)) == ("gate_a", ["decision"])  # type: ignore[call-overload]

    def test_other_values(self, go: Go) -> None:
        rollout = go(judged().run, {"x": 1}).rollout

        assert differs(go, rollout, judged(), values={"x": 2}).path == "a"
        assert go(replay, rollout, judged(), values={"x": 1}).rollout == rollout

    def test_without_strict_the_answers_are_taken_by_path(self, go: Go) -> None:
        rollout = go(judged().run, {"x": 1}).rollout
        result = go(replay, rollout, judged(least=9), strict=False, values={"x": 2})

        assert (result.stopped_by, result.stopped_at, result.output) == ("gate", "a", "text")
        longer = Chain([*judged().steps, Stage("c", scripted())])
        assert differs(go, rollout, longer, strict=False).path == "c"

    def test_inside_a_nested_workflow(self, go: Go) -> None:
        def outer(least: int) -> Chain:
            return Chain([("in", judged("inner", least=least)), ("out", scripted("x"))])

        rollout = go(outer(3).run, 1).rollout

        assert go(replay, rollout, outer(3)).rollout == rollout
        assert differs(go, rollout, outer(9)).path == "in/inner/gate_a"

    @pytest.mark.parametrize(
        "tamper",
        [
            lambda r: replace(r, input={"q": 2}),
            lambda r: replace(r, stopped_by="deadline"),
            lambda r: replace(r, status="failed"),
            lambda r: replace(r, steps=r.steps[:-1]),
            lambda r: replace(r, steps=(*r.steps, replace(r.steps[0], path="z"))),
            lambda r: replace(r, steps=(replace(r.steps[0], output="other"), *r.steps[1:])),
            lambda r: replace(r, steps=(replace(r.steps[0], attempt=2), *r.steps[1:])),
            lambda r: replace(r, steps=(replace(r.steps[0], kind="tool"), *r.steps[1:])),
            lambda r: replace(r, steps=(replace(r.steps[0], input_digest="0"), *r.steps[1:])),
            lambda r: replace(r, usage=Usage(99)),
            lambda r: replace(r, config_digest=""),
        ],
    )
    def test_a_record_that_was_tampered_with(self, go: Go, tamper: Any) -> None:
        rollout = go(judged().run, {"q": 1}).rollout

        with pytest.raises((ReplayDivergence, UsageError)):
            go(replay, tamper(rollout), judged())

    @pytest.mark.parametrize(
        "meta",
        [
            {"reply": 5},
            {"reply": {"form": "result", "type": 7, "result": []}},
            {"reply": {"form": "record", "type": "Usage", "record": {"input": "x"}}},
            {"reply": {"form": [], "data": {"x": [1]}, "calls": "many"}},
            {"reply": {"form": []}},
            {"reply": {"form": {}, "type": []}},
            {"inside": {"a": 1}, "now": "x"},
            {"inside": ["a", "a", 5, None]},
            {"now": [None, "x"]},
        ],
    )
    def test_hostile_meta_breaks_nothing(self, go: Go, meta: dict[str, Any]) -> None:
        rollout = go(judged().run, 1).rollout
        hostile = replace(rollout, steps=(replace(rollout.steps[0], meta=meta), *rollout.steps[1:]))
        with contextlib.suppress(ReplayDivergence, UsageError, ConfigError):
            go(replay, hostile, judged())

    @pytest.mark.parametrize("order", [(0, 0), (99, 99), (-5, 7), (1,), (1, 2, 3)])
    def test_a_hostile_order_ends(self, go: Go, order: tuple[int, ...]) -> None:
        rollout = go(judged().run, 1).rollout
        steps = tuple(replace(step, order=order) for step in rollout.steps)

        assert go(replay, replace(rollout, steps=steps), judged()).status == "completed"


class TestEnds:
    def test_cancelled(self, go: Go) -> None:
        async def forever(_value: object) -> str:
            await anyio.sleep_forever()
            return "never"

        made = Chain([("a", scripted(used("a"))), ("b", forever)])

        async def work() -> Rollout:
            run = Run()
            run.listen(lambda event: run.cancel() if event.path == "b" else None)
            return (await made.run(1, run=run)).rollout

        rollout = go(work)
        result = go(replay, rollout, made)

        assert (result.status, result.rollout == rollout) == ("cancelled", True)

    def test_out_of_time(self, go: Go, clock: ManualClock) -> None:
        made = Chain(
            [
                ("a", scripted(used("a"), seconds=2, clock=clock)),
                ("b", scripted(seconds=9, clock=clock)),
                ("c", scripted()),
            ]
        )
        rollout = go(made.run, 1, run=Run(clock=clock, limits=Limits(timeout=5))).rollout

        assert rollout.stopped_by == "deadline"
        assert go(replay, rollout, made).rollout == rollout

    def test_misuse(self, go: Go) -> None:
        made = Chain([("a", scripted(object()))])
        run = Run()
        with pytest.raises(UsageError, match="stage `a` returned") as first:
            go(made.run, 1, run=run)
        with pytest.raises(UsageError) as again:
            go(replay, run.rollout, made)

        assert str(again.value) == str(first.value)

    def test_a_later_workflow_of_a_run(self, go: Go) -> None:
        made = judged()

        async def work() -> Any:
            run = Run()
            await judged().run(1, run=run)
            return (await made.run(2, run=run)).rollout

        rollout = go(work)

        assert rollout.steps[0].path == "chain/a"
        assert go(replay, rollout, made).rollout == rollout

    def test_judgement_that_looks_at_limits_is_given_the_run(self, go: Go) -> None:
        def thrifty(_reply: Reply, ctx: Ctx) -> bool:
            return ctx.remaining.tokens < 100

        made = Chain([Stage("a", scripted(used("a")), thrifty)])
        run = Run(limits=Limits(max_tokens=90))
        rollout = go(made.run, 1, run=run).rollout

        assert differs(go, rollout, made).path == "gate_a"
        assert go(replay, rollout, made, run=Run(limits=Limits(max_tokens=90))).rollout == rollout

    def test_capacities_are_of_no_matter(self, go: Go) -> None:
        made = Chain([Stage("a", scripted(used("a")), limiter="model")])
        rollout = go(made.run, 1, run=Run(limiters={"model": 1})).rollout

        assert go(replay, rollout, made).rollout == rollout


class TestRefused:
    def test_a_record_of_digests(self, go: Go) -> None:
        rollout = go(judged().run, {"q": 1}, run=Run(content="digest")).rollout

        assert rollout.input is None
        with pytest.raises(UsageError, match="content='full'"):
            go(replay, rollout, judged())
        with pytest.raises(UsageError, match="content='full'"):
            go(replay, rollout, judged(), values={"q": 1})

    def test_a_redacted_record(self, go: Go) -> None:
        rollout = go(judged().run, {"q": 1}).rollout.redacted(lambda step: step)

        assert rollout.input is None
        with pytest.raises(UsageError, match="redacted"):
            go(replay, rollout, judged())

    def test_values_that_json_cannot_hold(self, go: Go) -> None:
        value = object()
        rollout = go(judged().run, value).rollout

        with pytest.raises(UsageError, match="give it as values="):
            go(replay, rollout, judged())
        assert go(replay, rollout, judged(), values=value).rollout == rollout

    def test_a_run_that_still_goes_on(self, go: Go) -> None:
        rollout = replace(go(judged().run, 1).rollout, status="running")

        with pytest.raises(UsageError, match="still goes on"):
            go(replay, rollout, judged())

    @pytest.mark.parametrize(
        ("rollout", "workflow", "fields"),
        [(None, None, ["rollout", "workflow"]), ({}, judged(), ["rollout"])],
    )
    def test_what_is_none(self, go: Go, rollout: Any, workflow: Any, fields: list[str]) -> None:
        with pytest.raises(ConfigError) as refused:
            go(replay, rollout, workflow)

        assert [problem.field for problem in refused.value.problems] == fields

    def test_a_run_that_is_none(self, go: Go) -> None:
        rollout = go(judged().run, 1).rollout

        with pytest.raises(ConfigError, match="run"):
            go(replay, rollout, judged(), run=5)


async def slow(_value: object) -> str:
    await anyio.sleep_forever()
    return ""


def nested(of: Any, depth: int) -> Any:
    """Put a callable in a workflow in a workflow."""
    for at in range(depth):
        graph = Graph(f"g{at}")
        graph.node("n", of)
        of = graph if at % 2 else Chain([("s", of)], name=f"c{at}")
    return of


async def twice(_value: object) -> str:
    """Run workflows inside, as a function of one's own."""
    inner = Chain([("in", scripted(used("x"), used("y"))), ("end", scripted("e", "f"))])
    await inner.run(1)
    await inner.run(2)
    return "both"


def full(steps: int) -> dict[str, Any]:
    """Give branches that the ceiling of steps comes between, in every kind of workflow."""
    turn = scripted("t", "t")
    return {
        "twice": twice,
        "loop": Loop(turn, max_turns=3),
        "chain": Chain([(f"s{at}", scripted(used("text"))) for at in range(steps)]),
        "nested": nested(Parallel({"a": scripted("a"), "b": scripted("b")}), 2),
    }


class TestCutShort:
    """What was cut short while others went on comes out as it did, whatever is asked first."""

    @pytest.mark.parametrize("depth", range(4))
    @pytest.mark.parametrize("options", [{"quorum": 1}, {"fail": "first"}])
    def test_siblings_that_were_cancelled(self, go: Go, depth: int, options: Any) -> None:
        ends = scripted("end") if "quorum" in options else scripted(ValueError("bad"))
        branches = {"a": nested(slow, depth), "b": ends, "c": nested(slow, depth)}
        made = Parallel(branches, **options)
        ran = go(made.run, 1)
        again = go(replay, ran.rollout, made)

        assert again.rollout == ran.rollout
        assert again.outcomes == ran.outcomes

    @pytest.mark.parametrize("most", range(1, 24))
    @pytest.mark.parametrize("concurrency", [1, 2, 8])
    def test_a_ceiling_of_steps(self, go: Go, most: int, concurrency: int) -> None:
        made = Parallel(full(6), concurrency=concurrency)
        limits = Limits(max_steps=most)
        ran = go(made.run, 1, run=Run(limits=limits))
        again = go(replay, ran.rollout, made, run=Run(limits=limits))

        assert again.rollout == ran.rollout
        assert (again.stopped_by, again.usage) == (ran.stopped_by, ran.usage)

    @pytest.mark.parametrize("most", range(1, 60, 3))
    def test_a_ceiling_of_tokens(self, go: Go, most: int) -> None:
        made = Parallel(full(6))
        ran = go(made.run, 1, run=Run(limits=Limits(max_tokens=most)))
        again = go(replay, ran.rollout, made, run=Run(limits=Limits(max_tokens=most)))

        assert again.rollout == ran.rollout

    @pytest.mark.parametrize("most", range(1, 40, 3))
    @pytest.mark.parametrize("parallel", [False, True])
    def test_a_ceiling_between_turn_and_tool(self, go: Go, most: int, *, parallel: bool) -> None:
        @tool(effect="readonly")
        async def look(q: str) -> str:
            """Look something up."""
            return q

        calls = tuple(ToolCall(str(at), "look", {"q": str(at)}) for at in range(3))
        turn = scripted(used("t", calls=calls), repeat=True)
        made = Loop(turn, tools=toolbus([look]), max_turns=3, parallel_tools=parallel)
        for limits in (Limits(max_tokens=most), Limits(max_steps=most)):
            ran = go(made.run, 1, run=Run(limits=limits))
            again = go(replay, ran.rollout, made, run=Run(limits=limits))

            assert again.rollout == ran.rollout
            assert (again.stopped_by, again.turns) == (ran.stopped_by, ran.turns)


@pytest.mark.parametrize("depth", range(1, 4))
def test_what_ran_is_the_same_whenever_it_ran(go: Go, depth: int) -> None:
    """A result that is handed on holds times and the id of the run; its digest does not."""

    def made() -> Any:
        return Chain([("a", nested(scripted(used("text")), depth)), ("b", scripted("end"))])

    early = go(made().run, 1, run=Run("r-1", clock=ManualClock())).rollout
    late = go(made().run, 1, run=Run("r-2", clock=ManualClock(1_800_000_000_000))).rollout

    assert early.same_as(late)
    assert early.digest() == late.digest()


@dataclass
class Holder:
    held: object


HELD: dict[str, Callable[[Result], object]] = {
    "alone": lambda result: result,
    "listed": lambda result: [1, result],
    "named": lambda result: {"of": {"it": result}},
    "needed": lambda result: Inputs(1, {"fetch": result}),
    "as data": lambda result: [result.to_dict()],
    "its record": lambda result: {"record": result.rollout},
    "in a dataclass": Holder,
    "in a reply": lambda result: [Reply(data={"it": result}, raw=object())],
}
"""How a result comes into the input of a step."""


def ran_at(go: Go, run_id: str, instant: int) -> Result:
    inner = Chain([("in", scripted(used("text")))])
    result: Result = go(inner.run, 1, run=Run(run_id, clock=ManualClock(instant)))
    return result


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("held", HELD)
def test_input_that_holds_a_result_is_the_same_whenever_that_ran(
    go: Go, kind: str, held: str
) -> None:
    early, late = (
        go(EVERY[kind]().run, HELD[held](ran_at(go, name, at)), run=Run(name)).rollout
        for name, at in (("r-1", 1_000), ("r-2", 1_800_000_000_000))
    )

    assert early.input_digest is not None
    assert early.same_as(late)
    assert go(replay, Rollout.from_json(early.to_json()), EVERY[kind]()).rollout == early


@pytest.mark.parametrize("depth", range(3))
def test_a_node_that_needs_a_workflow_is_replayed(go: Go, depth: int) -> None:
    """What a workflow inside a node is given holds the result of the one before."""

    def made() -> Graph:
        graph = Graph()
        graph.node("fetch", nested(scripted(used("text")), depth))
        graph.node("sum", nested(scripted(used("short")), 1), needs=["fetch"])
        graph.node("args", kept, needs=["fetch"])
        return graph

    async def kept(inputs: Inputs, ctx: Ctx) -> Any:
        return await ctx.step("look", lambda one: type(one).__name__, inputs["fetch"])

    early = go(made().run, 1, run=Run("r-1", clock=ManualClock())).rollout
    late = go(made().run, 1, run=Run("r-2", clock=ManualClock(1_800_000_000_000))).rollout

    assert early.same_as(late)
    assert go(replay, early, made()).rollout == early


@pytest.mark.parametrize("value", [[0, 0, 0], {"a": 0, "b": 0}])
def test_input_that_holds_itself_has_no_digest(go: Go, value: Any) -> None:
    for place in value if isinstance(value, dict) else range(len(value)):
        value[place] = value
    rollout = go(judged().run, value).rollout

    assert (rollout.input_digest, rollout.input) == (None, None)
    assert rollout.step("a").input_digest is None


@pytest.mark.parametrize(
    "data",
    [
        {"schema": SCHEMA},
        {"schema": SCHEMA, "steps": "x"},
        {"schema": SCHEMA, "steps": [1, None]},
        {"schema": SCHEMA, "steps": [{"path": 1}, {"path": "a", "attempt": []}]},
        {"schema": [SCHEMA], "steps": {"path": SCHEMA}},
    ],
)
def test_input_that_only_looks_like_a_record_is_taken_as_it_is(go: Go, data: Any) -> None:
    rollout = go(judged().run, data).rollout

    assert rollout.input_digest is not None
    assert rollout.same_as(rollout)
    assert go(replay, rollout, judged()).rollout == rollout
    assert go(judged().run, [data, 1]).rollout.digest() != rollout.digest()
