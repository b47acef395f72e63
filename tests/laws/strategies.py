"""Values, paths and checks that hit often and miss sometimes."""

import math
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

from hypothesis import strategies as st
from laws.pattern_strategies import patterns, subjects

from oracle import PathError, is_finite_number, joined, kind, resolve

Check = dict[str, object]

_EDGES = (0, 1, 5, 2**53, 2**63, 2**64, 10**21, 2**70, 10**23)
_TIE = 1424953923781206.25  # .2 and .3 are as short and as near; the even digit is its text
_FLOATS = (0.1, 0.7, 1.0, 2.5, -0.0, 1e21, 1e22, 1e-7, 5e-324, math.nextafter(math.inf, 0), _TIE)
_DECIMALS = ("0.1", "1.00", "1E+21", "1E+400", "0.10000000000000000000001", "-0", "1E-400", "2.5")
_NOT_FINITE = (math.nan, math.inf, -math.inf, Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"))
_ALPHABET = 'ab10._-@:/#"\\ \n\t\x00\u2028\u00e9\u1e9e\ufb33\ufeff\U0001f600\ud83d\ude00'
_FORMATTED = (
    *("a.b@c.co", "a..b@c.co", "a@b", "http://a/b", "a:", "x y:z", "#a#", "a#b", "-a.b", "a.b-c"),
    *("127.0.0.1", "01.2.3.4", "::1", "1:2:3:4:5:6:7::", "::ffff:1.2.3.4", "1::2::3", "fe80::1%0"),
    *("123e4567-e89b-12d3-a456-426614174000", "2024-02-29", "2023-02-29", "0000-01-01"),
    *("23:59:60Z", "22:59:60Z", "12:00:00", "12:00:00.5+01:00", "24:00:00Z"),
    *("2024-02-29t12:00:00z", "2024-02-29 12:00:00Z", "/a~0b", "/~2", "a/b", "[a", "a{2,1}"),
    *("(?<a>b+)\\k<a>", "(a+)\\1", "a\u3000b", "x:\ufeff", "x:\u0085"),
)
_FORMATS = (
    *("email", "uri", "uri-reference", "hostname", "ipv4", "ipv6", "uuid", "date", "time"),
    *("date-time", "json-pointer", "regex"),
)
_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
_KEYS = (
    *("a", "b", "c", "0", "1", "007", "", "$", "odd.key", "it's", 'say "x"', "x]y", "[0]", "\\"),
    *("\U0001f600", "\ud83d", "\ufb33", "__class__", "a b", "-1", "keys"),
)
_MALFORMED = ("a]b", "a[", "[x]", '["a', "['a'", "[]", "[-1]", "a[ 0]", "a]", '["a"x]', "[\u0661]")

NEGATIONS = {
    "exists": "notExists",
    "equals": "notEquals",
    "contains": "notContains",
    "matches": "notMatches",
    "isEmpty": "isNotEmpty",
    "oneOf": "notOneOf",
    "greaterThan": "lessThanOrEqual",
    "lessThan": "greaterThanOrEqual",
}
"""Ops whose second says no wherever the first says yes, for a value and operand they take."""

_TEXT_OPS = ("startsWith", "endsWith")
_LENGTH_OPS = ("hasLength", "minLength", "maxLength")
OPS = (*NEGATIONS, *NEGATIONS.values(), *_TEXT_OPS, *_LENGTH_OPS, "isType", "hasFormat")


@cache
def ints() -> st.SearchStrategy[int]:
    """Small ones, and neighbours beyond what a double or 64 bits can hold."""
    near = st.builds(
        lambda edge, step, sign: sign * (edge + step),
        st.sampled_from(_EDGES),
        st.integers(-2, 2),
        st.sampled_from((1, -1)),
    )
    return st.one_of(st.integers(-3, 12), near)


@cache
def floats() -> st.SearchStrategy[float]:
    """Finite ones."""
    return st.one_of(
        st.sampled_from(_FLOATS),
        ints().map(float),
        st.floats(allow_nan=False, allow_infinity=False),
    )


@cache
def decimals() -> st.SearchStrategy[Decimal]:
    """Finite ones, many of which are some double or whole number in another form."""
    return st.one_of(
        st.sampled_from(_DECIMALS).map(Decimal),
        floats().map(lambda number: Decimal(repr(number))),
        ints().map(Decimal),
    )


@cache
def numbers() -> st.SearchStrategy[int | float | Decimal]:
    """Finite numbers in all forms."""
    return st.one_of(ints(), floats(), decimals())


@cache
def texts() -> st.SearchStrategy[str]:
    """Short texts, texts of the named formats, and texts that patterns are about."""
    return st.one_of(
        st.text(_ALPHABET, max_size=4),
        st.sampled_from(_FORMATTED),
        subjects(),
        st.text(max_size=100),
    )


@cache
def keys() -> st.SearchStrategy[str]:
    """Keys: mostly a few that come again and again."""
    seldom = st.text(_ALPHABET, max_size=3).map(joined)
    return st.one_of(st.sampled_from(("a", "b", "0")), st.sampled_from(_KEYS), seldom)


def _nested(leaves: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(keys(), inner, max_size=4)
        ),
        max_leaves=8,
    )


