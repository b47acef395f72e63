"""Real processes, killed at every write: nothing is lost, nothing is taken twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
# Each run is a process of its own, forked from one that has everything loaded. It counts its
# writes, and kills itself before, within or after one of them.
PROCESSES = """
import json, os, signal, sys
from functools import partial
from pathlib import Path
import anyio, anyio._backends._asyncio, filelock
from interlock import Run, route
from interlock.routing import (
    Plan, RunFolder, by_file, run_full_workflow, run_workflow, write_choice)
from interlock.routing._files import DiskFiles


class Deadly(DiskFiles):
    def __init__(self, at, when):
        self.at, self.when, self.count = at, when, 0

    def _strike(self, root, parts, content, work, mode, part):
        self.count += 1
        is_due = self.count == self.at
        if is_due and self.when == "within":
            os.makedirs(os.path.join(root, *parts[:-1]), exist_ok=True)
            with open(os.path.join(root, *parts[:-1], part), mode) as file:
                file.write(content[: len(content) // 2])
        if is_due and self.when != "after":
            os.kill(os.getpid(), signal.SIGKILL)
        work(root, parts, content)
        if is_due:
            os.kill(os.getpid(), signal.SIGKILL)

    def write(self, root, parts, content):
        self._strike(root, parts, content, super().write, "wb", f".{parts[-1]}.0-1.part")

    def append(self, root, parts, line):
        self._strike(root, parts, line, super().append, "ab", parts[-1])

    def remove(self, root, parts):
        def removed(root, parts, _):
            DiskFiles.remove(self, root, parts)

        # What is cut short of a removal is a folder of which a part is left.
        self._strike(root, parts, b"", removed, "ab", f"{parts[-1]}.x")


def seeds(root, at, when):
    plan = Plan.load(os.path.join(root, "plan.json"))
    files = Deadly(at, when)
    run = RunFolder(root, "one", files=files)
    run.seed(plan, {"seeded": "stop"})
    run.seed(plan, {"pick": "done", "seeded": "stop"})
    run.route(plan, "pick", visit=1)
    with open(os.path.join(root, "ended"), "w") as file:
        json.dump(files.count, file)


def filed(root, at, when):
    plan = Plan.load(os.path.join(root, "plan.json"))
    folder = RunFolder(root, "one", files=Deadly(at, when))
    pick = by_file(plan.routers[1], folder)
    arms = {"stop": lambda _: "stopped", "back": str}
    if not at:
        Path(folder.step_path("seeded")).mkdir(parents=True, exist_ok=True)
        Path(folder.step_path("seeded"), "route_selection.json").write_text(
            '{"select_route": "stop"}')
    result = anyio.run(lambda: route("x", classify=pick, arms=arms, run=Run("one")))
    with open(os.path.join(root, "ended"), "w") as file:
        json.dump([result.output, folder.files.count], file)


def full(root, at, when):
    run(root, at, when, run_full_workflow)


def run(root, at, when, work=partial(run_workflow, rerun_interrupted=True)):
    plan = Plan.load(os.path.join(root, "plan.json"))
    files = Deadly(at, when)

    def probe(given):
        with open(os.path.join(root, "probed"), "a") as file:
            file.write("x")
        return write_choice(given.run, given.step.id, "again" if given.visit == 1 else "done")

    result = anyio.run(lambda: work(
        plan, {"probe": probe, "last": lambda given: "through"},
        RunFolder(root, "one", files=files),
        route_selections={"seeded": "stop"}))
    with open(os.path.join(root, "ended"), "w") as file:
        json.dump([result.status, result.stopped_by, files.count], file)


for line in sys.stdin:
    name, *given = json.loads(line)
    pid = os.fork()
    if pid == 0:
        try:
            globals()[name](*given)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork and no kill")


class Processes:
    """Runs the plan in processes that may be killed at a write."""

    def __init__(self) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, "-c", PROCESSES],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, root: Path, at: int = 0, when: str = "", *, name: str = "run") -> int:
        """Run in a folder; give the exit code, or the signal below zero."""
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write(json.dumps([name, str(root), at, when]) + "\n")
        self._parent.stdin.flush()
        return int(self._parent.stdout.readline())

    def close(self) -> None:
        self._parent.communicate()


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    made = Processes()
    yield made
    made.close()


def ready(root: Path) -> Path:
    root.mkdir()
    (root / "plan.json").write_text(json.dumps(PLAN), "utf-8")
    return root


def ended(root: Path) -> list[Any]:
    found: list[Any] = json.loads((root / "ended").read_text("utf-8"))
    return found


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
        "archived": Path(run.path, "archive", "probe.1", SELECTION).read_bytes()
        if run.completed()
        else None,
        "latest": json.loads(Path(run.step_path("pick"), "route_evidence.json").read_bytes())[
            "visit"
        ],
    }


