"""Deviations: seven classes, one place, responses that travel with the run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest

from interlock.errors import SpecInvalid
from interlock.spec.runbook import DeviationClass
from interlock.supervise import (
    Answer,
    DeviationInput,
    DeviationRecord,
    Escalation,
    ProposedCall,
    RunState,
    advance,
    aggregate,
    answer,
    capability_class_of,
    count_by_class,
    count_by_step,
    deviation,
    fail,
    finish,
    propose,
    record_deviation,
    report,
)

from .docs import DF, RM, at_clean, at_look, disk

DISKS = disk()
SEVEN = (
    "undeclared-tool",
    "out-of-scope-tool",
    "out-of-order-step",
    "unchecked-advance",
    "budget-exhausted",
    "unrouted-failure",
    "terminal-not-reached",
)


def departed(count: int, name: str = "out-of-scope-tool", **options: Any) -> RunState:
    state = at_look(DISKS, **options)
    for _ in range(count):
        state = record_deviation(state, DeviationInput(name)).state
    return state


def test_V_70_there_are_seven_classes() -> None:
    assert get_args(DeviationClass) == SEVEN
    for name in SEVEN:
        assert DeviationRecord(name).deviation_class == name
    with pytest.raises(SpecInvalid, match="class"):
        DeviationRecord("rudeness")


def test_V_71_a_record_is_closed_and_holds_no_text() -> None:
    call = ProposedCall("cli:kubectl delete ns prod", args={"force": "yes"})
    state = propose(DISKS, at_look(DISKS), call, now=1).state
    (record,) = state.deviations
    assert record.to_dict() == {
        "class": "undeclared-tool",
        "step": "look",
        "capability_class": "cli",
        "sequence": 0,
    }
    assert DeviationRecord.from_dict(record.to_dict()) == record
    with pytest.raises(SpecInvalid):
        DeviationRecord.from_dict({**record.to_dict(), "args": "x"})


@pytest.mark.parametrize(
    ("capability", "expected"),
    [
        ("cli:kubectl", "cli"),
        ("mcp:x:y", "mcp"),
        ("CLI:x", None),
        ("", None),
        (None, None),
        ("9p:x", None),
        ("http", "http"),
        ("rm -rf /", None),
        ("a-1:x", "a-1"),
        ("ä:x", None),
    ],
)
def test_V_72_the_class_of_a_capability(capability: str | None, expected: str | None) -> None:
    assert capability_class_of(capability) == expected


def test_V_73_the_step_is_the_current_one_when_not_said() -> None:
    state = at_look(DISKS)
    found = [
        record_deviation(one, DeviationInput("out-of-scope-tool", step)).state.deviations[0].step
        for one, step in ((state, None), (state, "clean"), (replace(state, current=None), None))
    ]
    assert found == ["look", "clean", None]


def test_V_74_sequence_counts_from_0() -> None:
    assert [one.sequence for one in departed(3).deviations] == [0, 1, 2]


def test_V_75_default_responses() -> None:
    expected = dict.fromkeys(SEVEN, "abort") | {"out-of-scope-tool": "block-and-continue"}
    assert dict(at_look(DISKS).escalation.responses) == expected
    for name in SEVEN:
        goes_on = name == "out-of-scope-tool"
        assert departed(1, name).status == ("running" if goes_on else "ended")


def test_V_76_three_are_allowed_together() -> None:
    assert at_look(DISKS).escalation.max_total == 3
    assert (departed(3).status, departed(4).status) == ("running", "ended")


def test_V_77_codes_of_the_end_by_count_and_by_class() -> None:
    by_class = record_deviation(departed(2), DeviationInput("out-of-order-step"))
    by_count = record_deviation(departed(3), DeviationInput("out-of-order-step"))
    assert [one.code for one in by_class.events] == ["run/escalated-out-of-order-step"]
    assert [one.code for one in by_count.events] == ["run/deviation-limit"]


def test_V_78_escalating_is_one_event() -> None:
    (event,) = record_deviation(at_look(DISKS), DeviationInput("unchecked-advance")).events
    assert (event.kind, event.at) == ("escalated", "look")
    assert event.code
    assert event.message


def test_V_79_the_messages_explain_the_stop() -> None:
    (by_count,) = record_deviation(departed(3), DeviationInput("out-of-scope-tool")).events
    for fact in ("4", "3", "out-of-scope-tool", "look", "no longer fit each other"):
        assert fact in by_count.message
    (by_class,) = record_deviation(at_look(DISKS), DeviationInput("out-of-order-step")).events
    for fact in ("out-of-order-step", "look", "can no longer be trusted"):
        assert fact in by_class.message


def test_V_80_an_escalated_end_is_aborted_unless_an_outcome_was_set() -> None:
    assert departed(4).outcome == "aborted"
    kept = record_deviation(
        replace(at_look(DISKS), outcome="budget-exhausted"), DeviationInput("out-of-order-step")
    )
    assert kept.state.outcome == "budget-exhausted"


def test_V_81_on_an_ended_run_only_the_record_is_added() -> None:
    ended = departed(4)
    moved = record_deviation(ended, DeviationInput("out-of-order-step"))
    assert moved.events == ()
    assert moved.state == replace(ended, deviations=moved.state.deviations)
    assert len(moved.state.deviations) == 5


def test_V_82_a_block_below_the_limit_emits_nothing() -> None:
    assert record_deviation(at_look(DISKS), DeviationInput("out-of-scope-tool")).events == ()


def test_V_83_there_is_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def spy(state: RunState, given: DeviationInput) -> Any:
        seen.append(given.deviation_class)
        return record_deviation(state, given)

    monkeypatch.setattr(deviation, "record_deviation", spy)
    state, policy = at_look(DISKS), disk()
    propose(policy, state, ProposedCall("cli:curl"), now=1)
    propose(policy, state, RM, now=1)
    advance(policy, state, "call", now=1)
    advance(policy, state, "clean", now=1)
    steps = [{**one, "on_failure": None} if one["id"] == "look" else one for one in _steps()]
    fail(disk(steps=steps), at_look(disk(steps=steps)), "x", now=1)
    finish(policy, state, now=1)
    assert seen == [name for name in SEVEN if name != "budget-exhausted"]


def _steps() -> list[dict[str, Any]]:
    from .docs import DISK

    steps: list[dict[str, Any]] = DISK["steps"]
    return steps


def test_V_84_counts_by_class_and_step() -> None:
    records = [
        DeviationRecord("out-of-scope-tool", "a"),
        DeviationRecord("out-of-scope-tool", None),
        DeviationRecord("unchecked-advance", "a"),
        DeviationRecord("unchecked-advance", "b"),
    ]
    assert count_by_class(records) == {"out-of-scope-tool": 2, "unchecked-advance": 2}
    assert count_by_step(records) == {"a": 2, "b": 1}


def test_V_85_reports_together_say_which_step_is_wrong() -> None:
    states = [
        finish(DISKS, at_clean(DISKS), now=3).state,
        propose(DISKS, at_clean(DISKS), ProposedCall("cli:page"), now=3).state,
        propose(DISKS, at_look(DISKS), RM, now=3).state,
    ]
    told = aggregate([report(state, policy=DISKS) for state in states], policy=DISKS)
    assert [(one.step, one.deviations, one.runs) for one in told.steps] == [
        ("clean", 2, 2),
        ("look", 1, 3),
    ]
    assert "call->look" in told.unused
    assert told.never_entered == ("call",)


def test_V_86_the_rules_travel_in_the_state() -> None:
    rules = Escalation(responses={"out-of-order-step": "block-and-continue"}, max_total=1)
    state = RunState.from_json(at_look(DISKS, escalation=rules).to_json())
    once = advance(DISKS, state, "call", now=1).state
    assert once.status == "running"
    assert advance(DISKS, once, "call", now=1).state.status == "ended"


def test_a_pause_asks_whether_to_go_on() -> None:
    rules = Escalation(responses={"out-of-scope-tool": "pause"})
    asked = propose(DISKS, at_look(DISKS, escalation=rules), RM, now=1).state
    assert [one.kind for one in asked.pending] == ["continue"]
    assert propose(DISKS, asked, DF, now=2).code == "run/paused"
    held = advance(DISKS, asked, "fine", now=2)
    assert [one.code for one in held.events] == ["run/paused"]
    yes, no = (Answer(asked.pending[0].id, "ann", approve=said) for said in (True, False))
    assert propose(DISKS, answer(DISKS, asked, yes, now=3).state, DF, now=4).verdict == "allow"
    assert answer(DISKS, asked, no, now=3).state.outcome == "aborted"
