"""Where a choice comes from, and in which order: R-20 to R-25."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from interlock.routing import (
    Plan,
    RouteError,
    RunFolder,
    check_plan,
    run_workflow,
    sources_for,
    write_choice,
)

from .conftest import Go
from .plans import SELECTION, chosen, plan, tree, write

ALL = [
    ("a", "find"),
    ("b", "find"),
    ("c", "look"),
    ("d", "look"),
    ("e", "end"),
]
ROUTES = [{"route_id": route, "next_step_id": step} for route, step in ALL]


def five_ways() -> Plan:
    return plan(
        routes=ROUTES,
        default_route_id="e",
        route_source_file="shared.json",
        context_dependencies=["analysis.json", SELECTION],
    )


def test_R_20_each_wins_when_those_above_it_are_gone(run: RunFolder, tmp_path: Path) -> None:
    of = five_ways()
    caller = {"pick": "a"}
    own = write(run, "pick", chosen("b"))
    shared = tmp_path / "shared.json"
    shared.write_bytes(chosen("c"))
    producer = write(run, "probe", chosen("d"))

    def now(selections: dict[str, str]) -> str:
        fresh = sources_for(of, of.routers[0], run, selections)
        from interlock.routing import resolve

        return resolve(of.routers[0], fresh).route_id

    found = [now(caller), now({})]
    for place in (own, shared, producer):
        place.unlink()
        found.append(now({}))

    assert ["a", "b", "c", "d", "e"] == found


def test_R_20_through_the_folder_of_the_run(tmp_path: Path) -> None:
    of = five_ways()
    expected = ["a", "b", "c", "d", "e"]
    found: list[str] = []
    kinds: list[str] = []
    for gone in range(5):
        run = RunFolder(tmp_path, f"run{gone}")
        if gone <= 1:
            write(run, "pick", chosen("b"))
        if gone <= 3:
            write(run, "probe", chosen("d"))
        (tmp_path / "shared.json").write_bytes(chosen("c"))
        if gone >= 3:
            (tmp_path / "shared.json").unlink()
        if gone == 0:
            run.seed(of, {"pick": "a"})
        taken = run.route(of, "pick")
        found.append(taken.route_id)
        kinds.append(taken.source_kind)

    assert expected == found
    assert ["caller", "preseed", "route_source_file", "context_dependency", "default"] == kinds


@pytest.mark.parametrize(
    ("first", "second"),
    [("own", "shared"), ("own", "producer"), ("shared", "producer")],
)
def test_R_21_declared_sources_pair_by_pair(
    first: str, second: str, run: RunFolder, tmp_path: Path
) -> None:
    places = {
        "own": Path(run.step_path("pick")) / SELECTION,
        "shared": tmp_path / "shared.json",
        "producer": Path(run.step_path("probe")) / SELECTION,
    }
    for name, route in ((first, "a"), (second, "b")):
        places[name].parent.mkdir(parents=True, exist_ok=True)
        places[name].write_bytes(chosen(route))

    assert "a" == run.route(five_ways(), "pick").route_id


def test_R_21_dependencies_in_declared_order(run: RunFolder) -> None:
    of = Plan.load(
        {
            "steps": [
                {"id": "one", "context_output": SELECTION},
                {"id": "two", "context_output": [SELECTION]},
                {
                    "id": "pick",
                    "routes": ROUTES[:1] + ROUTES[-1:],
                    "context_dependencies": [f"two/{SELECTION}", f"one/{SELECTION}"],
                },
                {"id": "find"},
            ]
        }
    )
    write(run, "one", chosen("a"))
    write(run, "two", chosen("e"))

    assert ("e", f"execution/two/{SELECTION}") == (
        (found := run.route(of, "pick")).route_id,
        found.source_path,
    )


def test_R_21_a_bare_name_is_the_latest_earlier_step_that_declares_it(run: RunFolder) -> None:
    steps: list[dict[str, Any]] = [
        {"id": "one", "context_output": SELECTION},
        {"id": "two", "context_output": f"notes.md, {SELECTION}"},
        {"id": "three", "context_output": "notes.md"},
        {"id": "pick", "routes": ROUTES[::4], "context_dependencies": [SELECTION]},
        {"id": "find", "context_output": SELECTION},
    ]
    of = Plan.load({"steps": steps})
    for step in ("one", "three", "find"):
        write(run, step, chosen("e"))
    write(run, "two", chosen("a"))
    warned = [one.message for one in check_plan(of) if one.code == "route/two-producers"]

    assert f"execution/two/{SELECTION}" == run.route(of, "pick").source_path
    said = "is declared by one, two; the last counts: write step/route_selection.json"
    assert [f"route_selection.json {said}"] == warned


def test_R_22_nothing_goes_into_or_out_of_the_folder_of_the_producer(run: RunFolder) -> None:
    of = plan(context_dependencies=[SELECTION])
    write(run, "probe", chosen("search"))
    write(run, "probe", b"{}", "analysis.json")
    before = tree(run.step_path("probe"))
    run.route(of, "pick")

    assert before == tree(run.step_path("probe"))
    assert {"analysis.json", SELECTION} == set(before)
    mine = json.loads(tree(run.step_path("pick"))[SELECTION])
    assert mine["evidence"] is True


def test_R_22_a_step_that_runs_writes_into_its_own_folder(go: Go, run: RunFolder) -> None:
    of = plan(context_dependencies=[SELECTION])
    handlers = {
        "probe": lambda x: write_choice(x.run, x.step.id, "search"),
        "find": lambda x: x.folder,
        "look": str,
    }
    result = go(run_workflow, of, handlers, run)

    assert run.step_path("find") == result.output
    assert {f"execution/probe/{SELECTION}"} == {
        name for name in tree(run.path) if name.startswith("execution/probe/")
    }


def test_R_23_runs_at_the_same_time_do_not_see_each_other(tmp_path: Path) -> None:
    of = plan(context_dependencies=[SELECTION], default_route_id="profile")
    wanted = {f"run{n}": ("search", "profile")[n % 2] for n in range(20)}
    found: dict[str, str] = {}
    barrier = threading.Barrier(len(wanted))

    def work(run_id: str, route: str) -> None:
        run = RunFolder(tmp_path, run_id)
        write_choice(run, "probe", route, router=of.routers[0])
        barrier.wait()
        found[run_id] = run.route(of, "pick").route_id

    threads = [threading.Thread(target=work, args=each) for each in wanted.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wanted == found


@pytest.mark.parametrize("is_absolute", [True, False])
def test_R_24_a_shared_file_is_input_and_the_evidence_is_of_the_run(
    tmp_path: Path, *, is_absolute: bool
) -> None:
    home = tmp_path / "workspace"
    shared = tmp_path / "outside.json"
    shared.write_bytes(chosen("search"))
    path = str(shared) if is_absolute else "../outside.json"
    of = plan(route_source_file=path)
    for name in ("one", "two"):
        run = RunFolder(home, name)
        found = run.route(of, "pick")

        assert ("search", "route_source_file", path) == (
            found.route_id,
            found.source_kind,
            found.source_path,
        )
        (entry,) = run.evidence()
        assert found == entry.selection
    assert chosen("search") == shared.read_bytes()
    assert {"outside.json", "workspace"} == {one.name for one in tmp_path.iterdir()}
    assert ["route/outside-workspace"] == [
        one.code for one in check_plan(of) if one.code.startswith("route/outside")
    ]


def test_R_24_a_shared_file_may_be_a_link(run: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "v1.json").write_bytes(chosen("search"))
    (tmp_path / "shared.json").symlink_to("v1.json")

    assert "search" == run.route(plan(route_source_file="shared.json"), "pick").route_id


@pytest.mark.parametrize(
    "declared", [{"context_dependencies": [SELECTION]}, {"route_source_file": "shared.json"}]
)
def test_R_25_a_missing_declared_source_is_no_file(
    declared: dict[str, Any], run: RunFolder
) -> None:
    of = plan(default_route_id="profile", **declared)
    found = run.route(of, "pick")
    warned = [one.code for one in check_plan(of) if one.level == "warning"]
    place = "shared.json" if "route_source_file" in declared else f"execution/probe/{SELECTION}"

    assert ("profile", "default") == (found.route_id, found.source_kind)
    assert place in found.absent
    assert place in run.evidence()[0].absent
    assert "route/default-beside-source" in warned


@pytest.mark.parametrize(
    "declared", [{"context_dependencies": [SELECTION]}, {"route_source_file": "shared.json"}]
)
def test_R_25_required_it_is_an_error(
    declared: dict[str, Any], run: RunFolder, tmp_path: Path
) -> None:
    of = plan(default_route_id="profile", require_source=True, **declared)
    with pytest.raises(RouteError) as caught:
        run.route(of, "pick")

    assert "route/missing-source" == caught.value.code
    assert [] == [one for one in check_plan(of) if one.code == "route/default-beside-source"]
    assert {} == run.ledger.visits()
    (tmp_path / "shared.json").write_bytes(chosen("search"))
    write(run, "probe", chosen("search"))
    assert "search" == run.route(of, "pick").route_id


def test_R_25_the_evidence_names_a_producer_that_stayed_silent(go: Go, run: RunFolder) -> None:
    of = plan(context_dependencies=[SELECTION], default_route_id="profile")
    result = go(run_workflow, of, dict.fromkeys(("probe", "find", "look"), lambda _: "x"), run)

    assert "completed" == result.status
    assert ("probe",) == run.evidence()[0].silent
    other = RunFolder(run.root, "other")
    other.route(of, "pick")
    assert () == other.evidence()[0].silent


def test_what_stands_behind_a_source_is_not_looked_at(run: RunFolder, tmp_path: Path) -> None:
    # A folder in place of a later file would be an error.
    (tmp_path / "shared.json").mkdir()
    write(run, "pick", chosen("b"))
    found = sources_for(five_ways(), five_ways().routers[0], run)

    assert ["caller", "preseed"] == [source.kind for source in found]


CHECKED = [
    {
        "route_id": "big",
        "next_step_id": "find",
        "when": [{"path": "n", "op": "greaterThan", "expected": 9}],
    },
    {"route_id": "small", "next_step_id": "look", "when": [{"path": "n", "op": "exists"}]},
]


@pytest.mark.parametrize(
    ("record", "default", "expected"),
    [
        (b'{"n": 10}', None, "big"),
        (b'{"n": 1}', None, "small"),
        (b'{"n": 1}', "big", "small"),
        (b"{}", "big", "big"),
        (b"{}", None, "route/unknown"),
        (None, "small", "small"),
        (None, None, "route/no-source"),
        (b'{"n": "many"}', None, "small"),
        (b"{", "big", "route/not-json"),
        (b'{"n": 1, "n": 10}', "big", "route/duplicate-key"),
        (b"", "big", "route/not-json"),
        (b'\xef\xbb\xbf{"n": 10}', None, "big"),
        ('{"n": 10}'.encode("utf-16"), "big", "route/unreadable"),
    ],
)
def test_routes_with_checks_read_a_record_and_no_file(
    record: bytes | None, default: str | None, expected: str, run: RunFolder
) -> None:
    of = plan(routes=CHECKED, value_from="probe/facts.json", default_route_id=default)
    # Nobody reads this.
    write(run, "pick", b"garbage")
    if record is not None:
        write(run, "probe", record, "facts.json")
    if expected.startswith("route/"):
        with pytest.raises(RouteError) as caught:
            run.route(of, "pick")
        assert expected == caught.value.code
    else:
        found = run.route(of, "pick")
        kind = "default" if record in (None, b"{}") else "value_from"
        assert (expected, kind) == (found.route_id, found.source_kind)


def test_an_undetermined_check_is_never_a_no(run: RunFolder) -> None:
    deep = [{"path": "n", "op": "matches", "expected": "b"}]
    routes = [{**CHECKED[0], "when": deep}, CHECKED[1]]
    of = plan(routes=routes, value_from="probe/facts.json", default_route_id="big")
    write(run, "probe", json.dumps({"n": "a" * 9_000_000}).encode(), "facts.json")
    with pytest.raises(RouteError) as caught:
        run.route(of, "pick")

    assert "route/undetermined" == caught.value.code


def test_the_caller_chooses_for_routes_with_checks_too(run: RunFolder) -> None:
    of = plan(routes=CHECKED, value_from="probe/facts.json")
    run.seed(of, {"pick": "look"})

    assert ("small", "caller") == ((found := run.route(of, "pick")).route_id, found.source_kind)
