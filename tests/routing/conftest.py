"""A workspace in a temporary folder; what is async runs on both backends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pytest

from interlock.routing import RunFolder
from interlock.testing import ManualClock, run_checked


class Go(Protocol):
    """Runs an async function on a backend."""

    def __call__(
        self, function: Callable[..., Awaitable[Any]], *args: object, **options: object
    ) -> Any: ...


@pytest.fixture(params=["asyncio", "trio"])
def go(request: pytest.FixtureRequest) -> Go:
    def run(function: Callable[..., Awaitable[Any]], *args: object, **options: object) -> Any:
        return run_checked(partial(function, *args, **options), backend=str(request.param))

    return run


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path, "one", clock=ManualClock())
