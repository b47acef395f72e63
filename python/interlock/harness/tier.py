"""Tier: one of the callables that a cascade asks."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from interlock.harness._callables import label_of
from interlock.harness._config import (
    count_problems,
    keywords,
    names_problems,
    read_entries,
    reserve_problems,
    seconds_problems,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlock.errors import Problem
    from interlock.harness._frame import Reserve

__all__ = ["Tier", "read_tiers"]


@dataclass(frozen=True, slots=True)
class Tier:
    """One tier of a cascade.

    Args:
        name: Its name, which is that of its step.
        run: A callable of the values: sync or async, `(x)` or `(x, ctx)`.
        reserve: Tokens that it may use, or a function of the values that says how many: it starts
            only where they fit.
        timeout: Seconds; one that takes longer has failed.
        limiter: A named capacity of the run.
        cost_ms: How long it takes; it does not start where that does not fit the deadline.
    """

    name: str
    run: Callable[..., Any]
    _: KW_ONLY
    reserve: Reserve = None
    timeout: float | None = None
    limiter: str | None = None
    cost_ms: int | None = None

    def config(self) -> dict[str, Any]:
        """Return how it is set up, as data."""
        return {
            "name": self.name,
            "run": label_of(self.run),
            "reserve": label_of(self.reserve) if callable(self.reserve) else self.reserve,
            "timeout": self.timeout,
            "limiter": self.limiter,
            "cost_ms": self.cost_ms,
        }


Tier.__init__ = keywords(Tier.__init__)  # type: ignore[method-assign]


def read_tiers(given: object, problems: list[Problem]) -> tuple[Tier, ...]:
    """Read the tiers; what is wrong with them is added to the problems."""
    tiers = read_entries(given, "tiers", Tier, problems)
    names = [(f"tiers[{at}].name", tier.name) for at, tier in enumerate(tiers)]
    problems += names_problems(names, beside="accept_")
    for at, tier in enumerate(tiers):
        problems += seconds_problems(tier.timeout, f"tiers[{at}].timeout")
        problems += count_problems(tier.cost_ms, f"tiers[{at}].cost_ms", least=1)
        problems += reserve_problems(tier.reserve, f"tiers[{at}].reserve")
    return tuple(tiers)
