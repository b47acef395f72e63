"""ECMAScript patterns from a small grammar, noise that is mostly none, and texts to search."""

from functools import cache

from hypothesis import strategies as st

_LITERALS = (
    *("a", "b", "A", "B", "0", "1", "_", " ", "-", ",", ":", "k", "K", "s", "\u017f", "\u212a"),
    *("\u00e9", "\u00c9", "\u00df", "\u0130", "\U0001f600", "\ud83d", "\ude00"),
    *("}", "]", "{", "{,2}"),
)
_ESCAPES = (
    *(
        "\\d",
        "\\D",
        "\\s",
        "\\S",
        "\\w",
        "\\W",
        "\\n",
        "\\t",
        "\\0",
        "\\101",
        "\\8",
        "\\x41",
        "\\x4",
    ),
    *(
        "\\u0061",
        "\\u006",
        "\\u{61}",
        "\\ud83d",
        "\\ude00",
        "\\cJ",
        "\\c",
        "\\c1",
        "\\-",
        "\\/",
        "\\.",
    ),
    *("\\k", "\\p{L}", "\\\u00e9", "\\_"),
)
_EDGES = ("^", "$", "\\b", "\\B", "")
_COUNTS = ("*", "+", "?", "{2}", "{1,}", "{0,2}", "{0}", "{2,1}", "{00001}")
_MEMBERS = (
    *("a", "b", "a-c", "A-Z", "0-9", "\\d", "\\W", "\\s", "\\b", "\\-", "-", "^", "z-a", "\\d-x"),
    *(
        "\\u0061-\\u0063",
        "\\ud800-\\udbff",
        "\U0001f600",
        "\u017f",
        "\\]",
        "[",
        ".",
        "\\c1",
        "\\x62",
    ),
)
_GROUPS = ("(", "(?:", "(?i:", "(?-i:", "(?s-i:", "(?m:", "(?<n>", "(?<m>", "(?i-i:", "(?")
_LOOKS = ("(?=", "(?!", "(?<=", "(?<!")
_NOISE = "()[]{}*+?\\|^$ab-,:<>1k"
_SUBJECT = "aabbAB01_ -,:\nkKs\u017f\u212a\u00e9\u00c9\u00df\U0001f600\ud83d\ude00{}]"

_POINTS = (
    *("a", "K", "s", "5", "_", "\\u{1F600}", "\\ud83d", "\u00e9", "\u00df", "\U00010400", "\u212a"),
    *("\\d", "\\W", "\\s", "\\p{L}", "\\P{Lu}", "\\p{Script=Greek}", "\\P{ASCII}", "\\p{Cs}"),
    *("a-z", "\\u{1F600}-\\u{1F64F}", "\u03b1-\u03c9"),
)
"""Members of classes that mean the same under `u` and `v`, without `i`."""

UNDECIDED = ("(a+)\\1", "(?<n>.)\\k<n>", "(?:(b*)c\\1)*", "(?=(\\w))\\1", "((a|b)\\2)\\1")
"""Valid patterns that neither side answers."""


@cache
def _classes() -> st.SearchStrategy[str]:
    inside = st.lists(st.sampled_from(_MEMBERS), max_size=3).map("".join)
    return st.builds("[{}{}]".format, st.sampled_from(("", "^")), inside)


@cache
def _atoms() -> st.SearchStrategy[str]:
    return st.one_of(
        st.sampled_from(_LITERALS), st.sampled_from(_ESCAPES), st.just("."), _classes()
    )


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = st.builds("{}{})".format, st.sampled_from(_GROUPS + _LOOKS), inner)
    counted = st.builds(
        "{}{}{}".format,
        st.one_of(_atoms(), group),
        st.sampled_from(_COUNTS),
        st.sampled_from(("", "?")),
    )
    edged = st.builds("{}{}{}".format, st.sampled_from(_EDGES), inner, st.sampled_from(_EDGES))
    return st.one_of(
        group,
        counted,
        edged,
        st.builds("{}{}{}){}".format, inner, st.sampled_from(_LOOKS), inner, inner),
        st.builds("{}{}".format, inner, inner),
        st.builds("{}|{}".format, inner, inner),
    )


@cache
def patterns() -> st.SearchStrategy[str]:
    """Mostly valid patterns; a few that are not, and a few that are not decided."""
    valid = st.recursive(_atoms(), _larger, max_leaves=6)
    return st.one_of(
        valid,
        valid,
        valid,
        st.text(_NOISE, max_size=8),
        st.sampled_from(UNDECIDED),
        st.sampled_from(("", "a|", "|", "()", "[]", "[^]", "(", ")", "a**", "(?<n>a)(?<n>b)")),
    )


@cache
def flags() -> st.SearchStrategy[str]:
    """Flags that both sides read."""
    return st.sampled_from(("", "", "i", "i", "s", "is", "g", "y", "iy", "d", "m", "im", "my"))


@cache
def subjects() -> st.SearchStrategy[str]:
    """Texts of the characters that the patterns are about."""
    rare = st.text(_SUBJECT + "\r\u2028\u0130\x0b\ufeff\x08", max_size=6)
    common = st.text("aabB0 \n", max_size=6)
    return st.one_of(common, st.text("ab\n", max_size=12), st.text(_SUBJECT, max_size=6), rare)


@cache
def lookarounds() -> st.SearchStrategy[str]:
    """Valid patterns of few letters that are mostly lookaround, nested and in loops."""
    leaf = st.sampled_from(("a", "b", ".", "\\w", "[^a]", "^", "$", "\\b", "\\B", "a*", "b?", ""))

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        row = st.lists(inner, min_size=1, max_size=3).map("".join)
        either = st.builds("{}|{}".format, row, row)
        look = st.builds("{}{})".format, st.sampled_from(_LOOKS), st.one_of(row, either))
        count = st.sampled_from(("", "*", "+", "?", "{2}", "{1,2}"))
        return st.one_of(look, look, row, st.builds("(?:{}){}".format, either, count))

    return st.recursive(leaf, larger, max_leaves=8)


@cache
def members() -> st.SearchStrategy[str]:
    """What can stand in a class under `u` and `v`."""
    return st.lists(st.sampled_from(_POINTS), max_size=4).map("".join)


@cache
def points() -> st.SearchStrategy[str]:
    """One code point, lone halves among them."""
    return st.one_of(
        st.sampled_from("aAzkK\u212as\u017f5_\n\u00e9\u00df\u1e9e\u03c3\u03c2\U00010400\U00010428"),
        st.characters(codec=None, exclude_categories=()),
    )
