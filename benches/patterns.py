"""Patterns against other engines, in alternating rounds of one process; prints Markdown.

The clock is the CPU time of the process, the middle round counts. Crates run in a process of their
own, asked once a round.
"""

from __future__ import annotations

import os
import platform
import re
import resource
import subprocess
import sys
import timeit
from collections.abc import Callable
from statistics import median
from time import process_time

import interlock
import pattern_cases as data
from interlock import Pattern
from pattern_cases import Case
from pattern_peers import Crates, re2_search, re2_version

ROUNDS = 15
PEAK = "--peak-memory"


class Timed:
    """A search of one text, and how long it took in each round."""

    def __init__(self, search: Callable[[str], object], text: str) -> None:
        self._timer = timeit.Timer("search(text)", timer=process_time, globals=locals())
        self._calls, spent = 1, self._timer.timeit(1)
        while spent < 0.002:
            self._calls *= 4
            spent = self._timer.timeit(self._calls)
        self._calls = max(1, int(self._calls * 0.01 / spent))
        self.rounds: list[float] = []

    def round(self) -> float:
        """Measure a round of about 10 ms: seconds a search."""
        self.rounds.append(self._timer.timeit(self._calls) / self._calls)
        return self.rounds[-1]


def shown(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds * 1e9:,.0f} ns" if seconds < 1e-5 else f"{seconds * 1e6:,.0f} µs"


def ratio(ours: list[float], theirs: list[float]) -> str:
    """Give the middle of the ratios of the rounds."""
    if not theirs:
        return "-"
    return f"**{median(mine / other for mine, other in zip(ours, theirs, strict=True)):.2f}x**"


def middle(rounds: list[float]) -> str:
    return shown(median(rounds) if rounds else None)


def row(case: Case, length: int, crates: Crates, engine: str, *, found: bool) -> str:
    """Time one text with every engine that can be had."""
    text = case.text(length, found=found)
    searches: list[Callable[[str], object]] = [
        Pattern(case.pattern, case.flags).test,
        data.python_pattern(case).search,
    ]
    if (search := re2_search(case)) is not None:
        searches.append(search)
    timed = [Timed(search, text) for search in searches]
    crate: list[float] = []
    for _ in range(ROUNDS):
        for each in timed:
            each.round()
        if (spent := crates.seconds(engine, case, text, found=found)) is not None:
            crate.append(spent)
    ours, theirs, re2, *_ = [*(each.rounds for each in timed), []]
    times = " | ".join(middle(rounds) for rounds in (ours, theirs, re2, crate))
    ratios = " | ".join(ratio(ours, rounds) for rounds in (theirs, re2, crate))
    return f"| {case.name}, {'hit' if found else 'no hit'} | {times} | {ratios} |"


def table(title: str, cases: tuple[Case, ...], length: int, crates: Crates, engine: str) -> None:
    crate = "crate `regex`" if engine == "regex" else "`corvus-regex-ecma262`"
    print(f"| {title} | interlock | `re` | re2 | {crate} | to `re` | to re2 | to the crate |")
    print("|---|---|---|---|---|---|---|---|")
    for case in cases:
        for found in (True, False):
            print(row(case, length, crates, engine, found=found), flush=True)
    print()


def quadratic_table(crates: Crates) -> None:
    case = Case("quadratic", data.QUADRATIC, "", "")
    ours, theirs = Pattern(case.pattern), re.compile(case.pattern)
    print("| letters | interlock | a letter | `re` | `corvus-regex-ecma262` |")
    print("|---|---|---|---|---|")
    for letters in (1_000, 5_000, 10_000, 20_000, 100_000):
        text = "a" * letters
        timed = Timed(ours.test, text)
        mine = median(timed.round() for _ in range(ROUNDS))
        others = "not run | not run"
        if letters <= 20_000:
            crate = crates.seconds("corvus", case, text, found=False)
            others = f"{shown(Timed(theirs.search, text).round())} | {shown(crate)}"
        print(f"| {letters:,} | {shown(mine)} | {mine / letters * 1e9:.2f} ns | {others} |")
    print()


def many_table(crates: Crates) -> None:
    """Show many patterns over 200 messages: one by one, all at once, and a set of `regex`."""
    print("| patterns | one by one | `Many` | crate `regex`, `RegexSet` | `Many` to one by one |")
    print("|---|---|---|---|---|")
    for count in (5, 20, 100, 1_000):
        patterns, texts = data.rules(count), data.messages(200, count)
        rounds: dict[str, list[float]] = {"each": [], "many": [], "regex set": []}
        for _ in range(ROUNDS):
            for engine, spent in rounds.items():
                if (answer := crates.ask(engine, patterns, "", texts)) is not None:
                    spent.append(answer[1])
        times = " | ".join(middle(spent) for spent in rounds.values())
        print(f"| {count:,} | {times} | {ratio(rounds['many'], rounds['each'])} |")
    print()


def pathological_table() -> None:
    """Show what a character costs at 100,000 against 1,000, over the pathological set."""
    growths: list[float] = []
    costs: list[float] = []
    for source, flags, runs in data.pathological():
        pattern = Pattern(source, flags)
        each: list[float] = []
        for length in (1_000, 100_000):
            text = data.stretched(runs, length)
            timed = Timed(pattern.test, text)
            each.append(min(timed.round() for _ in range(3)) / len(text))
        growths.append(each[1] / each[0])
        costs.append(each[1] * 1e9)
    peak = subprocess.run([sys.executable, __file__, PEAK], capture_output=True, check=True)  # noqa: S603
    print(f"| pathological set, {len(costs)} cases | middle | worst |")
    print("|---|---|---|")
    print(f"| ns a character at 100,000 characters | {median(costs):.2f} | {max(costs):.2f} |")
    print(f"| growth from 1,000 to 100,000 | {median(growths):.2f}x | {max(growths):.2f}x |")
    print(f"| memory that all of them add to a process | | {int(peak.stdout) >> 10} MiB |")


def peak_growth() -> int:
    """Run the pathological set once: KiB of memory at the highest, less what was there before."""
    rows = data.pathological()
    cases = [(source, flags, data.stretched(runs, 100_000)) for source, flags, runs in rows]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for source, flags, text in cases:
        Pattern(source, flags).test(text)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before


def main() -> None:
    if PEAK in sys.argv:
        print(peak_growth())
        return
    crates = Crates()
    print(
        f"interlock {interlock.__version__}, CPython {platform.python_version()} "
        f"({platform.python_compiler()}), {platform.machine()}, {os.cpu_count()} CPUs; "
        f"{re2_version()}; {crates.why}\n"
    )
    table("50 characters", data.ORDINARY, data.SHORT, crates, "regex")
    table("100,000 characters", data.ORDINARY, data.LONG, crates, "regex")
    table("lookaround, 50", data.LOOKAROUND, data.SHORT, crates, "corvus")
    table("lookaround, 100,000", data.LOOKAROUND, data.LONG, crates, "corvus")
    quadratic_table(crates)
    many_table(crates)
    pathological_table()


if __name__ == "__main__":
    main()
