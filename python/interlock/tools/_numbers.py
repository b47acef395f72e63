"""Numbers of a spec or an input: exact, finite, within their bounds."""

from __future__ import annotations

from decimal import Decimal

from interlock import _core
from interlock.errors import Problem

__all__ = ["exact_number", "read_share", "read_whole"]


def exact_number(value: object) -> Decimal | None:
    """Give a finite number as the decimal it is written as: a float is its shortest text."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return None
    exact = Decimal(float.__repr__(value)) if isinstance(value, float) else Decimal(value)
    return exact if exact.is_finite() else None


def read_whole(value: object, field: str, least: int, most: int) -> tuple[int, list[Problem]]:
    """Read a whole number of milliseconds: `3`, `3.0` and `Decimal("3.00")` are one."""
    exact = exact_number(value)
    if exact is not None and least <= exact <= most and exact == exact.to_integral_value():
        return int(exact), []
    message = f"must be a whole number of milliseconds from {least} to {most}"
    return 0, [Problem("spec/wrong-type", field, _core.preview(value), message)]


def read_share(value: object, field: str) -> tuple[float, list[Problem]]:
    """Read a share of a whole."""
    exact = exact_number(value)
    if exact is not None and 0 <= exact <= 1:
        return float(exact), []
    message = "must be a number from 0 to 1"
    return 0.0, [Problem("spec/wrong-type", field, _core.preview(value), message)]
