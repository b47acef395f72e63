"""Paths: how a place inside a value is written, and how it is found."""

from .values import entries, items, joined, kind

MAX_CHARACTERS = 1024
MAX_SEGMENTS = 64
DIGITS = "0123456789"


class PathError(ValueError):
    """The path is malformed or over a limit."""


def parse(path: str) -> list[str]:
    """Split a path into its segments; no segments mean the value itself.

    Dots separate, and stray ones are ignored. ``[7]`` is an index, ``["x"]`` and ``['x']``
    hold a key in which a backslash takes the next character as it is.
    """
    text = joined(path)
    if len(text) > MAX_CHARACTERS:
        raise PathError(f"path of {len(text)} characters is over the limit of {MAX_CHARACTERS}")
    if text == "$":
        return []
    segments: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == ".":
            at += 1
        elif text[at] == "[":
            segment, at = _bracket(text, at)
            segments.append(segment)
        elif text[at] == "]":
            raise PathError(f"malformed path {path!r}: stray ']' at {at}")
        else:
            start = at
            while at < len(text) and text[at] not in ".[]":
                at += 1
            segments.append(text[start:at])
    if len(segments) > MAX_SEGMENTS:
        raise PathError(f"path of {len(segments)} segments is over the limit of {MAX_SEGMENTS}")
    return segments


def _bracket(text: str, at: int) -> tuple[str, int]:
    """Read one bracket that opens at ``at``; answer the segment and the place after it."""
    at += 1
    segment = ""
    if at < len(text) and text[at] in "\"'":
        quote = text[at]
        at += 1
        while at < len(text) and text[at] != quote:
            if text[at] == "\\":
                at += 1
            segment += text[at : at + 1]
            at += 1
        at += 1
    else:
        while at < len(text) and text[at] in DIGITS:
            segment += text[at]
            at += 1
        if segment == "":
            raise PathError(f"malformed path {text!r}: neither an index nor a quoted key in []")
    if at >= len(text) or text[at] != "]":
        raise PathError(f"malformed path {text!r}: a bracket is not closed")
    return segment, at + 1


def step(value: object, segment: str) -> tuple[bool, object]:
    """Take one step down: ``(True, member)``, or ``(False, None)`` when there is none.

    An array has members at decimal indexes only, an object only at its own text keys, and
    nothing else has members.
    """
    if kind(value) == "array" and segment != "" and all(char in DIGITS for char in segment):
        members = items(value)
        significant = segment.lstrip("0")
        if len(significant) <= len(str(len(members))):
            index = int(significant or "0")
            if index < len(members):
                return True, members[index]
    if kind(value) == "object" and segment in entries(value):
        return True, entries(value)[segment]
    return False, None


def resolve(value: object, path: str) -> tuple[bool, object, str | None]:
    """Follow a path: whether it resolves, to what, and else the prefix that failed.

    The prefix holds every segment up to and including the failing one, joined by dots.
    """
    segments = parse(path)
    for count, segment in enumerate(segments, start=1):
        found, value = step(value, segment)
        if not found:
            return False, None, ".".join(segments[:count])
    return True, value, None


def opaque_place(value: object, path: str) -> str | None:
    """Name the place, on the way along a path, of something that is no value at all."""
    segments = parse(path)
    for count in range(len(segments) + 1):
        if kind(value) == "opaque":
            return ".".join(segments[:count])
        if count < len(segments):
            found, value = step(value, segments[count])
            if not found:
                return None
    return None
