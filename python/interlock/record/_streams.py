"""Streams of providers, put together piece by piece: no client library is imported.

A piece is known by its shape: `object` of a chunk, `type` of an event. What is put together has the
shape of the whole response, and is read as one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from interlock.errors import UsageError
from interlock.record._providers import member, members, reply_as, text_of
from interlock.record.values import ErrorInfo, Reply
from interlock.tools.error_classify import ErrorClassify

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Collector"]

_BYTES_A_TOKEN = 4
_ANTHROPIC = (
    "message_start",
    "message_delta",
    "message_stop",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
)
_EARLY = "the stream ended before the answer did"


class _Parts(Protocol):
    """A response as it is put together."""

    is_whole: bool

    def add(self, piece: object) -> str:
        """Take a piece; return the text in it."""
        ...

    def reply(self) -> Reply:
        """Read what is there so far."""
        ...


class Collector:
    """Puts the pieces of a stream together, of whichever provider it is, or of text."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._parts: _Parts | None = None
        self._texts: list[str] = []
        self._strange: object = None
        self._error: ErrorInfo | None = None

    def add(self, piece: object) -> str:
        """Take the next piece and return the text of the answer that is in it.

        Raises:
            UsageError: For what is no piece of an answer.
        """
        if isinstance(piece, str):
            self._texts.append(piece)
            return piece
        kind = text_of(member(piece, "type"))
        if kind == "chunk":
            # A helper of a client wraps the chunk in an event of its own.
            return self.add(member(piece, "chunk"))
        if kind == "error":
            self._error = _told_error(piece)
            return ""
        parts = self._parts or _parts_of(piece, kind)
        if parts is None:
            if kind is None:
                raise UsageError(
                    f"a stream gave a {type(piece).__module__}.{type(piece).__qualname__}; what "
                    "can be read are streams of OpenAI and Anthropic, and iterators of text"
                )
            self._strange = self._strange or kind
            return ""
        self._parts = parts
        text = parts.add(piece)
        self._texts += [text] if text else []
        return text

    def reply(self, error: Exception | None = None) -> Reply:
        """Return the answer; after an error, or where its end is missing, a failed one.

        Raises:
            UsageError: When nothing in the stream could be read.
        """
        if self._parts is None and self._strange is not None and error is None:
            raise UsageError(f"a stream gave events of type {self._strange!r}, which are of none")
        if error is None and self._error is None:
            if self._parts is None:
                return Reply("".join(self._texts))
            if self._parts.is_whole:
                return self._parts.reply()
        found = self._error or ErrorInfo.of(error or ConnectionError(_EARLY))
        return self._broken(found)

    def _broken(self, error: ErrorInfo) -> Reply:
        """Keep the text so far; the calls may be cut off anywhere, and are not kept."""
        text = "".join(self._texts)
        written = -(-len(text.encode("utf-8", "replace")) // _BYTES_A_TOKEN)
        found = self._parts.reply() if self._parts is not None else Reply()
        told = found.usage
        return replace(
            found,
            output=text,
            data=None,
            calls=(),
            usage=replace(told, output=max(told.output, written), requests=1),
            status="failed",
            stop=None,
            error=error,
            meta={"usage_estimated": True},
        )


def _parts_of(piece: object, kind: str | None) -> _Parts | None:
    if member(piece, "object") == "chat.completion.chunk":
        return _Chat()
    if kind in _ANTHROPIC:
        return _Message()
    return _Response() if kind is not None and kind.startswith("response.") else None


def _index(piece: object) -> int:
    found = member(piece, "index")
    return found if type(found) is int else 0


def _told_error(event: object) -> ErrorInfo:
    """Read an event that says what went wrong, of either provider."""
    told = member(event, "error") or event
    message = text_of(member(told, "message")) or "the stream ended with an error"
    code = text_of(member(told, "code")) or text_of(member(told, "type"))
    return ErrorInfo.judged(
        code or "error", message, ErrorClassify().classify(code=code, message=message)
    )


class _Chat:
    """Chunks of OpenAI chat completions."""

    def __init__(self) -> None:
        self.is_whole = False
        self._content: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._head: dict[str, object] = {}
        self._finish: object = None
        self._most = 0

    def add(self, piece: object) -> str:
        for name in ("id", "model", "usage"):
            if (found := member(piece, name)) is not None:
                self._head[name] = found
        added = ""
        for choice in members(piece, "choices"):
            index = _index(choice)
            self._most = max(self._most, index)
            if index == 0:
                added += self._choice(choice)
        return added

    def _choice(self, choice: object) -> str:
        delta = member(choice, "delta")
        text = text_of(member(delta, "content")) or ""
        self._content.append(text)
        self._refusal.append(text_of(member(delta, "refusal")) or "")
        for call in members(delta, "tool_calls"):
            index = _index(call)
            empty: dict[str, Any] = {"id": None, "name": [], "arguments": []}
            kept = self._calls.setdefault(index, empty)
            kept["id"] = kept["id"] or member(call, "id")
            function = member(call, "function")
            for name in ("name", "arguments"):
                kept[name].append(text_of(member(function, name)) or "")
        self._finish = member(choice, "finish_reason") or self._finish
        self.is_whole = self._finish is not None
        return text

    def reply(self) -> Reply:
        calls = [
            {
                "id": call["id"],
                "function": {
                    "name": "".join(call["name"]),
                    "arguments": "".join(call["arguments"]),
                },
            }
            for call in self._calls.values()
        ]
        message = {
            "content": "".join(self._content),
            "refusal": "".join(self._refusal) or None,
            "tool_calls": calls,
        }
        first = {"finish_reason": self._finish, "message": message}
        choices = [first, *({} for _ in range(min(self._most, 100)))]
        return reply_as("openai", "ChatCompletion", {**self._head, "choices": choices})


class _Response:
    """Events of OpenAI responses; the last one carries the whole."""

    def __init__(self) -> None:
        self.is_whole = False
        self._response: object = {}

    def add(self, piece: object) -> str:
        kind = member(piece, "type")
        found = member(piece, "response")
        if found is not None:
            self._response = found
        if kind in ("response.completed", "response.incomplete", "response.failed"):
            self.is_whole = found is not None
        is_text = kind == "response.output_text.delta"
        return text_of(member(piece, "delta")) or "" if is_text else ""

    def reply(self) -> Reply:
        return reply_as("openai", "Response", self._response)


class _Message:
    """Events of Anthropic messages."""

    def __init__(self) -> None:
        self.is_whole = False
        self._message: object = None
        self._blocks: dict[int, dict[str, Any]] = {}
        self._usage: dict[str, object] = {}
        self._stop: object = None

    def add(self, piece: object) -> str:
        kind, index = member(piece, "type"), _index(piece)
        if kind == "message_start":
            self._message = member(piece, "message")
            self._count(member(self._message, "usage"))
        elif kind == "content_block_start":
            block = member(piece, "content_block")
            names = ("type", "id", "name", "input", "text")
            self._blocks[index] = {name: member(block, name) for name in names}
            return text_of(self._blocks[index]["text"]) or ""
        elif kind == "content_block_delta":
            return self._delta(index, member(piece, "delta"))
        elif kind == "message_delta":
            self._stop = member(member(piece, "delta"), "stop_reason") or self._stop
            self._count(member(piece, "usage"))
            self.is_whole = self._stop is not None
        return ""

    def _delta(self, index: int, delta: object) -> str:
        block = self._blocks.setdefault(index, {"type": "text"})
        if member(delta, "type") == "input_json_delta":
            block.setdefault("json", []).append(text_of(member(delta, "partial_json")) or "")
        if member(delta, "type") != "text_delta":
            return ""
        text = text_of(member(delta, "text")) or ""
        block.setdefault("texts", []).append(text)
        return text

    def _count(self, usage: object) -> None:
        """Take over counts; later ones are of everything so far."""
        for name in (
            "input_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "output_tokens",
        ):
            if (found := member(usage, name)) is not None:
                self._usage[name] = found

    def reply(self) -> Reply:
        content = [_block(block) for block in self._blocks.values()]
        told: Mapping[str, object] = {
            "id": member(self._message, "id"),
            "model": member(self._message, "model"),
            "content": content,
            "stop_reason": self._stop or member(self._message, "stop_reason"),
            "usage": self._usage or None,
        }
        return reply_as("anthropic", "Message", told)


def _block(block: dict[str, Any]) -> dict[str, object]:
    """Write a block as it stands in a whole message."""
    written = "".join(block.get("json", ()))
    text = (text_of(block.get("text")) or "") + "".join(block.get("texts", ()))
    given = block.get("input")
    return {**block, "text": text, "input": written or ({} if given is None else given)}
