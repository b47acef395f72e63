"""The contract of a router: R-01 to R-19."""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from interlock.routing import (
    Plan,
    PlanStep,
    Route,
    RouteError,
    Router,
    RunFolder,
    check_plan,
    match,
    run_workflow,
    write_choice,
)

from .conftest import Go
from .plans import SELECTION, chosen, data, plan, refused, router, taken, write

KINDS = ("caller", "preseed", "route_source_file", "context_dependency")

INVALID: list[tuple[str, bytes, str]] = [
    ("no JSON", b"search", "route/not-json"),
    ("half of a file", b'{"select_route": "sea', "route/not-json"),
    ("an empty file", b"", "route/not-json"),
    ("blanks", b" \n\t", "route/not-json"),
    ("two objects", b'{"select_route": "search"} {"select_route": "search"}', "route/not-json"),
    ("a list", b'["search"]', "route/not-object"),
    ("a text", b'"search"', "route/not-object"),
    ("null", b"null", "route/not-object"),
    ("no field", b'{"route": "search"}', "route/field-missing"),
    ("an empty object", b"{}", "route/field-missing"),
    ("a number", b'{"select_route": 1}', "route/not-string"),
    ("nothing", b'{"select_route": null}', "route/not-string"),
    ("a list of one", b'{"select_route": ["search"]}', "route/not-string"),
    ("true", b'{"select_route": true}', "route/not-string"),
    ("a bad alias", b'{"select_route": "search", "route_id": 1}', "route/not-string"),
    ("an empty text", b'{"select_route": ""}', "route/blank"),
    ("blanks in it", b'{"select_route": " \\n"}', "route/blank"),
    ("a key twice", b'{"select_route": "search", "select_route": "search"}', "route/duplicate-key"),
    (
        "a key twice inside",
        b'{"select_route": "search", "x": {"a": 1, "a": 2}}',
        "route/duplicate-key",
    ),
    ("two ways", b'{"select_route": "search", "route_id": "profile"}', "route/conflicting-fields"),
    (
        "one known, one not",
        b'{"select_route": "search", "route_id": "x"}',
        "route/conflicting-fields",
    ),
    ("an unknown one", b'{"select_route": "nowhere"}', "route/unknown"),
    ("another case", b'{"select_route": "Search"}', "route/unknown"),
    ("no UTF-8", b'{"select_route": "\xff"}', "route/unreadable"),
    ("UTF-16", '{"select_route": "search"}'.encode("utf-16"), "route/unreadable"),
    (
        "too deep",
        b'{"select_route": "search", "x": ' + b"[" * 32 + b"]" * 32 + b"}",
        "route/unreadable",
    ),
    ("far too deep", b"[" * 5000 + b"]" * 5000, "route/unreadable"),
    ("too large", b'{"select_route": "search"}' + b" " * 65_536, "route/unreadable"),
    ("evidence", b'{"select_route": "search", "evidence": true}', "route/evidence-as-source"),
    (
        "evidence by its schema",
        b'{"route_id": "search", "schema": "interlock.route-evidence/1"}',
        "route/evidence-as-source",
    ),
]
IDS = [case[0] for case in INVALID]


def test_R_01_a_router_calls_no_model(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    import anthropic
    import httpx
    import openai

    def called(*_: object, **__: object) -> Any:
        raise AssertionError("a router called out")

    for owner, name in (
        (socket, "socket"),
        (socket, "create_connection"),
        (httpx.Client, "send"),
        (httpx.AsyncClient, "send"),
        (openai.OpenAI, "request"),
        (anthropic.Anthropic, "request"),
    ):
        monkeypatch.setattr(owner, name, called)
    write(run, "pick", chosen("search"))

    assert "search" == run.route(plan(), "pick").route_id


def test_R_01_the_resolver_opens_no_file_and_asks_no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object, **__: object) -> Any:
        raise AssertionError("the resolver looked around")

    of, bad = router(default_route_id="profile"), router(description="x")
    with monkeypatch.context() as patch:
        for owner, name in ((os, "open"), (os, "stat"), (time, "time"), (time, "monotonic")):
            patch.setattr(owner, name, asked)
        patch.setattr("builtins.open", asked)
        found = [taken(of, chosen("find")).route_id, taken(of, None).route_id]
        with suppress(RouteError):
            taken(of, chosen("nowhere"))
        with suppress(RouteError):
            taken(bad, None)

    assert ["search", "profile"] == found


