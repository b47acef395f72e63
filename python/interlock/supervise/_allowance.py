"""How many calls and tokens a run may still spend: of its runbook, and of all around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from interlock.supervise.capability import matches, meets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from interlock.supervise._draft import Draft
    from interlock.supervise.policy import Policy, PolicyStep
    from interlock.supervise.state import RunState

__all__ = ["budgets_of", "calls_of"]


def budgets_of(draft: Draft, step: PolicyStep, tool: str) -> Iterator[tuple[str, int, int]]:
    """Yield the budgets that a call counts against: its runbook's, and those of all around it."""
    state, policy = draft.state, draft.policy
    levels = (
        (0, 0, _NO_CALLS),
        *((one.calls, one.tokens, one.calls_by_tool) for one in state.stack),
    )
    for depth, (calls, tokens, by_tool) in enumerate(levels):
        ceilings = policy.ceilings
        if ceilings.calls is not None:
            yield f"calls of {policy.id}", ceilings.calls, state.calls.get("allowed", 0) - calls
        if ceilings.tokens is not None:
            yield f"tokens of {policy.id}", ceilings.tokens, state.tokens - tokens
        for pattern, most in ceilings.calls_by_tool.items():
            if matches(pattern, tool):
                yield f"calls of {pattern}", most, calls_of(pattern, state, by_tool)
        if depth < len(state.stack):
            inner = policy.steps[state.stack[depth].step].calls
            policy = cast("Policy", inner and inner.policy)
    limit = policy.ceilings.calls_by_step.get(step.id)
    if limit is not None:
        place = state.place(step.id)
        yield f"calls in step {step.id}", limit, state.calls_by_step.get(place, 0)


_NO_CALLS: Mapping[str, int] = {}


def calls_of(pattern: str, state: RunState, before: Mapping[str, int]) -> int:
    """Return how many calls of tools that a pattern stands for were allowed since."""
    return sum(
        count - before.get(name, 0)
        for name, count in state.calls_by_tool.items()
        if meets(pattern, name)
    )
