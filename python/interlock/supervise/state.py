"""Where a run stands: frozen values, which every operation takes and gives back changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from interlock import _core
from interlock.errors import Problem, SpecInvalid, StateVersion
from interlock.record._data import Record
from interlock.supervise.asked import Approval, Question
from interlock.supervise.failed import FailedCall
from interlock.supervise.parts import DEVIATION_CLASSES, MAX_TOTAL, Escalation

__all__ = [
    "CallFrame",
    "DeviationRecord",
    "Event",
    "OpenCall",
    "RunState",
]

SCHEMA = "interlock.run-state/1"

Status: TypeAlias = Literal["running", "ended"]
EventKind: TypeAlias = Literal[
    "started",
    "advanced",
    "authorized",
    "blocked",
    "asked",
    "answered",
    "observed",
    "verified",
    "escalated",
    "ended",
]


@dataclass(frozen=True, slots=True)
class DeviationRecord(Record):
    """A departure from the procedure: what may leave the house of whoever runs it.

    No free text, no command, no argument, no value: a closed form.

    Attributes:
        deviation_class: One of the seven; `class` in data.
        step: Where the run stood, as the path has it; None when that is not known.
        capability_class: The class of the capability, such as `cli`; None when there is none.
        sequence: Its place among the deviations of the run, from 0.
    """

    deviation_class: str = field(metadata={"name": "class"})
    step: str | None = None
    capability_class: str | None = None
    sequence: int = 0

    def __post_init__(self) -> None:
        """Refuse a class that is none of the seven."""
        if self.deviation_class not in DEVIATION_CLASSES:
            shown = _core.preview(self.deviation_class)
            message = f"must be one of {', '.join(DEVIATION_CLASSES)}"
            raise SpecInvalid((Problem("spec/unknown-choice", "class", shown, message),))


@dataclass(frozen=True, slots=True)
class Event(Record):
    """What an operation did.

    Attributes:
        seq: The operation, as the state counts them.
        kind: What happened.
        code: A word for exactly what, such as `run/timed-out`.
        message: The same in words, for whoever is to act on it.
        at: The step, as the path has it; None when there is none.
        now: The instant that was given, in seconds.
    """

    seq: int
    kind: EventKind
    code: str
    message: str
    at: str | None = None
    now: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCall(Record):
    """A call that was authorised and has no outcome yet, or one that is in doubt.

    Attributes:
        call_id: Its id.
        tool: The capability.
        step: The step that it belongs to, as the path has it.
        visit: Which visit of it.
        in_doubt: Whether it may or may not have happened.
    """

    call_id: str
    tool: str
    step: str
    visit: int = 1
    in_doubt: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFrame(Record):
    """Where a run goes on when the runbook that it entered has ended.

    Attributes:
        step: The step of kind call.
        visit: Which visit of it.
        retries: Traversals of budgeted edges, in the runbook of that step.
        visits: Visits by step, in the runbook of that step.
        calls: Calls that were allowed before it was entered.
        tokens: Tokens that were observed before it was entered.
        calls_by_tool: Likewise, by declared tool.
    """

    step: str
    visit: int
    retries: Mapping[str, int] = field(default_factory=dict[str, int])
    visits: Mapping[str, int] = field(default_factory=dict[str, int])
    calls: int = 0
    tokens: int = 0
    calls_by_tool: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True, kw_only=True)
class EscalationRules(Record):
    """What a deviation does, as it travels with a run.

    Attributes:
        responses: By class: abort, block-and-continue or pause.
        max_total: How many deviations of all classes there may be; one more ends the run.
    """

    responses: Mapping[str, str]
    max_total: int = MAX_TOTAL

    @classmethod
    def of(cls, given: Escalation) -> EscalationRules:
        """Take what a policy says."""
        return cls(responses=dict(given.responses), max_total=given.max_total)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState(Record):
    """Where a run stands.

    Attributes:
        run_id: The run.
        policy_digest: The policy that it follows; under another it is refused.
        agent_identity: Who works through it.
        status: running or ended.
        current: The step it stands at, or the terminal where it ended.
        visit: Which visit of that step, from 1.
        outcome: What it came to; None while it runs.
        path: The steps that were entered, in order; those of called runbooks as `step/inner`.
        retries: How often each budgeted edge was taken, by `from->to`.
        visits: How often each step was entered.
        calls: How many calls were attempted, allowed, asked, blocked, completed, failed, in_doubt.
        calls_by_step: Calls that were allowed, by step.
        calls_by_tool: Calls that were allowed, by declared tool.
        open: Calls that were allowed and have no outcome, or are in doubt.
        failed: The last call that failed with an error, until its tool answers; None: none.
        tokens: Tokens that were observed.
        verified: Whether what the current step must show has been shown.
        admitted: Whether those who must agree to the current step have.
        pending: Questions without an answer.
        approvals: What came of the questions that were answered.
        deviations: Departures from the procedure, in order.
        escalation: What a deviation does.
        facts: What decisions look at: `inputs`, and the evidence that was brought.
        secrets: Digests of secret inputs, by which they are known in arguments.
        unchecked: Steps left by their success edge that had nothing to verify.
        armed: Order rules whose first half was met: by the digest of the policy and its place in
            it, after how many allowed calls.
        snapshots: The facts that a step's `progress` watches, at its last visits.
        stack: The runbooks around the one that the run is in.
        inputs_digest: SHA-256 of the inputs.
        started_at: When it began, in seconds of any one origin; None when that was not said.
        entered_at: When the current step was entered.
        last_now: The last instant that was given.
        wall_clock_seconds: How long it may take; None: no bound.
        waited_seconds: How long it waited for people; this counts against the wall clock.
        seq: How many operations there were.
        schema: The version of this form.
    """

    VERSION: ClassVar[str] = SCHEMA

    run_id: str
    policy_digest: str
    agent_identity: str
    status: Status = "running"
    current: str | None = None
    visit: int = 1
    outcome: str | None = None
    path: tuple[str, ...] = ()
    retries: Mapping[str, int] = field(default_factory=dict[str, int])
    visits: Mapping[str, int] = field(default_factory=dict[str, int])
    calls: Mapping[str, int] = field(default_factory=dict[str, int])
    calls_by_step: Mapping[str, int] = field(default_factory=dict[str, int])
    calls_by_tool: Mapping[str, int] = field(default_factory=dict[str, int])
    open: tuple[OpenCall, ...] = ()
    failed: FailedCall | None = None
    tokens: int = 0
    verified: bool = False
    admitted: bool = True
    pending: tuple[Question, ...] = ()
    approvals: tuple[Approval, ...] = ()
    deviations: tuple[DeviationRecord, ...] = ()
    escalation: EscalationRules = field(default_factory=lambda: EscalationRules.of(Escalation()))
    facts: Mapping[str, object] = field(default_factory=dict[str, object])
    secrets: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    armed: Mapping[str, int] = field(default_factory=dict[str, int])
    snapshots: Mapping[str, object] = field(default_factory=dict[str, object])
    stack: tuple[CallFrame, ...] = ()
    inputs_digest: str = ""
    started_at: float | None = None
    entered_at: float | None = None
    last_now: float | None = None
    wall_clock_seconds: float | None = None
    waited_seconds: float = 0.0
    seq: int = 0
    schema: str = SCHEMA

    def __post_init__(self) -> None:
        """Refuse a form that is not known."""
        if self.schema != SCHEMA:
            raise StateVersion(
                f"a state of form {_core.preview(self.schema)}; this version reads {SCHEMA}"
            )

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self.status == "ended"

    def digest(self) -> str:
        """Return the SHA-256 of its canonical form, as 64 hexadecimal digits."""
        return _core.digest(self.to_dict())

    def place(self, step: str) -> str:
        """Return a step with the called runbooks that it is in: `call.2/step`."""
        # PERF: every event has a place, and few runs are in a called runbook.
        if not self.stack:
            return step
        return "/".join([*(_visited(one.step, one.visit) for one in self.stack), step])


def _visited(step: str, visit: int) -> str:
    return step if visit == 1 else f"{step}.{visit}"
