"""Workflows of what stands at the top of a module go to another process and work there."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from interlock import (
    Cascade,
    Chain,
    Checks,
    Compact,
    Graph,
    Hooks,
    Loop,
    Orchestrate,
    Parallel,
    Refine,
    Retry,
    Route,
    Stage,
    Tier,
    ToolBus,
    ToolCall,
    UsageError,
    Verdict,
    Vote,
    finish,
    tool,
    toolbus,
)
from interlock.harness import Ctx, DeadlineCheck, LoopState, StallDetect, Work

from .conftest import Go
from .loops import asks, says


def text(value: object) -> str:
    return f"text of {value}"


def allow(_call: ToolCall, _effect: object) -> None:
    """Let every call pass."""


async def talk(value: object, ctx: Ctx) -> str:
    return f"{ctx.path} of {value}"


def yes(_value: object) -> bool:
    return True


def name(_value: object) -> str:
    return "a"


def good(_reply: object) -> Verdict:
    return Verdict(ok=True, score=1)


def plan(_inputs: object) -> dict[str, Any]:
    return {"steps": [{"id": "a", "worker": "w", "params": {"n": 1}}]}


def summed(_results: object) -> str:
    return "summary"


@dataclass
class Order:
    number: int


@tool(effect="readonly")
def look(order: int, note: str = "none") -> str:
    """Look something up."""
    return f"{order}: {note}"


@tool(effect="write", idempotent=True)
async def save(order: Order, ctx: Ctx) -> str:
    """Save something."""
    return f"saved {order.number} at {ctx.path if ctx else 'nowhere'}"


def plain(x: int) -> int:
    return x + 1


def any_of(**given: object) -> dict[str, object]:
    return given


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/n"}},
    "$defs": {"n": {"type": "integer"}},
}
BUS = toolbus(
    [
        look,
        save,
        plain,
        tool(any_of, name="schemed", schema=SCHEMA, timeout=5),
        tool(Chain([("a", text)]), name="research", effect="readonly"),
        toolbus(look, prefix="crm_"),
        finish(),
    ]
)
CALLS = [
    ToolCall("1", "look", {"order": 7}),
    ToolCall("2", "look", {"order": "7"}),
    ToolCall("3", "save", {"order": {"number": 3}}),
    ToolCall("4", "plain", {"x": 1}),
    ToolCall("5", "schemed", {"a": 1}),
    ToolCall("6", "schemed", {"a": "1"}),
    ToolCall("7", "crm_look", {"order": 8, "note": "b"}),
    ToolCall("8", "finish", {"answer": 1}),
    ToolCall("9", "nope", {}),
]


def turn(state: LoopState) -> object:
    return says("end") if state.turn == 2 else asks(*CALLS[: 6 + state.turn])


def graph() -> Graph:
    made = Graph("graph")
    made.node("a", text)
    made.node("b", talk, needs=["a"])
    return made


MADE: dict[str, Any] = {
    "cascade": Cascade([Tier("a", text, timeout=5), ("b", talk)], accept=yes),
    "checks": Cascade([("a", text)], accept=Checks([{"path": "output", "op": "isNotEmpty"}])),
    "chain": Chain([Stage("a", text, yes, retry=Retry()), ("b", talk)]),
    "graph": graph(),
    "compiled graph": graph().compile(),
    "route": Route(classify=name, arms={"a": talk}),
    "refine": Refine(draft=text, judge=good),
    "parallel": Parallel({"a": text, "b": Work(talk, timeout=5)}),
    "vote": Vote(text, n=3, early_stop=False),
    "orchestrate": Orchestrate(plan=plan, workers={"w": text}, merge=text),
    "loop": Loop(turn, tools=BUS, parallel_tools=True),
    "loop with rules": Loop(
        turn,
        tools=toolbus([look, save, finish(Order)]),
        compact=Compact(summed, after=2, keep=1),
        stop=[StallDetect(), DeadlineCheck(budget_ms=60_000)],
        hooks=[Hooks(before_tool=allow)],
    ),
    "inside each other": Chain([("a", Loop(turn, tools=BUS)), ("b", Parallel({"a": name}))]),
}
"""One of every kind of compiled workflow; a new one is one row."""

FINISHES: list[Any] = [
    None,
    Order,
    int,
    list[str],
    {"type": "string", "maxLength": 3},
    {"type": "object", "properties": {"a": {"type": "integer"}}},
]


def sent(value: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))  # noqa: S301


def seen(result: Any) -> tuple[object, ...]:
    steps = [(one.path, one.status, one.output) for one in result.rollout.all_steps()]
    return result.status, result.stopped_by, result.output, steps


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("kind", MADE)
def test_a_workflow_is_the_same_after_it(go: Go, kind: str, protocol: int) -> None:
    made = MADE[kind]
    again = sent(made, protocol)

    assert (type(again), again.digest) == (type(made), made.digest)
    assert seen(go(again.run, {"q": 1})) == seen(go(made.run, {"q": 1}))


@pytest.mark.parametrize("kind", ["chain", "route"])
def test_its_shape_is_the_same_after_it(kind: str) -> None:
    assert sent(MADE[kind].compile()) == MADE[kind].compile()


@pytest.mark.parametrize("each", CALLS, ids=lambda one: f"{one.name}-{one.id}")
def test_a_bus_answers_the_same_after_it(go: Go, each: ToolCall) -> None:
    again = sent(BUS)

    assert isinstance(again, ToolBus)
    assert (again.names, again.verify(BUS.pin())) == (BUS.names, ())
    assert go(again.invoke, each) == go(BUS.invoke, each)
    assert [one.source for one in again] == [one.source for one in BUS]


def test_a_tool_that_stands_for_its_function_is_found_by_name() -> None:
    assert sent(look) is look
    assert copy.copy(look) is copy.deepcopy(look) is look
    assert len(pickle.dumps(look)) < 200
    renamed = look.altered(name="other", effect=None)
    assert (sent(renamed).name, sent(renamed).effect) == ("other", None)
    assert sent(renamed).function is look.function


@pytest.mark.parametrize("schema", FINISHES, ids=str)
def test_a_finish(go: Go, schema: Any) -> None:
    made = toolbus(finish(schema))
    for args in ({"answer": "abc"}, {"answer": 7}, {"answer": ["a"]}, {"number": 1}, {"a": 1}, {}):
        asked = ToolCall("1", "finish", args)
        assert go(sent(made).invoke, asked) == go(made.invoke, asked)


def test_in_another_process() -> None:
    script = (
        "import pickle, sys\n"
        "made = pickle.load(sys.stdin.buffer)\n"
        "print(made.digest, made.sync({'q': 1}).output)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=pickle.dumps(MADE["loop"]),
        capture_output=True,
        check=True,
        env={"PYTHONPATH": str(Path(__file__).parent.parent)},
        cwd=Path(__file__).parent.parent,
    )

    assert done.stdout.decode().split() == [MADE["loop"].digest, "end"]


def test_what_is_not_at_the_top_of_a_module_is_refused() -> None:
    def local(x: int) -> int:
        return x

    for made in (Chain([("a", local)]), Loop(turn, tools=toolbus(local))):
        with pytest.raises((pickle.PicklingError, AttributeError), match="local"):
            pickle.dumps(made)


def test_a_tool_that_is_gone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    written = pickle.dumps(look)
    monkeypatch.setattr(sys.modules[__name__], "look", None)

    with pytest.raises(UsageError, match=r"test_pickled\.look is no tool in this process"):
        pickle.loads(written)  # noqa: S301
