"""What a router leaves behind, and how often it may be visited: R-40 to R-44."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from interlock.errors import StoreError, UsageError
from interlock.routing import Evidence, Plan, RouteError, RunFolder, run_workflow, write_choice
from interlock.routing._files import DiskFiles
from interlock.testing import ManualClock

from .conftest import Go
from .plans import SELECTION, chosen, plan, tree, write

FIELDS = [
    "schema",
    "router_id",
    "route_id",
    "next_step_id",
    "source_kind",
    "source_path",
    "field",
    "raw_value",
    "visit",
    "absent",
    "at",
    "digest",
]
BACK = [
    {"route_id": "again", "next_step_id": "probe"},
    {"route_id": "more", "next_step_id": "probe"},
    {"route_id": "done", "next_step_id": "end"},
]
LOOP = Plan.load(
    {
        "steps": [
            {"id": "probe", "context_output": SELECTION},
            {"id": "pick", "routes": BACK, "context_dependencies": [SELECTION]},
        ]
    }
)


def says(*routes: str) -> dict[str, Any]:
    """Make a producer that changes its mind."""
    waiting = list(routes)

    def probe(given: Any) -> str:
        return write_choice(given.run, given.step.id, waiting.pop(0), router=LOOP.routers[0])

    return {"probe": probe}


@pytest.mark.parametrize(
    "kind", ["caller", "preseed", "route_source_file", "context_dependency", "default"]
)
def test_R_40_every_source_leaves_evidence_in_the_run(
    kind: str, run: RunFolder, tmp_path: Path
) -> None:
    of = plan(
        route_source_file="shared.json",
        context_dependencies=[SELECTION],
        default_route_id="search",
    )
    if kind == "caller":
        run.seed(of, {"pick": "search"})
    elif kind == "preseed":
        write(run, "pick", chosen("search"))
    elif kind == "route_source_file":
        (tmp_path / "shared.json").write_bytes(chosen("search"))
    elif kind == "context_dependency":
        write(run, "probe", chosen("search"))
    found = run.route(of, "pick")
    files = tree(run.step_path("pick"))

    assert kind == found.source_kind
    assert {"route_evidence.json", "route_evidence.jsonl", SELECTION} == set(files)
    latest = json.loads(files["route_evidence.json"])
    assert found == Evidence.from_dict(latest).selection
    assert [latest] == [json.loads(line) for line in files["route_evidence.jsonl"].splitlines()]


def test_R_41_it_says_what_decided(run: RunFolder) -> None:
    content = b'{"route_id": " find "}'
    of = plan(context_dependencies=[SELECTION], routes=[*plan().to_dict()["steps"][1]["routes"]])
    write(run, "probe", content)
    run.route(of, "pick")
    latest = json.loads(tree(run.step_path("pick"))["route_evidence.json"])

    assert FIELDS == list(latest)[:-1]
    assert {
        "schema": "interlock.route-evidence/1",
        "router_id": "pick",
        "route_id": "search",
        "next_step_id": "find",
        "source_kind": "context_dependency",
        "source_path": f"execution/probe/{SELECTION}",
        "field": "route_id",
        "raw_value": "find",
        "visit": 1,
        "absent": ["route_selections", f"execution/pick/{SELECTION}"],
        "at": "2023-11-14T22:13:20.000Z",
        "digest": sha256(content).hexdigest(),
        "silent": [],
    } == latest


def test_R_41_the_instant_is_the_callers_where_it_is_given(run: RunFolder) -> None:
    class Broken(ManualClock):
        def now(self) -> int:
            raise OSError("no clock")

    broken = RunFolder(run.root, "two", clock=Broken())
    write(broken, "pick", chosen("search"))
    with pytest.raises(OSError, match="no clock"):
        broken.route(plan(), "pick")
    assert {} == broken.ledger.visits()
    broken.route(plan(), "pick", at=1_700_000_000_000)
    broken.route(plan(), "pick", at="noon")

    assert ["2023-11-14T22:13:20.000Z", "noon"] == [one.at for one in broken.evidence()]


def test_R_42_a_second_visit_reads_its_sources_anew(go: Go, run: RunFolder) -> None:
    result = go(run_workflow, LOOP, says("again", "more", "done"), run)

    assert ["again", "more", "done"] == [one.route_id for one in result.selections]
    assert "completed" == result.status


def test_R_42_what_a_router_left_is_no_source_for_itself(run: RunFolder) -> None:
    of = plan(context_dependencies=[SELECTION])
    found: list[str] = []
    for route in ("search", "profile"):
        write(run, "probe", chosen(route))
        found.append(run.route(of, "pick").route_id)
    marked = json.loads(tree(run.step_path("pick"))[SELECTION])

    assert ["search", "profile"] == found
    assert (True, "profile", "pick", 2) == (
        marked["evidence"],
        marked["select_route"],
        marked["router_id"],
        marked["visit"],
    )


@pytest.mark.parametrize("name", [SELECTION, "route_evidence.json"])
def test_R_42_nor_for_anybody_else(name: str, run: RunFolder, tmp_path: Path) -> None:
    write(run, "pick", chosen("search"))
    Path(run.step_path("pick"), SELECTION).unlink()
    write(run, "probe", chosen("search"))
    run.route(plan(context_dependencies=[SELECTION]), "pick")
    of = plan(route_source_file=f"runs/one/execution/pick/{name}", default_route_id="search")
    with pytest.raises(RouteError) as caught:
        RunFolder(tmp_path, "two").route(of, "pick")

    assert "route/evidence-as-source" == caught.value.code


def test_R_42_a_preseeded_file_is_never_overwritten(run: RunFolder) -> None:
    for content in (chosen("search"), b'{"evidence": "yes", "select_route": "search"}'):
        place = write(run, "pick", content)
        run.route(plan(), "pick")

        assert content == place.read_bytes()


def test_R_43_the_third_selection_of_a_route_is_a_loop(go: Go, run: RunFolder) -> None:
    result = go(run_workflow, LOOP, says("again", "again", "again"), run)

    assert ("failed", "loop", "route/loop", "pick") == (
        result.status,
        result.stopped_by,
        result.code,
        result.stopped_at,
    )
    assert ["again", "again"] == [one.route_id for one in result.selections]
    assert "pick" in str(result.error)
    assert "again was taken 2 times" in str(result.error)
    # Nothing changed, and that is said.
    assert "nothing changed in probe" in str(result.error)
    assert {"pick": {"again": 2}} == run.ledger.visits()


@pytest.mark.parametrize("most", [1, 2, 5])
def test_R_43_the_limit_is_that_of_the_router(most: int, run: RunFolder) -> None:
    of = plan(max_visits=most)
    write(run, "pick", chosen("search"))
    for visit in range(1, most + 1):
        assert visit == run.route(of, "pick").visit
    with pytest.raises(RouteError) as caught:
        run.route(of, "pick")

    assert ("route/loop", "pick") == (caught.value.code, caught.value.router_id)
    assert most == len(run.evidence())


def test_R_44_the_count_is_per_router_and_route(run: RunFolder) -> None:
    two = Plan.load(
        {
            "steps": [
                {
                    "id": "a",
                    "routes": [
                        {"route_id": "x", "next_step_id": "b"},
                        {"route_id": "y", "next_step_id": "b"},
                    ],
                },
                {
                    "id": "b",
                    "routes": [
                        {"route_id": "x", "next_step_id": "a"},
                        {"route_id": "y", "next_step_id": "end"},
                    ],
                },
            ]
        }
    )
    for router in ("a", "b", "a", "b"):
        for route in ("x", "y"):
            write(run, router, chosen(route))
            run.route(two, router)

    assert {"a": {"x": 2, "y": 2}, "b": {"x": 2, "y": 2}} == run.ledger.visits()
    with pytest.raises(RouteError, match="route/loop"):
        run.route(two, "b")


def test_R_44_the_count_survives_a_restart(go: Go, run: RunFolder) -> None:
    first = go(run_workflow, LOOP, says("again", "again", "again"), run)
    again = go(run_workflow, LOOP, says(), RunFolder(run.root, run.run_id))

    assert ("loop", "loop") == (first.stopped_by, again.stopped_by)
    assert ("pick",) == again.ran


CHILD = """
import json, os, signal, sys
import anyio
from interlock.routing import Plan, RunFolder, run_workflow, write_choice

