"""Errors that people met in systems of this kind, as signals with what the answer has to be.

A report of `errors.jsonl` has `cases`; of each, `want` names what is asked for: a value, one of
several (`_in`), none of several (`_not`), `waitMsBetween` two bounds, `waitMsAtMost` when the
answer is to try again.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from reports.differences import MOST, differences

import oracle
from interlock import ErrorClassify

Wire = dict[str, Any]

HERE = Path(__file__).parent
LINES = (HERE / "errors.jsonl").read_text("utf-8").splitlines()
REPORTS: dict[str, Wire] = {report["id"]: report for report in map(json.loads, LINES)}
DIFFER = {key for key in differences() if key[0] in REPORTS}


def cases() -> list[Any]:
    """Every case; one with signals that the library does not take yet is marked."""
    return [
        pytest.param(
            *(case["given"], case["want"], (name, index) in DIFFER),
            id=f"{name}-{index + 1}",
        )
        for name, report in REPORTS.items()
        for index, case in enumerate(report["cases"])
    ]


def faults(want: Wire, answer: Wire) -> list[str]:
    """List what is asked for and not given."""
    found: list[str] = []
    for asked, value in want.items():
        name, _, how = asked.partition("_")
        if asked == "waitMsBetween":
            holds = value[0] <= (answer["waitMs"] or 0) <= value[1]
        elif asked == "waitMsAtMost":
            holds = not answer["retryable"] or (answer["waitMs"] or 0) <= value
        elif how == "in":
            holds = answer[name] in value
        elif how == "not":
            holds = answer[name] not in value
        else:
            holds = answer.get(asked) == value
        found += [] if holds else [f"{asked} {value!r}: {answer}"]
    return found


@pytest.mark.parametrize(("given", "want", "differs"), cases())
def test_the_answer_is_the_right_one(given: Wire, want: Wire, differs: bool) -> None:
    answer = ErrorClassify().classify_data(given).to_dict()
    assert differs == (faults(want, answer) != [])
    assert answer == oracle.classify(given)


def test_every_report_is_asked() -> None:
    assert len(LINES) == len(REPORTS) == 26
    assert sum(len(report["cases"]) for report in REPORTS.values()) == len(cases()) == 65


def test_differences_are_few_and_of_cases_that_exist() -> None:
    known = set(REPORTS)
    for file in ("decisions.jsonl", "time_tools.jsonl"):
        lines = (HERE / file).read_text("utf-8").splitlines()
        known |= {json.loads(line)["id"] for line in lines}
    for path in (HERE.parent / "workflows" / "reports").glob("*.jsonl"):
        known |= {json.loads(line)["id"] for line in path.read_text("utf-8").splitlines()}
    assert {name for name, _ in differences()} <= known
    assert all(index < len(REPORTS[name]["cases"]) for name, index in DIFFER)
    assert len(differences()) <= MOST
