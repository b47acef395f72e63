"""The names of groups in a pattern: ``<name>`` with identifier characters and escapes."""

import unicodedata

from .pattern_tree import PatternInvalid
from .values import joined

HEX = "0123456789abcdefABCDEF"
LETTER_CATEGORIES = ("Lu", "Ll", "Lt", "Lm", "Lo", "Nl")
EXTRA_START = "$_\u1885\u1886\u2118\u212e\u309b\u309c"
NOT_START = "\u2e2f"
EXTRA_PART = "\u00b7\u0387\u1369\u136a\u136b\u136c\u136d\u136e\u136f\u1370\u1371\u19da"
EXTRA_PART += "\u200c\u200d\u30fb\uff65"


def may_start(char: str) -> bool:
    """Tell whether an identifier may start with the character."""
    if char in EXTRA_START:
        return True
    return unicodedata.category(char) in LETTER_CATEGORIES and char not in NOT_START


def may_follow(char: str) -> bool:
    """Tell whether an identifier may go on with the character."""
    if may_start(char) or char in EXTRA_PART:
        return True
    return unicodedata.category(char) in ("Mn", "Mc", "Nd", "Pc")


def hex_number(units: str, at: int, count: int) -> int | None:
    """Read exactly ``count`` hexadecimal digits; None when they are not there."""
    digits = units[at : at + count]
    if len(digits) == count and all(digit in HEX for digit in digits):
        return int(digits, 16)
    return None


def _escape(units: str, at: int) -> tuple[str, int]:
    """Read ``\\uHHHH`` (or a pair of halves so written) or ``\\u{...}`` in a name."""
    if units[at : at + 3] == "\\u{":
        end = units.find("}", at)
        digits = units[at + 3 : end]
        if end > 0 and digits != "" and all(digit in HEX for digit in digits):
            significant = digits.lstrip("0") or "0"
            if len(significant) <= 6 and int(significant, 16) <= 0x10FFFF:
                return chr(int(significant, 16)), end + 1
    elif units[at : at + 2] == "\\u":
        first = hex_number(units, at + 2, 4)
        if first is not None:
            second = hex_number(units, at + 8, 4) if units[at + 6 : at + 8] == "\\u" else None
            if second is not None and 0xD800 <= first <= 0xDBFF and 0xDC00 <= second <= 0xDFFF:
                return joined(chr(first) + chr(second)), at + 12
            return chr(first), at + 6
    raise PatternInvalid(f"bad escape in a group name at {at}")


def read_group_name(units: str, at: int) -> tuple[str, int]:
    """Read a name in angle brackets that opens at ``at``; answer it and the place after it."""
    if units[at : at + 1] != "<":
        raise PatternInvalid(f"a group name in <> is missing at {at}")
    at += 1
    name = ""
    while units[at : at + 1] not in (">", ""):
        if units[at] == "\\":
            char, at = _escape(units, at)
        elif len(joined(units[at : at + 2])) == 1:
            char, at = joined(units[at : at + 2]), at + len(units[at : at + 2])
        else:
            char, at = units[at], at + 1
        if not (may_follow(char) if name else may_start(char)):
            raise PatternInvalid(f"a group name may not hold {char!r}")
        name += char
    if name == "" or at >= len(units):
        raise PatternInvalid("a group name is empty or is not closed")
    return name, at + 1
