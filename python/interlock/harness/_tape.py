"""A tape: the record of a run that is played again, and the first difference that is found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar, cast

import anyio

from interlock.errors import ReplayDivergence
from interlock.harness._config import raise_problems, wrong
from interlock.harness._reel import Reel, instant_of
from interlock.harness.limits import Limits
from interlock.harness.run import Run

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import NoReturn

    from interlock.harness._frame import Frame
    from interlock.harness._recorder import Recorder
    from interlock.record.rollout import Rollout

__all__ = ["Tape"]

R = TypeVar("R")


class _StoppedClock:
    """The clock of a replay: it stands at the start of the run, and nothing waits."""

    def __init__(self, instant: int) -> None:
        self._instant = instant

    def now(self) -> int:
        return self._instant

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        del seconds
        await anyio.lowlevel.checkpoint()

    def limit(self, seconds: float) -> anyio.CancelScope:
        del seconds
        return anyio.CancelScope()

    def new_id(self) -> str:
        return "replay"


class Tape:
    """The record of a run, as it is played again.

    Attributes:
        rollout: The record.
        strict: Whether every difference counts.
        divergence: The first difference that was found.
        is_spoilt: Whether it does not hold what it is asked for; then nothing is a difference.
        moves: Grows with everything that happens, which tells waiting from standing still.
        consulted: The async hooks and stop rules that run for real just now.
    """

    def __init__(self, rollout: Rollout, *, strict: bool) -> None:
        """Take the record."""
        self.rollout, self.strict = rollout, strict
        self.divergence: ReplayDivergence | None = None
        self.moves = 0
        self.consulted: list[Frame] = []
        self.is_spoilt = False
        self._is_taken = False

    async def played(
        self, work: Callable[..., Awaitable[R]], values: object, like: Run | None
    ) -> R:
        """Run with values, in a run as the recorded one was.

        Raises:
            ReplayDivergence: At the first difference.
        """
        if like is not None and not isinstance(like, Run):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise_problems([wrong(like, "run", "must be Run(...)")])
        run = _run_of(self.rollout, like)
        run.tape = self
        try:
            result = await work(values, run=run)
        finally:
            # What it came to after a difference, an error too, is of no interest.
            self.end_if_differs()
        return result

    def reel(self, walk: Recorder) -> Reel:
        """Give a workflow of the run its part of the record."""
        if walk.outer is not None:
            cue = walk.outer.cue
            return Reel(self, walk, None if cue is None else cue.step.child)
        found = None if self._is_taken else self.rollout
        self._is_taken = True
        return Reel(self, walk, found)

    def same(self, path: str, told: Mapping[str, object], got: Mapping[str, object]) -> bool:
        """Say whether what was recorded and what happens now are equal; if not, note it."""
        if told != got:
            self.differ(path, told, got)
        return told == got

    def differ(self, path: str, expected: object, got: object) -> None:
        """Note a difference, if it is the first; of two mappings, what is unlike in them."""
        if self.divergence is None and not self.is_spoilt:
            self.divergence = ReplayDivergence(path, *_unlike(expected, got))

    def refuse(self, path: str, expected: object, got: object) -> NoReturn:
        """Note a difference that nothing can go on after, and raise the first."""
        self.differ(path, expected, got)
        raise self.divergence or ReplayDivergence(path, *_unlike(expected, got))

    def end_if_differs(self) -> None:
        """Raise the first difference, if there is one."""
        if self.divergence is not None:
            raise self.divergence


def _unlike(told: object, got: object) -> tuple[object, object]:
    """Give of two mappings what the other has not."""
    one, other = _mapping(told), _mapping(got)
    if one is None or other is None:
        return told, got
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return (
        {name: one[name] for name in names if name in one},
        {name: other[name] for name in names if name in other},
    )


def _mapping(value: object) -> Mapping[str, object] | None:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else None


def _run_of(rollout: Rollout, like: Run | None) -> Run:
    """Make a run as the recorded one was, but for its time, which is what is recorded."""
    settings = like or Run()
    limits = settings.limits
    return Run(
        rollout.run_id or "replay",
        limits=Limits(
            max_tokens=limits.max_tokens,
            max_cost=limits.max_cost,
            max_steps=limits.max_steps,
            weigh=limits.weigh,
            allow_unmetered=limits.allow_unmetered,
            allow_unpriced=limits.allow_unpriced,
        ),
        hooks=settings.hooks,
        retry=settings.retry,
        concurrency=settings.concurrency,
        clock=_StoppedClock(instant_of(rollout.started_at)),
        tags=rollout.tags,
    )
