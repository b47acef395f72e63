"""How a recorded step answers in place of its callable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from interlock.errors import UsageError
from interlock.harness.limits import Stopped
from interlock.record._data import record_of
from interlock.record.result import Result
from interlock.record.values import ErrorInfo, Reply, Verdict

if TYPE_CHECKING:
    from interlock.harness._ending import Ending
    from interlock.record.rollout import Rollout, Step

__all__ = ["RecordedError", "serve"]


class RecordedError(Exception):
    """Stands for an exception of which only the record is left."""

    def __init__(self, info: ErrorInfo) -> None:
        """Take what is recorded of it."""
        super().__init__(f"{info.type}: {info.message}")
        self.info = info


def serve(ending: Ending, step: Step, recorded: Rollout | None) -> None:
    """Answer a step as it was answered.

    Raises:
        Stopped: Where a limit ended it.
        UsageError: Where misuse did, and where the record does not hold the answer.
    """
    walk = ending.frame.walk
    ending.served, ending.status, ending.error = step, step.status, step.error
    ending.own = ending.usage = step.usage
    inner = () if step.child is None else tuple(step.child.all_steps())
    for account in walk.accounts:
        account.steps += len(inner)
    ended_by = recorded.stopped_by if recorded is not None else ""
    if ended_by == "unmetered" and any(one.meta.get("usage_missing") for one in (step, *inner)):
        walk.run.account.unmetered = True
    error = step.error
    if error is not None:
        walk.overrun |= ended_by == "deadline" and error.type == "TimeoutError"
        if error.type == "stopped" and step.status in ("cancelled", "in_doubt"):
            raise Stopped(error.message)
        if error.type == "UsageError" and ended_by == "error":
            raise UsageError(error.message)
    if ending.frame.plan.is_judgement:
        _serve_verdict(ending, step)
    else:
        _serve_reply(ending, step)


def _serve_verdict(ending: Ending, step: Step) -> None:
    error = step.error
    if error is not None and error.source != "verdict":
        ending.exception = RecordedError(error)
        return
    decision = step.decision
    told = cast("Mapping[str, Any]", decision if isinstance(decision, Mapping) else {})
    said = Verdict.from_dict(told) if type(told.get("ok")) is bool else Verdict(ok=False)
    ending.verdict = Verdict(
        ok=step.status == "completed",
        reason=said.reason if error is None else error.message,
        score=said.score,
        feedback=said.feedback,
        data=said.data,
        undetermined=step.status == "undetermined",
        usage=step.usage,
    )
    ending.decision, ending.reply = decision, Reply(usage=step.usage)


def _serve_reply(ending: Ending, step: Step) -> None:
    error, told = step.error, step.told()
    if error is not None and not told:
        ending.exception = RecordedError(error)
        return
    if isinstance(step.output, Mapping) and not told:
        raise UsageError(
            f"step `{step.path}` holds a digest in place of its answer, so that it cannot be "
            "replayed; record with content='full'"
        )
    ending.reply = step.reply()
    ending.value = _value(ending, step, told)


def _value(ending: Ending, step: Step, told: Mapping[str, Any]) -> object:
    """Give what the callable returned, as far as the record holds it."""
    reply = cast("Reply", ending.reply)
    form = told.get("form", "text")
    if form == "result":
        return _result(ending, step, told, reply)
    values = {
        "text": reply.output,
        "none": None,
        "data": reply.data,
        "input": ending.frame.plan.value,
    }
    return values.get(form, reply)


def _result(ending: Ending, step: Step, told: Mapping[str, Any], reply: Reply) -> object:
    """Rebuild the result of a workflow; only the reply where its record is not there."""
    kind, child = record_of(told.get("type")), step.child
    number: object = told.get("run")
    if child is not None and child.kind == "several":
        is_one = type(number) is int and 0 <= number < len(child.steps)
        child = child.steps[cast("int", number)].child if is_one else None
    if child is None or kind is None or not issubclass(kind, Result):
        return reply
    rest: object = told.get("result")
    beside = cast("Mapping[str, Any]", rest if isinstance(rest, Mapping) else {})
    data = {"output": reply.output, "data": reply.data, "usage": reply.usage.to_dict(), **beside}
    if reply.error is not None:
        data["error"] = reply.error.to_dict()
    result = kind.from_dict({**data, "rollout": child.to_dict()})
    ending.frame.walk.run.joined.append(result.rollout)
    return result
