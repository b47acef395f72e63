"""What a router takes, from the promises alone: the first place where anything stands decides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

FIELDS = ("select_route", "route_id", "selected_route_id")
NAME = "route_selection.json"
FOLDER = "a folder in place of a file"
Content = bytes | str | None
"""What stands in a place: a file, a word for what is none, or nothing."""


class Refused(Exception):
    """A router takes no route; the code says why."""


@dataclass
class World:
    """All that a router may look at.

    Attributes:
        plan: The plan, as data.
        caller: The caller's choices, by router, as ids of routes.
        files: What stands in the workspace, by path; of the run under `execution/`.
        taken: How often each route of each router was taken.
        done: The steps that ran to their end.
    """

    plan: dict[str, Any]
    caller: dict[str, str] = field(default_factory=dict)
    files: dict[str, Content] = field(default_factory=dict)
    taken: dict[str, dict[str, int]] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)


def take(world: World, router_id: str) -> dict[str, Any]:
    """Say which route a router takes, and count it; raise what is refused."""
    (router,) = [step for step in world.plan["steps"] if step["id"] == router_id]
    absent: list[str] = []
    route, kind, path = None, "default", ""
    for kind_, path_, content in places(world, router):
        if content is not None:
            route, kind, path = chosen(router, kind_, content), kind_, path_
            break
        absent.append(path_)
    if route is None:
        if path == "" and router.get("require_source"):
            raise Refused("route/missing-source")
        route = router.get("default_route_id")
        if route is None:
            raise Refused("route/unknown" if path else "route/no-source")
        kind, path = "default", ""
    counts = world.taken.setdefault(router_id, {})
    if counts.get(route, 0) >= router.get("max_visits", 2):
        raise Refused("route/loop")
    counts[route] = counts.get(route, 0) + 1
    (target,) = [one["next_step_id"] for one in router["routes"] if one["route_id"] == route]
    owners = [place.split("/")[1] for place in absent if place.endswith(f"/{NAME}")]
    return {
        "route_id": route,
        "next_step_id": target,
        "source_kind": kind,
        "source_path": path,
        "visit": sum(counts.values()),
        "absent": absent,
        "silent": [name for name in owners if name in world.done and name != router_id],
    }


def places(world: World, router: dict[str, Any]) -> Iterator[tuple[str, str, Content]]:
    """List where a choice may stand: R-20, R-21."""
    mine = world.caller.get(router["id"])
    said = None if mine is None else json.dumps({"select_route": mine}).encode()
    yield "caller", "route_selections", said
    if "value_from" in router:
        path = f"execution/{router['value_from']}"
        yield "value_from", path, world.files.get(path)
        return
    own = f"execution/{router['id']}/{NAME}"
    content = world.files.get(own)
    # what a router wrote of itself is no source, neither now nor later.
    yield "preseed", own, None if content is not None and is_marked(content) else content
    shared = router.get("route_source_file")
    if shared is not None:
        yield "route_source_file", shared, world.files.get(shared)
    for dependency in router.get("context_dependencies", ()):
        if dependency.split("/")[-1] == NAME:
            path = f"execution/{writer(world, router, dependency)}/{NAME}"
            yield "context_dependency", path, world.files.get(path)


def writer(world: World, router: dict[str, Any], dependency: str) -> str:
    """Name the step whose file is meant: the one that is named, or the latest that declares it."""
    if "/" in dependency:
        return dependency.split("/", maxsplit=1)[0]
    found = ""
    for step in world.plan["steps"]:
        if step["id"] == router["id"]:
            break
        if NAME in step.get("context_output", ()):
            found = step["id"]
    return found


def chosen(router: dict[str, Any], kind: str, content: Content) -> str | None:
    """Name the route that a content means; None leaves a record to the default."""
    if kind == "value_from":
        data = parsed(content, 32 << 20)
        if isinstance(data, dict) and isinstance(data.get("n"), int):
            # The checks of the tests: at least so much.
            for route in router["routes"]:
                if data["n"] >= route["when"][0]["expected"]:
                    return str(route["route_id"])
        return None
    routes = [named(router, value) for value in values(content)]
    if any(route != routes[0] for route in routes):
        raise Refused("route/conflicting-fields")
    if routes[0].startswith("route/"):
        raise Refused(routes[0])
    return routes[0]


def named(router: dict[str, Any], value: str) -> str:
    """Name the route of a value, or say what is wrong: R-05 to R-08."""
    ids = [one["route_id"] for one in router["routes"]]
    leading = [one["route_id"] for one in router["routes"] if one["next_step_id"] == value]
    if value in ids:
        return value
    if len(leading) > 1:
        return "route/ambiguous"
    return str(leading[0]) if leading else f"route/unknown: {value}"


def values(content: Content) -> list[str]:
    """Read every field of a choice: R-02 to R-04, R-10."""
    data = parsed(content, 65_536)
    if levels(data) > 32:
        raise Refused("route/unreadable")
    if not isinstance(data, dict):
        raise Refused("route/not-object")
    if marks(data):
        raise Refused("route/evidence-as-source")
    found = [data[name] for name in FIELDS if name in data]
    if not found:
        raise Refused("route/field-missing")
    for value in found:
        if not isinstance(value, str):
            raise Refused("route/not-string")
        if not value.strip():
            raise Refused("route/blank")
    return [value.strip() for value in found]


def parsed(content: Content, limit: int) -> Any:
    """Read JSON of which no key stands twice."""
    if not isinstance(content, bytes) or len(content) > limit:
        raise Refused("route/unreadable")
    twice: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(pairs) > len({name for name, _ in pairs}):
            twice.append("")
        return dict(pairs)

    try:
        data = json.loads(content.decode("utf-8-sig"), object_pairs_hook=once)
    except UnicodeDecodeError:
        raise Refused("route/unreadable") from None
    except ValueError:
        raise Refused("route/not-json") from None
    if twice:
        raise Refused("route/duplicate-key")
    return data


def is_marked(content: Content) -> bool:
    """Say whether a file is what a router left; one that cannot be read is not."""
    try:
        data = parsed(content, 65_536)
    except Refused:
        return False
    return isinstance(data, dict) and levels(data) <= 32 and marks(data)


def marks(data: dict[str, Any]) -> bool:
    return data.get("evidence") is True or str(data.get("schema", "")).startswith(
        "interlock.route-evidence/"
    )


def levels(data: Any) -> int:
    if not isinstance(data, dict | list):
        return 0
    inner = data.values() if isinstance(data, dict) else data
    return 1 + max(map(levels, inner), default=0)
