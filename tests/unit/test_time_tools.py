"""What DeadlineCheck and SequenceRun refuse, the clock of their form for models, their results."""

import datetime as dt
import pickle
from typing import Any

import pytest

from interlock import (
    ConfigError,
    InputInvalid,
    SequenceRun,
    SpecInvalid,
    deadline_check,
    sequence_run,
)
from interlock.tools import _clock, call

Wire = dict[str, Any]
EXISTS = {"op": "exists"}


def problems(action: Any) -> list[tuple[str, str]]:
    with pytest.raises(ConfigError) as caught:
        action()
    return [(problem.code, problem.field) for problem in caught.value.problems]


class TestDeadline:
    def test_every_fault_at_once(self) -> None:
        faults = problems(
            lambda: deadline_check(
                now="noon",
                started_at=dt.datetime(2026, 1, 1),  # noqa: DTZ001 (that is the point)
                budget_ms=-1,
                step_cost_ms=0,
                tight_at=float("nan"),
                critical_at=2,
            )
        )
        assert [
            ("spec/no-instant", "now"),
            ("spec/no-instant", "startedAt"),
            ("spec/wrong-type", "budgetMs"),
            ("spec/wrong-type", "stepCostMs"),
            ("spec/wrong-type", "tightAt"),
            ("spec/wrong-type", "criticalAt"),
        ] == faults

    @pytest.mark.parametrize("budget", [1.5, "30", True, float("inf"), float("nan"), 10**400, [1]])
    def test_a_budget_is_whole_milliseconds(self, budget: Any) -> None:
        faults = problems(lambda: deadline_check(now=0, budget_ms=budget))
        assert [("spec/wrong-type", "budgetMs")] == faults

    def test_an_end_is_required(self) -> None:
        assert [("spec/missing-field", "deadline")] == problems(lambda: deadline_check(now=0))

    def test_an_end_is_a_date(self) -> None:
        budget = 8_640_000_000_000_000
        faults = problems(lambda: deadline_check(now=1, budget_ms=budget))
        assert [("spec/no-instant", "budgetMs")] == faults
        assert budget == deadline_check(now=1, budget_ms=budget, started_at=0).deadline_ms

    def test_the_deadline_wins(self) -> None:
        assert 5 == deadline_check(now=0, deadline=5, budget_ms=9).total_ms

    def test_critical_is_not_above_tight(self) -> None:
        given = {"budget_ms": 10, "now": 0, "tight_at": 0.1}
        assert [("spec/conflict", "criticalAt")] == problems(lambda: deadline_check(**given))

    def test_a_whole_float_is_whole(self) -> None:
        assert 1_000 == deadline_check(now=0, budget_ms=1e3, step_cost_ms=10.0).total_ms

    def test_the_result(self) -> None:
        left = deadline_check(now=5, budget_ms=10)
        assert left == pickle.loads(pickle.dumps(left))  # noqa: S301 (made here)
        assert "ample" == left.outcome
        with pytest.raises(AttributeError):
            left.phase = "tight"  # type: ignore[misc]


