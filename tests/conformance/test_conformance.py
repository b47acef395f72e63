"""The conformance cases, on both back ends: Python objects and JSON text."""

from __future__ import annotations

import json
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
}
CALLED = {
    "branch": "Branch",
    "decision_table": "DecisionTable",
    "consensus_vote": "ConsensusVote",
    "stall_detect": "StallDetect",
    "rule_score": "RuleScore",
    "lead_assign": "LeadAssign",
}

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
    if "value" in given:
        return call(CALLED[name], {**given, "value": record(value)})
    # The whole input is data here, so all of it comes in both forms.
    form = {field: record(part) for field, part in given.items() if isinstance(part, list)}
    return call(CALLED[name], {**given, **form})


@pytest.mark.parametrize(("name", "case"), _cases())
def test_case(name: str, case: dict[str, Any], record: Callable[[object], object]) -> None:
    if "expect_error" in case:
        with pytest.raises(interlock.ConfigError) as caught:
            _answer(name, case["input"], record)

        assert missing_mentions(case["expect_error"]["mentions"], str(caught.value)) == []
    else:
        answer = _answer(name, case["input"], record)

        assert matches_expectation(case["expect"], answer) == []


@pytest.mark.parametrize(("name", "count"), COUNTS.items())
def test_no_case_is_lost(name: str, count: int) -> None:
    assert count == len(json.loads((HERE / f"{name}.json").read_text("utf-8")))
