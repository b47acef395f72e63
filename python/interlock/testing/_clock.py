"""A clock that tests move by hand."""

from __future__ import annotations

import math

import anyio

from interlock.harness._config import raise_problems, wrong

__all__ = ["ManualClock"]


class ManualClock:
    """A clock that stands still until it is moved; waiting moves it, and costs no time.

    Scopes that were set to end are cancelled when the clock is moved past their end, so that
    timeouts are decided by the test and not by the machine.

    Args:
        start: The instant, in milliseconds from 1970.
        ids: The prefix of the ids of runs, which are numbered.
    """

    def __init__(self, start: int = 1_700_000_000_000, *, ids: str = "run") -> None:
        """Stand at an instant."""
        self._start, self._elapsed = start, 0.0
        self._prefix, self._made = ids, 0
        self._scopes: list[tuple[float, anyio.CancelScope]] = []
        self.slept: list[float] = []

    def now(self) -> int:
        """Return the instant."""
        return self._start + round(self._elapsed * 1000)

    def monotonic(self) -> float:
        """Return the seconds since the start."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Move on by so many seconds, at once."""
        self.slept.append(seconds)
        self.advance(seconds)
        await anyio.lowlevel.checkpoint()

    def advance(self, seconds: float) -> None:
        """Move on by so many seconds; what should have ended by then is cancelled.

        Raises:
            ConfigError: For what is no time to move on by, such as one that goes back.
        """
        if not (isinstance(seconds, (int, float)) and 0 <= seconds < math.inf):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise_problems([wrong(seconds, "seconds", "must be a finite number, 0 or more")])
        self._elapsed += seconds
        due = [scope for end, scope in self._scopes if end <= self._elapsed]
        self._scopes = [pair for pair in self._scopes if pair[0] > self._elapsed]
        for scope in due:
            scope.cancel()

    def limit(self, seconds: float) -> anyio.CancelScope:
        """Return a scope that is cancelled once the clock has moved so far."""
        scope = anyio.CancelScope()
        self._scopes.append((self._elapsed + seconds, scope))
        return scope

    def new_id(self) -> str:
        """Return the next id."""
        self._made += 1
        return f"{self._prefix}-{self._made}"
