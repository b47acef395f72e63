"""How many entries a tool takes; what conditions may hold is limited by the core."""

from __future__ import annotations

__all__ = [
    "ARMS_LIMIT",
    "BANDS_LIMIT",
    "CYCLE_LIMIT",
    "HEADERS_LIMIT",
    "HISTORY_LIMIT",
    "OWNERS_LIMIT",
    "PACKS_LIMIT",
    "ROWS_LIMIT",
    "RULES_LIMIT",
    "SIGNALS_LIMIT",
    "STEPS_LIMIT",
    "VOTES_LIMIT",
]

ARMS_LIMIT = 64
"""Arms of a branch."""
BANDS_LIMIT = 256
"""Bands of a score."""
CYCLE_LIMIT = 16
"""The longest cycle of a history that can be looked for."""
HEADERS_LIMIT = 512
"""Headers of one answer."""
HISTORY_LIMIT = 512
"""Snapshots of a history."""
OWNERS_LIMIT = 256
"""Owners of a roster."""
PACKS_LIMIT = 64
"""Names of packs that may be asked."""
ROWS_LIMIT = 512
"""Rows of a table in the model-facing form; the library form has no limit."""
RULES_LIMIT = 256
"""Rules of a score, and of a classifier of errors."""
SIGNALS_LIMIT = 64
"""Signals of one snapshot, and names of signals to look at."""
STEPS_LIMIT = 256
"""Steps of a sequence."""
VOTES_LIMIT = 512
"""Votes of one question."""
