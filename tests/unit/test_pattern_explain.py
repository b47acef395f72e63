"""What `Pattern.explain` says."""

from __future__ import annotations

import contextlib
import dataclasses
import json

import pytest

from interlock import (
    Checks,
    ErrorClassify,
    Pattern,
    PatternExplanation,
    PatternTooLarge,
)


def notes(source: str, flags: str = "", *, hints: bool = False) -> list[tuple[int, str, str]]:
    found = Pattern(source, flags).explain().notes
    return [(note.start, note.part, note.text) for note in found if note.is_hint is hints]


class TestNotes:
    @pytest.mark.parametrize(
        ("source", "flags", "part", "text"),
        [
            (".", "", ".", "any character but LF, CR, U+2028 and U+2029"),
            (".", "s", ".", "any character"),
            ("(?s:.)", "", ".", "any character"),
            ("(?-s:.)", "s", ".", "any character but LF, CR, U+2028 and U+2029"),
            (r"\d", "", r"\d", "digits are [0-9]"),
            (r"[\D]", "u", r"\D", "digits are [0-9]"),
            (r"\w", "", r"\w", "word characters are [A-Za-z0-9_]"),
            (r"\w", "iv", r"\w", "word characters are [A-Za-z0-9_], U+017F and U+212A"),
            (r"(?i:\w)", "u", r"\w", "word characters are [A-Za-z0-9_], U+017F and U+212A"),
            (r"(?-i:\w)", "iu", r"\w", "word characters are [A-Za-z0-9_]"),
            (r"(?i:\w)", "", r"\w", "word characters are [A-Za-z0-9_]"),
            (
                r"(?i:\b)",
                "u",
                r"\b",
                "the border of a word; word characters are [A-Za-z0-9_], U+017F and U+212A",
            ),
            (r"[\s]", "v", r"\s", "white space: 25 characters, U+00A0 and U+FEFF among them"),
            (r"\p{L}", "u", r"\p{L}", "a set of Unicode 17.0"),
            (r"[^\P{L}]", "v", r"\P{L}", "a set of Unicode 17.0"),
            (
                r"[\q{ab}]",
                "v",
                r"\q{ab}",
                "strings: branches beside the characters of the class",
            ),
            ("a$", "", "$", "the very end of the text, not before a last line break"),
            (
                "^a",
                "m",
                "^",
                "the start of the text, or a place after LF, CR, U+2028 or U+2029",
            ),
            ("(?m:$)", "", "$", "the end of the text, or a place before LF, CR, U+2028 or U+2029"),
            (
                r"a\B",
                "",
                r"\B",
                "the border of a word; word characters are [A-Za-z0-9_]",
            ),
            ("(?!a)", "", "(?!", "asks what follows, and takes no text"),
            ("(?<=a)", "", "(?<=", "asks what stands before, of any length, and takes no text"),
            (r"\1(a)", "", r"\1", "its group is never set here: always empty"),
            (r"(a|b)\1", "", r"\1", "a group of few values: written out once for each value"),
            (
                r"(?<n>a|b)\k<n>",
                "u",
                r"\k<n>",
                "a group of few values: written out once for each value",
            ),
            (r"\101", "", r"\101", "an octal escape: no group has that number"),
            (r"\8", "", r"\8", "the digit 8: no group has that number"),
            (r"[\9]", "", r"\9", "the digit 9: no group has that number"),
            ("a+?", "", "+?", "lazy: does not change whether there is a match"),
            ("[]", "", "[]", "an empty class: matches nothing"),
            ("[^]", "v", "[^]", "any character"),
        ],
    )
    def test_how_a_part_is_read(self, source: str, flags: str, part: str, text: str) -> None:
        assert [(source.index(part), part, text)] == notes(source, flags)

    @pytest.mark.parametrize(
        ("source", "part", "word"),
        [
            ("/abc/i", "/abc/i", "slashes"),
            (r"a\p{L}", r"\p", "add the flag u"),
            (r"\x{41}", r"\x", r"write `\xHH`"),
            (r"\u{41}", r"\u", "add the flag u"),
            (r"\Afoo", r"\A", "write `^`"),
            (r"foo\Z", r"\Z", "write `$`"),
            (r"foo\z", r"\z", "write `$`"),
            (r"\e", r"\e", "no escape of ECMAScript"),
            (r"[\h]", r"\h", "no escape of ECMAScript"),
            (r"\<a", r"\<", r"write `\b`"),
            (r"\b{start}a", r"\b", "and then that text"),
            ("[[:alpha:]]", "[[:alpha:]", "no POSIX class"),
            ("[[=a=]]", "[[=a=]", "no POSIX class"),
            ("[a&&b]", "[a&&b]", "without the flag v"),
            ("a{,5}", "{,5}", "no repeat"),
            ("a{2, 3}", "{2, 3}", "no repeat"),
            ("[A-z]", "[A-z]", "between Z and a"),
            ("x\U0001f600{2}", "\U0001f600{2}", "two units"),
            ("x[\U0001f600]", "[\U0001f600]", "two units"),
        ],
    )
    def test_what_was_probably_meant(self, source: str, part: str, word: str) -> None:
        (hint,) = notes(source, hints=True)
        assert (source.index(part), part) == hint[:2]
        assert word in hint[2]

    @pytest.mark.parametrize(
        ("source", "flags"),
        [
            ("a{2}", ""),
            ("/api/v1/users", ""),
            ('{"a":1}', ""),
            (r"\x41\u0041\t\cA\0", ""),
            (r"\.\-\/\_", ""),
            ("\U0001f600", ""),
            ("\U0001f600{2}[\U0001f600]", "u"),
            (r"\x41\u{41}", "u"),
        ],
    )
    def test_no_hint_where_all_is_well(self, source: str, flags: str) -> None:
        assert [] == notes(source, flags, hints=True)

    def test_places_count_characters(self) -> None:
        assert [(1, r"\d", "digits are [0-9]")] == notes("\U0001f600\\d")


