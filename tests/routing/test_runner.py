"""Plans that are run: in order, taken up again, and stopped."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

from interlock import Limits, Run
from interlock.errors import ConfigError, RunBusy, RunFailed
from interlock.record import Rollout
from interlock.routing import (
    Plan,
    PlanResult,
    RouteError,
    RunFolder,
    run_full_workflow,
    run_step,
    run_workflow,
    write_choice,
)
from interlock.routing._files import DiskFiles

from .conftest import Go
from .plans import SELECTION, chosen, plan, tree, write

LINE = Plan.load({"steps": [{"id": "one"}, {"id": "two"}, {"id": "three"}]})


def ok(given: Any) -> str:
    return str(given.step.id)


WORK: dict[str, Any] = dict.fromkeys(("probe", "find", "look"), ok)


def test_steps_run_in_order_and_jump_where_they_say(go: Go, run: RunFolder) -> None:
    of = Plan.load(
        {
            "steps": [
                {"id": "a", "next_step_id": "c"},
                {"id": "b"},
                {"id": "c", "next_step_id": "end"},
            ]
        }
    )
    result = go(run_workflow, of, dict.fromkeys("abc", ok), run)

    assert (("a", "c"), "c", "end") == (result.ran, result.output, result.next_step_id)


def test_callables_may_be_async_and_ask_for_a_context(go: Go, run: RunFolder) -> None:
    async def slow(given: Any, ctx: Any) -> dict[str, object]:
        await anyio.lowlevel.checkpoint()
        return {"path": ctx.path, "values": given.values, "visit": given.visit}

    result = go(run_workflow, LINE, dict.fromkeys(("one", "two", "three"), slow), run, values=[7])

    assert {"path": "three", "values": [7], "visit": 1} == result.data


def test_the_record_holds_each_decision(go: Go, run: RunFolder) -> None:
    of = plan(context_dependencies=[SELECTION])
    handlers = {**WORK, "probe": lambda x: write_choice(x.run, x.step.id, "search")}
    told: list[Any] = []
    result = go(run_workflow, of, handlers, run, run=Run(on_event=told.append))
    (step,) = result.rollout.find(kind="decision")

    assert ("pick", "search", "completed") == (step.path, step.output, step.status)
    assert result.selections[0].to_dict() == step.decision
    assert [("probe", "stage"), ("pick", "decision"), ("find", "stage")] == [
        (one.name, one.kind) for one in result.rollout.steps
    ]
    ended = [one for one in told if one.event == "step_ended" and one.path == "pick"]
    assert step == ended[0].step
    assert result == PlanResult.from_dict(result.to_dict())
    assert result.rollout == Rollout.from_json(result.rollout.to_json())


def test_a_failed_step_stops_the_plan_and_is_tried_again(go: Go, run: RunFolder) -> None:
    tries: list[str] = []

    def two(given: Any) -> str:
        tries.append(given.step.id)
        if len(tries) == 1:
            raise OSError("disk on fire")
        return "fine"

    handlers = {"one": lambda _: tries.insert(0, "one"), "two": two, "three": ok}
    handlers["one"] = ok
    first = go(run_workflow, LINE, handlers, run)
    second = go(run_workflow, LINE, handlers, RunFolder(run.root, run.run_id))

    assert ("failed", "failed", "two") == (first.status, first.stopped_by, first.stopped_at)
    assert "disk on fire" in str(first.error)
    with pytest.raises(RunFailed):
        first.unwrap()
    assert ("completed", ("two", "three")) == (second.status, second.ran)


def test_a_run_that_got_through_does_nothing_more(go: Go, run: RunFolder) -> None:
    go(run_workflow, LINE, dict.fromkeys(("one", "two", "three"), ok), run)
    before = tree(run.path)
    again = go(run_workflow, LINE, dict.fromkeys(("one", "two", "three"), ok), run)

    assert ("completed", (), "end") == (again.status, again.ran, again.next_step_id)
    assert before == tree(run.path)


def test_a_full_run_begins_anew(go: Go, run: RunFolder) -> None:
    of = plan(default_route_id="profile", max_visits=1)
    write(run, "pick", chosen("search"))
    other = Path(run.path, "mine.txt")
    other.write_text("kept", "utf-8")
    first = go(run_workflow, of, WORK, run)
    second = go(run_full_workflow, of, WORK, run)

    assert ("search", "profile") == (
        first.selections[0].route_id,
        second.selections[0].route_id,
    )
    assert ("probe", "pick", "look") == second.ran
    assert {"pick": {"profile": 1}} == run.ledger.visits()
    assert "kept" == other.read_text("utf-8")


def test_a_step_that_was_begun_is_in_doubt(go: Go, run: RunFolder) -> None:
    async def cut_short(given: Any) -> None:
        write(given.run, given.step.id, b"half", "half.txt")
        current.cancel("enough")
        await anyio.sleep_forever()

    current = Run()
    handlers = {"one": ok, "two": cut_short, "three": ok}
    cancelled = go(run_workflow, LINE, handlers, run, run=current)
    whole = dict.fromkeys(("one", "two", "three"), ok)
    doubtful = go(run_workflow, LINE, whole, run)
    again = go(run_workflow, LINE, whole, run, rerun_interrupted=True)

    assert ("cancelled", "cancelled") == (cancelled.status, cancelled.stopped_by)
    assert ("incomplete", "in_doubt", "two", ()) == (
        doubtful.status,
        doubtful.stopped_by,
        doubtful.stopped_at,
        doubtful.ran,
    )
    assert "rerun_interrupted=True" in str(doubtful.error)
    assert ("completed", ("two", "three")) == (again.status, again.ran)
    # What it had written is put away.
    assert {"archive/two.1/half.txt"} == {one for one in tree(run.path) if one.endswith("half.txt")}


def test_what_a_step_wrote_before_is_not_taken_for_what_it_says_now(go: Go, run: RunFolder) -> None:
    back = [
        {"route_id": "again", "next_step_id": "probe"},
        {"route_id": "done", "next_step_id": "end"},
    ]
    of = plan(routes=back, context_dependencies=[SELECTION], default_route_id="done")

    def probe(given: Any) -> None:
        if given.visit == 1:
            write_choice(given.run, given.step.id, "again", router=of.routers[0])

    result = go(run_workflow, of, {**WORK, "probe": probe}, run)

    assert [("again", "context_dependency"), ("done", "default")] == [
        (one.route_id, one.source_kind) for one in result.selections
    ]
    assert ("probe",) == run.evidence()[1].silent


def test_one_step_alone(go: Go, run: RunFolder) -> None:
    of = plan(default_route_id="profile")
    first = go(run_step, of, "probe", {"probe": ok}, run)
    second = go(run_step, of, "pick", {}, run, route_selections={"pick": "find"})
    third = go(run_step, of, "pick", {}, run)

    assert ("probe", "pick") == (first.output, first.next_step_id)
    assert [("find", 1), ("find", 2)] == [
        (one.next_step_id, one.selections[0].visit) for one in (second, third)
    ]
    with pytest.raises(ConfigError, match='did you mean "pick"'):
        go(run_step, of, "pikc", {}, run)


@pytest.mark.parametrize(
    ("handlers", "named"),
    [
        ({}, ["handlers.find", "handlers.look", "handlers.probe"]),
        ({**WORK, "pick": ok}, ["a router, which has none"]),
        ({**WORK, "fnid": ok}, ['did you mean "find"']),
        ({**WORK, "find": 1}, ["handlers.find"]),
        ({**WORK, "find": lambda: None}, ["handlers.find"]),
        (None, ["handlers"]),
    ],
)
def test_callables_that_are_missing_or_none(
    handlers: Any, named: list[str], go: Go, run: RunFolder
) -> None:
    with pytest.raises(ConfigError) as caught:
        go(run_workflow, plan(), handlers, run)

    assert all(name in str(caught.value) for name in named)
    assert {} == tree(run.root)


def test_a_plan_with_errors_is_not_begun(go: Go, run: RunFolder) -> None:
    of = plan(routes=[], default_route_id="x")
    with pytest.raises(RouteError) as caught:
        go(run_workflow, of, WORK, run)

    assert ("route/plan", 2) == (caught.value.code, len(caught.value.problems))
    assert [] == run.journal.entries()
    with pytest.raises(ConfigError, match="plan"):
        go(run_workflow, of.to_dict(), WORK, run)


def test_another_plan_is_refused_in_the_middle(go: Go, run: RunFolder) -> None:
    go(run_step, LINE, "one", {"one": ok}, run)
    changed = Plan.load({"steps": [{"id": "one"}, {"id": "two"}]})
    handlers = dict.fromkeys(("one", "two"), ok)
    with pytest.raises(RouteError, match="not the plan that this run was begun with"):
        go(run_workflow, changed, handlers, run)
    result = go(run_workflow, changed, handlers, run, on_change="accept_config")

    assert ("completed", ("two",)) == (result.status, result.ran)


def test_two_who_run_the_same_folder(go: Go, tmp_path: Path) -> None:
    first = RunFolder(tmp_path, "one", lock_timeout=0.1)
    second = RunFolder(tmp_path, "one", lock_timeout=0.1)
    found: list[object] = []

    async def meddling(given: Any) -> str:
        try:
            await run_workflow(LINE, dict.fromkeys(("one", "two", "three"), ok), second)
        except RunBusy as error:
            found.append(error)
        return str(given.step.id)

    result = go(run_workflow, LINE, dict.fromkeys(("one", "two", "three"), meddling), first)

    assert "completed" == result.status
    assert 3 == len(found)


@pytest.mark.parametrize("name", ["journal.jsonl", "route_evidence.jsonl"])
def test_a_run_that_is_cancelled_ends_after_its_last_line_is_written(
    name: str, go: Go, tmp_path: Path
) -> None:
    entered, may_go_on = threading.Event(), threading.Event()

    class Slow(DiskFiles):
        def append(self, root: str, parts: tuple[str, ...], line: bytes) -> None:
            if parts[-1] == name:
                entered.set()
                assert may_go_on.wait(60)
            super().append(root, parts, line)

    folder = RunFolder(tmp_path, "one", files=Slow())
    current = Run()
    ended: list[PlanResult] = []

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            await anyio.to_thread.run_sync(entered.wait)
            current.cancel("enough")
            await anyio.wait_all_tasks_blocked()
            # Nobody else may take the run up while somebody writes.
            assert [] == ended
            with pytest.raises(RunBusy):
                await run_workflow(of, WORK, RunFolder(tmp_path, "one", lock_timeout=0.1))
            may_go_on.set()

    async def work() -> None:
        ended.append(await run_workflow(of, WORK, folder, run=current))

    of = plan(default_route_id="profile")
    go(main)
    left = RunFolder(tmp_path, "one")

    assert ["cancelled"] == [one.stopped_by for one in ended]
    assert len(left.evidence()) == (name != "journal.jsonl")
    assert "started" == left.journal.entries()[-1].event or left.evidence()
    again = go(run_workflow, of, WORK, left, rerun_interrupted=True)
    assert ("completed", {"pick": {"profile": 1}}) == (again.status, left.ledger.visits())


def test_limits_hold_between_the_steps(go: Go, run: RunFolder) -> None:
    result = go(
        run_workflow,
        LINE,
        dict.fromkeys(("one", "two", "three"), ok),
        run,
        run=Run(limits=Limits(max_steps=2)),
    )
    later = go(run_workflow, LINE, dict.fromkeys(("one", "two", "three"), ok), run)

    assert ("incomplete", "steps", ("one", "two")) == (
        result.status,
        result.stopped_by,
        tuple(step.name for step in result.rollout.steps if step.status == "completed"),
    )
    assert ("completed", "three") == (later.status, later.output)


def test_the_journal_is_lines_of_what_was_done(go: Go, run: RunFolder) -> None:
    write(run, "pick", chosen("search"))
    go(run_workflow, plan(), WORK, run)
    lines = [json.loads(line) for line in tree(run.path)["journal.jsonl"].splitlines()]

    assert [
        {"event": "started", "step": "probe", "visit": 1},
        {"event": "done", "step": "probe", "visit": 1, "next": "pick"},
        {"event": "done", "step": "pick", "visit": 1, "next": "find"},
        {"event": "started", "step": "find", "visit": 1},
        {"event": "done", "step": "find", "visit": 1, "next": "end"},
    ] == lines


TURN = plan(
    routes=[
        {"route_id": "again", "next_step_id": "probe"},
        {"route_id": "done", "next_step_id": "look"},
    ],
    context_dependencies=[SELECTION],
)


def probe(given: Any) -> str:
    return write_choice(given.run, given.step.id, ("again", "done")[given.visit - 1])


def standing(run: RunFolder) -> dict[str, object]:
    """Give what a run has left, but for times."""
    return {
        "visits": run.ledger.visits(),
        "evidence": [{**entry.to_dict(), "at": ""} for entry in run.evidence()],
        "done": [(one.step, one.visit) for one in run.journal.entries() if one.event == "done"],
    }


def test_a_run_that_is_cancelled_at_any_event_is_taken_up(go: Go, tmp_path: Path) -> None:
    handlers = {**WORK, "probe": probe}
    events: list[object] = []
    whole = RunFolder(tmp_path, "whole")
    go(run_workflow, TURN, handlers, whole, run=Run(on_event=events.append))

    assert {"pick": {"again": 1, "done": 1}} == whole.ledger.visits()
    # The last two are the end of the last step, with which all is done, and that of the run.
    for at in range(1, len(events) - 1):
        folder, current = RunFolder(tmp_path, f"cut{at}"), Run()
        seen: list[object] = []

        def listener(event: object, seen: list[object] = seen, current: Run = current) -> None:
            seen.append(event)
            if len(seen) == at:  # noqa: B023 (it is called before the next turn)
                current.cancel()

        current.listen(listener)
        cut = go(run_workflow, TURN, handlers, folder, run=current)
        rest = go(
            run_workflow,
            TURN,
            handlers,
            RunFolder(tmp_path, f"cut{at}"),
            rerun_interrupted=True,
        )

        assert ("cancelled", "completed") == (cut.status, rest.status), at
        assert standing(whole) == standing(folder), at
