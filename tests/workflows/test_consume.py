"""Streams of providers and of text, read to their end: pieces emitted, usage kept, breaks told.

The pieces are built by the client libraries, in the shapes that the providers publish, so that a
release that changes them is noticed.
"""

from __future__ import annotations

import contextlib
import importlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, ClassVar

import anyio
import httpx
import pytest
from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
from anthropic.types import RawMessageStreamEvent
from openai import AsyncOpenAI, OpenAI
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from interlock import Chain, Limits, Reply, Result, Run, ToolCall, Usage, UsageError
from interlock.harness import Ctx, Event, inline_sync

from .conftest import Go
from .test_replies import CHAT, RESPONSE

ANTHROPIC: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
RESPONSES: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> Any:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5"}
    return ChatCompletionChunk.model_validate({**head, "choices": choices, **more})


def call_delta(arguments: str, **first: Any) -> Any:
    function = {"arguments": arguments, **({"name": first.pop("name")} if first else {})}
    return chunk({"tool_calls": [{"index": 0, "function": function, **first}]})


CHAT_USAGE = CHAT["usage"]
CHAT_PIECES = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "Hel"}),
    chunk({"content": "lo."}),
    chunk({}, "stop"),
    chunk(usage=CHAT_USAGE),
]
CHAT_CALLS = [
    call_delta("", id="call_1", name="look", type="function"),
    call_delta('{"q": '),
    call_delta("1}"),
    chunk({}, "tool_calls"),
    chunk(usage=CHAT_USAGE),
]


def said(kind: str, **more: Any) -> Any:
    head = {"type": kind, "sequence_number": 0}
    return RESPONSES.validate_python({**head, **more})


def text_delta(text: str) -> Any:
    place = {"content_index": 0, "item_id": "msg_1", "output_index": 0, "logprobs": []}
    return said("response.output_text.delta", delta=text, **place)


OPENED = {**RESPONSE, "status": "in_progress", "output": [], "usage": None}
RESPONSE_PIECES = [
    said("response.created", response=OPENED),
    text_delta("Hello, "),
    text_delta("you."),
    said("response.completed", response=RESPONSE),
]


def raw(kind: str, **more: Any) -> Any:
    return ANTHROPIC.validate_python({"type": kind, **more})


STARTED = raw(
    "message_start",
    message={
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 20,
            "cache_creation_input_tokens": 16,
            "cache_read_input_tokens": 64,
            "output_tokens": 1,
        },
    },
)


def block(index: int, **more: Any) -> Any:
    return raw("content_block_start", index=index, content_block=more)


def grown(index: int, kind: str, **more: Any) -> Any:
    return raw("content_block_delta", index=index, delta={"type": kind, **more})


def stopped(reason: str) -> list[Any]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [
        raw("message_delta", delta=delta, usage={"output_tokens": 20}),
        raw("message_stop"),
    ]


MESSAGE_PIECES = [
    STARTED,
    block(0, type="thinking", thinking="", signature=""),
    grown(0, "thinking_delta", thinking="hm"),
    block(1, type="text", text=""),
    grown(1, "text_delta", text="Hel"),
    grown(1, "text_delta", text="lo."),
    raw("content_block_stop", index=1),
    block(2, type="tool_use", id="t1", name="look", input={}),
    grown(2, "input_json_delta", partial_json='{"q":'),
    grown(2, "input_json_delta", partial_json=" 1}"),
    raw("content_block_stop", index=2),
    *stopped("tool_use"),
]
READ = Usage(100, 20, cached=64, requests=1)
CALLS = (ToolCall("call_1", "look", {"q": 1}),)


def as_data(pieces: list[Any]) -> list[Any]:
    return [piece.model_dump(mode="json") for piece in pieces]


WHOLE: dict[str, tuple[list[Any], Reply, list[str]]] = {
    "chat": (
        CHAT_PIECES,
        Reply("Hello.", usage=Usage(100, 20, cached=64, reasoning=12, requests=1), stop="stop"),
        ["Hel", "lo."],
    ),
    "chat, calls": (
        CHAT_CALLS,
        Reply(
            calls=CALLS,
            usage=Usage(100, 20, cached=64, reasoning=12, requests=1),
            stop="tool_calls",
        ),
        [],
    ),
    "responses": (
        RESPONSE_PIECES,
        Reply(
            "Hello, you.", usage=Usage(100, 20, cached=64, reasoning=12, requests=1), stop="stop"
        ),
        ["Hello, ", "you."],
    ),
    "messages": (
        MESSAGE_PIECES,
        Reply(
            "Hello.",
            calls=(ToolCall("t1", "look", {"q": 1}),),
            usage=Usage(100, 20, cached=64, cache_write=16, requests=1),
            stop="tool_calls",
        ),
        ["Hel", "lo."],
    ),
    "text": (["Hel", "", "lo."], Reply("Hello."), ["Hel", "lo."]),
    "nothing": ([], Reply(), []),
}


