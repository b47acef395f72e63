"""Every promise of supervised runs has a test that bears its id."""

import re
from pathlib import Path

HERE = Path(__file__).parent

RANGES = ((1, 9), (10, 20), (30, 39), (40, 55), (60, 68), (70, 86), (90, 93))
PROMISED = {f"V-{number:02}" for first, last in RANGES for number in range(first, last + 1)}

TESTED = {
    f"V-{number}"
    for path in HERE.glob("test_*.py")
    for number in re.findall(
        r"^\s*(?:async )?def test_V_(\d\d)_", path.read_text("utf-8"), re.MULTILINE
    )
}


def test_there_are_76_promises() -> None:
    assert 76 == len(PROMISED)


def test_no_promise_is_missing() -> None:
    assert PROMISED == TESTED
