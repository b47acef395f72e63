"""Callables of the user: sync or async, of `(x)` or `(x, ctx)`; which, is read once."""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from anyio import to_thread

from interlock.harness._cancelled import no_false_cancellation
from interlock.harness._config import wrong

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

    from interlock.errors import Problem
    from interlock.harness.run import Run

__all__ = ["Call", "call_of", "inline_sync", "is_async_callable", "label_of", "takes_ctx"]

_inline: ContextVar[bool] = ContextVar("interlock_inline_sync", default=False)
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Call(NamedTuple):
    """A callable, and how it is called."""

    function: Callable[..., Any]
    takes_ctx: bool
    is_async: bool

    async def work(self, value: object, ctx: object, run: Run | None) -> object:
        """Call for work: a sync function in a worker thread, unless `inline_sync` is in force."""
        if self.is_async or _inline.get():
            return await self.judge(value, ctx)
        args = (value, ctx) if self.takes_ctx else (value,)
        # A thread cannot be stopped: when the step is cancelled it is left to end by itself.
        limiter = None if run is None else run.threads()
        with no_false_cancellation():
            (answer,) = await to_thread.run_sync(
                _boxed, self.function, args, abandon_on_cancel=True, limiter=limiter
            )
            return await _awaited(answer)

    async def judge(self, value: object, ctx: object) -> object:
        """Call inline, whatever it is: for judgement, and for work that is async."""
        function = self.function
        with no_false_cancellation():
            return await _awaited(function(value, ctx) if self.takes_ctx else function(value))


def _boxed(function: Callable[..., Any], args: tuple[object, ...]) -> tuple[object]:
    # What is to be awaited is handed over in a box: one backend refuses it bare.
    return (function(*args),)


async def _awaited(answer: object) -> object:
    # `lambda x: client.create(x)` is a sync function that gives something to wait for.
    return await cast("Awaitable[object]", answer) if inspect.isawaitable(answer) else answer


@contextmanager
def inline_sync() -> Generator[None]:
    """Run all sync code inline, for hosts without threads."""
    token = _inline.set(True)
    try:
        yield
    finally:
        _inline.reset(token)


def call_of(function: object, field: str, problems: list[Problem]) -> Call:
    """Read how a callable is called; what fits neither form is added to the problems."""
    if isinstance(function, Call):
        return function
    if not callable(function):
        problems.append(wrong(function, field, "must be a callable of `(x)` or `(x, ctx)`"))
        return Call(_nothing, takes_ctx=False, is_async=False)
    is_async = is_async_callable(function)
    has_ctx = takes_ctx(function, 1)
    if has_ctx is None:
        message = f"must take `(x)` or `(x, ctx)`; it takes {inspect.signature(function)}"
        problems.append(wrong(function, field, message))
    return Call(function, takes_ctx=bool(has_ctx), is_async=is_async)


def is_async_callable(function: object) -> bool:
    """Say whether calling it gives something to wait for, also where it is an object."""
    method = getattr(function, "__call__", None)  # noqa: B004 (asked of an object that is called)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(method)


def takes_ctx(function: Callable[..., Any], given: int) -> bool | None:
    """Say whether a callable of so many arguments takes a context too; None when neither fits."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        # A builtin without a signature, such as `str`.
        return False
    parameters = list(signature.parameters.values())
    positional = [one for one in parameters if one.kind in _POSITIONAL]
    required = sum(one.default is one.empty for one in positional)
    is_open = any(one.kind is one.VAR_POSITIONAL for one in parameters)
    keyword = any(one.kind is one.KEYWORD_ONLY and one.default is one.empty for one in parameters)
    if keyword or required > given + 1 or (len(positional) < given and not is_open):
        return None
    last = positional[given] if len(positional) > given else None
    return last is not None and (last.default is last.empty or last.name == "ctx")


def _nothing(_value: object) -> None:
    """Stand for a callable that is none."""


def label_of(function: object) -> str:
    """Name a callable for a digest: by module and name; one of the compiled by its content."""
    fingerprint = getattr(function, "fingerprint", None) or getattr(function, "digest", None)
    if isinstance(fingerprint, str):
        return fingerprint
    if isinstance(function, Call):
        return label_of(function.function)
    module = getattr(function, "__module__", "")
    return f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"