def read(go: Go, stream: Callable[[], Any], **options: Any) -> tuple[Result, list[str]]:
    """Consume a stream in a stage; give the result and what was emitted."""
    events: list[Event] = []

    async def ask(_value: object, ctx: Ctx) -> Reply:
        return await ctx.consume(stream())

    run = Run("r", on_event=events.append, **options)
    result = go(Chain([("ask", ask)]).run, 1, run=run)
    return result, [str(event.data["text"]) for event in events if event.event == "delta"]


def alike(found: Reply, wanted: Reply) -> bool:
    names = ("output", "calls", "usage", "status", "stop", "data")
    return all(getattr(found, name) == getattr(wanted, name) for name in names)


async def flowing(pieces: list[Any], error: Exception | None = None) -> AsyncIterator[Any]:
    for piece in pieces:
        await anyio.lowlevel.checkpoint()
        yield piece
    if error is not None:
        raise error


def pulled(pieces: list[Any], error: Exception | None = None) -> Iterator[Any]:
    yield from pieces
    if error is not None:
        raise error


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("how", [flowing, pulled, list], ids=lambda how: how.__name__)
def test_a_whole_stream(go: Go, name: str, how: Any) -> None:
    pieces, wanted, emitted = WHOLE[name]
    result, deltas = read(go, lambda: how(pieces))

    assert alike(result.rollout.step("ask").reply(), wanted)
    assert deltas == emitted
    assert result.usage == wanted.usage


@pytest.mark.parametrize("name", ["chat", "chat, calls", "responses", "messages"])
def test_pieces_as_plain_data(go: Go, name: str) -> None:
    pieces, wanted, emitted = WHOLE[name]
    result, deltas = read(go, lambda: flowing(as_data(pieces)))

    assert alike(result.rollout.step("ask").reply(), wanted)
    assert deltas == emitted


