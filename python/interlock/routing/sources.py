"""Where the bytes of a choice come from, in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from interlock import _core
from interlock.errors import RouteError, RouteFileError
from interlock.routing._graph import Graph, references
from interlock.routing._names import SELECTION, reference_fault
from interlock.routing._outside import absolute, shared_file
from interlock.routing._typed import must_be
from interlock.routing.choice import RECORD_LIMIT, SIZE_LIMIT, is_evidence, written
from interlock.routing.evidence import EXECUTION
from interlock.routing.resolve import A_ROUTER, placed
from interlock.routing.shapes import Plan, Router, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from interlock.routing._files import Parts
    from interlock.routing.folder import RunFolder
    from interlock.routing.shapes import SourceKind

__all__ = ["silent_producers", "sources_for"]

CALLER = "route_selections"


def sources_for(
    plan: Plan | None,
    router: Router,
    run: RunFolder,
    route_selections: Mapping[str, str] | None = None,
) -> tuple[Source, ...]:
    """Look for the choice of a router, and stop where there is one.

    In order: what the caller chose; the file in the router's own folder; the shared file; the files
    of the steps that it depends on, in declared order. What stands behind the first that is there
    is not looked at. For a router with checks: the caller, then its record.

    Args:
        plan: The plan, which says who writes a `route_selection.json` that names no step.
        router: The router.
        run: The folder of the run.
        route_selections: What the caller chose; what is kept with the run when None.

    Raises:
        RouteFileError: For a file that is there and cannot be read.
        ConfigError: For what is no plan, router, folder or mapping.
    """
    from interlock.routing.folder import RunFolder

    must_be(plan, Plan | None, "plan", "a Plan(...), or None")
    must_be(router, Router, "router", A_ROUTER)
    must_be(run, RunFolder, "run", "a RunFolder(...)")
    must_be(route_selections, Mapping | None, CALLER, "a mapping of routers to routes")
    chosen = run.selections() if route_selections is None else route_selections
    found: list[Source] = []
    for source in _looked_at(plan, router, run, chosen):
        found.append(source)
        if source.content is not None:
            break
    return tuple(found)


def _looked_at(
    plan: Plan | None, router: Router, run: RunFolder, chosen: Mapping[str, str]
) -> Iterator[Source]:
    mine = chosen.get(router.id)
    yield Source("caller", CALLER, None if mine is None else written(mine))
    if router.has_checks:
        record = router.value_from or ""
        _refuse(router, "must be `step/file.json`" if "/" not in record else None, record)
        yield _read(router, run, "value_from", (EXECUTION, *record.split("/")), RECORD_LIMIT)
        return
    own = _read(router, run, "preseed", (EXECUTION, router.id, SELECTION))
    if own.content is not None and is_evidence(own.content):
        own = Source(own.kind, own.path, None)
    yield own
    if router.route_source_file is not None:
        yield _shared(router, run, router.route_source_file)
    for reference in references(router):
        yield _read(router, run, "context_dependency", _place(plan, router, reference))


def _place(plan: Plan | None, router: Router, reference: str) -> Parts:
    _refuse(router, None, reference)
    owner = reference.rpartition("/")[0]
    if not owner:
        found = [] if plan is None else Graph(plan).producers(router.id, reference)
        if plan is None or not found:
            message = f"{reference}: no earlier step declares it; write `step/{SELECTION}`"
            raise RouteError("route/plan", message, router_id=router.id)
        owner = plan.steps[found[-1]].id
    return EXECUTION, owner, SELECTION


def _refuse(router: Router, fault: str | None, reference: str) -> None:
    """Refuse what would lead out of the folder of the run."""
    fault = fault or reference_fault(reference)
    if fault is not None:
        shown = _core.preview(reference)
        raise RouteError("route/unsafe-path", fault, router_id=router.id, value=shown)


def _read(
    router: Router, run: RunFolder, kind: SourceKind, parts: Parts, limit: int = SIZE_LIMIT
) -> Source:
    path = "/".join(parts)
    try:
        return Source(kind, path, run.files.read(run.path, parts, limit))
    except RouteFileError as error:
        raise placed(error, router, Source(kind, path, None)) from error.__cause__


def _shared(router: Router, run: RunFolder, path: str) -> Source:
    try:
        return Source("route_source_file", path, shared_file(absolute(run.root, path), SIZE_LIMIT))
    except RouteFileError as error:
        nowhere = Source("route_source_file", path, None)
        raise placed(error, router, nowhere) from error.__cause__


def silent_producers(
    router_id: str, absent: Iterable[str], done: Callable[[], Collection[str]]
) -> tuple[str, ...]:
    """Return the steps that ran to their end and wrote no choice where one was looked for."""
    places = (tuple(path.split("/")) for path in absent)
    asked = [
        owner
        for home, owner, name in (place for place in places if len(place) == 3)  # noqa: PLR2004
        if home == EXECUTION and name == SELECTION and owner != router_id
    ]
    # Who ran is read from the journal, which grows: only where it matters.
    ran = done() if asked else ()
    return tuple(owner for owner in asked if owner in ran)
