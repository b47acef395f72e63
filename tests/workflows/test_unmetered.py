"""A ceiling of tokens holds wherever a model is asked: a reply that tells no usage ends the run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from interlock import (
    Cascade,
    Chain,
    Compact,
    Limits,
    Loop,
    Orchestrate,
    Parallel,
    Refine,
    Reply,
    Route,
    Run,
    Stage,
    Usage,
    Verdict,
    Vote,
    replay,
    tool,
    toolbus,
)
from interlock.harness import Ctx, LoopState

from .conftest import Go
from .loops import asks, call


def bare(output: str = "a", data: object = None) -> Reply:
    """Give what `as_reply` makes of a provider's reply without a block of usage."""
    return Reply(output, data, usage=Usage(requests=1), meta={"usage_missing": True})


def model(_asked: object) -> Reply:
    return bare()


def code(_asked: object) -> str:
    return "b"


def judge(_reply: Reply) -> Reply:
    return bare(data={"ok": False})


def verdict(_reply: Reply) -> Verdict:
    return Verdict(ok=False, data=bare())


async def asks_inside(_asked: object, ctx: Ctx) -> str:
    await ctx.step("ask", model, 1)
    return "c"


def turn(state: LoopState) -> Reply:
    return asks(call("look", f"c{state.turn}"))


def looking(look: Any, **options: Any) -> Loop:
    tools = toolbus([tool(look, name="look", effect="readonly")])
    return Loop(turn, **{"tools": tools, "max_turns": 3, **options})


def bare_turn(state: LoopState) -> Reply:
    return replace(bare(), calls=turn(state).calls)


async def asks_as_a_tool(ctx: Ctx) -> str:
    return await asks_inside(None, ctx)


class Bare:
    """Tools that are no bus."""

    def invoke(self, _call: object) -> Reply:
        return bare()


PLAN = {"steps": [{"id": "a", "worker": "w"}, {"id": "b", "worker": "w", "needs": ["a"]}]}

PLACES: dict[str, tuple[Any, str]] = {
    "a tier": (Cascade([("a", model), ("b", code)], accept=lambda _r: False), "a"),
    "accept": (Cascade([("a", code), ("b", code)], accept=judge), "accept_a"),
    "a verdict": (Cascade([("a", code), ("b", code)], accept=verdict), "accept_a"),
    "a stage": (Chain([("a", model), ("b", code)]), "a"),
    "a gate": (
        Chain([Stage("a", code, lambda _r: bare(data={"ok": True})), ("b", code)]),
        "gate_a",
    ),
    "a step inside": (Chain([("a", asks_inside), ("b", code)]), "a/ask"),
    "a run inside": (Chain([("a", Chain([("in", model)], name="n")), ("b", code)]), "a/n/in"),
    "a classifier": (Route(classify=model, arms={"a": code, "b": code}), "classify"),
    "a draft": (Refine(draft=model, judge=lambda _r: False), "draft_0"),
    "a judge": (Refine(draft=code, judge=judge), "judge_0"),
    "a branch": (Parallel([model, model], concurrency=1), "0"),
    "a vote": (Vote(model, n=3, concurrency=1, early_stop=False), "vote_0"),
    "a turn": (Loop(bare_turn, max_turns=3), "turn_0"),
    "a tool": (looking(lambda: model(None)), "turn_0/look"),
    "a tool that asks inside": (looking(asks_as_a_tool), "turn_0/look/ask"),
    "tools that are no bus": (looking(code, tools=Bare()), "turn_0/look"),
    "a summary": (looking(lambda: "found it", compact=Compact(model, after=2, keep=1)), "compact"),
    "a lead": (
        Orchestrate(plan=lambda _v: bare(data=PLAN), workers={"w": code}, merge=code),
        "plan",
    ),
    "a worker": (Orchestrate(plan=lambda _v: PLAN, workers={"w": model}, merge=code), "plan/a"),
}


@pytest.mark.parametrize(("made", "path"), PLACES.values(), ids=PLACES)
def test_a_reply_without_usage_ends_the_run_wherever_a_model_is_asked(
    go: Go, made: Any, path: str
) -> None:
    metered = Run(limits=Limits(max_tokens=100))
    result = go(made.run, 1, run=metered)
    steps = list(result.rollout.all_steps())
    told = [step.path for step in steps if step.meta.get("usage_missing")]
    later = steps[[step.path for step in steps].index(path) + 1 :]

    assert (result.stopped_by, result.status) == ("unmetered", "incomplete")
    assert told == [path]
    assert [
        step.path for step in later if step.kind != "decision" and step.status != "skipped"
    ] == []
    assert go(replay, result.rollout, made).rollout.same_as(result.rollout)


@pytest.mark.parametrize(("made", "path"), PLACES.values(), ids=PLACES)
def test_it_may_be_allowed_and_without_a_ceiling_nothing_counts(
    go: Go, made: Any, path: str
) -> None:
    allowed = Run(limits=Limits(max_tokens=100, allow_unmetered=True))
    result, free = go(made.run, 1, run=allowed), go(made.run, 1)

    assert result.stopped_by == free.stopped_by != "unmetered"
    assert path in [step.path for step in result.rollout.all_steps()]
