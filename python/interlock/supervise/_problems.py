"""Faults that documents and policies built by hand have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock import _core
from interlock.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["budget_problems", "unknown_key", "unknown_target"]


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
