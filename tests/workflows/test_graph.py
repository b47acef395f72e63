"""Graph: what runs when, what does not and why, limits, paths, one record."""

from __future__ import annotations

import pickle
from typing import Any, ClassVar

import anyio
import pytest

from interlock import (
    Branch,
    Chain,
    Checks,
    ConfigError,
    Gate,
    Graph,
    GraphResult,
    Limits,
    Reply,
    Retry,
    Run,
    Stage,
    Usage,
    UsageError,
    Verdict,
    chain,
)
from interlock.harness import Ctx, Inputs, Work
from interlock.testing import ManualClock, scripted

from .conftest import Go

VALUES = {"topic": "rails"}
OPEN = {"op": "matches", "expected": "(a+)\\1"}
"""A check that cannot be decided."""

Nodes = dict[str, tuple[Any, ...]]


def graph(nodes: Nodes, **options: Any) -> Graph:
    """Make a graph of callables with needs and, as the third, a condition."""
    made = Graph(**options)
    for name, (run, *rest) in nodes.items():
        made.node(name, run, **dict(zip(("needs", "when"), rest, strict=False)))
    return made


def ran(result: Any) -> list[str]:
    return [step.path for step in result.rollout.steps if step.status == "completed"]


def echo(inputs: Inputs) -> dict[str, object]:
    return dict(inputs.results)


class TestPromises:
    def test_N_06_a_graph_has_a_ceiling_and_a_circle_is_refused(self, go: Go) -> None:
        made = graph({"a": (echo, ["c"]), "b": (echo, ["a"]), "c": (echo, ["b"]), "d": (echo,)})
        with pytest.raises(ConfigError, match='"a", "b", "c" need each other') as refused:
            go(made.run, VALUES)
        assert '"d"' not in str(refused.value)

        line = {f"n{at}": (echo, [f"n{at - 1}"] if at else []) for at in range(6)}
        with pytest.raises(ConfigError, match="6 nodes, over the limit of 5"):
            graph(line, max_steps=5).compile()
        result = go(graph(line).run, VALUES, run=Run(limits=Limits(max_steps=4)))
        assert (result.stopped_by, ran(result)) == ("steps", ["n0", "n1", "n2", "n3"])
        assert result.states["n4"] == "waiting"
        assert result.outcomes["n4"].reason == "was not started: steps"
        assert [step.path for step in result.rollout.steps] == ran(result)

    def test_the_ceiling_of_nodes_is_200(self) -> None:
        with pytest.raises(ConfigError, match="201 nodes, over the limit of 200"):
            graph({f"n{at}": (echo,) for at in range(201)}).compile()
        assert len(graph({f"n{at}": (echo,) for at in range(200)}).compile().flow().nodes) == 200


