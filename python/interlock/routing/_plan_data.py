"""Plans as data: read with every fault of their form, unknown fields kept, and written back."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar, cast

from interlock import _core
from interlock.errors import ConfigError, Problem, SpecInvalid
from interlock.harness._config import raise_problems, wrong
from interlock.routing._outside import read_file
from interlock.routing.shapes import MAX_VISITS, Plan, PlanStep, Route, Router, visits_problems

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ROUTE_FIELDS", "load", "plan_data", "read_bytes", "read_plan", "read_steps"]

T = TypeVar("T", bound=Plan)

KINDS = ("routing", "branch")
_QUESTIONS = ("routing_question", "branch_question", "question")
ROUTE_FIELDS = (
    "routes",
    "default_route_id",
    "route_source_file",
    "require_source",
    "max_visits",
    "value_from",
    *_QUESTIONS[:2],
)
"""What only a router has; a step that carries one without saying what it is, is a router."""
_BOM = b"\xef\xbb\xbf"


def load(cls: type[T], plan: str | PathLike[str] | bytes | Mapping[str, Any]) -> T:
    """Read a plan; see `Plan.load`."""
    if isinstance(plan, Mapping):
        return read_plan(cls, plan)
    if isinstance(plan, bytes):
        return read_plan(cls, read_bytes(plan))
    if not isinstance(plan, str | PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
        message = "must be a path, the bytes of a file, or a mapping"
        raise_problems([wrong(plan, "plan", message)])
    return read_plan(cls, read_bytes(read_file(plan)), source=str(plan))


def read_bytes(content: bytes) -> object:
    """Read the JSON of a plan; a key that stands twice is refused."""
    return _core.Json(content.removeprefix(_BOM), unique_keys=True).to_python()


def read_plan(cls: type[T], data: object, *, source: str | None = None) -> T:
    """Read a plan from data, or raise with every fault of its form."""
    problems: list[Problem] = []
    steps, extra = read_steps(data, problems)
    if problems:
        raise SpecInvalid(tuple(problems))
    return cls(steps, source=source, extra=extra)


def read_steps(
    data: object, problems: list[Problem]
) -> tuple[tuple[PlanStep, ...], dict[str, Any]]:
    """Read the steps of a plan, and what else stands there; faults are added to the problems."""
    if not isinstance(data, Mapping):
        problems.append(wrong(data, "plan", 'must be a mapping with "steps"'))
        return (), {}
    try:
        plain = cast("dict[str, Any]", _core.plain(cast("object", data), "plan"))
    except ConfigError as error:
        problems += error.problems
        return (), {}
    given = _Fields(plain, "", problems)
    steps = given.listed("steps", _step)
    if "steps" not in plain:
        problems.append(Problem("spec/missing-field", "steps", None, "is required: the steps"))
    return tuple(steps), given.rest()


def _step(given: _Fields) -> PlanStep:
    kind = given.text("kind", "type", "step_type")
    carried = [name for name in ROUTE_FIELDS if name in given.data]
    if not kind:
        kind = ("branch" if "branch_question" in carried else "routing") if carried else "step"
    step_id = given.text("id", "step_id")
    dependencies = given.names("context_dependencies")
    description = given.text("description")
    router = None
    if kind in KINDS:
        router = Router(
            step_id,
            tuple(given.listed("routes", _route)),
            default_route_id=given.text("default_route_id") or None,
            route_source_file=given.text("route_source_file") or None,
            context_dependencies=dependencies,
            question=given.text(*_QUESTIONS),
            description=description,
            kind=cast("Any", kind),
            require_source=given.flag("require_source"),
            max_visits=given.visits("max_visits"),
            value_from=given.text("value_from") or None,
        )
    return PlanStep(
        step_id,
        kind,
        next_step_id=given.text("next_step_id") or None,
        context_output=given.names("context_output"),
        context_dependencies=dependencies,
        router=router,
        title=given.text("title"),
        description=description,
        extra=given.rest(),
    )


def _route(given: _Fields) -> Route:
    match = given.text("match") or "all"
    if match not in ("all", "any"):
        given.fault("match", match, "must be all or any")
        match = "all"
    return Route(
        given.text("route_id", "id"),
        given.text("next_step_id"),
        given.text("name", "route_name"),
        given.text("condition"),
        when=tuple(given.list_of("when")),
        match=cast("Any", match),
        extra=given.rest(),
    )


class _Fields:
    """A mapping that is read field by field; what is not asked for is the rest."""

    def __init__(self, data: dict[str, Any], place: str, problems: list[Problem]) -> None:
        self.data, self.place, self.problems = data, place, problems
        self.seen: set[str] = set()

    def rest(self) -> dict[str, Any]:
        return {name: value for name, value in self.data.items() if name not in self.seen}

    def fault(self, name: str, value: object, message: str) -> None:
        self.problems.append(wrong(value, f"{self.place}{name}", message))

    def _take(self, *names: str) -> tuple[str, Any]:
        """Give the first of some names that is there, and what it holds; null is as absent."""
        for name in names:
            if self.data.get(name) is not None:
                self.seen.add(name)
                return name, self.data[name]
        self.seen.update(names[:1])
        return names[0], None

    def text(self, *names: str) -> str:
        name, value = self._take(*names)
        if value is None or isinstance(value, str):
            return value or ""
        self.fault(name, value, "must be text")
        return ""

    def flag(self, name: str) -> bool:
        _, value = self._take(name)
        if value is not None and not isinstance(value, bool):
            self.fault(name, value, "must be true or false")
        return value is True

    def visits(self, name: str) -> int:
        _, value = self._take(name)
        found = [] if value is None else visits_problems(value, f"{self.place}{name}")
        self.problems += found
        return MAX_VISITS if value is None or found else int(value)

    def list_of(self, name: str) -> list[Any]:
        _, value = self._take(name)
        listed: list[Any] = cast("Any", value) if isinstance(value, list) else []
        if value is not None and not isinstance(value, list):
            self.fault(name, value, "must be a list")
        return listed

    def names(self, name: str) -> tuple[str, ...]:
        """Read a list of names, or text with commas between them."""
        _, value = self._take(name)
        parts: object = value.split(",") if isinstance(value, str) else value
        listed = cast("list[object]", parts) if isinstance(parts, list) else []
        is_listed = parts is None or isinstance(parts, list)
        if not is_listed or not all(isinstance(one, str) for one in listed):
            self.fault(name, value, "must be a list of names, or text with commas between them")
        trimmed = [one.strip() for one in listed if isinstance(one, str)]
        return tuple(one for one in trimmed if one)

    def listed(self, name: str, read: Callable[[_Fields], Any]) -> list[Any]:
        """Read a list of mappings."""
        found: list[Any] = []
        for at, one in enumerate(self.list_of(name)):
            place = f"{self.place}{name}[{at}]"
            if isinstance(one, dict):
                found.append(read(_Fields(cast("Any", one), f"{place}.", self.problems)))
            else:
                self.problems.append(wrong(one, place, "must be a mapping"))
        return found


def plan_data(plan: Plan) -> dict[str, Any]:
    """Write a plan as data."""
    return {"steps": [_step_data(step) for step in plan.steps], **plan.extra}


def _step_data(step: PlanStep) -> dict[str, Any]:
    wire = {
        "id": step.id,
        "kind": step.kind,
        "title": step.title,
        "description": step.description,
        "next_step_id": step.next_step_id,
        "context_output": list(step.context_output),
        "context_dependencies": list(step.context_dependencies),
    }
    if step.router is not None:
        wire |= _router_data(step.router)
    kept = ("id", "kind", "routes")
    return {
        **{name: value for name, value in wire.items() if name in kept or value},
        **step.extra,
    }


def _router_data(router: Router) -> dict[str, Any]:
    return {
        f"{router.kind}_question": router.question,
        "routes": [_route_data(route) for route in router.routes],
        "default_route_id": router.default_route_id,
        "route_source_file": router.route_source_file,
        "require_source": router.require_source,
        "max_visits": router.max_visits if router.max_visits != MAX_VISITS else None,
        "value_from": router.value_from,
    }


def _route_data(route: Route) -> dict[str, Any]:
    wire = {
        "name": route.name,
        "condition": route.condition,
        "when": list(route.when),
        "match": route.match if route.match != "all" else None,
    }
    return {
        "route_id": route.route_id,
        "next_step_id": route.next_step_id,
        **{name: value for name, value in wire.items() if value},
        **route.extra,
    }
