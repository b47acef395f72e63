"""The messages of providers, built from the state of a loop, and held to their own types."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from anthropic.types import MessageParam
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

from interlock import Compact, Reply, ToolCall, ToolResult, UsageError, loop
from interlock.harness import (
    Exchange,
    LoopState,
    Remaining,
    anthropic_messages,
    openai_messages,
    responses_items,
)

from .conftest import Go
from .loops import Desk, Turns, asks, call, says

TYPES: dict[Any, TypeAdapter[Any]] = {
    openai_messages: TypeAdapter(list[ChatCompletionMessageParam]),
    responses_items: TypeAdapter(list[ResponseInputItemParam]),
    anthropic_messages: TypeAdapter(list[MessageParam]),
}
BUILDERS = pytest.mark.parametrize("build", TYPES, ids=lambda build: build.__name__)


def state(values: object = "?", *exchanges: Exchange, first: ToolResult | None = None) -> LoopState:
    results = tuple(one for exchange in exchanges for one in exchange.results)
    return LoopState(
        values=values,
        turn=len(exchanges),
        results=results if first is None else (first, *results),
        last=exchanges[-1].reply if exchanges else None,
        exchanges=exchanges,
        remaining=Remaining(),
    )


LOOKED = Exchange(
    asks(call("lookup", "c1", key="a"), call("remove", "c2"), text="Looking."),
    (
        ToolResult("c1", "lookup", "completed", {"n": 1}),
        ToolResult("c2", "remove", "blocked", "blocked: no"),
    ),
)
SUMMARY = ToolResult("", "compacted", "completed", "earlier: nothing", replaced=3)
WHOLE = state("?", LOOKED, Exchange(says("Done.")), first=SUMMARY)


@BUILDERS
@pytest.mark.parametrize("blank", ["", " ", "\n\t "])
def test_a_blank_text_is_none(build: Any, blank: str) -> None:
    asked = Exchange(
        asks(call("lookup", "c1"), text=blank), (ToolResult("c1", "lookup", "completed", "x"),)
    )
    bare = replace(asked, reply=asks(*asked.reply.calls))

    assert build(state("?", asked)) == build(state("?", bare))
    assert build(state("?", Exchange(says(blank), ()))) == build(state("?"))
    TYPES[build].validate_python(build(state("?", asked)))


def test_openai_chat() -> None:
    assert openai_messages(WHOLE) == [
        {"role": "user", "content": "?"},
        {"role": "user", "content": "earlier: nothing"},
        {
            "role": "assistant",
            "content": "Looking.",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "lookup", "arguments": '{"key":"a"}'},
                },
                {
                    "id": "c2",
                    "type": "function",
                    "function": {"name": "remove", "arguments": "{}"},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '{"n":1}'},
        {"role": "tool", "tool_call_id": "c2", "content": "blocked: no"},
        {"role": "assistant", "content": "Done."},
    ]


def test_openai_responses() -> None:
    assert responses_items(WHOLE) == [
        {"role": "user", "content": "?"},
        {"role": "user", "content": "earlier: nothing"},
        {"role": "assistant", "content": "Looking."},
        {"type": "function_call", "call_id": "c1", "name": "lookup", "arguments": '{"key":"a"}'},
        {"type": "function_call", "call_id": "c2", "name": "remove", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": '{"n":1}'},
        {"type": "function_call_output", "call_id": "c2", "output": "blocked: no"},
        {"role": "assistant", "content": "Done."},
    ]


def test_anthropic() -> None:
    assert anthropic_messages(WHOLE) == [
        {"role": "user", "content": "?"},
        {"role": "user", "content": "earlier: nothing"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "c1", "name": "lookup", "input": {"key": "a"}},
                {"type": "tool_use", "id": "c2", "name": "remove", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": '{"n":1}'},
                {
                    "type": "tool_result",
                    "tool_use_id": "c2",
                    "content": "blocked: no",
                    "is_error": True,
                },
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ]


STATES = [
    WHOLE,
    state(),
    state(None, LOOKED),
    state({"question": "?", "n": [1, 2]}, LOOKED),
    state("?", Exchange(asks(call("x")), (ToolResult("id_x", "x", "completed", None),))),
    state("?", Exchange(says(""))),
]


@BUILDERS
@pytest.mark.parametrize("given", STATES)
def test_they_are_what_the_clients_take(build: Any, given: LoopState) -> None:
    messages = build(given)

    assert TYPES[build].validate_python(messages) is not None


@BUILDERS
def test_values_come_first(build: Any) -> None:
    own = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "?"}]

    assert build(state({"n": 1}))[0] == {"role": "user", "content": '{"n":1}'}
    assert build(state(own)) == own
    assert build(state(own)) is not own
    assert build(state([1, 2]))[0] == {"role": "user", "content": "[1,2]"}
    assert build(state(None)) == []


@BUILDERS
def test_calls_without_an_id_get_one_that_both_bear(build: Any) -> None:
    bare = Exchange(
        Reply(calls=(ToolCall("", "a"), ToolCall("", "b"))),
        (ToolResult("", "a", "completed", "A", turn=2), ToolResult("", "b", "completed", "B")),
    )
    wire = str(build(state("?", bare)))

    assert wire.count("call_2_0") == 2
    assert wire.count("call_0_1") == 2


@BUILDERS
def test_a_call_without_its_result_is_misuse(build: Any) -> None:
    with pytest.raises(UsageError, match="1 calls and 0 results"):
        build(state("?", Exchange(asks(call("x")))))


def idents(messages: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """Give the ids of calls and of results, in order, over all providers' shapes."""
    asked: list[str] = []
    answered: list[str] = []
    for message in messages:
        asked += [one["id"] for one in message.get("tool_calls", [])]
        if message.get("role") == "tool":
            answered.append(message["tool_call_id"])
        if message.get("type") == "function_call":
            asked.append(message["call_id"])
        if message.get("type") == "function_call_output":
            answered.append(message["call_id"])
        for block in message["content"] if isinstance(message.get("content"), list) else []:
            asked += [block["id"]] if block["type"] == "tool_use" else []
            answered += [block["tool_use_id"]] if block["type"] == "tool_result" else []
    return asked, answered


@BUILDERS
def test_pairs_stay_whole_through_compactions(go: Go, desk: Desk, build: Any) -> None:
    replies = [
        asks(*(call("lookup", f"c{at}.{one}", key=f"{at}.{one}") for one in range(1 + at % 3)))
        for at in range(9)
    ]
    turn = Turns(*replies, says("x"))
    compact = Compact(lambda _older: "s", after=4, keep=2)
    result = go(loop, "?", turn=turn, tools=desk.bus, compact=compact, max_turns=20)

    assert result.compactions.count > 1
    for each in turn.states:
        messages = build(each)
        asked, answered = idents(messages)
        assert asked == answered
        assert TYPES[build].validate_python(messages) is not None
