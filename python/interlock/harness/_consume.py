"""How a stream is read to its end: async or sync, closed however it ends."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import anyio

from interlock.errors import UsageError
from interlock.harness._callables import Call
from interlock.harness._cancelled import no_false_cancellation
from interlock.record._providers import provider_reply
from interlock.record._streams import Collector

if TYPE_CHECKING:
    from interlock.harness.run import Run
    from interlock.record.values import Reply

__all__ = ["consumed"]

_CLOSE_SECONDS = 2.0
_END = object()
_Emit = Callable[[str], Awaitable[None]]


async def consumed(stream: object, emit: _Emit, run: Run) -> Reply:
    """Read a stream; see `Ctx.consume`."""
    opened = await cast("Awaitable[object]", stream) if inspect.isawaitable(stream) else stream
    whole = provider_reply(opened)
    if whole is not None:
        # The client was not asked to stream.
        await emit(whole.output)
        return whole
    # A manager of a client gives the stream when it is entered, and closes it when it is left.
    is_manager = not (hasattr(opened, "__aiter__") or hasattr(opened, "__iter__"))
    if is_manager and isinstance(opened, AbstractAsyncContextManager):
        async with cast("AbstractAsyncContextManager[object]", opened) as entered:
            return await _read(entered, emit, run)
    if is_manager and isinstance(opened, AbstractContextManager):
        manager = cast("AbstractContextManager[object]", opened)
        entered = await _worked(manager.__enter__, run)
        try:
            return await _read(entered, emit, run)
        finally:
            await _closed(manager, run, "__exit__", None, None, None)
    return await _read(opened, emit, run)


async def _read(stream: object, emit: _Emit, run: Run) -> Reply:
    collector = Collector()
    following = _following(stream, run)
    try:
        while True:
            try:
                with no_false_cancellation():
                    piece = await following()
            except Exception as error:  # noqa: BLE001 (the stream broke; what came is kept)
                return collector.reply(error)
            if piece is _END:
                return collector.reply()
            text = collector.add(piece)
            if text:
                await emit(text)
    finally:
        await _closed(stream, run)


def _following(stream: object, run: Run) -> Callable[[], Awaitable[object]]:
    """Give what waits for the next piece, and gives the mark of the end after the last."""
    if hasattr(stream, "__aiter__"):
        pieces = cast("AsyncIterator[object]", cast("Any", stream).__aiter__())

        async def awaited() -> object:
            return await anext(pieces, _END)

        return awaited
    kind = type(stream)
    if kind in (str, bytes, dict) or not hasattr(stream, "__iter__"):
        raise UsageError(
            f"consume was given a {kind.__module__}.{kind.__qualname__}; it reads streams of "
            "OpenAI and Anthropic, and iterators of text"
        )
    listed = iter(cast("Iterable[object]", stream))
    following = partial(next, listed, _END)

    async def worked() -> object:
        # A list does not wait for anything; what a sync client gives does.
        return following() if isinstance(stream, (list, tuple)) else await _worked(following, run)

    return worked


async def _worked(function: Callable[[], object], run: Run) -> object:
    """Call a sync function as work: in a worker thread, where there are any."""

    def called(_value: object) -> object:
        return function()

    return await Call(called, takes_ctx=False, is_async=False).work(None, None, run)


async def _closed(stream: object, run: Run, name: str = "aclose", *args: None) -> None:
    """Close a stream, also when the step was cancelled; what that raises changes nothing."""
    close = getattr(stream, name, None) or getattr(stream, "close", None)
    if not callable(close):
        return
    with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
        try:
            with no_false_cancellation():
                if inspect.iscoroutinefunction(close):
                    await close(*args)
                else:
                    await _worked(partial(close, *args), run)
        except Exception:  # noqa: BLE001 (what was read is there, or its own error is)
            return
