"""How the cost grows with rows and with records; prints Markdown and draws docs/growth.svg.

Rows: one decision of a table, in alternating rounds with the loop by hand. Records: a JSON Lines
file over five arms, each size in a process of its own, which tells its peak of memory; a size of
ten million records takes 4 GB of disk and is measured with `--most` only.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import orders
from ratios import compared

import interlock
import workloads
from interlock import Branch, DecisionTable

DRAWING = Path(__file__).parents[1] / "docs" / "growth.svg"
ROWS = (10, 100, 1_000, 10_000, 100_000)
RECORDS = (1_000, 10_000, 100_000, 1_000_000)
MOST = 10_000_000
DISTINCT = 100_000
"""Records that differ; a longer file repeats them."""


class Rows(NamedTuple):
    """What a table of so many rows costs, in seconds."""

    rows: int
    compiled: float
    by_hand: float
    ours: float
    ratio: float


class Records(NamedTuple):
    """What a file of so many records costs."""

    records: int
    a_second: float
    peak: int
    """MiB."""


def of_rows(count: int) -> Rows:
    """Measure one decision of a table whose first hit is in its last tenth."""
    rows = workloads.rows(count, count - max(1, count // 10))
    started = time.process_time()
    table = DecisionTable(rows, policy="first")
    compiled = time.process_time() - started
    record = workloads.order()
    theirs, ours = partial(workloads.table_by_hand(rows), record), partial(table.decide, record)
    return Rows(count, compiled, *compared(theirs, ours))


def rows_table() -> list[Rows]:
    print("| rows | compiled in | by hand | interlock | ratio |")
    print("|---|---|---|---|---|")
    measured: list[Rows] = []
    for count in ROWS:
        one = of_rows(count)
        times = f"{one.compiled:.2f} s | {one.by_hand * 1e6:.2f} µs | {one.ours * 1e6:.2f} µs"
        print(f"| {count:,} | {times} | {one.ratio:.4f}x |")
        measured.append(one)
    return measured


@cache
def block(count: int) -> bytes:
    return orders.lines(orders.orders(count))


def write_lines(path: Path, count: int, these: bytes) -> None:
    """Write so many records; `these` are those that differ, or all."""
    with path.open("wb") as file:
        for _ in range(max(1, count // DISTINCT)):
            file.write(these)


def of_records(path: Path, count: int) -> Records:
    """Measure a file in a fresh process."""
    write_lines(path, count, block(min(count, DISTINCT)))
    command = [sys.executable, __file__, "--decide", str(path)]
    done = subprocess.run(command, capture_output=True, check=True)  # noqa: S603
    path.unlink()
    answered, seconds, peak = json.loads(done.stdout)
    assert answered == count
    return Records(count, count / seconds, peak)


def decide(path: Path) -> tuple[int, float, int]:
    """Decide a file: how many records, seconds of CPU, MiB at the peak."""
    branch = Branch(workloads.ARMS)
    started = time.process_time()
    answered = branch.decide_many(path).counts().total()
    return answered, time.process_time() - started, peak_memory()


def peak_memory() -> int:
    """MiB of memory at the highest of this process; 0 where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text("utf-8")
    except OSError:
        return 0
    [line] = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) >> 10


def records_table(sizes: tuple[int, ...]) -> list[Records]:
    print("| records | records a second | peak of memory |")
    print("|---|---|---|")
    measured: list[Records] = []
    with tempfile.TemporaryDirectory() as directory:
        for count in sizes:
            one = of_records(Path(directory) / "orders.jsonl", count)
            print(f"| {count:,} | {one.a_second:,.0f} | {one.peak} MiB |")
            measured.append(one)
    return measured


def draw(rows: list[Rows], records: list[Records]) -> None:
    """Draw the curves; the same figures give the same bytes."""
    try:
        plot: Any = import_module("matplotlib.pyplot")
    except ImportError:
        print("\nmatplotlib is not installed: pip install '.[bench]'; nothing is drawn")
        return
    plot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "interlock", "font.size": 9})
    figure, (left, middle, right) = plot.subplots(1, 3, figsize=(10, 3), layout="constrained")
    counts, sizes = [one.rows for one in rows], [one.records for one in records]
    left.plot(counts, [one.by_hand * 1e6 for one in rows], "o--", color="0.5", label="by hand")
    left.plot(counts, [one.ours * 1e6 for one in rows], "o-", label="interlock")
    left.set(yscale="log", xlabel="rows", title="one decision of a table, µs")
    left.legend()
    middle.plot(sizes, [one.a_second / 1e6 for one in records], "o-")
    middle.set(xlabel="records", title="JSON Lines file, million records a second", ylim=(0, None))
    right.plot(sizes, [one.peak for one in records], "o-")
    right.set(xlabel="records", title="peak of memory, MiB", ylim=(0, None))
    for axes in (left, middle, right):
        axes.set_xscale("log")
        axes.minorticks_off()
    save(figure)


def save(figure: Any) -> None:
    figure.savefig(DRAWING, metadata={"Date": None, "Creator": None})
    # The library leaves blanks at the ends of lines.
    drawn = DRAWING.read_text("utf-8").splitlines()
    DRAWING.write_text("".join(f"{line.rstrip()}\n" for line in drawn), "utf-8")
    print(f"\ndrawn: docs/{DRAWING.name}")


def main() -> None:
    if "--decide" in sys.argv:
        print(json.dumps(decide(Path(sys.argv[-1]))))
        return
    print(f"interlock {interlock.__version__}, CPython {sys.version.split()[0]}\n")
    sizes = (*RECORDS, MOST) if "--most" in sys.argv else RECORDS
    records = records_table(sizes)
    print()
    draw(rows_table(), records)


if __name__ == "__main__":
    main()
