"""What a run of a plan has done, one line a step, so that it can be taken up again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from interlock.errors import ConfigError, StoreError
from interlock.record._data import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlock.routing._files import Files

__all__ = ["Entry", "Journal", "Standing", "damaged"]

Mark = Literal["started", "done", "failed"]
_PLACE = ("journal.jsonl",)


def damaged(name: str, why: str) -> StoreError:
    """Make the error of a file of a run that is not what it was written as."""
    return StoreError(f"{name}: is damaged: {why}; restore it, or take a new run")


@dataclass(frozen=True, slots=True)
class Entry(Record):
    """One line: what became of a visit of a step, and the step after it."""

    event: Mark
    step: str
    visit: int
    next: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a run stands.

    Attributes:
        next_step: The step to go on with; None at the beginning.
        in_doubt: Whether that one was begun, and nobody knows how it ended.
        done: How often each step was done.
    """

    next_step: str | None
    in_doubt: bool
    done: dict[str, int]


class Journal:
    """The journal of a run."""

    def __init__(self, files: Files, root: str) -> None:
        """Take the folder of the run."""
        self._files, self._root = files, root

    def entries(self) -> list[Entry]:
        """Return all lines that are whole.

        Raises:
            StoreError: When one is damaged.
        """
        content = self._files.read(self._root, _PLACE) or b""
        whole = content[: content.rfind(b"\n") + 1]
        try:
            return [Entry.from_json(line) for line in whole.splitlines() if line.strip()]
        except ConfigError as error:
            raise damaged(_PLACE[0], str(error)) from None

    def note(self, entry: Entry) -> None:
        """Add a line; it is on the disk when this returns."""
        self._files.append(self._root, _PLACE, entry.to_json().encode())

    def standing(self) -> Standing:
        """Say where the run stands."""
        return standing_of(self.entries())


def standing_of(entries: Sequence[Entry]) -> Standing:
    """Say where a run stands after some lines."""
    done: dict[str, int] = {}
    for entry in entries:
        if entry.event == "done":
            done[entry.step] = done.get(entry.step, 0) + 1
    if not entries:
        return Standing(None, in_doubt=False, done=done)
    last = entries[-1]
    if last.event == "done":
        return Standing(last.next, in_doubt=False, done=done)
    return Standing(last.step, in_doubt=last.event == "started", done=done)
