"""One-line previews of values: compact JSON, cut when it is long."""

from collections.abc import Iterator

from .number_text import preview_number
from .text_escapes import escaped
from .values import entries, items, joined, kind

WIDTH = 80
REASON_WIDTH = 60


def preview(value: object, width: int = WIDTH) -> str:
    """Show a value in at most ``width`` characters; a longer one ends in three dots.

    Writing stops as soon as the cut is certain, so a deep or large value costs little.
    """
    shown = ""
    for piece in _pieces(value):
        shown += piece
        if len(shown) > width:
            return shown[: width - 3] + "..."
    return shown


def _pieces(value: object) -> Iterator[str]:
    """Yield the compact JSON of a value piece by piece, keys in their own order."""
    match kind(value):
        case "null":
            yield "null"
        case "boolean":
            yield "true" if value else "false"
        case "number":
            yield preview_number(value)
        case "string":
            yield from _quoted(str(value))
        case "array":
            yield "["
            for index, item in enumerate(items(value)):
                if index > 0:
                    yield ","
                yield from _pieces(item)
            yield "]"
        case "object":
            yield "{"
            for index, (key, item) in enumerate(entries(value).items()):
                if index > 0:
                    yield ","
                yield from _quoted(str(key))
                yield ":"
                yield from _pieces(item)
            yield "}"
        case _:
            yield f"<{type(value).__name__}>"


def _quoted(text: str) -> Iterator[str]:
    """Yield a text in quotes, character by character."""
    yield '"'
    for char in joined(text):
        yield escaped(char)
    yield '"'
