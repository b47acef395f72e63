"""The messages of providers, built from the state of a loop.

Using them is the caller's choice. Every call has its result right behind it, as providers ask for,
and what was compacted is one text of the user. The values come first: a text or data as one message
of the user, a list of messages (mappings with a `role`) as it is, None as nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from interlock import _core
from interlock.errors import UsageError
from interlock.harness.loop_state import text_of
from interlock.record.reply import plain_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock.harness.loop_state import Exchange, LoopState
    from interlock.record.values import ToolCall, ToolResult

__all__ = ["anthropic_messages", "openai_messages", "responses_items"]

Message = dict[str, Any]


def openai_messages(state: LoopState) -> list[Message]:
    """Return the `messages` of OpenAI's chat completions.

    Raises:
        ConfigError: For values that JSON cannot hold.

    Source:
        OpenAI API reference, chat completions: messages of the roles user, assistant and tool.
    """
    messages = _first(state)
    for exchange in state.exchanges:
        pairs = list(_pairs(exchange))
        text = exchange.reply.output
        said: Message = {"role": "assistant", "content": text if text.strip() else None}
        if pairs:
            said["tool_calls"] = [
                {
                    "id": ident,
                    "type": "function",
                    "function": {"name": call.name, "arguments": _core.to_json(_args(call))},
                }
                for ident, call, _ in pairs
            ]
        # A message without any content is refused.
        messages += [said] if text.strip() or pairs else []
        messages += [
            {"role": "tool", "tool_call_id": ident, "content": text_of(result)}
            for ident, _, result in pairs
        ]
    return messages


def responses_items(state: LoopState) -> list[Message]:
    """Return the `input` of OpenAI's responses.

    Raises:
        ConfigError: For values that JSON cannot hold.

    Source:
        OpenAI API reference, responses: items of the types function_call and function_call_output.
    """
    items = _first(state)
    for exchange in state.exchanges:
        pairs = list(_pairs(exchange))
        if exchange.reply.output.strip():
            items.append({"role": "assistant", "content": exchange.reply.output})
        items += [
            {
                "type": "function_call",
                "call_id": ident,
                "name": call.name,
                "arguments": _core.to_json(_args(call)),
            }
            for ident, call, _ in pairs
        ]
        items += [
            {"type": "function_call_output", "call_id": ident, "output": text_of(result)}
            for ident, _, result in pairs
        ]
    return items


def anthropic_messages(state: LoopState) -> list[Message]:
    """Return the `messages` of Anthropic.

    Raises:
        ConfigError: For values that JSON cannot hold.

    Source:
        Anthropic API reference, messages: blocks of the types text, tool_use and tool_result; all
        results of one reply stand in the message right behind it.
    """
    messages = _first(state)
    for exchange in state.exchanges:
        pairs = list(_pairs(exchange))
        text = exchange.reply.output
        blocks: list[Message] = [{"type": "text", "text": text}] if text.strip() else []
        blocks += [
            {"type": "tool_use", "id": ident, "name": call.name, "input": _args(call)}
            for ident, call, _ in pairs
        ]
        results = [_result_block(ident, result) for ident, _, result in pairs]
        # A message without any content is refused.
        messages += [{"role": "assistant", "content": blocks}] if blocks else []
        messages += [{"role": "user", "content": results}] if results else []
    return messages


def _result_block(ident: str, result: ToolResult) -> Message:
    block: Message = {"type": "tool_result", "tool_use_id": ident, "content": text_of(result)}
    return block if result.status == "completed" else {**block, "is_error": True}


def _first(state: LoopState) -> list[Message]:
    """Return what comes before the exchanges: the values, and what was compacted."""
    compacted = [{"role": "user", "content": text_of(one)} for one in state.results if one.replaced]
    return [*_values(state.values), *compacted]


def _values(values: object) -> list[Message]:
    if values is None:
        return []
    if isinstance(values, str):
        return [{"role": "user", "content": values}]
    if isinstance(values, (list, tuple)):
        listed = cast("list[object]", values)
        values = listed
        if listed and all(isinstance(one, Mapping) and "role" in one for one in listed):
            return [dict(cast("Message", one)) for one in listed]
    return [{"role": "user", "content": _core.to_json(plain_data(values))}]


def _pairs(exchange: Exchange) -> Iterator[tuple[str, ToolCall, ToolResult]]:
    """Yield each call with its result, under an id that both bear.

    Raises:
        UsageError: When a call has no result, or a result no call.
    """
    calls, results = exchange.reply.calls, exchange.results
    if len(calls) != len(results):
        raise UsageError(
            f"an exchange has {len(calls)} calls and {len(results)} results; a provider refuses "
            "one without the other"
        )
    for at, (call, result) in enumerate(zip(calls, results, strict=True)):
        yield call.id or f"call_{result.turn}_{at}", call, result


def _args(call: ToolCall) -> dict[str, Any]:
    return cast("dict[str, Any]", plain_data(call.args))
