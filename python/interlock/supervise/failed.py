"""A call that failed: what kind of failure it was, by the rules of the document and the tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from interlock import _core
from interlock.errors import ConfigError
from interlock.record._data import Record
from interlock.tools.error_classify import ErrorClassify

if TYPE_CHECKING:
    from interlock.supervise.state import OpenCall

__all__ = ["ERRORS", "ErrorRules", "FailedCall", "judge"]

_JUDGED = ("class", "action", "waitMs")
_CLASSES, _ACTIONS = _core.error_names()


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRules:
    """How calls that failed are judged, and what is done where a person is to decide.

    Attributes:
        classify: The rules of the document, before the tables of ErrorClassify.
        on_escalate: `tell`: it is told, and the run goes on. `pause`: a person is asked whether the
            run goes on, and until then nothing is allowed and nothing moves.
    """

    classify: ErrorClassify
    on_escalate: Literal["tell", "pause"] = "tell"


ERRORS = ErrorRules(classify=ErrorClassify())
"""Where a document says nothing: the tables alone, and everything is only told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCall(Record):
    """The last call of a run that failed with an error.

    Attributes:
        call_id: The call.
        tool: The capability.
        step: The step that it belongs to, as the path has it.
        visit: Which visit of it.
        error_class: One of the 19 classes of ErrorClassify; `class` in data.
        action: One of its 9 actions.
        matched: The rule or entry that decided; empty where the client had judged it already.
        wait_ms: How long to wait, in milliseconds; None when nobody said.
    """

    call_id: str
    tool: str
    step: str
    visit: int = 1
    error_class: str = field(default="unknown", metadata={"name": "class"})
    action: str = "escalate"
    matched: str = ""
    wait_ms: int | None = None


def judge(rules: ErrorRules, call: OpenCall, error: str, failure: object) -> FailedCall | None:
    """Say what kind of failure it was.

    Asked in this order: the rules of the document; what the client has judged already; the tables.
    What cannot be read is for a person to look at: what became of the call is not lost by it.

    Args:
        rules: Those of the document.
        call: The call that failed.
        error: What went wrong, in short; read as the message where nothing more is known.
        failure: As `observe` takes it.

    Returns:
        None where nothing is known of the error at all.
    """
    if failure is None and not error:
        return None
    name, action, matched, wait = _verdict(
        rules, {"message": error} if failure is None else failure
    )
    return FailedCall(
        call_id=call.call_id,
        tool=call.tool,
        step=call.step,
        visit=call.visit,
        error_class=name,
        action=action,
        matched=matched,
        wait_ms=wait,
    )


def _verdict(rules: ErrorRules, given: object) -> _Verdict:
    if not isinstance(given, Mapping):
        return _UNREADABLE
    known = cast("Mapping[str, object]", given)
    signals = {name: value for name, value in known.items() if name not in _JUDGED}
    try:
        found = rules.classify.classify_data(signals)
    except ConfigError:
        return _UNREADABLE
    if found.source not in _OWN and any(known.get(name) is not None for name in _JUDGED):
        return _judged(known)
    return found.error_class, found.action, found.matched, found.wait_ms


def _judged(given: Mapping[str, object]) -> _Verdict:
    """Take what the client says that the error is, as ErrorClassify would say it."""
    name, action, wait = (given.get(one) for one in _JUDGED)
    is_wait = wait is None or (type(wait) is int and wait >= 0)
    if name not in _CLASSES or action not in _ACTIONS or not is_wait:
        return _UNREADABLE
    return cast("str", name), cast("str", action), "", cast("int | None", wait)


_Verdict: TypeAlias = tuple[str, str, str, int | None]
"""Class, action, what decided, and the wait."""

_UNREADABLE: _Verdict = ("unknown", "escalate", "unreadable", None)
_OWN = ("custom", "undetermined")
"""Where a verdict comes from when a rule of the document has decided, or could not be judged."""
