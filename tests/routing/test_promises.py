"""Every promise has a test that bears its id."""

import re
from pathlib import Path

HERE = Path(__file__).parent
BLOCKS = [(1, 19), (20, 25), (30, 38), (40, 44), (50, 57)]
PROMISED = {f"R-{number:02}" for first, last in BLOCKS for number in range(first, last + 1)}

TESTED = {
    f"R-{number}"
    for path in HERE.glob("test_*.py")
    for number in re.findall(
        r"^ *(?:async )?def test_R_(\d\d)_", path.read_text("utf-8"), re.MULTILINE
    )
}


def test_no_promise_is_missing() -> None:
    assert PROMISED == TESTED


def test_there_are_forty_seven() -> None:
    assert 47 == len(PROMISED)
