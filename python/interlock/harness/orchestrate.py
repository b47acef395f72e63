"""Orchestrate: a lead declares steps for workers, code decides what may run, a merge ends it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from interlock import _core
from interlock.errors import Problem
from interlock.harness._config import (
    count_problems,
    keywords,
    name_problems,
    raise_problems,
    wrong,
)
from interlock.harness._dag import Dag
from interlock.harness._frame import input_digest
from interlock.harness._jobs import Done, Fresh, status_by
from interlock.harness._lead import Planning, briefed
from interlock.harness._orchestration import (
    Orchestration,
    asked,
    is_amendable,
    is_stalled,
    jobs_of,
)
from interlock.harness._workflow import End, Workflow
from interlock.harness.flow import Flow, Node
from interlock.harness.inputs import NodeOutcome, told
from interlock.harness.plan import Plan, merged
from interlock.harness.work import Part, Work, part_of, read_parts
from interlock.record.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlock.harness._walk import Walk
    from interlock.harness.plan import Entry
    from interlock.harness.run import Run

__all__ = ["Orchestrate", "OrchestrateResult", "orchestrate"]

_MERGED = ("done", "halted", "plan", "stalled", "failed")
"""Ends of the work after which what was done is merged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrchestrateResult(Result):
    """What an orchestrate came to.

    `stopped_by`: `done`; `halted`: steps failed or cannot be reached; `waiting`: steps wait for a
    time that has not come, or behind a condition that cannot be decided; `plan`: the lead gave no
    plan that can be run; `stalled`: amended plans come to the same; `failed`: the lead or the
    merge raised; or a limit (tokens, cost, steps, deadline, unmetered). `status` is `completed`
    for `done` alone, `failed` where nothing was completed.

    The output and data are those of the merge.

    Attributes:
        plan: The plan that was run last; None when there was none.
        outcomes: What became of every step, by id; those of earlier plans are among them.
        merged: What the merge answered: its data or, where it has none, its text.
        faults: What is wrong with the plan, for `stopped_by="plan"`.
        plans: How often the lead was asked.
    """

    plan: Plan | None = None
    outcomes: Mapping[str, NodeOutcome] = field(default_factory=dict[str, NodeOutcome])
    merged: object = None
    faults: tuple[str, ...] = ()
    plans: int = 0


