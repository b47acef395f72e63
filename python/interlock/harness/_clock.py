"""The clock of a run: instants, durations, waiting, and the ids of runs. Tests replace it."""

from __future__ import annotations

import time
import uuid
from typing import Protocol

import anyio

__all__ = ["Clock", "SystemClock"]


class Clock(Protocol):
    """What a run asks of time."""

    def now(self) -> int:
        """Return the instant, in milliseconds from 1970."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...

    def limit(self, seconds: float) -> anyio.CancelScope:
        """Return a scope, to be entered at once, that is cancelled after so many seconds."""
        ...

    def new_id(self) -> str:
        """Return an id that no other run has."""
        ...


class SystemClock:
    """The clocks of the system."""

    def now(self) -> int:
        """Return the instant."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.perf_counter()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await anyio.sleep(seconds)

    def limit(self, seconds: float) -> anyio.CancelScope:
        """Return a scope that is cancelled after so many seconds."""
        return anyio.CancelScope(deadline=anyio.current_time() + seconds)

    def new_id(self) -> str:
        """Return a random id."""
        return uuid.uuid4().hex
