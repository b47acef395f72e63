"""Files that are no files, or are too large, and two who seed one run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interlock.routing import Plan, RunFolder, check_plans

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
