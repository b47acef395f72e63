"""Replay: a run once more from its record, with nothing asked again, and every difference told."""

from __future__ import annotations

import pickle
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
    Limits,
    ReplayDivergence,
    Reply,
    Result,
    Retry,
    Rollout,
    Run,
    Stage,
    Tier,
    Usage,
    UsageError,
    Verdict,
)
from interlock.harness import Ctx
from interlock.record import replay
from interlock.testing import ManualClock, run_checked, scripted

from .conftest import Go

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
