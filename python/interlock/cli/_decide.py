"""JSON Lines through a compiled spec: streamed, in order, nothing lost."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol, Self, cast

import click

from interlock._core import Json
from interlock._wire import to_json
from interlock.cli._commands import BOM, standard_input
from interlock.errors import ConfigError, InterlockError
from interlock.tools._model_tools import decide, moment_for
from interlock.tools.lead_assign import LeadResult

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from interlock._compiled import CompiledSpec
    from interlock._wire import WireForm
    from interlock.errors import Problem

__all__ = ["pass_over"]

_LINE_LIMIT = 256 << 20
_BLOCK = 64 << 10
_SHOWN_FAULTS = 10
_LINKS = 40


class Outcome(Protocol):
    """A result that can be counted and written."""

    @property
    def outcome(self) -> str: ...
    def to_json(self) -> str: ...


def pass_over(
    compiled: CompiledSpec,
    records: str,
    output: str | None,
    *,
    explain: bool = False,
    strict: bool,
    summary: bool,
    progress: bool,
) -> int:
    """Decide every line of the records, report the bad ones, and return the exit code."""
    run = _Run(compiled, records, explain=explain, strict=strict)
    with _source(records) as lines, _destination(output, run) as out:
        run.through(lines, out, progress=progress)
    if summary:
        _print_summary(run)
    return run.exit_code()


class _Run:
    """One pass over the records: what was decided, and which lines were bad."""

    def __init__(self, compiled: CompiledSpec, name: str, *, explain: bool, strict: bool) -> None:
        """Take the compiled spec, what the records are called, and how to treat them."""
        self.counts: Counter[str] = Counter()
        self.bad: list[str] = []
        self.bad_count = 0
        self.records = 0
        self.stopped = False
        self._compiled = compiled
        self._explain = explain
        # One instant for the whole run, so that the order of records says nothing.
        self._now = moment_for(compiled)
        self._name = "standard input" if name == "-" else name
        self._strict = strict
        self._cursor: int | None = None

    def through(self, lines: IO[bytes], out: IO[bytes], *, progress: bool) -> None:
        """Decide every line and write what it gives; memory is bounded by the longest line."""
        made = _Made(out)
        with _Progress(lines, shown=progress) as bar:
            for number, line in _numbered(_told_of(lines, made.hand_on)):
                bar.advance(len(line))
                if len(line) <= _LINE_LIMIT and not line.strip():
                    continue
                made.add(self._decided(number, line))
                if self._strict and self.bad_count:
                    self.stopped = True
                    break
        made.hand_on()

    def _decided(self, number: int, line: bytes) -> str:
        self.records += 1
        try:
            if len(line) > _LINE_LIMIT:
                return self._failed(number, f"longer than the limit of {_LINE_LIMIT} bytes")
            result = cast("Outcome", self._ask(Json(line.rstrip())))
        except InterlockError as error:
            return self._failed(number, _in_line(error))
        self.counts[result.outcome] += 1
        return result.to_json()

    def _ask(self, record: Json) -> WireForm:
        result = decide(
            self._compiled,
            record,
            verbose=self._explain,
            cursor=self._cursor,
            now=self._now,
        )
        if isinstance(result, LeadResult):
            # In turn over the whole run, as one call after the other would be.
            self._cursor = result.next_cursor(self._cursor)
        return result

    def _failed(self, number: int, message: str) -> str:
        self.bad_count += 1
        self.counts["(error)"] += 1
        if len(self.bad) < _SHOWN_FAULTS:
            self.bad.append(f"{self._name}:{number}: {message}")
        return to_json({"error": message, "line": number})

    def exit_code(self) -> int:
        """Report the bad lines on standard error; 1 when there is any."""
        for fault in self.bad:
            click.echo(fault, err=True)
        if self.bad_count > len(self.bad):
            click.echo(f"... and {self.bad_count - len(self.bad)} more", err=True)
        if self.bad_count:
            plural = "" if self.bad_count == 1 else "s"
            click.echo(f"{self.bad_count} bad line{plural} of {self.records}", err=True)
        return 1 if self.bad_count else 0


class _Made:
    """What was decided: handed on in blocks, on a terminal line by line."""

    def __init__(self, out: IO[bytes]) -> None:
        """Take where it goes."""
        self._out = out
        self._most = 0 if out.isatty() else _BLOCK
        self._block = bytearray()

    def add(self, line: str) -> None:
        self._block += line.encode() + b"\n"
        if len(self._block) >= self._most:
            self.hand_on()

    def hand_on(self) -> None:
        self._out.write(self._block)
        self._out.flush()
        self._block.clear()


class _Told(io.RawIOBase):
    """A stream that says so before each time that it is read, when it may have to be waited for."""

    def __init__(self, stream: io.RawIOBase, before: Callable[[], None]) -> None:
        """Take the stream, and what is called."""
        super().__init__()
        self._stream = stream
        self._before = before

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object, /) -> int | None:
        self._before()
        return self._stream.readinto(cast("bytearray", buffer))


def _told_of(lines: IO[bytes], before: Callable[[], None]) -> IO[bytes]:
    """Have a pipe or terminal say so before it is read; a file has all that it will have."""
    raw = cast("object", getattr(lines, "raw", None))
    if not isinstance(raw, io.RawIOBase) or _is_file(lines):
        return lines
    return io.BufferedReader(_Told(raw, before), _BLOCK)


def _is_file(lines: IO[bytes]) -> bool:
    return stat.S_ISREG(os.fstat(lines.fileno()).st_mode)


def _numbered(lines: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield lines with their numbers; of an overlong one only as much as shows that it is."""
    number = 0
    while line := lines.readline(_LINE_LIMIT + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(BOM)
        yield number, line
        while len(line) > _LINE_LIMIT and not line.endswith(b"\n"):
            line = lines.readline(_LINE_LIMIT + 1)


def _in_line(error: InterlockError) -> str:
    """Say in one line all that is wrong with a line; of its place only the column is news."""
    if not isinstance(error, ConfigError):
        return str(error)
    return "; ".join(_told(problem) for problem in error.problems)


def _told(problem: Problem) -> str:
    line, colon, column = problem.field.partition(":")
    if colon and line.isdecimal():
        return f"{problem.message} (column {column})"
    shown = "" if problem.value is None else f"{problem.value}: "
    return f"{problem.field}: {shown}{problem.message}"


@contextmanager
def _source(path: str) -> Generator[IO[bytes]]:
    """Open the records."""
    if path == "-":
        yield standard_input()
        return
    with Path(path).open("rb") as lines:
        yield lines


@contextmanager
def _destination(path: str | None, run: _Run) -> Generator[IO[bytes]]:
    """Open where decisions go: a file is written beside its place and renamed when it is whole."""
    if path is None or _is_standard_output(path):
        yield sys.stdout.buffer
        return
    place = Path(path).resolve()
    if _is_open_elsewhere(path):
        # What somebody holds open must stay the file that it is; what is in it is theirs.
        with Path(path).open("ab") as out:
            yield out
        return
    if place.exists() and not place.is_file():
        # A device or a pipe is written to, never replaced.
        with place.open("wb") as out:
            yield out
        return
    beside = place.with_name(f"{place.name}.{os.getpid()}.part")
    beside.unlink(missing_ok=True)
    try:
        with open(beside, "xb", opener=_as_private_as(place)) as out:
            yield out
        if not run.stopped:
            beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)


