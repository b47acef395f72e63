"""Many records in one call: answers as columns, in the order of the records."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import eq
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar, cast, overload

from interlock import _core
from interlock._lines import LINE_LIMIT, is_text, pieces
from interlock._wire import WireForm
from interlock.errors import ConfigError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from interlock.typing import JSON

__all__ = [
    "BadLine",
    "Batch",
    "First",
    "decide_each",
    "decide_first",
    "read_each",
    "read_threads",
]

_UNDETERMINED, _ERROR = "(undetermined)", "(error)"
_CHUNK = 4096
_MOST_THREADS = 256
_WIDTH = 4
_OVERLONG = f"longer than the limit of {LINE_LIMIT} bytes"


class Answer(Protocol):
    """What every answer has."""

    @property
    def outcome(self) -> str: ...
    @property
    def undetermined(self) -> object: ...


R = TypeVar("R", bound=Answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine(WireForm):
    """A line that is no record.

    Attributes:
        line: Its number in the text, from 1.
        message: What is wrong with it.
    """

    line: int
    message: str

    @property
    def outcome(self) -> str:
        """A short label for counting."""
        return _ERROR

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        return {"error": self.message, "line": self.line}


class Batch(Sequence["R | BadLine"], Generic[R]):
    """The answers to many records, in their order.

    Attributes:
        outcomes: Every outcome that there can be.
        indices: For each record the position of its outcome, as 32-bit integers: a memoryview, of
            which `numpy.asarray(batch.indices)` makes an array without a copy.
        undetermined: The records that could not be decided: position and answer.
        bad: The lines of a text that are no records: position and what is wrong.

    Equal to another, and to a list, with equal answers in the same order; picklable.
    """

    __slots__ = ("_column", "_results", "bad", "outcomes", "undetermined")

    def __init__(
        self,
        outcomes: tuple[str, ...],
        column: bytes,
        results: Sequence[R | BadLine],
        undetermined: dict[int, R],
        bad: dict[int, BadLine],
    ) -> None:
        """Take the columns, and the answers as a sequence that may make them."""
        self.outcomes = outcomes
        self.undetermined = undetermined
        self.bad = bad
        self._column = column
        self._results = results

    @property
    def indices(self) -> memoryview:
        """For each record the position of its outcome."""
        return memoryview(self._column).cast("i")

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, index: int) -> R | BadLine: ...
    @overload
    def __getitem__(self, index: slice) -> list[R | BadLine]: ...
    def __getitem__(self, index: int | slice) -> R | BadLine | list[R | BadLine]:
        if isinstance(index, slice):
            return [self._results[place] for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError("no such answer")
        return self._results[place]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Batch, list)):
            return NotImplemented
        theirs = cast("Sequence[object]", other)
        return len(self) == len(theirs) and all(map(eq, self, theirs))

    def __hash__(self) -> int:
        return hash(self._column)

    def __repr__(self) -> str:
        return f"<Batch {len(self)} answers>"

    def counts(self) -> Counter[str]:
        """Count the answers by outcome; what never was is left out."""
        counted: Counter[str] = Counter()
        for code, count in Counter(self.indices.tolist()).items():
            counted[self.outcomes[code]] += count
        return counted

    def to_list(self) -> list[R | BadLine]:
        """Return all answers as a list."""
        return list(self)


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


def decide_first(first: First[R], records: object, threads: object) -> Batch[R]:
    """Answer each record, or each line of a JSON Lines text or file, by the first list that holds.

    Raises:
        ConfigError: For a number of threads that is none, records of the wrong type.
        OSError: When the file cannot be read.
    """
    run = _Run(first, read_threads(threads))
    if is_text(records):
        for piece in pieces(records):
            run.overlong() if piece.overlong else run.lines(piece.text)
    else:
        remaining = iter(_iterable(records))
        while chunk := list(islice(remaining, _CHUNK)):
            run.objects(chunk)
    column = run.column.tobytes()
    results = _Shared(column, first.answers, {**run.undetermined, **run.bad}, first.fresh)
    outcomes = (*first.outcomes, _UNDETERMINED, _ERROR)
    return Batch(outcomes, column, results, run.undetermined, run.bad)


def decide_each(ask: Callable[[object], R], records: object, threads: object) -> Batch[R]:
    """Answer each record, or each line of a JSON Lines text or file, one at a time.

    Raises:
        ConfigError: As `decide_first`.
        OSError: When the file cannot be read.
    """
    read_threads(threads)
    codes: dict[str, int] = {}
    column = array("i")
    results: list[R | BadLine] = []
    undetermined: dict[int, R] = {}
    bad: dict[int, BadLine] = {}
    for place, record in enumerate(read_each(records)):
        result = record if isinstance(record, BadLine) else ask(record)
        if isinstance(result, BadLine):
            bad[place] = result
        elif result.undetermined:
            undetermined[place] = result
        results.append(result)
        column.append(codes.setdefault(result.outcome, len(codes)))
    return Batch(tuple(codes), column.tobytes(), results, undetermined, bad)


def read_each(records: object) -> Iterator[object]:
    """Give each record; of a JSON Lines text or file as `Json`, or as a bad line.

    Raises:
        ConfigError: For records of the wrong type.
        OSError: When the file cannot be read.
    """
    if not is_text(records):
        yield from _iterable(records)
        return
    before = 0
    for piece in pieces(records):
        if piece.overlong:
            before += 1
            yield BadLine(line=before, message=_OVERLONG)
            continue
        lines = piece.text.split(b"\n")
        for number, line in enumerate(lines, before + 1):
            if line.strip(b" \t\r"):
                yield _read_line(line, number)
        before += len(lines) - 1


def _read_line(line: bytes, number: int) -> _core.Json | BadLine:
    try:
        return _core.Json(line)
    except ConfigError as error:
        (problem,) = error.problems
        column = problem.field.partition(":")[2]
        return BadLine(line=number, message=f"{problem.message} (column {column})")


class _Run(Generic[R]):
    """One pass over the records."""

    def __init__(self, first: First[R], threads: int) -> None:
        self.column = array("i")
        self.undetermined: dict[int, R] = {}
        self.bad: dict[int, BadLine] = {}
        self._first = first
        self._threads = threads
        self._lines = 0

    def lines(self, text: bytes) -> None:
        column, undecided, bad, count = _core.first_of_lines(self._first.rules, text, self._threads)
        for place, rule, start, end in undecided:
            self._open(place, _core.Json(text[start:end]), rule)
        for place, line, at, message in bad:
            told = BadLine(line=self._lines + line, message=f"{message} (column {at})")
            self.bad[len(self.column) + place] = told
        self._lines += count
        self.column.frombytes(column)

    def overlong(self) -> None:
        self._lines += 1
        self.bad[len(self.column)] = BadLine(line=self._lines, message=_OVERLONG)
        self.column.append(len(self._first.outcomes) + 1)

    def objects(self, records: list[object]) -> None:
        column, undecided = _core.first_of_many(self._first.rules, records)
        for place, rule in undecided:
            self._open(place, records[place], rule)
        self.column.frombytes(column)

    def _open(self, place: int, record: object, rule: int) -> None:
        answer = self._first.undetermined(record, rule)
        self.undetermined[len(self.column) + place] = answer


def _iterable(records: object) -> Iterable[object]:
    try:
        return iter(cast("Iterable[object]", records))
    except TypeError:
        message = "must be records, or JSON Lines as bytes or as the path of a file"
        problem = Problem("spec/wrong-type", "records", _core.preview(records), message)
        raise ConfigError((problem,)) from None


def read_threads(threads: object) -> int:
    """Read a number of threads; None is one.

    Raises:
        ConfigError: When it is no whole number of at least 1.
    """
    if threads is None:
        return 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        message = "must be a whole number of at least 1"
        problem = Problem("spec/wrong-type", "threads", _core.preview(threads), message)
        raise ConfigError((problem,))
    return min(threads, _MOST_THREADS)
