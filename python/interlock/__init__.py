"""Decisions that have a right answer, made by code: exact, explained, the same every time.

Everything public is loaded on first use, so `import interlock` costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from interlock._core import Json, Pattern, __version__
    from interlock._instant import RetryAfter, parse_retry_after
    from interlock.conditions import (
        CheckReport,
        CheckResult,
        Checks,
        FormatResult,
        Resolution,
        canonical,
        check_format,
        digest,
        resolve,
    )
    from interlock.errors import (
        ConfigError,
        InputInvalid,
        InterlockError,
        PathInvalid,
        PatternError,
        PatternInvalid,
        PatternTooLarge,
        PatternUnsupported,
        Problem,
        SpecInvalid,
        Undetermined,
    )
    from interlock.tools._plan import HeldStep, ReadyStep, SequencePlan
    from interlock.tools.branch import Branch, BranchResult, branch
    from interlock.tools.deadline_check import DeadlineResult, deadline_check
    from interlock.tools.decision_table import (
        DecisionTable,
        TableResult,
        decision_table,
    )
    from interlock.tools.sequence_run import SequenceRun, sequence_run

_HOMES = {
    "_core": ("Json", "Pattern", "__version__"),
    "_instant": ("RetryAfter", "parse_retry_after"),
    "conditions": (
        "CheckReport",
        "CheckResult",
        "Checks",
        "FormatResult",
        "Resolution",
        "canonical",
        "check_format",
        "digest",
        "resolve",
    ),
    "errors": (
        "ConfigError",
        "InputInvalid",
        "InterlockError",
        "PathInvalid",
        "PatternError",
        "PatternInvalid",
        "PatternTooLarge",
        "PatternUnsupported",
        "Problem",
        "SpecInvalid",
        "Undetermined",
    ),
    "tools._plan": ("HeldStep", "ReadyStep", "SequencePlan"),
    "tools.branch": ("Branch", "BranchResult", "branch"),
    "tools.deadline_check": ("DeadlineResult", "deadline_check"),
    "tools.decision_table": ("DecisionTable", "TableResult", "decision_table"),
    "tools.sequence_run": ("SequenceRun", "sequence_run"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Branch",
    "BranchResult",
    "CheckReport",
    "CheckResult",
    "Checks",
    "ConfigError",
    "DeadlineResult",
    "DecisionTable",
    "FormatResult",
    "HeldStep",
    "InputInvalid",
    "InterlockError",
    "Json",
    "PathInvalid",
    "Pattern",
    "PatternError",
    "PatternInvalid",
    "PatternTooLarge",
    "PatternUnsupported",
    "Problem",
    "ReadyStep",
    "Resolution",
    "RetryAfter",
    "SequencePlan",
    "SequenceRun",
    "SpecInvalid",
    "TableResult",
    "Undetermined",
    "__version__",
    "branch",
    "canonical",
    "check_format",
    "deadline_check",
    "decision_table",
    "digest",
    "parse_retry_after",
    "resolve",
    "sequence_run",
]


def __getattr__(name: str) -> object:
    """Load a public name, or a public room such as `interlock.tools`, when it is first used."""
    from importlib import import_module

    if name in _HOME_OF:
        value: object = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value
    if name in {"conditions", "errors", "tools", "typing"}:
        return import_module(f"{__name__}.{name}")
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