def test_R_02_the_file_has_the_field_select_route(run: RunFolder) -> None:
    write(run, "pick", b'{"select_route":"search"}')

    assert ("search", "select_route") == (
        (found := run.route(plan(), "pick")).route_id,
        found.field,
    )


@pytest.mark.parametrize("field", ["route_id", "selected_route_id"])
def test_R_03_the_aliases_are_read(field: str) -> None:
    found = taken(router(), chosen("search", field))

    assert ("search", field) == (found.route_id, found.field)


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (b'{"route_id": "search", "select_route": "search"}', "select_route"),
        (b'{"selected_route_id": "search", "route_id": "search"}', "route_id"),
        # Told apart as text, and the same route.
        (b'{"select_route": "find", "route_id": "search"}', "select_route"),
        (b'{"select_route": "search", "route_id": " search "}', "select_route"),
    ],
)
def test_R_04_the_same_route_twice_is_fine(content: bytes, field: str) -> None:
    found = taken(router(), content)

    assert ("search", field) == (found.route_id, found.field)


def test_R_04_two_fields_that_differ_are_an_error() -> None:
    error = refused("route/conflicting-fields", router(), INVALID[19][1])

    assert "select_route" in error.message
    assert "route_id" in error.message


TWICE: list[tuple[str, str]] = [
    ('{"select_route": "a", "select_route": "b"}', "route/duplicate-key"),
    ('{"select_route": "a", "route_id": "b"}', "route/conflicting-fields"),
    ('{"select_route": "a", "route_id": "a"}', "a"),
    ('\ufeff{"route_id": "b"}', "b"),
    ('["a"]', "route/not-object"),
    ('{"select_route": "a"} {"select_route": "b"}', "route/not-json"),
]


@pytest.mark.parametrize(("content", "expected"), TWICE)
def test_rep_N_05_what_stands_twice_is_never_merged(content: str, expected: str) -> None:
    of = Router("r", [Route("a", "x"), Route("b", "end")])
    if expected.startswith("route/"):
        refused(expected, of, content.encode())
    else:
        assert expected == taken(of, content.encode()).route_id


def test_rep_N_05_a_route_id_twice_is_an_error_of_the_plan() -> None:
    ways = [{"route_id": name, "next_step_id": "find"} for name in "aba"]
    (problem,) = (one for one in check_plan(plan(routes=ways)) if one.level == "error")
    of = Router("r", [Route("a", "x"), Route("b", "end"), Route("a", "end")])

    assert ("a", "route_id") == (problem.route_id, problem.field)
    assert "a twice" in refused("route/plan", of, chosen("b")).message


def test_R_04_a_byte_order_mark_is_passed_over() -> None:
    assert "search" == taken(router(), b"\xef\xbb\xbf" + chosen("search")).route_id
    # Once, as it is a mark and no blank.
    refused("route/not-json", router(), b"\xef\xbb\xbf" * 2 + chosen("search"))


def test_R_05_a_route_id_wins_over_a_destination() -> None:
    crossed = Router("r", [Route("a", "b"), Route("b", "a")])

    assert "a" == taken(crossed, chosen("a")).route_id
    assert Route("b", "a") == match(crossed, "b")


def test_R_06_a_destination_of_one_route_selects_it() -> None:
    found = taken(router(), chosen("find"))

    assert ("search", "find", "find") == (found.route_id, found.next_step_id, found.raw_value)


def test_R_07_a_destination_of_several_is_ambiguous() -> None:
    both = Router("r", (Route("yes", "end"), Route("no", "end"), Route("more", "work")))
    error = refused("route/ambiguous", both, chosen("end"))

    assert "yes, no" in error.message
    assert "yes" == taken(both, chosen("yes")).route_id


@pytest.mark.parametrize("value", ["probe", "end", "pick", "searchh", "*", "search find", "../x"])
def test_R_08_a_choice_is_one_of_the_declared_routes(value: str) -> None:
    error = refused("route/unknown", router(), chosen(value))

    assert ("search -> find", "profile -> look") == error.available
    assert "search -> find, profile -> look" in str(error)


