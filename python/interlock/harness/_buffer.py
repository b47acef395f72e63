"""A bounded buffer of events: steps are never dropped, pieces of output are put together."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from interlock.record.event import Event

__all__ = ["Buffer"]


@dataclass(slots=True)
class _Entry:
    """An event that waits; `pieces` are those of its text, when it is a piece of output."""

    event: Event
    pieces: list[str] = field(default_factory=list[str])

    def whole(self) -> Event:
        """Return the event with everything that was put together in it."""
        if len(self.pieces) < 2:  # noqa: PLR2004 (one needs no putting together)
            return self.event
        return replace(self.event, data={**self.event.data, "text": "".join(self.pieces)})


class Buffer:
    """Holds what was not read yet; whoever puts an event waits until there is room again."""

    def __init__(self, size: int) -> None:
        """Start empty."""
        self._size: float = size
        self._entries: deque[_Entry] = deque()
        self._open: dict[str, _Entry] = {}
        self._arrived, self._room = anyio.Event(), anyio.Event()
        self._is_ended = self._is_left = False

    async def put(self, event: Event) -> None:
        """Add an event, then wait while there are more than the buffer is meant to hold.

        It is in before anything is waited for: what ends the waiting loses nothing.
        """
        if self._is_left:
            return
        text = event.data.get("text") if event.event == "delta" else None
        entry = self._open.get(event.path)
        if isinstance(text, str) and entry is not None:
            entry.pieces.append(text)
            return
        self._open.pop(event.path, None)
        added = _Entry(event)
        if isinstance(text, str):
            added.pieces.append(text)
            self._open[event.path] = added
        self._entries.append(added)
        self._arrived.set()
        # A piece of output never waits: one for each step in progress is all there can be.
        while not isinstance(text, str) and len(self._entries) > self._size:
            self._room = anyio.Event() if self._room.is_set() else self._room
            await self._room.wait()

    async def get(self) -> Event | None:
        """Take the next event; None when the run has ended and all were taken."""
        await anyio.lowlevel.checkpoint()
        while not self._entries:
            if self._is_ended or self._is_left:
                return None
            self._arrived = anyio.Event() if self._arrived.is_set() else self._arrived
            await self._arrived.wait()
        entry = self._entries.popleft()
        if self._open.get(entry.event.path) is entry:
            del self._open[entry.event.path]
        self._room.set()
        return entry.whole()

    def end(self) -> None:
        """Say that nothing more comes."""
        self._is_ended = True
        self._arrived.set()

    def unbound(self) -> None:
        """Hold whatever comes: nobody needs to read for the run to go on."""
        self._size = float("inf")
        self._room.set()

    def discard(self) -> None:
        """Forget what is there and what will come: nobody reads any more."""
        self._is_left = True
        self._entries.clear()
        self._open.clear()
        self.unbound()
        self._arrived.set()
