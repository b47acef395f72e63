"""Read an ECMAScript pattern, in the grammar without the flags ``u`` and ``v``.

That grammar includes the forms kept for old scripts: octal escapes, escapes of any
character, braces that are no quantifier, quantified lookaheads. A pattern is read as UTF-16
code units, so a character above U+FFFF is two of them.
"""

import re
from decimal import Decimal
from typing import NamedTuple

from . import pattern_tree as tree
from .group_names import hex_number, read_group_name
from .pattern_tree import Node, PatternInvalid, PatternUnsupported
from .values import joined

MAX_CHARACTERS = 10_000
MAX_NESTING = 100
BRACES = re.compile(r"\{([0-9]+)(,([0-9]*))?\}")
CONTROLS = {"t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D}
OCTAL = "01234567"
ASCII_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class Mode(NamedTuple):
    """The flags that are in force where a part of the pattern is written."""

    ignore_case: bool
    multiline: bool
    dot_all: bool


def read_flags(flags: str) -> Mode:
    """Read the flags: each letter once, only known ones; ``u`` and ``v`` are not decided."""
    for letter in flags:
        if letter not in "dgimsuvy" or flags.count(letter) > 1:
            raise PatternInvalid(f"invalid flags {flags!r}")
    if "u" in flags and "v" in flags:
        raise PatternInvalid("the flags u and v exclude each other")
    if "u" in flags or "v" in flags:
        raise PatternUnsupported("the flags u and v are not decided here")
    return Mode("i" in flags, "m" in flags, "s" in flags)


def to_units(text: str) -> str:
    """Spell a text in UTF-16 code units, each as one character."""
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(chr(high * 256 + low) for high, low in zip(units[::2], units[1::2], strict=True))


def count_groups(units: str) -> tuple[int, bool]:
    """Count the capturing groups, and tell whether one of them has a name.

    Both are needed before the pattern is read: they decide what ``\\1`` and ``\\k`` mean.
    """
    count, has_name, in_class, at = 0, False, False, 0
    while at < len(units):
        if units[at] == "\\":
            at += 1
        elif in_class:
            in_class = units[at] != "]"
        elif units[at] == "[":
            in_class = True
        elif units[at] == "(":
            named = units[at + 1 : at + 3] == "?<" and units[at + 3 : at + 4] not in (
                "=",
                "!",
            )
            count += named or units[at + 1 : at + 2] != "?"
            has_name = has_name or named
        at += 1
    return count, has_name


class Parser:
    """One pass over the units of a pattern."""

    def __init__(self, pattern: str, mode: Mode) -> None:
        """Prepare to read a pattern under the given flags."""
        if len(joined(pattern)) > MAX_CHARACTERS:
            raise PatternUnsupported(f"the pattern is longer than {MAX_CHARACTERS} characters")
        self.units = to_units(pattern)
        self.mode = mode
        self.at = 0
        self.depth = 0
        self.group_count, self.has_names = count_groups(self.units)
        self.wanted_names: list[str] = []
        self.references: list[str] = []

    def parse(self) -> Node:
        """Read the whole pattern."""
        node, names = self.disjunction()
        if self.at < len(self.units):
            raise PatternInvalid(f"unmatched ')' at {self.at}")
        for name in self.wanted_names:
            if name not in names:
                raise PatternInvalid(f"no group is named {name!r}")
        return node

    def peek(self, text: str) -> bool:
        """Tell whether the text comes next."""
        return self.units.startswith(text, self.at)

    def take(self, text: str) -> bool:
        """Step over the text if it comes next."""
        if self.peek(text):
            self.at += len(text)
            return True
        return False

    def unit(self, offset: int = 0) -> str:
        """Give a unit that is to come, or the empty text after the end."""
        return self.units[self.at + offset : self.at + offset + 1]

    def chars(self, ranges: tree.Ranges, negated: bool = False) -> Node:
        """Build a set under the flags in force."""
        return tree.Chars(ranges, negated, self.mode.ignore_case)

    def disjunction(self) -> tuple[Node, frozenset[str]]:
        """Read alternatives; different ones may use the same group name."""
        options: list[Node] = []
        names: frozenset[str] = frozenset()
        while True:
            option, new_names = self.alternative()
            options.append(option)
            names |= new_names
            if not self.take("|"):
                return tree.Choice(tuple(options)), names

    def alternative(self) -> tuple[Node, frozenset[str]]:
        """Read terms up to ``|``, ``)`` or the end; a group name may come once."""
        parts: list[Node] = []
        names: frozenset[str] = frozenset()
        while self.unit() not in ("", "|", ")"):
            part, new_names = self.term()
            self.refuse_twice(names, new_names)
            parts.append(part)
            names |= new_names
        return tree.Sequence(tuple(parts)), names

    def refuse_twice(self, names: frozenset[str], more: frozenset[str]) -> None:
        """Refuse a group name that two parts of one alternative use."""
        if names & more:
            raise PatternInvalid(f"group name used twice: {sorted(names & more)}")

    def term(self) -> tuple[Node, frozenset[str]]:
        """Read an assertion that takes no quantifier, or an atom with its quantifier."""
        none: frozenset[str] = frozenset()
        if self.take("^"):
            return tree.Edge(True, self.mode.multiline), none
        if self.take("$"):
            return tree.Edge(False, self.mode.multiline), none
        if self.take("\\b"):
            return tree.WordEdge(False), none
        if self.take("\\B"):
            return tree.WordEdge(True), none
        for opening, negated in (("(?<=", False), ("(?<!", True)):
            if self.take(opening):
                body, names = self.group_body()
                return tree.Look(body, False, negated), names
        atom, names = self.atom()
        return self.quantified(atom), names

    def atom(self) -> tuple[Node, frozenset[str]]:
        """Read one thing that can be repeated."""
        if self.peek("("):
            return self.group()
        return self.simple_atom(), frozenset()

    def simple_atom(self) -> Node:
        """Read a dot, a class, an escape or a unit that means itself."""
        if self.take("."):
            return self.chars(() if self.mode.dot_all else tree.LINE_ENDS, negated=True)
        if self.take("["):
            return self.char_class()
        if self.take("\\"):
            return self.escape()
        if self.unit() in "*+?" or BRACES.match(self.units, self.at):
            raise PatternInvalid(f"nothing to repeat at {self.at}")
        self.at += 1
        return self.chars(tree.single(ord(self.units[self.at - 1])))

    def quantified(self, atom: Node) -> Node:
        """Read a quantifier, if one comes; a lazy mark changes no yes-or-no answer."""
        least, most = 0, None
        braces = BRACES.match(self.units, self.at)
        if self.take("*"):
            pass
        elif self.take("+"):
            least = 1
        elif self.take("?"):
            most = 1
        elif braces:
            self.at = braces.end()
            least = int(Decimal(braces[1]))
            if braces[2] is None:
                most = least
            elif braces[3] != "":
                most = int(Decimal(braces[3]))
        else:
            return atom
        self.take("?")
        if most is not None and most < least:
            raise PatternInvalid("the numbers of a quantifier are out of order")
        return tree.Repeat(atom, least, most)

    def group_body(self) -> tuple[Node, frozenset[str]]:
        """Read what a group holds and its closing parenthesis."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise PatternUnsupported(f"groups are nested deeper than {MAX_NESTING}")
        body, names = self.disjunction()
        if not self.take(")"):
            raise PatternInvalid("a group is not closed")
        self.depth -= 1
        return body, names

    def group(self) -> tuple[Node, frozenset[str]]:
        """Read a group of any kind that can be repeated."""
        if self.take("(?:"):
            return self.group_body()
        for opening, negated in (("(?=", False), ("(?!", True)):
            if self.take(opening):
                body, names = self.group_body()
                return tree.Look(body, True, negated), names
        if self.peek("(?<"):
            name, self.at = read_group_name(self.units, self.at + 2)
            body, names = self.group_body()
            self.refuse_twice(names, frozenset([name]))
            return body, names | {name}
        outer = self.mode
        if self.take("(?"):
            self.mode = self.modifiers()
        else:
            self.take("(")
        body, names = self.group_body()
        self.mode = outer
        return body, names

    def modifiers(self) -> Mode:
        """Read flags to add and to remove, up to a colon: ``i m s``, each at most once."""
        end = self.units.find(":", self.at)
        written = self.units[self.at : max(end, self.at)]
        added, _, removed = written.partition("-")
        letters = added + removed
        if end < 0 or letters == "" or len(set(letters)) < len(letters):
            raise PatternInvalid(f"unknown kind of group at {self.at}")
        if any(letter not in "ims" for letter in letters):
            raise PatternInvalid(f"unknown kind of group at {self.at}")
        self.at = end + 1
        return Mode(
            *(
                (old or letter in added) and letter not in removed
                for letter, old in zip("ims", self.mode, strict=True)
            )
        )

    def escape(self) -> Node:
        """Read what follows a backslash outside a class."""
        digits = re.compile(r"[1-9][0-9]*").match(self.units, self.at)
        if digits and Decimal(digits[0]) <= self.group_count:
            self.at = digits.end()
            return self.reference(digits[0])
        if self.has_names and self.take("k"):
            name, self.at = read_group_name(self.units, self.at)
            self.wanted_names.append(name)
            return self.reference(name)
        if self.unit() in tree.CLASS_ESCAPES:
            self.at += 1
            return self.chars(tree.CLASS_ESCAPES[self.units[self.at - 1]])
        return self.chars(tree.single(self.char_escape(in_class=False)))

    def reference(self, label: str) -> Node:
        """Note a backreference."""
        self.references.append(label)
        return tree.Reference(label)

    def char_escape(self, in_class: bool) -> int:
        """Read the rest of an escape that means one unit."""
        char = self.unit()
        if char == "" or (char == "k" and self.has_names):
            raise PatternInvalid(f"bad escape at {self.at}")
        self.at += 1
        if char in CONTROLS:
            return CONTROLS[char]
        if char == "c":
            letters = ASCII_LETTERS + ("0123456789_" if in_class else "")
            if self.unit() != "" and self.unit() in letters:
                self.at += 1
                return ord(self.units[self.at - 1]) % 32
            self.at -= 1  # the backslash means itself, and the c comes next
            return ord("\\")
        for letter, count in (("x", 2), ("u", 4)):
            number = hex_number(self.units, self.at, count)
            if char == letter and number is not None:
                self.at += count
                return number
        if char in OCTAL:
            return self.octal(int(char))
        return ord(char)

    def octal(self, number: int) -> int:
        """Read up to two more octal digits, as long as the number stays under 256."""
        for _ in range(2):
            digit = self.unit()
            if digit == "" or digit not in OCTAL or number * 8 + int(digit) > 255:
                break
            number = number * 8 + int(digit)
            self.at += 1
        return number

    def char_class(self) -> Node:
        """Read a class up to its closing bracket."""
        negated = self.take("^")
        ranges: tree.Ranges = ()
        while not self.take("]"):
            low = self.class_atom()
            if not self.peek("-") or self.unit(1) == "]":
                ranges += low
                continue
            self.take("-")
            high = self.class_atom()
            if len(low) == len(high) == 1 and low[0][0] == low[0][1] and high[0][0] == high[0][1]:
                if low > high:
                    raise PatternInvalid(f"a range is out of order before {self.at}")
                ranges += ((low[0][0], high[0][0]),)
            else:
                ranges += low + high + tree.single(ord("-"))
        return self.chars(ranges, negated)

    def class_atom(self) -> tree.Ranges:
        """Read one member of a class: a unit, or a set such as ``\\d``."""
        char = self.unit()
        if char == "":
            raise PatternInvalid("a class is not closed")
        self.at += 1
        if char != "\\":
            return tree.single(ord(char))
        if self.take("b"):
            return tree.single(0x08)
        if self.unit() in tree.CLASS_ESCAPES:
            self.at += 1
            return tree.CLASS_ESCAPES[self.units[self.at - 1]]
        return tree.single(self.char_escape(in_class=True))
