"""Files that are no files, or are too large, and two who seed one run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interlock.errors import InterlockError, StoreError
from interlock.routing import (
    Plan,
    RouteError,
    RunFolder,
    check_plan,
    check_plans,
    to_mermaid,
    write_choice,
)

from .plans import ROUTES as WAYS
from .plans import chosen, plan, write

ROUTES = [{"route_id": "a", "next_step_id": "x"}, {"route_id": "b", "next_step_id": "end"}]
PLAN = Plan.load(
    {
        "steps": [
            {"id": "pick", "kind": "routing", "routes": ROUTES},
            {"id": "other", "kind": "routing", "routes": ROUTES},
            {"id": "x", "kind": "work"},
        ]
    }
)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("what", ["pipe", "device"])
def test_a_plan_that_is_no_file_is_a_problem_and_not_waited_for(tmp_path: Path, what: str) -> None:
    path = tmp_path / "plan.json"
    if what == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    assert [one.code for one in check_plans([path]).errors] == ["route/unreadable"]


def test_a_huge_file_behind_the_choice_of_the_caller_is_left_alone(tmp_path: Path) -> None:
    run = RunFolder(tmp_path, "r")
    run.seed(PLAN, {"pick": "a"})
    own = Path(run.step_path("pick"), "route_selection.json")
    with own.open("wb") as file:
        file.truncate(1 << 40)
    assert run.route(PLAN, "pick").route_id == "a"
    assert own.stat().st_size == 1 << 40


def test_what_another_seeds_later_holds_here_too(tmp_path: Path) -> None:
    first, second = RunFolder(tmp_path, "r"), RunFolder(tmp_path, "r")
    first.seed(PLAN, {"pick": "a"})
    second.seed(PLAN, {"other": "b"})
    assert first.route(PLAN, "pick").route_id == "a"
    assert first.route(PLAN, "other").route_id == "b"


def too_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


KEPT: dict[str, Callable[[RunFolder], object]] = {
    "visits.json": lambda run: run.route(PLAN, "pick"),
    "run.json": lambda run: run.route(PLAN, "pick"),
    "selections.json": lambda run: RunFolder(run.root, run.run_id).route(PLAN, "pick"),
    "journal.jsonl": lambda run: run.completed(),
    "execution/pick/route_evidence.jsonl": lambda run: run.route(PLAN, "pick"),
    "execution/pick/route_evidence.json": lambda run: run.route(PLAN, "pick"),
}
ODD: list[Callable[[Path], None]] = [too_large, Path.mkdir]
if hasattr(os, "mkfifo"):
    ODD.append(lambda path: os.mkfifo(path))  # noqa: PLW0108 (not there on Windows)


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("make", ODD, ids=["too large", "folder", "pipe"][: len(ODD)])
def test_what_a_run_keeps_is_named_where_it_is_no_file(
    name: str, make: Callable[[Path], None], run: RunFolder
) -> None:
    run.seed(PLAN, {"pick": "a"})
    run.route(PLAN, "pick")
    place = Path(run.path, name)
    place.unlink(missing_ok=True)
    make(place)
    with pytest.raises(InterlockError) as caught:
        KEPT[name](run)

    assert name in str(caught.value)
    assert "bytes, which is the limit" in str(caught.value) or make is not too_large


def test_a_plan_that_is_too_large_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    too_large(path)

    assert ["route/unreadable"] == [one.code for one in check_plans([path]).errors]
    with pytest.raises(OSError, match="which is the limit"):
        Plan.load(path)


def test_outputs_that_cannot_be_read_are_not_said_to_be_the_same(run: RunFolder) -> None:
    back = [{"route_id": name, "next_step_id": "probe"} for name in ("search", "profile")]
    of = plan(routes=back, context_dependencies=["route_selection.json"])
    for visit in range(1, 4):
        write(run, "probe", chosen("search"))
        write(run, "find", b"the same", "notes.md")
        too_large(write(run, "probe", b"", "video.bin"))
        if visit < 3:
            run.route(of, "pick")
            for step in ("probe", "find"):
                run.archive(step, visit)
    data = of.to_dict()
    data["steps"][0]["context_output"].append("video.bin")
    data["steps"][2]["context_output"] = ["notes.md"]
    with pytest.raises(RouteError, match="that is a loop") as caught:
        run.route(Plan.load(data), "pick")

    assert caught.value.message.endswith("nothing changed in find from one visit to the next")


@pytest.mark.parametrize(("path", "said"), [("a\x00b", "NUL"), ("a\ud800b", "surrogate")])
def test_a_shared_file_whose_name_is_no_path(path: str, said: str, run: RunFolder) -> None:
    of = plan(route_source_file=path)
    (problem,) = (one for one in check_plan(of) if one.level == "error")
    with pytest.raises(RouteError) as caught:
        run.take(None, of.routers[0])

    assert ("pick", "route_source_file") == (problem.step_id, problem.field)
    assert said in problem.message
    assert ("route/unsafe-path", "route_source_file", path) == (
        caught.value.code,
        caught.value.source_kind,
        caught.value.source_path,
    )
    assert "is no path" in caught.value.message


@pytest.mark.parametrize(
    ("changes", "step_id", "field"),
    [
        ({"routing_question": "\ud800"}, "pick", "routing_question"),
        ({"colour": "\udfff"}, "pick", "colour"),
        ({"routes": [{**WAYS[0], "name": "\ud8ff"}, WAYS[1]]}, "pick", "routes"),
    ],
)
def test_text_that_is_no_text_is_told_before_a_plan_is_run(
    changes: dict[str, object], step_id: str, field: str
) -> None:
    (problem,) = (one for one in check_plan(plan(**changes)) if one.level == "error")

    assert ("route/plan", step_id, field) == (problem.code, problem.step_id, problem.field)
    assert "surrogate" in problem.message


EVIL = "\x1b[2J\x1b]0;owned\x07\n\t\u202e\x9b31m\ud800"


def test_a_problem_is_one_line_in_which_nothing_hides() -> None:
    routes = [{"route_id": EVIL, "next_step_id": EVIL}, {"route_id": EVIL, "next_step_id": "end"}]
    of = Plan.load(
        {"steps": [{"id": EVIL, "routes": routes, "default_route_id": EVIL, "description": EVIL}]}
    )
    for problem in check_plan(of):
        assert str(problem).isprintable(), str(problem)
    assert to_mermaid(of).replace("\n", "").isprintable()


def test_a_file_is_written_beside_its_place_under_a_name_of_chance(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    real = os.open

    def watched(path: str, *args: Any, **options: Any) -> int:
        opened.append(Path(path).name)
        return real(path, *args, **options)

    monkeypatch.setattr(os, "open", watched)
    for number in range(3):
        write_choice(run, "probe", f"r{number}")
    parts = [name for name in opened if name.endswith(".part")]

    # A number of the process would be the same each time, and that of the one killed before.
    assert 3 == len(parts) == len(set(parts))
    assert all(re.fullmatch(r"\.route_selection\.json\.[0-9a-f]{16}\.part", one) for one in parts)
    assert ["route_selection.json"] == os.listdir(run.step_path("probe"))  # noqa: PTH208


def test_what_stands_under_that_name_is_not_written_through(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    write_choice(run, "probe", "old")
    monkeypatch.setattr(os, "urandom", bytes)
    beside = Path(run.step_path("probe"), f".route_selection.json.{'0' * 16}.part")
    beside.symlink_to(victim)
    with pytest.raises(StoreError, match=r"route_selection\.json: cannot be written: File exists"):
        write_choice(run, "probe", "new")

    assert b"precious" == victim.read_bytes()
    assert b'{"select_route":"old"}\n' == Path(beside.parent, "route_selection.json").read_bytes()


def test_what_a_killed_writer_left_is_in_nobodys_way(run: RunFolder) -> None:
    left = write(run, "probe", b'{"select_ro', ".route_selection.json.0123456789abcdef.part")
    write_choice(run, "probe", "search")

    of = plan(context_dependencies=["route_selection.json"])
    assert "search" == run.route(of, "pick").route_id
    assert left.exists()


SHORT = """
import resource, signal, sys
from pathlib import Path
from interlock.errors import StoreError
from interlock.routing import Plan, RunFolder

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
run, plan = RunFolder(sys.argv[1], "one"), Plan.load(Path(sys.argv[1], "plan.json"))
log = Path(run.step_path("pick"), "route_evidence.jsonl")
most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
for room in (0, 1, 40, 200, 300):
    whole = log.read_bytes() if log.exists() else b""
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + room, most))
    try:
        run.route(plan, "pick")
    except StoreError as error:
        print("route_evidence.jsonl: cannot be written" in str(error), end=" ")
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    print(len(run.evidence()), run.route(plan, "pick").visit, len(run.evidence()))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on sizes of files")
def test_a_line_that_the_disk_has_no_room_for_is_no_visit(tmp_path: Path) -> None:
    of = plan(max_visits=99)
    (tmp_path / "plan.json").write_text(json.dumps(of.to_dict()), "utf-8")
    write(RunFolder(tmp_path, "one"), "pick", chosen("search"))
    ran = subprocess.run(
        [sys.executable, "-c", SHORT, str(tmp_path)], capture_output=True, text=True, check=False
    )

    # Nothing was counted, and the next one is written whole, where the torn one was.
    assert [f"True {n} {n + 1} {n + 1}" for n in range(5)] == ran.stdout.splitlines(), ran.stderr


SEEDER = """
import json, sys
from interlock.routing import Plan, RunFolder

plan = Plan.load(sys.argv[1] + "/plan.json")
print("ready", flush=True)
sys.stdin.readline()
for name in sys.argv[2:]:
    RunFolder(sys.argv[1], "one", lock_timeout=60).seed(plan, {name: "a"})
"""


def test_processes_that_seed_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    names = [f"r{n}" for n in range(12)]
    ends = [{**way, "next_step_id": "end"} for way in ROUTES]
    of = {"steps": [{"id": name, "routes": ends} for name in names]}
    (tmp_path / "plan.json").write_text(json.dumps(of), "utf-8")
    seeders = [
        subprocess.Popen(
            [sys.executable, "-c", SEEDER, str(tmp_path), *names[n::3]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(3)
    ]
    for seeder in seeders:
        assert seeder.stdout is not None
        assert "ready\n" == seeder.stdout.readline()
    for seeder in seeders:
        seeder.communicate("go\n")

    run = RunFolder(tmp_path, "one")
    assert [0, 0, 0] == [seeder.returncode for seeder in seeders]
    assert dict.fromkeys(names, "a") == run.selections()
    assert 12 == run.notes()["selections"]
