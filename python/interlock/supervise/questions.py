"""Questions to people: bound to exactly one action, answered once, by whoever may."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from interlock import _core
from interlock.errors import ConfigError, Problem
from interlock.supervise._draft import Draft, Instant, Transition, begin
from interlock.supervise._secrets import masked
from interlock.supervise.asked import Approval, Question, Vote
from interlock.supervise.card import rest_of
from interlock.supervise.inputs import filled
from interlock.tools.consensus_vote import consensus_vote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlock.supervise.asked import QuestionKind
    from interlock.supervise.gate import Gate
    from interlock.supervise.policy import Policy, PolicyStep
    from interlock.supervise.state import RunState

__all__ = ["Answer", "action_digest", "answer", "question_id"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person says to a question.

    Attributes:
        question_id: The question.
        by: Who says it; an approval needs a name.
        approve: Whether they agree.
        note: Why; a denial needs no reason. What a model thinks of it may stand here: it is a note
            and never an approval.
        action_digest: What they saw, where their client can say; refused when it is something else.
    """

    question_id: str
    by: str
    approve: bool
    note: str = ""
    action_digest: str | None = None


def action_digest(
    state: RunState, *, step: str, tool: str | None, args: object, effect: str | None, visit: int
) -> str:
    """Return the SHA-256 of exactly what would happen, as 64 hexadecimal digits.

    Over the canonical form (RFC 8785) of tool, arguments, effect, step, visit, policy and run: any
    of these changed, and an approval is for something else. Of a step in a called runbook its
    place counts, so that it is no other step of the same name.

    Raises:
        ConfigError: When the arguments have no canonical form.
    """
    return _core.digest(
        {
            "args": args,
            "effect": effect,
            "policy": state.policy_digest,
            "run": state.run_id,
            "step": state.place(step),
            "tool": tool,
            "visit": visit,
        }
    )


QUESTIONS = 20
"""How many questions may be open: people who are asked too much agree to anything."""


def question_id(state: RunState, kind: QuestionKind, what: str) -> tuple[str, str]:
    """Return the digest of something that is no call, and the id of a question about it."""
    digest = _core.digest([state.run_id, state.policy_digest, kind, what])
    return digest, f"q-{digest[:12]}"


def ask(  # noqa: PLR0913 (all by name)
    draft: Draft,
    gate: Gate,
    step: PolicyStep,
    *,
    kind: QuestionKind,
    visit: int,
    digest: str,
    tool: str | None = None,
    args: Mapping[str, object] | None = None,
    effect: str | None = None,
    call_id: str | None = None,
    by: str | None = None,
    why: str = "",
) -> Question | str:
    """Open a question, or find the one that is open already; `why` is what the rules say of it.

    Returns:
        The question; or why there is nobody to ask.
    """
    state = draft.state
    for question in state.pending:
        if question.action_digest == digest:
            return question
    if len(state.pending) >= QUESTIONS:
        return f"{QUESTIONS} questions are open: no more are asked before one is answered"
    shown = cast("Mapping[str, object]", masked(dict(args or {}), state.secrets))
    to: tuple[str, ...] = gate.approvers
    if gate.roster is not None:
        # Of the facts the inputs alone: who agrees is not up to what the agent brings.
        inputs = state.facts.get("inputs", {})
        asked_of = {"tool": tool, "args": dict(args or {}), "step": step.id, "risk": step.risk}
        found = gate.roster.assign({"inputs": inputs, **asked_of})
        if found.owner is None:
            return f"nobody to ask: {found.conflict or 'the roster has no owner for this'}"
        to = (found.owner,) if gate.quorum == 1 else to
    asked = sum(known.action_digest == digest for known in state.approvals)
    question = Question(
        id=f"q-{digest[:12]}" + (f"-{asked + 1}" if asked else ""),
        kind=kind,
        step=step.id,
        visit=visit,
        text=filled(gate.question or _worded(kind, step, tool), state.facts.get("inputs"))
        + (f" ({why})" if why else ""),
        action_digest=digest,
        tool=tool,
        args=shown,
        effect=effect,
        risk=step.risk,
        call_id=call_id,
        requested_by=by or state.agent_identity,
        to=to,
        quorum=gate.quorum,
        separate_from=gate.separate_from,
        asked_at=draft.now,
        expires_at=None
        if gate.expires_s is None or draft.now is None
        else draft.now + gate.expires_s,
        verified=state.verified,
        left=rest_of(draft.policy, state, draft.now),
        on_refusal="the call is blocked" if kind == "call" else "the run stays where it is",
    )
    draft.change(pending=(*state.pending, question))
    draft.event("asked", f"gate/{kind}", f"{question.id}: {question.text}", state.place(step.id))
    return question


def _worded(kind: QuestionKind, step: PolicyStep, tool: str | None) -> str:
    if kind == "call":
        return f"May {tool} be called in step {step.id} ({step.title or step.id}, {step.risk})?"
    return f"May step {step.id} ({step.title or step.id}, {step.risk}) be entered?"


def lapse(draft: Draft) -> None:
    """Close the questions whose time is over: nobody agreed, and nobody refused."""
    if draft.now is None:
        return
    for question in draft.state.pending:
        if question.expires_at is not None and draft.now > question.expires_at:
            said, at = f"nobody answered {question.id} in time", draft.state.place(question.step)
            draft.event("blocked", "answer/lapsed", said, at)
            _close(draft, question, approved=False)


