"""Logs of runs as files: JSON Lines, an operation a line, and where the run stands as the last."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from interlock._wire import to_json
from interlock.errors import InterlockError
from interlock.supervise import LogEntry, MemoryStore, RunState, recompute

if TYPE_CHECKING:
    from typing import BinaryIO

    from interlock.supervise import Policy

__all__ = ["LogFile", "read_log", "state_of"]


class LogFile(MemoryStore):
    """A store that writes every operation to a file before it is in force.

    Args:
        path: The file, which must not be there yet; None: nothing is written.
    """

    def __init__(self, path: str | None) -> None:
        """Open the file."""
        super().__init__()
        self._file: BinaryIO | None = None
        if path is not None:
            try:
                self._file = Path(path).open("xb")  # noqa: SIM115 (closed by `close`)
            except FileExistsError:
                message = f"{path} is there already: a log is never written over"
                raise click.UsageError(message) from None

    async def append(self, state: RunState, entry: LogEntry) -> None:
        """Write an operation, and keep it; where it cannot be written nothing happens."""
        self._write(entry.to_json())
        await super().append(state, entry)

    def close(self, state: RunState | None) -> None:
        """Write where the run stands, and close the file."""
        if self._file is None:
            return
        if state is not None:
            self._write(to_json({"state": state.to_dict()}))
        self._file.close()

    def _write(self, line: str) -> None:
        if self._file is not None:
            self._file.write(line.encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())


def read_log(path: str) -> tuple[tuple[LogEntry, ...], RunState | None]:
    """Read the log of a run, and where it stood at the end, if that was written.

    Raises:
        ClickException: For a line that is none of a log, naming it.
    """
    entries: list[LogEntry] = []
    state: RunState | None = None
    lines = Path(path).read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            if line.startswith(b'{"state":'):
                state = RunState.from_json(line.removeprefix(b'{"state":').rstrip()[:-1])
            else:
                entries.append(LogEntry.from_json(line))
        except (InterlockError, ValueError) as error:
            message = f"{path}:{number}: is no line of a log: {error}"
            raise click.ClickException(message) from None
    if not entries:
        raise click.ClickException(f"{path}: is the log of no run: it is empty")
    return tuple(entries), state


def state_of(
    path: str, entries: tuple[LogEntry, ...], kept: RunState | None, policy: Policy | None
) -> RunState:
    """Return where a run stands: made again by its policy, else as it was written.

    Raises:
        ClickException: When neither is at hand.
    """
    if policy is not None:
        return recompute(policy, entries)
    if kept is None:
        message = f"{path}: does not say where the run stands; give --policy to make it again"
        raise click.ClickException(message)
    return kept
