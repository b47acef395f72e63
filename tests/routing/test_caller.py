"""The caller's choices: R-30 to R-38."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interlock.errors import ConfigError, RunBusy
from interlock.routing import (
    Plan,
    RouteError,
    RunFolder,
    run_full_workflow,
    run_step,
    run_workflow,
)
from interlock.routing._files import DiskFiles

from .conftest import Go
from .plans import SELECTION, chosen, plan, tree, write

TWO = Plan.load(
    {
        "steps": [
            {"id": "start"},
            {
                "id": "first",
                "routes": [
                    {"route_id": "left", "next_step_id": "second"},
                    {"route_id": "right", "next_step_id": "end"},
                ],
                "default_route_id": "right",
            },
            {
                "id": "second",
                "kind": "branch",
                "routes": [
                    {"route_id": "up", "next_step_id": "work"},
                    {"route_id": "down", "next_step_id": "end"},
                ],
                "default_route_id": "down",
            },
            {"id": "work"},
        ]
    }
)
HANDLERS = dict.fromkeys(("start", "work"), lambda x: x.step.id)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, ["right"]),
        ({}, ["right"]),
        ({"first": "left"}, ["left", "down"]),
        ({"second": "up"}, ["right"]),
        ({"first": "left", "second": "up"}, ["left", "up"]),
        ({"first": "second", "second": "work"}, ["left", "up"]),
        ({"first": " left "}, ["left", "down"]),
    ],
)
def test_R_30_an_optional_map(
    given: dict[str, str] | None, expected: list[str], go: Go, run: RunFolder
) -> None:
    result = go(run_workflow, TWO, HANDLERS, run, route_selections=given)

    assert expected == [taken.route_id for taken in result.selections]
    kinds = [
        "caller" if given and one.router_id in given else "default" for one in result.selections
    ]
    assert kinds == [one.source_kind for one in result.selections]


def test_R_31_all_entry_points_take_it(go: Go, tmp_path: Path) -> None:
    given = {"first": "left"}
    whole = go(run_workflow, TWO, HANDLERS, RunFolder(tmp_path, "a"), route_selections=given)
    full = go(run_full_workflow, TWO, HANDLERS, RunFolder(tmp_path, "b"), route_selections=given)
    one = go(run_step, TWO, "first", {}, RunFolder(tmp_path, "c"), route_selections=given)

    assert ["left", "left", "left"] == [x.selections[0].route_id for x in (whole, full, one)]
    assert ("second", ("first",)) == (one.next_step_id, one.ran)


@pytest.mark.parametrize("given", ["left", b"left", ["left"], 1, ("first", "left"), True])
@pytest.mark.parametrize("entry", [run_workflow, run_full_workflow])
def test_R_32_there_is_no_scalar_shorthand(
    given: object, entry: Callable[..., Any], go: Go, run: RunFolder
) -> None:
    with pytest.raises(ConfigError, match="route_selections"):
        go(entry, TWO, HANDLERS, run, route_selections=given)
    with pytest.raises(ConfigError, match="route_selections"):
        run.seed(TWO, given)  # type: ignore[arg-type]

    assert {} == {name: it for name, it in tree(run.root).items() if not name.endswith("lock")}


BAD: list[tuple[dict[Any, Any], list[str]]] = [
    ({"first": "left", "second": "up", "third": "x"}, ["route/selection-unknown-router"]),
    ({"first": "left", "second": "sideways"}, ["route/selection-invalid"]),
    ({"first": "start"}, ["route/selection-invalid"]),
    ({"first": "Left"}, ["route/selection-invalid"]),
    ({"first": ""}, ["route/selection-invalid"]),
    ({"first": None}, ["route/selection-invalid"]),
    ({"first": ["left"]}, ["route/selection-invalid"]),
    ({"start": "left"}, ["route/selection-unknown-router"]),
    ({1: "left"}, ["route/selection-unknown-router"]),
    (
        {"first": "lef", "nowhere": "x", "second": "down"},
        ["route/selection-invalid", "route/selection-unknown-router"],
    ),
]


@pytest.mark.parametrize(("given", "codes"), BAD)
@pytest.mark.parametrize("entry", [run_workflow, run_full_workflow])
def test_R_33_all_is_checked_before_the_first_step(
    given: dict[Any, Any], codes: list[str], entry: Callable[..., Any], go: Go, run: RunFolder
) -> None:
    ran: list[str] = []
    handlers = dict.fromkeys(("start", "work"), lambda x: ran.append(x.step.id))
    left = write(run, "work", b"from before", "notes.md")
    with pytest.raises(RouteError) as caught:
        go(entry, TWO, handlers, run, route_selections=given)

    assert codes == [problem.code for problem in caught.value.problems]
    assert codes[0] == caught.value.code
    assert [] == ran
    written = {name for name in tree(run.path) if not name.endswith("lock")}
    assert {"execution/work/notes.md"} == written
    assert b"from before" == left.read_bytes()


def test_R_33_an_ambiguous_one_is_invalid(run: RunFolder) -> None:
    routes = [
        {"route_id": "yes", "next_step_id": "end"},
        {"route_id": "no", "next_step_id": "end"},
    ]
    with pytest.raises(RouteError, match="yes, no") as caught:
        run.seed(plan(routes=routes), {"pick": "end"})

    assert "route/selection-invalid" == caught.value.code


def test_R_34_a_key_that_is_no_router_is_named_with_the_routers_there_are(
    run: RunFolder,
) -> None:
    with pytest.raises(RouteError) as caught:
        run.seed(TWO, {"frist": "left"})

    assert "route/selection-unknown-router" == caught.value.code
    for part in ("route_selections.frist", 'did you mean "first"', "first, second"):
        assert part in str(caught.value)


class Watched(DiskFiles):
    """Files that keep a list of what is done with them."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def write(self, root: str, parts: tuple[str, ...], content: bytes) -> None:
        self.done.append(f"write {'/'.join(parts)}")
        super().write(root, parts, content)

    def append(self, root: str, parts: tuple[str, ...], line: bytes) -> None:
        self.done.append(f"append {'/'.join(parts)}")
        super().append(root, parts, line)

    def remove(self, root: str, parts: tuple[str, ...]) -> None:
        self.done.append(f"remove {'/'.join(parts)}")
        super().remove(root, parts)


