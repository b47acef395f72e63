"""Numbers as ECMAScript prints them."""

from decimal import Decimal

from .values import exact, is_whole


def digits_and_point(number: Decimal) -> tuple[str, int]:
    """Give the significant digits of a finite number and where its point stands.

    The number is ``0.DIGITS * 10**point``; neither end of the digits is a zero.
    """
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    written = "".join(str(digit) for digit in digits)
    point = len(written) + exponent
    without_lead = written.lstrip("0")
    point -= len(written) - len(without_lead)
    return without_lead.rstrip("0"), point


def plain(number: Decimal) -> str:
    """Write a whole number with all its digits."""
    assert is_whole(number)
    if number == 0:
        return "0"
    digits, point = digits_and_point(number)
    return ("-" if number < 0 else "") + digits + "0" * (point - len(digits))


def ecmascript(number: Decimal) -> str:
    """Write a finite number in ECMAScript style, with every significant digit.

    Plain from 1e-6 up to below 1e21, else one digit, a fraction and a signed exponent.
    """
    if number == 0:
        return "0"
    digits, point = digits_and_point(number)
    sign = "-" if number < 0 else ""
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    exponent = point - 1
    fraction = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{'+' if exponent > 0 else '-'}{abs(exponent)}"


def preview_number(number: object) -> str:
    """Write a number for a preview: its canonical text, or the name of what has none."""
    value = exact(number)
    if value.is_nan():
        return "NaN"
    if value.is_infinite():
        return "Infinity" if value > 0 else "-Infinity"
    return canonical_number(number)


def is_text_of_a_double(number: Decimal) -> bool:
    """Tell whether a finite number is the shortest decimal text of some double."""
    nearest = Decimal(repr(float(number)))
    return nearest.is_finite() and nearest == number


def canonical_number(number: object) -> str:
    """Write a number so that equal numbers, whatever their type, have one form.

    The shortest text of a double is written as ECMAScript writes that double. Any other
    whole number gets all its digits, any other fraction the ECMAScript style.
    """
    value = exact(number)
    if not value.is_finite():
        raise ValueError(f"{value} has no canonical form")
    if is_whole(value) and not is_text_of_a_double(value):
        return plain(value)
    return ecmascript(value)


def number_text(number: object) -> str:
    """Write a number with all digits that it has: an integer whole, a double the shortest way."""
    return str(number) if isinstance(number, int) else ecmascript(exact(number))
