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
EXAMPLES: list[tuple[str, int, Wire]] = [
    (path.stem, number, json.loads(line))
    for path in sorted(HERE.glob("*.jsonl"))
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
]
IDS = [f"{pack}-{number}" for pack, number, _ in EXAMPLES]


def rules(pack: Path) -> list[Wire]:
    return json.loads(pack.read_text("utf-8"))["rules"]


@pytest.mark.parametrize(("pack", "number", "case"), EXAMPLES, ids=IDS)
def test_example(pack: str, number: int, case: Wire) -> None:
    found = CLASSIFIER.classify_data(case["input"]).to_dict()
    assert found == reference(case["input"])
    if case["rule"] is None:
        assert found["matched"] != f"{pack}/{case['expect_not']['rule']}"
        return
    assert found["matched"] == f"{pack}/{case['rule']}"
    low, high = case["expect"].pop("waitMsBetween", (0, 0))
    assert {name: found[name] for name in case["expect"]} == case["expect"]
    assert not high or low <= found["waitMs"] <= high


@pytest.mark.parametrize("path", sorted(PACKS.glob("*.json")), ids=lambda path: path.stem)
def test_every_rule_has_a_source_and_an_example(path: Path) -> None:
    met = {case["rule"] for pack, _, case in EXAMPLES if pack == path.stem}
    assert {rule["id"] for rule in rules(path)} == met - {None}
    assert all(rule["source"].startswith("https://") for rule in rules(path))
    assert json.loads(path.read_text("utf-8"))["pack"] == path.stem


def test_a_pack_that_is_not_chosen_is_not_asked() -> None:
    case = {"status": 429, "body": {"error": {"code": "insufficient_quota"}}}
    assert ErrorClassify().classify_data(case).matched == "openai/insufficient_quota"
    assert ErrorClassify(packs=["anthropic"]).classify_data(case).source == "status"
    assert ErrorClassify(packs=[]).classify_data(case).matched == "status:429"
