"""What makes a plan one that is not run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from interlock import _core
from interlock.errors import ConfigError
from interlock.routing._graph import Graph, circles, references
from interlock.routing._names import END, SELECTION, hint, id_fault, reference_fault, some
from interlock.routing._plan_data import KINDS, ROUTE_FIELDS
from interlock.tools.branch import Branch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock.routing.shapes import Plan, PlanStep, Route, Router

__all__ = ["Fault", "errors_of", "step_errors"]

Fault = tuple[str, str, str | None, str, str]
"""Code, step, route, field, message."""


_HINTS = 50
"""How many wrong names of a plan are compared with all that there are: it costs, and who made more
mistakes than that did not mistype."""


class _Checked(Graph):
    """A plan that is checked."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.counts = Counter(self.ids)
        self._hints: dict[tuple[str, int], str] = {}

    def near(self, name: str, before: int | None = None) -> str:
        """Offer the nearest id, of all steps or of those before a place."""
        key = (name, len(self.ids) if before is None else before)
        if key not in self._hints:
            if len(self._hints) == _HINTS:
                return ""
            self._hints[key] = hint(name, self.ids[:before])
        return self._hints[key]


def errors_of(plan: Plan) -> Iterator[Fault]:
    """Yield all faults of a plan, step by step."""
    if not plan.steps:
        yield "route/plan", "", None, "steps", "is empty; a plan has at least one step"
    graph = _Checked(plan)
    for at in range(len(plan.steps)):
        yield from _faults(graph, at)
    yield from _endless(graph)
    yield from _unwritable(plan)


def step_errors(plan: Plan, step_id: str) -> Iterator[Fault]:
    """Yield the faults of one router."""
    graph = _Checked(plan)
    for at, step in enumerate(plan.steps):
        if step.id == step_id:
            yield from _faults(graph, at)


def _faults(graph: _Checked, at: int) -> Iterator[Fault]:
    step = graph.plan.steps[at]
    yield from _id_faults(step, at)
    if step.id and graph.counts[step.id] > 1 and graph.at[step.id] == at:
        yield "route/plan", step.id, None, "id", "is the id of two steps; each its own"
    yield from _step_faults(graph, step)
    if step.router is not None:
        yield from _router_faults(graph, step, step.router)


def _id_faults(step: PlanStep, at: int) -> Iterator[Fault]:
    shown = step.id or f"steps[{at}]"
    fault = id_fault(step.id)
    if not step.id:
        yield "route/plan", shown, None, "id", "is empty; every step has an id"
    elif fault is not None:
        yield "route/unsafe-path", shown, None, "id", fault
    elif step.id == END:
        yield "route/plan", shown, None, "id", f"`{END}` is the destination behind the last step"


def _step_faults(graph: _Checked, step: PlanStep) -> Iterator[Fault]:
    if step.router is None and step.next_step_id is not None:
        yield from _destination(graph, step, None, "next_step_id", step.next_step_id)
    carried = [name for name in ROUTE_FIELDS if name in step.extra]
    if carried:
        message = f"is for routers, and the step is {step.kind}; use kind routing or branch"
        yield "route/plan", step.id, None, carried[0], message
    if step.kind in KINDS and step.router is None:
        yield "route/plan", step.id, None, "routes", "is missing: a router has at least two"
    if step.router is not None and step.router.id != step.id:
        message = f"the router is {step.router.id}; it must bear the id of its step"
        yield "route/plan", step.id, None, "id", message
    if step.router is not None and SELECTION in step.context_output:
        message = f"a router writes no {SELECTION} for others; let the step before it do that"
        yield "route/plan", step.id, None, "context_output", message


def _destination(
    graph: _Checked, step: PlanStep, route_id: str | None, field: str, target: str
) -> Iterator[Fault]:
    if target == END or target in graph.at:
        return
    said = "is empty" if not target else f"leads to {_core.preview(target)}, which is no step"
    message = f"{said}{graph.near(target)}; name a step, or {END}"
    yield "route/plan", step.id, route_id, field, message


def _router_faults(graph: _Checked, step: PlanStep, router: Router) -> Iterator[Fault]:
    if router.description or step.description:
        message = "must be empty: a router does no work; use the question, or a step before it"
        yield "route/description", step.id, None, "description", message
    if len(router.routes) < 2:  # noqa: PLR2004 (a choice)
        message = f"has {len(router.routes)}; a router has at least two"
        yield "route/plan", step.id, None, "routes", message
    yield from _route_faults(graph, step, router)
    ids = [route.route_id for route in router.routes]
    default = router.default_route_id
    if default is not None and default not in ids:
        message = f"{_core.preview(default)} is no route{hint(default, ids)}; one of {some(ids)}"
        yield "route/bad-default", step.id, None, "default_route_id", message
    if "\x00" in (router.route_source_file or ""):
        message = f"{_core.preview(router.route_source_file)}: holds a NUL, which no path does"
        yield "route/unsafe-path", step.id, None, "route_source_file", message
    yield from _dependency_faults(graph, step, router)
    yield from _check_faults(graph, step, router)


