"""Laws of graphs over generated ones: SequenceRun says the same, on every backend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import Graph, GraphResult, Limits, Reply, Rollout, Run, SequenceRun, Usage, Verdict
from interlock.harness import Inputs, Work
from interlock.testing import ManualClock, run_checked

BACKENDS = ["asyncio", "trio"]
SOME = settings(max_examples=50, deadline=None, derandomize=True)

HOLDS = {"path": "yes", "op": "equals", "expected": True}
SAID: dict[str, Any] = {
    "holds": HOLDS,
    "does not": {**HOLDS, "expected": False},
    "open": {"path": "text", "op": "matches", "expected": "(a+)\\1"},
}
"""What a node's condition says, as a check of the record below."""
RECORD = {"yes": True, "text": "aa"}


@dataclass(frozen=True)
class Made:
    """A node: what it needs, what its condition says, whether it fails, how long it takes."""

    needs: tuple[int, ...]
    says: str | None
    fails: bool
    pauses: int
    tokens: int


@st.composite
def graphs(draw: st.DrawFn) -> list[Made]:
    """Draw nodes, each needing some of those before it."""
    size = draw(st.integers(1, 8))
    return [
        Made(
            tuple(draw(st.lists(st.integers(0, at - 1), max_size=3))) if at else (),
            draw(st.sampled_from([None, None, None, *SAID])),
            draw(st.integers(0, 5)) == 0,
            draw(st.integers(0, 3)),
            draw(st.integers(0, 20)),
        )
        for at in range(size)
    ]


class World:
    """Runs a graph, and keeps what its nodes did."""

    def __init__(self, nodes: list[Made], order: list[int]) -> None:
        """Declare the nodes in an order of their own."""
        self.nodes, self.order = nodes, order
        self.done: list[str] = []
        self.failed: list[str] = []
        self.seen: list[tuple[str, list[str], list[str]]] = []
        self.used = 0
        self.given: dict[str, dict[str, object]] = {}

    def work(self, at: int) -> Any:
        node, name = self.nodes[at], str(at)

        async def does(inputs: Inputs) -> Reply:
            self.seen.append((name, [*self.done], [*self.failed]))
            self.given[name] = dict(inputs.results)
            self.used += node.tokens
            for _ in range(node.pauses):
                await anyio.lowlevel.checkpoint()
            (self.failed if node.fails else self.done).append(name)
            status: Any = "failed" if node.fails else "completed"
            return Reply(name, usage=Usage(node.tokens), status=status)

        return does

    def graph(self, **options: Any) -> Graph:
        made = Graph(**options)
        verdicts = {
            "holds": Verdict(ok=True),
            "does not": Verdict(ok=False),
            "open": Verdict(ok=False, undetermined=True),
        }
        for at in self.order:
            node = self.nodes[at]
            when = None if node.says is None else _constant(verdicts[node.says])
            made.node(str(at), self.work(at), needs=[str(need) for need in node.needs], when=when)
        return made

    def sequence(self) -> SequenceRun:
        return SequenceRun(
            [
                {
                    "id": str(at),
                    "needs": [str(need) for need in self.nodes[at].needs],
                    **({"when": [SAID[said]]} if (said := self.nodes[at].says) else {}),
                }
                for at in self.order
            ]
        )


def _constant(verdict: Verdict) -> Any:
    return lambda _inputs: verdict


def ran(world: World, backend: str, run: Run | None = None, **options: Any) -> GraphResult:
    made = world.graph(**options)
    result: GraphResult = run_checked(
        lambda: made.run("x", run=run or Run("r", clock=ManualClock())), backend=backend
    )
    return result


shuffled = graphs().flatmap(
    lambda nodes: st.tuples(st.just(nodes), st.permutations(range(len(nodes))))
)
most = st.integers(1, 4)


@pytest.mark.parametrize("backend", BACKENDS)
@SOME
@given(drawn=shuffled, concurrency=most)
def test_what_starts_is_what_sequence_run_calls_ready(
    backend: str, drawn: tuple[list[Made], list[int]], concurrency: int
) -> None:
    world = World(*drawn)
    result = ran(world, backend, concurrency=concurrency)
    sequence = world.sequence()

    for name, done, failed in world.seen:
        plan = sequence.plan(RECORD, now=None, completed=done, failed=failed)
        assert name in [step.id for step in plan.ready]
    plan = sequence.plan(RECORD, now=None, completed=world.done, failed=world.failed)
    words = {"finished": "done", "blocked": "waiting", "halted": "halted"}
    states = {
        **dict.fromkeys(plan.completed, "completed"),
        **dict.fromkeys(plan.failed, "failed"),
        **{step.id: "skipped" for step in plan.skipped},
        **{step.id: "undetermined" for step in plan.undetermined},
        **{step.id: "unreachable" for step in plan.unreachable},
        **{step.id: "waiting" for step in plan.waiting},
    }

    assert plan.ready == ()
    assert result.stopped_by == words[plan.state]
    assert result.states == {str(at): states[str(at)] for at in world.order}
    assert list(result.states) == [str(at) for at in world.order]
    for step in (*plan.unreachable, *plan.waiting):
        assert result.outcomes[step.id].reason == step.reason


