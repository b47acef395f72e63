"""Many records in one call: answers as columns, in the order of the records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from struct import pack
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar, cast, overload

from interlock import _core
from interlock._wire import WireForm
from interlock.errors import ConfigError, Problem
from interlock.tools._lines import LINE_LIMIT, is_text, pieces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from interlock.typing import JSON

__all__ = ["BadLine", "Batch", "First", "decide_first", "read_threads"]

R = TypeVar("R", bound=WireForm)
_CHUNK = 4096
_MOST_THREADS = 256
NO_MATCH, UNDETERMINED, ERROR = "(no match)", "(undetermined)", "(error)"


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
        return ERROR

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        return {"error": self.message, "line": self.line}


class Batch(Sequence["R | BadLine"], Generic[R]):
    """The answers to many records, in their order; each is made when it is looked at.

    Attributes:
        outcomes: Every outcome that there can be, once.
        indices: For each record the position of its outcome, as 32-bit integers: a memoryview, of
            which `numpy.asarray(batch.indices)` makes an array without a copy.
        undetermined: The records that could not be decided: position and answer.
        bad: The lines of a text that are no records: position and what is wrong.

    Equal to another with equal answers in the same order, and picklable.
    """

    __slots__ = ("_answers", "_column", "_fresh", "bad", "outcomes", "undetermined")

    def __init__(
        self,
        outcomes: tuple[str, ...],
        column: bytes,
        answers: tuple[R, ...],
        undetermined: dict[int, R],
        bad: dict[int, BadLine],
        fresh: Callable[[R], R] | None = None,
    ) -> None:
        """Take the columns; `answers` are shared by all records of an outcome."""
        self.outcomes = outcomes
        self.undetermined = undetermined
        self.bad = bad
        self._column = column
        self._answers = answers
        self._fresh = fresh

    @property
    def indices(self) -> memoryview:
        """For each record the position of its outcome."""
        return memoryview(self._column).cast("i")

    def __len__(self) -> int:
        return len(self._column) // 4

    @overload
    def __getitem__(self, index: int) -> R | BadLine: ...
    @overload
    def __getitem__(self, index: slice) -> list[R | BadLine]: ...
    def __getitem__(self, index: int | slice) -> R | BadLine | list[R | BadLine]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError("no such answer")
        code = self.indices[place]
        if code < len(self._answers):
            answer = self._answers[code]
            return answer if self._fresh is None else self._fresh(answer)
        return self.bad[place] if place in self.bad else self.undetermined[place]

    def __iter__(self) -> Iterator[R | BadLine]:
        return (self[place] for place in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Batch):
            return NotImplemented
        theirs = cast("Batch[WireForm]", other)
        return len(self) == len(theirs) and all(
            one == another for one, another in zip(self, theirs, strict=True)
        )

    def __hash__(self) -> int:
        return hash((self.outcomes, self._column))

    def __repr__(self) -> str:
        return f"<Batch {len(self)} answers>"

    def counts(self) -> Counter[str]:
        """Count the answers by outcome; what never was is left out."""
        counted = Counter(self.indices.tolist())
        return Counter({self.outcomes[code]: count for code, count in counted.items()})

    def to_list(self) -> list[R | BadLine]:
        """Return all answers as a list."""
        return list(self)


class First(NamedTuple, Generic[R]):
    """How the first list that holds becomes an answer."""

    rules: _core.RuleSet
    outcomes: tuple[str, ...]
    """Of each list, of none, of an undecided one, of a bad line."""
    answers: tuple[R, ...]
    """Of each list and of none."""
    undetermined: Callable[[object, int], R]
    """The answer for a record whose list, by position, is undecided."""
    fresh: Callable[[R], R] | None = None
    """Makes an answer that belongs to whoever gets it."""


def decide_first(first: First[R], records: object, threads: object) -> Batch[R]:
    """Answer each record, or each line of a JSON Lines text or file.

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
    column = b"".join(run.columns)
    return Batch(first.outcomes, column, first.answers, run.undetermined, run.bad, first.fresh)


class _Run(Generic[R]):
    def __init__(self, first: First[R], threads: int) -> None:
        self.columns: list[bytes] = []
        self.undetermined: dict[int, R] = {}
        self.bad: dict[int, BadLine] = {}
        self._first = first
        self._threads = threads
        self._records = 0
        self._lines = 0

    def lines(self, text: bytes) -> None:
        column, undecided, bad, count = _core.first_of_lines(self._first.rules, text, self._threads)
        for place, rule, start, end in undecided:
            self._open(place, _core.Json(text[start:end]), rule)
        for place, line, at, message in bad:
            told = BadLine(line=self._lines + line, message=f"{message} (column {at})")
            self.bad[self._records + place] = told
        self._lines += count
        self._add(column)

    def overlong(self) -> None:
        self._lines += 1
        message = f"longer than the limit of {LINE_LIMIT} bytes"
        self.bad[self._records] = BadLine(line=self._lines, message=message)
        self._add(pack("i", len(self._first.outcomes) - 1))

    def objects(self, records: list[object]) -> None:
        column, undecided = _core.first_of_many(self._first.rules, records)
        for place, rule in undecided:
            self._open(place, records[place], rule)
        self._add(column)

    def _open(self, place: int, record: object, rule: int) -> None:
        self.undetermined[self._records + place] = self._first.undetermined(record, rule)

    def _add(self, column: bytes) -> None:
        self.columns.append(column)
        self._records += len(column) // 4


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
