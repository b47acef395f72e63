"""The codes are those that the documentation lists."""

import re
from pathlib import Path

import interlock.routing

HOME = Path(interlock.routing.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "routing.md"


def test_every_code_is_in_the_table_and_no_other() -> None:
    used = {
        code
        for path in HOME.glob("*.py")
        for code in re.findall(r'"(route/[a-z-]+)"', path.read_text("utf-8"))
    }
    listed = re.findall(r"^\| `(route/[a-z-]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)

    assert used == set(listed)
    assert len(listed) == len(set(listed))
