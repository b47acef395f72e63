"""Ratios to hand-written Python, taken in alternating rounds of one process.

The clock is the CPU time of the process; the middle round counts. Prints Markdown.
"""

from __future__ import annotations

import json
import os
import platform
import re
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import TypeAlias

import errors
import scoring
import zen_peer

import interlock
import workloads
from interlock import Branch, Checks, DecisionTable, ErrorClassify, Json, Pattern, RuleScore

ROUNDS = 15


Clock: TypeAlias = "Callable[[], float]"


def per_call(function: Callable[[], object], calls: int, clock: Clock = time.process_time) -> float:
    """Seconds a call, of CPU where no other clock is given."""
    started = clock()
    for _ in range(calls):
        function()
    return (clock() - started) / calls


def calls_for(function: Callable[[], object]) -> int:
    """How many calls make a round of about 20 ms."""
    calls = 1
    while (spent := per_call(function, calls) * calls) < 0.005:
        calls *= 4
    return max(1, int(calls * 0.02 / spent))


def compared(
    hand: Callable[[], object], ours: Callable[[], object], clock: Clock = time.process_time
) -> tuple[float, float, float]:
    """Seconds by hand, seconds of ours, and the middle of the ratios of the rounds."""
    hand_calls, our_calls = calls_for(hand), calls_for(ours)
    pairs = [
        (per_call(hand, hand_calls, clock), per_call(ours, our_calls, clock)) for _ in range(ROUNDS)
    ]
    ratio = median(our / theirs for theirs, our in pairs)
    return median(pair[0] for pair in pairs), median(pair[1] for pair in pairs), ratio


def ratio_table() -> None:
    record = workloads.order()
    text = json.dumps(record).encode()
    checks, branch = Checks(workloads.ONE_CHECK), Branch(workloads.ARMS)
    table = workloads.rows(100, 80)
    first, hand = DecisionTable(table, policy="first"), workloads.table_by_hand(table)
    collect, all_by_hand = DecisionTable(table, policy="collect"), workloads.collect_by_hand(table)
    score = RuleScore(scoring.RULES)
    print("| workload | by hand | interlock | ratio |")
    print("|---|---|---|---|")
    for name, theirs, ours in [
        (
            "one check, dict",
            lambda: workloads.one_check_by_hand(record),
            lambda: checks.holds(record),
        ),
        (
            "one check, JSON bytes",
            lambda: workloads.one_check_by_hand(json.loads(text)),
            lambda: checks.holds(Json(text)),
        ),
        (
            "five arms, dict",
            lambda: workloads.branch5_by_hand(record),
            lambda: branch.decide(record),
        ),
        (
            "five arms, JSON bytes",
            lambda: workloads.branch5_by_hand(json.loads(text)),
            lambda: branch.decide(Json(text)),
        ),
        ("table of 100 rows, dict", lambda: hand(record), lambda: first.decide(record)),
        (
            "table of 100 rows, JSON bytes",
            lambda: hand(json.loads(text)),
            lambda: first.decide(Json(text)),
        ),
        (
            "all hits of 100 rows, dict",
            lambda: all_by_hand(record),
            lambda: collect.decide(record),
        ),
        (
            "fifty rules with points, dict",
            lambda: scoring.score50_by_hand(record),
            lambda: score.score(record),
        ),
    ]:
        by_hand, by_us, ratio = compared(theirs, ours)
        print(f"| {name} | {by_hand * 1e6:.2f} µs | {by_us * 1e6:.2f} µs | **{ratio:.2f}x** |")


def peer_line() -> None:
    """Print how the table of 100 rows fares against zen-engine, where that is installed."""
    record, rows = workloads.order(), workloads.rows(100, 80)
    peer = zen_peer.zen_table(rows)
    if peer is None:
        print("zen-engine is not installed: pip install '.[bench]'")
        return
    table = DecisionTable(rows, policy="first")
    theirs, ours, ratio = compared(partial(peer, record), partial(table.decide, record))
    shown = f"{theirs * 1e6:.0f} µs against {ours * 1e6:.2f} µs"
    print(f"The table of 100 rows in zen-engine: {shown}, {1 / ratio:.0f} times as long.")


def growth_table() -> None:
    pattern, backtracking = Pattern(workloads.PATHOLOGICAL), re.compile(workloads.PATHOLOGICAL)
    print("| letters | interlock | a letter | `re` |")
    print("|---|---|---|---|")
    for letters in (20, 22, 24, 60, 1_000, 10_000, 100_000):
        ours_once = partial(pattern.test, "a" * letters)
        calls = calls_for(ours_once)
        ours = median(per_call(ours_once, calls) for _ in range(ROUNDS))
        theirs = "not run: three times as long for every two letters"
        if letters <= 24:
            theirs = f"{per_call(partial(backtracking.search, 'a' * letters), 1) * 1e3:.0f} ms"
        print(f"| {letters:,} | {ours * 1e6:.1f} µs | {ours / letters * 1e9:.2f} ns | {theirs} |")


def errors_table() -> None:
    records, classifier = errors.records(100_000), ErrorClassify()
    theirs = partial(errors.answers, records)
    by_hand, by_us, ratio = compared(theirs, partial(classifier.classify_many, records))
    a_record = 1e9 / len(records)
    print("| 100,000 errors in one call | by hand, a record | interlock | ratio |")
    print("|---|---|---|---|")
    classify = errors.by_hand()
    decided = [classify(record)[-1] for record in records]
    for source, count in Counter(decided).most_common():
        part = [record for record, by in zip(records, decided, strict=True) if by == source]
        hand, ours, each = compared(
            partial(errors.answers, part), partial(classifier.classify_many, part)
        )
        scale = 1e9 / len(part)
        shown = f"{hand * scale:.0f} ns | {ours * scale:.0f} ns | {each:.2f}x"
        print(f"| decided by {source}, {count:,} | {shown} |")
    print(f"| all | {by_hand * a_record:.0f} ns | {by_us * a_record:.0f} ns | **{ratio:.2f}x** |")


def main() -> None:
    print(
        f"interlock {interlock.__version__}, CPython {platform.python_version()}, "
        f"{platform.machine()}, {os.cpu_count()} CPUs, command `make bench`\n"
    )
    ratio_table()
    print()
    peer_line()
    print()
    errors_table()
    print()
    growth_table()


if __name__ == "__main__":
    main()
