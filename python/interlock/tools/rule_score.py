"""RuleScore: what a record scores, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self, cast

from interlock import _core
from interlock._compiled import CompiledSpec, beside, plain_problems, refuse
from interlock._wire import WireForm, draft_of
from interlock.tools._fields import spelled_catch_all, version_problems
from interlock.tools._limits import RULES_LIMIT
from interlock.tools._numbers import counted, exact, total, written
from interlock.tools._points import range_problems, read_bands, rule_problems, whole_points
from interlock.tools._records import decide_each
from interlock.tools._rules import RuleReport, rule_reports

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from decimal import Decimal

    from interlock._lines import Records
    from interlock.tools._batch import Batch
    from interlock.typing import JSON, Limits, Number
__all__ = ["Contribution", "RuleReason", "RuleScore", "ScoreResult", "rule_score"]

_CATCH_ALL = "a rule for every record checks the op `exists` of the value itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution(WireForm):
    """A rule that holds, and what it gives.

    Attributes:
        id: Its id.
        label: Its label; None when it has none.
        points: Its points; `int`, `float` or `Decimal` as the score.
    """

    id: str
    label: str | None
    points: Number

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        return {"id": self.id, "label": self.label, "points": self.points}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleReason(WireForm):
    """A rule that does not hold or could not be decided, and why.

    Attributes:
        id: Its id.
        reason: The reason of its first check that fails, or that could not be decided.
    """

    id: str
    reason: str

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        return {"id": self.id, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreResult(WireForm):
    """What a record scores.

    Attributes:
        score: The exact sum of the points of the rules that hold, within `min` and `max`; `int`
            when it is whole, `float` when that is exactly it, else `Decimal`. None when a rule is
            undecided.
        raw_score: The sum before `min` and `max`; None likewise.
        band: The band with the highest `min` that the score meets; None without one.
        version: The version of the rules; None when they have none.
        contributors: The rules that hold, in declared order.
        missed: With `include_missed`, the rules that do not hold; else None.
        undetermined: The undecided rules.
    """

    score: Number | None
    raw_score: Number | None
    band: str | None
    version: str | None
    contributors: tuple[Contribution, ...]
    missed: tuple[RuleReason, ...] | None = None
    undetermined: tuple[RuleReason, ...] = ()

    @property
    def outcome(self) -> str:
        """A short label for counting."""
        if self.undetermined:
            return "(undetermined)"
        return "(no band)" if self.band is None else self.band

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        wire: dict[str, JSON] = {
            "score": self.score,
            "rawScore": self.raw_score,
            "band": self.band,
            "version": self.version,
            "contributors": [rule.to_dict() for rule in self.contributors],
        }
        if self.missed is not None:
            wire["missed"] = [rule.to_dict() for rule in self.missed]
        if self.undetermined:
            wire["undetermined"] = [rule.to_dict() for rule in self.undetermined]
        return wire


_Draft = draft_of(ScoreResult)


class _Band(NamedTuple):
    name: str
    least: int | Decimal


class RuleScore(CompiledSpec):
    """Rules with points, compiled: a record scores the sum of those that hold.

    Args:
        rules: Mappings of `id`, `when` (1 to 64 checks, all of which must hold), `points` (a
            finite number, also below 0) and optional `label` (text); 1 to 256 of them, ids
            distinct.
        bands: Mappings of `name` and `min` (a finite number), in any order, names distinct; a
            score is in the band with the highest `min` that it meets, of equal ones the first.
        min: The least score; None: no bound.
        max: The greatest score, not below `min`; None: no bound.
        version: A text that comes back with every answer.
        strict: Whether a broken check refuses the rules; else it fails with its reason.
        limits: Limits to lower or raise, by name; `rules` is the number of rules.

    Raises:
        SpecInvalid: With every problem found.

    Example:
        >>> from interlock import RuleScore
        >>> fit = RuleScore(
        ...     [
        ...         {
        ...             "id": "size",
        ...             "when": [{"path": "seats", "op": "greaterThan", "expected": 100}],
        ...             "points": 0.7,
        ...         },
        ...         {
        ...             "id": "plan",
        ...             "when": [{"path": "plan", "op": "equals", "expected": "trial"}],
        ...             "points": 0.1,
        ...         },
        ...     ],
        ...     bands=[{"name": "hot", "min": 0.8}, {"name": "cold", "min": 0}],
        ... )
        >>> answer = fit.score({"seats": 500, "plan": "trial"})
        >>> answer.score, answer.band
        (0.8, 'hot')
    """

    __slots__ = (
        "_all_whole",
        "_bands",
        "_contributions",
        "_greatest",
        "_least",
        "_points",
        "_unbounded",
        "_version",
    )

    tool = "RuleScore"
    spec_fields = ("rules", "bands", "min", "max", "version")

    _version: str | None
    _contributions: tuple[Contribution, ...]
    _points: tuple[int | Decimal, ...] | _core.Points
    _all_whole: bool
    """Whether the core adds the points up."""
    _bands: tuple[_Band, ...]
    """The highest first."""
    _unbounded: bool
    _least: int | Decimal | None
    _greatest: int | Decimal | None

    def __init__(
        self,
        rules: Sequence[object],
        *,
        bands: Sequence[object] = (),
        min: Number | None = None,  # noqa: A002 (the name in data)
        max: Number | None = None,  # noqa: A002 (the name in data)
        version: str | None = None,
        strict: bool = False,
        limits: Limits | None = None,
    ) -> None:
        """Compile the rules."""
        compiled, problems, faults = _core.compile_rules(
            rules,
            field="rules",
            label="id",
            extra=["points", "label"],
            limits={"rules": RULES_LIMIT, **(limits or {})},
        )
        plain, not_plain = plain_problems(rules, "rules")
        levels, more = read_bands(bands)
        more = [*beside(problems, not_plain), *rule_problems(plain), *more]
        more += [*range_problems(min, max), *version_problems(version)]
        told = spelled_catch_all(problems, _CATCH_ALL)
        refuse([*told, *more, *(faults if strict else ())])
        entries = cast("list[dict[str, JSON]]", plain)
        spec: dict[str, JSON] = {"rules": plain}
        if levels:
            spec["bands"] = cast("JSON", levels)
        given = {"min": min, "max": max, "version": version}
        spec |= {name: value for name, value in given.items() if value is not None}
        self._freeze(cast("_core.RuleSet", compiled), spec, limits, faults)
        self._set("_version", version)
        self._set("_contributions", tuple(map(_contribution, entries)))
        points = tuple(counted(exact(rule["points"])) for rule in entries)
        column = whole_points(points)
        self._set("_points", points if column is None else column)
        self._set("_all_whole", column is not None)
        named = [_Band(cast("str", band["name"]), counted(exact(band["min"]))) for band in levels]
        # Of equal ones the first stays first.
        self._set("_bands", tuple(sorted(named, key=lambda band: band.least, reverse=True)))
        self._set("_unbounded", min is None and max is None)
        self._set("_least", None if min is None else counted(exact(min)))
        self._set("_greatest", None if max is None else counted(exact(max)))

    @classmethod
    def _from_fields(
        cls,
        entries: object,
        fields: dict[str, object],
        *,
        strict: bool,
        limits: Limits | None,
    ) -> Self:
        return cls(
            cast("Sequence[object]", entries),
            bands=cast("Sequence[object]", fields.get("bands", ())),
            min=cast("Number | None", fields.get("min")),
            max=cast("Number | None", fields.get("max")),
            version=cast("str | None", fields.get("version")),
            strict=strict,
            limits=limits,
        )

    def score(self, value: object, *, include_missed: bool = False) -> ScoreResult:
        """Add up the points of the rules that hold.

        An undecided rule leaves the score open: whatever number stood there could be wrong.

        Args:
            value: The record: Python data, a dataclass, pydantic or attrs object, or `Json`.
            include_missed: Whether the result lists the rules that do not hold, each with its
                first reason.
        """
        standing = self._rules.standing(value, self._contributions, self._points)
        undecided, contributions, points = standing
        answer = _Draft.__new__(_Draft)
        if undecided:
            answer.score = answer.raw_score = answer.band = None
        else:
            raw = points if self._all_whole else total(points)
            score = raw if self._unbounded else self._clamped(raw)
            answer.raw_score = raw if type(raw) is int else written(raw)
            answer.score = answer.raw_score if score is raw else written(score)
            answer.band = self._band(score) if self._bands else None
        answer.version = self._version
        answer.contributors = contributions
        answer.missed, answer.undetermined = None, ()
        if undecided or include_missed:
            reports = rule_reports(self._rules, value, 0, len(self._rules))
            answer.undetermined = _reasons(r for r in reports if r.undetermined)
            missed = _reasons(r for r in reports if not (r.ok or r.undetermined))
            answer.missed = missed if include_missed else None
        answer.__class__ = ScoreResult
        return cast("ScoreResult", answer)

    def score_many(
        self, records: Records, *, threads: int | None = None, json_columns: Sequence[str] = ()
    ) -> Batch[ScoreResult]:
        """Score each record, in order.

        Args:
            records: Records from any iterable; or JSON Lines, as bytes or as the path of a file;
                or Arrow data: a table, reader or data frame.
            threads: At least 1; taken for the sake of likeness, all is scored on the calling one.
            json_columns: Columns of Arrow data that hold JSON as text, by name.

        Raises:
            ConfigError: For a number of threads that is none, or records of another type.
            OSError: When the file or stream cannot be read.
        """
        return decide_each(self.score, self._rules, records, threads, json_columns)

    def _clamped(self, raw: int | Decimal) -> int | Decimal:
        score = raw if self._least is None else max(raw, self._least)
        return score if self._greatest is None else min(score, self._greatest)

    def _band(self, score: int | Decimal) -> str | None:
        for band in self._bands:
            if band.least <= score:
                return band.name
        return None


def rule_score(
    value: object,
    rules: Sequence[object],
    *,
    bands: Sequence[object] = (),
    min: Number | None = None,  # noqa: A002 (the name in data)
    max: Number | None = None,  # noqa: A002 (the name in data)
    version: str | None = None,
) -> ScoreResult:
    """Score a value; see `RuleScore` for the shapes.

    Raises:
        SpecInvalid: With every problem found, before anything is evaluated.
    """
    return RuleScore(rules, bands=bands, min=min, max=max, version=version).score(value)


def _reasons(reports: Iterable[RuleReport]) -> tuple[RuleReason, ...]:
    return tuple(RuleReason(id=report.name, reason=report.reason) for report in reports)


def _contribution(rule: dict[str, JSON]) -> Contribution:
    return Contribution(
        id=cast("str", rule["id"]),
        label=cast("str | None", rule.get("label")),
        points=written(exact(rule["points"])),
    )
