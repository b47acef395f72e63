"""Types that appear in public signatures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal
    from os import PathLike

__all__ = [  # noqa: RUF022 (by code point, as every other list of names)
    "Command",
    "Instant",
    "JSON",
    "Limits",
    "Match",
    "Number",
    "Phase",
    "Policy",
    "SequenceState",
    "StallReason",
    "Strategy",
    "Verdict",
    "VoteMode",
]

JSON: TypeAlias = "dict[str, JSON] | list[JSON] | str | int | float | Decimal | bool | None"
"""A value that JSON can hold, as plain Python data."""

Number: TypeAlias = "int | float | Decimal"
"""A number; each stands for the decimal number it is written as."""

Match: TypeAlias = Literal["all", "any"]
"""How many checks of a list must hold."""

Verdict: TypeAlias = Literal["pass", "fail", "undetermined"]
"""What a list of checks says."""

Policy: TypeAlias = Literal["first", "unique", "priority", "collect"]
"""The hit policies of a decision table (DMN 1.3 section 8.2.8, a subset)."""

VoteMode: TypeAlias = Literal["exact", "numeric", "set"]
"""When two votes are one answer: equal, near enough as numbers, or alike enough as sets."""

StallReason: TypeAlias = Literal["progressing", "unchanged", "oscillating", "insufficient"]
"""What the end of a history looks like."""

Strategy: TypeAlias = Literal["first", "specific", "least_loaded", "round_robin"]
"""Which of several eligible owners is taken."""

Limits: TypeAlias = Mapping[str, int]
"""Limits to lower or raise, by name, such as `{"checks": 200}`; see `docs/limits.md`."""

Instant: TypeAlias = "int | float | Decimal | str | datetime"
"""Epoch milliseconds, ISO-8601 text with an offset, or an aware `datetime`."""

Command: TypeAlias = (
    "str | bytes | PathLike[str] | PathLike[bytes] | Sequence[str | bytes | PathLike[str]]"
)
"""A command line, the path of a program, or a list of words."""

Phase: TypeAlias = Literal["ample", "tight", "critical", "expired"]
"""How much of a time budget is left."""

SequenceState: TypeAlias = Literal["ready", "blocked", "finished", "halted"]
"""Whether a sequence can go on: now, later, or no more, with or without all of it done."""
