"""Why a provider ended an answer, and what that makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from interlock import _core
from interlock.record.values import ErrorInfo
from interlock.tools._foreign import shown

if TYPE_CHECKING:
    from interlock.record.values import ReplyStatus, StopReason

__all__ = ["Stop", "is_known", "stop_of"]

_STOPS: dict[str, StopReason] = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "complete": "stop",
    "completed": "stop",
    "eos_token": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "tool_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "filter",
    "content_filtered": "filter",
    "guardrail_intervened": "filter",
    "safety": "filter",
    "recitation": "filter",
    "blocklist": "filter",
    "prohibited_content": "filter",
    "spii": "filter",
    "refusal": "refusal",
    "pause_turn": "pause",
    "compaction": "pause",
}
"""By what providers call it, in lower case: of OpenAI, Anthropic, Bedrock, Cohere, Google, Mistral,
Text Generation Inference, and pydantic-ai."""


class Stop(NamedTuple):
    """What the end of an answer says of it."""

    status: ReplyStatus
    reason: StopReason | None = None
    error: ErrorInfo | None = None


def is_known(told: object) -> bool:
    """Say whether a provider's reason is one that is known here."""
    return (shown(told) or "").lower() in _STOPS


def stop_of(told: object, *, output: str, refusal: str | None, has_calls: bool) -> Stop:
    """Judge an answer by the reason that the provider gives for its end, None where it gives none.

    Whole is what says so: an answer that ended for a reason nobody knows, or to call tools without
    a call, has failed.
    """
    text = None if told is None else shown(told)
    refusal = refusal if refusal and refusal.strip() else None
    reason = "refusal" if refusal else _STOPS.get((text or "").lower())
    if reason is None and text is not None:
        return _failed(None, "unknown_stop", f"the answer ended for no known reason: {_said(text)}")
    if reason is None:
        return Stop("completed", "tool_calls" if has_calls else None)
    if reason in ("refusal", "filter"):
        said = refusal or output
        said = said if said.strip() else f"the provider stopped the answer: {_said(text)}"
        error = ErrorInfo(reason, said, "permission", "escalate", source="provider")
        return Stop("failed", reason, error)
    if reason == "tool_calls" and not has_calls:
        return _failed(reason, "no_calls", f"the answer ended to call tools ({text}), and has none")
    return Stop("incomplete" if reason == "length" else "completed", reason)


def _failed(reason: StopReason | None, kind: str, message: str) -> Stop:
    return Stop("failed", reason, ErrorInfo(kind, message, source="provider"))


def _said(text: str | None) -> str:
    return _core.preview(text)
