"""Searches for the pattern that takes most to compile or refuse: processor time and memory.

    python benches/worst_pattern.py [SECONDS] [SEED]

Goes on from the worst found so far, at most 10,000 characters and any flags. Each is tried in a
process of its own, forked from one that has built its tables; the worst are tried once more in a
fresh interpreter. For Linux. Prints Markdown.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hostile_patterns import FLAGS, Candidate, Grammar

from interlock import Pattern, PatternError

LIMIT_MS, LIMIT_MB = 100, 64
# A candidate that needs more than this is over every limit, and not followed to its end.
CPU_SECONDS, ADDRESS_BYTES = 5, 2 << 30


@dataclass(frozen=True, slots=True)
class Tried:
    """What a candidate took: milliseconds of processor time, mebibytes at the peak."""

    candidate: Candidate
    ms: float
    mb: float
    outcome: str

    def score(self) -> float:
        return max(self.ms / LIMIT_MS, self.mb / LIMIT_MB)


def compiled(candidate: Candidate) -> tuple[float, str]:
    """Compile or be refused: milliseconds, and how it went."""
    started = time.process_time()
    try:
        pattern = Pattern(*candidate)
    except PatternError as error:
        outcome = error.problems[0].message.rpartition("[")[2].rstrip("]")
    else:
        outcome = f"run, {pattern.explain().engine}"
    return (time.process_time() - started) * 1e3, outcome


def memory_kb(field: str) -> int:
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.partition(f"{field}:")[2].split()[0])


def measured(candidate: Candidate) -> str:
    """Compile here, on Linux; what it took, as JSON."""
    before = memory_kb("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", "ascii")  # The peak starts anew.
    ms, outcome = compiled(candidate)
    return json.dumps([ms, (memory_kb("VmHWM") - before) / 1024, outcome])


def tried(candidate: Candidate) -> Tried:
    """Compile in a forked process."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_BYTES, ADDRESS_BYTES))
            os.write(writer, measured(candidate).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    if not text:
        return Tried(candidate, CPU_SECONDS * 1e3, ADDRESS_BYTES / (1 << 20), "did not end")
    return Tried(candidate, *json.loads(text))


def tried_afresh(candidate: Candidate) -> Tried:
    """Compile in a fresh interpreter, which builds the tables of the process too."""
    code = "import json, sys, worst_pattern as w; print(w.measured(tuple(json.load(sys.stdin))))"
    here = Path(__file__).parent
    done = subprocess.run(  # noqa: S603 (the program is ours)
        [sys.executable, "-c", code],
        input=json.dumps(candidate),
        capture_output=True,
        text=True,
        check=False,
        cwd=here,
    )
    return Tried(candidate, *json.loads(done.stdout))


def search(seconds: float, seed: int, report: Callable[[Tried], object]) -> list[Tried]:
    """Keep the worst by time and by memory, and go on from them."""
    grammar, started, kept = Grammar(seed), time.monotonic(), list[Tried]()
    count = 0
    while time.monotonic() - started < seconds:
        if not kept or grammar.chance.random() < 0.4:
            candidate = grammar.candidate()
        else:
            one, other = grammar.chance.choices(kept, k=2)
            candidate = grammar.changed(one.candidate, other.candidate)
        found = tried(candidate)
        count += 1
        if found.score() > 1:
            report(found)
        kept = best([*kept, found])
    print(f"{count:,} patterns tried in {seconds:,.0f} s, seed {seed}\n")
    return kept


def best(found: list[Tried]) -> list[Tried]:
    """Give the worst ones of each outcome, by time and by memory."""
    by: list[Callable[[Tried], float]] = [lambda one: one.ms, lambda one: one.mb]
    chosen: dict[Candidate, Tried] = {}
    for key in by:
        per: dict[str, int] = {}
        for one in sorted(found, key=key, reverse=True):
            per[one.outcome] = per.get(one.outcome, 0) + 1
            if per[one.outcome] <= 6:
                chosen[one.candidate] = one
    return list(chosen.values())


def shown(candidate: Candidate) -> str:
    source = candidate[0]
    part = source if len(source) <= 60 else source[:40] + "..." + source[-15:]
    return f"`{json.dumps(part)}` ({len(source):,})".replace("|", "\\|")


def rows(found: list[Tried]) -> Iterator[str]:
    for one in found:
        flags = one.candidate[1] or "-"
        yield f"| {shown(one.candidate)} | {flags} | {one.outcome} | {one.ms:.1f} | {one.mb:.1f} |"


def main() -> None:
    seconds, seed = (float((sys.argv[1:2] or ["60"])[0]), int((sys.argv[2:3] or ["1"])[0]))
    for flags in FLAGS:  # The tables of the process.
        compiled((r"\w\p{L}\p{Lu}\p{RGI_Emoji}", flags))
    kept = search(seconds, seed, lambda one: print(*rows([one]), file=sys.stderr))
    print("| pattern (characters) | flags | outcome | ms | MB |", "|---|---|---|---|---|", sep="\n")
    by_start = {one.candidate[0][:12]: one for one in sorted(kept, key=Tried.score)}
    worst = sorted(by_start.values(), key=Tried.score, reverse=True)[:12]
    print(*rows([tried_afresh(one.candidate) for one in worst]), sep="\n")


if __name__ == "__main__":
    main()
