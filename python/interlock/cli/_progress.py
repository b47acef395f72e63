"""How far a run is, and at its end what came of it and how fast; on standard error."""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING, Self

import click

if TYPE_CHECKING:
    from collections import Counter

__all__ = ["Progress", "print_rate", "print_summary", "size_of"]


class Progress:
    """A progress bar by bytes or rows, only on a terminal; loads what it needs only then."""

    def __init__(self, total: int | None, *, shown: bool) -> None:
        self._bar = None
        hidden = os.environ.get("INTERLOCK_NO_PROGRESS", "") not in ("", "0")
        if shown and not hidden and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("deciding", total=total)

    @property
    def is_shown(self) -> bool:
        return self._bar is not None

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, count: int) -> None:
        if self._bar is not None:
            self._bar.advance(self._task, count)


def size_of(lines: IO[bytes]) -> int | None:
    """Return the bytes of a file; None where nobody knows."""
    try:
        return os.fstat(lines.fileno()).st_size or None
    except OSError:
        return None


def print_summary(records: int, counts: Counter[str]) -> None:
    """Print counts per outcome on standard error, most frequent first."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("outcome", title=f"{records} records")
    table.add_column("records", justify="right")
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        table.add_row(Text(name), str(count))
    Console(stderr=True).print(table)


def print_rate(records: int, took: float) -> None:
    """Print on standard error how fast it went."""
    plural = "" if records == 1 else "s"
    rate = records / took if took > 0 else 0
    click.echo(f"{records:,} record{plural} in {took:.2f} s, {rate:,.0f} a second", err=True)
