"""How a step ends: what was answered or raised, what it used, and the step as it is recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from interlock import _core
from interlock._wire import draft_of
from interlock.errors import ConfigError, UsageError
from interlock.harness._frame import NOTHING, Outcome, Reading, input_digest
from interlock.harness.limits import Stopped
from interlock.record._data import Record, encoded
from interlock.record.reply import plain_data
from interlock.record.result import Result
from interlock.record.rollout import Rollout, Step
from interlock.record.usage import total_usage
from interlock.record.values import ErrorInfo, Reply, ToolResult, Verdict

if TYPE_CHECKING:
    from interlock.harness._frame import Frame
    from interlock.harness.retry import Retry
    from interlock.record.rollout import StepStatus
    from interlock.record.usage import Usage

__all__ = ["Ending"]

_Made = draft_of(Step)
"""A step in the making. PERF: it is made once for each, and sets its many fields one by one."""
_ANSWER = ("output", "data", "usage", "error", "rollout")
_BESIDE = ("calls", "stop", "model", "provider", "id", "error", "meta")


@dataclass(slots=True)
class Ending:
    """How a step ends, put together as it does."""

    frame: Frame
    attempt: int
    started: int
    started_s: float
    value: object = None
    reply: Reply | None = None
    verdict: Verdict | None = None
    decision: object = None
    own: Usage = NOTHING
    usage: Usage = NOTHING
    error: ErrorInfo | None = None
    exception: Exception | None = None
    status: StepStatus | None = None
    foreign: Rollout | None = None
    result: ToolResult | None = None
    returned: Reply | None = None
    served: Step | None = None

    def __post_init__(self) -> None:
        """Begin with what was decided before the call."""
        self.decision = self.frame.plan.decision

    def read(self) -> None:
        """Read what was returned.

        Raises:
            UsageError: When it is of no use as an answer.
        """
        plan, frame = self.frame.plan, self.frame
        found = plan.read(self.value, step=f"{plan.kind} `{plan.path}`")
        if isinstance(found, Reading):
            if found.decision is not None:
                self.decision = found.decision
            self.verdict, self.result = found.verdict, found.result
            self.returned, found = found.returned, found.reply
        self.reply = found
        frame.is_unmetered |= bool(found.meta.get("usage_missing"))
        if isinstance(self.value, Result):
            self._join(self.value)
        elif not (frame.has_counted(self.value) or frame.has_counted(found)):
            # What a step hands back as it came in was counted where it came from.
            self.own = NOTHING if self.value is plan.value else found.usage

    def _join(self, result: Result) -> None:
        """Take over the result of a workflow: counted already, unless it ran somewhere else."""
        is_inside = any(walk.ended is result.rollout for walk in self.frame.nested)
        joined = self.frame.walk.run.joined
        if not is_inside and all(result.rollout is not one for one in joined):
            self.foreign, self.own = result.rollout, result.usage
        joined.append(result.rollout)

    def raised(self, error: Exception, retry: Retry | None, now: int) -> None:
        """Note what the callable raised."""
        self.exception = error
        self.status = "undetermined" if self.frame.plan.is_judgement else "failed"
        self.error = ErrorInfo.of(
            error,
            self.frame.plan.classify or (retry.classify if retry else None),
            attempt=self.attempt if retry else None,
            max_attempts=retry.max_attempts if retry else None,
            now=now,
        )

    def timed_out(self, seconds: float, retry: Retry | None, now: int) -> None:
        """Note that there was no answer in time: of an effect nobody knows whether it happened."""
        self.frame.abandon()
        self.raised(TimeoutError(f"no answer within {seconds:g} s"), retry, now)
        if not self.frame.plan.may_repeat:
            self.status = "in_doubt"

    def interrupted(self, error: BaseException) -> None:
        """Note that the step was ended from outside, or answered what is no answer."""
        if isinstance(error, UsageError):
            self.status, self.error = "failed", ErrorInfo.of(error)
        elif self.status is None:
            self.frame.abandon()
            self.status = "cancelled" if self.frame.plan.may_repeat else "in_doubt"
            if isinstance(error, Stopped):
                self.error = ErrorInfo("stopped", error.reason, "cancelled", "escalate")

    def step(self, slot: int | None = None) -> Step:
        """Give the step as it is recorded, in its slot; one that is played again as it was."""
        step, cue = self.served or self._made(slot), self.frame.cue
        if cue is not None:
            step = cue.ended(step)
        outer = self.frame.plan.outer
        if outer is not None and not self.usage.is_nothing:
            outer.counted += [self.value, self.reply]
        return step

    def _made(self, slot: int | None) -> Step:
        """Put the step together."""
        frame, plan, walk = self.frame, self.frame.plan, self.frame.walk
        clock = walk.run.clock
        child = self._child()
        self.usage = self.own if child is None or self.foreign else self.own + child.usage
        if child is not None and self.foreign is not None:
            self.usage = child.usage
        self._judged()
        ended = (len(walk.steps), walk.finished)
        step = _Made()
        step.path = plan.path
        step.name = plan.name
        step.kind = plan.kind
        step.status = self.status or "completed"
        step.attempt = self.attempt
        step.started_at = _core.format_instant(self.started)
        step.ended_at = _core.format_instant(clock.now())
        step.duration_ms = round((clock.monotonic() - self.started_s) * 1000, 3)
        step.input_digest = plan.digest
        step.output = self._output()
        step.usage = self.usage
        step.error = self.error
        step.effect = plan.effect
        step.call_id = plan.call_id
        step.idempotency_key = frame.key() if plan.kind == "tool" else frame.made_key
        step.decision = self.decision
        step.child = child
        step.order = () if slot is None or ended == (slot + 1, slot) else ended
        step.meta = self._meta()
        step.__class__ = Step
        return cast("Step", step)

    def outcome(self, step: Step) -> Outcome:
        """Give what the workflow goes on with."""
        verdict = self.verdict
        if self.frame.plan.is_judgement and verdict is None:
            said = f"raised {step.error.type}: {step.error.message}" if step.error else "no verdict"
            verdict = Verdict(ok=False, reason=f"could not be judged: {said}", undetermined=True)
        usage = self.usage + self.frame.inside
        return Outcome(step, self.reply, self.value, usage, verdict, self.exception, self.result)

    def _judged(self) -> None:
        """Give the step the status that its verdict, result or reply says."""
        verdict = self.verdict
        if self.result is not None and self.status is None:
            self.status, self.error = self.result.status, self.result.error
        if verdict is not None and not verdict.ok:
            self.status = "undetermined" if verdict.undetermined else "failed"
            kind = "undetermined" if verdict.undetermined else "refused"
            self.error = ErrorInfo(kind, verdict.reason, "permission", "escalate", source="verdict")
        elif self.reply is not None and self.error is None:
            self.error = self.reply.error
            if self.status is None and self.reply.status == "failed":
                self.status = "failed"

    def _output(self) -> object:
        if self.reply is None or self.verdict is not None:
            return None
        told = self.reply.output if self.result is None else self.result.output
        if self.frame.walk.run.content == "digest":
            return {"digest": input_digest([told, self.reply.data])}
        return told

    def _meta(self) -> dict[str, object]:
        frame = self.frame
        meta = dict(frame.plan.meta)
        seen = (("now", frame.readings), ("left", frame.left), ("inside", frame.made))
        meta |= {name: value for name, value in seen if value}
        if frame.is_unmetered:
            meta["usage_missing"] = True
        is_kept = frame.walk.run.content == "full"
        if self.result is not None:
            if is_kept and self._ran_inside() and not self.result.usage.is_nothing:
                meta["usage"] = self.result.usage.to_dict()
            return meta
        record = _record(self.value) if is_kept else None
        if record is not None:
            told = {"form": "record", "type": type(self.value).__name__, "record": record}
            return {**meta, "reply": told}
        if self.reply is None or self.verdict is not None:
            return meta
        if is_kept and not isinstance(self.value, str):
            meta["reply"] = self._beside_text(self.returned or self.reply)
        return meta

    def _ran_inside(self) -> bool:
        return bool(self.frame.nested) or self.foreign is not None

    def _beside_text(self, reply: Reply) -> dict[str, object]:
        """Return what a reply says beside its text, as data; `form` says what was returned."""
        # What the step used, where nothing ran inside it, need not be said again.
        alone = NOTHING if self._ran_inside() else self.usage
        told = _beside_text(reply, self.value, alone)
        if isinstance(self.value, Result):
            # Of several runs inside, the one whose result it is.
            runs = [*(walk.ended for walk in self.frame.nested), self.foreign]
            rollout = self.value.rollout
            told["run"] = next((at for at, one in enumerate(runs) if one is rollout), None)
        return {**told, "form": "input"} if self.value is self.frame.plan.value else told

    def _child(self) -> Rollout | None:
        """Give the record of the run inside the step; several stand as the steps of one."""
        children = [nested.record("cancelled", "cancelled") for nested in self.frame.nested]
        if self.foreign is not None:
            children.append(self.foreign)
        if len(children) < 2:  # noqa: PLR2004 (one or none)
            return children[0] if children else None
        plan = self.frame.plan
        steps = tuple(
            Step(
                path=f"{plan.path}/({number})",
                name=child.workflow,
                kind="node",
                status="completed" if child.status == "completed" else "failed",
                started_at=child.started_at,
                ended_at=child.ended_at,
                usage=child.usage,
                child=child,
            )
            for number, child in enumerate(children)
        )
        return Rollout(
            run_id=self.frame.walk.run.run_id,
            workflow=plan.name,
            kind="several",
            status="completed",
            stopped_by="done",
            steps=steps,
            usage=total_usage(step.usage for step in steps),
            started_at=children[0].started_at,
            ended_at=children[-1].ended_at,
        )


def _record(value: object) -> object:
    """Write a record of this package that no reply is made of in a way of its own."""
    if not isinstance(value, Record) or isinstance(value, (Reply, Result, ToolResult, Verdict)):
        return None
    try:
        return _core.plain(value.to_dict(), finite=True)
    except (ConfigError, RecursionError):
        # A plan that holds what JSON cannot: it is told as a fault of the plan.
        return None


def _beside_text(reply: Reply, value: object, usage: Usage) -> dict[str, object]:
    told: dict[str, object] = {"form": "none" if value is None else "reply"}
    if isinstance(value, Result):
        told |= {"form": "result", "type": type(value).__name__, "result": _beside_answer(value)}
    if reply.usage is not usage and reply.usage != usage:
        told["usage"] = reply.usage.to_dict()
    for name in _BESIDE:
        if one := getattr(reply, name):
            told[name] = encoded(one)
    if reply.status != "completed":
        told["status"] = reply.status
    return told if reply.data is None else {**told, **_data(reply.data, value)}


def _beside_answer(result: Result) -> dict[str, object]:
    """Return what a result says beside its answer and record, which the step holds."""
    told: dict[str, object] = result.to_dict()
    kept = {name: value for name, value in told.items() if name not in _ANSWER}
    return {"output": None, **kept} if result.output is None else kept


def _data(data: object, value: object) -> dict[str, object]:
    form: dict[str, object] = {"form": "data"} if data is value else {}
    try:
        return {**form, "data": plain_data(data)}
    except ConfigError:
        # It is handed on as it is, but a record holds what JSON can hold.
        return {**form, "type": type(data).__qualname__}
