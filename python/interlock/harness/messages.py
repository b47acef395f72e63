"""The messages of providers, built from the state of a loop.

Using them is the caller's choice. Every call has its result right behind it, as providers ask for,
and what was compacted is one text of the user. The values come first: a text or data as one message
of the user, a list of messages (mappings with a `role`) as it is, None as nothing.

What a model made up and a provider refuses to hear again is written so that it is taken: the name
of a tool that there is not, an id that two calls have, half of a surrogate pair in a text.
"""

from __future__ import annotations

import re
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
_Pair = tuple[str, "ToolCall", "ToolResult"]

_DEPTH = 100
"""So deep nobody nests a message; what is deeper is left as it is."""
_REFUSED = re.compile(r"[^A-Za-z0-9_-]")
"""What may stand in no name of a tool, and at Anthropic in no id of a call."""


def openai_messages(state: LoopState) -> list[Message]:
    """Return the `messages` of OpenAI's chat completions.

    Raises:
        ConfigError: For values that JSON cannot hold.

    Source:
        OpenAI API reference, chat completions: messages of the roles user, assistant and tool.
    """
    messages = _first(state)
    for text, pairs in _exchanges(state):
        said: Message = {"role": "assistant", "content": text or None}
        if pairs:
            said["tool_calls"] = [
                {
                    "id": ident,
                    "type": "function",
                    "function": {"name": _name(call), "arguments": _core.to_json(_args(call))},
                }
                for ident, call, _ in pairs
            ]
        # A message without any content is refused.
        messages += [said] if text or pairs else []
        messages += [
            {"role": "tool", "tool_call_id": ident, "content": text_of(result)}
            for ident, _, result in pairs
        ]
    return cast("list[Message]", _whole(messages))


def responses_items(state: LoopState) -> list[Message]:
    """Return the `input` of OpenAI's responses.

    Raises:
        ConfigError: For values that JSON cannot hold.

    Source:
        OpenAI API reference, responses: items of the types function_call and function_call_output.
    """
    items = _first(state)
    for text, pairs in _exchanges(state):
        if text:
            items.append({"role": "assistant", "content": text})
        items += [
            {
                "type": "function_call",
                "call_id": ident,
                "name": _name(call),
                "arguments": _core.to_json(_args(call)),
            }
            for ident, call, _ in pairs
        ]
        items += [
            {"type": "function_call_output", "call_id": ident, "output": text_of(result)}
            for ident, _, result in pairs
        ]
    return cast("list[Message]", _whole(items))


def anthropic_messages(state: LoopState) -> list[Message]:
    """Return the `messages` of Anthropic.

    Raises:
        ConfigError: For values that JSON cannot hold.

    Source:
        Anthropic API reference, messages: blocks of the types text, tool_use and tool_result; all
        results of one reply stand in the message right behind it.
    """
    messages = _first(state)
    for text, pairs in _exchanges(state, _REFUSED):
        blocks: list[Message] = [{"type": "text", "text": text}] if text else []
        blocks += [
            {"type": "tool_use", "id": ident, "name": _name(call, 128), "input": _args(call)}
            for ident, call, _ in pairs
        ]
        results = [_result_block(ident, result) for ident, _, result in pairs]
        # A message without any content is refused.
        messages += [{"role": "assistant", "content": blocks}] if blocks else []
        messages += [{"role": "user", "content": results}] if results else []
    return cast("list[Message]", _whole(messages))


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


def _exchanges(
    state: LoopState, refused: re.Pattern[str] | None = None
) -> Iterator[tuple[str, list[_Pair]]]:
    """Yield the text of each reply, empty where it is blank, and its calls with their results.

    Both bear the same id, which no other call has; `refused` is what may not stand in it.
    """
    used: set[str] = set()
    for exchange in state.exchanges:
        pairs = list(_pairs(exchange, refused, used))
        text = exchange.reply.output
        yield text if text.strip() else "", pairs


def _pairs(exchange: Exchange, refused: re.Pattern[str] | None, used: set[str]) -> Iterator[_Pair]:
    """Yield each call with its result, under an id of their own.

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
        given = _whole(call.id) or f"call_{result.turn}_{at}"
        given = given if refused is None else refused.sub("_", given)
        ident, number = given, 1
        while ident in used:
            number += 1
            ident = f"{given}_{number}"
        used.add(ident)
        yield ident, call, result


def _whole(value: Any, depth: int = 0) -> Any:
    """Write `?` for each half of a surrogate pair, which no client can send."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if depth > _DEPTH:
        return value
    if isinstance(value, list):
        return [_whole(one, depth + 1) for one in cast("list[object]", value)]
    if isinstance(value, dict):
        told = cast("dict[object, object]", value)
        return {_whole(name): _whole(one, depth + 1) for name, one in told.items()}
    return value


def _name(call: ToolCall, most: int = 64) -> str:
    return _REFUSED.sub("_", call.name)[:most] or "_"


def _args(call: ToolCall) -> dict[str, Any]:
    return cast("dict[str, Any]", plain_data(call.args))
