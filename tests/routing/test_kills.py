"""Real processes, killed at every write: nothing is lost, nothing is taken twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.routing import Plan, RunFolder

from .plans import SELECTION

PLAN = {
    "steps": [
        {"id": "probe", "context_output": SELECTION},
        {
            "id": "pick",
            "routes": [
                {"route_id": "again", "next_step_id": "probe"},
                {"route_id": "done", "next_step_id": "last"},
            ],
            "context_dependencies": [SELECTION],
        },
        {"id": "last"},
        {
            "id": "seeded",
            "routes": [
                {"route_id": "stop", "next_step_id": "end"},
                {"route_id": "back", "next_step_id": "probe"},
            ],
        },
    ]
}
# The process counts its writes, and kills itself before, in the middle of or after one of them.
CHILD = """
import json, os, signal, sys
import anyio
from interlock.routing import Plan, RunFolder, run_workflow, write_choice
from interlock.routing._files import DiskFiles

root, at, when = sys.argv[1], int(sys.argv[2]), sys.argv[3]
plan = Plan.load(os.path.join(root, "plan.json"))


class Deadly(DiskFiles):
    count = 0

    def _strike(self, work, torn):
        Deadly.count += 1
        is_due = Deadly.count == at
        if is_due and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        if is_due and when == "within":
            torn()
            os.kill(os.getpid(), signal.SIGKILL)
        work()
        if is_due and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)

    def write(self, root, parts, content):
        def torn():
            os.makedirs(os.path.join(root, *parts[:-1]), exist_ok=True)
            with open(os.path.join(root, *parts[:-1], f".{parts[-1]}.0-1.part"), "wb") as file:
                file.write(content[: len(content) // 2])

        self._strike(lambda: super(Deadly, self).write(root, parts, content), torn)

    def append(self, root, parts, line):
        def torn():
            os.makedirs(os.path.join(root, *parts[:-1]), exist_ok=True)
            with open(os.path.join(root, *parts), "ab") as file:
                file.write(line[: len(line) // 2])

        self._strike(lambda: super(Deadly, self).append(root, parts, line), torn)


def probe(given):
    with open(os.path.join(root, "probed"), "a") as file:
        file.write("x")
    return write_choice(given.run, given.step.id, "again" if given.visit == 1 else "done")


def last(given):
    return "through"


result = anyio.run(lambda: run_workflow(
    plan, {"probe": probe, "last": last}, RunFolder(root, "one", files=Deadly()),
    route_selections={"seeded": "stop"}, rerun_interrupted=True))
print(json.dumps([result.status, result.stopped_by, Deadly.count]))
"""


def child(root: Path, at: int, when: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CHILD, str(root), str(at), when],
        capture_output=True,
        text=True,
        check=False,
    )


def ready(root: Path) -> Path:
    root.mkdir()
    (root / "plan.json").write_text(json.dumps(PLAN), "utf-8")
    return root


def left_behind(root: Path) -> dict[str, object]:
    """Give what a run that got through has left, but for times."""
    run = RunFolder(root, "one")
    entries = [{**entry.to_dict(), "at": ""} for entry in run.evidence()]
    steps = [(one.step, one.visit) for one in run.journal.entries() if one.event == "done"]
    return {
        "visits": run.ledger.visits(),
        "evidence": entries,
        "steps": steps,
        "selections": run.selections(),
        "notes": run.notes(),
        "seeded": json.loads(Path(run.step_path("seeded"), SELECTION).read_bytes()),
        "latest": json.loads(Path(run.step_path("pick"), "route_evidence.json").read_bytes())[
            "visit"
        ],
    }


@pytest.mark.timeout(900)
def test_a_kill_at_every_write(tmp_path: Path) -> None:
    undisturbed = ready(tmp_path / "whole")
    ended = child(undisturbed, 0, "")
    status, stopped_by, writes = json.loads(ended.stdout)
    whole = left_behind(undisturbed)

    assert ("completed", "done") == (status, stopped_by)
    assert writes > 20
    assert {"pick": {"again": 1, "done": 1}, "seeded": {"stop": 1}} == whole["visits"]
    for at in range(1, writes + 1):
        when = ("before", "within", "after")[at % 3]
        root = ready(tmp_path / f"{at}-{when}")
        killed = child(root, at, when)
        again = child(root, 0, "")

        assert -signal.SIGKILL == killed.returncode, (at, when, killed.stderr)
        assert ["completed", "done"] == json.loads(again.stdout)[:2], (at, when, again.stderr)
        assert whole == left_behind(root), (at, when)
        # A step that was in doubt is run once more where that is allowed, and no other one.
        assert len((root / "probed").read_text()) <= 3, (at, when)


def test_a_kill_between_evidence_and_jump(tmp_path: Path) -> None:
    root = ready(tmp_path / "one")
    of = Plan.load(root / "plan.json")
    whole = json.loads(child(ready(tmp_path / "whole"), 0, "").stdout)[2]
    for at in range(1, whole + 1):
        place = ready(tmp_path / f"at-{at}")
        child(place, at, "after")
        run = RunFolder(place, "one")
        done = [one for one in run.journal.entries() if one.step == "pick"]
        counted = run.ledger.entries("pick")
        if len(counted) == len(done) + 1:
            # The route was written down, and the jump was not: it is the same one again.
            taken = run.route(of, "pick", visit=len(counted))
            assert counted[-1].selection == taken
            assert len(counted) == sum(run.ledger.visits()["pick"].values())
            return
    pytest.fail("no kill fell between evidence and jump")
