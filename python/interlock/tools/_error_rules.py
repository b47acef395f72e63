"""Rules of a caller's own for ErrorClassify, read from data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias, cast

from interlock import _core
from interlock._compiled import unknown_fields
from interlock.errors import PatternError, PatternInvalid, Problem
from interlock.tools._fields import (
    choice_problems,
    one_spelling,
    own_type,
    repeated_problems,
    what_raised,
    whole_number,
)
from interlock.tools._limits import PACKS_LIMIT, RULES_LIMIT

if TYPE_CHECKING:
    from interlock.typing import Limits

__all__ = ["RuleRow", "read_packs", "read_rules"]

RuleRow: TypeAlias = tuple[
    str, str | None, _core.Pattern | None, bool, int | None, int | None, str, str, int | None
]
"""What the core takes: id, contains, pattern, whether it is undetermined, status, exit code, class,
action, wait in milliseconds."""

_FIELDS = ("id", "contains", "matches", "status", "exitCode", "class", "action", "waitMs")
_CONDITIONS = ("contains", "matches", "status", "exitCode")


def read_rules(
    rules: object, limits: Limits | None
) -> tuple[list[RuleRow], list[Problem], list[Problem]]:
    """Read rules: the rows, the problems that refuse them, and patterns that are not run."""
    reader = _Reader(limits)
    if not isinstance(rules, (list, tuple)):
        shown = _core.preview(rules)
        return [], [Problem("spec/wrong-type", "rules", shown, "must be a list")], []
    entries = cast("list[object]", rules)
    most = (limits or {}).get("rules", RULES_LIMIT)
    if len(entries) > most:
        message = f"{len(entries)} entries, over the limit of {most}"
        return [], [Problem("spec/over-limit", "rules", None, message)], []
    rows = [reader.rule(entry, f"rules[{index}]") for index, entry in enumerate(entries)]
    return [row for row in rows if row is not None], reader.problems, reader.faults


def read_packs(packs: object) -> tuple[list[str] | None, list[Problem]]:
    """Read the names of the packs that may be asked; None stands for all."""
    if packs is None:
        return None, []
    if not isinstance(packs, (list, tuple)):
        message = "must be a list of names; leave it out for all, [] for none"
        return None, [Problem("spec/wrong-type", "packs", _core.preview(packs), message)]
    known = [name for name, _, _ in _core.error_packs()]
    named = [own_type(name) for name in cast("list[object]", packs)]
    if len(named) > PACKS_LIMIT:
        message = f"{len(named)} entries, over the limit of {PACKS_LIMIT}"
        return None, [Problem("spec/over-limit", "packs", None, message)]
    problems = [
        problem
        for index, name in enumerate(named)
        for problem in choice_problems(name, f"packs[{index}]", known)
    ]
    repeated = repeated_problems(
        [(f"packs[{index}]", str(name)) for index, name in enumerate(named) if name in known],
        "name",
    )
    return [str(name) for name in named], [*problems, *repeated]


class _Reader:
    """Collects what is wrong while it reads."""

    def __init__(self, limits: Limits | None) -> None:
        self.problems: list[Problem] = []
        self.faults: list[Problem] = []
        self._limits = limits
        self._ids: dict[str, str] = {}

    def rule(self, entry: object, place: str) -> RuleRow | None:
        if not isinstance(entry, Mapping):
            message = f"must be a mapping with {', '.join(_FIELDS)}"
            self._fault("spec/wrong-type", place, entry, message)
            return None
        fields = self._fields(cast("Mapping[str, object]", entry), place)
        if fields is None:
            return None
        name = self._id(fields, place)
        if not any(fields.get(condition) is not None for condition in _CONDITIONS):
            message = f'the rule "{name}" has no condition and would hold for everything; give one '
            message += f"of {', '.join(_CONDITIONS)}"
            self._fault("spec/empty-list", place, None, message)
        pattern, undetermined = self._pattern(fields, name, place)
        classes, actions = _core.error_names()
        return (
            name,
            self._condition(fields, "contains", name, place),
            pattern,
            undetermined,
            self._whole(fields, "status", place),
            self._whole(fields, "exitCode", place),
            self._choice(fields, "class", place, classes),
            self._choice(fields, "action", place, actions),
            self._whole(fields, "waitMs", place, least=0),
        )

    def _fields(self, given: Mapping[str, object], place: str) -> dict[str, object] | None:
        try:
            plain = {cast("str", own_type(name)): own_type(given[name]) for name in given}
        except Exception as error:  # noqa: BLE001 (whatever somebody's mapping raises)
            self._fault("spec/wrong-type", place, None, what_raised(error))
            return None
        fields, problems = one_spelling(plain, _FIELDS, f"{place}.")
        if "error_class" in fields and "class" not in fields:
            # As an answer spells it.
            fields["class"] = fields.pop("error_class")
        self.problems += [*problems, *unknown_fields(fields, _FIELDS, f"{place}.")]
        return fields

    def _id(self, fields: Mapping[str, object], place: str) -> str:
        name = self._text(fields, "id", place, required=True)
        if name is None:
            return ""
        first = self._ids.setdefault(name, place)
        if not name:
            self._fault("spec/empty-list", f"{place}.id", name, "must not be empty")
        elif first != place:
            message = f"the id of {first} too; each must be its own"
            self._fault("spec/duplicate-name", f"{place}.id", name, message)
        return name

    def _condition(
        self, fields: Mapping[str, object], field: str, name: str, place: str
    ) -> str | None:
        value = self._text(fields, field, place)
        if value == "":
            message = f'the {field} of the rule "{name}" is empty and would hold for everything; '
            self._fault("spec/empty-list", f"{place}.{field}", value, message + "leave it out")
        return value or None

    def _pattern(
        self, fields: Mapping[str, object], name: str, place: str
    ) -> tuple[_core.Pattern | None, bool]:
        source = self._condition(fields, "matches", name, place)
        if source is None:
            return None, False
        field = f"{place}.matches"
        try:
            pattern = _core.Pattern(source, "i", limits=self._limits)
        except PatternError as error:
            refused = isinstance(error, PatternInvalid)
            found = [
                problem._replace(field=field, message=f'rule "{name}": {problem.message}')
                for problem in error.problems
            ]
            (self.problems if refused else self.faults).extend(found)
            return None, not refused
        for hint in pattern.explain().hints:
            message = f'rule "{name}": {hint.text} (at character {hint.start})'
            self.faults.append(Problem("lint/pattern", field, _core.preview(source), message))
        return pattern, False

    def _text(
        self, fields: Mapping[str, object], field: str, place: str, *, required: bool = False
    ) -> str | None:
        value = fields.get(field)
        if isinstance(value, str):
            return value
        if value is not None:
            self._fault("spec/wrong-type", f"{place}.{field}", value, "must be a string")
        elif required:
            self._fault("spec/missing-field", f"{place}.{field}", None, "is required")
        return None

    def _whole(
        self, fields: Mapping[str, object], field: str, place: str, *, least: int | None = None
    ) -> int | None:
        value = fields.get(field)
        if value is None:
            return None
        number = whole_number(value)
        if number is not None and (least is None or number >= least):
            return number
        message = "must be a whole number" if number is None else f"must be at least {least}"
        self._fault("spec/wrong-type", f"{place}.{field}", value, message)
        return None

    def _choice(
        self, fields: Mapping[str, object], field: str, place: str, known: list[str]
    ) -> str:
        value = fields.get(field)
        if isinstance(value, str) and value in known:
            return value
        if value is None:
            message = f"is required: one of {', '.join(known)}"
            self._fault("spec/missing-field", f"{place}.{field}", None, message)
        else:
            near = _core.nearest(value, known) if isinstance(value, str) else None
            hint = f'; did you mean "{near}"?' if near else ""
            message = f"must be one of {', '.join(known)}{hint}"
            self._fault("spec/unknown-choice", f"{place}.{field}", value, message)
        return known[0]

    def _fault(self, code: str, field: str, value: object, message: str) -> None:
        shown = None if value is None else _core.preview(value)
        self.problems.append(Problem(code, field, shown, message))
