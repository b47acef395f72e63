"""The harness: workflows over plain callables, with one record that explains every turn."""

from __future__ import annotations

from interlock.harness._callables import inline_sync
from interlock.harness._clock import Clock, SystemClock
from interlock.harness.cascade import Cascade, CascadeResult, TierRecord, cascade
from interlock.harness.chain import Chain, ChainResult, Stage, chain
from interlock.harness.ctx import Ctx
from interlock.harness.flow import Flow, Node
from interlock.harness.judge import Gate
from interlock.harness.limits import Limits, Remaining
from interlock.harness.retry import Retry
from interlock.harness.run import Run
from interlock.harness.streamed import Streamed, streamed
from interlock.harness.tier import Tier
from interlock.harness.tier_report import TierReport, TierShare, tier_report
from interlock.record import (
    ErrorInfo,
    Event,
    Reply,
    Report,
    Result,
    Rollout,
    Step,
    ToolCall,
    ToolResult,
    Usage,
    Verdict,
    as_reply,
    replay,
    report,
)

__all__ = [
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
    "Remaining",
    "Reply",
    "Report",
    "Result",
    "Retry",
    "Rollout",
    "Run",
    "Stage",
    "Step",
    "Streamed",
    "SystemClock",
    "Tier",
    "TierRecord",
    "TierReport",
    "TierShare",
    "ToolCall",
    "ToolResult",
    "Usage",
    "Verdict",
    "as_reply",
    "cascade",
    "chain",
    "inline_sync",
    "replay",
    "report",
    "streamed",
    "tier_report",
]