root, where = sys.argv[1:]
plan = Plan.load(os.path.join(root, "plan.json"))

def probe(given):
    if where == f"probe {given.visit}":
        os.kill(os.getpid(), signal.SIGKILL)
    return write_choice(given.run, given.step.id, "again")

result = anyio.run(lambda: run_workflow(
    plan, {"probe": probe}, RunFolder(root, "one"), rerun_interrupted=True))
print(json.dumps([result.stopped_by, list(result.ran), [one.visit for one in result.selections]]))
"""


def test_R_44_a_kill_between_the_second_and_the_third(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(LOOP.to_dict()), "utf-8")

    def child(where: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", CHILD, str(tmp_path), where],
            capture_output=True,
            text=True,
            check=False,
        )

    killed = child("probe 3")
    ended = child("")

    assert -signal.SIGKILL == killed.returncode
    assert ["loop", ["probe", "pick"], []] == json.loads(ended.stdout)
    assert {"pick": {"again": 2}} == RunFolder(tmp_path, "one").ledger.visits()


def test_a_visit_that_was_written_down_is_answered_from_there(run: RunFolder) -> None:
    of = plan(context_dependencies=[SELECTION])
    write(run, "probe", chosen("search"))
    first = run.route(of, "pick", visit=1)
    write(run, "probe", chosen("profile"))
    before = tree(run.path)

    assert first == run.route(of, "pick", visit=1)
    assert before == tree(run.path)
    assert "profile" == run.route(of, "pick", visit=2).route_id
    assert first == run.route(of, "pick", visit=1)
    with pytest.raises(UsageError, match="visit 4 cannot be"):
        run.route(of, "pick", visit=4)
    for bad in (0, -1, True, 1.0, "1"):
        with pytest.raises(UsageError, match="visit is"):
            run.route(of, "pick", visit=bad)  # type: ignore[arg-type]


def test_a_visit_whose_evidence_is_gone_is_no_new_one(run: RunFolder) -> None:
    write(run, "pick", chosen("search"))
    run.route(plan(), "pick")
    Path(run.step_path("pick"), "route_evidence.jsonl").unlink()
    with pytest.raises(RouteError, match="its evidence is gone"):
        run.route(plan(), "pick", visit=1)

    assert 2 == run.route(plan(), "pick").visit


@pytest.mark.parametrize("failing", ["append", "write"])
def test_no_route_is_taken_without_a_record(failing: str, tmp_path: Path) -> None:
    class Full(DiskFiles):
        is_full = True

        def write(self, root: str, parts: tuple[str, ...], content: bytes) -> None:
            if self.is_full and failing == "write":
                raise StoreError("disk full")
            super().write(root, parts, content)

        def append(self, root: str, parts: tuple[str, ...], line: bytes) -> None:
            if self.is_full and failing == "append":
                raise StoreError("disk full")
            super().append(root, parts, line)

    files = Full()
    run = RunFolder(tmp_path, "one", files=files)
    write(run, "pick", chosen("search"))
    with pytest.raises(StoreError, match="disk full"):
        run.route(plan(), "pick", visit=1)
    files.is_full = False

    assert (1, "search") == ((found := run.route(plan(), "pick", visit=1)).visit, found.route_id)
    assert {"pick": {"search": 1}} == run.ledger.visits()
    assert 1 == len(run.evidence())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("visits.json", b"{"),
        ("visits.json", b"[]"),
        ("visits.json", b'{"pick": {"search": -1}}'),
        ("visits.json", b'{"pick": {"search": "2"}}'),
        ("visits.json", b'{"pick": 2}'),
        ("execution/pick/route_evidence.jsonl", b"{}\n"),
        ("execution/pick/route_evidence.jsonl", b"oops\n"),
    ],
)
def test_a_damaged_record_never_counts_as_none(name: str, content: bytes, run: RunFolder) -> None:
    write(run, "pick", chosen("search"))
    run.route(plan(), "pick")
    Path(run.path, name).write_bytes(content)
    with pytest.raises(RouteError, match="is damaged") as caught:
        run.route(plan(), "pick")

    assert ("route/unreadable", name) == (caught.value.code, caught.value.source_path)


def test_a_line_that_was_cut_off_is_taken_away(run: RunFolder) -> None:
    write(run, "pick", chosen("search"))
    run.route(plan(), "pick")
    log = Path(run.step_path("pick"), "route_evidence.jsonl")
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"schema": "interlock.rou')
    run.route(plan(), "pick")

    assert whole == b"".join(log.read_bytes().splitlines(keepends=True)[:1])
    assert [1, 2] == [entry.visit for entry in run.evidence()]
    assert os.linesep.encode()[-1:] == log.read_bytes()[-1:]
