"""Replies of providers, read by shape: no client library is imported.

A response is known by the path of its class; what stands in it is read by attribute or key. The
first thing that is there under several names counts, so that a client of another version is still
read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from interlock import _core
from interlock.errors import ConfigError
from interlock.record._stops import is_known, stop_of
from interlock.record.usage import Usage
from interlock.record.values import ErrorInfo, Reply, ToolCall
from interlock.tools._foreign import attribute, called, mapping, root

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["member", "members", "provider_reply", "reply_as", "text_of"]


def provider_reply(value: object) -> Reply | None:
    """Read a response object of a known client; None when it is of none."""
    for kind in type(value).__mro__:
        read = _READERS.get((root(kind), kind.__name__))
        if read is not None:
            return read(value)
    return None


def reply_as(client: str, kind: str, value: object) -> Reply:
    """Read what has the shape of a client's response, such as one put together from a stream."""
    return _READERS[client, kind](value)


def member(owner: object, *names: str) -> Any:
    """Read an attribute or key; None where it is not there."""
    for name in names:
        value = mapping(owner).get(name) if owner.__class__ is dict else attribute(owner, name)
        if value is not None:
            return value
    return None


def members(owner: object, name: str) -> Sequence[object]:
    found = member(owner, name)
    return cast("Sequence[object]", found) if isinstance(found, (list, tuple)) else ()


def _count(owner: object, *names: str) -> int:
    found = member(owner, *names)
    return found if type(found) is int and found > 0 else 0


def text_of(value: object) -> str | None:
    return str(value) if isinstance(value, str) else None


def _call(ident: object, name: object, args: object) -> ToolCall:
    """Read a call; its arguments as JSON text or as a mapping."""
    error: str | None = None
    read: object = args
    if isinstance(args, (str, bytes)):
        try:
            read = _core.Json(args).to_python() if args.strip() else {}
        except ConfigError as fault:
            error = f"the arguments are no JSON: {fault.problems[0].message}"
    if error is None and not isinstance(read, dict):
        error = "the arguments are no JSON object"
    kept = cast("dict[str, object]", read) if error is None else {}
    return ToolCall(text_of(ident) or "", text_of(name) or "", kept, error)


def _reply(  # noqa: PLR0913 (one for each part of a reply, all by name)
    value: object,
    *,
    provider: str,
    output: str,
    calls: list[ToolCall],
    usage: Usage | None,
    stop: object,
    data: object = None,
    refusal: str | None = None,
    fault: ErrorInfo | None = None,
    notes: tuple[str, ...] = (),
) -> Reply:
    ended = stop_of(stop, output=output, refusal=refusal, has_calls=bool(calls))
    if fault is not None:
        ended = ended._replace(status="failed", error=fault)
    if ended.status == "incomplete":
        calls = _cut(calls)
    meta: dict[str, object] = {"notes": list(notes)} if notes else {}
    if usage is None:
        meta["usage_missing"] = True
    return Reply(
        output=output,
        data=data,
        calls=tuple(calls),
        usage=usage or Usage(requests=1),
        status=ended.status,
        stop=ended.reason,
        model=text_of(member(value, "model", "model_name")),
        provider=provider,
        id=text_of(member(value, "id", "provider_response_id")),
        error=ended.error,
        raw=value,
        meta=meta,
    )


def _cut(calls: list[ToolCall]) -> list[ToolCall]:
    """Mark the last call of an answer that is not whole: its arguments may be a beginning only."""
    if not calls or calls[-1].args_error:
        return calls
    last = calls[-1]
    message = "the answer was cut off, maybe within these arguments"
    return [*calls[:-1], ToolCall(last.id, last.name, {}, message)]


