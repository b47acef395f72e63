"""The rounds of a refinement: how each fared, and which is the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from interlock import _core
from interlock.errors import ConfigError
from interlock.harness._config import wrong
from interlock.harness._frame import input_digest
from interlock.harness.judge import is_score
from interlock.record._data import Record
from interlock.record.reply import data_digest
from interlock.record.usage import NOTHING, Usage
from interlock.record.values import ErrorInfo, Reply, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlock.errors import Problem

__all__ = [
    "RefineRound",
    "best_of",
    "feedback_digest",
    "fingerprint",
    "target_problems",
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


def target_problems(target: object) -> list[Problem]:
    """Check what a score is compared with."""
    if target is None or is_score(target):
        return []
    return [wrong(target, "target", "must be a finite number, or None for the judge's yes")]


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
