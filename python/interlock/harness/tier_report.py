"""tier_report: whether a cascade earns what it costs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from interlock.harness._config import raise_problems, wrong
from interlock.record._data import Record
from interlock.record.result import Result
from interlock.record.rollout import Rollout
from interlock.record.usage import NOTHING, Usage

if TYPE_CHECKING:
    from interlock.record.rollout import Step

__all__ = ["TierReport", "TierShare", "tier_report"]

Unit = Literal["micro_dollars", "tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TierShare(Record):
    """How one tier did over many runs.

    Attributes:
        name: Its name.
        tried: In how many runs it was asked.
        answered: In how many its answer was returned.
        accepted: In how many its answer was accepted.
        share: `answered` as a share of all runs.
        accepted_share: `accepted` as a share of `tried`; None when it was never asked.
        cost: What it used in all runs, without its judge.
        judge_cost: What its judge used in all runs.
        cost_if_direct: What asking it alone, in every run, would have used; None likewise.
        break_even: The accepted share below which asking it first loses: what one call of it and
            its judge costs, as a share of what a call of the next tier costs. None for the last
            tier, and where one of the two costs is not known.
    """

    name: str
    tried: int
    answered: int
    accepted: int
    share: float
    accepted_share: float | None
    cost: int
    judge_cost: int
    cost_if_direct: float | None
    break_even: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TierReport(Record):
    """How the tiers of a cascade did over many runs.

    Attributes:
        runs: How many there are.
        unit: What costs are counted in: `micro_dollars` when every step that used something told
            its cost, else `tokens`.
        cost: What all runs used.
        tiers: The tiers, in the order in which they are asked.
    """

    runs: int
    unit: Unit
    cost: int
    tiers: tuple[TierShare, ...]


class _Tally:
    """What is counted of one tier."""

    def __init__(self) -> None:
        self.tried = self.answered = self.accepted = 0
        self.used, self.judged = NOTHING, NOTHING


def tier_report(rollouts: Iterable[Rollout | Result]) -> TierReport:
    """Say how often each tier of a cascade answers, and at what cost.

    Args:
        rollouts: Records, or results, of runs of one cascade.

    Raises:
        ConfigError: For what is no record or result.

    Source:
        With a cheap call at c, its judge at j, a dear call at d and a share p accepted, a cascade
        costs c + j + (1 - p) d and a direct call d: the cascade loses when p < (c + j) / d.
    """
    read = _read(rollouts)
    tallies: dict[str, _Tally] = {}
    for rollout in read:
        _count(rollout, tallies)
    used = [usage for one in tallies.values() for usage in (one.used, one.judged)]
    is_priced = all(
        one.is_nothing or (one.cost is not None and not one.cost_incomplete) for one in used
    )
    unit: Unit = "micro_dollars" if is_priced and any(one.cost for one in used) else "tokens"
    return TierReport(
        runs=len(read),
        unit=unit,
        cost=sum(_cost(one, unit) for one in used),
        tiers=_shares(tallies, len(read), unit),
    )


def _read(rollouts: object) -> list[Rollout]:
    if not isinstance(rollouts, Iterable):
        raise_problems([wrong(rollouts, "rollouts", "must be a list of records or results")])
    given = list(cast("Iterable[object]", rollouts))
    read = [one.rollout if isinstance(one, Result) else one for one in given]
    raise_problems(
        wrong(one, f"rollouts[{at}]", "must be a Rollout, or the result of a Cascade")
        for at, one in enumerate(read)
        if not isinstance(one, Rollout)
    )
    return cast("list[Rollout]", read)


def _count(rollout: Rollout, tallies: dict[str, _Tally]) -> None:
    answered: str | None = None
    tiers: dict[str, Step] = {}
    for step in rollout.steps:
        if step.kind == "tier":
            tally = tallies.setdefault(step.name, _Tally())
            tally.used = tally.used + step.usage
            tally.tried += step.name not in tiers
            tiers[step.name] = step
            answered = step.name if step.status == "completed" else answered
        elif step.kind == "accept" and tiers:
            tally = tallies[next(reversed(tiers))]
            tally.judged = tally.judged + step.usage
            tally.accepted += step.status == "completed"
    if answered is not None:
        tallies[answered].answered += 1


def _shares(tallies: dict[str, _Tally], runs: int, unit: Unit) -> tuple[TierShare, ...]:
    shares: list[TierShare] = []
    names = list(tallies)
    for at, name in enumerate(names):
        following = names[at + 1] if at + 1 < len(names) else None
        tally = tallies[name]
        each = _each(tally.used, tally, unit)
        dear = _each(tallies[following].used, tallies[following], unit) if following else None
        first = _each(tally.used + tally.judged, tally, unit)
        shares.append(
            TierShare(
                name=name,
                tried=tally.tried,
                answered=tally.answered,
                accepted=tally.accepted,
                share=tally.answered / runs,
                accepted_share=tally.accepted / tally.tried if tally.tried else None,
                cost=_cost(tally.used, unit),
                judge_cost=_cost(tally.judged, unit),
                cost_if_direct=None if each is None else each * runs,
                break_even=first / dear if first is not None and dear else None,
            )
        )
    return tuple(shares)


def _each(usage: Usage, tally: _Tally, unit: Unit) -> float | None:
    return _cost(usage, unit) / tally.tried if tally.tried else None


def _cost(usage: Usage, unit: Unit) -> int:
    return (usage.cost or 0) if unit == "micro_dollars" else usage.total
