"""What deriving the policy of a runbook costs, by the shape of its graph, and what one call does.

Prints Markdown. The clock is the CPU time of the process; the middle one of several rounds counts.
Reading the text is told apart: a document given as data, or as JSON, is not read as YAML.
"""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from interlock.spec import parse
from interlock.supervise import ProposedCall, derive_policy, propose, start_run

ROUNDS, STEPS = 9, 500
Document = dict[str, Any]


def document(back: Callable[[int], int | None]) -> Document:
    """Give a document of many steps, each with conditions; `back` is where its failure leads."""
    steps: list[Document] = []
    edges: dict[str, int] = {}
    for at in range(STEPS):
        target = back(at)
        failed = "gave-up" if target is None else f"s{target}"
        if target is not None:
            edges[f"s{at}->{failed}"] = 3
        steps.append(
            {
                "id": f"s{at}",
                "title": f"Step {at}",
                "do": f"Run `tool-{at % 40}` and bring what it says of {{inputs.host}}.",
                "tools": [f"cli:tool-{at % 40}", "mcp:tracker/comment"],
                "args": [{"path": "target", "op": "startsWith", "expected": f"/srv/{at}"}],
                "verify": {
                    "checks": [
                        {"path": "exit_code", "op": "equals", "expected": 0},
                        {"path": "output", "op": "matches", "expected": f"done {at}$"},
                    ]
                },
                "next": f"s{at + 1}" if at + 1 < STEPS else "finished",
                "on_failure": failed,
            }
        )
    tools = [{"id": f"cli:tool-{at}", "effect": "write"} for at in range(40)]
    return {
        "runbook": "1",
        "id": "large",
        "duration": ">4h",
        "inputs": {"host": {"type": "string"}},
        "tools": [*tools, {"id": "mcp:tracker/comment", "effect": "write"}],
        "steps": steps,
        "terminals": [{"id": "finished"}, {"id": "gave-up"}],
        "budgets": {"edges": edges},
    }


SHAPES: dict[str, Callable[[int], int | None]] = {
    "a chain": lambda _: None,
    "a loop of ten, fifty times": lambda at: at - 9 if at % 10 == 9 else None,
    "each step back to the one before": lambda at: at - 1 if at else None,
    "each step back to the first": lambda at: 0 if at else None,
}


def cost(function: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Give the milliseconds of CPU time that a call takes."""
    times: list[float] = []
    for _ in range(rounds):
        before = time.process_time()
        function()
        times.append(time.process_time() - before)
    return statistics.median(times) * 1e3


class Row(NamedTuple):
    """What a shape costs, in milliseconds of CPU time, and its bound."""

    name: str
    derive: float
    moves: float
    digest: float
    max_moves: int | None


def row(name: str, given: Document) -> Row:
    """Measure a document; bound and digest are computed when they are first asked for."""
    policy = derive_policy(given)
    return Row(
        name,
        cost(lambda: derive_policy(given)),
        cost(lambda: replace(policy).max_moves),
        cost(lambda: replace(policy).digest),
        policy.max_moves,
    )


def decided() -> float:
    """Give the microseconds that deciding one allowed call takes, with a condition on it."""
    policy = derive_policy(document(SHAPES["a chain"]))
    state = start_run(policy, agent_identity="agent", inputs={"host": "a"}, now=0).unwrap()
    call = ProposedCall("cli:tool-0", args={"target": "/srv/0/x"})
    if propose(policy, state, call, now=1).verdict != "allow":
        raise RuntimeError("the call is to be allowed")

    def many() -> None:
        for _ in range(1_000):
            propose(policy, state, call, now=1)

    return cost(many)


def main() -> None:
    """Print the table."""
    print(
        f"Python {platform.python_version()}, {STEPS} steps, two tools and three conditions each."
    )
    print("\n| graph | derive, ms | max_moves, ms | digest, ms | max_moves |")
    print("|---|---|---|---|---|")
    for name, back in SHAPES.items():
        found = row(name, document(back))
        shown = f"{found.derive:.1f} | {found.moves:.1f} | {found.digest:.1f} | {found.max_moves}"
        print(f"| {name} | {shown} |")
    text = json.dumps(document(SHAPES["a chain"])).encode()
    as_json = cost(lambda: parse(text, is_json=True))
    as_yaml = cost(lambda: parse(text, is_json=False), rounds=1)
    size = f"{len(text):,} bytes"
    print(f"\nReading its text ({size}): {as_json:.1f} ms as JSON, {as_yaml:,.0f} ms as YAML.")
    print(f"\nDeciding a call that is allowed: {decided():.1f} µs.")


if __name__ == "__main__":
    main()
