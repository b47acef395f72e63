"""Files that are not what they should be, and others who do the same at the same time."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interlock.errors import ConfigError, RunBusy, StoreError
from interlock.routing import RouteError, RunFolder, sources_for, write_choice
from interlock.routing._files import DiskFiles, Files
from interlock.routing.choice import RECORD_LIMIT

from .plans import SELECTION, chosen, data, plan, tree, write

FULL = {
    "route_source_file": "shared.json",
    "context_dependencies": [SELECTION],
    "default_route_id": "profile",
}
PLACES = {
    "preseed": "runs/one/execution/pick/route_selection.json",
    "route_source_file": "shared.json",
    "context_dependency": "runs/one/execution/probe/route_selection.json",
}


def a_folder(place: Path) -> None:
    place.mkdir()


def a_dangling_link(place: Path) -> None:
    place.symlink_to(place.parent / "nowhere.json")


def a_link_to_itself(place: Path) -> None:
    place.symlink_to(place)


def a_link_to_a_folder(place: Path) -> None:
    (place.parent / "real").mkdir()
    place.symlink_to("real")


def a_pipe(place: Path) -> None:
    os.mkfifo(place)


def a_device(place: Path) -> None:
    place.symlink_to("/dev/zero")


def too_large(place: Path) -> None:
    place.write_bytes(chosen("search") + b" " * 70_000)


BAD = (a_folder, a_dangling_link, a_link_to_itself, a_link_to_a_folder, a_pipe, a_device, too_large)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes in folders")
@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("make", BAD)
def test_what_is_there_and_cannot_be_read_is_not_absent(
    make: Callable[[Path], None], kind: str, run: RunFolder, tmp_path: Path
) -> None:
    place = tmp_path / PLACES[kind]
    place.parent.mkdir(parents=True, exist_ok=True)
    make(place)
    with pytest.raises(RouteError) as caught:
        run.route(plan(**FULL), "pick")

    leaves = make is a_device and kind != "route_source_file"
    assert ("route/unsafe-path" if leaves else "route/unreadable") == caught.value.code
    assert (kind, "pick") == (caught.value.source_kind, caught.value.router_id)
    assert (caught.value.source_path or "") in PLACES[kind]
    assert {} == run.ledger.visits()


@pytest.mark.parametrize("kind", PLACES)
def test_a_file_in_place_of_a_folder_on_the_way(kind: str, run: RunFolder, tmp_path: Path) -> None:
    place = tmp_path / PLACES[kind]
    of = plan(**{**FULL, "route_source_file": "shared/choice.json"})
    folder = tmp_path / "shared" if kind == "route_source_file" else place.parent
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_bytes(b"")
    with pytest.raises(RouteError) as caught:
        run.route(of, "pick")

    assert ("route/unreadable", "pick") == (caught.value.code, caught.value.router_id)
    # In the router's own folder it is met before any source is.
    assert caught.value.source_kind == (None if kind == "preseed" else kind)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.EMFILE, errno.ENOTDIR])
@pytest.mark.parametrize("kind", PLACES)
def test_only_no_such_file_is_absent(
    kind: str, number: int, run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / PLACES[kind]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(chosen("search"))
    real = os.open

    def failing(path: str, *args: Any, **options: Any) -> int:
        if str(path).endswith(place.name):
            raise OSError(number, os.strerror(number))
        return real(path, *args, **options)

    monkeypatch.setattr(os, "open", failing)
    of = plan(**FULL)
    with pytest.raises(RouteError, match=os.strerror(number)) as caught:
        sources_for(of, of.routers[0], run)

    assert ("route/unreadable", kind) == (caught.value.code, caught.value.source_kind)


def test_a_link_that_leaves_the_run_is_refused(run: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.json").write_bytes(chosen("search"))
    place = write(run, "probe", b"")
    place.unlink()
    place.symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(RouteError) as caught:
        run.route(plan(context_dependencies=[SELECTION]), "pick")

    assert "route/unsafe-path" == caught.value.code
    assert "leaves the folder of the run" in caught.value.message


def test_a_folder_that_is_a_link_out_of_the_run_is_refused(run: RunFolder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / SELECTION).write_bytes(chosen("search"))
    for step in ("probe", "pick"):
        place = Path(run.step_path(step))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(outside)
    with pytest.raises(RouteError) as caught:
        run.route(plan(context_dependencies=[SELECTION]), "pick")
    with pytest.raises(StoreError, match="a link stands where a folder of the run must"):
        write_choice(run, "probe", "search")

    assert "route/unsafe-path" == caught.value.code
    assert {SELECTION: chosen("search")} == tree(outside)


def test_a_link_within_the_run_is_followed(run: RunFolder) -> None:
    write(run, "other", chosen("search"))
    place = write(run, "probe", b"")
    place.unlink()
    place.symlink_to(f"../other/{SELECTION}")

    assert "search" == run.route(plan(context_dependencies=[SELECTION]), "pick").route_id


def test_a_link_in_place_of_the_evidence_is_not_written_through(
    run: RunFolder, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    write(run, "pick", chosen("search"))
    log = Path(run.step_path("pick"), "route_evidence.jsonl")
    log.symlink_to(victim)
    with pytest.raises((RouteError, StoreError)):
        run.route(plan(), "pick")
    log.unlink()
    Path(run.step_path("pick"), "route_evidence.json").symlink_to(victim)
    with pytest.raises((RouteError, StoreError)):
        run.route(plan(), "pick")

    assert b"precious" == victim.read_bytes()


@pytest.mark.parametrize("bad", ["..", "a/b", "", "con", "x" * 101, "a\x00", ".", "/x", None, 1])
def test_ids_that_leave_their_folder(bad: str, run: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(RouteError, match="run_id"):
        RunFolder(tmp_path, bad)
    with pytest.raises(RouteError) as read:
        run.step_path(bad)
    with pytest.raises(RouteError) as written:
        write_choice(run, bad, "search")
    assert ["route/unsafe-path"] * 2 == [read.value.code, written.value.code]
    if bad is not None:
        with pytest.raises(RouteError):
            write_choice(run, "probe", bad)
    assert {} == tree(tmp_path)


@pytest.mark.parametrize("timeout", [-1, 0, float("nan"), "1"])
def test_a_timeout_is_a_duration(timeout: object, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="lock_timeout"):
        RunFolder(tmp_path, "one", lock_timeout=timeout)  # type: ignore[arg-type]


class Late(DiskFiles):
    """Files of which one appears right after it was looked for."""

    def __init__(self, run: Callable[[], RunFolder]) -> None:
        self._run = run

    def read(self, root: str, parts: tuple[str, ...], limit: int = RECORD_LIMIT) -> bytes | None:
        found = super().read(root, parts, limit)
        if parts == ("execution", "pick", SELECTION) and found is None:
            write(self._run(), "pick", chosen("profile"))
        return found


def test_a_file_that_appears_while_it_is_looked_for(tmp_path: Path) -> None:
    run: RunFolder = RunFolder(tmp_path, "one", files=Late(lambda: run))
    write(run, "probe", chosen("search"))
    of = plan(context_dependencies=[SELECTION])
    found = run.route(of, "pick", visit=1)

    # One look decided, and its bytes are told; the file is left for the next visit.
    assert ("search", "context_dependency") == (found.route_id, found.source_kind)
    assert chosen("profile") == Path(run.step_path("pick"), SELECTION).read_bytes()
    assert ("profile", "preseed") == (
        (later := run.route(of, "pick")).route_id,
        later.source_kind,
    )
    assert found.digest != later.digest


HOLDER = """
import sys, time
from interlock.routing import RunFolder
with RunFolder(sys.argv[1], "one").locked():
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def holder(root: Path, seconds: float) -> subprocess.Popen[str]:
    """Have another process hold the lock of a run."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(root), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert "held\n" == process.stdout.readline()
    return process


def test_a_run_that_another_process_has_is_busy(tmp_path: Path) -> None:
    run = RunFolder(tmp_path, "one", lock_timeout=0.2)
    write(run, "pick", chosen("search"))
    with holder(tmp_path, 60) as process:
        with pytest.raises(RunBusy, match=r"still after 0\.2 s"):
            run.route(plan(), "pick")
        assert {} == run.ledger.visits()
        # Another run of the same workspace is nobody's.
        other = RunFolder(tmp_path, "two", lock_timeout=0.2)
        write(other, "pick", chosen("search"))
        assert "search" == other.route(plan(), "pick").route_id
        process.kill()
        process.wait()
        # The lock of one who was killed is free.
        assert "search" == run.route(plan(), "pick").route_id


def test_the_second_waits_for_the_first(tmp_path: Path) -> None:
    run = RunFolder(tmp_path, "one", lock_timeout=30)
    write(run, "pick", chosen("search"))
    with holder(tmp_path, 0.5) as process:
        assert "search" == run.route(plan(), "pick").route_id
        process.wait()


RACER = """
import sys, time
from interlock.routing import Plan, RunFolder, RouteError
plan = Plan.load(sys.argv[2])
run = RunFolder(sys.argv[1], "one", lock_timeout=60)
for _ in range(5):
    try:
        print(run.route(plan, "pick").visit, flush=True)
    except RouteError as error:
        print(error.code, flush=True)
