"""The record: values that travel, steps, rollouts, events.

Everything here is a frozen value that can be written as data and read back equal.
"""

from __future__ import annotations

from interlock.record.event import Event
from interlock.record.replay import replay
from interlock.record.reply import as_reply
from interlock.record.report import Report, report
from interlock.record.result import Result
from interlock.record.rollout import Rollout, Step
from interlock.record.usage import Usage
from interlock.record.values import ErrorInfo, Reply, ToolCall, ToolResult, Verdict

__all__ = [
    "ErrorInfo",
    "Event",
    "Reply",
    "Report",
    "Result",
    "Rollout",
    "Step",
    "ToolCall",
    "ToolResult",
    "Usage",
    "Verdict",
    "as_reply",
    "replay",
    "report",
]
