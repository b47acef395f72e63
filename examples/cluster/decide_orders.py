"""Decide files of orders by Ray: on this machine as it stands, on a cluster when one is there."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from interlock import Branch
from interlock.integrations.ray import decide_files

FILES, EACH = 4, 50_000

ROUTE = Branch(
    [
        {"name": "review", "when": [{"path": "total", "op": "greaterThan", "expected": 900}]},
        {"name": "home", "when": [{"path": "country", "op": "equals", "expected": "DE"}]},
    ],
    otherwise={"name": "export"},
)


def made(folder: Path) -> list[Path]:
    """Write orders to decide, the same ones each time; what is there stays."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"orders-{file}.jsonl" for file in range(FILES)]
    for file, path in enumerate(paths):
        if path.exists():
            continue
        orders = (
            f'{{"total":{n * 7919 % 1000},"country":"{("DE", "FR", "PL")[n % 3]}"}}\n'
            for n in range(file * EACH, (file + 1) * EACH)
        )
        path.write_text("".join(orders), encoding="utf-8")
    return paths


def main() -> None:
    """Decide the files that are named, or made ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="JSON Lines or Parquet")
    parser.add_argument("--out", type=Path, default=Path("decided"), help="a folder")
    given = parser.parse_args()
    files = given.files or made(Path("orders"))
    done = decide_files(ROUTE, files, given.out, part_bytes=1 << 20)
    sys.stdout.write(
        f"{done.rows} records in {len(done.paths)} parts, {done.resumed} of them there before\n"
    )


if __name__ == "__main__":
    main()
