"""A mapping that cannot be changed: hashable and picklable, in the order in which it was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

__all__ = ["EMPTY", "FrozenMap"]

K = TypeVar("K")
V = TypeVar("V")


class FrozenMap(Mapping[K, V]):
    """A mapping that cannot be changed; equal to any mapping with the same entries."""

    __slots__ = ("_entries",)
    _entries: dict[K, V]

    def __init__(self, entries: Mapping[K, V] | None = None) -> None:
        """Take a copy of the entries."""
        object.__setattr__(self, "_entries", dict(entries or {}))

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse."""
        raise AttributeError(f"a frozen mapping: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        """Refuse."""
        raise AttributeError(f"a frozen mapping: {name} cannot be deleted")

    def __getitem__(self, key: K) -> V:
        return self._entries[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __hash__(self) -> int:
        return hash(frozenset(self._entries.items()))

    def __repr__(self) -> str:
        return repr(self._entries)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._entries,)


EMPTY: FrozenMap[Any, Any] = FrozenMap()
"""One without entries."""
