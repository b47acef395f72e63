"""Choices that are written, and read by a `route` of the harness."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from interlock import (
    Branch,
    Checks,
    DecisionTable,
    LeadAssign,
    Retry,
    Route,
    RuleScore,
    Run,
    branch,
    consensus_vote,
    route,
)
from interlock.errors import ConfigError, UsageError
from interlock.harness.classify import RouteChoice
from interlock.harness.ctx import Ctx
from interlock.record import Rollout, replay
from interlock.routing import RouteError, RunFolder, by_file, read_choice, write_choice
from interlock.routing.decide import ByFile
from interlock.testing import ManualClock

from .conftest import Go
from .plans import SELECTION, chosen, plan, router, tree, write

BIG = [{"path": "n", "op": "greaterThan", "expected": 9}]
SMALL = [{"path": "n", "op": "lessThan", "expected": 9}]


def written(run: RunFolder, step: str = "probe") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(run.step_path(step), SELECTION).read_bytes())
    return found


@pytest.mark.parametrize(("given", "stored"), [("search", "search"), ("find", "search")])
def test_a_choice_is_checked_where_it_is_written(given: str, stored: str, run: RunFolder) -> None:
    assert stored == write_choice(run, "probe", given, router=router(), by="anna", reason="asked")
    assert {"select_route": stored, "by": "anna", "reason": "asked"} == written(run)
    assert stored == read_choice(Path(run.step_path("probe"), SELECTION).read_bytes()).value


@pytest.mark.parametrize("bad", ["serch", "end", "probe", "", "Search"])
def test_the_writer_fails_and_not_the_reader(bad: str, run: RunFolder) -> None:
    with pytest.raises(RouteError) as caught:
        write_choice(run, "probe", bad, router=router())

    assert "route/unknown" == caught.value.code
    assert {} == tree(run.root)


DECIDED = [
    branch({"n": 10}, [{"name": "search", "when": BIG}]),
    branch({"n": 1}, [{"name": "x", "when": BIG}], otherwise={"name": "search"}),
    DecisionTable([{"id": "r", "when": BIG, "outputs": "search"}], policy="first").decide(
        {"n": 10}
    ),
    RuleScore([{"id": "r", "when": BIG, "points": 3}], bands=[{"min": 1, "name": "search"}]).score(
        {"n": 10}
    ),
    LeadAssign([{"id": "search", "when": BIG}], strategy="first").assign({"n": 10}),
    consensus_vote([{"value": "search"}, {"value": "search"}, {"value": "profile"}]),
]
UNDECIDED = [
    branch({"n": 1}, [{"name": "search", "when": BIG}]),
    DecisionTable([{"id": "r", "when": BIG, "outputs": "search"}], policy="first").decide({"n": 1}),
    DecisionTable([{"id": "r", "when": BIG, "outputs": {"a": 1}}], policy="first").decide(
        {"n": 10}
    ),
    DecisionTable(
        [{"id": "r", "when": BIG, "outputs": "search"}, {"id": "s", "when": BIG, "outputs": "x"}],
        policy="unique",
    ).decide({"n": 10}),
    RuleScore([{"id": "r", "when": BIG, "points": 3}], bands=[{"min": 9, "name": "search"}]).score(
        {"n": 10}
    ),
    LeadAssign([{"id": "search", "when": BIG}], strategy="first").assign({"n": 1}),
    consensus_vote([{"value": "search"}, {"value": "profile"}]),
    Checks(BIG).report({"n": 10}),
]


@pytest.mark.parametrize("answer", DECIDED, ids=lambda one: type(one).__name__)
def test_the_answer_of_a_tool_is_the_choice_and_stands_beside_it(
    answer: Any, run: RunFolder
) -> None:
    assert "search" == write_choice(run, "probe", from_=answer, router=router())
    assert {"select_route": "search"} == written(run)
    full = json.loads(Path(run.step_path("probe"), "route_decision.json").read_bytes())
    assert json.loads(answer.to_json()) == full


@pytest.mark.parametrize("answer", UNDECIDED, ids=lambda one: type(one).__name__)
def test_an_answer_that_decides_nothing_is_no_choice(answer: Any, run: RunFolder) -> None:
    with pytest.raises(UsageError, match="from_"):
        write_choice(run, "probe", from_=answer, router=router())

    assert {} == tree(run.root)


def test_one_of_route_and_answer(run: RunFolder) -> None:
    with pytest.raises(ConfigError, match="one of them"):
        write_choice(run, "probe")
    with pytest.raises(ConfigError, match="one of them"):
        write_choice(run, "probe", "search", from_=DECIDED[0])
    with pytest.raises(ConfigError, match="RunFolder"):
        write_choice(run.path, "probe", "search")  # type: ignore[arg-type]


ARMS = {"search": lambda _: "searched", "profile": lambda _: "looked"}


def test_a_route_reads_what_was_decided(go: Go, run: RunFolder) -> None:
    of = router(context_dependencies=[f"probe/{SELECTION}"])
    write_choice(run, "probe", "search", router=of)
    result = go(route, None, classify=by_file(of, run), arms=ARMS)
    (step, _) = result.rollout.steps

    assert ("search", "file", False, "searched") == (
        result.arm,
        result.by,
        result.fallback,
        result.output,
    )
    assert ("classify", "decision") == (step.name, step.kind)
    assert run.evidence()[0].selection.to_dict() == step.decision


def test_the_default_of_the_router_is_a_fallback(go: Go, run: RunFolder) -> None:
    result = go(route, None, classify=by_file(router(default_route_id="profile"), run), arms=ARMS)

    assert ("profile", True) == (result.arm, result.fallback)


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"{", "route/not-json"), (chosen("x"), "route/unknown"), (None, "route/no-source")],
)
def test_what_is_there_and_bad_is_never_the_default_of_the_route(
    content: bytes | None, code: str, go: Go, run: RunFolder
) -> None:
    if content is not None:
        write(run, "pick", content)
    result = go(route, None, classify=by_file(router(), run), arms=ARMS, default="profile")

    assert ("failed", "unrouted", None) == (result.status, result.stopped_by, result.arm)
    assert code in str(result.error)


def test_the_loop_guard_holds_here_too(go: Go, run: RunFolder) -> None:
    write(run, "pick", chosen("search"))
    classify = by_file(router(), run)
    found = [go(route, None, classify=classify, arms=ARMS).stopped_by for _ in range(3)]

    assert ["done", "done", "unrouted"] == found


def test_a_step_that_is_asked_again_is_the_same_visit(go: Go, run: RunFolder) -> None:
    of = router(context_dependencies=[f"probe/{SELECTION}"])
    write(run, "probe", chosen("search"))
    options = {"classify": by_file(of, run), "arms": ARMS}
    first = go(route, "x", run=Run("one"), **options)
    write(run, "probe", chosen("profile"))
    again = go(route, "x", run=Run("one"), **options)
    counted = run.ledger.visits()
    others = [
        go(route, "y", run=Run("one"), **options),
        go(route, "x", run=Run("two"), **options),
    ]

    assert ("search", "search") == (first.arm, again.arm)
    assert {"pick": {"search": 1}} == counted
    # Other values or another run are another visit, which reads anew.
    assert ["profile", "profile"] == [one.arm for one in others]
    keys = [entry.key for entry in run.evidence()]
    assert 3 == len(set(keys))
    assert keys[0] == first.rollout.steps[0].idempotency_key


def test_two_routes_of_one_run_are_two_visits(go: Go, run: RunFolder) -> None:
    write(run, "pick", chosen("search"))
    shared = Run("one")
    classify = by_file(router(), run)
    found = [go(route, "x", classify=classify, arms=ARMS, run=shared).stopped_by for _ in range(3)]

    assert ["done", "done", "unrouted"] == found


def test_another_attempt_is_the_same_visit(go: Go, run: RunFolder) -> None:
    write(run, "pick", chosen("search"))
    tries: list[str] = []

    class Late(ByFile):
        async def __call__(self, values: object, ctx: Ctx | None = None) -> RouteChoice:
            taken = await super().__call__(values, ctx)
            tries.append(str(taken.arm))
            if len(tries) == 1:
                raise ConnectionError("lost after the choice was read")
            return taken

    result = go(
        route,
        None,
        classify=Late(router(), run, None),
        arms=ARMS,
        run=Run(retry=Retry(max_attempts=2), clock=ManualClock()),
    )

    assert ("search", ["search", "search"]) == (result.arm, tries)
    assert {"pick": {"search": 1}} == run.ledger.visits()


@pytest.mark.parametrize("refuses", [False, True])
def test_a_run_that_read_a_file_is_replayed_without_it(
    go: Go, run: RunFolder, *, refuses: bool
) -> None:
    write(run, "pick", chosen("nowhere" if refuses else "search"))
    made = Route(classify=by_file(router(), run), arms=ARMS)
    result = go(made.run, "x")
    record = Rollout.from_json(result.rollout.to_json())
    shutil.rmtree(run.root)
    again = go(replay, record, made)

    assert (result.arm, result.stopped_by) == (again.arm, again.stopped_by)
    assert record == again.rollout
    assert record.steps[0].decision == again.rollout.steps[0].decision
    # No folder was looked at, and none was made.
    assert not Path(run.root).exists()


def test_a_bare_dependency_needs_the_plan(run: RunFolder) -> None:
    of = plan(context_dependencies=[SELECTION])
    write(run, "probe", chosen("search"))
    with pytest.raises(ConfigError, match="give the plan"):
        by_file(of.routers[0], run)

    assert "search" == run.take(of, by_file(of.routers[0], run, plan=of).router).route_id


def test_a_person_decides_upstream(run: RunFolder) -> None:
    write_choice(run, "ask", "profile", router=router(), by="anna@example.com")
    of = router(context_dependencies=[f"ask/{SELECTION}"])

    assert "profile" == run.take(None, of).route_id
    assert "anna@example.com" == written(run, "ask")["by"]


def test_a_tool_and_the_file_agree(go: Go, run: RunFolder) -> None:
    decide = Branch([{"name": "search", "when": BIG}, {"name": "profile", "when": SMALL}])
    of = router(context_dependencies=[f"probe/{SELECTION}"], max_visits=9)
    for n in (1, 10, 5, 100):
        write_choice(run, "probe", from_=decide.decide({"n": n}), router=of)
        direct = go(route, {"n": n}, classify=decide, arms=ARMS)
        filed = go(route, {"n": n}, classify=by_file(of, run), arms=ARMS)
        assert direct.arm == filed.arm
