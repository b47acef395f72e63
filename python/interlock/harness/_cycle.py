"""One loop in progress: turn after turn, until something ends it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from interlock.harness._batch import Batch
from interlock.harness._compact import Compact, Compactor
from interlock.harness._guard import Guard
from interlock.harness._stops import Stops
from interlock.harness.limits import Stopped, remaining
from interlock.harness.loop_state import Exchange, History, LoopState
from interlock.record.rollout import Step
from interlock.record.values import ErrorInfo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlock.harness._frame import Outcome
    from interlock.harness._stops import StopRule
    from interlock.harness._toolset import Toolset
    from interlock.harness._walk import Walk
    from interlock.harness.work import Part
    from interlock.record.values import Reply, ToolResult

__all__ = ["Cycle", "Parts", "Progress"]


class Parts(NamedTuple):
    """What a loop is made of, as its runs use it."""

    turn: Part
    tools: Toolset
    max_turns: int | None
    max_tokens: int | None
    compact: Compact | None
    stop: tuple[StopRule, ...]
    parallel_tools: bool


@dataclass(slots=True)
class Progress:
    """What a loop has come to so far."""

    turns: int = 0
    last: Reply | None = None
    finish: ToolResult | None = None
    error: ErrorInfo | None = None
    report: Mapping[str, object] | None = None
    guard: Guard | None = field(default=None, repr=False)
    compactor: Compactor | None = field(default=None, repr=False)


class Cycle:
    """Stop rules, ceilings, the turn, its calls, compaction; and again."""

    def __init__(self, parts: Parts, walk: Walk, values: object, progress: Progress) -> None:
        """Start before the first turn."""
        self._parts, self._walk, self._values, self._progress = parts, walk, values, progress
        self._history = History(values)
        self._stops = Stops(parts.stop, walk)
        self._guard = progress.guard = Guard(walk)
        if parts.compact is not None:
            progress.compactor = Compactor(parts.compact, parts.max_tokens)

    async def run(self) -> str:
        """Take turns, and return what ended them."""
        ended: str | None = None
        while ended is None:
            path = self._walk.place(f"turn_{self._progress.turns}")
            ended = await self._before(path) or await self._turn(path)
        return ended

    async def _before(self, path: str) -> str | None:
        """Ask whether one more turn is to be taken; return what ends the run if not."""
        turn, progress = self._progress.turns, self._progress
        said = await self._stops.said(self._state(turn), path) if self._parts.stop else None
        if said is not None:
            progress.report, progress.error = said.report, said.error
            return said.stopped_by
        if turn == self._parts.max_turns:
            return "turns"
        if not self._guard.has("before_turn"):
            return None
        self._walk.may_start(path)
        block = await self._guard.before_turn(self._state(turn), path)
        if block is None:
            return None
        progress.error = ErrorInfo("blocked", block.reason, "permission", "escalate", source="hook")
        await self._walk.note(
            Step(
                path=self._walk.place("before_turn", path),
                name="before_turn",
                kind="decision",
                status="blocked",
                error=progress.error,
            )
        )
        return "blocked"

    async def _turn(self, path: str) -> str | None:
        """Take a turn and what it asks for; return what ends the run, if it does."""
        outcome = await self._asked(path)
        progress, turn = self._progress, self._progress.turns - 1
        reply = progress.last = outcome.reply
        if reply is None or not outcome.ok:
            said = ErrorInfo("failed", "the reply says that it failed")
            progress.error = outcome.step.error or said
            await self._observed(turn, path)
            return "failed"
        batch = Batch(self._walk, self._guard, self._parts.tools, turn, path)
        await batch.take(reply.calls, parallel=self._parts.parallel_tools)
        exchange = Exchange(reply, tuple(batch.results))
        self._history.add(exchange)
        self._stops.see(exchange)
        await self._observed(turn, path)
        if batch.stop is not None:
            return batch.stop.reason
        progress.finish = batch.finish
        ended = "finished" if batch.finish is not None else self._ended(reply)
        if ended is None:
            await self._compacted(outcome)
        return ended

    async def _asked(self, path: str) -> Outcome:
        """Ask the model; a turn counts once it has begun."""
        turn, notice = self._progress.turns, self._stops.notice
        self._progress.turns += 1
        try:
            return await self._walk.step(
                f"turn_{turn}",
                "turn",
                self._parts.turn.call,
                self._state(turn),
                path=path,
                digest=self._history.digest(turn, notice),
                **self._parts.turn.options(),
            )
        except Stopped as stop:
            if stop.path == path:
                self._progress.turns -= 1
            raise

    async def _observed(self, turn: int, path: str) -> None:
        """Show the state after a turn to the hooks; one that gave no reply changed nothing."""
        if self._progress.last is not None and self._guard.has("after_turn"):
            await self._guard.after_turn(self._state(turn), path)

    def _ended(self, reply: Reply) -> str | None:
        """Say what a reply without any call ends the run with; None where it does not."""
        if reply.calls or reply.stop == "pause":
            return None
        if reply.status == "completed":
            return "quiet"
        # Half an answer is none, and who was cut off did not choose to be quiet.
        said = f"the reply was cut off ({reply.stop or 'incomplete'}) and asks for no tool"
        self._progress.error = reply.error or ErrorInfo("cut_off", said, "too_large", "escalate")
        return "failed"

    async def _compacted(self, outcome: Outcome) -> None:
        compactor, reply = self._progress.compactor, outcome.reply
        # A summary after the last turn would be read by nobody.
        if compactor is None or reply is None or self._progress.turns == self._parts.max_turns:
            return
        read = reply.usage.input or outcome.usage.input
        await compactor.compact(self._walk, self._history, read)

    def _state(self, turn: int) -> LoopState:
        most = self._parts.max_turns
        turns = math.inf if most is None else most - turn
        return LoopState(
            values=self._values,
            turn=turn,
            results=self._history.results,
            last=self._progress.last,
            exchanges=tuple(self._history.exchanges),
            remaining=remaining(self._walk.accounts, self._walk.run.clock, turns),
            notice=self._stops.notice,
        )