@pytest.mark.parametrize("backend", BACKENDS)
@SOME
@given(drawn=shuffled, concurrency=most)
def test_each_node_runs_once_with_what_it_needs_and_is_counted_once(
    backend: str, drawn: tuple[list[Made], list[int]], concurrency: int
) -> None:
    world = World(*drawn)
    result = ran(world, backend, concurrency=concurrency)
    started = [name for name, *_ in world.seen]

    assert len(started) == len(set(started))
    assert result.usage.total == world.used
    for name, given_results in world.given.items():
        assert set(given_results) == {str(need) for need in world.nodes[int(name)].needs}
    assert GraphResult.from_json(result.to_json()) == result
    assert Rollout.from_json(result.rollout.to_json()) == result.rollout


@SOME
@given(drawn=shuffled, concurrency=most, again=most)
def test_the_record_is_the_same_whatever_ran_first(
    drawn: tuple[list[Made], list[int]], concurrency: int, again: int
) -> None:
    first, second = (
        ran(World(*drawn), backend, concurrency=count)
        for backend, count in zip(BACKENDS, (concurrency, again), strict=True)
    )

    left, right = first.rollout.canonical()["steps"], second.rollout.canonical()["steps"]
    assert left == right
    assert (first.states, first.output, first.usage) == (second.states, second.output, second.usage)


@SOME
@given(drawn=shuffled, stops=st.booleans())
def test_one_at_a_time_the_order_is_the_same_everywhere(
    drawn: tuple[list[Made], list[int]], stops: bool
) -> None:
    fail = "stop" if stops else "continue"
    first, second = (ran(World(*drawn), backend, concurrency=1, fail=fail) for backend in BACKENDS)

    assert first == second
    starts = [step.path for step in first.rollout.steps if step.status == "completed"]
    assert starts == [step.path for step in second.rollout.steps if step.status == "completed"]


@pytest.mark.parametrize("backend", BACKENDS)
@SOME
@given(drawn=shuffled, concurrency=most, ceiling=st.integers(0, 60))
def test_no_node_starts_at_or_beyond_a_ceiling(
    backend: str, drawn: tuple[list[Made], list[int]], concurrency: int, ceiling: int
) -> None:
    world = World(*drawn)
    run = Run("r", limits=Limits(max_tokens=ceiling), clock=ManualClock())
    result = ran(world, backend, run, concurrency=concurrency)
    most_tokens = max(node.tokens for node in world.nodes)

    assert result.usage.total == world.used <= max(0, ceiling - 1) + concurrency * most_tokens
    if result.stopped_by == "tokens":
        assert world.used >= ceiling
        assert result.status == "incomplete"
    unstarted = {str(at) for at in world.order} - {name for name, *_ in world.seen}
    assert all(result.states[name] not in ("completed", "failed") for name in unstarted)


@pytest.mark.parametrize("backend", BACKENDS)
@SOME
@given(
    uses=st.lists(st.integers(0, 40), min_size=1, max_size=8),
    spare=st.integers(0, 30),
    ceiling=st.integers(0, 150),
)
def test_with_reserves_the_ceiling_is_hard_also_for_what_runs_at_once(
    backend: str, uses: list[int], spare: int, ceiling: int
) -> None:
    made = Graph(max_tokens=ceiling, concurrency=4)
    for at, tokens in enumerate(uses):
        made.node(str(at), Work(_uses(tokens), reserve=tokens + spare))
    result: GraphResult = run_checked(lambda: made.run(1), backend=backend)

    assert result.usage.total <= ceiling
    if result.stopped_by == "tokens":
        # No node is left out that would have fitted in what is left at the end.
        left = [
            uses[int(name)] + spare for name, state in result.states.items() if state == "waiting"
        ]
        assert result.usage.total == ceiling or any(
            result.usage.total + one > ceiling for one in left
        )
    else:
        assert result.usage.total == sum(uses)


def _uses(tokens: int) -> Any:
    async def model(_inputs: object) -> Reply:
        await anyio.lowlevel.checkpoint()
        return Reply("a", usage=Usage(tokens))

    return model
