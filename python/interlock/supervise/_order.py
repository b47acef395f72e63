"""Order rules: what may not be called any more after what was called before.

A rule looks at the whole run, whichever runbook a call was made in. It holds in the runbook that it
stands in and in those that this one calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from interlock.supervise._draft import policies_in_force

if TYPE_CHECKING:
    from interlock.supervise._draft import Draft
    from interlock.supervise.parts import Selector
    from interlock.supervise.policy import Policy

__all__ = ["OrderedCall", "arm", "broken_rule"]

HISTORY = 10_000
"""How many allowed calls an order rule looks back."""


class OrderedCall(NamedTuple):
    """A call as order rules know it: its capability, and what it does."""

    tool: str
    effect: str | None


def broken_rule(draft: Draft, call: OrderedCall) -> str | None:
    """Return the message of a rule that a call would break; None where it breaks none."""
    count = draft.state.calls.get("allowed", 0)
    for policy in policies_in_force(draft.policy, draft.state):
        for at, rule in enumerate(policy.never):
            armed = draft.state.armed.get(f"{policy.digest[:12]}/{at}")
            if armed is None or count - armed >= HISTORY:
                continue
            if _is(rule.then, policy, draft, call):
                return rule.message or "it may not come after a call that was made before"
    return None


def arm(draft: Draft, call: OrderedCall) -> None:
    """Note the rules whose first half an allowed call is, those of runbooks to come included."""
    met = [
        place
        for place, policy, rule in draft.policy.order_rules
        if _is(rule.after, policy, draft, call)
    ]
    if met:
        count = draft.state.calls["allowed"]
        draft.change(armed={**draft.state.armed, **dict.fromkeys(met, count)})


def _is(selector: Selector, policy: Policy, draft: Draft, call: OrderedCall) -> bool:
    """Say whether a selector of a policy is about a call that is made where the run stands."""
    is_here = policy is draft.here or policy.digest == draft.here.digest
    labels = (tool.labels for one in (policy, draft.here) if (tool := one.tool_of(call.tool)))
    return selector.selects(
        tool=call.tool,
        effect=call.effect,
        step=draft.step.id if is_here else None,
        labels=tuple(label for some in labels for label in some),
    )
