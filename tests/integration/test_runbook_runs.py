"""`interlock runbook`: run, report, simulate, explore; and the recorded runs of the examples."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from interlock.supervise import LogEntry, derive_policy, verify_run

from .command import Ran, interlock

EXAMPLES = Path(__file__).parents[2] / "examples" / "runbooks"
RUNS = sorted((EXAMPLES / "runs").glob("*.txt"))
FLAKY = EXAMPLES / "flaky-check.yaml"
FLAKY_OPTIONS = ("--inputs", "repository=acme/shop", "--inputs", "run=1", "--rehearse")


def drive(*lines: str, options: tuple[str, ...] = FLAKY_OPTIONS) -> Ran:
    return interlock("runbook", "run", FLAKY, *options, stdin="\n".join(lines).encode() + b"\n")


def entries_of(log: Path) -> list[LogEntry]:
    lines = log.read_text("utf-8").splitlines()
    return [LogEntry.from_json(line) for line in lines if not line.startswith('{"state":')]


def test_every_example_has_a_run() -> None:
    assert [one.stem for one in RUNS] == [one.stem for one in sorted(EXAMPLES.glob("*.yaml"))]


@pytest.mark.parametrize("script", RUNS, ids=lambda one: one.stem)
def test_a_recorded_run_is_made_again(script: Path, tmp_path: Path) -> None:
    first = script.read_text("utf-8").splitlines()[0].removeprefix("# interlock ")
    log, runbook = tmp_path / "run.jsonl", EXAMPLES / f"{script.stem}.yaml"
    arguments = (*shlex.split(first), "--log", str(log))
    ran = interlock(*arguments, stdin=script.read_bytes(), cwd=EXAMPLES)
    assert (ran.code, ran.err) == (0, "")
    assert log.read_text("utf-8") == script.with_suffix(".jsonl").read_text("utf-8")
    assert verify_run(derive_policy(runbook), entries_of(log)).ok

    told = interlock("runbook", "report", log, "--policy", runbook)
    assert (told.code, told.err) == (0, "")
    assert told.out.decode() == script.with_suffix(".md").read_text("utf-8")
    same = interlock("runbook", "simulate", runbook, log)
    assert (same.code, len(same.lines)) == (0, 1)


def test_no_secret_is_in_a_log_or_report() -> None:
    script = EXAMPLES / "runs" / "data-export.txt"
    assert "an-example-of-a-pepper" in script.with_suffix(".inputs.yaml").read_text("utf-8")
    for suffix in (".jsonl", ".md"):
        assert "an-example-of-a-pepper" not in script.with_suffix(suffix).read_text("utf-8")
    assert "(secret " in script.with_suffix(".jsonl").read_text("utf-8")


@pytest.mark.parametrize(
    ("lines", "code", "last"),
    [
        (("fail no-runner",), 0, "rehearsal-1: handed-over"),
        (("quit",), 3, "rehearsal-1: stands at s1"),
        ((), 3, "rehearsal-1: stands at s1"),
        (("stop operator/called-off",), 3, "rehearsal-1: stopped"),
        (("call cli:rm path=/",), 3, "rehearsal-1: aborted"),
        (("finish",), 3, "rehearsal-1: aborted"),
    ],
)
def test_how_a_run_ends_is_the_exit_code(lines: tuple[str, ...], code: int, last: str) -> None:
    ran = drive(*lines)
    assert (ran.code, ran.lines[-1]) == (code, last)


def test_a_refused_start_ends_with_one_and_says_everything() -> None:
    ran = drive(options=("--inputs", "repository=shop", "--profile", "R0"))
    assert ran.code == 1
    assert [line.rsplit("[", 1)[1].rstrip("]") for line in ran.lines] == [
        "runtime/profile-too-low",
        "runtime/autonomous-unsupervised",
        "input/check",
        "input/missing",
    ]


MISUSED = [
    "nonsense",
    "call",
    'call "mcp:ci/get_run',
    "call mcp:ci/get_run what",
    "call mcp:ci/get_run {not-json",
    "observe completed",
    "observe x perhaps",
    "answer perhaps",
    "answer yes",
    "done by=ann to=nowhere",
    "fail",
    "wait long",
    "wait -1",
    "evidence",
    "evidence inputs=1",
    "\x00\x1b[2J",
    "\ufeff",
    "evidence x=NaN",
]


@pytest.mark.parametrize("line", MISUSED)
def test_a_line_that_is_no_command_changes_nothing(line: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    ran = drive(line, "quit", options=(*FLAKY_OPTIONS, "--log", str(log)))
    assert (ran.code, ran.err) == (3, "")
    assert "\x1b" not in ran.out.decode()
    assert [one.operation for one in entries_of(log)] in (["start_run"], ["start_run", "verify"])


def test_a_log_is_never_written_over(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("mine")
    ran = drive("quit", options=(*FLAKY_OPTIONS, "--log", str(log)))
    assert (ran.code, log.read_text()) == (2, "mine")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    assert drive("fail x", options=(*FLAKY_OPTIONS, "--log", str(path))).code == 0
    return path


def test_the_forms_of_a_report(log: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert interlock("runbook", "report", log, "--html", page).code == 0
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert interlock("runbook", "report", log, "--mermaid").lines[0] == "stateDiagram-v2"
    (told,) = interlock("runbook", "report", log, "--json", "--policy", FLAKY).rows
    assert (told["outcome"], told["chain"]["ok"]) == ("handed-over", True)


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ('"code":"x"', '"code":"y"'),
        ('"kind":"advanced"', '"kind":"verified"'),
        ('"outcome":"handed-over"', '"outcome":"recorded-as-flaky"'),
    ],
)
def test_a_log_that_was_changed_is_found_out(log: Path, was: str, now: str) -> None:
    text = log.read_text("utf-8")
    assert was in text
    log.write_text(text.replace(was, now), "utf-8")
    ran = interlock("runbook", "report", log, "--policy", FLAKY)
    assert ran.code == 1
    assert "is not sound" in ran.out.decode()


def test_without_the_runbook_it_is_seen_where_the_last_line_says_something_else(log: Path) -> None:
    assert interlock("runbook", "report", log).code == 0
    text = log.read_text("utf-8")
    log.write_text(text.replace('"outcome":"handed-over"', '"outcome":"change-is-broken"'), "utf-8")
    ran = interlock("runbook", "report", log)
    assert (ran.code, "is not sound" in ran.out.decode()) == (1, True)


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ('"operation":"fail"', '"operation":"sudo"'),
        ('"code":"x"', '"bogus":"x"'),
        ('"agent_identity":"operator"', '"agent_identity":3'),
        ('"profile":"R1"', '"profile":"R9"'),
    ],
)
def test_a_log_that_cannot_be_made_again_is_one_line_of_error(
    log: Path, was: str, now: str
) -> None:
    text = log.read_text("utf-8")
    assert was in text
    log.write_text(text.replace(was, now), "utf-8")
    for command in (("report", log, "--policy", FLAKY), ("simulate", FLAKY, log)):
        ran = interlock("runbook", *command)
        assert ran.code == 1
        assert ran.err.startswith(("interlock: ", "Error: "))


@pytest.mark.parametrize("text", ["", "\n", "nonsense\n", "[]\n", "{}\n", '{"state":1}\n'])
def test_what_is_no_log_is_refused(log: Path, text: str) -> None:
    log.write_text(text)
    ran = interlock("runbook", "report", log)
    assert ran.code != 0
    assert "log.jsonl" in ran.err


def test_another_runbook_makes_something_else_of_it(tmp_path: Path) -> None:
    changed = tmp_path / "changed.yaml"
    text = FLAKY.read_text("utf-8")
    changed.write_text(text.replace("edges: { s2->s1: 3 }", "edges: { s2->s1: 1 }").replace(
        'tools: ["mcp:tracker/*"]\n    verify', "tools: []\n    verify"), "utf-8")  # fmt: skip
    ran = interlock("runbook", "simulate", changed, EXAMPLES / "runs" / "flaky-check.jsonl")
    assert ran.code == 1
    assert any("was allow, now block" in line for line in ran.lines)
    refused = interlock("runbook", "simulate", EXAMPLES / "disk-pressure.yaml",
                        EXAMPLES / "runs" / "flaky-check.jsonl")  # fmt: skip
    assert refused.code == 1
    assert "would not start" in refused.lines[0]


def test_explore_shows_a_way_to_every_outcome() -> None:
    ran = interlock("runbook", "explore", FLAKY)
    outcomes = {line.split(": ")[0] for line in ran.lines[:-1]}
    assert ran.code == 0
    assert outcomes == {
        "recorded-as-flaky", "change-is-broken", "handed-over", "budget-exhausted"
    }  # fmt: skip
    (told,) = interlock("runbook", "explore", FLAKY, "--json").rows
    assert json.dumps(told["max_moves"]) in ran.lines[-1]
