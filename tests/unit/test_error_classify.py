"""ErrorClassify: refusals, rules, waits, and what a long message costs."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from interlock import ConfigError, ErrorClassify, SpecInvalid, error_classify

TABLES = json.loads(
    (Path(__file__).parents[2] / "src" / "classify" / "tables.json").read_text("utf-8")
)
RULE: dict[str, Any] = {"id": "cold", "contains": "cold", "class": "transient", "action": "retry"}


def by_hand(message: str) -> str | None:
    """Go through the table the slow way."""
    folded = message[:64_000].lower()
    return next((phrase for phrase, *_ in TABLES["message"] if phrase in folded), None)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "timeout while reading QUOTA",
        "Cancelled: CONFLICT",
        "bac\u212aend: to\u212aen expired",
        "x" * 63_990 + " forbidden",
        "x" * 63_992 + " forbidden",
        "\u0130" * 70_000 + "quota",
        "half \ud800 not found",
    ],
)
def test_the_earliest_entry_wins_in_any_case(message: str) -> None:
    found = error_classify(message=message)
    wanted = by_hand(message)
    assert ("default" if wanted is None else f"message:{wanted}") == found.matched


@pytest.mark.parametrize("table", ["status", "exit", "code"])
def test_every_entry_of_a_table_answers(table: str) -> None:
    field = {"status": "status", "exit": "exit_code", "code": "code"}[table]
    for entry, (error_class, _) in TABLES[table].items():
        value: Any = entry if table == "code" else int(entry)
        assert error_class == error_classify(**{field: value}).error_class


def test_every_fault_at_once() -> None:
    rules = [
        {"id": "a", "class": "transient", "action": "retry"},
        {**RULE, "id": "b", "class": "transent", "waitMs": -1},
        {**RULE, "id": "b", "matches": "(", "extra": 1},
        3,
    ]
    with pytest.raises(SpecInvalid) as caught:
        ErrorClassify(rules)
    assert {
        "rules[0]",
        "rules[1].class",
        "rules[1].waitMs",
        "rules[2].id",
        "rules[2].matches",
        "rules[2].extra",
        "rules[3]",
    } == {problem.field for problem in caught.value.problems}


@pytest.mark.parametrize(
    ("signals", "field"),
    [
        ({"status": "404"}, "status"),
        ({"status": True}, "status"),
        ({"exitCode": 1.5}, "exitCode"),
        ({"message": 5}, "message"),
        ({"maxAttempts": 0}, "maxAttempts"),
        ({"now": "2026-01-01T00:00:00"}, "now"),
        ({"retryAfter": []}, "retryAfter"),
        ({"stat": 1}, "stat"),
    ],
)
def test_a_signal_that_is_none_is_named(signals: dict[str, object], field: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ErrorClassify().classify_data(signals)
    assert [field] == [problem.field for problem in caught.value.problems]


def test_a_pattern_that_is_not_run_leaves_it_open() -> None:
    classifier = ErrorClassify([{**RULE, "contains": "x", "matches": r"(a+)\1"}])
    assert ("undetermined", "cold") == (
        (found := classifier.classify(message="x aa", status=500)).source,
        found.matched,
    )
    assert ("unknown", "escalate") == (found.error_class, found.action)
    assert "status" == classifier.classify(message="y", status=500).source
    assert ["rules[0].matches"] == [problem.field for problem in classifier.lint()]
    with pytest.raises(SpecInvalid):
        ErrorClassify([{**RULE, "matches": r"(a+)\1"}], strict=True)


def test_message_and_code_are_never_joined() -> None:
    classifier = ErrorClassify([{**RULE, "contains": "cold start"}])
    assert "default" == classifier.classify(code="cold", message=" start").source


def test_a_classifier_is_a_value() -> None:
    first, second = ErrorClassify([RULE]), ErrorClassify.from_spec({"rules": [RULE]})
    assert (first, hash(first)) == (second, hash(second))
    assert first == pickle.loads(pickle.dumps(first))  # noqa: S301
    assert ErrorClassify() != first
    assert {"rules": [RULE]} == first.to_spec()


def test_ten_megabytes_are_classified() -> None:
    message = "a timeout, " + "quot" * 2_500_000
    assert "message:timeout" == error_classify(message=message, rules=[RULE]).matched
