"""Event: what happens in a run, as it happens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from interlock.record._data import Record
from interlock.record.rollout import Step

__all__ = ["Event", "EventName"]

EventName = Literal[
    "run_started",
    "step_started",
    "delta",
    "step_ended",
    "paused",
    "answered",
    "hook_error",
    "budget",
    "compacted",
    "retry",
    "recovered",
    "run_ended",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Record):
    """One thing that happened in a run.

    Attributes:
        seq: Its number in the run, from 0.
        run_id: The run.
        path: The step; the workflow's own path for `run_started` and `run_ended`.
        event: What happened.
        at: When, `YYYY-MM-DDTHH:MM:SS.mmmZ`.
        step: For `step_ended`, the whole step.
        data: What else belongs to it.
    """

    seq: int
    run_id: str
    path: str
    event: EventName
    at: str
    step: Step | None = None
    data: Mapping[str, object] = field(default_factory=dict[str, object])
