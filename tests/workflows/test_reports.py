"""Faults that people met in workflows elsewhere, as scripts with the right outcome.

`reports/*.jsonl` has one report a line. A script says what each callable returns or raises; no
model is called. Where the answer differs on purpose, `tests/reports/differences.md` says why.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from reports.differences import differences

from interlock import (
    Block,
    Branch,
    Checks,
    ErrorInfo,
    Hooks,
    Limits,
    Orchestrate,
    Refine,
    Reply,
    Retry,
    Run,
    Stage,
    ToolBus,
    ToolCall,
    Usage,
    UsageError,
    Verdict,
    cascade,
    chain,
    error_classify,
    finish,
    loop,
    orchestrate,
    parallel,
    refine,
    route,
    tool,
    toolbus,
)
from interlock.harness import StallDetect
from interlock.testing import ManualClock, Script, scripted

from .conftest import Go

Wire = dict[str, Any]

HERE = Path(__file__).parent / "reports"
REPORTS: dict[str, Wire] = {
    report["id"]: report
    for path in sorted(HERE.glob("*.jsonl"))
    for report in map(json.loads, path.read_text("utf-8").splitlines())
}
DIFFER = {key for key in differences() if key[0] in REPORTS}


class Refused(Exception):
    """An error of a provider with its status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status_code = status


def model(answers: object) -> Script:
    """Make a callable of a script: answers in order, or one for ever."""
    if isinstance(answers, list):
        return scripted(*map(answer, answers))
    said = str(answers).removeprefix("always ") if isinstance(answers, str) else answers
    return scripted(answer(said), repeat=True)


def answer(said: object) -> object:
    if isinstance(said, str) and said.startswith("raise "):
        return Refused(int(said.split()[1]))
    if isinstance(said, dict):
        return Reply(said["output"], data=said)
    return said


def cascaded(go: Go, script: Wire, **options: Any) -> tuple[Any, dict[str, Script], list[str]]:
    tiers = {name: model(said) for name, said in script.items()}
    result = go(cascade, 1, list(tiers.items()), **options)
    calls = [name for name, tier in tiers.items() for _ in tier.calls]
    return result, tiers, calls


def test_each_tier_is_asked_once(go: Go) -> None:
    report = REPORTS["rep-K-01"]
    expected = report["expected"]
    result, _, calls = cascaded(go, report["input"]["script"], accept=lambda _r: True)

    assert result.stopped_by in expected["stopped_by in"]
    assert calls == expected["calls"]
    assert [
        {"name": one.name, "status": one.status, "error.cls": one.error.cls}
        for one in result.history
    ] == expected["history"]


def test_calls_are_bounded_by_tiers_and_attempts(go: Go, clock: ManualClock) -> None:
    report = REPORTS["rep-K-03"]
    expected = report["expected"]
    run = Run(retry=Retry(**report["input"]["retry"]), clock=clock)
    result, tiers, _ = cascaded(go, report["input"]["script"], accept=lambda _r: True, run=run)

    assert {name: len(tier.calls) for name, tier in tiers.items()} == expected["calls"]
    assert len(result.rollout.find(kind="tier")) == expected["attempts recorded"]


@pytest.mark.parametrize("case", range(4))
def test_the_floor_is_inclusive_and_the_weaker_answer_is_kept(go: Go, case: int) -> None:
    report = REPORTS["rep-K-05"]
    expected = report["expected"][case]
    checks = Checks([{"path": "score", "op": "greaterThanOrEqual", "expected": 0.7}])
    script = {"cheap": None, "strong": None, **report["input"]["cases"][case]}
    result, _, _ = cascaded(go, script, accept=checks)
    history = result.history
    found = {
        "tier": result.tier,
        "accepted": result.accepted,
        "escalated": bool(result.escalated),
        "escalated_by of cheap": history[0].escalated_by,
        "history statuses": [one.status for one in history],
        "history outputs": [one.answer and one.answer.output for one in history],
    }

    for name, wanted in expected.items():
        if name.endswith(" in"):
            assert found[name.removesuffix(" in")] in wanted
        else:
            assert found[name] == wanted


GATES: dict[str, Any] = {
    "raises TimeoutError": scripted(TimeoutError(), repeat=True),
    "raises ConnectionError": scripted(ConnectionError(), repeat=True),
    "returns None": lambda _reply: None,
    "returns {}": lambda _reply: {},
    "returns True": lambda _reply: True,
    "returns False": lambda _reply: False,
    "returns 'yes'": lambda _reply: "yes",
    "Checks with an undetermined pattern": Checks(
        [{"path": "output", "op": "matches", "expected": "(a+)\\1"}]
    ),
    "Verdict(ok=False, data={'extra': [{'type': 'image', 'unknown': 1}]})": lambda _reply: Verdict(
        ok=False, data={"extra": [{"type": "image", "unknown": 1}]}
    ),
    "Verdict(ok=True)": lambda _reply: Verdict(ok=True),
}


