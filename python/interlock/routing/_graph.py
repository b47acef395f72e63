"""What follows what in a plan, and which step writes what a router reads."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from interlock.record.report._text import label
from interlock.routing._names import END, SELECTION
from interlock.routing._typed import must_be
from interlock.routing.shapes import Plan

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from interlock.routing.shapes import Router

__all__ = ["Graph", "circles", "reached", "references", "to_mermaid"]


class Graph:
    """A plan, with what is asked of it again and again looked up once.

    Attributes:
        plan: The plan.
        ids: The ids of its steps, in order.
        at: Where the first step of each id stands.
        following: Which steps may follow each step.
        writers: Where steps stand that declare a choice: all of them under an empty id, and those
            of each id.
    """

    def __init__(self, plan: Plan) -> None:
        """Look once at every step."""
        self.plan = plan
        self.ids = [step.id for step in plan.steps]
        self.at: dict[str, int] = {}
        self.writers: dict[str, list[int]] = {"": []}
        self.following: dict[str, tuple[str, ...]] = {}
        behind = [*self.ids[1:], END]
        for at, step in enumerate(plan.steps):
            self.at.setdefault(step.id, at)
            if SELECTION in step.context_output:
                for name in {"", step.id}:
                    self.writers.setdefault(name, []).append(at)
            if step.router is not None:
                targets = (route.next_step_id for route in step.router.routes)
                self.following[step.id] = tuple(dict.fromkeys(targets))
            else:
                after = behind[at] if step.next_step_id is None else step.next_step_id
                self.following[step.id] = (after,)

    def producers(self, router_id: str, reference: str) -> list[int]:
        """Say where steps before a router declare a choice: any step, or one as `step/file`.

        The last one is the one that counts.
        """
        places = self.writers.get(reference.rpartition("/")[0], [])
        before = bisect_left(places, self.at.get(router_id, len(self.ids)))
        return places[:before]


def references(router: Router) -> tuple[str, ...]:
    """Return the dependencies of a router that are choices."""
    return tuple(one for one in router.context_dependencies if one.rpartition("/")[2] == SELECTION)


def reached(
    start: Iterable[str],
    following: Mapping[str, Iterable[str]],
    but: Container[str] = (),
) -> list[str]:
    """Return all that is reached from some steps, these included; each before what it leads to."""
    found: dict[str, None] = {}
    waiting = list(start)
    while waiting:
        step = waiting.pop()
        if step in following and step not in found and step not in but:
            found[step] = None
            waiting += following[step]
    return list(found)


def circles(following: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Give each step the name of its circle: of all that it leads to and that lead back to it.

    The strongly connected components, by two walks (Sharir 1981, after Kosaraju).
    """
    leading: dict[str, list[str]] = {name: [] for name in following}
    for name, targets in following.items():
        for target in targets:
            if target in leading:
                leading[target].append(name)
    found: dict[str, str] = {}
    for name in reversed(_left(following)):
        found |= dict.fromkeys(reached([name], leading, found), name)
    return found


def _left(following: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Walk through all steps, in depth first; list them as they are left."""
    order: list[str] = []
    seen: set[str] = set()
    waiting = [(name, False) for name in following]
    while waiting:
        name, is_left = waiting.pop()
        if is_left:
            order.append(name)
        elif name in following and name not in seen:
            seen.add(name)
            waiting.append((name, True))
            waiting += [(target, False) for target in following[name]]
    return order


def to_mermaid(plan: Plan) -> str:
    """Return a plan as a Mermaid diagram; a route that is the default is drawn with dots.

    Raises:
        ConfigError: For what is no plan.
    """
    must_be(plan, Plan, "plan", "a Plan(...), as Plan.load(path) reads it")
    graph = Graph(plan)
    ids = list(graph.at)
    known = {*ids, END}
    behind = [*graph.ids[1:], END]
    number = {name: f"n{at}" for at, name in enumerate([*ids, END])}
    lines = ["flowchart TD"]
    for name in ids:
        is_router = plan.steps[graph.at[name]].router is not None
        left, right = ("{", "}") if is_router else ("[", "]")
        lines.append(f'    {number[name]}{left}"{label(name, 100)}"{right}')
    lines.append(f"    {number[END]}([{END}])")
    for at, step in enumerate(plan.steps):
        if step.router is None:
            following = behind[at] if step.next_step_id is None else step.next_step_id
            if following in known:
                lines.append(f"    {number[step.id]} --> {number[following]}")
            continue
        for route in step.router.routes:
            is_default = route.route_id == step.router.default_route_id
            arrow = "-. " if is_default else "-- "
            point = " .->" if is_default else " -->"
            if route.next_step_id in known:
                drawn = f'{arrow}"{label(route.route_id, 100)}"{point}'
                lines.append(f"    {number[step.id]} {drawn} {number[route.next_step_id]}")
    return "\n".join(lines) + "\n"
