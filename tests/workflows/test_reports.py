"""Faults that people met in workflows elsewhere, as scripts with the right outcome.

`reports/*.jsonl` has one report a line. A script says what each callable returns or raises; no
model is called. Where the answer differs on purpose, `tests/reports/differences.md` says why.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from reports.differences import differences

from interlock import (
    Checks,
    Limits,
    Orchestrate,
    Reply,
    Retry,
    Run,
    Stage,
    Usage,
    UsageError,
    Verdict,
    cascade,
    chain,
    orchestrate,
)
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
