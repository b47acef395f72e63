"""Files decided by Ray: nothing lost, nothing twice, in order; also when somebody is killed.

`INTERLOCK_RAY_ROWS=4000000` runs the full size.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engines import engine

from interlock import Branch, ErrorClassify
from interlock.integrations.ray import PartsFailed, decide_files

ROWS = int(os.environ.get("INTERLOCK_RAY_ROWS", "160000"))
FILES = 16
EACH = ROWS // FILES
ARMS = [
    {"name": str(n), "when": [{"path": "v", "op": "lessThan", "expected": n}]}
    for n in (100, 350, 700)
]
ROUTE = Branch(ARMS)
START = {
    "num_cpus": 2,
    "include_dashboard": False,
    "log_to_driver": False,
    "logging_level": "ERROR",
    "object_store_memory": 150 * 2**20,
}

pytestmark = [
    pytest.mark.engine,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore"),
]


class Mortal(Branch):
    """A branch whose worker ends itself the first time that it is asked, or that never answers."""

    def decide_many(self, records: Any, **options: Any) -> Any:
        mark = Path(str(self.to_spec()["arms"][-1]["name"]))  # type: ignore[index,call-overload]
        if mark.suffix == ".always" and max(records.column("v").to_pylist()) > 999:
            raise ValueError("broken for good")
        if not mark.suffix:
            try:
                mark.touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().decide_many(records, **options)


def marked(mark: Path) -> Mortal:
    """Let the last arm, which never holds, say how it ends."""
    never = [{"path": "v", "op": "equals", "expected": "never"}]
    return Mortal([*ARMS, {"name": str(mark), "when": never}])


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    loaded = engine("ray")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    loaded.init(**START)
    loaded.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield loaded
    loaded.shutdown()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Write half as row groups, half as lines; each value stands in its order."""
    pa, pq = engine("pyarrow"), engine("pyarrow.parquet")
    folder = tmp_path_factory.mktemp("records")
    paths: list[Path] = []
    for file in range(FILES):
        values = [n * 7919 % 1000 for n in range(file * EACH, (file + 1) * EACH)]
        if file % 2:
            paths.append(folder / f"{file}.jsonl")
            paths[-1].write_text("".join(f'{{"v":{value}}}\n' for value in values))
        else:
            paths.append(folder / f"{file}.parquet")
            pq.write_table(pa.table({"v": values}), paths[-1], row_group_size=EACH // 2)
    return paths


def outcomes(paths: tuple[Path, ...]) -> list[str]:
    pq = engine("pyarrow.parquet")
    found: list[str] = []
    for path in paths:
        if path.suffix == ".parquet":
            found += pq.read_table(path).column("outcome").to_pylist()
        else:
            found += map(_outcome, path.read_bytes().splitlines())
    return found


def _outcome(line: bytes) -> str:
    return "(no match)" if b'"name":null' in line else line.split(b'"')[5].decode()


@pytest.fixture(scope="module")
def expected() -> list[str]:
    bounds = [(100, "100"), (350, "350"), (700, "700"), (1000, "(no match)")]
    cycle = [next(name for bound, name in bounds if n * 7919 % 1000 < bound) for n in range(1000)]
    return [cycle[n % 1000] for n in range(ROWS)]


def descendants(pid: int) -> set[int]:
    """Give what a process has started, and what that has."""
    parents: dict[int, int] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(place.parent.name)] = int(place.read_text().rpartition(")")[2].split()[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


@pytest.mark.usefixtures("ray")
def test_a_killed_worker_loses_nothing(
    files: list[Path], expected: list[str], tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    done = decide_files(marked(mark), files, tmp_path / "out", part_bytes=1 << 20)

    assert mark.exists()
    assert done.rows == ROWS
    assert done.resumed == 0
    assert outcomes(done.paths) == expected
    assert not list((tmp_path / "out").glob(".*"))


@pytest.mark.usefixtures("ray")
def test_errors_are_answered_in_their_place(tmp_path: Path) -> None:
    pa, pq = engine("pyarrow"), engine("pyarrow.parquet")
    rows: list[dict[str, Any]] = [
        {"status": 503, "attempt": 1.0, "body": None},
        {"status": None, "attempt": 1.5, "body": None},
        {"status": 529, "attempt": None, "body": "{"},
        {"status": 404, "attempt": None, "body": '{"error":"no such model"}'},
    ]
    columns, lines = tmp_path / "errors.parquet", tmp_path / "errors.jsonl"
    pq.write_table(pa.Table.from_pylist(rows), columns, row_group_size=2)
    lines.write_text("".join(f"{json.dumps({**row, 'body': None})}\n" for row in rows))
    tool = ErrorClassify()
    done = decide_files(tool, [columns, lines], tmp_path / "out", json_columns=["body"])

    assert done.rows == 8
    found = [row for path in done.paths[:2] for row in pq.read_table(path).to_pylist()]
    expected = tool.classify_many([{"status": 503}, {"status": 404}])
    assert [row["outcome"] for row in found] == [
        expected[0].outcome,
        "(error)",
        "(error)",
        expected[1].outcome,
    ]
    assert [row["error"] and row["error"].partition(":")[0] for row in found] == [
        None,
        "attempt",
        "body",
        None,
    ]
    written = [json.loads(line) for line in done.paths[2].read_bytes().splitlines()]
    assert ["error" in line for line in written] == [False, True, False, False]
    assert written[0] == expected[0].to_dict()


@pytest.mark.usefixtures("ray")
def test_what_fails_twice_is_named_and_the_rest_is_kept(files: list[Path], tmp_path: Path) -> None:
    pa, pq = engine("pyarrow"), engine("pyarrow.parquet")
    broken = tmp_path / "broken.parquet"
    pq.write_table(pa.table({"v": [1, 2, 3, 1000]}), broken, row_group_size=2)
    spec = marked(tmp_path / "mark.always")
    given, out = [files[0], broken, files[1]], tmp_path / "out"

    with pytest.raises(PartsFailed) as caught:
        decide_files(spec, given, out)
    assert list(caught.value.failures) == [3]
    assert "1 of 5 parts failed twice; 4 are finished" in str(caught.value)
    assert f"part 3 ({broken}, row group 1): ValueError: broken for good" in str(caught.value)
    assert len(list(out.glob("part-*"))) == 4


@pytest.mark.usefixtures("ray")
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_a_killed_job_goes_on_where_it_was(
    files: list[Path], expected: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    script = tmp_path / "job.py"
    script.write_text(
        "import ray\nfrom interlock import Branch\n"
        "from interlock.integrations.ray import decide_files\n"
        f"ray.init(address='local', **{START!r})\n"
        f"decide_files(Branch({ARMS!r}), {[*map(str, files)]!r}, {str(out)!r},"
        " part_bytes=1 << 20)\n"
    )
    job = subprocess.Popen([sys.executable, str(script)])
    while len(list(out.glob("part-*"))) < 3:
        assert job.poll() is None
        time.sleep(0.002)
    all_of_it = {job.pid, *descendants(job.pid)}
    for pid in all_of_it:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    job.wait()
    before = {path: path.stat().st_ino for path in out.glob("part-*")}
    done = decide_files(ROUTE, files, out, part_bytes=1 << 20)

    assert done.resumed == len(before) >= 3
    assert {path: path.stat().st_ino for path in before} == before
    assert done.rows == ROWS
    assert outcomes(done.paths) == expected
    again = decide_files(ROUTE, files, out, part_bytes=1 << 20)
    assert again.resumed == len(done.paths)
    assert again.paths == done.paths
