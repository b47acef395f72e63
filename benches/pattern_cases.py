"""Patterns and texts that their speed is measured on, made by a seed.

Written so that every engine reads the same in them: digits as `[0-9]`, and `\\b` only beside ASCII.
"""

from __future__ import annotations

import json
import random  # noqa: TID251 (data by a seed)
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import errors

SHORT, LONG = 50, 100_000
PATHOLOGICAL = Path(__file__).parents[1] / "tests" / "conformance" / "pathological.jsonl"
# fmt: off
TARGETS = (
    "abandoned", "backpressure", "certificate", "deadlock", "eviction", "failover", "garbage",
    "handshake", "interrupt", "journal", "keepalive", "latency", "malformed", "namespace",
    "overflow", "partition", "quorum", "rollback", "snapshot", "throttle", "unreachable",
    "validation", "watchdog", "xattr", "yielded", "zombie", "allocation", "broken", "checksum",
    "denied", "expired", "forbidden", "gateway", "hung", "invalid", "jitter", "killed", "leaked",
    "missing", "nonce", "orphan", "panic", "quota", "refused", "stalled", "timeout", "unknown",
    "violated", "wedged", "exhausted",
)
# fmt: on


@dataclass(frozen=True)
class Case:
    """A pattern, the end of a text that is found, words that fill it up, and an end that is not."""

    name: str
    pattern: str
    hit: str
    miss: str
    flags: str = ""
    words: tuple[str, ...] = errors.WORDS
    # A pattern about the whole text: the words come after.
    leads: bool = False

    def text(self, length: int, *, found: bool) -> str:
        """Give a text of exactly so many characters."""
        chance, end = random.Random(f"{self.name} {length}"), self.hit if found else self.miss
        words: list[str] = []
        while sum(map(len, words)) + len(words) < length:
            words.append(chance.choice(self.words))
        filled = " ".join(words)
        room = length - len(end) - 1
        return f"{end} {filled[:room]}" if self.leads else f"{filled[:room]} {end}"


UNICODE_WORDS = ("für", "Über", "größer", "naïve", "Øre", "señor", "Ελλάδα", "мир", "und", "łódź")
ORDINARY = (
    Case(
        "email-like",
        r"[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}",
        "ann.lee@mail.example.org",
        "ann.lee@mail",
    ),
    Case("ISO date", r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b", "2026-03-14", "2026-03-1x"),
    Case(
        "log line",
        r"[0-9]{2}:[0-9]{2}:[0-9]{2} (?:ERROR|FATAL) \[[a-z-]+\] .+",
        "12:30:59 ERROR [web-api] slow",
        "12:30:59 DEBUG [web-api] slow",
    ),
    Case("50 words", "|".join(TARGETS), "quorum", "quora"),
    Case("50 whole words", rf"\b(?:{'|'.join(TARGETS)})\b", "quorum", "quorums"),
    Case(
        "case-insensitive Unicode",
        "größe überschritten|превышен размер|μέγεθος",
        "ΜΈΓΕΘΟΣ",
        "ΜΈΓΕΘΟ",
        "iu",
        UNICODE_WORDS,
    ),
)
LOOKAROUND = (
    Case(
        "password rules",
        r"^(?=.*[A-Z])(?=.*[a-z])(?=.*[0-9])(?=.*[^A-Za-z0-9\s]).{8,}$",
        "Tr0ub4dor&3",
        "tr0ub4dor&3",
        leads=True,
    ),
    Case("not in a word", r"(?<!\w)todo(?!\w)", "todo", "todos"),
    Case("number after a sign", r"(?<=\$)[0-9]+(?:\.[0-9]{2})?(?![0-9])", "$125.50", "125.50"),
    Case("word before a colon", r"\b[a-z]+(?=\s*:)", "retries : 3", "retries ; 3"),
    Case("no secret in the line", r"^(?!.*(?:secret|password)).*done", "done", "dane"),
    Case("thousands", r"\B(?=(?:[0-9]{3})+(?![0-9]))", "1234567", "12"),
)
QUADRATIC = r"(?=.*[0-9]).*x"
"""Quadratic where every place of a text without a digit reads on to its end."""


def rules(count: int) -> list[str]:
    """Make so many patterns as rules about messages have; one in ten holds no fixed text."""
    chance = random.Random(count)

    def one(number: int) -> str:
        first, second = chance.choice(TARGETS), chance.choice(errors.WORDS)
        if number % 10 == 9:
            return rf"[A-Z]{{{number % 7 + 2}}}[0-9]+[a-z]?:"
        return (
            f"{first} {second} {number}",
            rf"\b(?:{first}|{first}ed) [a-z]+ {number}\b",
            rf"^{second}: .*{first} by [0-9]+",
            rf"(?:code|errno)[ =]{number}[0-9]\b",
        )[number % 4]

    return [one(number) for number in range(count)]


def messages(count: int, rules: int) -> list[str]:
    """Make messages of 200 characters; in each one of so many rules is found."""
    found = f"errno={max(3, rules // 4 * 4 - 5)}7"
    return [Case(f"message {each}", "", found, "").text(200, found=True) for each in range(count)]


def pathological() -> list[tuple[str, str, list[tuple[str, int]]]]:
    """Give source, flags and pieces with counts of what keeps a backtracking engine busy."""
    rows: list[dict[str, Any]] = [
        json.loads(line) for line in PATHOLOGICAL.read_text("ascii").splitlines()
    ]
    return [(row["pattern"], row["flags"], row["runs"]) for row in rows]


def stretched(runs: list[tuple[str, int]], length: int) -> str:
    """Repeat what is repeated until the text is about so long."""
    repeated = sum(len(piece) * count for piece, count in runs if count > 1)
    once = sum(len(piece) for piece, count in runs if count == 1)
    factor = (length - once) / max(1, repeated)
    counts = [max(1, round(count * factor)) if count > 1 else 1 for _, count in runs]
    return "".join(piece * count for (piece, _), count in zip(runs, counts, strict=True))


def python_pattern(case: Case) -> re.Pattern[str]:
    """Compile it for `re`, with the same meaning."""
    flags = re.IGNORECASE if "i" in case.flags else re.ASCII
    return re.compile(case.pattern, flags)


def inline_pattern(case: Case) -> str:
    """Write the flags into the pattern, as engines without ECMAScript's flags take them."""
    return f"(?i){case.pattern}" if "i" in case.flags else case.pattern
