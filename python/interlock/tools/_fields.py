"""How fields of specs and inputs are read: lists, choices, texts, both spellings of a name."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from interlock import _core
from interlock._compiled import plain_problems
from interlock.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from interlock.typing import JSON

__all__ = [
    "ABSENT",
    "choice_problems",
    "missing",
    "one_spelling",
    "own_type",
    "read_entries",
    "read_list",
    "repeated_problems",
    "snake_case",
    "spelled_catch_all",
    "text_problems",
    "truth_problems",
    "version_problems",
    "what_raised",
    "whole_number",
]

ABSENT = object()
"""Stands for a required field that was not given."""

_WHOLE_LIMIT = 1 << 53


def missing(field: str, what: str = "") -> Problem:
    """Say that a field is required, and what it is."""
    return Problem("spec/missing-field", field, None, f"is required{what and ': '}{what}")


def choice_problems(value: object, field: str, choices: Sequence[str]) -> list[Problem]:
    """Check that a value is one of a closed set."""
    if value is ABSENT:
        return [missing(field, f"one of {', '.join(choices)}")]
    if isinstance(value, str) and value in choices:
        return []
    near = _core.nearest(value, list(choices)) if isinstance(value, str) else None
    hint = f'; did you mean "{near}"?' if near else ""
    message = f"must be one of {', '.join(choices)}{hint}"
    return [Problem("spec/unknown-choice", field, _core.preview(value), message)]


def text_problems(value: object, field: str) -> list[Problem]:
    """Check that a value is text; `ABSENT` is one that is required."""
    if value is ABSENT:
        return [missing(field)]
    return [] if isinstance(value, str) else [_wrong(value, field, "must be a string")]


def truth_problems(value: object, field: str) -> list[Problem]:
    """Check that a value is true or false."""
    return [] if isinstance(value, bool) else [_wrong(value, field, "must be true or false")]


def whole_number(value: object) -> int | None:
    """Read a whole number below 2 to the power of 53 either way; 3.0 is one."""
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(whole, bool) or not isinstance(whole, int):
        return None
    return whole if abs(whole) < _WHOLE_LIMIT else None


def version_problems(version: object) -> list[Problem]:
    """Check a version."""
    if version is None or isinstance(version, str):
        return []
    return [_wrong(version, "version", "must be a string; quote it")]


def repeated_problems(names: Iterable[tuple[str, JSON]], known_as: str) -> list[Problem]:
    """List the names that stand twice; each comes with its field."""
    seen: dict[str, str] = {}
    problems: list[Problem] = []
    for field, name in names:
        if not isinstance(name, str):
            continue
        if name in seen:
            message = f"the {known_as} of {seen[name]} too; each must be its own"
            problems.append(Problem("spec/duplicate-name", field, _core.preview(name), message))
        seen.setdefault(name, field.removesuffix(f".{known_as}"))
    return problems


def read_list(
    value: object, field: str, limit: int, *, may_be_empty: bool = False
) -> tuple[list[object], list[Problem]]:
    """Read a list within its limit; its items stay as they are."""
    plain = value
    if not isinstance(plain, (list, tuple)):
        # Whatever else is a list in data: another sequence, JSON text that was parsed.
        plain, not_plain = plain_problems(value, field)
        if not_plain:
            return [], list(not_plain)
    if not isinstance(plain, (list, tuple)):
        return [], [_wrong(plain, field, "must be a list")]
    found = list(cast("Sequence[object]", plain))
    if not found and not may_be_empty:
        return [], [Problem("spec/empty-list", field, "[]", "must not be empty")]
    if len(found) > limit:
        message = f"{len(found)} entries, over the limit of {limit}"
        return [], [Problem("spec/over-limit", field, None, message)]
    return found, []


def read_entries(
    value: object,
    field: str,
    limit: int,
    *,
    may_be_empty: bool = False,
    finite: bool = False,
) -> tuple[list[tuple[str, dict[str, JSON]]], list[Problem]]:
    """Read a list of mappings as plain data, each with its place such as `votes[3]`."""
    items, problems = read_list(value, field, limit, may_be_empty=may_be_empty)
    entries: list[tuple[str, dict[str, JSON]]] = []
    for index, item in enumerate(items):
        place = f"{field}[{index}]"
        plain, not_plain = plain_problems(item, place, finite=finite)
        problems += not_plain
        if isinstance(plain, dict):
            entries.append((place, plain))
        elif not not_plain:
            problems.append(_wrong(item, place, "must be a mapping"))
    return entries, problems


@lru_cache(maxsize=256)
def snake_case(name: str) -> str:
    """Spell a name of data as in Python: `maxCycle` is `max_cycle`."""
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def one_spelling(
    fields: Mapping[str, object], known: Iterable[str], place: str = ""
) -> tuple[dict[str, object], list[Problem]]:
    """Read both spellings of the known names as the one of data; both at once are a fault."""
    spelled = {snake_case(name): name for name in known}
    found: dict[str, object] = {}
    problems: list[Problem] = []
    for name, value in fields.items():
        in_data = spelled.get(name, name)
        if in_data in found:
            message = f'stands twice, also as "{snake_case(in_data)}"'
            code, shown = "spec/repeated-key", _core.preview(value)
            problems.append(Problem(code, place + in_data, shown, message))
        found[in_data] = value
    return found, problems


def own_type(value: object) -> object:
    """Give a text or number as one of its own type: a subclass may compare as it likes."""
    if value is None or type(value) is str:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__index__(value)
    return float.__float__(value) if isinstance(value, float) else value


def what_raised(error: Exception) -> str:
    """Say what an object of somebody else's raised while it was read."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 (an error that cannot be shown is still named)
        return type(error).__name__


def spelled_catch_all(problems: Iterable[Problem], spelling: str) -> list[Problem]:
    """Say how this tool spells what holds for everything, where a list has no checks."""
    return [
        problem._replace(message=f"{problem.message.rpartition('; ')[0]}; {spelling}")
        if problem.code == "spec/empty-list" and problem.field.endswith(".when")
        else problem
        for problem in problems
    ]


def _wrong(value: object, field: str, message: str) -> Problem:
    return Problem("spec/wrong-type", field, _core.preview(value), message)