class TestExplanation:
    def test_the_engine(self) -> None:
        plain, guarded = Pattern("ab").explain(), Pattern("a(?=b)(?!c)(?=.*d)").explain()
        assert ("plain", None, 0) == (plain.engine, plain.states, plain.lookarounds)
        assert ("guarded", 3) == (guarded.engine, guarded.lookarounds)
        assert guarded.states is not None
        assert 0 < guarded.states < guarded.memory

    @pytest.mark.parametrize("source", ["a" * 500, "(?:[^a]b){300}", "(?<=a.*)b" + "c" * 99])
    def test_memory_is_what_the_limit_counts(self, source: str) -> None:
        for limit in (int(1_000 * 1.1**step) for step in range(70)):
            with contextlib.suppress(PatternTooLarge):
                assert Pattern(source, limits={"patternBytes": limit}).explain().memory <= limit

    def test_is_frozen_and_equal_when_its_parts_are(self) -> None:
        explanation = Pattern("a.", "s").explain()
        assert Pattern("a.", "s").explain() == explanation
        assert isinstance(explanation, PatternExplanation)
        with pytest.raises(dataclasses.FrozenInstanceError):
            explanation.engine = "guarded"  # type: ignore[misc]

    def test_wire_form(self) -> None:
        explanation = Pattern(r"\Z", "").explain()
        wire = explanation.to_dict()
        assert json.loads(explanation.to_json()) == wire
        assert {
            "source": r"\Z",
            "flags": "",
            "engine": "plain",
            "states": None,
            "memory": explanation.memory,
            "lookarounds": 0,
            "notes": [
                {
                    "start": 0,
                    "end": 2,
                    "part": r"\Z",
                    "isHint": True,
                    "text": "the letter Z; write `$`",
                }
            ],
        } == wire
        assert explanation.hints == explanation.notes

    def test_lone_halves(self) -> None:
        (note,) = Pattern("[\ud83d][]").explain().notes
        assert (3, "[]") == (note.start, note.part)


class TestLint:
    """A spec that is compiled warns of the first hints of its patterns."""

    def test_of_a_check(self) -> None:
        check = {"path": "a", "op": "notMatches", "expected": r"\Afoo\Z"}
        assert [
            ("checks[0].expected", '"\\\\Afoo\\\\Z"', "the letter A; write `^` (at character 0)"),
            ("checks[0].expected", '"\\\\Afoo\\\\Z"', "the letter Z; write `$` (at character 5)"),
        ] == [
            (found.field, found.value, found.message)
            for found in Checks([check], strict=True).lint()
            if found.code == "lint/pattern" and found.is_warning
        ]

    def test_of_a_rule_for_errors(self) -> None:
        rule = {"id": "a", "matches": "x{,3}", "class": "timeout", "action": "retry"}
        (found,) = ErrorClassify([rule], strict=True).lint()
        assert ("lint/pattern", "rules[0].matches") == (found.code, found.field)
        assert found.message.startswith('rule "a": no repeat')

    def test_only_the_first_four(self) -> None:
        checks = [{"op": "matches", "expected": r"\A" * 9}]
        assert 4 == len(Checks(checks).lint())
        assert 4 == len(Checks.lint_spec({"checks": checks}))

    def test_none_for_what_is_as_it_was_meant(self) -> None:
        assert () == Checks([{"op": "matches", "expected": r"^\d+$"}]).lint()
