"""RuleScore: what a record scores, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from interlock import _core
from interlock._compiled import CompiledSpec, beside, plain_problems, refuse
from interlock.tools._fields import spelled_catch_all, version_problems
from interlock.tools._limits import RULES_LIMIT
from interlock.tools._numbers import exact, places, scaled, unscaled, written
from interlock.tools._points import range_problems, read_bands, rule_problems
from interlock.tools._records import decide_each
from interlock.tools._rules import RuleReport, rule_reports
from interlock.tools._score_result import Contribution, RuleReason, ScoreDraft, ScoreResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from decimal import Decimal

    from interlock._lines import Records
    from interlock.tools._batch import Batch
    from interlock.typing import JSON, Limits, Number
__all__ = ["Contribution", "RuleReason", "RuleScore", "ScoreResult", "rule_score"]

_CATCH_ALL = "a rule for every record checks the op `exists` of the value itself"
_KEPT = 4096
"""How many answers of a batch are kept for records of which the same rules hold."""


class _Band(NamedTuple):
    name: str
    least: int


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
        "_bands",
        "_contributions",
        "_greatest",
        "_is_sum",
        "_least",
        "_points",
        "_scale",
        "_version",
    )

    tool = "RuleScore"
    spec_fields = ("rules", "bands", "min", "max", "version")

    _version: str | None
    _contributions: tuple[Contribution, ...]
    _scale: int
    """Points, bands and bounds are whole numbers of parts, of which 10 to this power are one."""
    _points: _core.Points
    _bands: tuple[_Band, ...]
    """The highest first."""
    _least: int | None
    _greatest: int | None
    _is_sum: bool
    """Whether a sum of parts is the score as it is."""

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
        self._read_parts([exact(rule["points"]) for rule in entries], levels, min, max)

    def _read_parts(
        self,
        points: Sequence[Decimal],
        bands: Sequence[dict[str, JSON]],
        least: Number | None,
        greatest: Number | None,
    ) -> None:
        levels = [exact(band["min"]) for band in bands]
        low, high = (None if bound is None else exact(bound) for bound in (least, greatest))
        given = (*points, *levels, *(bound for bound in (low, high) if bound is not None))
        scale = max(map(places, given))
        self._set("_scale", scale)
        self._set("_points", _core.Points(tuple(scaled(each, scale) for each in points)))
        named = [
            _Band(cast("str", band["name"]), scaled(level, scale))
            for band, level in zip(bands, levels, strict=True)
        ]
        # Of equal ones the first stays first.
        self._set("_bands", tuple(sorted(named, key=lambda band: band.least, reverse=True)))
        self._set("_least", None if low is None else scaled(low, scale))
        self._set("_greatest", None if high is None else scaled(high, scale))
        self._set("_is_sum", not (scale or bands or low is not None or high is not None))

    def score(self, value: object, *, include_missed: bool = False) -> ScoreResult:
        """Add up the points of the rules that hold.

        An undecided rule leaves the score open: whatever number stood there could be wrong.

        Args:
            value: The record: Python data, a dataclass, pydantic or attrs object, or `Json`.
            include_missed: Whether the result lists the rules that do not hold, each with its
                first reason.
        """
        held, parts = self._rules.score(value, self._points)
        answer = self._draft(held, parts)
        if parts is None or include_missed:
            reports = rule_reports(self._rules, value, 0, len(self._rules))
            answer.undetermined = _reasons(r for r in reports if r.undetermined)
            missed = _reasons(r for r in reports if not (r.ok or r.undetermined))
            answer.missed = missed if include_missed else None
        answer.__class__ = ScoreResult
        return cast("ScoreResult", answer)

    def _draft(self, held: bytes, parts: int | None) -> Any:  # a `ScoreDraft`
        """Begin an answer by the rules that hold and the sum of their points."""
        answer = ScoreDraft()
        if parts is None or self._is_sum:
            answer.score = answer.raw_score = parts
            answer.band = None
        else:
            score = self._clamped(parts)
            answer.raw_score = unscaled(parts, self._scale)
            answer.score = answer.raw_score if score == parts else unscaled(score, self._scale)
            answer.band = self._band(score)
        answer.version = self._version
        answer.missed, answer.undetermined = None, ()
        answer._contributions = self._contributions  # noqa: SLF001 (ours until it is given)
        answer.contributors = held
        return answer

    def score_many(
        self, records: Records, *, threads: int | None = None, json_columns: Sequence[str] = ()
    ) -> Batch[ScoreResult]:
        """Score each record, in order.

        Args:
            records: Records from any iterable; or JSON Lines, as bytes or as the path of a file;
                or Arrow data: a table, reader or data frame.
            threads: How many read JSON Lines; all else is scored on the calling thread.
            json_columns: Columns of Arrow data that hold JSON as text, by name.

        Raises:
            ConfigError: For a number of threads that is none, or records of another type.
            OSError: When the file or stream cannot be read.
        """
        given: dict[bytes, ScoreResult] = {}

        def known(held: bytes) -> ScoreResult:
            answer = given.get(held)
            if answer is None:
                draft = self._draft(held, self._points.sum(held))
                draft.__class__ = ScoreResult
                answer = cast("ScoreResult", draft)
                if len(given) < _KEPT:
                    given[held] = answer
            return answer

        return decide_each(self.score, self._rules, records, threads, json_columns, known)

    def _clamped(self, parts: int) -> int:
        score = parts if self._least is None else max(parts, self._least)
        return score if self._greatest is None else min(score, self._greatest)

    def _band(self, parts: int) -> str | None:
        for band in self._bands:
            if band.least <= parts:
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
