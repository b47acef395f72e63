"""What is refused, each with the field that is wrong, all of it at once."""

from __future__ import annotations

import gc
import math
import pickle
import time
from typing import Any

import anyio
import pytest

from interlock import (
    Cascade,
    Chain,
    ConfigError,
    DecisionTable,
    Gate,
    Graph,
    Limits,
    Loop,
    Orchestrate,
    Parallel,
    Refine,
    Retry,
    Route,
    Run,
    Stage,
    Tier,
    ToolBus,
    UsageError,
    Vote,
    Work,
    cascade,
    chain,
    finish,
    mcp_tools,
    parallel,
    refine,
    route,
    tier_report,
    toolbus,
    vote,
)
from interlock.harness import Ctx
from interlock.testing import scripted

from .conftest import Go

TABLE = DecisionTable(
    [{"id": "r", "when": [{"path": "x", "op": "exists"}], "outputs": "ok"}], policy="first"
)


def yes(_reply: object) -> bool:
    return True


def text(_value: object) -> str:
    return "a"


def graph(*nodes: Any, **options: Any) -> Any:
    """Compile a graph of nodes with needs and conditions."""
    made = Graph(**options)
    for name, run, *rest in nodes:
        made.node(name, run, **dict(zip(("needs", "when"), rest, strict=False)))
    return made.compile()


def led(**options: Any) -> Orchestrate:
    return Orchestrate(**{"plan": text, "workers": {"a": text}, "merge": text, **options})


