"""What a pattern became, for a person who wonders what it means here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock._wire import WireForm

if TYPE_CHECKING:
    from typing import Literal

    from interlock.typing import JSON

__all__ = ["PatternExplanation", "PatternNote"]


@dataclass(frozen=True, slots=True)
class PatternNote(WireForm):
    """What there is to say of a part of a pattern.

    Attributes:
        start: Characters of the source before the part.
        end: Characters of the source up to its end.
        part: The part itself.
        is_hint: Whether something else was probably meant; else it says how the part is read.
        text: One line.
    """

    start: int
    end: int
    part: str
    is_hint: bool
    text: str

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        return {
            "start": self.start,
            "end": self.end,
            "part": self.part,
            "isHint": self.is_hint,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class PatternExplanation(WireForm):
    """How a pattern is run, and how its parts are read.

    Attributes:
        source: The pattern as it was given.
        flags: The flags as they were given.
        engine: `plain`, or `guarded` for what asks about places: lookaround, `^` and `$` with the
            flag `m`, borders of words with `iu`, and a pattern too large for the other.
        states: States of the guarded engine; None of the plain one.
        memory: Bytes of the compiled form, as the limit `patternBytes` counts them.
        lookarounds: Lookarounds in the source.
        notes: What there is to say of its parts, in their order.
    """

    source: str
    flags: str
    engine: Literal["plain", "guarded"]
    states: int | None
    memory: int
    lookarounds: int
    notes: tuple[PatternNote, ...]

    @property
    def hints(self) -> tuple[PatternNote, ...]:
        """The notes on parts that were probably meant otherwise."""
        return tuple(note for note in self.notes if note.is_hint)

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        return {
            "source": self.source,
            "flags": self.flags,
            "engine": self.engine,
            "states": self.states,
            "memory": self.memory,
            "lookarounds": self.lookarounds,
            "notes": [note.to_dict() for note in self.notes],
        }
