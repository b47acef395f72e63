"""`interlock pattern`: a pattern explained and tried."""

import pytest

from interlock import Pattern

from .command import interlock


def test_a_line_for_each_note() -> None:
    ran = interlock("pattern", r"(?<!a)\d+\Z")
    head, *notes = ran.lines
    assert 0 == ran.code
    assert head.startswith("guarded engine, ")
    assert head.endswith(" states, 1 lookaround")
    assert [
        "    0  (?<!  asks what stands before, of any length, and takes no text",
        r"    6  \d  digits are [0-9]",
        r"    9  \Z  hint: the letter Z; write `$`",
    ] == notes


@pytest.mark.parametrize(("text", "code", "last"), [("Abc", 0, "found"), ("b", 1, "not found")])
def test_a_text(text: str, code: int, last: str) -> None:
    ran = interlock("pattern", "a", "i", text)
    assert (code, last) == (ran.code, ran.lines[-1])


def test_json() -> None:
    wire = Pattern("a.", "s").explain().to_dict()
    assert [wire] == interlock("pattern", "a.", "s", "--json").rows
    assert [{**wire, "found": True}] == interlock("pattern", "a.", "s", "ab", "--json").rows
    assert 1 == interlock("pattern", "a.", "s", "b", "--json").code


def test_what_cannot_be_shown_is_quoted() -> None:
    assert r'"\\\n"' not in interlock("pattern", r"\n.").lines[1]
    assert '"[\\n😀]"' in interlock("pattern", "[\n😀]").lines[1]


def test_a_source_with_a_hyphen() -> None:
    assert "found" == interlock("pattern", "--", "-+", "", "a-b").lines[-1]


@pytest.mark.parametrize(
    ("source", "flags", "words"),
    [
        ("(?i)a", "", "or write `(?i:...)` (at character 0)"),
        (r"x(\w)\1", "", "compare the two parts with a separate check (at character 5)"),
        (".{1,20000}", "", "`{1,20000}` is the largest (at character 1)"),
        ("a)", "", r"write `\)` to mean the sign (at character 1)"),
        ("a{2,1}", "", "write the smaller one first (at character 1)"),
        ("(?<=a)*", "", "once says as much (at character 0)"),
        ("(?<a>x)(?<a>y)", "", "rename one (at character 7)"),
        ("(?ii:a)", "", "write each once (at character 0)"),
        (r"(?<a>x)\k<b>", "", "name the one that is meant `(?<b>` (at character 7)"),
        (r"\1", "u", "two digits to mean a character (at character 0)"),
        ("(" * 101 + ")" * 101, "", "take some out (at character 100)"),
        ("a", "x", "the flags are d g i m s u v y"),
    ],
)
def test_a_refusal_says_where_and_what_to_write(source: str, flags: str, words: str) -> None:
    ran = interlock("pattern", source, flags)
    assert (1, []) == (ran.code, ran.lines)
    assert words in ran.err
