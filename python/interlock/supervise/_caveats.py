"""What to mind when reading a report: sentences, each with a code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock.record._data import Record
from interlock.supervise.contract import at_least
from interlock.supervise.risk import is_dangerous

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from interlock.supervise.contract import Deployment, RuntimeProfile
    from interlock.supervise.policy import Policy
    from interlock.supervise.state import Event, RunState

__all__ = ["Caveat", "caveats_of"]


@dataclass(frozen=True, slots=True)
class Caveat(Record):
    """A sentence about how far a report goes.

    Attributes:
        code: A word for it.
        message: The sentence; `str` of the whole gives this.
    """

    code: str
    message: str

    def __str__(self) -> str:
        return self.message


def caveats_of(
    state: RunState,
    events: Sequence[Event] | None,
    policy: Policy | None,
    deployment: Deployment | None,
    *,
    elapsed: float | None,
    computed: RuntimeProfile | None,
    observed_only: bool,
) -> tuple[Caveat, ...]:
    """List everything to mind."""
    found = [
        *_of_ending(state),
        *_of_time(state, policy, elapsed),
        *_of_enforcement(deployment, computed, observed_only=observed_only),
        *_of_steps(state, policy),
        *_of_people(state),
        *_of_log(events),
    ]
    return tuple(Caveat(code, message) for code, message in found)


def _of_ending(state: RunState) -> Iterator[tuple[str, str]]:
    if state.status == "running":
        yield "run/unfinished", "The run has not ended: this is where it stands by now."
    if state.outcome == "budget-exhausted":
        yield (
            "run/budget-exhausted",
            "A budget ended the run: do not read this as the failure of a step, or as its verdict.",
        )
    if state.outcome == "timed-out":
        yield "run/timed-out", "The time that it was given ended the run, not a step."
    if state.outcome == "no-progress":
        yield "run/no-progress", "The run was ended because a loop repeated itself, not by a step."


def _of_time(
    state: RunState, policy: Policy | None, elapsed: float | None
) -> Iterator[tuple[str, str]]:
    if state.wall_clock_seconds is None:
        yield (
            "time/no-bound",
            "The run had no bound in time; having none is not the same as having a large one.",
        )
    if state.waited_seconds:
        yield (
            "time/waited",
            f"{state.waited_seconds:g} s of it were waiting for people, which counts as well.",
        )
    suggested = policy.suggested_wall_clock_seconds if policy is not None else None
    if suggested is not None and elapsed is not None and elapsed > suggested:
        yield (
            "time/longer-than-suggested",
            f"It took {elapsed:g} s where the document suggests {suggested} s.",
        )


def _of_enforcement(
    deployment: Deployment | None, computed: RuntimeProfile | None, *, observed_only: bool
) -> Iterator[tuple[str, str]]:
    if observed_only or (deployment is not None and deployment.profile == "R0"):
        yield "runtime/nothing-enforced", "Nothing was enforced: the run was only watched."
    if deployment is None:
        yield "runtime/not-declared", "What the client enforces and sees was not declared."
        return
    if not deployment.coverage.is_full:
        unseen = ", ".join(deployment.coverage.unseen)
        yield "runtime/unseen-calls", f"Calls outside the coverage ({unseen}) were not seen."
    if computed is not None and not at_least(computed, deployment.profile):
        yield (
            "runtime/profile-above-computed",
            f"The client was said to be {deployment.profile}; what it does and sees is {computed}.",
        )


def _of_steps(state: RunState, policy: Policy | None) -> Iterator[tuple[str, str]]:
    if state.unchecked:
        steps = ", ".join(state.unchecked)
        yield (
            "step/unverified",
            f"Steps were left by their success edge with nothing to show: {steps}.",
        )
    if policy is None:
        yield "policy/not-at-hand", "The policy was not at hand: limits are not known."
        return
    open_ = [one.id for one in policy.steps.values() if is_dangerous(one.risk) and one.gate is None]
    if entered := [one for one in open_ if one in state.path]:
        yield "gate/off", f"Dangerous steps without a gate were entered: {', '.join(entered)}."


def _of_people(state: RunState) -> Iterator[tuple[str, str]]:
    if state.open:
        calls = ", ".join(f"{one.call_id} ({one.tool})" for one in state.open)
        yield "call/in-doubt", f"It is not known what became of the calls {calls}."
    used = [one for one in state.approvals if one.approved and one.used_by is not None]
    if any(len({vote.by for vote in one.votes}) == 1 for one in used):
        yield "gate/one-person", "What was agreed to was agreed to by one person."


def _of_log(events: Sequence[Event] | None) -> Iterator[tuple[str, str]]:
    if events is None:
        yield "log/none", "There is no log: only what the state keeps is told."
        return
    yield (
        "log/not-anchored",
        "The log is not anchored anywhere else: that it is whole is not proved.",
    )
    undetermined = [one for one in events if one.code.endswith("/undetermined")]
    if undetermined:
        yield "verify/undetermined", f"Conditions could not be decided {len(undetermined)} times."
