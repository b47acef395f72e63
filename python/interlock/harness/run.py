"""Run: what all workflows of one piece of work share: limits, clock, listeners, the record."""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, cast

import anyio

from interlock import _core
from interlock.errors import ConfigError, Problem, UsageError
from interlock.harness._cancelled import no_false_cancellation
from interlock.harness._clock import Clock, SystemClock
from interlock.harness._config import (
    count_problems,
    keywords,
    raise_problems,
    wrong,
)
from interlock.harness.hooks import Hooks, hooks_problems
from interlock.harness.limits import UNLIMITED, Account, Limits, Remaining, remaining
from interlock.harness.retry import Retry
from interlock.record.event import Event, EventName
from interlock.record.values import ErrorInfo

if TYPE_CHECKING:
    from interlock.harness._recorder import Recorder
    from interlock.harness._tape import Tape
    from interlock.record.rollout import Rollout, Step

__all__ = ["Listener", "Run"]

Listener = Callable[[Event], "Awaitable[None] | None"]
Content = Literal["full", "digest"]
_CLOCK = ("now", "monotonic", "sleep", "limit", "new_id")


class Run:
    """One piece of work, of one workflow or several.

    Args:
        run_id: Its id; a new one when None.
        limits: What it may use.
        hooks: `Hooks(...)` that are asked around the turns and tools of every loop in it.
        retry: How failed steps are tried again; not at all when None.
        concurrency: How many branches run at once where a workflow does not say.
        limiters: Named capacities that steps share, such as `{"openai": 4}`.
        clock: Its clock, which tests replace.
        on_event: Called with every event; what it raises is recorded and changes nothing.
        content: `full`, or `digest`: the record holds digests in place of what was asked and
            answered. What errors and judges say stays, and may quote it.
        tags: The caller's own marks, which the record carries.

    Raises:
        ConfigError: With every problem found.
    """

    @keywords
    def __init__(  # noqa: PLR0913 (all by name)
        self,
        run_id: str | None = None,
        *,
        limits: Limits | None = None,
        hooks: Sequence[Hooks] = (),
        retry: Retry | None = None,
        concurrency: int = 8,
        limiters: Mapping[str, int] | None = None,
        clock: Clock | None = None,
        on_event: Listener | None = None,
        content: Content = "full",
        tags: Mapping[str, object] | None = None,
    ) -> None:
        """Set the run up; its time starts with its first workflow."""
        problems = _run_problems(run_id, limits, retry, concurrency, limiters, content, tags)
        if on_event is not None and not callable(on_event):  # pyright: ignore[reportUnnecessaryComparison]
            problems.append(wrong(on_event, "on_event", "must be a callable of an Event"))
        lacks = [name for name in _CLOCK if clock is not None and not hasattr(clock, name)]
        if lacks:
            message = f"must be a Clock, such as ManualClock(); it has no {', '.join(lacks)}"
            problems.append(wrong(clock, "clock", message))
        raise_problems([*problems, *hooks_problems(hooks, "hooks")])
        self.clock: Clock = clock or SystemClock()
        self.run_id = run_id or self.clock.new_id()
        self.limits = limits or UNLIMITED
        self.hooks = tuple(hooks)
        self.retry = retry
        self.concurrency = concurrency
        self.content: Content = content
        self.tags = dict(tags or {})
        self.account = Account(self.limits)
        self.faults: list[ErrorInfo] = []
        self.walks: list[Recorder] = []
        self.names: dict[str, int] = {}
        self.joined: list[Rollout] = []
        self.listeners: list[Listener] = [on_event] if on_event else []
        self.scopes: list[anyio.CancelScope] = []
        self.cancelled: str | None = None
        self.tape: Tape | None = None
        self._sizes = dict(limiters or {})
        self._limiters: dict[str, anyio.CapacityLimiter] = {}
        self._threads: anyio.CapacityLimiter | None = None
        self._seq = 0

    @property
    def rollout(self) -> Rollout:
        """The record of its latest workflow, also while that is running.

        Raises:
            UsageError: When none was started.
        """
        if not self.walks:
            raise UsageError("nothing was run yet in this run, so that there is no record")
        return self.walks[-1].record()

    @property
    def rollouts(self) -> tuple[Rollout, ...]:
        """The records of all its workflows, in the order in which they started."""
        return tuple(walk.record() for walk in self.walks)

    @property
    def remaining(self) -> Remaining:
        """What is left of its limits."""
        return remaining((self.account,), self.clock)

    def cancel(self, reason: str = "") -> None:
        """End its workflows now, from another task: they give results with status cancelled."""
        self.cancelled = reason
        self.account.cancelled = True
        for scope in self.scopes:
            scope.cancel()

    def listen(self, listener: Listener) -> None:
        """Call a function, sync or async, with every event from now on; async ones are awaited."""
        self.listeners.append(listener)

    def limiter(self, name: str) -> anyio.CapacityLimiter | None:
        """Return a named limiter; None when the run has none of that name."""
        if name in self._sizes and name not in self._limiters:
            self._limiters[name] = anyio.CapacityLimiter(self._sizes[name])
        return self._limiters.get(name)

    def threads(self) -> anyio.CapacityLimiter:
        """Return the limiter of worker threads.

        It never waits: what runs at once is bounded by the workflows, and a thread that waits for
        a nested workflow must not keep that one from its own.
        """
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(math.inf)
        return self._threads

    async def tell(
        self, event: EventName, path: str, data: Mapping[str, object], step: Step | None = None
    ) -> None:
        """Tell all listeners of an event."""
        told = Event(
            seq=self._seq,
            run_id=self.run_id,
            path=path,
            event=event,
            at=_core.format_instant(self.clock.now()),
            step=step,
            data=data,
        )
        self._seq += 1
        for listener in self.listeners:
            try:
                with no_false_cancellation():
                    answer = listener(told)
                    if inspect.isawaitable(answer):
                        await answer
            except Exception as error:  # noqa: BLE001 (a listener changes nothing in a run)
                self.faults.append(ErrorInfo.of(error))


