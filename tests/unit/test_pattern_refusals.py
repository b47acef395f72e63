"""A refusal names the construct, where it stands and what to write instead."""

from __future__ import annotations

import pytest

from interlock import Pattern, PatternInvalid, PatternTooLarge


@pytest.mark.parametrize(
    ("source", "flags", "at", "says"),
    [
        ("[ac-bd]", "", 2, "the range `c-b` is"),
        (r"[a\x62-a]", "u", 2, r"the range `\x62-a` is"),
        ("[a[b-c]z-y]", "v", 7, "the range `z-y` is"),
        ("[z-ab]", "v", 1, "the range `z-a` is"),
        ("x[\U0001f600-\U0001f60e]", "", 2, "the range `\U0001f600-\U0001f60e` is"),
        ("x[a\U0001f600-\U0001f60e]", "", 3, "without the flag u"),
        ("x(?R)", "", 1, "recursion"),
        ("x(?-1)", "", 1, "recursion"),
        ("x(?&n)", "", 1, "recursion"),
        ("x(?P>n)", "", 1, "recursion"),
        ("x(?P=n)", "", 1, r"write `\k<name>`"),
        ("x(?|a)", "", 1, "branch reset"),
        ("x(?'n'a)", "", 1, "write `(?<name>`"),
        ("x(?(1)a|b)", "", 1, "conditional"),
        ("x(?>a)", "", 1, "atomic"),
        ("x(?#a)", "", 1, "comments"),
        ("x(?-i)a", "", 1, "flags go in the flags"),
        ("x(?^a)", "", 1, "not a group"),
        (r"a\x{41}", "u", 1, r"write `\u{...}`"),
        (r"a\x4", "u", 1, "two hexadecimal digits"),
    ],
)
def test_a_refusal_names_the_construct(source: str, flags: str, at: int, says: str) -> None:
    with pytest.raises(PatternInvalid) as refused:
        Pattern(source, flags)
    message = refused.value.problems[0].message
    assert says in message
    assert f"(at character {at})" in message


def test_the_largest_repeat_is_named() -> None:
    with pytest.raises(PatternTooLarge, match=r"`\{1,30000\}` is the largest \(at character 5\)"):
        Pattern("a{9}.{1,30000}b{7}")
