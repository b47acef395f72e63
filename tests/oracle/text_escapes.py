"""JSON escapes of a text; everything that needs none is written as itself."""

from .values import joined

SHORT = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


def is_half(char: str) -> bool:
    """Tell whether a character is half of a surrogate pair."""
    return "\ud800" <= char <= "\udfff"


def escaped(char: str) -> str:
    """Write one character: quote, backslash, controls and lone halves as JSON escapes."""
    if char in SHORT:
        return SHORT[char]
    if char < " " or is_half(char):
        return f"\\u{ord(char):04x}"
    return char


def halves_shown(text: str) -> str:
    """Write what stands alone of a surrogate pair as its escape, all else as it is."""
    return "".join(escaped(char) if is_half(char) else char for char in joined(text))
