"""What an owner of a roster has beside the conditions: load, capacity, availability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

from interlock import _core
from interlock._compiled import plain_problems, unknown_fields
from interlock._wire import WireForm
from interlock.errors import Problem
from interlock.tools._fields import ABSENT, text_problems, truth_problems
from interlock.tools._numbers import exact, number_problems, whole_problems

if TYPE_CHECKING:
    from decimal import Decimal

    from interlock.typing import JSON, Strategy

__all__ = [
    "ConsideredOwner",
    "Standing",
    "cursor_problems",
    "owner_problems",
    "read_fallback",
    "standing",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsideredOwner(WireForm):
    """How one owner fared.

    Attributes:
        id: The owner's id.
        eligible: Whether the owner may be taken; None when that cannot be told, because a fact is
            missing or a condition could not be decided.
        reason: Why not; empty for an eligible owner.
        matched: How many of the owner's checks hold.
    """

    id: str
    eligible: bool | None
    reason: str
    matched: int

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        return {
            "id": self.id,
            "eligible": self.eligible,
            "reason": self.reason,
            "matched": self.matched,
        }


class Standing(NamedTuple):
    """How an owner stands whose conditions hold.

    Attributes:
        eligible: Whether the owner may be taken; None when a fact is missing.
        reason: Why not, naming the owner; empty for an eligible one.
        load: The load; 0 when there is none.
    """

    eligible: bool | None
    reason: str
    load: Decimal


def standing(owner: dict[str, JSON], strategy: Strategy) -> Standing:
    """Judge what the roster says of an owner: away, a fact missing, full, or eligible."""
    named = _core.preview(owner["id"])
    load = exact(owner.get("load", 0))
    capacity = owner.get("capacity")
    if owner.get("available") is False:
        return Standing(False, f"{named} is not available", load)
    if "load" not in owner and capacity is not None:
        shown = _core.preview(capacity)
        return Standing(None, f"{named} has a capacity of {shown} and no load", load)
    if "load" not in owner and strategy == "least_loaded":
        return Standing(None, f"{named} has no load", load)
    if capacity is not None and load >= exact(capacity):
        shown = f"load {_core.preview(owner['load'])}, capacity {_core.preview(capacity)}"
        return Standing(False, f"{named} is full: {shown}", load)
    return Standing(True, "", load)


def owner_problems(owners: JSON) -> list[Problem]:
    """Check what an owner has beside conditions; what is no owner at all is told elsewhere."""
    problems: list[Problem] = []
    for index, owner in enumerate(owners if isinstance(owners, list) else ()):
        if not isinstance(owner, dict):
            continue
        for name in ("load", "capacity"):
            problems += number_problems(owner.get(name, 0), f"owners[{index}].{name}", least=0)
        problems += truth_problems(owner.get("available", True), f"owners[{index}].available")
    return problems


def read_fallback(fallback: object) -> tuple[str | None, list[Problem]]:
    """Read `{id}`; None is the same as leaving it out."""
    if fallback is None:
        return None, []
    plain, problems = plain_problems(fallback, "fallback")
    if problems:
        return None, list(problems)
    if not isinstance(plain, dict):
        message = "must be a mapping with id"
        shown = _core.preview(fallback)
        return None, [Problem("spec/wrong-type", "fallback", shown, message)]
    found = unknown_fields(plain, ("id",), "fallback.")
    found += text_problems(plain.get("id", ABSENT), "fallback.id")
    return cast("str", plain.get("id")), found


def cursor_problems(cursor: object) -> list[Problem]:
    """Check a cursor."""
    return [] if cursor is None else whole_problems(cursor, "cursor", least=0)
