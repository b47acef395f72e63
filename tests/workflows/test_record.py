"""Values and records: frozen, equal by content, written and read back, refused when wrong."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from interlock import (
    CascadeResult,
    ConfigError,
    ErrorInfo,
    Reply,
    Rollout,
    SpecInvalid,
    Step,
    ToolCall,
    ToolResult,
    Usage,
    UsageError,
    Verdict,
    cascade,
)
from interlock.harness import Event, NodeOutcome, Plan
from interlock.record import Result
from interlock.testing import ManualClock, run_checked, scripted

ERROR = ErrorInfo("OSError", "disk", "transient", "retry", retryable=True, wait_ms=5)
CALL = ToolCall("1", "look", {"q": ["a", 1, None]})
STEP = Step(
    path="a/b",
    name="b",
    kind="tool",
    status="failed",
    attempt=2,
    started_at="2023-11-14T22:13:20.000Z",
    output="x",
    usage=Usage(1, 2, cost=3),
    error=ERROR,
    effect="write",
    meta={"reply": {"form": "reply", "calls": [CALL.to_dict()]}},
)
ROLLOUT = Rollout(
    run_id="r",
    workflow="w",
    status="failed",
    stopped_by="failed",
    steps=(
        STEP,
        replace(
            STEP,
            path="a",
            name="a",
            child=Rollout(
                run_id="r", workflow="in", status="completed", stopped_by="done", steps=(STEP,)
            ),
        ),
    ),
    tags={"team": "x"},
)
VALUES: list[Any] = [
    Usage(1, 2, 3, 4, 5, 6, 7, cost_incomplete=True),
    CALL,
    ToolResult("1", "look", "in_doubt", {"rows": 2}, ERROR, "destructive", Usage(1), 3, 4),
    Reply("o", {"d": 1}, (CALL,), Usage(1), "incomplete", "length", "m", "p", "i", ERROR),
    ERROR,
    Verdict(ok=False, reason="r", score=0.5, feedback="f", data=[1], usage=Usage(2)),
    STEP,
    ROLLOUT,
    Event(seq=1, run_id="r", path="a", event="step_ended", at="", step=STEP, data={"a": 1}),
    Result(status="failed", stopped_by="failed", rollout=ROLLOUT, error=ERROR, data={"x": 1}),
    Result(status="completed", stopped_by="done", rollout=ROLLOUT, output="", data={}),
    Reply(data=[]),
    Reply(data=""),
    NodeOutcome(id="a", state="failed", answer=Reply("x"), error=ERROR, reason="r"),
    Plan([{"id": "a", "worker": "w", "needs": []}]),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
class TestForms:
    def test_as_data(self, value: Any) -> None:
        assert type(value).from_dict(value.to_dict()) == value
        assert type(value).from_json(value.to_json()) == value

    def test_pickled_and_copied(self, value: Any) -> None:
        assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301
        assert copy.deepcopy(value) == copy.copy(value) == value

    def test_frozen(self, value: Any) -> None:
        with pytest.raises((FrozenInstanceError, AttributeError)):
            setattr(value, next(iter(type(value).__dataclass_fields__)), None)

    def test_unknown_fields_are_named(self, value: Any) -> None:
        with pytest.raises(SpecInvalid, match="colour"):
            type(value).from_dict({**value.to_dict(), "colour": "red"})


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Usage(-1), "input"),
        (lambda: Usage(input=True), "input"),
        (lambda: Usage(cost=0.5), "cost"),  # type: ignore[arg-type]
        (lambda: Usage(output=1.0), "output"),  # type: ignore[arg-type]
        (lambda: Reply(status="done"), "status"),  # type: ignore[arg-type]
        (lambda: Reply(stop="tired"), "stop"),  # type: ignore[arg-type]
        (lambda: Reply({"a": 1}), "output"),  # type: ignore[arg-type]
        (lambda: ToolResult("1", "a", "maybe"), "status"),  # type: ignore[arg-type]
        (lambda: Verdict("yes"), "ok"),  # type: ignore[arg-type]
        (lambda: Verdict(ok=True, undetermined=True), "undetermined"),
        (lambda: replace(ROLLOUT, schema="interlock.rollout/2"), "schema"),
    ],
)
def test_refused(make: Any, field: str) -> None:
    with pytest.raises(ConfigError) as refused:
        make()

    assert [problem.field for problem in refused.value.problems] == [field]


def test_every_fault_of_data_is_named() -> None:
    wire = ROLLOUT.to_dict()
    wire["steps"][1]["child"]["steps"][0]["kind"] = "dance"
    wire["steps"][0]["usage"]["input"] = -1
    wire["steps"][0]["error"] = []
    del wire["run_id"]

    with pytest.raises(SpecInvalid) as refused:
        Rollout.from_dict(wire)

    assert {problem.field for problem in refused.value.problems} == {
        "run_id",
        "steps[0].usage.input",
        "steps[0].error",
        "steps[1].child.steps[0].kind",
    }


@pytest.mark.parametrize(
    "data", [None, [], "x", {"steps": {}}, {"tags": 1}, {"usage": {"input": {}}}]
)
def test_hostile_data_is_refused_by_name(data: object) -> None:
    with pytest.raises(SpecInvalid):
        Rollout.from_dict(data)


class TestUsage:
    def test_adds_up(self) -> None:
        assert Usage(1, 2, 3, 4, 5, 6, 7) + Usage(1, 1, 1, 1, 1, 1, 1) == Usage(2, 3, 4, 5, 6, 7, 8)
        assert sum([Usage(1), Usage(2)]) == Usage(3)
        assert Usage(10, 5, cached=9, reasoning=4).total == 15

    def test_an_unknown_cost_makes_the_sum_incomplete(self) -> None:
        assert Usage(1, cost=5) + Usage(2) == Usage(3, cost=5, cost_incomplete=True)
        assert Usage(1) + Usage(2) == Usage(3)
        assert Usage(1, cost=5) + Usage() == Usage(1, cost=5)


class TestRollout:
    def test_lookups(self) -> None:
        assert ROLLOUT.step("a/b") == STEP
        assert ROLLOUT.step("b") == STEP
        assert ROLLOUT.find(name="a") == ROLLOUT.find(kind="tool", name="a") == ROLLOUT.steps[1:]
        assert ROLLOUT.failed() == ROLLOUT.steps
        assert ROLLOUT.blocked() == ()
        assert list(ROLLOUT.by_name()) == ["b", "a"]
        assert len(list(ROLLOUT.all_steps())) == 3
        with pytest.raises(UsageError, match='did you mean "a/b"'):
            ROLLOUT.step("a/c")

    def test_json_lines(self) -> None:
        text = ROLLOUT.to_json_lines()

        assert len(text.splitlines()) == 3
        assert Rollout.from_json_lines(text) == ROLLOUT

    def test_canonical_is_by_path_and_timeless(self) -> None:
        later = replace(
            ROLLOUT,
            run_id="other",
            ended_at="later",
            steps=tuple(replace(step, duration_ms=9.5) for step in reversed(ROLLOUT.steps)),
        )

        assert later != ROLLOUT
        assert later.same_as(ROLLOUT)
        assert later.digest() == ROLLOUT.digest()
        assert not replace(ROLLOUT, stopped_by="done").same_as(ROLLOUT)
        assert [step["path"] for step in ROLLOUT.canonical()["steps"]] == ["a", "a/b"]

    def test_redacted_reaches_nested_steps(self) -> None:
        hidden = ROLLOUT.redacted(lambda step: replace(step, output=None))

        assert {step.output for step in hidden.all_steps()} == {None}

    @pytest.mark.parametrize(
        "answer",
        [
            "text",
            None,
            {"a": [1]},
            Reply("o", {"d": 1}, (CALL,), Usage(1), "incomplete", "length", "m", "p", "i"),
        ],
    )
    def test_a_step_gives_its_reply_back(self, answer: object) -> None:
        from interlock import as_reply

        result = run_checked(cascade_of(answer))

        assert result.rollout.step("a").reply() == as_reply(answer)
        again = Rollout.from_json(result.rollout.to_json())
        assert again.step("a").reply() == as_reply(answer)


def cascade_of(answer: object) -> Any:
    async def run() -> CascadeResult:
        return await cascade(1, [("a", scripted(answer))], accept=lambda _reply: True)

    return run


def test_the_record_is_equal_on_both_backends() -> None:
    from interlock import Chain, Run, Stage

    def once(backend: str) -> str:
        clock = ManualClock()
        inner = Chain([Stage("in", scripted(Reply("x", usage=Usage(3)), clock=clock), bool_of)])
        tiers: Any = [("a", scripted(ValueError("bad"))), ("b", inner), ("c", lambda _x: "sync")]

        async def run() -> CascadeResult:
            return await cascade(1, tiers, accept=lambda _r: False, run=Run(clock=clock))

        return run_checked(run, backend=backend).to_json()

    assert once("asyncio") == once("trio")


def bool_of(reply: Reply) -> bool:
    return bool(reply.output)


def test_a_reply_names_everything_that_it_cannot_hold() -> None:
    wrong: dict[str, Any] = {"output": 5, "calls": None, "usage": None, "error": "x", "meta": None}
    with pytest.raises(SpecInvalid) as refused:
        Reply(**wrong)

    assert [one.field for one in refused.value.problems] == list(wrong)
