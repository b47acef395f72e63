"""What JSON cannot hold never gets into a record, wherever it is answered: records read back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from interlock import (
    Cascade,
    Chain,
    Compact,
    ConfigError,
    Graph,
    Loop,
    Orchestrate,
    Parallel,
    Refine,
    Reply,
    Rollout,
    Route,
    Stage,
    ToolCall,
    ToolResult,
    UsageError,
    Verdict,
    Vote,
    finish,
    tool,
    toolbus,
)
from interlock.harness import Ctx, LoopState, RouteChoice

from .conftest import Go
from .loops import asks, call

NAN = float("nan")


@dataclass
class Point:
    x: float


class Model(BaseModel):
    x: float


VALUES: dict[str, Any] = {
    "nan": NAN,
    "infinity": {"x": [-float("inf")]},
    "a dataclass": Point(NAN),
    "a model": Model(x=NAN),
    "data": Reply("x", data={"x": NAN}),
    "an object as data": Reply("x", data=object()),
    "arguments": Reply(calls=(ToolCall("1", "t", {"x": NAN}),)),
    "a score": Verdict(ok=True, score=NAN),
    "data of a verdict": Verdict(ok=True, data={"x": NAN}),
    "an object of a verdict": Verdict(ok=True, data=object()),
    "a result": ToolResult("1", "t", "completed", {"x": NAN}),
    "a decision": RouteChoice(arm="a", decision={"x": NAN}),
    "an object of a decision": RouteChoice(arm="a", decision=object()),
}


class Foreign:
    """Tools that are no bus."""

    def __init__(self, value: object) -> None:
        self.value = value

    def invoke(self, _call: object) -> object:
        return self.value


def workflows(value: Any) -> Iterator[tuple[str, Any]]:
    """Give workflows in which something answers the value, by where it does."""

    def work(*_given: object) -> Any:
        return value

    async def inside(_given: object, ctx: Ctx) -> str:
        await ctx.step("inner", work)
        return "x"

    def text(*_given: object) -> str:
        return "some text"

    def turn(state: LoopState) -> Reply:
        return asks(call("t")) if state.turn < 3 else Reply("done")

    def looping(tools: Any, **options: Any) -> Loop:
        return Loop(turn, tools=tools, **options)

    graph = Graph()
    graph.node("a", work)
    texts = toolbus([tool(text, name="t", schema={"type": "object"})])
    yield "a stage", Chain([("a", work), ("b", text)])
    yield "the last stage", Chain([("a", work)])
    yield "a gate", Chain([Stage("a", text, gate=lambda _reply: value)])
    yield "a step inside", Chain([("a", inside)])
    yield "a tier", Cascade([("a", work)], accept=lambda _reply: True)
    yield "accept", Cascade([("a", text)], accept=lambda _reply: value)
    yield "a draft", Refine(draft=work, judge=lambda _reply: True)
    yield "a judge", Refine(draft=text, judge=lambda _reply: value)
    yield "a branch", Parallel({"a": work})
    yield "a vote", Vote(work, n=1)
    yield "an arm", Route(classify=lambda _values: "a", arms={"a": work})
    yield "a classifier", Route(classify=lambda _values: value, arms={"a": text})
    yield "a node", graph.compile()
    yield "a plan", Orchestrate(plan=work, workers={"a": text}, merge=text)
    yield "a turn", Loop(work, max_turns=2)
    yield "a tool", looping(toolbus([tool(lambda: value, name="t")]))
    yield "tools that are no bus", looping(Foreign(value))
    yield "a summary", looping(texts, compact=Compact(work, after=1, keep=1))
    yield (
        "finish",
        Loop(lambda _s: asks(call("finish", answer=value)), tools=toolbus(finish()), max_turns=2),
    )


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_it_is_misuse_or_no_part_of_the_record(go: Go, value: Any) -> None:
    refused = 0
    for where, made in workflows(value):
        try:
            result = go(made.run, 1)
        except UsageError:
            refused += 1
            continue

        assert Rollout.from_json(result.rollout.to_json()) == result.rollout, where
        try:
            wire = result.to_json()
        except ConfigError:
            # A reply's data is handed on as it is; then the result cannot be written.
            continue
        assert type(result).from_json(wire) == result, where
    assert refused
