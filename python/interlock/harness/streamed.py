"""streamed: the events of a run as they happen, and its result at the end."""

from __future__ import annotations

import inspect
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeVar, cast

import anyio

from interlock import _core
from interlock._compiled import unknown_fields
from interlock.errors import Problem, UsageError
from interlock.harness._buffer import Buffer
from interlock.harness._cancelled import no_false_cancellation
from interlock.harness._config import count_problems, raise_problems, wrong
from interlock.harness._frame import current_frame
from interlock.harness._workflow import Workflow
from interlock.harness.run import Run

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType

    from anyio.abc import TaskGroup

    from interlock.record.event import Event
    from interlock.record.rollout import Rollout

__all__ = ["Streamed", "streamed"]

R = TypeVar("R")
OnExit = Literal["cancel", "finish"]

_watching: ContextVar[tuple[Streamed[Any], ...]] = ContextVar("interlock_streams", default=())
"""The streams that the work in progress belongs to, which tells it from other work of its run."""


class Streamed(Generic[R]):
    """A run in progress: `async for` gives its events, `await ...result()` what it comes to.

    A context manager, entered once: while it is open the run is on its way; when it is left, the
    run has ended. It is made by `streamed`.

    Attributes:
        run: The run, for its record, and to cancel it.
    """

    def __init__(
        self,
        work: Callable[[Run], Awaitable[R]],
        run: Run | None,
        *,
        on_exit: OnExit,
        size: int,
        ends_by_run: bool,
    ) -> None:
        """Take what is run; nothing starts before the context is entered."""
        frame = current_frame.get()
        self.run = run or (Run() if frame is None else frame.walk.run)
        # Cancelled by its run it still has a result; a run that is shared is not ours to cancel.
        self._ends_by_run = ends_by_run and run is None and frame is None
        self._work, self._on_exit = work, on_exit
        self._buffer = Buffer(size)
        self._scope = anyio.CancelScope()
        self._group: TaskGroup | None = None
        self._ended = anyio.Event()
        self._result: tuple[R] | None = None
        self._error: BaseException | None = None
        self._is_told = False

    @property
    def rollout(self) -> Rollout:
        """The record of the latest workflow of the run, also while that is running."""
        return self.run.rollout

    async def __aenter__(self) -> Self:
        """Start the run.

        Raises:
            UsageError: When it was entered before.
        """
        if self._group is not None:
            raise UsageError("a stream is entered once; make another one for another run")
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        self.run.listeners.append(self._listen)
        self._group.start_soon(self._conduct)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Cancel the run, or let it end; what the body raised goes on as it is.

        Raises:
            Exception: What the run raised, when neither the body raised nor `result` told it.
        """
        group = cast("TaskGroup", self._group)
        self._buffer.discard()
        is_cancelled = isinstance(error, anyio.get_cancelled_exc_class())
        if self._on_exit == "cancel" or is_cancelled:
            self._leave()
        try:
            # The group would wrap what the body raised; only a cancellation is its business.
            parts = (kind, error, trace) if is_cancelled else (None, None, None)
            await group.__aexit__(*parts)
        finally:
            self.run.listeners.remove(self._listen)
        untold = self._error is not None and not self._is_told
        if self._error is not None and untold and (kind is None or self._is_grave()):
            raise self._error

    def __aiter__(self) -> Self:
        """Give the events that were not read yet."""
        return self

    async def __anext__(self) -> Event:
        """Give the next event; the end comes with the end of the run.

        Raises:
            UsageError: Before the context is entered.
        """
        self._entered()
        event = await self._buffer.get()
        if event is None:
            raise StopAsyncIteration
        return event

    async def result(self) -> R:
        """Wait for the end of the run and return its result; events can still be read after it.

        Raises:
            Exception: What the run raised.
            UsageError: When it was cancelled before it had a result.
        """
        self._entered()
        self._buffer.unbound()
        await self._ended.wait()
        if self._error is not None:
            self._is_told = True
            raise self._error
        if self._result is None:
            raise UsageError("the run was cancelled before it had a result; its record is there")
        return self._result[0]

    async def _conduct(self) -> None:
        _watching.set((*_watching.get(), self))
        try:
            with self._scope, no_false_cancellation():
                self._result = (await self._work(self.run),)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001 (told by `result`, or when it is left)
            self._error = error
        finally:
            self._ended.set()
            self._buffer.end()

    async def _listen(self, event: Event) -> None:
        if self in _watching.get():
            await self._buffer.put(event)

    def _leave(self) -> None:
        """Cancel what runs; other work of a run that is shared goes on."""
        if not self._ends_by_run:
            self._scope.cancel()
        elif not self._ended.is_set():
            self.run.cancel("its stream was left")

    def _entered(self) -> None:
        if self._group is None:
            raise UsageError("a stream is read inside `async with streamed(...) as stream`")

    def _is_grave(self) -> bool:
        """Say whether the run was ended by what no body may hide, such as an interrupt."""
        return not isinstance(self._error, Exception)


def streamed(
    function: Callable[..., Awaitable[R]],
    *args: object,
    on_exit: OnExit = "cancel",
    buffer: int = 64,
    run: Run | None = None,
    **options: object,
) -> Streamed[R]:
    """Watch a run of any workflow.

    Step events are never dropped: a reader that falls behind by more than the buffer holds the run
    up before its next step. Pieces of output that one step emitted are put together while nobody
    reads them.

    Args:
        function: What runs: a workflow, its `run`, or a function such as `cascade`.
        args: What it is called with.
        on_exit: What leaving the context does to a run that goes on: `cancel` it, or let it
            `finish`.
        buffer: How many events may wait for the reader.
        run: The run; the one in progress, or one of its own, when None.
        options: What else it is called with, by name.

    Raises:
        ConfigError: With every problem found.
    """
    found = function.run if isinstance(function, Workflow) else function
    raise_problems(_problems(found, on_exit, buffer, run, options))

    async def work(in_run: Run) -> R:
        return cast("R", await found(*args, run=in_run, **options))

    return Streamed(work, run, on_exit=on_exit, size=buffer, ends_by_run=_is_ours(found))


def _problems(
    function: object, on_exit: object, buffer: object, run: object, options: dict[str, object]
) -> list[Problem]:
    problems: list[Problem] = []
    taken = _keywords(function)
    if taken is not None and "run" not in taken:
        message = "must be a workflow, its `run`, or a function that takes `run=`, as `cascade`"
        problems.append(wrong(function, "function", message))
    elif taken is not None:
        problems += unknown_fields(options, (*taken, "on_exit", "buffer"))
    if on_exit not in ("cancel", "finish"):
        shown = _core.preview(on_exit)
        message = "must be one of cancel, finish"
        problems.append(Problem("spec/unknown-choice", "on_exit", shown, message))
    if buffer is None:
        problems.append(wrong(None, "buffer", "must be a whole number, 1 or more"))
    problems += count_problems(buffer, "buffer", least=1)
    if run is not None and not isinstance(run, Run):
        problems.append(wrong(run, "run", "must be Run(...)"))
    return problems


def _is_ours(function: Callable[..., object]) -> bool:
    """Say whether it is a workflow's, which has a result also when its run is cancelled."""
    owner = getattr(function, "__self__", None)
    return isinstance(owner, Workflow) or function.__module__.startswith("interlock.harness.")


def _keywords(function: object) -> tuple[str, ...] | None:
    """List what a callable may be given by name; None for whatever it is."""
    try:
        parameters = inspect.signature(cast("Callable[..., object]", function)).parameters.values()
    except (TypeError, ValueError):
        return ()
    is_open = any(one.kind is one.VAR_KEYWORD for one in parameters)
    return None if is_open else tuple(one.name for one in parameters)
