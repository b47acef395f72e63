"""Replay of workflows in workflows, which limits and siblings cut short wherever it may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import trio._core._run as scheduler
from anyio.lowlevel import checkpoint

from interlock import (
    Graph,
    Limits,
    Loop,
    Orchestrate,
    Parallel,
    Reply,
    Retry,
    Rollout,
    Run,
    Usage,
    Vote,
)
from interlock.harness import Ctx, Work
from interlock.record import replay
from interlock.testing import ManualClock, run_checked, scripted

from .conftest import Go
from .nestings import Nesting


@pytest.fixture
def chance() -> Iterator[Any]:
    """Give the chance by which one backend chooses what goes on first, and put it back."""
    chance = scheduler._r
    before = chance.getstate()
    yield chance
    chance.setstate(before)


def recorded(seed: int, backend: str) -> tuple[Any, Limits]:
    made = Nesting(seed)
    limits = made.limits()
    run = Run("r", limits=limits, clock=made.clock)
    return run_checked(lambda: made.workflow.run({"q": 1}, run=run), backend=backend), limits


@pytest.mark.parametrize("first", range(0, 300, 20))
def test_a_nesting_is_replayed_as_it_ran(first: int, backend: str, chance: Any) -> None:
    for seed in range(first, first + 20):
        chance.seed(seed)
        ran, limits = recorded(seed, backend)
        made, back = Nesting(seed), Rollout.from_json(ran.rollout.to_json())
        made.is_closed = True
        again = run_checked(
            lambda: replay(back, made.workflow, run=Run(limits=limits)),  # noqa: B023
            backend=backend,
        )

        assert again.rollout == back, seed
        assert again.to_dict() == ran.to_dict(), seed


async def looking(_value: object, ctx: Ctx) -> str:
    """Make three steps of its own."""
    for at in range(3):
        await ctx.step("look", scripted(f"saw {at}"), at)
    return "seen"


def graph() -> Graph:
    made = Graph()
    made.node("a", looking)
    made.node("b", looking, needs=["a"])
    return made


def orchestrate() -> Orchestrate:
    steps = [{"id": "a", "worker": "w"}, {"id": "b", "worker": "w", "needs": ["a"]}]
    return Orchestrate(plan=scripted({"steps": steps}), workers={"w": looking}, merge=scripted("m"))


@pytest.mark.parametrize("make", [graph, orchestrate])
@pytest.mark.parametrize("most", range(1, 11))
def test_a_node_that_started_was_cancelled_and_no_other(go: Go, make: Any, most: int) -> None:
    """Whether a limit held a node, or a step inside it, is told by what started."""
    limits = Limits(max_steps=most)
    ran = go(make().run, 1, run=Run(limits=limits))
    again = go(replay, ran.rollout, make(), run=Run(limits=limits))
    started = {step.name for step in ran.rollout.steps if step.status == "cancelled"}
    cancelled = {one.id for one in ran.outcomes.values() if one.state == "cancelled"}

    assert started == cancelled
    assert again == ran


class Busy(Exception):
    """Asks for another attempt, which waits first."""

    status_code = 503


@pytest.mark.parametrize(
    ("limits", "ended"),
    [(Limits(timeout=0.01), "deadline"), (Limits(max_steps=1), "steps")],
)
class TestNotTriedAgain:
    """What was to be tried again, and may not, has started all the same."""

    def test_a_node(self, go: Go, limits: Limits, ended: str) -> None:
        made = Graph()
        made.node("a", Work(scripted(Busy()), retry=Retry(2)))
        ran = go(made.run, 1, run=Run(limits=limits, clock=ManualClock()))

        assert (ran.stopped_by, ran.outcomes["a"].state) == (ended, "cancelled")
        assert go(replay, ran.rollout, made) == ran

    def test_a_turn(self, go: Go, limits: Limits, ended: str) -> None:
        made = Loop(Work(scripted(Busy()), retry=Retry(2)))
        ran = go(made.run, 1, run=Run(limits=limits, clock=ManualClock()))

        assert (ran.stopped_by, ran.turns) == (ended, 1)
        assert go(replay, ran.rollout, made) == ran


async def answer(_value: object) -> Reply:
    await checkpoint()
    return Reply("x", usage=Usage(1))


async def differs(_value: object, ctx: Ctx) -> Reply:
    """Answer otherwise than the others, after them."""
    for _ in range(3 * int(ctx.path[-1])):
        await checkpoint()
    return Reply(ctx.path, usage=Usage(1))


@pytest.mark.parametrize("most", range(1, 8))
@pytest.mark.parametrize("concurrency", [1, 2, 8])
@pytest.mark.parametrize(
    "make",
    [
        lambda most: Vote(answer, n=5, early_stop=False, concurrency=most),
        lambda most: Vote(differs, n=5, concurrency=most),
        lambda most: Parallel([answer] * 5, quorum=2, concurrency=most),
        lambda most: Parallel({"a": Vote(answer, n=5, early_stop=False), "b": answer}, quorum=1),
    ],
)
def test_a_limit_in_a_run_that_came_to_another_end(
    go: Go, make: Any, most: int, concurrency: int
) -> None:
    """Three votes of five decide, whatever keeps the others; the limits that do are the run's."""
    for limits in (Limits(max_steps=most), Limits(max_tokens=most)):
        ran = go(make(concurrency).run, 1, run=Run(limits=limits))
        again = go(replay, ran.rollout, make(concurrency), run=Run(limits=limits))

        assert again == ran


@pytest.mark.parametrize("pauses", range(8))
@pytest.mark.parametrize("options", [{"quorum": 1}, {"fail": "first"}])
def test_a_sibling_that_ended_although_it_was_to_be_cancelled(
    go: Go, pauses: int, options: Any
) -> None:
    """It had its last answer already; so it has again."""

    async def ends(_value: object) -> Reply:
        for _ in range(pauses):
            await checkpoint()
        return Reply("end", status="completed" if "quorum" in options else "failed")

    def made() -> Parallel:
        inner, around = Vote(answer, n=3, early_stop=False), Graph("g")
        around.node("n", inner)
        return Parallel({"a": inner, "b": ends, "c": around}, **options)

    ran = go(made().run, 1)
    again = go(replay, ran.rollout, made())

    assert again == ran
