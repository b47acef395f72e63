"""Many records in one call: answers as columns, in the order of the records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from operator import eq
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar, cast, overload

from interlock._wire import WireForm

if TYPE_CHECKING:
    from interlock.typing import JSON

__all__ = ["Answer", "BadLine", "Batch", "R"]


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

    outcome: ClassVar[str] = "(error)"
    """A short label for counting."""

    line: int
    message: str

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
        # Equal answers may stand at other positions among other outcomes.
        return hash(tuple(map(self.outcomes.__getitem__, self.indices)))

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
