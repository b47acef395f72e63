"""LoopState: what a turn of a loop is given, and how it comes about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock import _core
from interlock.harness._frame import input_digest

if TYPE_CHECKING:
    from interlock.harness.limits import Remaining
    from interlock.record.values import Reply, ToolResult

__all__ = ["Exchange", "History", "LoopState", "text_of"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A reply, and the results of its calls in their order.

    Attributes:
        reply: What the model answered.
        results: One for each of its calls.
    """

    reply: Reply
    results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopState:
    """Where a loop stands.

    Attributes:
        values: What the loop was run with.
        turn: The turn, from 0.
        results: All results so far, oldest first; after a compaction the first is named
            `compacted` and stands for older ones.
        last: The latest reply; None before the first.
        exchanges: Each reply with its results, oldest first, but for those that were compacted.
        remaining: What is left; `turns` counts the one about to be taken.
        notice: What a stop rule has to say before it ends the run; None but for that one turn.
    """

    values: object
    turn: int
    results: tuple[ToolResult, ...]
    last: Reply | None
    exchanges: tuple[Exchange, ...]
    remaining: Remaining
    notice: str | None = None


class History:
    """What has happened in a loop so far.

    Attributes:
        exchanges: Each reply with its results, but for those that were compacted.
        compacted: What stands for those; None when there are none.
    """

    def __init__(self, values: object) -> None:
        """Start with nothing but the values."""
        self.exchanges: list[Exchange] = []
        self.compacted: ToolResult | None = None
        # PERF: kept, so that a long loop does not gather all of them for each turn.
        self._fresh: list[ToolResult] = []
        self._values = None if values is None else input_digest(values)
        self._has_digest = values is None or self._values is not None
        self._folded: str | None = ""

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """All results, that of a compaction first."""
        first = () if self.compacted is None else (self.compacted,)
        return (*first, *self._fresh)

    @property
    def fresh(self) -> int:
        """How many results are not compacted."""
        return len(self._fresh)

    def add(self, exchange: Exchange) -> None:
        """Take up what a turn came to."""
        self.exchanges.append(exchange)
        self._fresh += exchange.results
        self._fold(exchange)

    def compact(self, count: int, result: ToolResult) -> None:
        """Put one result in place of the oldest exchanges, and of what stood for older ones."""
        self.compacted = result
        self.exchanges = self.exchanges[count:]
        self._fresh = [one for exchange in self.exchanges for one in exchange.results]
        self._folded = input_digest(result.to_dict())
        for exchange in self.exchanges:
            self._fold(exchange)

    def digest(self, turn: int, notice: str | None) -> str | None:
        """Return the digest of the state of a turn; None when something in it has none."""
        if not self._has_digest or self._folded is None:
            return None
        return _core.digest([self._values, turn, notice, self._folded])

    def _fold(self, exchange: Exchange) -> None:
        # PERF: folded in one by one, so that a long loop does not digest all of it each turn.
        if self._folded is None:
            return
        reply = exchange.reply
        calls = [[one.id, one.name, one.args, one.args_error] for one in reply.calls]
        results = [[one.call_id, one.status, one.output] for one in exchange.results]
        self._folded = input_digest([self._folded, reply.output, calls, results])


def text_of(result: ToolResult) -> str:
    """Return what a model is shown of a result: its text, or the JSON of its data.

    One that says nothing of its failure is told by its error, or else by its status.
    """
    if result.output is None or result.output == "":
        if result.error is not None:
            return f"{result.error.type}: {result.error.message}"
        return "" if result.status == "completed" else result.status
    return result.output if isinstance(result.output, str) else _core.to_json(result.output)
