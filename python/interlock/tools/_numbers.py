"""Numbers that count: read exactly, added without rounding, given back as what they are."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact
from functools import reduce
from typing import TYPE_CHECKING, TypeGuard, cast

from interlock import _core
from interlock.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlock.typing import Number

__all__ = [
    "EXPONENT_LIMIT",
    "distance",
    "exact",
    "is_finite",
    "number_problems",
    "places",
    "product",
    "ratio",
    "scaled",
    "total",
    "unscaled",
    "whole_problems",
    "written",
]

EXPONENT_LIMIT = 400
"""No digit of a number that counts stands further from the point: what is added stays small."""

_SHORT = 22
"""Up to this power of ten, a number of 15 digits is far from the ends of what a float holds."""

# Wide enough that nothing within the limit is ever rounded; a trap says so if it were. It is our
# own, so that whatever a caller sets for its decimals changes no answer.
_EXACT = Context(
    prec=5 * EXPONENT_LIMIT,
    rounding=ROUND_HALF_EVEN,
    Emin=-10 * EXPONENT_LIMIT,
    Emax=10 * EXPONENT_LIMIT,
    capitals=1,
    clamp=0,
    flags=[],
    traps=[Inexact],
)


def is_finite(value: object) -> TypeGuard[Number]:
    """Say whether a value is a number, no truth value, and neither NaN nor an infinity."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return False
    return isinstance(value, int) or exact(value).is_finite()


def exact(value: object) -> Decimal:
    """Give a number as the decimal number it is written as: a float is its shortest text."""
    if isinstance(value, float):
        return Decimal(float.__repr__(value))
    return Decimal(cast("int", value))


def number_problems(
    value: object, field: str, *, least: int | None = None, most: int | None = None
) -> list[Problem]:
    """Check a number that counts: finite, within the exponent limit and the bounds."""
    bounds = "" if least is None else f" of at least {least}"
    if least is not None and most is not None:
        bounds = f" between {least} and {most}"
    return _problems(value, field, f"a finite number{bounds}", (least, most))


def whole_problems(
    value: object, field: str, *, least: int, most: int | None = None
) -> list[Problem]:
    """Check a whole number within bounds; 3.0 is one."""
    bounds = f"of at least {least}" if most is None else f"between {least} and {most}"
    described = f"a whole number {bounds}"
    problems = _problems(value, field, described, (least, most))
    if not problems and exact(value).as_integer_ratio()[1] != 1:
        return [_must_be(described, value, field)]
    return problems


def _problems(
    value: object, field: str, described: str, bounds: tuple[int | None, int | None]
) -> list[Problem]:
    if not is_finite(value):
        return [_must_be(described, value, field)]
    if not _within_reach(value):
        message = f"has a digit beyond the limit of 10 to the power of ±{EXPONENT_LIMIT}"
        return [Problem("spec/over-limit", field, _shown(value), message)]
    least, most = bounds
    number = exact(value)
    if (least is not None and number < least) or (most is not None and number > most):
        return [_must_be(described, value, field)]
    return []


def _must_be(described: str, value: object, field: str) -> Problem:
    return Problem("spec/wrong-type", field, _shown(value), f"must be {described}")


def _shown(value: object) -> str:
    # PERF: the digits of a huge integer take longer to work out than all the rest.
    if isinstance(value, int) and _is_huge(value):
        return f"<int of {int.bit_length(value)} bits>"
    return _core.preview(value)


def _is_huge(value: int) -> bool:
    return int.bit_length(value) > 4 * EXPONENT_LIMIT


def _within_reach(value: Number) -> bool:
    # PERF: the length of an integer is known before any of its digits is.
    if isinstance(value, int) and _is_huge(value):
        return False
    number = exact(value)
    last = cast("int", number.as_tuple().exponent)
    return number.adjusted() <= EXPONENT_LIMIT and last >= -EXPONENT_LIMIT


def places(number: Decimal) -> int:
    """Count the digits after the point."""
    return max(0, -cast("int", number.as_tuple().exponent))


def scaled(number: Decimal, scale: int) -> int:
    """Give a number as a count of parts, of which 10 to the power of `scale` are one."""
    return int(number.scaleb(scale, _EXACT))


def unscaled(parts: int, scale: int) -> Number:
    """Give back what so many parts are."""
    if scale == 0:
        return parts
    one: int = 10**scale
    whole, rest = divmod(parts, one)
    if not rest:
        return whole
    # PERF: a number of 15 digits is the shortest text of the float nearest to it.
    if -(10**15) < parts < 10**15 and scale <= _SHORT:
        return parts / one
    return written(_EXACT.normalize(Decimal(parts).scaleb(-scale, _EXACT)))


def total(numbers: Iterable[int | Decimal]) -> Decimal:
    """Add exactly, so that the order does not matter."""
    return reduce(_EXACT.add, numbers, Decimal(0))


def product(left: Decimal, right: Decimal) -> Decimal:
    """Multiply exactly."""
    return _EXACT.multiply(left, right)


def distance(left: Decimal, right: Decimal) -> Decimal:
    """Give how far apart two numbers are, exactly."""
    return _EXACT.abs(_EXACT.subtract(left, right))


def ratio(part: Decimal, whole: Decimal) -> float:
    """Give a share as the nearest float; a share of nothing is 0."""
    if whole == 0:
        return 0.0
    (part_over, part_under), (over, under) = part.as_integer_ratio(), whole.as_integer_ratio()
    return (part_over * under) / (part_under * over)


def written(number: int | Decimal) -> Number:
    """Give an exact number back: whole as `int`, else as `float` if that is exactly it."""
    if isinstance(number, int):
        return number
    if number == _EXACT.to_integral_value(number):
        return int(number)
    near = float(number)
    return near if exact(near) == number else number
