"""Sources that are hard to compile: from families, and by changing others."""

# Words read better than lists of them.
# ruff: noqa: SIM905

from __future__ import annotations

import random  # noqa: TID251 (data by a seed)
from typing import TypeAlias

Candidate: TypeAlias = "tuple[str, str]"
"""Source and flags."""

LONGEST = 10_000
FLAGS = "- i m s is im ims u iu imsu v iv isv imsv y iy".replace("-", "").split(" ")

# `#` is the number of the copy, `@` a character of its own.
ATOMS = (
    *"a @ . ^ $ { } [] [^] [@] [^@] [a-z] [^a-z] [@-\uffff] [\u0100-\u1fff] () (a) (a|b)".split(),
    *r"\w \W \s \S \d \D \b \B [\ud800-\udfff] [^\ud800@] \cA \0 \x41 \u0041 \u{41}".split(),
    *r"\p{L} \P{L} \p{Lu} \p{Cn} \P{Cn} \p{Any} \p{sc=Han} \p{scx=Zyyy} \P{scx=Latn}".split(),
    *r"\p{CWKCF} [\p{L}@] [^\p{L}@] \p{RGI_Emoji} [\p{RGI_Emoji}@] [\q{ab@|b|}]".split(),
    *r"[\p{L}&&[@-\uffff]] [[\p{L}]--[@]] [\p{L}--\p{Lu}] (?<n#>a|b) (?<n>a) \k<n>".split(),
    *r"(?<n#>[ab])\k<n#> ([a-p]) (a?) (a{256}) ((a{16}){16}) (((a{256}){256}){256})".split(),
    *"a{,5} \\1 \\2 \U0001f600 [\U0001f600]".split(),
)
COUNTS = (
    *"* + ? {0} {1} {2} {0,2} {3,} {16} {0,16} {256} {0,256} {1000} {1000,} {0,1000}".split(),
    *"{5000} {100000} {2147483646} {99999999999}".split(),
)
WRAPS = (
    *"(?:%s) (%s) (?=%s) (?!%s) (?<=%s) (?<!%s) (?i:%s) (?-i:%s) (?:%s|) (?:%s|a)".split(),
    *"(?:%s)* (?:%s)+ (?:%s){2} (?:%s){0,9} (?:%s){30} (?=%s)* ^(?:%s)$ %s|%s %s%s".split(),
    *r"(?:(?=%s)a)* [[%s]] [%s] [^%s] [%s--@] (%s)\1 (?:%s)\1 (?<n>%s)".split(),
)


def many(form: str, length: int = LONGEST, rest: int = 0) -> str:
    """Write a form as often as fits."""
    parts: list[str] = []
    size = rest
    while True:
        part = form.replace("#", str(len(parts))).replace("@", chr(0x4E00 + len(parts) * 2))
        size += len(part)
        if size > length:
            return "".join(parts)
        parts.append(part)


class Grammar:
    """Makes hostile sources and changes them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def piece(self, depth: int = 0) -> str:
        pick = self.chance.random()
        if depth > 4 or pick < 0.35:
            return self.chance.choice(ATOMS)
        if pick < 0.6:
            return self.piece(depth + 1) + self.chance.choice(COUNTS)
        if pick < 0.85:
            wrap = self.chance.choice(WRAPS)
            return wrap.replace("%s", self.piece(depth + 1))
        return self.piece(depth + 1) + self.piece(depth + 1)

    def source(self) -> str:
        form = self.piece()
        shape = self.chance.randrange(5)
        length = self.chance.choice((LONGEST, LONGEST, 5_000, 1_000, 100))
        if shape == 0:
            return form[:LONGEST]
        if shape == 1:
            return many(form, length)
        if shape == 2:
            opening, _, closing = self.chance.choice(WRAPS).partition("%s")
            depth = min(
                self.chance.choice((20, 90, 99)), LONGEST // (2 * len(opening + closing) + 1)
            )
            closing = closing.replace("%s", "a")
            inner = many(form, LONGEST - depth * len(opening + closing))
            return opening * depth + inner + closing * depth
        if shape == 3:
            return self.piece() + many(form, length, 200)
        return (
            many(form, length // 2)
            + self.chance.choice(("", "|"))
            + many(self.piece(), length // 2)
        )

    def candidate(self) -> Candidate:
        return self.source()[:LONGEST], self.chance.choice(FLAGS)

    def changed(self, candidate: Candidate, other: Candidate) -> Candidate:
        """Cut, repeat, put in, take from another, or change the flags."""
        source, flags = candidate
        at = self.chance.randrange(len(source) + 1)
        to = min(len(source), at + self.chance.choice((1, 3, 10, 100, 3_000)))
        kind = self.chance.randrange(7)
        if kind == 0:
            return source, self.chance.choice(FLAGS)
        if kind == 1:
            source = source[:at] + source[to:]
        elif kind == 2:
            source = source[:at] + source[at:to] * self.chance.choice((2, 5, 100)) + source[to:]
        elif kind == 3:
            source = source[:at] + self.piece() + source[at:]
        elif kind == 4:
            source = self.chance.choice(WRAPS).replace("%s", source)
        elif kind == 5:
            source = source[:at] + self.chance.choice(COUNTS) + source[to:]
        else:
            source = source[:at] + other[0][self.chance.randrange(len(other[0]) + 1) :]
        return source[:LONGEST], flags
