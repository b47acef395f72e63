"""Every rule of every pack is met by a real error, and not by what only looks like one.

A line of data is `{rule, source, input, expect}`; `rule` is null where no rule of that name may
hold, and `expect_not` then names it.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from interlock import ErrorClassify
from oracle import classify as reference

HERE = Path(__file__).parent
PACKS = HERE.parents[1] / "src" / "classify" / "packs"
Wire = dict[str, Any]

CLASSIFIER = ErrorClassify()
EXAMPLES: list[tuple[str, Wire]] = [
    (path.stem, json.loads(line))
    for path in sorted(HERE.glob("*.jsonl"))
    for line in path.read_text("utf-8").splitlines()
]
IDS = [f"{pack}-{number}" for number, (pack, _) in enumerate(EXAMPLES)]


def rules(pack: Path) -> list[Wire]:
    read: list[Wire] = json.loads(pack.read_text("utf-8"))["rules"]
    return read


@pytest.mark.parametrize(("pack", "case"), EXAMPLES, ids=IDS)
def test_example(pack: str, case: Wire) -> None:
    found = CLASSIFIER.classify_data(case["input"]).to_dict()
    assert found == reference(case["input"])
    if case["rule"] is None:
        assert found["matched"] != f"{pack}/{case['expect_not']['rule']}"
        return
    assert found["matched"] == f"{pack}/{case['rule']}"
    wanted = {name: value for name, value in case["expect"].items() if name != "waitMsBetween"}
    assert {name: found[name] for name in wanted} == wanted
    if "waitMsBetween" in case["expect"]:
        low, high = case["expect"]["waitMsBetween"]
        assert low <= found["waitMs"] <= high


@pytest.mark.parametrize("path", sorted(PACKS.glob("*.json")), ids=lambda path: path.stem)
def test_every_rule_has_a_source_and_an_example(path: Path) -> None:
    met = {case["rule"] for pack, case in EXAMPLES if pack == path.stem}
    assert {rule["id"] for rule in rules(path)} == met - {None}
    assert all(rule["source"].startswith("https://") for rule in rules(path))
    assert json.loads(path.read_text("utf-8"))["pack"] == path.stem


def test_a_pack_that_is_not_chosen_is_not_asked() -> None:
    case = {"status": 429, "body": {"error": {"code": "insufficient_quota"}}}
    assert ErrorClassify().classify_data(case).matched == "openai/insufficient_quota"
    assert ErrorClassify(packs=["anthropic"]).classify_data(case).source == "status"
    assert ErrorClassify(packs=[]).classify_data(case).matched == "status:429"
