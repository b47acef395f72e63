"""A report as a Mermaid flowchart: the steps in order, with statuses and tokens."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from interlock.record.report._text import label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock.record.report._view import Row, View

__all__ = ["mermaid_of"]

# Beyond 500 arrows or 50,000 characters Mermaid refuses a diagram by default.
_STEPS, _ARROWS = 150, 400
_SHAPES = {"gate": ("{", "}"), "accept": ("{", "}"), "judge": ("{", "}"), "classify": ("{", "}")}
_ABREAST = ("branch", "vote", "worker", "node")
"""Kinds of steps that run beside each other: each comes after what was before all of them."""
_COLOURS = {
    "failed": "stroke:#b3261e,stroke-width:2px",
    "blocked": "stroke:#b3261e,stroke-width:2px,stroke-dasharray:4",
    "undetermined": "stroke:#8a5a00,stroke-width:2px",
    "in_doubt": "stroke:#8a5a00,stroke-width:2px,stroke-dasharray:4",
    "cancelled": "stroke-dasharray:2",
    "skipped": "stroke-dasharray:2",
    "paused": "stroke:#0b57d0,stroke-width:2px",
}


def mermaid_of(view: View) -> str:
    """Write a report as a flowchart; of many steps the first ones, and how many there are."""
    rows = view.rows[:_STEPS]
    lines = ["flowchart TD", f'    start(["{label(view.rollout.workflow)}"])']
    lines += [_node(row) for row in rows]
    ended = label(f"{view.rollout.status}: {view.rollout.stopped_by}")
    lines.append(f'    ended(["{ended}, {view.rollout.usage.total} tokens"])')
    is_whole = len(view.rows) <= _STEPS
    if not is_whole:
        lines.append(f'    rest["{len(view.rows) - _STEPS:,} more steps are not shown"]')
        lines.append("    rest --> ended")
    lines += islice(_arrows(rows, "ended" if is_whole else "rest"), _ARROWS)
    used = {row.step.status for row in rows}
    lines += [f"    classDef {name} {style}" for name, style in _COLOURS.items() if name in used]
    return "\n".join(lines) + "\n"


def _node(row: Row) -> str:
    step = row.step
    left, right = _SHAPES.get(step.kind, ("[", "]"))
    again = f", attempt {step.attempt}" if step.attempt > 1 else ""
    spent = f", {step.usage.total} tokens" if step.usage.total else ""
    said = f"{label(step.path)}<br/>{label(step.status)}{again}{spent}"
    mark = f":::{step.status}" if step.status in _COLOURS else ""
    return f'    n{row.at}{left}"{said}"{right}{mark}'


class _Level:
    """A run as its arrows are drawn.

    Attributes:
        tails: What the next step comes after.
        abreast: The steps beside each other that come after those.
    """

    def __init__(self, start: str) -> None:
        self.tails, self.abreast = [start], list[str]()

    def heads(self, row: Row) -> list[str]:
        """Give what a step comes after, and go on from it."""
        name = f"n{row.at}"
        if row.step.kind in _ABREAST:
            self.abreast.append(name)
            return self.tails
        heads, self.tails, self.abreast = self.abreast or self.tails, [name], []
        return heads


def _arrows(rows: list[Row], last: str) -> Iterator[str]:
    """Lead from step to step, and by a broken arrow into the run inside a step."""
    levels = [_Level("start")]
    for row in rows:
        del levels[row.depth + 1 :]
        is_inner = len(levels) <= row.depth
        if is_inner:
            levels.append(_Level(f"n{row.at - 1}"))
        arrow = "-.->" if is_inner else "-->"
        yield from (f"    {head} {arrow} n{row.at}" for head in levels[-1].heads(row))
    yield from (f"    {head} --> {last}" for head in levels[0].abreast or levels[0].tails)
