"""What follows what in a plan: against the plain definitions, and for plans of any size."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.routing import Plan, RouteError, RunFolder, check_plan, to_mermaid
from interlock.routing._graph import circles, reached

from .plans import SELECTION, chosen, write

NAMES = "abcdefgh"
SHARED = {"route_source_file": "shared.json"}


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Make plans without errors of form: each id once, every destination there."""
    ids = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    targets = st.sampled_from([*ids, "end"])

    def router(at: int) -> st.SearchStrategy[dict[str, Any]]:
        references = [SELECTION, *(f"{name}/{SELECTION}" for name in ids[:at])]
        return st.fixed_dictionaries(
            {
                "routes": st.lists(targets, min_size=2, max_size=3).map(
                    lambda to: [
                        {"route_id": f"to-{n}", "next_step_id": one} for n, one in enumerate(to)
                    ]
                )
            },
            optional={
                "context_dependencies": st.lists(st.sampled_from(references), max_size=2),
                "route_source_file": st.just("shared.json"),
            },
        )

    work = st.fixed_dictionaries(
        {}, optional={"next_step_id": targets, "context_output": st.just(SELECTION)}
    )
    return Plan.load(
        {"steps": [{"id": name, **draw(work | router(at))} for at, name in enumerate(ids)]}
    )


def following(of: Plan) -> dict[str, set[str]]:
    return {
        step.id: {of.after(step)}
        if step.router is None
        else {route.next_step_id for route in step.router.routes}
        for step in of.steps
    }


