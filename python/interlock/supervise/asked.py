"""What people are asked and what they say, as a run keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from interlock.record._data import Record

__all__ = ["Approval", "Question", "QuestionKind", "Vote"]

QuestionKind: TypeAlias = Literal["call", "enter", "approval", "continue"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote(Record):
    """What one person answered to a question.

    Attributes:
        by: Who it was.
        approve: Whether they agree.
        note: What they said.
        at: When, in seconds.
    """

    by: str
    approve: bool
    note: str = ""
    at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Record):
    """What people are asked before something happens.

    Attributes:
        id: Its id, the same whenever the same run asks it.
        kind: `call`: one call. `enter`: a step is entered. `approval`: a step that is only a
            gate. `continue`: whether the run goes on after a deviation or an error.
        step: The step.
        visit: Which visit of the step, from 1.
        text: The question, in words.
        action_digest: SHA-256 of exactly what they would agree to.
        tool: The capability that would be called.
        args: Its arguments; secrets are left out.
        effect: What the tool declares.
        risk: The risk of the step.
        call_id: The call.
        requested_by: Who asks.
        to: Who may answer; empty: anybody who is identified.
        quorum: How many must agree.
        separate_from: `requester`: who asks may not answer.
        asked_at: When, in seconds.
        expires_at: After this an answer is refused; None: it stays open.
        verified: Whether what the step must show has been shown.
        left: What is left of budgets and time, by name.
        on_refusal: What happens when they do not agree.
        votes: What was answered so far.
    """

    id: str
    kind: QuestionKind
    step: str
    visit: int
    text: str
    action_digest: str
    tool: str | None = None
    args: Mapping[str, object] = field(default_factory=dict[str, object])
    effect: str | None = None
    risk: str = "read-only"
    call_id: str | None = None
    requested_by: str = ""
    to: tuple[str, ...] = ()
    quorum: int = 1
    separate_from: str | None = None
    asked_at: float | None = None
    expires_at: float | None = None
    verified: bool = False
    left: Mapping[str, object] = field(default_factory=dict[str, object])
    on_refusal: str = ""
    votes: tuple[Vote, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval(Record):
    """What came of a question.

    Attributes:
        question_id: The question.
        action_digest: What exactly was agreed to, or refused.
        approved: Whether enough agreed.
        votes: Who said what.
        expires_at: When it lapses unused, in seconds.
        used_by: The call, or the step that was entered, that used it up; None: not used.
    """

    question_id: str
    action_digest: str
    approved: bool
    votes: tuple[Vote, ...] = ()
    expires_at: float | None = None
    used_by: str | None = None
