"""What a row of a decision table has beside its conditions: priority and outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock import _core
from interlock.errors import Problem
from interlock.tools._fields import missing
from interlock.tools._numbers import is_finite

if TYPE_CHECKING:
    from interlock.typing import JSON

__all__ = ["row_problems"]


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
