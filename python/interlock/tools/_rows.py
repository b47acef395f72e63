"""What a row of a decision table has beside its conditions: name, priority and outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock import _core
from interlock.errors import Problem
from interlock.tools._fields import missing
from interlock.tools._numbers import is_finite

if TYPE_CHECKING:
    from interlock.typing import JSON

__all__ = ["Together", "row_problems"]

_KEPT = 256
"""How many sets of rows are kept at most,"""
_MARKS = 128
"""and of how many bytes, with a bit for each row."""


class Together(dict[bytes, "tuple[tuple[str, ...], tuple[JSON, ...]]"]):
    """By marks, the names and outputs of the rows that hold together.

    The same rows often do, so that the first ones are kept.
    """

    __slots__ = ("_names", "_outputs")

    def __init__(self, names: tuple[str, ...], outputs: tuple[JSON, ...]) -> None:
        """Take names and outputs of all rows."""
        super().__init__()
        self._names = names
        self._outputs = outputs

    def __missing__(self, marks: bytes) -> tuple[tuple[str, ...], tuple[JSON, ...]]:
        """Make those of other rows."""
        made = _core.marked(self._names, marks), _core.marked(self._outputs, marks)
        if len(self) < _KEPT and len(marks) <= _MARKS:
            self[marks] = made
        return made


def row_problems(rows: JSON) -> list[Problem]:
    """Check what a row has beside its conditions; what is no row at all is told elsewhere."""
    problems: list[Problem] = []
    for index, row in enumerate(rows if isinstance(rows, list) else ()):
        if not isinstance(row, dict):
            continue
        if "outputs" not in row:
            what = "what the row decides (any JSON value)"
            problems.append(missing(f"rows[{index}].outputs", what))
        priority = row.get("priority", 0)
        if not is_finite(priority):
            shown = _core.preview(priority)
            field = f"rows[{index}].priority"
            problems.append(Problem("spec/wrong-type", field, shown, "must be a finite number"))
    return problems
