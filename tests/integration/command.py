"""Runs the `interlock` command in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias

Row: TypeAlias = dict[str, Any]
"""A line of output; what is in it is the matter of each test."""

COMMAND = (sys.executable, "-m", "interlock")

BIG = b'{"total":1200}'
SMALL = b'{"total":1}'

BRANCH = """\
tool: Branch
arms:
  - name: big
    when:
      - { path: total, op: greaterThan, expected: 1000 }
otherwise: { name: normal }
"""

BIG_LINE = {"matched": True, "name": "big", "index": 0, "fallback": False}
NORMAL_LINE = {"matched": True, "name": "normal", "index": None, "fallback": True}


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: bytes
    err: str

    @property
    def rows(self) -> list[Row]:
        """Standard output as JSON Lines; a line that is no JSON is an error."""
        return [strict_json(line) for line in self.out.decode().splitlines()]

    @property
    def lines(self) -> list[str]:
        """Standard output as lines of text."""
        return self.out.decode().splitlines()


def environment(**changes: str) -> dict[str, str]:
    """Give the environment without what would change how the command speaks."""
    ours = ("INTERLOCK_", "PYTHONIOENCODING", "NO_COLOR", "FORCE_COLOR", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "TERM": "xterm", **changes}


def interlock(
    *arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None, **changes: str
) -> Ran:
    """Run the command to its end; whatever it is given, it may not show a traceback."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        cwd=cwd,
        env=environment(**changes),
    )
    err = done.stderr.decode()
    assert "Traceback" not in err, err.splitlines()[-2:]
    return Ran(done.returncode, done.stdout, err)


def without_rate(err: str) -> list[str]:
    """Give what was told, without how fast it went."""
    return [line for line in err.splitlines() if not line.endswith(" a second")]


def strict_json(text: str) -> Row:
    """Read one JSON object; NaN and Infinity are no JSON."""

    def refuse(name: str) -> NoReturn:
        raise AssertionError(f"{name} is not JSON: {text}")

    row: Row = json.loads(text, parse_constant=refuse)
    assert text.startswith("{"), text
    return row
