"""Documents to derive policies from."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

Document = dict[str, Any]

EXAMPLES = Path(__file__).parents[2] / "examples" / "runbooks"
DISK = EXAMPLES / "disk-pressure.yaml"
FLAKY = EXAMPLES / "flaky-check.yaml"
ALL_EXAMPLES = sorted(EXAMPLES.glob("*.yaml"))

OK = {"path": "ok", "op": "equals", "expected": True}

SOUND: Document = {
    "runbook": "1",
    "id": "sound",
    "duration": "<5m",
    "inputs": {"env": {"checks": [{"op": "oneOf", "expected": ["test", "live"]}]}},
    "tools": [
        {"id": "cli:look", "effect": "readonly"},
        {"id": "mcp:store/*", "effect": "write"},
        {"id": "cli:drop", "effect": "destructive"},
    ],
    "steps": [
        {
            "id": "try",
            "do": "Run `look` and write what it says.",
            "tools": ["cli:look", "mcp:store/put"],
            "next": "see",
            "on_failure": "gave-up",
        },
        {
            "id": "see",
            "kind": "check",
            "tools": ["cli:look"],
            "verify": {"checks": [OK]},
            "next": "where",
            "on_failure": "try",
        },
        {
            "id": "where",
            "kind": "decision",
            "cases": [
                {"when": [{"path": "inputs.env", "op": "equals", "expected": "live"}], "to": "ask"},
                {
                    "when": [{"path": "inputs.env", "op": "equals", "expected": "test"}],
                    "to": "drop",
                },
            ],
        },
        {
            "id": "ask",
            "kind": "approval",
            "gate": {"approvers": ["ann", "bob"], "separate_from": "requester"},
            "next": "drop",
            "on_failure": "gave-up",
        },
        {
            "id": "drop",
            "tools": ["cli:drop"],
            "verify": {"checks": [OK]},
            "next": "settle",
            "on_failure": "undo",
            "rollback": "undo",
        },
        {
            "id": "settle",
            "kind": "wait",
            "wait": {"max_s": 60},
            "verify": {"checks": [OK]},
            "next": "done",
            "on_timeout": "by-hand",
        },
        {"id": "undo", "tools": ["mcp:store/put"], "next": "by-hand", "on_failure": "by-hand"},
        {"id": "by-hand", "kind": "manual", "next": "done", "on_failure": "gave-up"},
    ],
    "terminals": [{"id": "done", "outcome": "dropped"}, {"id": "gave-up"}],
    "budgets": {"edges": {"see->try": 2}},
}
"""A document without faults and warnings."""


def is_next(node: object, last: object) -> bool:
    return isinstance(node, list) and len(node) == last


def changed(*changes: tuple[str, Any], of: Document = SOUND) -> Document:
    """Return a copy of a document with some fields changed; `...` takes a field out.

    A field is written as in a problem: `steps[1].verify`.
    """
    made = copy.deepcopy(of)
    for field, value in changes:
        *way, last = [
            int(p) if p.isdigit() else p
            for p in field.replace("[", ".").replace("]", "").split(".")
        ]
        node: Any = made
        for part in way:
            node = node[part]
        if value is ...:
            del node[last]
        elif is_next(node, last):
            node.append(value)
        else:
            node[last] = value
    return made
