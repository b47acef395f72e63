"""Calls: whether one is allowed, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from interlock import _core
from interlock._compiled import plain_problems
from interlock.errors import ConfigError, Problem
from interlock.supervise._allowance import budgets_of
from interlock.supervise._arrive import deviate, exhausted
from interlock.supervise._draft import Draft, Instant, Transition, begin
from interlock.supervise._gate_rules import ruling
from interlock.supervise._order import OrderedCall, arm, broken_rule
from interlock.supervise.questions import action_digest, ask, denied, granted, lapse, used
from interlock.supervise.risk import RISKS, effect_risk
from interlock.supervise.state import Event, OpenCall, RunState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlock.supervise.asked import Question
    from interlock.supervise.gate import Gate
    from interlock.supervise.parts import PolicyTool
    from interlock.supervise.policy import Policy, PolicyStep

__all__ = ["Decision", "ProposedCall", "propose"]


@dataclass(frozen=True, slots=True)
class ProposedCall:
    """A call that somebody wants to make.

    Attributes:
        tool: The capability, class first, such as `cli:kubectl`.
        args: Its arguments: JSON values by name.
        effect: What the tool says it does, where the client knows; the higher of this and what the
            runbook declares counts.
        call_id: Its id; made when None.
        actor: `agent`, or who.

    Raises:
        ConfigError: When tool, effect, call_id or actor is of another type, or nobody is the actor.
    """

    tool: str
    args: Mapping[str, object] = field(default_factory=dict[str, object], kw_only=True)
    effect: str | None = field(default=None, kw_only=True)
    call_id: str | None = field(default=None, kw_only=True)
    actor: str = field(default="agent", kw_only=True)

    def __post_init__(self) -> None:
        """Refuse names that are none: they would be decided on as something else."""
        told = {"effect": self.effect, "call_id": self.call_id}
        given = {name: value for name, value in told.items() if value is not None}
        problems = tuple(
            Problem("supervise/argument", name, _core.preview(value), "must be a text")
            for name, value in {"tool": self.tool, "actor": self.actor or None, **given}.items()
            if not isinstance(value, str)
        )
        if problems:
            raise ConfigError(problems)


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a call may be made.

    Attributes:
        verdict: `allow`; `block`: it must not run; `ask`: not before people have agreed.
        code: Why, as a word.
        message: Why, for whoever proposed it to act on.
        state: The run after it.
        events: What happened.
        question: What people are asked.
        call_id: The id under which its outcome is observed.
    """

    verdict: Literal["allow", "block", "ask"]
    code: str
    message: str
    state: RunState
    events: tuple[Event, ...] = ()
    question: Question | None = None
    call_id: str = ""


def propose(
    policy: Policy, state: RunState, call: ProposedCall, *, now: Instant = None
) -> Decision:
    """Decide one call of a tool. A call that is not allowed must not be made.

    Looked at in this order: whether the run is over; the wall clock; who proposes; whether the
    document has the tool (else `undeclared-tool`); whether the step has it, its effect, its
    arguments, the order rules (else `out-of-scope-tool`); the budgets; who must agree.

    Raises:
        PolicyMismatch: When the run follows another policy.
        ConfigError: When `now` is no instant.
    """
    draft = begin(policy, state, now)
    if isinstance(draft, Transition):
        why = draft.events[-1]
        return _decision("block", why.code, why.message, draft, call)
    if draft.now is not None and state.pending:
        lapse(draft)
    return _Proposal(draft, call).decide()


def _decision(
    verdict: Literal["allow", "block", "ask"],
    code: str,
    message: str,
    done: Transition,
    call: ProposedCall,
    call_id: str | None = None,
) -> Decision:
    return Decision(
        verdict,
        code,
        message,
        done.state,
        done.events,
        done.question,
        call_id or call.call_id or "",
    )