class TestOrder:
    def test_a_node_gets_the_values_and_what_it_needs(self, go: Go) -> None:
        seen: list[Inputs] = []
        raw = Reply("text", usage=Usage(5))

        def last(inputs: Inputs) -> str:
            seen.append(inputs)
            return "end"

        made = graph(
            {"last": (last, ["a", "b"]), "b": (lambda _i: {"n": 1},), "a": (lambda _i: raw,)}
        )
        result = go(made.run, VALUES)

        (given,) = seen
        assert given.values is VALUES
        assert given["a"] is raw
        assert given["b"] == {"n": 1}
        assert given.data == {"values": VALUES, "results": {"a": "text", "b": {"n": 1}}}
        assert (result.status, result.stopped_by, result.output) == ("completed", "done", "end")
        assert result.usage == Usage(5)

    def test_what_is_not_needed_is_not_given(self, go: Go) -> None:
        made = graph({"a": (echo,), "b": (lambda inputs: inputs["a"],)})
        result = go(made.run, VALUES)

        assert result.states == {"a": "completed", "b": "failed"}
        assert "'a' is not among the needs of this node, which are nothing" in str(result.error)

    def test_what_is_handed_on_as_it_came_counts_once(self, go: Go) -> None:
        made = graph(
            {
                "a": (scripted(Reply("a", usage=Usage(7))),),
                "b": (lambda inputs: inputs["a"], ["a"]),
                "c": (lambda inputs: inputs["b"], ["b"]),
            }
        )

        assert go(made.run, VALUES).usage == Usage(7)

    @pytest.mark.parametrize("most", [1, 2, 3])
    def test_ready_nodes_run_at_once_as_many_as_may(self, go: Go, most: int) -> None:
        running: list[int] = [0, 0]

        async def work(_inputs: object) -> str:
            running[0] += 1
            running[1] = max(running)
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            running[0] -= 1
            return "a"

        made = graph(dict.fromkeys("abcdef", (work,)), concurrency=most)
        assert go(made.run, VALUES).stopped_by == "done"
        assert running == [0, most]

    def test_one_at_a_time_is_in_declared_order(self, go: Go) -> None:
        made = graph(
            {"z": (echo,), "last": (echo, ["b"]), "b": (echo,), "a": (echo,)}, concurrency=1
        )

        assert ran(go(made.run, VALUES)) == ["z", "b", "last", "a"]

    def test_the_run_says_how_many_when_the_graph_does_not(self, go: Go) -> None:
        made = graph({"b": (echo,), "a": (echo,)})
        result = go(made.run, VALUES, run=Run(concurrency=1))

        assert ran(result) == ["b", "a"]

    def test_a_need_may_stand_twice(self, go: Go) -> None:
        assert go(graph({"a": (echo,), "b": (echo, ["a", "a"])}).run).states["b"] == "completed"


class TestFailures:
    NODES: ClassVar[Nodes] = {
        "bad": (scripted(ValueError("no"), repeat=True),),
        "behind": (echo, ["bad"]),
        "further": (echo, ["behind", "free"]),
        "free": (echo,),
        "after": (echo, ["free"]),
    }

    def test_what_does_not_need_it_goes_on(self, go: Go) -> None:
        result = go(graph(self.NODES).run, VALUES)

        assert (result.status, result.stopped_by) == ("incomplete", "halted")
        assert result.states == {
            "bad": "failed",
            "behind": "unreachable",
            "further": "unreachable",
            "free": "completed",
            "after": "completed",
        }
        assert result.outcomes["further"].reason == 'needs "behind", which is unreachable'
        assert (result.error.type, result.outcomes["bad"].reason) == ("ValueError", "no")

    def test_or_stops_all_that_did_not_start(self, go: Go) -> None:
        result = go(graph(self.NODES, fail="stop", concurrency=1).run, VALUES)

        assert (result.status, result.stopped_by) == ("failed", "failed")
        assert result.states["free"] == "waiting"
        assert result.outcomes["free"].reason == "was not started: failed"

    def test_what_runs_at_a_failure_is_let_end(self, go: Go) -> None:
        failed = False

        async def bad(_inputs: object) -> str:
            nonlocal failed
            failed = True
            raise ValueError("no")

        async def slow(_inputs: object) -> str:
            while not failed:
                await anyio.lowlevel.checkpoint()
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            return "done"

        made = graph({"slow": (slow,), "bad": (bad,), "next": (echo, ["slow"])}, fail="stop")
        result = go(made.run, VALUES)

        assert result.states == {"slow": "completed", "bad": "failed", "next": "waiting"}
        assert (result.status, result.stopped_by) == ("incomplete", "failed")

    def test_a_failed_reply_fails_its_node_and_is_kept(self, go: Go) -> None:
        result = go(graph({"a": (lambda _i: Reply("half", status="failed"),)}).run)

        assert (result.status, result.outcomes["a"].output) == ("failed", "half")
        assert (result.output, result.data) == (None, None)

    @pytest.mark.parametrize("fault", [KeyboardInterrupt, SystemExit])
    def test_an_interrupt_passes_as_it_is_and_ends_the_others(
        self, go: Go, fault: type[BaseException]
    ) -> None:
        ended: list[str] = []

        async def hangs(_inputs: object) -> str:
            try:
                await anyio.sleep_forever()
            finally:
                ended.append("hangs")
            return ""

        async def bad(_inputs: object) -> str:
            await anyio.lowlevel.checkpoint()
            raise fault

        with pytest.raises(fault):
            go(graph({"hangs": (hangs,), "bad": (bad,)}).run)
        assert ended == ["hangs"]

    def test_misuse_is_raised_as_it_is(self, go: Go) -> None:
        run = Run()
        made = graph({"a": (lambda _i: object(),), "b": (echo,)})
        with pytest.raises(UsageError, match=r"node `a` returned a builtins\.object"):
            go(made.run, VALUES, run=run)

        assert run.rollout.status == "failed"

    def test_a_node_is_tried_again_as_it_says(self, go: Go, clock: ManualClock) -> None:
        made = Graph()
        made.node("a", Work(scripted(ConnectionResetError("reset"), "done"), retry=Retry()))
        result = go(made.run, VALUES, run=Run(clock=clock))

        assert [(step.path, step.attempt, step.status) for step in result.rollout.steps] == [
            ("a", 1, "failed"),
            ("a", 2, "completed"),
        ]

    def test_a_timeout_is_a_failure(self, go: Go, clock: ManualClock) -> None:
        made = Graph()
        made.node("a", Work(scripted("late", seconds=9, clock=clock), timeout=5))
        result = go(made.run, VALUES, run=Run(clock=clock))

        assert (result.states, result.error.type) == ({"a": "failed"}, "TimeoutError")


