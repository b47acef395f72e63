"""The tree of a pattern, and what its sets of code units hold."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

LAST_UNIT = 0xFFFF
Ranges = tuple[tuple[int, int], ...]


class PatternInvalid(ValueError):
    """The text is no ECMAScript pattern, or the flags are no ECMAScript flags."""


class PatternUnsupported(ValueError):
    """The pattern may be valid, but it is not decided here."""


def single(*units: int) -> Ranges:
    """Give the ranges that hold exactly these units."""
    return tuple((unit, unit) for unit in units)


def complement(ranges: Ranges) -> Ranges:
    """Give the ranges of all units that the given ones leave out."""
    left: list[tuple[int, int]] = []
    start = 0
    for low, high in sorted(ranges):
        if start < low:
            left.append((start, low - 1))
        start = max(start, high + 1)
    if start <= LAST_UNIT:
        left.append((start, LAST_UNIT))
    return tuple(left)


DIGIT: Ranges = ((0x30, 0x39),)
WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
LINE_ENDS: Ranges = single(0x0A, 0x0D, 0x2028, 0x2029)
SPACE: Ranges = (
    (0x09, 0x0D),
    (0x2000, 0x200A),
    *single(0x20, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF),
)
CLASS_ESCAPES = {
    "d": DIGIT,
    "D": complement(DIGIT),
    "s": SPACE,
    "S": complement(SPACE),
    "w": WORD,
    "W": complement(WORD),
}

# Pairs of a lower-case and an upper-case letter that Unicode 15 to 17 added, so that the
# answer does not depend on how old the tables of the running Python are.
NEW_CAPITALS = {
    0x019B: 0xA7DC,
    0x0264: 0xA7CB,
    0x1C8A: 0x1C89,
    0xA7CD: 0xA7CC,
    0xA7CF: 0xA7CE,
    0xA7D3: 0xA7D2,
    0xA7D5: 0xA7D4,
    0xA7DB: 0xA7DA,
}


def canonical_unit(unit: int) -> int:
    """Give the unit by which case is ignored: its upper case, if that is one unit.

    A unit outside ASCII never becomes one of ASCII.
    """
    if unit in NEW_CAPITALS:
        return NEW_CAPITALS[unit]
    upper = chr(unit).upper()
    if len(upper) != 1 or ord(upper) > LAST_UNIT:
        return unit
    if unit >= 128 and ord(upper) < 128:
        return unit
    return ord(upper)


@cache
def same_case_table() -> dict[int, list[int]]:
    """Map each canonical unit to all units that have it."""
    table: dict[int, list[int]] = {}
    for unit in range(LAST_UNIT + 1):
        table.setdefault(canonical_unit(unit), []).append(unit)
    return table


def in_ranges(unit: int, ranges: Ranges) -> bool:
    """Tell whether some range holds the unit."""
    return any(low <= unit <= high for low, high in ranges)


@dataclass(frozen=True)
class Chars:
    """One unit of a set. Case is folded first, the complement is taken after."""

    ranges: Ranges
    negated: bool = False
    ignore_case: bool = False

    def accepts(self, unit: int) -> bool:
        """Tell whether the set takes this unit."""
        alike: Iterable[int] = (unit,)
        if self.ignore_case:
            alike = same_case_table()[canonical_unit(unit)]
        return any(in_ranges(other, self.ranges) for other in alike) != self.negated


@dataclass(frozen=True)
class Sequence:
    """Parts one after another; no parts match the empty text."""

    parts: tuple["Node", ...]


@dataclass(frozen=True)
class Choice:
    """Any one of the options."""

    options: tuple["Node", ...]


@dataclass(frozen=True)
class Repeat:
    """The body at least and at most so many times; ``most`` of None is without end."""

    body: "Node"
    least: int
    most: int | None


@dataclass(frozen=True)
class Edge:
    """The start (``^``) or the end (``$``) of the text, or of a line."""

    at_start: bool
    multiline: bool


@dataclass(frozen=True)
class WordEdge:
    """A border between a word unit and no word unit (``\\b``), or no such border (``\\B``)."""

    negated: bool


@dataclass(frozen=True)
class Look:
    """The body matches ahead from here, or behind up to here; or it does not."""

    body: "Node"
    ahead: bool
    negated: bool


@dataclass(frozen=True)
class Reference:
    """A backreference: it parses, and is not decided."""

    label: str


Node = Chars | Sequence | Choice | Repeat | Edge | WordEdge | Look | Reference
