"""How many calls and tokens a run may still spend: of its runbook, and of all around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from interlock.supervise.capability import matches, meets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from interlock.supervise.policy import Policy, PolicyStep
    from interlock.supervise.state import RunState

__all__ = ["Allowance", "budgets_of", "calls_of", "edge_left", "left_of"]


class Allowance(NamedTuple):
    """A budget that a call counts against.

    Attributes:
        kind: What it is of: `calls`, `tokens`, `tool` or `calls_here`.
        name: The same in words.
        limit: How much there may be.
        spent: How much there was.
    """

    kind: str
    name: str
    limit: int
    spent: int


def budgets_of(
    policy: Policy, state: RunState, step: PolicyStep, tool: str | None = None
) -> Iterator[Allowance]:
    """Yield the budgets that a call counts against: its runbook's, and those of all around it.

    Args:
        policy: What the run follows.
        state: Where it stands.
        step: The step where it stands.
        tool: What is called; None: whatever it is.
    """
    levels = (
        (0, 0, _NO_CALLS),
        *((one.calls, one.tokens, one.calls_by_tool) for one in state.stack),
    )
    for depth, (calls, tokens, by_tool) in enumerate(levels):
        ceilings = policy.ceilings
        if ceilings.calls is not None:
            spent = state.calls.get("allowed", 0) - calls
            yield Allowance("calls", f"calls of {policy.id}", ceilings.calls, spent)
        if ceilings.tokens is not None:
            spent = state.tokens - tokens
            yield Allowance("tokens", f"tokens of {policy.id}", ceilings.tokens, spent)
        for pattern, most in ceilings.calls_by_tool.items():
            if tool is not None and matches(pattern, tool):
                spent = calls_of(pattern, state, by_tool)
                yield Allowance("tool", f"calls of {pattern}", most, spent)
        if depth < len(state.stack):
            inner = policy.steps[state.stack[depth].step].calls
            policy = cast("Policy", inner and inner.policy)
    limit = policy.ceilings.calls_by_step.get(step.id)
    if limit is not None:
        place = state.place(step.id)
        spent = state.calls_by_step.get(place, 0)
        yield Allowance("calls_here", f"calls in step {step.id}", limit, spent)


def left_of(budgets: Iterable[Allowance]) -> dict[str, int]:
    """Return what is left of budgets, by kind: of several of a kind the one that ends first."""
    left: dict[str, int] = {}
    for one in budgets:
        rest = max(one.limit - one.spent, 0)
        left[one.kind] = min(rest, left.get(one.kind, rest))
    return left


def edge_left(here: Policy, state: RunState, source: str, target: str) -> int | None:
    """Return how often an edge may still be taken; None: not bounded."""
    key = f"{source}->{target}"
    limit = here.budgets.get(key)
    return None if limit is None else max(limit - state.retries.get(key, 0), 0)


_NO_CALLS: Mapping[str, int] = {}


def calls_of(pattern: str, state: RunState, before: Mapping[str, int]) -> int:
    """Return how many calls of tools that a pattern stands for were allowed since."""
    return sum(
        count - before.get(name, 0)
        for name, count in state.calls_by_tool.items()
        if meets(pattern, name)
    )
