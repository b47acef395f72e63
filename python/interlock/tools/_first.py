"""Many records answered by the first list of checks that holds: one column of positions."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Generic, NamedTuple, overload

from interlock import _core
from interlock._columns import is_arrow, read_json_columns, row_blocks
from interlock._lines import Piece, is_text, pieces
from interlock.tools._batch import BadLine, Batch, R
from interlock.tools._records import OVERLONG, iterable, read_threads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock._lines import Pieces

__all__ = ["First", "decide_first", "first_blocks"]

_UNDETERMINED = "(undetermined)"
_CHUNK = 4096
_WIDTH = 4


class First(NamedTuple, Generic[R]):
    """How the first list that holds becomes an answer."""

    rules: _core.RuleSet
    outcomes: tuple[str, ...]
    """Of each list and of none."""
    answers: tuple[R, ...]
    """Of each list and of none."""
    undetermined: Callable[[object, int], R]
    """The answer for a record whose list, by position, is undecided."""
    fresh: Callable[[R], R]
    """Makes an answer that belongs to whoever gets it."""


def decide_first(
    first: First[R], records: object, threads: object, json_columns: object
) -> Batch[R]:
    """Answer each record by the first list that holds, in whatever form they come.

    Raises:
        ConfigError: For a number of threads that is none, records of the wrong type.
        OSError: When a file or stream cannot be read.
    """
    run = _Run(first, read_threads(threads))
    json = read_json_columns(json_columns, records)
    if is_arrow(records):
        for rows in row_blocks(records, json):
            run.rows(rows)
    elif is_text(records):
        for piece in pieces(records):
            run.piece(piece)
    else:
        remaining = iter(iterable(records))
        while chunk := list(islice(remaining, _CHUNK)):
            run.objects(chunk)
    return run.batch()


def first_blocks(first: First[R], pieces: Pieces, threads: int) -> Iterator[Batch[R]]:
    """Answer the lines or rows of one piece after the other, each as a batch of its own."""
    before = 0
    for piece in pieces:
        run = _Run(first, threads, before)
        if isinstance(piece, Piece):
            run.piece(piece)
        else:
            run.rows(piece)
        yield run.batch()
        before = run.read


class _Run(Generic[R]):
    """One pass over the records."""

    def __init__(self, first: First[R], threads: int, read: int = 0) -> None:
        self.column = array("i")
        self.undetermined: dict[int, R] = {}
        self.bad: dict[int, BadLine] = {}
        self._first = first
        self._threads = threads
        self.read = read

    def piece(self, piece: Piece) -> None:
        self._overlong() if piece.overlong else self._lines(piece.text)

    def batch(self) -> Batch[R]:
        column = self.column.tobytes()
        first = self._first
        others: dict[int, R | BadLine] = {**self.undetermined, **self.bad}
        results = _Shared(column, first.answers, others, first.fresh)
        outcomes = (*first.outcomes, _UNDETERMINED, BadLine.outcome)
        lists = len(first.outcomes) - 1
        return Batch(outcomes, column, results, self.undetermined, self.bad, lists)

    def _lines(self, text: bytes) -> None:
        column, undecided, bad, count = _core.first_of_lines(self._first.rules, text, self._threads)
        for place, rule, start, end in undecided:
            self._open(place, _core.Json(text[start:end]), rule)
        for place, line, at, message in bad:
            told = BadLine(line=self.read + line, message=f"{message} (column {at})")
            self.bad[len(self.column) + place] = told
        self.read += count
        self.column.frombytes(column)

    def _overlong(self) -> None:
        self.read += 1
        self.bad[len(self.column)] = BadLine(line=self.read, message=OVERLONG)
        self.column.append(len(self._first.outcomes) + 1)

    def rows(self, rows: _core.ArrowRows) -> None:
        column, undecided, bad = _core.first_of_rows(self._first.rules, rows, self._threads)
        for place, rule in undecided:
            self._open(place, rows.record(place), rule)
        for place, message in bad:
            self.bad[len(self.column) + place] = BadLine(
                line=self.read + place + 1, message=message
            )
        self.read += len(rows)
        self.column.frombytes(column)

    def objects(self, records: list[object]) -> None:
        column, undecided = _core.first_of_many(self._first.rules, records)
        for place, rule in undecided:
            self._open(place, records[place], rule)
        self.column.frombytes(column)

    def _open(self, place: int, record: object, rule: int) -> None:
        answer = self._first.undetermined(record, rule)
        self.undetermined[len(self.column) + place] = answer


class _Shared(Sequence["R | BadLine"], Generic[R]):
    """Answers of which each outcome has one, made when they are looked at."""

    def __init__(
        self,
        column: bytes,
        answers: tuple[R, ...],
        others: dict[int, R | BadLine],
        fresh: Callable[[R], R],
    ) -> None:
        self._column = column
        self._answers = answers
        self._others = others
        self._fresh = fresh

    def __len__(self) -> int:
        return len(self._column) // _WIDTH

    @overload
    def __getitem__(self, index: int) -> R | BadLine: ...
    @overload
    def __getitem__(self, index: slice) -> list[R | BadLine]: ...
    def __getitem__(self, index: int | slice) -> R | BadLine | list[R | BadLine]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        code = memoryview(self._column).cast("i")[index]
        if code < len(self._answers):
            return self._fresh(self._answers[code])
        return self._others[index]
