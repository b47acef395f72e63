"""The resolver: bytes in, a route out. No file is opened here, and no clock is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import TYPE_CHECKING

from interlock import _core
from interlock.errors import ConfigError, RouteError, RouteFileError
from interlock.routing._names import hint
from interlock.routing._typed import must_be, must_count
from interlock.routing.choice import RECORD_LIMIT, choices_in, conflicting, json_of
from interlock.routing.shapes import Route, Router, Selection, Source
from interlock.tools.branch import Branch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlock.routing.choice import Choice

__all__ = ["match", "resolve"]

A_ROUTER = "a Router(...), such as one of the routers of a plan"
_DECLARED = ("route_source_file", "context_dependency", "value_from")


def match(router: Router, value: str) -> Route:
    """Return the route that a value names: by its id, else by a destination that it alone has.

    Raises:
        RouteError: `route/unknown`, `route/ambiguous`.
        ConfigError: For what is no router, or no text.
    """
    must_be(router, Router, "router", A_ROUTER)
    must_be(value, str, "value", "text: the id of a route, or its destination")
    for route in router.routes:
        if route.route_id == value:
            return route
    leading = [route for route in router.routes if route.next_step_id == value]
    if len(leading) == 1:
        return leading[0]
    if leading:
        shared = ", ".join(route.route_id for route in leading)
        message = f"is the destination of several routes; write one of their ids: {shared}"
        raise _refused(router, "route/ambiguous", message, value)
    ids = [route.route_id for route in router.routes]
    near = hint(value, [*ids, *(route.next_step_id for route in router.routes)])
    message = f"is no route of this router{near}; write one of {', '.join(router.available)}"
    raise _refused(router, "route/unknown", message, value)


def resolve(router: Router, sources: Sequence[Source], *, visit: int = 1) -> Selection:
    """Take the route that the first source with content names.

    Content that is there and bad is an error; neither a later source nor the default is asked. The
    default is for the case that no source is there at all.

    Args:
        router: The router.
        sources: Where a choice may stand, in order; see `sources_for`.
        visit: Which visit of the router it is, from 1.

    Raises:
        RouteError: With the router, the source, the value and the routes that there are.
        ConfigError: For what is no router, or no source.
    """
    must_be(router, Router, "router", A_ROUTER)
    must_be(sources, Iterable, "sources", "a list of Source(...)")
    must_count(visit, "visit")
    _check(router)
    absent: list[str] = []
    for at, source in enumerate(sources):
        must_be(source, Source, f"sources[{at}]", "Source(...)")
        if source.content is not None:
            return _decided(router, source, source.content, visit, tuple(absent))
        absent.append(source.path)
    declared = [source.path for source in sources if source.kind in _DECLARED]
    if router.require_source:
        places = ", ".join(declared) or "none is declared"
        raise _refused(
            router,
            "route/missing-source",
            f"a source is required, and there is none ({places}); the step that decides must "
            "write it",
        )
    return _default(router, visit, tuple(absent))


def _check(router: Router) -> None:
    """Refuse a router that has no meaning, whatever it reads."""
    if router.description:
        message = "a router does no work: its description must be empty; use the question"
        raise _refused(router, "route/description", message, router.description)
    counts = Counter(route.route_id for route in router.routes)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise _refused(
            router, "route/plan", f"has the route {', '.join(twice)} twice; each id once"
        )


def _default(router: Router, visit: int, absent: tuple[str, ...]) -> Selection:
    wanted = router.default_route_id
    if wanted is None:
        places = ", ".join(absent) or "nowhere"
        message = f"no choice was found, and there is no default; looked at: {places}"
        raise _refused(router, "route/no-source", message)
    route = next((route for route in router.routes if route.route_id == wanted), None)
    if route is None:
        near = hint(wanted, [route.route_id for route in router.routes])
        message = f"is the default and no route{near}; write one of {', '.join(router.available)}"
        raise _refused(router, "route/bad-default", message, wanted)
    return Selection(
        router.id, route.route_id, route.next_step_id, "default", "", "", "", visit, absent, ""
    )


def _decided(
    router: Router, source: Source, content: bytes, visit: int, absent: tuple[str, ...]
) -> Selection:
    try:
        if source.kind == "value_from":
            route, field, value = _checked(router, content)
        else:
            route, choice = _chosen(router, choices_in(content))
            field, value = choice.field, choice.value
    except RouteError as error:
        raise placed(error, router, source) from None
    if route is None:
        return _default(router, visit, absent)
    return Selection(
        router_id=router.id,
        route_id=route.route_id,
        next_step_id=route.next_step_id,
        source_kind=source.kind,
        source_path=source.path,
        field=field,
        raw_value=value,
        visit=visit,
        absent=absent,
        digest=sha256(content).hexdigest(),
    )


def _chosen(router: Router, found: list[Choice]) -> tuple[Route, Choice]:
    """Give the route that all fields name, and the first of them."""
    first = found[0]
    if all(choice.value == first.value for choice in found):
        return match(router, first.value), first
    try:
        routes = {match(router, choice.value).route_id for choice in found}
    except RouteError:
        raise conflicting(found) from None
    if len(routes) > 1:
        raise conflicting(found)
    return match(router, first.value), first


def _checked(router: Router, content: bytes) -> tuple[Route | None, str, str]:
    """Give the first route whose checks hold for a record; None leaves it to the default."""
    if len(content) > RECORD_LIMIT:
        message = f"is a record over the limit of {RECORD_LIMIT} bytes"
        raise RouteFileError("route/unreadable", message)
    record = json_of(content)
    arms = [
        {"name": route.route_id, "when": list(route.when), "match": route.match}
        for route in router.routes
        if route.when
    ]
    try:
        branch = Branch(arms, strict=True)
    except ConfigError as error:
        message = "; ".join(map(str, error.problems))
        raise RouteError("route/plan", f"its checks do not compile: {message}") from None
    answer = branch.decide(record)
    if answer.undetermined is not None:
        message = f"the checks are undetermined, and that is no no: {answer.undetermined}"
        raise RouteError("route/undetermined", message)
    if answer.name is not None:
        return match(router, answer.name), "when", answer.name
    if router.default_route_id is not None:
        return None, "when", ""
    message = f"the checks of no route hold, and there is no default: {', '.join(router.available)}"
    raise RouteError("route/unknown", message)


def placed(error: RouteError, router: Router | None, source: Source | None) -> RouteError:
    """Say of an error which router and which source it is about."""
    if router is not None:
        error.router_id = router.id
        error.available = error.available or router.available
    if source is not None:
        error.source_kind, error.source_path = source.kind, source.path
    return error


def _refused(router: Router, code: str, message: str, value: str | None = None) -> RouteError:
    return RouteError(
        code,
        message,
        router_id=router.id,
        value=None if value is None else _core.preview(value),
        available=router.available,
    )
