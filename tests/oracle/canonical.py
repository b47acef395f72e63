"""The canonical form: one JSON text for all equal values, after RFC 8785.

Keys are sorted by their UTF-16 code units, nothing is spaced, and numbers follow two rules:
equal numbers have one form, and a whole number that is no double's shortest text keeps all
its digits, where the RFC would round it.
"""

from hashlib import sha256

from .number_text import canonical_number
from .text_escapes import escaped, is_half
from .values import entries, items, joined, kind


def canonical(value: object) -> str:
    """Write the canonical form.

    NaN, an infinity, a lone half, a key that is no text or something that is no value at
    all has none: ``ValueError``.
    """
    match kind(value):
        case "null":
            return "null"
        case "boolean":
            return "true" if value else "false"
        case "number":
            return canonical_number(value)
        case "string":
            return _quoted(value)
        case "array":
            return "[" + ",".join(canonical(item) for item in items(value)) + "]"
        case "object":
            members = entries(value)
            texts = {_quoted(key): (_units(key), canonical(members[key])) for key in members}
            ordered = sorted(texts, key=lambda text: texts[text][0])
            return "{" + ",".join(f"{text}:{texts[text][1]}" for text in ordered) + "}"
        case _:
            raise ValueError(f"a {type(value).__name__} has no canonical form")


def digest(value: object, length: int = 64) -> str:
    """Give the first ``length`` hexadecimal digits of the SHA-256 of the canonical form."""
    return sha256(canonical(value).encode("utf-8")).hexdigest()[:length]


def _quoted(text: object) -> str:
    if not isinstance(text, str):
        raise ValueError(f"the key {text!r} is no text and has no canonical form")
    chars = joined(text)
    if any(is_half(char) for char in chars):
        raise ValueError(f"the text {text!r} holds half a character and has no canonical form")
    return '"' + "".join(escaped(char) for char in chars) + '"'


def _units(key: object) -> bytes:
    """Give the UTF-16 code units of a key, in a form that sorts as they do."""
    return str(key).encode("utf-16-be")
