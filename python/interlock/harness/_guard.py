"""The hooks of a loop in progress: who is asked, in what order, and what their answers mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from interlock import _core
from interlock.errors import ConfigError, UsageError
from interlock.harness._consult import consult
from interlock.harness._frame import input_digest
from interlock.harness.hooks import Ask, Block, word_of
from interlock.harness.limits import PASSING
from interlock.record.values import ErrorInfo, ToolCall
from interlock.tools._table_result import TableResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock.harness._walk import Walk
    from interlock.harness.hooks import Hooks, Point
    from interlock.harness.loop_state import LoopState
    from interlock.record.values import Effect, ToolResult

__all__ = ["Guard", "Judged"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A call after all hooks were asked.

    Attributes:
        call: As it may run: with the arguments that were shown.
        block: The refusal, if there is one.
        decision: What the tables said, one for each.
        meta: Both forms of the arguments, where they were rewritten.
    """

    call: ToolCall
    block: Block | None = None
    decision: object = None
    meta: Mapping[str, object] | None = None


class Guard:
    """All hooks that hold in a loop: those of the runs and loops around it first.

    Attributes:
        errors: How many hooks raised or took too long.
    """

    def __init__(self, walk: Walk) -> None:
        """Take the hooks of a walk."""
        self._walk = walk
        self.errors = 0

    def has(self, point: Point) -> bool:
        """Say whether any hook is asked at a point."""
        return any(point in hooks.calls for hooks in self._walk.hooks)

    async def before_turn(self, state: LoopState, path: str) -> Block | None:
        """Ask whether a turn may be taken."""
        said: Block | Ask | None = None
        for hooks in self._of("before_turn"):
            answer = await self._asked(hooks, "before_turn", (state,), path)
            if isinstance(answer, _Failed):
                answer = _refusal(hooks, answer) if hooks.on_error == "block" else None
            said = _stricter(said, _answer(answer, hooks, "before_turn")[0])
            if isinstance(said, Block):
                break
        return _final(said)

    async def judged(self, call: ToolCall, effect: Effect | None, path: str) -> Judged:
        """Have the arguments rewritten, then ask whether the call may run."""
        asked = call
        by: list[str] = []
        for hooks in self._of("rewrite_tool"):
            answer = await self._asked(hooks, "rewrite_tool", (_shown(call), effect), path)
            if isinstance(answer, _Failed):
                if hooks.is_closed(effect):
                    return Judged(call, _refusal(hooks, answer))
            elif answer is not None:
                call = replace(call, args=_arguments(answer, hooks))
                by.append(hooks.label)
        said, decisions = await self._refused(call, effect, path)
        decision = decisions[0] if len(decisions) == 1 else decisions or None
        return Judged(call, said, decision, self._rewritten(asked, call, by))

    async def _refused(
        self, call: ToolCall, effect: Effect | None, path: str
    ) -> tuple[Block | None, list[object]]:
        said: Block | Ask | None = None
        decisions: list[object] = []
        for hooks in self._of("before_tool"):
            answer = await self._asked(hooks, "before_tool", (_shown(call), effect), path)
            if isinstance(answer, _Failed):
                answer = _refusal(hooks, answer) if hooks.is_closed(effect) else None
            found, decision = _answer(answer, hooks, "before_tool")
            if decision is not None:
                decisions.append({"hook": hooks.label, **decision})
            said = _stricter(said, found)
            if isinstance(said, Block):
                break
        return _final(said), decisions

    async def after_tool(self, call: ToolCall, result: ToolResult, path: str) -> None:
        """Show what became of a call."""
        for hooks in self._of("after_tool"):
            await self._observed(hooks, "after_tool", (_shown(call), result), path)

    async def after_turn(self, state: LoopState, path: str) -> None:
        """Show the state after a turn."""
        for hooks in self._of("after_turn"):
            await self._observed(hooks, "after_turn", (state,), path)

    async def _observed(
        self, hooks: Hooks, point: Point, given: tuple[object, ...], path: str
    ) -> None:
        answer = await self._asked(hooks, point, given, path)
        if isinstance(answer, (Block, Ask)):
            raise UsageError(
                f"hook {point} of `{hooks.label}` returned {type(answer).__name__}, but it only "
                "looks on: what is refused must be refused before it runs"
            )

    def _of(self, point: Point) -> Iterator[Hooks]:
        return (hooks for hooks in self._walk.hooks if point in hooks.calls)

    async def _asked(
        self, hooks: Hooks, point: Point, given: tuple[object, ...], path: str
    ) -> object:
        """Ask one hook; what it raises is recorded, and given back as a `_Failed`."""
        call, walk = hooks.calls[point], self._walk
        try:
            return await consult(
                walk, hooks.label, call, given, under=f"{path}/{point}", timeout=hooks.timeout
            )
        except PASSING:
            raise
        except Exception as error:  # noqa: BLE001 (recorded, and judged by `on_error`)
            info = ErrorInfo.of(error)
            self.errors += 1
            told = f"hook {point} of {hooks.label}: {info.message}"
            walk.run.faults.append(replace(info, message=told))
            what = {"hook": hooks.label, "point": point, "error": info.to_dict()}
            await walk.tell("hook_error", path, what)
            return _Failed(info)

    def _rewritten(
        self, asked: ToolCall, call: ToolCall, by: list[str]
    ) -> Mapping[str, object] | None:
        """Give both forms of the arguments for the record."""
        if not by:
            return None
        forms: dict[str, object] = {"asked": asked.args, "args": call.args}
        if self._walk.run.content == "digest":
            forms = {name: {"digest": input_digest(args)} for name, args in forms.items()}
        return {"rewritten": {**forms, "by": by}}