CASES: list[tuple[Any, list[str]]] = [
    *(
        (lambda name=name, value=value: Limits(**{name: value}), [f"limits.{name}"])
        for name, values in {
            "max_tokens": (-1, True, 1.5, math.inf, "9"),
            "max_cost": (-1, 0.5, math.nan),
            "max_steps": (-1, False),
            "timeout": (-1, 0, math.inf, math.nan, True, "1", 1e9 + 1, 10**400),
            "step_timeout": (0, math.inf, 10**400),
            "weigh": (3,),
        }.items()
        for value in values
    ),
    (lambda: Limits(max_tokens=-1, timeout=0), ["limits.max_tokens", "limits.timeout"]),
    (lambda: Limits(max_token=1), ["max_token"]),  # type: ignore[call-arg]
    (lambda: Retry(max_attempts=0), ["retry.max_attempts"]),
    (lambda: Retry(max_wait=math.inf), ["retry.max_wait"]),
    (lambda: Retry(max_wait=10**400), ["retry.max_wait"]),
    (lambda: Retry(classify=1), ["retry.classify"]),  # type: ignore[arg-type]
    (lambda: Retry(max_attempt=1), ["max_attempt"]),  # type: ignore[call-arg]
    (lambda: Run(concurrency=0), ["concurrency"]),
    (lambda: Run(concurrency=None), ["concurrency"]),  # type: ignore[arg-type]
    (lambda: Run(""), ["run_id"]),
    (lambda: Run(limits=9), ["limits"]),  # type: ignore[arg-type]
    (lambda: Run(retry=3), ["retry"]),  # type: ignore[arg-type]
    (lambda: Run(limiters={"a": 0, "b": True}), ["limiters.a", "limiters.b"]),
    (lambda: Run(limiters=[1]), ["limiters"]),  # type: ignore[arg-type]
    (lambda: Run(content="some"), ["content"]),  # type: ignore[arg-type]
    (lambda: Run(tags={"a": object()}), ["tags.a"]),
    (lambda: Run(tags={"a": math.nan}), ["tags.a"]),
    (lambda: Run(tags=["a"]), ["tags"]),  # type: ignore[arg-type]
    (lambda: Run(on_event=3), ["on_event"]),  # type: ignore[arg-type]
    (lambda: Run(clock=time), ["clock"]),  # type: ignore[arg-type]
    (lambda: Run(concurrency=0, on_event="a", clock=3, hooks=3), [  # type: ignore[arg-type]
        "concurrency", "on_event", "clock", "hooks"]),
    (lambda: Chain([("a", text)]).sync(backend="curio"), ["backend"]),
    (lambda: Run(limit=Limits()), ["limit"]),  # type: ignore[call-arg]
    (lambda: Cascade([], accept=yes), ["tiers"]),
    (lambda: Cascade("ab", accept=yes), ["tiers"]),  # type: ignore[arg-type]
    (lambda: Cascade([("a", text), ("a", text)], accept=yes), ["tiers[1].name"]),
    (lambda: Cascade([("a/b", text)], accept=yes), ["tiers[0].name"]),
    (lambda: Cascade([("a\n", text)], accept=yes), ["tiers[0].name"]),
    (lambda: Cascade([("", text)], accept=yes), ["tiers[0].name"]),
    (lambda: Cascade([("a", text), ("accept_a", text)], accept=yes), ["tiers[1].name"]),
    (lambda: Cascade([("a", text)], accept=yes, name="x/y"), ["name"]),
    (lambda: Cascade([("a", text)], accept=yes, max_tokens=-1), ["max_tokens"]),
    (lambda: Cascade([("a", text)], accept=yes, on_error=1), ["on_error"]),  # type: ignore[arg-type]
    (lambda: Cascade([("a", text)], accept=lambda: True), ["accept"]),
    (lambda: Cascade([Tier("a", text, timeout=0)], accept=yes), ["tiers[0].timeout"]),
    (lambda: Cascade([Tier("a", text, reserve=-1)], accept=yes), ["tiers[0].reserve"]),
    (lambda: Cascade([Tier("a", text, cost_ms=0)], accept=yes), ["tiers[0].cost_ms"]),
    (lambda: Cascade([3, ("a", 4)], accept=5, max_tokens=-1), [  # type: ignore[list-item]
        "tiers[0]", "max_tokens", "tiers[0].run", "accept"]),
    (lambda: Tier("a", text, timout=1), ["timout"]),  # type: ignore[call-arg]
    (lambda: Gate(1, passes=[]), ["passes"]),  # type: ignore[call-arg, arg-type]
    (lambda: Cascade([("a", text)], accept=Gate(TABLE, pass_="ok")), ["accept.pass_"]),  # noqa: S106 (no password)
    (lambda: Cascade([("a", text)], accept=Gate(TABLE, pass_=None)), ["accept.pass_"]),  # type: ignore[arg-type]
    (lambda: Chain([Stage("a", text, Gate(TABLE, pass_={"ok"}))]), ["steps[0].gate.pass_"]),  # type: ignore[arg-type]
    (lambda: Chain([]), ["steps"]),
    (lambda: Chain([("a", text), ("a", text)]), ["steps[1].name"]),
    (lambda: Chain([Stage("a", text, gate=3)]), ["steps[0].gate"]),
    (lambda: Chain([Stage("a", text, retry=3)]), ["steps[0].retry"]),  # type: ignore[arg-type]
    (lambda: Chain([("a", lambda: 1)]), ["steps[0].run"]),
    (lambda: Chain([("a", lambda _a, _b, _c: 1)]), ["steps[0].run"]),
    (lambda: Chain([("a", lambda _a, *, b: b)]), ["steps[0].run"]),
    (lambda: Stage("a", text, reserved=1), ["reserved"]),  # type: ignore[call-arg]
    (graph, ["nodes"]),
    (lambda: graph(("a", text), ("a", text)), ["nodes[1].name"]),
    (lambda: graph(("a/b", text)), ["nodes[0].name"]),
    (lambda: graph(("a\n", text)), ["nodes[0].name"]),
    (lambda: graph(("", text), (3, text)), ["nodes[0].name", "nodes[1].name"]),
    (lambda: graph(("a", text), ("when_a", text)), ["nodes[1].name"]),
    (lambda: graph(("a", text, "b")), ["nodes[0].needs"]),
    (lambda: graph(("a", text, ["b"])), ["nodes[0].needs[0]"]),
    (lambda: graph(("a", text, [3])), ["nodes[0].needs[0]"]),
    (lambda: graph(("a", text, ["a"])), ["nodes[0].needs[0]"]),
    (lambda: graph(("a", text, ["b"]), ("b", text, ["a"])), ["nodes[0].needs"]),
    (lambda: graph(("a", lambda: 1)), ["nodes[0].run"]),
    (lambda: graph(("a", text, [], 3)), ["nodes[0].when"]),
    (lambda: graph(("a", text, [], Gate(3))), ["nodes[0].when.tool"]),  # type: ignore[arg-type]
    (lambda: graph(("a", text), name="x/y"), ["name"]),
    (lambda: graph(("a", text), fail="first"), ["fail"]),
    (lambda: graph(("a", text), max_steps=0), ["max_steps"]),
    (lambda: graph(("a", text), max_steps=None), ["max_steps"]),
    (lambda: graph(("a", text), ("b", text), max_steps=1), ["nodes"]),
    (lambda: graph(("a", text), concurrency=0), ["concurrency"]),
    (lambda: graph(("a", text), max_tokens=-1), ["max_tokens"]),
    (lambda: graph(("a", Work(text, timeout=0, reserve=-1, cost_ms=0, retry=3))), [  # type: ignore[arg-type]
        f"nodes[0].run.{name}" for name in ("timeout", "cost_ms", "reserve", "retry")]),
    (lambda: led(workers={"a": Work(text, timeout=0)}), ["workers.a.timeout"]),
    (lambda: graph(("a", 3, ["b"]), ("a", text), fail=True), [
        "fail", "nodes[1].name", "nodes[0].needs[0]", "nodes[0].run"]),
    (lambda: Graph(max_step=1), ["max_step"]),  # type: ignore[call-arg]
    (lambda: Graph().node("a", text, need=["b"]), ["need"]),  # type: ignore[call-arg]
    (Orchestrate, ["plan", "workers", "merge"]),
    (lambda: led(plan=3), ["plan"]),
    (lambda: led(merge=lambda: 1), ["merge"]),
    (lambda: led(workers={}), ["workers"]),
    (lambda: led(workers=[("a", text)]), ["workers"]),
    (lambda: led(workers={"a/b": text, "": 3}), ["workers.a/b", "workers.", "workers."]),
    (lambda: led(max_plan_steps=0), ["max_plan_steps"]),
    (lambda: led(replans=-1, plan_retries=True, concurrency=None), [
        "replans", "plan_retries", "concurrency"]),
    (lambda: led(max_tokens=1.5, name=""), ["name", "max_tokens"]),
    (lambda: led(replan=1), ["replan"]),
    (lambda: Loop(text, tools=ToolBus), ["tools"]),
    (lambda: Loop(text, tools=[text]), ["tools"]),
    (lambda: toolbus([text, finish]), ["tools[1]"]),
    (lambda: toolbus({"end": finish}), ["tools.end"]),
    (lambda: toolbus(text).only("text", ["text"], 3), ["names[1]", "names[2]"]),  # type: ignore[arg-type]
    (lambda: tier_report(3), ["rollouts"]),  # type: ignore[arg-type]
    (lambda: tier_report([1, "a"]), ["rollouts[0]", "rollouts[1]"]),  # type: ignore[list-item]
    (lambda: anyio.run(mcp_tools, None), ["session"]),
]  # fmt: skip


