"""What a run has used: of its steps, its budgets and its time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock.record._data import Record
from interlock.supervise._allowance import calls_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlock.supervise.policy import Policy
    from interlock.supervise.state import Event, RunState

__all__ = [
    "Budgets",
    "EdgeUse",
    "StepUse",
    "Use",
    "WallClock",
    "spent_of",
    "steps_of",
    "wall_clock",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepUse(Record):
    """What became of a step.

    Attributes:
        visits: How often it was entered.
        calls: How many calls were allowed in it.
        verified: True: it has shown what it must. False: it was left by its success edge with
            nothing to show. None: neither, or that is not known.
        shown: How often it has shown what it must; None: not known, for there is no log.
        not_shown: How often it has not, or that could not be decided; likewise.
    """

    step: str
    visits: int = 0
    calls: int = 0
    verified: bool | None = None
    shown: int | None = None
    not_shown: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeUse(Record):
    """How often a budgeted edge was taken, and its limit; None: not known."""

    edge: str
    used: int
    max: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Use(Record):
    """How much of something was used, and its limit; None: not known, or none."""

    name: str
    used: int
    max: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WallClock(Record):
    """What was used of the time, in seconds.

    Attributes:
        limit: What the operator gave; None: no bound.
        elapsed: From the start to the end, or to the instant of the report; None without a clock.
        exhausted: Whether it is past.
    """

    limit: float | None = None
    elapsed: float | None = None
    exhausted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets(Record):
    """What was spent of every budget.

    Attributes:
        retries: Of budgeted edges.
        visits: Of steps that may be entered so often.
        calls: Of calls in all, by tool and by step, and of tokens.
        wall_clock: Of the time.
    """

    retries: tuple[EdgeUse, ...] = ()
    visits: tuple[Use, ...] = ()
    calls: tuple[Use, ...] = ()
    wall_clock: WallClock = WallClock()


def wall_clock(state: RunState, now: float | None) -> WallClock:
    limit, started = state.wall_clock_seconds, state.started_at
    at = state.last_now if now is None or state.is_over else max(now, state.last_now or now)
    elapsed = None if at is None or started is None else at - started
    exhausted = limit is not None and elapsed is not None and elapsed > limit
    return WallClock(limit=limit, elapsed=elapsed, exhausted=exhausted)


def steps_of(state: RunState, events: Sequence[Event] | None) -> tuple[StepUse, ...]:
    verdicts = Counter((one.at, one.code == "verify/passed") for one in events or ()
                       if one.code in _VERDICTS)  # fmt: skip
    return tuple(
        StepUse(
            step=step,
            visits=count,
            calls=state.calls_by_step.get(step, 0),
            verified=False if step in state.unchecked else True if verdicts[step, True] else None,
            shown=None if events is None else verdicts[step, True],
            not_shown=None if events is None else verdicts[step, False],
        )
        for step, count in Counter(state.path).items()
    )


_VERDICTS = ("verify/passed", "verify/failed", "verify/undetermined")


def spent_of(state: RunState, policy: Policy | None, clock: WallClock) -> Budgets:
    if policy is None:
        retries = [EdgeUse(edge=edge, used=used) for edge, used in state.retries.items()]
        return Budgets(retries=tuple(retries), wall_clock=clock)
    ceilings = policy.ceilings
    calls = [
        Use(name="calls", used=state.calls.get("allowed", 0), max=ceilings.calls),
        Use(name="tokens", used=state.tokens, max=ceilings.tokens),
        *(
            Use(name=name, used=calls_of(name, state, {}), max=limit)
            for name, limit in ceilings.calls_by_tool.items()
        ),
        *(
            Use(name=name, used=state.calls_by_step.get(name, 0), max=limit)
            for name, limit in ceilings.calls_by_step.items()
        ),
    ]
    return Budgets(
        retries=tuple(
            EdgeUse(edge=edge, used=_outermost(state, "retries").get(edge, 0), max=limit)
            for edge, limit in policy.budgets.items()
        ),
        visits=tuple(
            Use(name=step, used=_outermost(state, "visits").get(step, 0), max=limit)
            for step, limit in policy.visit_budgets.items()
        ),
        calls=tuple(calls),
        wall_clock=clock,
    )


def _outermost(state: RunState, name: str) -> Mapping[str, int]:
    """Return a count of the runbook that was started, also while the run is in another."""
    counted: Mapping[str, int] = getattr(state.stack[0] if state.stack else state, name)
    return counted