def _run_problems(  # noqa: C901 (one for each argument)
    run_id: object,
    limits: object,
    retry: object,
    concurrency: object,
    limiters: object,
    content: object,
    tags: object,
) -> list[Problem]:
    problems: list[Problem] = []
    if run_id is not None and not (isinstance(run_id, str) and run_id):
        problems.append(wrong(run_id, "run_id", "must be a text that is not empty, or None"))
    if limits is not None and not isinstance(limits, Limits):
        problems.append(wrong(limits, "limits", "must be Limits(...)"))
    if retry is not None and not isinstance(retry, Retry):
        problems.append(wrong(retry, "retry", "must be Retry(...)"))
    if concurrency is None:
        problems.append(wrong(None, "concurrency", "must be a whole number, 1 or more"))
    problems += count_problems(concurrency, "concurrency", least=1)
    if content not in ("full", "digest"):
        shown = _core.preview(content)
        message = "must be one of full, digest"
        problems.append(Problem("spec/unknown-choice", "content", shown, message))
    if limiters is not None and not isinstance(limiters, Mapping):
        problems.append(wrong(limiters, "limiters", "must be a mapping of names to sizes"))
    else:
        for name, size in cast("Mapping[str, object]", limiters or {}).items():
            if size is None:
                problems.append(wrong(size, f"limiters.{name}", "must be a whole number, 1 up"))
            problems += count_problems(size, f"limiters.{name}", least=1)
    return [*problems, *_tag_problems(tags)]


def _tag_problems(tags: object) -> tuple[Problem, ...]:
    if tags is not None and not isinstance(tags, Mapping):
        return (wrong(tags, "tags", "must be a mapping of names to JSON values"),)
    try:
        _core.plain(cast("Mapping[str, object]", tags or {}), "tags", finite=True)
    except ConfigError as error:
        return error.problems
    return ()
