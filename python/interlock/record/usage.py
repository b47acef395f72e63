"""Usage: what a call, a step or a run used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock import _core
from interlock.errors import Problem, SpecInvalid
from interlock.record._data import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["NOTHING", "Usage", "total_usage"]

_COUNTS = ("input", "output", "cached", "cache_write", "reasoning", "requests")


@dataclass(frozen=True, slots=True)
class Usage(Record):
    """Tokens and cost; `+` adds up, `Usage()` is nothing used.

    Attributes:
        input: Every token that the model read, those of the cache included.
        output: Every token that it wrote, reasoning included.
        cached: Of `input`, those read from a cache.
        cache_write: Of `input`, those written to a cache.
        reasoning: Of `output`, those of reasoning.
        requests: Requests to a provider.
        cost: Whole micro-dollars; None when it is not known.
        cost_incomplete: Whether some of what was added up had no known cost.

    Raises:
        SpecInvalid: For a count or cost that is negative or no whole number.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    cache_write: int = 0
    reasoning: int = 0
    requests: int = 0
    cost: int | None = None
    cost_incomplete: bool = False

    def __post_init__(self) -> None:
        """Refuse what counts nothing."""
        # PERF: one look at all of them; which one it is matters only when one is wrong.
        counts = (
            self.input,
            self.output,
            self.cached,
            self.cache_write,
            self.reasoning,
            self.requests,
            self.cost or 0,
        )
        if all(type(count) is int for count in counts) and min(counts) >= 0:
            return
        problems = [
            Problem("spec/wrong-type", name, _core.preview(value), "must be a whole number, 0 up")
            for name in (*_COUNTS, "cost")
            if type(value := getattr(self, name)) is not int or value < 0
            if value is not None or name != "cost"
        ]
        if problems:
            raise SpecInvalid(tuple(problems))

    @property
    def total(self) -> int:
        """Input and output."""
        return self.input + self.output

    @property
    def is_nothing(self) -> bool:
        """Whether nothing was used, as far as known."""
        some = self.input or self.output or self.requests or self.cost is not None
        return not (some or self.cached or self.cache_write or self.reasoning)

    def __add__(self, other: Usage) -> Usage:
        """Add up; an unknown cost beside a known one makes the sum incomplete."""
        # PERF: most steps of code use nothing.
        if other.is_nothing:
            return self
        if self.is_nothing:
            return other
        return total_usage((self, other))

    def __radd__(self, other: int) -> Usage:
        """Let `sum` start from its 0."""
        return self if other == 0 else NotImplemented


NOTHING = Usage()
"""Nothing used."""


def total_usage(usages: Iterable[Usage]) -> Usage:
    """Add up; the same as `sum`, in one pass."""
    used = [one for one in usages if not one.is_nothing]
    if len(used) < 2:  # noqa: PLR2004 (one or none)
        return used[0] if used else NOTHING
    costs = [one.cost for one in used if one.cost is not None]
    is_partial = 0 < len(costs) < len(used) or any(one.cost_incomplete for one in used)
    return Usage(
        sum([one.input for one in used]),
        sum([one.output for one in used]),
        sum([one.cached for one in used]),
        sum([one.cache_write for one in used]),
        sum([one.reasoning for one in used]),
        sum([one.requests for one in used]),
        sum(costs) if costs else None,
        is_partial,
    )
