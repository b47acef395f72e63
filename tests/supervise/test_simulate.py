"""A supervised loop by its rollout: the same runbook comes to the same, another says where not."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from interlock import Reply, ToolCall, finish, loop, tool, toolbus
from interlock.errors import UsageError
from interlock.record.rollout import Rollout
from interlock.supervise import Policy, Supervisor, derive_policy, simulate
from interlock.testing import ManualClock, scripted

CAPABILITIES = {"df": "cli:df", "rotate": "cli:rotate"}


def small(**changes: Any) -> Policy:
    document: dict[str, Any] = {
        "runbook": "1",
        "id": "small",
        "inputs": {"mount": {"type": "string"}},
        "tools": [
            {"id": "cli:df", "effect": "readonly"},
            {"id": "cli:rotate", "effect": "write"},
        ],
        "steps": [
            {
                "id": "look",
                "kind": "check",
                "tools": ["cli:df"],
                "verify": {"checks": [{"path": "used", "op": "greaterThan", "expected": 80}]},
                "next": "clean",
                "on_failure": "fine",
            },
            {"id": "clean", "tools": ["cli:rotate"], "next": "fine", "on_failure": "fine"},
        ],
        "terminals": [{"id": "fine", "outcome": "resolved"}],
    }
    return derive_policy({**document, **changes})


def rollout(policy: Policy) -> Rollout:
    @tool(effect="readonly")
    def df() -> dict[str, int]:
        """Look."""
        return {"used": 91}

    @tool(effect="write")
    def rotate(config: str) -> str:
        """Rotate."""
        return config

    names: list[tuple[str, dict[str, Any]]] = [
        ("rotate", {"config": "/etc/x"}),
        ("df", {}),
        ("runbook_card", {}),
        ("runbook_evidence", {"evidence": {"used": 91}}),
        ("runbook_done", {}),
        ("rotate", {"config": "/etc/x"}),
        ("runbook_done", {}),
        ("finish", {"answer": "done"}),
    ]
    turn = scripted(*(Reply(calls=(ToolCall("same", name, args),)) for name, args in names))

    async def work() -> Any:
        sup = Supervisor(policy, clock=ManualClock(), capabilities=CAPABILITIES)
        await sup.start(agent_identity="agent", inputs={"mount": "/"})
        bus = sup.bus(toolbus([df, rotate, finish()]))
        return await loop("x", turn=turn, tools=bus, max_turns=20)

    made: Rollout = anyio.run(work).rollout
    return made


RECORDED = rollout(small())


def again(policy: Policy, **inputs: Any) -> Any:
    given = {"mount": "/", **inputs}
    return simulate(policy, RECORDED, inputs=given, capabilities=CAPABILITIES)


def test_the_same_runbook_comes_to_the_same() -> None:
    told = again(small())
    assert (told.outcome, told.differences, told.operations) == ("resolved", (), 6)
    kept = Rollout.from_json(RECORDED.to_json())
    assert simulate(small(), kept, inputs={"mount": "/"}, capabilities=CAPABILITIES) == told


def test_another_runbook_says_where_it_differs() -> None:
    tools = [{"id": "cli:df", "effect": "readonly"}, {
        "id": "cli:rotate", "effect": "write",
        "args": [{"path": "config", "op": "equals", "expected": "/etc/y"}],
    }]  # fmt: skip
    told = again(small(tools=tools))
    assert [(one.what, one.was, one.now) for one in told.differences] == [
        ("cli:rotate", "allow", "block")
    ]


def test_a_run_that_would_not_start_says_why() -> None:
    told = simulate(small(), RECORDED, capabilities=CAPABILITIES)
    assert [one.split(":")[0] for one in told.refusals] == ["input/missing"]


def test_a_rollout_without_arguments_is_refused() -> None:
    data = RECORDED.to_dict()
    for step in data["steps"]:
        for call in step.get("meta", {}).get("reply", {}).get("calls", []):
            call["args"] = "digest"
    with pytest.raises(UsageError, match="not in the record"):
        simulate(small(), Rollout.from_dict(data), inputs={"mount": "/"})