class TestConditions:
    @staticmethod
    def conditional(when: object) -> Graph:
        return graph({"a": (lambda _i: {"n": 3},), "b": (echo, ["a"], when), "c": (echo, ["b"])})

    MORE = Checks([{"path": "results.a.n", "op": "greaterThan", "expected": 2}])
    LESS = Checks([{"path": "results.a.n", "op": "lessThan", "expected": 2}])
    ARMS = Branch(
        [{"name": "rails", "when": [{"path": "values.topic", "op": "equals", "expected": "rails"}]}]
    )

    @pytest.mark.parametrize(
        ("when", "state"),
        [
            (MORE, "completed"),
            (LESS, "skipped"),
            (Checks([{"path": "values.topic", **OPEN}]), "undetermined"),
            (Gate(ARMS, pass_=["rails"]), "completed"),
            (lambda inputs: inputs["a"]["n"] == 3, "completed"),
            (lambda inputs: (False, f"{inputs.values['topic']} are out"), "skipped"),
            (lambda _inputs: Verdict(ok=False, undetermined=True), "undetermined"),
            (scripted(RuntimeError("down"), repeat=True), "undetermined"),
        ],
    )  # fmt: skip
    def test_a_condition_decides_once_what_it_needs_is_done(
        self, go: Go, when: object, state: str
    ) -> None:
        result = go(self.conditional(when).run, {"topic": "rails"} if when else None)
        behind = {"completed": "completed", "skipped": "unreachable", "undetermined": "waiting"}
        ends = {"completed": "done", "skipped": "halted", "undetermined": "waiting"}

        assert result.states == {"a": "completed", "b": state, "c": behind[state]}
        assert result.stopped_by == ends[state]
        assert result.status == ("completed" if state == "completed" else "incomplete")

    def test_it_is_a_step_with_the_full_answer(self, go: Go) -> None:
        result = go(self.conditional(self.LESS).run, VALUES)
        asked, skipped, behind = result.rollout.steps[1:]

        assert (asked.path, asked.kind, asked.status) == ("when_b", "decision", "failed")
        assert asked.decision["failures"][0]["reason"] == "results.a.n: 3 is not less than 2"
        assert (skipped.path, skipped.status) == ("b", "skipped")
        assert (
            str(skipped.error) == result.outcomes["b"].reason == "results.a.n: 3 is not less than 2"
        )
        assert (behind.path, behind.status) == ("c", "skipped")
        assert behind.decision["reason"] == 'needs "b", which was skipped'

    def test_one_that_cannot_be_decided_is_told(self, go: Go) -> None:
        result = go(
            self.conditional(
                lambda _i: Verdict(ok=False, reason="too close", undetermined=True)
            ).run
        )

        assert (result.error.type, result.error.message) == ("undetermined", "too close")
        assert result.rollout.step("b").status == "undetermined"
        assert result.outcomes["c"].reason == 'needs "b", which is undetermined'

    def test_a_skipped_node_alone_is_no_halt(self, go: Go) -> None:
        result = go(graph({"a": (echo,), "b": (echo, ["a"], lambda _i: False)}).run)

        assert (result.status, result.stopped_by) == ("completed", "done")

    def test_what_it_uses_counts(self, go: Go) -> None:
        said = Verdict(ok=True, usage=Usage(3))
        result = go(graph({"a": (scripted(Reply("a", usage=Usage(4))), [], lambda _i: said)}).run)

        assert result.outcomes["a"].usage == result.usage == Usage(7)

    @pytest.mark.parametrize(
        ("path", "is_there"),
        [
            ("results.a.n", True),
            ("results.a", True),
            ("results", True),
            ("values.anything.at.all", True),
            ("", True),
            ("results.c.n", False),
            ("results.nobody", False),
            ("n", False),
            ("a.n", False),
        ],
    )
    def test_a_check_that_reads_what_is_never_there_is_refused(
        self, path: str, is_there: bool
    ) -> None:
        made = self.conditional(Checks([{"path": path, "op": "exists"}]))
        try:
            made.compile()
        except ConfigError as error:
            (problem,) = error.problems
            assert problem.field == "nodes[1].when[0].path"
            assert "a condition reads values, results.a" in problem.message
            assert not is_there
        else:
            assert is_there

    def test_a_broken_path_is_the_checks_own_affair(self, go: Go) -> None:
        result = go(self.conditional(Checks([{"path": "a[", "op": "exists"}])).run)

        assert result.states["b"] == "skipped"