def _route_faults(graph: _Checked, step: PlanStep, router: Router) -> Iterator[Fault]:
    counts = Counter(route.route_id for route in router.routes)
    for name, count in counts.items():
        if name and count > 1:
            yield "route/plan", step.id, name, "route_id", "stands twice; each id once"
    for at, route in enumerate(router.routes):
        fault = id_fault(route.route_id)
        if not route.route_id:
            message = "is empty; each route has its own"
            yield "route/plan", step.id, None, f"routes[{at}].route_id", message
        elif fault is not None:
            yield "route/unsafe-path", step.id, route.route_id, f"routes[{at}].route_id", fault
        field = f"routes[{at}].next_step_id"
        yield from _destination(graph, step, route.route_id or None, field, route.next_step_id)


def _dependency_faults(graph: _Checked, step: PlanStep, router: Router) -> Iterator[Fault]:
    field = "context_dependencies"
    for reference in references(router):
        fault = reference_fault(reference)
        if fault is not None:
            yield "route/unsafe-path", step.id, None, field, f"{_core.preview(reference)}: {fault}"
            continue
        found = graph.producers(step.id, reference)
        if not found:
            message = (
                f"{reference}: no earlier step declares {SELECTION} in its context_output"
                + _later(graph, step, reference)
            )
            yield "route/plan", step.id, None, field, message
            continue
        last = graph.plan.steps[found[-1]]
        if last.router is not None or last.kind in KINDS:
            message = f"{reference}: {last.id} is a router, and no router decides for another"
            yield "route/plan", step.id, None, field, message


def _later(graph: _Checked, step: PlanStep, reference: str) -> str:
    places = graph.writers.get(reference.rpartition("/")[0], [])
    if step.id in graph.writers:
        places = [at for at in places if graph.ids[at] != step.id]
    return f"; {some(places, graph.ids.__getitem__)} comes later" if places else ""


def _check_faults(graph: _Checked, step: PlanStep, router: Router) -> Iterator[Fault]:
    """Yield what is wrong with a router whose routes have checks, or only some of them."""
    if not router.has_checks:
        if router.value_from is not None:
            message = "is read by routes with checks (`when`), and no route has any"
            yield "route/plan", step.id, None, "value_from", message
        return
    bare = [route.route_id for route in router.routes if not route.when]
    if bare or router.route_source_file is not None or references(router):
        beside = f"routes without: {some(bare)}" if bare else "a file of a choice is declared"
        message = f"a router has checks on all its routes, or reads a choice; not both ({beside})"
        yield "route/plan", step.id, None, "routes", message
    yield from _record_faults(graph, step, router)
    for at, route in enumerate(router.routes):
        if route.when:
            yield from _condition_faults(step, route, at)


def _record_faults(graph: _Checked, step: PlanStep, router: Router) -> Iterator[Fault]:
    wanted = router.value_from
    if wanted is None:
        message = "is required with checks: `step/file.json`, the record that they read"
        yield "route/plan", step.id, None, "value_from", message
        return
    fault = "must be `step/file.json`" if "/" not in wanted else reference_fault(wanted)
    if fault is not None:
        yield "route/unsafe-path", step.id, None, "value_from", f"{_core.preview(wanted)}: {fault}"
        return
    owner, place = wanted.partition("/")[0], graph.at[step.id]
    if graph.at.get(owner, place) >= place:
        message = f"{owner} is no earlier step{graph.near(owner, place)}"
        yield "route/plan", step.id, None, "value_from", message


def _condition_faults(step: PlanStep, route: Route, at: int) -> Iterator[Fault]:
    arm = {"name": route.route_id or "route", "when": list(route.when), "match": route.match}
    try:
        Branch([arm], strict=True)
    except ConfigError as error:
        for problem in error.problems:
            field = problem.field.replace("arms[0]", f"routes[{at}]")
            shown = "" if problem.value is None else f"{problem.value}: "
            message = f"{shown}{problem.message}"
            yield "route/plan", step.id, route.route_id, field, message


def _unwritable(plan: Plan) -> Iterator[Fault]:
    """Find what is no JSON: a plan that is run is known again by its digest."""
    data = plan.to_dict()
    if _json_fault(data) is None:
        return
    for step, fields in zip(plan.steps, data["steps"], strict=True):
        for field, value in fields.items():
            fault = _json_fault(value)
            if fault is not None:
                yield "route/plan", step.id, None, field, fault
    for field, value in plan.extra.items():
        fault = _json_fault(value)
        if fault is not None:
            yield "route/plan", "", None, field, fault


def _json_fault(value: object) -> str | None:
    try:
        _core.digest(value)
    except ConfigError as error:
        problem = error.problems[0]
        return f"{_core.preview(value)}: {problem.message}"
    return None


def _endless(graph: _Checked) -> Iterator[Fault]:
    """Find steps that lead back to themselves without a router between: nothing ever ends that."""
    if len(graph.at) < len(graph.ids) or END in graph.at:
        # What follows what is told by ids, and those are wrong already.
        return
    plain = {step.id: graph.following[step.id] for step in graph.plan.steps if step.router is None}
    circle = circles(plain)
    members: dict[str, list[str]] = {}
    for name in plain:
        members.setdefault(circle[name], []).append(name)
    for names in members.values():
        first = names[0]
        if len(names) > 1 or first in plain[first]:
            message = f"{some(names)} lead back to {first} without a router: that never ends"
            yield "route/plan", first, None, "next_step_id", message
