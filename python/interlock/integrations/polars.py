"""Polars: a compiled spec as an expression over columns."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from interlock._columns import needed
from interlock.integrations._ask import Ask, Spec, asked

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["decide"]


def decide(spec: Spec, *columns: object, **options: object) -> Any:
    """Give an expression of structs: `outcome`, `index`, `undetermined`, `error`.

    Args:
        spec: A compiled spec; or a spec with its `tool`, as a mapping or a file.
        columns: The columns, or expressions, that are a record's fields; all when left out.
        options: What the call of many takes, such as `threads`, `json_columns`, `now`.

    Raises:
        ConfigError: For a faulty spec.
    """
    pl = needed("polars", "polars")
    record = pl.struct(*(columns or (pl.all(),)))
    return record.map_batches(
        partial(_answers, asked(spec, options)),
        return_dtype=pl.Struct(_kinds(pl)),
        is_elementwise=True,
    )


def _answers(ask: Ask, records: Any) -> Any:
    pl = needed("polars", "polars")
    return pl.DataFrame(ask(records)).cast(_kinds(pl)).to_struct(records.name)


def _kinds(pl: Any) -> Mapping[str, Any]:
    return {
        "outcome": pl.String,
        "index": pl.Int32,
        "undetermined": pl.String,
        "error": pl.String,
    }
