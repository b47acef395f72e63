"""What is probably not meant so in a plan that can be run."""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import TYPE_CHECKING

from interlock.routing._graph import after, producers, reached, references
from interlock.routing._names import END

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock.routing._check_errors import Fault
    from interlock.routing.shapes import Plan, PlanStep, Router

__all__ = ["warnings_of"]


def warnings_of(plan: Plan, workspace: str | None = None) -> Iterator[Fault]:
    """Yield all that is doubtful, step by step."""
    following = after(plan)
    live = reached([plan.steps[0].id] if plan.steps else [], following)
    folded = Counter(step_id.lower() for step_id in {step.id for step in plan.steps})
    for step in plan.steps:
        if folded[step.id.lower()] > 1:
            message = "differs from another id in case alone: one folder on some systems"
            yield "route/same-folder", step.id, None, "id", message
        if step.router is None:
            continue
        if step.id not in live:
            yield "route/unreachable", step.id, None, "id", "no step leads to this router"
        yield from _destinations(step.router)
        yield from _sources(plan, step, step.router, workspace)
        yield from _certain_loops(plan, step.router, following)
        if not step.router.question:
            message = "is empty; say for readers what is decided here"
            yield "route/no-question", step.id, None, "question", message


def _destinations(router: Router) -> Iterator[Fault]:
    targets = Counter(route.next_step_id for route in router.routes)
    if set(targets) == {END}:
        message = f"all lead to {END}: the router decides nothing and can be left out"
        yield "route/all-to-end", router.id, None, "routes", message
        return
    for target, count in targets.items():
        if count > 1:
            message = f"{count} routes lead to {target}, which therefore names none of them"
            yield "route/shared-destination", router.id, None, "routes", message
    for route in router.routes:
        others = [one for one in router.routes if one.next_step_id == route.route_id]
        if any(one is not route for one in others):
            message = f"is also the destination of {others[0].route_id}; as a choice it is the id"
            yield "route/id-is-destination", router.id, route.route_id, "route_id", message


def _sources(plan: Plan, step: PlanStep, router: Router, workspace: str | None) -> Iterator[Fault]:
    declared = [*references(router), *filter(None, [router.route_source_file, router.value_from])]
    if router.default_route_id is not None and declared and not router.require_source:
        message = (
            f"stands beside {', '.join(declared)}: it hides a step that failed to write; drop it, "
            "or set require_source"
        )
        yield "route/default-beside-source", router.id, None, "default_route_id", message
    for reference in references(router):
        found = producers(plan, step.id, reference)
        if len(found) > 1:
            names = ", ".join(one.id for one in found)
            message = f"{reference} is declared by {names}; the last counts: write step/{reference}"
            yield "route/two-producers", router.id, None, "context_dependencies", message
    shared = router.route_source_file
    if shared is not None and _is_outside(shared, workspace):
        message = f"{shared} is outside of the workspace"
        yield "route/outside-workspace", router.id, None, "route_source_file", message


def _is_outside(path: str, workspace: str | None) -> bool:
    plain = posixpath.normpath(path.replace("\\", "/"))
    if plain.startswith("/") or plain[1:2] == ":":
        home = None if workspace is None else posixpath.normpath(workspace.replace("\\", "/"))
        return home is None or not f"{plain}/".startswith(f"{home.rstrip('/')}/")
    return plain == ".." or plain.startswith("../")


def _certain_loops(
    plan: Plan, router: Router, following: dict[str, tuple[str, ...]]
) -> Iterator[Fault]:
    """Find routes that lead back here with nothing between that could change what is read."""
    for route in router.routes:
        way = {
            name
            for name in reached([route.next_step_id], following)
            if router.id in reached(following[name], following)
        }
        if not way or any(_changes(plan, router, name) for name in way - {router.id}):
            continue
        message = f"leads back by {route.next_step_id}, and no step on the way changes the choice"
        yield "route/certain-loop", router.id, route.route_id, "next_step_id", message


def _changes(plan: Plan, router: Router, step_id: str) -> bool:
    """Say whether a step may change a source of a router."""
    step = plan.step(step_id)
    if step is None or step.router is not None:
        return False
    if router.route_source_file is not None:
        return True
    if router.value_from is not None and router.value_from.partition("/")[0] == step_id:
        return True
    written = [producers(plan, router.id, one)[-1:] for one in references(router)]
    return any(step in found for found in written)
