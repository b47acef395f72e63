"""The main job on real input: decide the recorded failures, explain one, say how fast it went.

Run with `make demo`, or `python examples/demo.py` where interlock is installed.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from interlock import Branch, DecisionTable, Json

HERE = Path(__file__).parent
ROUNDS = 50


def counted(title: str, counts: Counter[str]) -> Table:
    """Make a table of counts, most frequent first."""
    table = Table(title, "records")
    for name, count in counts.most_common():
        table.add_row(name, str(count))
    return table


def main() -> None:
    """Decide, count, explain, measure."""
    console = Console()
    lines = (HERE / "failures.jsonl").read_bytes().splitlines()
    triage = Branch.from_spec(HERE / "triage.yaml", strict=True)
    severity = DecisionTable.from_spec(HERE / "severity.yaml", strict=True)
    arms = Counter(triage.decide(Json(line)).outcome for line in lines)
    outputs = (severity.decide(Json(line)).outputs for line in lines)
    levels = Counter(str(row["severity"]) for row in outputs if isinstance(row, dict))
    console.print(counted("triage", arms), counted("severity", levels))
    explain(console, triage, lines)
    measure(console, triage, lines)


def explain(console: Console, triage: Branch, lines: list[bytes]) -> None:
    """Show why one record took its arm and not an earlier one."""
    line = next(line for line in lines if triage.decide(Json(line)).outcome == "out-of-memory")
    result = triage.decide(Json(line), verbose=True)
    console.print(f"\nwhy `{json.loads(line)['command']}` is {result.name}:", highlight=False)
    for arm in result.evaluated or ():
        console.print(f"  {arm.name}: {'holds' if arm.ok else arm.reason}", markup=False)


def measure(console: Console, triage: Branch, lines: list[bytes]) -> None:
    """Decide the records again and again, and say how many a second."""
    started = time.perf_counter()
    for _ in range(ROUNDS):
        for line in lines:
            triage.decide(Json(line))
    seconds = time.perf_counter() - started
    records = ROUNDS * len(lines)
    size = ROUNDS * sum(map(len, lines))
    console.print(
        f"\n{records:,} records from JSON text in {seconds:.2f} s: {records / seconds:,.0f} a "
        f"second, {size / seconds / 1e6:.0f} MB/s, one thread",
        highlight=False,
    )


if __name__ == "__main__":
    main()
