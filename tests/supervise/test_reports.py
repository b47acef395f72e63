"""Faults that people met in supervised runs elsewhere, as inputs with the right outcome."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from interlock import ToolCall, tool, toolbus
from interlock.supervise import (
    AdapterCoverage,
    Answer,
    Deployment,
    Policy,
    Procedure,
    ProposedCall,
    RunbookInvalid,
    Supervisor,
    advance,
    answer,
    check_inputs,
    derive_policy,
    propose,
    refusals_to_start,
    report,
    start_run,
    verify,
)
from interlock.testing import ManualClock

from .documents import DISK

REPORTS: dict[str, dict[str, Any]] = {
    report["id"]: report
    for report in map(
        json.loads, Path(__file__).with_name("reports.jsonl").read_text().splitlines()
    )
}

TESTED = {
    f"rep-{area}-{number}"
    for area, number in re.findall(
        r"^def test_rep_([A-Z])_(\d\d)_", Path(__file__).read_text("utf-8"), re.MULTILINE
    )
}


def test_every_report_is_tried() -> None:
    assert set(REPORTS) == TESTED


def test_rep_U_09_what_cannot_be_followed_is_refused_before_anything_runs(tmp_path: Path) -> None:
    report = REPORTS["rep-U-09"]
    not_found, empty, missing, low = report["input"]["cases"]
    assert not_found == {"runbook": "not found"}
    with pytest.raises(FileNotFoundError):
        derive_policy(tmp_path / "runbook.yaml")

    document = {"runbook": "1", "id": "x", "terminals": [{"id": "done"}], **empty["runbook"]}
    for strict in (True, False):
        with pytest.raises(RunbookInvalid, match="runbook/no-entry"):
            derive_policy(document, strict=strict)

    policy = derive_policy(DISK)
    refused = check_inputs(policy.inputs, {"host": "db1"}).refusals
    assert [missing["required input missing"]] == [one.field for one in refused]

    assert low["minimum R2"] is True
    procedure = Procedure(low["highest risk"], "human-with-agent", min_runtime_profile="R2")
    full = AdapterCoverage(True, True, True)
    deployment = Deployment(low["client"], full, risk_ceiling=low["ceiling"])
    said = " and ".join(one.code for one in refusals_to_start(procedure, deployment))
    assert f"two refusals at once: {said}" == report["expected"][3]


def policy_of(*steps: dict[str, Any], tools: dict[str, str], **fields: Any) -> Policy:
    """Derive the policy of a small document; faults that do not matter here are let be."""
    document = {
        "runbook": "1",
        "id": "small",
        "tools": [{"id": name, "effect": effect} for name, effect in tools.items()],
        "steps": list(steps),
        "terminals": [{"id": "done"}, {"id": "failed"}],
        **fields,
    }
    return derive_policy(document)


def step(name: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "next": "done", "on_failure": "failed", **fields}


def test_rep_T_06_waiting_for_a_person_counts_and_is_shown_apart() -> None:
    known = REPORTS["rep-T-06"]
    (asked,) = known["input"]["asked"]
    gate = {"gate": {"approvers": ["ann"]}}
    policy = policy_of(step("write", tools=["file:edit"], **gate), tools={"file:edit": "write"})
    state = start_run(
        policy,
        agent_identity="agent",
        now=known["input"]["startedAt"],
        wall_clock_seconds=known["input"]["runbook wall clock"],
    ).unwrap()
    call = ProposedCall("file:edit", call_id="1")
    waiting = propose(policy, state, call, now=asked["at"])
    assert waiting.question is not None
    given = Answer(waiting.question.id, "ann", approve=True)
    state = answer(policy, waiting.state, given, now=asked["answeredAt"]).state
    ended = propose(policy, state, call, now=known["input"]["now"])
    told = report(ended.state, policy=policy)

    assert (ended.code, told.outcome) == ("run/timed-out", "timed-out")
    assert told.budgets.wall_clock.elapsed == known["expected"]["elapsed"]
    assert (
        known["expected"]["the report shows"] == f"{told.waited_seconds:g} s waiting for an answer"
    )
    (rule,) = [one.message for one in told.caveats if one.code == "time/waited"]
    assert "600 s" in rule
    assert "counts" in rule
    assert "600 s" in told.to_markdown()


def test_rep_U_02_a_hook_that_could_not_run_is_no_denial() -> None:
    known = REPORTS["rep-U-02"]
    broken, denied = known["input"]["cases"]
    message = broken["message"]
    ran: list[str] = []

    @tool(effect="readonly")
    def look() -> str:
        """Look."""
        ran.append("look")
        return "seen"

    def cannot(_question: object) -> Answer:
        raise FileNotFoundError(message)

    def denies(question: Any) -> Answer:
        return Answer(question.id, "ann", approve=False, note="not today")

    gate = {"gate": {"approvers": ["ann"]}}
    policy = policy_of(step("see", tools=["look"], **gate), tools={"look": "readonly"})

    async def tried(on_question: Any) -> tuple[str, str, int]:
        sup = Supervisor(policy, on_question=on_question)
        await sup.start(agent_identity="agent")
        result = await sup.bus(toolbus([look])).invoke(ToolCall("1", "look"))
        return result.status, str(result.output), len(sup.state.pending)

    assert denied["hook"] == "ran and answered deny"
    status, said, still_open = anyio.run(tried, cannot)
    assert (status, still_open) == ("blocked", 1)
    assert "asking failed: FileNotFoundError" in said
    status, said, still_open = anyio.run(tried, denies)
    assert (status, still_open) == ("blocked", 0)
    assert "not today" in said
    assert "asking failed" not in said
    assert ran == []


def test_rep_U_06_what_was_agreed_to_runs_once() -> None:
    known = REPORTS["rep-U-06"]
    wanted = known["input"]["turn calls"]
    written: list[str] = []

    @tool(effect="write")
    def write(f: str) -> str:
        """Write a file."""
        written.append(f)
        return "written"

    gate = {"gate": {"approvers": ["ann"]}}
    policy = policy_of(step("write", tools=["write"], **gate), tools={"write": "write"})
    calls = [ToolCall(one["id"], one["tool"], one["args"]) for one in wanted]

    async def work() -> Supervisor:
        sup = Supervisor(policy, clock=ManualClock())
        await sup.start(agent_identity="agent")
        bus = sup.bus(toolbus([write]))
        for call in calls:
            assert (await bus.invoke(call)).status == "blocked"
            (question,) = sup.state.pending
            await sup.answer(Answer(question.id, "ann", approve=True))
            assert (await bus.invoke(call)).status == "completed"
            assert (await bus.invoke(call)).status == "blocked"
            (again,) = sup.state.pending
            await sup.answer(Answer(again.id, "ann", approve=False))
        return sup

    told = anyio.run(work).report()
    assert written == known["expected"]["tool calls"]
    assert [one.used_by for one in told.approvals if one.approved] == ["1", "2"]
    assert told.calls["completed"] == len(wanted) * known["expected"]["times each"]


def test_rep_U_08_moving_on_is_no_tool_of_the_agent() -> None:
    known = REPORTS["rep-U-08"]
    (design,) = known["input"]["runbook"]["steps"]
    policy = policy_of(
        step("design", tools=design["tools"]),
        tools={"file:edit": "write", "cli:test": "readonly"},
    )
    state = start_run(policy, agent_identity="agent").unwrap()
    said: list[str] = []
    for proposed in known["input"]["proposals"]:
        decision = propose(policy, state, ProposedCall(proposed))
        state = decision.state
        is_over = decision.code == "run/over"
        end = "" if is_over else f", run {state.outcome}"
        said.append(f"{decision.verdict}: {'the run is over' if is_over else decision.code}{end}")
    assert said == known["expected"]


def test_rep_U_10_a_step_is_left_by_what_was_shown() -> None:
    known = REPORTS["rep-U-10"]
    backup, drop = known["input"]["runbook"]["steps"]
    shown = [{"path": backup["verified by"], "op": "equals", "expected": True}]
    policy = policy_of(
        step("backup", tools=backup["tools"], verify={"checks": shown}, next="drop"),
        step("drop", tools=drop["tools"]),
        tools={"cli:dump": "write", "cli:drop": "write"},
    )
    began = start_run(policy, agent_identity="agent").unwrap()

    def did(steps: list[str]) -> list[str]:
        state, said = began, []
        for what in steps:
            if what.startswith("propose"):
                decision = propose(policy, state, ProposedCall(what.split()[1]))
                goes_on = ", run goes on" if decision.state.status == "running" else ""
                blocked = f"block: {decision.code}{goes_on}"
                said.append("allow" if decision.verdict == "allow" else blocked)
                state = decision.state
                state = replace(state, open=())
                continue
            moved = (
                verify(policy, state, {"dump": {"ok": True}}, by="agent")
                if what == "verify"
                else advance(policy, state, "drop")
            )
            new = moved.state.deviations[len(state.deviations) :]
            ended = f", run {moved.state.outcome}" if moved.state.is_over else ""
            said.append(f"deviation: {new[0].deviation_class}{ended}" if new else "ok")
            state = moved.state
        return said

    assert did(known["input"]["events"]) == known["expected"]["events"]
    assert did(known["input"]["also"]) == known["expected"]["also"]