@pytest.mark.parametrize("case", range(7))
def test_a_gate_that_says_no_clear_yes_is_closed(go: Go, case: int) -> None:
    report = REPORTS["rep-H-01"]
    send = scripted("sent", repeat=True)
    gate = GATES[report["input"]["gate_cases"][case]]
    stages = [
        Stage("draft", scripted("aa")),
        Stage("check", scripted("aa"), gate),
        Stage("send", send),
    ]
    try:
        go(chain, 1, stages)
    except UsageError:
        assert case in (1, 2, 5)

    said = {0: "send not called", 1: "send called once"}[len(send.calls)]
    assert said == report["expected"][case]


@pytest.mark.parametrize("case", range(3))
def test_a_verdict_is_read_before_anything_else_can_fail(go: Go, case: int) -> None:
    report = REPORTS["rep-H-03"]
    expected = report["expected"][case]
    gate = GATES[report["input"]["gate_cases"][case]]
    result = go(chain, 1, [Stage("draft", scripted("aa"), gate), Stage("send", scripted("sent"))])
    status = result.rollout.step("gate_draft").status
    allowed = expected.get("gate step status in", [expected.get("gate step status", status)])

    assert result.stopped_by == expected["stopped_by"]
    assert (status in allowed) is ((report["id"], case) not in DIFFER)


def asked(text: str) -> ToolCall:
    """Read a call as a script writes it: `finish({"x": 1})`, or a bare name."""
    name, _, args = text.partition("(")
    return ToolCall(text, name, json.loads(args.removesuffix(")")) if args else {})


def replied(said: Wire) -> Reply:
    error = said.get("error")
    verdict = error_classify(**error) if error else None
    return Reply(
        said.get("output", ""),
        calls=tuple(map(asked, said.get("calls", ()))),
        status=said.get("status", "completed"),
        stop=said.get("stop"),
        error=ErrorInfo.judged("ProviderError", "", verdict) if verdict else None,
    )


def counted(*names: str) -> tuple[ToolBus, list[str]]:
    """Make tools of these names that do nothing, and count."""
    ran: list[str] = []

    def made(name: str) -> Any:
        return tool(lambda: ran.append(name), name=name, effect="readonly")

    return toolbus([*map(made, names), finish()]), ran


@pytest.mark.parametrize("case", range(6))
def test_how_a_turn_ended_is_part_of_how_the_loop_did(go: Go, case: int) -> None:
    report = REPORTS["rep-O-01"]
    bus, _ = counted()
    result = go(loop, "?", turn=scripted(replied(report["input"]["cases"][case])), tools=bus)
    found = {
        "status not completed": result.status != "completed",
        f"status {result.status}": True,
        f"stopped_by {result.stopped_by}": True,
    }

    assert found[report["expected"][case]]


def test_the_last_turn_decides(go: Go) -> None:
    report = REPORTS["rep-O-02"]
    bus, _ = counted("t1")
    turn = scripted(*map(replied, report["input"]["turns"]))
    result = go(loop, "?", turn=turn, tools=bus)
    found = {
        "stopped_by": result.stopped_by,
        "status": result.status,
        "error.cls": result.error.cls,
    }

    assert found == report["expected"]
    assert result.output == ""


@pytest.mark.parametrize("case", range(3))
def test_n_turns_are_n(go: Go, case: int) -> None:
    report = REPORTS["rep-O-04"]
    bus, _ = counted("t")
    said = {"call": Reply(calls=(ToolCall("1", "t"),)), "text": Reply("text")}
    turn = scripted(*(said[one] for one in report["input"]["cases"][case]))
    result = go(loop, "?", turn=turn, tools=bus, max_turns=report["input"]["max_turns"])

    for name, wanted in report["expected"][case].items():
        assert getattr(result, name) == wanted


def test_a_ceiling_is_tested_before_each_call(go: Go) -> None:
    report = REPORTS["rep-O-06"]
    expected = report["expected"]
    turns = report["input"]["turns"]
    bus, ran = counted(*turns[0]["calls"])
    run = Run(limits=Limits(**report["input"]["limits"]))
    result = go(loop, "?", turn=scripted(*map(replied, turns)), tools=bus, run=run)

    assert (result.stopped_by, len(ran)) == (expected["stopped_by"], expected["tools run"])
    skipped = result.rollout.find(status=expected["the other three"])
    assert [step.name for step in skipped] == turns[0]["calls"][-3:]


