"""A report as one HTML page: nothing is loaded, no script runs, every text is escaped.

A page of fixed parts needs no template language; what it needs is that nothing goes in unescaped.
So text of the record passes through `_text`, here and nowhere else.
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

from interlock.record.report._html_step import item, status
from interlock.record.report._style import STYLE
from interlock.record.report._text import cut, duration, escaped, money, shown, tokens
from interlock.record.report._view import CONCERNS, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock.record.report._view import Row, View

__all__ = ["html_of"]

_ROWS, _LISTED, _CONTENT = 10_000, 50, 3_000_000
_LEAST, _MOST = 200, 4_000
_TEXT = 300
_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'"


def html_of(view: View) -> str:
    """Write a report as a page."""
    parts = [
        "<!DOCTYPE html>\n",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{_brief(view.rollout.workflow)}: {_brief(view.rollout.status)}</title>",
        f"<style>{STYLE}</style></head>\n<body>\n",
        *_head(view),
        *_concerns(view),
        *_spends(view),
        *_steps(view),
        "</body></html>\n",
    ]
    return "".join(parts)


def _brief(text: str, most: int = _TEXT) -> str:
    kept, rest = cut(text, most)
    return escaped(kept) + (f" \u2026 ({rest:,} more)" if rest else "")


def _head(view: View) -> Iterator[str]:
    rollout, usage = view.rollout, view.rollout.usage
    yield f"<header><h1><code>{_brief(rollout.workflow)}</code> is "
    yield f"{status(rollout.status)}</h1>\n<dl>"
    yield _fact("run", f"<code>{_brief(rollout.run_id)}</code>")
    if rollout.kind:
        yield _fact("kind", _brief(rollout.kind))
    yield _fact("stopped by", f"<code>{_brief(rollout.stopped_by)}</code>")
    yield _fact("started", _brief(rollout.started_at))
    yield _fact("ended", _brief(rollout.ended_at))
    yield _fact("steps", f"{len(view.rows):,}, in {duration(view.ms)}")
    yield _fact("tokens", escaped(tokens(usage)))
    if usage.cost is not None:
        yield _fact("cost", money(usage.cost, is_partial=usage.cost_incomplete))
    for name, value in list(rollout.tags.items())[:_LISTED]:
        yield _fact(f"tag {_brief(name)}", f"<code>{_brief(shown(value))}</code>")
    for fault in rollout.faults[:_LISTED]:
        yield _fact("fault beside the steps", f"<code>{_brief(said(fault))}</code>")
    if rollout.input is not None:
        yield _fact("started with", f"<pre>{_brief(shown(rollout.input), _MOST)}</pre>")
    yield "</dl></header>\n"


def _fact(name: str, value: str) -> str:
    return f"<dt>{name}</dt><dd>{value}</dd>\n"


def _concerns(view: View) -> Iterator[str]:
    if not view.concerns:
        return
    there = {row.at for row in _chosen(view)}
    yield "<section><h2>What to look at</h2>\n"
    for name, rows in view.concerns.items():
        yield f"<h3>{CONCERNS[name]} ({len(rows):,})</h3><ul>\n"
        yield from (_concern(row, is_there=row.at in there) for row in rows[:_LISTED])
        if len(rows) > _LISTED:
            yield f"<li>and {len(rows) - _LISTED:,} more</li>"
        yield "</ul>\n"
    yield "</section>\n"


def _concern(row: Row, *, is_there: bool) -> str:
    step, error = row.step, row.step.error
    path = f"<code>{_brief(step.path)}</code>"
    path = f'<a href="#s{row.at}">{path}</a>' if is_there else path
    again = f", attempt {step.attempt}" if step.attempt > 1 else ""
    why = "" if error is None else f": {_brief(said(error))}"
    return f'<li>{path}{again}<span class="v">{why}</span></li>\n'


def _spends(view: View) -> Iterator[str]:
    spends = view.spends
    most_tokens = max((one.tokens for one in spends), default=0)
    most_ms = max((one.ms for one in spends), default=0)
    yield "<section><h2>Where tokens and time went</h2>\n<table><thead><tr><th>step</th>"
    yield '<th>kind</th><th class="n">steps</th><th class="n">tokens</th><th></th>'
    yield '<th class="n">cost</th><th class="n">time</th><th></th></tr></thead><tbody>\n'
    for one in spends:
        yield f"<tr><td><code>{_brief(one.name)}</code></td><td>{escaped(one.kind)}</td>"
        yield f'<td class="n">{one.steps:,}</td><td class="n">{one.tokens:,}</td>'
        yield f'<td>{_bar(one.tokens, most_tokens)}</td><td class="n">{money(one.cost)}</td>'
        yield f'<td class="n">{duration(one.ms)}</td><td>{_bar(one.ms, most_ms)}</td></tr>\n'
    yield "</tbody></table></section>\n"


def _bar(value: float, most: float) -> str:
    """Draw a bar; the figure stands beside it."""
    share = 100 * value / most if most else 0
    return f'<svg aria-hidden="true"><rect width="{share:.1f}%" height="100%"/></svg>'


def _chosen(view: View) -> list[Row]:
    """Give the steps that are shown: the first ones, and of the others some to look at."""
    first, rest = view.rows[:_ROWS], view.rows[_ROWS:]
    return first + [row for row in rest if row.concerns][: _ROWS // 10]


def _steps(view: View) -> Iterator[str]:
    rows = _chosen(view)
    most = max(_LEAST, min(_MOST, _CONTENT // max(1, 2 * len(rows))))
    yield "<section><h2>Steps</h2>\n"
    yield '<input type="checkbox" id="only"><label for="only"> only what to look at</label>\n'
    if len(rows) < len(view.rows):
        left = len(view.rows) - len(rows)
        yield f"<p>{left:,} of {len(view.rows):,} steps are not shown; the record has them.</p>\n"
    yield '<ol class="steps">\n'
    yield from (item(row, most) for row in rows)
    yield "</ol></section>\n"
