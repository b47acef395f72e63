"""What a plan is made of, and what a router says: plain values."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

from interlock.harness._config import keywords, raise_problems, wrong
from interlock.record._data import Record
from interlock.routing._typed import take_fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from interlock.errors import Problem

__all__ = ["Plan", "PlanStep", "Route", "Router", "Selection", "Source"]

SourceKind = Literal["caller", "preseed", "route_source_file", "context_dependency", "value_from"]
RouterKind = Literal["routing", "branch"]
MAX_VISITS = 2


def visits_problems(value: object, field: str) -> list[Problem]:
    """Check how often a route may be taken."""
    if type(value) is int and value >= 1:
        return []
    return [wrong(value, field, f"must be a whole number, 1 or more; {MAX_VISITS} is usual")]


def _nothing() -> dict[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Route:
    """One way out of a router.

    Args:
        route_id: What a choice names.
        next_step_id: The step that it leads to; `end` ends the plan.
        name: For readers.
        condition: For readers; it is never evaluated.
        when: Checks of the record that the router names by `value_from`; then no choice is read.
        match: Whether `all` checks must hold, or `any`.
        extra: What else stood there in data; kept and never read.
    """

    route_id: str
    next_step_id: str
    name: str = ""
    condition: str = ""
    _: KW_ONLY
    when: Sequence[Any] = ()
    match: Literal["all", "any"] = "all"
    extra: Mapping[str, Any] = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        """Take any sequence; refuse what is of another kind."""
        names = ("route_id", "next_step_id", "name", "condition")
        texts: dict[str, type] = dict.fromkeys(names, str)
        take_fields(self, texts, lists={"when": object}, choices={"match": ("all", "any")})


@dataclass(frozen=True, slots=True)
class Router:
    """A switch on data: it reads what was decided, and jumps.

    Args:
        id: The id of its step.
        routes: Its routes, at least two.
        default_route_id: The route that is taken where no source is there.
        route_source_file: A file that is read as a source: absolute, or from the workspace.
        context_dependencies: Files of earlier steps, as `file` or `step/file`; those named
            `route_selection.json` are sources.
        question: For readers; it is never evaluated.
        description: Must be empty: a router does no work.
        kind: `routing` or `branch`, which are the same.
        require_source: Whether a declared source that is absent is an error, and not a default.
        max_visits: How often one of its routes may be taken in a run.
        value_from: The file that the checks of its routes read, as `step/file.json`.
    """

    id: str
    routes: Sequence[Route]
    _: KW_ONLY
    default_route_id: str | None = None
    route_source_file: str | None = None
    context_dependencies: Sequence[str] = ()
    question: str = ""
    description: str = ""
    kind: RouterKind = "routing"
    require_source: bool = False
    max_visits: int = MAX_VISITS
    value_from: str | None = None

    def __post_init__(self) -> None:
        """Take any sequences; refuse what is of another kind, or no limit."""
        optional = ("default_route_id", "route_source_file", "value_from")
        texts = dict.fromkeys(("id", "question", "description", *optional), str)
        lists = {"routes": Route, "context_dependencies": str}
        kinds = {"kind": ("routing", "branch")}
        fields = {**texts, "require_source": bool}
        take_fields(self, fields, lists=lists, optional=optional, choices=kinds)
        raise_problems(visits_problems(self.max_visits, "max_visits"))

    @property
    def has_checks(self) -> bool:
        """Whether its routes are told apart by checks of a record."""
        return any(route.when for route in self.routes)

    @property
    def available(self) -> tuple[str, ...]:
        """Its routes, as `id -> next step`."""
        return tuple(f"{route.route_id} -> {route.next_step_id}" for route in self.routes)


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A step of a plan: work, or a router.

    Args:
        id: Its id, which names its folder.
        kind: What it is, in the words of whoever runs it; `routing` and `branch` are routers.
        next_step_id: The step after it; the next one of the plan when None.
        context_output: The files that it writes into its folder.
        context_dependencies: The files of earlier steps that it reads.
        router: What it routes by.
        title: For readers.
        description: What is to be done.
        extra: What else stood there in data; kept and never read.
    """

    id: str
    kind: str
    _: KW_ONLY
    next_step_id: str | None = None
    context_output: Sequence[str] = ()
    context_dependencies: Sequence[str] = ()
    router: Router | None = None
    title: str = ""
    description: str = ""
    extra: Mapping[str, Any] = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        """Take any sequences; refuse what is of another kind."""
        texts = dict.fromkeys(("id", "kind", "title", "description", "next_step_id"), str)
        lists = {"context_output": str, "context_dependencies": str}
        fields = {**texts, "router": Router}
        take_fields(self, fields, lists=lists, optional=("next_step_id", "router"))

    @classmethod
    def of(cls, router: Router, *, title: str = "") -> Self:
        """Make the step of a router."""
        return cls(
            router.id,
            router.kind,
            context_dependencies=router.context_dependencies,
            router=router,
            title=title,
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in order, and routers among them.

    Args:
        steps: The steps.
        source: The file that it was read from.
        extra: What else stood there in data; kept and never read.
    """

    steps: Sequence[PlanStep]
    _: KW_ONLY
    source: str | None = None
    extra: Mapping[str, Any] = field(default_factory=_nothing)
    _at: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Take any sequence; note where the first step of each id stands."""
        take_fields(self, {"source": str}, lists={"steps": PlanStep}, optional=["source"])
        at = {step.id: at for at, step in reversed(tuple(enumerate(self.steps)))}
        object.__setattr__(self, "_at", at)

    @classmethod
    def load(cls, plan: str | PathLike[str] | bytes | Mapping[str, Any]) -> Self:
        """Read a plan from a file, the bytes of one, or data; unknown fields are kept and ignored.

        Raises:
            ConfigError: For what is neither a path, nor bytes, nor a mapping.
            SpecInvalid: With every fault of its form. What is wrong with what it says is told by
                `check_plan`.
            OSError: When the file cannot be read.
        """
        from interlock.routing._plan_data import load

        return load(cls, plan)

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read a plan from data; see `load`."""
        from interlock.routing._plan_data import read_plan

        return read_plan(cls, data)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as data."""
        from interlock.routing._plan_data import plan_data

        return plan_data(self)

    @property
    def routers(self) -> tuple[Router, ...]:
        """Its routers, in order."""
        return tuple(step.router for step in self.steps if step.router is not None)

    def step(self, step_id: str) -> PlanStep | None:
        """Return the step of an id; None when there is none."""
        at = self._at.get(step_id) if isinstance(step_id, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
        return None if at is None else self.steps[at]

    def after(self, step: PlanStep) -> str:
        """Return the id of the step that follows one that is no router."""
        if step.next_step_id is not None:
            return step.next_step_id
        at = self._at[step.id] + 1
        return self.steps[at].id if at < len(self.steps) else "end"

    def __iter__(self) -> Iterator[PlanStep]:
        """Yield the steps."""
        return iter(self.steps)


@dataclass(frozen=True, slots=True)
class Source:
    """A place where a choice may stand.

    Attributes:
        kind: `caller`, `preseed` (the router's own file), `route_source_file`,
            `context_dependency`, or `value_from` (a record, for routes with checks).
        path: The place, for people.
        content: The bytes that stand there; None when nothing does.
    """

    kind: SourceKind
    path: str
    content: bytes | None


@dataclass(frozen=True, slots=True)
class Selection(Record):
    """The route that a router takes, and why.

    Attributes:
        router_id: The router.
        route_id: The route.
        next_step_id: The step that it leads to, or `end`.
        source_kind: What decided: a kind of source, or `default`.
        source_path: Where it stood; empty for the default.
        field: The field that was read; `when` for checks, empty for the default.
        raw_value: What stood there, or the route whose checks hold; empty for the default.
        visit: Which visit of the router it is, from 1.
        absent: The sources that were looked at and not there.
        digest: SHA-256 of the bytes that were read; empty where none were.
    """

    router_id: str
    route_id: str
    next_step_id: str
    source_kind: str
    source_path: str
    field: str
    raw_value: str
    visit: int
    absent: tuple[str, ...]
    digest: str


for _shape in (Route, Router, PlanStep, Plan):
    _shape.__init__ = keywords(_shape.__init__)  # type: ignore[method-assign]
