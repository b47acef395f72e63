"""Compaction: older results of a loop are put into one, by a callable that sums them up."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, cast

from interlock import _core
from interlock.errors import Problem
from interlock.harness._config import count_problems, keywords, raise_problems, wrong
from interlock.harness._frame import Reading, input_digest
from interlock.harness.loop_state import text_of
from interlock.harness.work import Part, Work, part_of
from interlock.record._data import Record
from interlock.record.reply import as_reply
from interlock.record.values import ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlock.harness._walk import Walk
    from interlock.harness.loop_state import History

__all__ = ["Compact", "Compactions", "Compactor"]


@dataclass(frozen=True, slots=True)
class Compact:
    """When and how older results are put into one.

    Args:
        summarise: A callable of the older results, a tuple of `ToolResult`, that returns their
            summary: text, or anything that `as_reply` reads. `(results)` or `(results, ctx)`; or
            `Work(...)`.
        at: The fraction of `window`, or of the loop's `max_tokens`, that the input tokens of the
            last turn must reach; over 0, at most 1.
        after: Instead, the number of results that must have come since the last compaction.
        keep: How many of the latest results stay as they are. The cut never falls inside the
            results of one reply, so that more may stay.
        window: The tokens of the model's context; `at` is a fraction of it.

    Raises:
        ConfigError: With every problem found.
    """

    summarise: Callable[..., Any] | Work
    _: KW_ONLY
    at: float | None = None
    after: int | None = None
    keep: int = 4
    window: int | None = None
    part: Part = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse what compacts nothing, or says it twice."""
        problems: list[Problem] = []
        object.__setattr__(self, "part", part_of(self.summarise, "compact.summarise", problems))
        problems += _when_problems(self.at, self.after, self.window)
        problems += _least_one(self.keep, "compact.keep")
        raise_problems(problems)

    def config(self) -> dict[str, Any]:
        """Return how it is set up, as data."""
        named = {"at": self.at, "after": self.after, "keep": self.keep, "window": self.window}
        return {"summarise": self.part.config(), **named}


Compact.__init__ = keywords(Compact.__init__)  # type: ignore[method-assign]


@dataclass(frozen=True, slots=True)
class Compactions(Record):
    """How often older results were put into one.

    Attributes:
        count: How often.
        replaced: How many results of tools were replaced, each counted once.
    """

    count: int = 0
    replaced: int = 0


class Compactor:
    """The compaction of a loop in progress."""

    def __init__(self, compact: Compact, max_tokens: int | None) -> None:
        """Take when and how."""
        self._compact = compact
        base = compact.window if compact.window is not None else max_tokens
        self._line = None if compact.at is None else compact.at * cast("int", base)
        self._is_armed = True
        self._kept = 0
        self.count = self.replaced = 0

    async def compact(self, walk: Walk, history: History, read: int) -> None:
        """Compact where it is time to: after a turn that has read so many tokens."""
        if not self._is_due(history, read):
            return
        cut = _cut(history, self._compact.keep)
        if cut == 0:
            return
        gone = [one for exchange in history.exchanges[:cut] for one in exchange.results]
        older = (*(() if history.compacted is None else (history.compacted,)), *gone)
        wire = [one.to_dict() for one in older]
        outcome = await walk.step(
            "compact",
            "compact",
            self._compact.part.call,
            older,
            digest=input_digest(wire),
            read=_Reader(older),
            **self._compact.part.options(),
        )
        decision = cast("dict[str, Any]", outcome.step.decision or {})
        if not outcome.ok or outcome.reply is None or decision.get("kept_out"):
            return
        before = 0 if history.compacted is None else history.compacted.replaced
        stands_for, turn = before + len(gone), older[-1].turn
        summary = outcome.reply.output
        history.compact(
            cut,
            ToolResult("", "compacted", "completed", summary, turn=turn, replaced=stands_for),
        )
        self._is_armed, self._kept = False, history.fresh
        self.count += 1
        self.replaced += len(gone)
        await walk.tell("compacted", outcome.step.path, {"replaced": len(gone)})

    def _is_due(self, history: History, read: int) -> bool:
        if self._line is None:
            return history.fresh - self._kept >= cast("int", self._compact.after)
        if read < self._line:
            self._is_armed = True
            return False
        # One that is still over the line after a compaction would be compacted at every turn.
        return self._is_armed


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads a summary, and says whether it is of use."""

    older: tuple[ToolResult, ...]

    def __call__(self, value: object, *, step: str) -> Reading:
        reply = as_reply(value, step=step)
        before, after = sum(len(text_of(one)) for one in self.older), len(reply.output)
        told: dict[str, object] = {
            "results": len(self.older),
            "characters": {"before": before, "after": after},
        }
        if reply.status == "completed":
            why = _kept_out(before, after)
        else:
            why = None if reply.status == "failed" else "the summary was cut off"
        return Reading(reply, {**told, "kept_out": why} if why else told)


def _kept_out(before: int, after: int) -> str | None:
    if after == 0:
        return "the summary is empty"
    return "the summary is longer than what it replaces" if after > before else None


def _cut(history: History, keep: int) -> int:
    """Say how many exchanges are older than the ones that hold the latest results."""
    kept = 0
    for at in range(len(history.exchanges), 0, -1):
        if kept >= keep:
            return at if any(one.results for one in history.exchanges[:at]) else 0
        kept += len(history.exchanges[at - 1].results)
    return 0


def _when_problems(at: object, after: object, window: object) -> list[Problem]:
    problems: list[Problem] = []
    if (at is None) == (after is None):
        message = "give exactly one of at, a fraction of tokens, and after, a number of results"
        code = "spec/missing-field" if at is None else "spec/conflict"
        problems.append(Problem(code, "compact.at", None, message))
    if at is not None:
        is_number = isinstance(at, (int, float)) and not isinstance(at, bool)
        if not (is_number and 0 < cast("float", at) <= 1):
            problems.append(wrong(at, "compact.at", "must be a fraction over 0, at most 1"))
    elif window is not None:
        message = "is what `at` is a fraction of, and there is no at"
        problems.append(Problem("spec/conflict", "compact.window", _core.preview(window), message))
    if after is not None:
        problems += _least_one(after, "compact.after")
    if window is not None:
        problems += _least_one(window, "compact.window")
    return problems


def _least_one(value: object, name: str) -> list[Problem]:
    if value is None:
        return [wrong(value, name, "must be a whole number, 1 or more")]
    return count_problems(value, name, least=1)
