"""Patterns mean what the reference says, and a refusal says which kind it is."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from laws.pattern_strategies import (
    UNDECIDED,
    flags,
    lookarounds,
    members,
    patterns,
    points,
    subjects,
)

from interlock import Pattern, PatternError, PatternInvalid, PatternUnsupported
from interlock import check_format as core_check_format
from oracle import PatternInvalid as OracleInvalid
from oracle import PatternUnsupported as OracleUnsupported
from oracle import check_format, check_syntax, pattern_test


def _reference(source: str, letters: str, text: str) -> object:
    try:
        return pattern_test(source, letters, text)
    except OracleInvalid:
        return "invalid"
    except OracleUnsupported:
        return "unsupported"


def _core(source: str, letters: str, text: str) -> object:
    try:
        return Pattern(source, letters).test(text)
    except PatternInvalid:
        return "invalid"
    except PatternUnsupported:
        return "unsupported"


@given(patterns(), flags(), subjects())
@example("a{2,1}", "", "a")
@example("[\\d-x]", "", "-")
@example("\\c1", "", "\\c1")
@example("[\\c1]", "", "\x11")
@example("(?i:\u017f)", "", "s")
@example("^$", "m", "a\n")
@example("(?<a>x)|(?<a>y)", "", "y")
@example("^[^x]$", "", "\U0001f600")
@example("^$", "m", "a\r\nb")
@example("(?<=\\ud83d)\\ude00", "", "\U0001f600")
def test_found_where_the_reference_finds_it(source: str, letters: str, text: str) -> None:
    assert _reference(source, letters, text) == _core(source, letters, text)


@given(lookarounds(), flags(), st.lists(subjects(), min_size=1, max_size=4))
@example("(?<=(?=abc)a)b", "", ["abc"])
@example("(?<!(?<!a)b)c", "", ["abc", "bc"])
@example("(?:(?=a))*b", "", ["b"])
@example("(?<=^\\s*)\\S(?=\\s*$)", "m", [" \n x \n"])
def test_lookaround_means_what_the_reference_says(
    source: str, letters: str, texts: list[str]
) -> None:
    expected = [_reference(source, letters, text) for text in texts]
    assert expected == [_core(source, letters, text) for text in texts]


@given(st.sampled_from(("a|b", "[ab]", "ab|", "a?b")), st.text("abAB", max_size=7))
def test_a_reference_to_few_values_is_each_of_them(group: str, text: str) -> None:
    values = {"a|b": "ab", "[ab]": "ab", "ab|": ("ab", ""), "a?b": ("ab", "b")}[group]
    cases = "|".join(f"{value}.{value}" for value in values)
    for letters in ("", "i"):
        expected = pattern_test(f"^(?:{cases})$", letters, text)
        assert expected is Pattern(f"^({group}).\\1$", letters).test(text)


@given(patterns(), flags())
def test_a_refusal_never_takes_valid_for_invalid(source: str, letters: str) -> None:
    try:
        check_syntax(source, letters)
    except OracleInvalid:
        with pytest.raises(PatternInvalid):
            Pattern(source, letters)
        return
    try:
        Pattern(source, letters)
    except PatternError as error:
        refused: object = error
    else:
        refused = None
    assert not isinstance(refused, PatternInvalid)


@given(patterns())
def test_the_format_regex_takes_exactly_the_valid_ones(source: str) -> None:
    assert check_format(source, "regex") == core_check_format(source, "regex").valid


@given(patterns(), flags(), subjects())
def test_one_pattern_answers_alike_each_time(source: str, letters: str, text: str) -> None:
    first = _core(source, letters, text)
    assume(first in (True, False))
    pattern = Pattern(source, letters)
    assert [first, first] == [pattern.test(text), pattern.test(text)]
    assert (source, letters) == (pattern.source, pattern.flags)


@given(st.sampled_from(UNDECIDED), subjects())
def test_undecided_patterns_are_never_answered(source: str, text: str) -> None:
    assert "unsupported" == _core(source, "", text)


def _is_plain(text: str) -> bool:
    """Whether each code point is one code unit, and no half."""
    return all(ord(char) < 0xD800 or 0xDFFF < ord(char) < 0x10000 for char in text)


@given(patterns(), st.sampled_from(("", "s", "y")), subjects(), st.sampled_from("uv"))
def test_code_points_are_code_units_where_nothing_is_wider(
    source: str, letters: str, text: str, unicode: str
) -> None:
    only_there = ("\\u{", "\\p{", "\\P{", "\\ud83d", "\\ude00", "\\udbff")
    if not _is_plain(source + text) or any(escape in source for escape in only_there):
        return
    actual = _core(source, letters + unicode, text)
    if actual in (True, False):
        assert _reference(source, letters, text) == actual


@given(members(), members(), points(), st.sampled_from(("u", "v", "iu", "iv")))
def test_a_code_point_is_in_a_class_or_in_its_complement(
    some: str, more: str, point: str, letters: str
) -> None:
    def holds(inside: str) -> bool:
        return Pattern(f"^[{inside}]$", letters).test(point)

    assert holds(some) != holds(f"^{some}")
    assert holds(some + more) == (holds(some) or holds(more))


@given(members(), members(), points(), st.sampled_from(("v", "iv")))
def test_operators_of_classes_are_those_of_sets(
    some: str, more: str, point: str, letters: str
) -> None:
    def holds(inside: str) -> bool:
        return Pattern(f"^[{inside}]$", letters).test(point)

    left, right = holds(some), holds(more)
    assert holds(f"[{some}]&&[{more}]") == (left and right)
    assert holds(f"[{some}]--[{more}]") == (left and not right)
    assert holds(f"[^{some}][^{more}]") == (not left or not right)
