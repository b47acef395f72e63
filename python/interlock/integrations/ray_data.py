"""Ray Data: a compiled spec over the blocks of a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlock.integrations.arrow import for_batches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlock.integrations._ask import Spec

__all__ = ["decide"]


def decide(dataset: Any, spec: Spec, *, keep: Sequence[str] = (), **options: object) -> Any:
    """Give a dataset of answers, lazily; blocks come in any order unless Ray is told to keep it.

    Args:
        dataset: The records.
        spec: A compiled spec; or a spec with its `tool`, as a mapping or a file.
        keep: Columns of the records that stand before those of the answers, by name.
        options: What the call of many takes, such as `json_columns`, `now`.

    Raises:
        ConfigError: As `arrow.for_batches`.
    """
    return dataset.map_batches(
        for_batches(spec, keep=keep, **options),
        batch_format="pyarrow",
        batch_size=None,
        zero_copy_batch=True,
    )
