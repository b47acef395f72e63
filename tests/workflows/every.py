"""One of each workflow, for what holds of all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interlock import (
    Cascade,
    Chain,
    Graph,
    Loop,
    Orchestrate,
    Parallel,
    Refine,
    Reply,
    Route,
    Stage,
    Usage,
    Verdict,
    Vote,
    finish,
    tool,
    toolbus,
)
from interlock.harness.ctx import Ctx
from interlock.record import ToolCall
from interlock.testing import scripted


def said(text: str, tokens: int = 5) -> Reply:
    return Reply(text, usage=Usage(tokens, 1, requests=1))


async def talk(_value: object, ctx: Ctx) -> Reply:
    await ctx.emit("piece")
    return said("talked")


async def fail(_value: object) -> str:
    raise ValueError("bad")


def chain() -> Any:
    inner = Chain([("in", scripted(said("inner")))], name="inner")
    return Chain([Stage("a", talk, lambda _reply: True), ("b", inner), ("c", scripted("x"))])


def cascade() -> Any:
    tiers: list[Any] = [
        ("bad", fail),
        ("small", scripted(said("no"))),
        ("large", scripted(said("yes"))),
    ]
    return Cascade(tiers, accept=lambda reply: reply.output == "yes")


def loop() -> Any:
    @tool(effect="readonly")
    async def look(q: str) -> str:
        """Look something up."""
        return f"saw {q}"

    calls = (ToolCall("1", "look", {"q": "x"}), ToolCall("2", "nope", {}))
    turns = scripted(
        Reply(calls=calls, usage=Usage(9, 1, requests=1)),
        Reply(calls=(ToolCall("3", "finish", {"answer": "done"}),), usage=Usage(9, 1)),
    )
    return Loop(turn=turns, tools=toolbus([look, finish()]))


def route() -> Any:
    return Route(
        classify=scripted(said("b")), arms={"a": scripted(said("A")), "b": scripted(said("B"))}
    )


def refine() -> Any:
    judge = scripted(Verdict(ok=False, score=0.2, feedback="more"), Verdict(ok=True, score=0.9))
    return Refine(draft=scripted(said("one"), said("two")), judge=judge)


def parallel() -> Any:
    return Parallel({"a": talk, "b": scripted(said("b")), "c": fail})


def vote() -> Any:
    return Vote(scripted(said("x"), said("y"), said("x")), n=3, early_stop=False)


def graph() -> Any:
    made = Graph("graph")
    made.node("fetch", scripted(said("text")))
    made.node("sum", scripted(said("short")), needs=["fetch"])
    made.node("count", talk, needs=["fetch"])
    return made


def orchestrate() -> Any:
    steps = [
        {"id": "one", "worker": "w", "params": {"n": 1}},
        {"id": "two", "worker": "w", "params": {"n": 2}, "needs": ["one"]},
    ]
    return Orchestrate(
        plan=scripted({"steps": steps}),
        workers={"w": scripted(said("1"), said("2"))},
        merge=scripted(said("merged")),
    )


EVERY: dict[str, Callable[[], Any]] = {
    "cascade": cascade,
    "chain": chain,
    "graph": graph,
    "loop": loop,
    "orchestrate": orchestrate,
    "parallel": parallel,
    "refine": refine,
    "route": route,
    "vote": vote,
}
"""By the kind of the workflow; a new one is one row."""
