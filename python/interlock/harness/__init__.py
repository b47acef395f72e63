"""The harness: workflows over plain callables, with one record that explains every turn."""

from __future__ import annotations

from interlock.harness._ballot import AnswerGroup, VotingResult
from interlock.harness._branches import BranchOutcome
from interlock.harness._callables import inline_sync
from interlock.harness._clock import Clock, SystemClock
from interlock.harness._compact import Compact, Compactions
from interlock.harness._compiled_graph import CompiledGraph, GraphResult
from interlock.harness._declare import ToolChange
from interlock.harness._lead import PlanCtx
from interlock.harness._stops import DeadlineCheck, Stall, StallDetect
from interlock.harness.cascade import Cascade, CascadeResult, TierRecord, cascade
from interlock.harness.chain import Chain, ChainResult, Stage, chain
from interlock.harness.classify import RouteChoice
from interlock.harness.ctx import Ctx
from interlock.harness.flow import Flow, Node
from interlock.harness.graph import Graph
from interlock.harness.hooks import Ask, Block, Hooks
from interlock.harness.inputs import Inputs, NodeOutcome
from interlock.harness.judge import Gate
from interlock.harness.limits import Limits, Remaining
from interlock.harness.loop import Loop, LoopResult, loop
from interlock.harness.loop_state import Exchange, LoopState
from interlock.harness.mcp_tools import mcp_tools
from interlock.harness.messages import anthropic_messages, openai_messages, responses_items
from interlock.harness.orchestrate import Orchestrate, OrchestrateResult, orchestrate
from interlock.harness.parallel import Parallel, ParallelResult, parallel
from interlock.harness.plan import Plan
from interlock.harness.refine import Refine, RefineResult, RefineRound, refine
from interlock.harness.retry import Retry
from interlock.harness.route import Route, RouteResult, route
from interlock.harness.run import Run
from interlock.harness.streamed import Streamed, streamed
from interlock.harness.tier import Tier
from interlock.harness.tier_report import TierReport, TierShare, tier_report
from interlock.harness.tool import Tool, tool
from interlock.harness.toolbus import ToolBus, finish, toolbus
from interlock.harness.vote import Vote, vote
from interlock.harness.work import Work
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
    "AnswerGroup",
    "Ask",
    "Block",
    "BranchOutcome",
    "Cascade",
    "CascadeResult",
    "Chain",
    "ChainResult",
    "Clock",
    "Compact",
    "Compactions",
    "CompiledGraph",
    "Ctx",
    "DeadlineCheck",
    "ErrorInfo",
    "Event",
    "Exchange",
    "Flow",
    "Gate",
    "Graph",
    "GraphResult",
    "Hooks",
    "Inputs",
    "Limits",
    "Loop",
    "LoopResult",
    "LoopState",
    "Node",
    "NodeOutcome",
    "Orchestrate",
    "OrchestrateResult",
    "Parallel",
    "ParallelResult",
    "Plan",
    "PlanCtx",
    "Refine",
    "RefineResult",
    "RefineRound",
    "Remaining",
    "Reply",
    "Report",
    "Result",
    "Retry",
    "Rollout",
    "Route",
    "RouteChoice",
    "RouteResult",
    "Run",
    "Stage",
    "Stall",
    "StallDetect",
    "Step",
    "Streamed",
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
    "Vote",
    "VotingResult",
    "Work",
    "anthropic_messages",
    "as_reply",
    "cascade",
    "chain",
    "finish",
    "inline_sync",
    "loop",
    "mcp_tools",
    "openai_messages",
    "orchestrate",
    "parallel",
    "refine",
    "replay",
    "report",
    "responses_items",
    "route",
    "streamed",
    "tier_report",
    "tool",
    "toolbus",
    "vote",
]
