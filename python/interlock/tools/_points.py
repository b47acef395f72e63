"""What a score has beside its conditions: points, labels, bands, bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock import _core
from interlock._compiled import unknown_fields
from interlock.errors import Problem
from interlock.tools._fields import (
    ABSENT,
    missing,
    read_entries,
    repeated_problems,
    text_problems,
)
from interlock.tools._limits import BANDS_LIMIT
from interlock.tools._numbers import exact, number_problems

if TYPE_CHECKING:
    from interlock.typing import JSON

__all__ = ["range_problems", "read_bands", "rule_problems"]

_FIELDS = ("name", "min")


def rule_problems(rules: JSON) -> list[Problem]:
    """Check what a rule has beside its conditions; what is no rule at all is told elsewhere."""
    problems: list[Problem] = []
    for index, rule in enumerate(rules if isinstance(rules, list) else ()):
        if not isinstance(rule, dict):
            continue
        place = f"rules[{index}]"
        if "points" not in rule:
            problems.append(missing(f"{place}.points", "what the rule is worth, a number"))
        problems += number_problems(rule.get("points", 0), f"{place}.points")
        problems += text_problems(rule.get("label", ""), f"{place}.label")
        if rule.get("match") == "any":
            message = "all checks of a rule must hold; write one rule for each"
            shown = _core.preview("any")
            problems.append(Problem("spec/unknown-choice", f"{place}.match", shown, message))
    return problems


def read_bands(bands: object) -> tuple[list[dict[str, JSON]], list[Problem]]:
    """Read `[{name, min}]`; None is the same as none."""
    entries, problems = read_entries(
        () if bands is None else bands, "bands", BANDS_LIMIT, may_be_empty=True
    )
    for place, band in entries:
        problems += unknown_fields(band, _FIELDS, f"{place}.")
        problems += text_problems(band.get("name", ABSENT), f"{place}.name")
        if "min" not in band:
            problems.append(missing(f"{place}.min", "the least score of the band, a number"))
        problems += number_problems(band.get("min", 0), f"{place}.min")
    names = [(f"{place}.name", band.get("name")) for place, band in entries]
    problems += repeated_problems(names, "name")
    return [band for _, band in entries], problems


def range_problems(least: object, greatest: object) -> list[Problem]:
    """Check the bounds of the score."""
    problems = [] if least is None else number_problems(least, "min")
    problems += [] if greatest is None else number_problems(greatest, "max")
    if not problems and None not in (least, greatest) and exact(least) > exact(greatest):
        message = f"must not be above max, which is {_core.preview(greatest)}"
        problems.append(Problem("spec/wrong-type", "min", _core.preview(least), message))
    return problems