class TestSequence:
    def test_every_fault_at_once(self) -> None:
        steps: list[Wire] = [
            {"id": "a", "needs": ["b", "bb", "a", 3]},
            {"id": "b", "needs": ["a"], "after": "2026-01-01"},
            {"id": "b", "when": []},
            {"id": "", "needs": "a"},
            {"id": "c", "match": "some", "afer": 3},
            {"id": "d", "when": [{"op": "exist"}], "params": float("nan")},
        ]
        faults = problems(
            lambda: sequence_run({}, steps, now="noon", completed="a", failed=["z"], version="1")
        )
        assert {
            ("spec/unknown-choice", "steps[0].needs[1]"),
            ("spec/cycle", "steps[0].needs[2]"),
            ("spec/wrong-type", "steps[0].needs[3]"),
            ("spec/no-instant", "steps[1].after"),
            ("spec/duplicate-name", "steps[2].id"),
            ("spec/empty-list", "steps[2].when"),
            ("spec/wrong-type", "steps[3].id"),
            ("spec/wrong-type", "steps[3].needs"),
            ("spec/unknown-choice", "steps[4].match"),
            ("spec/unknown-field", "steps[4].afer"),
            ("spec/unknown-op", "steps[5].when[0].op"),
            ("spec/not-json", "steps[5].params"),
            ("spec/cycle", "steps[0].needs"),
            ("spec/no-instant", "now"),
            ("spec/wrong-type", "completed"),
            ("spec/unknown-choice", "failed[0]"),
        } == set(faults)
        given = {"value": {}, "steps": steps, "completed": "a", "failed": ["z"], "now": "noon"}
        assert set(faults) == set(problems(lambda: call("SequenceRun", given)))

    def test_each_circle_is_named(self) -> None:
        needs = {"a": "b", "b": "a", "c": "d", "d": "e", "e": "c", "f": "a", "g": None}
        steps = [{"id": i, **({"needs": [n]} if n else {})} for i, n in needs.items()]
        with pytest.raises(SpecInvalid) as caught:
            SequenceRun(steps)
        named = [problem.message.split(" need ")[0] for problem in caught.value.problems]
        assert ['steps "a", "b"', 'steps "c", "d", "e"'] == named

    def test_the_nearest_id_is_told(self) -> None:
        with pytest.raises(SpecInvalid, match='did you mean "deploy"'):
            SequenceRun([{"id": "deploy"}, {"id": "check", "needs": ["deplyo"]}])
        with pytest.raises(InputInvalid, match='did you mean "deploy"'):
            sequence_run(1, [{"id": "deploy"}], now=0, failed=["Deploy"])

    def test_a_step_is_done_or_failed(self) -> None:
        run = SequenceRun([{"id": "a"}])
        faults = problems(lambda: run.plan(1, now=0, completed=["a"], failed={"a"}))
        assert [("spec/conflict", "failed[0]")] == faults

    def test_the_number_of_steps(self) -> None:
        many = [{"id": str(n)} for n in range(257)]
        assert [("spec/over-limit", "steps")] == problems(lambda: SequenceRun(many))
        assert 256 == SequenceRun(many[:256]).plan(1, now=None).total
        assert 257 == SequenceRun(many, limits={"rules": 300}).plan(1, now=None).total

    def test_a_time_needs_the_present_instant(self) -> None:
        run = SequenceRun([{"id": "a", "after": 5}])
        assert run.uses_now
        assert [("spec/missing-field", "now")] == problems(lambda: run.plan(1, now=None))

    def test_times_of_the_library_form(self) -> None:
        due = dt.datetime(1970, 1, 1, 2, 0, 5, tzinfo=dt.timezone(dt.timedelta(hours=2)))
        run = SequenceRun([{"id": "a", "after": due}])
        assert [{"id": "a", "after": "1970-01-01T00:00:05.000Z"}] == run.to_spec()["steps"]
        assert 5_000 == run.plan(1, now=0).waiting[0].due_in_ms
        naive = [{"id": "a", "after": dt.datetime(2026, 1, 1)}]  # noqa: DTZ001 (that is the point)
        assert [("spec/no-instant", "steps[0].after")] == problems(lambda: SequenceRun(naive))

    def test_an_undecided_step_is_held_and_so_is_what_needs_it(self) -> None:
        check = {"op": "greaterThan", "expected": 1}
        run = SequenceRun([{"id": "a", "when": [check]}, {"id": "b", "needs": ["a"]}])
        plan = run.plan(10**20_001, now=None)
        assert ("blocked", "(undetermined)") == (plan.state, plan.outcome)
        assert ["a"] == [step.id for step in plan.undetermined]
        assert "could not be decided" in plan.undetermined[0].reason
        assert ["b"] == [step.id for step in plan.waiting]
        assert "undetermined" in plan.to_dict()
        assert "undetermined" not in run.plan("a", now=None).to_dict()

    def test_match_without_conditions_asks_nothing(self) -> None:
        assert "ready" == sequence_run(1, [{"id": "a", "match": "any"}], now=None).state

    def test_a_broken_check_refuses_only_when_strict(self) -> None:
        spec = {"steps": [{"id": "a", "when": [{"op": "matches", "expected": "("}]}]}
        assert ["pattern/invalid"] == [p.code for p in SequenceRun.lint_spec(spec)]
        assert "a" == SequenceRun.from_spec(spec).plan("x", now=None).skipped[0].id

    def test_a_wire_form_is_the_callers_own(self) -> None:
        plan = sequence_run(1, [{"id": "a", "params": [1]}], now=None)
        wire: Any = plan.to_dict()
        wire["ready"][0]["params"].append(2)
        assert [1] == plan.ready[0].params == wire["next"]["params"]

    def test_the_spec_is_what_it_is_compared_by(self) -> None:
        steps: list[Wire] = [{"id": "a", "when": [EXISTS]}, {"id": "b", "needs": ["a"]}]
        run = SequenceRun(steps, version="1")
        assert run != SequenceRun(steps)
        assert {"steps": steps, "version": "1"} == run.to_spec()


class TestClock:
    @pytest.fixture(autouse=True)
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_clock, "read", lambda: 5_000)

    def test_it_says_now_where_nothing_else_does(self) -> None:
        assert 5_000 == call("DeadlineCheck", {"budgetMs": 10})["nowMs"]
        assert 5_000 == call("DeadlineCheck", {"budgetMs": 10, "now": None})["nowMs"]
        assert 7 == call("DeadlineCheck", {"budgetMs": 10}, now=7)["nowMs"]
        assert 9 == call("DeadlineCheck", {"budgetMs": 10, "now": 9}, now=7)["nowMs"]

    def test_a_plan_asks_it_only_for_times(self, monkeypatch: pytest.MonkeyPatch) -> None:
        given: Wire = {"value": 1, "steps": [{"id": "a", "after": 6_000}]}
        waiting: Any = call("SequenceRun", given)["waiting"]
        assert 1_000 == waiting[0]["dueInMs"]
        assert "ready" == call("SequenceRun", given, now=6_000)["state"]
        monkeypatch.setattr(_clock, "read", None)
        assert "ready" == call("SequenceRun", {"value": 1, "steps": [{"id": "a"}]})["state"]

    def test_it_is_a_clock(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.undo()
        assert 1_700_000_000_000 < _clock.read() < 8_640_000_000_000_000


class TestNames:
    def test_either_spelling_is_read(self) -> None:
        camel = {"budgetMs": 10, "now": 0, "startedAt": 0, "stepCostMs": 3, "tightAt": 1}
        snake = {"budget_ms": 10, "now": 0, "started_at": 0, "step_cost_ms": 3, "tight_at": 1}
        assert call("DeadlineCheck", camel) == call("DeadlineCheck", snake)

    def test_both_at_once_are_refused(self) -> None:
        given = {"budgetMs": 10, "budget_ms": 10, "now": 0}
        faults = problems(lambda: call("DeadlineCheck", given))
        assert [("spec/repeated-key", "budgetMs")] == faults

    def test_unknown_ones_are_told(self) -> None:
        given = {"budgetMs": 10, "now": "x", "deadlin": 3}
        faults = problems(lambda: call("DeadlineCheck", given))
        assert [("spec/unknown-field", "deadlin"), ("spec/no-instant", "now")] == faults
