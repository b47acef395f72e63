"""The wire form: what a result looks like as data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlock.typing import JSON

__all__ = ["WireForm", "to_json"]


class WireForm(ABC):
    """A result that knows its wire form: camelCase keys, absent where nothing is."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""

    def to_json(self) -> str:
        """Return the wire form as one line of JSON."""
        return to_json(self.to_dict())


def to_json(wire: JSON) -> str:
    """Write data as one line of compact JSON, every digit of a number kept."""
    from interlock import _core

    return _core.to_json(wire)
