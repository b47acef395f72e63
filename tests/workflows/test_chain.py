"""The promises of chain, each by its id."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from interlock import Branch as BranchTool
from interlock import Chain, Checks, ConfigError, Gate, Reply, Run, Stage, Usage, Verdict, chain
from interlock.testing import ManualClock, scripted

from .conftest import Go

VALUES = {"text": "hello"}


def names(result: Any) -> list[str]:
    return [step.name for step in result.rollout.steps]


def test_H_01_steps_run_one_after_the_other(go: Go, clock: ManualClock) -> None:
    stages = [(name, scripted(name, seconds=1, clock=clock)) for name in "bac"]
    steps = go(chain, VALUES, stages, run=Run(clock=clock)).rollout.steps

    assert [step.name for step in steps] == ["b", "a", "c"]
    assert [step.duration_ms for step in steps] == [1000, 1000, 1000]
    assert all(one.ended_at <= two.started_at for one, two in pairwise(steps))


def test_H_02_each_receives_what_the_one_before_returned(go: Go) -> None:
    data = {"items": [1]}
    first, second, third = scripted(data), scripted("text"), scripted("end")
    go(chain, VALUES, [("a", first), ("b", second), ("c", third)])

    assert first.calls[0] is VALUES
    assert second.calls[0] is data
    assert third.calls == ["text"]


def test_H_03_a_gate_judges_its_own_step_once(go: Go) -> None:
    gate = scripted(True)
    go(chain, VALUES, [Stage("a", scripted("A"), gate), Stage("b", scripted("B"))])

    assert [reply.output for reply in gate.calls if isinstance(reply, Reply)] == ["A"]


@pytest.mark.parametrize(
    ("said", "ok", "reason"),
    [
        (True, True, ""),
        (False, False, ""),
        (Verdict(ok=True), True, ""),
        (Verdict(ok=False, reason="thin"), False, "thin"),
        ((True, ""), True, ""),
        ((False, "no items"), False, "no items"),
    ],
)
def test_H_04_a_gate_says_yes_or_no_with_a_reason(
    go: Go, said: object, ok: bool, reason: str
) -> None:
    result = go(chain, VALUES, [Stage("a", scripted("A"), scripted(said))])

    assert (result.stopped_by, result.reason) == ("done" if ok else "gate", reason)


def refused(go: Go) -> tuple[Any, Any]:
    later = scripted()
    stages = [Stage("extract", scripted(Reply("nothing found", usage=Usage(7, 2))), no_items)]
    return go(chain, VALUES, [*stages, Stage("write", later)]), later


def no_items(_output: Reply) -> tuple[bool, str]:
    return False, "no items"


def test_H_05_a_refusal_keeps_the_next_step_from_running(go: Go) -> None:
    _, later = refused(go)

    assert later.calls == []


def test_H_06_stopped_at_names_the_step_whose_gate_refused(go: Go) -> None:
    assert refused(go)[0].stopped_at == "extract"
    assert go(chain, VALUES, [("a", scripted("A"))]).stopped_at is None


def test_H_07_reason_is_what_the_gate_said(go: Go) -> None:
    assert refused(go)[0].reason == "no items"


def test_H_08_ran_lists_the_steps_that_ran(go: Go) -> None:
    assert refused(go)[0].ran == ("extract",)
    assert go(chain, VALUES, [("a", scripted("A")), ("b", scripted("B"))]).ran == ("a", "b")


def test_H_09_the_refused_output_is_kept(go: Go) -> None:
    step = refused(go)[0].rollout.step("extract")

    assert (step.status, step.output) == ("completed", "nothing found")


def test_H_10_the_gate_is_a_step_of_its_own(go: Go) -> None:
    _, gate = refused(go)[0].rollout.steps

    assert (gate.name, gate.kind, gate.status) == ("gate_extract", "gate", "failed")
    assert str(gate.error) == "no items"


def test_H_11_a_passing_gate_is_recorded_too(go: Go) -> None:
    stages = [Stage("a", scripted("A"), scripted(True)), Stage("b", scripted("B"))]
    result = go(chain, VALUES, stages)

    assert names(result) == ["a", "gate_a", "b"]
    assert result.rollout.step("gate_a").status == "completed"


def test_H_12_what_a_gate_returns_is_not_handed_on(go: Go) -> None:
    second = scripted("B")
    gate = scripted(Verdict(ok=True, data={"from": "gate"}))
    go(chain, VALUES, [Stage("a", scripted("A"), gate), Stage("b", second)])

    assert second.calls == ["A"]


def test_H_13_gates_are_optional(go: Go) -> None:
    stages = [Stage("a", scripted("A"), scripted(True)), Stage("b", scripted("B"))]
    result = go(chain, VALUES, stages)

    assert (result.status, result.stopped_by, result.output) == ("completed", "done", "B")


def test_H_14_a_gate_on_the_last_step_can_refuse(go: Go) -> None:
    result = go(chain, VALUES, [("a", scripted("A")), Stage("b", scripted("B"), scripted(False))])

    assert (result.stopped_at, result.status, result.output) == ("b", "failed", "B")


def test_H_15_a_chain_compiles_to_a_line_of_nodes() -> None:
    made = Chain([Stage("a", str, bool), Stage("b", str, bool), Stage("c", str)])
    compiled = made.compile()

    assert compiled.ids == ("a", "gate_a", "b", "gate_b", "c")
    assert [node.needs for node in compiled.nodes] == [(), *((one,) for one in compiled.ids[:-1])]
    shown = made.to_mermaid()
    places = [shown.index(f'"{name}"') for name in compiled.ids]
    assert places == sorted(places)


def test_H_16_a_step_runs_the_same_with_and_without_a_gate(go: Go) -> None:
    def shout(values: dict[str, str]) -> str:
        return values["text"].upper()

    with_gate = go(chain, VALUES, [Stage("a", shout, scripted(True))])
    without = go(chain, VALUES, [Stage("a", shout)])

    assert with_gate.output == without.output == "HELLO"


def test_H_17_a_step_that_raises_fails_the_chain_there(go: Go) -> None:
    later = scripted()
    result = go(chain, VALUES, [("a", scripted(ValueError("bad"))), ("b", later)])

    assert (result.status, result.stopped_by, result.stopped_at) == ("failed", "failed", "a")
    assert (result.error.type, result.reason, later.calls) == ("ValueError", "bad", [])


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        (scripted(RuntimeError("down"), repeat=True), "raised RuntimeError: down"),
        (
            scripted(Verdict(ok=False, reason="too close", undetermined=True), repeat=True),
            "too close",
        ),
    ],
    ids=["raises", "undetermined"],
)
def test_H_18_a_gate_that_raises_or_cannot_decide_refuses(go: Go, gate: Any, said: str) -> None:
    later = scripted()
    result = go(chain, VALUES, [Stage("a", scripted("A"), gate), Stage("b", later)])

    assert (result.stopped_by, result.stopped_at, later.calls) == ("gate", "a", [])
    assert said in result.reason
    assert result.rollout.step("gate_a").status == "undetermined"


def test_H_19_a_chain_without_any_gate_is_warned_of() -> None:
    (warning,) = Chain([Stage("a", str), Stage("b", str)]).lint()

    assert warning.is_warning
    assert "graph" in warning.message
    assert Chain([Stage("a", str, bool)]).lint() == ()


def test_H_20_totals_count_every_step_that_ran(go: Go) -> None:
    result, _ = refused(go)

    assert result.usage == Usage(7, 2) == sum(step.usage for step in result.rollout.steps)


class TestDecisionTools:
    """Decision tools as gates."""

    LONG = Checks([{"path": "output", "op": "matches", "expected": "^.{3,}$"}])

    def test_checks(self, go: Go) -> None:
        long = [Stage("a", scripted("abc"), self.LONG)]
        short = [Stage("a", scripted("ab"), self.LONG)]

        assert go(chain, VALUES, long).stopped_by == "done"
        assert go(chain, VALUES, short).stopped_by == "gate"

    def test_an_undetermined_check_refuses(self, go: Go) -> None:
        gate = Checks([{"path": "output", "op": "matches", "expected": "(a+)\\1"}])
        result = go(chain, VALUES, [Stage("a", scripted("aa"), gate)])

        assert (result.stopped_by, result.rollout.step("gate_a").status) == (
            "gate",
            "undetermined",
        )

    def test_an_arm_by_name(self, go: Go) -> None:
        arms = BranchTool(
            [{"name": "ok", "when": [{"path": "output", "op": "equals", "expected": "A"}]}]
        )
        stages = [Stage("a", scripted("A", "B", repeat=True), Gate(arms, pass_=["ok"]))]

        assert go(chain, VALUES, stages).stopped_by == "done"
        assert go(chain, VALUES, stages).reason == "the arm is (no match)"

    def test_a_gate_may_look_at_its_context(self, go: Go) -> None:
        result = go(
            chain, VALUES, [Stage("a", scripted("A"), lambda _reply, ctx: (False, ctx.path))]
        )

        assert result.reason == "gate_a"


def test_a_name_like_anothers_gate_is_refused() -> None:
    with pytest.raises(ConfigError) as found:
        Chain([Stage("a", str, bool), Stage("gate_a", str)])

    assert [problem.field for problem in found.value.problems] == ["steps[1].name"]
