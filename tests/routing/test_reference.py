"""Random plans in random folders, visit after visit, against the slow reference."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.routing import Plan, RouteError, RunFolder
from interlock.routing._journal import Entry
from oracle.routes import FOLDER, Refused, World, take

from .plans import SELECTION, tree

IDS = ["a", "b", "c", "A", "one"]
TARGETS = ["one", "two", "last", "end"]
values = st.sampled_from([*IDS, *TARGETS, " a ", "pick", "", " ", 1, None, ["a"]])
texts = st.one_of(
    st.builds(lambda v: json.dumps({"select_route": v}), values),
    st.builds(lambda v, w: json.dumps({"route_id": v, "select_route": w}), values, values),
    st.builds(lambda v: json.dumps({"selected_route_id": v, "by": "anna"}), values),
    st.builds(lambda v: f'{{"select_route": "{v}", "select_route": "a"}}', st.sampled_from(IDS)),
    st.builds(lambda v: json.dumps({"select_route": v, "evidence": True}), st.sampled_from(IDS)),
    st.builds(
        lambda v: json.dumps({"route_id": v, "schema": "interlock.route-evidence/2"}),
        st.sampled_from(IDS),
    ),
    st.builds(lambda n: json.dumps({"n": n}), st.integers(-1, 12)),
    st.sampled_from(["", " ", "{}", "[]", "null", '"a"', "{", '{"select_route": "a', "\ufeff"]),
    st.sampled_from(['{"select_route": "a", "x": ' + "[" * n + "]" * n + "}" for n in (31, 32)]),
)


class Padded(bytes):
    """A content of so many bytes, which is not shown in full."""

    def __repr__(self) -> str:
        return f"<{len(self)} bytes>"


contents = st.one_of(
    st.sampled_from([65_536, 65_537]).map(lambda n: Padded(b'{"select_route": "a"}'.ljust(n))),
    texts.map(str.encode),
    texts.map(lambda text: b"\xef\xbb\xbf" + text.encode()),
    texts.map(lambda text: text.encode("utf-16")),
    st.just(b'{"select_route": "\xff"}'),
    st.just(FOLDER),
)


@st.composite
def routers(draw: st.DrawFn) -> dict[str, Any]:
    ids = draw(st.lists(st.sampled_from(IDS), min_size=2, max_size=4, unique=True))
    routes: list[dict[str, Any]] = [
        {"route_id": name, "next_step_id": draw(st.sampled_from(TARGETS))} for name in ids
    ]
    made: dict[str, Any] = {"id": "pick", "routes": routes}
    if draw(st.booleans()):
        made["default_route_id"] = draw(st.sampled_from(ids))
    if draw(st.integers(0, 3)) == 0:
        made["require_source"] = True
    if draw(st.booleans()):
        made["max_visits"] = draw(st.integers(1, 3))
    if draw(st.integers(0, 4)) == 0:
        for route in routes:
            least = draw(st.integers(0, 10))
            route["when"] = [{"path": "n", "op": "greaterThanOrEqual", "expected": least}]
        made["value_from"] = "two/facts.json"
        return made
    if draw(st.booleans()):
        made["route_source_file"] = "shared.json"
    references = st.sampled_from([SELECTION, f"one/{SELECTION}", f"two/{SELECTION}", "notes.md"])
    made["context_dependencies"] = draw(st.lists(references, max_size=3, unique=True))
    return made


@st.composite
def worlds(draw: st.DrawFn) -> World:
    output = st.sampled_from([[SELECTION], ["notes.md", SELECTION]])
    router = draw(routers())
    steps = [
        {"id": "one", "context_output": draw(output)},
        {"id": "two", "context_output": [*draw(output), "facts.json"]},
        router,
        {"id": "last"},
    ]
    world = World({"steps": steps}, done=draw(st.sets(st.sampled_from(["one", "two"]))))
    if draw(st.integers(0, 5)) == 0:
        chosen = draw(st.sampled_from(router["routes"]))["route_id"]
        world.caller["pick"] = chosen
    return world


PLACES = [
    f"execution/pick/{SELECTION}",
    "shared.json",
    f"execution/one/{SELECTION}",
    f"execution/two/{SELECTION}",
    "execution/two/facts.json",
]
changes = st.dictionaries(st.sampled_from(PLACES), st.none() | contents, max_size=3)


@settings(max_examples=100, deadline=None)
@given(worlds(), st.lists(changes, min_size=1, max_size=5), st.booleans())
def test_every_visit_is_what_the_promises_say(
    world: World, visits: list[dict[str, Any]], is_fresh: bool
) -> None:
    of = Plan.load(world.plan)
    with tempfile.TemporaryDirectory() as home:
        run = RunFolder(home, "one")
        run.seed(of, world.caller)
        for step in world.done:
            run.journal.note(Entry("done", step, 1))
        for changed in visits:
            for place, content in changed.items():
                world.files[place] = content
                put(Path(run.root if place == "shared.json" else run.path, place), content)
            # Another process has nothing but what is on the disk.
            run = RunFolder(home, "one") if is_fresh else run
            before = files(run)
            expected, found = expectation(world), outcome(run, of)

            assert expected == found
            if isinstance(found, str):
                # Nothing is written of what was refused.
                assert before == files(run)
            evidence = run.evidence()
            taken = {name: counts for name, counts in world.taken.items() if counts}
            assert taken == run.ledger.visits()
            assert sum(taken.get("pick", {}).values()) == len(evidence)


def files(run: RunFolder) -> dict[str, bytes]:
    """Give what counts; what stands beside that is made again where somebody took it away."""
    counting = ("visits.json", "route_evidence.jsonl")
    return {name: it for name, it in tree(run.path).items() if name.endswith(counting)}


def put(place: Path, content: Any) -> None:
    if place.is_dir():
        place.rmdir()
    place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    if content == FOLDER:
        place.mkdir()
    elif content is not None:
        place.write_bytes(content)


def expectation(world: World) -> dict[str, Any] | str:
    try:
        return take(world, "pick")
    except Refused as refused:
        return str(refused).partition(":")[0]


def outcome(run: RunFolder, of: Plan) -> dict[str, Any] | str:
    try:
        taken = run.route(of, "pick")
    except RouteError as error:
        return f"{error.code}" if error.router_id == "pick" else str(error)
    entry = run.evidence()[-1]
    assert taken == entry.selection
    told = entry.to_dict()
    names = ("route_id", "next_step_id", "source_kind", "source_path", "visit", "absent", "silent")
    return {name: told[name] for name in names}