class TestLimits:
    def test_the_ceiling_of_tokens_ends_it_and_what_was_done_is_kept(self, go: Go) -> None:
        spend = scripted(*(Reply("a", usage=Usage(60)) for _ in range(2)))
        made = graph({"a": (spend,), "b": (spend, ["a"]), "c": (spend, ["b"])}, max_tokens=100)
        result = go(made.run, VALUES)

        assert (result.status, result.stopped_by, result.usage) == (
            "incomplete",
            "tokens",
            Usage(120),
        )
        assert result.states == {"a": "completed", "b": "completed", "c": "waiting"}
        assert ran(result) == ["a", "b"]

    def test_a_reserve_waits_for_what_others_give_back(self, go: Go) -> None:
        made = Graph(max_tokens=200, concurrency=8)
        for name in "abcdef":
            made.node(
                name, Work(scripted(Reply(name, usage=Usage(10))), reserve=90), when=lambda _i: True
            )
        result = go(made.run, VALUES)

        assert (result.stopped_by, result.usage) == ("done", Usage(60))
        assert sorted(step.path for step in result.rollout.steps) == sorted(
            [*"abcdef", *(f"when_{name}" for name in "abcdef")]
        )

    def test_a_reserve_that_never_fits_ends_it(self, go: Go) -> None:
        made = Graph(max_tokens=100)
        made.node("a", Work(scripted(Reply("a", usage=Usage(20))), reserve=60))
        made.node("b", Work(scripted(), reserve=90), needs=["a"])
        result = go(made.run, VALUES)

        assert (result.stopped_by, result.usage) == ("tokens", Usage(20))
        assert result.states == {"a": "completed", "b": "waiting"}

    def test_a_step_inside_that_may_not_start_ends_its_node(self, go: Go) -> None:
        async def work(_inputs: object, ctx: Ctx) -> object:
            await ctx.step("in", lambda: Reply("x", usage=Usage(100)))
            return await ctx.step("in", lambda: "y")

        result = go(graph({"a": (work,), "b": (echo, ["a"])}, max_tokens=100).run)

        assert (result.stopped_by, result.states) == ("tokens", {"a": "cancelled", "b": "waiting"})

    def test_a_deadline(self, go: Go, clock: ManualClock) -> None:
        slow = scripted("a", seconds=6, clock=clock, repeat=True)
        made = graph({"a": (slow,), "b": (slow, ["a"]), "c": (echo, ["b"])})
        result = go(made.run, VALUES, run=Run(limits=Limits(timeout=10), clock=clock))

        assert (result.stopped_by, result.status) == ("deadline", "incomplete")
        assert result.states == {"a": "completed", "b": "failed", "c": "unreachable"}

    def test_limiters_bound_what_runs_at_once(self, go: Go) -> None:
        running: list[int] = [0, 0]

        async def work(_inputs: object) -> str:
            running[0] += 1
            running[1] = max(running)
            await anyio.lowlevel.checkpoint()
            running[0] -= 1
            return "a"

        made = Graph()
        for name in "abcd":
            made.node(name, Work(work, limiter="model"))
        assert go(made.run, run=Run(limiters={"model": 2})).stopped_by == "done"
        assert running == [0, 2]

    def test_a_limiter_that_there_is_not_is_raised_as_it_is(self, go: Go) -> None:
        made = Graph()
        made.node("a", Work(echo, limiter="none"))
        with pytest.raises(ConfigError, match="no such limiter"):
            go(made.run)


