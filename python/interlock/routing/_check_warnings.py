"""What is probably not meant so in a plan that can be run."""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import TYPE_CHECKING

from interlock.routing._graph import Graph, circles, reached, references
from interlock.routing._names import END, some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock.routing._check_errors import Fault
    from interlock.routing.shapes import Plan, PlanStep, Route, Router

__all__ = ["warnings_of"]


def warnings_of(plan: Plan, workspace: str | None = None) -> Iterator[Fault]:
    """Yield all that is doubtful, step by step."""
    graph = Graph(plan)
    live = set(reached(graph.ids[:1], graph.following))
    circle = circles(graph.following)
    working = {circle[step.id] for step in plan.steps if step.router is None}
    folded = Counter(step_id.lower() for step_id in graph.at)
    for step in plan.steps:
        if folded[step.id.lower()] > 1:
            message = "differs from another id in case alone: one folder on some systems"
            yield "route/same-folder", step.id, None, "id", message
        if step.router is None:
            continue
        if step.id not in live:
            yield "route/unreachable", step.id, None, "id", "no step leads to this router"
        yield from _destinations(step.router)
        yield from _sources(graph, step, step.router, workspace)
        if not _is_changed(graph, step.router, circle, working):
            yield from _certain_loops(step.router, circle)
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
    leading: dict[str, list[Route]] = {}
    for route in router.routes:
        leading.setdefault(route.next_step_id, []).append(route)
    for route in router.routes:
        others = leading.get(route.route_id, [])
        if any(one is not route for one in others):
            message = f"is also the destination of {others[0].route_id}; as a choice it is the id"
            yield "route/id-is-destination", router.id, route.route_id, "route_id", message


def _sources(
    graph: Graph, step: PlanStep, router: Router, workspace: str | None
) -> Iterator[Fault]:
    declared = [*references(router), *filter(None, [router.route_source_file, router.value_from])]
    if router.default_route_id is not None and declared and not router.require_source:
        message = (
            f"stands beside {', '.join(declared)}: it hides a step that failed to write; drop it, "
            "or set require_source"
        )
        yield "route/default-beside-source", router.id, None, "default_route_id", message
    for reference in references(router):
        found = graph.producers(step.id, reference)
        if len(found) > 1:
            names = some(found, graph.ids.__getitem__)
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


def _certain_loops(router: Router, circle: dict[str, str]) -> Iterator[Fault]:
    """Find routes that lead back here; nothing on any way changes what is read."""
    here = circle.get(router.id)
    for route in router.routes:
        if here is not None and circle.get(route.next_step_id) == here:
            message = (
                f"leads back by {route.next_step_id}, and no step on the way changes the choice"
            )
            yield "route/certain-loop", router.id, route.route_id, "next_step_id", message


def _is_changed(graph: Graph, router: Router, circle: dict[str, str], working: set[str]) -> bool:
    """Say whether a step on a way back to a router may change one of its sources."""
    here = circle.get(router.id)
    if router.route_source_file is not None:
        return here in working
    owners = {(router.value_from or "").partition("/")[0]}
    for reference in references(router):
        owners |= {graph.ids[at] for at in graph.producers(router.id, reference)[-1:]}
    return any(
        circle.get(name) == here and graph.plan.steps[graph.at[name]].router is None
        for name in owners & graph.at.keys()
    )