@pytest.mark.parametrize(("make", "fields"), CASES)
def test_refused_with_every_field(make: Any, fields: list[str]) -> None:
    with pytest.raises(ConfigError) as refused:
        make()

    assert [problem.field for problem in refused.value.problems] == fields


@pytest.mark.parametrize(
    ("make", "near"),
    [
        (lambda: Cascade([("a", text)], acept=yes), "accept"),  # type: ignore[call-arg]
        (lambda: Chain([("a", text)], nam="x"), "name"),  # type: ignore[call-arg]
        (lambda: Limits(max_token=1), "max_tokens"),  # type: ignore[call-arg]
        (lambda: Route(classify=text, arm={"a": text}), "arms"),  # type: ignore[call-arg]
        (lambda: Refine(draft=text, judge=yes, max_round=3), "max_rounds"),  # type: ignore[call-arg]
        (lambda: Parallel([text], concurency=2), "concurrency"),  # type: ignore[call-arg]
        (lambda: Vote(text, weigth=len), "weight"),  # type: ignore[call-arg]
        (lambda: Work(text, reserved=1), "reserve"),  # type: ignore[call-arg]
        (lambda: Graph().node("a", text, need=[]), "needs"),  # type: ignore[call-arg]
        (lambda: led(replan=1), "replans"),
    ],
)
def test_an_unknown_keyword_offers_the_nearest(make: Any, near: str) -> None:
    with pytest.raises(ConfigError, match=f'did you mean "{near}"'):
        make()


FUNCTIONS: list[tuple[Any, Any]] = [
    (cascade, lambda model: {"tiers": [("a", model)], "accept": yes}),
    (chain, lambda model: {"steps": [("a", model)]}),
    (route, lambda model: {"classify": model, "arms": {"a": model}}),
    (refine, lambda model: {"draft": model, "judge": model}),
    (parallel, lambda model: {"branches": [model]}),
    (vote, lambda model: {"run_one": model}),
]


