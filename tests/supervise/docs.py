"""Runbooks that several tests run."""

from __future__ import annotations

from typing import Any

from interlock.supervise import Policy, ProposedCall, RunState, advance, derive_policy, start_run

DISK: dict[str, Any] = {
    "runbook": "1",
    "id": "disk",
    "inputs": {"mount": {"type": "string"}, "token": {"type": "string", "secret": True}},
    "tools": [
        {"id": "cli:df", "effect": "readonly"},
        {
            "id": "cli:rm",
            "effect": "destructive",
            "args": [{"path": "path", "op": "startsWith", "expected": "/var/log/"}],
        },
        {"id": "http:*", "effect": "write", "labels": ["outside"]},
        {"id": "cli:page", "effect": "write"},
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
        {
            "id": "clean",
            "tools": ["cli:rm", "cli:df", "http:*"],
            "gate": {
                "approvers": ["ann", "bob"],
                "expires_s": 600,
                "separate_from": "requester",
            },
            "rollback": "look",
            "verify": {"checks": [{"path": "used", "op": "lessThan", "expected": 80}]},
            "next": "fine",
            "on_failure": "look",
        },
        {"id": "call", "tools": ["cli:page"], "next": "fine"},
    ],
    "terminals": [{"id": "fine", "outcome": "resolved"}],
    "budgets": {"edges": {"clean->look": 2}, "calls": {"total": 5, "tools": {"cli:df": 3}}},
    "never": [{"after": {"tool": "cli:rm"}, "then": {"label": "outside"}, "message": "no leaks"}],
}
DISK["steps"][1]["on_failure"] = "call"
DISK["steps"][2]["on_failure"] = "look"
DISK["budgets"]["edges"]["call->look"] = 1

INPUTS = {"mount": "/", "token": "hunter2"}


def disk(**changes: Any) -> Policy:
    return derive_policy({**DISK, **changes})


def at_look(policy: Policy, **options: Any) -> RunState:
    given: dict[str, Any] = {"agent_identity": "agent", "inputs": INPUTS, "now": 0, **options}
    return start_run(policy, **given).unwrap()


def at_clean(policy: Policy, **options: Any) -> RunState:
    from interlock.supervise import verify

    state = verify(policy, at_look(policy, **options), {"used": 91}, by="agent", now=1).state
    return advance(policy, state, "clean", now=2).state


DF = ProposedCall("cli:df")
RM = ProposedCall("cli:rm", args={"path": "/var/log/a"})