class TestCancellation:
    def test_from_another_task_it_gives_a_result(self, go: Go) -> None:
        async def both() -> GraphResult:
            run, started = Run(), anyio.Event()
            found: list[GraphResult] = []

            async def hangs(_inputs: object) -> str:
                started.set()
                await anyio.sleep_forever()
                return ""

            async def runs() -> None:
                made = graph(
                    {"a": (echo,), "b": (hangs, ["a"]), "c": (hangs, ["a"]), "d": (echo, ["b"])}
                )
                found.append(await made.run(VALUES, run=run))

            async with anyio.create_task_group() as group:
                group.start_soon(runs)
                await started.wait()
                run.cancel("enough")
            return found[0]

        result = go(both)
        assert (result.status, result.stopped_by) == ("cancelled", "cancelled")
        assert (result.states["a"], result.states["b"], result.states["d"]) == (
            "completed",
            "cancelled",
            "waiting",
        )
        assert result.rollout.step("b").status == "cancelled"

    def test_from_outside_it_goes_on_and_the_record_stays(self, go: Go) -> None:
        async def cut() -> Run:
            run, started = Run(), anyio.Event()

            async def hangs(_inputs: object) -> str:
                started.set()
                await anyio.sleep_forever()
                return ""

            async with anyio.create_task_group() as group:
                group.start_soon(lambda: graph({"a": (hangs,), "b": (hangs,)}).run(1, run=run))
                await started.wait()
                group.cancel_scope.cancel()
            return run

        rollout = go(cut).rollout
        assert (rollout.status, {step.status for step in rollout.steps}) == (
            "cancelled",
            {"cancelled"},
        )


class TestAnswers:
    def test_of_several_last_nodes_all_by_name(self, go: Go) -> None:
        made = graph(
            {
                "a": (echo,),
                "b": (lambda _i: "text", ["a"]),
                "c": (lambda _i: {"n": 1}, ["a"]),
                "d": (echo, ["a"], lambda _i: False),
            }
        )
        result = go(made.run, VALUES)

        assert result.data == {"b": "text", "c": {"n": 1}}
        assert result.output == '{"b":"text","c":{"n":1}}'

    def test_its_form_does_not_depend_on_what_ran(self, go: Go) -> None:
        made = graph({"a": (echo, [], lambda _i: False), "b": (lambda _i: "text",)})

        assert go(made.run).data == {"b": "text"}

    def test_it_reads_back_equal_and_can_be_pickled(self, go: Go) -> None:
        result = go(graph(TestFailures.NODES).run, VALUES)

        assert GraphResult.from_json(result.to_json()) == result
        assert pickle.loads(pickle.dumps(result)) == result  # noqa: S301


