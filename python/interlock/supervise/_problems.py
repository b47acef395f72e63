"""Faults that documents and policies built by hand have in common."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from interlock import _core
from interlock.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["budget_problems", "certain", "unknown_key", "unknown_target"]


_PART = re.compile(r"\w+(?:\[[^\]]*\]|\.\w+)?")
_FOLLOWING = {
    "runbook/effect-undeclared",
    "runbook/endless-cycle",
    "runbook/no-terminal",
    "runbook/not-exhaustive",
    "runbook/risk-below-tools",
    "runbook/unknown-edge",
}
"""What can follow from a field that was not read elsewhere in the document."""


def certain(problems: Iterable[Problem], dropped: Sequence[str]) -> list[Problem]:
    """Keep the faults that have nothing to do with fields that were not read.

    Args:
        problems: What was found in the document without these fields.
        dropped: The fields.
    """
    parts = {found[0] for found in map(_PART.match, dropped) if found}
    if any(
        field in parts and field.startswith(("inputs", "terminals", "tools")) for field in dropped
    ):
        return []

    def is_apart(problem: Problem) -> bool:
        part = _PART.match(problem.field)
        return part is not None and part[0] not in parts

    kept = (one for one in problems if not one.is_warning and one.code not in _FOLLOWING)
    return [one for one in kept if is_apart(one)]


def unknown_target(field: str, target: str, known: Iterable[str]) -> Problem:
    """Say that no step or terminal has an id."""
    near = _core.nearest(target, list(known))
    hint = f'; did you mean "{near}"?' if near else ""
    shown = _core.preview(target)
    return Problem("runbook/unknown-target", field, shown, f"no step or terminal has this id{hint}")


def unknown_key(field: str, key: str, known: Iterable[str]) -> Problem:
    """Say that a budget is of an edge or a step that is not there."""
    near = _core.nearest(key, sorted(known))
    hint = f'; did you mean "{near}"?' if near else ""
    what = "edge" if "->" in key or "edges" in field else "step"
    message = f"there is no such {what}{hint}"
    return Problem("runbook/unknown-edge", field, _core.preview(key), message)


def budget_problems(value: object, field: str) -> list[Problem]:
    """Check a budget."""
    if type(value) is int and value >= 1:
        return []
    shown = _core.preview(value)
    return [Problem("runbook/budget", field, shown, "must be a whole number, 1 or more")]
