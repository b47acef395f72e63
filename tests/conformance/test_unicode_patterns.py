"""Patterns under the flags `u` and `v`: answers of JavaScript engines, and what is valid at all.

`unicode_answers.jsonl` holds source, flags, text and whether it is found there;
`unicode_syntax.jsonl` source, flags and whether that is a pattern.
"""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from interlock import Pattern, PatternError, PatternInvalid, PatternTooLarge

HERE = Path(__file__).parent


def _rows(name: str) -> list[Any]:
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


def _reason(error: PatternError) -> str:
    """Give the slug of a refusal."""
    slug = re.search(r"\[([\w.]+)\]$", error.problems[0].message)
    return slug[1] if slug else ""


def test_answers() -> None:
    wrong: list[Any] = []
    refused: Counter[str] = Counter()
    rows = _rows("unicode_answers.jsonl")
    for source, flags, text, expected in rows:
        try:
            actual = Pattern(source, flags).test(text)
        except PatternError as error:
            refused[_reason(error)] += 1
            continue
        if actual is not expected:
            wrong.append((source, flags, text, expected))
    assert [] == wrong
    assert set(refused) <= {"unsupported.backreference"}
    assert refused.total() < len(rows) / 20


def test_syntax() -> None:
    wrong: list[Any] = []
    for source, flags, valid in _rows("unicode_syntax.jsonl"):
        try:
            Pattern(source, flags)
        except PatternInvalid:
            actual = False
        except PatternError:
            actual = True
        else:
            actual = True
        if actual is not valid:
            wrong.append((source, flags, valid))
    assert [] == wrong


@pytest.mark.parametrize(
    ("source", "flags", "slug"),
    [
        ("a{", "u", "invalid.lone_bracket"),
        ("]", "v", "invalid.lone_bracket"),
        (r"\-", "u", "invalid.escape"),
        (r"\1", "u", "invalid.escape"),
        (r"\00", "u", "invalid.escape"),
        (r"\x4", "u", "invalid.escape"),
        (r"\u{110000}", "u", "invalid.unicode_escape"),
        (r"\u006", "v", "invalid.unicode_escape"),
        (r"\k", "u", "invalid.named_reference"),
        (r"[\w-a]", "u", "invalid.range_order"),
        ("[z-a]", "v", "invalid.range_order"),
        ("(?=a)*", "u", "invalid.nothing_to_repeat"),
        (r"\p{Greek}", "u", "invalid.property_name"),
        (r"\p{RGI_Emoji}", "u", "invalid.property_name"),
        (r"\P{RGI_Emoji}", "v", "invalid.negated_strings"),
        (r"[^\q{ab}]", "v", "invalid.negated_strings"),
        ("[a&&b--c]", "v", "invalid.class_set_syntax"),
        ("[a-z--b]", "v", "invalid.class_set_syntax"),
        ("[a!!]", "v", "invalid.class_set_syntax"),
        ("[(]", "v", "invalid.class_set_syntax"),
        ("[a", "v", "invalid.unterminated_class"),
        ("[\\", "v", "invalid.unterminated_class"),
        ("[" * 101 + "]" * 101, "v", "unsupported.too_deep"),
        (r"[\p{RGI_Emoji}]" * 8, "v", "unsupported.too_large"),
        *(
            (name, flags, "invalid.group_name")
            for name in ("(?<1>x)", "(?<>x)", "(?<a b>x)", r"(?<\x61>x)", "(?<\ud835>x)")
            for flags in ("", "u")
        ),
    ],
)
def test_refusals_say_why(source: str, flags: str, slug: str) -> None:
    kind = PatternInvalid if slug.startswith("invalid.") else PatternTooLarge
    with pytest.raises(kind, match=re.escape(f"[{slug}]")):
        Pattern(source, flags)


@pytest.mark.parametrize(
    ("source", "flags", "text", "found"),
    [
        ("^.$", "u", "\U0001f600", True),
        ("^[\U0001f600-\U0001f60e]$", "u", "\U0001f604", True),
        (r"\ud83d", "u", "\U0001f600", False),
        (r"\ud83d", "u", "\ud83d", True),
        (r"^\ud83d\ude00$", "u", "\U0001f600", True),
        (r"\u{d83d}\u{de00}", "u", "\U0001f600", False),
        (r"(?:\ud83d)\ude00", "u", "\U0001f600", False),
        (r"^\p{Cs}$", "u", "\udc00", True),
        (r"^[^a]$", "u", "\ud83d", True),
        (r"\w", "iu", "\u017f", True),
        (r"\W", "iu", "\u212a", False),
        (r"\w", "u", "\u017f", False),
        ("ß", "iu", "ẞ", True),
        ("ß", "i", "ẞ", False),
        (r"^\P{Lu}$", "iu", "A", True),
        (r"^\P{Lu}$", "iv", "a", False),
        (r"^[^\P{Lu}]$", "iu", "A", False),
        (r"^[^\P{Lu}]$", "iv", "a", True),
        (r"^[\p{Ll}&&\p{Lu}]$", "iv", "a", True),
        (r"^[\p{Ll}&&\p{Lu}]$", "v", "a", False),
        (r"^[[a-z]--[aeiou]]$", "v", "e", False),
        (r"^[\w--\d]$", "v", "4", False),
        (r"^[\q{abc|d|}x]$", "v", "abc", True),
        (r"^[\q{abc|d|}x]$", "v", "", True),
        (r"^[\q{abc|d|}x]$", "v", "ab", False),
        (r"^[\q{AB|cd}&&\q{ab}]$", "iv", "aB", True),
        (r"^[\q{AB|cd}--\q{ab}]$", "iv", "ab", False),
        (r"^[^\q{a}]$", "v", "b", True),
        (r"^\p{RGI_Emoji}$", "v", "\U0001f469\u200d\U0001f680", True),
        (r"^\p{RGI_Emoji}$", "v", "\U0001f469\u200d", False),
        (r"^[\p{RGI_Emoji}--\p{RGI_Emoji_Flag_Sequence}]$", "v", "\U0001f1eb\U0001f1f7", False),
        (r"^\p{Emoji_Keycap_Sequence}$", "v", "1\ufe0f\u20e3", True),
        (r"(?<\u{61}\u0062>x)", "", "x", True),
        ("(?<été>x)(?<\U0001d49c>y)", "", "xy", True),
        (r"(?<\ud835\udc9c>x)", "", "x", True),
        ("(?<a>x)|(?<a>y)", "u", "y", True),
        ("(?i:\u212a)", "u", "k", True),
        (r"\b\u017f", "iu", "\u017f", True),
        (r"\b\u017f", "u", "\u017f", False),
        (r"a\B\u212a", "iv", "a\u212a", True),
        (r"(?<=\ud83d)\ude00", "u", "\U0001f600", False),
        (r"(?<=\ud83d)\ude00", "", "\U0001f600", True),
        (r"(?<=[\q{ab|c}])d", "v", "abd", True),
        (r"(?!\p{Lu})\p{L}", "u", "\u00c4\u00e4", True),
    ],
)
def test_meaning(source: str, flags: str, text: str, *, found: bool) -> None:
    assert found is Pattern(source, flags).test(text)
