"""Checking plans before they are run: all that is wrong, all that is doubtful."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, cast

from interlock.errors import ConfigError, RouteError
from interlock.errors import Problem as InputProblem
from interlock.harness._config import raise_problems, wrong
from interlock.record._data import Record
from interlock.record.report._text import line
from interlock.routing._check_errors import errors_of, step_errors
from interlock.routing._check_warnings import warnings_of
from interlock.routing._outside import read_file
from interlock.routing._plan_data import read_bytes, read_steps
from interlock.routing._typed import must_be
from interlock.routing.shapes import Plan

if TYPE_CHECKING:
    from interlock.routing._check_errors import Fault

__all__ = ["Problem", "Report", "check_plan", "check_plans", "refuse_plan"]

A_PLAN = "a Plan(...), as Plan.load(path) reads it"
Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Problem(Record):
    """One thing that is wrong, or doubtful, in a plan.

    Attributes:
        level: `error` or `warning`; a plan with an error is not run.
        code: What kind it is, such as `route/plan`.
        step_id: The step; empty where it is the plan as a whole.
        route_id: The route; None where it is the step as a whole.
        field: The field of the step.
        message: What is wrong, and what to write instead.
        file: The file of the plan; None where it was no file.
    """

    level: Level
    code: str
    step_id: str
    route_id: str | None
    field: str
    message: str
    file: str | None = None

    def __str__(self) -> str:
        """`file: step: route: field: message [code]`."""
        where = (self.file, self.step_id, self.route_id, self.field)
        level = "warning: " if self.level == "warning" else ""
        return line(f"{': '.join(filter(None, where))}: {level}{self.message} [{self.code}]")


@dataclass(frozen=True, slots=True)
class Report(Record):
    """What was found in some plans.

    Attributes:
        plans: How many were looked at.
        problems: All problems, in the order of the files.
    """

    plans: int
    problems: tuple[Problem, ...] = ()

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that keep a plan from being run."""
        return tuple(problem for problem in self.problems if problem.level == "error")

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The other ones."""
        return tuple(problem for problem in self.problems if problem.level == "warning")

    @property
    def ok(self) -> bool:
        """Whether no plan has an error; a warning is none."""
        return not self.errors

    @property
    def exit_code(self) -> int:
        """0, or 1 where there is an error."""
        return 0 if self.ok else 1

    def to_text(self, *, warnings: bool = False) -> str:
        """Return a line for every error, with *warnings* for these too; one line where all is well.

        A line names file, step and field.
        """
        shown = self.problems if warnings else self.errors
        lines = [str(problem) for problem in shown]
        if self.ok:
            lines.append(f"{self.plans} {'plan' if self.plans == 1 else 'plans'}: no errors")
        return "".join(f"{line}\n" for line in lines)


def check_plan(plan: Plan, *, workspace: str | None = None) -> tuple[Problem, ...]:
    """Return all errors and warnings of a plan, errors first.

    Args:
        plan: The plan.
        workspace: The folder from which `route_source_file` is read; only for a warning.

    Raises:
        ConfigError: For what is no plan.
    """
    must_be(plan, Plan, "plan", A_PLAN)
    return (
        *_problems("error", errors_of(plan), plan.source),
        *_problems("warning", warnings_of(plan, workspace), plan.source),
    )


def check_plans(paths: Iterable[str | PathLike[str]], *, workspace: str | None = None) -> Report:
    """Check the plans in some files, all of them to the end.

    Raises:
        ConfigError: For what is no list of paths.
    """
    found: list[Problem] = []
    count = 0
    if isinstance(paths, str | bytes) or not isinstance(paths, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise_problems([wrong(paths, "paths", "must be a list of paths")])
    for path in paths:
        must_be(path, str | PathLike, f"paths[{count}]", "a path, as text or a Path")
        count += 1
        found += _file_problems(str(path), workspace)
    return Report(count, tuple(found))


def refuse_plan(plan: Plan, router_id: str | None = None) -> None:
    """Refuse to run a plan with an error, or one step of it.

    Raises:
        RouteError: With every error; `route/plan`, or the code of a single one.
        ConfigError: For what is no plan.
    """
    must_be(plan, Plan, "plan", A_PLAN)
    faults = errors_of(plan) if router_id is None else step_errors(plan, router_id)
    wrong = _problems("error", faults, plan.source)
    if not wrong:
        return
    first = wrong[0]
    message = str(first).removesuffix(f" [{first.code}]")
    if len(wrong) > 1:
        message = f"{len(wrong)} errors in the plan:"
    problems = tuple(
        InputProblem(one.code, f"{one.step_id}.{one.field}", one.route_id, one.message)
        for one in wrong
    )
    codes = {one.code for one in wrong}
    code = first.code if len(codes) == 1 else "route/plan"
    raise RouteError(code, message, router_id=router_id, problems=problems)


def _problems(level: Level, faults: Iterable[Fault], source: str | None) -> tuple[Problem, ...]:
    return tuple(Problem(level, *fault, source) for fault in faults)


def _file_problems(path: str, workspace: str | None) -> tuple[Problem, ...]:
    try:
        data = read_bytes(read_file(path))
    except (OSError, ConfigError) as error:
        said = error.strerror if isinstance(error, OSError) else _said(error)
        message = f"cannot be read: {said}"
        return (Problem("error", "route/unreadable", "", None, "plan", message, path),)
    faults: list[InputProblem] = []
    steps, extra = read_steps(data, faults)
    plan = Plan(steps, source=path, extra=extra)
    formal = tuple(_formal(fault, data, path) for fault in faults)
    return formal + (check_plan(plan, workspace=workspace) if steps or not faults else ())


def _said(error: ConfigError) -> str:
    return "; ".join(f"{one.field}: {one.message}" for one in error.problems)


def _formal(fault: InputProblem, data: object, path: str) -> Problem:
    """Turn a fault of form into a problem of the step that it is in."""
    step_id, field = "", fault.field
    head, _, rest = fault.field.partition("]")
    if head.startswith("steps["):
        steps = cast("Mapping[str, Any]", data)["steps"]
        step = steps[int(head.removeprefix("steps["))]
        is_step = isinstance(step, Mapping)
        named = cast("Mapping[str, object]", step).get("id") if is_step else None
        step_id = named if isinstance(named, str) and named else f"{head}]"
        field = rest.removeprefix(".") or "step"
    shown = "" if fault.value is None else f"{fault.value}: "
    return Problem("error", "route/plan", step_id, None, field, f"{shown}{fault.message}", path)