@pytest.mark.parametrize(("function", "options"), FUNCTIONS)
def test_a_function_does_too_and_calls_nothing(go: Go, function: Any, options: Any) -> None:
    model = scripted()
    with pytest.raises(ConfigError, match='did you mean "run"'):
        go(function, 1, **options(model), ran=Run())
    with pytest.raises(ConfigError, match="run: 3: must be Run"):
        go(function, 1, **options(model), run=3)

    assert model.calls == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda ctx: ctx.step("a/b", text, 1), "name: "),
        (lambda ctx: ctx.step("", text, 1), "name: "),
        (lambda ctx: ctx.step(3, text, 1), "name: 3"),
        (lambda ctx: ctx.step("b", "text"), 'function: "text"'),
        (lambda ctx: ctx.step("b", text, 1, effect="read"), 'effect: "read"'),
        (lambda ctx: ctx.step("b", text, 1, kind="step"), 'kind: "step"'),
        (lambda ctx: ctx.step("b", 3, kind=3, effect=3), "function: 3.*effect: 3.*kind: 3"),
        (lambda ctx: ctx.emit(3), r"emit\(\) takes text, not 3"),
    ],
)
def test_misuse_of_a_context_is_told(go: Go, asked: Any, said: str) -> None:
    async def work(_value: object, ctx: Ctx) -> object:
        return await asked(ctx)

    with pytest.raises(UsageError, match=said):
        go(chain, 1, [("a", work)])


def test_what_nobody_waits_for_is_told(go: Go) -> None:
    async def answer(_value: object) -> str:
        return "a"

    async def forgot(value: object) -> object:
        return answer(value)

    with pytest.warns(RuntimeWarning, match="never awaited"):  # noqa: PT031 (it comes at the end)
        with pytest.raises(UsageError, match=r"stage `a` returned a coroutine .* await it"):
            go(chain, 1, [("a", forgot)])
        with pytest.raises(UsageError, match=r"accept `accept_a` returned a coroutine .* await it"):
            go(cascade, 1, [("a", text)], accept=forgot)
        gc.collect()


def test_items_that_cannot_be_told_are_misuse(go: Go) -> None:
    with pytest.raises(UsageError, match="`over` raised: ZeroDivisionError"):
        go(parallel, 0, over=lambda value: 1 // value, each=text)


def test_a_limit_that_limits_nothing_may_be_none_or_large() -> None:
    assert Limits(max_tokens=0, max_cost=None, timeout=0.001).max_tokens == 0
    assert Limits() == Limits(max_tokens=None)


@pytest.mark.parametrize(
    "function",
    [
        lambda value: value,
        lambda value, more=3: (value, more)[0],
        lambda *values: values[0],
        str,
    ],
)
def test_what_takes_one_argument_fits(go: Go, function: Any) -> None:
    assert go(chain, "a", [("a", function)]).output == "a"


def test_an_objects_attributes_cannot_be_set() -> None:
    made = Chain([("a", text)])
    for name in ("name", "steps", "other"):
        with pytest.raises(AttributeError, match="frozen"):
            setattr(made, name, None)
        with pytest.raises(AttributeError, match="frozen"):
            delattr(made, name)


@pytest.mark.parametrize("made", [Chain([("a", str)]), Cascade([Tier("a", str)], accept=bool)])
def test_a_workflow_can_be_pickled(made: Any) -> None:
    again = pickle.loads(pickle.dumps(made))  # noqa: S301

    assert (again.digest, again.sync("x").output) == (made.digest, "x")


def test_no_record_before_a_run() -> None:
    with pytest.raises(UsageError, match="nothing was run"):
        _ = Run().rollout


def test_digests_tell_setups_apart() -> None:
    made: list[Any] = [
        Chain([("a", text)]),
        Chain([("b", text)]),
        Chain([("a", yes)]),
        Chain([Stage("a", text, yes)]),
        Chain([Stage("a", text, timeout=1)]),
        Chain([("a", text)], max_tokens=5),
        Cascade([("a", text)], accept=yes),
    ]

    assert len({one.digest for one in made}) == len(made)
    assert Chain([("a", text)]).digest == made[0].digest