@pytest.mark.parametrize("when", ["before", "within", "after"])
def test_a_kill_at_every_write(when: str, tmp_path: Path, processes: Processes) -> None:
    undisturbed = ready(tmp_path / "whole")
    assert 0 == processes.run(undisturbed)
    status, stopped_by, writes = ended(undisturbed)
    whole = left_behind(undisturbed)

    assert ("completed", "done") == (status, stopped_by)
    assert writes > 20
    assert {"pick": {"again": 1, "done": 1}, "seeded": {"stop": 1}} == whole["visits"]
    for at in range(1, writes + 1):
        root = ready(tmp_path / str(at))

        assert -signal.SIGKILL == processes.run(root, at, when), at
        assert not (root / "ended").exists()
        assert 0 == processes.run(root), at
        assert ["completed", "done"] == ended(root)[:2], at
        assert whole == left_behind(root), at
        # A step that was in doubt is run once more, as that is allowed here, and no other one.
        assert len((root / "probed").read_text()) <= 3, at


@pytest.mark.parametrize("when", ["before", "within", "after"])
def test_a_kill_at_every_write_of_a_second_seed(
    when: str, tmp_path: Path, processes: Processes
) -> None:
    undisturbed = ready(tmp_path / "whole")
    assert 0 == processes.run(undisturbed, name="seeds")
    writes = json.loads((undisturbed / "ended").read_text("utf-8"))
    whole = left_behind(undisturbed)

    assert {"pick": "done", "seeded": "stop"} == whole["selections"]
    for at in range(1, writes + 1):
        root = ready(tmp_path / str(at))

        assert -signal.SIGKILL == processes.run(root, at, when, name="seeds"), at
        # Whoever comes next is answered, and finds nothing but what was given.
        assert set(RunFolder(root, "one").selections().items()) <= {
            ("pick", "done"),
            ("seeded", "stop"),
        }, at
        assert 0 == processes.run(root, name="seeds"), at
        assert whole == left_behind(root), at


@pytest.mark.parametrize("when", ["before", "within", "after"])
def test_a_kill_at_every_removal_of_what_an_earlier_run_left(
    when: str, tmp_path: Path, processes: Processes
) -> None:
    undisturbed = ready(tmp_path / "whole")
    for name in ("run", "full"):
        assert 0 == processes.run(undisturbed, name=name)
    whole = left_behind(undisturbed)
    for at in range(1, 9):
        root = ready(tmp_path / str(at))
        assert 0 == processes.run(root)
        Path(RunFolder(root, "one").step_path("pick"), SELECTION).write_bytes(b"from before")
        (root / "ended").unlink()
        (root / "probed").unlink()

        assert -signal.SIGKILL == processes.run(root, at, when, name="full"), at
        assert not (root / "ended").exists()
        # Before the first removal it is the earlier run, which is through; then a new one.
        assert 0 == processes.run(root), at
        assert ["completed", "done"] == ended(root)[:2], at
        is_begun = (at, when) not in ((1, "before"), (1, "within"))
        assert is_begun == (root / "probed").exists(), at
        assert not is_begun or whole == left_behind(root), at


@pytest.mark.parametrize("when", ["before", "within", "after"])
def test_a_kill_at_every_write_of_a_route_that_reads_a_file(
    when: str, tmp_path: Path, processes: Processes
) -> None:
    undisturbed = ready(tmp_path / "whole")
    assert 0 == processes.run(undisturbed, name="filed")
    writes = ended(undisturbed)[1]

    assert writes > 2
    for at in range(1, writes + 1):
        root = ready(tmp_path / str(at))
        own = Path(RunFolder(root, "one").step_path("seeded"), SELECTION)
        own.parent.mkdir(parents=True)
        own.write_text('{"select_route": "stop"}', "utf-8")

        assert -signal.SIGKILL == processes.run(root, at, when, name="filed"), at
        assert 0 == processes.run(root, name="filed"), at
        assert "stopped" == ended(root)[0], at
        assert {"seeded": {"stop": 1}} == RunFolder(root, "one").ledger.visits(), at
        assert 1 == len(RunFolder(root, "one").evidence()), at


def test_a_kill_between_evidence_and_jump(tmp_path: Path, processes: Processes) -> None:
    undisturbed = ready(tmp_path / "whole")
    processes.run(undisturbed)
    of = Plan.load(undisturbed / "plan.json")
    between = 0
    for at in range(1, ended(undisturbed)[2] + 1):
        root = ready(tmp_path / str(at))
        processes.run(root, at, "after")
        run = RunFolder(root, "one")
        jumps = [one for one in run.journal.entries() if one.step == "pick"]
        counted = run.ledger.entries("pick")
        if len(counted) == len(jumps) + 1:
            # The route was written down, and the jump was not: it is the same one again.
            between += 1
            assert counted[-1].selection == run.route(of, "pick", visit=len(counted))
            assert len(counted) == sum(run.ledger.visits()["pick"].values())
    # For both visits: after the line, the count, the evidence and the marked file.
    assert 8 == between
