"""What is handed over and is of another kind: named, shown, and told what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from interlock.errors import ConfigError
from interlock.routing import (
    Plan,
    PlanStep,
    Route,
    Router,
    RunFolder,
    Source,
    by_file,
    check_plan,
    check_plans,
    match,
    read_choice,
    resolve,
    run_full_workflow,
    run_step,
    run_workflow,
    sources_for,
    to_mermaid,
    write_choice,
)

from .plans import chosen, plan, router, tree

PICK, PLAN = router(), plan()
WAYS = [Route("a", "end"), Route("b", "end")]
WORK = dict.fromkeys(("probe", "find", "look"), str)
ODD: list[Any] = [None, 1, True, 1.5, "x", b"x", [], {}, object()]
Call = Callable[[Any, RunFolder], object]


def ran(function: Callable[..., Any], *args: object, **options: object) -> object:
    return anyio.run(lambda: function(*args, **options))


# What is called, the field that is named, and the kinds that are right.
CALLS: dict[str, tuple[Call, str, tuple[type, ...]]] = {
    "RunFolder": (lambda odd, run: RunFolder(odd, "one"), "root", (str,)),
    "lock_timeout": (
        lambda odd, run: RunFolder(run.root, "one", lock_timeout=odd),
        "lock_timeout",
        (int, float),
    ),
    "seed": (lambda odd, run: run.seed(odd), "plan", ()),
    "route": (lambda odd, run: run.route(odd, "pick"), "plan", ()),
    "take": (lambda odd, run: run.take(PLAN, odd), "router", ()),
    "match": (lambda odd, run: match(odd, "a"), "router", ()),
    "match a value": (lambda odd, run: match(PICK, odd), "value", (str,)),
    "resolve": (lambda odd, run: resolve(odd, []), "router", ()),
    "resolve a source": (lambda odd, run: resolve(PICK, [odd]), "sources[0]", ()),
    "resolve a content": (
        lambda odd, run: resolve(PICK, [Source("preseed", "p", odd)]),
        "content",
        (bytes, type(None)),
    ),
    "resolve a visit": (
        lambda odd, run: resolve(PICK, [Source("preseed", "p", chosen("search"))], visit=odd),
        "visit",
        (int,),
    ),
    "read_choice": (lambda odd, run: read_choice(odd), "content", (bytes,)),
    "limit": (lambda odd, run: read_choice(chosen("a"), limit=odd), "limit", (int,)),
    "check_plan": (lambda odd, run: check_plan(odd), "plan", ()),
    "check_plans": (lambda odd, run: check_plans(odd), "paths", (list, dict)),
    "check_plans of": (lambda odd, run: check_plans([odd]), "paths[0]", (str,)),
    "to_mermaid": (lambda odd, run: to_mermaid(odd), "plan", ()),
    "sources_for": (lambda odd, run: sources_for(odd, PICK, run), "plan", (type(None),)),
    "sources_for a router": (lambda odd, run: sources_for(PLAN, odd, run), "router", ()),
    "sources_for a run": (lambda odd, run: sources_for(PLAN, PICK, odd), "run", ()),
    "sources_for choices": (
        lambda odd, run: sources_for(PLAN, PICK, run, odd),
        "route_selections",
        (dict, type(None)),
    ),
    "write_choice": (lambda odd, run: write_choice(odd, "probe", "search"), "run", ()),
    "write_choice for": (
        lambda odd, run: write_choice(run, "probe", "search", router=odd),
        "router",
        (type(None),),
    ),
    "by": (lambda odd, run: write_choice(run, "p", "s", by=odd), "by", (str, type(None))),
    "reason": (lambda odd, run: write_choice(run, "p", "s", reason=odd), "reason", (str,)),
    "by_file": (by_file, "router", ()),
    "by_file in": (lambda odd, run: by_file(PICK, odd), "run", ()),
    "by_file of": (lambda odd, run: by_file(PICK, run, plan=odd), "plan", (type(None),)),
    "Plan.load": (lambda odd, run: Plan.load(odd), "plan", (str, bytes, dict)),
    "Plan": (lambda odd, run: Plan(odd), "steps", (list,)),
    "Plan of": (lambda odd, run: Plan([odd]), "steps[0]", ()),
    "PlanStep": (lambda odd, run: PlanStep(odd, "agent"), "id", (str,)),
    "PlanStep's router": (
        lambda odd, run: PlanStep("a", "agent", router=odd),
        "router",
        (type(None),),
    ),
    "PlanStep's output": (
        lambda odd, run: PlanStep("a", "agent", context_output=odd),
        "context_output",
        (list,),
    ),
    "Router": (lambda odd, run: Router(odd, WAYS), "id", (str,)),
    "Router's routes": (lambda odd, run: Router("r", odd), "routes", (list,)),
    "Router's route": (lambda odd, run: Router("r", [odd]), "routes[0]", ()),
    "Router's kind": (lambda odd, run: Router("r", WAYS, kind=odd), "kind", ()),
    "Router's default": (
        lambda odd, run: Router("r", WAYS, default_route_id=odd),
        "default_route_id",
        (str, type(None)),
    ),
    "Router's limit": (lambda odd, run: Router("r", WAYS, max_visits=odd), "max_visits", (int,)),
    "Route": (lambda odd, run: Route(odd, "end"), "route_id", (str,)),
    "Route's match": (lambda odd, run: Route("a", "end", match=odd), "match", ()),
    "run_workflow": (lambda odd, run: ran(run_workflow, odd, {}, run), "plan", ()),
    "run_workflow in": (lambda odd, run: ran(run_workflow, PLAN, WORK, odd), "folder", ()),
    "run_full_workflow in": (
        lambda odd, run: ran(run_full_workflow, PLAN, WORK, odd),
        "folder",
        (),
    ),
    "run_step": (lambda odd, run: ran(run_step, odd, "pick", {}, run), "plan", ()),
    # A word that is none must not stand for the other one.
    "on_change": (
        lambda odd, run: ran(run_workflow, PLAN, WORK, run, on_change=odd),
        "on_change",
        (),
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("odd", ODD, ids=[type(odd).__name__ for odd in ODD])
def test_what_is_of_another_kind_is_named(name: str, odd: Any, run: RunFolder) -> None:
    call, field, right = CALLS[name]
    if type(odd) in right:
        return
    with pytest.raises(ConfigError) as caught:
        call(odd, run)

    (problem, *_) = caught.value.problems
    assert field == problem.field
    assert problem.message.startswith("must be ")
    assert problem.value is not None
    assert {} == tree(run.root)


def test_all_faults_of_a_part_are_told() -> None:
    with pytest.raises(ConfigError) as caught:
        Router(1, ["a"], default_route_id=2, kind="x")  # type: ignore[arg-type,list-item]

    assert ["id", "default_route_id", "routes[0]", "kind"] == [
        problem.field for problem in caught.value.problems
    ]


@pytest.mark.parametrize("root", ["a\0b", "a\ud800b"])
def test_a_root_that_is_no_path(root: str) -> None:
    with pytest.raises(ConfigError, match=r"root: .*must be a path"):
        RunFolder(root, "one")


def test_a_root_may_have_any_name_that_the_system_has(tmp_path: Path) -> None:
    odd = tmp_path / "\udcff é"
    assert write_choice(RunFolder(odd, "one"), "probe", "search") == "search"
