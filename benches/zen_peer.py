"""The same table in another engine: zen-engine's decision table (`pip install '.[bench]'`)."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workloads import Record, Spec

_FIELDS = {"i1": "order.currency", "i2": "customer.tier", "i3": "order.total"}


def zen_table(table: list[Spec]) -> Callable[[Record], object] | None:
    """Load rows into a decision table of zen-engine; None where it is not installed."""
    try:
        zen = import_module("zen")
    except ImportError:
        return None
    inputs = [{"id": cell, "name": cell, "field": field} for cell, field in _FIELDS.items()]
    content = {
        "hitPolicy": "first",
        "inputs": inputs,
        "outputs": [{"id": "o1", "name": "o1", "field": "row"}],
        "rules": [_rule(row) for row in table],
    }
    nodes = [
        {"id": "in", "type": "inputNode", "name": "in"},
        {"id": "table", "type": "decisionTableNode", "name": "table", "content": content},
        {"id": "out", "type": "outputNode", "name": "out"},
    ]
    edges = [
        {"id": "e1", "type": "edge", "sourceId": "in", "targetId": "table"},
        {"id": "e2", "type": "edge", "sourceId": "table", "targetId": "out"},
    ]
    decision = zen.ZenEngine().create_decision(json.dumps({"nodes": nodes, "edges": edges}))

    def decide(record: Record) -> object:
        return decision.evaluate(record)["result"]["row"]

    return decide


def _rule(row: Spec) -> Spec:
    currency, tier, total = (check["expected"] for check in row["when"])
    cells = {"i1": json.dumps(currency), "i2": ", ".join(map(json.dumps, tier))}
    return {"_id": row["id"], **cells, "i3": f"< {total}", "o1": str(row["outputs"])}
