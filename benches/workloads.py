"""The shapes that speed is measured on, each with what a good engineer would write by hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

Record: TypeAlias = "dict[str, Any]"
Spec: TypeAlias = "dict[str, Any]"


def order() -> Record:
    """One order: nested objects, 20 fields, about 440 bytes as JSON."""
    return {
        "order": {
            "id": "o-1001",
            "total": 420.5,
            "currency": "EUR",
            "coupon": None,
            "items": [{"sku": "K-1", "count": 2}],
            "shipping": {"country": "DE", "method": "express", "weight": 3.2},
        },
        "customer": {"id": "c-77", "tier": "standard", "email": "ada@example.com", "days": 400},
        "risk": {"score": 12, "flags": ["new"], "address": "192.0.2.7", "device": "phone-17"},
        "meta": {"source": "web", "version": "2.3.1", "trace": "ab12cd34", "note": "gift wrap"},
    }


def check(path: str, op: str, expected: object = None) -> Spec:
    """Write one check."""
    return (
        {"path": path, "op": op}
        if expected is None
        else {
            "path": path,
            "op": op,
            "expected": expected,
        }
    )


ONE_CHECK: list[Spec] = [check("order.total", "greaterThan", 100)]

ARMS: list[Spec] = [
    {
        "name": "fraud",
        "when": [
            check("order.total", "greaterThan", 100),
            check("risk.score", "greaterThan", 80),
            check("risk.flags", "exists"),
        ],
    },
    {
        "name": "vip",
        "when": [
            check("customer.tier", "oneOf", ["enterprise", "strategic"]),
            check("order.total", "greaterThan", 1000),
            check("customer.days", "greaterThan", 365),
        ],
    },
    {
        "name": "legacy",
        "when": [
            check("order.currency", "equals", "EUR"),
            check("order.shipping.country", "equals", "DE"),
            check("meta.version", "matches", r"^1\.\d+"),
        ],
    },
    {
        "name": "express",
        "when": [
            check("order.shipping.method", "startsWith", "expr"),
            check("customer.email", "matches", r"^[^@\s]+@example\.com$"),
            check("order.shipping.weight", "lessThan", 5),
        ],
    },
    {
        "name": "known",
        "when": [
            check("customer.id", "startsWith", "c-"),
            check("customer.days", "greaterThan", 30),
            check("order.total", "greaterThan", 0),
        ],
    },
]

_VERSION = re.compile(r"1\.[0-9]+")
_EMAIL = re.compile(r"[^@\s]+@example\.com")


def one_check_by_hand(record: Record) -> bool:
    total = record["order"]["total"]
    return isinstance(total, (int, float)) and total > 100


def branch5_by_hand(record: Record) -> str | None:
    """Take an arm: fields hoisted, one `if` an arm, early exit."""
    sale, customer, risk = record["order"], record["customer"], record["risk"]
    total = sale["total"]
    if total > 100 and risk["score"] > 80 and "flags" in risk:
        return "fraud"
    if customer["tier"] in ("enterprise", "strategic") and total > 1000 and customer["days"] > 365:
        return "vip"
    shipping = sale["shipping"]
    if (
        sale["currency"] == "EUR"
        and shipping["country"] == "DE"
        and _VERSION.match(record["meta"]["version"])
    ):
        return "legacy"
    if (
        shipping["method"].startswith("expr")
        and _EMAIL.fullmatch(customer["email"])
        and shipping["weight"] < 5
    ):
        return "express"
    if customer["id"].startswith("c-") and customer["days"] > 30 and total > 0:
        return "known"
    return None


TIERS = ("standard", "silver", "gold", "enterprise", "strategic")


def rows(count: int, hit: int) -> list[Spec]:
    """Make a table of three checks a row over three paths, whose first hit is row `hit`."""
    table: list[Spec] = []
    for index in range(count):
        matching = index >= hit and (index - hit) % 4 == 0
        table.append(
            {
                "id": f"r{index}",
                "when": [
                    check("order.currency", "equals", "EUR" if matching else f"C{index}"),
                    check("customer.tier", "oneOf", [TIERS[index % 5], "standard"]),
                    check("order.total", "lessThan", 500 + index),
                ],
                "outputs": index,
            }
        )
    return table


def _kept(table: list[Spec]) -> list[tuple[str, frozenset[str], float, int]]:
    """Currency, tiers, bound and outputs of each row."""
    return [
        (
            row["when"][0]["expected"],
            frozenset(row["when"][1]["expected"]),
            row["when"][2]["expected"],
            row["outputs"],
        )
        for row in table
    ]


def table_by_hand(table: list[Spec]) -> Callable[[Record], int | None]:
    """Write the rows as one loop over tuples, the way a table is kept in code."""
    kept = _kept(table)

    def decide(record: Record) -> int | None:
        sale = record["order"]
        currency, total, tier = sale["currency"], sale["total"], record["customer"]["tier"]
        for wanted, tiers, bound, outputs in kept:
            if currency == wanted and tier in tiers and total < bound:
                return int(outputs)
        return None

    return decide


def collect_by_hand(table: list[Spec]) -> Callable[[Record], list[int]]:
    """As `table_by_hand`, for all rows that hold."""
    kept = _kept(table)

    def decide(record: Record) -> list[int]:
        sale = record["order"]
        currency, total, tier = sale["currency"], sale["total"], record["customer"]["tier"]
        return [
            outputs
            for wanted, tiers, bound, outputs in kept
            if currency == wanted and tier in tiers and total < bound
        ]

    return decide


PATHOLOGICAL = r"^(([a-z])+.)+[A-Z]([a-z])+$"
"""Exponential on a backtracking engine: every split of the letters is tried."""
