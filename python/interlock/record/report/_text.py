"""Text of strangers, made safe to show: nothing of it is invisible, and nothing of it is markup."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING

from interlock import _core

if TYPE_CHECKING:
    from interlock.record.usage import Usage

__all__ = [
    "code",
    "cut",
    "duration",
    "escaped",
    "label",
    "line",
    "money",
    "shown",
    "tokens",
    "visible",
    "word",
]

# Controls but tab and line feed; marks of direction, of no width and of no meaning; separators of
# lines; halves of surrogate pairs; tags. Joiners stay: writing needs them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\uffff\U000e0000-\U000e007f]"
)
_MARKUP = re.compile(r"[^A-Za-z0-9 _.,/+*=!?\u00a0-\U0010ffff-]")
_TICKS = re.compile("`+")


def visible(text: str) -> str:
    """Write what cannot be seen as its code point, so that nothing hides or turns a line around."""
    return _HIDDEN.sub(lambda found: f"\u27e8U+{ord(found[0]):04X}\u27e9", text)


def line(text: str) -> str:
    """Write a text in one line: its line feeds and tabs, too, as their code points."""
    return re.sub("[\t\n]", lambda found: f"\u27e8U+{ord(found[0]):04X}\u27e9", visible(text))


def cut(text: str, most: int) -> tuple[str, int]:
    """Return the beginning of a text, and how many characters are left out."""
    return (text, 0) if len(text) <= most else (text[:most], len(text) - most)


def escaped(text: str) -> str:
    """Write a text so that HTML shows it as it is, in an element or in a quoted attribute."""
    return html.escape(visible(text))


def code(text: str, most: int = 200) -> str:
    """Write a text as code in a line or a table cell of Markdown."""
    kept, rest = cut(text, most)
    flat = " ".join(visible(kept).split()) + (f" \u2026 {rest} more" if rest else "")
    if not flat:
        return ""
    # A fence longer than any inside; what begins or ends with one needs a blank between.
    fence = "`" * (1 + max((len(found) for found in _TICKS.findall(flat)), default=0))
    blank = " " if "`" in (flat[0], flat[-1]) else ""
    return f"{fence}{blank}{flat}{blank}{fence}".replace("|", "\\|")


def word(text: str) -> str:
    """Write a word of the record's own in a table cell of Markdown; what is none, as code."""
    return text if text.isidentifier() and text.isascii() else code(text)


def label(text: str, most: int = 60) -> str:
    """Write a text as a part of a quoted Mermaid label."""
    kept, rest = cut(text, most)
    flat = " ".join(visible(kept).split()) + ("\u2026" if rest else "")
    # An empty label is a fault of syntax.
    return _MARKUP.sub(lambda found: f"#{ord(found[0])};", flat) or "\u00a0"


def shown(value: object) -> str:
    """Write a value for people: text as it is, data as JSON over several lines."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, indent=1)
    except (TypeError, ValueError, RecursionError):
        # Not plain data, or deeper than that writer goes.
        return _core.preview(value)


def tokens(usage: Usage) -> str:
    """Write tokens read and written."""
    cached = f" ({usage.cached:,} cached)" if usage.cached else ""
    return f"{usage.input:,} in{cached}, {usage.output:,} out"


def money(cost: int | None, *, is_partial: bool = False) -> str:
    """Write micro-dollars as dollars."""
    if cost is None:
        return ""
    return f"${cost / 1e6:,.6f}".rstrip("0").rstrip(".") + (" at least" if is_partial else "")


def duration(ms: float) -> str:
    """Write a duration in the unit that suits it."""
    if ms < 1_000:  # noqa: PLR2004 (a second)
        return f"{ms:.3g} ms"
    return f"{ms / 1_000:,.1f} s" if ms < 120_000 else f"{ms / 60_000:,.1f} min"  # noqa: PLR2004
