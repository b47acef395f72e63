"""Patterns of real programs: what runs, and why the rest is refused.

`real_patterns.jsonl` holds source, pattern, flags and outcome; `real_patterns.md` says where they
come from.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from corpora import features, outcome

from interlock import Pattern, PatternInvalid

HERE = Path(__file__).parent
LINES = (HERE / "real_patterns.jsonl").read_text("ascii").splitlines()
ROWS: list[tuple[str, str, str, str]] = [tuple(json.loads(line)) for line in LINES]


def _outcome(source: str, flags: str) -> str:
    found = outcome(source, flags)
    if found != "invalid":
        return found
    try:
        Pattern(source, flags)
    except PatternInvalid as error:
        return error.problems[0].message.rpartition("[")[2].rstrip("]")
    return found


def test_each_runs_or_is_refused_as_before() -> None:
    found = [(*row[:3], _outcome(row[1], row[2])) for row in ROWS]
    assert [] == [(row, other[3]) for row, other in zip(ROWS, found, strict=True) if row != other]


def test_only_backreferences_are_valid_and_not_run() -> None:
    refused = [row for row in ROWS if row[3] != "run" and not row[3].startswith("invalid.")]
    assert {"unsupported.backreference"} == {row[3] for row in refused}
    assert all("backreference" in features(row[1], row[2]) for row in refused)


def test_every_feature_is_there() -> None:
    used = Counter(name for _, source, flags, _ in ROWS for name in features(source, flags))
    assert all(count >= 4 for count in used.values()), used
    assert len(used) == 16


def test_every_source_is_named() -> None:
    named = re.findall(r"`([\w:./-]+)`", (HERE / "real_patterns.md").read_text("utf-8"))
    assert {row[0] for row in ROWS} <= set(named)
