"""What makes a plan one that is not run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from interlock import _core
from interlock.errors import ConfigError
from interlock.routing._graph import after, producers, reached, references
from interlock.routing._names import END, SELECTION, hint, id_fault, reference_fault
from interlock.routing._plan_data import KINDS, ROUTE_FIELDS
from interlock.tools.branch import Branch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock.routing.shapes import Plan, PlanStep, Route, Router

__all__ = ["Fault", "errors_of"]

Fault = tuple[str, str, str | None, str, str]
"""Code, step, route, field, message."""


def errors_of(plan: Plan) -> Iterator[Fault]:
    """Yield all faults of a plan, step by step."""
    if not plan.steps:
        yield "route/plan", "", None, "steps", "is empty; a plan has at least one step"
    counts = Counter(step.id for step in plan.steps)
    told: set[str] = set()
    for at, step in enumerate(plan.steps):
        yield from _id_faults(step, at)
        if step.id and counts[step.id] > 1 and step.id not in told:
            told.add(step.id)
            yield "route/plan", step.id, None, "id", "is the id of two steps; each its own"
        yield from _step_faults(plan, step)
        if step.router is not None:
            yield from _router_faults(plan, step, step.router)
    yield from _endless(plan)


def _id_faults(step: PlanStep, at: int) -> Iterator[Fault]:
    shown = step.id or f"steps[{at}]"
    fault = id_fault(step.id)
    if not step.id:
        yield "route/plan", shown, None, "id", "is empty; every step has an id"
    elif fault is not None:
        yield "route/unsafe-path", shown, None, "id", fault
    elif step.id == END:
        yield "route/plan", shown, None, "id", f"`{END}` is the destination behind the last step"


def _step_faults(plan: Plan, step: PlanStep) -> Iterator[Fault]:
    if step.router is None and step.next_step_id is not None:
        yield from _destination(plan, step, None, "next_step_id", step.next_step_id)
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
    plan: Plan, step: PlanStep, route_id: str | None, field: str, target: str
) -> Iterator[Fault]:
    known = [one.id for one in plan.steps]
    if target in (END, *known):
        return
    said = "is empty" if not target else f"leads to {_core.preview(target)}, which is no step"
    message = f"{said}{hint(target, known)}; name a step, or {END}"
    yield "route/plan", step.id, route_id, field, message


def _router_faults(plan: Plan, step: PlanStep, router: Router) -> Iterator[Fault]:
    if router.description or step.description:
        message = "must be empty: a router does no work; use the question, or a step before it"
        yield "route/description", step.id, None, "description", message
    if len(router.routes) < 2:  # noqa: PLR2004 (a choice)
        message = f"has {len(router.routes)}; a router has at least two"
        yield "route/plan", step.id, None, "routes", message
    yield from _route_faults(plan, step, router)
    ids = [route.route_id for route in router.routes]
    default = router.default_route_id
    if default is not None and default not in ids:
        message = f"{_core.preview(default)} is no route{hint(default, ids)}; one of {_list(ids)}"
        yield "route/bad-default", step.id, None, "default_route_id", message
    yield from _dependency_faults(plan, step, router)
    yield from _check_faults(plan, step, router)


def _route_faults(plan: Plan, step: PlanStep, router: Router) -> Iterator[Fault]:
    counts = Counter(route.route_id for route in router.routes)
    for name, count in counts.items():
        if name and count > 1:
            yield "route/plan", step.id, name, "route_id", "stands twice; each id once"
    for at, route in enumerate(router.routes):
        fault = id_fault(route.route_id)
        if not route.route_id:
            yield "route/plan", step.id, None, f"routes[{at}].route_id", "is empty"
        elif fault is not None:
            yield "route/unsafe-path", step.id, route.route_id, f"routes[{at}].route_id", fault
        field = f"routes[{at}].next_step_id"
        yield from _destination(plan, step, route.route_id or None, field, route.next_step_id)


def _dependency_faults(plan: Plan, step: PlanStep, router: Router) -> Iterator[Fault]:
    field = "context_dependencies"
    for reference in references(router):
        fault = reference_fault(reference)
        if fault is not None:
            yield "route/unsafe-path", step.id, None, field, f"{_core.preview(reference)}: {fault}"
            continue
        found = producers(plan, step.id, reference)
        if not found:
            message = (
                f"{reference}: no earlier step declares {SELECTION} in its context_output"
                + _later(plan, step, reference)
            )
            yield "route/plan", step.id, None, field, message
        elif found[-1].router is not None or found[-1].kind in KINDS:
            message = f"{reference}: {found[-1].id} is a router, and no router decides for another"
            yield "route/plan", step.id, None, field, message


def _later(plan: Plan, step: PlanStep, reference: str) -> str:
    wanted = reference.rpartition("/")[0]
    later = [
        one.id
        for one in plan.steps
        if SELECTION in one.context_output and one.id != step.id and wanted in ("", one.id)
    ]
    return f"; {_list(later)} comes later" if later else ""


def _check_faults(plan: Plan, step: PlanStep, router: Router) -> Iterator[Fault]:
    """Yield what is wrong with a router whose routes have checks, or only some of them."""
    if not router.has_checks:
        if router.value_from is not None:
            message = "is read by routes with checks (`when`), and no route has any"
            yield "route/plan", step.id, None, "value_from", message
        return
    bare = [route.route_id for route in router.routes if not route.when]
    if bare or router.route_source_file is not None or references(router):
        beside = f"routes without: {_list(bare)}" if bare else "a file of a choice is declared"
        message = f"a router has checks on all its routes, or reads a choice; not both ({beside})"
        yield "route/plan", step.id, None, "routes", message
    yield from _record_faults(plan, step, router)
    for at, route in enumerate(router.routes):
        if route.when:
            yield from _condition_faults(step, route, at)


def _record_faults(plan: Plan, step: PlanStep, router: Router) -> Iterator[Fault]:
    wanted = router.value_from
    if wanted is None:
        message = "is required with checks: `step/file.json`, the record that they read"
        yield "route/plan", step.id, None, "value_from", message
        return
    fault = "must be `step/file.json`" if "/" not in wanted else reference_fault(wanted)
    if fault is not None:
        yield "route/unsafe-path", step.id, None, "value_from", f"{_core.preview(wanted)}: {fault}"
        return
    owner = wanted.partition("/")[0]
    before: list[str] = []
    for one in plan.steps:
        if one.id == step.id:
            break
        before.append(one.id)
    if owner not in before:
        message = f"{owner} is no earlier step{hint(owner, before)}"
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


def _endless(plan: Plan) -> Iterator[Fault]:
    """Find steps that lead back to themselves without a router between: nothing ever ends that."""
    following = after(plan)
    if len(following) < len(plan.steps) or END in following:
        # What follows what is told by ids, and those are wrong already.
        return
    routers = {step.id for step in plan.steps if step.router is not None}
    plain = {name: to for name, to in following.items() if name not in routers}
    told: set[str] = set()
    for step in plan.steps:
        if step.id in told or step.id not in plain:
            continue
        circle = reached(plain[step.id], plain)
        if step.id in circle:
            told |= circle
            names = _list([one.id for one in plan.steps if one.id in circle])
            message = f"{names} lead back to {step.id} without a router: that never ends"
            yield "route/plan", step.id, None, "next_step_id", message


def _list(names: list[str]) -> str:
    return ", ".join(names)
