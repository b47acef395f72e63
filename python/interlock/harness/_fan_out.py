"""FanOut: numbered pieces of work, at most so many at once, started in order, none left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["FanOut"]


class FanOut:
    """Work on the numbers from 0, done by as many tasks as may run at once and no more.

    Args:
        count: How many pieces there are.
        concurrency: How many run at once, 1 or more.
    """

    def __init__(self, count: int, concurrency: int) -> None:
        """Start nothing yet."""
        self._numbers = iter(range(count))
        self._tasks = min(count, concurrency)
        self._running = 0
        self._ended = anyio.Event()
        self._is_closed = False
        self._scope = anyio.CancelScope()
        self._error: BaseException | None = None

    def close(self) -> None:
        """Start no further piece; those that run may end."""
        self._is_closed = True

    def stop(self) -> None:
        """Start no further piece, and cancel those that run."""
        self._is_closed = True
        self._scope.cancel()

    async def run(
        self,
        work: Callable[[int], Awaitable[None]],
        waits: Callable[[int], bool] = lambda _number: False,
    ) -> None:
        """Do all of it, or until it is closed or stopped.

        What a piece raises stops the others, and is raised here as it is. Between the moment a
        piece may start and its first wait nothing else runs.

        Args:
            work: Does one piece.
            waits: Whether a piece is to wait for another one to end, while any runs.
        """
        with self._scope:
            async with anyio.create_task_group() as group:
                for _ in range(self._tasks):
                    group.start_soon(self._worker, work, waits)
        if self._error is not None:
            raise self._error

    async def _worker(
        self, work: Callable[[int], Awaitable[None]], waits: Callable[[int], bool]
    ) -> None:
        for number in self._numbers:
            while self._running and waits(number) and not self._is_closed:
                await self._ended.wait()
            if self._is_closed:
                return
            self._running += 1
            try:
                await work(number)
            except anyio.get_cancelled_exc_class():
                raise
            except BaseException as error:  # noqa: BLE001 (raised in `run`, by itself)
                self._error = self._error or error
                self.stop()
            finally:
                self._running -= 1
                ended, self._ended = self._ended, anyio.Event()
                ended.set()
