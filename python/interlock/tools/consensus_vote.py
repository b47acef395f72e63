"""ConsensusVote: what several answers to one question settled on."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from interlock import _core
from interlock._compiled import plain_problems, refuse, unknown_fields
from interlock._wire import WireForm
from interlock.tools._fields import choice_problems, missing, read_entries, text_problems
from interlock.tools._limits import VOTES_LIMIT
from interlock.tools._normalize import Normalizer, read_normalizer
from interlock.tools._numbers import (
    distance,
    exact,
    is_finite,
    number_problems,
    product,
    ratio,
    total,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlock.errors import Problem
    from interlock.typing import JSON, Number, VoteMode

__all__ = ["VoteGroup", "VoteResult", "consensus_vote"]

_MODES = ("exact", "numeric", "set")
_FIELDS = ("value", "weight", "voter")

_Form: TypeAlias = "str | Decimal | frozenset[str] | None"
"""What the mode compares: a digest, a number, a set of digests; None joins nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteGroup(WireForm):
    """Votes that count as one answer.

    Attributes:
        value: The answer as the first of them gave it, normalised if it is text.
        weight: The sum of their weights, exact.
        voters: Who they are, in the order of the votes.
    """

    value: JSON
    weight: Number
    voters: tuple[str, ...]

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        return {
            "value": _core.plain(self.value),
            "weight": self.weight,
            "voters": list(self.voters),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteResult(WireForm):
    """What the votes settled on.

    Attributes:
        decided: Whether there is no tie at the top and the agreement meets the threshold.
        winner: The answer of the first group, decided or not.
        support: The weight behind it, exact.
        total: The weight of all votes, exact.
        agreement: `support` as a share of `total`, 0 to 1; 0 when no weight was cast.
        unanimous: Whether all votes are one answer.
        tie: Whether another group has the weight of the first.
        groups: The answers, heaviest first; of equal ones the one that was seen first.
        dissenters: Who voted otherwise, in the order of the votes.
    """

    decided: bool
    winner: JSON
    support: Number
    total: Number
    agreement: float
    unanimous: bool
    tie: bool
    groups: tuple[VoteGroup, ...]
    dissenters: tuple[str, ...]

    @property
    def outcome(self) -> str:
        """A short label for counting."""
        if self.tie:
            return "(tie)"
        if not self.decided:
            return "(undecided)"
        return self.winner if isinstance(self.winner, str) else _core.preview(self.winner)

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        return {
            "decided": self.decided,
            "winner": _core.plain(self.winner),
            "support": self.support,
            "total": self.total,
            "agreement": self.agreement,
            "unanimous": self.unanimous,
            "tie": self.tie,
            "groups": [group.to_dict() for group in self.groups],
            "dissenters": list(self.dissenters),
        }


class _Vote(NamedTuple):
    position: int
    value: JSON
    form: _Form
    weight: Decimal
    voter: str


@dataclass(slots=True)
class _Group:
    founder: _Vote
    members: list[_Vote] = field(default_factory=list["_Vote"])

    @property
    def weight(self) -> Decimal:
        return total(vote.weight for vote in self.members)

    def result(self) -> VoteGroup:
        return VoteGroup(
            value=self.founder.value,
            weight=written(self.weight),
            voters=tuple(vote.voter for vote in self.members),
        )


def consensus_vote(
    votes: Sequence[object],
    *,
    mode: VoteMode = "exact",
    tolerance: Number = 0,
    overlap: Number = 1,
    threshold: Number = 0.5,
    normalize: Mapping[str, object] | None = None,
) -> VoteResult:
    """Group votes into answers and say whether one of them carries.

    Each vote joins the first group whose founding value it matches, else it founds one. Weights,
    distances and shares are compared as exact decimals: 0.1 + 0.2 ties with 0.3.

    Args:
        votes: Mappings of `value` (any JSON value), optional `weight` (finite, at least 0, default
            1) and optional `voter` (text, default `#` and the position from 0); 1 to 512 of them.
        mode: `exact`: the values are equal, key order aside. `numeric`: two finite numbers no
            further apart than `tolerance`; other values join nothing. `set`: two arrays that share
            at least `overlap` of their members (Jaccard), repeats and order aside; two empty ones
            are equal, other values join nothing.
        tolerance: The largest distance, finite and at least 0.
        overlap: The smallest share, 0 to 1.
        threshold: The agreement that decides, 0 to 1. A tie at the top is never decided.
        normalize: How text is normalised before it is compared, in this order: `trim` (default
            true), `lowercase`, `stripPunctuation` (only letters, numbers and white space stay,
            combining marks do not), `collapseWhitespace`. White space is that of ECMAScript.

    Raises:
        SpecInvalid: With every problem found.

    Example:
        >>> from interlock import consensus_vote
        >>> answer = consensus_vote([{"value": "yes"}, {"value": "no"}, {"value": " yes "}])
        >>> answer.decided, answer.winner, answer.support, answer.dissenters
        (True, 'yes', 2, ('#1',))
    """
    normalizer, problems = read_normalizer(normalize)
    cast_votes, more = _read_votes(votes, mode, normalizer)
    refuse(
        [
            *more,
            *choice_problems(mode, "mode", _MODES),
            *number_problems(tolerance, "tolerance", least=0),
            *number_problems(overlap, "overlap", least=0, most=1),
            *number_problems(threshold, "threshold", least=0, most=1),
            *problems,
        ]
    )
    bound = exact(tolerance) if mode == "numeric" else exact(overlap)
    return _counted(_grouped(cast_votes, bound), cast_votes, exact(threshold))


def _grouped(votes: Sequence[_Vote], bound: Decimal) -> list[_Group]:
    groups: list[_Group] = []
    for vote in votes:
        home = next((group for group in groups if _match(group.founder, vote, bound)), None)
        if home is None:
            home = _Group(vote)
            groups.append(home)
        home.members.append(vote)
    return groups


def _match(founder: _Vote, vote: _Vote, bound: Decimal) -> bool:
    left, right = founder.form, vote.form
    if isinstance(left, Decimal) and isinstance(right, Decimal):
        return distance(left, right) <= bound
    if isinstance(left, frozenset) and isinstance(right, frozenset):
        shared, either = len(left & right), len(left | right)
        return either == 0 or shared >= product(bound, Decimal(either))
    return left is not None and left == right


def _counted(groups: list[_Group], votes: Sequence[_Vote], threshold: Decimal) -> VoteResult:
    ranked = [(group.weight, group) for group in groups]
    # A stable sort: of equal weights the group that was seen first stays in front.
    ranked.sort(key=lambda pair: pair[0], reverse=True)
    support, first = ranked[0]
    cast_weight = total(vote.weight for vote in votes)
    tie = len(ranked) > 1 and ranked[1][0] == support
    enough = support >= product(threshold, cast_weight) if cast_weight else threshold == 0
    backers = {vote.position for vote in first.members}
    return VoteResult(
        decided=not tie and enough,
        winner=first.founder.value,
        support=written(support),
        total=written(cast_weight),
        agreement=ratio(support, cast_weight),
        unanimous=len(ranked) == 1,
        tie=tie,
        groups=tuple(group.result() for _, group in ranked),
        dissenters=tuple(vote.voter for vote in votes if vote.position not in backers),
    )


def _read_votes(
    votes: object, mode: str, normalizer: Normalizer
) -> tuple[list[_Vote], list[Problem]]:
    entries, problems = read_entries(votes, "votes", VOTES_LIMIT)
    found: list[_Vote] = []
    for position, (place, entry) in enumerate(entries):
        vote, more = _read_vote(position, place, entry, mode, normalizer)
        found.append(vote)
        problems += more
    return found, problems


def _read_vote(
    position: int, place: str, entry: dict[str, JSON], mode: str, normalizer: Normalizer
) -> tuple[_Vote, list[Problem]]:
    problems = unknown_fields(entry, _FIELDS, f"{place}.")
    value: JSON = None
    key: _Form = None
    if "value" not in entry:
        problems.append(missing(f"{place}.value", "the answer (any JSON value, also null)"))
    else:
        value, not_json = plain_problems(entry["value"], f"{place}.value", finite=True)
        value = normalizer.applied(value)
        key, unfit = (None, not_json) if not_json else _form(value, mode, f"{place}.value")
        problems += unfit
    weight, voter = entry.get("weight", 1), entry.get("voter", f"#{position}")
    weightless = number_problems(weight, f"{place}.weight", least=0)
    problems += [*weightless, *text_problems(voter, f"{place}.voter")]
    counts = Decimal(0) if weightless else exact(weight)
    return _Vote(position, value, key, counts, cast("str", voter)), problems


def _form(value: JSON, mode: str, place: str) -> tuple[_Form, Sequence[Problem]]:
    """Give what the mode compares of a value, None where there is nothing that it can compare."""
    if mode == "numeric":
        if not is_finite(value):
            return None, ()
        problems = number_problems(value, place)
        return (None if problems else exact(value)), problems
    if mode == "set":
        if not isinstance(value, list):
            return None, ()
        return frozenset(map(_core.fingerprint, value)), ()
    return _core.fingerprint(value), ()
