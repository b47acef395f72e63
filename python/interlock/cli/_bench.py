"""How fast this machine decides: a handful of workloads, made here and measured."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections import deque
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import click

from interlock import Branch, DecisionTable, ErrorClassify, Pattern, __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from interlock.typing import JSON

__all__ = ["Workload", "measured", "report", "workloads"]

_RECORDS = 2_000
_LETTERS = 10_000
_FEWEST = 3
_TIERS = ("standard", "silver", "gold", "enterprise", "strategic")
_WORDS = "while the worker read part of the response body of item {} in zone {}: {}"
_CAUSES = ("Connection reset by peer", "no space left on device", "rate limit exceeded", "it broke")


class Workload(NamedTuple):
    """What is measured.

    Attributes:
        name: What a person calls it.
        unit: What is counted.
        size: How many of them a pass has.
        run: Makes a pass.
    """

    name: str
    unit: str
    size: int
    run: Callable[[], object]


def report(seconds: float, *, as_json: bool) -> None:
    """Measure every workload for so many seconds and print a line for each, or one JSON object."""
    if as_json:
        rows: list[JSON] = [_row(one, measured(one.run, seconds)) for one in workloads()]
        click.echo(json.dumps({**_setting(), "workloads": rows}))
        return
    setting = _setting()
    click.echo("interlock {interlock}, {python}, {system}, {cpus} CPUs".format(**setting))
    for one in workloads():
        each = measured(one.run, seconds) / one.size
        click.echo(f"{one.name:38}{each * 1e9:10,.1f} ns{1 / each:16,.0f} {one.unit}s/s")


def measured(
    run: Callable[[], object], seconds: float, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Make passes for so many seconds, and at least a few: what the middle one took."""
    run()
    took: list[float] = []
    end = clock() + seconds
    while len(took) < _FEWEST or clock() < end:
        started = clock()
        run()
        took.append(clock() - started)
    # A clock may stand still for a short pass.
    return max(median(took), 1e-9)


def workloads() -> Iterator[Workload]:
    """Make the workloads, one after the other."""
    orders = [_order(number) for number in range(_RECORDS)]
    branch = Branch(_arms(), otherwise={"name": "other"})
    yield Workload("five arms, dict", "record", _RECORDS, _each(branch.decide, orders))
    text = b"".join(json.dumps(order).encode() + b"\n" for order in orders)
    yield Workload(
        "five arms, JSON Lines", "record", _RECORDS, lambda: branch.decide_many(text).counts()
    )
    table = DecisionTable(_rows(100), policy="first")
    yield Workload("table of 100 rows, dict", "record", _RECORDS, _each(table.decide, orders))
    errors, classifier = [_error(number) for number in range(_RECORDS)], ErrorClassify()
    yield Workload(
        "errors, in one call", "record", _RECORDS, lambda: classifier.classify_many(errors)
    )
    # Exponential on a backtracking engine: every split of the letters is tried.
    pattern, letters = Pattern(r"^(([a-z])+.)+[A-Z]([a-z])+$"), "a" * _LETTERS
    yield Workload(
        "pathological pattern, 10,000 letters", "letter", _LETTERS, lambda: pattern.test(letters)
    )


def _each(
    decide: Callable[[object], object], records: list[dict[str, object]]
) -> Callable[[], object]:
    return lambda: deque(map(decide, records), maxlen=0)


def _row(one: Workload, took: float) -> JSON:
    each = took / one.size
    return {
        "name": one.name,
        "unit": one.unit,
        "nanoseconds": round(each * 1e9, 3),
        "perSecond": round(1 / each),
    }


def _setting() -> dict[str, JSON]:
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return {
        "interlock": __version__,
        "python": f"{python} ({platform.python_compiler()})",
        "system": f"{sys.platform} {platform.machine()}",
        "cpus": os.cpu_count(),
    }


def _order(number: int) -> dict[str, object]:
    """Make an order of 14 fields; the numbers are spread without chance."""
    return {
        "order": {
            "id": f"o-{number}",
            "total": number * 7919 % 150_000 / 100,
            "currency": ("EUR", "EUR", "USD", "GBP")[number % 4],
            "shipping": {
                "country": ("DE", "FR", "US", "CN", "PL")[number % 5],
                "method": ("standard", "express", "pickup")[number % 3],
                "weight": number % 90 / 10,
            },
        },
        "customer": {
            "id": f"c-{number % 701}",
            "tier": _TIERS[number % 11 % 5],
            "email": f"ada{number}@example.{('com', 'org')[number % 7 % 2]}",
            "days": number * 31 % 900,
        },
        "risk": {"score": number * 37 % 101, "flags": ["new"]},
        "meta": {"version": f"{1 + number % 2}.{number % 13}", "note": "gift wrap"},
    }


def _arms() -> list[object]:
    return [
        _arm("fraud", ("order.total", "greaterThan", 900), ("risk.score", "greaterThan", 80)),
        _arm("vip", ("customer.tier", "oneOf", ["enterprise", "strategic"])),
        _arm("legacy", ("order.currency", "equals", "EUR"), ("meta.version", "matches", r"^1\.\d")),
        _arm(
            "express",
            ("order.shipping.method", "startsWith", "expr"),
            ("customer.email", "matches", r"^[^@\s]+@example\.com$"),
            ("order.shipping.weight", "lessThan", 5),
        ),
        _arm("known", ("customer.days", "greaterThan", 30), ("risk.flags", "exists", None)),
    ]


def _rows(count: int) -> list[object]:
    return [
        {
            **_arm(
                f"r{number}",
                ("order.currency", "equals", ("EUR", "USD", "GBP", "PLN")[number % 4]),
                ("customer.tier", "oneOf", [_TIERS[number % 5], _TIERS[number % 3]]),
                ("order.total", "lessThan", (number + 1) * 15),
                label="id",
            ),
            "outputs": number,
        }
        for number in range(count)
    ]


def _arm(name: str, *checks: tuple[str, str, object], label: str = "name") -> dict[str, object]:
    return {label: name, "when": [_check(*check) for check in checks]}


def _check(path: str, op: str, expected: object) -> dict[str, object]:
    return {"path": path, "op": op, **({} if expected is None else {"expected": expected})}


def _error(number: int) -> dict[str, object]:
    if number % 3 == 0:
        return {"status": (429, 500, 503, 404)[number % 4]}
    if number % 3 == 1:
        return {"exitCode": (1, 2, 124, 137)[number % 4]}
    return {"exitCode": 1, "message": _WORDS.format(number, number % 7, _CAUSES[number % 4])}
