"""What a report shows of a run, in whatever form: the steps in order, and what they add up to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from interlock.record.usage import NOTHING, Usage
from interlock.tools._foreign import mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from interlock.record.rollout import Rollout, Step
    from interlock.record.values import ErrorInfo

__all__ = ["CONCERNS", "Row", "Spend", "View", "said", "view_of"]

SCHEMA = "interlock.report/1"
CONCERNS = {
    "refused": "Refused",
    "failed": "Failed",
    "in_doubt": "In doubt",
    "undetermined": "Undetermined",
    "retried": "Retried",
    "asked": "Asked",
    "cancelled": "Cancelled",
    "skipped": "Skipped",
    "estimated": "Usage estimated or unknown",
}
"""What a reader looks for first, by name, with its heading."""
_NUMBER = re.compile(r"_\d+$")
_GROUPS = 20


@dataclass(slots=True)
class Row:
    """A step where it stands.

    Attributes:
        at: Its number, from 0, in the order in which the steps are shown.
        depth: How many runs it is inside of.
        step: The step.
        tokens: What it used itself, without the run inside it.
        ms: How long it took itself, likewise.
        concerns: The names of `CONCERNS` that it is one of.
    """

    at: int
    depth: int
    step: Step
    tokens: int
    ms: float
    concerns: tuple[str, ...]


@dataclass(slots=True)
class Spend:
    """What the steps of one kind and name used.

    Attributes:
        name: The name; the numbers of turns and drafts are left out, as in `turn_*`.
        kind: The kind.
        steps: How many there are.
        tokens: What they used.
        cost: Micro-dollars, as far as known; None where none is.
        ms: How long they took.
    """

    name: str
    kind: str
    steps: int = 0
    tokens: int = 0
    cost: int | None = None
    ms: float = 0.0


@dataclass(frozen=True)
class View:
    """A run as it is shown."""

    rollout: Rollout
    rows: list[Row] = field(default_factory=list[Row])

    @cached_property
    def concerns(self) -> dict[str, list[Row]]:
        """The steps of each concern that has any."""
        found: dict[str, list[Row]] = {name: [] for name in CONCERNS}
        for row in self.rows:
            for name in row.concerns:
                found[name].append(row)
        return {name: rows for name, rows in found.items() if rows}

    @cached_property
    def spends(self) -> list[Spend]:
        """What steps of one name used, the dearest first; the least together, as the last."""
        groups: dict[tuple[str, str], Spend] = {}
        for row in self.rows:
            name, kind = _NUMBER.sub("_*", row.step.name), row.step.kind
            spend = groups.setdefault((name, kind), Spend(name, kind))
            _add(spend, row, row.step)
        ordered = sorted(groups.values(), key=lambda one: (-one.tokens, -one.ms))
        if len(ordered) <= _GROUPS:
            return ordered
        rest = Spend(f"{len(ordered) - _GROUPS} others", "")
        for spend in ordered[_GROUPS:]:
            rest.steps += spend.steps
            rest.tokens += spend.tokens
            rest.ms += spend.ms
            rest.cost = _sum(rest.cost, spend.cost)
        return [*ordered[:_GROUPS], rest]

    @property
    def ms(self) -> float:
        """How long the steps at the top took, one after the other."""
        return sum(step.duration_ms for step in self.rollout.steps)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        rollout = self.rollout
        return {
            "schema": SCHEMA,
            "run_id": rollout.run_id,
            "workflow": rollout.workflow,
            "kind": rollout.kind,
            "status": rollout.status,
            "stopped_by": rollout.stopped_by,
            "started_at": rollout.started_at,
            "ended_at": rollout.ended_at,
            "usage": rollout.usage.to_dict(),
            "concerns": {
                name: [row.step.path for row in rows] for name, rows in self.concerns.items()
            },
            "spent": [
                {
                    "name": one.name,
                    "kind": one.kind,
                    "steps": one.steps,
                    "tokens": one.tokens,
                    "cost": one.cost,
                    "ms": round(one.ms, 3),
                }
                for one in self.spends
            ],
            "steps": [_told(row) for row in self.rows],
        }


def view_of(rollout: Rollout) -> View:
    """Walk through a rollout and those inside it, each after the step that it is in."""
    view = View(rollout)
    rows = view.rows
    # Not by recursion: a record may be as deep as somebody made it.
    waiting: list[tuple[int, Iterator[Step], frozenset[str]]] = [
        (0, iter(rollout.steps), _retried(rollout.steps))
    ]
    while waiting:
        depth, steps, retried = waiting[-1]
        step = next(steps, None)
        if step is None:
            waiting.pop()
            continue
        child = step.child
        inside = child.usage.total if child is not None else 0
        took = sum(one.duration_ms for one in child.steps) if child is not None else 0.0
        rows.append(
            Row(
                len(rows),
                depth,
                step,
                max(0, step.usage.total - inside),
                max(0.0, step.duration_ms - took),
                _concerns(step, is_retried=step.path in retried),
            )
        )
        if child is not None:
            waiting.append((depth + 1, iter(child.steps), _retried(child.steps)))
    return view


def _retried(steps: Iterable[Step]) -> frozenset[str]:
    return frozenset(step.path for step in steps if step.attempt > 1)


def _concerns(step: Step, *, is_retried: bool) -> tuple[str, ...]:
    status, error = step.status, step.error
    found: list[str] = []
    is_refused = status == "blocked" or (error is not None and error.source == "verdict")
    if is_refused and status != "undetermined":
        found.append("refused")
    elif status in ("failed", "in_doubt", "undetermined", "cancelled", "skipped"):
        found.append(status)
    if is_retried:
        found.append("retried")
    if status == "paused" or step.kind == "ask":
        found.append("asked")
    if _is_estimated(step):
        found.append("estimated")
    return tuple(found)


def _is_estimated(step: Step) -> bool:
    if not step.meta:
        return False
    beside = mapping(mapping(step.meta.get("reply")).get("meta"))
    return step.meta.get("usage_missing") is True or beside.get("usage_estimated") is True


def said(error: ErrorInfo) -> str:
    """Write an error in a line; of a verdict the reason alone."""
    if error.source == "verdict":
        return error.message or error.type
    return f"{error.type}: {error.message}" if error.message else error.type


def _add(spend: Spend, row: Row, step: Step) -> None:
    spend.steps += 1
    spend.tokens += row.tokens
    spend.ms += row.ms
    inside = step.child.usage if step.child is not None else NOTHING
    spend.cost = _sum(spend.cost, _own_cost(step.usage, inside))


def _own_cost(usage: Usage, inside: Usage) -> int | None:
    cost = None if usage.cost is None else max(0, usage.cost - (inside.cost or 0))
    # What only the run inside cost is shown there.
    return None if not cost and inside.cost else cost


def _sum(one: int | None, other: int | None) -> int | None:
    return one if other is None else other + (one or 0)


def _told(row: Row) -> dict[str, Any]:
    step = row.step
    told: dict[str, Any] = {
        "path": step.path,
        "kind": step.kind,
        "status": step.status,
        "attempt": step.attempt,
        "depth": row.depth,
        "ms": step.duration_ms,
        "tokens": step.usage.total,
        "cost": step.usage.cost,
    }
    if step.error is not None:
        told["error"] = step.error.to_dict()
    return told
