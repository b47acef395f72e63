"""What a decision table has beside its conditions: policy, version, priorities, outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from interlock import _core
from interlock.errors import Problem
from interlock.tools._numbers import exact_number

if TYPE_CHECKING:
    from decimal import Decimal

    from interlock.typing import JSON

__all__ = ["ABSENT", "policy_problems", "rank", "row_problems", "version_problems"]

_POLICIES = ("first", "unique", "priority", "collect")
ABSENT = object()
"""Stands for a policy that was not given."""


def policy_problems(policy: object) -> list[Problem]:
    """Check a hit policy."""
    if policy is ABSENT:
        message = f"is required: one of {', '.join(_POLICIES)}"
        return [Problem("spec/missing-field", "policy", None, message)]
    if isinstance(policy, str) and policy in _POLICIES:
        return []
    near = _core.nearest(policy, list(_POLICIES)) if isinstance(policy, str) else None
    hint = f'; did you mean "{near}"?' if near else ""
    message = f"must be one of {', '.join(_POLICIES)}{hint}"
    return [Problem("spec/unknown-choice", "policy", _core.preview(policy), message)]


def version_problems(version: object) -> list[Problem]:
    """Check a version."""
    if version is None or isinstance(version, str):
        return []
    shown = _core.preview(version)
    return [Problem("spec/wrong-type", "version", shown, "must be a string; quote it")]


def row_problems(rows: JSON) -> list[Problem]:
    """Check what a row has beside its conditions; what is no row at all is told elsewhere."""
    problems: list[Problem] = []
    for index, row in enumerate(rows if isinstance(rows, list) else ()):
        if not isinstance(row, dict):
            continue
        if "outputs" not in row:
            message = "is required: what the row decides (any JSON value)"
            problems.append(Problem("spec/missing-field", f"rows[{index}].outputs", None, message))
        priority = row.get("priority", 0)
        if exact_number(priority) is None:
            shown = _core.preview(priority)
            field = f"rows[{index}].priority"
            problems.append(Problem("spec/wrong-type", field, shown, "must be a finite number"))
    return problems


def rank(priority: JSON) -> Decimal:
    """Give a priority as the decimal number it is written as: a float is its shortest text."""
    return cast("Decimal", exact_number(priority))
