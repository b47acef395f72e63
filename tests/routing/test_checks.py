"""Checking plans before they run: R-50 to R-57."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlock.routing import Plan, PlanStep, Problem, Route, Router, check_plan, check_plans

from .plans import ROUTES, SELECTION, data, plan


def errors(of: Plan) -> list[Problem]:
    return [one for one in check_plan(of) if one.level == "error"]


def warned(of: Plan) -> set[str]:
    assert [] == errors(of)
    return {one.code for one in check_plan(of)}


def steps(*given: dict[str, Any]) -> Plan:
    return Plan.load({"steps": list(given)})


@pytest.mark.parametrize("count", [0, 1])
def test_R_50_a_router_has_at_least_two_routes(count: int) -> None:
    found = errors(plan(routes=ROUTES[:count]))

    assert [("route/plan", "pick", "routes")] == [(o.code, o.step_id, o.field) for o in found]
    assert [] == errors(plan(routes=ROUTES))


def test_R_51_a_default_is_one_of_the_routes() -> None:
    (found,) = errors(plan(default_route_id="serch"))

    assert ("route/bad-default", "pick") == (found.code, found.step_id)
    assert 'did you mean "search"' in found.message
    assert [] == errors(plan(default_route_id="search"))
    # A destination is no id.
    assert 1 == len(errors(plan(default_route_id="find")))


def test_R_52_every_destination_is_a_step_or_the_end() -> None:
    bad = [ROUTES[0], {"route_id": "profile", "next_step_id": "lok"}]
    (found,) = errors(plan(routes=bad))

    assert ("pick", "profile", "routes[1].next_step_id") == (
        found.step_id,
        found.route_id,
        found.field,
    )
    assert '"lok"' in found.message
    assert 'did you mean "look"' in found.message
    assert [] == errors(plan(routes=[ROUTES[0], {"route_id": "x", "next_step_id": "end"}]))


def test_R_52_of_plain_steps_too() -> None:
    (found,) = errors(steps({"id": "a", "next_step_id": "c"}, {"id": "b"}))

    assert ("a", "next_step_id") == (found.step_id, found.field)


@pytest.mark.parametrize(
    ("before", "after", "reference", "is_fine"),
    [
        ([{"id": "a", "context_output": SELECTION}], [], SELECTION, True),
        ([{"id": "a", "context_output": SELECTION}], [], f"a/{SELECTION}", True),
        ([{"id": "a", "context_output": "x.json"}], [], SELECTION, False),
        ([{"id": "a"}], [], f"a/{SELECTION}", False),
        ([], [{"id": "a", "context_output": SELECTION}], SELECTION, False),
        ([], [{"id": "a", "context_output": SELECTION}], f"a/{SELECTION}", False),
        ([{"id": "a", "context_output": SELECTION}], [], f"b/{SELECTION}", False),
        ([], [], SELECTION, False),
        # Other files are no business of the router.
        ([], [], "analysis.json", True),
    ],
)
def test_R_53_a_dependency_needs_an_earlier_producer(
    before: list[dict[str, Any]], after: list[dict[str, Any]], reference: str, *, is_fine: bool
) -> None:
    router = {"id": "pick", "routes": ROUTES, "context_dependencies": [reference]}
    of = steps(*before, router, {"id": "find"}, {"id": "look"}, *after)
    found = errors(of)

    assert is_fine == (not found)
    for one in found:
        assert ("pick", "context_dependencies") == (one.step_id, one.field)
        assert ("comes later" in one.message) == bool(after)


@pytest.mark.parametrize(
    "listed",
    [
        "analysis.json, route_selection.json",
        "route_selection.json,analysis.json",
        " route_selection.json ",
        ["analysis.json", "route_selection.json"],
        [" route_selection.json"],
    ],
)
def test_R_54_outputs_are_a_list_with_commas(listed: object) -> None:
    of = steps(
        {"id": "probe", "context_output": listed},
        {"id": "pick", "routes": ROUTES, "context_dependencies": SELECTION},
        {"id": "find"},
        {"id": "look"},
    )

    assert [] == errors(of)


FIVE: dict[str, dict[str, Any]] = {
    "one-route": data(routes=ROUTES[:1]),
    "bad-default": data(default_route_id="nowhere"),
    "lost": data(routes=[ROUTES[0], {"route_id": "x", "next_step_id": "gone"}]),
    "late": data(context_dependencies=[f"find/{SELECTION}"]),
    "does-work": data(description="Decide which."),
}


def folder(path: Path, *, faulty: bool) -> Path:
    """Make a folder of ten plans, five of them with a fault."""
    path.mkdir()
    for number in range(5 if faulty else 10):
        (path / f"good-{number}.json").write_text(json.dumps(data()), "utf-8")
    for name, content in FIVE.items() if faulty else ():
        (path / f"{name}.json").write_text(json.dumps(content), "utf-8")
    return path


def test_R_55_all_faults_of_all_files_together(tmp_path: Path) -> None:
    home = folder(tmp_path / "plans", faulty=True)
    report = check_plans(sorted(home.iterdir()))
    lines = report.to_text().splitlines()

    assert (False, 1, 10, 5) == (report.ok, report.exit_code, report.plans, len(lines))
    for name, line in zip(sorted(FIVE), lines, strict=True):
        assert f"{name}.json: pick: " in line


def test_R_55_a_clean_folder_says_so(tmp_path: Path) -> None:
    report = check_plans(sorted(folder(tmp_path / "plans", faulty=False).iterdir()))

    assert (True, 0, "10 plans: no errors\n") == (report.ok, report.exit_code, report.to_text())


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "plan: cannot be read: 1:1: the text ends too early"),
        (b"{", "plan: cannot be read"),
        (b"[]", 'plan: []: must be a mapping with "steps"'),
        (b"{}", "steps: is required"),
        (b'{"steps": {}}', "steps: {}: must be a list"),
        (b'{"steps": []}', "steps: is empty"),
        (b'{"steps": [1]}', "steps[0]: step: 1: must be a mapping"),
        (b'{"steps": [{"id": 1}]}', "steps[0]: id: 1: must be text"),
        (b'{"steps": [{"id": "a", "id": "b"}]}', "stands twice"),
        (b'{"steps": [{"id": "a", "context_output": 1}]}', "a: context_output: 1: must be a list"),
        (
            b'{"steps": [{"id": "a", "routes": [], "max_visits": 0}]}',
            "a: max_visits: 0: must be a whole number",
        ),
        (
            b'{"steps": [{"id": "a", "routes": [], "require_source": "no"}]}',
            'a: require_source: "no": must be true or false',
        ),
        (b'{"steps": [{"id": "a", "routes": {}}]}', "a: routes: {}: must be a list"),
        (b'{"steps": [{"id": "a", "routes": [1, 2]}]}', "a: routes[0]: 1: must be a mapping"),
        (b"\xff\xfe", "plan: cannot be read"),
        (b"[" * 5000 + b"]" * 5000, "plan: cannot be read"),
    ],
)
def test_R_55_files_that_are_no_plans(content: bytes, named: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(content)
    report = check_plans([path, tmp_path / "nowhere.json", tmp_path])
    first, *_, gone, home = report.errors

    assert named in report.to_text()
    assert {str(path)} == {one.file for one in report.errors[:-2]}
    assert str(path) == first.file
    assert "No such file" in gone.message
    assert "Is a directory" in home.message


def test_R_56_a_router_that_only_ends_is_a_warning() -> None:
    ends = [{"route_id": name, "next_step_id": "end"} for name in "ab"]

    assert "route/all-to-end" in warned(plan(routes=ends))
    assert "route/all-to-end" not in warned(plan())


def test_R_57_route_ids_and_step_ids_are_unique() -> None:
    twice = [{"route_id": "a", "next_step_id": step} for step in ("find", "look", "end")]
    (route,) = errors(plan(routes=twice))
    (step,) = errors(steps({"id": "s"}, {"id": "s"}, {"id": "s"}))

    assert ("pick", "a") == (route.step_id, route.route_id)
    assert "twice" in route.message
    assert ("s", "id") == (step.step_id, step.field)


WHEN = [{"path": "n", "op": "exists"}]
RECORD = {"value_from": "probe/facts.json"}
CHECKED = [{**route, "when": WHEN} for route in ROUTES]
MORE: list[tuple[str, Plan, str, str]] = [
    ("no steps", Plan(()), "route/plan", "steps"),
    ("an empty id", steps({"id": ""}), "route/plan", "id"),
    ("no id", steps({"title": "x"}), "route/plan", "id"),
    ("a step named end", steps({"id": "end"}), "route/plan", "id"),
    (
        "an empty route id",
        plan(routes=[*ROUTES, {"route_id": "", "next_step_id": "end"}]),
        "route/plan",
        "routes[2].route_id",
    ),
    (
        "an empty destination",
        plan(routes=[*ROUTES, {"route_id": "x"}]),
        "route/plan",
        "routes[2].next_step_id",
    ),
    (
        "route fields elsewhere",
        steps({"id": "a", "kind": "agent", "routes": []}),
        "route/plan",
        "routes",
    ),
    (
        "a default elsewhere",
        steps({"id": "a", "kind": "agent", "default_route_id": "x"}),
        "route/plan",
        "default_route_id",
    ),
    ("a router without routes", Plan((PlanStep("a", "routing"),)), "route/plan", "routes"),
    (
        "a router of another id",
        Plan(
            (PlanStep("a", "routing", router=Router("b", (Route("x", "end"), Route("y", "end")))),)
        ),
        "route/plan",
        "id",
    ),
    ("a router that produces", plan(context_output=SELECTION), "route/plan", "context_output"),
    ("checks and none", plan(routes=[CHECKED[0], ROUTES[1]], **RECORD), "route/plan", "routes"),
    (
        "checks and a shared file",
        plan(routes=CHECKED, route_source_file="x", **RECORD),
        "route/plan",
        "routes",
    ),
    ("checks without a record", plan(routes=CHECKED), "route/plan", "value_from"),
    ("a record without checks", plan(**RECORD), "route/plan", "value_from"),
    (
        "a record of nobody",
        plan(routes=CHECKED, value_from="prob/f.json"),
        "route/plan",
        "value_from",
    ),
    (
        "a record of a later step",
        plan(routes=CHECKED, value_from="find/f.json"),
        "route/plan",
        "value_from",
    ),
    (
        "a record without a step",
        plan(routes=CHECKED, value_from="f.json"),
        "route/unsafe-path",
        "value_from",
    ),
    (
        "a record outside",
        plan(routes=CHECKED, value_from="../f.json"),
        "route/unsafe-path",
        "value_from",
    ),
    (
        "an unknown op",
        plan(routes=[CHECKED[0], {**ROUTES[1], "when": [{"path": "n", "op": "exist"}]}], **RECORD),
        "route/plan",
        "routes[1].when[0].op",
    ),
    (
        "a pattern that is not run",
        plan(
            routes=[
                CHECKED[0],
                {**ROUTES[1], "when": [{"path": "n", "op": "matches", "expected": "("}]},
            ],
            **RECORD,
        ),
        "route/plan",
        "routes[1].when[0].expected",
    ),
    (
        "a dependency outside",
        plan(context_dependencies=[f"../x/{SELECTION}"]),
        "route/unsafe-path",
        "context_dependencies",
    ),
    (
        "an absolute dependency",
        plan(context_dependencies=[f"/{SELECTION}"]),
        "route/unsafe-path",
        "context_dependencies",
    ),
    (
        "steps in a circle",
        steps({"id": "a", "next_step_id": "b"}, {"id": "b", "next_step_id": "a"}),
        "route/plan",
        "next_step_id",
    ),
    ("a step after itself", steps({"id": "a", "next_step_id": "a"}), "route/plan", "next_step_id"),
]
UNSAFE = [
    "..",
    ".",
    "a..b",
    "a/b",
    "../a",
    "/a",
    "a\\b",
    "con",
    "NUL.txt",
    "COM1",
    "lpt9.x",
    "a b",
    "é",
    "a\n",
    "a\x00",
    "x" * 101,
    "a.",
    "~",
    "*",
]


@pytest.mark.parametrize(
    ("of", "code", "field"), [one[1:] for one in MORE], ids=[m[0] for m in MORE]
)
def test_every_error(of: Plan, code: str, field: str) -> None:
    assert [(code, field)] == [(one.code, one.field) for one in errors(of)]


@pytest.mark.parametrize("bad", UNSAFE)
def test_ids_that_are_no_names_of_folders(bad: str) -> None:
    route = [*ROUTES, {"route_id": bad, "next_step_id": "end"}]

    assert ["route/unsafe-path"] == [one.code for one in errors(steps({"id": bad}))]
    assert ["route/unsafe-path"] == [one.code for one in errors(plan(routes=route))]


@pytest.mark.parametrize(
    "good", ["a", "step_1", "v1.2-rc", "A" * 100, "0", "-", "_", ".x", "console"]
)
def test_ids_that_are(good: str) -> None:
    assert [] == errors(steps({"id": good}))


def test_a_producer_that_is_a_router_is_an_error() -> None:
    of = steps(
        {
            "id": "first",
            "routes": [{"route_id": n, "next_step_id": "pick"} for n in "ab"],
            "context_output": SELECTION,
        },
        {"id": "pick", "routes": ROUTES, "context_dependencies": [SELECTION]},
        {"id": "find"},
        {"id": "look"},
    )
    found = errors(of)

    assert ["first", "pick"] == [one.step_id for one in found]
    assert "first is a router" in found[1].message


def test_every_warning() -> None:
    doubtful = {
        "route/no-question": plan(routing_question=""),
        "route/shared-destination": plan(
            routes=[*ROUTES, {"route_id": "x", "next_step_id": "find"}]
        ),
        "route/id-is-destination": plan(
            routes=[*ROUTES, {"route_id": "find", "next_step_id": "end"}]
        ),
        "route/default-beside-source": plan(default_route_id="search", route_source_file="x.json"),
        "route/outside-workspace": plan(route_source_file="/etc/x.json"),
        "route/unreachable": steps(
            {"id": "a", "next_step_id": "end"},
            {"id": "pick", "routes": [{"route_id": n, "next_step_id": "a"} for n in "ab"]},
        ),
        "route/same-folder": steps({"id": "a"}, {"id": "A"}),
        "route/certain-loop": plan(routes=[*ROUTES, {"route_id": "x", "next_step_id": "probe"}]),
        "route/two-producers": steps(
            {"id": "a", "context_output": SELECTION},
            {"id": "b", "context_output": SELECTION},
            {"id": "pick", "routes": ROUTES, "context_dependencies": SELECTION},
            {"id": "find"},
            {"id": "look"},
        ),
    }
    for code, of in doubtful.items():
        assert code in warned(of), code
    assert set() == warned(plan())


def test_a_back_jump_over_the_producer_is_no_certain_loop() -> None:
    back = [*ROUTES, {"route_id": "x", "next_step_id": "probe"}]

    assert set() == warned(plan(routes=back, context_dependencies=[SELECTION]))
    # By the last step it is the same: the way leads over nothing that decides.
    last = [*ROUTES, {"route_id": "x", "next_step_id": "pick"}]
    assert {"route/certain-loop"} == warned(plan(routes=last, context_dependencies=[SELECTION]))


@pytest.mark.parametrize(
    ("path", "workspace", "is_outside"),
    [
        ("x.json", None, False),
        ("a/../x.json", None, False),
        ("../x.json", None, True),
        ("a/../../x.json", None, True),
        ("/w/x.json", None, True),
        ("/w/x.json", "/w", False),
        ("/wx/x.json", "/w", True),
        ("/w/../x.json", "/w", True),
        ("C:\\x.json", None, True),
    ],
)
def test_a_shared_file_outside(path: str, workspace: str | None, *, is_outside: bool) -> None:
    found = check_plan(plan(route_source_file=path), workspace=workspace)

    assert is_outside == any(one.code == "route/outside-workspace" for one in found)
