"""Spark: a compiled spec over the batches of a data frame."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from interlock._columns import needed
from interlock.integrations.arrow import COLUMNS, each, for_batches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlock.integrations._ask import Spec

__all__ = ["decide"]


def decide(frame: Any, spec: Spec, *, keep: Sequence[str] = (), **options: object) -> Any:
    """Give a data frame of answers, lazily.

    Args:
        frame: The records.
        spec: A compiled spec; or a spec with its `tool`, as a mapping or a file.
        keep: Columns of the records that stand before those of the answers, by name.
        options: What the call of many takes, such as `json_columns`, `now`.

    Raises:
        ConfigError: As `arrow.for_batches`.
    """
    types = needed("pyspark.sql.types", "spark")
    kinds = {"index": types.IntegerType()}
    schema = types.StructType([frame.schema[name] for name in keep])
    for name in COLUMNS:
        schema = schema.add(name, kinds.get(name, types.StringType()))
    return frame.mapInArrow(partial(each, over=for_batches(spec, keep=keep, **options)), schema)
