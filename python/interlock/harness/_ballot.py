"""Votes as a workflow takes and counts them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from interlock import _core
from interlock.errors import ConfigError, UsageError
from interlock.harness._branches import BranchOutcome
from interlock.harness._frame import input_digest
from interlock.record._data import Record
from interlock.record.reply import plain_data
from interlock.record.result import Result
from interlock.tools._numbers import number_problems

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlock.record.values import Reply
    from interlock.tools.consensus_vote import VoteResult

__all__ = [
    "AnswerGroup",
    "VotingResult",
    "digested",
    "groups_of",
    "text_of",
    "vote_of",
    "weight_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerGroup(Record):
    """Votes that count as one answer.

    Attributes:
        value: The answer as the first of them gave it, normalised if it is text.
        weight: The sum of their weights, exact.
        voters: Their steps by name, in order.
    """

    value: object
    weight: object
    voters: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VotingResult(Result):
    """What a vote came to.

    `stopped_by`: decided, undecided, failed, or a limit (tokens, cost, steps, deadline,
    unmetered). Output and data are those of the winner, and None without a decision.

    Attributes:
        decided: Whether an answer carries: no tie, and enough agreement.
        winner: The answer; None without a decision.
        agreement: The share of the heaviest group, 0 to 1.
        groups: The answers, heaviest first; of equal ones the one that was given first.
        dissenters: Who voted for another than the first of these.
        abstained: Who failed, or gave no answer.
        outcomes: What became of every voter, in order; those that could change nothing any more
            are cancelled.
    """

    decided: bool = False
    winner: object = None
    agreement: float = 0.0
    groups: tuple[AnswerGroup, ...] = ()
    dissenters: tuple[str, ...] = ()
    abstained: tuple[str, ...] = ()
    outcomes: tuple[BranchOutcome, ...] = ()


def vote_of(reply: Reply, step: str) -> object:
    """Return what a reply votes for: its data, or else its text.

    Raises:
        UsageError: When JSON cannot hold it.
    """
    if reply.data is None:
        return reply.output
    try:
        return cast("object", plain_data(reply.data))
    except ConfigError as error:
        raise UsageError(f"step `{step}` voted with data that JSON cannot hold: {error}") from None


def text_of(winner: object) -> str:
    """Return a winner as text: itself, or its JSON."""
    return winner if isinstance(winner, str) else _core.to_json(cast("Any", winner))


def groups_of(counted: VoteResult | None) -> tuple[AnswerGroup, ...]:
    """Return the groups of a count as they stand in a result."""
    return tuple(
        AnswerGroup(value=group.value, weight=group.weight, voters=group.voters)
        for group in (counted.groups if counted else ())
    )


def digested(counted: VoteResult) -> VoteResult:
    """Give a count whose answers are digests, for a record that holds no answers."""
    return replace(
        counted,
        winner={"digest": input_digest(counted.winner)},
        groups=tuple(
            replace(group, value={"digest": input_digest(group.value)}) for group in counted.groups
        ),
    )


def weight_of(weigh: Callable[[Reply], Any] | None, reply: Reply, step: str) -> object:
    """Say what a vote weighs; 1 when nothing says it.

    Raises:
        UsageError: When a function does not say it.
    """
    if weigh is None:
        return 1
    try:
        weight: object = weigh(reply)
    except Exception as error:
        raise UsageError(f"the weight of step `{step}` raised: {error!r}") from error
    if number_problems(weight, "weight", least=0):
        shown = _core.preview(weight)
        raise UsageError(
            f"the weight of step `{step}` is {shown}; it must be a finite number, 0 or more"
        )
    return weight
