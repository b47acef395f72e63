"""Limits of a run, and the account that is kept against them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock import _core
from interlock.errors import ConfigError, UsageError
from interlock.harness._config import (
    count_problems,
    keywords,
    raise_problems,
    seconds_problems,
    wrong,
)
from interlock.tools.deadline_check import deadline_check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from interlock.harness._clock import Clock
    from interlock.harness._frame import Frame, Plan
    from interlock.record.usage import Usage

__all__ = [  # noqa: RUF022 (by code point, as every other list of names)
    "Account",
    "Limits",
    "PASSING",
    "Remaining",
    "RunRefused",
    "Stopped",
    "UNLIMITED",
    "admit",
    "fits_later",
    "remaining",
    "settle",
]


class Stopped(Exception):
    """A step does not start: a ceiling is reached, time is over, or the run was cancelled."""

    def __init__(self, reason: str, path: str | None = None) -> None:
        """Take the reason, a word of `stopped_by`, and the path of the step that never started."""
        super().__init__(reason)
        self.reason, self.path = reason, path


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use; None is no limit.

    Args:
        max_tokens: Tokens, weighed by `weigh`.
        max_cost: Whole micro-dollars.
        max_steps: Steps, those of nested runs included.
        timeout: Seconds for the whole run.
        step_timeout: Seconds for each step.
        weigh: What of a usage counts as tokens; `usage.total` when None.
        allow_unmetered: Whether a provider's reply without usage is no reason to stop under
            `max_tokens`.
        allow_unpriced: Whether a step without a known cost is no error under `max_cost`.

    Raises:
        ConfigError: With every limit that is none.
    """

    max_tokens: int | None = None
    max_cost: int | None = None
    max_steps: int | None = None
    timeout: float | None = None
    step_timeout: float | None = None
    weigh: Callable[[Usage], int] | None = None
    allow_unmetered: bool = False
    allow_unpriced: bool = False

    def __post_init__(self) -> None:
        """Refuse what limits nothing."""
        problems = [
            fault
            for name in ("max_tokens", "max_cost", "max_steps")
            for fault in count_problems(getattr(self, name), f"limits.{name}")
        ]
        for name in ("timeout", "step_timeout"):
            problems += seconds_problems(getattr(self, name), f"limits.{name}")
        if self.weigh is not None and not callable(self.weigh):
            problems.append(wrong(self.weigh, "limits.weigh", "must be a callable of a Usage"))
        raise_problems(problems)


# `unknown keyword: the nearest is offered` holds for this constructor too.
Limits.__init__ = keywords(Limits.__init__)  # type: ignore[method-assign]


UNLIMITED = Limits()


@dataclass(frozen=True, slots=True)
class Remaining:
    """What is left, never below 0; `math.inf` where nothing limits.

    Attributes:
        turns: Turns of a loop, the one about to be taken included.
        tokens: Tokens, as weighed.
        cost: Micro-dollars.
        ms: Milliseconds until the deadline.
        steps: Steps.
    """

    turns: float = math.inf
    tokens: float = math.inf
    cost: float = math.inf
    ms: float = math.inf
    steps: float = math.inf


class RunRefused(ConfigError):
    """What a run was set up with cannot be kept: it ends with this error, not with a result."""


PASSING = (Stopped, UsageError, RunRefused)
"""What a callable's failure is not: it ends the workflow, not the step alone."""