class TestShape:
    def test_names_and_paths_are_the_nodes(self, go: Go) -> None:
        inner = graph({"x": (echo,)}, name="inner")
        result = go(graph({"a": (inner,), "b": (inner, ["a"])}, name="outer").run)

        assert [step.path for step in result.rollout.all_steps()] == [
            "a",
            "a/inner/x",
            "b",
            "b/inner/x",
        ]

    def test_a_diagram(self) -> None:
        made = graph({"a": (echo,), "b": (echo, ["a"], bool)})

        assert made.flow().ids == ("a", "when_b", "b")
        assert made.to_mermaid().splitlines()[1:] == [
            '    n0["a"]',
            '    n1{"when_b"}',
            '    n2["b"]',
            "    n0 --> n1",
            "    n1 --> n2",
        ]
        assert made.lint() == ()

    def test_it_is_compiled_once_until_a_node_is_added(self) -> None:
        made = graph({"a": (echo,)})
        first = made.compile()
        assert made.compile() is first
        made.node("b", echo)
        assert [node.id for node in made.compile().flow().nodes] == ["a", "b"]
        assert first.digest != made.digest

    def test_digests_tell_setups_apart(self) -> None:
        made: list[Graph] = [
            graph({"a": (echo,), "b": (echo,)}),
            graph({"a": (echo,), "b": (echo, ["a"])}),
            graph({"a": (echo,), "b": (echo, [], bool)}),
            graph({"a": (echo,), "b": (echo,)}, fail="stop"),
            graph({"a": (echo,), "b": (echo,)}, concurrency=2),
        ]

        assert len({one.digest for one in made}) == len(made)

    def test_it_stands_wherever_a_callable_can(self, go: Go) -> None:
        inner = graph({"a": (lambda inputs: Reply(str(inputs.values), usage=Usage(2)),)})
        result = go(chain, "x", [("first", inner), ("then", lambda said: f"{said.output}!")])

        assert (result.output, result.usage) == ("x!", Usage(2))
        assert result.rollout.step("first").child.kind == "graph"

    def test_in_a_script(self, backend: str) -> None:
        result = graph({"a": (lambda inputs: inputs.values,)}).sync("x", backend=backend)

        assert result.unwrap().output == "x"

    def test_it_can_be_pickled(self) -> None:
        made = graph({"a": (echo,), "b": (echo, ["a"], TestConditions.MORE)})
        again = pickle.loads(pickle.dumps(made))  # noqa: S301

        assert (again.digest, again.compile().digest) == (made.digest, made.digest)
        compiled = pickle.loads(pickle.dumps(made.compile()))  # noqa: S301
        assert compiled.digest == made.digest


def test_a_chain_written_as_a_graph_answers_the_same(go: Go) -> None:
    def words(text: str) -> dict[str, Any]:
        return {"items": [word for word in text.split() if word.isdigit()]}

    def some(reply: Reply) -> bool:
        return bool(reply.data["items"])  # type: ignore[index]

    def add(found: dict[str, Any]) -> str:
        return str(sum(map(int, found["items"])))

    row = Chain([Stage("words", words, some), Stage("add", add)])
    made = Graph()
    made.node("words", lambda inputs: words(inputs.values))
    made.node(
        "add",
        lambda inputs: add(inputs["words"]),
        needs=["words"],
        when=Checks([{"path": "results.words.items", "op": "isNotEmpty"}]),
    )

    one, two = go(row.run, "3 and 4"), go(made.run, "3 and 4")
    assert (one.output, one.status) == (two.output, two.status) == ("7", "completed")

    # A gate that says no fails its chain; a condition that does not hold skips its node.
    one, two = go(row.run, "none"), go(made.run, "none")
    assert (one.stopped_by, one.stopped_at) == ("gate", "words")
    assert (two.states["add"], two.status, two.output) == ("skipped", "completed", None)
