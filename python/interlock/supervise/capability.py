"""Capabilities: what a call uses, class first, such as `cli:kubectl` or `mcp:server/tool`.

One that ends in `*` stands for every capability that begins with what is before it.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["capability_class_of", "is_capability", "matches", "meets", "named_in"]

_CLASS = r"[a-z][a-z0-9-]*"
_CAPABILITY = re.compile(rf"{_CLASS}(?::[^\s*\x00-\x1f\x7f]*\*?)?")
_CLASS_ALONE = re.compile(_CLASS)
_USUAL = ("cli", "mcp", "http", "file")


def capability_class_of(capability: str | None) -> str | None:
    """Return the class of a capability: what is before the first colon.

    Returns:
        The class when it is a lower-case word (`a-z`, then `a-z`, `0-9` or `-`); else None, and
        never the text itself, so that nothing of a command line can get into a record.
    """
    if not isinstance(capability, str):
        return None
    head = capability.partition(":")[0]
    return head if _CLASS_ALONE.fullmatch(head) else None


def is_capability(text: str) -> bool:
    """Say whether a text is a capability or stands for several."""
    return _CAPABILITY.fullmatch(text) is not None and not text.endswith(":")


def matches(pattern: str, capability: str) -> bool:
    """Say whether a pattern stands for a capability."""
    if pattern.endswith("*"):
        return capability.startswith(pattern[:-1])
    return capability == pattern


def meets(one: str, other: str) -> bool:
    """Say whether there is a capability that two patterns both stand for."""
    return matches(one, other.removesuffix("*")) or matches(other, one.removesuffix("*"))


def named_in(text: str, classes: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """List the capabilities that a text names, in order, each once.

    Those of the usual classes (cli, mcp, http, file) and of the given ones are seen; an address
    such as `http://host` is none.
    """
    if ":" not in text:
        return ()
    found = (match[0].rstrip(".-/") for match in _in_text(classes).finditer(text))
    return tuple(dict.fromkeys(one for one in found if is_capability(one)))


@lru_cache(maxsize=256)
def _in_text(classes: frozenset[str]) -> re.Pattern[str]:
    words = "|".join(sorted({*_USUAL, *classes}, key=lambda word: (-len(word), word)))
    return re.compile(rf"(?<![\w:/.@-])(?:{words}):(?!//)[A-Za-z0-9_][\w./@-]*\*?")