class Account:
    """What was used and is reserved against one set of limits.

    A run has one, and each workflow with a ceiling of its own; a step is tested against, and
    counted in, every account around it.
    """

    __slots__ = (
        "cancelled",
        "cost",
        "limits",
        "reserved",
        "started",
        "started_ms",
        "steps",
        "tokens",
        "unmetered",
    )

    def __init__(self, limits: Limits) -> None:
        """Start with nothing used."""
        self.limits = limits
        self.tokens = self.cost = self.steps = self.reserved = 0
        self.started: float | None = None
        self.started_ms = 0
        self.unmetered = self.cancelled = False

    def start(self, clock: Clock) -> None:
        """Start the time, once."""
        if self.started is None:
            self.started, self.started_ms = clock.monotonic(), clock.now()

    def remaining_ms(self, clock: Clock, cost_ms: int | None = None) -> float:
        """Return the time left; nothing when a step of that cost does not fit."""
        if self.limits.timeout is None or self.started is None:
            return math.inf
        # Counted from the start by the clock that never goes back.
        elapsed = int((clock.monotonic() - self.started) * 1000)
        checked = deadline_check(
            now=self.started_ms + elapsed,
            started_at=self.started_ms,
            budget_ms=round(self.limits.timeout * 1000),
            step_cost_ms=cost_ms,
        )
        fits = not checked.expired and checked.fits is not False
        return max(0, checked.remaining_ms) if fits else 0

    def weigh(self, usage: Usage) -> int:
        """Return what of a usage counts as tokens."""
        weigh = self.limits.weigh
        if weigh is None:
            return usage.total
        try:
            tokens: object = weigh(usage)
        except Exception as error:
            raise UsageError(f"limits.weigh raised: {error!r}") from error
        if type(tokens) is not int or tokens < 0:
            shown = _core.preview(tokens)
            raise UsageError(f"limits.weigh gave {shown}; it must give a whole number, 0 or more")
        return tokens

    def reached(self, reserve: int, covered: int, clock: Clock, cost_ms: int | None) -> str | None:
        """Name the ceiling that a step would start at or beyond; None when it may start.

        `covered` is what a step around this one holds reserved.
        """
        limits = self.limits
        if self.cancelled:
            return "cancelled"
        if limits.timeout is not None and not self.remaining_ms(clock, cost_ms):
            return "deadline"
        if limits.max_steps is not None and self.steps >= limits.max_steps:
            return "steps"
        return "unmetered" if self.unmetered else self._spent(reserve, covered)

    def _spent(self, reserve: int, covered: int) -> str | None:
        limits = self.limits
        if limits.max_tokens is not None:
            taken = self.tokens + self.reserved - covered
            if taken >= limits.max_tokens or taken + reserve > limits.max_tokens:
                return "tokens"
        if limits.max_cost is not None and self.cost >= limits.max_cost:
            return "cost"
        return None

    def left(self, clock: Clock) -> Remaining:
        """Return what is left of each limit."""
        limits = self.limits
        return Remaining(
            tokens=_left(limits.max_tokens, self.tokens + self.reserved),
            cost=_left(limits.max_cost, self.cost),
            steps=_left(limits.max_steps, self.steps),
            ms=self.remaining_ms(clock),
        )


def _left(most: int | None, used: int) -> float:
    return math.inf if most is None else max(0, most - used)


def admit(
    accounts: Iterable[Account],
    plan: Plan,
    clock: Clock,
    attempt: int = 1,
    *,
    is_replayed: bool = False,
) -> None:
    """Count a step and take its reserve, in all accounts or, when one is exhausted, in none.

    Judgement of an answer that was paid for is made also at the ceilings of tokens and cost. A step
    that is replayed has started once, so that no ceiling holds it.

    Raises:
        Stopped: Naming the first ceiling that is reached.
    """
    for account in accounts:
        # A step around this one may hold a reserve, which this one lives in.
        covered = 0 if plan.outer is None else plan.outer.covered(account)
        reason = account.reached(plan.reserve, covered, clock, plan.cost_ms)
        passes = plan.is_judgement and reason in {"tokens", "cost"}
        if reason is not None and not (passes or (is_replayed and reason != "cancelled")):
            raise Stopped(reason, plan.path if attempt == 1 else None)
    # INVARIANT: nothing is awaited between the test and here, so no other step comes between.
    for account in accounts:
        account.steps += 1
        account.reserved += plan.reserve


def fits_later(accounts: Iterable[Account], reserve: int, outer: Frame | None) -> bool:
    """Say whether a step does not fit now, and does once others gave back what they reserved."""
    is_held = False
    for account in accounts:
        most = account.limits.max_tokens
        if most is None:
            continue
        # As `admit` tests it, with and without what others hold.
        held = account.reserved - (0 if outer is None else outer.covered(account))
        if account.tokens >= most or account.tokens + reserve > most:
            return False
        is_held |= account.tokens + held >= most or account.tokens + held + reserve > most
    return is_held


def settle(accounts: Iterable[Account], reserve: int, usage: Usage) -> None:
    """Give a reserve back and count what was used instead."""
    for account in accounts:
        account.reserved -= reserve
        if not usage.is_nothing:
            account.tokens += account.weigh(usage)
            account.cost += usage.cost or 0


def remaining(accounts: Iterable[Account], clock: Clock, turns: float = math.inf) -> Remaining:
    """Return what is left in every account at once."""
    lefts = [account.left(clock) for account in accounts]
    least = {
        name: min((getattr(left, name) for left in lefts), default=math.inf)
        for name in ("tokens", "cost", "ms", "steps")
    }
    return Remaining(turns=turns, **least)
