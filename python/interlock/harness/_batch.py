"""The calls of one reply: judged by the hooks, run one after the other or overlapping, recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from interlock import _core
from interlock.errors import ConfigError, UsageError
from interlock.harness._fan_out import FanOut
from interlock.harness._frame import Reading, input_digest
from interlock.harness._guard import Judged
from interlock.harness._told import not_called, shown
from interlock.harness.limits import Stopped
from interlock.record.reply import as_json_reply, plain_data
from interlock.record.rollout import Step
from interlock.record.values import ErrorInfo, Reply, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock.harness._frame import Outcome
    from interlock.harness._guard import Guard
    from interlock.harness._toolset import Toolset
    from interlock.harness._walk import Walk
    from interlock.record.values import Effect, ToolStatus

__all__ = ["Batch"]

_NAME_LIMIT = 64


@dataclass(slots=True)
class _Slot:
    """A call on its way."""

    call: ToolCall
    effect: Effect | None
    path: str
    judged: Judged
    result: ToolResult | None = None


class Batch:
    """The calls of one reply.

    Attributes:
        results: One for each call, in their order.
        finish: The result of the call that ended the loop; None when none did.
        stop: What kept a call from starting; None when nothing did.
    """

    def __init__(self, walk: Walk, guard: Guard, tools: Toolset, turn: int, path: str) -> None:
        """Take what the calls need, and the turn that asked for them."""
        self._walk, self._guard, self._tools = walk, guard, tools
        self._turn, self._path = turn, path
        self.results: list[ToolResult] = []
        self.finish: ToolResult | None = None
        self.stop: Stopped | None = None

    async def take(self, calls: tuple[ToolCall, ...], *, parallel: bool) -> None:
        """Answer the calls in their order; those after a finish or a ceiling are skipped."""
        for group in self._groups(calls, parallel=parallel):
            slots = [] if self._is_over else [await self._ready(call) for call in group]
            if len(slots) > 1:
                await self._overlapping(slots)
            elif slots:
                await self._run(slots[0])
            for slot in slots:
                await self._ended(slot)
            if not slots:
                for call in group:
                    await self._skip(call, self._place(call))

    @property
    def _is_over(self) -> bool:
        return self.finish is not None or self.stop is not None

    def _groups(self, calls: tuple[ToolCall, ...], *, parallel: bool) -> Iterator[list[ToolCall]]:
        """Yield what runs at once: one call, or where that is wished a run of readonly ones."""

        def group_of(pair: tuple[int, ToolCall]) -> int:
            at, call = pair
            is_open = parallel and call.args_error is None and not self._tools.is_finish(call.name)
            return -1 if is_open and self._tools.effect(call.name) == "readonly" else at

        for _, group in groupby(enumerate(calls), group_of):
            yield [call for _, call in group]

    def _place(self, call: ToolCall) -> str:
        return self._walk.place(_step_name(call.name), self._path)

    async def _ready(self, call: ToolCall) -> _Slot:
        """Give a call its place, and have the hooks judge it."""
        effect, path = self._tools.effect(call.name), self._place(call)
        if call.args_error is not None:
            return _Slot(call, effect, path, Judged(call))
        judged = await self._guard.judged(call, effect, path)
        return _Slot(judged.call, effect, path, judged)

    async def _run(self, slot: _Slot) -> None:
        """Invoke a call, unless it must not run; what keeps it from starting is noted."""
        call, judged = slot.call, slot.judged
        if call.args_error is not None:
            error = not_called("invalid_arguments", shown(call.args_error))
            await self._note(slot, "failed", f"{error.type}: {error.message}", error)
        elif judged.block is not None:
            error = ErrorInfo(
                "blocked", judged.block.reason, "permission", "escalate", source="hook"
            )
            await self._note(slot, "blocked", f"blocked: {judged.block.reason}", error)
        else:
            try:
                await self._invoke(slot)
            except Stopped as stop:
                self.stop = self.stop or stop

    async def _invoke(self, slot: _Slot) -> None:
        call, judged, tools = slot.call, slot.judged, self._tools
        outcome = await self._walk.step(
            _step_name(call.name),
            "tool",
            tools.call,
            call,
            path=slot.path,
            digest=_core.digest(call.args),
            effect=slot.effect,
            idempotent=tools.is_idempotent(call.name),
            call_id=call.id,
            read=_read,
            decision=judged.decision,
            meta=judged.meta,
        )
        slot.result = self._of(slot, outcome)

    async def _overlapping(self, slots: list[_Slot]) -> None:
        """Run calls at once, as many as the run allows."""
        fan = FanOut(len(slots), self._walk.run.concurrency)

        async def work(number: int) -> None:
            await self._run(slots[number])
            if self.stop is not None:
                fan.close()

        await fan.run(work)

    async def _ended(self, slot: _Slot) -> None:
        """Show the result of a call to the hooks; one that did not start is skipped."""
        if slot.result is None:
            if all(step is None or step.path != slot.path for step in self._walk.steps):
                await self._skip(slot.call, slot.path)
            return
        self.results.append(slot.result)
        if slot.result.status == "completed" and self._tools.is_finish(slot.call.name):
            self.finish = slot.result
        await self._guard.after_tool(slot.call, slot.result, slot.path)

    async def _skip(self, call: ToolCall, path: str) -> None:
        why = "the run ended before it" if self.finish is None else "the loop is finished"
        error = ErrorInfo("skipped", why, "cancelled", "skip")
        slot = _Slot(call, self._tools.effect(call.name), path, Judged(call))
        await self._note(slot, "skipped", f"not called: {why}", error)
        if slot.result is not None:
            self.results.append(slot.result)

    async def _note(self, slot: _Slot, status: ToolStatus, said: str, error: ErrorInfo) -> None:
        """Record a call that is not invoked."""
        call, judged = slot.call, slot.judged
        slot.result = ToolResult(
            call.id, call.name, status, said, error, slot.effect, turn=self._turn
        )
        is_digest = self._walk.run.content == "digest"
        await self._walk.note(
            Step(
                path=slot.path,
                name=_step_name(call.name),
                kind="tool",
                status=status,
                input_digest=input_digest(call.args),
                output={"digest": input_digest(said)} if is_digest else said,
                error=error,
                effect=slot.effect,
                call_id=call.id,
                decision=judged.decision,
                meta=judged.meta or {},
            )
        )

    def _of(self, slot: _Slot, outcome: Outcome) -> ToolResult:
        """Give the result of a step: what the tool answered, or what became of it."""
        call, step = slot.call, outcome.step
        found = outcome.result
        if found is None:
            error = step.error or ErrorInfo("failed", "the tool gave no answer")
            said = f"{error.type}: {shown(error.message)}"
            status: ToolStatus = "in_doubt" if step.status == "in_doubt" else "failed"
            if status == "in_doubt":
                said += "; it may or may not have happened"
            found = ToolResult(call.id, call.name, status, said, error)
        return replace(found, call_id=call.id, name=call.name, effect=slot.effect, turn=self._turn)


def _read(value: object, *, step: str) -> Reading:
    """Read what a tool answered: a `ToolResult`, or what any callable may return."""
    if isinstance(value, ToolResult):
        result = replace(value, output=_plain(value.output, step))
        is_done = value.status == "completed"
        said = Reply(
            usage=value.usage, status="completed" if is_done else "failed", error=value.error
        )
        return Reading(said, result=result)
    reply = as_json_reply(value, step=step)
    output = reply.output if reply.data is None else _plain(reply.data, step)
    status: ToolStatus = "failed" if reply.status == "failed" else "completed"
    return Reading(reply, result=ToolResult("", "", status, output, reply.error, usage=reply.usage))


def _plain(output: object, step: str) -> object:
    try:
        return plain_data(output)
    except ConfigError as error:
        raise UsageError(f"{step} returned a result that JSON cannot hold: {error}") from None


def _step_name(name: str) -> str:
    """Make a part of a path of what a model wrote as the name of a tool."""
    shown = "".join("_" if one == "/" or not one.isprintable() else one for one in name)
    return shown[:_NAME_LIMIT] or "tool"
