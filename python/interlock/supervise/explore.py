"""Every way a run can go: outcomes that can be reached, a shortest path to each, dead ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from interlock.record._data import Record
from interlock.supervise.capability import matches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlock.supervise.policy import Policy, PolicyStep

__all__ = ["Exploration", "explore"]

STATES = 200_000
"""How many places are looked at for the end of a budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration(Record):
    """Where runs of a policy can get to by moves alone.

    Attributes:
        outcomes: By outcome the shortest path to it, steps and terminal; `budget-exhausted` is the
            shortest path after which one more move spends a budget.
        dead_ends: Steps that no move leaves, and that are no end.
        unreached: Steps that no run gets to.
        states: How many places were looked at for the end of a budget: a step with what was spent
            by then.
        complete: Whether these were enough: where not, a budget may be spent after a longer path.
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
    """A step, and how often each budget (of an edge, of entering a step) was used before it."""

    step: str
    used: frozenset[tuple[str, int]]


def explore(policy: Policy, *, limit: int = STATES) -> Exploration:
    """Walk everything that a policy allows, within its budgets; a called runbook is one move.

    Args:
        policy: The policy.
        limit: How many places to look at for the end of a budget.
    """
    # A shortest path takes no edge twice, so that no budget is in its way.
    paths = _shortest(policy)
    spent, states = _spent(policy, limit)
    outcomes: dict[str, tuple[str, ...]] = {}
    for target, path in paths.items():
        if target in policy.terminals:
            outcomes.setdefault(policy.terminals[target], path)
    if spent is not None:
        outcomes["budget-exhausted"] = spent
    steps = [one for one in policy.steps.values() if one.kind != "end"]
    return Exploration(
        outcomes=outcomes,
        dead_ends=tuple(one.id for one in steps if one.id in paths and not one.exits),
        unreached=tuple(one.id for one in steps if one.id not in paths),
        states=states,
        complete=spent is not None or states < limit,
        max_moves=policy.max_moves,
        max_calls=_most_calls(policy, [one for one in steps if one.id in paths]),
    )


def _shortest(policy: Policy) -> dict[str, tuple[str, ...]]:
    """Return a shortest path to every step and terminal that can be reached, the nearest first."""
    found: dict[str, tuple[str, ...]] = {policy.entry: (policy.entry,)}
    waiting = deque(found)
    while waiting:
        at = waiting.popleft()
        step = None if at in policy.terminals else policy.steps[at]
        for target in step.transitions if step else ():
            if target not in found:
                found[target] = (*found[at], target)
                waiting.append(target)
    return found


def _spent(policy: Policy, limit: int) -> tuple[tuple[str, ...] | None, int]:
    """Return a shortest path after which one more move spends a budget, and places looked at."""
    entered = {policy.entry} & policy.visit_budgets.keys()
    began = _Place(policy.entry, frozenset((step, 1) for step in entered))
    came_from: dict[_Place, _Place | None] = {began: None}
    waiting = deque([began] if policy.budgets or policy.visit_budgets else [])
    while waiting and len(came_from) < limit:
        place = waiting.popleft()
        for target in policy.steps[place.step].transitions:
            after = _moved(policy, place, target)
            if after is None:
                return _path(came_from, place), len(came_from)
            if target not in policy.terminals and after not in came_from:
                came_from[after] = place
                waiting.append(after)
    return None, len(came_from)


def _moved(policy: Policy, place: _Place, target: str) -> _Place | None:
    """Return where a move leads; None for one that spends a budget."""
    used = dict(place.used)
    edge = f"{place.step}->{target}"
    for name, budgets in ((edge, policy.budgets), (target, policy.visit_budgets)):
        if name in budgets:
            used[name] = used.get(name, 0) + 1
            if used[name] > budgets[name]:
                return None
    return _Place(target, frozenset(used.items()))


def _path(came_from: Mapping[_Place, _Place | None], place: _Place) -> tuple[str, ...]:
    path: list[str] = []
    at: _Place | None = place
    while at is not None:
        path.append(at.step)
        at = came_from[at]
    return tuple(reversed(path))


def _most_calls(policy: Policy, steps: Sequence[PolicyStep]) -> int | None:
    """Return how many calls a run can make by its budgets: of all, of steps, and of tools."""
    ceilings = policy.ceilings
    calling = [one for one in steps if one.tools or one.calls]
    bounds: list[int] = [] if ceilings.calls is None else [ceilings.calls]
    by_step, by_tool = ceilings.calls_by_step, ceilings.calls_by_tool
    if all(one.id in by_step and not one.calls for one in calling):
        bounds.append(sum(by_step[one.id] for one in calling))
    used = {tool for one in calling for tool in one.tools}
    if not any(one.calls for one in calling) and all(
        any(_covers(pattern, tool) for pattern in by_tool) for tool in used
    ):
        met = [name for name in by_tool if any(_covers(name, tool) for tool in used)]
        bounds.append(sum(by_tool[name] for name in met))
    return min(bounds, default=None)


def _covers(pattern: str, tool: str) -> bool:
    return matches(pattern, tool.removesuffix("*")) and (
        pattern.endswith("*") or not tool.endswith("*")
    )
