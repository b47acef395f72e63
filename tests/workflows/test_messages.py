"""The messages of providers, built from the state of a loop, and held to their own types."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from anthropic.types import MessageParam
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

from interlock import Compact, ErrorInfo, Reply, ToolCall, ToolResult, UsageError, loop
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


def bare(
    *calls: ToolCall, turn: int = 0, said: object = "x", status: Any = "completed"
) -> Exchange:
    results = (ToolResult(one.id, one.name, status, said, turn=turn) for one in calls)
    return Exchange(Reply(calls=calls), tuple(results))


REPEATED = {
    "in one reply": [bare(call("a", "c"), call("b", "c"), call("a", "c"))],
    "in two replies": [bare(call("a", "c")), bare(call("a", "c"), turn=1)],
    "one that is made up": [bare(call("a", "call_0_1"), ToolCall("", "b"))],
    "what makes one its own": [bare(call("a", "c"), call("b", "c_2"), call("a", "c"))],
    "halves of pairs": [bare(call("a", "\ud800"), call("b", "\ud801"))],
    "what else Anthropic refuses": [bare(call("a", "f.a:0"), call("b", "f.a:0"), call("b", "ä ö"))],
}


@BUILDERS
@pytest.mark.parametrize("exchanges", REPEATED.values(), ids=REPEATED)
def test_no_two_calls_have_one_id(build: Any, exchanges: list[Exchange]) -> None:
    asked, answered = idents(build(state("?", *exchanges)))

    assert asked == answered
    assert len(set(asked)) == len(asked) == sum(len(one.results) for one in exchanges)
    if build is anthropic_messages:
        assert all(re.fullmatch(r"[A-Za-z0-9_-]+", ident) for ident in asked)
    else:
        assert asked[0] in ("c", "call_0_1", "?", "f.a:0")


def names(messages: list[dict[str, Any]]) -> list[str]:
    """Give the names of the tools that are called, over all providers' shapes."""
    found: list[str] = []
    for message in messages:
        found += [one["function"]["name"] for one in message.get("tool_calls", [])]
        found += [message["name"]] if message.get("type") == "function_call" else []
        for block in message["content"] if isinstance(message.get("content"), list) else []:
            found += [block["name"]] if block["type"] == "tool_use" else []
    return found


@BUILDERS
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("look_up-2", "look_up-2"),
        ("functions.look", "functions_look"),
        ("look up/../x", "look_up____x"),
        ("", "_"),
        ("größe\ud800", "gr__e_"),
        ("n" * 65, None),
        ("n" * 999, None),
    ],
)
def test_a_made_up_name_is_one_that_providers_take(build: Any, name: str, told: str) -> None:
    (said,) = names(build(state("?", bare(call(name, "c")))))
    most = 128 if build is anthropic_messages else 64

    assert said == (told if told is not None else name[:most])
    assert build(state("?", bare(call(name, "c"))))


HALF = "caf\udce9"
"""As in the name of a file that is no UTF-8."""


@BUILDERS
@pytest.mark.parametrize(
    "given",
    [
        state(HALF),
        state([{"role": "user", "content": [{"type": "text", "text": HALF}]}]),
        state({"a": HALF}),
        state("?", bare(call("ls", "c"), said=HALF)),
        state("?", bare(call("ls", "c"), said=[HALF, {HALF: 1}])),
        state("?", bare(call(HALF, HALF, **{HALF: [HALF]}))),
        state("?", Exchange(says(HALF))),
        state("?", first=ToolResult("", "compacted", "completed", HALF, replaced=2)),
    ],
)
def test_half_of_a_pair_can_be_sent(build: Any, given: LoopState) -> None:
    wire = json.dumps(build(given), ensure_ascii=False).encode()

    assert b"caf" in wire
    assert b"user" in wire


@BUILDERS
def test_messages_of_any_depth_are_taken_as_they_are(build: Any) -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    (message,) = build(state([{"role": "user", "content": deep}]))

    assert message["content"][0]


@BUILDERS
def test_whole_pairs_stay(build: Any) -> None:
    assert "\U0001f600 é" in str(build(state("\U0001f600 é")))


@BUILDERS
@pytest.mark.parametrize(
    ("result", "told"),
    [
        (ToolResult("c", "a", "failed", "", ErrorInfo("down", "no answer")), "down: no answer"),
        (ToolResult("c", "a", "failed", None, ErrorInfo("down", "no answer")), "down: no answer"),
        (ToolResult("c", "a", "failed", ""), "failed"),
        (ToolResult("c", "a", "in_doubt"), "in_doubt"),
        (ToolResult("c", "a", "failed", 0), "0"),
    ],
)
def test_a_failure_is_never_without_a_word(build: Any, result: ToolResult, told: str) -> None:
    # Anthropic refuses an error that says nothing.
    last = build(state("?", Exchange(asks(call("a", "c")), (result,))))[-1]
    block = last["content"][0] if build is anthropic_messages else last

    assert block.get("content", block.get("output")) == told


@BUILDERS
def test_a_reply_that_says_nothing_is_no_message(build: Any) -> None:
    empty = Exchange(Reply(stop="pause"))
    messages = build(state("?", empty, bare(call("a", "c")), empty))

    assert messages == build(state("?", bare(call("a", "c"))))
    assert TYPES[build].validate_python(messages) is not None


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
