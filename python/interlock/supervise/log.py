"""The log of a run: every operation with what it was given, so that it can be made again."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from interlock.errors import InterlockError, PolicyMismatch, UsageError
from interlock.record._data import Record, encoded
from interlock.supervise import calls, moves, observed, questions, shown, start
from interlock.supervise._draft import Transition
from interlock.supervise._frozen import FrozenMap
from interlock.supervise._secrets import read_withheld
from interlock.supervise.calls import Decision, ProposedCall
from interlock.supervise.contract import Deployment
from interlock.supervise.parts import Escalation
from interlock.supervise.questions import Answer
from interlock.supervise.state import EscalationRules, Event, RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from interlock.supervise.parts import Response
    from interlock.supervise.policy import Policy

__all__ = [
    "LogEntry",
    "RunCheck",
    "again",
    "apply",
    "recompute",
    "remaking",
    "verify_run",
    "written",
]

Moved: TypeAlias = "Transition | Decision"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry(Record):
    """One operation of a run.

    Attributes:
        seq: Its number in the log, from 0.
        operation: start_run, advance, propose, observe, verify, decide, fail, answer, finish,
            stop or handover.
        given: What it was given, as data.
        events: What happened.
        verdict: What was said of a call: allow, block or ask; None for all else.
        question: The id of the question that it opened or found open; None for none.
        digest: SHA-256 of the state after it.
    """

    seq: int
    operation: str
    given: Mapping[str, object] = field(default_factory=dict[str, object])
    events: tuple[Event, ...] = ()
    verdict: str | None = None
    question: str | None = None
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCheck(Record):
    """Whether a log tells the truth about a run.

    Attributes:
        ok: Whether every operation, made again, came to the same.
        entries: How many there are.
        first_bad: The number of the first one that did not; None when all did.
        reason: What differs there.
    """

    ok: bool
    entries: int
    first_bad: int | None = None
    reason: str = ""


def apply(policy: Policy, state: RunState, entry: LogEntry) -> Moved:
    """Make the operation of an entry on a state.

    Raises:
        UsageError: When there is no such operation.
        PolicyMismatch: When the run follows another policy.
    """
    made = _OPERATIONS.get(entry.operation)
    if made is None:
        known = ", ".join(("start_run", *_OPERATIONS))
        raise UsageError(f"no operation {entry.operation!r}; there are {known}")
    return made(policy, state, dict(entry.given))


def recompute(policy: Policy, log: Iterable[LogEntry]) -> RunState:
    """Make a run again from its log.

    Raises:
        UsageError: When the log does not begin with `start_run`, or an entry cannot be made again:
            it was refused, or given what its operation does not take.
        PolicyMismatch: When the run follows another policy.
    """
    state: RunState | None = None
    for entry in log:
        state = again(policy, state, entry).state
    if state is None:
        raise UsageError("the log is empty: it begins with start_run")
    return state


def verify_run(policy: Policy, log: Iterable[LogEntry]) -> RunCheck:
    """Make a run again from its log, and say whether every operation comes to what it says.

    Raises:
        UsageError: When the log does not begin with `start_run`.
        PolicyMismatch: When the run follows another policy.
    """
    state: RunState | None = None
    count = 0
    for count, entry in enumerate(log, start=1):
        try:
            moved = again(policy, state, entry)
        except UsageError as error:
            if count == 1 and entry.operation != "start_run":
                raise
            return RunCheck(ok=False, entries=count, first_bad=entry.seq, reason=str(error))
        state = moved.state
        reason = _difference(entry, moved, count - 1)
        if reason:
            return RunCheck(ok=False, entries=count, first_bad=entry.seq, reason=reason)
    return RunCheck(ok=True, entries=count)


def _difference(entry: LogEntry, moved: Moved, seq: int) -> str:
    verdict = moved.verdict if isinstance(moved, Decision) else None
    if entry.seq != seq:
        return f"entry {entry.seq} stands where {seq} was to come"
    if entry.verdict != verdict:
        return f"the log says {entry.verdict}, and it comes to {verdict}"
    if entry.events != moved.events:
        return "the events are others"
    return "" if entry.digest == moved.state.digest() else "the state after it is another"


def again(policy: Policy, state: RunState | None, entry: LogEntry) -> Moved:
    """Make the operation of an entry again.

    Raises:
        UsageError: As `remaking` says.
        PolicyMismatch: When the run follows another policy.
    """
    with remaking(entry):
        return _next(policy, state, entry)


@contextmanager
def remaking(entry: LogEntry) -> Generator[None]:
    """Raise UsageError where an entry cannot be made again, as every one of a run can."""
    try:
        yield
    except (PolicyMismatch, UsageError):
        raise
    except (InterlockError, AttributeError, LookupError, TypeError, ValueError) as error:
        said = f"the entry {entry.seq} ({entry.operation}) cannot be made again"
        raise UsageError(f"{said}: {type(error).__name__}: {error}") from error


def _next(policy: Policy, state: RunState | None, entry: LogEntry) -> Moved:
    if state is not None:
        return apply(policy, state, entry)
    if entry.operation != "start_run":
        raise UsageError(f"the log begins with {entry.operation}: it begins with start_run")
    began = start.start_run(policy, **start_given(policy, entry))
    return Transition(began.unwrap(), began.events)


def written(given: Mapping[str, object]) -> dict[str, object]:
    """Write what a run was started with as data, without what was not said."""
    return {name: encoded(value) for name, value in given.items() if value is not None}


def start_given(policy: Policy, entry: LogEntry) -> dict[str, Any]:
    """Read what a run was started with."""
    given = cast("dict[str, Any]", dict(entry.given))
    given["inputs"] = read_withheld(policy.inputs, given.get("inputs"))
    rules = given.get("escalation")
    if isinstance(rules, Mapping):
        read = EscalationRules.from_dict(cast("Mapping[str, object]", rules))
        responses = FrozenMap(cast("Mapping[str, Response]", read.responses))
        given["escalation"] = Escalation(responses=responses, max_total=read.max_total)
    given["deployment"] = start_deployment(entry)
    return given


def start_deployment(entry: LogEntry) -> Deployment | None:
    """Read which client a run was started on; None where that was not said."""
    deployment = entry.given.get("deployment")
    return None if deployment is None else Deployment.from_dict(deployment)


def _propose(policy: Policy, state: RunState, given: dict[str, Any]) -> Decision:
    now = given.pop("now", None)
    return calls.propose(policy, state, ProposedCall(given.pop("tool"), **given), now=now)


def _answer(policy: Policy, state: RunState, given: dict[str, Any]) -> Transition:
    now = given.pop("now", None)
    return questions.answer(policy, state, Answer(**given), now=now)


def _with_policy(function: Callable[..., Moved]) -> Callable[..., Moved]:
    def made(policy: Policy, state: RunState, given: dict[str, Any]) -> Moved:
        return function(policy, state, **given)

    return made


def _without_policy(function: Callable[..., Moved]) -> Callable[..., Moved]:
    def made(policy: Policy, state: RunState, given: dict[str, Any]) -> Moved:
        del policy
        return function(state, **given)

    return made


_OPERATIONS: dict[str, Callable[..., Moved]] = {
    "advance": _with_policy(moves.advance),
    "propose": _propose,
    "observe": _with_policy(observed.observe),
    "verify": _with_policy(shown.verify),
    "decide": _with_policy(shown.decide),
    "fail": _with_policy(moves.fail),
    "answer": _answer,
    "finish": _with_policy(moves.finish),
    "stop": _without_policy(start.stop),
    "handover": _without_policy(start.handover),
}
