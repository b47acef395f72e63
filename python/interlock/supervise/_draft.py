"""One operation on a run: what it changes, and the events of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias, cast

from interlock import _core
from interlock._wire import draft_of
from interlock.errors import ConfigError, PolicyMismatch, Problem
from interlock.supervise.state import Event, RunState

if TYPE_CHECKING:
    from interlock.supervise.asked import Question
    from interlock.supervise.policy import Policy, PolicyStep
    from interlock.supervise.state import EventKind

__all__ = [
    "Draft",
    "Instant",
    "Transition",
    "begin",
    "over",
    "policies_in_force",
    "policy_in_force",
    "read_now",
]

Instant: TypeAlias = "float | datetime | None"
"""Seconds from any one origin, or an aware datetime; None where there is no clock."""

LONGEST = 10**11
"""A number of seconds over this is some 3,000 years, or milliseconds by mistake."""


@dataclass(frozen=True, slots=True)
class Transition:
    """What an operation came to.

    Attributes:
        state: The run after it; the one that was given stays as it was.
        events: What happened, in order.
        question: What people are asked before it can happen; None when nothing is open.
    """

    state: RunState
    events: tuple[Event, ...] = ()
    question: Question | None = None


def read_now(now: object, field: str = "now") -> float | None:
    """Read an instant as seconds.

    Raises:
        ConfigError: When it is no finite number, a naive datetime, or looks like milliseconds.
    """
    if now is None or (type(now) is float and 0 <= now < LONGEST):
        return now
    if isinstance(now, datetime):
        if now.utcoffset() is not None:
            return now.timestamp()
        message = "must have a time zone: a naive datetime is no instant"
    elif type(now) not in (int, float) or (type(now) is float and not math.isfinite(now)):
        message = "must be a finite number of seconds, or a datetime with a time zone"
    elif abs(cast("float", now)) > LONGEST:
        message = "must be seconds: a number so large is probably milliseconds; divide by 1000"
    else:
        return cast("float", now)
    raise ConfigError((Problem("supervise/now", field, _core.preview(now), message),))


def policy_in_force(policy: Policy, state: RunState) -> Policy:
    """Return the policy of the runbook that the run is in: the one given, or one it called.

    Raises:
        PolicyMismatch: When the run follows another policy.
    """
    if state.policy_digest != policy.digest:
        raise PolicyMismatch(
            f"the run {state.run_id} follows the policy {state.policy_digest[:12]}, and this one "
            f"is {policy.digest[:12]} ({policy.id}); give the policy that it was started with"
        )
    here = policy if not state.stack else policies_in_force(policy, state)[-1]
    if not state.is_over and state.seq >= 0 and state.current not in here.steps:
        raise PolicyMismatch(
            f"the run {state.run_id} stands at {_core.preview(state.current)}, and {here.id} has "
            "no such step: the state was changed from outside"
        )
    return here


def policies_in_force(policy: Policy, state: RunState) -> list[Policy]:
    """Return the policies of all runbooks that the run is in, the outermost first.

    Raises:
        PolicyMismatch: When one that was called is not at hand.
    """
    found = [policy]
    for frame in state.stack:
        step = found[-1].steps.get(frame.step)
        called = None if step is None else step.calls
        if called is None or called.policy is None:
            raise PolicyMismatch(f"the runbook that step {frame.step} calls is not at hand")
        found.append(called.policy)
    return found


class Draft:
    """An operation in progress: changes are gathered, and made at once."""

    __slots__ = ("events", "here", "now", "policy", "seq", "state")

    def __init__(self, policy: Policy, state: RunState, now: Instant = None) -> None:
        """Begin with a state, at an instant.

        Raises:
            PolicyMismatch: When the state follows another policy.
            ConfigError: When the instant is none.
        """
        self.policy = policy
        self.here = policy_in_force(policy, state)
        self.state = _thawed(state)
        self.events: list[Event] = []
        self.seq = state.seq + 1
        given = read_now(now)
        last = state.last_now
        self.now = given if given is None or last is None else max(given, last)
        if given is not None and not state.is_over:
            if self.now != given:
                said = f"the clock stepped back from {last:g} to {given:g}; {last:g} holds"
                self.event("observed", "clock/stepped-back", said)
            self.change(last_now=self.now)
            if state.started_at is None:
                # A run that was started without a clock has its time from the first instant on.
                self.change(started_at=self.now, entered_at=self.now)

    @property
    def step(self) -> PolicyStep:
        """The step where the run stands."""
        return self.here.steps[cast("str", self.state.current)]

    @property
    def is_by_people(self) -> bool:
        """Whether people alone carry out one of the runbooks that the run is in."""
        if not self.state.stack:
            return self.here.execution == "human-only"
        inside = policies_in_force(self.policy, self.state)
        return any(one.execution == "human-only" for one in inside)

    def change(self, **changes: object) -> None:
        """Change fields of the state."""
        for name, value in changes.items():
            setattr(self.state, name, value)

    def event(self, kind: EventKind, code: str, message: str, at: str | None = None) -> None:
        """Note what happened, and the place of the step, which is the current one when None."""
        if at is None and self.state.current is not None:
            at = self.state.place(self.state.current)
        self.events.append(Event(self.seq, kind, code, message, at, self.now))

    def take(self, other: Transition) -> None:
        """Take over what another operation made of the state, as part of this one."""
        self.state = _thawed(other.state)
        self.events += [replace(event, seq=self.seq, now=self.now) for event in other.events]

    def end(self, outcome: str, code: str, message: str) -> None:
        """End the run."""
        self.change(status="ended", outcome=outcome, pending=())
        self.event("ended", code, message)

    def out_of_time(self) -> bool:
        """End the run where its time is over, and say whether it is."""
        state = self.state
        limit, started = state.wall_clock_seconds, state.started_at
        if limit is None or started is None or self.now is None or self.now - started <= limit:
            return False
        said = f"the run took {self.now - started:g} s of the {limit:g} s it was given"
        self.end("timed-out", "run/timed-out", said)
        return True

    def done(self, question: Question | None = None) -> Transition:
        """Give what came of it; nothing is changed afterwards."""
        self.change(seq=self.seq)
        return Transition(self.frozen(), tuple(self.events), question)

    def frozen(self) -> RunState:
        """Give the state as it is by now; it cannot be changed any more."""
        object.__setattr__(self.state, "__class__", RunState)
        return self.state


_Thawed = draft_of(RunState)
_NAMES = tuple(field.name for field in fields(RunState))
_VALUES = attrgetter(*_NAMES)


def _thawed(state: RunState) -> RunState:
    """Copy a state into one that can be changed until the operation is done."""
    # PERF: `dataclasses.replace` takes six times as long, and an operation changes many fields.
    copy: RunState = _Thawed()
    for name, value in zip(_NAMES, _VALUES(state), strict=True):
        object.__setattr__(copy, name, value)
    return copy


def begin(policy: Policy, state: RunState, now: Instant) -> Draft | Transition:
    """Begin an operation; where the run is over, or its time is, give what it comes to instead.

    Raises:
        PolicyMismatch: When the state follows another policy.
        ConfigError: When the instant is none.
    """
    if state.is_over:
        return over(state, now)
    draft = Draft(policy, state, now)
    return draft.done() if draft.out_of_time() else draft


def over(state: RunState, now: Instant = None) -> Transition:
    """Answer that the run is over: nothing changes."""
    message = f"the run is over: nothing is authorised and nothing moves (outcome: {state.outcome})"
    event = Event(state.seq, "blocked", "run/over", message, state.current, read_now(now))
    return Transition(state, (event,))
