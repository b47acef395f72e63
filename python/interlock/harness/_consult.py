"""Judgement that is no step: a hook, a stop rule."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import anyio

from interlock.harness._ending import Ending
from interlock.harness._frame import Frame, Plan, current_frame
from interlock.harness._walk import SHIELD_SECONDS
from interlock.harness.ctx import Ctx

if TYPE_CHECKING:
    from collections.abc import Callable

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
    frame = Frame(walk, plan)
    ending = Ending(frame, 1, clock.now(), clock.monotonic())
    try:
        answer = await _judged(frame, timeout)
        ending.decision = decision_of(answer)
    except Exception as error:
        ending.raised(error, None, clock.now())
        raise
    finally:
        if ending.decision is not None or frame.readings or frame.nested:
            with anyio.move_on_after(SHIELD_SECONDS, shield=True):
                await walk.note(ending.step())
    return answer


async def _judged(frame: Frame, timeout: float | None) -> object:  # noqa: ASYNC109
    plan, walk = frame.plan, frame.walk
    ctx = Ctx(frame, 1) if plan.call.takes_ctx else None
    left = walk.time_left() if walk.is_timed else math.inf
    seconds = min(left, math.inf if timeout is None else timeout)
    token = current_frame.set(frame)
    try:
        if seconds == math.inf:
            return await plan.call.judge(plan.value, ctx)
        with walk.run.clock.limit(seconds):
            return await plan.call.judge(plan.value, ctx)
        raise TimeoutError(f"no answer within {seconds:g} s")
    finally:
        current_frame.reset(token)
