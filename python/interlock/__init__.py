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
        PolicyMismatch,
        Problem,
        ReplayDivergence,
        RouteError,
        RouteFileError,
        RunbookInvalid,
        RunBusy,
        RunFailed,
        SpecInvalid,
        StaleState,
        StateVersion,
        StoreError,
        Undetermined,
        UsageError,
    )
    from interlock.harness._compact import Compact
    from interlock.harness.cascade import Cascade, CascadeResult, cascade
    from interlock.harness.chain import Chain, ChainResult, Stage, chain
    from interlock.harness.graph import Graph, GraphResult
    from interlock.harness.hooks import Block, Hooks
    from interlock.harness.judge import Gate
    from interlock.harness.limits import Limits
    from interlock.harness.loop import Loop, LoopResult, loop
    from interlock.harness.mcp_tools import mcp_tools
    from interlock.harness.orchestrate import Orchestrate, OrchestrateResult, orchestrate
    from interlock.harness.parallel import Parallel, ParallelResult, parallel
    from interlock.harness.refine import Refine, RefineResult, refine
    from interlock.harness.retry import Retry
    from interlock.harness.route import Route, RouteResult, route
    from interlock.harness.run import Run
    from interlock.harness.streamed import streamed
    from interlock.harness.tier import Tier
    from interlock.harness.tier_report import tier_report
    from interlock.harness.tool import Tool, tool
    from interlock.harness.toolbus import ToolBus, finish, toolbus
    from interlock.harness.vote import Vote, VotingResult, vote
    from interlock.harness.work import Work
    from interlock.record.replay import replay
    from interlock.record.reply import as_reply
    from interlock.record.report import report
    from interlock.record.result import Result
    from interlock.record.rollout import Rollout, Step
    from interlock.record.usage import Usage
    from interlock.record.values import ErrorInfo, Reply, ToolCall, ToolResult, Verdict
    from interlock.tools._plan import HeldStep, ReadyStep, SequencePlan
    from interlock.tools.branch import Branch, BranchResult, branch
    from interlock.tools.consensus_vote import ConsensusVote, VoteResult, consensus_vote
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
        "PolicyMismatch",
        "Problem",
        "ReplayDivergence",
        "RouteError",
        "RouteFileError",
        "RunBusy",
        "RunFailed",
        "RunbookInvalid",
        "SpecInvalid",
        "StaleState",
        "StateVersion",
        "StoreError",
        "Undetermined",
        "UsageError",
    ),
    "harness._compact": ("Compact",),
    "harness.cascade": ("Cascade", "CascadeResult", "cascade"),
    "harness.chain": ("Chain", "ChainResult", "Stage", "chain"),
    "harness.hooks": ("Block", "Hooks"),
    "harness.judge": ("Gate",),
    "harness.limits": ("Limits",),
    "harness.loop": ("Loop", "LoopResult", "loop"),
    "harness.mcp_tools": ("mcp_tools",),
    "harness.parallel": ("Parallel", "ParallelResult", "parallel"),
    "harness.refine": ("Refine", "RefineResult", "refine"),
    "harness.graph": ("Graph", "GraphResult"),
    "harness.orchestrate": ("Orchestrate", "OrchestrateResult", "orchestrate"),
    "harness.retry": ("Retry",),
    "harness.route": ("Route", "RouteResult", "route"),
    "harness.run": ("Run",),
    "harness.streamed": ("streamed",),
    "harness.tier": ("Tier",),
    "harness.tier_report": ("tier_report",),
    "record.replay": ("replay",),
    "harness.tool": ("Tool", "tool"),
    "harness.toolbus": ("ToolBus", "finish", "toolbus"),
    "harness.vote": ("Vote", "VotingResult", "vote"),
    "harness.work": ("Work",),
    "record.reply": ("as_reply",),
    "record.report": ("report",),
    "record.result": ("Result",),
    "record.rollout": ("Rollout", "Step"),
    "record.usage": ("Usage",),
    "record.values": ("ErrorInfo", "Reply", "ToolCall", "ToolResult", "Verdict"),
    "tools._plan": ("HeldStep", "ReadyStep", "SequencePlan"),
    "tools.branch": ("Branch", "BranchResult", "branch"),
    "tools.consensus_vote": ("ConsensusVote", "VoteResult", "consensus_vote"),
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
_ROOMS = (
    "conditions",
    "errors",
    "harness",
    "record",
    "routing",
    "supervise",
    "testing",
    "tools",
    "typing",
)
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Block",
    "Branch",
    "BranchResult",
    "Cascade",
    "CascadeResult",
    "Chain",
    "ChainResult",
    "CheckReport",
    "CheckResult",
    "Checks",
    "Compact",
    "ConfigError",
    "ConsensusVote",
    "DeadlineResult",
    "DecisionTable",
    "ErrorClassify",
    "ErrorInfo",
    "ErrorVerdict",
    "ErrorVerdicts",
    "FormatResult",
    "Gate",
    "Graph",
    "GraphResult",
    "HeldStep",
    "Hooks",
    "InputInvalid",
    "InterlockError",
    "Json",
    "LeadAssign",
    "LeadResult",
    "Limits",
    "Loop",
    "LoopResult",
    "Orchestrate",
    "OrchestrateResult",
    "Parallel",
    "ParallelResult",
    "PathInvalid",
    "Pattern",
    "PatternError",
    "PatternExplanation",
    "PatternInvalid",
    "PatternNote",
    "PatternTooLarge",
    "PatternUnsupported",
    "PolicyMismatch",
    "Problem",
    "ReadyStep",
    "Refine",
    "RefineResult",
    "ReplayDivergence",
    "Reply",
    "Resolution",
    "Result",
    "Retry",
    "RetryAfter",
    "Rollout",
    "Route",
    "RouteError",
    "RouteFileError",
    "RouteResult",
    "RuleScore",
    "Run",
    "RunBusy",
    "RunFailed",
    "RunbookInvalid",
    "ScoreResult",
    "SequencePlan",
    "SequenceRun",
    "SpecInvalid",
    "Stage",
    "StaleState",
    "StallResult",
    "StateVersion",
    "Step",
    "StoreError",
    "TableResult",
    "Tier",
    "Tool",
    "ToolBus",
    "ToolCall",
    "ToolResult",
    "Undetermined",
    "Usage",
    "UsageError",
    "Verdict",
    "Vote",
    "VoteResult",
    "VotingResult",
    "Work",
    "__version__",
    "as_reply",
    "branch",
    "canonical",
    "cascade",
    "chain",
    "check_format",
    "classify_exception",
    "consensus_vote",
    "deadline_check",
    "decision_table",
    "digest",
    "error_classify",
    "finish",
    "lead_assign",
    "loop",
    "mcp_tools",
    "orchestrate",
    "parallel",
    "parse_retry_after",
    "refine",
    "replay",
    "report",
    "resolve",
    "route",
    "rule_score",
    "sequence_run",
    "stall_detect",
    "streamed",
    "tier_report",
    "tool",
    "toolbus",
    "vote",
]


def __getattr__(name: str) -> object:
    """Load a public name, or a public room such as `interlock.tools`, when it is first used."""
    from importlib import import_module

    if name in _HOME_OF:
        value: object = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
