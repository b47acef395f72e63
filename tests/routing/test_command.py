"""`interlock routes`, as it is called from a shell."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from integration.command import interlock

from interlock.cli import _run
from interlock.routing import Plan, RunFolder

from .plans import SELECTION, chosen, data, tree, write
from .test_checks import FIVE, folder

Called = Callable[..., int]
EXAMPLES = Path(__file__).parents[2] / "examples" / "routing"


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(data(context_dependencies=[SELECTION])), "utf-8")
    return path


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Called:
    """Give the command in this process: many calls, and no time for as many processes."""

    def run(*arguments: str) -> int:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["interlock", *arguments])
        return _run()

    return run


def test_check_prints_a_line_for_each_fault(tmp_path: Path) -> None:
    home = folder(tmp_path / "plans", faulty=True)
    ran = interlock("routes", "check", home)

    assert (1, 5) == (ran.code, len(ran.lines))
    for name, line in zip(sorted(FIVE), ran.lines, strict=True):
        assert line.startswith(f"{home / name}.json: pick: ")
    # One by one it is the same.
    assert ran.out == interlock("routes", "check", *sorted(home.iterdir())).out


def test_check_of_clean_plans(tmp_path: Path) -> None:
    ran = interlock("routes", "check", folder(tmp_path / "plans", faulty=False))

    assert (0, b"10 plans: no errors\n", "") == ran


def test_check_tells_warnings_when_it_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(data(routing_question="", default_route_id="search")), "utf-8")
    told = interlock("routes", "check", "--warnings", path)
    silent = interlock("routes", "check", path)
    as_data = interlock("routes", "check", "--warnings", "--json", path)

    assert (0, 0, 0) == (told.code, silent.code, as_data.code)
    assert ["warning", "no errors"] == [
        "warning" if "warning: " in line else line.partition(": ")[2] for line in told.lines
    ]
    assert ("1 plan: no errors", "1 warning; --warnings shows it\n") == (
        silent.out.decode().strip(),
        silent.err,
    )
    assert [("warning", "route/no-question", "pick", str(path))] == [
        (row["level"], row["code"], row["step_id"], row["file"]) for row in as_data.rows
    ]


def test_check_leaves_the_files_of_runs_out(tmp_path: Path, plan_file: Path) -> None:
    write(RunFolder(tmp_path, "one"), "pick", chosen("search"))

    assert (0, b"1 plan: no errors\n", "") == interlock("routes", "check", plan_file.parent)


def test_resolve_says_where_it_looked_and_writes_nothing(tmp_path: Path, plan_file: Path) -> None:
    run = RunFolder(tmp_path, "one")
    write(run, "probe", chosen("find"))
    before = tree(tmp_path)
    ran = interlock("routes", "resolve", plan_file, "pick", "--run", run.path)
    as_data = interlock("routes", "resolve", plan_file, "pick", "--run", run.path, "--json")

    assert (0, "") == (ran.code, ran.err)
    assert [
        ["caller", "absent", "route_selections"],
        ["preseed", "absent", f"execution/pick/{SELECTION}"],
        ["context_dependency", "found", f"execution/probe/{SELECTION}"],
        ["pick:", "search", "->", "find", "(by", "context_dependency)"],
    ] == [line.split() for line in ran.lines]
    (row,) = as_data.rows
    assert "search" == row["selection"]["route_id"]
    assert [False, False, True] == [one["found"] for one in row["sources"]]
    assert before == tree(tmp_path)


def test_resolve_refuses_a_loop_as_the_router_does(tmp_path: Path, plan_file: Path) -> None:
    run = RunFolder(tmp_path, "one")
    write(run, "probe", chosen("search"))
    call = ("routes", "resolve", plan_file, "pick", "--run", run.path)
    of = Plan.load(plan_file)
    for _ in range(2):
        assert 0 == interlock(*call).code
        run.route(of, "pick")
    # A count that a crash kept from being written is not forgotten either.
    (Path(run.path) / "visits.json").unlink()
    before = tree(tmp_path)
    ran = interlock(*call)

    assert (1, 3) == (ran.code, len(ran.lines))
    assert "search was taken 2 times" in ran.err
    assert "[route/loop]" in ran.err
    assert before == tree(tmp_path)
    assert 0 == interlock(*call, "--select", "pick=profile").code


def test_check_of_a_folder_without_a_plan(tmp_path: Path, plan_file: Path) -> None:
    empty = tmp_path / "empty"
    (empty / "runs").mkdir(parents=True)
    (empty / "runs" / "plan.json").write_bytes(plan_file.read_bytes())
    (empty / "notes.md").write_text("no plan", "utf-8")
    alone = interlock("routes", "check", empty)
    beside = interlock("routes", "check", plan_file, empty)

    for ran in (alone, beside):
        assert (2, b"") == (ran.code, ran.out)
        assert f"no plan in {empty}" in ran.err


def test_check_tells_of_a_folder_that_it_cannot_look_into(
    tmp_path: Path, plan_file: Path, called: Called, capsys: pytest.CaptureFixture[str]
) -> None:
    closed = tmp_path / "plans" / "closed"
    closed.mkdir(parents=True)
    (tmp_path / "plans" / "plan.json").write_bytes(plan_file.read_bytes())
    real = os.scandir

    def scandir(path: str) -> Any:
        if Path(path) == closed:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "scandir", scandir)
        assert 1 == called("routes", "check", str(tmp_path / "plans"))

    out = capsys.readouterr().out
    assert f"{closed}: plan: cannot be read" in out


@pytest.mark.parametrize("value", ["profile", "look"])
def test_resolve_with_a_choice(value: str, tmp_path: Path, plan_file: Path) -> None:
    run = RunFolder(tmp_path, "one")
    write(run, "probe", chosen("search"))
    ran = interlock(
        "routes", "resolve", plan_file, "pick", "--run", run.path, "--select", f"pick={value}"
    )

    assert (0, "pick: profile -> look (by caller)") == (ran.code, ran.lines[-1])


@pytest.mark.parametrize(("content", "code"), [(b"{", "route/not-json"), (None, "route/no-source")])
def test_resolve_of_what_cannot_be(
    content: bytes | None, code: str, tmp_path: Path, plan_file: Path
) -> None:
    run = RunFolder(tmp_path, "one")
    write(run, "other", b"")
    if content is not None:
        write(run, "probe", content)
    ran = interlock("routes", "resolve", plan_file, "pick", "--run", run.path)

    assert (1, 3) == (ran.code, len(ran.lines))
    assert code in ran.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["resolve", "PLAN", "pick"],
        ["resolve", "PLAN", "pikc", "--run", "runs/one"],
        ["resolve", "PLAN", "pick", "--run", "one"],
        ["resolve", "PLAN", "pick", "--run", "runs/.."],
        ["resolve", "PLAN", "pick", "--run", "runs/one", "--select", "pick"],
        [
            "resolve",
            "PLAN",
            "pick",
            "--run",
            "runs/one",
            "--select",
            "pick=a",
            "--select",
            "pick=b",
        ],
        ["explain", "nowhere"],
        ["explain"],
        ["graph"],
        ["nothing"],
    ],
)
def test_wrong_usage(
    arguments: list[str], plan_file: Path, called: Called, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(plan_file) if one == "PLAN" else one for one in arguments]

    assert 2 == called("routes", *given)
    out, err = capsys.readouterr()
    assert "" == out
    assert "Usage: interlock routes" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["resolve", "gone.json", "pick", "--run", "runs/one"],
        ["resolve", "bad.json", "pick", "--run", "runs/one"],
        ["resolve", "broken.json", "pick", "--run", "runs/one"],
        ["resolve", "PLAN", "pick", "--run", "runs/one", "--select", "pick=x"],
        ["graph", "gone.json"],
        ["graph", "bad.json"],
        ["check", "gone.json"],
        ["check", "bad.json"],
    ],
)
def test_faults_of_files(
    arguments: list[str], tmp_path: Path, plan_file: Path, called: Called
) -> None:
    (tmp_path / "bad.json").write_bytes(b'{"steps": 1}')
    (tmp_path / "broken.json").write_text(json.dumps(FIVE["one-route"]), "utf-8")
    given = [str(plan_file) if one == "PLAN" else one for one in arguments]

    assert 1 == called("routes", *given)


def test_explain_is_a_table_of_the_evidence(tmp_path: Path, plan_file: Path) -> None:
    run = RunFolder(tmp_path, "one")
    of = Plan.load(plan_file)
    for route in ("search", "profile"):
        write(run, "probe", chosen(route))
        run.route(of, "pick", at="2026-01-02T03:04:05.678Z")
    before = tree(tmp_path)
    ran = interlock("routes", "explain", run.path)
    as_data = interlock("routes", "explain", run.path, "--json")

    place = f"execution/probe/{SELECTION}"
    assert [
        ["router", "visit", "route", "next", "step", "decided", "by", "value", "at"],
        ["pick", "1", "search", "find", place, "search", "2026-01-02T03:04:05.678Z"],
        ["pick", "2", "profile", "look", place, "profile", "2026-01-02T03:04:05.678Z"],
    ] == [line.split() for line in ran.lines]
    assert [entry.to_dict() for entry in run.evidence()] == as_data.rows
    assert before == tree(tmp_path)
    empty = interlock("routes", "explain", tmp_path / "runs")
    assert 2 == empty.code


def test_nothing_that_a_stranger_wrote_talks_to_the_terminal(
    tmp_path: Path, plan_file: Path
) -> None:
    evil = "\x1b[2J\x1b]0;owned\x07\u202e\x9b31m"
    run = RunFolder(tmp_path, "one")
    write(run, "probe", chosen("search"))
    run.route(Plan.load(plan_file), "pick")
    log = Path(run.step_path("pick"), "route_evidence.jsonl")
    row = json.loads(log.read_bytes())
    row |= {"raw_value": f"{evil}\ud800", "at": f"now\n{evil}", "silent": [evil]}
    log.write_text(json.dumps(row) + "\n", "utf-8")
    (tmp_path / "evil.json").write_text(json.dumps({"steps": [{"id": evil}]}), "utf-8")
    (tmp_path / "shared.json").write_text(
        json.dumps(data(route_source_file=f"x{evil}.json")), "utf-8"
    )
    write(RunFolder(tmp_path, "two"), "pick", chosen(evil))

    for arguments, code in (
        (("explain", run.path), 0),
        (("check", tmp_path / "evil.json"), 1),
        (("graph", tmp_path / "evil.json"), 0),
        (("resolve", tmp_path / "evil.json", evil, "--run", run.path), 1),
        (("resolve", tmp_path / "shared.json", "pick", "--run", run.path), 1),
        (("resolve", plan_file, "pick", "--run", RunFolder(tmp_path, "two").path), 1),
        (("check", tmp_path / evil), 1),
    ):
        ran = interlock("routes", *arguments)
        assert code == ran.code, ran
        said = ran.out.decode() + ran.err
        assert said.replace("\n", "").isprintable(), said
    (head, visit, silent) = interlock("routes", "explain", run.path).lines
    assert "U+001B" in visit
    assert "U+001B" in silent
    assert head.startswith("router")


def test_graph_is_a_diagram(plan_file: Path) -> None:
    ran = interlock("routes", "graph", plan_file)

    assert (0, "") == (ran.code, ran.err)
    assert ["flowchart TD", '    n0["probe"]', '    n1{"pick"}'] == ran.lines[:3]
    assert '    n1 -- "search" --> n2' in ran.lines


def test_a_new_user_walks_through_the_examples(tmp_path: Path) -> None:
    home = tmp_path / "routing"
    shutil.copytree(EXAMPLES, home)

    checked = interlock("routes", "check", home)
    assert (0, b"2 plans: no errors\n") == (checked.code, checked.out)

    people = interlock("routes", "explain", home / "people" / "runs" / "asked")
    assert (0, 2) == (people.code, len(people.lines))
    assert ["pick", "1", "search", "find", "route_selections", "search"] == people.lines[1].split()[
        :6
    ]

    review = interlock("routes", "explain", home / "review" / "runs" / "second-try")
    assert ["rework", "publish"] == [line.split()[2] for line in review.lines[1:]]

    # Without the caller's choice the same plan takes its default; with another choice, that.
    plan = home / "people" / "plan.json"
    fresh = home / "people" / "runs" / "fresh"
    default = interlock("routes", "resolve", plan, "pick", "--run", fresh)
    assert (0, "pick: profile -> look (by default)") == (default.code, default.lines[-1])
    asked = interlock("routes", "resolve", plan, "pick", "--run", fresh, "--select", "pick=search")
    assert "pick: search -> find (by caller)" == asked.lines[-1]
    assert not fresh.exists()

    # A decision of one's own, and one with a mistake in it.
    judged = home / "review" / "runs" / "mine" / "execution" / "judge"
    judged.mkdir(parents=True)
    (judged / SELECTION).write_text('{"select_route": "publish"}', "utf-8")
    mine = (
        "routes",
        "resolve",
        home / "review" / "plan.json",
        "verdict",
        "--run",
        judged.parents[1],
    )
    assert "verdict: publish -> publish (by context_dependency)" == interlock(*mine).lines[-1]
    (judged / SELECTION).write_text('{"select_route": "publsh"}', "utf-8")
    wrong = interlock(*mine)
    assert 1 == wrong.code
    assert 'did you mean "publish"' in wrong.err

    graph = interlock("routes", "graph", home / "review" / "plan.json")
    assert re.search(r'n\d -- "rework" --> n\d', graph.out.decode())


def test_the_runs_of_the_examples_are_what_the_plans_do(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / "run_examples.py", tmp_path],
        capture_output=True,
        text=True,
        check=True,
    )

    assert [
        "completed: pick > find",
        "completed: draft > judge > verdict > draft > judge > verdict > publish",
    ] == done.stdout.splitlines()
    shipped = {name: it for name, it in timeless(EXAMPLES).items() if "/runs/" in name}
    assert shipped == timeless(tmp_path)


def timeless(path: Path) -> dict[str, str]:
    """Give the files below a folder, without instants and locks."""
    return {
        name: re.sub(r'"at":"[^"]*"', "", content.decode())
        for name, content in tree(path).items()
        if not name.endswith("lock") and "__pycache__" not in name
    }