@pytest.mark.parametrize("place", range(4), ids=KINDS)
@pytest.mark.parametrize("case", INVALID, ids=IDS)
def test_R_09_what_is_there_and_bad_never_falls_through(
    place: int, case: tuple[str, bytes, str]
) -> None:
    contents: list[bytes | None] = [None] * place
    contents += [case[1], *[chosen("profile")] * (3 - place)]
    error = refused(case[2], router(default_route_id="profile"), *contents)

    assert (KINDS[place], f"place/{KINDS[place]}", "pick") == (
        error.source_kind,
        error.source_path,
        error.router_id,
    )


# Evidence in the router's own folder is what it left there itself.
@pytest.mark.parametrize("case", INVALID[:-2], ids=IDS[:-2])
def test_R_10_invalid_files_are_named(run: RunFolder, case: tuple[str, bytes, str]) -> None:
    write(run, "pick", case[1])
    with pytest.raises(RouteError) as caught:
        run.route(plan(default_route_id="profile"), "pick")

    assert case[2] == caught.value.code
    assert f"pick: execution/pick/{SELECTION}: " in str(caught.value)


@pytest.mark.parametrize(
    ("content", "code", "named"),
    [
        (b"{}", "route/field-missing", ["select_route", "route_id", "selected_route_id"]),
        (b'{"route_id": 1}', "route/not-string", ["route_id"]),
        (b'{"selected_route_id": " "}', "route/blank", ["selected_route_id"]),
    ],
)
def test_R_10_the_field_is_named(content: bytes, code: str, named: list[str]) -> None:
    error = refused(code, router(), content)

    assert all(name in error.message for name in named)


@pytest.mark.parametrize("place", range(4), ids=KINDS)
def test_R_11_the_default_is_for_no_source_at_all(place: int) -> None:
    of = router(default_route_id="profile")
    contents = [None] * place + [chosen("search")]

    assert "search" == taken(of, *contents).route_id
    assert ("profile", "default") == (
        (found := taken(of, None, None, None, None)).route_id,
        found.source_kind,
    )
    assert tuple(f"place/{kind}" for kind in KINDS) == found.absent


def test_R_12_no_source_and_no_default_is_an_error(run: RunFolder) -> None:
    of = plan(context_dependencies=[SELECTION], route_source_file="shared.json")
    with pytest.raises(RouteError) as caught:
        run.route(of, "pick")

    assert ("route/no-source", "pick") == (caught.value.code, caught.value.router_id)
    for place in ("route_selections", "execution/pick/", "shared.json", "execution/probe/"):
        assert place in caught.value.message
    assert {} == run.ledger.visits()


def test_R_12_a_default_that_is_no_route_is_an_error() -> None:
    bad = Router("r", (Route("a", "x"), Route("b", "end")), default_route_id="A")
    error = refused("route/bad-default", bad, None)

    assert 'did you mean "a"' in error.message


def test_R_12_it_is_surfaced_to_whoever_runs_the_plan(go: Go, run: RunFolder) -> None:
    handlers = dict.fromkeys(("probe", "find", "look"), lambda x: x.step.id)
    result = go(run_workflow, plan(), handlers, run)

    assert ("failed", "unrouted", "route/no-source", "pick") == (
        result.status,
        result.stopped_by,
        result.code,
        result.stopped_at,
    )
    assert ("probe", "pick") == result.ran


def test_R_13_it_goes_to_the_next_step_of_the_route(go: Go, run: RunFolder) -> None:
    ran: list[str] = []
    handlers = dict.fromkeys(("probe", "find", "look"), lambda x: ran.append(x.step.id))
    write(run, "pick", chosen("profile"))
    result = go(run_workflow, plan(), handlers, run)

    assert ("look", ["probe", "look"]) == (result.selections[0].next_step_id, ran)


def test_R_14_end_ends_the_plan(go: Go, run: RunFolder) -> None:
    stop = [*plan().to_dict()["steps"][1]["routes"], {"route_id": "stop", "next_step_id": "end"}]
    of = plan(routes=stop)
    write(run, "pick", chosen("end"))
    result = go(run_workflow, of, dict.fromkeys(("probe", "find", "look"), lambda _: "x"), run)

    assert ("completed", "done", "end") == (result.status, result.stopped_by, result.next_step_id)
    assert ("probe", "pick") == result.ran


