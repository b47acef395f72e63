"""Nodes that need each other, in progress: each starts once what it needs is done."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, cast

import anyio

from interlock import _core
from interlock.harness._frame import NOTHING, input_digest
from interlock.harness._jobs import Done, Fresh, Job, done_of, held_back
from interlock.harness.inputs import Inputs, NodeOutcome, told
from interlock.harness.limits import Stopped
from interlock.record.rollout import Step
from interlock.record.values import ErrorInfo
from interlock.tools._standing import DEAD, held, standing, state_of
from interlock.tools._steps import ordered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anyio.abc import TaskGroup

    from interlock.harness._walk import Walk
    from interlock.harness.inputs import NodeState
    from interlock.record.rollout import Kind
    from interlock.record.usage import Usage
    from interlock.record.values import Verdict

__all__ = ["Dag"]

_ENDS = {"finished": "done", "blocked": "waiting", "halted": "halted"}


class Dag:
    """The nodes of a run.

    Args:
        walk: The workflow.
        jobs: The nodes, in declared order.
        values: What the workflow was run with.
        kind: The kind of their steps.
        under: The path of the step that they belong to; None: they stand at the top.
        concurrency: How many run at once.
        stops: Whether none starts after a failure.
        finished: Nodes that are completed already, by id.
    """

    def __init__(
        self,
        walk: Walk,
        jobs: Sequence[Job],
        values: object,
        *,
        kind: Kind,
        concurrency: int,
        under: str | None = None,
        stops: bool = False,
        finished: Mapping[str, Done] | None = None,
    ) -> None:
        """Find out what each node waits for."""
        self.walk, self.jobs, self.values = walk, jobs, values
        self.kind: Kind = kind
        self.under, self.most, self.stops = under, concurrency, stops
        self.stopped_by: str | None = None
        self.done = {
            at: finished[job.step.id]
            for at, job in enumerate(jobs)
            if finished and job.step.id in finished
        }
        self.known: dict[int, str] = dict.fromkeys(self.done, "completed")
        self._steps = [job.step for job in jobs]
        self._digest = walk.digest
        self._digests: dict[int, str | None] = {}
        self._passed: dict[int, Usage] = {}
        self._paths: dict[int, str] = {}
        """By position; that of a node's condition by the complement of it."""
        self._started: set[int] = set()
        self._later: list[int] = []
        self._running, self._is_held = 0, False
        self._fault: BaseException | None = None
        self._group: TaskGroup
        self._dependents: list[list[int]] = [[] for _ in jobs]
        self._open = [0] * len(jobs)
        for at, step in enumerate(self._steps):
            for need in step.needs:
                self._dependents[need].append(at)
                self._open[at] += need not in self.known
        self._ready = [at for at, count in enumerate(self._open) if not count | (at in self.known)]

    async def run(self) -> str:
        """Run all that can run, and return what ended it: a word of `stopped_by`."""
        async with anyio.create_task_group() as group:
            self._group = group
            self._open_places()
        if self._fault is not None:
            raise self._fault
        states = self.states()
        if self.stopped_by in (None, "failed"):
            await self._note(states)
        return self.stopped_by or _ENDS[state_of({*states.values()})]

    def outcomes(self) -> dict[str, NodeOutcome]:
        """Say what became of every node so far, in declared order."""
        states = self.states()
        return {
            step.id: self.done[at].outcome if at in self.done else self._unstarted(at, states)
            for at, step in enumerate(self._steps)
        }

    def states(self) -> dict[int, str]:
        """Give the state of every node; of one that did not run, by what it needs."""
        known = dict(self.known)
        is_over = len(known) == len(self.jobs)
        for at in () if is_over else ordered(self._steps):
            if at not in known:
                # One whose time has come by now waits all the same.
                known[at] = standing(self._steps[at], known, 0) or "waiting"
        return known

    def _now(self, at: int) -> int:
        """Give the instant by which a node is due or not; in a replay one that says as it was."""
        after = self._steps[at].after
        if after is None or self.walk.reel is None:
            return 0 if after is None else self.walk.run.clock.now()
        first = self._path_of(at if self.jobs[at].judge is None else ~at)
        return after if self.walk.reel.is_due(first) else after - 1

    def _open_places(self) -> None:
        """Start what is ready, as far as there are places."""
        while self._running < self.most and (at := self._next()) is not None:
            self._running += 1
            self._group.start_soon(self._place, at)

    async def _place(self, at: int | None) -> None:
        """Run nodes, one after the other, until none is ready."""
        while at is not None:
            await self._run(at)
            at = self._next()
            self._open_places()
        self._running -= 1

    def _next(self) -> int | None:
        """Take the next node that can run, in declared order; settle those that cannot."""
        if self._later:
            self._recall()
        is_over = self.stopped_by is not None or self._fault is not None
        while self._ready and not (is_over or self._is_held):
            at = heappop(self._ready)
            step = self._steps[at]
            state = standing(step, self.known, self._now(at))
            if state is None:
                self._started.add(at)
                return at
            if state == "waiting":
                self._later.append(at)
            else:
                self._settle(at, state)
        return None

    def _recall(self) -> None:
        """Take up what waited for a time that has come."""
        due = [at for at in self._later if cast("int", self._steps[at].after) <= self._now(at)]
        for at in due:
            self._later.remove(at)
            heappush(self._ready, at)

    def _settle(self, at: int, state: str) -> None:
        self.known[at] = state
        if state != "completed" and state not in DEAD:
            return
        for dependent in self._dependents[at]:
            self._open[dependent] -= 1
            if not self._open[dependent]:
                heappush(self._ready, dependent)

    async def _run(self, at: int) -> None:
        try:
            done = await self._taken(at)
        except Stopped as stop:
            self._stop(at, stop)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as fault:  # noqa: BLE001 (raised in `run`)
            # The others are ended first: from a task group it would come wrapped.
            self._fault = self._fault or fault
            self._group.cancel_scope.cancel()
        else:
            self.done[at] = done
            if self.stops and done.outcome.state == "failed":
                self.stopped_by = self.stopped_by or "failed"
            self._is_held = False
            self._settle(at, done.outcome.state)

    def _stop(self, at: int, stop: Stopped) -> None:
        """Note that a node did not start; where others give tokens back, it is tried again."""
        if stop.path is None or stop.path not in (self._paths.get(at), self._paths.get(~at)):
            # It did start; a step inside it did not, or its next attempt.
            self.known[at] = "cancelled"
        else:
            self._started.discard(at)
        if stop.reason == "tokens" and at not in self._started and self._running > 1:
            self._is_held = True
            heappush(self._ready, at)
        else:
            self.stopped_by = self.stopped_by or stop.reason

    def _path_of(self, at: int) -> str:
        """Give the path of a node, or at `~at` of its condition, the same at every try."""
        if at not in self._paths:
            name = self._steps[at].id if at >= 0 else f"when_{self._steps[~at].id}"
            self._paths[at] = self.walk.place(name, self.under)
        return self._paths[at]

    async def _taken(self, at: int) -> Done:
        """Ask the node's condition, and call it where that holds."""
        job = self.jobs[at]
        inputs, digest = self._inputs(job), self._input_digest(job)
        if job.judge is not None and at not in self._passed:
            said = await self.walk.step(
                f"when_{job.step.id}",
                "decision",
                job.judge.call,
                inputs,
                path=self._path_of(~at),
                digest=digest,
                is_judgement=True,
                read=job.judge.read,
            )
            verdict = cast("Verdict", said.verdict)
            if not verdict.ok:
                state: NodeState = "undetermined" if verdict.undetermined else "skipped"
                return held_back(job.step.id, state, said, verdict.reason)
            self._passed[at] = said.usage
        outcome = await self.walk.step(
            job.step.id,
            self.kind,
            job.call,
            inputs,
            path=self._path_of(at),
            digest=digest,
            read=Fresh(self.done[need] for need in job.step.needs),
            **job.options,
        )
        return done_of(job.step.id, outcome, self._passed.get(at, NOTHING))

    def _inputs(self, job: Job) -> Inputs:
        needed = {self._steps[need].id: self.done[need] for need in job.step.needs}
        data = {name: told(cast("Any", one.outcome.answer)) for name, one in needed.items()}
        return Inputs(
            self.values,
            {name: one.value for name, one in needed.items()},
            # A worker may change what it gets; the plan stays as it is.
            params=None if job.step.params is None else _core.plain(job.step.params),
            data={"values": self.values, "results": data},
        )

    def _input_digest(self, job: Job) -> str | None:
        """Digest the digests of what is given: values and results may be large."""
        found = {self._steps[need].id: self._result_digest(need) for need in job.step.needs}
        if self._digest is None or None in found.values():
            return None
        return _core.digest([self._digest, found, job.step.params])

    def _result_digest(self, at: int) -> str | None:
        if at not in self._digests:
            self._digests[at] = input_digest(self.done[at].outcome.data)
        return self._digests[at]

    def _unstarted(self, at: int, states: Mapping[int, str]) -> NodeOutcome:
        state = "cancelled" if at in self._started and at not in self.known else states[at]
        why = held(self._steps, at, states, 0).reason if state != "cancelled" else ""
        if not why:
            why = f"was {'cancelled' if state == 'cancelled' else 'not started'}"
            why += f": {self.stopped_by}" if self.stopped_by else ""
        return NodeOutcome(id=self._steps[at].id, state=cast("Any", state), reason=why)

    async def _note(self, states: Mapping[int, str]) -> None:
        """Record the nodes that did not run, each with the reason."""
        ran = ("completed", "failed", "cancelled")
        outcomes = [*self.outcomes().values()] if {*states.values()}.difference(ran) else ()
        for at, outcome in enumerate(outcomes):
            if outcome.state in ran:
                continue
            path, is_open = self._path_of(at), outcome.state == "undetermined"
            now = self.walk.instant(path)
            decision: dict[str, object] = {"state": outcome.state, "reason": outcome.reason}
            if outcome.state == "waiting":
                decision |= held(self._steps, at, states, now).to_dict()
            await self.walk.note(
                Step(
                    path=path,
                    name=outcome.id,
                    kind=self.kind,
                    status="undetermined" if is_open else "skipped",
                    started_at=_core.format_instant(now),
                    ended_at=_core.format_instant(now),
                    error=ErrorInfo(
                        outcome.state, outcome.reason, "permission", "skip", source="sequence"
                    ),
                    decision=decision,
                )
            )
