"""The step where a run stands, as lines for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock._wire import to_json
from interlock.record._data import encoded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock.supervise import StepCard
    from interlock.supervise.card import CardExit

__all__ = ["card_lines"]


def card_lines(card: StepCard) -> Iterator[str]:
    """Write a step card."""
    yield ""
    yield f"{card.step}: {card.title or card.step} ({card.kind}, {card.risk})"
    if card.do:
        yield f"  do     {' '.join(card.do.split())}"
    for tool in card.tools:
        scope = f"; arguments {to_json(encoded(tool.args))}" if tool.args else ""
        left = "" if tool.left is None else f", {tool.left} left"
        yield f"  tool   {tool.id} ({tool.effect}{left}){scope}"
    if card.gated:
        yield f"  gate   {card.gate or 'somebody must agree'}"
    for check in card.verify:
        yield f"  show   {to_json(encoded(check))}"
    yield f"  exits  {'; '.join(_exit(one) for one in card.exits) or 'none'}"
    for question in card.pending:
        who = ", ".join(question.to) or "anybody who is identified"
        yield f"  asks   {question.id}: {question.text} ({who})"
    for call in card.open_calls:
        yield f"  open   {call}"
    yield from _standing(card)


def _standing(card: StepCard) -> Iterator[str]:
    if card.advice is not None:
        yield f"  failed {card.advice.message}"
    if card.calls:
        yield f"  calls  {card.calls}"
    if card.left:
        yield f"  left   {', '.join(f'{name} {value}' for name, value in card.left.items())}"


def _exit(one: CardExit) -> str:
    left = "" if one.left is None else f" ({one.left} left)"
    return f"{one.via or 'to'} -> {one.to}{left}"
