"""Every promise has a test that bears its id."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROMISES = {"C": range(1, 29), "H": range(1, 21), "L": range(1, 49), "N": range(1, 11)}
"""The promises of each workflow, by the letter of their ids."""

TESTED = {
    f"{letter}-{number}"
    for path in HERE.glob("test_*.py")
    for letter, number in re.findall(
        r"^ *(?:async )?def test_([A-Z])_(\d\d)_", path.read_text("utf-8"), re.MULTILINE
    )
}


@pytest.mark.parametrize("letter", PROMISES)
def test_no_promise_is_missing(letter: str) -> None:
    promised = {f"{letter}-{number:02}" for number in PROMISES[letter]}

    assert promised == {one for one in TESTED if one.startswith(letter)}
