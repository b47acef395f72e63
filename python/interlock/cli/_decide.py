"""JSON Lines, or rows of columns, through a compiled spec: streamed, in order, nothing lost."""

from __future__ import annotations

import io
import os
import stat
from collections import Counter
from functools import partial
from itertools import count
from time import perf_counter
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeAlias, cast

import click

from interlock._columns import row_blocks
from interlock._core import Json
from interlock._lines import LINE_LIMIT, pieces_of
from interlock.cli._commands import BOM
from interlock.cli._files import destination, source
from interlock.cli._progress import Progress, print_rate, print_summary, size_of
from interlock.cli._tables import Table, is_table, table
from interlock.errors import InterlockError
from interlock.tools._batch import BadLine
from interlock.tools._model_tools import decide, moment_for
from interlock.tools._output import Written, counted, joined
from interlock.tools._records import BLANKS, OVERLONG, what_is_wrong
from interlock.tools.lead_assign import LeadResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Unpack

    from interlock import _core
    from interlock._compiled import CompiledSpec
    from interlock._lines import Piece
    from interlock._wire import WireForm
    from interlock.cli._commands import Options
    from interlock.tools._output import Block

__all__ = ["pass_over"]

_Reading: TypeAlias = "Callable[[], object]"
"""Reads a record, or gives a `str` that says what is wrong with it."""
_BLOCK = 64 << 10
_SHOWN_FAULTS = 10


class Outcome(Protocol):
    """A result that can be counted and written."""

    @property
    def outcome(self) -> str: ...
    def to_json(self) -> str: ...


def pass_over(
    compiled: CompiledSpec, records: str, *, explain: bool = False, **options: Unpack[Options]
) -> int:
    """Decide every line of the records, report the bad ones, and return the exit code."""
    json_columns = [*options["json_column"]]
    if json_columns and not is_table(records):
        raise click.UsageError("--json-column is for a file of columns, such as records.parquet.")
    run = _Run(
        compiled, records, explain=explain, strict=options["strict"], threads=options["threads"]
    )
    opened = table(records) if is_table(records) else source(records)
    with opened as given, destination(options["output"], lambda: not run.stopped) as out:
        total = given.rows if isinstance(given, Table) else size_of(given)
        bar = Progress(total, shown=not options["no_progress"])
        began = perf_counter()
        with bar:
            if isinstance(given, Table):
                run.over(_rows_told_to(bar, given.batches, json_columns), out)
            else:
                run.through(given, out, bar)
        took = perf_counter() - began
    if options["summary"]:
        print_summary(run.records, run.counts)
    if options["summary"] or bar.is_shown:
        print_rate(run.records, took)
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

    def through(self, lines: IO[bytes], out: IO[bytes], bar: Progress) -> None:
        """Decide every line and write what it gives; memory is bounded by the longest line."""
        blocks = None
        if _is_file(lines) and not self._explain:
            blocks = self._compiled.answer_blocks(_told_to(bar, pieces_of(lines)), self._threads)
        if blocks is None:
            made = _Made(out)
            self._one_by_one(_lines_read(_told_of(lines, made.hand_on), bar), made)
        else:
            self._by_blocks(cast("Iterator[Block]", blocks), out)

    def over(self, blocks: Iterator[_core.ArrowRows], out: IO[bytes]) -> None:
        """Decide every row of columns; memory is bounded by the largest batch."""
        answered = None
        if not self._explain:
            answered = self._compiled.answer_blocks(blocks, self._threads)
        if answered is None:
            self._one_by_one(_rows_read(self._compiled, blocks), _Made(out))
        else:
            self._by_blocks(cast("Iterator[Block]", answered), out)

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

    def _one_by_one(self, records: Iterator[tuple[int, _Reading]], made: _Made) -> None:
        for number, reading in records:
            made.add(self._decided(number, reading))
            if self._strict and self.bad_count:
                self.stopped = True
                break
        made.hand_on()

    def _decided(self, number: int, reading: _Reading) -> str:
        self.records += 1
        try:
            record = reading()
            if isinstance(record, str):
                return self._failed(number, record)
            result = cast("Outcome", self._ask(record))
        except InterlockError as error:
            return self._failed(number, what_is_wrong(error))
        self.counts[result.outcome] += 1
        return result.to_json()

    def _ask(self, record: object) -> WireForm:
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
        self.counts[BadLine.outcome] += 1
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


def _lines_read(lines: IO[bytes], bar: Progress) -> Iterator[tuple[int, _Reading]]:
    for number, line in _numbered(lines):
        bar.advance(len(line))
        if len(line) > LINE_LIMIT or line.strip(BLANKS):
            yield number, partial(_line_read, line)


def _line_read(line: bytes) -> Json | str:
    return OVERLONG if len(line) > LINE_LIMIT else Json(line.rstrip(BLANKS))


def _rows_read(
    compiled: CompiledSpec, blocks: Iterator[_core.ArrowRows]
) -> Iterator[tuple[int, _Reading]]:
    numbers = count(1)
    for rows in blocks:
        compiled.check_rows(rows)
        for place in range(len(rows)):
            yield next(numbers), partial(rows.record, place)


def _rows_told_to(
    bar: Progress, batches: Iterable[Any], json_columns: list[str]
) -> Iterator[_core.ArrowRows]:
    for batch in batches:
        for rows in row_blocks(batch, json_columns):
            yield rows
            bar.advance(len(rows))


def _told_to(bar: Progress, pieces: Iterator[Piece]) -> Iterator[Piece]:
    for piece in pieces:
        yield piece
        bar.advance(len(piece.text))
