"""Votes as they are read: what was said, what of it is compared, what it weighs, whose it is."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from interlock import _core
from interlock._compiled import plain_problems, unknown_fields
from interlock.tools._fields import missing, read_entries, text_problems
from interlock.tools._limits import VOTES_LIMIT
from interlock.tools._numbers import exact, is_finite, number_problems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlock.errors import Problem
    from interlock.tools._normalize import Normalizer
    from interlock.typing import JSON

__all__ = ["Vote", "read_votes"]

_FIELDS = ("value", "weight", "voter")

Form: TypeAlias = "str | Decimal | frozenset[str] | None"
"""What the mode compares: a digest, a number, a set of digests; None joins nothing."""


class Vote(NamedTuple):
    position: int
    value: JSON
    form: Form
    weight: Decimal
    voter: str


def read_votes(
    votes: object, mode: str, normalizer: Normalizer
) -> tuple[list[Vote], list[Problem]]:
    entries, problems = read_entries(votes, "votes", VOTES_LIMIT)
    found: list[Vote] = []
    for position, (place, entry) in enumerate(entries):
        vote, more = _read_vote(position, place, entry, mode, normalizer)
        found.append(vote)
        problems += more
    return found, problems


def _read_vote(
    position: int, place: str, entry: dict[str, JSON], mode: str, normalizer: Normalizer
) -> tuple[Vote, list[Problem]]:
    problems = unknown_fields(entry, _FIELDS, f"{place}.")
    value: JSON = None
    key: Form = None
    if "value" not in entry:
        problems.append(missing(f"{place}.value", "the answer (any JSON value, also null)"))
    else:
        value, not_json = plain_problems(entry["value"], f"{place}.value", finite=True)
        value = normalizer.applied(value)
        key, unfit = (None, not_json) if not_json else _form(value, mode, f"{place}.value")
        problems += unfit
    weight, voter = entry.get("weight", 1), entry.get("voter", f"#{position}")
    weightless = number_problems(weight, f"{place}.weight", least=0)
    problems += [*weightless, *text_problems(voter, f"{place}.voter")]
    counts = Decimal(0) if weightless else exact(weight)
    return Vote(position, value, key, counts, cast("str", voter)), problems


def _form(value: JSON, mode: str, place: str) -> tuple[Form, Sequence[Problem]]:
    """Give what the mode compares of a value, None where there is nothing that it can compare."""
    if mode == "numeric":
        if not is_finite(value):
            return None, ()
        problems = number_problems(value, place)
        return (None if problems else exact(value)), problems
    if mode == "set":
        if not isinstance(value, list):
            return None, ()
        return frozenset(map(_core.fingerprint, value)), ()
    return _core.fingerprint(value), ()
