"""The rounds of a refinement: how each fared, and which is the best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from interlock import _core
from interlock.errors import ConfigError, UsageError
from interlock.harness._frame import input_digest
from interlock.record._data import Record
from interlock.record.reply import data_digest
from interlock.record.usage import NOTHING, Usage
from interlock.record.values import ErrorInfo, Reply, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "RefineRound",
    "best_of",
    "check_score",
    "feedback_digest",
    "fingerprint",
    "is_score",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefineRound(Record):
    """How one round fared.

    Attributes:
        round: Its number, from 0.
        status: That of the step that drafted.
        answer: The draft; None when there is none.
        verdict: What the judge said; None when it was not asked.
        accepted: Whether that is good enough: a yes of the judge, or the target met.
        error: What went wrong, in the draft or in its judge.
        usage: What draft and judge used.
    """

    round: int
    status: str
    answer: Reply | None = None
    verdict: Verdict | None = None
    accepted: bool = False
    error: ErrorInfo | None = None
    usage: Usage = NOTHING

    @property
    def score(self) -> float | None:
        """What the judge gave it; None without a score."""
        return None if self.verdict is None else self.verdict.score


def best_of(rounds: Sequence[RefineRound]) -> RefineRound | None:
    """Return the round to come back with; None when nothing was drafted.

    One that was accepted; else the highest score, of equal ones the first; else the last. A draft
    that was never judged, because a limit came between, comes last of all.
    """
    drafted = [one for one in rounds if one.answer is not None and one.status != "failed"]
    judged = [one for one in drafted if one.verdict is not None] or drafted
    accepted = [one for one in judged if one.accepted]
    scored = [(one.score, one) for one in judged if one.score is not None]
    if accepted or not scored:
        last = accepted or judged
        return last[-1] if last else None
    return max(scored, key=lambda pair: pair[0])[1]


def is_score(value: object) -> bool:
    """Say whether a value can be compared as a score: a finite number."""
    return type(value) in (int, float) and math.isfinite(cast("float", value))


def check_score(score: object, step: str) -> None:
    """Refuse a score that is none.

    Raises:
        UsageError: Naming the step that gave it.
    """
    if score is not None and not is_score(score):
        shown = _core.preview(score)
        raise UsageError(f"{step} gave the score {shown}; a score is a finite number, or None")


def fingerprint(answer: Reply | None) -> str:
    """Return what is equal for equal drafts: their text and, where JSON can hold them, data."""
    said: list[object] = [] if answer is None else [answer.output, answer.data]
    return input_digest(said) or _core.digest(said[:1])


def feedback_digest(values: object, latest: RefineRound) -> str | None:
    """Return the digest of what a draft is made again from; None when it has no canonical form."""
    try:
        told = cast("Verdict", latest.verdict).to_dict()
        drafted = cast("Reply", latest.answer)
        return _core.digest([data_digest(values), drafted.output, told])
    except ConfigError:
        return None
