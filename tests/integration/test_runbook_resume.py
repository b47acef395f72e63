"""`interlock runbook run`: a run that goes on from its log, and inputs that nobody else sees."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest

from interlock.cli._runbook_log import LogFile, unfinished
from interlock.errors import StaleState
from interlock.supervise import Supervisor, derive_policy
from interlock.testing import ManualClock

from .command import Ran, interlock

EXAMPLES = Path(__file__).parents[2] / "examples" / "runbooks"
SECRET = "an-example-of-a-pepper"  # noqa: S105 (of nothing)
EXPORT = """\
runbook: "1"
id: export
inputs: { table: {}, pepper: { secret: true }, rows: { type: integer, required: false } }
tools: [{ id: "cli:psql", effect: readonly }]
steps:
  - { id: query, tools: ["cli:psql"], next: check, on_failure: check }
  - { id: check, next: done, on_failure: query }
terminals: [{ id: done }]
budgets: { edges: { check->query: 2 } }
"""
WORK = (
    f"call cli:psql -- note=with-{SECRET}".replace("-- ", ""),
    "observe completed",
    "done",
    "fail again",
    "call cli:psql",
    "observe failed",
    "fail no-rows",
    "done",
)


@pytest.fixture
def runbook(tmp_path: Path) -> Path:
    path = tmp_path / "export.yaml"
    path.write_text(EXPORT)
    return path


def drive(runbook: Path, *lines: str, more: tuple[str, ...] = (), given: Any = None) -> Ran:
    given = {"table": "t", "pepper": SECRET} if given is None else given
    options = ("--log", "run.jsonl", "--inputs-file", "-", "--rehearse", *more)
    stdin = "\n".join((json.dumps(given), *lines)) + "\n"
    folder = runbook.parent
    return interlock("runbook", "run", runbook, *options, stdin=stdin.encode(), cwd=folder)


def resume(runbook: Path, *lines: str, more: tuple[str, ...] = (), given: Any = None) -> Ran:
    given = {"pepper": SECRET} if given is None else given
    return drive(runbook, *lines, more=("--resume", *more), given=given)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give the log of a run that was made at once."""
    path = tmp_path_factory.mktemp("whole") / "export.yaml"
    path.write_text(EXPORT)
    assert drive(path, *WORK).code == 0
    return (path.parent / "run.jsonl").read_text("utf-8")


# Going on


@pytest.mark.parametrize("at", [(0,), (1, 2), (7, 7)], ids=str)
def test_a_run_in_parts_leaves_the_log_of_the_run_at_once(
    runbook: Path, at: tuple[int, ...], whole: str
) -> None:
    log = runbook.parent / "run.jsonl"
    assert drive(runbook, *WORK[: at[0]], "quit").code == 3
    for begin, end in pairwise(at):
        assert resume(runbook, *WORK[begin:end], "quit").code == 3
    ran = resume(runbook, *WORK[at[-1] :])
    assert (ran.code, ran.err, ran.lines[-1]) == (0, "", "rehearsal-1: done")
    assert log.read_text("utf-8") == whole
    assert SECRET not in whole


def test_a_recorded_run_goes_on_with_its_people_and_its_clock(tmp_path: Path) -> None:
    script, log = EXAMPLES / "runs" / "database-failover.jsonl", tmp_path / "run.jsonl"
    lines = script.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:6]))
    options = ("--log", str(log), "--resume", "--rehearse")
    ran = interlock("runbook", "run", EXAMPLES / "database-failover.yaml", *options, stdin=b"quit")
    assert (ran.code, ran.err) == (3, "")
    assert log.read_bytes().startswith(b"".join(lines[:6]))
    assert log.read_bytes().count(b'{"state":') == 1


CUT = [b'{"seq":9', b'{"state":{"run_id"', b"\x00\xff", b"x" * 100_000]


