"""The wire form: what a result looks like as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import MemberDescriptorType

    from interlock.typing import JSON

__all__ = ["WireForm", "draft_of", "to_json"]


class WireForm:
    """A result that knows its wire form: camelCase keys, absent where nothing is."""

    # PERF: no abstract class, of which Python asks far slower whether an object is one.
    __slots__ = ()

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form; every class has its own."""
        raise NotImplementedError(type(self).__qualname__)

    def to_json(self) -> str:
        """Return the wire form as one line of JSON."""
        return to_json(self.to_dict())


def draft_of(kind: type, **slots: MemberDescriptorType) -> Any:
    """Return a class for results of `kind` in the making.

    Its objects are made without any fields, which can be set until their class is set to `kind`;
    `slots` are the places of those that `kind` reads in a way of its own.
    """
    # PERF: a frozen dataclass sets its fields one by one through a call each.
    plain = {
        "__init__": object.__init__,
        "__setattr__": object.__setattr__,
        "__delattr__": object.__delattr__,
    }
    return type(kind)(kind.__name__, (kind,), {"__slots__": (), **plain, **slots})


def to_json(wire: JSON) -> str:
    """Write data as one line of compact JSON, every digit of a number kept."""
    from interlock import _core

    return _core.to_json(wire)
