"""How deep workflows and tools stand inside each other."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["NESTING_LIMIT", "one_deeper"]

NESTING_LIMIT = 32
"""Workflows and calls of tools inside each other. Python's own stack, of 1,000 frames by default,
holds more, and so does a record whose digest is taken."""

_depth: ContextVar[int] = ContextVar("interlock_depth", default=0)


@contextmanager
def one_deeper(what: str) -> Generator[None]:
    """Hold one more place inside those around it.

    Raises:
        RecursionError: When there are as many as there may be, which is where something calls
            itself.
    """
    depth = _depth.get()
    if depth >= NESTING_LIMIT:
        raise RecursionError(
            f"{what} stands inside {NESTING_LIMIT} workflows and tools, the most there may be; it "
            "probably calls itself"
        )
    token = _depth.set(depth + 1)
    try:
        yield
    finally:
        _depth.reset(token)
