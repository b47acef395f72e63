"""One call of a tool: whatever goes wrong is a result that tells the model why."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

import anyio
import pytest
from pydantic import BaseModel, Field

from interlock import (
    Chain,
    ConfigError,
    ErrorInfo,
    Reply,
    Run,
    Stage,
    Tool,
    ToolBus,
    ToolCall,
    ToolResult,
    Usage,
    UsageError,
    finish,
    tool,
    toolbus,
)
from interlock.harness import Ctx, inline_sync
from interlock.testing import ManualClock, scripted

from .conftest import Go

AnyTool = Tool[..., Any]
HIDDEN = "/srv/app/hidden/keys.txt"


@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


class Answer(BaseModel):
    text: str
    score: float = Field(default=1, ge=0, le=1)


class Tree(BaseModel):
    name: str
    parts: list[Tree] = []


@tool(effect="readonly")
def lookup(city: str, day: date | None = None, limit: Annotated[int, Field(ge=1)] = 5) -> str:
    """Look up the weather of a city."""
    return f"{city} {day} {limit}"


@tool
async def pay(to: Point, by: Literal["card", "cash"], notes: tuple[str, ...] = ()) -> object:
    """Pay somebody."""
    return {"x": to.x, "y": to.y, "by": by, "notes": list(notes)}


BUS = toolbus([lookup, pay, finish()])


def call(name: str, args: Mapping[str, object] | None = None, **more: object) -> ToolCall:
    return ToolCall("c1", name, {**(args or {}), **more})


def answering(value: object, **options: Any) -> AnyTool:
    async def answer() -> object:
        if isinstance(value, BaseException):
            raise value
        return value

    return tool(answer, **options)


def result_of(go: Go, one: AnyTool, **args: object) -> Any:
    result = go(toolbus([one]).invoke, call(one.name, args))
    assert isinstance(result, ToolResult)
    return result


def test_a_result_tells_the_call_the_name_and_the_effect(go: Go) -> None:
    expected = ToolResult("c1", "lookup", "completed", "Oslo None 5", effect="readonly")

    assert expected == go(BUS.invoke, call("lookup", city="Oslo"))


@pytest.mark.parametrize(
    ("name", "args", "output"),
    [
        ("lookup", {"city": "Oslo", "day": "2026-02-01"}, "Oslo 2026-02-01 5"),
        ("lookup", {"city": "Oslo", "day": None, "limit": 1}, "Oslo None 1"),
        ("pay", {"to": {"x": 1}, "by": "card"}, {"x": 1, "y": 0, "by": "card", "notes": []}),
        (
            "pay",
            {"to": {"x": 1, "y": 2}, "by": "cash", "notes": ["a", "b"]},
            {"x": 1, "y": 2, "by": "cash", "notes": ["a", "b"]},
        ),
    ],
)
def test_arguments_become_what_is_annotated(
    go: Go, name: str, args: Mapping[str, object], output: object
) -> None:
    result = go(BUS.invoke, call(name, args))

    assert (result.status, result.output) == ("completed", output)


FAULTY: list[tuple[str, Mapping[str, object], list[str]]] = [
    ("lookup", {}, ["city: is required"]),
    ("lookup", {"city": 3}, ["city: 3:"]),
    ("lookup", {"city": "a", "limit": "5"}, ['limit: "5":']),
    ("lookup", {"city": "a", "limit": 0}, ["limit: 0:"]),
    ("lookup", {"city": "a", "limit": True}, ["limit: true:"]),
    ("lookup", {"city": None, "dy": 1, "limit": 0}, ["city: null:", 'mean "day"?', "limit: 0:"]),
    ("lookup", {"city": "a", "day": "2026-02-30"}, ["day: "]),
    ("pay", {"to": {"x": "1", "y": 2.5}, "by": "coin"}, ["to.x: ", "to.y: ", 'by: "coin": ']),
    ("pay", {"to": {}, "by": "card", "notes": ["a", 1]}, ["to.x: is required", "notes[1]: 1:"]),
    ("lookup", {"city": float("nan")}, ["arguments.city"]),
    ("lookup", {"city": object()}, ["arguments.city"]),
    ("finish", {}, ["answer: is required"]),
]


@pytest.mark.parametrize(("name", "args", "told"), FAULTY, ids=[str(one[1]) for one in FAULTY])
def test_every_fault_of_the_arguments_is_told(
    go: Go, name: str, args: Mapping[str, object], told: list[str]
) -> None:
    result = go(BUS.invoke, call(name, args))

    assert (result.status, result.error.type) == ("failed", "invalid_arguments")
    assert [] == [one for one in told if one not in result.output]


@pytest.mark.parametrize("args", [None, [], "text", 3, {1: 2}])
def test_arguments_that_are_no_mapping_of_names_are_refused(go: Go, args: Any) -> None:
    result = go(BUS.invoke, ToolCall("c1", "lookup", args))

    assert (result.status, result.error.type) == ("failed", "invalid_arguments")


def deep(levels: int) -> dict[str, object]:
    inner: dict[str, object] = {"name": "leaf"}
    for _ in range(levels):
        inner = {"name": "a", "parts": [inner]}
    return inner


@pytest.mark.parametrize(
    ("levels", "status"), [(3, "completed"), (120, "failed"), (90000, "failed")]
)
def test_arguments_of_any_depth_end_in_a_result(go: Go, levels: int, status: str) -> None:
    async def grow(tree: Tree) -> str:
        return tree.name

    assert result_of(go, tool(grow), tree=deep(levels)).status == status


def test_arguments_that_could_not_be_read_never_reach_the_tool(go: Go) -> None:
    ran: list[str] = []

    def note(text: str) -> None:
        ran.append(text)

    bus = toolbus(note)
    cut_off = ToolCall("c1", "note", {"text": "a"}, args_error="the JSON ends in a text")
    result = go(bus.invoke, cut_off)

    assert (result.status, ran) == ("failed", [])
    assert "the JSON ends in a text" in result.output


def test_L_13_an_unknown_tool_is_named_with_what_is_offered(go: Go) -> None:
    result = go(toolbus([lookup, finish()]).invoke, call("nope"))

    assert (result.status, result.effect, result.error.cls) == ("failed", None, "not_found")
    assert [] == [name for name in ("nope", "lookup", "finish") if name not in result.output]


@pytest.mark.parametrize("name", ["", "look up", "a\nb", "x" * 100_000, "lookup\x00", None, 7])
def test_no_name_of_a_call_breaks_anything(go: Go, name: Any) -> None:
    result = go(BUS.invoke, ToolCall("c1", name))

    assert (result.status, result.error.type) == ("failed", "unknown_tool")
    assert len(result.output) < 300


@pytest.mark.parametrize(
    ("value", "output"),
    [
        ("text", "text"),
        (None, None),
        (3, 3),
        (True, True),
        ([1, "a"], [1, "a"]),
        ({"a": {"b": None}}, {"a": {"b": None}}),
        (Point(1), {"x": 1, "y": 0}),
        (Answer(text="a"), {"text": "a", "score": 1.0}),
        (Reply("said", usage=Usage(input=3)), "said"),
        (Reply("said", data={"a": 1}), {"a": 1}),
    ],
)
def test_what_a_tool_returns_is_shown_as_text_or_data(
    go: Go, value: object, output: object
) -> None:
    result = result_of(go, answering(value))

    assert (result.status, result.output) == ("completed", output)


class Broken(BaseModel):
    def model_dump(self, **_options: Any) -> dict[str, Any]:
        raise ZeroDivisionError(HIDDEN)


UNREADABLE = [object(), {"a": object()}, float("nan"), {1, 2}, b"bytes", Broken()]


@pytest.mark.parametrize("value", UNREADABLE, ids=lambda one: type(one).__name__)
def test_what_cannot_be_shown_says_that_the_call_ran(go: Go, value: object) -> None:
    result = result_of(go, answering(value))

    assert (result.status, result.error.type) == ("failed", "unreadable_output")
    assert "ran to its end" in result.output
    assert HIDDEN not in result.output


def test_a_reply_that_failed_is_a_failed_result_with_its_usage(go: Go) -> None:
    error = ErrorInfo("refusal", "no", "permission", "escalate")
    reply = Reply("half", status="failed", error=error, usage=Usage(input=3))
    result = result_of(go, answering(reply))

    assert (result.status, result.output, result.error) == ("failed", "refusal: no", error)
    assert result.usage == Usage(input=3)


@pytest.mark.parametrize(
    ("value", "most", "output"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 3, "abc\n[cut: the first 3 of 6 characters; "),
        ([1, 2, 3], 7, [1, 2, 3]),
        ({"a": "b" * 10}, 4, '{"a"\n[cut: the first 4 of 18 characters; '),
    ],
)
def test_an_output_over_its_limit_is_cut_and_says_so(
    go: Go, value: object, most: int, output: object
) -> None:
    result = result_of(go, answering(value, max_output=most))

    if isinstance(output, str) and "cut" in output:
        rest = "the call ran to its end, so do not repeat it for this]"
        assert (result.status, result.output) == ("failed", output + rest)
        assert (result.error.type, result.error.action) == ("output_too_long", "reduce_input")
    else:
        assert (result.status, result.output, result.error) == ("completed", output, None)


RAISED: list[tuple[BaseException, str]] = [
    (ValueError("no such city"), "ValueError: no such city"),
    (KeyError("a"), "KeyError: 'a'"),
    (RuntimeError(), "RuntimeError"),
    (
        FileNotFoundError(2, "Not there", HIDDEN),
        "FileNotFoundError: [Errno 2] Not there: 'keys.txt'",
    ),
    (
        PermissionError(13, "Denied", "/home/My User/a b/c.txt"),
        "PermissionError: [Errno 13] Denied: 'c.txt'",
    ),
    (ValueError(f"cannot read {HIDDEN}: empty"), "ValueError: cannot read …/keys.txt: empty"),
    (ValueError(r"in C:\Users\me\app\run.py"), "ValueError: in …/run.py"),
    (ValueError("in ~/notes/run.py, line 3"), "ValueError: in …/run.py, line 3"),
    (ValueError("https://example.com/v1/users"), "ValueError: https://example.com/v1/users"),
    (ValueError("and/or, 1/2, a/b/c"), "ValueError: and/or, 1/2, a/b/c"),
    (
        ValueError(
            f'failed: Traceback (most recent call last):\n  File "{HIDDEN}", line 1\nKeyError: 1'
        ),
        "ValueError: failed: KeyError: 1",
    ),
]


@pytest.mark.parametrize(("error", "told"), RAISED, ids=[told for _, told in RAISED])
def test_an_error_is_shown_without_paths_and_tracebacks(
    go: Go, error: BaseException, told: str
) -> None:
    result = result_of(go, answering(error))

    assert (result.status, result.output) == ("failed", told)
    assert HIDDEN not in result.to_json()


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError


def test_an_error_that_cannot_be_shown_is_named(go: Go) -> None:
    assert result_of(go, answering(Unspeakable())).output == "Unspeakable"


def test_an_error_carries_its_class_and_action(go: Go) -> None:
    error = result_of(go, answering(ConnectionResetError("reset"))).error

    assert (error.type, error.cls, error.retryable) == ("ConnectionResetError", "transient", True)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_what_is_no_exception_passes_through(error: BaseException) -> None:
    async def main() -> None:
        with pytest.raises(type(error)):
            await toolbus([answering(error)]).invoke(call("answer"))

    anyio.run(main)


def test_a_cancellation_passes_through(go: Go) -> None:
    async def main() -> bool:
        async def wait() -> None:
            await anyio.sleep_forever()

        with anyio.move_on_after(0.01) as scope:
            await toolbus([tool(wait, timeout=1000)]).invoke(call("wait"))
        return scope.cancelled_caught

    assert go(main) is True


LATE: list[tuple[Any, bool | None, str]] = [
    ("readonly", None, "failed"),
    ("readonly", False, "failed"),
    ("write", True, "failed"),
    ("irreversible", True, "failed"),
    (None, True, "failed"),
    ("write", None, "in_doubt"),
    ("write", False, "in_doubt"),
    ("destructive", None, "in_doubt"),
    ("irreversible", None, "in_doubt"),
    (None, None, "in_doubt"),
    (None, False, "in_doubt"),
]


def in_run(go: Go, clock: ManualClock, one: AnyTool, **args: object) -> Any:
    """Call a tool in a step of a run, whose clock it then has."""
    results: list[ToolResult] = []

    async def stage(_value: object, ctx: Ctx) -> str:
        results.append(await toolbus([one]).invoke(call(one.name, args), ctx))
        return "done"

    go(Chain([Stage("ask", stage)]).run, run=Run(clock=clock))
    return results[0]


@pytest.mark.parametrize(("effect", "idempotent", "status"), LATE)
def test_a_late_call_is_failed_or_in_doubt(
    go: Go, clock: ManualClock, effect: Any, idempotent: bool | None, status: str
) -> None:
    async def slow() -> str:
        await clock.sleep(31)
        return "late"

    made = tool(slow, effect=effect, idempotent=idempotent, timeout=30)
    result = in_run(go, clock, made)

    assert (result.status, result.error and result.error.cls) == (status, "timeout")
    assert result.output.startswith("TimeoutError: no answer within 30 s")
    assert ("may or may not have happened" in result.output) is (status == "in_doubt")


@pytest.mark.parametrize(("effect", "idempotent", "status"), LATE)
def test_a_timeout_that_the_tool_itself_tells_is_no_less_in_doubt(
    go: Go, effect: Any, idempotent: bool | None, status: str
) -> None:
    made = answering(TimeoutError("gave up"), effect=effect, idempotent=idempotent)

    assert result_of(go, made).status == status


def test_a_tool_in_time_is_answered(go: Go, clock: ManualClock) -> None:
    async def quick() -> str:
        await clock.sleep(29)
        return "in time"

    assert in_run(go, clock, tool(quick, timeout=30)).output == "in time"


def test_a_timeout_without_a_run_is_by_the_clock_of_the_system(go: Go) -> None:
    async def hang() -> None:
        await anyio.sleep_forever()

    assert result_of(go, tool(hang, timeout=0.01)).status == "in_doubt"


def test_a_sync_tool_runs_in_a_thread_unless_told_otherwise(go: Go) -> None:
    def where() -> str:
        return threading.current_thread().name

    here = threading.current_thread().name
    assert result_of(go, tool(where)).output != here
    with inline_sync():
        assert result_of(go, tool(where)).output == here


def test_a_sync_function_that_gives_something_to_wait_for_is_waited_for(go: Go) -> None:
    async def answer(text: str) -> str:
        return text

    def later(text: str) -> object:
        return answer(text)

    bus = toolbus(later)
    assert go(bus.invoke, call("later", text="a")).output == "a"


def context_tools() -> list[Callable[..., Any]]:
    def by_name(x: int, ctx: Any) -> str:
        return f"{x} {ctx.path}"

    def by_annotation(context: Ctx, x: int) -> str:
        return f"{x} {context.path}"

    def optional(x: int, *, context: Ctx | None = None) -> str:
        return f"{x} {context.path if context else None}"

    async def awaited(x: int, ctx: Any = None) -> str:
        return f"{x} {ctx.path}"

    return [by_name, by_annotation, optional, awaited]


@pytest.mark.parametrize("function", context_tools(), ids=lambda one: str(one.__name__))
def test_a_context_is_handed_over_and_not_shown(
    go: Go, clock: ManualClock, function: Callable[..., Any]
) -> None:
    made = tool(function)

    assert [*made.schema["properties"]] == ["x"]
    assert in_run(go, clock, made, x=1).output == "1 ask"


def test_usage_that_the_run_has_counted_counts_once(go: Go) -> None:
    inner = Chain([("model", scripted(Reply("a", usage=Usage(input=7))))], name="inner")
    results: list[ToolResult] = []

    async def nested() -> object:
        return await inner.run()

    async def stage(_value: object, ctx: Ctx) -> Reply:
        results.append(await toolbus([tool(nested)]).invoke(call("nested"), ctx))
        return Reply(str(results[0].output), usage=results[0].usage)

    rollout = go(Chain([Stage("ask", stage)]).run).rollout
    assert (results[0].output, rollout.usage) == ("a", Usage(input=7))


def test_usage_without_a_run_is_in_the_result(go: Go) -> None:
    inner = Chain([("model", scripted(Reply("a", usage=Usage(input=7))))], name="inner")

    result = result_of(go, tool(inner, name="inner"), values="?")
    assert (result.output, result.usage) == ("a", Usage(input=7))


def test_a_workflow_that_failed_is_a_failed_tool(go: Go) -> None:
    inner = Chain([("model", scripted(ValueError("no")))], name="inner")

    result = result_of(go, tool(inner, name="inner"), values="?")
    assert (result.status, result.output) == ("failed", "ValueError: no")


FINISHES: list[tuple[object, Mapping[str, object], object]] = [
    (None, {"answer": "42"}, "42"),
    (None, {"answer": None}, None),
    (None, {"answer": {"a": [1]}}, {"a": [1]}),
    (str, {"answer": "a"}, "a"),
    (list[int], {"answer": [1]}, [1]),
    (date, {"answer": "2026-02-01"}, "2026-02-01"),
    (Answer, {"text": "a"}, {"text": "a", "score": 1.0}),
    (Point, {"x": 1}, {"x": 1, "y": 0}),
    (
        Tree,
        {"name": "a", "parts": [{"name": "b"}]},
        deep(0) | {"name": "a", "parts": [{"name": "b", "parts": []}]},
    ),
    ({"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": 1}, {"a": 1}),
    ({"type": "string", "pattern": "^a"}, {"answer": "ab"}, "ab"),
    ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}, {"answer": 1}, 1),
    ({"enum": ["yes", "no"]}, {"answer": "yes"}, "yes"),
]


@pytest.mark.parametrize(("schema", "args", "answer"), FINISHES, ids=[str(f[:2]) for f in FINISHES])
def test_what_finish_was_called_with_is_the_answer(
    go: Go, schema: object, args: Mapping[str, object], answer: object
) -> None:
    made = finish(schema)
    result = go(toolbus([made]).invoke, call("finish", args))

    assert (made.is_finish, made.effect) == (True, "readonly")
    assert (result.status, result.output) == ("completed", answer)


@pytest.mark.parametrize(
    ("schema", "args", "told"),
    [
        (str, {"answer": 3}, "answer: 3:"),
        (list[int], {"answer": ["a"]}, 'answer[0]: "a":'),
        (Answer, {"text": "a", "score": 2}, "score: 2:"),
        (Answer, {}, "text: is required"),
        (Point, {"answer": {"x": 1}}, "x: is required"),
        ({"enum": ["yes", "no"]}, {"answer": "maybe"}, 'answer: "maybe": must be one of'),
        ({"type": "string"}, {}, "answer: is required"),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}, {"answer": "a"}, "answer: "),
    ],
)
def test_a_typed_finish_that_does_not_fit_is_failed(
    go: Go, schema: object, args: Mapping[str, object], told: str
) -> None:
    result = go(toolbus([finish(schema)]).invoke, call("finish", args))

    assert result.status == "failed"
    assert told in result.output


def test_a_call_that_is_none_is_misuse(go: Go) -> None:
    async def main() -> None:
        with pytest.raises(UsageError, match="takes a ToolCall, not a dict"):
            await BUS.invoke({"name": "lookup"})  # type: ignore[arg-type]

    go(main)


def test_many_calls_at_once_are_answered_each(go: Go) -> None:
    def double(x: int) -> int:
        return 2 * x

    bus: ToolBus = toolbus([tool(double)])
    answers: dict[int, object] = {}

    async def ask(x: int) -> None:
        answers[x] = (await bus.invoke(call("double", x=x))).output

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            for x in range(100):
                tasks.start_soon(ask, x)

    go(main)
    assert answers == {x: 2 * x for x in range(100)}


def test_a_schema_without_a_json_form_is_refused_when_the_tool_is_made() -> None:
    def odd(thing: threading.Lock) -> None:
        del thing

    with pytest.raises(ConfigError, match=r"odd\.thing: has no JSON Schema"):
        tool(odd)