@pytest.mark.parametrize("cut", CUT, ids=range(len(CUT)))
def test_a_line_that_was_being_written_is_passed_over(
    runbook: Path, cut: bytes, whole: str
) -> None:
    log = runbook.parent / "run.jsonl"
    log.write_bytes(b"".join(whole.encode().splitlines(keepends=True)[:4]) + cut)
    assert resume(runbook, *WORK[3:]).code == 0
    assert log.read_text("utf-8") == whole


def test_an_open_call_is_shown_and_holds_its_step(runbook: Path) -> None:
    drive(runbook, "call cli:psql", "quit")
    ran = resume(runbook, "done", "observe in_doubt", "done", "observe completed", "done", "done")
    assert any(line.startswith("  open   call-1") for line in ran.lines)
    assert sum("call/open" in line for line in ran.lines) == 2
    assert ran.code == 0


def test_a_run_that_is_over_stays_as_it_is(runbook: Path, whole: str) -> None:
    log = runbook.parent / "run.jsonl"
    log.write_text(whole)
    ran = resume(runbook, "call cli:psql")
    assert (ran.code, ran.lines) == (0, ["rehearsal-1: done"])
    assert log.read_text("utf-8") == whole


UNSOUND = [
    ('"code":"again"', '"code":"other"', "entry 4"),
    ('"kind":"authorized"', '"kind":"blocked"', "entry 1"),
    ('"status":"ended"', '"status":"running"', "last line"),
    ('{"seq":2', '{"seq":3', "entry 3"),
    ('"operation":"fail"', "nonsense", "run.jsonl:5"),
]


@pytest.mark.parametrize(("was", "now", "said"), UNSOUND)
def test_a_log_that_does_not_come_to_what_it_says_does_not_go_on(
    runbook: Path, was: str, now: str, said: str, whole: str
) -> None:
    log, text = runbook.parent / "run.jsonl", whole.replace(was, now)
    assert text != whole
    log.write_text(text, "utf-8")
    ran = resume(runbook, "done")
    assert (ran.code, ran.out) == (1, b"")
    assert said in ran.err
    assert log.read_text("utf-8") == text


def test_another_runbook_does_not_go_on_with_it(runbook: Path, whole: str) -> None:
    (runbook.parent / "run.jsonl").write_text(whole)
    runbook.write_text(EXPORT.replace("check->query: 2", "check->query: 3"))
    ran = resume(runbook, "done")
    assert (ran.code, ran.out) == (1, b"")
    assert "does not make the run again" in ran.err


@pytest.mark.parametrize("given", [{}, {"pepper": "hunter2"}, {"pepper": SECRET, "table": "t"}])
def test_without_its_secrets_it_does_not_go_on(
    runbook: Path, given: dict[str, str], whole: str
) -> None:
    log = runbook.parent / "run.jsonl"
    log.write_text(whole)
    ran = resume(runbook, "done", given=given)
    assert (ran.code, ran.out, log.read_text()) == (1, b"", whole)
    assert ("secrets.table" if "table" in given else "secrets.pepper") in ran.err
    assert "hunter2" not in ran.err


def test_what_the_log_says_is_not_said_again(runbook: Path) -> None:
    begin = {"--profile": "R1", "--as": "ann", "--run-id": "x", "--seconds": "9"}
    ran = resume(runbook, "done", more=tuple(word for pair in begin.items() for word in pair))
    assert (ran.code, ran.out) == (2, b"")
    assert ", ".join(begin) in ran.err


def test_resume_needs_a_log(runbook: Path) -> None:
    assert "--log" in interlock("runbook", "run", runbook, "--resume").err
    ran = resume(runbook)
    assert (ran.code, ran.out) == (1, b"")
    assert "run.jsonl" in ran.err


