"""Arrow columns of 100,000 orders over five arms, against pyarrow.compute by hand; prints Markdown.

In alternating rounds of one process. The clock is the CPU time of the process with one thread, and
of the wall with two.
"""

from __future__ import annotations

import os
import platform
import time
from functools import partial
from importlib import import_module
from typing import Any

import orders
from batches import COUNT, row, spread

import interlock
import workloads
from interlock import Branch


class ByHand:
    """The five arms as somebody who knows pyarrow.compute would write them."""

    def __init__(self, pa: Any, table: Any) -> None:
        self.pa, self.pc, self.table = pa, import_module("pyarrow.compute"), table

    def field(self, *path: str) -> Any:
        return self.pc.struct_field(self.table[path[0]], list(path[1:]))

    def all_of(self, first: Any, second: Any, third: Any) -> Any:
        return self.pc.and_kleene(self.pc.and_kleene(first, second), third)

    def arms(self) -> list[Any]:
        pc, field, all_of = self.pc, self.field, self.all_of
        total, days = field("order", "total"), field("customer", "days")
        return [
            all_of(
                pc.greater(total, 100),
                pc.greater(field("risk", "score"), 80),
                pc.is_valid(field("risk", "flags")),
            ),
            all_of(
                pc.is_in(field("customer", "tier"), self.pa.array(["enterprise", "strategic"])),
                pc.greater(total, 1000),
                pc.greater(days, 365),
            ),
            all_of(
                pc.equal(field("order", "currency"), "EUR"),
                pc.equal(field("order", "shipping", "country"), "DE"),
                pc.match_substring_regex(field("meta", "version"), r"^1\.\d+"),
            ),
            all_of(
                pc.starts_with(field("order", "shipping", "method"), "expr"),
                pc.match_substring_regex(field("customer", "email"), r"^[^@\s]+@example\.com$"),
                pc.less(field("order", "shipping", "weight"), 5),
            ),
            all_of(
                pc.starts_with(field("customer", "id"), "c-"),
                pc.greater(days, 30),
                pc.greater(total, 0),
            ),
        ]

    def decided(self) -> Any:
        """Give the position of the arm of each order, five for none."""
        whole = self.pa.int32()
        positions = [self.pa.scalar(position, whole) for position in range(6)]
        return self.pc.case_when(self.pc.make_struct(*self.arms()), *positions)


def main() -> None:
    try:
        pa: Any = import_module("pyarrow")
    except ImportError:
        print("pyarrow is not installed: pip install '.[bench]'")
        return
    pa.set_cpu_count(1)
    print(
        f"interlock {interlock.__version__}, pyarrow {pa.__version__}, CPython "
        f"{platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs\n"
    )
    records = orders.orders(COUNT)
    table = pa.Table.from_pylist(records)
    branch = Branch(workloads.ARMS)
    by_hand = ByHand(pa, table)
    print(f"{COUNT:,} orders: {spread(orders.counts_by_hand(records))}.\n")
    answers = branch.decide_many(table)
    if answers.indices.tolist() != by_hand.decided().to_pylist():
        raise AssertionError("not the same answers")
    print(f"| {COUNT:,} rows | pyarrow.compute, a row | interlock | ratio |")
    print("|---|---|---|---|")
    one, two = (partial(branch.decide_many, table, threads=threads) for threads in (1, 2))
    row("one thread", by_hand.decided, one)
    row("two threads", by_hand.decided, two, time.perf_counter)
    print(f"\n| {COUNT:,} rows | one thread, a row | two threads | ratio |")
    print("|---|---|---|---|")
    row("wall", one, two, time.perf_counter)


if __name__ == "__main__":
    main()
