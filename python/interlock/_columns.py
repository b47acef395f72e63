"""Records as rows of Arrow columns, from whatever hands them over: tables, readers, frames."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from interlock import _core
from interlock.errors import ConfigError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ArrowRecords", "is_arrow", "needed", "read_json_columns", "row_blocks"]


class _Stream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class _Array(Protocol):
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...


ArrowRecords: TypeAlias = "_Stream | _Array"
"""Records as rows of columns: what offers the Arrow PyCapsule interface."""


def is_arrow(records: object) -> bool:
    """Whether records come as rows of columns."""
    kind = type(records)
    return hasattr(kind, "__arrow_c_stream__") or hasattr(kind, "__arrow_c_array__")


def row_blocks(records: object, json_columns: list[str]) -> Iterator[_core.ArrowRows]:
    """Give the rows, some at a time, in order.

    Raises:
        ConfigError: For columns that are no records, or are not there to be read as JSON.
        OSError: When a stream says that it failed.
    """
    if not hasattr(_core, "ArrowStream"):
        message = "this interlock was built without Arrow: build it with the feature `arrow`"
        raise ConfigError((Problem("spec/wrong-type", "records", None, message),))
    return _core.ArrowStream(records, json_columns)


def read_json_columns(names: object, records: object) -> list[str]:
    """Read the names of columns that hold JSON as text.

    Raises:
        ConfigError: When they are no names, or there are no columns.
    """
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise _wrong(names, "must be a list of the names of columns")
    listed = list(cast("Iterable[object]", names))
    for name in listed:
        if not isinstance(name, str):
            raise _wrong(name, "must be the name of a column")
    if listed and not is_arrow(records):
        raise _wrong(listed, "only records that come as columns have some that hold JSON")
    return cast("list[str]", listed)


def needed(module: str, extra: str) -> Any:
    """Import what an extra brings.

    Raises:
        ImportError: With the extra's name.
    """
    try:
        return import_module(module)
    except ImportError as error:
        message = f"{module} cannot be imported: pip install 'interlock[{extra}]' ({error})"
        raise ImportError(message, name=module) from error


def _wrong(value: object, message: str) -> ConfigError:
    problem = Problem("spec/wrong-type", "json_columns", _core.preview(value), message)
    return ConfigError((problem,))
