"""A cancellation, told from a failure that looks like one."""

from __future__ import annotations

import asyncio  # noqa: TID251 (whether its task was cancelled, this backend alone can tell)
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import TYPE_CHECKING

from anyio import get_cancelled_exc_class, get_current_task

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["CancelledError", "no_false_cancellation"]


@contextmanager
def no_false_cancellation() -> Generator[None]:
    """Make a failure of a cancellation that nobody asked for.

    A callable may raise `asyncio.CancelledError` itself, or let through that of a task it waited
    for. Where neither its task nor a scope around it is cancelled it has failed, as by any other
    exception; a cancellation of the run goes on as it is.

    Raises:
        CancelledError: In its place, that of `concurrent.futures`, which is an `Exception`.
    """
    try:
        yield
    except (asyncio.CancelledError, get_cancelled_exc_class()) as error:
        if isinstance(error, get_cancelled_exc_class()) and _is_cancelled():
            raise
        said = f": {error}" if str(error) else ""
        raise CancelledError(f"raised, though nothing was cancelled{said}") from error


def _is_cancelled() -> bool:
    """Say whether the task is being cancelled, by a scope or by itself."""
    if get_current_task().has_pending_cancellation():
        return True
    if not issubclass(get_cancelled_exc_class(), asyncio.CancelledError):
        return False
    # What was delivered already is pending no more; `cancelling` counts it until it is taken back.
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