def _usage(
    found: object, *, beside: int = 0, cached: int = 0, cache_write: int = 0, reasoning: int = 0
) -> Usage | None:
    """Read what was used; None where it is not told in full, which is not the same as nothing.

    What was read *beside* the provider's figure of the input is added to it.
    """
    read = member(found, "prompt_tokens", "input_tokens", "request_tokens")
    wrote = member(found, "completion_tokens", "output_tokens", "response_tokens")
    if type(read) is not int or type(wrote) is not int or read < 0 or wrote < 0:
        return None
    return Usage(read + beside, wrote, cached, cache_write, reasoning, requests=1)


def _openai_usage(value: object) -> Usage | None:
    found = member(value, "usage")
    read = member(found, "prompt_tokens_details", "input_tokens_details")
    wrote = member(found, "completion_tokens_details", "output_tokens_details")
    return _usage(
        found,
        cached=_count(read, "cached_tokens"),
        cache_write=_count(read, "cache_write_tokens"),
        reasoning=_count(wrote, "reasoning_tokens"),
    )


def _openai_chat(value: object) -> Reply:
    choices = members(value, "choices")
    first = choices[0] if choices else None
    message, error = member(first, "message"), member(first, "error")
    calls: list[ToolCall] = []
    # The older form: one call, without an id.
    older = member(message, "function_call")
    for call in members(message, "tool_calls") or ([] if older is None else [{"function": older}]):
        function = member(call, "function", "custom")
        calls.append(
            _call(
                member(call, "id"), member(function, "name"), member(function, "arguments", "input")
            )
        )
    notes = (f"{len(choices)} choices; the first is taken",) if len(choices) > 1 else ()
    return _reply(
        value,
        provider="openai",
        output=text_of(member(message, "content")) or "",
        data=member(message, "parsed"),
        calls=calls,
        usage=_openai_usage(value),
        stop=member(first, "finish_reason"),
        refusal=text_of(member(message, "refusal")),
        fault=_chat_fault(value, message, error),
        notes=notes,
    )


def _chat_fault(value: object, message: object, error: object) -> ErrorInfo | None:
    """Read an error in place of the answer, or, as of gateways, in the choice that it broke."""
    if error is not None:
        return _fault({"error": error}, "the answer ended with an error", "error")
    return _fault(value, "the response has no answer") if message is None else None


def _openai_responses(value: object) -> Reply:
    texts: list[str] = []
    calls: list[ToolCall] = []
    refusal: str | None = None
    data: object = member(value, "output_parsed")
    for item in members(value, "output"):
        if member(item, "type") in ("function_call", "custom_tool_call"):
            ident = member(item, "call_id", "id")
            calls.append(_call(ident, member(item, "name"), member(item, "arguments", "input")))
        for part in members(item, "content") if member(item, "type") == "message" else ():
            texts += [text_of(member(part, "text")) or ""]
            refusal = refusal or text_of(member(part, "refusal"))
            data = data if data is not None else member(part, "parsed")
    status, stop = _ended_by(value)
    reply = _reply(
        value,
        provider="openai",
        output="".join(texts),
        data=data,
        calls=calls,
        usage=_openai_usage(value),
        stop=None if calls and stop == "completed" else stop,
        refusal=refusal,
    )
    return _ended(reply, status, member(value, "error"))


def _ended_by(value: object) -> tuple[object, object]:
    """Give the status of a response, and why it ended; None where the status says enough."""
    status = member(value, "status")
    reason = member(member(value, "incomplete_details"), "reason")
    if is_known(reason):
        return status, reason
    return status, None if status in (*_NO_ANSWER, *_PART) else status


_NO_ANSWER = ("failed", "cancelled")
_PART = ("incomplete", "queued", "in_progress")


def _ended(reply: Reply, status: object, error: object) -> Reply:
    """Take over a status of the responses API that says the answer is none, or not all of it."""
    if status in _NO_ANSWER or error is not None:
        info = _fault({"error": error}, f"the response is {status}", str(status))
        return replace(reply, status="failed", error=info)
    if status in _PART and reply.status == "completed":
        return replace(reply, status="incomplete", calls=tuple(_cut([*reply.calls])))
    return reply


