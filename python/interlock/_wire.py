"""The wire form: what a result looks like as data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from interlock.typing import JSON

__all__ = ["LateForm", "WireForm", "draft_of", "to_json"]


class WireForm(ABC):
    """A result that knows its wire form: camelCase keys, absent where nothing is."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""

    def to_json(self) -> str:
        """Return the wire form as one line of JSON."""
        return to_json(self.to_dict())


class LateForm(WireForm):
    """A result that lists what holds, of which the lists are made when they are first read.

    Most callers read what was decided and no list. A list is made of data that does not change, so
    that it is the same whenever it is made.
    """

    __slots__ = ("_marks", "_source")

    late: ClassVar[frozenset[str]]
    """The fields that may be missing until then."""
    _marks: bytes
    """What holds."""
    _source: Any
    """What the lists are made of."""

    @abstractmethod
    def _made(self, name: str) -> object:
        """Make a field."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Make a field that is missing; a field that is there is never asked for here."""
            if name not in self.late:
                message = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(message, name=name, obj=self)
            made = self._made(name)
            object.__setattr__(self, name, made)
            return made


def draft_of(kind: type) -> Any:
    """Return a class for results of `kind` in the making.

    Its objects are made without any fields, which can be set until their class is set to `kind`.
    """
    # PERF: a frozen dataclass sets its fields one by one through a call each.
    plain = {
        "__init__": object.__init__,
        "__setattr__": object.__setattr__,
        "__delattr__": object.__delattr__,
    }
    return type(kind)(kind.__name__, (kind,), {"__slots__": (), **plain})


def to_json(wire: JSON) -> str:
    """Write data as one line of compact JSON, every digit of a number kept."""
    from interlock import _core

    return _core.to_json(wire)
