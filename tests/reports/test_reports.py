"""Faults that people reported in systems of this kind: each is a small input with its answer.

`decisions.jsonl` has one report a line. A report may hold several inputs: `cases` are answered in
order, `also` and `and` are changes to the input that are answered under the same key, `calls` are
calls of which each takes the cursor of the one before.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from reports.differences import differences

from interlock import ConfigError, LeadAssign
from interlock.tools import call
from oracle import matches_expectation

Wire = dict[str, Any]

LINES = (Path(__file__).parent / "decisions.jsonl").read_text("utf-8").splitlines()
REPORTS: dict[str, Wire] = {report["id"]: report for report in map(json.loads, LINES)}
BESIDE = ("cases", "also", "and", "calls", "strategies", "note")
KEYS = {"RuleScore": "band", "LeadAssign": "owner"}

# What is asked for and refused instead.
NOT_MET = {key for key in differences() if key[0] in REPORTS}


def expected_of(tool: str, told: object) -> Wire | None:
    """Give the fields that are asked for; nothing where the input is to be refused."""
    if isinstance(told, str):
        return None if told.startswith("refused") else {KEYS[tool]: told}
    assert isinstance(told, dict)
    wanted = {name: value for name, value in told.items() if name not in ("also", "and", "each")}
    if "conflict names" in wanted:
        wanted["conflict_mentions"] = wanted.pop("conflict names").split()
    return wanted


def questions(report: Wire) -> Iterator[tuple[Wire, Wire | None]]:
    """Yield each input of a report that is one call, and what it asks for."""
    tool, given, told = report["tool"], report["input"], report["expected"]["value"]
    base = {name: value for name, value in given.items() if name not in BESIDE}
    for index, case in enumerate(given.get("cases", ())):
        if (report["id"], index) in NOT_MET:
            yield {**base, "votes": case}, None
        else:
            changed = {"votes": case} if isinstance(case, list) else case
            yield {**base, **changed}, expected_of(tool, told[index])
    for strategy in given.get("strategies", ()):
        each, also = told["each"], told["also"]
        yield {**base, "strategy": strategy}, each
        yield {**base, "strategy": strategy, **given["also"]}, also
        yield {**base, "strategy": strategy, **given["and"]}, expected_of(tool, told["and"])
    if not {"cases", "calls", "strategies"} & set(given):
        yield base, expected_of(tool, told)
        for more in {"also", "and"} & set(given):
            yield {**base, **given[more]}, expected_of(tool, told[more])


ASKED = [
    pytest.param(report["tool"], given, wanted, id=f"{name}-{index}")
    for name, report in REPORTS.items()
    for index, (given, wanted) in enumerate(questions(report))
]
IN_TURN = [name for name, report in REPORTS.items() if "calls" in report["input"]]


@pytest.mark.parametrize(("tool", "given", "wanted"), ASKED)
def test_report(tool: str, given: Wire, wanted: Wire | None) -> None:
    if wanted is None:
        with pytest.raises(ConfigError):
            call(tool, given)
    else:
        assert matches_expectation(wanted, call(tool, given)) == []


@pytest.mark.parametrize("name", IN_TURN)
def test_report_in_turn(name: str) -> None:
    given, told = REPORTS[name]["input"], REPORTS[name]["expected"]["value"]
    roster = LeadAssign(given["owners"], strategy=given["strategy"])
    records = [given["value"]] * given["calls"]
    cursor, answers = given["cursor"], []
    for record in records:
        answers.append(roster.assign(record, cursor=cursor))
        cursor = answers[-1].cursor
    assert told["owners"] == [answer.owner for answer in answers]
    assert told.get("cursors", [answer.cursor for answer in answers]) == [
        answer.cursor for answer in answers
    ]
    assert told.get("cursor", cursor) == cursor
    assert answers == roster.assign_many(records, cursor=given["cursor"])


def test_every_report_is_asked() -> None:
    assert len(LINES) == len(REPORTS) == 14
    for name, index in NOT_MET:
        assert isinstance(REPORTS[name]["expected"]["value"][index], dict)
