"""Logs of runs as files: JSON Lines, an operation a line, and where the run stands as the last."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from interlock._wire import to_json
from interlock.errors import InterlockError, StaleState
from interlock.supervise import Kept, LogEntry, MemoryStore, RunState, recompute, verify_run

if TYPE_CHECKING:
    from typing import IO

    from interlock.supervise import Policy

__all__ = ["Log", "LogFile", "fault_of", "read_log", "state_of", "unfinished"]


class Log(NamedTuple):
    """What a file says of a run.

    Attributes:
        entries: Every operation.
        state: Where it stood at the end; None where that was not written.
        end: How many bytes the operations take.
        size: How many the file has.
    """

    entries: tuple[LogEntry, ...]
    state: RunState | None
    end: int
    size: int


class LogFile(MemoryStore):
    """A store that writes every operation to a file before it is in force.

    Args:
        path: The file, which must not be there yet; None: nothing is written.
        log: What is in the file by now, of a run that goes on.
    """

    def __init__(self, path: str | None, log: Log | None = None) -> None:
        """Open the file; nothing is changed in it before there is something to write."""
        super().__init__(
            () if log is None or log.state is None else (Kept(log.state, log.entries),)
        )
        self._end, self._size = (0, 0) if log is None else (log.end, log.size)
        self._file: IO[bytes] | None = None
        if path is not None:
            try:
                mode = "xb" if log is None else "r+b"
                self._file = Path(path).open(mode, buffering=0)  # noqa: SIM115 (closed by `close`)
            except FileExistsError:
                message = f"{path} is there already: a log is never written over; --resume goes on"
                raise click.UsageError(message) from None

    async def append(self, state: RunState, entry: LogEntry) -> None:
        """Write an operation, and keep it; where it cannot be written nothing happens."""
        self._write(entry.to_json())
        await super().append(state, entry)

    def close(self, state: RunState | None) -> None:
        """Write where the run stands, and close the file; one without a run is removed."""
        if self._file is None:
            return
        with self._file:
            if state is not None:
                self._write(to_json({"state": state.to_dict()}))
        if not self._size:
            Path(self._file.name).unlink()

    def _write(self, line: str) -> None:
        """Write a line after the last operation, as long as the file is as it was left."""
        if self._file is None:
            return
        if os.fstat(self._file.fileno()).st_size != self._size:
            raise StaleState(
                f"{self._file.name} is not as it was left: another process goes on with it, or it "
                "could not be written whole; leave here, and go on with --resume"
            )
        data = line.encode() + b"\n"
        self._file.truncate(self._end)
        self._file.seek(self._end)
        self._size = self._end
        if self._file.write(data) != len(data):
            raise OSError(f"{self._file.name} could not be written whole")
        os.fsync(self._file.fileno())
        self._end = self._size = self._end + len(data)


def read_log(path: str, *, may_be_cut: bool = False) -> Log:
    """Read the log of a run.

    Args:
        path: The file.
        may_be_cut: Whether a last line without its end is passed over: who wrote it was
            interrupted, and its operation never was in force.

    Raises:
        ClickException: For a line that is none of a log, naming it.
    """
    entries: list[LogEntry] = []
    state: RunState | None = None
    raw = Path(path).read_bytes()
    *lines, rest = raw.split(b"\n")
    at = end = 0
    for number, line in enumerate([*lines, b"" if may_be_cut else rest], start=1):
        at += len(line) + 1
        if not line.strip():
            continue
        try:
            if line.startswith(b'{"state":'):
                state = RunState.from_json(line.removeprefix(b'{"state":').rstrip()[:-1])
            else:
                entries.append(LogEntry.from_json(line))
                end = at
        except (InterlockError, ValueError) as error:
            message = f"{path}:{number}: is no line of a log: {error}"
            raise click.ClickException(message) from None
    if not entries:
        raise click.ClickException(f"{path}: is the log of no run: it is empty")
    return Log(tuple(entries), state, end, len(raw))


def fault_of(policy: Policy | None, log: Log) -> str:
    """Say what is wrong with a log; nothing when the run, made again, comes to what it says.

    Without a policy no run is made again.
    """
    checked = None if policy is None else verify_run(policy, log.entries)
    if checked is not None and not checked.ok:
        return f"entry {checked.first_bad}: {checked.reason}"
    if log.state is not None and log.state.digest() != log.entries[-1].digest:
        return "the run does not stand where the last line says"
    return ""


def unfinished(path: str, policy: Policy) -> Log:
    """Read the log of a run that goes on, with the state that it comes to.

    Raises:
        ClickException: When it is no log, or not one of a run of this runbook.
    """
    log = read_log(path, may_be_cut=True)
    fault = fault_of(policy, log)
    if fault:
        message = f"{path}: {fault}: this runbook does not make the run again, so it cannot go on"
        raise click.ClickException(message)
    return log._replace(state=recompute(policy, log.entries))


def state_of(path: str, log: Log, policy: Policy | None) -> RunState:
    """Return where a run stands: made again by its policy, else as it was written.

    Raises:
        ClickException: When neither is at hand.
    """
    if policy is not None:
        return recompute(policy, log.entries)
    if log.state is None:
        message = f"{path}: does not say where the run stands; give --policy to make it again"
        raise click.ClickException(message)
    return log.state
