"""What a plan of a sequence says: which steps are ready, which are held and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock import _core
from interlock._wire import WireForm

if TYPE_CHECKING:
    from interlock.typing import JSON, SequenceState

__all__ = ["HeldStep", "ReadyStep", "SequencePlan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyStep(WireForm):
    """A step that can run now.

    Attributes:
        id: Its id.
        index: Its position, from 0.
        params: Its parameters; None also when it has none (see `has_params`).
        has_params: Whether it has any; without them the wire form has none either.
    """

    id: str
    index: int
    params: JSON = None
    has_params: bool = False

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        wire: dict[str, JSON] = {"id": self.id, "index": self.index}
        if self.has_params:
            wire["params"] = _core.plain(self.params)
        return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldStep(WireForm):
    """A step that cannot run now.

    Attributes:
        id: Its id.
        reason: Why not.
        due_in_ms: Milliseconds until its time, when that is what it waits for; else None.
    """

    id: str
    reason: str
    due_in_ms: int | None = None

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        wire: dict[str, JSON] = {"id": self.id, "reason": self.reason}
        if self.due_in_ms is not None:
            wire["dueInMs"] = self.due_in_ms
        return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class SequencePlan(WireForm):
    """Where every step of a sequence stands; all lists are in declared order.

    Attributes:
        state: `ready` when a step can run; else `blocked` when one waits or is undetermined; else
            `halted` when one failed or is unreachable; else `finished`.
        ready: The steps that can run now.
        waiting: Those that wait for a needed step, or for their time.
        unreachable: Those behind a step that failed, was skipped or is unreachable itself.
        skipped: Those whose own conditions do not hold.
        undetermined: Those whose own conditions cannot be decided.
        completed: The ids that were reported as done, each once.
        failed: The ids that were reported as failed, each once.
        version: The sequence's version; None when it has none.
        total: How many steps there are.
    """

    state: SequenceState
    ready: tuple[ReadyStep, ...]
    waiting: tuple[HeldStep, ...]
    unreachable: tuple[HeldStep, ...]
    skipped: tuple[HeldStep, ...]
    undetermined: tuple[HeldStep, ...]
    completed: tuple[str, ...]
    failed: tuple[str, ...]
    version: str | None
    total: int

    @property
    def next(self) -> ReadyStep | None:
        """The first step that can run now."""
        return self.ready[0] if self.ready else None

    @property
    def outcome(self) -> str:
        """A short label for counting."""
        open_ended = self.undetermined and not self.ready
        return "(undetermined)" if open_ended else self.state

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        ready: list[JSON] = [step.to_dict() for step in self.ready]
        wire: dict[str, JSON] = {
            "state": self.state,
            "ready": ready,
            "next": None if self.next is None else self.next.to_dict(),
            "waiting": [step.to_dict() for step in self.waiting],
            "unreachable": [step.to_dict() for step in self.unreachable],
            "skipped": [step.to_dict() for step in self.skipped],
            "completed": list(self.completed),
            "failed": list(self.failed),
            "version": self.version,
            "total": self.total,
        }
        if self.undetermined:
            wire["undetermined"] = [step.to_dict() for step in self.undetermined]
        return wire
