"""The conformance cases, on both back ends: Python objects and JSON text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import interlock
from interlock.tools import call
from oracle import matches_expectation, missing_mentions

HERE = Path(__file__).parent
COUNTS = {
    "checks": 69,
    "paths": 42,
    "formats": 95,
    "branch": 21,
    "decision_table": 28,
    "consensus_vote": 45,
    "stall_detect": 26,
    "rule_score": 26,
    "lead_assign": 38,
    "retry_after": 68,
    "deadline_check": 35,
    "sequence_run": 35,
    "error_classify": 139,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "consensus_vote": interlock.consensus_vote,
    "stall_detect": interlock.stall_detect,
    "deadline_check": interlock.deadline_check,
}
COMPILED: dict[str, tuple[Any, Callable[..., Any]]] = {
    "branch": (interlock.Branch, interlock.Branch.decide),
    "decision_table": (interlock.DecisionTable, interlock.DecisionTable.decide),
    "rule_score": (interlock.RuleScore, interlock.RuleScore.score),
    "lead_assign": (interlock.LeadAssign, interlock.LeadAssign.assign),
    "sequence_run": (interlock.SequenceRun, interlock.SequenceRun.plan),
}
CALLED = {name: name.title().replace("_", "") for name in (*FUNCTIONS, *COMPILED, "error_classify")}

# A case may stand here only with the construct of the pattern dialect that is not lowered yet.
NOT_LOWERED_YET: dict[str, str] = {}


def _cases() -> list[Any]:
    cases: list[Any] = []
    for name in COUNTS:
        for case in json.loads((HERE / f"{name}.json").read_text("utf-8")):
            reason = NOT_LOWERED_YET.get(case["id"])
            marks = [pytest.mark.xfail(reason=reason)] if reason else []
            cases.append(pytest.param(name, case, id=case["id"], marks=marks))
    return cases


def snake_case(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def _as_object(value: object) -> object:
    return value


def _as_json(value: object) -> object:
    return interlock.Json(json.dumps(value, ensure_ascii=False).encode())


@pytest.fixture(params=[_as_object, _as_json], ids=["objects", "json"])
def record(request: pytest.FixtureRequest) -> Callable[[object], object]:
    return cast("Callable[[object], object]", request.param)


def _answer(name: str, given: dict[str, Any], record: Callable[[object], object]) -> object:
    value = given.get("value")
    if name == "checks":
        return interlock.Checks(given["checks"]).report(record(value)).to_dict()
    if name == "paths":
        found = interlock.resolve(record(value), given["path"])
        answer = {"found": found.found, "missingAt": found.missing_at}
        return {**answer, "value": found.value} if found.found else answer
    if name == "formats":
        return {"valid": interlock.check_format(value, given["format"]).valid}
    if name == "retry_after":
        return interlock.parse_retry_after(given["retryAfter"], given.get("now")).to_dict()
    if name == "error_classify":
        rules = given.get("rules", ())
        told = record({field: part for field, part in given.items() if field != "rules"})
        if not isinstance(told, dict):
            return interlock.ErrorClassify(rules).classify_data(cast("Any", told)).to_dict()
        signals: dict[str, Any] = {snake_case(field): part for field, part in told.items()}
        return interlock.error_classify(**signals, rules=rules).to_dict()
    if name in FUNCTIONS:
        # The whole input is data here, so all of it comes in both forms.
        form = {f: record(part) if isinstance(part, list) else part for f, part in given.items()}
        return FUNCTIONS[name](
            **{snake_case(field): part for field, part in form.items()}
        ).to_dict()
    tool, ask = COMPILED[name]
    spec = {field: part for field, part in given.items() if field in tool.spec_fields}
    rest = {snake_case(f): part for f, part in given.items() if f not in ("value", *spec)}
    return ask(tool.from_spec(spec), record(value), **rest).to_dict()


@pytest.mark.parametrize(("name", "case"), _cases())
def test_case(name: str, case: dict[str, Any], record: Callable[[object], object]) -> None:
    if "expect_error" in case:
        with pytest.raises(interlock.ConfigError) as caught:
            _answer(name, case["input"], record)

        assert missing_mentions(case["expect_error"]["mentions"], str(caught.value)) == []
    else:
        answer = _answer(name, case["input"], record)

        assert matches_expectation(case["expect"], answer) == []


@pytest.mark.parametrize(("name", "case"), [c for c in _cases() if c.values[0] in CALLED])
def test_case_in_the_model_facing_form(name: str, case: dict[str, Any]) -> None:
    if "expect_error" in case:
        with pytest.raises(interlock.InputInvalid) as caught:
            call(CALLED[name], case["input"])

        assert missing_mentions(case["expect_error"]["mentions"], str(caught.value)) == []
    else:
        answer = call(CALLED[name], case["input"])

        assert matches_expectation(case["expect"], answer) == []


@pytest.mark.parametrize(("name", "count"), COUNTS.items())
def test_no_case_is_lost(name: str, count: int) -> None:
    assert count == len(json.loads((HERE / f"{name}.json").read_text("utf-8")))
