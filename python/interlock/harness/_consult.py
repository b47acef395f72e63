"""Judgement that is no step: a hook, a stop rule."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, cast

import anyio

from interlock.harness._cancelled import no_false_cancellation
from interlock.harness._ending import Ending
from interlock.harness._frame import Frame, Plan, current_frame
from interlock.harness._walk import SHIELD_SECONDS
from interlock.harness.ctx import Ctx

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from interlock.harness._callables import Call
    from interlock.harness._walk import Walk

__all__ = ["consult"]


def _no_decision(_answer: object) -> None:
    """Tell of nothing to record."""


async def consult(
    walk: Walk,
    name: str,
    call: Call,
    value: object,
    *,
    under: str,
    timeout: float | None = None,  # noqa: ASYNC109 (as of a step)
    decision_of: Callable[[object], object] = _no_decision,
) -> object:
    """Ask, and return the answer.

    It is recorded as a step of kind `decision` where there is something to record: a decision, a
    reading of the clock, a workflow inside.

    Args:
        walk: The workflow in progress.
        name: The last part of the path that its context has.
        call: What is asked.
        value: What it is asked.
        under: The path before that.
        timeout: Seconds; what is left of the run holds as well. Sync code is waited for.
        decision_of: Gives of the answer what is recorded as a decision; None is nothing.

    Raises:
        TimeoutError: When there was no answer in time.
    """
    path, clock = walk.place(name, under), walk.run.clock
    plan = Plan(name, "decision", call, value, path, None, walk.outer, is_judgement=True)
    frame = Frame(walk, plan, cue=None if walk.reel is None else walk.reel.peek(path))
    started, started_s = clock.now(), clock.monotonic()
    decision: object = None
    fault: Exception | None = None
    try:
        with no_false_cancellation():
            answer = await _judged(frame, timeout)
        decision = decision_of(answer)
    except Exception as error:
        fault = error
        raise
    finally:
        # PERF: most hooks leave nothing to record.
        if decision is not None or frame.readings or frame.left or frame.nested:
            ending = Ending(frame, 1, started, started_s)
            if fault is not None:
                ending.raised(fault, None, clock.now())
            ending.decision = decision
            with anyio.move_on_after(SHIELD_SECONDS, shield=True):
                await walk.note(ending.step())
    return answer


async def _judged(frame: Frame, timeout: float | None) -> object:  # noqa: ASYNC109
    walk, call, value = frame.walk, frame.plan.call, frame.plan.value
    consulted: list[Frame] = [] if walk.run.tape is None else walk.run.tape.consulted
    token = current_frame.set(frame)
    try:
        answer = call.function(value, Ctx(frame, 1)) if call.takes_ctx else call.function(value)
        # PERF: what is sync is over here, and needs no end.
        if not inspect.isawaitable(answer):
            return answer
        consulted.append(frame)
        left = walk.time_left() if walk.is_timed else math.inf
        seconds = min(left, math.inf if timeout is None else timeout)
        if seconds == math.inf:
            return await cast("Awaitable[object]", answer)
        with walk.run.clock.limit(seconds):
            return await cast("Awaitable[object]", answer)
        raise TimeoutError(f"no answer within {seconds:g} s")
    finally:
        current_frame.reset(token)
        if frame in consulted:
            consulted.remove(frame)