def closure(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """Say what each step leads to in one or more moves: joined until nothing is new."""
    found = {name: to & edges.keys() for name, to in edges.items()}
    for _ in edges:
        found = {name: to.union(*(found[one] for one in to)) for name, to in found.items()}
    return found


@given(plans())
def test_circles_are_steps_that_lead_to_each_other(of: Plan) -> None:
    edges = following(of)
    leads = closure(edges)
    found = circles({name: tuple(sorted(to)) for name, to in edges.items()})

    assert set(edges) == set(found)
    for one in edges:
        for other in edges:
            is_mutual = one == other or (other in leads[one] and one in leads[other])
            assert is_mutual == (found[one] == found[other])
        assert leads[one] | {one} == set(reached([one], edges))


@given(plans())
def test_loops_that_never_end_are_told(of: Plan) -> None:
    plain = {
        step.id: to
        for step, to in zip(of.steps, following(of).values(), strict=True)
        if step.router is None
    }
    leads = closure(plain)
    lost = {name for name in plain if name in leads[name]}
    told = {
        one.step_id: one.message.partition(" lead back")[0].split(", ")
        for one in check_plan(of)
        if "never ends" in one.message
    }

    assert sorted(lost) == sorted(name for names in told.values() for name in names)
    for first, names in told.items():
        assert [step.id for step in of.steps if step.id in leads[first]] == names
        assert first == names[0]


@given(plans())
def test_routes_that_lead_back_for_certain_are_told(of: Plan) -> None:
    edges = following(of)
    leads = closure(edges)
    expected = [
        (router.id, route.route_id)
        for router in of.routers
        for route in router.routes
        if is_certain(of, router, route.next_step_id, leads)
    ]

    assert expected == [
        (one.step_id, one.route_id) for one in check_plan(of) if one.code == "route/certain-loop"
    ]


def is_certain(of: Plan, router: Any, target: str, leads: dict[str, set[str]]) -> bool:
    """Say whether a route leads back, and no step on a way does work that the router reads."""
    if target == "end" or (target != router.id and router.id not in leads[target]):
        return False
    way = {name for name in {target} | leads[target] if router.id in leads[name]}
    if router.route_source_file is not None:
        return not any(step.router is None for step in of.steps if step.id in way)
    writers = set()
    for reference in router.context_dependencies:
        owner = reference.rpartition("/")[0]
        earlier = of.steps[: [step.id for step in of.steps].index(router.id)]
        found = [
            step for step in earlier if SELECTION in step.context_output and owner in ("", step.id)
        ]
        writers |= {step.id for step in found[-1:] if step.router is None}
    return not way & writers


def line(size: int) -> dict[str, Any]:
    return {"steps": [{"id": f"s{n}"} for n in range(size)]}


def turns(size: int, **router: Any) -> dict[str, Any]:
    """Make pairs of a step that decides and a router that goes back or on."""
    steps: list[dict[str, Any]] = []
    for n in range(size):
        following_ = f"work{n + 1}" if n + 1 < size else "end"
        routes = [
            {"route_id": "back", "next_step_id": f"work{n}"},
            {"route_id": "first", "next_step_id": "work0"},
            {"route_id": "on", "next_step_id": following_},
        ]
        steps += [{"id": f"work{n}", "context_output": SELECTION}]
        steps += [{"id": f"router{n}", "routes": routes, **router}]
    return {"steps": steps}


def wide(size: int) -> dict[str, Any]:
    routes = [{"route_id": f"r{n}", "next_step_id": f"s{n}"} for n in range(size)]
    ends = [{**step, "next_step_id": "end"} for step in line(size)["steps"]]
    return {"steps": [{"id": "pick", "routes": routes}, *ends]}


def lost(size: int) -> dict[str, Any]:
    return {"steps": [{"id": f"s{n}", "next_step_id": f"x{n}"} for n in range(size)]}


def pairs(size: int) -> dict[str, Any]:
    return {"steps": [{"id": f"s{n}", "next_step_id": f"s{n ^ 1}"} for n in range(size * 2)]}


MADE: dict[str, Callable[[int], dict[str, Any]]] = {
    "line": line,
    "turns": turns,
    "turns by the bare name": lambda n: turns(n, context_dependencies=[SELECTION]),
    "turns by a shared file": lambda n: turns(n, **SHARED),
    "turns by the bare name of a later one": lambda n: {
        "steps": turns(n, context_dependencies=[SELECTION])["steps"][::-1]
    },
    "turns by one step": lambda n: turns(n, context_dependencies=[f"work0/{SELECTION}"]),
    "wide": wide,
    "lost": lost,
    "pairs": pairs,
}


def lines(work: Callable[[], object]) -> int:
    """Count the lines of Python that are run: the same in every run, whatever the machine."""
    count = 0

    def traced(_frame: FrameType, _event: str, _arg: object) -> Any:
        nonlocal count
        count += 1
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def whole(of: Plan) -> None:
    check_plan(of)
    to_mermaid(of)
    for step in of.steps:
        of.after(step)
        of.step(step.id)


@pytest.mark.parametrize("kind", MADE)
def test_twice_the_steps_are_twice_the_work(kind: str) -> None:
    small, large = (Plan.load(MADE[kind](size)) for size in (150, 300))
    ratio = lines(lambda: whole(large)) / lines(lambda: whole(small))

    assert ratio < 2.3


def test_a_visit_looks_at_its_router_and_not_at_all_others(run: RunFolder) -> None:
    of = Plan.load(turns(150, context_dependencies=[f"work0/{SELECTION}"]))
    write(run, "work0", chosen("on"))

    run.route(of, "router6")

    assert lines(lambda: run.route(of, "router7")) < lines(lambda: check_plan(of)) / 5


def test_many_names_are_not_all_told(run: RunFolder) -> None:
    producers = [{"id": f"p{n}", "context_output": SELECTION} for n in range(30)]
    routes = [{"route_id": name, "next_step_id": "end"} for name in "ab"]
    of = Plan.load(
        {"steps": [*producers, {"id": "r", "routes": routes, "context_dependencies": SELECTION}]}
    )
    (told,) = (one.message for one in check_plan(of) if one.code == "route/two-producers")

    assert "p0, p1, " in told
    assert "p17, 11 more, p29; the last counts" in told
    with pytest.raises(RouteError, match="no-source"):
        run.route(of, "r")
