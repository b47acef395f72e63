"""Where runs are kept: one that moved meanwhile is not moved again by whoever had not seen it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from interlock.errors import StaleState, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlock.supervise.log import LogEntry
    from interlock.supervise.state import RunState

__all__ = ["Kept", "MemoryStore", "RunStore"]


@dataclass(frozen=True, slots=True)
class Kept:
    """A run as it is kept: where it stands, and its log."""

    state: RunState
    log: tuple[LogEntry, ...] = ()


class RunStore(Protocol):
    """What a supervisor keeps runs in."""

    async def load(self, run_id: str) -> Kept | None:
        """Return a run; None where there is none."""
        ...

    async def append(self, state: RunState, entry: LogEntry) -> None:
        """Keep an operation and the state after it, both or neither.

        Raises:
            StaleState: When the run has moved since.
        """
        ...


class MemoryStore:
    """Runs in the memory of this process.

    Args:
        runs: What it has from the start, such as a run that was made again from its log.
    """

    def __init__(self, runs: Iterable[Kept] = ()) -> None:
        """Take the runs."""
        self._runs = {one.state.run_id: one for one in runs}

    async def load(self, run_id: str) -> Kept | None:
        """Return a run; None where there is none."""
        return self._runs.get(run_id)

    async def append(self, state: RunState, entry: LogEntry) -> None:
        """Keep an operation and the state after it.

        Raises:
            StaleState: When the run has moved since, or is begun twice.
            UsageError: When it was not begun.
        """
        kept = self._runs.get(state.run_id)
        if kept is None and entry.seq:
            raise UsageError(f"the run {state.run_id} was not begun")
        log = () if kept is None else kept.log
        if len(log) != entry.seq:
            raise StaleState(
                f"the run {state.run_id} has {len(log)} operations and this would be number "
                f"{entry.seq}: load it again"
            )
        self._runs[state.run_id] = Kept(state, (*log, entry))