@pytest.mark.parametrize("case", range(3))
def test_a_hook_that_always_objects_ends_somewhere(go: Go, case: int) -> None:
    report = REPORTS["rep-O-10"]
    given, expected = report["input"]["cases"][case], report["expected"][case]
    bus, ran = counted("rm")

    def objects(_call: ToolCall, _effect: object) -> Block:
        if given.get("hook") == "always raises":
            raise RuntimeError("hook")
        return Block("no")

    result = go(
        loop,
        "?",
        turn=scripted(Reply(calls=(ToolCall("1", "rm", {}),)), repeat=True),
        tools=bus,
        max_turns=given["max_turns"],
        hooks=[Hooks(before_tool=objects, on_error=given.get("on_error", "allow"))],
        stop=[StallDetect(window=3)] if "stop" in given else [],
    )
    found = {
        "stopped_by": result.stopped_by,
        "turns": result.turns,
        "blocked": len(result.rollout.blocked()),
        "hook_errors": result.hook_errors,
        "tools run": len(ran),
    }

    for name, wanted in expected.items():
        if name.endswith(" in"):
            assert found[name.removesuffix(" in")] in wanted
        elif name.endswith(" at least"):
            assert found[name.removesuffix(" at least")] >= wanted
        else:
            assert found[name] == wanted


@pytest.mark.parametrize("case", range(5))
def test_nothing_said_may_take_the_default_and_nothing_else(go: Go, case: int) -> None:
    report = REPORTS["rep-N-01"]
    given, expected = report["input"]["cases"][case], dict(report["expected"][case])
    arms = {name: scripted("done") for name in report["input"]["arms"]}
    classify = scripted(given["classify"])
    result = go(route, 1, classify=classify, arms=arms, default=given.get("default"))

    for name in expected.pop("error lists", ()):
        assert name in result.error.message
    assert expected == {name: getattr(result, name) for name in expected}
    assert [name for name, arm in arms.items() if arm.calls] == [result.arm] * (
        result.stopped_by == "done"
    )


@pytest.mark.parametrize("case", range(2))
def test_what_removed_each_candidate_is_told(go: Go, case: int) -> None:
    report = REPORTS["rep-N-03"]
    values, expected = report["input"]["cases"][case], report["expected"][case]
    tool = Branch(report["input"]["arms"])
    arms = {name: scripted("done") for name in ("m1", "m2")}
    result = go(route, values, classify=tool, arms=arms)
    evaluated = result.rollout.step("classify").decision["evaluated"]
    reasons = {arm["name"]: arm["reason"].split(":")[0] for arm in evaluated if not arm["ok"]}

    assert result.arm == expected.get("arm")
    assert result.stopped_by == expected.get("stopped_by", "done")
    assert expected.get("reasons", reasons) == reasons
    assert all(f"{name}: {path}" in str(result.error) for name, path in reasons.items()) is (
        result.arm is None
    )


def test_nothing_is_counted_down_on_the_object(go: Go) -> None:
    report = REPORTS["rep-F-01"]
    given, expected = report["input"], report["expected"]
    script = [Refused(503), "draft"] * given["runs"]
    made = Refine(
        draft=scripted(*script),
        judge=lambda _reply: Verdict(ok=False, score=0.95),
        max_rounds=given["max_rounds"],
        target=given["target"],
    )
    runs = [Run("r", retry=Retry(**given["retry"]), clock=ManualClock()) for _ in range(3)]
    results = [go(made.run, 1, run=run) for run in runs]

    assert results[0] == results[1] == results[2]
    assert expected == {name: getattr(results[0], name) for name in expected}


@pytest.mark.parametrize("case", range(2))
def test_the_best_draft_comes_back_not_the_last(go: Go, case: int) -> None:
    report = REPORTS["rep-F-03"]
    given, expected = report["input"], report["expected"][case]
    scores = [Verdict(ok=False, score=score) for score in given["cases"][case]]
    draft = scripted(*(f"draft {number}" for number in range(len(scores))))
    result = go(
        refine,
        1,
        draft=draft,
        judge=scripted(*scores),
        max_rounds=given["max_rounds"],
        target=given["target"],
    )

    assert expected == {name: getattr(result, name) for name in expected}
    assert result.output == f"draft {result.best_round}"


ERRORS = {"raise TimeoutError": TimeoutError, "raise PermissionError": PermissionError}


def in_order(script: Wire, order: list[str]) -> dict[str, Any]:
    """Make branches that end one after the other in this order."""
    ended = {name: anyio.Event() for name in order}

    def branch(name: str, said: object) -> Any:
        async def work(_value: object) -> object:
            for before in order[: order.index(name)]:
                await ended[before].wait()
            ended[name].set()
            if isinstance(said, str) and said in ERRORS:
                raise ERRORS[said]
            return said

        return work

    return {name: branch(name, said) for name, said in script.items()}


