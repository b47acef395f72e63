"""JSON as text: every spelling of a value, and texts that are almost JSON."""

from functools import cache

from hypothesis import strategies as st

_SPACE = st.text(" \t\n\r", max_size=2)
_NUMBERS = (
    *("0", "-0", "7", "-12", "0.5", "-0.0", "1.0", "1e5", "1E+2", "2.5e-3", "1e400", "-1e400"),
    *("1e-400", "9007199254740993", "18446744073709551616", "-9223372036854775809", "5e-324"),
    *("123456789012345678901234567890", "1.7976931348623157e308", "0.1000000000000000055"),
)
_PARTS = (
    *("a", "b", " ", "\u00e9", "\U0001f600", "\x7f", "\u2028", "/", "\\/", '\\"', "\\\\", "\\b"),
    *("\\n", "\\u0061", "\\u0000", "\\uD83D\\uDE00", "\\ud83d", "\\udE00", "\\ud83d\\n", "\\t"),
    *("\\ud83d\\u0061", "\\uFEFF", "\\r", "\\f"),
)
_FRAGMENTS = (
    *('"', "\\", ",", ":", "[", "]", "{", "}", "0", "1", ".", "e", "-", "+", " ", "\t", "\x0b"),
    *(
        "\x00",
        "\ufeff",
        "\u00a0",
        "null",
        "nul",
        "NaN",
        "-Infinity",
        "\\u12",
        "\\ud83d",
        "'",
        "/**/",
    ),
    *("\u0661", "\x1f", "\x7f", "True", "\\x41", "1_0"),
)


@cache
def _strings() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(_PARTS), max_size=4).map(lambda parts: f'"{"".join(parts)}"')


def _spaced(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds("{}{}{}".format, _SPACE, inner, _SPACE)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    member = st.builds("{}:{}".format, _spaced(_strings()), inner)
    return _spaced(
        st.one_of(
            st.lists(inner, max_size=4).map(lambda items: f"[{','.join(items)}]"),
            st.lists(member, max_size=4).map(lambda members: f"{{{','.join(members)}}}"),
        )
    )


@cache
def json_texts() -> st.SearchStrategy[str]:
    """JSON texts with escapes, lone halves, repeated keys, white space, numbers of all forms."""
    scalar = st.one_of(
        st.sampled_from(("null", "true", "false")), st.sampled_from(_NUMBERS), _strings()
    )
    return st.recursive(_spaced(scalar), _larger, max_leaves=8)


@st.composite
def damaged_texts(draw: st.DrawFn) -> str:
    """JSON texts with up to two places cut out or filled with something else."""
    text = draw(json_texts())
    for _ in range(draw(st.integers(0, 2))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(start + 2, len(text))))
        text = text[:start] + draw(st.sampled_from(("", *_FRAGMENTS))) + text[end:]
    return text
