"""Locks of a run: one process routes at a time, and one runs the plan."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from interlock.errors import RunBusy, StoreError

if TYPE_CHECKING:
    from collections.abc import Generator

    from filelock import BaseFileLock

__all__ = ["Lock"]


class Lock:
    """A lock that is a file, of whoever holds it and not of a thread; a killed holder frees it."""

    def __init__(self, path: str, timeout: float) -> None:
        """Take the place, and how many seconds to wait for whoever has it."""
        self._path, self._timeout = path, timeout
        self._held: BaseFileLock | None = None

    def acquire(self) -> None:
        """Wait for it.

        Raises:
            RunBusy: When somebody else has it for longer than the timeout.
            StoreError: When there can be no such file.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(self._path, timeout=self._timeout, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            message = f"somebody else has the run, and still after {self._timeout:g} s"
            raise RunBusy(f"{self._path}: {message}") from None
        except OSError as error:
            message = f"cannot be locked: {error.strerror or error}"
            raise StoreError(f"{self._path}: {message}") from error
        self._held = lock

    def release(self) -> None:
        """Let it go."""
        if self._held is not None:
            self._held.release()
            self._held = None

    @contextmanager
    def held(self) -> Generator[None]:
        """Hold it for a while."""
        self.acquire()
        try:
            yield
        finally:
            self.release()
