"""A pattern explained: how it is run, how its parts are read, whether it is found in a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from interlock import _core

if TYPE_CHECKING:
    from interlock._patterns import PatternExplanation, PatternNote

__all__ = ["explained"]


def explained(source: str, flags: str, text: str | None, *, as_json: bool) -> int:
    """Print what a pattern became; return 1 when it is not found in the text."""
    from interlock._wire import to_json

    pattern = _core.Pattern(source, flags)
    explanation = pattern.explain()
    found = None if text is None else pattern.test(text)
    if as_json:
        wire = explanation.to_dict()
        click.echo(to_json(wire if found is None else {**wire, "found": found}))
    else:
        for line in _lines(explanation):
            click.echo(line)
        if found is not None:
            click.echo("found" if found else "not found")
    return 1 if found is False else 0


def _lines(explanation: PatternExplanation) -> list[str]:
    states = "" if explanation.states is None else f", {explanation.states:,} states"
    count = explanation.lookarounds
    looks = "" if count == 0 else f", {count} lookaround{'' if count == 1 else 's'}"
    head = f"{explanation.engine} engine, {explanation.memory:,} bytes{states}{looks}"
    return [head, *map(_line, explanation.notes)]


def _line(note: PatternNote) -> str:
    kind = "hint: " if note.is_hint else ""
    part = note.part if note.part.isprintable() else _core.preview(note.part)
    return f"{note.start:5}  {part}  {kind}{note.text}"
