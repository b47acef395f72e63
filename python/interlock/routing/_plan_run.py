"""A plan in a folder, as a workflow of the harness: step by step, each written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from anyio import CancelScope

from interlock import _core
from interlock.errors import Problem, RouteError
from interlock.harness._callables import Call, call_of, label_of
from interlock.harness._config import raise_problems, wrong
from interlock.harness._frame import Reading
from interlock.harness._workflow import End, Workflow, status_of
from interlock.harness.flow import Flow, Node
from interlock.record.reply import as_json_reply
from interlock.record.result import Result
from interlock.record.values import ErrorInfo, Reply
from interlock.routing._graph import Graph
from interlock.routing._journal import Entry
from interlock.routing._names import END, hint
from interlock.routing._typed import must_be
from interlock.routing.shapes import Plan, PlanStep, Selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlock.harness._frame import Outcome
    from interlock.harness._walk import Walk
    from interlock.harness.ctx import Ctx
    from interlock.routing.folder import RunFolder
    from interlock.routing.shapes import Router

__all__ = ["PlanResult", "PlanRun", "StepInput"]


@dataclass(frozen=True, slots=True)
class StepInput:
    """What the callable of a step gets.

    Attributes:
        step: The step.
        run: The folder of the run.
        values: What the run was given.
        visit: Which visit of the step it is, from 1.
    """

    step: PlanStep
    run: RunFolder
    values: object
    visit: int

    @property
    def folder(self) -> str:
        """The path of the step's own folder; nobody has made it yet."""
        return self.run.step_path(self.step.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanResult(Result):
    """What a run of a plan came to.

    `stopped_by`: done; unrouted or loop (a router that took no route); failed (a step);
    in_doubt (a step that was begun before, and nobody knows how it ended); or a limit. Output and
    data are those of the last step that answered.

    Attributes:
        ran: The steps that ran, routers too, in order; what ran before it was taken up is not here.
        selections: The routes that were taken.
        stopped_at: The step that it stopped at; None when it got through.
        next_step_id: The step after the last; `end` when it got through.
        code: What was wrong with a router, such as `route/unknown`.
    """

    ran: tuple[str, ...] = ()
    selections: tuple[Selection, ...] = ()
    stopped_at: str | None = None
    next_step_id: str | None = None
    code: str | None = None


@dataclass(slots=True)
class _State:
    ran: list[str] = field(default_factory=list[str])
    selections: list[Selection] = field(default_factory=list[Selection])
    answer: Reply | None = None
    stopped_at: str | None = None
    next_step: str | None = None
    error: ErrorInfo | None = None
    code: str | None = None


class PlanRun(Workflow[_State, PlanResult]):
    """A plan in a folder, with a callable for each of its steps that is no router."""

    __slots__ = ("_calls", "_folder", "_only", "_plan", "_reruns")

    kind = "plan"
    _plan: Plan
    _folder: RunFolder
    _calls: dict[str, Call]
    _only: str | None
    _reruns: bool

    def __init__(
        self,
        plan: Plan,
        handlers: Mapping[str, Callable[..., Any]],
        folder: RunFolder,
        *,
        only: str | None,
        rerun: bool,
    ) -> None:
        """Check and keep everything."""
        from interlock.routing.folder import RunFolder

        problems: list[Problem] = []
        must_be(plan, Plan, "plan", "a Plan(...), as Plan.load(path) reads it")
        must_be(folder, RunFolder, "folder", "a RunFolder(...)")
        calls = _read_handlers(plan, handlers, only, problems)
        raise_problems(problems)
        self._set(name="plan", max_tokens=None, _plan=plan, _folder=folder, _calls=calls)
        self._set(_only=only, _reruns=rerun)

    def flow(self) -> Flow:
        """Return the steps; one that is reached from several comes after all of them."""
        needs: dict[str, list[str]] = {step.id: [] for step in self._plan.steps}
        for step_id, following in Graph(self._plan).following.items():
            for name in following:
                if name in needs:
                    needs[name].append(step_id)
        return Flow(
            self.name,
            tuple(
                Node(step.id, "decision" if step.router else "stage", tuple(needs[step.id]))
                for step in self._plan.steps
            ),
        )

    def _config(self) -> dict[str, Any]:
        calls = {name: label_of(call) for name, call in self._calls.items()}
        return {"plan": self._plan.to_dict(), "handlers": calls, "only": self._only}

    def _begin(self, values: object) -> _State:
        del values
        return _State()

    async def _steps(self, walk: Walk, values: object, state: _State) -> str:
        standing = await self._off(walk, self._folder.journal.standing)
        state.next_step = self._only or standing.next_step or self._plan.steps[0].id
        is_open = standing.in_doubt and standing.next_step == state.next_step
        while state.next_step != END:
            step = cast("PlanStep", self._plan.step(state.next_step or ""))
            visit = standing.done.get(step.id, 0) + 1
            if step.router is not None:
                stopped = await self._routed(walk, step, visit, state)
            elif is_open and not self._reruns:
                stopped = _in_doubt(step, state)
            else:
                stopped = await self._worked(walk, step, visit, values, state, is_open=is_open)
            if stopped is not None:
                state.stopped_at = step.id
                return stopped
            is_open = False
            standing.done[step.id] = visit
            if self._only is not None:
                break
        return "done"

    async def _worked(
        self,
        walk: Walk,
        step: PlanStep,
        visit: int,
        values: object,
        state: _State,
        *,
        is_open: bool,
    ) -> str | None:
        call = self._calls[step.id]

        async def begun(value: object, ctx: Ctx) -> object:
            # Here and not before: a step that a limit keeps from starting was never begun.
            if ctx.attempt == 1:
                state.ran.append(step.id)
                if visit > 1 or is_open:
                    # What was written before is not taken for what this visit says.
                    before = visit if is_open else visit - 1
                    await self._off(walk, partial(self._folder.archive, step.id, before))
                await self._note(walk, Entry("started", step.id, visit))
            return await call.work(value, ctx, walk.run)

        outcome = await walk.step(
            step.id,
            "stage",
            Call(begun, takes_ctx=True, is_async=True),
            StepInput(step, self._folder, values, visit),
            digest=_core.digest({"step": step.id, "visit": visit}),
            read=as_json_reply,
        )
        if not outcome.ok:
            state.error = outcome.step.error
            await self._note(walk, Entry("failed", step.id, visit))
            return "failed"
        state.answer = outcome.reply
        state.next_step = self._plan.after(step)
        await self._note(walk, Entry("done", step.id, visit, state.next_step))
        return None

    async def _routed(self, walk: Walk, step: PlanStep, visit: int, state: _State) -> str | None:
        # The plan was checked as a whole before the first step.
        router = cast("Router", step.router)

        async def taken(_value: object) -> Selection:
            state.ran.append(step.id)
            take = partial(self._folder.take, self._plan, router, visit=visit)
            return cast("Selection", await self._off(walk, take))

        outcome = await walk.step(
            step.id,
            "decision",
            Call(taken, takes_ctx=False, is_async=True),
            {"router": step.id, "visit": visit},
            read=_decision,
        )
        if not outcome.ok:
            return _unrouted(outcome, state)
        # From the record, which is what a replay has.
        selection = Selection.from_dict(outcome.step.decision)
        state.selections.append(selection)
        state.next_step = selection.next_step_id
        await self._note(walk, Entry("done", step.id, visit, selection.next_step_id))
        return None

    async def _note(self, walk: Walk, entry: Entry) -> None:
        await self._off(walk, partial(self._folder.journal.note, entry))

    async def _off(self, walk: Walk, function: Callable[[], Any]) -> Any:
        """Call what touches files where it keeps nobody waiting, and to its end."""

        def called(_: object) -> Any:
            return function()

        call = Call(called, takes_ctx=False, is_async=False)
        # INVARIANT: nothing of this run is written once its lock is free.
        with CancelScope(shield=True):
            return await call.work(None, None, walk.run)

    def _result(self, state: _State, end: End) -> PlanResult:
        failed = ("unrouted", "loop", "in_doubt")
        status = status_of(end.stopped_by, otherwise="completed")
        if end.stopped_by in failed:
            status = "incomplete" if end.stopped_by == "in_doubt" else "failed"
        rollout = end.close(status)
        answer = state.answer
        return PlanResult(
            status=status,
            stopped_by=end.stopped_by,
            output=answer.output if answer is not None else None,
            data=answer.data if answer is not None else None,
            usage=rollout.usage,
            error=state.error,
            rollout=rollout,
            ran=tuple(state.ran),
            selections=tuple(state.selections),
            stopped_at=state.stopped_at,
            next_step_id=state.next_step,
            code=state.code,
        )


def _decision(value: object, *, step: str) -> Reading:
    del step
    taken = cast("Selection", value)
    return Reading(Reply(taken.route_id), taken.to_dict())


def _unrouted(outcome: Outcome, state: _State) -> str:
    state.error = outcome.step.error
    error = outcome.exception
    if not isinstance(error, RouteError):
        return "failed"
    state.code = error.code
    return "loop" if error.code == "route/loop" else "unrouted"


def _in_doubt(step: PlanStep, state: _State) -> str:
    message = (
        f"{step.id} was begun, and how it ended is not known; look at what it did, then run again "
        "with rerun_interrupted=True if it may be done once more"
    )
    state.error = ErrorInfo("in_doubt", message, source="route")
    return "in_doubt"


def _read_handlers(
    plan: Plan, handlers: object, only: str | None, problems: list[Problem]
) -> dict[str, Call]:
    if not isinstance(handlers, Mapping):
        problems.append(wrong(handlers, "handlers", "must be a mapping of steps to callables"))
        return {}
    given = cast("Mapping[object, object]", handlers)
    work = {step.id for step in plan.steps if step.router is None}
    for name in given:
        if name not in work:
            said = "a router, which has none" if plan.step(str(name)) else "no step of the plan"
            message = f"is {said}{hint(name, sorted(work))}"
            problems.append(
                Problem("spec/unknown-choice", "handlers", _core.preview(name), message)
            )
    needed = work if only is None else work & {only}
    for name in sorted(needed - set(given)):
        message = "is required: a callable of the step"
        problems.append(Problem("spec/missing-field", f"handlers.{name}", None, message))
    return {
        name: call_of(given[name], f"handlers.{name}", problems)
        for name in sorted(needed & set(given))
    }
