"""Workflow: what every workflow has in common: set up once, run, recorded, ended by a result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

import anyio
from anyio import from_thread

from interlock import _core
from interlock.errors import UsageError
from interlock.harness._cancelled import CancelledError
from interlock.harness._config import Frozen, raise_problems, wrong
from interlock.harness._frame import current_frame
from interlock.harness._nesting import one_deeper
from interlock.harness._walk import Walk
from interlock.harness.limits import Stopped
from interlock.harness.run import Run

if TYPE_CHECKING:
    from interlock.errors import Problem
    from interlock.harness.flow import Flow
    from interlock.record.result import Result, ResultStatus
    from interlock.record.rollout import Rollout

__all__ = [  # noqa: RUF022 (by code point, as every other list of names)
    "End",
    "LIMITED",
    "Workflow",
    "status_of",
]

R = TypeVar("R", bound="Result")
S = TypeVar("S")

LIMITED = ("tokens", "cost", "steps", "deadline", "unmetered")
"""The words of `stopped_by` for what is no fault: a limit."""
_FAULTS = ("failed", "cancelled", "blocked", "gate", "paused")


def status_of(stopped_by: str, *, otherwise: ResultStatus) -> ResultStatus:
    """Return the status for what ended a run; `otherwise` where that is no limit and no fault."""
    if stopped_by == "cancelled":
        return "cancelled"
    if stopped_by in LIMITED:
        return "incomplete"
    return "failed" if stopped_by in ("failed", "blocked") else otherwise


@dataclass(frozen=True, slots=True)
class End:
    """The end of a run, from which a workflow makes its result.

    Attributes:
        stopped_by: What ended it.
    """

    stopped_by: str
    walk: Walk

    def close(self, status: ResultStatus) -> Rollout:
        """End the record with a status, and return it."""
        return self.walk.close(status, self.stopped_by)


class Workflow(Frozen, ABC, Generic[S, R]):
    """A workflow, set up and checked once, run as often as wished.

    Frozen; it can stand wherever a callable of one argument can. What it needs while it runs is in
    a state of its own, so that runs never meet.
    """

    __slots__ = ("__weakref__", "_digest", "max_tokens", "name")

    kind: ClassVar[str]
    name: str
    max_tokens: int | None

    async def run(self, values: object = None, *, run: Run | None = None) -> R:
        """Run with values; in the run in progress, or one of its own, when *run* is None.

        Raises:
            CancelledError: In a thread that was left behind.
            ConfigError: When the run cannot be what it was set up to be.
            RecursionError: Inside 32 workflows and tools, where it is the failure of the callable
                that asked for it.
            UsageError: When a callable returned what has no meaning.
        """
        if run is not None and not isinstance(run, Run):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise_problems([wrong(run, "run", "must be Run(...)")])
        outer = current_frame.get()
        if outer is not None and outer.is_abandoned:
            raise CancelledError(f"{self.name}: the step that asks for it was ended")
        with one_deeper(f"workflow `{self.name}`"):
            walk = Walk(
                run or (Run() if outer is None else outer.walk.run),
                name=self.name,
                kind=self.kind,
                config_digest=self.digest,
                max_tokens=self.max_tokens,
                outer=outer,
            )
            return await self._conducted(walk, values)

    async def replayed(
        self, rollout: Rollout, values: object, *, strict: bool = True, run: Run | None = None
    ) -> R:
        """Run as it was recorded; `interlock.record.replay` is what to call.

        Raises:
            ReplayDivergence: At the first difference.
        """
        from interlock.harness._tape import Tape

        tape = Tape(rollout, strict=strict)
        return await tape.played(self.run, values, run)

    async def __call__(self, values: object = None) -> R:
        """Run with values, as a callable of somebody else's workflow."""
        return await self.run(values)

    def sync(self, values: object = None, *, run: Run | None = None, backend: str = "asyncio") -> R:
        """Run in an event loop of its own, and wait for the result; for scripts.

        In a worker thread of a step the loop of that step is used.

        Raises:
            UsageError: Inside a running event loop, where it would block that loop; in a thread
                that async code of a step started itself, such as by `asyncio.to_thread`.
            ConfigError: For a backend that there is not.
        """
        if backend not in ("asyncio", "trio"):
            raise_problems([wrong(backend, "backend", "must be one of asyncio, trio")])
        try:
            anyio.get_current_task()
        except RuntimeError:
            pass
        else:
            raise UsageError(
                f"{self.name}: sync() was called inside a running event loop; write "
                "`await ....run(...)` there"
            )
        work = partial(self.run, values, run=run)
        try:
            from_thread.check_cancelled()
        except RuntimeError:
            if current_frame.get() is None:
                return anyio.run(work, backend=backend)
            # What it would join belongs to a loop that this thread cannot reach.
            raise UsageError(
                f"{self.name}: sync() was called in a thread that a step started itself; write "
                "`await ....run(...)` in the step"
            ) from None
        return from_thread.run(work)

    @property
    def digest(self) -> str:
        """SHA-256 of how it is set up; callables count by their names."""
        # Made when it is first asked for, and kept: nothing of what it is made of changes.
        made: str | None = getattr(self, "_digest", None)
        if made is None:
            made = _core.digest({"kind": self.kind, "name": self.name, **self._config()})
            self._set(_digest=made)
        return made

    def lint(self) -> tuple[Problem, ...]:
        """Return what is probably not meant so."""
        return ()

    def to_mermaid(self) -> str:
        """Return the workflow as a Mermaid diagram."""
        return self.flow().to_mermaid()

    @abstractmethod
    def flow(self) -> Flow:
        """Return the shape of the workflow."""

    @abstractmethod
    def _config(self) -> dict[str, Any]:
        """Return how it is set up, as data."""

    @abstractmethod
    def _begin(self, values: object) -> S:
        """Return the state of a new run."""

    @abstractmethod
    async def _steps(self, walk: Walk, values: object, state: S) -> str:
        """Take the steps, note in the state what comes of them, and return what ended the run."""

    @abstractmethod
    def _result(self, state: S, end: End) -> R:
        """Make the result."""

    async def _conducted(self, walk: Walk, values: object) -> R:
        walk.start(values)
        state = self._begin(values)
        if walk.is_root:
            walk.run.scopes.append(walk.scope)
        stopped_by = "cancelled"
        try:
            await walk.tell("run_started", walk.path, {"workflow": self.name, "kind": self.kind})
            with walk.scope:
                stopped_by = await self._until_stopped(walk, values, state)
            result = self._result(state, End(_ended_by(walk, stopped_by), walk))
        except BaseException as error:
            is_fault = isinstance(error, Exception)
            walk.close("failed" if is_fault else "cancelled", "error" if is_fault else "cancelled")
            raise
        finally:
            if walk.is_root:
                walk.run.scopes.remove(walk.scope)
            ended = cast("Rollout", walk.ended)
            with anyio.move_on_after(2, shield=True):
                told = {"status": ended.status, "stopped_by": ended.stopped_by}
                if ended.stopped_by in LIMITED:
                    await walk.tell("budget", walk.path, {"stopped_by": ended.stopped_by})
                await walk.tell("run_ended", walk.path, told)
        return result

    async def _until_stopped(self, walk: Walk, values: object, state: S) -> str:
        try:
            return await self._steps(walk, values, state)
        except Stopped as stop:
            return stop.reason


def _ended_by(walk: Walk, stopped_by: str) -> str:
    if stopped_by == "cancelled":
        return stopped_by
    if walk.overrun:
        return "deadline"
    is_unmetered = any(account.unmetered for account in walk.accounts)
    return "unmetered" if is_unmetered and stopped_by not in _FAULTS else stopped_by
