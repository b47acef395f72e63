"""Dask: a compiled spec over parts, by the workers of a client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlock.integrations.arrow import for_batches

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from interlock.integrations._ask import Spec

__all__ = ["decide"]


def decide(
    client: Any, parts: Iterable[Any], spec: Spec, *, keep: Sequence[str] = (), **options: object
) -> list[Any]:
    """Give a future of each part's answers, in the order of the parts.

    Args:
        client: The client of `dask.distributed`.
        parts: Arrow tables, or futures of some.
        spec: A compiled spec; or a spec with its `tool`, as a mapping or a file.
        keep: Columns of the records that stand before those of the answers, by name.
        options: What the call of many takes, such as `json_columns`, `now`.

    Raises:
        ConfigError: As `arrow.for_batches`.
    """
    # To name a task by its content, all records would be hashed.
    futures: list[Any] = client.map(
        for_batches(spec, keep=keep, **options), list(parts), pure=False
    )
    return futures
