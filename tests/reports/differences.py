"""The cases of reports that are answered otherwise on purpose, read from `differences.md`."""

from pathlib import Path

MOST = 5


def differences() -> dict[tuple[str, int], str]:
    """Give the reason by report and case; cases count from 0 here."""
    lines = (Path(__file__).parent / "differences.md").read_text("utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| rep-")]
    found = {(name, int(case) - 1): reason for name, case, _, _, reason in rows}
    assert len(found) == len(rows)
    return found
