"""Many errors: plain signals are read by the core, all others with every care here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock import _core
from interlock._columns import is_arrow, read_json_columns, row_blocks
from interlock._lines import Piece, is_text, pieces
from interlock.errors import InterlockError
from interlock.tools._batch import BadLine
from interlock.tools._error_verdict import ErrorVerdicts, Plain
from interlock.tools._records import OVERLONG, iterable, what_is_wrong
from interlock.tools._signals import read_signals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from interlock._lines import Pieces

__all__ = ["error_blocks", "many"]

_TOGETHER = 4096
"""Rows that are plain data at one time."""


def many(
    classifier: _core.Classifier, records: object, threads: int, json_columns: object
) -> ErrorVerdicts:
    """Classify records from any iterable, JSON Lines, or rows of columns.

    Raises:
        ConfigError: For the first record of an iterable that is refused.
        OSError: When a file or stream cannot be read.
    """
    json = read_json_columns(json_columns, records)
    if is_arrow(records):
        return ErrorVerdicts.joined(_all_rows(classifier, row_blocks(records, json)))
    if is_text(records):
        return ErrorVerdicts.joined(error_blocks(classifier, pieces(records), threads))
    # Of our own: a record may change somebody's list while it is read.
    own = list(iterable(records))

    def one(place: int) -> tuple[object, ...]:
        return tuple(read_signals(own[place], f"records[{place}]"))

    return ErrorVerdicts(classifier.classify_many(own, one))


def error_blocks(
    classifier: _core.Classifier, pieces: Pieces, threads: int
) -> Iterator[ErrorVerdicts]:
    """Classify the lines or rows of one piece after the other; what is refused is a bad line."""
    before = 0
    for piece in pieces:
        if not isinstance(piece, Piece):
            yield from _row_blocks(classifier, piece, before, strict=False)
            before += len(piece)
            continue
        if piece.overlong:
            before += 1
            yield ErrorVerdicts(Plain([None]), {0: BadLine(line=before, message=OVERLONG)})
            continue
        verdicts, lines = _block(classifier, piece.text, before, threads)
        before += lines
        yield verdicts


def _all_rows(
    classifier: _core.Classifier, blocks: Iterable[_core.ArrowRows]
) -> Iterator[ErrorVerdicts]:
    before = 0
    for rows in blocks:
        yield from _row_blocks(classifier, rows, before, strict=True)
        before += len(rows)


def _row_blocks(
    classifier: _core.Classifier, rows: _core.ArrowRows, before: int, *, strict: bool
) -> Iterator[ErrorVerdicts]:
    for start in range(0, len(rows), _TOGETHER):
        end = min(start + _TOGETHER, len(rows))
        records = [rows.record(row) for row in range(start, end)]
        yield _rows(classifier, records, before + start, strict=strict)


def _rows(
    classifier: _core.Classifier, records: list[object], before: int, *, strict: bool
) -> ErrorVerdicts:
    bad: dict[int, BadLine] = {}

    def told(place: int, message: str) -> None:
        bad[place] = BadLine(line=before + place + 1, message=message)

    def one(place: int) -> tuple[object, ...] | None:
        record = records[place]
        if isinstance(record, str):
            told(place, record)
            return None
        return tuple(read_signals(record, f"records[{before + place}]" if strict else ""))

    def refused(place: int, error: BaseException) -> None:
        if not isinstance(error, InterlockError):
            raise error
        told(place, what_is_wrong(error))

    rows = classifier.classify_many(records, one, None if strict else refused)
    return ErrorVerdicts(rows, bad)


def _block(
    classifier: _core.Classifier, text: bytes, before: int, threads: int
) -> tuple[ErrorVerdicts, int]:
    bad: dict[int, BadLine] = {}

    def refused(place: int, line: int, error: BaseException) -> None:
        if not isinstance(error, InterlockError):
            raise error
        bad[place] = BadLine(line=before + line, message=what_is_wrong(error))

    rows, no_json, lines = classifier.classify_lines(text, threads, _read, refused)
    for place, line, column, message in no_json:
        bad[place] = BadLine(line=before + line, message=f"{message} (column {column})")
    return ErrorVerdicts(rows, dict(sorted(bad.items()))), lines


def _read(text: bytes) -> tuple[object, ...]:
    return tuple(read_signals(_core.Json(text)))
