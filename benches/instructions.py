"""Instructions of the hot paths, counted by `valgrind --tool=callgrind`; `make instructions`.

Each path is run in two processes that differ only in how often it is called, so that the start
falls out of the difference. Unlike a time, a count hardly changes on a busy machine. Writes
INSTRUCTIONS.md beside this file; with `--check` it writes nothing, and fails when a path has grown
by more than 5 % against what is written there.
"""

from __future__ import annotations

import gc
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import errors
import orders
import scoring

import interlock
import pattern_cases
import workloads
from interlock import Branch, Checks, DecisionTable, ErrorClassify, Pattern, RuleScore

COMMITTED = Path(__file__).with_name("INSTRUCTIONS.md")
GROWTH = 1.05
BATCH = 1_000
"""Records of a call that answers many."""

Call: TypeAlias = "Callable[[], object]"


class HotPath(NamedTuple):
    """What is called, and how many records a call answers."""

    make: Callable[[], Call]
    records: int = 1

    @property
    def calls(self) -> tuple[int, int]:
        """Fewer calls, of which the first find nothing warm, and more."""
        return (2, 7) if self.records > 1 else (200, 2_200)


def _check() -> Call:
    return partial(Checks(workloads.ONE_CHECK).holds, workloads.order())


def _branch() -> Call:
    return partial(Branch(workloads.ARMS).decide, workloads.order())


def _table() -> Call:
    return partial(DecisionTable(workloads.rows(100, 80), policy="first").decide, workloads.order())


def _collect() -> Call:
    table = DecisionTable(workloads.rows(100, 80), policy="collect")
    return partial(table.decide, workloads.order())


def _score() -> Call:
    return partial(RuleScore(scoring.RULES).score, workloads.order())


def _lines() -> Call:
    return partial(Branch(workloads.ARMS).decide_many, orders.lines(orders.orders(BATCH)))


def _unlike_lines() -> Call:
    text = orders.lines(orders.unlike(orders.orders(BATCH)))
    return partial(Branch(workloads.ARMS).decide_many, text)


def _dicts() -> Call:
    return partial(Branch(workloads.ARMS).decide_many, orders.orders(BATCH))


def _errors() -> Call:
    return partial(ErrorClassify().classify_many, errors.records(BATCH))


def _pattern() -> Call:
    case = next(case for case in pattern_cases.ORDINARY if case.name == "log line")
    text = case.text(pattern_cases.SHORT, found=True)
    return partial(Pattern(case.pattern, case.flags).test, text)


PATHS = {
    "one check, dict": HotPath(_check),
    "five arms, dict": HotPath(_branch),
    "five arms, many dicts": HotPath(_dicts, BATCH),
    "five arms, JSON Lines built alike": HotPath(_lines, BATCH),
    "five arms, JSON Lines built differently": HotPath(_unlike_lines, BATCH),
    "table of 100 rows, first, dict": HotPath(_table),
    "table of 100 rows, all hits, dict": HotPath(_collect),
    "fifty rules with points, dict": HotPath(_score),
    "errors in one call": HotPath(_errors, BATCH),
    "pattern, 50 characters, hit": HotPath(_pattern),
}


def run(name: str, calls: int) -> None:
    """Call a path so often; what callgrind counts."""
    call = PATHS[name].make()
    gc.collect()
    gc.disable()
    for _ in range(calls):
        call()


def counted(name: str, calls: int) -> int:
    """Count the instructions of a process that calls a path so often."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable]
    done = subprocess.run(  # noqa: S603
        [*command, __file__, "--run", name, str(calls)],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise RuntimeError(f"callgrind gave no count: {done.stderr[-500:]}")
    return int(found[1])


def measured(name: str) -> int:
    """Instructions a record."""
    path = PATHS[name]
    few, many = path.calls
    return round((counted(name, many) - counted(name, few)) / ((many - few) * path.records))


def written(counts: dict[str, int]) -> str:
    """Write the table."""
    rows = "\n".join(f"| {name} | {count:,} |" for name, count in counts.items())
    return f"""\
# Instructions a record

What one more record costs, in instructions of the processor, interpreter included, counted by
callgrind: the difference of two processes, so that the start falls out. Written by
`make instructions`; `make instructions CHECK=--check` compares with this table instead and fails
where a path has grown by more than 5 %. Counts depend on the interpreter's build and the compiler:
compare only with those of the same ones.

interlock {interlock.__version__}, CPython {platform.python_version()} \
({platform.python_compiler()}), {platform.machine()}, release build.

| path | instructions |
|---|---|
{rows}
"""


def read(text: str) -> dict[str, int]:
    """Read the table of a text."""
    rows = re.findall(r"^\| (.+) \| ([\d,]+) \|$", text, re.MULTILINE)
    return {name: int(count.replace(",", "")) for name, count in rows}


def grown(before: dict[str, int], now: dict[str, int]) -> list[str]:
    """Name the paths that cost more than they may."""
    return [
        f"{name}: {before[name]:,} instructions before, {count:,} now"
        for name, count in now.items()
        if count > before.get(name, count) * GROWTH
    ]


def main() -> int:
    if "--run" in sys.argv:
        run(sys.argv[-2], int(sys.argv[-1]))
        return 0
    if shutil.which("valgrind") is None:
        print("valgrind is not installed: no instructions are counted")
        return 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = dict(zip(PATHS, pool.map(measured, PATHS), strict=True))
    print(written(counts))
    if "--check" not in sys.argv:
        COMMITTED.write_text(written(counts), "utf-8")
        return 0
    worse = grown(read(COMMITTED.read_text("utf-8")), counts)
    print("\n".join(worse) or "No path has grown by more than 5 %.")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
