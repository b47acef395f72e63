"""A table of records in, a table of answers out, for every engine that hands over Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from interlock import _core
from interlock._columns import needed
from interlock.errors import ConfigError, Problem
from interlock.integrations._ask import Ask, Spec, asked

if TYPE_CHECKING:
    from interlock._lines import Records

__all__ = ["COLUMNS", "OverTables", "answer_table", "for_batches"]

OverTables: TypeAlias = Callable[[Any], Any]
"""Takes a table or record batch, and gives a `pyarrow.Table` with a row for each of its rows."""

COLUMNS = ("outcome", "index", "undetermined", "error")
"""The columns of answers."""


def for_batches(spec: Spec, *, keep: Sequence[str] = (), **options: object) -> OverTables:
    """Make a callable of a spec: an Arrow table of records in, one of answers out.

    It can be pickled, by every pickler, and keeps nothing between two calls.

    Args:
        spec: A compiled spec; or a spec with its `tool`, as a mapping or a file.
        keep: Columns of the records that stand before those of the answers, by name.
        options: What the call of many takes, such as `threads`, `json_columns`, `now`.

    Raises:
        ConfigError: For a faulty spec; for a column to keep that is called as one of the answers.
    """
    kept = list(keep)
    for name in kept:
        if name in COLUMNS:
            raise _refused(name, "a column of the answers has that name: rename the other")
    return partial(_beside, asked(spec, options), kept)


def _beside(ask: Ask, kept: list[str], records: Any) -> Any:
    table = needed("pyarrow", "arrow").table(records)
    for name in kept:
        if table.column_names.count(name) != 1:
            raise _refused(name, "the records have no such column, or more than one")
    answers = answer_table(ask, table)
    for place, name in enumerate(kept):
        answers = answers.add_column(place, table.schema.field(name), table.column(name))
    return answers


def answer_table(ask: Ask, records: Records) -> Any:
    """Answer records as a `pyarrow.Table` of plain columns, which every engine has."""
    pa = needed("pyarrow", "arrow")
    kinds = (pa.string(), pa.int32(), pa.string(), pa.string())
    schema = pa.schema(list(zip(COLUMNS, kinds, strict=True)))
    return pa.table(ask(records)).cast(schema)


def each(tables: Iterable[Any], *, over: OverTables) -> Iterable[Any]:
    """Give the record batches of the answers to one table or batch after the other."""
    for table in tables:
        yield from cast("Iterable[Any]", over(table).to_batches())


def _refused(name: str, message: str) -> ConfigError:
    return ConfigError((Problem("spec/wrong-type", "keep", _core.preview(name), message),))
