"""Sources of every construct, mostly valid, and texts to search, from a seed."""

# Letters that look alike are what case is about, and words read better than lists of them.
# ruff: noqa: RUF001, SIM905

from __future__ import annotations

import random  # noqa: TID251 (data by a seed)
from typing import NamedTuple

_LETTERS = (
    *"abksAKS0_ ,-\n\r\u2028éÉßẞſ\u212aσςΣİǆǅ😀𐐀𐐨\ud83d\ude00",
    *("👩🏽\u200d🚀", "1\ufe0f\u20e3", "🇫🇷"),
)
_ATOMS = (
    *"abks.éßẞſ\u212aσǄ😀𐐀\ud83d\ude00",
    *r"ab . [^] \d \D \w \W \s \S \n \0 \cM \x41 \u0061 () \/ \$ (?:)".split(),
    *r"\ud83d \ude00 \ud83d\ude00".split(),
)
_OLD = r"\u{61} \p{L} \8 \101 \c \x4 \- \_ { } ] a{,2} \k [] \a".split()
_POINTS = r"\u{1F600} \p{L} \P{L} \p{Lu} \P{Lu} \p{sc=Greek} \p{Any} \p{Cs} { \-".split()
_EDGES = r"^ $ ^ $ \b \B".split()
_GROUPS = "( ( (?: (?: (?= (?! (?<= (?<! (?<n> (?<m>".split()
# V8 answers wrongly where a group switches `i`, and for one cased letter in `\q` under `iv`.
_MODIFIERS = "(?m: (?-m: (?s: (?-s: (?m-s: (?ms:".split()
_COUNTS = "* + ? *? +? ?? {2} {0} {1,} {0,2} {2,3}? {00001} {2,1}".split()
_REFERENCES = r"\1 \2 \k<n>".split()
_MEMBERS = (
    *"abk^.ſß𐐀Σ\ud83d",
    *r"a-c A-Z 0-9 é-ö α-ω \d \D \w \W \s \S \b \- \] \n \x62 \u0061-\u0063 \ud800-\udbff".split(),
)
_OLD_MEMBERS = r"- [ z-a \c1 \d-x".split()
_POINT_MEMBERS = r"\u{1F600}-\u{1F64F} \p{L} \P{Lu} \p{Ll} 😀 𐐀-𐐏".split()
_SETS = (
    *r"\q{ab|c|} \q{ss} \q{ba|} [a-z] [^b] [\p{L}--\p{Lu}] \p{Ll} k".split(),
    r"\p{Emoji_Keycap_Sequence}",
)


class Case(NamedTuple):
    source: str
    flags: str
    texts: list[str]


class Grammar:
    """Makes cases.

    `unicode` is `u`, `v` or neither; `modifiers` is whether groups may change flags.
    """

    def __init__(self, seed: int, unicode: str, *, modifiers: bool = False) -> None:
        self.chance = random.Random(seed)  # noqa: S311 (data by a seed)
        self.unicode = unicode
        self.groups = [*_GROUPS, *(_MODIFIERS if modifiers else ())]
        self.atoms = [*_ATOMS, *(_POINTS if unicode else _OLD)]
        self.members = [*_MEMBERS, *(_POINT_MEMBERS if unicode else _OLD_MEMBERS)]

    def case(self) -> Case:
        flags = "".join(letter for letter in "imsy" if self.chance.random() < 0.3)
        source = self.source(0)
        # Names that stand twice are new in ECMAScript 2025, and node 24 takes nested ones too.
        while any(source.count(f"(?<{name}>") > 1 for name in "mn"):
            source = self.source(0)
        return Case(source, flags + self.unicode, [self.text() for _ in range(6)])

    def text(self) -> str:
        return "".join(self.chance.choices(_LETTERS, k=self.chance.randrange(7)))

    def source(self, depth: int) -> str:
        branches = self.chance.choice((1, 1, 1, 2))
        return "|".join(
            "".join(self.term(depth) for _ in range(self.chance.randrange(1, 4)))
            for _ in range(branches)
        )

    def term(self, depth: int) -> str:
        kind = self.chance.random()
        if kind < 0.45 or (kind > 0.65 and depth > 2):
            term: str = self.chance.choice(self.atoms)
        elif kind < 0.55:
            return self.chance.choice(_EDGES)
        elif kind < 0.65:
            term = self.char_class()
        elif kind < 0.68:
            term = self.chance.choice(_REFERENCES)
        else:
            term = f"{self.chance.choice(self.groups)}{self.source(depth + 1)})"
        return term + (self.chance.choice(_COUNTS) if self.chance.random() < 0.3 else "")

    def char_class(self) -> str:
        opening: str = self.chance.choice(("[", "[", "[^"))
        count = self.chance.randrange(1, 4)
        if self.unicode != "v":
            return f"{opening}{''.join(self.chance.choices(self.members, k=count))}]"
        operator = self.chance.choice(("", "", "&&", "--"))
        pool = _SETS if operator else [*self.members, *_SETS]
        return f"{opening}{operator.join(self.chance.choices(pool, k=count))}]"
