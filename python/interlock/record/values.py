"""What travels between callables, workflows and the record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from interlock import _core
from interlock.errors import Problem, SpecInvalid
from interlock.record._data import Record
from interlock.record.usage import NOTHING, Usage
from interlock.tools.error_classify import ErrorClassify

if TYPE_CHECKING:
    from interlock.tools.error_classify import ErrorVerdict

__all__ = [
    "EFFECTS",
    "Effect",
    "ErrorInfo",
    "Reply",
    "ToolCall",
    "ToolResult",
    "Verdict",
    "checked",
]

ReplyStatus = Literal["completed", "failed", "incomplete"]
StopReason = Literal["stop", "tool_calls", "length", "filter", "refusal", "pause"]
ToolStatus = Literal["completed", "failed", "blocked", "skipped", "in_doubt"]
Effect = Literal["readonly", "write", "destructive", "irreversible"]
EFFECTS: tuple[Effect, ...] = ("readonly", "write", "destructive", "irreversible")
"""What a tool may declare, the harmless first. None, nothing declared, is outside this order."""

_REPLY = ("completed", "failed", "incomplete")
_STOPS = (None, "stop", "tool_calls", "length", "filter", "refusal", "pause")
_TOOLS = ("completed", "failed", "blocked", "skipped", "in_doubt")
_TEXT = 2_000
_CLASSIFY = ErrorClassify()


def checked(value: object, name: str, choices: tuple[object, ...]) -> None:
    """Refuse a value outside a closed set.

    Raises:
        SpecInvalid: Naming the field and the choices.
    """
    if value not in choices:
        known = ", ".join(str(choice) for choice in choices if choice is not None)
        problem = Problem(
            "spec/unknown-choice", name, _core.preview(value), f"must be one of {known}"
        )
        raise SpecInvalid((problem,))


@dataclass(frozen=True, slots=True)
class ErrorInfo(Record):
    """An error as it is recorded: what it was, what kind, and what next.

    Attributes:
        type: The name of the exception's class, or of the kind of refusal.
        message: What it said, at most 2,000 characters; `str` of the whole gives this.
        cls: One of the 19 classes of ErrorClassify.
        action: One of its 9 actions.
        retryable: Whether the action tries again.
        wait_ms: How long to wait, in milliseconds; None when nobody said.
        source: What decided, as in ErrorClassify.
    """

    type: str
    message: str = ""
    cls: str = "unknown"
    action: str = "escalate"
    retryable: bool = False
    wait_ms: int | None = None
    source: str = "default"

    def __str__(self) -> str:
        return self.message

    @classmethod
    def of(
        cls,
        error: BaseException,
        classify: ErrorClassify | None = None,
        *,
        attempt: int | None = None,
        max_attempts: int | None = None,
        now: int | None = None,
    ) -> ErrorInfo:
        """Describe an exception, classified by what it carries."""
        verdict = (classify or _CLASSIFY).classify_exception(
            error, attempt=attempt, max_attempts=max_attempts, now=now
        )
        return cls.judged(type(error).__name__, _said(error), verdict)

    @classmethod
    def judged(cls, kind: str, message: str, verdict: ErrorVerdict) -> ErrorInfo:
        """Describe an error of which the verdict is known."""
        return cls(
            kind,
            message[:_TEXT],
            verdict.error_class,
            verdict.action,
            verdict.retryable,
            verdict.wait_ms,
            verdict.source,
        )


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 (an error that cannot be shown is still named)
        return ""


@dataclass(frozen=True, slots=True)
class ToolCall(Record):
    """A call that a model asks for.

    Attributes:
        id: Its id, which the result carries back.
        name: The tool's name.
        args: The arguments; empty when they could not be read.
        args_error: Why they could not be read; such a call is never invoked.
    """

    id: str
    name: str
    args: Mapping[str, object] = field(default_factory=dict[str, object])
    args_error: str | None = None


@dataclass(frozen=True, slots=True)
class ToolResult(Record):
    """What became of a call.

    Attributes:
        call_id: The id of the call.
        name: The tool's name.
        status: `completed`, `failed`, `blocked` (refused before it ran), `skipped`, or `in_doubt`
            (it may or may not have happened).
        output: What the model is shown.
        error: What went wrong.
        effect: What the tool declared; None when it declared nothing, which is not `readonly`.
        usage: What it used.
        turn: The turn that asked for it, from 0.
        replaced: How many results this one stands for, after a compaction.
    """

    call_id: str
    name: str
    status: ToolStatus
    output: object = None
    error: ErrorInfo | None = None
    effect: Effect | None = None
    usage: Usage = NOTHING
    turn: int = 0
    replaced: int = 0

    def __post_init__(self) -> None:
        """Refuse an unknown status."""
        checked(self.status, "status", _TOOLS)


@dataclass(frozen=True, slots=True)
class Reply(Record):
    """What a callable answered.

    Attributes:
        output: Its text.
        data: Its structured data.
        calls: The tools it asks for.
        usage: What it used.
        status: `completed`, `failed`, or `incomplete` (cut off).
        stop: Why it ended: stop, tool_calls, length, filter, refusal, pause.
        model: Which model answered.
        provider: Whose it is.
        id: The provider's id of the answer.
        error: What went wrong.
        raw: What the callable returned; kept in memory only, neither compared nor written.
        meta: What else was seen: `usage_missing`, `notes`.

    Raises:
        SpecInvalid: For an unknown status or stop.
    """

    output: str = ""
    data: object = None
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = NOTHING
    status: ReplyStatus = "completed"
    stop: StopReason | None = None
    model: str | None = None
    provider: str | None = None
    id: str | None = None
    error: ErrorInfo | None = None
    raw: object = field(default=None, compare=False, repr=False, metadata={"data": False})
    meta: Mapping[str, object] = field(default_factory=dict[str, object])

    def __post_init__(self) -> None:
        """Refuse what no reply is."""
        checked(self.status, "status", _REPLY)
        checked(self.stop, "stop", _STOPS)
        problems = [
            Problem("spec/wrong-type", name, _core.preview(getattr(self, name)), f"must be {what}")
            for name, (kind, what) in _PARTS.items()
            if not isinstance(getattr(self, name), kind)
        ]
        if problems:
            raise SpecInvalid(tuple(problems))
        if type(self.calls) is not tuple:
            object.__setattr__(self, "calls", tuple(self.calls))


_PARTS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "output": (str, "text; structured answers go into data"),
    "calls": ((tuple, Iterable), "a list of ToolCall"),
    "usage": (Usage, "a Usage"),
    "error": ((ErrorInfo, type(None)), "an ErrorInfo, or None"),
    "meta": ((dict, Mapping), "a mapping"),
}
"""What the parts of a reply are. PERF: an abstract class is asked last."""


@dataclass(frozen=True, slots=True)
class Verdict(Record):
    """What a judge says of an answer.

    Attributes:
        ok: Whether it is good enough.
        reason: Why not.
        score: How good it is.
        feedback: What to do better.
        data: Anything else.
        undetermined: Whether it could not be judged; then it is never ok.
        usage: What judging used, where a model judged.
    """

    ok: bool
    reason: str = ""
    score: float | None = None
    feedback: str = ""
    data: object = None
    undetermined: bool = False
    usage: Usage = NOTHING

    def __post_init__(self) -> None:
        """Refuse a yes that is none."""
        if type(self.ok) is not bool:
            shown = _core.preview(self.ok)
            problem = Problem("spec/wrong-type", "ok", shown, "must be True or False")
            raise SpecInvalid((problem,))
        if self.ok and self.undetermined:
            message = "cannot be ok and undetermined; an undetermined verdict is not a yes"
            raise SpecInvalid((Problem("spec/conflict", "undetermined", "true", message),))
