"""A score of fifty rules, and what a good engineer would write by hand."""

from __future__ import annotations

import re

from workloads import TIERS, Record, Spec, check

_SCORED: list[Spec] = [
    *(check("order.total", "greaterThan", bound) for bound in (50, 100, 200, 400, 800, 1600)),
    *(check("order.currency", "equals", name) for name in ("EUR", "USD", "GBP")),
    *(check("order.shipping.country", "equals", name) for name in ("DE", "FR", "US", "CN")),
    *(check("order.shipping.method", "startsWith", name) for name in ("exp", "std")),
    *(check("order.shipping.weight", "lessThan", bound) for bound in (1, 2, 5, 10, 30)),
    *(check("customer.tier", "oneOf", [TIERS[at], TIERS[at + 1]]) for at in range(4)),
    *(check("customer.days", "greaterThanOrEqual", days) for days in (7, 30, 90, 365, 730)),
    check("customer.email", "matches", r"^[^@\s]+@example\.com$"),
    check("customer.email", "endsWith", ".com"),
    *(check("risk.score", "lessThan", score) for score in (5, 10, 20, 40, 80)),
    check("risk.address", "matches", r"^192\.0\.2\."),
    check("risk.device", "matches", r"^phone-\d+$"),
    *(check("meta.source", "equals", name) for name in ("web", "app", "shop")),
    check("meta.version", "matches", r"^2\.[0-9]+"),
    check("meta.version", "equals", "2.3.1"),
    check("meta.trace", "matches", r"^[a-f0-9]{8}$"),
    check("meta.note", "contains", "gift"),
    *(check("customer.id", "startsWith", start) for start in ("c-", "x-")),
    *(check("order.id", "startsWith", start) for start in ("o-", "p-")),
    check("order.coupon", "equals", "SPRING"),
]

RULES: list[Spec] = [
    {"id": f"s{at}", "when": [one], "points": at % 7 + 1} for at, one in enumerate(_SCORED)
]
"""Fifty rules of one check, five of them patterns, whole points."""

_EMAIL = re.compile(r"[^@\s]+@example\.com")
_ADDRESS, _DEVICE = re.compile(r"192\.0\.2\."), re.compile(r"phone-[0-9]+")
_SECOND, _TRACE = re.compile(r"2\.[0-9]+"), re.compile(r"[a-f0-9]{8}")


def score50_by_hand(record: Record) -> int:  # noqa: C901, PLR0912, PLR0915 (one `if` a rule)
    """Add up the points: fields hoisted, one `if` a rule."""
    sale, customer, risk, meta = (
        record["order"],
        record["customer"],
        record["risk"],
        record["meta"],
    )
    shipping = sale["shipping"]
    total, currency, country = sale["total"], sale["currency"], shipping["country"]
    method, weight, tier = shipping["method"], shipping["weight"], customer["tier"]
    days, email, score = customer["days"], customer["email"], risk["score"]
    source, version = meta["source"], meta["version"]
    points = 0
    if total > 50:
        points += 1
    if total > 100:
        points += 2
    if total > 200:
        points += 3
    if total > 400:
        points += 4
    if total > 800:
        points += 5
    if total > 1600:
        points += 6
    if currency == "EUR":
        points += 7
    if currency == "USD":
        points += 1
    if currency == "GBP":
        points += 2
    if country == "DE":
        points += 3
    if country == "FR":
        points += 4
    if country == "US":
        points += 5
    if country == "CN":
        points += 6
    if method.startswith("exp"):
        points += 7
    if method.startswith("std"):
        points += 1
    if weight < 1:
        points += 2
    if weight < 2:
        points += 3
    if weight < 5:
        points += 4
    if weight < 10:
        points += 5
    if weight < 30:
        points += 6
    if tier in ("standard", "silver"):
        points += 7
    if tier in ("silver", "gold"):
        points += 1
    if tier in ("gold", "enterprise"):
        points += 2
    if tier in ("enterprise", "strategic"):
        points += 3
    if days >= 7:
        points += 4
    if days >= 30:
        points += 5
    if days >= 90:
        points += 6
    if days >= 365:
        points += 7
    if days >= 730:
        points += 1
    if _EMAIL.fullmatch(email):
        points += 2
    if email.endswith(".com"):
        points += 3
    if score < 5:
        points += 4
    if score < 10:
        points += 5
    if score < 20:
        points += 6
    if score < 40:
        points += 7
    if score < 80:
        points += 1
    if _ADDRESS.match(risk["address"]):
        points += 2
    if _DEVICE.fullmatch(risk["device"]):
        points += 3
    if source == "web":
        points += 4
    if source == "app":
        points += 5
    if source == "shop":
        points += 6
    if _SECOND.match(version):
        points += 7
    if version == "2.3.1":
        points += 1
    if _TRACE.fullmatch(meta["trace"]):
        points += 2
    if "gift" in meta["note"]:
        points += 3
    if customer["id"].startswith("c-"):
        points += 4
    if customer["id"].startswith("x-"):
        points += 5
    if sale["id"].startswith("o-"):
        points += 6
    if sale["id"].startswith("p-"):
        points += 7
    if sale["coupon"] == "SPRING":
        points += 1
    return points
