"""The example that fixes a failing test, run as its README says."""

import subprocess
import sys
from pathlib import Path

import pytest

from interlock.record import Rollout

SCRIPT = Path(__file__).parents[2] / "examples" / "harness" / "fix_a_test.py"


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(("bug", "module", "edits"), [("1", "pages.py", 2), ("2", "prices.py", 1)])
def test_each_bug_is_found_and_fixed(bug: str, module: str, edits: int, tmp_path: Path) -> None:
    done = run(str(SCRIPT), "--bug", bug, "--out", "fixed", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "replay equal: True" in done.stdout
    assert f"of {module} is now" in done.stdout
    out = tmp_path / "fixed"
    rollout = Rollout.from_json_lines((out / "run.jsonl").read_text(encoding="utf-8"))
    assert [step.path.split("/")[-1] for step in rollout.blocked()] == ["delete_file"]
    assert sum(step.path.endswith("edit_file") for step in rollout.steps) == edits
    assert run("-B", "-m", "unittest", cwd=out / "project").returncode == 0
    assert "delete_file" in (out / "report.html").read_text(encoding="utf-8")
    shown = run("-m", "interlock", "report", "fixed/run.jsonl", "--markdown", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "delete_file" in shown.stdout
