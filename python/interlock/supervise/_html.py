"""The report of a run as one HTML page: nothing is loaded, no script runs, every text is escaped.

Style and escaping are those of the reports of workflows; text passes through `_brief` alone.
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

from interlock.record.report._style import STYLE
from interlock.record.report._text import cut, escaped, shown
from interlock.supervise._told import answers, ended, facts, people, share, uses

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from interlock.supervise.report import Report

__all__ = ["page"]

_TEXT, _ROWS = 300, 500
_OWN = """
.ended{color:var(--ok)}.running{color:var(--ask)}.end{color:var(--bad)}
rect.full{fill:var(--bad)}
section{overflow-x:auto}td>code{overflow-wrap:break-word}
"""
_STYLE = STYLE + _OWN
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'"


def page(report: Report) -> str:
    """Write a report as a page: what it came to first, then how, and what to mind."""
    name = report.policy.id or "run"
    return "".join(
        (
            "<!DOCTYPE html>\n",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{_brief(name)}: {_brief(ended(report))}</title>",
            f"<style>{_STYLE}</style></head>\n<body>\n",
            *_head(report, name),
            *_path(report),
            *_budgets(report),
            *_blocked(report),
            *_people(report),
            *_deviations(report),
            *_steps(report),
            *_caveats(report),
            "</body></html>\n",
        )
    )


def _brief(text: object, most: int = _TEXT) -> str:
    kept, rest = cut(shown(text), most)
    return escaped(kept) + (f" \u2026 ({rest:,} more)" if rest else "")


def _code(text: object) -> str:
    return f"<code>{_brief(text)}</code>"


def _head(report: Report, name: str) -> Iterator[str]:
    tone = "running" if report.status == "running" else "ended"
    tone = "end" if report.outcome in _BAD else tone
    yield f'<header><h1>{_code(name)} has come to <span class="s {tone}">'
    yield f"{_brief(ended(report))}</span></h1>\n<dl>"
    yield from (f"<dt>{fact}</dt><dd>{_code(value)}</dd>\n" for fact, value in facts(report))
    yield "</dl></header>\n"


_BAD = ("aborted", "budget-exhausted", "timed-out", "no-progress", "stopped")


def _path(report: Report) -> Iterator[str]:
    yield "<section><h2>Path</h2>\n<p>"
    yield " \u2192 ".join(_code(step) for step in report.path[:_ROWS])
    yield _more(len(report.path)) + "</p></section>\n"


def _budgets(report: Report) -> Iterator[str]:
    rows = [
        (_brief(kind), _code(name), escaped(told), _bar(used, most))
        for kind, name, used, most, told in uses(report)
    ]
    yield from _table("Budgets", ("of", "", "#used", ""), rows)


def _bar(used: float, most: float | None) -> str:
    """Draw what is used of a budget; the figure stands beside it."""
    if not most:
        return ""
    full = ' class="full"' if used >= most else ""
    width = f"{share(used, most):.1f}%"
    return f'<svg aria-hidden="true"><rect{full} width="{width}" height="100%"/></svg>'


def _blocked(report: Report) -> Iterator[str]:
    rows = [
        (_code(one.at or ""), _code(one.code), f'<span class="v">{_brief(one.message)}</span>')
        for one in report.blocked
    ]
    yield from _table("What was refused", ("step", "code", "why"), rows)


def _people(report: Report) -> Iterator[str]:
    open_ = [
        (_code(one.id), _code(one.step), _brief(one.text), _brief(people(one.to)))
        for one in report.questions
    ]
    yield from _table("Waiting for an answer", ("question", "step", "", "who may"), open_)
    told = [
        (_code(name), f'<span class="s {tone}">{_brief(what)}</span>', _brief(who), _code(used))
        for name, what, tone, who, used in answers(report)
    ]
    yield from _table("Answers", ("question", "", "by", "used by"), told)


def _deviations(report: Report) -> Iterator[str]:
    rows = [
        (
            f"{one.sequence}",
            _code(one.step or ""),
            _code(one.deviation_class),
            _code(one.capability_class or ""),
        )
        for one in report.deviations.records
    ]
    by_step = report.deviations.by_step.items()
    said = "; ".join(f"{_code(step)}: {count:,}" for step, count in list(by_step)[:_ROWS])
    yield from _table("Deviations", ("#no.", "step", "class", "of"), rows, f"By step: {said}.")


def _steps(report: Report) -> Iterator[str]:
    rows = [
        (
            _code(one.step),
            f"{one.visits:,}",
            f"{one.calls:,}",
            "left with nothing to show" if one.verified is False else "",
        )
        for one in report.steps
    ]
    yield from _table("Steps", ("step", "#visits", "#calls", ""), rows)


def _caveats(report: Report) -> Iterator[str]:
    rows = [(_brief(one.message), _code(one.code)) for one in report.caveats]
    yield from _table("To mind when reading this", ("", "code"), rows)


def _table(
    title: str, heads: Sequence[str], rows: Sequence[tuple[str, ...]], note: str = ""
) -> Iterator[str]:
    """Write a table of cells that are escaped already; nothing where there are no rows."""
    if not rows:
        return
    yield f"<section><h2>{title}</h2>\n<table><thead><tr>"
    kinds = [' class="n"' if head.startswith("#") else "" for head in heads]
    for head, kind in zip(heads, kinds, strict=True):
        yield f"<th{kind}>{head.removeprefix('#')}</th>"
    yield "</tr></thead><tbody>\n"
    for row in rows[:_ROWS]:
        cells = zip(row, kinds, strict=True)
        yield "<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell, kind in cells) + "</tr>\n"
    yield f"</tbody></table>{_more(len(rows))}"
    yield f"<p>{note}</p>" if note else ""
    yield "</section>\n"


def _more(count: int) -> str:
    return f" and {count - _ROWS:,} more" if count > _ROWS else ""