@pytest.mark.parametrize("question", ["", "route_id == 'profile'", '{"select_route": "profile"}'])
@pytest.mark.parametrize("kind", ["routing", "branch"])
def test_R_15_the_question_is_never_evaluated(question: str, kind: str) -> None:
    of = router(kind=kind, **{"routing_question": None, f"{kind}_question": question})

    assert (question, "search") == (of.question, taken(of, chosen("search")).route_id)


@pytest.mark.parametrize("condition", ["route_id == 'profile'", "false", "{{ x }}", "1/0"])
def test_R_15_nor_is_a_condition(condition: str) -> None:
    ways = [{**way, "condition": condition} for way in data()["steps"][1]["routes"]]
    of = router(routes=ways)

    assert ("search", condition) == (taken(of, chosen("search")).route_id, of.routes[0].condition)


@pytest.mark.parametrize("description", ["Decide.", " "])
def test_R_16_a_description_is_refused(description: str, go: Go, run: RunFolder) -> None:
    of = plan(description=description)
    (problem,) = (one for one in check_plan(of) if one.level == "error")
    write(run, "pick", chosen("search"))

    assert ("route/description", "pick") == (problem.code, problem.step_id)
    refused("route/description", of.routers[0], chosen("search"))
    for attempt in (
        lambda: run.route(of, "pick"),
        lambda: go(run_workflow, of, dict.fromkeys(("probe", "find", "look"), str), run),
    ):
        with pytest.raises(RouteError, match="pick") as caught:
            attempt()
        assert "route/description" == caught.value.code


def test_R_17_a_step_before_the_router_decides(go: Go, run: RunFolder) -> None:
    of = plan(context_dependencies=[SELECTION])

    def probe(given: Any) -> str:
        return write_choice(given.run, given.step.id, "search", router=of.routers[0])

    handlers = {"probe": probe, "find": lambda _: "found", "look": lambda _: "looked"}
    result = go(run_workflow, of, handlers, run)

    assert ("found", "context_dependency") == (result.output, result.selections[0].source_kind)


def test_R_18_no_variable_is_read(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("select_route", "SELECT_ROUTE", "ROUTE_SELECTION", "route_selection", "pick"):
        monkeypatch.setenv(name, "profile")
    of = Plan.load({**data(), "variables": {"route_selection": "profile", "pick": "profile"}})
    write(run, "pick", chosen("search"))

    assert "search" == run.route(of, "pick").route_id


OLDER = {
    "objective": "find people",
    "steps": [
        {
            "id": "probe",
            "title": "Probe",
            "description": "look at the request",
            "success_criteria": "said which",
            "context_output": "analysis.json, route_selection.json",
        },
        {
            "id": "pick",
            "type": "routing",
            "description": "",
            "routing_question": "Which way?",
            "routes": [
                {
                    "route_id": "search",
                    "route_name": "Search",
                    "condition": "a name is given",
                    "next_step_id": "find",
                    "colour": "red",
                },
                {"route_id": "profile", "next_step_id": "end"},
            ],
            "default_route_id": "profile",
            "context_dependencies": ["analysis.json", "route_selection.json"],
            "has_loop": False,
        },
        {"id": "find", "context_output": None},
    ],
}


def test_R_19_plans_of_the_older_form_load_unchanged(tmp_path: Path) -> None:
    import json

    path = tmp_path / "plan.json"
    path.write_text(json.dumps(OLDER), encoding="utf-8")
    found = Plan.load(path)
    (of,) = found.routers

    assert [] == [one for one in check_plan(found) if one.level == "error"]
    assert (("search", "find"), ("profile", "end")) == tuple(
        (route.route_id, route.next_step_id) for route in of.routes
    )
    assert ("profile", "Which way?", "routing") == (of.default_route_id, of.question, of.kind)
    assert "Search" == of.routes[0].name
    assert {"objective": "find people"} == found.extra
    assert {"has_loop": False} == found.steps[1].extra
    assert {"colour": "red"} == of.routes[0].extra
    assert str(path) == found.source
    again = Plan.load(found.to_dict())
    assert found.to_dict() == again.to_dict()
    assert Plan.load(path.read_bytes()).steps == found.steps == again.steps


@pytest.mark.parametrize("kind", ["routing", "branch"])
def test_R_19_both_kinds_obey_the_same(kind: str) -> None:
    of = Router("r", (Route("a", "x"), Route("b", "end")), kind=kind)  # type: ignore[arg-type]

    assert "a" == taken(of, chosen("a")).route_id
    assert kind == PlanStep.of(of).kind
