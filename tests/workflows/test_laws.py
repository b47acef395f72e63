"""Laws over generated trees of workflows: what is counted, what starts, what is recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import (
    Cascade,
    Chain,
    Limits,
    Parallel,
    Refine,
    Reply,
    Result,
    Rollout,
    Route,
    Run,
    Stage,
    Tier,
    Usage,
    Vote,
    Work,
)
from interlock.harness import Ctx
from interlock.testing import ManualClock, run_checked

BACKENDS = ["asyncio", "trio"]
SOME = settings(max_examples=40, deadline=None, derandomize=True)


@dataclass(frozen=True)
class Leaf:
    """A model: what it uses, and whether it fails."""

    tokens: int
    fails: bool = False


@dataclass(frozen=True)
class Tree:
    """A workflow of parts, and how the callable around it hands it on."""

    kind: str
    how: str
    parts: tuple[Any, ...]


KINDS = ["chain", "cascade", "route", "refine", "parallel", "vote"]

leaves = st.builds(Leaf, st.integers(0, 50), st.sampled_from([False, False, False, True]))
trees = st.recursive(
    leaves,
    lambda parts: st.builds(
        Tree,
        st.sampled_from(KINDS),
        st.sampled_from(["object", "result", "text", "reply", "step"]),
        st.lists(parts, min_size=1, max_size=3).map(tuple),
    ),
    max_leaves=8,
)
workflows = trees.filter(lambda tree: isinstance(tree, Tree))


class World:
    """Makes callables of a tree, and counts what they use."""

    def __init__(self, ceiling: float = float("inf")) -> None:
        self.used, self.ceiling = 0, ceiling
        self.beyond = 0

    def model(self, leaf: Leaf) -> Any:
        async def ask(_value: object) -> Reply:
            self.beyond += self.used >= self.ceiling
            self.used += leaf.tokens
            status: Any = "failed" if leaf.fails else "completed"
            return Reply("a", usage=Usage(leaf.tokens, requests=1), status=status)

        return ask

    def workflow(self, tree: Tree, **options: Any) -> Any:
        calls = [self.callable(part) for part in tree.parts]
        parts = [(f"p{at}", call) for at, call in enumerate(calls)]
        if tree.kind == "chain":
            return Chain(parts, **options)
        if tree.kind == "cascade":
            return Cascade(parts, accept=lambda _reply: False, **options)
        if tree.kind == "route":
            classify = lambda _values: f"p{len(parts) - 1}"  # noqa: E731
            return Route(classify=classify, arms=dict(parts), **options)
        if tree.kind == "refine":
            return Refine(draft=calls[0], judge=lambda _reply: False, max_rounds=2, **options)
        # One after the other, so that no ceiling is passed by several at once.
        if tree.kind == "parallel":
            return Parallel(dict(parts), concurrency=1, **options)
        return Vote(calls[0], n=2, concurrency=1, **options)

    def callable(self, tree: Any) -> Any:
        if isinstance(tree, Leaf):
            return self.model(tree)
        made = self.workflow(tree)

        async def result(value: object) -> Result:
            answer: Result = await made.run(value)
            return answer

        async def text(value: object) -> str:
            return str((await made.run(value)).output)

        async def reply(value: object) -> Reply:
            return Reply(str((await made.run(value)).output), usage=Usage())

        async def step(value: object, ctx: Ctx) -> object:
            answer: object = await ctx.step("in", result, value)
            return answer

        ways = {"object": made, "result": result, "text": text, "reply": reply, "step": step}
        return ways[tree.how]


def ran(tree: Tree, backend: str, ceiling: int | None = None) -> tuple[Result, World]:
    world = World(float("inf") if ceiling is None else ceiling)
    made = world.workflow(tree)
    run = Run("r", limits=Limits(max_tokens=ceiling), clock=ManualClock())
    result: Result = run_checked(lambda: made.run("x", run=run), backend=backend)
    return result, world


def sums_hold(rollout: Rollout) -> None:
    assert rollout.usage == sum((step.usage for step in rollout.steps), Usage())
    for step in rollout.steps:
        if step.child is not None:
            assert step.child.usage == step.usage or step.child.usage.total <= step.usage.total
            sums_hold(step.child)


@pytest.mark.parametrize("backend", BACKENDS)
@SOME
@given(tree=workflows)
def test_everything_used_is_counted_exactly_once(backend: str, tree: Tree) -> None:
    result, world = ran(tree, backend)

    assert result.usage.total == world.used
    assert result.usage == result.rollout.usage
    sums_hold(result.rollout)


@pytest.mark.parametrize("backend", BACKENDS)
@SOME
@given(tree=workflows, ceiling=st.integers(0, 120))
def test_no_model_is_asked_at_or_beyond_the_ceiling(backend: str, tree: Tree, ceiling: int) -> None:
    result, world = ran(tree, backend, ceiling)

    assert world.beyond == 0
    assert result.usage.total == world.used
    assert result.stopped_by != "tokens" or world.used >= ceiling


@pytest.mark.parametrize("backend", BACKENDS)
@SOME
@given(
    uses=st.lists(st.integers(0, 40), min_size=1, max_size=8),
    spare=st.integers(0, 10),
    ceiling=st.integers(0, 150),
)
def test_with_reserves_the_ceiling_is_hard(
    backend: str, uses: list[int], spare: int, ceiling: int
) -> None:
    world = World(ceiling)
    tiers = [
        Tier(str(at), world.model(Leaf(tokens)), reserve=tokens + spare)
        for at, tokens in enumerate(uses)
    ]
    made = Cascade(tiers, accept=lambda _reply: False, max_tokens=ceiling)
    result = run_checked(lambda: made.run(1), backend=backend)

    assert result.usage.total == world.used <= ceiling


@pytest.mark.parametrize("backend", BACKENDS)
@SOME
@given(
    uses=st.lists(st.integers(1, 40), min_size=1, max_size=12),
    concurrency=st.integers(1, 5),
    ceiling=st.integers(0, 150),
    spare=st.none() | st.integers(0, 10),
)
def test_branches_pass_a_ceiling_by_no_more_than_run_at_once(
    backend: str, uses: list[int], concurrency: int, ceiling: int, spare: int | None
) -> None:
    world = World(ceiling)

    def branch(tokens: int) -> Any:
        ask = world.model(Leaf(tokens))
        return ask if spare is None else Work(ask, reserve=tokens + spare)

    made = Parallel([branch(tokens) for tokens in uses], concurrency=concurrency)
    run = Run(limits=Limits(max_tokens=ceiling))
    result: Any = run_checked(lambda: made.run(1, run=run), backend=backend)
    ended = sum(one.ok for one in result.outcomes)

    assert len(result.outcomes) == len(uses)
    assert result.usage.total == world.used == result.usage.input
    assert (result.stopped_by == "done") == (ended == len(uses))
    if spare is None:
        # They start in order, and what has started ends.
        assert world.used == sum(uses[:ended])
        assert world.used <= max(ceiling - 1, 0) + concurrency * max(uses)
        assert ended == len(uses) or world.used >= ceiling
    else:
        assert world.used <= ceiling


@SOME
@given(tree=workflows)
def test_the_record_is_the_same_on_both_backends(tree: Tree) -> None:
    first, second = (ran(tree, backend)[0] for backend in BACKENDS)

    assert first == second
    assert first.rollout.same_as(second.rollout)


@SOME
@given(tree=workflows, ceiling=st.none() | st.integers(0, 60))
def test_records_read_back_equal_and_paths_are_of_their_own(
    tree: Tree, ceiling: int | None
) -> None:
    result, _ = ran(tree, "asyncio", ceiling)
    rollout = result.rollout
    paths = [(step.path, step.attempt) for step in rollout.all_steps()]

    assert Rollout.from_json(rollout.to_json()) == rollout
    assert Rollout.from_json_lines(rollout.to_json_lines()) == rollout
    assert type(result).from_json(result.to_json()) == result
    assert len(set(paths)) == len(paths)
    assert all(
        step.child is None
        or all(inner.path.startswith(f"{step.path}/") for inner in step.child.steps)
        for step in rollout.all_steps()
    )


counts = st.integers(0, 10**9)
usages = st.builds(
    Usage, counts, counts, counts, counts, counts, st.integers(0, 3), st.none() | counts
) | st.just(Usage())


@SOME
@given(usages, usages, usages)
def test_usage_adds_up_in_any_order(one: Usage, two: Usage, three: Usage) -> None:
    assert (one + two) + three == one + (two + three)
    assert one + two == two + one
    assert one + Usage() == one == Usage() + one


@pytest.mark.parametrize("backend", BACKENDS)
@SOME
@given(verdicts=st.lists(st.sampled_from(["yes", "no", "raise", "open"]), min_size=1, max_size=4))
def test_a_chain_goes_on_only_after_a_clear_yes(backend: str, verdicts: list[str]) -> None:
    from interlock import Verdict

    asked: list[int] = []

    def stage(at: int) -> Any:
        def work(_value: object) -> str:
            asked.append(at)
            return verdicts[at]

        return work

    def gate(reply: Reply) -> Verdict:
        if reply.output == "raise":
            raise ValueError("gate")
        return Verdict(ok=reply.output == "yes", undetermined=reply.output == "open")

    made = Chain([Stage(str(at), stage(at), gate) for at in range(len(verdicts))])
    result = run_checked(lambda: made.run(1), backend=backend)
    wanted = next((at for at, said in enumerate(verdicts) if said != "yes"), len(verdicts) - 1)

    assert asked == list(range(wanted + 1))
    assert (result.stopped_by == "done") == all(said == "yes" for said in verdicts)
