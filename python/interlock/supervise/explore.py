"""Every way a run can go: outcomes that can be reached, a shortest path to each, dead ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from interlock.record._data import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock.supervise.policy import Policy

__all__ = ["Exploration", "explore"]

STATES = 200_000
"""How many places are looked at; where there are more, what is found is said not to be all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration(Record):
    """Where runs of a policy can get to by moves alone.

    Attributes:
        outcomes: By outcome the shortest path to it, steps and terminal; `budget-exhausted` is the
            shortest path after which one more move spends a budget.
        dead_ends: Steps that no move leaves, and that are no end.
        unreached: Steps that no run gets to.
        states: How many places were looked at: a step with what was spent by then.
        complete: Whether these were all.
        max_moves: A number of moves that no run exceeds; None: there is none.
        max_calls: A number of calls that no run exceeds; None: calls are not bounded.
    """

    outcomes: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    dead_ends: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    states: int = 0
    complete: bool = True
    max_moves: int | None = None
    max_calls: int | None = None


class _Place(NamedTuple):
    """A step, and how often each budgeted edge and step was used on the way there."""

    step: str
    edges: tuple[int, ...]
    visits: tuple[int, ...]


def explore(policy: Policy, *, limit: int = STATES) -> Exploration:
    """Walk everything that a policy allows, within its budgets; a called runbook is one move.

    Args:
        policy: The policy.
        limit: How many places to look at.
    """
    edges, visits = tuple(policy.budgets), tuple(policy.visit_budgets)
    began = _Place(
        policy.entry,
        (0,) * len(edges),
        tuple(int(step == policy.entry) for step in visits),
    )
    came_from: dict[_Place, _Place | None] = {began: None}
    outcomes: dict[str, tuple[str, ...]] = {}
    waiting, reached = deque([began]), {policy.entry}
    is_complete = True
    while waiting:
        place = waiting.popleft()
        for target, after in _moves(policy, place, edges, visits):
            if after is None:
                outcomes.setdefault("budget-exhausted", _path(came_from, place))
            elif target in policy.terminals:
                path = (*_path(came_from, place), target)
                outcomes.setdefault(policy.terminals[target], path)
            elif after not in came_from:
                if len(came_from) >= limit:
                    is_complete = False
                    continue
                came_from[after] = place
                reached.add(target)
                waiting.append(after)
    steps = policy.steps.values()
    return Exploration(
        outcomes=outcomes,
        dead_ends=tuple(
            one.id for one in steps if one.id in reached and not one.exits and one.kind != "end"
        ),
        unreached=tuple(one.id for one in steps if one.id not in reached and one.kind != "end"),
        states=len(came_from),
        complete=is_complete,
        max_moves=policy.max_moves,
        max_calls=policy.ceilings.calls,
    )


def _moves(
    policy: Policy, place: _Place, edges: tuple[str, ...], visits: tuple[str, ...]
) -> Iterator[tuple[str, _Place | None]]:
    """Yield where a place leads; None for a move that spends a budget."""
    for target in policy.steps[place.step].transitions:
        edge = f"{place.step}->{target}"
        spent, entered = place.edges, place.visits
        if edge in policy.budgets:
            spent = _counted(spent, edges.index(edge))
            if spent[edges.index(edge)] > policy.budgets[edge]:
                yield target, None
                continue
        if target in policy.visit_budgets:
            entered = _counted(entered, visits.index(target))
            if entered[visits.index(target)] > policy.visit_budgets[target]:
                yield target, None
                continue
        yield target, _Place(target, spent, entered)


def _counted(counts: tuple[int, ...], at: int) -> tuple[int, ...]:
    return (*counts[:at], counts[at] + 1, *counts[at + 1 :])


def _path(came_from: Mapping[_Place, _Place | None], place: _Place) -> tuple[str, ...]:
    path: list[str] = []
    at: _Place | None = place
    while at is not None:
        path.append(at.step)
        at = came_from[at]
    return tuple(reversed(path))