def _fault(value: object, otherwise: str, kind: str = "no_answer") -> ErrorInfo:
    """Read the error that stands where an answer should."""
    from interlock.tools.error_classify import ErrorClassify

    error = member(value, "error")
    said, code = text_of(member(error, "message")) or otherwise, member(error, "code")
    status = code if type(code) is int else None
    code = text_of(code)
    verdict = ErrorClassify().classify(status=status, code=code, message=said, provider="openai")
    return ErrorInfo.judged(code or kind, said, verdict)


def _anthropic(value: object) -> Reply:
    texts: list[str] = []
    calls: list[ToolCall] = []
    for block in members(value, "content"):
        if member(block, "type") == "text":
            texts.append(text_of(member(block, "text")) or "")
        elif member(block, "type") == "tool_use":
            calls.append(_call(member(block, "id"), member(block, "name"), member(block, "input")))
    found = member(value, "usage")
    read = _count(found, "cache_read_input_tokens")
    wrote = _count(found, "cache_creation_input_tokens")
    return _reply(
        value,
        provider="anthropic",
        output="".join(texts),
        calls=calls,
        usage=_usage(found, beside=read + wrote, cached=read, cache_write=wrote),
        stop=member(value, "stop_reason"),
    )


def _pydantic_ai(value: object) -> Reply:
    """Read a `ModelResponse` of pydantic-ai: parts of text and calls."""
    texts: list[str] = []
    calls: list[ToolCall] = []
    for part in members(value, "parts"):
        if member(part, "part_kind") == "text":
            texts.append(text_of(member(part, "content")) or "")
        elif member(part, "part_kind") == "tool-call":
            args = member(part, "args")
            ident = member(part, "tool_call_id")
            calls.append(_call(ident, member(part, "tool_name"), {} if args is None else args))
    found = member(value, "usage")
    if callable(found):
        found = called(value, "usage")
    usage = _usage(
        found,
        cached=_count(found, "cache_read_tokens"),
        cache_write=_count(found, "cache_write_tokens"),
        reasoning=_count(mapping(member(found, "details")), "reasoning_tokens"),
    )
    return _reply(
        value,
        provider=text_of(member(value, "provider_name")) or "pydantic-ai",
        output="".join(texts),
        calls=calls,
        usage=usage,
        stop=member(value, "finish_reason"),
    )


def _langchain(value: object) -> Reply:
    """Read an `AIMessage` of LangChain."""
    content = member(value, "content")
    parts = [content] if isinstance(content, str) else members(value, "content")
    texts = [
        part if isinstance(part, str) else text_of(member(part, "text")) or "" for part in parts
    ]
    calls = [
        _call(member(call, "id"), member(call, "name"), member(call, "args"))
        for call in members(value, "tool_calls")
    ]
    for call in members(value, "invalid_tool_calls"):
        said = text_of(member(call, "error")) or "the arguments could not be read"
        name = text_of(member(call, "name")) or ""
        calls.append(ToolCall(text_of(member(call, "id")) or "", name, {}, said))
    found = member(value, "usage_metadata")
    read, wrote = member(found, "input_token_details"), member(found, "output_token_details")
    usage = _usage(
        found,
        cached=_count(read, "cache_read"),
        cache_write=_count(read, "cache_creation"),
        reasoning=_count(wrote, "reasoning"),
    )
    told = member(value, "response_metadata")
    reply = _reply(
        value,
        provider=text_of(member(told, "model_provider")) or "langchain",
        output="".join(texts),
        calls=calls,
        usage=usage,
        stop=member(told, "finish_reason", "stop_reason"),
    )
    return replace(reply, model=text_of(member(told, "model_name", "model")))


_READERS: dict[tuple[str, str], Callable[[object], Reply]] = {
    ("openai", "ChatCompletion"): _openai_chat,
    ("openai", "Response"): _openai_responses,
    ("anthropic", "Message"): _anthropic,
    ("pydantic_ai", "ModelResponse"): _pydantic_ai,
    ("langchain_core", "AIMessage"): _langchain,
}
"""By the package and the name of the class, or of one that it derives from."""