def _is_standard_output(path: str) -> bool:
    """Say whether a path names the file that standard output goes to, as `/dev/stdout` does."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))  # noqa: PTH116
    except (OSError, ValueError):
        return False


def _is_open_elsewhere(path: str) -> bool:
    """Say whether a path leads to where names stand for files that are open."""
    step = Path(path)
    for _ in range(_LINKS):
        # The name itself may be a link to the file: only its folder is resolved.
        step = step.parent.resolve() / step.name
        if step.is_relative_to("/proc") or step.is_relative_to("/dev/fd"):
            return True
        if not step.is_symlink():
            return False
        step = step.parent / step.readlink()
    return False


def _as_private_as(place: Path) -> Callable[[str, int], int]:
    """Give an opener of new files with the permissions of the file that is there, if there is."""

    def opened(name: str, flags: int) -> int:
        try:
            mode = place.stat().st_mode & 0o777
        except FileNotFoundError:
            return os.open(name, flags, 0o666)
        # Never wider than it will be, not for a moment; the umask may have narrowed it.
        descriptor = os.open(name, flags, mode)
        Path(name).chmod(mode)
        return descriptor

    return opened


class _Progress:
    """A progress bar by bytes, only on a terminal; loads what it needs only then."""

    def __init__(self, lines: IO[bytes], *, shown: bool) -> None:
        self._bar = None
        hidden = os.environ.get("INTERLOCK_NO_PROGRESS", "") not in ("", "0")
        if shown and not hidden and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("deciding", total=_size(lines))

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, count: int) -> None:
        if self._bar is not None:
            self._bar.advance(self._task, count)


def _size(lines: IO[bytes]) -> int | None:
    try:
        return os.fstat(lines.fileno()).st_size or None
    except OSError:
        return None


def _print_summary(run: _Run) -> None:
    """Print counts per outcome on standard error, most frequent first."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("outcome", title=f"{run.records} records")
    table.add_column("records", justify="right")
    for name, count in sorted(run.counts.items(), key=lambda item: (-item[1], item[0])):
        table.add_row(Text(name), str(count))
    Console(stderr=True).print(table)