def test_two_that_go_on_with_one_log_do_not_both(runbook: Path, whole: str) -> None:
    log, policy = runbook.parent / "run.jsonl", derive_policy(runbook)
    log.write_text("".join(whole.splitlines(keepends=True)[:3]))
    late = LogFile(str(log), unfinished(str(log), policy))
    assert resume(runbook, "done", "quit").code == 3
    kept = log.read_bytes()
    with pytest.raises(StaleState, match="--resume"):
        late.close(unfinished(str(log), policy).state)
    assert log.read_bytes() == kept


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
def test_a_run_goes_on_after_a_disk_that_was_full(runbook: Path, whole: str) -> None:
    import resource

    log, policy = runbook.parent / "run.jsonl", derive_policy(runbook)
    lines = whole.splitlines(keepends=True)
    log.write_text("".join(lines[:3]))

    async def work(store: LogFile, size: int) -> None:
        sup = Supervisor(policy, store=store, clock=ManualClock(0))
        await sup.load("rehearsal-1", secrets={"pepper": SECRET})
        _, most = limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
        try:
            with pytest.raises(OSError, match=r"whole|large"):
                await sup.advance("check")
            with pytest.raises((OSError, StaleState)):
                await sup.advance("check")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            store.close(None)
        assert sup.state.seq == 2

    for more in (0, 1, 99):
        store = LogFile(str(log), unfinished(str(log), policy))
        anyio.run(work, store, len("".join(lines[:3])) + more)
        kept = log.read_text("utf-8")
        assert kept.startswith("".join(lines[:3]))
        assert len(kept) == len("".join(lines[:3])) + more
    assert resume(runbook, *WORK[2:]).code == 0
    assert log.read_text("utf-8") == whole


def test_a_refused_start_leaves_no_log(runbook: Path) -> None:
    assert drive(runbook, given={}).code == 1
    assert not (runbook.parent / "run.jsonl").exists()
    assert drive(runbook, "quit").code == 3


# Inputs


FILES = [
    ("in.json", '{"table": "t", "pepper": "%s", "rows": 3}'),
    ("in.yaml", "table: t\npepper: %s\nrows: 3\n"),
]


@pytest.mark.parametrize(("name", "text"), FILES)
def test_inputs_of_a_file(runbook: Path, name: str, text: str) -> None:
    path = runbook.parent / name
    path.write_text(text % SECRET)
    log = runbook.parent / "log.jsonl"
    ran = interlock("runbook", "run", runbook, "--inputs-file", path, "--log", log, stdin=b"quit\n")
    assert (ran.code, ran.err) == (3, "")
    (first, _) = (json.loads(line) for line in log.read_text().splitlines())
    assert first["given"]["inputs"].items() >= {"table": "t", "rows": 3}.items()
    assert SECRET not in log.read_text()


def test_inputs_of_a_file_and_beside_it(runbook: Path) -> None:
    given = {"pepper": SECRET}
    assert drive(runbook, "quit", more=("--inputs", "table=t"), given=given).code == 3
    twice = drive(runbook, "quit", more=("--inputs", "pepper=x"), given=given)
    assert (twice.code, twice.out) == (2, b"")
    assert "pepper is given twice" in twice.err


NO_INPUTS = [
    b"",
    b"\n",
    b"[]\n",
    b'"text"\n',
    b"nonsense\n",
    b'{"pepper": "%s"\n',
    b'{"pepper": "%s", "pepper": "x"}\n',
    b'{"pepper": NaN}\n',
    b"\xff\n",
    b"\x00\n",
]


@pytest.mark.parametrize("raw", NO_INPUTS, ids=range(len(NO_INPUTS)))
def test_what_holds_no_inputs_is_refused_and_no_secret_shown(runbook: Path, raw: bytes) -> None:
    raw = raw.replace(b"%s", SECRET.encode())
    (runbook.parent / "in.json").write_bytes(raw)
    for source in ("-", "in.json")[: 1 + raw.startswith(b"{")]:
        options = ("--inputs-file", source, "--log", "run.jsonl")
        ran = interlock("runbook", "run", runbook, *options, stdin=raw, cwd=runbook.parent)
        assert (ran.code, ran.out) == (2, b"")
        assert SECRET not in ran.err
        assert not (runbook.parent / "run.jsonl").exists()


def test_a_file_of_inputs_that_is_not_there(runbook: Path) -> None:
    ran = interlock("runbook", "run", runbook, "--inputs-file", "none.json")
    assert ran.code != 0
    assert "none.json" in ran.err
