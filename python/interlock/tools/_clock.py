"""The one place that reads a clock, for the model-facing and command-line forms.

The library forms take the present instant as an argument.
"""

from __future__ import annotations

import time

__all__ = ["read"]


def read() -> int:
    """Return the present instant in epoch milliseconds."""
    return time.time_ns() // 1_000_000