def test_one_failure_loses_nobody_elses_answer(go: Go) -> None:
    report = REPORTS["rep-P-01"]
    given = report["input"]
    seen: list[Any] = []

    async def work() -> Any:
        branches = in_order(given["branches"], given["order of ending"])
        return await parallel(1, branches, fail=given["fail"], join=seen.extend)

    result = go(work)
    expected = report["expected"]

    assert [[one.name, one.status, one.error and one.error.cls] for one in seen] == expected
    assert tuple(seen) == result.outcomes
    assert result.outputs == ({"k": 1}, None, {"k": 3})


def test_position_is_identity(go: Go) -> None:
    report = REPORTS["rep-P-03"]
    given, expected = report["input"], report["expected"]

    async def work() -> tuple[Any, Any]:
        branches = in_order(given["branches"], given["order of ending"])
        items = in_order({str(item): item for item in given["over"]}, ["3", "1", "2"])

        async def each(item: int) -> object:
            return await items[str(item)](item)

        return await parallel(1, branches), await parallel(1, over=given["over"], each=each)

    named, over = go(work)

    assert list(named.outputs) == expected["outputs"]
    assert list(over.outputs) == over.data == expected["over"]


def test_those_behind_the_first_failure_are_not_started(go: Go) -> None:
    report = REPORTS["rep-P-05"]
    given, expected = report["input"], report["expected"]
    answers = {name: ERRORS.get(said, lambda said=said: said)() for name, said in
               given["branches"].items()}  # fmt: skip
    branches = {name: scripted(said) for name, said in answers.items()}
    result = go(parallel, 1, branches, fail=given["fail"], concurrency=given["concurrency"])

    assert [name for name, branch in branches.items() if branch.calls] == expected["started"]
    assert [[one.name, one.status] for one in result.outcomes] == expected["outcomes"]


@pytest.mark.parametrize("case", range(4))
def test_a_worker_that_there_is_not_is_a_fault_of_the_plan(go: Go, case: int) -> None:
    report = REPORTS["rep-G-01"]
    given, expected = report["input"], report["expected"][case]
    workers = {name: scripted("done", repeat=True) for name in given["workers"]}
    plan = {"steps": [{"id": "a", **given["cases"][case]}]}
    result = go(
        orchestrate,
        1,
        plan=scripted(plan),
        workers=workers,
        merge=lambda _outcomes: "merged",
        plan_retries=given["plan_retries"],
    )
    called = sum(len(worker.calls) for worker in workers.values())
    said = str(result.error)

    assert (called, result.stopped_by) == ((1, "done") if expected == "runs" else (0, "plan"))
    if "offering" in expected:
        assert f'did you mean "{expected.partition("offering ")[2]}"' in said
    if "listing" in expected:
        assert all(f'"{name}"' in said for name in workers)


def test_a_ceiling_at_the_root_covers_the_tree(go: Go) -> None:
    report = REPORTS["rep-G-03"]
    ceiling = report["input"]["limits"]["max_steps"]
    used = 0

    def model(_inputs: object) -> Reply:
        nonlocal used
        used += 5
        return Reply("a", usage=Usage(5))

    def of(worker: Any, name: str) -> Orchestrate:
        steps = [{"id": f"{name}{at}", "worker": "w"} for at in range(3)]
        return Orchestrate(
            plan=lambda _values: {"steps": steps},
            workers={"w": worker},
            merge=lambda _outcomes: "m",
            name=name,
        )

    tree = of(of(model, "inner"), "root")
    result = go(tree.run, 1, run=Run(limits=Limits(max_steps=ceiling)))

    assert len(list(result.rollout.all_steps())) <= ceiling
    assert result.stopped_by == "steps"
    assert result.usage.total == used > 0


def test_work_handed_round_in_a_circle_is_refused(go: Go) -> None:
    report = REPORTS["rep-G-05"]
    given, expected = report["input"], report["expected"]
    lead, worker = scripted({"steps": given["plan"]}, repeat=True), scripted()
    result = go(
        orchestrate,
        1,
        plan=lead,
        workers={"x": worker, "y": worker},
        merge=worker,
        plan_retries=given["plan_retries"],
    )

    assert result.stopped_by == expected["stopped_by"]
    assert (len(lead.calls), len(worker.calls)) == (
        expected["plans asked for"],
        expected["worker calls"],
    )
    assert all(f'"{name}"' in str(result.error) for name in expected["fault names"])


def test_every_report_has_a_test() -> None:
    text = Path(__file__).read_text("utf-8")

    assert [name for name in REPORTS if f'REPORTS["{name}"]' not in text] == []
