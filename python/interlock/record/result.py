"""Result: what every run of a workflow ends with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from interlock.errors import RunFailed
from interlock.record._data import Record
from interlock.record.rollout import Rollout
from interlock.record.usage import NOTHING, Usage
from interlock.record.values import ErrorInfo, ToolCall

__all__ = ["Result"]

ResultStatus = Literal["completed", "incomplete", "failed", "paused", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Record):
    """How a run ended, with what, and its record.

    Attributes:
        status: `completed`, `incomplete` (a limit ended it), `failed`, `paused`, `cancelled`.
        stopped_by: What ended it; the words are those of the workflow.
        output: The text of the answer; None when there is no answer.
        data: The structured answer; None when it has none.
        calls: The tools that the answer asks for, so that a workflow can be the turn of a loop.
        usage: What all steps used, those of nested runs included.
        error: What went wrong; None when nothing did.
        rollout: The record.
        pending: Questions to people that wait for an answer.
    """

    status: ResultStatus
    stopped_by: str
    output: str | None = None
    data: object = None
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = NOTHING
    error: ErrorInfo | None = None
    rollout: Rollout
    pending: tuple[object, ...] = ()

    @property
    def input_tokens(self) -> int:
        """What all models read."""
        return self.usage.input

    @property
    def output_tokens(self) -> int:
        """What all models wrote."""
        return self.usage.output

    def unwrap(self) -> Self:
        """Return the result itself when it is completed.

        Raises:
            RunFailed: When it is not; it carries the result.
        """
        if self.status == "completed":
            return self
        why = f": {self.error.type}: {self.error.message}" if self.error else ""
        name = self.rollout.workflow
        raise RunFailed(f"{name} is {self.status}, stopped by {self.stopped_by}{why}", self)
