"""ConsensusVote: what several answers to one question settled on."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from interlock import _core
from interlock._compiled import refuse
from interlock._wire import WireForm
from interlock.tools._fields import choice_problems
from interlock.tools._normalize import read_normalizer
from interlock.tools._numbers import (
    distance,
    exact,
    number_problems,
    product,
    ratio,
    total,
    written,
)
from interlock.tools._votes import Vote, read_votes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlock.errors import Problem
    from interlock.typing import JSON, Number, VoteMode

__all__ = ["ConsensusVote", "VoteGroup", "VoteResult", "consensus_vote"]

_MODES = ("exact", "numeric", "set")


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


@dataclass(slots=True)
class _Group:
    founder: Vote
    members: list[Vote] = field(default_factory=list["Vote"])

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
    cast_votes, more = read_votes(votes, mode, normalizer)
    refuse([*more, *_rule_problems(mode, tolerance, overlap, threshold), *problems])
    bound = exact(tolerance) if mode == "numeric" else exact(overlap)
    return _counted(_grouped(cast_votes, bound), cast_votes, exact(threshold))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsensusVote:
    """The rules of a vote, checked once; see `consensus_vote` for what they mean.

    Raises:
        SpecInvalid: With every problem found.

    Example:
        >>> from interlock import ConsensusVote
        >>> rules = ConsensusVote(threshold=0.6)
        >>> yes, no = {"value": "yes"}, {"value": "no"}
        >>> rules.count([yes, no, yes]).decided, rules.is_settled([yes, yes], 1)
        (True, True)
    """

    mode: VoteMode = "exact"
    tolerance: Number = 0
    overlap: Number = 1
    threshold: Number = 0.5
    normalize: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        """Refuse rules that are none."""
        _, problems = read_normalizer(self.normalize)
        rules = _rule_problems(self.mode, self.tolerance, self.overlap, self.threshold)
        refuse([*rules, *problems])

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the rules, as 64 hexadecimal digits."""
        return _core.digest(
            [self.mode, self.tolerance, self.overlap, self.threshold, self.normalize or {}]
        )

    @property
    def is_orderless(self) -> bool:
        """Whether the order of the votes makes no difference to which of them are one answer."""
        bounds = {"exact": True, "numeric": self.tolerance == 0, "set": self.overlap == 1}
        return bounds[self.mode]

    def count(self, votes: Sequence[object]) -> VoteResult:
        """Count votes, as `consensus_vote` does.

        Raises:
            SpecInvalid: With every problem found.
        """
        return consensus_vote(
            votes,
            mode=self.mode,
            tolerance=self.tolerance,
            overlap=self.overlap,
            threshold=self.threshold,
            normalize=self.normalize,
        )

    def is_settled(self, votes: Sequence[object], pending: int) -> bool:
        """Say whether votes that are still to come can change neither the winner nor `decided`.

        Args:
            votes: Those that are there.
            pending: How many are to come at most, each of weight 1. They stand behind the others,
                unless the rules are `is_orderless`.

        Raises:
            SpecInvalid: As `count`.
        """
        if pending <= 0:
            return True
        if not votes:
            return False
        answer, more = self.count(votes), Decimal(pending)
        weights = [exact(group.weight) for group in answer.groups]
        bar = product(exact(self.threshold), exact(answer.total) + more)
        first, second = weights[0], weights[1] if len(weights) > 1 else Decimal(0)
        # At worst all of them go to the runner-up; nobody abstains who could raise the bar.
        if first >= bar and first > second + more:
            return True
        # At best all of them go to one answer, an old one or a new one.
        rivals = [second, *[first] * (len(weights) - 1), first]
        best = zip([*weights, Decimal(0)], rivals, strict=True)
        return not any(own + more >= bar and own + more > rival for own, rival in best)


def _rule_problems(
    mode: object, tolerance: object, overlap: object, threshold: object
) -> list[Problem]:
    return [
        *choice_problems(mode, "mode", _MODES),
        *number_problems(tolerance, "tolerance", least=0),
        *number_problems(overlap, "overlap", least=0, most=1),
        *number_problems(threshold, "threshold", least=0, most=1),
    ]


def _grouped(votes: Sequence[Vote], bound: Decimal) -> list[_Group]:
    groups: list[_Group] = []
    for vote in votes:
        home = next((group for group in groups if _match(group.founder, vote, bound)), None)
        if home is None:
            home = _Group(vote)
            groups.append(home)
        home.members.append(vote)
    return groups


def _match(founder: Vote, vote: Vote, bound: Decimal) -> bool:
    left, right = founder.form, vote.form
    if isinstance(left, Decimal) and isinstance(right, Decimal):
        return distance(left, right) <= bound
    if isinstance(left, frozenset) and isinstance(right, frozenset):
        shared, either = len(left & right), len(left | right)
        return either == 0 or shared >= product(bound, Decimal(either))
    return left is not None and left == right


def _counted(groups: list[_Group], votes: Sequence[Vote], threshold: Decimal) -> VoteResult:
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
