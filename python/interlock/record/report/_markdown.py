"""A report as Markdown, for a terminal, an issue or a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.record.report._text import code, duration, money, tokens, word
from interlock.record.report._view import CONCERNS, said

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from interlock.record.report._view import Row, View
    from interlock.record.rollout import Rollout

__all__ = ["markdown_of"]

_STEPS, _LISTED = 200, 20


def markdown_of(view: View) -> str:
    """Write a report as Markdown; whatever strangers wrote stands in it as code."""
    lines = [*_head(view), *_concerns(view), *_spends(view), *_steps(view.rows)]
    return "\n".join(lines) + "\n"


def _head(view: View) -> Iterator[str]:
    rollout = view.rollout
    yield f"# {code(rollout.workflow)} is {code(rollout.status)}"
    yield ""
    yield from _table(("", ""), _facts(rollout, view))


def _facts(rollout: Rollout, view: View) -> Iterator[tuple[str, str]]:
    usage = rollout.usage
    yield "run", code(rollout.run_id)
    yield "stopped by", code(rollout.stopped_by)
    yield "started", code(rollout.started_at)
    yield "steps", f"{len(view.rows):,}, in {duration(view.ms)}"
    yield "tokens", f"{tokens(usage)}"
    if usage.cost is not None:
        yield "cost", money(usage.cost, is_partial=usage.cost_incomplete)
    for name, value in rollout.tags.items():
        yield f"tag {code(name)}", code(str(value))
    for fault in rollout.faults[:_LISTED]:
        yield "fault beside the steps", code(said(fault))


def _concerns(view: View) -> Iterator[str]:
    if not view.concerns:
        return
    yield "## What to look at"
    yield ""
    for name, rows in view.concerns.items():
        yield f"**{CONCERNS[name]}** ({len(rows):,})"
        yield ""
        for row in rows[:_LISTED]:
            step = row.step
            again = f", attempt {step.attempt}" if step.attempt > 1 else ""
            why = f": {code(_why(row))}" if step.error is not None else ""
            yield f"- {code(step.path)}{again}{why}"
        if len(rows) > _LISTED:
            yield f"- and {len(rows) - _LISTED:,} more"
        yield ""


def _why(row: Row) -> str:
    error = row.step.error
    if error is None or error.source == "verdict":
        return "" if error is None else said(error)
    return f"{said(error)} ({error.cls}, {error.action})"


def _spends(view: View) -> Iterator[str]:
    yield "## Where tokens and time went"
    yield ""
    rows = (
        (
            code(one.name),
            word(one.kind),
            f"{one.steps:,}",
            f"{one.tokens:,}",
            money(one.cost),
            duration(one.ms),
        )
        for one in view.spends
    )
    yield from _table(("step", "kind", "steps", "tokens", "cost", "time"), rows)


def _steps(rows: list[Row]) -> Iterator[str]:
    yield "## Steps"
    yield ""
    shown = (
        (
            code(row.step.path) + (f" #{row.step.attempt}" if row.step.attempt > 1 else ""),
            word(row.step.kind),
            word(row.step.status),
            f"{row.step.usage.total:,}",
            duration(row.step.duration_ms),
            code(_why(row) or _output(row)),
        )
        for row in rows[:_STEPS]
    )
    yield from _table(("path", "kind", "status", "tokens", "time", "said"), shown)
    if len(rows) > _STEPS:
        yield f"{len(rows) - _STEPS:,} more steps are not shown here."


def _output(row: Row) -> str:
    output = row.step.output
    return output if isinstance(output, str) else "" if output is None else str(output)[:500]


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""
