"""A check that nothing is left running: tasks and threads."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["run_checked"]

T = TypeVar("T")
_JOIN_SECONDS = 2.0


def run_checked(
    function: Callable[..., Awaitable[T]], *args: object, backend: str = "asyncio"
) -> T:
    """Run an async function in an event loop of its own, and see that it leaves nothing behind.

    Args:
        function: What is run.
        args: What it is called with.
        backend: `asyncio` or `trio`.

    Raises:
        AssertionError: Naming the tasks that still run when it returns, or the threads that still
            run two seconds after the loop has ended.
    """
    before = set(threading.enumerate())

    async def checked() -> T:
        tasks = {task.id for task in anyio.get_running_tasks()}
        answer = await function(*args)
        left = [task for task in anyio.get_running_tasks() if task.id not in tasks]
        if left:
            raise AssertionError(f"tasks left running: {[task.name for task in left]}")
        return answer

    options: Any = {"backend": backend}
    answer = anyio.run(checked, **options)
    # A cache of idle threads is no leak.
    threads = [one for one in threading.enumerate() if one not in before and _works(one)]
    for thread in threads:
        thread.join(_JOIN_SECONDS)
    alive = [thread.name for thread in threads if thread.is_alive()]
    if alive:
        raise AssertionError(f"threads left running: {alive}")
    return answer


def _works(thread: threading.Thread) -> bool:
    return not thread.name.startswith("Trio thread")
