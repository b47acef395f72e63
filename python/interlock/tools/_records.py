"""The records of a call of many: what they may be, and how they are answered one at a time."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, cast

from interlock import _core
from interlock._columns import is_arrow, read_json_columns, row_blocks
from interlock._lines import LINE_LIMIT, is_text, pieces
from interlock.errors import ConfigError, Problem
from interlock.tools._batch import BadLine, Batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from interlock.errors import InterlockError
    from interlock.tools._batch import R

__all__ = [
    "BLANKS",
    "OVERLONG",
    "decide_each",
    "iterable",
    "read_each",
    "read_threads",
    "what_is_wrong",
]

BLANKS = b" \t\r\n"
"""The white space of JSON."""
OVERLONG = f"longer than the limit of {LINE_LIMIT} bytes"
"""What is wrong with a line over the limit."""
_MOST_THREADS = 256


def decide_each(
    ask: Callable[[object], R],
    rules: _core.RuleSet,
    records: object,
    threads: object,
    json_columns: object,
    known: Callable[[bytes], R] | None = None,
) -> Batch[R]:
    """Answer each record, in whatever form they come, one at a time.

    `known` gives the answer where all lists are decided, by those that hold: rows are then no plain
    data, and the lines of a text are read by threads.

    Raises:
        ConfigError: As `decide_first`.
        OSError: As `decide_first`.
    """
    count = read_threads(threads)
    json = read_json_columns(json_columns, records)
    answers: Iterator[R | BadLine]
    if known is not None and is_text(records):
        answers = _of_lines(ask, known, rules, records, count)
    elif known is not None and is_arrow(records):
        answers = _of_rows(ask, known, rules, row_blocks(records, json))
    else:
        each = _read_rows(rules, records, json) if is_arrow(records) else read_each(records)
        answers = (record if isinstance(record, BadLine) else ask(record) for record in each)
    codes: dict[str, int] = {}
    column = array("i")
    results: list[R | BadLine] = []
    undetermined: dict[int, R] = {}
    bad: dict[int, BadLine] = {}
    for place, result in enumerate(answers):
        if isinstance(result, BadLine):
            bad[place] = result
        elif result.undetermined:
            undetermined[place] = result
        results.append(result)
        column.append(codes.setdefault(result.outcome, len(codes)))
    return Batch(tuple(codes), column.tobytes(), results, undetermined, bad)


def _of_lines(
    ask: Callable[[object], R],
    known: Callable[[bytes], R],
    rules: _core.RuleSet,
    records: object,
    threads: int,
) -> Iterator[R | BadLine]:
    before = 0
    for piece in pieces(records):
        if piece.overlong:
            before += 1
            yield BadLine(line=before, message=OVERLONG)
            continue
        text = piece.text
        sets, column, undecided, bad, count = _core.standing_of_lines(rules, text, threads)
        spans = {place: slice(start, end) for place, start, end in undecided}
        told = {
            place: BadLine(line=before + line, message=f"{message} (column {at})")
            for place, line, at, message in bad
        }
        for place, code in enumerate(memoryview(column).cast("i")):
            if code >= 0:
                yield known(sets[code])
            else:
                yield told.get(place) or ask(_core.Json(text[spans[place]]))
        before += count


def _of_rows(
    ask: Callable[[object], R],
    known: Callable[[bytes], R],
    rules: _core.RuleSet,
    blocks: Iterable[_core.ArrowRows],
) -> Iterator[R | BadLine]:
    before = 0
    for rows in blocks:
        sets, column, bad = _core.standing_of_rows(rules, rows)
        told = {row: BadLine(line=before + row + 1, message=message) for row, message in bad}
        for row, code in enumerate(memoryview(column).cast("i")):
            if code >= 0:
                yield known(sets[code])
            else:
                yield told.get(row) or ask(rows.record(row))
        before += len(rows)


def _read_rows(rules: _core.RuleSet, records: object, json_columns: list[str]) -> Iterator[object]:
    """Give each row of columns as plain data, or as a bad line."""
    before = 0
    for rows in row_blocks(records, json_columns):
        _core.check_rows(rules, rows)
        for place in range(len(rows)):
            record = rows.record(place)
            if isinstance(record, str):
                record = BadLine(line=before + place + 1, message=record)
            yield record
        before += len(rows)


def read_each(records: object) -> Iterator[object]:
    """Give each record; of a JSON Lines text or file as `Json`, or as a bad line.

    Raises:
        ConfigError: For records of the wrong type.
        OSError: When the file cannot be read.
    """
    if not is_text(records):
        yield from iterable(records)
        return
    before = 0
    for piece in pieces(records):
        if piece.overlong:
            before += 1
            yield BadLine(line=before, message=OVERLONG)
            continue
        lines = piece.text.split(b"\n")
        for number, line in enumerate(lines, before + 1):
            if text := line.rstrip(BLANKS):
                yield _read_line(text, number)
        before += len(lines) - 1


def _read_line(line: bytes, number: int) -> _core.Json | BadLine:
    try:
        return _core.Json(line)
    except ConfigError as error:
        return BadLine(line=number, message=what_is_wrong(error))


def what_is_wrong(error: InterlockError) -> str:
    """Say in one line all that is wrong with a line; of its place only the column is news."""
    if not isinstance(error, ConfigError):
        return str(error)
    return "; ".join(_told(problem) for problem in error.problems)


def _told(problem: Problem) -> str:
    line, colon, column = problem.field.partition(":")
    if colon and line.isdecimal():
        return f"{problem.message} (column {column})"
    shown = "" if problem.value is None else f"{problem.value}: "
    return f"{problem.field}: {shown}{problem.message}"


def iterable(records: object) -> Iterable[object]:
    """Take records from anything that gives them.

    Raises:
        ConfigError: For anything else; for a mapping, of which only the names would be read.
    """
    if hasattr(records, "keys"):
        raise _refused(records, "is one record: write [record]")
    try:
        return iter(cast("Iterable[object]", records))
    except TypeError:
        message = "must be records, or JSON Lines as bytes or as a file, or Arrow data"
        raise _refused(records, message) from None


def _refused(records: object, message: str) -> ConfigError:
    return ConfigError((Problem("spec/wrong-type", "records", _core.preview(records), message),))


def read_threads(threads: object) -> int:
    """Read a number of threads; None is one.

    Raises:
        ConfigError: When it is no whole number of at least 1.
    """
    if threads is None:
        return 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        message = "must be a whole number of at least 1"
        problem = Problem("spec/wrong-type", "threads", _core.preview(threads), message)
        raise ConfigError((problem,))
    return min(threads, _MOST_THREADS)
