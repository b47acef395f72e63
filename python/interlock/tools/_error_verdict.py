"""The answers of ErrorClassify: one, and the many of a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import eq
from typing import TYPE_CHECKING, TypeAlias, overload

from interlock._wire import WireForm

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlock import _core
    from interlock.typing import JSON

__all__ = ["ErrorVerdict", "ErrorVerdicts"]

Row: TypeAlias = tuple[str, str, bool, int | None, str | None, str, str, bool, str | None]
"""What the core gives, in the order of the attributes."""


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


class _Rows:
    """Rows that stand as they are: those of a pickle."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, place: int) -> Row:
        return self._rows[place]

    def counts(self) -> list[tuple[tuple[str, str], int]]:
        return list(Counter(row[:2] for row in self._rows).items())


class ErrorVerdicts(Sequence[ErrorVerdict]):
    """The answers of a batch, in the order of its records; each is made when it is looked at.

    Equal to another with equal answers in the same order, and picklable.
    """

    __slots__ = ("_rows",)

    def __init__(self, rows: _core.ErrorRows | _Rows) -> None:
        """Take the core's rows."""
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> ErrorVerdict: ...
    @overload
    def __getitem__(self, index: slice) -> list[ErrorVerdict]: ...
    def __getitem__(self, index: int | slice) -> ErrorVerdict | list[ErrorVerdict]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError("no such answer")
        return ErrorVerdict(*self._rows.row(place))

    def __iter__(self) -> Iterator[ErrorVerdict]:
        return (ErrorVerdict(*row) for row in self._each())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ErrorVerdicts):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self._each(), other._each()))

    def __hash__(self) -> int:
        return hash(tuple(self._each()))

    def __reduce__(self) -> tuple[Callable[[list[Row]], ErrorVerdicts], tuple[list[Row]]]:
        return _restored, (list(self._each()),)

    def __repr__(self) -> str:
        return f"<ErrorVerdicts {len(self)} answers>"

    def _each(self) -> Iterator[Row]:
        return map(self._rows.row, range(len(self)))

    def counts(self) -> Counter[tuple[str, str]]:
        """Count the answers by class and action."""
        return Counter(dict(self._rows.counts()))

    def to_list(self) -> list[ErrorVerdict]:
        """Return all answers as a list."""
        return list(self)


def _restored(rows: list[Row]) -> ErrorVerdicts:
    return ErrorVerdicts(_Rows(rows))
