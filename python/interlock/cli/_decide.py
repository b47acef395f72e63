"""JSON Lines through a compiled spec: streamed, in order, nothing lost."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import IO, TYPE_CHECKING, Protocol, Self, cast

import click

from interlock._core import Json
from interlock._lines import LINE_LIMIT, pieces_of
from interlock.cli._commands import BOM, standard_input
from interlock.cli._output import Written, counted, joined
from interlock.errors import InterlockError
from interlock.tools._batch import ERROR, BadLine
from interlock.tools._model_tools import decide, moment_for
from interlock.tools._records import BLANKS, OVERLONG, what_is_wrong
from interlock.tools.lead_assign import LeadResult

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from interlock._compiled import CompiledSpec
    from interlock._lines import Piece
    from interlock._wire import WireForm
    from interlock.cli._output import Block

__all__ = ["pass_over"]

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
    threads: int = 1,
) -> int:
    """Decide every line of the records, report the bad ones, and return the exit code."""
    run = _Run(compiled, records, explain=explain, strict=strict, threads=threads)
    with _source(records) as lines, _destination(output, run) as out:
        bar = _Progress(lines, shown=progress)
        began = perf_counter()
        with bar:
            run.through(lines, out, bar)
        took = perf_counter() - began
    if summary:
        _print_summary(run)
    if summary or bar.is_shown:
        _print_rate(run.records, took)
    return run.exit_code()


class _Run:
    """One pass over the records: what was decided, and which lines were bad."""

    def __init__(
        self, compiled: CompiledSpec, name: str, *, explain: bool, strict: bool, threads: int
    ) -> None:
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
        self._threads = threads

    def through(self, lines: IO[bytes], out: IO[bytes], bar: _Progress) -> None:
        """Decide every line and write what it gives; memory is bounded by the longest line."""
        blocks = None
        if _is_file(lines) and not self._explain:
            blocks = self._compiled.answer_blocks(_told_to(bar, pieces_of(lines)), self._threads)
        if blocks is None:
            self._one_by_one(lines, out, bar)
        else:
            self._by_blocks(cast("Iterator[Block]", blocks), out)

    def _by_blocks(self, blocks: Iterator[Block], out: IO[bytes]) -> None:
        written = Written()
        for block in blocks:
            lines, counts, bad = written.lines(block), counted(block), [*block.bad.values()]
            if self._strict and bad:
                self.stopped = True
                del bad[1:], lines[1 + min(block.bad) :]
                counts = Counter(answer.outcome for answer in block[: len(lines)])
            self.records += len(lines)
            self.counts.update(counts)
            for line in bad:
                self._note(line.line, line.message)
            for piece in joined(lines):
                out.write(piece)
            out.flush()
            if self.stopped:
                return

    def _one_by_one(self, lines: IO[bytes], out: IO[bytes], bar: _Progress) -> None:
        made = _Made(out)
        for number, line in _numbered(_told_of(lines, made.hand_on)):
            bar.advance(len(line))
            if len(line) <= LINE_LIMIT and not line.strip(BLANKS):
                continue
            made.add(self._decided(number, line))
            if self._strict and self.bad_count:
                self.stopped = True
                break
        made.hand_on()

    def _decided(self, number: int, line: bytes) -> str:
        self.records += 1
        try:
            if len(line) > LINE_LIMIT:
                return self._failed(number, OVERLONG)
            result = cast("Outcome", self._ask(Json(line.rstrip(BLANKS))))
        except InterlockError as error:
            return self._failed(number, what_is_wrong(error))
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
        self.counts[ERROR] += 1
        self._note(number, message)
        return BadLine(line=number, message=message).to_json()

    def _note(self, number: int, message: str) -> None:
        self.bad_count += 1
        if len(self.bad) < _SHOWN_FAULTS:
            self.bad.append(f"{self._name}:{number}: {message}")

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
    while line := lines.readline(LINE_LIMIT + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(BOM)
        yield number, line
        while len(line) > LINE_LIMIT and not line.endswith(b"\n"):
            line = lines.readline(LINE_LIMIT + 1)


def _told_to(bar: _Progress, pieces: Iterator[Piece]) -> Iterator[Piece]:
    for piece in pieces:
        yield piece
        bar.advance(len(piece.text))


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

    @property
    def is_shown(self) -> bool:
        return self._bar is not None

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


def _print_rate(records: int, took: float) -> None:
    """Print on standard error how fast it went."""
    plural = "" if records == 1 else "s"
    rate = records / took if took > 0 else 0
    click.echo(f"{records:,} record{plural} in {took:.2f} s, {rate:,.0f} a second", err=True)
