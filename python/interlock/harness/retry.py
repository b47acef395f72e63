"""Retry: which failures are tried again, and after what wait."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interlock.harness._config import (
    count_problems,
    keywords,
    raise_problems,
    seconds_problems,
    wrong,
)
from interlock.tools.error_classify import ErrorClassify

if TYPE_CHECKING:
    from interlock.record.values import ErrorInfo

__all__ = ["Retry"]

_FIRST_WAIT, _DOUBLED = 0.5, 64
_ACTIONS = ("retry", "retry_after", "backoff")


@dataclass(frozen=True, slots=True)
class Retry:
    """How failures are tried again.

    Args:
        max_attempts: How often a step is tried, the first time included.
        classify: Says of an error whether it is worth another attempt, and the wait.
        max_wait: The longest wait, in seconds; a server that asks for more is not asked again.

    Raises:
        ConfigError: With every problem found.
    """

    max_attempts: int = 3
    classify: ErrorClassify = field(default_factory=ErrorClassify)
    max_wait: float = 60

    def __post_init__(self) -> None:
        """Refuse what retries nothing."""
        problems = count_problems(self.max_attempts, "retry.max_attempts", least=1)
        problems += seconds_problems(self.max_wait, "retry.max_wait")
        if self.max_attempts is None or self.max_wait is None:  # pyright: ignore[reportUnnecessaryComparison]
            problems.append(wrong(None, "retry", "must have an end: max_attempts and max_wait"))
        if not isinstance(self.classify, ErrorClassify):  # pyright: ignore[reportUnnecessaryIsInstance]
            problems.append(wrong(self.classify, "retry.classify", "must be an ErrorClassify"))
        raise_problems(problems)

    def wait(self, error: ErrorInfo | None, attempt: int) -> float | None:
        """Return the seconds until the next attempt; None when there is none."""
        if error is None or error.action not in _ACTIONS or attempt >= self.max_attempts:
            return None
        if error.wait_ms is not None:
            wait = error.wait_ms / 1000
        elif error.action == "backoff":
            # Doubled each time; no chance in it, so that a replay waits as long.
            wait = min(self.max_wait, _FIRST_WAIT * 2 ** min(attempt - 1, _DOUBLED))
        else:
            wait = 0.0
        return wait if wait <= self.max_wait else None


Retry.__init__ = keywords(Retry.__init__)  # type: ignore[method-assign]
