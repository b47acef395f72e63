"""Faults that people reported in systems of this kind, as small inputs with their right answers.

`expected` names what is asked for: a value, `... in` with its bounds, or a refusal. The lists of a
plan are given as ids.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from interlock import ConfigError
from interlock.tools import call

Wire = dict[str, Any]
RECORDS = [
    json.loads(line)
    for line in (Path(__file__).parent / "time_tools.jsonl").read_text("utf-8").splitlines()
]
PLANS = ("ready", "waiting", "unreachable", "skipped")
PRINTED = """\
import json, sys
from interlock.tools import call
print(json.dumps(call("DeadlineCheck", json.loads(sys.argv[1]))))
"""


def inputs(record: Wire) -> list[tuple[Wire, Any]]:
    """Give each input of a record with what is expected of it."""
    shared = {k: v for k, v in record["input"].items() if k not in ("cases", "under TZ")}
    if record["tool"] == "SequenceRun":
        shared = {"value": {}, **shared}
    cases: list[Wire] = record["input"].get("cases", [{}])
    expected = record["expected"]["value"]
    answers = expected if "cases" in record["input"] else [expected]
    return [({**shared, **case}, want) for case, want in zip(cases, answers, strict=True)]


CASES = [
    pytest.param(record["tool"], given, want, id=f"{record['id']}-{number}")
    for record in RECORDS
    for number, (given, want) in enumerate(inputs(record))
]


@pytest.mark.parametrize(("tool", "given", "want"), CASES)
def test_the_answer_is_the_right_one(tool: str, given: Wire, want: Any) -> None:
    if isinstance(want, str):
        assert want.startswith("refused")
        with pytest.raises(ConfigError):
            call(tool, given)
        return
    answer: Wire = call(tool, given)
    for field, value in want.items():
        name, _, bounds = field.partition(" ")
        if bounds == "in":
            assert value[0] <= answer[name] <= value[1]
        elif bounds == "":
            found = answer[name]
            assert value == ([step["id"] for step in found] if name in PLANS else found)


def test_a_refusal_names_the_step_and_its_need() -> None:
    given = next(given for given, want in map(_only, RECORDS) if isinstance(want, str))
    with pytest.raises(ConfigError) as caught:
        call("SequenceRun", given)
    assert "task-b" in str(caught.value)
    assert "task-TYPO" in str(caught.value)


def _only(record: Wire) -> tuple[Wire, Any]:
    return inputs(record)[0]


def test_the_answer_is_the_same_under_every_zone() -> None:
    record = next(record for record in RECORDS if "under TZ" in record["input"])
    given, _ = _only(record)
    answers = [
        subprocess.run(
            [sys.executable, "-c", PRINTED, json.dumps(given)],
            capture_output=True,
            check=True,
            env={**os.environ, "TZ": zone},
        ).stdout
        for zone in record["input"]["under TZ"]
    ]
    assert len(answers) == 3
    assert len(set(answers)) == 1
