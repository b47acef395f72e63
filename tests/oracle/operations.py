"""The operations of a check on a value that is there, with an operand that is given.

Each answers whether it holds. ``Broken`` means that the question makes no sense for this
value or operand: neither the operation nor its negation holds. ``Undecided`` means that the
question is sound and is not answered here.
"""

from collections.abc import Callable, Mapping

from .formats import FORMATS, check_format
from .patterns import PatternInvalid, PatternUnsupported, compile_pattern, test
from .previews import REASON_WIDTH, preview
from .values import (
    entries,
    equal,
    exact,
    has_type,
    is_finite_number,
    items,
    joined,
    kind,
    length,
)

MAX_TEXT_BYTES = 8 * 1024 * 1024
TYPE_NAMES = ("null", "boolean", "integer", "number", "string", "array", "object")


class Broken(Exception):
    """The operation cannot hold for this value and operand, and its negation neither."""


class Undecided(Exception):
    """The operation cannot be evaluated."""


def short(value: object) -> str:
    """Show a value inside a reason."""
    return preview(value, REASON_WIDTH)


def contains(actual: object, expected: object) -> bool:
    """A text holds a text, an array an equal member, an object a key."""
    if kind(actual) == "array":
        return any(equal(member, expected) for member in items(actual))
    if not isinstance(expected, str):
        raise Broken(f"a {kind(actual)} cannot hold {short(expected)}")
    if isinstance(actual, str):
        return joined(expected) in joined(actual)
    if kind(actual) == "object":
        return joined(expected) in entries(actual)
    raise Broken(f"{short(actual)} cannot hold anything")


def matches(actual: object, expected: object, flags: object) -> bool:
    """The pattern is found in the text.

    A broken pattern or flag breaks the check. A pattern that is not supported, or a text of
    more than 8 MiB in UTF-8, leaves it undecided.
    """
    if not isinstance(actual, str) or not isinstance(expected, str):
        raise Broken(f"{short(actual)} or the pattern {short(expected)} is no text")
    if not isinstance(flags, str):
        raise Broken(f"the flags {short(flags)} are not valid")
    try:
        compile_pattern(expected, flags)
    except PatternInvalid as error:
        raise Broken(f"{short(expected)} is not a valid regex: {error}") from error
    except PatternUnsupported as error:
        raise Undecided(f"{short(expected)} is not a supported regex: {error}") from error
    size = len(joined(actual).encode("utf-8", "surrogatepass"))
    if size > MAX_TEXT_BYTES:
        raise Undecided(f"the text has {size} bytes, over the limit of {MAX_TEXT_BYTES}")
    return test(expected, flags, actual)


def starts_with(actual: object, expected: object) -> bool:
    """The first text begins with the second."""
    if not isinstance(actual, str) or not isinstance(expected, str):
        raise Broken(f"{short(actual)} or {short(expected)} is no text")
    return joined(actual).startswith(joined(expected))


def ends_with(actual: object, expected: object) -> bool:
    """The first text ends with the second."""
    if not isinstance(actual, str) or not isinstance(expected, str):
        raise Broken(f"{short(actual)} or {short(expected)} is no text")
    return joined(actual).endswith(joined(expected))


def order(actual: object, expected: object) -> int:
    """Compare two finite numbers: -1, 0 or 1."""
    if not is_finite_number(actual) or not is_finite_number(expected):
        raise Broken(f"{short(actual)} or {short(expected)} is no finite number")
    left, right = exact(actual), exact(expected)
    return (left > right) - (left < right)


def length_order(actual: object, expected: object) -> int:
    """Compare the length of a value with a finite number."""
    size = length(actual)
    if size is None:
        raise Broken(f"{short(actual)} has no length")
    return order(size, expected)


def is_type(actual: object, expected: object) -> bool:
    """The value has the named type, or one of several; other list entries are passed over."""
    names = items(expected) if kind(expected) == "array" else [expected]
    return any(isinstance(name, str) and has_type(actual, name) for name in names)


def one_of(actual: object, expected: object) -> bool:
    """Some member of the operand, which is an array, is equal."""
    if kind(expected) != "array":
        raise Broken(f"{short(expected)} is no array")
    return any(equal(actual, member) for member in items(expected))


def has_format(actual: object, expected: object) -> bool:
    """The text has the named format."""
    if not isinstance(expected, str) or expected not in FORMATS:
        raise Broken(f"unknown format {short(expected)}")
    if not isinstance(actual, str):
        raise Broken(f"{short(actual)} is no text")
    try:
        return check_format(actual, expected)
    except PatternUnsupported as error:
        raise Undecided(str(error)) from error


Operation = Callable[[object, object, Mapping[str, object]], bool]

OPERATIONS: dict[str, Operation] = {
    "equals": lambda actual, expected, check: equal(actual, expected),
    "notEquals": lambda actual, expected, check: not equal(actual, expected),
    "contains": lambda actual, expected, check: contains(actual, expected),
    "notContains": lambda actual, expected, check: not contains(actual, expected),
    "matches": lambda actual, expected, check: matches(actual, expected, check.get("flags", "")),
    "notMatches": lambda actual, expected, check: (
        not matches(actual, expected, check.get("flags", ""))
    ),
    "startsWith": lambda actual, expected, check: starts_with(actual, expected),
    "endsWith": lambda actual, expected, check: ends_with(actual, expected),
    "greaterThan": lambda actual, expected, check: order(actual, expected) > 0,
    "greaterThanOrEqual": lambda actual, expected, check: order(actual, expected) >= 0,
    "lessThan": lambda actual, expected, check: order(actual, expected) < 0,
    "lessThanOrEqual": lambda actual, expected, check: order(actual, expected) <= 0,
    "isType": lambda actual, expected, check: is_type(actual, expected),
    "hasLength": lambda actual, expected, check: length_order(actual, expected) == 0,
    "minLength": lambda actual, expected, check: length_order(actual, expected) >= 0,
    "maxLength": lambda actual, expected, check: length_order(actual, expected) <= 0,
    "oneOf": lambda actual, expected, check: one_of(actual, expected),
    "notOneOf": lambda actual, expected, check: not one_of(actual, expected),
    "hasFormat": lambda actual, expected, check: has_format(actual, expected),
}
