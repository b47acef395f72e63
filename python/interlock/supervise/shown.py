"""What a step must show before it is left, and what a decision goes by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from interlock import _core
from interlock._compiled import plain_problems
from interlock.errors import ConfigError, Problem
from interlock.supervise._draft import Draft, Instant, Transition, begin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlock.supervise.policy import Policy, PolicyStep
    from interlock.supervise.state import RunState

__all__ = ["FACTS", "check", "decide", "decided", "verify"]


FACTS = 10_000
"""How many facts a run keeps; every operation copies them."""


def decided(step: PolicyStep, state: RunState) -> tuple[str | None, str]:
    """Return where a decision leads, and why; None where that cannot be said."""
    if step.branch is None:
        return None, f"step {step.id} has no cases"
    found = step.branch.decide(dict(state.facts))
    if found.undetermined is not None:
        return None, f"the facts do not decide step {step.id}: {found.undetermined}"
    target = found.result if isinstance(found.result, str) else found.name
    return target, f"the facts lead step {step.id} to {target}"


def _facts(given: object, field: str, state: RunState) -> dict[str, Any]:
    """Read facts or evidence: a mapping of names, without the one of the inputs.

    Raises:
        ConfigError: When it is none.
    """
    plain, problems = plain_problems(given, field, finite=True)
    message, at = "", field
    if not problems and not isinstance(plain, dict):
        message = "must be a mapping of names to JSON values"
    elif not problems and "inputs" in cast("dict[str, Any]", plain):
        message, at = "is taken: the inputs of the run stand there", f"{field}.inputs"
    elif not problems and len(state.facts.keys() | cast("dict[str, Any]", plain).keys()) > FACTS:
        message = f"makes more than {FACTS:,} facts: bring what the procedure goes by alone"
    if message:
        problems = (Problem("supervise/facts", at, _core.preview(given), message),)
    if problems:
        raise ConfigError(problems)
    return cast("dict[str, Any]", plain)


def decide(
    policy: Policy, state: RunState, facts: Mapping[str, object], *, now: Instant = None
) -> Transition:
    """Add facts, and say where a decision leads by them; `advance` goes there and nowhere else.

    Raises:
        PolicyMismatch: When the run follows another policy.
        ConfigError: When facts are no mapping of JSON values, or `now` is no instant.
    """
    added = _facts(facts, "facts", state)
    draft = begin(policy, state, now)
    if isinstance(draft, Transition):
        return draft
    draft.change(facts={**state.facts, **added})
    if draft.step.kind != "decision":
        draft.event("verified", "facts/noted", f"step {draft.step.id} is no decision: noted")
        return draft.done()
    target, reason = decided(draft.step, draft.state)
    if target is None:
        draft.event("blocked", "decision/undetermined", reason)
    else:
        draft.event("verified", "decision/taken", reason)
    return draft.done()


def verify(
    policy: Policy, state: RunState, evidence: Mapping[str, object], *, by: str, now: Instant = None
) -> Transition:
    """Show what the current step must show; what is brought becomes part of the facts.

    The checks of the step look at the evidence, beside which the inputs stand as `inputs`. What
    cannot be decided is not shown.

    Raises:
        PolicyMismatch: When the run follows another policy.
        ConfigError: When the evidence is no mapping of JSON values, `by` is empty, or `now` is no
            instant.
    """
    brought = _facts(evidence, "evidence", state)
    if not by:
        message = "must be a text: who shows it"
        raise ConfigError((Problem("supervise/argument", "by", _core.preview(by), message),))
    draft = begin(policy, state, now)
    if isinstance(draft, Transition):
        return draft
    check(draft, brought, by, source="evidence")
    return draft.done()


def check(draft: Draft, brought: dict[str, Any], by: str, *, source: str) -> None:
    """Judge what a step must show by what was brought."""
    state, step = draft.state, draft.step
    if step.verify is None:
        draft.change(facts={**state.facts, **brought})
        draft.event(
            "verified", "verify/none", f"step {step.id} has nothing to show: noted, from {by}"
        )
        return
    if step.verify.source != source:
        said = f"step {step.id} is verified by the output of its tool, not by what is brought"
        draft.event("blocked", "verify/from-tool", said)
        return
    seen = {**brought, "inputs": state.facts.get("inputs", {})}
    report = step.verify.checks.report(seen)
    verdict = step.verify.checks.verdict(seen)
    draft.change(facts={**state.facts, **brought}, verified=verdict == "pass")
    if verdict == "pass":
        draft.event("verified", "verify/passed", f"step {step.id} has shown what it must, by {by}")
        return
    reasons = "; ".join(one.reason for one in report.failures if one.reason) or verdict
    code = "verify/undetermined" if verdict == "undetermined" else "verify/failed"
    draft.event("blocked", code, f"step {step.id} has not shown what it must: {reasons}")
