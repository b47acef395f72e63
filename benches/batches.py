"""Batches of 100,000 orders over five arms, in alternating rounds of one process; prints Markdown.

As dicts against hand-written Python over the same dicts; as JSON Lines against merely parsing the
lines. The clock is the CPU time of the process with one thread, and of the wall with two.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

import orders
from orders import counts_by_hand
from ratios import Clock, compared

import interlock
import workloads
from interlock import Branch
from workloads import Record

Loads: TypeAlias = "Callable[[bytes], Any]"

COUNT = 100_000


def parser() -> tuple[str, Loads]:
    """Give orjson where it is installed, else the parser of the standard library."""
    try:
        orjson: Any = import_module("orjson")
    except ImportError:
        return "json", json.loads
    return f"orjson {orjson.__version__}", orjson.loads


def parse_all(loads: Loads, lines: list[bytes]) -> None:
    for line in lines:
        loads(line)


def row(
    name: str,
    theirs: Callable[[], object],
    ours: Callable[[], object],
    clock: Clock = time.process_time,
) -> None:
    first, second, ratio = compared(theirs, ours, clock)
    scale = 1e9 / COUNT
    print(f"| {name} | {first * scale:,.0f} ns | {second * scale:,.0f} ns | **{ratio:.2f}x** |")


def spread(counted: Counter[str]) -> str:
    parts = (f"{name} {count / COUNT:.1%}" for name, count in counted.most_common())
    return ", ".join(parts)


def dict_rows(branch: Branch, records: list[Record], name: str, loads: Loads) -> None:
    """Print how dicts fare: made by Python, with one object for each key, and parsed."""

    def one(kind: str, these: list[Record]) -> None:
        ours = partial(decided, branch, these, 1)
        row(kind, partial(counts_by_hand, these), ours)

    one("dicts made by Python", records)
    one(f"dicts made by {name}", [loads(line) for line in orders.lines(records).splitlines()])


def line_rows(branch: Branch, kind: str, text: bytes, loads: Loads) -> None:
    lines = text.splitlines()
    parsed = partial(parse_all, loads, lines)
    for threads, clock in ((1, time.process_time), (2, time.perf_counter)):
        count = f"{threads} thread{'s' if threads > 1 else ''}"
        ours = partial(decided, branch, text, threads)
        row(f"{kind}, {count}", parsed, ours, clock)


def decided(branch: Branch, records: list[Record] | bytes, threads: int) -> Counter[str]:
    return branch.decide_many(records, threads=threads).counts()


def main() -> None:
    name, loads = parser()
    print(
        f"interlock {interlock.__version__}, CPython {platform.python_version()} "
        f"({platform.python_compiler()}), {platform.machine()}, {os.cpu_count()} CPUs; {name}\n"
    )
    if name == "json":
        print("orjson is not installed: pip install '.[bench]'; the lines are parsed by json.\n")
    branch = Branch(workloads.ARMS)
    records = orders.orders(COUNT)
    print(f"{COUNT:,} orders: {spread(counts_by_hand(records))}.\n")
    print(f"| {COUNT:,} orders | by hand, a record | interlock | ratio |")
    print("|---|---|---|---|")
    dict_rows(branch, records, name, loads)
    print(f"\n| {COUNT:,} lines | {name} parses a line | interlock decides it | ratio |")
    print("|---|---|---|---|")
    for kind, these in (("built alike", records), ("built differently", orders.unlike(records))):
        line_rows(branch, kind, orders.lines(these), loads)


if __name__ == "__main__":
    main()
