"""Many orders with a realistic spread over the five arms, as dicts and as JSON Lines, by a seed."""

from __future__ import annotations

import json
import random  # noqa: TID251 (data by a seed)
from collections import Counter
from typing import Any, cast

import workloads
from workloads import TIERS, Record

COUNTRIES = ("DE", "DE", "DE", "FR", "US", "GB", "IT", "CN", "PL", "NL")
OPTIONAL = (
    ("order", "coupon"),
    ("order", "items"),
    ("risk", "flags"),
    ("risk", "address"),
    ("risk", "device"),
    ("meta", "trace"),
    ("meta", "note"),
)
"""What an order of one source has and that of another has not; the arms ask only for the flags."""


def orders(count: int, seed: int = 5) -> list[Record]:
    """Orders of 20 fields, as `workloads.order`."""
    chance = random.Random(seed)
    return [_order(chance, number) for number in range(count)]


def _order(chance: random.Random, number: int) -> Record:
    pick, upto = chance.choice, chance.randrange
    [tier] = chance.choices(TIERS, (50, 20, 15, 10, 5))
    domain = pick(("example.com", "example.com", "example.org", "mail.example"))
    large = tier in ("enterprise", "strategic")
    total = round(chance.lognormvariate(6.5 if large else 4.7, 1.1), 2)
    return {
        "order": {
            "id": f"o-{number}",
            "total": total,
            "currency": pick(("EUR", "EUR", "EUR", "USD", "GBP")),
            "coupon": pick((None, None, None, "SPRING")),
            "items": [{"sku": f"K-{upto(900)}", "count": upto(1, 4)}],
            "shipping": {
                "country": pick(COUNTRIES),
                "method": pick(("standard", "express", "express", "pickup")),
                "weight": round(chance.lognormvariate(0.8, 0.9), 1),
            },
        },
        "customer": {
            "id": f"{pick('ccccccccg')}-{upto(50_000)}",
            "tier": tier,
            "email": f"{pick(('ada', 'grace', 'alan', 'edsger'))}{upto(1_000)}@{domain}",
            "days": int(chance.expovariate(1 / (1_000 if large else 300))),
        },
        "risk": {
            "score": int(100 * chance.betavariate(1.2, 5)) if upto(20) else upto(75, 100),
            "flags": [pick(("new", "proxy", "known"))],
            "address": f"192.0.2.{upto(256)}",
            "device": f"{pick(('phone', 'desk'))}-{upto(30)}",
        },
        "meta": {
            "source": pick(("web", "app", "shop")),
            "version": f"{pick('1222')}.{upto(12)}.{upto(6)}",
            "trace": f"{upto(16**8):08x}",
            "note": pick(("gift wrap", "leave at the door", "call first, please", "")),
        },
    }


def unlike(records: list[Record], seed: int = 6) -> list[Record]:
    """Orders whose keys stand in any order and whose optional fields are there or not."""
    chance = random.Random(seed)
    changed: list[Record] = []
    for record in records:
        left_out = {path for path in OPTIONAL if chance.random() < 0.3}
        parts: Record = {
            name: {key: value for key, value in part.items() if (name, key) not in left_out}
            for name, part in record.items()
        }
        changed.append(cast("Record", _shuffled(parts, chance)))
    return changed


def _shuffled(value: Any, chance: random.Random) -> Any:
    if not isinstance(value, dict):
        return value
    items = list(cast("Record", value).items())
    chance.shuffle(items)
    return {key: _shuffled(inner, chance) for key, inner in items}


def lines(records: list[Record]) -> bytes:
    """Write records as JSON Lines without spaces."""
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in records)


def counts_by_hand(records: list[Record]) -> Counter[str]:
    """Decide each record by hand and count the outcomes."""
    counted = Counter(map(workloads.branch5_by_hand, records))
    return Counter({name or "(no match)": count for name, count in counted.items()})
