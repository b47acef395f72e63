"""A reel: the recorded steps of one workflow, which is run again."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, cast

import anyio

from interlock import _core
from interlock.errors import ConfigError, UsageError
from interlock.harness._cue import CUT, Cue
from interlock.harness._workflow import LIMITED
from interlock.harness.limits import Stopped, admit, settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlock.harness._frame import Frame, Plan
    from interlock.harness._recorder import Recorder
    from interlock.harness._tape import Tape
    from interlock.record.rollout import Rollout, Step

__all__ = ["Reel", "instant_of"]

_QUIET = 1_000
"""How many turns of the event loop without any move tell that nothing comes any more."""
_PAUSE = 0.001


class Reel:
    """The recorded steps of one workflow, by their positions.

    Attributes:
        tape: What it is of.
        recorded: The record; None where there is none.
        steps: Its steps.
        ended_by: What ended it, as of `stopped_by`.
    """

    def __init__(self, tape: Tape, walk: Recorder, recorded: Rollout | None) -> None:
        """Find the steps by path, and the orders in which they started and ended."""
        self.tape, self.walk, self.recorded = tape, walk, recorded
        self.steps = () if recorded is None else recorded.steps
        self.ended_by = "" if recorded is None else recorded.stopped_by
        self._places: dict[str, deque[int]] = {}
        for at, step in enumerate(self.steps):
            self._places.setdefault(step.path, deque()).append(at)
        self._asked: set[int] = set()
        self._done: set[int] = set()
        self._starts = deque(range(len(self.steps)))
        self._ends = deque(sorted(self._starts, key=lambda at: self._order(at)[1]))

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
        at = self._next(plan.path)
        was_kept = at is not None and self.ended_by in LIMITED and self._is_note(at)
        if at is None or was_kept:
            await self._missing(plan)

    def cue(self, plan: Plan, attempt: int) -> Cue:
        """Find the recorded step that a step is."""
        at = self._take(plan.path)
        step = self.steps[at]
        asked = {"kind": plan.kind, "attempt": attempt, "input_digest": plan.digest}
        told = {"kind": step.kind, "attempt": step.attempt, "input_digest": step.input_digest}
        if step.input_digest is None:
            del asked["input_digest"], told["input_digest"]
        if self.tape.strict and asked != told:
            self.tape.refuse(plan.path, told, asked)
        return Cue(self, at)

    def peek(self, path: str) -> Cue | None:
        """Find what was recorded of judgement that is no step, which may be nothing."""
        at = self._next(path)
        return None if at is None else Cue(self, at)

    def is_due(self, path: str) -> bool:
        """Say whether a step whose time was waited for had been started by now."""
        at = self._next(path)
        if at is None:
            # A limit that kept it from starting did so once all else had started.
            return self.ended_by in LIMITED and self._has_started_all()
        before = (one for one in range(len(self.steps)) if self._order(one)[0] <= at)
        return not self._is_note(at) and self._done.issuperset(before)

    def instant(self, path: str) -> int:
        """Give the instant at which a step was noted."""
        at = self._next(path)
        return instant_of("" if at is None else self.steps[at].started_at)

    async def turn(self, at: int) -> None:
        """Wait until what had started or ended before the end of a step has done so again."""
        started, ended = self._order(at)
        inside = f"{self.steps[at].path}/"

        def is_over(one: int) -> bool:
            return one in self._done or self.steps[one].path.startswith(inside)

        def has_come() -> bool:
            while self._starts and self._starts[0] in self._asked:
                self._starts.popleft()
            while self._ends and is_over(self._ends[0]):
                self._ends.popleft()
            is_next = not self._ends or self._order(self._ends[0])[1] >= ended
            return is_next and (not self._starts or self._starts[0] >= started)

        await self._until(has_come)

    def play_inside(self, at: int, frame: Frame) -> None:
        """Put in the steps that the callable of a step made, which are not asked for."""
        step = self.steps[at]
        paths = step.meta.get("inside")
        again = self._next(step.path)
        until = len(self.steps) if again is None else again
        for path in cast("list[object]", paths) if isinstance(paths, list) else ():
            while isinstance(path, str) and at < (inner := self._next(path) or 0) < until:
                self._take(path)
                self.play_inside(inner, frame)
                found = self.ended(inner, self.steps[inner])
                self.walk.steps.append(found)
                self.walk.finished += 1
                frame.inside = frame.inside + found.usage
                for account in self.walk.accounts:
                    account.steps += 1
                settle(self.walk.accounts, 0, found.usage)

    async def interrupted(self, step: Step) -> None:
        """Wait as the step did until it was cancelled: by its workflow, or with the whole run."""
        if self.tape.rollout.status != "cancelled":
            await self._until_quiet()
            self.tape.refuse(step.path, {"status": step.status}, None)
        await self._cancelled()

    def ended(self, at: int, step: Step) -> Step:
        """Take note that a step ended, and give what was recorded, if that is the same."""
        self.tape.moves += 1
        self._done.add(at)
        recorded = self.steps[at]
        if step is recorded or not self.tape.strict:
            return step
        is_same = self.tape.same(step.path, recorded.canonical(), step.canonical())
        return recorded if is_same else step

    def noted(self, step: Step) -> Step:
        """Compare a step that was recorded without being run."""
        if self._next(step.path) is None:
            self.tape.refuse(step.path, None, _brief(step))
        return self.ended(self._take(step.path), step)

    def wait(self, step: Step, wait: float | None) -> float | None:
        """Say whether there was another attempt; nothing waits for it.

        Raises:
            Stopped: When a limit came between.
        """
        at = self._next(step.path)
        if at is not None and self.steps[at].attempt == step.attempt + 1:
            return 0.0
        # What the run itself retried is not recorded: a last step that may be retried was.
        is_last = wait is None and step.error is not None and step.error.retryable
        is_last = is_last and not self.walk.overrun and self._is_at_its_end()
        if self.ended_by in LIMITED and (wait is not None or is_last):
            raise Stopped(self.ended_by)
        if wait is not None and self.tape.strict:
            self.tape.refuse(step.path, None, {"attempt": step.attempt + 1})
        return None

    def closed(self, made: Rollout) -> Rollout:
        """Compare the whole, and give what was recorded, if that is the same."""
        self.tape.moves += 1
        recorded = self.recorded
        if not self.tape.strict or self.tape.divergence is not None:
            return made
        if recorded is None:
            self.tape.differ(self.walk.path, None, {"workflow": made.workflow})
            return made
        left = next((step for at, step in enumerate(self.steps) if at not in self._done), None)
        if left is not None:
            self.tape.differ(left.path, _brief(left), None)
            return made
        return recorded if self.tape.same(self.walk.path, _head(recorded), _head(made)) else made

    async def _missing(self, plan: Plan) -> None:
        """End a step that the record lacks as the run was ended there.

        Raises:
            Stopped: Where a limit kept it from starting.
            ReplayDivergence: Where nothing did.
            UsageError: Where the run ended in misuse.
        """
        if self.ended_by in LIMITED:
            await self._until(self._has_started_all)
            raise Stopped(self.ended_by, plan.path)
        if self.recorded is not None and self.recorded.status == "cancelled":
            await self._cancelled()
        if self.ended_by == "error":
            raise UsageError("the run was ended here by misuse, of which the record holds no more")
        # Among branches it may be one that is cancelled before it would have started, or one that
        # a limit held, in a workflow that came to another end all the same.
        await self._until_quiet()
        if self.tape.rollout.stopped_by in LIMITED:
            raise Stopped(self.tape.rollout.stopped_by, plan.path)
        admit(self.walk.accounts, plan, self.walk.run.clock)
        self.tape.refuse(plan.path, None, {"kind": plan.kind, "input_digest": plan.digest})

    async def _cancelled(self) -> None:
        """Cancel the run once everything else that was done is done."""
        await self._until(self._is_at_its_end)
        self.walk.run.cancel("as it was recorded")
        await anyio.sleep_forever()

    async def _until(self, has_come: Callable[[], bool]) -> None:
        """Let others go on until something has come, or nothing moves any more."""
        quiet, moves = 0, self.tape.moves
        while not has_come() and quiet < _QUIET:
            # Whoever runs a workflow tells of itself by that.
            others_run = any(not frame.nested for frame in self.tape.consulted)
            await anyio.sleep(_PAUSE if others_run else 0)
            quiet = quiet + 1 if moves == self.tape.moves and not others_run else 0
            moves = self.tape.moves

    async def _until_quiet(self) -> None:
        await self._until(lambda: False)

    def _next(self, path: str) -> int | None:
        """Find the recorded step that the next one of a path is."""
        places = self._places.get(path)
        return places[0] if places else None

    def _take(self, path: str) -> int:
        """Give out the next step of a path, which there is."""
        at = self._places[path].popleft()
        self._asked.add(at)
        return at

    def _order(self, at: int) -> tuple[int, int]:
        """Say how many steps had started, and how many had ended, when one ended."""
        order = self.steps[at].order
        return (order[0], order[1]) if len(order) == 2 else (at + 1, at)  # noqa: PLR2004 (a pair)

    def _is_note(self, at: int) -> bool:
        """Say whether a step was noted for not being run."""
        return self.steps[at].status == "skipped"

    def _has_started_all(self) -> bool:
        """Say whether all has started but what is noted: that it did not run, or was decided."""
        return all(
            at in self._asked
            or self._is_note(at)
            or (step.kind == "decision" and step.input_digest is None)
            for at, step in enumerate(self.steps)
        )

    def _is_at_its_end(self) -> bool:
        return all(at in self._done or step.status in CUT for at, step in enumerate(self.steps))


def instant_of(text: str) -> int:
    """Read an instant of a record; the first of all where there is none."""
    try:
        return _core.parse_instant(text)
    except ConfigError:
        return 0


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
