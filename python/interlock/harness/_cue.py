"""A cue: a recorded step that is asked for again, and how it answers in place of its callable."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, cast

import anyio

from interlock.errors import ConfigError, UsageError
from interlock.harness._callables import Call
from interlock.harness._served import serve
from interlock.harness._workflow import Workflow
from interlock.tools.branch import Branch
from interlock.tools.decision_table import DecisionTable
from interlock.tools.lead_assign import LeadAssign
from interlock.tools.rule_score import RuleScore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from interlock.harness._ending import Ending
    from interlock.harness._frame import Plan
    from interlock.harness._reel import Reel
    from interlock.record.rollout import Step

__all__ = ["CUT", "Cue"]

_DECIDING = (Branch, DecisionTable, LeadAssign, RuleScore)
CUT = ("cancelled", "in_doubt")
"""The statuses of steps that were cut short."""


class Cue:
    """A recorded step that is asked for again.

    Attributes:
        reel: Where it stands.
        at: Its place there.
        step: The step.
    """

    def __init__(self, reel: Reel, at: int) -> None:
        """Take the place of the step on its reel."""
        self.reel, self.at, self.step = reel, at, reel.steps[at]
        self._readings, self._left = self._seen("now"), self._seen("left")
        self._is_cut = self.step.status in CUT and self.step.error is None

    async def answer(self, ending: Ending, live: Callable[[], Awaitable[None]]) -> None:
        """Answer as recorded, or run what is to run for real."""
        # What came to an end by itself was not cancelled before it.
        with anyio.CancelScope(shield=not self._is_cut):
            if _runs(ending.frame.plan, self.step):
                await self.reel.turn(self.at)
                await live()
            else:
                await self._served(ending)

    def ended(self, step: Step) -> Step:
        """Take note of its end, and give what was recorded, if that is the same."""
        return self.reel.ended(self.at, step)

    def reading(self) -> int:
        """Give the next instant that was read."""
        instant = self._readings.popleft() if self._readings else None
        if type(instant) is not int:
            self.reel.tape.refuse(self.step.path, None, {"now": "one reading more"})
        return instant

    def time_left(self) -> float:
        """Give the milliseconds that were left when it was next asked; without a limit, no end."""
        left = self._left.popleft() if self._left else None
        return left if isinstance(left, (int, float)) else math.inf

    async def _served(self, ending: Ending) -> None:
        reel, step = self.reel, self.step
        reel.play_inside(self.at, ending.frame)
        if self._is_cut:
            ending.served, ending.own, ending.usage = step, step.usage, step.usage
        # Work takes time, in which others start.
        await anyio.lowlevel.checkpoint()
        await reel.turn(self.at)
        if self._is_cut:
            await reel.interrupted(step)
        try:
            unlike = serve(ending, step, reel.recorded)
        except (ConfigError, UsageError):
            reel.tape.is_spoilt = True
            raise
        if unlike is not None and reel.tape.strict:
            reel.tape.refuse(step.path, *unlike)

    def _seen(self, name: str) -> deque[object]:
        found = self.step.meta.get(name)
        return deque(cast("list[object]", found) if isinstance(found, list) else ())


def _runs(plan: Plan, step: Step) -> bool:
    """Say whether a step runs for real: judgement by code, and a workflow as it is."""
    if step.status not in ("completed", "failed", "undetermined"):
        return False
    call = plan.call
    inner = getattr(call.function, "__self__", None)
    # A classifier is judgement that is asked as work.
    is_judging = plan.is_judgement or (isinstance(inner, Call) and plan.kind == "classify")
    call = inner if isinstance(inner, Call) else call
    function = cast("object", getattr(call.function, "func", call.function))
    owner = getattr(function, "__self__", None)
    if isinstance(owner, _DECIDING):
        return True
    is_run = isinstance(owner, Workflow) and getattr(function, "__name__", "") == "run"
    if is_run or isinstance(function, Workflow):
        return step.child is not None and step.child.status != "cancelled"
    return is_judging and not call.is_async and step.usage.is_nothing and step.child is None
