"""Files of columns, Parquet and Arrow, read one batch of rows after the other."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from interlock._columns import needed

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

__all__ = ["Table", "is_table", "table"]

_PARQUET = (".parquet", ".pq")
_ARROW = (".arrow", ".arrows", ".feather", ".ipc")
_ROWS = 1 << 16
_BUFFER = 1 << 20
_FILE = b"ARROW1"


class Table(NamedTuple):
    """An open file of columns.

    Attributes:
        rows: How many there are, where the file says so.
        batches: Gives them, in order.
    """

    rows: int | None
    batches: Iterable[Any]


def is_table(path: str) -> bool:
    """Say whether a file holds columns, by the end of its name."""
    return Path(path).suffix.lower() in (*_PARQUET, *_ARROW)


@contextmanager
def table(path: str) -> Generator[Table]:
    """Open a file of columns.

    Raises:
        ClickException: When it is none, or ends too early, also while its rows are read; when
            what reads it is not installed.
        OSError: When it cannot be opened.
    """
    try:
        pa = needed("pyarrow", "arrow")
        parquet = needed("pyarrow.parquet", "arrow")
    except ImportError as error:
        raise click.ClickException(f"{path}: {error}") from None
    is_parquet = Path(path).suffix.lower() in _PARQUET
    # Not an open file of Python's: threads that read ahead would call it while the process ends.
    with pa.OSFile(path, "rb") as source:
        with _named(path, pa):
            opened = _parquet(parquet, source) if is_parquet else _arrow(pa, source)
        yield opened._replace(batches=_read(opened.batches, path, pa))


def _read(batches: Iterable[Any], path: str, pa: Any) -> Iterator[Any]:
    with _named(path, pa):
        yield from batches


@contextmanager
def _named(path: str, pa: Any) -> Generator[None]:
    """Say of a fault which file it is in."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise click.ClickException(f"{path}: {error}") from None


def _parquet(parquet: Any, source: Any) -> Table:
    # Neither whole columns nor row groups are read ahead.
    opened = parquet.ParquetFile(source, pre_buffer=False, buffer_size=_BUFFER)
    return Table(opened.metadata.num_rows, opened.iter_batches(_ROWS))


def _arrow(pa: Any, source: Any) -> Table:
    is_file = source.read(len(_FILE)) == _FILE
    source.seek(0)
    if not is_file:
        return Table(None, _cut(pa.ipc.open_stream(source)))
    opened = pa.ipc.open_file(source)
    return Table(None, _cut(map(opened.get_batch, range(opened.num_record_batches))))


def _cut(batches: Iterable[Any]) -> Iterator[Any]:
    """Cut large batches, so that answers come as they are made."""
    for batch in batches:
        for start in range(0, len(batch), _ROWS):
            yield batch.slice(start, _ROWS)
