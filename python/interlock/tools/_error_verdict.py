"""The answers of ErrorClassify: one, and the many of a batch."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import eq
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast, overload

from interlock._wire import WireForm
from interlock.tools._batch import BadLine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from interlock.typing import JSON

__all__ = ["ErrorVerdict", "ErrorVerdicts", "Plain"]

Row: TypeAlias = tuple[str, str, bool, int | None, str | None, str, str, bool, str | None]
"""What the core gives, in the order of the attributes."""
_SOURCE = 6


@dataclass(frozen=True, slots=True)
class ErrorVerdict(WireForm):
    """What kind of error it is, and what to do next.

    Attributes:
        error_class: One of the 19 classes (`class` in data), such as `rate_limited`.
        action: One of the 9 actions: continue retry retry_after backoff reauth reduce_input
            escalate skip fail.
        retryable: Whether the action tries again; it follows the action, never the class.
        wait_ms: How long to wait, in milliseconds; None when nobody said.
        retry_at: The instant the server named, `YYYY-MM-DDTHH:MM:SS.mmmZ`; else None.
        matched: The entry that decided, such as `status:429`, `openai/insufficient_quota`, or a
            rule's id.
        source: What kind of entry: custom pack status signal exit code message default
            undetermined.
        exhausted: Whether the attempts are spent.
        message: What the body says of the error, at most 2,000 characters; None without a body.
            Absent from data then.
    """

    error_class: str
    action: str
    retryable: bool
    wait_ms: int | None
    retry_at: str | None
    matched: str
    source: str
    exhausted: bool
    message: str | None = None

    @property
    def outcome(self) -> str:
        """A short label for counting."""
        return f"{self.error_class} / {self.action}"

    @property
    def undetermined(self) -> str | None:
        """The rule of yours that could not be judged, when it ended the search."""
        return self.matched if self.source == "undetermined" else None

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        wire: dict[str, JSON] = {
            "class": self.error_class,
            "action": self.action,
            "retryable": self.retryable,
            "waitMs": self.wait_ms,
            "retryAt": self.retry_at,
            "matched": self.matched,
            "source": self.source,
            "exhausted": self.exhausted,
        }
        return wire if self.message is None else {**wire, "message": self.message}


class _Rows(Protocol):
    """Rows by place, but for bad lines."""

    def __len__(self) -> int: ...
    def row(self, place: int, /) -> Row: ...
    def counts(self) -> list[tuple[tuple[str, str], int]]: ...


class Plain:
    """Rows that stand as they are: those of a pickle; None for a bad line."""

    def __init__(self, rows: Sequence[Row | None]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, place: int) -> Row:
        return cast("Row", self._rows[place])

    def counts(self) -> list[tuple[tuple[str, str], int]]:
        return list(Counter(row[:2] for row in self._rows if row is not None).items())


class _Parts:
    """Rows that came one part after the other."""

    def __init__(self, parts: Sequence[_Rows]) -> None:
        self._parts = parts
        self._ends = list(accumulate(map(len, parts)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def row(self, place: int) -> Row:
        part = bisect_right(self._ends, place)
        return self._parts[part].row(place - (self._ends[part - 1] if part else 0))

    def counts(self) -> list[tuple[tuple[str, str], int]]:
        counted: Counter[tuple[str, str]] = Counter()
        for part in self._parts:
            counted.update(dict(part.counts()))
        return list(counted.items())


class ErrorVerdicts(Sequence["ErrorVerdict | BadLine"]):
    """The answers of a batch, in the order of its records; each is made when it is looked at.

    Attributes:
        outcomes: Every outcome that came, in the order in which they came first.
        indices: For each record the position of its outcome, as 32-bit integers.
        undetermined: The records that could not be judged: position and answer.
        bad: The lines of a text that are no records, or are refused: position and what is wrong.

    Equal to another with equal answers in the same order, and picklable.
    """

    __slots__ = ("_rows", "_told", "bad")

    def __init__(self, rows: _Rows, bad: dict[int, BadLine] | None = None) -> None:
        """Take the rows, and the bad lines that have none."""
        self._rows = rows
        self.bad = bad or {}
        self._told: tuple[tuple[str, ...], bytes] | None = None

    @classmethod
    def joined(cls, blocks: Iterable[ErrorVerdicts]) -> ErrorVerdicts:
        """Make one of the answers to one block after the other."""
        bad: dict[int, BadLine] = {}
        parts: list[_Rows] = []
        records = 0
        for block in blocks:
            bad.update((records + place, line) for place, line in block.bad.items())
            parts.append(block._rows)  # noqa: SLF001 (of our own kind)
            records += len(block)
        return cls(_Parts(parts), bad)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> ErrorVerdict | BadLine: ...
    @overload
    def __getitem__(self, index: slice) -> list[ErrorVerdict | BadLine]: ...
    def __getitem__(
        self, index: int | slice
    ) -> ErrorVerdict | BadLine | list[ErrorVerdict | BadLine]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError("no such answer")
        return self.bad.get(place) or ErrorVerdict(*self._rows.row(place))

    def __iter__(self) -> Iterator[ErrorVerdict | BadLine]:
        return (one if isinstance(one, BadLine) else ErrorVerdict(*one) for one in self.rows())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ErrorVerdicts):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self.rows(), other.rows()))

    def __hash__(self) -> int:
        return hash(tuple(self.rows()))

    def __reduce__(self) -> tuple[Callable[..., ErrorVerdicts], tuple[object, ...]]:
        rows = [None if isinstance(one, BadLine) else one for one in self.rows()]
        return _restored, (rows, self.bad)

    def __repr__(self) -> str:
        return f"<ErrorVerdicts {len(self)} answers>"

    def rows(self) -> Iterator[Row | BadLine]:
        """Yield the fields of each answer, or its bad line."""
        for place in range(len(self)):
            yield self.bad.get(place) or self._rows.row(place)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Every outcome that came, in the order in which they came first."""
        return self._columns()[0]

    @property
    def indices(self) -> memoryview:
        """For each record the position of its outcome."""
        return memoryview(self._columns()[1]).cast("i")

    @property
    def undetermined(self) -> dict[int, ErrorVerdict]:
        """The records that could not be judged: position and answer."""
        return {
            place: ErrorVerdict(*row)
            for place, row in enumerate(self.rows())
            if not isinstance(row, BadLine) and row[_SOURCE] == "undetermined"
        }

    def _columns(self) -> tuple[tuple[str, ...], bytes]:
        if self._told is None:
            codes: dict[str, int] = {}
            column = array("i")
            for row in self.rows():
                told = row.outcome if isinstance(row, BadLine) else f"{row[0]} / {row[1]}"
                column.append(codes.setdefault(told, len(codes)))
            self._told = tuple(codes), column.tobytes()
        return self._told

    def counts(self) -> Counter[tuple[str, str]]:
        """Count the answers by class and action; bad lines have neither."""
        return Counter(dict(self._rows.counts()))

    def to_list(self) -> list[ErrorVerdict | BadLine]:
        """Return all answers as a list."""
        return list(self)


def _restored(rows: list[Row | None], bad: dict[int, BadLine] | None = None) -> ErrorVerdicts:
    return ErrorVerdicts(Plain(rows), bad)
