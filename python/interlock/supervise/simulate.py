"""A recorded run against another runbook: what would now be blocked, asked or allowed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from interlock.errors import UsageError
from interlock.record._data import Record
from interlock.record.rollout import Rollout
from interlock.supervise import log as logs
from interlock.supervise._rollout import Again, calls_in
from interlock.supervise.calls import Decision
from interlock.supervise.start import start_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interlock.supervise.log import LogEntry
    from interlock.supervise.policy import Policy
    from interlock.supervise.state import Event, RunState

__all__ = ["Difference", "Simulation", "simulate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Record):
    """An operation that comes to something else.

    Attributes:
        seq: Its number in the log.
        operation: What it was.
        what: The tool that was called, or the step that was gone to.
        was: What it came to: a verdict, or the code of what happened.
        now: What it comes to now.
        message: Why, in words.
    """

    seq: int
    operation: str
    what: str
    was: str
    now: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation(Record):
    """What a changed runbook makes of a recorded run.

    Attributes:
        refusals: Why the run would not start at all; empty when it would.
        outcome: What it comes to; None where it is still running at the end of the log.
        operations: How many operations were made again.
        differences: Those that come to something else, in order.
    """

    refusals: tuple[str, ...] = ()
    outcome: str | None = None
    operations: int = 0
    differences: tuple[Difference, ...] = ()


def simulate(
    policy: Policy,
    log: Iterable[LogEntry] | Rollout,
    *,
    inputs: Mapping[str, object] | None = None,
    capabilities: Mapping[str, str] | None = None,
) -> Simulation:
    """Make the calls and moves of a recorded run again, under a changed policy.

    What people answered counts where the same action is asked about; a question that was not asked
    in the recorded run has no answer, and none is made up: the call stays asked.

    Args:
        policy: The changed policy.
        log: The log of the run, which begins with `start_run`; or the rollout of a loop that was
            supervised. A rollout does not say what people answered: a call that is asked about
            stays asked, and what is said of moves is where the run stands after them.
        inputs: What the run is given; for a rollout.
        capabilities: The capability of each tool, by its name; for a rollout.

    Raises:
        UsageError: When the log does not begin so, an entry is of no operation or given what that
            does not take, or a rollout is without arguments.
    """
    if isinstance(log, Rollout):
        return _by_rollout(policy, log, inputs, capabilities or {})
    entries = tuple(log)
    if not entries or entries[0].operation != "start_run":
        raise UsageError("a log begins with start_run")
    with logs.remaking(entries[0]):
        given: dict[str, Any] = {**logs.start_given(policy, entries[0]), "escalation": None}
        began = start_run(policy, **given)
    if began.state is None:
        return Simulation(refusals=tuple(f"{one.code}: {one.message}" for one in began.refusals))
    state, found = began.state, list[Difference]()
    asked: dict[str, str] = {}
    for entry in entries[1:]:
        if _is_moot(entry, state):
            continue
        moved = logs.again(policy, state, _carried(entry, asked))
        if entry.question is not None and moved.question is not None:
            asked[entry.question] = moved.question.id
        state = moved.state
        verdict = moved.verdict if isinstance(moved, Decision) else None
        was, now = _came_to(entry.verdict, entry.events), _came_to(verdict, moved.events)
        if was != now:
            found.append(_difference(entry, was, now, moved.events))
    return Simulation(outcome=state.outcome, operations=len(entries) - 1, differences=tuple(found))


def _by_rollout(
    policy: Policy,
    rollout: Rollout,
    inputs: Mapping[str, object] | None,
    capabilities: Mapping[str, str],
) -> Simulation:
    began = start_run(policy, agent_identity="agent", inputs=inputs)
    if began.state is None:
        return Simulation(refusals=tuple(f"{one.code}: {one.message}" for one in began.refusals))
    again, found, count = Again(policy, began.state, capabilities), list[Difference](), 0
    for name, args, step in calls_in(rollout):
        told = again.made(name, args, step)
        if told is None:
            continue
        what, was, now, events = told
        if was != now:
            said = events[0].message if events else ""
            found.append(
                Difference(seq=count, operation=name, what=what, was=was, now=now, message=said)
            )
        count += 1
    return Simulation(outcome=again.state.outcome, operations=count, differences=tuple(found))


def _is_moot(entry: LogEntry, state: RunState) -> bool:
    """Say whether an entry tells of a call that is not made now."""
    if entry.operation != "observe":
        return False
    return all(call.call_id != entry.given.get("call_id") for call in state.open)


def _carried(entry: LogEntry, asked: Mapping[str, str]) -> LogEntry:
    """Give an answer to the question that is asked now in place of the recorded one."""
    question = entry.given.get("question_id")
    if entry.operation != "answer" or not isinstance(question, str):
        return entry
    given = {**entry.given, "question_id": asked.get(question, question), "action_digest": None}
    return replace(entry, given=given)


def _came_to(verdict: str | None, events: tuple[Event, ...]) -> str:
    """Name what an operation came to: the verdict, or the code of the first thing that happened."""
    return verdict or (events[0].code if events else "nothing")


def _difference(entry: LogEntry, was: str, now: str, events: tuple[Event, ...]) -> Difference:
    what = entry.given.get("tool") or entry.given.get("to") or ""
    return Difference(
        seq=entry.seq,
        operation=entry.operation,
        what=str(what),
        was=was,
        now=now,
        message=events[0].message if events else "",
    )
