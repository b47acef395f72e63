"""What becomes of sources that once took seconds, or gigabytes, to compile.

Found by `benches/worst_pattern.py`. The outcome decides, not the time: what is refused is refused
for its size or its backreference, and the rest runs on the engine it should.
"""

from __future__ import annotations

import pytest

from interlock import Checks, Pattern, PatternError

LONG_ROW = r"[\ud800-\udfff]\p{scx=Zyyy}" * 330
DEEP = 98


def outcome(source: str, flags: str) -> str:
    try:
        return Pattern(source, flags).explain().engine
    except PatternError as error:
        return error.problems[0].message.rpartition("[")[2].rstrip("]")


def many(form: str) -> str:
    parts: list[str] = []
    length = 0
    while length <= 9_950:
        parts.append(form.replace("#", str(len(parts))).replace("@", chr(0x4E00 + len(parts))))
        length += len(parts[-1])
    return "".join(parts[:-1])


@pytest.mark.parametrize(
    ("source", "flags", "expected"),
    [
        (many(r"(?<n#>a|b)\k<n#>"), "", "unsupported.backreference"),
        (
            "(x*)" * 1_500 + "".join(rf"\{number}" for number in range(1, 800)),
            "",
            "unsupported.backreference",
        ),
        (r"(a|b)(a|b)(a|b)(a|b)(a|b)" + r"\1\2\3\4\5" * 600, "", "unsupported.backreference"),
        ("(a)" + r"\1" * 4_900, "", "plain"),
        (r"\W" * 5_000, "iu", "unsupported.too_large"),
        (r"\P{L}" * 2_000, "iv", "unsupported.too_large"),
        (many(r"[\p{L}@]"), "iu", "unsupported.too_large"),
        ("[" + "--".join([r"\p{L}"] * 1_400) + "]", "iv", "unsupported.too_large"),
        ("[[[[[[\\p{L}]]]]]]" * 555, "iv", "unsupported.too_large"),
        ("[" * 99 + r"\p{RGI_Emoji}" * 3 + "]" * 99, "iv", "plain"),
        (r"[\p{RGI_Emoji}" + r"--\q{ab}" * 1_200 + "]", "iv", "plain"),
        ("." * 10_000, "s", "guarded"),
        ("[\u0100-\u1fff]" * 2_000, "i", "guarded"),
        (r"(?=\p{L}a)" * 900, "iu", "unsupported.too_large"),
        ("(?:a{1000}){1000}", "", "unsupported.too_large"),
        # A value of 16 million characters.
        (r"(((a{256}){256}){256})\1", "", "unsupported.backreference"),
        # A value of 256 characters, written 4,000 times.
        ("(a{256})" + r"\1" * 4_000, "", "unsupported.backreference"),
        ("((a{256}){16}|b)" + r"\1" * 100, "i", "unsupported.backreference"),
        # The longest value, written as often as there is room for.
        ("(a{256}|b)" + r"\1" * 90, "", "guarded"),
        # A searcher for each part of a row.
        (r"\d" * 5_000, "", "plain"),
        (r"(?:\d\d|x)" * 1_000, "i", "plain"),
        # Rows in rows, copied once for each level.
        ("(?:" * DEEP + LONG_ROW + ")+" * DEEP, "", "plain"),
        ("(?:" * DEEP + "\U0001f600" * 9_000 + "a)" * DEEP, "", "guarded"),
        ("(?:" * DEEP + "." * 9_000 + "|)" * DEEP, "s", "guarded"),
        ("[\U0001f600]" * 3_333, "i", "guarded"),
    ],
)
def test_outcome(source: str, flags: str, expected: str) -> None:
    assert len(source) <= 10_000
    assert expected == outcome(source, flags)


@pytest.mark.parametrize(
    ("source", "text", "found"),
    [
        (r"^((?:a|b)c)\1$", "bcbc", True),
        (r"^((?:a|b)c)\1$", "bcac", False),
        (r"^((?m-s:a|b))\1$", "bb", True),
        # Who writes the largest 32-bit number means no bound.
        ("^x{0,2147483647}$", "xxx", True),
        ("^x{2147483647,}$", "xxx", False),
        ("^x{0,2147483646}$", "xxx", None),
    ],
)
def test_what_runs_since(source: str, text: str, *, found: bool | None) -> None:
    if found is None:
        assert "unsupported.too_large" == outcome(source, "")
    else:
        assert found is Pattern(source).test(text)


@pytest.mark.parametrize(
    "form", [r"(a|b)x\@", r"(?:(a|b)x\@)", r"([ab])(?:x|\@y)\@", r"(?=(a|b)x\@)..."]
)
@pytest.mark.parametrize("count", [1, 2, 5, 30])
def test_references_in_a_row_are_lowered_one_after_the_other(form: str, count: int) -> None:
    parts = [form.replace("@", str(number)) for number in range(1, count + 1)]
    pattern = Pattern(f"^{''.join(parts)}$")
    assert pattern.test("axa" * count)
    assert pattern.test("axa" * (count - 1) + "bxb")
    assert not pattern.test("axa" * (count - 1) + "axb")
    assert not pattern.test("bxa" + "axa" * (count - 1))
    assert pattern.explain().memory < 10_000 * (count + 1)


@pytest.mark.parametrize("parts", [63, 64, 65, 200])
@pytest.mark.parametrize("part", [r"\d", "[ab]", "(?:ab|cd)", "."])
def test_long_rows_are_found_like_short_ones(part: str, parts: int) -> None:
    text = {r"\d": "7", "[ab]": "b", "(?:ab|cd)": "cd", ".": "x"}[part] * parts
    pattern = Pattern(part * parts + "!")
    assert pattern.test(f"\n\n{text}!..")
    assert not pattern.test(f"\n\n{text[1:]}!")
    assert not pattern.test(f"\n\n{text}..")


NOISE = f"{3**60_000:b}".replace("0", "a").replace("1", "b")
"""95,098 letters without order."""


class TestWork:
    """What a text costs is counted while it is matched, whatever pattern and text are."""

    @pytest.mark.parametrize(
        "source",
        [
            "(?:[ab]?){9000}c|[ab]*a[ab]{500}d",
            "(?:[ab]?){2000}c|[ab]*a[ab]{700}d",
            "(?:[ab]*(?=(?:[ab]?){2000}c)[ab]){900}d|(?:[ab]?){3000}c",
        ],
    )
    def test_more_steps_than_the_limit_are_undetermined(self, source: str) -> None:
        with pytest.raises(PatternError, match="takes more than 67108864 steps"):
            Pattern(source).test(NOISE)
        check = {"path": "", "op": "matches", "expected": source}
        assert "undetermined" == Checks([check]).verdict(NOISE)

    @pytest.mark.parametrize(
        ("source", "found"),
        [(r"[ab]{3}c", False), (r"(?=.*b)^.{8,}x", False), (r"a(?=b)", True), (r"\p{Lu}|ba", True)],
    )
    def test_long_texts_are_answered(self, source: str, found: bool) -> None:
        flags = "u" if "p{" in source else ""
        assert found == Pattern(source, flags).test(NOISE * 60)

    def test_the_limit_can_be_raised(self) -> None:
        source = "(?=[ab]*a[ab]{40}d)x|(?:[ab]?){300}c"
        assert False is Pattern(source).test(NOISE[:2_000])
        with pytest.raises(PatternError, match="takes more than 1000 steps"):
            Pattern(source, limits={"patternWork": 1_000}).test(NOISE[:2_000])
