"""What stands inside itself: workflows and tools nest so deep and no deeper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from interlock import (
    Cascade,
    Chain,
    Graph,
    Loop,
    Orchestrate,
    Parallel,
    Refine,
    Rollout,
    Route,
    Verdict,
    Vote,
    report,
    tool,
    toolbus,
)
from interlock.harness import Ctx, LoopState
from interlock.harness._nesting import NESTING_LIMIT

from .conftest import Go
from .loops import asks, call, says

Itself = Callable[[Any], Any]


def graph(itself: Itself) -> Graph:
    made = Graph("graph")
    made.node("a", itself)
    return made


def orchestrate(itself: Itself) -> Orchestrate:
    steps = [{"id": "a", "worker": "w", "params": {}}]
    return Orchestrate(
        plan=lambda _v: {"steps": steps}, workers={"w": itself}, merge=lambda _o: "m"
    )


async def turn(state: LoopState) -> object:
    return says(str(state.results[-1].output)) if state.results else asks(call("t"))


def looping(itself: Itself) -> Loop:
    async def deeper() -> object:
        return await itself(None)

    return Loop(turn, tools=toolbus([tool(deeper, name="t", effect="readonly")]))


KINDS: dict[str, tuple[Callable[[Itself], Any], int]] = {
    "cascade": (lambda me: Cascade([("a", me)], accept=lambda _r: True), 1),
    "chain": (lambda me: Chain([("a", me)]), 1),
    "graph": (graph, 1),
    "loop": (looping, 2),
    "orchestrate": (orchestrate, 1),
    "parallel": (lambda me: Parallel({"a": me}), 1),
    "refine": (lambda me: Refine(draft=me, judge=lambda _r: Verdict(ok=True)), 1),
    "route": (lambda me: Route(classify=lambda _v: "a", arms={"a": me}), 1),
    "vote": (lambda me: Vote(me, n=1), 1),
}
"""A workflow of a callable that runs it, and how many levels one of its rounds is."""


@pytest.mark.parametrize("kind", KINDS)
def test_one_that_runs_itself_ends_with_an_error_that_says_so(go: Go, kind: str) -> None:
    entered: list[int] = []
    errors: list[str] = []

    async def itself(_value: object) -> object:
        entered.append(1)
        try:
            return await made.run({"q": 1})
        except RecursionError as error:
            errors.append(str(error))
            raise

    make, levels = KINDS[kind]
    made: Any = make(itself)
    result = go(made.run, {"q": 1})

    assert len(entered) >= NESTING_LIMIT // levels
    assert errors
    assert {one.split(", ")[0] for one in errors} == {
        f"workflow `{kind}` stands inside {NESTING_LIMIT} workflows and tools"
    }
    inside = [step for step in result.rollout.all_steps() if step.error]
    assert "RecursionError" in {step.error.type for step in inside if step.error}
    assert Rollout.from_json(result.rollout.to_json()) == result.rollout


def test_sync_ones_too(go: Go) -> None:
    def itself() -> object:
        return made.sync()

    made = Loop(turn, tools=toolbus([tool(itself, name="t", effect="readonly")]))
    result = go(made.run)

    assert "workflow `loop` stands inside" in str(result.output)


def test_a_tool_that_calls_itself_on_its_bus(go: Go) -> None:
    entered: list[int] = []

    async def again(ctx: Ctx | None = None) -> str:
        entered.append(1)
        result = await bus.invoke(call("again"), ctx)
        return str(result.output) if result.status == "completed" else f"inside: {result.output}"

    bus = toolbus([tool(again)])
    said = go(bus.invoke, call("again"))

    assert (said.status, len(entered)) == ("completed", NESTING_LIMIT)
    assert said.output.startswith("inside: RecursionError: tool `again` stands inside 32 workflows")


def nested(levels: int) -> Chain:
    made = Chain([("a", lambda _v: "leaf")], name="w")
    for _ in range(levels - 1):
        made = Chain([("a", made)], name="w")
    return made


def test_as_deep_as_may_be(go: Go) -> None:
    result = go(nested(NESTING_LIMIT).run)
    rollout = result.rollout

    assert (result.status, result.output) == ("completed", "leaf")
    assert Rollout.from_json(rollout.to_json()).digest() == rollout.digest()
    assert len(list(rollout.all_steps())) == NESTING_LIMIT
    assert report(rollout).to_html()
    assert go(nested(NESTING_LIMIT + 1).run).status == "failed"


def test_beside_each_other_is_not_inside_each_other(go: Go) -> None:
    async def many(_value: object) -> str:
        for _ in range(2 * NESTING_LIMIT):
            assert (await nested(2).run()).status == "completed"
        return "done"

    assert go(Chain([("a", many)]).run).output == "done"
