"""What a policy allows, walked: against every run, with nothing in common but the rules."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.supervise import Ceilings, Policy, PolicyStep, PolicyTool, advance, explore

from .test_nested import begun, calling, policy

# Time never decides a test.
SOME = settings(
    max_examples=120, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
OUTCOMES = {"t0": "good", "t1": "bad"}


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    names = [f"s{at}" for at in range(draw(st.integers(1, 4)))]
    targets = st.lists(st.sampled_from([*names, *OUTCOMES]), max_size=3)
    leads_to = {name: draw(targets) for name in names}
    small = st.integers(1, 2)
    return Policy(
        id="drawn",
        steps=[PolicyStep(id=name, transitions=tuple(to)) for name, to in leads_to.items()],  # type: ignore[arg-type]
        terminals=OUTCOMES,
        budgets={
            f"{name}->{target}": draw(small)
            for name, to in leads_to.items()
            for target in dict.fromkeys(to)
            if target <= name
        },
        visit_budgets=draw(st.dictionaries(st.sampled_from(names), small, max_size=1)),
    )


def walked(made: Policy) -> tuple[dict[str, int], set[str]]:
    """Run everything: the length of a shortest path by outcome, and the steps that were reached."""
    lengths: dict[str, int] = {}
    reached: set[str] = set()
    seen: set[str] = set()
    waiting = deque([begun(made)])
    while waiting:
        state = waiting.popleft()
        reached.add(str(state.current))
        for target in made.steps[str(state.current)].transitions:
            after = advance(made, state, target).state
            key = f"{after.current} {sorted(after.retries.items())} {sorted(after.visits.items())}"
            if after.is_over:
                lengths.setdefault(str(after.outcome), len(after.path))
            elif key not in seen:
                seen.add(key)
                waiting.append(after)
    return lengths, reached


@SOME
@given(policies())
def test_it_finds_what_every_run_finds(made: Policy) -> None:
    told, (lengths, reached) = explore(made), walked(made)
    assert told.complete
    assert {outcome: len(path) for outcome, path in told.outcomes.items()} == lengths
    assert set(told.unreached) == set(made.steps) - reached
    assert set(told.dead_ends) == {one for one in reached if not made.steps[one].transitions}
    for outcome, path in told.outcomes.items():
        state = begun(made)
        for target in path[1:]:
            state = advance(made, state, target).state
        assert state.outcome == (None if outcome == "budget-exhausted" else outcome)


def test_many_loops_hide_no_outcome() -> None:
    steps = [PolicyStep(id=f"s{at}", transitions=(f"s{at + 1}", "t")) for at in range(300)]
    loops = [PolicyStep(id="s300", transitions=tuple(f"s{at}" for at in range(300)))]
    budgets = {f"s300->s{at}": 3 for at in range(300)}
    made = Policy(id="p", steps=steps + loops, terminals={"t": "well"}, budgets=budgets)  # type: ignore[arg-type]
    told = explore(made, limit=500)
    assert (told.outcomes["well"], told.unreached) == (("s0", "t"), ())
    assert (told.complete, told.states >= 500) == (False, True)


TOOLS = [PolicyTool(id="cli:x", effect="readonly"), PolicyTool(id="mcp:y/*", effect="readonly")]
TWO = (
    PolicyStep(id="a", tools=("cli:x",), transitions=("b",)),
    PolicyStep(id="b", tools=("cli:x", "mcp:y/*"), transitions=("end",)),
)


@pytest.mark.parametrize(
    ("ceilings", "most"),
    [
        ({}, None),
        ({"calls": 9}, 9),
        ({"calls_by_step": {"a": 2}}, None),
        ({"calls_by_step": {"a": 2, "b": 3}}, 5),
        ({"calls": 4, "calls_by_step": {"a": 2, "b": 3}}, 4),
        ({"calls_by_tool": {"cli:*": 2}}, None),
        ({"calls_by_tool": {"cli:*": 2, "mcp:y/z": 3}}, None),
        ({"calls_by_tool": {"cli:*": 2, "mcp:*": 3, "http:q": 7}}, 5),
    ],
)
def test_how_many_calls_there_can_be(ceilings: Any, most: int | None) -> None:
    made = policy("p", *TWO, tools=TOOLS, ceilings=Ceilings(**ceilings))
    assert explore(made).max_calls == most
    by_step = Ceilings(calls_by_step={"c": 9})
    called = policy("q", calling("c", made), ceilings=by_step)
    assert explore(called).max_calls is None