"""


def test_two_processes_that_race_count_every_visit_once(tmp_path: Path) -> None:
    plan_file = tmp_path / "plan.json"
    plan_file.write_text(json.dumps(data(max_visits=8)), "utf-8")
    write(RunFolder(tmp_path, "one"), "pick", chosen("search"))
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path), str(plan_file)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [line for racer in racers for line in racer.communicate()[0].split()]

    assert [str(visit) for visit in range(1, 9)] == sorted(one for one in said if one.isdigit())
    assert ["route/loop"] * 2 == [one for one in said if not one.isdigit()]
    run = RunFolder(tmp_path, "one")
    assert {"pick": {"search": 8}} == run.ledger.visits()
    assert list(range(1, 9)) == [entry.visit for entry in run.evidence()]


def test_threads_that_race_count_every_visit_once(run: RunFolder) -> None:
    of = plan(max_visits=20)
    write(run, "pick", chosen("search"))
    visits: list[int] = []
    threads = [
        threading.Thread(target=lambda: visits.append(run.route(of, "pick").visit))
        for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert list(range(1, 21)) == sorted(visits)


def test_without_a_lock_nobody_is_asked(tmp_path: Path) -> None:
    run = RunFolder(tmp_path, "one", lock=False)
    write(run, "pick", chosen("search"))
    with holder(tmp_path, 60) as process:
        assert "search" == run.route(plan(), "pick").route_id
        process.kill()


def test_a_half_written_file_is_never_the_default(run: RunFolder) -> None:
    whole = chosen("search")
    of = plan(context_dependencies=[SELECTION], default_route_id="profile")
    for length in range(len(whole)):
        write(run, "probe", whole[:length])
        with pytest.raises(RouteError) as caught:
            run.route(of, "pick")
        assert "route/not-json" == caught.value.code
    write(run, "probe", whole)
    assert "search" == run.route(of, "pick").route_id


def test_a_reader_never_sees_half_of_what_is_written(run: RunFolder) -> None:
    of = plan(context_dependencies=[SELECTION])
    write_choice(run, "probe", "search", reason="a" * 20_000)
    is_done = False
    seen: list[int] = []

    def read() -> None:
        while not is_done:
            content = run.files.read(run.path, ("execution", "probe", SELECTION))
            seen.append(-1 if content is None else len(content))

    reader = threading.Thread(target=read)
    reader.start()
    lengths = set()
    for number in range(50):
        write_choice(run, "probe", "search", reason="a" * (20_000 + number), router=of.routers[0])
        place = Path(run.step_path("probe"), SELECTION)
        lengths.add(place.stat().st_size)
    time.sleep(0.01)
    is_done = True
    reader.join()

    assert set(seen) <= {*lengths, min(lengths)}
    assert [SELECTION] == [one.name for one in Path(run.step_path("probe")).iterdir()]


def test_a_thousand_runs_share_one_file(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    shared = tmp_path / "shared.json"
    shared.write_bytes(chosen("search"))
    of = plan(route_source_file="shared.json")

    def work(number: int) -> tuple[str, int]:
        found = RunFolder(tmp_path, f"run{number}").route(of, "pick")
        return found.route_id, found.visit

    with ThreadPoolExecutor(32) as pool:
        found = set(pool.map(work, range(1000)))

    assert {("search", 1)} == found
    assert chosen("search") == shared.read_bytes()
    evidence = [RunFolder(tmp_path, f"run{number}").evidence() for number in range(1000)]
    assert {(1, "shared.json")} == {(len(one), one[0].source_path) for one in evidence}


def test_the_disk_is_what_the_protocol_says() -> None:
    files: Files = DiskFiles()

    assert files.names("/nowhere", ("x",)) == []
    assert files.read("/nowhere", ("x",)) is None
    files.remove("/nowhere", ("x",))


def test_what_stands_where_nothing_is_moved_to_is_left(tmp_path: Path) -> None:
    files = DiskFiles()
    files.write(str(tmp_path), ("archive", "a.1", "x"), b"kept")
    files.move(str(tmp_path), ("execution", "a"), ("archive", "a.1"))
    assert {"archive/a.1/x": b"kept"} == tree(tmp_path)

    files.write(str(tmp_path), ("execution", "a", "y"), b"new")
    files.move(str(tmp_path), ("execution", "a"), ("archive", "a.1"))
    assert {"archive/a.1/y": b"new"} == tree(tmp_path)


def test_what_cannot_be_written_says_why_and_leaves_the_old(tmp_path: Path) -> None:
    files = DiskFiles()
    files.write(str(tmp_path), ("a", "b"), b"old")
    (tmp_path / "a" / "c").mkdir()
    with pytest.raises(StoreError, match="a/c: cannot be written"):
        files.write(str(tmp_path), ("a", "c"), b"new")
    with pytest.raises(StoreError, match="a/c: cannot be written"):
        files.append(str(tmp_path), ("a", "c"), b"new")
    with pytest.raises(StoreError, match="a/b/d: cannot be written"):
        files.write(str(tmp_path), ("a", "b", "d"), b"new")

    assert {"a/b": b"old"} == tree(tmp_path)
