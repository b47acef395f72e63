"""The report of a run: what happened, what was spent, and what to mind when reading it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interlock.errors import PolicyMismatch
from interlock.record._data import Record
from interlock.supervise._caveats import Caveat, caveats_of
from interlock.supervise._draft import Instant, read_now
from interlock.supervise._uses import Budgets, StepUse, spent_of, steps_of, wall_clock
from interlock.supervise.asked import Approval, Question
from interlock.supervise.called import CallList, call_list
from interlock.supervise.contract import (
    AdapterCoverage,
    Deployment,
    RuntimeProfile,
    profile_of_run,
)
from interlock.supervise.deviation import count_by_class, count_by_step
from interlock.supervise.state import DeviationRecord, Event

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlock.supervise.log import LogEntry
    from interlock.supervise.policy import Policy
    from interlock.supervise.state import RunState

__all__ = ["Report", "report"]

SCHEMA = "interlock.run-report/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyName(Record):
    """Which policy was followed."""

    id: str = ""
    version: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviations(Record):
    """Departures from the procedure: each, and counted."""

    records: tuple[DeviationRecord, ...] = ()
    by_class: Mapping[str, int] = field(default_factory=dict[str, int])
    by_step: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileTold(Record):
    """What the client was said to be, and what it is by what it does and sees.

    Attributes:
        claimed: As its `Deployment` says; None where it was not declared.
        computed: `profile_of` what was done for the run, under the coverage that was declared; None
            without that or without a log.
    """

    claimed: RuntimeProfile | None = None
    computed: RuntimeProfile | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain(Record):
    """Whether the log hangs together.

    Attributes:
        ok: Whether every operation, made again, comes to the same; None where nobody has looked.
        head: The digest of the state after the last one.
    """

    ok: bool | None = None
    head: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Record):
    """What a run came to.

    Attributes:
        run_id: The run.
        policy: What it followed.
        outcome: What it came to; None while it runs.
        status: running or ended.
        started_at: When it began, in seconds.
        ended_at: When it ended; None while it runs or without a clock.
        path: The steps that were entered, in order.
        steps: What became of each.
        budgets: What was spent.
        deviations: Departures from the procedure.
        questions: What people were asked and are still asked.
        approvals: What came of the questions that were answered, and which call used each.
        calls: How many calls were attempted, allowed, asked, blocked, completed, failed, in_doubt.
        called: How far the list of called runbooks has come; None where it calls none, or that is
            not known.
        blocked: The calls and moves that were refused, in order, where there is a log.
        waited_seconds: How long it waited for people.
        profile: What the client was said to be and what it is.
        coverage: Which calls it observed.
        max_moves: A number of moves that no run exceeds; None: not known.
        caveats: What to mind when reading this.
        chain: Whether the log hangs together.
        schema: The version of this form.
    """

    run_id: str
    policy: PolicyName
    outcome: str | None = None
    status: str = "running"
    started_at: float | None = None
    ended_at: float | None = None
    path: tuple[str, ...] = ()
    steps: tuple[StepUse, ...] = ()
    budgets: Budgets = field(default_factory=Budgets)
    deviations: Deviations = Deviations()
    questions: tuple[Question, ...] = ()
    approvals: tuple[Approval, ...] = ()
    calls: Mapping[str, int] = field(default_factory=dict[str, int])
    called: CallList | None = None
    blocked: tuple[Event, ...] = ()
    waited_seconds: float = 0.0
    profile: ProfileTold = ProfileTold()
    coverage: AdapterCoverage | None = None
    max_moves: int | None = None
    caveats: tuple[Caveat, ...] = ()
    chain: Chain = Chain()
    schema: str = SCHEMA

    def to_html(self) -> str:
        """Return one page of HTML that needs nothing from elsewhere."""
        from interlock.supervise._html import page

        return page(self)

    def to_markdown(self) -> str:
        """Return the report as Markdown."""
        from interlock.supervise._text import markdown

        return markdown(self)

    def to_mermaid(self) -> str:
        """Return the path that was taken as a state diagram of Mermaid, budgets as `2/3`."""
        from interlock.supervise._text import mermaid

        return mermaid(self)


def report(
    state: RunState,
    log: Iterable[LogEntry] | None = None,
    *,
    policy: Policy | None = None,
    now: Instant = None,
    deployment: Deployment | None = None,
    observed_only: bool = False,
) -> Report:
    """Report on a run, by its state alone or with more at hand.

    Args:
        state: Where it stands.
        log: What was done; without it what was refused is counted and not listed.
        policy: What it followed; without it limits are not known and said to be.
        now: The instant; the last one of the run when None.
        deployment: The client as it was run.
        observed_only: Whether nothing was enforced.

    Raises:
        PolicyMismatch: When the run follows another policy.
        ConfigError: When `now` is no instant.
    """
    if policy is not None and policy.digest != state.policy_digest:
        raise PolicyMismatch(
            f"the run {state.run_id} follows the policy {state.policy_digest[:12]}, and this one "
            f"is {policy.digest[:12]}"
        )
    events = None if log is None else tuple(event for entry in log for event in entry.events)
    clock = wall_clock(state, read_now(now))
    computed = None
    if deployment is not None and log is not None:
        computed = profile_of_run(deployment, observed_only=observed_only)
    return Report(
        run_id=state.run_id,
        policy=PolicyName(
            id=policy.id if policy else "",
            version=policy.version if policy else "",
            digest=state.policy_digest,
        ),
        outcome=state.outcome,
        status=state.status,
        started_at=state.started_at,
        ended_at=state.last_now if state.is_over else None,
        path=state.path,
        steps=steps_of(state, events),
        budgets=spent_of(state, policy, clock),
        deviations=Deviations(
            records=state.deviations,
            by_class=count_by_class(state.deviations),
            by_step=count_by_step(state.deviations),
        ),
        questions=state.pending,
        approvals=state.approvals,
        calls={name: state.calls.get(name, 0) for name in _FATES},
        called=call_list(policy, state) if policy else None,
        blocked=tuple(event for event in events or () if event.kind == "blocked"),
        waited_seconds=state.waited_seconds,
        profile=ProfileTold(claimed=deployment.profile if deployment else None, computed=computed),
        coverage=deployment.coverage if deployment else None,
        max_moves=policy.max_moves if policy else None,
        caveats=caveats_of(
            state,
            events,
            policy,
            deployment,
            elapsed=clock.elapsed,
            computed=computed,
            observed_only=observed_only,
        ),
    )


_FATES = ("attempted", "allowed", "asked", "blocked", "completed", "failed", "in_doubt")
