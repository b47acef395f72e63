"""Votes, rules and owners to try things with."""

from typing import Any

Wire = dict[str, Any]
ALWAYS = [{"op": "exists"}]


def vote(**fields: object) -> Wire:
    return {"value": "a", **fields}


def rule(name: str, **fields: object) -> Wire:
    return {"id": name, "when": ALWAYS, "points": 1, **fields}


def owner(name: str, **fields: object) -> Wire:
    return {"id": name, "when": ALWAYS, **fields}
