"""What follows what in a plan, and which step writes what a router reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.routing._names import END, SELECTION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interlock.routing.shapes import Plan, PlanStep, Router

__all__ = ["after", "producers", "reached", "references", "to_mermaid"]


def references(router: Router) -> tuple[str, ...]:
    """Return the dependencies of a router that are choices."""
    return tuple(one for one in router.context_dependencies if one.rpartition("/")[2] == SELECTION)


def producers(plan: Plan, router_id: str, reference: str) -> tuple[PlanStep, ...]:
    """Return the steps before a router that declare a file: `file`, or `step/file` of one step.

    The last one is the one that counts.
    """
    step_id, _, name = reference.rpartition("/")
    before: list[PlanStep] = []
    for step in plan.steps:
        if step.id == router_id:
            break
        before.append(step)
    return tuple(
        step for step in before if name in step.context_output and step_id in ("", step.id)
    )


def after(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return which steps may follow each step."""
    behind = [*(step.id for step in plan.steps[1:]), END]
    return {
        step.id: (behind[at] if step.next_step_id is None else step.next_step_id,)
        if step.router is None
        else tuple(dict.fromkeys(route.next_step_id for route in step.router.routes))
        for at, step in enumerate(plan.steps)
    }


def reached(start: Iterable[str], following: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Return all that is reached from some steps, these included."""
    found: set[str] = set()
    waiting = list(start)
    while waiting:
        step = waiting.pop()
        if step in following and step not in found:
            found.add(step)
            waiting += following[step]
    return found


def to_mermaid(plan: Plan) -> str:
    """Return a plan as a Mermaid diagram; a route that is the default is drawn with dots."""
    ids = list(dict.fromkeys(step.id for step in plan.steps))
    known = {*ids, END}
    number = {name: f"n{at}" for at, name in enumerate([*ids, END])}
    lines = ["flowchart TD"]
    for name in ids:
        step = plan.step(name)
        left, right = ("{", "}") if step is not None and step.router is not None else ("[", "]")
        lines.append(f'    {number[name]}{left}"{_quoted(name)}"{right}')
    lines.append(f"    {number[END]}([{END}])")
    for step in plan.steps:
        if step.router is None:
            following = plan.after(step)
            if following in known:
                lines.append(f"    {number[step.id]} --> {number[following]}")
            continue
        for route in step.router.routes:
            is_default = route.route_id == step.router.default_route_id
            arrow = "-. " if is_default else "-- "
            point = " .->" if is_default else " -->"
            if route.next_step_id in known:
                label = f'{arrow}"{_quoted(route.route_id)}"{point}'
                lines.append(f"    {number[step.id]} {label} {number[route.next_step_id]}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    marks = {"&": "#amp;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "#": "#35;"}
    return "".join(marks.get(letter, letter) for letter in text)