def test_R_35_the_files_are_written_after_cleaning_and_before_the_first_step(
    go: Go, tmp_path: Path
) -> None:
    files = Watched()
    run = RunFolder(tmp_path, "one", files=files)
    write(run, "first", chosen("right"))

    def start(given: Any) -> None:
        files.done.append("step start")
        path = Path(given.run.step_path("first")) / SELECTION
        assert {"select_route": "left"} == json.loads(path.read_bytes())

    handlers = {**HANDLERS, "start": start}
    result = go(
        run_full_workflow, TWO, handlers, run, route_selections={"first": "left", "second": "up"}
    )
    cleaned = max(at for at, what in enumerate(files.done) if what.startswith("remove"))
    seeded = [
        files.done.index(f"write execution/{step}/{SELECTION}") for step in ("first", "second")
    ]

    assert "completed" == result.status
    assert cleaned < min(seeded) <= max(seeded) < files.done.index("step start")
    assert files.done.index("write selections.json") < min(seeded)


def test_R_36_on_disk_is_the_route_id(run: RunFolder) -> None:
    found = run.seed(TWO, {"first": "second"})

    assert {"select_route": "left"} == json.loads(tree(run.path)[f"execution/first/{SELECTION}"])
    assert ("left", "second", "second") == (
        found[0].route_id,
        found[0].raw_value,
        found[0].next_step_id,
    )


@pytest.mark.parametrize("is_restarted", [False, True])
def test_R_37_the_choice_outlasts_a_cleaned_folder(run: RunFolder, *, is_restarted: bool) -> None:
    of = plan(context_dependencies=[SELECTION], default_route_id="profile")
    run.seed(of, {"pick": "search"})
    shutil.rmtree(run.step_path("pick"))
    write(run, "probe", chosen("profile"))
    again = RunFolder(run.root, run.run_id) if is_restarted else run

    found = [again.route(of, "pick")]
    shutil.rmtree(run.step_path("pick"))
    found.append(again.route(of, "pick"))
    assert [("search", "caller", 1), ("search", "caller", 2)] == [
        (one.route_id, one.source_kind, one.visit) for one in found
    ]


def test_R_37_losing_the_choices_on_the_way_is_noticed(run: RunFolder) -> None:
    run.seed(TWO, {"first": "left", "second": "up"})
    place = Path(run.path) / "selections.json"
    for content in (None, b'{"selections": {"first": "left"}}'):
        if content is None:
            place.unlink()
        else:
            place.write_bytes(content)
        with pytest.raises(RouteError, match="2 selections were given") as caught:
            RunFolder(run.root, run.run_id).route(TWO, "first")
        assert "route/selection-invalid" == caught.value.code


def test_what_is_given_later_adds_and_never_changes(run: RunFolder) -> None:
    run.seed(TWO, {"first": "left"})
    run.seed(TWO, {"first": "left", "second": "up"})
    with pytest.raises(RouteError, match="second: this run was given another choice"):
        RunFolder(run.root, run.run_id).seed(TWO, {"second": "down"})

    assert {"first": "left", "second": "up"} == run.selections()


def test_what_is_noted_of_the_plan_forgets_no_choice(go: Go, tmp_path: Path) -> None:
    busy: list[bool] = []

    class Watching(DiskFiles):
        def write(self, root: str, parts: tuple[str, ...], content: bytes) -> None:
            if parts == ("run.json",) and b'"plan"' in content:
                # Whoever seeds now would be forgotten by what is written next.
                with pytest.raises(RunBusy):
                    RunFolder(tmp_path, "one", lock_timeout=0.05).seed(TWO, {"first": "left"})
                busy.append(True)
            super().write(root, parts, content)

    result = go(run_workflow, TWO, HANDLERS, RunFolder(tmp_path, "one", files=Watching()))

    assert ("completed", [True]) == (result.status, busy)


def test_R_38_the_example_with_and_without_it(go: Go, tmp_path: Path) -> None:
    of = plan(default_route_id="profile")
    handlers = dict.fromkeys(("probe", "find", "look"), lambda x: x.step.id)
    chosen_ = go(
        run_workflow, of, handlers, RunFolder(tmp_path, "a"), route_selections={"pick": "search"}
    )
    left = go(run_workflow, of, handlers, RunFolder(tmp_path, "b"))

    assert ("find", "look") == (chosen_.output, left.output)