@dataclass(frozen=True, slots=True)
class _Failed:
    """A hook that raised or took too long."""

    error: ErrorInfo


def _shown(call: ToolCall) -> ToolCall:
    """Give a hook a copy: what it changes in it changes nothing, so what was shown is what runs."""
    return ToolCall(call.id, call.name, cast("dict[str, Any]", _core.plain(call.args)))


def _arguments(answer: object, hooks: Hooks) -> dict[str, Any]:
    try:
        if isinstance(answer, Mapping):
            return cast(
                "dict[str, Any]", _core.plain(cast("object", answer), "arguments", finite=True)
            )
    except ConfigError as error:
        message = f"hook rewrite_tool of `{hooks.label}` returned what JSON cannot hold: {error}"
        raise UsageError(message) from None
    raise UsageError(
        f"hook rewrite_tool of `{hooks.label}` returned a {type(answer).__name__}; return the new "
        "arguments as a mapping, or None"
    )


def _answer(
    answer: object, hooks: Hooks, point: Point
) -> tuple[Block | Ask | None, dict[str, Any] | None]:
    """Read the answer of a hook that may refuse, and what a table decided."""
    if answer is None or isinstance(answer, (Block, Ask)):
        return answer, None
    if isinstance(answer, TableResult) and point == "before_tool":
        decision = cast("dict[str, Any]", answer.to_dict())
        return _of_table(answer, hooks), decision
    raise UsageError(
        f"hook {point} of `{hooks.label}` returned a {type(answer).__name__}; return None to let "
        "it pass, Block(reason) or Ask(question)"
    )


def _of_table(result: TableResult, hooks: Hooks) -> Block | Ask | None:
    why = result.undetermined or result.conflict
    if why is not None:
        return Block(why)
    if not result.matched:
        return None
    outputs = result.outputs
    said: Block | Ask | None = None
    for one in outputs if isinstance(outputs, list) else [outputs]:
        said = _stricter(said, _of_row(one, result, hooks))
    return said


def _of_row(outputs: object, result: TableResult, hooks: Hooks) -> Block | Ask | None:
    word = word_of(outputs)
    if word is None:
        shown = _core.preview(outputs)
        raise UsageError(f"the table of `{hooks.label}` says {shown}, not allow, block or ask")
    told = cast("dict[str, object]", outputs) if isinstance(outputs, dict) else None
    reason = str((told and told.get("reason")) or f"the table says so by {result.outcome}")
    return None if word == "allow" else Block(reason) if word == "block" else Ask(reason)


def _stricter(one: Block | Ask | None, two: Block | Ask | None) -> Block | Ask | None:
    """Give the stricter answer; of two alike, the first."""
    if isinstance(two, Block) and not isinstance(one, Block):
        return two
    return two if one is None else one


def _final(said: Block | Ask | None) -> Block | None:
    """Turn a question into a refusal: nobody is there to answer it."""
    if isinstance(said, Ask):
        return Block(f"a person must be asked, and nobody can answer here: {said.question}")
    return said


def _refusal(hooks: Hooks, failed: _Failed) -> Block:
    # The model is shown no more than the kind of error: it may hold what guards it.
    return Block(f"`{hooks.label}` could not be asked ({failed.error.type})")
