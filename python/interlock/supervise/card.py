"""The step card: the one step that a run stands at, and what is left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from interlock.record._data import Record
from interlock.supervise._allowance import budgets_of, edge_left, left_of
from interlock.supervise._draft import Instant, policy_in_force, read_now
from interlock.supervise._gate_rules import told
from interlock.supervise.advice import Advice, advice_of
from interlock.supervise.asked import Question
from interlock.supervise.called import call_list
from interlock.supervise.inputs import filled
from interlock.tools.deadline_check import deadline_check

if TYPE_CHECKING:
    from interlock.conditions import Checks
    from interlock.supervise.parts import Via
    from interlock.supervise.policy import Policy
    from interlock.supervise.state import RunState

__all__ = ["CardExit", "CardTool", "StepCard", "card", "rest_of", "way_out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardTool(Record):
    """A tool of the step.

    Attributes:
        id: The capability.
        effect: What a call does; None: not declared, and no call is allowed.
        args: What its arguments must hold, as conditions.
        left: How many calls of it there may still be; None: not bounded.
    """

    id: str
    effect: str | None = None
    args: tuple[object, ...] = ()
    left: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CardExit(Record):
    """A way out of the step.

    Attributes:
        to: Where it leads.
        via: What leads there; None when the policy does not say.
        left: How often it may still be taken; None: not bounded.
    """

    to: str
    via: str | None = None
    left: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCard(Record):
    """What whoever works through a procedure is shown: one step, and nothing of later ones.

    Attributes:
        run_id: The run.
        status: running or ended.
        outcome: What it came to; None while it runs.
        step: The step; None once the run has ended.
        title: Its title.
        kind: What kind of step.
        risk: How far its calls may go.
        do: What to do, with the inputs that it shows.
        tools: What it may call.
        exits: Where it may be left to.
        gated: Whether somebody must agree.
        gate: Which calls they are asked about, in a sentence; empty: about all.
        verify: What must be shown before its success edge, as conditions.
        verified: Whether it has been shown.
        pending: Questions that wait for an answer.
        open_calls: Calls without an outcome.
        advice: What is advised after the last call that failed; None: nothing.
        calls: How far the list of called runbooks has come, such as `1 of 3 done`; empty where the
            runbook calls none.
        left: What is left, by name: `calls`, `calls_here`, `visits`, `tokens`, `deviations`,
            `seconds` and, where time is bounded, its `phase` (ample, tight, critical, expired).
            None or absent: not bounded.
    """

    run_id: str
    status: str
    outcome: str | None = None
    step: str | None = None
    title: str = ""
    kind: str = ""
    risk: str = ""
    do: str = ""
    tools: tuple[CardTool, ...] = ()
    exits: tuple[CardExit, ...] = ()
    gated: bool = False
    gate: str = ""
    verify: tuple[object, ...] = ()
    verified: bool = False
    pending: tuple[Question, ...] = ()
    open_calls: tuple[str, ...] = ()
    advice: Advice | None = None
    calls: str = ""
    left: Mapping[str, object] = field(default_factory=dict[str, object])


def card(policy: Policy, state: RunState, *, now: Instant = None) -> StepCard:
    """Show where a run stands.

    Raises:
        PolicyMismatch: When the run follows another policy.
        ConfigError: When `now` is no instant.
    """
    here, calls = policy_in_force(policy, state), str(call_list(policy, state) or "")
    if state.is_over or state.current is None:
        return StepCard(
            run_id=state.run_id, status=state.status, outcome=state.outcome, calls=calls
        )
    step = here.steps[state.current]
    return StepCard(
        run_id=state.run_id,
        status=state.status,
        step=step.id,
        title=filled(step.title, state.facts.get("inputs")),
        kind=step.kind,
        risk=step.risk,
        do=filled(step.do, state.facts.get("inputs")),
        tools=tuple(_tool(policy, here, state, one) for one in step.tools),
        exits=tuple(
            CardExit(to=one.target, via=one.via, left=edge_left(here, state, step.id, one.target))
            for one in step.exits
        ),
        gated=step.gated,
        gate=told(step),
        verify=() if step.verify is None else written_checks(step.verify.checks),
        verified=state.verified,
        pending=state.pending,
        open_calls=tuple(call.call_id for call in state.open),
        advice=_advice(policy, here, state),
        calls=calls,
        left=rest_of(policy, state, read_now(now)),
    )


def _advice(policy: Policy, here: Policy, state: RunState) -> Advice | None:
    """Return what is advised; nothing while the tool is called again."""
    advice = advice_of(policy, here, state)
    is_open = advice is not None and any(one.tool == advice.tool for one in state.open)
    return None if is_open else advice


def way_out(card: StepCard, to: str | None = None) -> tuple[str, Via | None]:
    """Return where a step is left to when it is done, and by which edge where several lead there.

    Args:
        card: The step.
        to: Where to; None: to the one place where its success leads.

    Returns:
        The target, empty when it must be said; and the edge, None when there is no choice.
    """
    if to is None:
        targets = {one.to for one in card.exits if one.via in ("next", None)}
        to = targets.pop() if len(targets) == 1 else ""
    edges = {one.via for one in card.exits if one.to == to}
    return to, "next" if len(edges) > 1 and "next" in edges else None


def rest_of(policy: Policy, state: RunState, now: float | None) -> dict[str, object]:
    """Return what is left of budgets and time, by name; those of runbooks around it count, too."""
    here, step = policy_in_force(policy, state), state.current or ""
    left: dict[str, object] = {**left_of(budgets_of(policy, state, here.steps[step]))}
    if step in here.visit_budgets:
        left["visits"] = max(here.visit_budgets[step] - state.visits.get(step, 0), 0)
    left["deviations"] = max(state.escalation.max_total - len(state.deviations), 0)
    limit, started = state.wall_clock_seconds, state.started_at
    if limit is not None and started is not None and now is not None:
        # In milliseconds from the start, since instants here may count from any origin.
        told = deadline_check(
            now=int((now - started) * 1000), started_at=0, budget_ms=int(limit * 1000)
        )
        left |= {"seconds": max(limit - (now - started), 0), "phase": told.phase}
    return left


def _tool(policy: Policy, here: Policy, state: RunState, capability: str) -> CardTool:
    step = here.steps[state.current or ""]
    declared = here.tool_of(capability)
    scopes = here.scopes_of(step, capability)
    return CardTool(
        id=capability,
        effect=None if declared is None else declared.effect,
        args=tuple(check for scope in scopes for check in written_checks(scope.checks)),
        left=left_of(budgets_of(policy, state, step, capability)).get("tool"),
    )


def written_checks(checks: Checks) -> tuple[object, ...]:
    """Return conditions as they are written."""
    return tuple(cast("list[object]", checks.to_spec()["checks"]))
