"""Ids that become names of folders and files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from interlock import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

__all__ = ["END", "EVIDENCE", "FIELDS", "SELECTION", "hint", "id_fault", "reference_fault", "some"]

SELECTION = "route_selection.json"
"""The file in which a step, or the caller, writes its choice."""
EVIDENCE = "route_evidence.json"
"""The file in which a router writes what it took."""
FIELDS = ("select_route", "route_id", "selected_route_id")
"""The field of a choice, and its aliases, in the order in which they are looked at."""
END = "end"
"""The destination behind the last step."""

_MANY = 20
_ID = re.compile(r"[A-Za-z0-9._-]{1,100}", re.ASCII)
# Names that Windows keeps for devices, with and without an ending (Microsoft, "Naming Files").
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE | re.ASCII)


def id_fault(value: object) -> str | None:
    """Say why a text is no id of a step, route or run; None when it is one."""
    if not isinstance(value, str) or not value:
        return "must be a text that is not empty"
    if not _ID.fullmatch(value):
        return "must be 1 to 100 letters (a-z), digits, `.`, `_` or `-`: it names a folder"
    if ".." in value or value == "." or value.endswith("."):
        return "must not be `.`, hold `..` or end with `.`: it names a folder"
    return "is a device on some systems; use another name" if _DEVICE.fullmatch(value) else None


def reference_fault(value: str) -> str | None:
    """Say why a text is no `file` or `step/file` of a run; None when it is one."""
    parts = value.split("/")
    if len(parts) > 2:  # noqa: PLR2004 (a step and a file)
        return "must be `file` or `step/file`"
    faults = (id_fault(part) for part in parts)
    return next((fault for fault in faults if fault), None)


def hint(value: object, known: list[str]) -> str:
    """Offer the nearest of some names; nothing when none is near."""
    near = _core.nearest(value, known) if isinstance(value, str) else None
    return f'; did you mean "{near}"?' if near else ""


def some(found: Sequence[T], name: Callable[[T], str] = str) -> str:
    """List what was found for a message, by names; of many the first ones and the last."""
    if len(found) <= _MANY:
        return ", ".join(map(name, found))
    shown = found[: _MANY - 2]
    left_out = f"{len(found) - len(shown) - 1} more"
    return ", ".join([*map(name, shown), left_out, name(found[-1])])