def granted(state: RunState, digest: str, now: float | None) -> Approval | None:
    """Return an approval of exactly this action that is neither used nor lapsed."""
    for approval in state.approvals:
        if (
            approval.action_digest != digest
            or not approval.approved
            or approval.used_by is not None
        ):
            continue
        if approval.expires_at is None or (now is not None and now <= approval.expires_at):
            return approval
    return None


def denied(state: RunState, digest: str) -> Approval | None:
    """Return the refusal of exactly this action, where a person refused it last."""
    latest = [one for one in state.approvals if one.action_digest == digest]
    if latest and any(not vote.approve for vote in latest[-1].votes):
        return latest[-1]
    return None


def used(state: RunState, approval: Approval, by: str) -> tuple[Approval, ...]:
    """Return the approvals with one used up."""
    return tuple(replace(one, used_by=by) if one is approval else one for one in state.approvals)


def answer(policy: Policy, state: RunState, given: Answer, *, now: Instant = None) -> Transition:
    """Take what a person says to an open question.

    Refused, as an event of kind `blocked`: an answer without a name, to a question that is not
    open (`answer/unknown`, `answer/second`), too late (`answer/late`), by somebody who may not
    (`answer/not-approver`, `answer/own-request`), or to another action (`answer/wrong-digest`).
    One denial decides; else as many must agree as the gate's quorum says.

    Raises:
        PolicyMismatch: When the run follows another policy.
        ConfigError: When `now` is no instant, or the answer is of other types.
    """
    _check_answer(given)
    draft = begin(policy, state, now)
    if isinstance(draft, Transition):
        return draft
    question = next((one for one in state.pending if one.id == given.question_id), None)
    refused = _refusal(state, question, given, draft.now)
    if refused is not None or question is None:
        code, message = refused or ("answer/unknown", "")
        draft.event("blocked", code, message)
        if code == "answer/late" and question is not None:
            _close(draft, question, approved=False)
        return draft.done()
    vote = Vote(by=given.by, approve=given.approve, note=given.note, at=draft.now)
    question = replace(question, votes=(*question.votes, vote))
    said = "agrees" if given.approve else "does not agree"
    at = state.place(question.step)
    draft.event("answered", "answer/taken", f"{given.by} {said} to {question.id}", at)
    decided = _decided(question)
    if decided is None:
        rest = tuple(question if one.id == question.id else one for one in state.pending)
        draft.change(pending=rest)
        return draft.done(question)
    _close(draft, question, approved=decided)
    return draft.done()


def _refusal(
    state: RunState, question: Question | None, given: Answer, now: float | None
) -> tuple[str, str] | None:
    """Say why an answer is refused: code and words; None where it is taken."""
    shown = _core.preview(given.question_id)
    if question is None:
        if any(one.question_id == given.question_id for one in state.approvals):
            return "answer/second", f"the question {shown} was answered already"
        return "answer/unknown", f"no question {shown} is open"
    by, until = given.by, question.expires_at
    # Whoever carries the run on by now asks as well, whoever asked at first.
    asking = {_name(one) for one in (question.requested_by, state.agent_identity)}
    refused = {
        ("answer/no-identity", "an answer needs a name in `by`"): not _name(by),
        ("answer/late", f"the question {shown} was open until {until}"): until is not None
        and (now is None or now > until),
        ("answer/not-approver", f"{by} may not answer; {', '.join(question.to)} may"): question.to
        and by not in question.to,
        ("answer/own-request", f"{by} asks, and may not agree to it as well"): (
            question.separate_from == "requester" and _name(by) in asking
        ),
        ("answer/second", f"{by} has answered {shown} already"): any(
            _name(vote.by) == _name(by) for vote in question.votes
        ),
        ("answer/wrong-digest", "the answer is for another action than is asked about"): (
            given.action_digest not in (None, question.action_digest)
        ),
    }
    return next((why for why, holds in refused.items() if holds), None)


def _name(by: str) -> str:
    """Return the name that two spellings of it have in common."""
    return by.strip().casefold()


def _check_answer(given: Answer) -> None:
    kinds = {"by": (str, "a text"), "approve": (bool, "true or false"), "note": (str, "a text")}
    problems = tuple(
        Problem("supervise/argument", field, _core.preview(value), f"must be {said}")
        for field, (kind, said) in kinds.items()
        if type(value := getattr(given, field)) is not kind
    )
    if problems:
        raise ConfigError(problems)


def _decided(question: Question) -> bool | None:
    """Say whether it is agreed to; None while votes are missing. One denial decides."""
    if not all(vote.approve for vote in question.votes):
        return False
    votes: list[dict[str, object]] = [
        {"value": True, "voter": vote.by, "weight": 1} for vote in question.votes
    ]
    missing = question.quorum - len(votes)
    if missing > 0:
        votes.append({"value": None, "weight": missing})
    found = consensus_vote(votes, threshold=1)
    return True if found.decided and found.winner is True else None


def _close(draft: Draft, question: Question, *, approved: bool) -> None:
    state = draft.state
    pending = tuple(one for one in state.pending if one.id != question.id)
    approval = Approval(
        question_id=question.id,
        action_digest=question.action_digest,
        approved=approved,
        votes=question.votes,
        expires_at=question.expires_at,
    )
    waited = state.waited_seconds
    if not pending and question.asked_at is not None and draft.now is not None:
        waited += draft.now - question.asked_at
    draft.change(pending=pending, approvals=(*state.approvals, approval), waited_seconds=waited)
    is_here = (question.step, question.visit) == (state.current, state.visit)
    if question.kind == "approval" or (question.kind == "enter" and is_here):
        draft.change(admitted=approved)
    if question.kind == "continue" and not approved:
        draft.end("aborted", "run/not-continued", "a person decided that the run does not go on")
