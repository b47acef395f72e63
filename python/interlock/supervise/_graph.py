"""Graphs of steps: what is reached, what lies on a cycle."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["components", "ordered", "reachable", "shortest_cycle"]

T = TypeVar("T")


def reachable(starts: Iterable[T], leads_to: Mapping[T, Sequence[T]]) -> set[T]:
    """Return the starts and everything that they lead to."""
    seen = set(starts)
    waiting = list(seen)
    while waiting:
        for target in leads_to.get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def components(leads_to: Mapping[T, Sequence[T]]) -> list[list[T]]:
    """Return the strongly connected components, each before those that lead to it.

    Every target must be a key. Source: Tarjan, Depth-first search and linear graph algorithms
    (1972), without recursion.
    """
    search = _Search(leads_to)
    for root in leads_to:
        if root not in search.index:
            search.walk(root)
    return search.found


class _Search(Generic[T]):
    def __init__(self, leads_to: Mapping[T, Sequence[T]]) -> None:
        self.found: list[list[T]] = []
        self.index: dict[T, int] = {}
        self._leads_to = leads_to
        self._low: dict[T, int] = {}
        self._stack: list[T] = []
        self._on_stack: set[T] = set()

    def walk(self, root: T) -> None:
        way = [(root, self._met(root))]
        while way:
            node, targets = way[-1]
            following = next(targets, None)
            if following is None:
                way.pop()
                if way:
                    self._reaches(way[-1][0], self._low[node])
                self._close(node)
            elif following[0] not in self.index:
                way.append((following[0], self._met(following[0])))
            elif following[0] in self._on_stack:
                self._reaches(node, self.index[following[0]])

    def _met(self, node: T) -> Iterator[tuple[T]]:
        self.index[node] = self._low[node] = len(self.index)
        self._stack.append(node)
        self._on_stack.add(node)
        return ((target,) for target in self._leads_to[node])

    def _reaches(self, node: T, low: int) -> None:
        self._low[node] = min(self._low[node], low)

    def _close(self, node: T) -> None:
        """Take a component off the stack when a node is the first of it."""
        if self._low[node] != self.index[node]:
            return
        component: list[T] = []
        while not component or component[-1] != node:
            component.append(self._stack.pop())
        self._on_stack.difference_update(component)
        self.found.append(component)


def ordered(nodes: Sequence[T], leads_to: Mapping[T, Sequence[T]]) -> list[T] | None:
    """Return the nodes so that each stands before those it leads to; None when there is a cycle."""
    into = dict.fromkeys(nodes, 0)
    for node in nodes:
        for target in leads_to.get(node, ()):
            into[target] += 1
    ready = deque(node for node in nodes if into[node] == 0)
    order: list[T] = []
    while ready:
        node = ready.popleft()
        order.append(node)
        for target in leads_to.get(node, ()):
            into[target] -= 1
            if into[target] == 0:
                ready.append(target)
    return order if len(order) == len(nodes) else None


def shortest_cycle(start: T, leads_to: Mapping[T, Sequence[T]]) -> list[T] | None:
    """Return a shortest way from a node back to itself, both ends included; None for none."""
    came_from: dict[T, T] = {}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for target in leads_to.get(node, ()):
            if target == start:
                way = [start, node] if node != start else [start]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return [*reversed(way), start] if len(way) == 1 else way[::-1]
            if target not in came_from:
                came_from[target] = node
                waiting.append(target)
    return None
