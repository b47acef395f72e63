"""How a run begins, is given to somebody else, and is ended from outside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from interlock import _core
from interlock.errors import ConfigError, Problem
from interlock.supervise._arrive import arrive
from interlock.supervise._draft import LONGEST, Draft, Instant, Transition, over, read_now
from interlock.supervise._secrets import digest_of
from interlock.supervise.contract import Refusal, refusals_to_start
from interlock.supervise.inputs import check_inputs
from interlock.supervise.state import EscalationRules, Event, RunState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlock.supervise.contract import Deployment
    from interlock.supervise.parts import Escalation
    from interlock.supervise.policy import Policy

__all__ = ["StartResult", "handover", "start_run", "stop"]

_REFUSED = "the run did not start"


@dataclass(frozen=True, slots=True)
class StartResult:
    """Whether a run started.

    Attributes:
        ok: Whether it did.
        state: Where it stands; None when it did not start.
        refusals: Every reason why it did not; empty when it did.
        events: What happened.
    """

    ok: bool
    state: RunState | None = None
    refusals: tuple[Refusal, ...] = ()
    events: tuple[Event, ...] = ()

    def unwrap(self) -> RunState:
        """Return the state.

        Raises:
            ConfigError: With every refusal, when the run did not start.
        """
        if self.state is None:
            raise ConfigError(
                tuple(
                    Problem(one.code, one.field or "run", None, f"{_REFUSED}: {one.message}")
                    for one in self.refusals
                )
            )
        return self.state


def start_run(
    policy: Policy,
    *,
    agent_identity: str,
    inputs: Mapping[str, object] | None = None,
    now: Instant = None,
    wall_clock_seconds: float | None = None,
    deployment: Deployment | None = None,
    escalation: Escalation | None = None,
    run_id: str | None = None,
) -> StartResult:
    """Begin a run at the entry of a policy, or say everything that stands against it.

    Args:
        policy: What it follows.
        agent_identity: Who works through it.
        inputs: What the document asks for.
        now: The instant, in seconds of any one origin or as an aware datetime.
        wall_clock_seconds: How long it may take; None: no bound, whatever the document suggests.
        deployment: The client as it is run; None: the contract is not looked at.
        escalation: What a deviation does; as the policy says when None.
        run_id: Its id; when None one made of policy, identity, inputs and instant.

    Returns:
        The state, or the refusals; a refusal is not raised.

    Raises:
        ConfigError: When an argument is no such thing at all.
    """
    began = read_now(now)
    _check_start(agent_identity, wall_clock_seconds, run_id)
    checked = check_inputs(policy.inputs, inputs)
    contract = () if deployment is None else refusals_to_start(policy, deployment)
    if deployment is None and policy.faults:
        said = f"the document has {len(policy.faults)} faults, the first: {policy.faults[0]}"
        contract = (Refusal("runbook/faulty", f"{said}; name a deployment of R0 to try it"),)
    refusals = (*contract, *checked.refusals)
    if refusals:
        return StartResult(ok=False, refusals=refusals)
    secret = {name for name, one in policy.inputs.items() if one.secret and name in checked.values}
    known = {name: digest_of(checked.values[name]) for name in sorted(secret)}
    shown = {key: value for key, value in checked.values.items() if key not in secret}
    digest = _core.digest([shown, known])
    identity = run_id or _core.digest([policy.digest, agent_identity, digest, str(began)])[:16]
    state = RunState(
        run_id=identity if run_id else f"run-{identity}",
        policy_digest=policy.digest,
        agent_identity=agent_identity,
        facts={"inputs": shown},
        secrets=tuple(known.values()),
        escalation=EscalationRules.of(policy.escalation if escalation is None else escalation),
        inputs_digest=digest,
        started_at=began,
        entered_at=began,
        last_now=began,
        wall_clock_seconds=wall_clock_seconds,
        seq=-1,
    )
    draft = Draft(policy, state, now)
    draft.event("started", "run/started", f"{agent_identity} begins {policy.id}", policy.entry)
    arrive(draft, policy.entry)
    moved = draft.done()
    return StartResult(ok=True, state=moved.state, events=moved.events)


def _check_start(agent_identity: object, wall_clock_seconds: object, run_id: object) -> None:
    problems: list[Problem] = []

    def say(field: str, value: object, message: str) -> None:
        problems.append(Problem("supervise/argument", field, _core.preview(value), message))

    if not isinstance(agent_identity, str) or not agent_identity:
        say("agent_identity", agent_identity, "must be a text that is not empty")
    if run_id is not None and not (isinstance(run_id, str) and run_id):
        say("run_id", run_id, "must be a text that is not empty, or None")
    if wall_clock_seconds is not None and not (
        type(wall_clock_seconds) in (int, float)
        and 0 < cast("float", wall_clock_seconds) <= LONGEST
    ):
        wanted = "must be seconds, above 0 and at most 10**11, or None"
        say("wall_clock_seconds", wall_clock_seconds, wanted)
    if problems:
        raise ConfigError(tuple(problems))


def stop(state: RunState, code: str, *, by: str, now: Instant = None) -> Transition:
    """End a run from outside, at once: the operator's switch. The outcome is `stopped`.

    Raises:
        ConfigError: When `now` is no instant.
    """
    if state.is_over:
        return over(state, now)
    at = read_now(now)
    seq = state.seq + 1
    event = Event(seq, "ended", code, f"stopped by {by}", state.current, at)
    ended = replace(
        state,
        status="ended",
        outcome="stopped",
        pending=(),
        seq=seq,
        last_now=state.last_now if at is None else max(at, state.last_now or at),
    )
    return Transition(ended, (event,))


def handover(state: RunState, *, to: str) -> Transition:
    """Give a run to somebody else, who goes on where it stands.

    What they agreed to themselves and was not used lapses: nobody carries out what they approved.

    Raises:
        ConfigError: When nobody is named.
    """
    _check_start(to, None, None)
    if state.is_over:
        return over(state)
    seq = state.seq + 1
    said = f"handed over from {state.agent_identity} to {to}"
    event = Event(seq, "started", "run/handover", said, state.current, state.last_now)
    own = f"handed over to {to}"
    approvals = tuple(
        replace(one, used_by=own)
        if one.used_by is None and any(vote.by == to for vote in one.votes)
        else one
        for one in state.approvals
    )
    given = replace(state, agent_identity=to, approvals=approvals, seq=seq)
    return Transition(given, (event,))
