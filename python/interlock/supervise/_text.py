"""The report of a run as Markdown, and its path as a diagram."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from interlock.record.report._text import code, label
from interlock.supervise._told import answers, ended, facts, of, people, uses

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from interlock.supervise.report import Report

__all__ = ["markdown", "mermaid"]

_ROWS, _STATES, _NOTES = 200, 150, 5


def markdown(report: Report) -> str:
    """Write a report as Markdown; whatever strangers wrote stands in it as code."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# {code(report.policy.id or 'run')} has come to {code(ended(report))}"
    yield from _table("", ("", ""), [(name, code(value)) for name, value in facts(report)])
    yield from ("", "## Path", "")
    path = report.path
    yield " \u2192 ".join(code(step) for step in path[:_ROWS]) + _more(len(path))
    yield from _table(
        "Budgets",
        ("of", "", "used"),
        [(kind, code(name), told) for kind, name, _, _, told in uses(report)],
    )
    yield from _table(
        "What was refused",
        ("step", "code", "why"),
        [(code(one.at or ""), code(one.code), code(one.message)) for one in report.blocked],
    )
    yield from _table(
        "Waiting for an answer",
        ("question", "step", "", "who may"),
        [(*map(code, (q.id, q.step, q.text)), code(people(q.to))) for q in report.questions],
    )
    yield from _table(
        "Answers",
        ("question", "", "by", "used by"),
        [(code(name), said, code(who), code(used)) for name, said, _, who, used in answers(report)],
    )
    yield from _table(
        "Deviations",
        ("#", "step", "class", "of"),
        [
            (str(one.sequence), *map(code, (one.step or "", one.deviation_class)),
             code(one.capability_class or ""))
            for one in report.deviations.records
        ],
    )  # fmt: skip
    yield from _table(
        "Steps",
        ("step", "visits", "calls", ""),
        [
            (code(one.step), f"{one.visits:,}", f"{one.calls:,}",
             "left with nothing to show" if one.verified is False else "")
            for one in report.steps
        ],
    )  # fmt: skip
    yield from _table(
        "To mind when reading this",
        ("", "code"),
        [(code(one.message, 500), code(one.code)) for one in report.caveats],
    )


def _table(title: str, heads: Sequence[str], rows: Sequence[Iterable[str]]) -> Iterator[str]:
    if not rows:
        return
    yield ""
    if title:
        yield from (f"## {title}", "")
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    yield from (f"| {' | '.join(row)} |" for row in rows[:_ROWS])
    if len(rows) > _ROWS:
        yield from ("", _more(len(rows)).strip())


def _more(count: int) -> str:
    return f" and {count - _ROWS:,} more" if count > _ROWS else ""


def mermaid(report: Report) -> str:
    """Write the path that was taken as a state diagram; steps beyond the first 150 are counted."""
    path = list(report.path)
    names = list(dict.fromkeys(path))
    left = len(names) - _STATES
    ids = {name: f"s{at}" for at, name in enumerate(names[:_STATES])}
    visits = {one.step: one.visits for one in report.steps}
    return "\n".join(
        (
            "stateDiagram-v2",
            *(f'    state "{_state(name, visits.get(name, 1))}" as {ids[name]}' for name in ids),
            *_moves(report, path, ids),
            *_notes(report, ids),
            *([f"    %% {left} steps are not shown"] if left > 0 else ()),
        )
    ) + "\n"  # fmt: skip


def _state(name: str, visits: int) -> str:
    return label(name) + (f" ({visits} visits)" if visits > 1 else "")


def _moves(report: Report, path: list[str], ids: dict[str, str]) -> Iterator[str]:
    budgets = {use.edge: of(use.used, use.max) for use in report.budgets.retries}
    if path and path[0] in ids:
        yield f"    [*] --> {ids[path[0]]}"
    taken = Counter(pairwise(path))
    for (source, target), count in taken.items():
        if source in ids and target in ids:
            told = budgets.get(f"{source}->{target}") or (f"{count} times" if count > 1 else "")
            yield f"    {ids[source]} --> {ids[target]}" + (f" : {label(told)}" if told else "")
    if path and path[-1] in ids and report.outcome is not None:
        yield f"    {ids[path[-1]]} --> [*] : {label(report.outcome)}"


def _notes(report: Report, ids: dict[str, str]) -> Iterator[str]:
    """Write what was refused beside the step where it was."""
    by_step: dict[str, Counter[str]] = {}
    for event in report.blocked:
        if event.at in ids:
            by_step.setdefault(event.at, Counter())[event.code] += 1
    for step, codes in by_step.items():
        yield f"    note right of {ids[step]}"
        for name, count in codes.most_common(_NOTES):
            yield (
                f"        {_note(name)} blocked {count} times"
                if count > 1
                else (f"        {_note(name)} blocked")
            )
        if len(codes) > _NOTES:
            yield f"        and {len(codes) - _NOTES} others"
        yield "    end note"


def _note(text: str) -> str:
    # Blanks that do not break: in a note the words `end note` would end it.
    return label(text).replace(" ", "\u00a0")
