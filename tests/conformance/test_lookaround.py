"""Lookaround, line anchors and backreferences that are none, as a JavaScript engine answers them.

`lookaround.jsonl` holds patterns of real programs and of edge cases, with texts in which each is
found and texts in which it is missing. `pathological.jsonl` holds what keeps a backtracking engine
busy for seconds or for ever; a text is given as runs of pieces. Nothing is timed: an answer that
took exponential time would not come.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlock import Pattern
from oracle import PatternUnsupported, pattern_test

HERE = Path(__file__).parent


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text("ascii").splitlines()]


ROWS = _rows("lookaround.jsonl")
PATHOLOGICAL = [pytest.param(row, id=row["id"]) for row in _rows("pathological.jsonl")]
SLICES = 20


def _agree(row: dict[str, Any], text: str, *, found: bool) -> bool:
    """Whether the slow reference answers so too; backreferences are not decided there."""
    try:
        return pattern_test(row["pattern"], row["flags"], text) is found
    except PatternUnsupported:
        return True


def test_there_are_as_many_as_there_were() -> None:
    assert (1_441, 183) == (len(ROWS), len(PATHOLOGICAL))


@pytest.mark.parametrize("part", range(SLICES))
def test_found_where_javascript_finds_it(part: int) -> None:
    for row in ROWS[part::SLICES]:
        pattern = Pattern(row["pattern"], row["flags"])

        assert row["found"] == [text for text in row["found"] if pattern.test(text)], row
        assert [] == [text for text in row["missing"] if pattern.test(text)], row


@pytest.mark.parametrize("part", range(SLICES))
def test_the_reference_agrees_on_short_texts(part: int) -> None:
    for row in ROWS[part :: 5 * SLICES]:
        for field in ("found", "missing"):
            for text in row[field]:
                assert len(text) > 80 or _agree(row, text, found=field == "found"), (row, text)


@pytest.mark.parametrize("row", PATHOLOGICAL)
def test_what_keeps_others_busy_is_answered(row: dict[str, Any]) -> None:
    text = "".join(piece * count for piece, count in row["runs"])
    assert row["expected"] is Pattern(row["pattern"], row["flags"]).test(text)


@pytest.mark.parametrize(
    ("source", "flags", "text", "found"),
    [
        # The inner reference lies in a group that is referred to from outside its part.
        (r"(?:a?(?:b|(a)){1}b?(\1)\2)(?<n>b|c)\2", "im", "aAaacba", False),
        (r"(?:(a|b)(c\1)x\2)\2", "", "acaxcaca", True),
        (r"(?:(a|b)(c\1)x\2)\2", "", "acaxcacb", False),
        (r"(?:(a)|b)\1c", "", "bc", True),
        (r"(?<=\1(a))b", "", "aab", True),
        (r"(?<=\1(a))b", "", "cab", False),
        (r"(?<=(a)\1)b", "", "cab", True),
        (r"(?!(a)\1)a\1b", "", "ab", True),
        (r"(['\"]).*?\1;", "", "x = 'it\";';", True),
        (r"(['\"]).*?\1;", "", "x = 'it\";", False),
    ],
)
def test_references_to_few_values(source: str, flags: str, text: str, *, found: bool) -> None:
    assert found is Pattern(source, flags).test(text)


@pytest.mark.parametrize("opening", ["(?=a", "(?!b|", "(?<=a|", "(?=.*a(?<=.*a)"])
def test_lookarounds_as_deep_as_they_may_nest(opening: str) -> None:
    pattern = Pattern(opening * 50 + ")" * 50)
    assert pattern.test("a" * 10_000)
