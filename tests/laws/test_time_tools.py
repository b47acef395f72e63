"""Instants, waits, deadlines and plans are what the reference says, whatever the host's zone."""

import copy
import json
import math
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from laws import time_strategies as ts
from laws.strategies import json_values, values

import oracle
from interlock import (
    ConfigError,
    Json,
    SequenceRun,
    _core,
    deadline_check,
    parse_retry_after,
    sequence_run,
)
from interlock.tools import call

Wire = dict[str, Any]
NAMES = {
    "now": "now",
    "deadline": "deadline",
    "budgetMs": "budget_ms",
    "startedAt": "started_at",
    "stepCostMs": "step_cost_ms",
    "tightAt": "tight_at",
    "criticalAt": "critical_at",
}
INSTANTS = ("now", "deadline", "startedAt")
LISTS = ("waiting", "unreachable", "skipped", "undetermined")
zones = st.sampled_from(("UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Apia"))


def answer_or_refusal(answer: Callable[[], object]) -> object:
    try:
        return answer()
    except ValueError:
        return "refused"


def check_deadline(given: Wire) -> Wire:
    return deadline_check(**{NAMES[field]: value for field, value in given.items()}).to_dict()


@given(ts.millis())
def test_what_is_written_is_read(ms: int) -> None:
    text = _core.format_instant(ms)
    assert ms == _core.parse_instant(text)
    assert oracle.write_instant(ms) == text


@given(ts.texts())
def test_a_text_is_an_instant_or_none_as_in_the_reference(text: str) -> None:
    expected = answer_or_refusal(lambda: oracle.read_instant(text, "value"))
    assert expected == answer_or_refusal(lambda: _core.parse_instant(text))


@given(values())
def test_a_value_is_an_instant_or_none_as_in_the_reference(value: object) -> None:
    expected = answer_or_refusal(lambda: oracle.read_instant(value, "value"))
    assert expected == answer_or_refusal(lambda: _core.parse_instant(value))


@given(ts.headers(), st.one_of(st.none(), ts.millis()))
@example("Saturday, 29-Feb-00 10:00:00 GMT", 1_790_154_000_000)
@example("Saturday, 01-Jan-00 10:00:00 GMT", -62_198_755_200_000)
def test_a_header_is_read_as_in_the_reference(raw: str, now: int | None) -> None:
    found = parse_retry_after(raw, now)
    assert oracle.retry_after({"retryAfter": raw, "now": now}) == found.to_dict()
    assert found.wait_ms is None or found.wait_ms >= 0
    assert found == pickle.loads(pickle.dumps(found))  # noqa: S301  # made here


@given(ts.deadlines())
def test_a_deadline_is_as_in_the_reference(given_: Wire) -> None:
    expected = answer_or_refusal(lambda: oracle.deadline_check(given_))
    assert expected == answer_or_refusal(lambda: check_deadline(given_))
    assert expected == answer_or_refusal(lambda: call("DeadlineCheck", given_))


@given(ts.deadlines())
def test_a_fraction_is_a_fraction(given_: Wire) -> None:
    try:
        left = check_deadline(given_)
    except ConfigError:
        return
    fraction = left["fractionRemaining"]
    assert not math.isnan(fraction)
    assert 0 <= fraction <= 1
    assert left["totalMs"] >= 0
    assert left["expired"] == (left["phase"] == "expired") == (left["remainingMs"] <= 0)
    assert left["totalMs"] or left["phase"] != "ample"
    assert left == json.loads(json.dumps(left))


@given(st.data(), ts.deadlines())
def test_every_form_of_an_instant_is_one(data: st.DataObject, given_: Wire) -> None:
    forms = st.sampled_from(("int", "text", "float", "decimal", "datetime"))
    offsets = st.integers(-1_000, 1_000)
    other = {
        field: ts.formed(value, data.draw(forms), data.draw(offsets))
        if field in INSTANTS
        else value
        for field, value in given_.items()
    }
    expected = answer_or_refusal(lambda: check_deadline(given_))
    assert expected == answer_or_refusal(lambda: check_deadline(other))


@given(ts.deadlines(), zones)
def test_a_deadline_does_not_depend_on_the_zone(given_: Wire, zone: str) -> None:
    formed = {k: ts.formed(v, "datetime") if k in INSTANTS else v for k, v in given_.items()}

    def answer() -> object:
        return answer_or_refusal(lambda: check_deadline(formed))

    assert ts.under_zone("UTC", answer) == ts.under_zone(zone, answer)


