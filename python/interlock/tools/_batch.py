"""Many records in one call: answers as columns, in the order of the records."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from operator import eq
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar, cast, overload

from interlock import _core
from interlock._wire import WireForm

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


class Batch(Generic[R]):
    """The answers to many records, in their order: read as a list is, and handed over as columns.

    No `Sequence`: what takes both would take it for a list of objects.

    Attributes:
        outcomes: Every outcome that there can be.
        indices: For each record the position of its outcome, as 32-bit integers: a memoryview, of
            which `numpy.asarray(batch.indices)` makes an array without a copy.
        undetermined: The records that could not be decided: position and answer.
        bad: The lines of a text that are no records: position and what is wrong.

    Equal to another, and to a list, with equal answers in the same order; picklable.
    """

    __slots__ = ("_column", "_lists", "_results", "bad", "outcomes", "undetermined")

    def __init__(
        self,
        outcomes: tuple[str, ...],
        column: bytes,
        results: Sequence[R | BadLine],
        undetermined: dict[int, R],
        bad: dict[int, BadLine],
        lists: int = 0,
    ) -> None:
        """Take the columns, and the answers as a sequence that may make them.

        The first `lists` outcomes are those of arms or rows, in their order.
        """
        self.outcomes = outcomes
        self.undetermined = undetermined
        self.bad = bad
        self._column = column
        self._results = results
        self._lists = lists

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

    def __iter__(self) -> Iterator[R | BadLine]:
        return iter(self._results)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Batch, list)):
            return NotImplemented
        theirs = cast("list[object]", other)
        return len(self) == len(theirs) and all(map(eq, self, theirs))

    def __hash__(self) -> int:
        # Equal answers may stand at other positions among other outcomes.
        return hash(tuple(map(self.outcomes.__getitem__, self.indices)))

    def __repr__(self) -> str:
        return f"<Batch {len(self)} answers>"

    def index(self, answer: object) -> int:
        """Return the first position of an answer.

        Raises:
            ValueError: When it is none of them.
        """
        for place, one in enumerate(self):
            if one == answer:
                return place
        raise ValueError("no such answer")

    def count(self, answer: object) -> int:
        """Count the answers that are equal to one."""
        return sum(one == answer for one in self)

    def counts(self) -> Counter[str]:
        """Count the answers by outcome; what never was is left out."""
        counted: Counter[str] = Counter()
        for code, count in Counter(self.indices.tolist()).items():
            counted[self.outcomes[code]] += count
        return counted

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Hand the answers over as Arrow columns; see `docs/arrow.md`."""
        del requested_schema  # there is one form
        return self._answers().array()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand them over as a stream of one batch."""
        del requested_schema
        return self._answers().stream()

    def _answers(self) -> _core.ArrowAnswers:
        undetermined = {place: told(answer) for place, answer in self.undetermined.items()}
        errors = {place: line.message for place, line in self.bad.items()}
        names = [written(name) for name in self.outcomes]
        return _core.ArrowAnswers(self._column, names, self._lists, undetermined, errors)

    def to_list(self) -> list[R | BadLine]:
        """Return all answers as a list."""
        return list(self)


def told(answer: Answer) -> str:
    """Say in one text why an answer is undetermined."""
    why = answer.undetermined
    if isinstance(why, str):
        return written(why)
    conflict = getattr(answer, "conflict", None)
    if isinstance(conflict, str):
        return written(conflict)
    return written("; ".join(map(_one, cast("Sequence[object]", why))))


def _one(reason: object) -> str:
    place, why = getattr(reason, "id", None), getattr(reason, "reason", None)
    return f"{place}: {why}" if isinstance(place, str) and isinstance(why, str) else str(reason)


def written(text: str) -> str:
    """Write half of a surrogate pair, which UTF-8 has not, as its escape."""
    return text.encode("utf-8", "backslashreplace").decode()
