"""DuckDB: a compiled spec as a function of SQL."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from interlock._columns import needed
from interlock.errors import ConfigError, Problem
from interlock.integrations._ask import Spec, asked
from interlock.integrations.arrow import answer_table

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["register"]

_ANSWER = 'STRUCT(outcome VARCHAR, "index" INTEGER, undetermined VARCHAR, error VARCHAR)'


def register(
    connection: Any, name: str, spec: Spec, columns: Mapping[str, object], **options: object
) -> None:
    """Register a function that gives a struct: `outcome`, `index`, `undetermined`, `error`.

    Args:
        connection: Where it can be called then.
        name: What it is called.
        spec: A compiled spec; or a spec with its `tool`, as a mapping or a file.
        columns: A record's fields, which are its arguments, in order, with their types in DuckDB.
        options: What the call of many takes, such as `json_columns`, `now`.

    Raises:
        ConfigError: For a faulty spec; for no columns, of which no row could be told.
    """
    if not columns:
        raise ConfigError((Problem("spec/empty-list", "columns", "{}", "must name at least one"),))
    ask, names, pa = asked(spec, options), list(columns), needed("pyarrow", "duckdb")

    def answers(*arguments: Any) -> Any:
        records = pa.Table.from_arrays(list(arguments), names=names)
        return answer_table(ask, records).to_struct_array()

    # It counts the parameters by the signature.
    places = [Parameter(f"c{at}", Parameter.POSITIONAL_ONLY) for at in range(len(names))]
    vars(answers)["__signature__"] = Signature(places)
    connection.create_function(
        name,
        answers,
        list(columns.values()),
        _ANSWER,
        type="arrow",
        # A null is a value of the record like any other.
        null_handling="special",
    )
