"""Starting a run, budgets on edges, the wall clock: one test for each promise."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from interlock.errors import ConfigError, PolicyMismatch
from interlock.supervise import (
    Answer,
    Policy,
    PolicyStep,
    ProposedCall,
    RunState,
    advance,
    answer,
    decide,
    derive_policy,
    fail,
    finish,
    out_of_time,
    propose,
    report,
    start_run,
    stop,
    verify,
)

LOOPS = Policy(
    id="loops",
    steps={
        "a": PolicyStep(id="a", transitions=("a", "b")),
        "b": PolicyStep(id="b", transitions=("b", "end")),
    },
    terminals={"end": "resolved"},
    budgets={"a->a": 1, "b->b": 1},
)
FLAKY: dict[str, Any] = {
    "runbook": "1",
    "id": "flaky",
    "duration": "<5m",
    "tools": [{"id": "cli:test", "effect": "readonly"}],
    "steps": [
        {"id": "s1", "tools": ["cli:test"], "next": "s2"},
        {"id": "s2", "tools": ["cli:test"], "next": "done", "on_failure": "s1"},
    ],
    "terminals": [{"id": "done", "outcome": "passed"}],
    "budgets": {"edges": {"s2->s1": 3}},
}


def begun(policy: Policy = LOOPS, **options: Any) -> RunState:
    return start_run(policy, **{"agent_identity": "agent", **options}).unwrap()


def moved(policy: Policy, state: RunState, *steps: str) -> RunState:
    for step in steps:
        state = advance(policy, state, step).state
    return state


def test_V_04_a_suggested_duration_is_no_bound() -> None:
    policy = derive_policy(FLAKY)
    assert policy.suggested_wall_clock_seconds == 300
    assert begun(policy, now=0).wall_clock_seconds is None


def test_V_05_starting_takes_an_identity() -> None:
    state = begun(agent_identity="claude", now=5, wall_clock_seconds=60, inputs={})
    assert (state.agent_identity, state.started_at, state.wall_clock_seconds) == ("claude", 5, 60)


def test_V_06_starting_answers_a_state_or_refusals() -> None:
    policy = derive_policy({**FLAKY, "inputs": {"mount": {"type": "string"}}})
    refused, started = start_run(policy, agent_identity="a"), start_run(LOOPS, agent_identity="a")
    assert (refused.ok, refused.state, len(refused.refusals)) == (False, None, 1)
    assert (started.ok, started.refusals) == (True, ())
    with pytest.raises(ConfigError, match="mount"):
        refused.unwrap()


def test_V_07_required_inputs_are_required() -> None:
    policy = derive_policy(
        {**FLAKY, "inputs": {"mount": {"type": "string"}, "used": {"type": "number"}}}
    )
    found = start_run(policy, agent_identity="a", inputs={"used": "much", "mont": "/"}).refusals
    assert {(one.code, one.field) for one in found} == {
        ("input/missing", "mount"),
        ("input/type", "used"),
        ("input/unknown", "mont"),
    }


def test_V_08_a_started_run_stands_at_the_entry() -> None:
    state = begun()
    assert (state.status, state.current, state.outcome) == ("running", "a", None)
    assert (dict(state.retries), state.deviations) == ({}, ())


def test_V_09_state_is_a_value() -> None:
    state = begun(now=0, wall_clock_seconds=10)
    before = RunState.from_dict(state.to_dict())
    for to in ("a", "b", "nowhere"):
        advance(LOOPS, state, to, now=1)
        advance(LOOPS, state, to, now=99)
    propose(LOOPS, state, ProposedCall("cli:x"), now=2)
    report(state, policy=LOOPS, now=3)
    assert state == before


def test_V_10_a_loop_taken_for_ever_ends() -> None:
    policy = derive_policy(FLAKY)
    state, moves = begun(policy), 0
    while not state.is_over:
        assert moves < (3 + 5) * 2
        state = advance(policy, state, "s2" if state.current == "s1" else "s1").state
        moves += 1


def test_V_11_it_stops_at_the_declared_limit() -> None:
    policy = derive_policy(FLAKY)
    state, attempts = begun(policy), 0
    while not state.is_over:
        attempts += state.current == "s2"
        state = advance(policy, state, "s2" if state.current == "s1" else "s1").state
    assert (attempts, dict(state.retries)) == (4, {"s2->s1": 3})


def exhausted() -> tuple[RunState, tuple[Any, ...]]:
    last = advance(LOOPS, moved(LOOPS, begun(), "a", "b", "b"), "b")
    return last.state, last.events


def test_V_12_that_end_has_its_own_outcome() -> None:
    assert (exhausted()[0].status, exhausted()[0].outcome) == ("ended", "budget-exhausted")


def test_V_13_the_report_warns_not_to_read_it_as_a_failure() -> None:
    (caveat,) = [
        one for one in report(exhausted()[0]).caveats if one.code == "run/budget-exhausted"
    ]
    assert "failure of a step" in str(caveat)


def test_V_14_the_event_names_the_edge_and_is_no_verdict() -> None:
    event = exhausted()[1][0]
    assert event.kind == "ended"
    assert "b->b" in event.message
    assert "no verdict of the step" in event.message


def test_V_15_budgets_are_per_edge() -> None:
    assert moved(LOOPS, begun(), "a", "b", "b").status == "running"


def test_V_16_only_budgeted_edges_are_counted() -> None:
    assert dict(moved(LOOPS, begun(), "a", "b", "b").retries) == {"a->a": 1, "b->b": 1}


@pytest.mark.parametrize(
    ("steps", "edge"),
    [(("a", "a"), "a->a"), (("b", "b", "b"), "b->b"), (("a", "b", "b", "b"), "b->b")],
)
def test_V_17_what_exhausts_is_the_edge_that_was_taken(steps: tuple[str, ...], edge: str) -> None:
    last = advance(LOOPS, moved(LOOPS, begun(), *steps[:-1]), steps[-1])
    assert edge in last.events[0].message


def test_V_18_the_report_lists_each_edge_against_its_limit() -> None:
    told = report(moved(LOOPS, begun(), "a"), policy=LOOPS).to_dict()["budgets"]["retries"]
    assert {"edge": "a->a", "used": 1, "max": 1} in told
    assert {"edge": "b->b", "used": 0, "max": 1} in told


def test_V_19_a_self_edge_can_be_a_loop() -> None:
    assert moved(LOOPS, begun(), "a").visits == {"a": 2}


def test_V_20_an_exhausted_budget_is_one_deviation_and_one_event() -> None:
    state, events = exhausted()
    assert [one.deviation_class for one in state.deviations] == ["budget-exhausted"]
    assert len(events) == 1


def test_V_30_only_the_operator_bounds_the_time() -> None:
    policy = derive_policy(FLAKY)
    assert out_of_time(begun(policy, now=0), 10_000_000) is False


def test_V_31_the_core_reads_no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> float:
        raise AssertionError("a clock was read")

    for name in ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter"):
        monkeypatch.setattr(time, name, refuse)
    one, two = (advance(LOOPS, begun(now=0), "a", now=7) for _ in range(2))
    assert one == two


def test_V_32_without_a_now_nothing_is_out_of_time() -> None:
    assert out_of_time(begun(now=0, wall_clock_seconds=1), None) is False


def test_V_33_past_the_budget_it_is() -> None:
    assert out_of_time(begun(now=0, wall_clock_seconds=1), 2) is True


def test_V_34_advancing_past_the_budget_ends_the_run() -> None:
    state = advance(LOOPS, begun(now=100, wall_clock_seconds=60), "a", now=200).state
    assert (state.status, state.outcome, state.current) == ("ended", "timed-out", "a")


def test_V_35_proposing_past_the_budget_is_blocked() -> None:
    policy = derive_policy(FLAKY)
    state = begun(policy, now=100, wall_clock_seconds=60)
    decision = propose(policy, state, ProposedCall("cli:test"), now=200)
    assert (decision.verdict, decision.state.outcome) == ("block", "timed-out")


def test_V_36_inside_the_budget_calls_go_on() -> None:
    policy = derive_policy(FLAKY)
    state = begun(policy, now=100, wall_clock_seconds=600)
    decision = propose(policy, state, ProposedCall("cli:test"), now=200)
    assert (decision.verdict, decision.state.outcome) == ("allow", None)


def test_V_37_the_report_tells_the_time() -> None:
    told = report(begun(now=100, wall_clock_seconds=600), policy=LOOPS, now=250).to_dict()
    expected = {"limit": 600, "elapsed": 150, "exhausted": False}
    assert told["budgets"]["wall_clock"] == expected


def test_V_38_without_a_bound_the_report_says_so() -> None:
    caveats = [one for one in report(begun()).caveats if one.code == "time/no-bound"]
    assert "no bound in time" in str(caveats[0])
    assert "large" in str(caveats[0])


OPERATIONS: dict[str, Any] = {
    "advance": lambda state, now: advance(LOOPS, state, "b", now=now),
    "answer": lambda state, now: answer(LOOPS, state, Answer("q", "ann", approve=True), now=now),
    "decide": lambda state, now: decide(LOOPS, state, {"x": 1}, now=now),
    "fail": lambda state, now: fail(LOOPS, state, "code", now=now),
    "finish": lambda state, now: finish(LOOPS, state, now=now),
    "propose": lambda state, now: propose(LOOPS, state, ProposedCall("cli:x"), now=now),
    "verify": lambda state, now: verify(LOOPS, state, {"x": 1}, by="agent", now=now),
}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_an_operation_past_the_time_or_the_end_is_that_and_nothing_else(operation: Any) -> None:
    state = start_run(LOOPS, agent_identity="a", now=0, wall_clock_seconds=9).unwrap()
    late = operation(state, 10)
    assert (late.state.outcome, late.state.seq) == ("timed-out", state.seq + 1)
    assert [one.code for one in late.events] == ["run/timed-out"]
    over = operation(late.state, 11)
    assert over.state is late.state
    assert [one.code for one in over.events] == ["run/over"]
    stopped = stop(state, "operator/stopped", by="ann").state
    assert "outcome: stopped" in operation(stopped, None).events[0].message


def test_V_39_exactly_at_the_limit_is_not_past_it() -> None:
    state = begun(now=100, wall_clock_seconds=60)
    assert (out_of_time(state, 160), out_of_time(state, 160.001)) == (False, True)


@pytest.mark.parametrize(
    "now",
    [True, "5", float("nan"), float("inf"), 10**12, datetime(2026, 1, 1)],  # noqa: DTZ001
)
def test_what_is_no_instant_is_refused_by_name(now: Any) -> None:
    with pytest.raises(ConfigError, match="now"):
        begun(now=now)
    with pytest.raises(ConfigError, match="now"):
        advance(LOOPS, begun(), "a", now=now)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), True, "60"])
def test_a_wall_clock_that_is_none_is_refused(seconds: Any) -> None:
    with pytest.raises(ConfigError, match="wall_clock_seconds"):
        begun(wall_clock_seconds=seconds)


def test_a_clock_that_steps_back_buys_no_time() -> None:
    state = begun(now=100, wall_clock_seconds=60)
    state = advance(LOOPS, state, "a", now=150).state
    back = advance(LOOPS, state, "b", now=0)
    assert back.state.last_now == 150
    assert "clock/stepped-back" in [one.code for one in back.events]


def test_instants_may_be_datetimes() -> None:
    state = begun(now=datetime(2026, 1, 1, tzinfo=UTC), wall_clock_seconds=60)
    assert out_of_time(state, datetime(2026, 1, 1, 0, 2, tzinfo=UTC))


def test_a_state_of_another_policy_is_refused() -> None:
    other = replace(LOOPS, budgets={"a->a": 2, "b->b": 1})
    with pytest.raises(PolicyMismatch):
        advance(other, begun(), "a")
    with pytest.raises(PolicyMismatch):
        report(begun(), policy=other)
