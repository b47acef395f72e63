"""DeadlineCheck: how much time is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock import _core
from interlock._instant import FURTHEST, read_instant
from interlock._wire import WireForm
from interlock.errors import InputInvalid, Problem
from interlock.tools._numbers import exact, number_problems, whole_problems

if TYPE_CHECKING:
    from interlock.typing import JSON, Instant, Phase

__all__ = ["DeadlineResult", "deadline_check"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlineResult(WireForm):
    """How much of a time budget is left; all times in milliseconds.

    Attributes:
        now_ms: The instant that was asked about, from 1970.
        deadline_ms: The end, from 1970.
        remaining_ms: From now to the end; negative when it is past.
        elapsed_ms: From the start to now; negative before the start.
        total_ms: From the start to the end, never negative.
        fraction_remaining: What is left of the total, from 0 to 1; 0 for an empty total.
        phase: `expired` when nothing remains, else `critical`, `tight` or `ample` by the fraction.
        expired: Whether nothing remains.
        fits: Whether one more step fits; None when its cost is not known.
        steps_remaining: How many steps fit one after the other; None likewise.
        deadline: The end as `YYYY-MM-DDTHH:MM:SS.mmmZ`.
    """

    now_ms: int
    deadline_ms: int
    remaining_ms: int
    elapsed_ms: int
    total_ms: int
    fraction_remaining: float
    phase: Phase
    expired: bool
    fits: bool | None
    steps_remaining: int | None
    deadline: str

    @property
    def outcome(self) -> str:
        """A short label for counting."""
        return self.phase

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        return {
            "nowMs": self.now_ms,
            "deadlineMs": self.deadline_ms,
            "remainingMs": self.remaining_ms,
            "elapsedMs": self.elapsed_ms,
            "totalMs": self.total_ms,
            "fractionRemaining": self.fraction_remaining,
            "phase": self.phase,
            "expired": self.expired,
            "fits": self.fits,
            "stepsRemaining": self.steps_remaining,
            "deadline": self.deadline,
        }


def deadline_check(
    *,
    now: Instant,
    deadline: Instant | None = None,
    budget_ms: float | None = None,
    started_at: Instant | None = None,
    step_cost_ms: float | None = None,
    tight_at: float = 0.5,
    critical_at: float = 0.2,
) -> DeadlineResult:
    """Say how much time is left until a deadline, or of a budget.

    Args:
        now: The instant to ask about: epoch milliseconds, ISO-8601 text with an offset, or an
            aware `datetime`; likewise the other instants. A part of a millisecond is dropped.
        deadline: The end. It is required unless *budget_ms* is given, and wins over it.
        budget_ms: Whole milliseconds from the start to the end, at least 0; 0 is no time at all.
        started_at: The start; *now* when left out.
        step_cost_ms: Whole milliseconds that one step takes, at least 1.
        tight_at: The fraction at and below which time is tight, from 0 to 1.
        critical_at: The fraction at and below which it is critical; not above *tight_at*.

    Raises:
        InputInvalid: With every problem found; the fields are named as in data (`budgetMs`).

    Example:
        >>> from interlock import deadline_check
        >>> left = deadline_check(now=75_000, started_at=0, budget_ms=100_000, step_cost_ms=10_000)
        >>> left.phase, left.remaining_ms, left.steps_remaining
        ('tight', 25000, 2)

    Source:
        Instants: RFC 3339 section 5.6 as read, ECMA-262 (time values, date time string format)
        as written.
    """
    present, unread = read_instant(now, "now")
    problems = [*unread]
    start, unread = _read_optional(started_at, "startedAt", present)
    problems += unread
    budget, wrong = _read_budget(budget_ms, deadline)
    problems += wrong
    end, unread = _read_optional(deadline, "deadline", start + budget)
    problems += unread
    cost, wrong = _read_cost(step_cost_ms)
    problems += wrong
    tight, critical, wrong = _read_shares(tight_at, critical_at)
    problems += wrong
    if end > FURTHEST:
        message = "ends beyond every date, counted from the start"
        problems.append(Problem("spec/no-instant", "budgetMs", str(budget), message))
    if problems:
        raise InputInvalid(tuple(problems))

    remaining, total = end - present, max(0, end - start)
    fraction = min(1.0, max(0.0, remaining / total)) if total else 0.0
    return DeadlineResult(
        now_ms=present,
        deadline_ms=end,
        remaining_ms=remaining,
        elapsed_ms=present - start,
        total_ms=total,
        fraction_remaining=fraction,
        phase=_phase(remaining, fraction, tight, critical),
        expired=remaining <= 0,
        fits=None if cost is None else remaining >= cost,
        steps_remaining=None if cost is None else max(0, remaining) // cost,
        deadline=_core.format_instant(end),
    )


_LONGEST = 2 * FURTHEST
"""From the first instant to the last."""


def _read_optional(value: object, field: str, otherwise: int) -> tuple[int, tuple[Problem, ...]]:
    return (otherwise, ()) if value is None else read_instant(value, field)


def _read_cost(cost: object) -> tuple[int | None, list[Problem]]:
    # A step that takes no time would fit without end.
    return (None, []) if cost is None else _read_whole(cost, "stepCostMs", 1)


def _read_budget(budget: object, deadline: object) -> tuple[int, list[Problem]]:
    if budget is not None:
        return _read_whole(budget, "budgetMs", 0)
    if deadline is not None:
        return 0, []
    message = "is required, unless budgetMs is given"
    return 0, [Problem("spec/missing-field", "deadline", None, message)]


def _read_whole(value: object, field: str, least: int) -> tuple[int, list[Problem]]:
    problems = whole_problems(value, field, least=least, most=_LONGEST)
    return 0 if problems else int(exact(value)), problems


def _read_shares(tight_at: object, critical_at: object) -> tuple[float, float, list[Problem]]:
    problems = number_problems(tight_at, "tightAt", least=0, most=1)
    problems += number_problems(critical_at, "criticalAt", least=0, most=1)
    if problems:
        return 0.0, 0.0, problems
    tight, critical = float(exact(tight_at)), float(exact(critical_at))
    if critical > tight:
        message = f"must not be above tightAt, which is {_core.preview(tight)}"
        shown = _core.preview(critical)
        problems.append(Problem("spec/conflict", "criticalAt", shown, message))
    return tight, critical, problems


def _phase(remaining: int, fraction: float, tight: float, critical: float) -> Phase:
    if remaining <= 0:
        return "expired"
    if fraction <= critical:
        return "critical"
    return "tight" if fraction <= tight else "ample"