@given(ts.headers(), ts.millis(), zones)
def test_a_header_does_not_depend_on_the_zone(raw: str, now: int, zone: str) -> None:
    assert parse_retry_after(raw, now) == ts.under_zone(zone, lambda: parse_retry_after(raw, now))


def comparable(plan: Wire) -> Wire:
    """The plan without the wording of reasons, which each side is free to choose."""
    return {
        name: [{**entry, "reason": bool(entry["reason"])} for entry in found]
        if name in LISTS
        else found
        for name, found in plan.items()
    }


def plan_of(given_: Wire) -> Wire:
    rest = {name: given_[name] for name in ("now", "completed", "failed")}
    return sequence_run(given_["value"], given_["steps"], **rest).to_dict()


@given(st.data())
def test_a_plan_is_as_in_the_reference(data: st.DataObject) -> None:
    given_ = data.draw(ts.sequences(data.draw(values(), "value")), "input")
    assert comparable(oracle.sequence_run(given_)) == comparable(plan_of(given_))


@given(st.data())
def test_no_step_is_ready_before_its_needs_are_done(data: st.DataObject) -> None:
    given_ = data.draw(ts.sequences(data.draw(json_values(), "value")), "input")
    plan = plan_of(given_)
    steps = {step["id"]: step for step in given_["steps"]}
    for ready in plan["ready"]:
        step = steps[ready["id"]]
        assert set(step.get("needs", ())) <= set(plan["completed"])
        assert step.get("after", given_["now"]) <= given_["now"]
        assert given_["steps"][ready["index"]] is step
    everywhere = [e["id"] for name in ("ready", *LISTS) for e in plan.get(name, ())]
    assert sorted(steps) == sorted([*everywhere, *plan["completed"], *plan["failed"]])


@given(st.data())
def test_doing_what_is_ready_comes_to_an_end(data: st.DataObject) -> None:
    given_ = data.draw(ts.sequences(data.draw(json_values(), "value")), "input")
    run = SequenceRun(given_["steps"])
    done = list(given_["completed"])
    rest = {"now": given_["now"], "failed": given_["failed"]}
    while step := run.plan(given_["value"], completed=done, **rest).next:
        assert step.id not in done
        done.append(step.id)
    assert len(done) <= len(given_["steps"])


@given(st.data())
def test_copies_and_forms_have_one_plan(data: st.DataObject) -> None:
    given_ = data.draw(ts.sequences(data.draw(json_values(), "value")), "input")
    rest = {name: given_[name] for name in ("now", "completed", "failed")}
    run = SequenceRun(given_["steps"], version="1")
    plan = run.plan(given_["value"], **rest)
    again = pickle.loads(pickle.dumps(run))  # noqa: S301  # made here
    for other in (again, copy.deepcopy(run), SequenceRun.from_spec(run.to_spec())):
        assert (run, hash(run)) == (other, hash(other))
        assert plan == other.plan(given_["value"], **rest)
    assert plan == run.plan(Json(json.dumps(given_["value"])), **rest)
    assert [plan] == run.decide_many([given_["value"]], **rest)
    assert plan.to_dict() == call("SequenceRun", {**given_, "version": "1"})


@given(st.data())
def test_nothing_a_caller_changes_reaches_the_compiled_steps(data: st.DataObject) -> None:
    given_ = data.draw(ts.sequences(data.draw(json_values(), "value")), "input")
    rest = {name: given_[name] for name in ("now", "completed", "failed")}
    run = SequenceRun(given_["steps"])
    expected = copy.deepcopy(run.plan(given_["value"], **rest))
    for step in (*run.plan(given_["value"], **rest).ready, *given_["steps"]):
        params = step["params"] if isinstance(step, dict) and "params" in step else None
        params = params if isinstance(step, dict) else step.params
        if isinstance(params, dict | list):
            params.clear()
    assert expected == run.plan(given_["value"], **rest)


@pytest.mark.parametrize("size", [2, 3, 40, 256])
def test_a_circle_is_named_whatever_its_size(size: int) -> None:
    names = [f"s{n:03}" for n in range(size)]
    steps = [{"id": name, "needs": [names[n - 1]]} for n, name in enumerate(names)]
    with pytest.raises(ConfigError) as caught:
        SequenceRun(steps)
    assert ["spec/cycle"] == [problem.code for problem in caught.value.problems]
    assert all(name in str(caught.value) for name in names)