@pytest.mark.parametrize("name", ["chat", "responses", "messages", "text"])
@pytest.mark.parametrize("how", [flowing, pulled], ids=lambda how: how.__name__)
@pytest.mark.parametrize("kept", [0, 1, 3])
def test_a_stream_that_breaks(go: Go, name: str, how: Any, kept: int) -> None:
    pieces = WHOLE[name][0][:kept]
    result, deltas = read(go, lambda: how(pieces, ConnectionResetError(104, "reset")))
    reply = result.rollout.step("ask").reply()

    assert (result.status, reply.status) == ("failed", "failed")
    assert reply.output == "".join(deltas)
    assert reply.meta == {"usage_estimated": True}
    assert reply.error is not None
    assert (reply.error.type, reply.error.retryable) == ("ConnectionResetError", True)
    assert reply.calls == ()
    assert result.usage.output >= -(-len(reply.output) // 4)
    assert result.usage.input == (100 if name == "messages" and kept else 0)


@pytest.mark.parametrize("name", ["chat", "responses", "messages"])
def test_a_stream_that_ends_too_early_is_broken(go: Go, name: str) -> None:
    pieces = WHOLE[name][0][:2]
    result, _ = read(go, lambda: flowing(pieces))

    assert result.status == "failed"
    assert "ended before the answer did" in str(result.error)
    assert result.rollout.step("ask").reply().meta["usage_estimated"] is True


def test_a_break_under_a_ceiling_does_not_end_the_run_as_unmetered(go: Go) -> None:
    result, _ = read(go, lambda: flowing(["x"], ConnectionError()), limits=Limits(max_tokens=100))

    assert result.stopped_by == "failed"


@pytest.mark.parametrize(
    ("pieces", "status", "stop", "calls"),
    [
        ([chunk({"content": "Hel"}, "length"), chunk(usage=CHAT_USAGE)], "incomplete", "length", 0),
        ([chunk({"refusal": "no"}, "stop"), chunk(usage=CHAT_USAGE)], "failed", "refusal", 0),
        (
            [
                call_delta('{"q', id="call_1", name="look", type="function"),
                chunk({}, "length"),
            ],
            "incomplete",
            "length",
            1,
        ),
        ([STARTED, *stopped("refusal")], "failed", "refusal", 0),
        (
            [
                STARTED,
                block(0, type="tool_use", id="t", name="look", input={}),
                grown(0, "input_json_delta", partial_json='{"q'),
                *stopped("max_tokens"),
            ],
            "incomplete",
            "length",
            1,
        ),
        (
            [
                said(
                    "response.failed",
                    response={
                        **RESPONSE,
                        "status": "failed",
                        "error": {"code": "server_error", "message": "down"},
                    },
                )
            ],
            "failed",
            None,
            0,
        ),
    ],
)
def test_an_answer_that_did_not_end_well(
    go: Go, pieces: list[Any], status: str, stop: str | None, calls: int
) -> None:
    reply = read(go, lambda: flowing(pieces))[0].rollout.step("ask").reply()

    assert (reply.status, reply.stop, len(reply.calls)) == (status, stop, calls)
    assert all(call.args_error and call.args == {} for call in reply.calls)


def test_a_stream_without_usage_is_unmetered(go: Go) -> None:
    result, _ = read(go, lambda: flowing(CHAT_PIECES[:-1]), limits=Limits(max_tokens=100))

    assert (result.stopped_by, result.output) == ("unmetered", "Hello.")


def test_an_error_event_breaks_the_stream(go: Go) -> None:
    event = said("error", code="rate_limit_exceeded", message="slow down", param=None)
    result, _ = read(go, lambda: flowing([*RESPONSE_PIECES[:2], event]))

    assert result.error is not None
    assert (result.error.cls, result.error.message) == ("rate_limited", "slow down")
    assert result.rollout.step("ask").reply().output == "Hello, "


def test_the_first_of_several_choices_is_taken(go: Go) -> None:
    second = {"index": 1, "delta": {"content": "B"}, "finish_reason": "stop"}
    first = {"index": 0, "delta": {"content": "A"}, "finish_reason": "stop"}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    piece = ChatCompletionChunk.model_validate({**head, "choices": [second, first]})
    result, deltas = read(go, lambda: flowing([piece]))

    assert deltas == ["A"]
    assert result.rollout.step("ask").reply().meta["notes"] == ["2 choices; the first is taken"]


def test_a_response_that_is_whole_will_do(go: Go) -> None:
    result, deltas = read(go, lambda: ChatCompletion.model_validate(CHAT))

    assert (result.output, deltas, result.usage.input) == ("Hello.", ["Hello."], 100)


@pytest.mark.parametrize(
    "stream",
    [
        lambda: "text",
        lambda: b"text",
        lambda: {"type": "message_start"},
        lambda: 5,
        lambda: None,
        lambda: [object()],
        lambda: [b"x"],
        lambda: [{"kind": "x"}],
        lambda: [{"type": "mystery"}],
        lambda: flowing([1]),
    ],
)
def test_what_is_no_stream_is_refused(go: Go, stream: Any) -> None:
    with pytest.raises(UsageError, match=r"stream|iterators of text"):
        read(go, stream)


HOSTILE: list[dict[str, Any]] = [
    {"type": "content_block_delta", "index": {"a": 1}, "delta": {"type": "text_delta", "text": 5}},
    {"type": "content_block_start", "index": [], "content_block": "x"},
    {"type": "message_start", "message": 7},
    {"type": "message_delta", "delta": [], "usage": {"output_tokens": -5}},
    {"object": "chat.completion.chunk", "choices": "x", "usage": []},
    {"object": "chat.completion.chunk", "choices": [{"index": 10**9, "delta": 3}, None, 5]},
    {"object": "chat.completion.chunk", "choices": [{"delta": {"tool_calls": [{"index": {}}]}}]},
    {"type": "response.completed", "response": 5},
    {"type": "response.output_text.delta", "delta": {"x": 1}},
    {"type": "error", "error": 5, "message": []},
]


@pytest.mark.parametrize("piece", HOSTILE, ids=json.dumps)
def test_hostile_pieces_break_nothing(go: Go, piece: dict[str, Any]) -> None:
    result, _ = read(go, lambda: flowing([piece]))

    assert result.status in ("completed", "failed")
    assert result.usage.output >= 0


class Held:
    """A stream that tells whether it was closed."""

    def __init__(self, pieces: list[Any], error: BaseException | None = None) -> None:
        self.closed = 0
        self._pieces, self._error = iter(pieces), error

    def __aiter__(self) -> Held:
        return self

    async def __anext__(self) -> Any:
        for piece in self._pieces:
            return piece
        if self._error is not None:
            raise self._error
        raise StopAsyncIteration

    async def close(self) -> None:
        self.closed += 1
        raise OSError("closing failed")


@pytest.mark.parametrize(
    ("pieces", "error"), [(["a"], None), (["a"], ConnectionError()), ([object()], None)]
)
def test_a_stream_is_closed_however_it_ends(go: Go, pieces: list[Any], error: Any) -> None:
    stream = Held(pieces, error)
    with contextlib.suppress(UsageError):
        read(go, lambda: stream)

    assert stream.closed == 1


def test_a_stream_is_closed_when_its_step_is_cancelled(go: Go) -> None:
    closed: list[bool] = []

    async def endless() -> AsyncIterator[str]:
        try:
            yield "a"
            await anyio.sleep_forever()
        finally:
            closed.append(True)

    async def ask(_value: object, ctx: Ctx) -> Reply:
        return await ctx.consume(endless())

    async def work() -> Any:
        run = Run()

        async def watch(event: Event) -> None:
            if event.event == "delta":
                run.cancel("enough")

        run.listen(watch)
        return await Chain([("ask", ask)]).run(1, run=run)

    assert go(work).status == "cancelled"
    assert closed == [True]


def test_sync_streams_run_inline_where_there_are_no_threads(go: Go) -> None:
    import threading

    threads: set[str] = set()

    def pieces() -> Iterator[str]:
        threads.add(threading.current_thread().name)
        yield "a"

    with inline_sync():
        result, _ = read(go, pieces)

    assert (result.output, threads) == ("a", {threading.current_thread().name})


def served(events: list[Any], *, named: bool, web: Any = httpx) -> Any:
    """Give a server that answers with a stream of events, for clients on *web*."""
    lines: list[str] = []
    for event in events:
        data = event.model_dump_json(exclude_unset=True)
        lines += [f"event: {event.type}\n"] if named else []
        lines.append(f"data: {data}\n\n")
    body = "".join(lines) + ("" if named else "data: [DONE]\n\n")

    def answer(_request: object) -> object:
        return web.Response(200, headers={"content-type": "text/event-stream"}, text=body)

    return web.MockTransport(answer)


# Clients leave the generator behind a stream that has ended to the collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
class TestClients:
    """The clients themselves, over a transport that answers from memory."""

    OPTIONS: ClassVar[Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}

    def openai(self, events: list[Any], *, named: bool = False) -> AsyncOpenAI:
        web: Any = httpx.AsyncClient(transport=served(events, named=named))
        return AsyncOpenAI(api_key="k", base_url="http://x/v1", http_client=web)

    def test_chat_completions(self, go: Go) -> None:
        client = self.openai(CHAT_PIECES)
        result, deltas = read(
            go, lambda: client.chat.completions.create(**self.OPTIONS, stream=True)
        )

        assert (result.output, deltas, result.usage.input) == ("Hello.", ["Hel", "lo."], 100)

    def test_chat_completions_by_the_helper(self, go: Go) -> None:
        client = self.openai(CHAT_PIECES)
        result, deltas = read(go, lambda: client.chat.completions.stream(**self.OPTIONS))

        assert (result.output, deltas, result.usage.input) == ("Hello.", ["Hel", "lo."], 100)

    def test_responses(self, go: Go) -> None:
        client = self.openai(RESPONSE_PIECES, named=True)
        result, deltas = read(
            go, lambda: client.responses.create(model="m", input="hi", stream=True)
        )

        assert (result.output, deltas) == ("Hello, you.", ["Hello, ", "you."])

    def test_a_sync_client(self, go: Go) -> None:
        web: Any = httpx.Client(transport=served(CHAT_PIECES, named=False))
        with OpenAI(api_key="k", base_url="http://x/v1", http_client=web) as client:
            result, deltas = read(
                go, lambda: client.chat.completions.create(**self.OPTIONS, stream=True)
            )
            helped, _ = read(go, lambda: client.chat.completions.stream(**self.OPTIONS))

        assert (result.output, deltas) == ("Hello.", ["Hel", "lo."])
        assert helped.output == "Hello."

    @pytest.mark.parametrize("how", ["create", "stream"])
    def test_messages(self, go: Go, how: str) -> None:
        # Releases differ in the package that their web client is of.
        package = importlib.import_module(DefaultAsyncHttpxClient.__mro__[1].__module__)
        web = importlib.import_module(package.__name__.partition(".")[0])
        transport = served(MESSAGE_PIECES, named=True, web=web)
        made: Any = DefaultAsyncHttpxClient(transport=transport)
        client = AsyncAnthropic(api_key="k", base_url="http://x", http_client=made)
        options: Any = {**self.OPTIONS, "max_tokens": 9}

        def stream() -> Any:
            if how == "stream":
                return client.messages.stream(**options)
            return client.messages.create(**options, stream=True)

        result, deltas = read(go, stream)

        assert (result.output, deltas) == ("Hello.", ["Hel", "lo."])
        assert result.rollout.step("ask").reply().calls == (ToolCall("t1", "look", {"q": 1}),)
        assert result.usage == Usage(100, 20, cached=64, cache_write=16, requests=1)
