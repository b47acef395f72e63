"""Many reports together: which step does not match what really happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from interlock.record._data import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from interlock.supervise.policy import Policy
    from interlock.supervise.report import Report

__all__ = ["Aggregate", "StepRate", "aggregate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRate(Record):
    """How often runs departed from the procedure at one step.

    Attributes:
        step: The step.
        runs: Runs that entered it.
        deviations: Deviations there, over all runs.
        rate: Deviations for each run that entered it.
        by_class: Deviations there, by class.
    """

    step: str
    runs: int
    deviations: int
    rate: float
    by_class: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate(Record):
    """What many runs say of a document.

    Attributes:
        runs: How many there are.
        policies: How many runs followed each policy, by digest; several make the rest a mixture.
        outcomes: How many runs came to each outcome.
        steps: The steps with deviations, the worst first: there the document does not match.
        spent: Budgeted edges of which the whole budget was used, and in how many runs.
        unused: Edges that no run took; known with a policy only.
        never_entered: Steps that no run entered; known with a policy only.
        unchecked: Steps left by their success edge with nothing to show, and in how many runs.
        never_failed: Steps that have shown what they must whenever that was looked at, and in how
            many runs: what is asked of them may not tell anything apart. Of reports with a log.
    """

    runs: int
    policies: Mapping[str, int] = field(default_factory=dict[str, int])
    outcomes: Mapping[str, int] = field(default_factory=dict[str, int])
    steps: tuple[StepRate, ...] = ()
    spent: Mapping[str, int] = field(default_factory=dict[str, int])
    unused: tuple[str, ...] = ()
    never_entered: tuple[str, ...] = ()
    unchecked: Mapping[str, int] = field(default_factory=dict[str, int])
    never_failed: Mapping[str, int] = field(default_factory=dict[str, int])


def aggregate(reports: Iterable[Report], *, policy: Policy | None = None) -> Aggregate:
    """Count what many runs came to, the steps with the most departures first.

    Args:
        reports: The reports, of one policy or of several.
        policy: The policy, for what no run has used.
    """
    told = tuple(reports)
    entered = Counter(step for one in told for step in set(one.path))
    taken = {f"{a}->{b}" for one in told for a, b in pairwise(_outermost(one.path))}
    failing = {step.step for one in told for step in one.steps if step.not_shown}
    return Aggregate(
        runs=len(told),
        policies=dict(Counter(one.policy.digest for one in told)),
        outcomes=dict(Counter(one.outcome or "(running)" for one in told)),
        steps=_rates(told, entered),
        spent=dict(
            Counter(
                use.edge
                for one in told
                for use in one.budgets.retries
                if use.max is not None and use.used >= use.max
            )
        ),
        unused=()
        if policy is None
        else tuple(dict.fromkeys(one.key for one in policy.edges if one.key not in taken)),
        never_entered=()
        if policy is None
        else tuple(step for step in policy.steps if not entered[step]),
        unchecked=dict(
            Counter(step.step for one in told for step in one.steps if step.verified is False)
        ),
        never_failed=dict(
            Counter(
                step.step
                for one in told
                for step in one.steps
                if step.shown and step.step not in failing
            )
        ),
    )


def _outermost(path: Iterable[str]) -> Iterator[str]:
    """Leave the steps of called runbooks out: the edges that are asked about are not theirs."""
    return (step for step in path if "/" not in step)


def _rates(told: tuple[Report, ...], entered: Counter[str]) -> tuple[StepRate, ...]:
    records = [record for one in told for record in one.deviations.records if record.step]
    found = [
        StepRate(
            step=step,
            runs=entered[step],
            deviations=count,
            rate=count / max(entered[step], 1),
            by_class=dict(Counter(one.deviation_class for one in records if one.step == step)),
        )
        for step, count in Counter(record.step or "" for record in records).items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.deviations, -one.rate, one.step)))
