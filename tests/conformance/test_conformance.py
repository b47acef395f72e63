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
    "retry_after": 68,
    "deadline_check": 35,
    "sequence_run": 35,
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
    if name == "retry_after":
        return interlock.parse_retry_after(given["retryAfter"], given.get("now")).to_dict()
    if name == "deadline_check":
        names = {field: re.sub("[A-Z]", lambda m: f"_{m[0].lower()}", field) for field in given}
        return interlock.deadline_check(**{names[f]: v for f, v in given.items()}).to_dict()
    if name == "sequence_run":
        rest = {key: part for key, part in given.items() if key in ("now", "completed", "failed")}
        steps = {key: part for key, part in given.items() if key in ("steps", "version")}
        return interlock.SequenceRun.from_spec(steps).plan(record(value), **rest).to_dict()
    tool = interlock.Branch if name == "branch" else interlock.DecisionTable
    spec = {key: part for key, part in given.items() if key not in ("value", "verbose")}
    verbose = given.get("verbose", False)
    return tool.from_spec(spec).decide(record(value), verbose=verbose).to_dict()


@pytest.mark.parametrize(("name", "case"), _cases())
def test_case(name: str, case: dict[str, Any], record: Callable[[object], object]) -> None:
    if "expect_error" in case:
        with pytest.raises(interlock.ConfigError) as caught:
            _answer(name, case["input"], record)

        assert missing_mentions(case["expect_error"]["mentions"], str(caught.value)) == []
    else:
        answer = _answer(name, case["input"], record)

        assert matches_expectation(case["expect"], answer) == []


CALLED = {
    "branch": "Branch",
    "decision_table": "DecisionTable",
    "deadline_check": "DeadlineCheck",
    "sequence_run": "SequenceRun",
}


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
