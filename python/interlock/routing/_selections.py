"""The caller's choices: a map of routers to routes, checked as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, cast

from interlock import _core
from interlock.errors import Problem, RouteError
from interlock.harness._config import raise_problems, wrong
from interlock.routing._names import FIELDS, hint
from interlock.routing.choice import written
from interlock.routing.resolve import match
from interlock.routing.shapes import Selection
from interlock.routing.sources import CALLER

if TYPE_CHECKING:
    from interlock.routing.shapes import Plan, Router

__all__ = ["checked_selections"]


def checked_selections(plan: Plan, given: object) -> tuple[Selection, ...]:
    """Read the caller's choices.

    Raises:
        ConfigError: For what is no mapping; one text does not say which router it is for.
        RouteError: With every fault.
    """
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        message = 'must be a mapping of routers to routes, such as {"router": "route"}'
        raise_problems([wrong(given, CALLER, message)])
    routers = {router.id: router for router in plan.routers}
    problems: list[Problem] = []
    found: list[Selection] = []
    for name, value in cast("Mapping[object, object]", given).items():
        router = routers.get(name) if isinstance(name, str) else None
        problem = _unknown(name, list(routers)) if router is None else None
        if router is not None:
            try:
                found.append(_selection(router, value))
            except RouteError as error:
                problem = _invalid(name, value, error)
        if problem is not None:
            problems.append(problem)
    if problems:
        raise _refused(problems)
    return tuple(found)


def _selection(router: Router, value: object) -> Selection:
    if not isinstance(value, str) or not value.strip():
        message = f"must be the text of one of {', '.join(router.available)}"
        raise RouteError("route/selection-invalid", message)
    route = match(router, value.strip())
    return Selection(
        router_id=router.id,
        route_id=route.route_id,
        next_step_id=route.next_step_id,
        source_kind="caller",
        source_path=CALLER,
        field=FIELDS[0],
        raw_value=value,
        visit=1,
        absent=(),
        digest=sha256(written(route.route_id)).hexdigest(),
    )


def _unknown(name: object, routers: list[str]) -> Problem:
    known = ", ".join(routers) or "none"
    message = f"no router of that id{hint(name, routers)}; the routers are: {known}"
    return Problem(
        "route/selection-unknown-router", f"{CALLER}.{_shown(name)}", _core.preview(name), message
    )


def _invalid(name: object, value: object, error: RouteError) -> Problem:
    field = f"{CALLER}.{_shown(name)}"
    return Problem("route/selection-invalid", field, _core.preview(value), error.message)


def _shown(name: object) -> str:
    return name if isinstance(name, str) else _core.preview(name)


def _refused(problems: list[Problem]) -> RouteError:
    first = problems[0]
    codes = {problem.code for problem in problems}
    message = f"{first.field}: {first.message}"
    if len(problems) > 1:
        message = f"{len(problems)} problems with {CALLER}:"
    return RouteError(
        first.code if len(codes) == 1 else "route/selection-invalid",
        message,
        source_kind="caller",
        source_path=CALLER,
        value=first.value if len(problems) == 1 else None,
        problems=tuple(problems),
    )
