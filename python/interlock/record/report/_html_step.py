"""One step of an HTML report: a line to read, and what is behind it to open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.record.report._text import cut, duration, escaped, money, shown, tokens
from interlock.tools._foreign import mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock.record.report._view import Row
    from interlock.record.rollout import Step

__all__ = ["item", "status"]

_DEEPEST, _TEXT = 6, 300
_REPLY = ("model", "provider", "id", "stop", "status")


def item(row: Row, most: int) -> str:
    """Write a step as an item of a list; values are cut at so many characters."""
    step = row.step
    look = "look " if row.concerns else ""
    depth = f" d{min(row.depth, _DEEPEST)}" if row.depth else ""
    again = f" <span>attempt {step.attempt}</span>" if step.attempt > 1 else ""
    spent = f"{step.usage.total:,} tokens" if step.usage.total else ""
    facts = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in _facts(step, most))
    return (
        f'<li id="s{row.at}" class="{look}"><details><summary>'
        f'<span class="p{depth}"><code>{_value(step.path)}</code>{again}</span>'
        f'<span class="dim">{_value(step.kind)}</span>{status(step.status)}'
        f'<span class="n">{spent}</span><span class="n dim">{duration(step.duration_ms)}</span>'
        f"</summary><dl>{facts}</dl></details></li>\n"
    )


def status(word: str) -> str:
    """Write a status with its colour; the word is there for who sees none."""
    name = word if word.isidentifier() and word.isascii() else "other"
    return f'<span class="s {name}">{_value(word)}</span>'


def _value(text: str, most: int = _TEXT) -> str:
    kept, rest = cut(text, most)
    return escaped(kept) + (f" \u2026 ({rest:,} characters more)" if rest else "")


def _code(text: str) -> str:
    return f"<code>{_value(text)}</code>"


def _block(value: object, most: int) -> str:
    return f"<pre>{_value(shown(value), most)}</pre>"


def _facts(step: Step, most: int) -> Iterator[tuple[str, str]]:
    known = (
        ("started", step.started_at),
        ("input digest", step.input_digest),
        ("effect", step.effect),
        ("call", step.call_id),
        ("key", step.idempotency_key),
    )
    yield from ((name, _code(value)) for name, value in known if value)
    if not step.usage.is_nothing:
        cost = money(step.usage.cost, is_partial=step.usage.cost_incomplete)
        yield "usage", escaped(tokens(step.usage)) + (f", {cost}" if cost else "")
    yield from _error(step)
    if step.decision is not None:
        yield "decision", _block(step.decision, most)
    yield from _reply(step, most)
    if step.output is not None:
        yield "output", _block(step.output, most)
    if step.child is not None:
        child = step.child
        said = f"{child.workflow}: {child.status}, stopped by {child.stopped_by}"
        yield "run inside", f"{_code(said)}, {len(child.steps):,} steps"


def _error(step: Step) -> Iterator[tuple[str, str]]:
    error = step.error
    if error is None:
        return
    yield "error", f"{_code(error.type)} {_code(error.message)}"
    wait = "" if error.wait_ms is None else f", after {duration(error.wait_ms)}"
    told = f"{error.cls}, next: {error.action}{wait} (by {error.source})"
    yield "class and action", escaped(told[:_TEXT])


def _reply(step: Step, most: int) -> Iterator[tuple[str, str]]:
    """Write what else is recorded: of the reply, and beside it."""
    reply = mapping(step.meta.get("reply"))
    told = [f"{name} {reply[name]}" for name in _REPLY if isinstance(reply.get(name), str)]
    if told:
        yield "reply", _code(", ".join(told))
    for name in ("calls", "data"):
        if reply.get(name) is not None and (name, step.output) != ("data", None):
            yield name, _block(reply[name], most)
    if reply.get("meta"):
        yield "noted", _block(reply["meta"], most)
    seen = {name: value for name, value in step.meta.items() if name != "reply"}
    if seen:
        yield "also seen", _block(seen, most)
