"""The harness: workflows over plain callables, with one record that explains every turn."""

from __future__ import annotations

from interlock.harness._ballot import AnswerGroup, VotingResult
from interlock.harness._branches import BranchOutcome
from interlock.harness._callables import inline_sync
from interlock.harness._clock import Clock, SystemClock
from interlock.harness.cascade import Cascade, CascadeResult, TierRecord, cascade
from interlock.harness.chain import Chain, ChainResult, Stage, chain
from interlock.harness.classify import RouteChoice
from interlock.harness.ctx import Ctx
from interlock.harness.flow import Flow, Node
from interlock.harness.judge import Gate
from interlock.harness.limits import Limits, Remaining
from interlock.harness.parallel import Parallel, ParallelResult, parallel
from interlock.harness.refine import Refine, RefineResult, RefineRound, refine
from interlock.harness.retry import Retry
from interlock.harness.route import Route, RouteResult, route
from interlock.harness.run import Run
from interlock.harness.tier import Tier
from interlock.harness.tier_report import TierReport, TierShare, tier_report
from interlock.harness.vote import Vote, vote
from interlock.harness.work import Work
from interlock.record import (
    ErrorInfo,
    Event,
    Reply,
    Result,
    Rollout,
    Step,
    ToolCall,
    ToolResult,
    Usage,
    Verdict,
    as_reply,
)

__all__ = [
    "AnswerGroup",
    "BranchOutcome",
    "Cascade",
    "CascadeResult",
    "Chain",
    "ChainResult",
    "Clock",
    "Ctx",
    "ErrorInfo",
    "Event",
    "Flow",
    "Gate",
    "Limits",
    "Node",
    "Parallel",
    "ParallelResult",
    "Refine",
    "RefineResult",
    "RefineRound",
    "Remaining",
    "Reply",
    "Result",
    "Retry",
    "Rollout",
    "Route",
    "RouteChoice",
    "RouteResult",
    "Run",
    "Stage",
    "Step",
    "SystemClock",
    "Tier",
    "TierRecord",
    "TierReport",
    "TierShare",
    "ToolCall",
    "ToolResult",
    "Usage",
    "Verdict",
    "Vote",
    "VotingResult",
    "Work",
    "as_reply",
    "cascade",
    "chain",
    "inline_sync",
    "parallel",
    "refine",
    "route",
    "tier_report",
    "vote",
]
