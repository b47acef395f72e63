"""What is cut short by a sibling, a limit or the run: its use counts once, its steps say so."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from interlock import Chain, Graph, Loop, Orchestrate, Parallel, Reply, Run, Usage, Vote, tool
from interlock import toolbus as bus
from interlock.harness import Ctx
from interlock.record import ToolCall
from interlock.testing import run_checked, scripted

from .conftest import Go
from .nestings import Nesting


@pytest.mark.parametrize("first", range(1_000, 1_200, 20))
def test_what_was_used_counts_once_whatever_was_cut_short(first: int, backend: str) -> None:
    for seed in range(first, first + 20):
        made = Nesting(seed)
        run = Run(limits=made.limits(), clock=made.clock)
        ran: Any = run_checked(lambda: made.workflow.run(1, run=run), backend=backend)  # noqa: B023
        steps = ran.rollout.steps

        assert ran.usage.total == ran.rollout.usage.total == run.account.tokens == made.used, seed
        if ran.rollout.kind in ("parallel", "vote"):
            after = sum(step.usage.total for step in steps if step.kind == "merge")
            assert sum(one.usage.total for one in ran.outcomes) + after == made.used, seed
            for one in ran.outcomes:
                ended = [step.status for step in steps if step.path == one.name]
                assert one.status == (ended[-1] if ended else "cancelled"), seed


async def paid(_value: object) -> Reply:
    return Reply("paid", usage=Usage(7))


async def waits(_value: object) -> str:
    await anyio.sleep_forever()
    return "never"


async def asks(_value: object, ctx: Ctx) -> str:
    await ctx.step("paid", paid, 1)
    await ctx.step("write", waits, 1, effect="write")
    return "never"


@tool(effect="write")
async def write() -> str:
    """Write, which never comes to an end."""
    return await waits(1)


def graph() -> Graph:
    made = Graph()
    made.node("paid", paid)
    made.node("write", asks, needs=["paid"])
    return made


LONG: dict[str, tuple[Any, int, str]] = {
    "a function with steps": (lambda: asks, 7, "in_doubt"),
    "a chain": (lambda: Chain([("paid", paid), ("waits", waits)]), 7, "cancelled"),
    "a graph": (graph, 14, "in_doubt"),
    "a loop": (
        lambda: Loop(
            scripted(Reply("t", calls=(ToolCall("1", "write", {}),), usage=Usage(7))),
            tools=bus([write]),
        ),
        7,
        "in_doubt",
    ),
    "an orchestrate": (
        lambda: Orchestrate(
            plan=scripted(Reply('{"steps": [{"id": "a", "worker": "w"}]}', usage=Usage(7))),
            workers={"w": waits},
            merge=len,
        ),
        7,
        "cancelled",
    ),
    "branches": (lambda: Parallel({"paid": paid, "waits": waits}), 7, "cancelled"),
}
"""What spends, and then goes on until it is cancelled: its use, and what its last step comes to."""


async def last(_value: object) -> Reply:
    for _ in range(200):
        await anyio.lowlevel.checkpoint()
    return Reply("end", usage=Usage(1))


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("how", ["quorum", "first", "vote", "run"])
def test_a_branch_that_is_cancelled_keeps_what_it_did(go: Go, name: str, how: str) -> None:
    make, used, status = LONG[name]

    async def work() -> tuple[Any, Run]:
        run, inner = Run(), make()
        inner = inner if callable(inner) else inner.run

        async def ends(value: object) -> object:
            ended = await last(value)
            if how == "run":
                run.cancel()
                await anyio.sleep_forever()
            return Reply("no", status="failed", usage=ended.usage) if how == "first" else ended

        async def voter(value: object, ctx: Ctx) -> object:
            return await (inner(value, ctx) if inner is asks else inner(value))

        rules: dict[str, Any] = {"quorum": {"quorum": 1}, "first": {"fail": "first"}}
        if how == "vote":
            voters = {"vote_0": ends, "vote_1": ends, "vote_2": voter}

            async def one(value: object, ctx: Ctx) -> object:
                called: Any = voters[ctx.path]
                return await (called(value, ctx) if called is voter else called(value))

            return await Vote(one).run(1, run=run), run
        return await Parallel({"ends": ends, "long": voter}, **rules.get(how, {})).run(
            1, run=run
        ), run

    ran, run = go(work)
    long = ran.outcomes[-1]
    cut = [one for one in ran.rollout.all_steps() if one.status in ("cancelled", "in_doubt")]

    assert (long.status, long.usage.total) == ("cancelled", used)
    assert ran.usage.total == run.account.tokens == sum(one.usage.total for one in ran.outcomes)
    assert status in {one.status for one in cut}
    assert all(one.child is None or one.child.status == "cancelled" for one in cut)
