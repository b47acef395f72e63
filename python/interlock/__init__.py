"""Decisions that have a right answer, made by code: exact, explained, the same every time.

Everything public is loaded on first use, so `import interlock` costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from interlock._core import Json, Pattern, __version__
    from interlock._instant import RetryAfter, parse_retry_after
    from interlock._patterns import PatternExplanation, PatternNote
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
    from interlock.tools.consensus_vote import VoteResult, consensus_vote
    from interlock.tools.deadline_check import DeadlineResult, deadline_check
    from interlock.tools.decision_table import DecisionTable, TableResult, decision_table
    from interlock.tools.error_classify import (
        ErrorClassify,
        ErrorVerdict,
        ErrorVerdicts,
        classify_exception,
        error_classify,
    )
    from interlock.tools.lead_assign import LeadAssign, LeadResult, lead_assign
    from interlock.tools.rule_score import RuleScore, ScoreResult, rule_score
    from interlock.tools.sequence_run import SequenceRun, sequence_run
    from interlock.tools.stall_detect import StallResult, stall_detect

_HOMES = {
    "_core": ("Json", "Pattern", "__version__"),
    "_instant": ("RetryAfter", "parse_retry_after"),
    "_patterns": ("PatternExplanation", "PatternNote"),
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
    "tools.consensus_vote": ("VoteResult", "consensus_vote"),
    "tools.deadline_check": ("DeadlineResult", "deadline_check"),
    "tools.decision_table": ("DecisionTable", "TableResult", "decision_table"),
    "tools.error_classify": (
        "ErrorClassify",
        "ErrorVerdict",
        "ErrorVerdicts",
        "classify_exception",
        "error_classify",
    ),
    "tools.lead_assign": ("LeadAssign", "LeadResult", "lead_assign"),
    "tools.rule_score": ("RuleScore", "ScoreResult", "rule_score"),
    "tools.sequence_run": ("SequenceRun", "sequence_run"),
    "tools.stall_detect": ("StallResult", "stall_detect"),
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
    "ErrorClassify",
    "ErrorVerdict",
    "ErrorVerdicts",
    "FormatResult",
    "HeldStep",
    "InputInvalid",
    "InterlockError",
    "Json",
    "LeadAssign",
    "LeadResult",
    "PathInvalid",
    "Pattern",
    "PatternError",
    "PatternExplanation",
    "PatternInvalid",
    "PatternNote",
    "PatternTooLarge",
    "PatternUnsupported",
    "Problem",
    "ReadyStep",
    "Resolution",
    "RetryAfter",
    "RuleScore",
    "ScoreResult",
    "SequencePlan",
    "SequenceRun",
    "SpecInvalid",
    "StallResult",
    "TableResult",
    "Undetermined",
    "VoteResult",
    "__version__",
    "branch",
    "canonical",
    "check_format",
    "classify_exception",
    "consensus_vote",
    "deadline_check",
    "decision_table",
    "digest",
    "error_classify",
    "lead_assign",
    "parse_retry_after",
    "resolve",
    "rule_score",
    "sequence_run",
    "stall_detect",
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
