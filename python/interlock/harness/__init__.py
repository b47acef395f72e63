"""The harness: workflows over plain callables, with one record that explains every turn."""

from __future__ import annotations

from interlock.harness._callables import inline_sync
from interlock.harness._clock import Clock, SystemClock
from interlock.harness._declare import ToolChange
from interlock.harness.cascade import Cascade, CascadeResult, TierRecord, cascade
from interlock.harness.chain import Chain, ChainResult, Stage, chain
from interlock.harness.ctx import Ctx
from interlock.harness.flow import Flow, Node
from interlock.harness.judge import Gate
from interlock.harness.limits import Limits, Remaining
from interlock.harness.mcp_tools import mcp_tools
from interlock.harness.retry import Retry
from interlock.harness.run import Run
from interlock.harness.tier import Tier
from interlock.harness.tier_report import TierReport, TierShare, tier_report
from interlock.harness.tool import Tool, tool
from interlock.harness.toolbus import ToolBus, finish, toolbus
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
    "Result",
    "Retry",
    "Rollout",
    "Run",
    "Stage",
    "Step",
    "SystemClock",
    "Tier",
    "TierRecord",
    "TierReport",
    "TierShare",
    "Tool",
    "ToolBus",
    "ToolCall",
    "ToolChange",
    "ToolResult",
    "Usage",
    "Verdict",
    "as_reply",
    "cascade",
    "chain",
    "finish",
    "inline_sync",
    "mcp_tools",
    "tier_report",
    "tool",
    "toolbus",
]
