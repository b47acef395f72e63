"""How a recorded step answers in place of its callable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from interlock.errors import UsageError
from interlock.harness._frame import Reading
from interlock.harness.limits import Stopped
from interlock.record._data import record_of
from interlock.record.reply import plain_data
from interlock.record.result import Result
from interlock.record.usage import Usage
from interlock.record.values import ErrorInfo, Reply, ToolCall, ToolResult, Verdict
from interlock.tools._foreign import mapping

if TYPE_CHECKING:
    from interlock.harness._ending import Ending
    from interlock.record.rollout import Rollout, Step

__all__ = ["RecordedError", "serve"]


_Unlike = tuple[dict[str, object], dict[str, object]]


class RecordedError(Exception):
    """Stands for an exception of which only the record is left."""

    def __init__(self, info: ErrorInfo) -> None:
        """Take what is recorded of it."""
        super().__init__(f"{info.type}: {info.message}")
        self.info = info


def serve(ending: Ending, step: Step, recorded: Rollout | None) -> _Unlike | None:
    """Answer a step as it was answered; what is returned differs, the record first.

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
        _raise_what_ended(step, error, ended_by)
    if ending.frame.plan.is_judgement:
        _serve_verdict(ending, step)
        return None
    told = step.told()
    if error is not None and error.source != "verdict" and step.output is None and not told:
        ending.exception = RecordedError(error)
        return None
    if isinstance(step.output, Mapping) and not told and ending.frame.plan.kind != "tool":
        raise UsageError(
            f"step `{step.path}` holds a digest in place of its answer, so that it cannot be "
            "replayed; record with content='full'"
        )
    ending.value = _value(ending, step, told)
    return _read(ending, step)


def _raise_what_ended(step: Step, error: ErrorInfo, ended_by: str) -> None:
    """End the workflow where this step had it ended."""
    if error.type == "stopped" and step.status in ("cancelled", "in_doubt"):
        raise Stopped(error.message)
    if error.type == "UsageError" and ended_by == "error":
        raise UsageError(error.message)


def _serve_verdict(ending: Ending, step: Step) -> None:
    error = step.error
    if error is not None and error.source != "verdict":
        ending.exception = RecordedError(error)
        return
    told = mapping(step.decision)
    score, feedback, data = told.get("score"), told.get("feedback"), told.get("data")
    reason = told.get("reason") if error is None else error.message
    is_score = isinstance(score, (int, float)) and not isinstance(score, bool)
    ending.verdict = Verdict(
        ok=step.status == "completed",
        reason=reason if isinstance(reason, str) else "",
        score=cast("float", score) if is_score else None,
        feedback=feedback if isinstance(feedback, str) else "",
        data=data,
        undetermined=step.status == "undetermined",
        usage=step.usage,
    )
    ending.decision, ending.reply = step.decision, Reply(usage=step.usage)


def _read(ending: Ending, step: Step) -> _Unlike | None:
    """Read the answer as the workflow does, which may note what it says."""
    plan = ending.frame.plan
    found = plan.read(ending.value, step=f"{plan.kind} `{plan.path}`")
    reading = found if isinstance(found, Reading) else Reading(found)
    ending.reply, ending.verdict, ending.result = reading.reply, reading.verdict, reading.result
    decision = plan.decision if reading.decision is None else reading.decision
    failed = reading.reply.status == "failed"
    if reading.verdict is not None:
        failed = not reading.verdict.ok
    told: dict[str, object] = {"decision": step.decision, "failed": step.status != "completed"}
    got: dict[str, object] = {
        "decision": None if decision is None else plain_data(decision),
        "failed": failed,
    }
    return None if told == got else (told, got)


def _value(ending: Ending, step: Step, told: Mapping[str, Any]) -> object:
    """Give what the callable returned, as far as the record holds it."""
    call, form = ending.frame.plan.value, told.get("form")
    if isinstance(call, ToolCall) and not told:
        return _tool_result(call, step)
    if form == "record" and (kind := record_of(told.get("type"))) is not None:
        return kind.from_dict(told.get("record"))
    reply = step.reply()
    if form == "result":
        return _result(ending, step, told, reply)
    values = {None: reply.output, "none": None, "data": reply.data, "input": call}
    return values.get(form, reply) if form is None or isinstance(form, str) else reply


def _tool_result(call: ToolCall, step: Step) -> ToolResult:
    """Rebuild what a tool answered."""
    own: object = step.meta.get("usage")
    usage = step.usage if step.child is None else Usage()
    return ToolResult(
        call.id,
        call.name,
        cast("Any", step.status),
        step.output,
        step.error,
        step.effect,
        usage if own is None else Usage.from_dict(own),
    )


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
