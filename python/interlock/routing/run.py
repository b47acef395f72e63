"""Running a plan: its steps by callables of yours, its routers by what was decided."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

from anyio import to_thread

from interlock import _core
from interlock.errors import Problem, RouteError
from interlock.harness._config import keywords, raise_problems
from interlock.routing._lock import Lock
from interlock.routing._names import END, hint
from interlock.routing._outside import absolute
from interlock.routing._plan_run import PlanResult, PlanRun
from interlock.routing._selections import checked_selections
from interlock.routing._typed import must_be
from interlock.routing.check import A_PLAN, refuse_plan
from interlock.routing.shapes import Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from interlock.harness.run import Run
    from interlock.routing.folder import RunFolder

__all__ = ["run_full_workflow", "run_step", "run_workflow"]

OnChange = Literal["refuse", "accept_config"]


@keywords
async def run_workflow(
    plan: Plan,
    handlers: Mapping[str, Callable[..., Any]],
    folder: RunFolder,
    *,
    route_selections: Mapping[str, str] | None = None,
    values: object = None,
    run: Run | None = None,
    rerun_interrupted: bool = False,
    on_change: OnChange = "refuse",
) -> PlanResult:
    """Run a plan to its end; one that was begun in this folder is taken up where it was.

    A step that was done is not done again. A step that was begun, and of which nobody knows how it
    ended, stops the run (`in_doubt`) unless it may be run again.

    Args:
        plan: The plan.
        handlers: A callable for every step that is no router: sync or async, of a `StepInput`, or
            of that and a context.
        folder: The folder of the run.
        route_selections: The caller's choices; see `RunFolder.seed`.
        values: What every callable is given.
        run: Limits, listeners and the record, as in every workflow.
        rerun_interrupted: Whether a step that was begun is run again.
        on_change: Whether a run that was begun with another plan is refused, or taken up with this
            one (`accept_config`).

    Raises:
        RouteError: For a plan with errors or choices that are none, before anything runs.
        ConfigError: For callables that are missing or none, and for what is no folder or choice.
        RunBusy: When somebody else runs this folder for longer than its timeout.
    """
    if on_change not in get_args(OnChange):
        message = f"must be one of {', '.join(get_args(OnChange))}"
        shown = _core.preview(on_change)
        raise_problems([Problem("spec/unknown-choice", "on_change", shown, message)])
    made = PlanRun(plan, handlers, folder, only=None, rerun=rerun_interrupted)
    begin = partial(_begin, plan, folder, route_selections, on_change, is_fresh=False)
    return await _conducted(made, folder, begin, values, run)


@keywords
async def run_full_workflow(
    plan: Plan,
    handlers: Mapping[str, Callable[..., Any]],
    folder: RunFolder,
    *,
    route_selections: Mapping[str, str] | None = None,
    values: object = None,
    run: Run | None = None,
) -> PlanResult:
    """Run a plan from its first step, in a folder that is cleaned before: nothing old is left.

    Arguments and errors are those of `run_workflow`; what is wrong is told before anything is
    removed.
    """
    made = PlanRun(plan, handlers, folder, only=None, rerun=False)
    begin = partial(_begin, plan, folder, route_selections, "refuse", is_fresh=True)
    return await _conducted(made, folder, begin, values, run)


@keywords
async def run_step(
    plan: Plan,
    step_id: str,
    handlers: Mapping[str, Callable[..., Any]],
    folder: RunFolder,
    *,
    route_selections: Mapping[str, str] | None = None,
    values: object = None,
    run: Run | None = None,
    rerun_interrupted: bool = False,
) -> PlanResult:
    """Run one step of a plan, whatever was run before; `next_step_id` says what follows.

    Arguments and errors are those of `run_workflow`; a callable is needed for this step alone.
    """
    must_be(plan, Plan, "plan", A_PLAN)
    if plan.step(step_id) is None:
        known = [step.id for step in plan.steps]
        message = f"is no step of the plan{hint(step_id, known)}"
        raise_problems([Problem("spec/unknown-choice", "step_id", _core.preview(step_id), message)])
    made = PlanRun(plan, handlers, folder, only=step_id, rerun=rerun_interrupted)
    begin = partial(_begin, plan, folder, route_selections, "refuse", is_fresh=False)
    return await _conducted(made, folder, begin, values, run)


def _begin(
    plan: Plan,
    folder: RunFolder,
    route_selections: Mapping[str, str] | None,
    on_change: OnChange,
    *,
    is_fresh: bool,
) -> None:
    """Bring the folder into the state in which the first step may run."""
    # INVARIANT: all that can be refused is, before anything is removed or written.
    refuse_plan(plan)
    checked_selections(plan, route_selections)
    if is_fresh or folder.is_half_cleaned:
        folder.clean()
    digest = _core.digest(plan.to_dict())
    begun = folder.notes().get("plan", digest)
    if begun != digest and on_change == "refuse":
        message = (
            "is not the plan that this run was begun with; take a new run, or "
            'on_change="accept_config"'
        )
        raise RouteError("route/plan", message, source_path=plan.source)
    standing = folder.journal.standing().next_step
    if standing not in (None, END) and plan.step(standing) is None:
        message = f"has no step {_core.preview(standing)}, before which this run stands"
        raise RouteError("route/plan", message, source_path=plan.source)
    folder.seed(plan, route_selections)
    with folder.locked():
        folder.note(plan=digest)


async def _conducted(
    made: PlanRun, folder: RunFolder, begin: Callable[[], None], values: object, run: Run | None
) -> PlanResult:
    """Run while nobody else runs the same folder."""
    lock = Lock(absolute(folder.path, ".run.lock"), folder.lock_timeout)
    await to_thread.run_sync(lock.acquire)
    try:
        await to_thread.run_sync(begin)
        return await made.run(values, run=run)
    finally:
        lock.release()