@cache
def json_values() -> st.SearchStrategy[object]:
    """Values that JSON text can hold, and gives back as they were."""
    plain = st.sampled_from((None, True, False))
    return _nested(st.one_of(plain, ints(), floats(), texts()))


@cache
def values() -> st.SearchStrategy[object]:
    """Any values: also decimals, numbers that are not finite, tuples, what is no value."""
    plain = st.sampled_from((None, True, False, *_NOT_FINITE, (), (1, "a"), b"a", {1, 2}))
    return _nested(st.one_of(plain, numbers(), texts()))


@cache
def operands() -> st.SearchStrategy[object]:
    """Values that a spec can hold."""
    plain = st.sampled_from((None, True, False, *_NOT_FINITE, (), (1, "a")))
    return _nested(st.one_of(plain, numbers(), texts()))


def quoted(key: str, quote: str = '"') -> str:
    """A path segment that takes a key as it is."""
    return "[" + quote + key.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote + "]"


@st.composite
def _segment(draw: st.DrawFn, key: str) -> str:
    forms = [quoted(key), quoted(key, "'")]
    if key and not set(key) & set(".[]") and key != "$":
        forms += [f".{key}", f"{key}.", f"..{key}"] * 2
    if key.isascii() and key.isdigit():
        forms += [f"[{key}]", f"[0{key}]"]
    return draw(st.sampled_from(forms))


@st.composite
def paths(draw: st.DrawFn, value: object) -> str:
    """A path: mostly one that leads to a place in the value, else past it, or malformed."""
    path = ""
    while draw(st.integers(0, 3)) and isinstance(value, dict | list | tuple) and value:
        if isinstance(value, dict):
            key = draw(st.sampled_from(list(value)))
            path, value = path + draw(_segment(key)), value[key]
        else:
            index = draw(st.integers(0, len(value) - 1))
            path, value = f"{path}{draw(_segment(str(index)))}", value[index]
    ending = draw(st.integers(0, 9))
    if ending == 0:
        return path + draw(_segment(draw(keys())))
    if ending == 1:
        return path + "." + draw(st.one_of(st.sampled_from(_MALFORMED), texts()))
    return path or draw(st.sampled_from(("", "$", ".")))


def _near(value: object) -> st.SearchStrategy[object]:
    """The value in one of its forms, or a part of it."""
    forms: list[object] = [value]
    if kind(value) == "number" and not isinstance(value, Decimal) and abs(value) < math.inf:  # type: ignore[arg-type]  # kind() says that it is a number
        forms += [value + 1, value - 1, Decimal(str(value))]  # type: ignore[operator]  # as above
    if isinstance(value, str):
        forms += [value[:2], value[-2:], value[1:-1], joined(value)]
    if isinstance(value, list | tuple | dict):
        forms += [*list(value)[:3], list(value)]
    if isinstance(value, dict):
        forms.append(dict(reversed(value.items())))
    return st.sampled_from([form for form in forms if kind(form) != "opaque"] or [None])


_FITTING: dict[str, Callable[[object], st.SearchStrategy[object]]] = {
    **dict.fromkeys(("matches", "notMatches"), lambda _: patterns()),
    **dict.fromkeys(("oneOf", "notOneOf"), lambda actual: st.lists(_near(actual), max_size=3)),
    **dict.fromkeys(_LENGTH_OPS, lambda _: st.sampled_from((0, 1, 2.0, 2.5, Decimal(3), -1))),
    "isType": lambda _: st.one_of(
        st.sampled_from((*_TYPES, "nope")),
        st.lists(st.sampled_from((*_TYPES, "nope", 3, None)), max_size=3),
    ),
    "hasFormat": lambda _: st.sampled_from((*_FORMATS, "Email", "")),
}


def _fits_a_spec(value: object) -> bool:
    """Whether a spec can hold the value: no part of it is opaque."""
    if isinstance(value, dict):
        return all(map(_fits_a_spec, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_fits_a_spec, value))
    return kind(value) != "opaque"


@st.composite
def checks(draw: st.DrawFn, value: object) -> Check:
    """One check for a value: any op, and an operand that mostly suits value and op."""
    op, path = draw(st.sampled_from(OPS)), draw(paths(value))
    check: Check = {"op": op}
    if path or draw(st.booleans()):
        check["path"] = path
    try:
        actual = resolve(value, path)[1]
    except PathError:
        actual = None
    fitting = _FITTING.get(op, _near)(actual if _fits_a_spec(actual) else None)
    if draw(st.integers(0, 19)):
        check["expected"] = draw(fitting if draw(st.integers(0, 4)) else operands())
    if op in ("matches", "notMatches") and draw(st.booleans()):
        check["flags"] = draw(st.sampled_from(("", "i", "s", "is", "g", "y", "ii", "q", "m")))
    if not draw(st.integers(0, 9)):
        check["message"] = draw(texts())
    return check


def check_lists(value: object) -> st.SearchStrategy[list[Check]]:
    """One to four checks for a value."""
    return st.lists(checks(value), min_size=1, max_size=4)


def tidy(value: Any) -> Any:
    """The value without what has no canonical form."""
    if isinstance(value, dict):
        return {tidy(key): tidy(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [tidy(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value if kind(value) != "number" or is_finite_number(value) else None