class Orchestrate(Workflow[Orchestration, OrchestrateResult]):
    """A lead that plans, workers that do the steps, a merge of what they did.

    Args:
        plan: The lead: a callable of the values, or of them and a `PlanCtx` (the workers, the
            faults of its last plan, what became of the steps); or `Work(...)`. It returns a
            `Plan`, a mapping `{"steps": [...]}`, or a reply whose whole text is the JSON of one.
        workers: Callables of `Inputs`, by name, or `Work(...)`; a plan names no others.
        merge: A callable of what became of the steps, `NodeOutcome` by id, failures included; or
            of that and a `PlanCtx`.
        max_plan_steps: The most steps of a plan.
        replans: How often the lead may amend a plan that came to a halt.
        plan_retries: How often a plan with faults goes back to the lead, with all of them.
        concurrency: How many workers run at once.
        max_tokens: No step starts once so many tokens are used.
        name: The name of the workflow.

    Raises:
        ConfigError: With every problem found.
    """

    __slots__ = (
        "_lead",
        "_merge",
        "_workers",
        "concurrency",
        "max_plan_steps",
        "plan_retries",
        "replans",
    )

    kind = "orchestrate"
    max_plan_steps: int
    replans: int
    plan_retries: int
    concurrency: int
    _lead: Part
    _merge: Part
    _workers: dict[str, Part]

    @keywords
    def __init__(  # noqa: PLR0913 (all by name)
        self,
        *,
        plan: Callable[..., Any] | Work | None = None,
        workers: Mapping[str, Callable[..., Any] | Work] | None = None,
        merge: Callable[..., Any] | Work | None = None,
        max_plan_steps: int = 20,
        replans: int = 0,
        plan_retries: int = 1,
        concurrency: int = 4,
        max_tokens: int | None = None,
        name: str = "orchestrate",
    ) -> None:
        """Check and keep everything."""
        problems = name_problems(name, "name")
        lead = _required(plan, "plan", "a lead: a callable of the values", problems)
        calls = _read_workers(workers, problems)
        last = _required(merge, "merge", "a callable of the outcomes by id", problems)
        counts = {
            "max_plan_steps": (max_plan_steps, 1),
            "replans": (replans, 0),
            "plan_retries": (plan_retries, 0),
            "concurrency": (concurrency, 1),
        }
        for field_name, (count, least) in counts.items():
            if type(count) is not int or count < least:
                problems.append(wrong(count, field_name, f"must be a whole number, {least} up"))
        problems += count_problems(max_tokens, "max_tokens")
        raise_problems(problems)
        self._set(name=name, max_tokens=max_tokens, **{one: counts[one][0] for one in counts})
        self._set(_lead=lead, _workers=calls, _merge=last)

    def flow(self) -> Flow:
        """Return the lead, the workers that it may name, and the merge."""
        workers = tuple(f"plan/{name}" for name in self._workers)
        nodes = [Node("plan", "plan"), *(Node(one, "worker", ("plan",)) for one in workers)]
        return Flow(self.name, (*nodes, Node("merge", "merge", workers)))

    def _config(self) -> dict[str, Any]:
        return {
            "plan": self._lead.config(),
            "workers": {name: part.config() for name, part in self._workers.items()},
            "merge": self._merge.config(),
            "max_plan_steps": self.max_plan_steps,
            "replans": self.replans,
            "plan_retries": self.plan_retries,
            "concurrency": self.concurrency,
            "max_tokens": self.max_tokens,
        }

    def _begin(self, values: object) -> Orchestration:
        return Orchestration(values)

    async def _steps(self, walk: Walk, values: object, state: Orchestration) -> str:
        del values
        ended = await self._worked(walk, state)
        if ended in _MERGED and state.outcomes():
            state.answer = await walk.step(
                "merge",
                "merge",
                briefed(self._merge.call, self._told(state, ())),
                state.outcomes(),
                digest=input_digest({name: one.data for name, one in state.outcomes().items()}),
                read=Fresh(Done(one, one) for one in state.outcomes().values()),
                **self._merge.options(),
            )
            if not state.answer.ok:
                state.error = state.answer.step.error
                return "failed"
        return ended

    async def _worked(self, walk: Walk, state: Orchestration) -> str:
        """Plan and run, as often as may be, and return what ended it."""
        left = self.replans
        while True:
            fault = await self._planned(walk, state)
            if fault is not None:
                return fault
            entries = merged(cast("list[Entry]", cast("Plan", state.plan).steps), state.entries)
            state.dag = Dag(
                walk,
                jobs_of(entries, self._workers),
                state.values,
                kind="worker",
                under=state.under,
                concurrency=self.concurrency,
                finished=state.done,
            )
            ended = await state.dag.run()
            state.keep(entries)
            if not left or not is_amendable(ended, state):
                return ended
            if await is_stalled(walk, state):
                return "stalled"
            left -= 1

    async def _planned(self, walk: Walk, state: Orchestration) -> str | None:
        """Ask the lead until its plan can be run; return what ended it when none can."""
        faults: tuple[Problem, ...] = ()
        for _ in range(self.plan_retries + 1):
            planning = Planning(
                workers=self._workers, most=self.max_plan_steps, finished=state.entries
            )
            state.plans += 1
            outcome = await walk.step(
                "plan",
                "plan",
                briefed(self._lead.call, self._told(state, faults)),
                state.values,
                digest=asked(state, faults),
                read=planning,
                **self._lead.options(),
            )
            faults = planning.faults
            if outcome.ok:
                state.plan, state.under = Plan(tuple(planning.steps)), outcome.step.path
                state.faults, state.error = (), None
                return None
            state.faults, state.error = faults, outcome.step.error
            if not faults:
                return "failed"
        return "plan"

    def _told(self, state: Orchestration, faults: tuple[Problem, ...]) -> dict[str, Any]:
        return {
            "values": state.values,
            "workers": tuple(self._workers),
            # The lead may change what it gets; the plan stays as it was checked.
            "plan": None
            if state.plan is None
            else Plan(cast("Any", _core.plain(state.plan.steps))),
            "faults": faults,
            "outcomes": state.outcomes(),
        }

    def _result(self, state: Orchestration, end: End) -> OrchestrateResult:
        planned = state.dag.outcomes() if state.dag is not None else {}
        merging = state.answer
        answer = merging.reply if merging is not None and merging.ok else None
        has_failed = merging is not None and answer is None
        status = "failed" if has_failed else status_by(end.stopped_by, planned.values())
        rollout = end.close(status)
        return OrchestrateResult(
            status=status,
            stopped_by=end.stopped_by,
            output=answer.output if answer is not None else None,
            data=answer.data if answer is not None else None,
            usage=rollout.usage,
            error=state.error or next((one.error for one in planned.values() if one.error), None),
            rollout=rollout,
            plan=state.plan,
            outcomes=state.outcomes(),
            merged=told(answer) if answer is not None else None,
            faults=tuple(map(str, state.faults)),
            plans=state.plans,
        )


def _required(given: object, name: str, what: str, problems: list[Problem]) -> Part:
    if given is None:
        problems.append(Problem("spec/missing-field", name, None, f"is required: {what}"))
        given = bool
    return part_of(given, name, problems)


def _read_workers(given: object, problems: list[Problem]) -> dict[str, Part]:
    """Read the workers; what is wrong with them is added to the problems."""
    if given is not None:
        return read_parts(given, "workers", problems)
    message = "is required: callables by name"
    problems.append(Problem("spec/missing-field", "workers", None, message))
    return {}


@keywords
async def orchestrate(  # noqa: PLR0913 (all by name)
    values: object,
    *,
    plan: Callable[..., Any] | Work | None = None,
    workers: Mapping[str, Callable[..., Any] | Work] | None = None,
    merge: Callable[..., Any] | Work | None = None,
    max_plan_steps: int = 20,
    replans: int = 0,
    plan_retries: int = 1,
    concurrency: int = 4,
    max_tokens: int | None = None,
    name: str = "orchestrate",
    run: Run | None = None,
) -> OrchestrateResult:
    """Let a lead plan, workers do the steps, and merge what they did; see `Orchestrate`.

    Raises:
        ConfigError: With every problem found, before the lead is asked.
        UsageError: When a callable returned what has no meaning.
    """
    made = Orchestrate(
        plan=plan,
        workers=workers,
        merge=merge,
        max_plan_steps=max_plan_steps,
        replans=replans,
        plan_retries=plan_retries,
        concurrency=concurrency,
        max_tokens=max_tokens,
        name=name,
    )
    return await made.run(values, run=run)
