"""How text is normalised before it is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast
from unicodedata import category

from interlock import _core
from interlock._compiled import plain_problems, unknown_fields
from interlock.errors import Problem
from interlock.tools._fields import one_spelling, truth_problems

if TYPE_CHECKING:
    from interlock.typing import JSON

__all__ = ["NORMALIZE_FIELDS", "Normalizer", "read_normalizer"]

NORMALIZE_FIELDS = ("trim", "lowercase", "collapseWhitespace", "stripPunctuation")
"""The fields of `normalize`; all are true or false, only `trim` is true when left out."""

# ECMA-262 sections 12.2 and 12.3: WhiteSpace and LineTerminator, which is what `\s` of a pattern
# means too. Python's own notion has U+001C to U+001F and U+0085 and lacks U+FEFF.
_SPACES = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_IS_SPACE = frozenset(_SPACES)
_AS_SPACE = dict.fromkeys(map(ord, _SPACES), " ")


class Normalizer(NamedTuple):
    """What is done to text, in the order of the fields."""

    trim: bool = True
    lowercase: bool = False
    strip_punctuation: bool = False
    collapse_whitespace: bool = False

    def applied(self, value: JSON) -> JSON:
        """Normalise a text; other values, and text inside them, stay as they are."""
        if not isinstance(value, str):
            return value
        text = _joined(value)
        if self.trim:
            text = text.strip(_SPACES)
        if self.lowercase:
            text = text.lower()
        if self.strip_punctuation:
            text = "".join(filter(_stays, text))
        if self.collapse_whitespace:
            text = " ".join(filter(None, text.translate(_AS_SPACE).split(" ")))
        return text


def _stays(character: str) -> bool:
    # A combining mark is no letter of its own, so a decomposed accent goes and its letter stays.
    return character in _IS_SPACE or category(character)[0] in "LN"


def _joined(text: str) -> str:
    """Read two halves of a surrogate pair as the one character that they spell."""
    units = str.encode(text, "utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "surrogatepass")


def read_normalizer(normalize: object) -> tuple[Normalizer, list[Problem]]:
    """Read `{trim?, lowercase?, collapseWhitespace?, stripPunctuation?}`; None is `{}`."""
    plain, not_plain = plain_problems({} if normalize is None else normalize, "normalize")
    if not_plain:
        return Normalizer(), list(not_plain)
    if not isinstance(plain, dict):
        message = f"must be a mapping with {', '.join(NORMALIZE_FIELDS)}"
        shown = _core.preview(normalize)
        return Normalizer(), [Problem("spec/wrong-type", "normalize", shown, message)]
    fields, problems = one_spelling(plain, NORMALIZE_FIELDS, "normalize.")
    problems += unknown_fields(fields, NORMALIZE_FIELDS, "normalize.")
    for name in NORMALIZE_FIELDS:
        problems += truth_problems(fields.get(name, False), f"normalize.{name}")
    normalizer = Normalizer(
        trim=cast("bool", fields.get("trim", True)),
        lowercase=cast("bool", fields.get("lowercase", False)),
        strip_punctuation=cast("bool", fields.get("stripPunctuation", False)),
        collapse_whitespace=cast("bool", fields.get("collapseWhitespace", False)),
    )
    return normalizer, problems
