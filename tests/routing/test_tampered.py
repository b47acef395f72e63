"""What a run keeps, changed by somebody else: told, never followed, never taken for nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlock.errors import InterlockError
from interlock.routing import RouteError, Router, RunFolder, by_file, run_workflow, write_choice
from interlock.routing._files import DiskFiles

from .conftest import Go
from .plans import SELECTION, chosen, plan, tree, write
from .test_sources import CHECKED

OF = plan(context_dependencies=[SELECTION])
WORK = {
    "probe": lambda given: write_choice(given.run, given.step.id, "profile"),
    "find": lambda given: given.step.id,
    "look": lambda given: given.step.id,
}
LOG = "execution/pick/route_evidence.jsonl"


@pytest.fixture
def visited(tmp_path: Path) -> RunFolder:
    """Give a run whose router was visited once."""
    run = RunFolder(tmp_path / "workspace", "one")
    write(run, "probe", chosen("search"))
    run.route(OF, "pick")
    return run


def change(run: RunFolder, **fields: Any) -> None:
    log = Path(run.path, LOG)
    log.write_text(json.dumps({**json.loads(log.read_bytes()), **fields}) + "\n", "utf-8")


@pytest.mark.parametrize(
    "fields",
    [
        {"router_id": "../../../../evil"},
        {"router_id": "/evil"},
        {"router_id": "find"},
        {"router_id": ""},
        {"schema": "interlock.route-evidence/2"},
        {"schema": "other"},
        {"visit": 0},
        {"visit": -1},
        {"visit": True},
        {"visit": "1"},
        {"absent": "x"},
        {"digest": None},
        {"key": 1},
        {"more": 1},
    ],
)
def test_evidence_that_no_router_wrote_is_damaged(
    fields: dict[str, Any], visited: RunFolder, tmp_path: Path
) -> None:
    change(visited, **fields)
    before = tree(tmp_path)
    for ask in (
        lambda: visited.route(OF, "pick"),
        lambda: visited.route(OF, "pick", visit=1),
        visited.evidence,
    ):
        with pytest.raises(RouteError, match="is damaged") as caught:
            ask()
        assert ("route/unreadable", LOG) == (caught.value.code, caught.value.source_path)
        assert "restore it, or take a new run" in caught.value.message

    assert before == tree(tmp_path)


def test_visits_that_are_not_in_order_are_damaged(visited: RunFolder) -> None:
    log = Path(visited.path, LOG)
    log.write_bytes(log.read_bytes() * 2)
    with pytest.raises(RouteError, match="visit 1 after 1"):
        visited.route(OF, "pick")


def test_the_number_of_a_visit_is_never_given_twice(visited: RunFolder) -> None:
    write(visited, "probe", chosen("profile"))
    visited.route(OF, "pick")
    log = Path(visited.path, LOG)
    log.write_bytes(log.read_bytes().splitlines(keepends=True)[1])
    Path(visited.path, "visits.json").unlink()
    again = visited.route(OF, "pick")

    assert (3, "profile") == (again.visit, again.route_id)
    assert again == visited.route(OF, "pick", visit=3)


@pytest.mark.parametrize("fields", [{"route_id": "gone"}, {"next_step_id": "nowhere"}])
def test_a_route_that_was_taken_and_is_no_more_is_not_taken_again(
    fields: dict[str, str], go: Go, visited: RunFolder
) -> None:
    change(visited, **fields)
    with pytest.raises(RouteError, match="no route of this router any more") as caught:
        visited.route(OF, "pick", visit=1)
    result = go(run_workflow, OF, WORK, visited)

    assert ("route/unknown", "pick") == (caught.value.code, caught.value.router_id)
    assert ("unrouted", "route/unknown", "pick") == (
        result.stopped_by,
        result.code,
        result.stopped_at,
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("selections.json", content)
        for content in ("[]", "{", "", '{"selections": []}', '{"selections": {"pick": 1}}')
    ]
    + [
        ("run.json", content)
        for content in ("[]", "{", "", '{"selections": "1"}', '{"selections": true}')
    ]
    + [
        ("visits.json", content)
        for content in ("[]", "{", "", "\ufeff{}", '{"pick": {"search": 1.0}}', '{"pick": null}')
    ],
)
def test_a_file_of_a_run_that_is_damaged_is_named(
    name: str, content: str, visited: RunFolder
) -> None:
    Path(visited.path, name).write_text(content, "utf-8")
    before = tree(visited.path)
    with pytest.raises(InterlockError, match="is damaged") as caught:
        RunFolder(visited.root, "one").route(OF, "pick")

    assert name in str(caught.value)
    assert "restore it, or take a new run" in str(caught.value)
    assert before == tree(visited.path)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"event": "done", "step": "probe", "visit": 1, "next": "nowhere"}, 'no step "nowhere"'),
        ({"event": "done", "step": "probe", "visit": 1}, 'no step ""'),
        ({"event": "started", "step": "../../x", "visit": 1}, 'no step "../../x"'),
        ({"event": "jumped", "step": "probe", "visit": 1}, "journal.jsonl: is damaged"),
        ([], "journal.jsonl: is damaged"),
    ],
)
def test_a_journal_that_names_no_step_starts_nothing(
    line: object, said: str, go: Go, visited: RunFolder
) -> None:
    Path(visited.path, "journal.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    with pytest.raises(InterlockError) as caught:
        go(run_workflow, OF, WORK, visited, rerun_interrupted=True)

    assert said in str(caught.value)


@pytest.mark.parametrize(
    "of",
    [
        Router("../../../evil", OF.routers[0].routes, default_route_id="search"),
        Router("/evil", OF.routers[0].routes, default_route_id="search"),
        *(
            plan(routes=CHECKED, value_from=place).routers[0]
            for place in ("../../../facts.json", "/facts.json", "probe/../../facts.json", "x", "")
        ),
        *(
            plan(context_dependencies=[place]).routers[0]
            for place in (f"../{SELECTION}", f"/x/{SELECTION}", f"a/b/{SELECTION}")
        ),
    ],
)
def test_a_router_that_no_plan_was_checked_for_stays_in_its_run(
    of: Router, run: RunFolder, tmp_path: Path
) -> None:
    (tmp_path / "facts.json").write_text('{"n": 10}', "utf-8")
    (tmp_path / SELECTION).write_bytes(chosen("search"))
    with pytest.raises(RouteError) as caught:
        run.take(None, by_file(of, run).router)

    assert "route/unsafe-path" == caught.value.code
    assert {"facts.json", SELECTION} == {
        name for name in tree(tmp_path) if not name.endswith("lock")
    }


@pytest.mark.parametrize("part", ["", ".", "..", "a/b", "/a", "../a", "a\0b"])
def test_no_name_leads_out_of_the_folder(part: str, tmp_path: Path) -> None:
    files, root = DiskFiles(), str(tmp_path / "root")
    (tmp_path / "a").write_bytes(b"outside")
    before = tree(tmp_path)
    for attempt in (
        lambda: files.read(root, ("x", part)),
        lambda: files.read(root, (part, "a")),
        lambda: files.write(root, (part, "a"), b""),
        lambda: files.append(root, ("x", part), b""),
        lambda: files.remove(root, (part,)),
        lambda: files.move(root, ("x",), (part,)),
        lambda: files.move(root, (part,), ("x",)),
        lambda: files.names(root, (part,)),
    ):
        with pytest.raises(RouteError) as caught:
            attempt()
        assert "route/unsafe-path" == caught.value.code

    assert before == tree(tmp_path)