class _Proposal:
    """A call in the course of being decided."""

    __slots__ = ("args", "call", "call_id", "counts", "declared", "draft", "effect", "step", "tool")

    def __init__(self, draft: Draft, call: ProposedCall) -> None:
        self.draft, self.call = draft, call
        self.step: PolicyStep = draft.step
        self.tool = call.tool
        self.counts = dict(draft.state.calls)
        draft.change(calls=self.counts)
        self._count("attempted")
        self.call_id = call.call_id or f"call-{self.counts['attempted']}"
        self.declared: PolicyTool | None = draft.here.tool_of(call.tool)
        self.effect: str | None = None
        self.args: Any = None

    def _count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def decide(self) -> Decision:
        """Go through everything that stands against it, in order."""
        paused = next((q for q in self.draft.state.pending if q.kind == "continue"), None)
        if paused is not None:
            return self._blocked(
                "run/paused", f"{paused.id} is open: {paused.text}", question=paused
            )
        refused = self._by_whom() or self._in_scope() or self._arguments() or self._order()
        if refused is not None:
            name, code, message = refused
            return self._departure(name, code, message)
        if self._spent():
            return self._blocked(
                "run/budget-exhausted", self.draft.events[0].message, is_noted=True
            )
        if any(one.call_id == self.call_id for one in self.draft.state.open):
            said = (
                f"the call {self.call_id} was allowed already and has no outcome: observe it first"
            )
            return self._blocked("call/open", said)
        return self._gated() or self._allowed(None)

    def _by_whom(self) -> tuple[str, str, str] | None:
        if self.call.actor != "agent":
            return None
        if self.draft.is_by_people:
            return (
                "out-of-scope-tool",
                "out-of-scope-tool",
                "this runbook is carried out by people alone",
            )
        if self.step.kind in ("manual", "approval", "decision"):
            said = f"step {self.step.id} is of kind {self.step.kind}: the agent calls nothing here"
            return "out-of-scope-tool", "out-of-scope-tool", said
        return None

    def _in_scope(self) -> tuple[str, str, str] | None:
        declared, step = self.declared, self.step
        if declared is None:
            said = f"the runbook declares no tool {_core.preview(self.tool)}"
            return "undeclared-tool", "undeclared-tool", said
        if not step.allows(self.tool):
            tools = ", ".join(step.tools) or "none"
            said = f"step {step.id} does not use {_core.preview(self.tool)}; its tools: {tools}"
            return "out-of-scope-tool", "out-of-scope-tool", said
        return self._within_risk(declared, step)

    def _within_risk(
        self, declared: PolicyTool | None, step: PolicyStep
    ) -> tuple[str, str, str] | None:
        told = (declared.effect if declared else None, self.call.effect)
        known: list[str] = [one for one in told if one is not None]
        if declared is not None and declared.effect is None and not known:
            said = f"nobody has declared what {self.tool} does: add its effect to the runbook"
            return "out-of-scope-tool", "call/risk-above-step", said
        if not known:
            return None
        try:
            risks = {effect: RISKS.index(effect_risk(cast("Any", effect))) for effect in known}
        except KeyError:
            said = f"{_core.preview(self.call.effect)} is no effect that is known"
            return "out-of-scope-tool", "call/risk-above-step", said
        self.effect = effect = max(risks, key=lambda one: risks[one])
        if risks[effect] > RISKS.index(step.risk):
            said = f"{self.tool} is {self.effect}, and step {step.id} goes as far as {step.risk}"
            return "out-of-scope-tool", "call/risk-above-step", said
        return None

    def _arguments(self) -> tuple[str, str, str] | None:
        plain, problems = plain_problems(self.call.args, "args", finite=True)
        if problems or not isinstance(plain, dict):
            said = (
                str(problems[0]) if problems else "the arguments must be a mapping of JSON values"
            )
            return "out-of-scope-tool", "call/arguments", said
        self.args = plain
        for scope in self.draft.here.scopes_of(self.step, self.tool):
            verdict = scope.checks.verdict(plain)
            if verdict != "pass":
                failures = scope.checks.report(plain).failures
                reasons = "; ".join(one.reason for one in failures if one.reason) or verdict
                said = (
                    f"step {self.step.id} does not allow these arguments of {self.tool}: {reasons}"
                )
                return "out-of-scope-tool", "call/arguments", said
        return None

    def _order(self) -> tuple[str, str, str] | None:
        if not self.draft.policy.order_rules:
            return None
        said = broken_rule(self.draft, OrderedCall(self.tool, self.effect))
        if said is None:
            return None
        return "out-of-scope-tool", "call/order-rule", f"{self.tool} is refused: {said}"

    def _spent(self) -> bool:
        """End the run where a budget of calls or tokens is spent."""
        draft = self.draft
        for one in budgets_of(draft.policy, draft.state, self.step, self.tool):
            if one.spent >= one.limit:
                said = f"{one.name}: {one.spent} of {one.limit} were spent"
                exhausted(draft, "run/budget-exhausted", said)
                return True
        return False

    def _gated(self) -> Decision | None:
        gate, draft, step = self.step.gate, self.draft, self.step
        if not draft.state.admitted:
            waiting = next((q for q in draft.state.pending if q.kind != "call"), None)
            said = f"step {step.id} waits for people to agree"
            return self._blocked("gate/enter", said, question=waiting)
        if gate is None or gate.on == "enter" or (gate.is_implied and self.effect == "readonly"):
            return None
        found = ruling(draft, gate, tool=self.tool, args=self.args, effect=self.effect)
        if found.word == "block":
            said = f"the gate of step {step.id} refuses this call of {self.tool}: {found.said}"
            return self._blocked("call/gate-rule", said)
        if found.word == "allow":
            return self._allowed(None, found.said)
        return self._agreed(gate, found.said)

    def _agreed(self, gate: Gate, why: str) -> Decision:
        """Look for an approval of exactly this call, else ask for one."""
        draft, step, state = self.draft, self.step, self.draft.state
        digest = action_digest(
            state,
            step=step.id,
            tool=self.tool,
            args=self.args,
            effect=self.effect,
            visit=state.visit,
        )
        approval = granted(state, digest, draft.now)
        if approval is not None:
            draft.change(approvals=used(state, approval, self.call_id))
            return self._allowed(approval.question_id)
        refusal = denied(state, digest)
        if refusal is not None:
            notes = "; ".join(vote.note for vote in refusal.votes if vote.note and not vote.approve)
            said = f"people did not agree to this call of {self.tool}" + (
                f": {notes}" if notes else ""
            )
            return self._blocked("gate/denied", said)
        question = ask(
            draft,
            gate,
            step,
            kind="call",
            visit=state.visit,
            digest=digest,
            tool=self.tool,
            args=self.args,
            effect=self.effect,
            call_id=self.call_id,
            by=None if self.call.actor == "agent" else self.call.actor,
            why=why,
        )
        if isinstance(question, str):
            return self._blocked("gate/nobody", question)
        self._count("asked")
        said = f"{question.id}: people must agree to {self.tool} first; then propose it again"
        return _decision("ask", "gate/asked", said, draft.done(question), self.call, self.call_id)

    def _allowed(self, question: str | None, why: str = "") -> Decision:
        draft, state, step = self.draft, self.draft.state, self.step
        self._count("allowed")
        tool = self.declared.id if self.declared else self.tool
        place = state.place(step.id)
        draft.change(
            calls_by_step={**state.calls_by_step, place: state.calls_by_step.get(place, 0) + 1},
            calls_by_tool={**state.calls_by_tool, tool: state.calls_by_tool.get(tool, 0) + 1},
            open=(
                *state.open,
                OpenCall(call_id=self.call_id, tool=self.tool, step=place, visit=state.visit),
            ),
        )
        if draft.policy.order_rules:
            arm(draft, OrderedCall(self.tool, self.effect))
        code = "call/allowed" if question is None else "call/approved"
        why = f"agreed to in {question}" if question else why
        said = f"{self.tool} ({self.call_id})" + (f", {why}" if why else "")
        draft.event("authorized", code, said)
        return _decision("allow", code, said, draft.done(), self.call, self.call_id)

    def _blocked(
        self, code: str, message: str, *, question: Question | None = None, is_noted: bool = False
    ) -> Decision:
        self._count("blocked")
        if not is_noted:
            self.draft.event("blocked", code, message)
        return _decision("block", code, message, self.draft.done(question), self.call, self.call_id)

    def _departure(self, name: str, code: str, message: str) -> Decision:
        self._count("blocked")
        deviate(self.draft, name, code, message, capability=self.tool)
        return _decision("block", code, message, self.draft.done(), self.call, self.call_id)
