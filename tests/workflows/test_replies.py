"""What callables return, as replies: values of one's own, and the responses of providers.

The responses are built by the client libraries, in the shapes that the providers publish, so that
a release that changes them is noticed.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass
from typing import Any

import pytest
from anthropic.types import Message, StopReason
from anthropic.types.beta import BetaStopReason
from openai.types.chat import ChatCompletion, ParsedChatCompletion
from openai.types.chat import chat_completion as choice
from openai.types.responses import Response, ResponseStatus
from pydantic import BaseModel

from interlock import Cascade, Chain, Loop, Reply, ToolCall, Usage, UsageError, as_reply
from interlock.harness import ErrorInfo
from interlock.testing import run_checked, scripted

from .conftest import Go

CHAT: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1700000000,
    "model": "gpt-5",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "logprobs": None,
            "message": {"role": "assistant", "content": "Hello.", "refusal": None},
        }
    ],
    "usage": {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 12, "audio_tokens": 0},
    },
}

RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1700000000,
    "model": "gpt-5",
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "output": [
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [
                {"type": "output_text", "text": "Hello, ", "annotations": []},
                {"type": "output_text", "text": "you.", "annotations": []},
            ],
        }
    ],
    "parallel_tool_calls": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "usage": {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 0},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 12},
        "total_tokens": 120,
    },
}

MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet",
    "content": [{"type": "text", "text": "Hello."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 20,
        "cache_creation_input_tokens": 16,
        "cache_read_input_tokens": 64,
        "output_tokens": 20,
    },
}


def chat(**message: Any) -> Reply:
    choice = {**CHAT["choices"][0], "finish_reason": message.pop("finish_reason", "stop")}
    choice["message"] = {**choice["message"], **message}
    return as_reply(ChatCompletion.model_validate({**CHAT, "choices": [choice]}))


def tool_call(arguments: str) -> dict[str, Any]:
    function = {"name": "look", "arguments": arguments}
    return {"id": "call_1", "type": "function", "function": function}


def response(**changed: Any) -> Reply:
    return as_reply(Response.model_validate({**RESPONSE, **changed}))


def message(**changed: Any) -> Reply:
    return as_reply(Message.model_validate({**MESSAGE, **changed}))


def ended(reason: object, *, calls: bool = False) -> Reply:
    """Make a reply of chat completions that ended for a reason."""
    told = {"tool_calls": [tool_call("{}")]} if calls else {}
    message = {**CHAT["choices"][0]["message"], **told}
    first = {**CHAT["choices"][0], "finish_reason": reason, "message": message}
    return as_reply(ChatCompletion.model_construct(**{**CHAT, "choices": [first]}))


def ended_message(reason: object, *, calls: bool = False) -> Reply:
    block = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
    content = [*MESSAGE["content"], *([block] if calls else [])]
    made = Message.model_construct(**{**MESSAGE, "content": content, "stop_reason": reason})
    return as_reply(made)


def ended_langchain(reason: object, *, calls: bool = False) -> Reply:
    return as_reply(
        foreign(
            "langchain_core.messages.ai.AIMessage",
            content="Hello.",
            tool_calls=[{"id": "call_1", "name": "look", "args": {}}] if calls else [],
            response_metadata={"finish_reason": reason},
        )
    )


ENDINGS = {"chat": ended, "messages": ended_message, "langchain": ended_langchain}


class TestOwn:
    @dataclass
    class Point:
        x: int

    class Model(BaseModel):
        x: int

    @pytest.mark.parametrize(
        ("returned", "output", "data"),
        [
            ("text", "text", None),
            ("", "", None),
            (None, "", None),
            ({"x": 1}, '{"x":1}', {"x": 1}),
            (Point(1), '{"x":1}', Point(1)),
            (Model(x=1), '{"x":1}', Model(x=1)),
            (Reply("as it is", data=[1]), "as it is", [1]),
        ],
    )
    def test_taken(self, returned: object, output: str, data: object) -> None:
        reply = as_reply(returned)

        assert (reply.output, reply.data, reply.usage) == (output, data, Usage())

    def test_a_result_of_a_workflow(self) -> None:
        model = scripted(Reply("in", data={"a": 1}, usage=Usage(5)))
        result = run_checked(Chain([("a", model)]).run)
        failed = run_checked(Chain([("a", scripted(ValueError("bad")))]).run)

        assert as_reply(result) == Reply("in", data={"a": 1}, usage=Usage(5))
        assert as_reply(failed).status == "failed"
        assert as_reply(failed).error == failed.error

    @pytest.mark.parametrize("returned", [object(), 1, 1.5, True, [1], {1}, b"x", int])
    def test_anything_else_names_step_and_type(self, returned: object) -> None:
        with pytest.raises(UsageError, match=r"tier `a` returned .*\b(type|\w+)\b; return text"):
            as_reply(returned, step="tier `a`")

    def test_data_that_json_cannot_hold(self) -> None:
        with pytest.raises(UsageError, match=r"JSON cannot hold: value\.when"):
            as_reply({"when": {1}})


class TestOpenAIChat:
    def test_text(self) -> None:
        reply = chat()

        assert reply == Reply(
            "Hello.",
            usage=Usage(100, 20, cached=64, reasoning=12, requests=1),
            stop="stop",
            model="gpt-5",
            provider="openai",
            id="chatcmpl-1",
        )
        assert isinstance(reply.raw, ChatCompletion)

    def test_calls(self) -> None:
        reply = chat(content=None, finish_reason="tool_calls", tool_calls=[tool_call('{"q": "a"}')])

        assert reply.calls == (ToolCall("call_1", "look", {"q": "a"}),)
        assert (reply.stop, reply.output, reply.status) == ("tool_calls", "", "completed")

    @pytest.mark.parametrize("arguments", ['{"q": ', "[1]", "nonsense"])
    def test_arguments_that_cannot_be_read(self, arguments: str) -> None:
        (call,) = chat(finish_reason="tool_calls", tool_calls=[tool_call(arguments)]).calls

        assert call.args_error is not None
        assert call.args == {}

    def test_a_reply_cut_off_in_its_arguments_is_never_invoked(self) -> None:
        reply = chat(finish_reason="length", tool_calls=[tool_call('{"q": "a"}')])

        assert (reply.status, reply.stop) == ("incomplete", "length")
        assert "cut off" in str(reply.calls[0].args_error)

    def test_a_refusal(self) -> None:
        reply = chat(content=None, refusal="I cannot help with that.")

        assert (reply.status, reply.stop) == ("failed", "refusal")
        assert reply.error == ErrorInfo(
            "refusal", "I cannot help with that.", "permission", "escalate", source="provider"
        )

    def test_a_filter(self) -> None:
        reply = chat(finish_reason="content_filter", content="part")

        assert (reply.status, reply.stop, reply.error and reply.error.type) == (
            "failed",
            "filter",
            "filter",
        )

    def test_no_usage(self) -> None:
        reply = as_reply(ChatCompletion.model_validate({**CHAT, "usage": None}))

        assert reply.usage == Usage(requests=1)
        assert reply.meta == {"usage_missing": True}

    @pytest.mark.parametrize(
        "usage",
        [
            {},
            {"prompt_tokens": 9},
            {"completion_tokens": 9},
            {"prompt_tokens": -1, "completion_tokens": 9},
            {"prompt_tokens": "9", "completion_tokens": 9},
            {"prompt_tokens": 9, "completion_tokens": True},
        ],
    )
    def test_usage_that_cannot_be_read_is_missing_and_not_nothing(self, usage: Any) -> None:
        made = ChatCompletion.model_construct(**{**CHAT, "usage": usage})

        assert as_reply(made).meta == {"usage_missing": True}

    @pytest.mark.parametrize("choices", [None, [], [{"message": None, "finish_reason": "stop"}]])
    @pytest.mark.parametrize(
        ("error", "message", "cls"),
        [
            (None, "the response has no answer", None),
            ({"message": "Slow down.", "code": 429}, "Slow down.", "rate_limited"),
            ({"message": "Slow.", "code": "rate_limit_exceeded"}, "Slow.", "rate_limited"),
            ("odd", "the response has no answer", None),
        ],
    )
    def test_no_choice_is_no_answer(
        self, choices: Any, error: Any, message: str, cls: str | None
    ) -> None:
        reply = as_reply(
            ChatCompletion.model_construct(**{**CHAT, "choices": choices}, error=error)
        )

        assert reply.status == "failed"
        assert reply.error
        assert reply.error.message == message
        assert cls in (None, reply.error.cls)

    def test_an_empty_refusal_is_none(self) -> None:
        choice = {**CHAT["choices"][0]}
        choice["message"] = {**choice["message"], "refusal": ""}
        reply = as_reply(ChatCompletion.model_validate({**CHAT, "choices": [choice]}))

        assert (reply.status, reply.output) == ("completed", "Hello.")

    def test_a_call_in_the_older_form(self) -> None:
        message = {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "look", "arguments": '{"q": "a"}'},
        }
        choice = {**CHAT["choices"][0], "finish_reason": "function_call", "message": message}
        reply = as_reply(ChatCompletion.model_validate({**CHAT, "choices": [choice]}))

        assert (reply.calls, reply.stop) == ((ToolCall("", "look", {"q": "a"}),), "tool_calls")

    def test_several_choices(self) -> None:
        second = {**CHAT["choices"][0], "index": 1}
        reply = as_reply(
            ChatCompletion.model_validate({**CHAT, "choices": [CHAT["choices"][0], second]})
        )

        assert reply.output == "Hello."
        assert reply.meta == {"notes": ["2 choices; the first is taken"]}

    def test_parsed_data(self) -> None:
        choice = {**CHAT["choices"][0]}
        choice["message"] = {**choice["message"], "content": '{"x":1}', "parsed": {"x": 1}}
        made: Any = ParsedChatCompletion[Any].model_validate({**CHAT, "choices": [choice]})

        assert as_reply(made).data == {"x": 1}


class TestOpenAIResponses:
    def test_text(self) -> None:
        assert response() == Reply(
            "Hello, you.",
            usage=Usage(100, 20, cached=64, reasoning=12, requests=1),
            stop="stop",
            model="gpt-5",
            provider="openai",
            id="resp_1",
        )

    def test_calls(self) -> None:
        call = {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "look",
            "arguments": '{"q": "a"}',
            "status": "completed",
        }
        reply = response(output=[call])

        assert reply.calls == (ToolCall("call_1", "look", {"q": "a"}),)
        assert reply.stop == "tool_calls"

    def test_cut_off(self) -> None:
        reply = response(status="incomplete", incomplete_details={"reason": "max_output_tokens"})

        assert (reply.status, reply.stop) == ("incomplete", "length")

    def test_filtered(self) -> None:
        reply = response(status="incomplete", incomplete_details={"reason": "content_filter"})

        assert (reply.status, reply.stop) == ("failed", "filter")
        assert reply.error
        assert (reply.error.type, reply.error.action) == ("filter", "escalate")

    @pytest.mark.parametrize("status", ["incomplete", "queued", "in_progress"])
    def test_what_is_not_whole_is_incomplete_and_so_is_its_last_call(self, status: str) -> None:
        names = ("first", "last")
        calls = [
            {"type": "function_call", "call_id": name, "name": name, "arguments": "{}"}
            for name in names
        ]
        reply = response(status=status, output=calls)

        assert reply.status == "incomplete"
        assert [(one.name, one.args_error is None) for one in reply.calls] == [
            ("first", True),
            ("last", False),
        ]

    def test_failed(self) -> None:
        error = {"code": "rate_limit_exceeded", "message": "Rate limit reached."}
        reply = response(status="failed", error=error, output=[], usage=None)

        assert (reply.status, reply.error and reply.error.cls) == ("failed", "rate_limited")
        assert reply.error
        assert reply.error.message == "Rate limit reached."


class TestAnthropic:
    def test_text_and_what_was_read_in_all(self) -> None:
        assert message() == Reply(
            "Hello.",
            usage=Usage(100, 20, cached=64, cache_write=16, requests=1),
            stop="stop",
            model="claude-sonnet",
            provider="anthropic",
            id="msg_1",
        )

    def test_calls(self) -> None:
        block = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"q": "a"}}
        reply = message(content=[*MESSAGE["content"], block], stop_reason="tool_use")

        assert reply.calls == (ToolCall("toolu_1", "look", {"q": "a"}),)
        assert (reply.output, reply.stop) == ("Hello.", "tool_calls")

    @pytest.mark.parametrize(
        ("reason", "status", "stop"),
        [
            ("max_tokens", "incomplete", "length"),
            ("refusal", "failed", "refusal"),
            ("pause_turn", "completed", "pause"),
            ("stop_sequence", "completed", "stop"),
        ],
    )
    def test_stops(self, reason: str, status: str, stop: str) -> None:
        reply = message(stop_reason=reason)

        assert (reply.status, reply.stop) == (status, stop)


REASONS: list[Any] = [
    *typing.get_args(choice.Choice.model_fields["finish_reason"].annotation),
    *typing.get_args(StopReason),
    *typing.get_args(BetaStopReason),
    *("STOP", "MAX_TOKENS", "SAFETY", "COMPLETE", "model_length", "guardrail_intervened"),
]
"""What the client libraries know, and what others say; a release that adds one is noticed."""


class TestEnds:
    @pytest.mark.parametrize("reason", sorted(set(REASONS)))
    def test_what_providers_say_is_known(self, reason: str) -> None:
        reply = ended(reason, calls=True)

        assert reply.stop is not None
        assert (reply.status == "failed") == (reply.stop in ("filter", "refusal"))

    @pytest.mark.parametrize("status", typing.get_args(ResponseStatus))
    @pytest.mark.parametrize("reason", [None, "max_messages", "steered", "odd"])
    def test_every_status_of_a_response_is_known(self, status: str, reason: str | None) -> None:
        details = None if reason is None else {"reason": reason}
        made = Response.model_construct(
            **{**RESPONSE, "status": status, "incomplete_details": details}
        )
        wanted = {"completed": "completed", "failed": "failed", "cancelled": "failed"}

        assert as_reply(made).status == wanted.get(status, "incomplete")

    @pytest.mark.parametrize("calls", [False, True])
    @pytest.mark.parametrize("reason", ["error", "weird", "None", "a\nb", 7, object()])
    @pytest.mark.parametrize("made", ENDINGS)
    def test_an_unknown_one_is_no_completion(self, made: str, reason: object, calls: bool) -> None:
        reply = ENDINGS[made](reason, calls=calls)

        assert (reply.status, reply.stop, reply.output) == ("failed", None, "Hello.")
        assert reply.error
        assert (reply.error.type, reply.error.source) == ("unknown_stop", "provider")
        assert reply.error.message.startswith("the answer ended for no known reason: ")
        assert reply.usage.requests == 1

    @pytest.mark.parametrize("made", ENDINGS)
    @pytest.mark.parametrize("reason", [None, ""])
    def test_none_is_told(self, made: str, reason: str | None) -> None:
        reply = ENDINGS[made](reason)

        assert (reply.status, reply.stop, reply.error) == ("completed", None, None)

    @pytest.mark.parametrize("made", ENDINGS)
    @pytest.mark.parametrize("reason", ["tool_calls", "function_call", "tool_use", "TOOL_CALL"])
    def test_calls_that_are_not_there_are_no_completion(self, made: str, reason: str) -> None:
        reply = ENDINGS[made](reason)

        assert (reply.status, reply.stop) == ("failed", "tool_calls")
        assert reply.error
        assert reply.error.message == f"the answer ended to call tools ({reason}), and has none"

    def test_an_error_in_the_choice_is_told(self) -> None:
        error = {"code": 502, "message": "Upstream is down."}
        first = {**CHAT["choices"][0], "finish_reason": "error", "error": error}
        reply = as_reply(ChatCompletion.model_construct(**{**CHAT, "choices": [first]}))

        assert (reply.status, reply.error and reply.error.message) == (
            "failed",
            "Upstream is down.",
        )
        assert reply.error
        assert (reply.error.type, reply.error.cls) == ("error", "unavailable")

    @pytest.mark.parametrize("blank", ["", " ", "\n\t "])
    def test_a_blank_refusal_is_none_and_a_blank_answer_no_reason(self, blank: str) -> None:
        assert chat(refusal=blank).status == "completed"
        filtered = chat(content=blank, finish_reason="content_filter")
        assert filtered.error
        assert filtered.error.message == 'the provider stopped the answer: "content_filter"'

    @pytest.mark.parametrize("reason", ["weird", "tool_calls"])
    def test_no_workflow_takes_it_for_an_answer(self, go: Go, reason: str) -> None:
        bad = ended(reason)
        looped = go(Loop(scripted(bad)).run)
        escalated = go(
            Cascade([("a", scripted(bad)), ("b", scripted("b"))], accept=lambda _r: True).run
        )

        assert (looped.status, looped.stopped_by, looped.error) == ("failed", "failed", bad.error)
        assert (escalated.tier, escalated.history[0].escalated_by) == ("b", "failed")


def foreign(path: str, **attributes: Any) -> object:
    """Make an object of a class of that path, without the library."""
    module, _, name = path.rpartition(".")
    return type(name, (), {"__module__": module, **attributes})()


class TestByShape:
    def test_pydantic_ai(self) -> None:
        parts = [
            foreign("pydantic_ai.messages.TextPart", part_kind="text", content="Hello."),
            foreign(
                "pydantic_ai.messages.ToolCallPart",
                part_kind="tool-call",
                tool_name="look",
                args='{"q": "a"}',
                tool_call_id="call_1",
            ),
        ]
        usage = foreign(
            "pydantic_ai.usage.RequestUsage",
            input_tokens=100,
            output_tokens=20,
            cache_read_tokens=64,
            cache_write_tokens=0,
            details={"reasoning_tokens": 12},
        )
        reply = as_reply(
            foreign(
                "pydantic_ai.messages.ModelResponse",
                parts=parts,
                usage=usage,
                model_name="gpt-5",
                provider_name="openai",
                provider_response_id="resp_1",
                finish_reason="tool_call",
            )
        )

        assert reply == Reply(
            "Hello.",
            calls=(ToolCall("call_1", "look", {"q": "a"}),),
            usage=Usage(100, 20, cached=64, reasoning=12, requests=1),
            stop="tool_calls",
            model="gpt-5",
            provider="openai",
            id="resp_1",
        )

    def test_langchain(self) -> None:
        reply = as_reply(
            foreign(
                "langchain_core.messages.ai.AIMessage",
                content=[{"type": "text", "text": "Hello."}],
                tool_calls=[{"id": "call_1", "name": "look", "args": {"q": "a"}}],
                invalid_tool_calls=[
                    {"id": "call_2", "name": "look", "args": "{", "error": "no JSON"}
                ],
                usage_metadata={
                    "input_tokens": 100,
                    "output_tokens": 20,
                    "input_token_details": {"cache_read": 64, "cache_creation": 16},
                    "output_token_details": {"reasoning": 12},
                },
                response_metadata={"finish_reason": "tool_calls", "model_name": "gpt-5"},
                id="run-1",
            )
        )

        assert reply == Reply(
            "Hello.",
            calls=(
                ToolCall("call_1", "look", {"q": "a"}),
                ToolCall("call_2", "look", {}, "no JSON"),
            ),
            usage=Usage(100, 20, 64, 16, 12, requests=1),
            stop="tool_calls",
            model="gpt-5",
            provider="langchain",
            id="run-1",
        )

    def test_a_class_that_derives_from_a_known_one(self) -> None:
        class Mine(ChatCompletion):
            pass

        assert as_reply(Mine.model_validate(CHAT)).provider == "openai"
