"""Everything runs on both backends, and leaves no task and no thread behind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Protocol

import pytest

from interlock.testing import ManualClock, run_checked

from .loops import Desk


class Go(Protocol):
    """Runs an async function on a backend."""

    def __call__(
        self, function: Callable[..., Awaitable[Any]], *args: object, **options: object
    ) -> Any: ...


@pytest.fixture(params=["asyncio", "trio"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def go(backend: str) -> Go:
    def run(function: Callable[..., Awaitable[Any]], *args: object, **options: object) -> Any:
        return run_checked(partial(function, *args, **options), backend=backend)

    return run


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def desk() -> Desk:
    return Desk()
