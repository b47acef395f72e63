"""How many moves a run can make at most: the proof that it ends.

The moves of a walk are a flow. One unit starts at the entry; what enters a step leaves it, but
where the walk ends; an edge carries at most its budget, and a step at most its visits. So no walk
makes more moves than the largest such flow counts. What the flow leaves out is that a walk hangs
together; elsewhere it is exact.

It is computed component by component (of steps that lead to each other): an edge between two
components is taken once at most, whatever its budget, and of two branches a run takes one. Where a
component is too large for that, a coarser bound is taken. Give every step a height, such that each
move without a budget goes down by at least its cost. A move on a budgeted edge climbs
`cost + height(target) - height(source)` at most, as often as its budget says, so no walk from a
step is longer than its height and all that can be climbed. Such heights are there if and only if
every cycle has a bound.

Source: Ahuja, Magnanti, Orlin, Network Flows (1993), chapters 2.4 and 9; both bounds are a linear
program for the longest walk and its dual.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from interlock.supervise._graph import components, ordered, reachable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["most_moves"]

_WORK_LIMIT = 50_000
"""How many arcs are looked at for the flow of one component."""

_FAR = 1 << 60
"""More than any walk has moves, and any budget."""


class _Arc(NamedTuple):
    source: int
    target: int
    cost: int
    cap: int | None


class _Walks:
    """A graph of walks: an arc for each edge, and one through each step with a bound on visits."""

    def __init__(
        self,
        leads_to: Mapping[str, Sequence[str]],
        edges: Mapping[str, int],
        visits: Mapping[str, int],
        costs: Mapping[str, int],
    ) -> None:
        self.enters = {step: 2 * at for at, step in enumerate(leads_to)}
        leaves = {step: at + (step in visits) for step, at in self.enters.items()}
        self.doors = {at for step, at in self.enters.items() if step in visits}
        self.arcs: list[_Arc] = []
        for step, at in self.enters.items():
            if step in visits:
                # Between entering and leaving it: what is counted as a visit.
                self.arcs.append(_Arc(at, leaves[step], 0, visits[step]))
            for target in dict.fromkeys(leads_to[step]):
                cost = 1 + costs.get(target, 0)
                cap = edges.get(f"{step}->{target}")
                self.arcs.append(_Arc(leaves[step], self.enters[target], cost, cap))
        nodes = {*self.enters.values(), *leaves.values()}
        self.out: dict[int, list[_Arc]] = {node: [] for node in nodes}
        for arc in self.arcs:
            self.out[arc.source].append(arc)

    def leads_to(self) -> dict[int, list[int]]:
        return {node: [arc.target for arc in arcs] for node, arcs in self.out.items()}


def most_moves(
    entry: str,
    leads_to: Mapping[str, Sequence[str]],
    *,
    edges: Mapping[str, int],
    visits: Mapping[str, int],
    costs: Mapping[str, int],
) -> int | None:
    """Bound the moves of a run.

    Args:
        entry: Where it begins.
        leads_to: The transitions of each step; a target that is no key is a terminal.
        edges: Budgets by `from->to`.
        visits: How often a step is entered at most; beginning there is entering it.
        costs: Moves that entering a step takes beside the move to it (those of a called runbook).

    Returns:
        A number that no walk within the budgets exceeds; None where a cycle has no bound.
    """
    kept = sorted(reachable([entry], leads_to))
    walks = _Walks({step: leads_to.get(step, ()) for step in kept}, edges, visits, costs)
    start = walks.enters[entry]
    groups = components(walks.leads_to())
    group_of = {node: at for at, group in enumerate(groups) for node in group}
    crossing = [arc for arc in walks.arcs if group_of[arc.source] != group_of[arc.target]]
    starts = {start, *(arc.target for arc in crossing)}
    best: dict[int, int] = {}
    for at, group in enumerate(groups):
        inside = [arc for node in group for arc in walks.out[node] if group_of[arc.target] == at]
        after = _after(group, walks, best)
        if not inside:
            best.update(after)
            continue
        found = _longest(group, inside, after, [node for node in group if node in starts])
        if found is None:
            return None
        best.update(found)
    return costs.get(entry, 0) + best[start]


def _after(group: Sequence[int], walks: _Walks, best: Mapping[int, int]) -> dict[int, int]:
    """Return what a walk can still make when it leaves a component, or ends, at each node."""
    # No walk ends between entering a step and being counted as its visit.
    after = {node: -_FAR if node in walks.doors else 0 for node in group}
    for node in group:
        for arc in walks.out[node]:
            if arc.target in best:
                after[node] = max(after[node], arc.cost + best[arc.target])
    return after


def _longest(
    nodes: Sequence[int], arcs: Sequence[_Arc], after: dict[int, int], starts: Sequence[int]
) -> dict[int, int] | None:
    """Bound the walks from some nodes of a component; None when it has a cycle without a bound.

    `after` is what a walk can still make once it leaves the component from a node.
    """
    free: dict[int, list[int]] = {node: [] for node in nodes}
    for arc in arcs:
        if arc.cap is None:
            free[arc.source].append(arc.target)
    order = ordered(nodes, free)
    if order is None:
        return None
    place = {node: at for at, node in enumerate(order)}
    try:
        flow = _Flow(sorted(arcs, key=lambda arc: place[arc.source]), after)
        return {start: flow.total_from(start) for start in starts}
    except _TooMuch:
        return _by_heights(order, arcs, after, starts)


def _by_heights(
    order: Sequence[int], arcs: Iterable[_Arc], after: dict[int, int], starts: Iterable[int]
) -> dict[int, int]:
    """Bound the walks by heights: of each node the longest walk without budgeted edges."""
    heights = {node: max(0, after[node]) for node in order}
    free = [arc for arc in arcs if arc.cap is None]
    place = {node: at for at, node in enumerate(order)}
    for arc in sorted(free, key=lambda arc: -place[arc.source]):
        heights[arc.source] = max(heights[arc.source], arc.cost + heights[arc.target])
    climbs = sum(
        arc.cap * max(0, arc.cost + heights[arc.target] - heights[arc.source])
        for arc in arcs
        if arc.cap is not None
    )
    return {start: heights[start] + climbs for start in starts}


class _TooMuch(Exception):
    """The flow would take too long."""


_END = -1
"""Where every walk ends."""


class _Flow:
    """The largest flow of a component, without and with the walk from a start.

    Arcs with a bound are opened one after the other. Opening one pushes all that gains along the
    best way from its end back to its beginning; then no way round gains anything.
    """

    def __init__(self, arcs: Iterable[_Arc], after: dict[int, int]) -> None:
        self._sources: list[int] = []
        self._targets: list[int] = []
        self._gains: list[int] = []
        self._room: list[int] = []
        self._work = _WORK_LIMIT
        bounded = [arc for arc in arcs if arc.cap is not None]
        for arc in arcs:
            if arc.cap is None:
                self._add(arc.source, arc.target, arc.cost, _FAR)
        for node, gain in after.items():
            if gain > -_FAR:
                self._add(node, _END, gain, _FAR)
        self._total = sum(
            self._opened(arc.source, arc.target, arc.cost, arc.cap or 0) for arc in bounded
        )

    def total_from(self, start: int) -> int:
        """Return the gain of the largest flow with a walk from a node; the flow stays as it was."""
        kept = list(self._room)
        found = self._total + self._opened(_END, start, 0, 1, must=True)
        self._room = kept
        del self._sources[len(kept) :], self._targets[len(kept) :], self._gains[len(kept) :]
        return found

    def _add(self, source: int, target: int, gain: int, room: int) -> None:
        """Add an arc, and behind it the one that takes back what flows there."""
        self._sources += (source, target)
        self._targets += (target, source)
        self._gains += (gain, -gain)
        self._room += (room, 0)

    def _opened(self, source: int, target: int, gain: int, cap: int, *, must: bool = False) -> int:
        """Open an arc and return what the flow gains; `must`: it is filled even at a loss."""
        gained, left = 0, cap
        while left:
            reached, came_by = self._best_ways(target)
            if source not in reached or not (must or reached[source] + gain > 0):
                break
            way: list[int] = []
            node = source
            while node != target:
                way.append(came_by[node])
                node = self._sources[way[-1]]
            pushed = min(left, *(self._room[arc] for arc in way)) if way else left
            for arc in way:
                self._room[arc] -= pushed
                self._room[arc ^ 1] += pushed
            gained += pushed * (reached[source] + gain)
            left -= pushed
        self._add(source, target, gain, left)
        self._room[-1] = cap - left
        return gained

    def _best_ways(self, start: int) -> tuple[dict[int, int], dict[int, int]]:
        """Return what is gained on the best way to each node, and by which arc it comes there."""
        reached: dict[int, int] = {start: 0}
        came_by: dict[int, int] = {}
        changed = True
        while changed:
            changed = False
            self._work -= len(self._room)
            if self._work < 0:
                raise _TooMuch
            for arc, room in enumerate(self._room):
                if room and self._sources[arc] in reached:
                    gain = reached[self._sources[arc]] + self._gains[arc]
                    target = self._targets[arc]
                    if target not in reached or gain > reached[target]:
                        reached[target] = gain
                        came_by[target] = arc
                        changed = True
        return reached, came_by
