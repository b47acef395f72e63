"""What a RuleScore says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock import _core
from interlock._wire import WireForm, draft_of

if TYPE_CHECKING:
    from types import MemberDescriptorType

    from interlock.typing import JSON, Number

__all__ = ["Contribution", "RuleReason", "ScoreDraft", "ScoreResult"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution(WireForm):
    """A rule that holds, and what it gives.

    Attributes:
        id: Its id.
        label: Its label; None when it has none.
        points: Its points; `int`, `float` or `Decimal` as the score.
    """

    id: str
    label: str | None
    points: Number

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        return {"id": self.id, "label": self.label, "points": self.points}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleReason(WireForm):
    """A rule that does not hold or could not be decided, and why.

    Attributes:
        id: Its id.
        reason: The reason of its first check that fails, or that could not be decided.
    """

    id: str
    reason: str

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        return {"id": self.id, "reason": self.reason}


class _Unlisted(WireForm):
    """What contributors are listed from when they are first read: most callers read the score."""

    __slots__ = ("_contributions",)

    _contributions: tuple[Contribution, ...]
    """Of all rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreResult(_Unlisted):
    """What a record scores.

    Attributes:
        score: The exact sum of the points of the rules that hold, within `min` and `max`; `int`
            when it is whole, `float` when that is exactly it, else `Decimal`. None when a rule is
            undecided.
        raw_score: The sum before `min` and `max`; None likewise.
        band: The band with the highest `min` that the score meets; None without one.
        version: The version of the rules; None when they have none.
        contributors: The rules that hold, in declared order; listed when they are first read.
        missed: With `include_missed`, the rules that do not hold; else None.
        undetermined: The undecided rules.
    """

    score: Number | None
    raw_score: Number | None
    band: str | None
    version: str | None
    contributors: tuple[Contribution, ...]
    missed: tuple[RuleReason, ...] | None = None
    undetermined: tuple[RuleReason, ...] = ()

    @property
    def outcome(self) -> str:
        """A short label for counting."""
        if self.undetermined:
            return "(undetermined)"
        return "(no band)" if self.band is None else self.band

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        wire: dict[str, JSON] = {
            "score": self.score,
            "rawScore": self.raw_score,
            "band": self.band,
            "version": self.version,
            "contributors": [rule.to_dict() for rule in self.contributors],
        }
        if self.missed is not None:
            wire["missed"] = [rule.to_dict() for rule in self.missed]
        if self.undetermined:
            wire["undetermined"] = [rule.to_dict() for rule in self.undetermined]
        return wire


class _Listed:
    """Reads contributors, of which an answer in the making keeps no more than the marks.

    Rules do not change, so that the list is the same whenever it is made.
    """

    __slots__ = ("_all", "_slot")

    def __init__(self, slot: MemberDescriptorType, rules: MemberDescriptorType) -> None:
        self._slot = slot
        self._all = rules

    def __get__(self, answer: ScoreResult | None, kind: type) -> object:
        if answer is None:
            return self
        kept = self._slot.__get__(answer, kind)
        if kept.__class__ is bytes:
            kept = _core.marked(self._all.__get__(answer, kind), kept)
            self._slot.__set__(answer, kept)
        return kept

    def __set__(self, answer: ScoreResult, listed: object) -> None:
        self._slot.__set__(answer, listed)


# The class is made by then, with a place for each field.
_SLOT: MemberDescriptorType = ScoreResult.__dict__["contributors"]
_ALL: MemberDescriptorType = _Unlisted.__dict__["_contributions"]
type.__setattr__(ScoreResult, "contributors", _Listed(_SLOT, _ALL))

ScoreDraft = draft_of(ScoreResult, contributors=_SLOT)
"""A score in the making; see `draft_of`."""
