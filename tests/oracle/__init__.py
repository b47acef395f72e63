"""A slow and plain reference for conditions and decisions, for comparison in tests.

It is written from the rules alone and shares no code with the product. Where the two differ,
one of them is wrong.
"""

from .canonical import canonical, digest
from .checks import evaluate, report, verdict
from .compare import matches_expectation, missing_mentions
from .errors import classify
from .formats import check_format
from .instants import ZONES, deadline_check, retry_after
from .instants import read as read_instant
from .instants import write as write_instant
from .more_tools import consensus_vote, lead_assign, rule_score, stall_detect
from .paths import PathError, parse, resolve
from .patterns import PatternInvalid, PatternUnsupported, check_syntax
from .patterns import test as pattern_test
from .previews import preview
from .sequences import sequence_run
from .tools import branch, decision_table
from .values import (
    equal,
    exact,
    has_type,
    is_empty,
    is_finite_number,
    is_too_deep,
    joined,
    kind,
    length,
    type_name,
)

__all__ = [
    "ZONES",
    "PathError",
    "PatternInvalid",
    "PatternUnsupported",
    "branch",
    "canonical",
    "check_format",
    "check_syntax",
    "classify",
    "consensus_vote",
    "deadline_check",
    "decision_table",
    "digest",
    "equal",
    "evaluate",
    "exact",
    "has_type",
    "is_empty",
    "is_finite_number",
    "is_too_deep",
    "joined",
    "kind",
    "lead_assign",
    "length",
    "matches_expectation",
    "missing_mentions",
    "parse",
    "pattern_test",
    "preview",
    "read_instant",
    "report",
    "resolve",
    "retry_after",
    "rule_score",
    "sequence_run",
    "stall_detect",
    "type_name",
    "verdict",
    "write_instant",
]
