"""How a lead is asked for a plan, and how what it answers is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from interlock import _core
from interlock._compiled import plain_problems
from interlock.errors import ConfigError, Problem
from interlock.harness._frame import Reading
from interlock.harness.ctx import Ctx
from interlock.harness.plan import Plan, plan_problems, written_plan
from interlock.record.reply import as_json_reply, plain_data
from interlock.record.values import ErrorInfo, Reply
from interlock.tools._steps import with_texts

if TYPE_CHECKING:
    from collections.abc import Collection

    from interlock.harness._callables import Call
    from interlock.harness.inputs import NodeOutcome
    from interlock.harness.plan import Entry

__all__ = ["PlanCtx", "Planning", "briefed"]

_TEXT = 2_000


class PlanCtx(Ctx):
    """The step of a lead or of a merge, and what it should know.

    Attributes:
        values: What the workflow was run with.
        workers: The names of the workers that there are.
        plan: The plan that was run last; None before the first.
        faults: What is wrong with the plan that the lead returned last; empty when it is asked
            for the first time, or to amend a plan that was run.
        outcomes: What became of the steps so far, by id.
    """

    values: object
    workers: tuple[str, ...]
    plan: Plan | None
    faults: tuple[Problem, ...]
    outcomes: Mapping[str, NodeOutcome]

    def __init__(self, ctx: Ctx, told: Mapping[str, Any]) -> None:
        """Take over a context, and what is told beside it."""
        self.__dict__ |= {**vars(ctx), **told}


def briefed(call: Call, told: Mapping[str, Any]) -> Call:
    """Return a call that gets a `PlanCtx` where it takes a context."""
    if not call.takes_ctx:
        return call

    def function(value: object, ctx: Ctx) -> object:
        return call.function(value, PlanCtx(ctx, told))

    return call._replace(function=function)


class Planning:
    """Reads what a lead answers: a Plan, a mapping, or the JSON text of one; nothing is guessed."""

    def __init__(
        self, *, workers: Collection[str], most: int, finished: Mapping[str, Entry]
    ) -> None:
        """Take what a plan is checked against."""
        self.workers, self.most, self.finished = workers, most, finished
        self.steps: list[Entry] = []
        self.faults: tuple[Problem, ...] = ()

    def __call__(self, value: object, *, step: str) -> Reply | Reading:
        """Read and check a plan; one with faults is a failed answer."""
        reply, data, problems = _told(value, step)
        if reply.status == "failed":
            return reply
        if not problems:
            self.steps, problems = written_plan(data)
        if not problems:
            problems = plan_problems(
                self.steps, workers=self.workers, most=self.most, finished=self.finished
            )
        if reply.status == "incomplete":
            message = f"the reply was cut off ({reply.stop or 'incomplete'})"
            problems = [Problem("spec/unreadable", "plan", None, message), *problems]
        self.faults = tuple(problems)
        if not problems:
            return reply
        error = ErrorInfo("plan", _shown(problems), "bad_request", "escalate", source="plan")
        decision = {"ok": False, "faults": [fault._asdict() for fault in problems]}
        return Reading(replace(reply, status="failed", error=error), decision, returned=reply)


def _told(value: object, step: str) -> tuple[Reply, object, list[Problem]]:
    """Give the reply and the data in it, plain; what JSON cannot hold is told."""
    given: object = {"steps": value.steps} if isinstance(value, Plan) else value
    if isinstance(given, Mapping):
        fields = cast("Mapping[str, object]", given)
        given = {name: with_texts(one) for name, one in fields.items()}
    if isinstance(given, (dict, list, tuple)):
        data, found = plain_problems(cast("object", given), "plan", finite=True)
        return Reply(_core.to_json(data), data=data, raw=value), data, list(found)
    reply = as_json_reply(value, step=step)
    if reply.data is None:
        return _parsed(reply)
    try:
        return reply, plain_data(reply.data), []
    except ConfigError as error:
        return reply, None, list(error.problems)


def _parsed(reply: Reply) -> tuple[Reply, object, list[Problem]]:
    try:
        return reply, _core.Json(reply.output, unique_keys=True).to_python(), []
    except ConfigError as error:
        hint = "; the whole text must be the JSON of a plan, with no words or fence around it"
        return (
            reply,
            None,
            [
                fault._replace(
                    field=f"plan, at {fault.field}",
                    value=fault.value or _core.preview(reply.output),
                    message=fault.message + hint,
                )
                for fault in error.problems
            ],
        )


def _shown(problems: list[Problem]) -> str:
    return "; ".join(map(str, problems))[:_TEXT]
