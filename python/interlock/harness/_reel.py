"""A reel: the recorded steps of one workflow, which answers them when they are asked for again."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, cast

import anyio

from interlock.errors import ConfigError, UsageError
from interlock.harness._callables import Call
from interlock.harness._served import RecordedError, serve
from interlock.harness._workflow import LIMITED, Workflow
from interlock.harness.limits import Stopped, admit
from interlock.tools.branch import Branch
from interlock.tools.decision_table import DecisionTable
from interlock.tools.lead_assign import LeadAssign
from interlock.tools.rule_score import RuleScore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from interlock.harness._ending import Ending
    from interlock.harness._frame import Plan
    from interlock.harness._recorder import Recorder
    from interlock.harness._tape import Tape
    from interlock.record.rollout import Rollout, Step

__all__ = ["Cue", "RecordedError", "Reel"]

_DECIDING = (Branch, DecisionTable, LeadAssign, RuleScore)
_CUT = ("cancelled", "in_doubt")
_QUIET = 1_000
"""How many turns of the event loop without any move tell that nothing comes any more."""


class Cue:
    """A recorded step that is asked for again."""

    def __init__(self, reel: Reel, at: int) -> None:
        """Take the place of the step on its reel."""
        self.reel, self.at = reel, at
        self.step = reel.steps[at]
        readings = self.step.meta.get("now")
        self._readings = deque(cast("list[object]", readings) if isinstance(readings, list) else [])

    async def answer(self, ending: Ending, live: Callable[[], Awaitable[None]]) -> None:
        """Answer as recorded, or run what is to run for real."""
        # What is recorded to its end was not cancelled before it.
        with anyio.CancelScope(shield=self.step.status not in _CUT):
            if _runs(ending.frame.plan, self.step):
                await self.reel.turn(self.at)
                await live()
            else:
                await self._served(ending)

    async def _served(self, ending: Ending) -> None:
        self.reel.play_inside(self.at, ending.frame)
        is_cut = self.step.status in _CUT and self.step.error is None
        if is_cut:
            ending.served, ending.own, ending.usage = self.step, self.step.usage, self.step.usage
        await self.reel.turn(self.at)
        if is_cut:
            await self.reel.interrupted(self.step)
        try:
            unlike = serve(ending, self.step, self.reel.recorded)
        except (ConfigError, UsageError):
            self.reel.tape.is_spoilt = True
            raise
        if unlike is not None and self.reel.tape.strict:
            self.reel.tape.refuse(self.step.path, *_unlike(*unlike))

    def ended(self, step: Step) -> Step:
        """Take note of its end, and give what was recorded, if that is the same."""
        return self.reel.ended(self.at, step)

    def reading(self) -> int:
        """Give the next instant that was read."""
        instant = self._readings.popleft() if self._readings else None
        if type(instant) is not int:
            self.reel.tape.refuse(self.step.path, None, {"now": "one reading more"})
        return instant


class Reel:
    """The recorded steps of one workflow.

    Attributes:
        tape: What it is of.
        recorded: The record; None where there is none.
        steps: Its steps.
    """

    def __init__(self, tape: Tape, walk: Recorder, recorded: Rollout | None) -> None:
        """Find the steps by path."""
        self.tape, self.walk, self.recorded = tape, walk, recorded
        self.steps = () if recorded is None else recorded.steps
        self._places: dict[str, deque[int]] = {}
        for at, step in enumerate(self.steps):
            self._places.setdefault(step.path, deque()).append(at)
        self._asked: set[int] = set()
        self._done: set[int] = set()
        self._by_end = sorted(range(len(self.steps)), key=self._rank)
        self._ended_up_to = 0
        self._asked_up_to = 0

    def prefix(self, default: Callable[[], str]) -> str:
        """Give what paths begin with: of a run's later workflows it is not empty."""
        if self.walk.outer is not None or not self.steps:
            return default()
        first, name = self.steps[0].path.partition("/")[0], self.walk.name
        is_own = first == name or first.removeprefix(f"{name}.").isdecimal()
        is_prefix = is_own and all(step.path.startswith(f"{first}/") for step in self.steps)
        return f"{first}/" if is_prefix else ""

    async def ready(self, plan: Plan) -> None:
        """See that there is a recorded step for one, or end it as the run was ended there."""
        self.tape.end_if_differs()
        self.tape.moves += 1
        if not self._places.get(plan.path) or self._was_kept(plan.path):
            await self._missing(plan)

    def cue(self, plan: Plan, attempt: int) -> Cue:
        """Find the recorded step that a step is."""
        at = self._places[plan.path].popleft()
        self._asked.add(at)
        step = self.steps[at]
        asked = {"kind": plan.kind, "attempt": attempt, "input_digest": plan.digest}
        told = {"kind": step.kind, "attempt": step.attempt, "input_digest": step.input_digest}
        if step.input_digest is None:
            del asked["input_digest"], told["input_digest"]
        if self.tape.strict and asked != told:
            self.tape.refuse(plan.path, *_unlike(told, asked))
        return Cue(self, at)

    def peek(self, path: str) -> Cue | None:
        """Find what was recorded of judgement that is no step, which may be nothing."""
        places = self._places.get(path)
        return Cue(self, places[0]) if places else None

    async def turn(self, at: int) -> None:
        """Wait until what had started or ended before the end of a step has done so again."""
        step = self.steps[at]
        started = step.order[0] if len(step.order) == 2 else at + 1  # noqa: PLR2004
        rank = self._rank(at)

        def has_come() -> bool:
            while self._asked_up_to in self._asked:
                self._asked_up_to += 1
            while self._ended_up_to < len(self._by_end) and self._is_over(self._ended_up_to, at):
                self._ended_up_to += 1
            is_next = self._ended_up_to >= len(self._by_end) or (
                self._rank(self._by_end[self._ended_up_to]) >= rank
            )
            return is_next and self._asked_up_to >= started

        await self._until(has_come)

    def play_inside(self, at: int, frame: Any) -> None:
        """Put in the steps that the callable of a step made, which are not asked for."""
        step = self.steps[at]
        paths = step.meta.get("inside")
        again = next(iter(self._places.get(step.path, ())), len(self.steps))
        for path in cast("list[object]", paths) if isinstance(paths, list) else ():
            places = self._places.get(path) if isinstance(path, str) else None
            while places and at < places[0] < again:
                inner = places.popleft()
                self.play_inside(inner, frame)
                self._asked.add(inner)
                found = self.ended(inner, self.steps[inner])
                self.walk.steps.append(found)
                self.walk.finished += 1
                frame.inside = frame.inside + found.usage
                for account in self.walk.accounts:
                    account.steps += 1
                    account.tokens += account.weigh(found.usage)
                    account.cost += found.usage.cost or 0

    async def interrupted(self, step: Step) -> None:
        """Wait as the step did until it was cancelled: by its workflow, or with the whole run."""
        if self.tape.rollout.status != "cancelled":
            await self._until(lambda: False)
            self.tape.refuse(step.path, {"status": step.status}, None)
        await self._cancelled()

    def ended(self, at: int, step: Step) -> Step:
        """Take note that a step ended, and compare it."""
        self.tape.moves += 1
        self._done.add(at)
        recorded = self.steps[at]
        if step is recorded or not self.tape.strict:
            return step
        told, made = recorded.canonical(), step.canonical()
        if told == made:
            return recorded
        self.tape.differ(step.path, *_unlike(told, made))
        return step

    def noted(self, step: Step) -> Step:
        """Compare a step that was recorded without being run."""
        places = self._places.get(step.path)
        if not places:
            self.tape.refuse(step.path, None, _brief(step))
        at = places.popleft()
        self._asked.add(at)
        return self.ended(at, step)

    def wait(self, step: Step, wait: float | None) -> float | None:
        """Say whether there was another attempt; nothing waits for it.

        Raises:
            Stopped: When a limit came between.
        """
        places = self._places.get(step.path)
        if places and self.steps[places[0]].attempt == step.attempt + 1:
            return 0.0
        stopped_by = self.recorded.stopped_by if self.recorded is not None else ""
        # What the run itself retried is not recorded: a last step that may be retried was.
        is_last = wait is None and step.error is not None and step.error.retryable
        is_last = is_last and not self.walk.overrun and self._is_at_its_end()
        if stopped_by in LIMITED and (wait is not None or is_last):
            raise Stopped(stopped_by)
        if wait is not None and self.tape.strict:
            self.tape.refuse(step.path, None, {"attempt": step.attempt + 1})
        return None

    def closed(self, made: Rollout) -> Rollout:
        """Compare the whole, and give what was recorded, if that is the same."""
        self.tape.moves += 1
        if not self.tape.strict or self.tape.divergence is not None:
            return made
        recorded = self.recorded
        if recorded is None:
            self.tape.differ(self.walk.path, None, {"workflow": made.workflow})
            return made
        left = next((at for at in range(len(self.steps)) if at not in self._done), None)
        if left is not None:
            self.tape.differ(self.steps[left].path, _brief(self.steps[left]), None)
            return made
        told, got = _head(recorded), _head(made)
        if told == got:
            return recorded
        self.tape.differ(self.walk.path, *_unlike(told, got))
        return made

    async def _missing(self, plan: Plan) -> None:
        """End a step that the record lacks as the run was ended there.

        Raises:
            Stopped: Where a limit kept it from starting.
            ReplayDivergence: Where nothing did.
            UsageError: Where the run ended in misuse.
        """
        recorded = self.recorded
        if recorded is not None and recorded.stopped_by in LIMITED:
            await self._until(self._has_started_all)
            raise Stopped(recorded.stopped_by, plan.path)
        if recorded is not None and recorded.status == "cancelled":
            await self._cancelled()
        if recorded is not None and recorded.stopped_by == "error":
            raise UsageError("the run was ended here by misuse, of which the record holds no more")
        # Among branches it may be one that is cancelled before it would have started.
        await self._until(lambda: False)
        # Or one that a limit held, in a workflow that came to another end all the same.
        if self.tape.rollout.stopped_by in LIMITED:
            raise Stopped(self.tape.rollout.stopped_by, plan.path)
        admit(self.walk.accounts, plan, self.walk.run.clock)
        self.tape.refuse(plan.path, None, {"kind": plan.kind, "input_digest": plan.digest})

    async def _cancelled(self) -> None:
        """Cancel the run once everything else that was done is done."""
        await self._until(self._is_at_its_end)
        self.walk.run.cancel("as it was recorded")
        await anyio.sleep_forever()

    def _was_kept(self, path: str) -> bool:
        """Say whether a step was noted for not being run, in a run that a limit ended."""
        is_limited = self.recorded is not None and self.recorded.stopped_by in LIMITED
        return is_limited and self.steps[self._places[path][0]].status == "skipped"

    def _has_started_all(self) -> bool:
        return all(
            at in self._asked or one.status == "skipped" for at, one in enumerate(self.steps)
        )

    def _is_at_its_end(self) -> bool:
        return all(at in self._done or step.status in _CUT for at, step in enumerate(self.steps))

    async def _until(self, has_come: Callable[[], bool]) -> None:
        """Let others go on until something has come, or nothing moves any more."""
        quiet, moves = 0, self.tape.moves
        while not has_come() and quiet < _QUIET:
            await anyio.lowlevel.checkpoint()
            quiet = quiet + 1 if moves == self.tape.moves else 0
            moves = self.tape.moves

    def _is_over(self, number: int, but: int) -> bool:
        """Say whether a step, in the order of ends, has ended, or is inside the one that asks."""
        at = self._by_end[number]
        inside = f"{self.steps[but].path}/"
        return at in self._done or self.steps[at].path.startswith(inside)

    def _rank(self, at: int) -> int:
        order = self.steps[at].order
        return order[1] if len(order) == 2 else at  # noqa: PLR2004 (started, ended)


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


def _head(rollout: Rollout) -> dict[str, object]:
    """Give what a rollout says beside its steps; faults of listeners are not played again."""
    return {
        "workflow": rollout.workflow,
        "kind": rollout.kind,
        "status": rollout.status,
        "stopped_by": rollout.stopped_by,
        "usage": rollout.usage.to_dict(),
        "config_digest": rollout.config_digest,
        "input_digest": rollout.input_digest,
    }


def _brief(step: Step) -> dict[str, object]:
    return {"kind": step.kind, "status": step.status, "input_digest": step.input_digest}


def _unlike(told: Mapping[str, object], got: Mapping[str, object]) -> tuple[object, object]:
    """Give of both what the other has not."""
    names = [name for name in {**told, **got} if told.get(name) != got.get(name)]
    return (
        {name: told[name] for name in names if name in told},
        {name: got[name] for name in names if name in got},
    )
