"""The report of a run: what happened, what was spent, and what to mind when reading it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interlock.errors import PolicyMismatch
from interlock.record._data import Record
from interlock.supervise._allowance import calls_of
from interlock.supervise._caveats import Caveat, caveats_of
from interlock.supervise._draft import Instant, read_now
from interlock.supervise.asked import Approval, Question
from interlock.supervise.contract import (
    AdapterCoverage,
    Deployment,
    RuntimeProfile,
    profile_of_run,
)
from interlock.supervise.deviation import count_by_class, count_by_step
from interlock.supervise.state import DeviationRecord, Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from interlock.supervise.log import LogEntry
    from interlock.supervise.policy import Policy
    from interlock.supervise.state import RunState

__all__ = ["Budgets", "EdgeUse", "Report", "StepUse", "Use", "WallClock", "report"]

SCHEMA = "interlock.run-report/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyName(Record):
    """Which policy was followed."""

    id: str = ""
    version: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepUse(Record):
    """What became of a step.

    Attributes:
        visits: How often it was entered.
        calls: How many calls were allowed in it.
        verified: True: it has shown what it must. False: it was left by its success edge with
            nothing to show. None: neither, or that is not known.
        shown: How often it has shown what it must; None: not known, for there is no log.
        not_shown: How often it has not, or that could not be decided; likewise.
    """

    step: str
    visits: int = 0
    calls: int = 0
    verified: bool | None = None
    shown: int | None = None
    not_shown: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeUse(Record):
    """How often a budgeted edge was taken, and its limit; None: not known."""

    edge: str
    used: int
    max: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Use(Record):
    """How much of something was used, and its limit; None: not known, or none."""

    name: str
    used: int
    max: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WallClock(Record):
    """What was used of the time, in seconds.

    Attributes:
        limit: What the operator gave; None: no bound.
        elapsed: From the start to the end, or to the instant of the report; None without a clock.
        exhausted: Whether it is past.
    """

    limit: float | None = None
    elapsed: float | None = None
    exhausted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets(Record):
    """What was spent of every budget.

    Attributes:
        retries: Of budgeted edges.
        visits: Of steps that may be entered so often.
        calls: Of calls in all, by tool and by step, and of tokens.
        wall_clock: Of the time.
    """

    retries: tuple[EdgeUse, ...] = ()
    visits: tuple[Use, ...] = ()
    calls: tuple[Use, ...] = ()
    wall_clock: WallClock = WallClock()


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
    budgets: Budgets = Budgets()
    deviations: Deviations = Deviations()
    questions: tuple[Question, ...] = ()
    approvals: tuple[Approval, ...] = ()
    calls: Mapping[str, int] = field(default_factory=dict[str, int])
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
    clock = _wall_clock(state, read_now(now))
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
        steps=_steps(state, events),
        budgets=_budgets(state, policy, clock),
        deviations=Deviations(
            records=state.deviations,
            by_class=count_by_class(state.deviations),
            by_step=count_by_step(state.deviations),
        ),
        questions=state.pending,
        approvals=state.approvals,
        calls={name: state.calls.get(name, 0) for name in _FATES},
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


def _wall_clock(state: RunState, now: float | None) -> WallClock:
    limit, started = state.wall_clock_seconds, state.started_at
    at = state.last_now if now is None or state.is_over else max(now, state.last_now or now)
    elapsed = None if at is None or started is None else at - started
    exhausted = limit is not None and elapsed is not None and elapsed > limit
    return WallClock(limit=limit, elapsed=elapsed, exhausted=exhausted)


def _steps(state: RunState, events: Sequence[Event] | None) -> tuple[StepUse, ...]:
    verdicts = Counter((one.at, one.code == "verify/passed") for one in events or ()
                       if one.code in _VERDICTS)  # fmt: skip
    return tuple(
        StepUse(
            step=step,
            visits=count,
            calls=state.calls_by_step.get(step, 0),
            verified=False if step in state.unchecked else True if verdicts[step, True] else None,
            shown=None if events is None else verdicts[step, True],
            not_shown=None if events is None else verdicts[step, False],
        )
        for step, count in Counter(state.path).items()
    )


_VERDICTS = ("verify/passed", "verify/failed", "verify/undetermined")


def _budgets(state: RunState, policy: Policy | None, clock: WallClock) -> Budgets:
    if policy is None:
        retries = [EdgeUse(edge=edge, used=used) for edge, used in state.retries.items()]
        return Budgets(retries=tuple(retries), wall_clock=clock)
    ceilings = policy.ceilings
    calls = [
        Use(name="calls", used=state.calls.get("allowed", 0), max=ceilings.calls),
        Use(name="tokens", used=state.tokens, max=ceilings.tokens),
        *(
            Use(name=name, used=calls_of(name, state, {}), max=limit)
            for name, limit in ceilings.calls_by_tool.items()
        ),
        *(
            Use(name=name, used=state.calls_by_step.get(name, 0), max=limit)
            for name, limit in ceilings.calls_by_step.items()
        ),
    ]
    return Budgets(
        retries=tuple(
            EdgeUse(edge=edge, used=_outermost(state, "retries").get(edge, 0), max=limit)
            for edge, limit in policy.budgets.items()
        ),
        visits=tuple(
            Use(name=step, used=_outermost(state, "visits").get(step, 0), max=limit)
            for step, limit in policy.visit_budgets.items()
        ),
        calls=tuple(calls),
        wall_clock=clock,
    )


def _outermost(state: RunState, name: str) -> Mapping[str, int]:
    """Return a count of the runbook that was started, also while the run is in another."""
    counted: Mapping[str, int] = getattr(state.stack[0] if state.stack else state, name)
    return counted
