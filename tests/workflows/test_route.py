"""Route: its promises by their ids, and what each classifier may say."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pytest

from interlock import (
    Branch,
    Chain,
    ConfigError,
    DecisionTable,
    LeadAssign,
    Limits,
    Reply,
    Retry,
    Route,
    RouteResult,
    RuleScore,
    Run,
    Usage,
    UsageError,
    Work,
    route,
)
from interlock.harness import Ctx, RouteChoice
from interlock.testing import ManualClock, scripted

from .conftest import Go

ARMS = ("approve", "reject")


def arms(**answers: object) -> dict[str, Any]:
    return {name: scripted(answers.get(name, name.upper()), repeat=True) for name in ARMS}


def is_(path: str, expected: object) -> list[dict[str, object]]:
    return [{"path": path, "op": "equals", "expected": expected}]


@pytest.mark.parametrize("answer", ["fine", "", ValueError("bad"), Reply("no", status="failed")])
def test_N_01_exactly_one_arm_runs_whatever_its_answer(go: Go, answer: object) -> None:
    named = arms(approve=answer)
    values = {"amount": 3}
    result = go(route, values, classify=scripted("approve"), arms=named, default="reject")

    assert [len(arm.calls) for arm in named.values()] == [1, 0]
    assert named["approve"].calls[0] is values
    assert (result.arm, result.by, result.fallback) == ("approve", "callable", False)
    assert result.status == ("completed" if isinstance(answer, str) else "failed")
    assert result.stopped_by == ("done" if isinstance(answer, str) else "failed")


def test_N_02_a_route_compiles_to_a_graph() -> None:
    made = Route(classify=scripted(), arms=arms(), default="reject")
    compiled = made.compile()

    assert compiled.ids == ("classify", *ARMS)
    assert [node.kind for node in compiled.nodes] == ["classify", "arm", "arm"]
    assert [node.needs for node in compiled.nodes] == [(), ("classify",), ("classify",)]
    assert made.to_mermaid() == (
        "flowchart TD\n"
        '    n0{"classify"}\n'
        '    n1["approve"]\n'
        '    n2["reject"]\n'
        '    n0 -- "approve" --> n1\n'
        '    n0 -- "reject, or nothing said" --> n2\n'
    )


class Name(StrEnum):
    APPROVE = "approve"


@dataclass(frozen=True)
class Answer:
    arm: str | None


BIG = Branch(
    [{"name": "approve", "when": is_("big", True)}],
    otherwise={"name": "reject"},
)
MISS = Branch([{"name": "approve", "when": is_("big", "?")}])
OPEN = [{"path": "text", "op": "matches", "expected": "(a+)\\1"}]
ANY = [{"op": "exists"}]
TABLE = DecisionTable(
    [
        {"id": "a", "when": is_("big", True), "outputs": "approve"},
        {"id": "b", "when": is_("urgent", True), "outputs": {"arm": "reject", "why": "b"}},
    ],
    policy="unique",
)
SCORE = RuleScore(
    [{"id": "a", "when": is_("big", True), "points": 5}],
    bands=[{"name": "approve", "min": 5}],
)
OPEN_SCORE = RuleScore(
    [{"id": "a", "when": OPEN, "points": 5}], bands=[{"name": "reject", "min": -9}]
)
OWNERS = LeadAssign(
    [{"id": "approve", "when": is_("big", True)}, {"id": "reject", "when": is_("urgent", True)}],
    strategy="specific",
)

# What is said, and the arm it leads to; with `reject` as the default.
SAID: list[tuple[Any, tuple[str, str, bool]]] = [
    ("approve", ("approve", "callable", False)),
    (" approve\n", ("approve", "callable", False)),
    (Name.APPROVE, ("approve", "callable", False)),
    (Reply("approve"), ("approve", "callable", False)),
    (Reply('{"arm":"approve"}', data={"arm": "approve"}), ("approve", "callable", False)),
    (Reply("sure", data="approve"), ("approve", "callable", False)),
    ({"arm": "approve"}, ("approve", "callable", False)),
    (Answer("approve"), ("approve", "callable", False)),
    (RouteChoice(arm="approve", by="me", fallback=True), ("approve", "me", True)),
    (BIG.decide({"big": True}), ("approve", "Branch", False)),
    (None, ("reject", "default", True)),
    ({"arm": None}, ("reject", "default", True)),
    (Answer(None), ("reject", "default", True)),
    (RouteChoice(), ("reject", "default", True)),
    (MISS.decide({}), ("reject", "default", True)),
]


@pytest.mark.parametrize(("said", "expected"), SAID)
def test_what_names_an_arm_or_nothing(
    go: Go, said: object, expected: tuple[str, str, bool]
) -> None:
    result = go(route, {}, classify=lambda _values: said, arms=arms(), default="reject")

    assert (result.arm, result.by, result.fallback) == expected
    assert (result.status, result.stopped_by) == ("completed", "done")


# Said, and no arm: never the default.
WRONG: list[tuple[Any, str]] = [
    ("maybe", '"maybe" is no arm; the arms are approve, reject'),
    ("Approve", 'did you mean "approve"'),
    ("aprove", '"aprove" is no arm'),
    ("", "blank"),
    (" \n", "blank"),
    (Reply("approve", status="incomplete"), "cut off"),
    ({"arm": 3}, "3 is no arm; a name is a text"),
    ({"label": "approve"}, "is no arm; a name is a text"),
    (Reply("x", data=[1]), "is no arm"),
    (Reply("x", data=object()), "is no arm"),
    (RouteChoice(arm="elsewhere"), "elsewhere"),
    (RouteChoice(arm="approve", refused=True, reason="torn"), "torn; the arms are"),
    (Branch([{"name": "other", "when": ANY}]).decide({}), '"other" is no arm'),
    (TABLE.decide({"big": True, "urgent": True}), "all hold"),
]


@pytest.mark.parametrize(("said", "reason"), WRONG)
def test_something_said_that_is_no_arm_is_never_the_default(
    go: Go, said: object, reason: str
) -> None:
    named = arms()
    result = go(route, {}, classify=lambda _values: said, arms=named, default="reject")

    assert (result.status, result.stopped_by, result.arm) == ("failed", "unrouted", None)
    assert reason in result.error.message
    assert result.error.message.endswith("the arms are approve, reject")
    assert result.rollout.step("classify").status == "failed"
    assert [arm.calls for arm in named.values()] == [[], []]


# A tool, the values, and what comes of it: an arm, or why there is none.
TOOLS: list[tuple[Any, dict[str, object], str | None, str]] = [
    (BIG, {"big": True}, "approve", ""),
    (BIG, {}, "reject", "otherwise"),
    (MISS, {"big": 1}, None, "approve: big"),
    (Branch([{"name": "approve", "when": OPEN}]), {"text": "aa"}, None, "undetermined"),
    (TABLE, {"big": True}, "approve", ""),
    (TABLE, {"urgent": True}, "reject", ""),
    (TABLE, {}, None, "no row"),
    (TABLE, {"big": True, "urgent": True}, None, "conflict"),
    (SCORE, {"big": True}, "approve", ""),
    (SCORE, {}, None, "no band"),
    (OPEN_SCORE, {"text": "aa"}, None, "undetermined"),
    (OWNERS, {"big": True}, "approve", ""),
    (OWNERS, {}, None, "no owner"),
    (OWNERS, {"big": True, "urgent": True}, None, "conflict"),
]


@pytest.mark.parametrize(("tool", "values", "arm", "why"), TOOLS)
def test_decision_tools_classify_and_are_recorded_in_full(
    go: Go, tool: Any, values: dict[str, object], arm: str | None, why: str
) -> None:
    result = go(route, values, classify=tool, arms=arms())
    step = result.rollout.step("classify")

    assert (result.arm, result.stopped_by) == (arm, "unrouted" if arm is None else "done")
    assert result.by == (type(tool).__name__ if arm else None)
    assert result.fallback is (why == "otherwise")
    assert arm is None or step.output == arm
    assert step.kind == "classify"
    assert isinstance(step.decision, dict)
    status = "failed" if why in ("conflict", "no band") else "completed"
    assert step.status == ("undetermined" if why == "undetermined" else status)


@pytest.mark.parametrize(
    ("tool", "values", "arm"),
    [
        (MISS, {}, "reject"),
        (TABLE, {}, "reject"),
        (OWNERS, {}, "reject"),
        (SCORE, {}, None),
        (Branch([{"name": "approve", "when": OPEN}]), {"text": "aa"}, None),
        (TABLE, {"big": True, "urgent": True}, None),
        (OWNERS, {"big": True, "urgent": True}, None),
        (OPEN_SCORE, {"text": "aa"}, None),
    ],
)
def test_only_a_miss_takes_the_default(
    go: Go, tool: Any, values: dict[str, object], arm: str | None
) -> None:
    result = go(route, values, classify=tool, arms=arms(), default="reject")

    assert (result.arm, result.by) == (arm, "default" if arm else None)


def test_the_reasons_of_all_arms_are_told(go: Go) -> None:
    checks = [{"path": "size", "op": "lessThan", "expected": 5}]
    both = Branch([{"name": "approve", "when": is_("vision", True)}, {"name": "reject",
                                                                     "when": checks}])  # fmt: skip
    result = go(route, {"vision": False, "size": 9}, classify=both, arms=arms())

    assert "approve: vision" in result.error.message
    assert "reject: size" in result.error.message
    evaluated = result.rollout.step("classify").decision["evaluated"]
    assert [one["reason"].split(":")[0] for one in evaluated] == ["vision", "size"]


@pytest.mark.parametrize(
    "classify",
    [
        scripted(RuntimeError("down"), repeat=True),
        scripted(Reply("approve", status="failed"), repeat=True),
        Chain([("ask", scripted(RuntimeError("down"), repeat=True))]),
    ],
)
def test_a_classifier_that_fails_is_no_miss(go: Go, classify: Any) -> None:
    result = go(route, {}, classify=classify, arms=arms(), default="reject")

    assert (result.status, result.stopped_by, result.arm) == ("failed", "failed", None)


@pytest.mark.parametrize("said", [3, True, ["approve"], object(), b"approve"])
def test_what_can_be_no_name_is_misuse(go: Go, said: object) -> None:
    with pytest.raises(UsageError, match=r"classify `classify` returned a .*names no arm"):
        go(route, {}, classify=lambda _values: said, arms=arms(), default="reject")


def test_a_workflow_may_classify_and_its_tokens_count(go: Go) -> None:
    asked = Chain([("ask", scripted(Reply("approve", usage=Usage(7))))])
    named = arms(approve=Reply("yes", usage=Usage(2)))
    result = go(route, {}, classify=asked, arms=named)

    assert (result.arm, result.output, result.usage) == ("approve", "yes", Usage(9))
    assert [step.path for step in result.rollout.all_steps()] == [
        "classify",
        "classify/chain/ask",
        "approve",
    ]


def test_a_classifier_of_ones_own_is_recorded_in_full(go: Go) -> None:
    class ByFile:
        step_kind = "decision"
        digest = "ab"

        async def __call__(self, values: object, ctx: Ctx) -> RouteChoice:
            said = {"read": "route.json", "at": ctx.path, "values": values}
            return RouteChoice(arm="reject", by="file", decision=said, usage=Usage(1))

    made = Route(classify=ByFile(), arms=arms())
    result = go(made.run, 5)
    step = result.rollout.steps[0]

    assert (result.arm, result.by, result.usage) == ("reject", "file", Usage(1))
    assert (step.kind, step.decision) == (
        "decision",
        {"read": "route.json", "at": "classify", "values": 5},
    )
    assert made.compile().nodes[0].kind == "decision"


def test_a_refusal_of_ones_own_keeps_its_decision(go: Go) -> None:
    torn = RouteChoice(refused=True, undetermined=True, reason="torn", decision={"file": "x"})
    result = go(route, {}, classify=lambda _values: torn, arms=arms(), default="reject")
    step = result.rollout.step("classify")

    assert (result.stopped_by, step.status, step.decision) == (
        "unrouted",
        "undetermined",
        {"file": "x"},
    )


def test_sync_classifiers_run_inline_and_sync_arms_in_a_thread(go: Go) -> None:
    import threading

    where: list[int] = []

    def classify(_values: object) -> str:
        where.append(threading.get_ident())
        return "a"

    def arm(_values: object) -> str:
        where.append(threading.get_ident())
        return "done"

    async def work() -> tuple[RouteResult, int]:
        return await route({}, classify=classify, arms={"a": arm}), threading.get_ident()

    result, here = go(work)

    assert result.output == "done"
    assert where[0] == here != where[1]


class TestLimits:
    def test_the_ceiling_holds_for_the_classifier(self, go: Go) -> None:
        classify, named = scripted(), arms()
        result = go(route, {}, classify=classify, arms=named, max_tokens=0)

        assert (result.stopped_by, result.status, classify.calls) == ("tokens", "incomplete", [])

    def test_and_for_the_arm(self, go: Go) -> None:
        named = arms()
        classify = scripted(Reply("approve", usage=Usage(5)))
        result = go(route, {}, classify=classify, arms=named, max_tokens=5)

        assert (result.stopped_by, result.arm) == ("tokens", "approve")
        assert named["approve"].calls == []

    def test_work_says_what_a_step_may_use(self, go: Go, clock: ManualClock) -> None:
        slow = scripted("late", seconds=30, clock=clock)
        run = Run(clock=clock, limits=Limits(max_tokens=50))
        late = go(
            route,
            {},
            classify=Work(scripted("a", repeat=True)),
            arms={"a": Work(slow, timeout=10), "b": slow},
            run=run,
        )
        held = go(
            route,
            {},
            classify=Work(scripted("a", repeat=True)),
            arms={"a": Work(slow, reserve=51)},
            max_tokens=50,
        )

        assert (late.stopped_by, late.error.type) == ("failed", "TimeoutError")
        assert (held.stopped_by, len(slow.calls)) == ("tokens", 1)

    def test_a_classifier_is_tried_again(self, go: Go, clock: ManualClock) -> None:
        classify = Work(scripted(ConnectionResetError("reset"), "approve"), retry=Retry())
        result = go(route, {}, classify=classify, arms=arms(), run=Run(clock=clock))

        assert (result.arm, len(result.rollout.find(name="classify"))) == ("approve", 2)


LAST = DecisionTable(
    [{"id": "a", "when": ANY, "outputs": {"queue": 1}}], policy="first", otherwise="elsewhere"
)
BAD: list[tuple[dict[str, Any], list[str]]] = [
    ({"classify": str, "arms": {}}, ["arms"]),
    ({"classify": str, "arms": [("a", str)]}, ["arms"]),
    ({"classify": str, "arms": {"a/b": str}}, ["arms.a/b"]),
    ({"classify": str, "arms": {"a\n": str, "": str}}, ["arms.a\n", "arms."]),
    ({"classify": str, "arms": {3: str}}, ["arms.3"]),
    ({"classify": str, "arms": {"a": 3}}, ["arms.a"]),
    ({"classify": str, "arms": {"a": Work(3, timeout=0)}}, ["arms.a.timeout", "arms.a.run"]),  # type: ignore[arg-type]
    ({"classify": str, "arms": {"classify": str}}, ["arms.classify"]),
    ({"classify": str, "arms": {"a": str}, "default": "b"}, ["default"]),
    ({"classify": str, "arms": {"a": str}, "default": str}, ["default"]),
    ({"classify": str, "arms": {"a": str}, "max_tokens": -1}, ["max_tokens"]),
    ({"classify": str, "arms": {"a": str}, "name": "a/b"}, ["name"]),
    ({"classify": 3, "arms": {"a": str}}, ["classify"]),
    ({"arms": {"a": str}}, ["classify"]),
    ({"classify": lambda: "a", "arms": {"a": str}}, ["classify"]),
    ({"classify": BIG, "arms": {"a": str}}, ["classify.arms[0].name", "classify.otherwise"]),
    ({"classify": LAST, "arms": {"a": str}}, ["classify.rows[0].outputs", "classify.otherwise"]),
    ({"classify": SCORE, "arms": {"a": str}}, ["classify.bands[0].name"]),
    ({"classify": OWNERS, "arms": {"approve": str}}, ["classify.owners[1].id"]),
    (
        {"classify": RuleScore([{"id": "a", "when": ANY, "points": 1}]), "arms": {"a": str}},
        ["classify.bands"],
    ),
    (
        {
            "classify": DecisionTable([{"id": "a", "when": ANY, "outputs": "a"}], policy="collect"),
            "arms": {"a": str},
        },
        ["classify.policy"],
    ),
    ({"classify": 3, "arms": {"a": 3}, "default": "b"}, ["arms.a", "classify", "default"]),
]


@pytest.mark.parametrize(("options", "fields"), BAD)
def test_refused_with_every_field(options: dict[str, Any], fields: list[str]) -> None:
    with pytest.raises(ConfigError) as refused:
        Route(**options)

    assert [problem.field for problem in refused.value.problems] == fields


def test_what_is_probably_not_meant_so() -> None:
    owners = [{"id": "a", "when": ANY}, {"id": "b", "when": ANY}]
    turns = LeadAssign(owners, strategy="round_robin")
    two: dict[str, Any] = {"a": str, "b": str}

    assert [one.field for one in Route(classify=str, arms={"a": str}).lint()] == ["arms"]
    assert [one.field for one in Route(classify=turns, arms=two).lint()] == ["classify.strategy"]
    assert Route(classify=LeadAssign(owners, strategy="first"), arms=two).lint() == ()


def test_digests_tell_setups_apart() -> None:
    two: dict[str, Any] = {"approve": str, "reject": repr}
    made = [
        Route(classify=str, arms=two),
        Route(classify=repr, arms=two),
        Route(classify=BIG, arms=two),
        Route(classify=MISS, arms=two),
        Route(classify=str, arms={"approve": str}),
        Route(classify=str, arms=two, default="reject"),
        Route(classify=str, arms={"approve": Work(str, timeout=1), "reject": repr}),
    ]

    assert len({one.digest for one in made}) == len(made)
    again = pickle.loads(pickle.dumps(made[2]))  # noqa: S301
    assert (again.digest, again.sync({"big": True}).arm) == (made[2].digest, "approve")
