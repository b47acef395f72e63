"""What a value is: kinds, type names, equality, length and emptiness.

Only ``None``, ``bool``, ``int``, ``float``, ``Decimal``, ``str``, ``list``, ``tuple`` and
``dict`` count as values here. Everything else is *opaque*: it has a kind of that name and
equals nothing, not even itself.
"""

from decimal import Decimal

MAX_DEPTH = 128


def joined(text: str) -> str:
    """Read a high half directly followed by a low half as the one character they spell.

    A half that stands alone stays as it is.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def kind(value: object) -> str:
    """Name the kind: null, boolean, number, string, array, object or opaque."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float | Decimal):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list | tuple):
        return "array"
    if isinstance(value, dict):
        return "object"
    return "opaque"


def items(value: object) -> list[object]:
    """List the members of an array."""
    assert isinstance(value, list | tuple)
    return list(value)


def entries(value: object) -> dict[object, object]:
    """Give the members of an object, with every text key read as characters."""
    assert isinstance(value, dict)
    return {joined(key) if isinstance(key, str) else key: value[key] for key in value}


def exact(number: object) -> Decimal:
    """Give the decimal number that a number is written as.

    An integer and a ``Decimal`` are themselves; a float is its shortest decimal text.
    """
    assert kind(number) == "number"
    if isinstance(number, Decimal):
        return number
    if isinstance(number, float):
        return Decimal(float.__repr__(number))
    assert isinstance(number, int)
    return Decimal(number)


def is_finite_number(value: object) -> bool:
    """Tell whether the value is a number other than NaN and the infinities."""
    return kind(value) == "number" and exact(value).is_finite()


def is_whole(number: Decimal) -> bool:
    """Tell whether a finite number has no fraction."""
    digits, exponent = number.as_tuple().digits, number.as_tuple().exponent
    assert isinstance(exponent, int)
    if number == 0 or exponent >= 0:
        return True
    fraction = digits[exponent:] if -exponent < len(digits) else digits
    return not any(fraction)


def type_name(value: object) -> str:
    """Name the type: as the kind, but a finite number without a fraction is an integer."""
    if is_finite_number(value) and is_whole(exact(value)):
        return "integer"
    return kind(value)


def has_type(value: object, name: str) -> bool:
    """Tell whether the value answers to a type name; an integer is a number as well."""
    if kind(value) == "opaque":
        return False
    return name in (type_name(value), kind(value))


def equal(left: object, right: object) -> bool:
    """Compare by structure: the same kind and the same members, key order irrelevant."""
    if kind(left) != kind(right) or kind(left) == "opaque":
        return False
    if kind(left) == "number":
        first, second = exact(left), exact(right)
        return not first.is_nan() and not second.is_nan() and first == second
    if isinstance(left, str) and isinstance(right, str):
        return joined(left) == joined(right)
    if kind(left) == "array":
        a, b = items(left), items(right)
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))
    if kind(left) == "object":
        here, there = entries(left), entries(right)
        return here.keys() == there.keys() and all(equal(here[key], there[key]) for key in here)
    return left is right  # null, true and false


def length(value: object) -> int | None:
    """Count the characters of a text, the items of an array or the keys of an object."""
    if isinstance(value, str):
        return len(joined(value))
    if kind(value) == "array":
        return len(items(value))
    if kind(value) == "object":
        return len(entries(value))
    return None


def is_empty(value: object) -> bool:
    """Tell whether the value is null, or has a length and that is zero."""
    return value is None or length(value) == 0


def is_too_deep(value: object, limit: int = MAX_DEPTH) -> bool:
    """Tell whether arrays and objects are nested in more than ``limit`` levels.

    ``[]`` is one level, ``[[]]`` two; a scalar is none. The walk goes level by level, so
    that a very deep value cannot exhaust the stack.
    """
    level = [value]
    for _ in range(limit + 1):
        containers = [item for item in level if kind(item) in ("array", "object")]
        if not containers:
            return False
        level = []
        for item in containers:
            level += items(item) if kind(item) == "array" else entries(item).values()
    return True
