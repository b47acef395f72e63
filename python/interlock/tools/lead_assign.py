"""LeadAssign: whose is it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, cast

from interlock import _core
from interlock._compiled import CompiledSpec, beside, plain_problems, refuse
from interlock._wire import WireForm
from interlock.errors import SpecInvalid
from interlock.tools._fields import ABSENT, choice_problems, spelled_catch_all, version_problems
from interlock.tools._limits import OWNERS_LIMIT
from interlock.tools._numbers import exact
from interlock.tools._owners import (
    ConsideredOwner,
    Standing,
    cursor_problems,
    owner_problems,
    read_fallback,
    standing,
)
from interlock.tools._records import decide_each
from interlock.tools._rules import RuleReport, open_reason, rule_reports

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from interlock._lines import Records
    from interlock.tools._batch import Batch
    from interlock.typing import JSON, Limits, Strategy

__all__ = ["LeadAssign", "LeadResult", "cursor_problems", "lead_assign"]

_STRATEGIES = ("first", "specific", "least_loaded", "round_robin")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadResult(WireForm):
    """Whose a record is.

    Attributes:
        ok: False when owners tie or one cannot be judged; nobody being there is ok.
        assigned: Whether somebody has it, be it the fallback.
        owner: Who; None when nobody.
        fallback: Whether it is the owner of last resort.
        strategy: The strategy of the roster.
        version: The version of the roster; None when it has none.
        eligible: The owners that may be taken, in declared order.
        cursor: Under `round_robin` what to give to the next call; None when nobody was picked.
        conflict: Why no owner could be picked, naming all that stand in the way; else None.
        considered: With `verbose`, how every owner fared.
        undetermined: The owners whose conditions could not be decided; no part of the wire form,
            where `conflict` names them.
    """

    ok: bool
    assigned: bool
    owner: str | None
    fallback: bool
    strategy: Strategy
    version: str | None
    eligible: tuple[str, ...]
    cursor: int | None
    conflict: str | None
    considered: tuple[ConsideredOwner, ...] | None = None
    undetermined: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """A short label for counting."""
        if self.undetermined:
            return "(undetermined)"
        if self.conflict is not None:
            return "(conflict)"
        return "(no match)" if self.owner is None else self.owner

    def next_cursor(self, cursor: int | None) -> int | None:
        """Give the cursor for the next record, `cursor` being the one of this record."""
        return cursor if self.cursor is None else self.cursor

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        wire: dict[str, JSON] = {
            "ok": self.ok,
            "assigned": self.assigned,
            "owner": self.owner,
            "fallback": self.fallback,
            "strategy": self.strategy,
            "version": self.version,
            "eligible": list(self.eligible),
            "cursor": self.cursor,
            "conflict": self.conflict,
        }
        if self.considered is not None:
            wire["considered"] = [owner.to_dict() for owner in self.considered]
        return wire


class LeadAssign(CompiledSpec):
    """A roster of owners, compiled: the strategy says which of the eligible ones is taken.

    Args:
        owners: Mappings of `id`, `when` (1 to 64 checks), optional `match` (`all`, the default, or
            `any`), `load` and `capacity` (finite numbers of at least 0) and `available` (default
            true); 1 to 256 of them, ids distinct.
        strategy: `first`: in declared order. `specific`: who requires the most checks (`all`:
            their number, `any`: one); a tie is a conflict. `least_loaded`: the lowest load, of
            equal ones the earlier. `round_robin`: the first eligible one at or after the cursor.
        fallback: A mapping of `id` that answers when nobody is eligible.
        version: A text that comes back with every answer.
        strict: Whether a broken check refuses the roster; else it fails with its reason.
        limits: Limits to lower or raise, by name; `rules` is the number of owners.

    Raises:
        SpecInvalid: With every problem found.

    Example:
        >>> from interlock import LeadAssign
        >>> anything = [{"op": "exists"}]
        >>> roster = LeadAssign(
        ...     [{"id": "ann", "when": anything}, {"id": "bo", "when": anything}],
        ...     strategy="round_robin",
        ... )
        >>> answer = roster.assign({"country": "DE"}, cursor=1)
        >>> answer.owner, answer.cursor
        ('bo', 0)
    """

    __slots__ = ("_ids", "_miss", "_positions", "_standings")

    tool = "LeadAssign"
    spec_fields = ("owners", "strategy", "fallback", "version")

    _ids: tuple[str, ...]
    _positions: tuple[int, ...]
    _standings: tuple[Standing, ...]
    """How each owner stands once the conditions hold; the roster alone says so."""
    _miss: LeadResult

    def __init__(
        self,
        owners: Sequence[object],
        *,
        strategy: Strategy,
        fallback: Mapping[str, object] | None = None,
        version: str | None = None,
        strict: bool = False,
        limits: Limits | None = None,
    ) -> None:
        """Compile the roster."""
        rules, problems, faults = _core.compile_rules(
            owners,
            field="owners",
            label="id",
            extra=["load", "capacity", "available"],
            limits={"rules": OWNERS_LIMIT, **(limits or {})},
        )
        last, more = read_fallback(fallback)
        plain, not_plain = plain_problems(owners, "owners")
        more += [*choice_problems(strategy, "strategy", _STRATEGIES), *version_problems(version)]
        more += [*beside(problems, not_plain), *owner_problems(plain)]
        told = spelled_catch_all(problems, "a catch-all is spelled `fallback`")
        refuse([*told, *more, *(faults if strict else ())])
        entries = cast("list[dict[str, JSON]]", plain)
        spec: dict[str, JSON] = {"owners": plain, "strategy": strategy}
        if last is not None:
            spec["fallback"] = {"id": last}
        if version is not None:
            spec["version"] = version
        self._freeze(cast("_core.RuleSet", rules), spec, limits, faults)
        self._set("_ids", tuple(owner["id"] for owner in entries))
        self._set("_positions", tuple(range(len(entries))))
        self._set("_standings", tuple(standing(owner, strategy) for owner in entries))
        self._set("_miss", _missed(strategy, version, last))

    @classmethod
    def _from_fields(cls, entries: object, fields: dict[str, object], **options: Any) -> Self:
        return super()._from_fields(entries, {"strategy": ABSENT, **fields}, **options)

    def assign(
        self, value: object, *, cursor: int | None = None, verbose: bool = False
    ) -> LeadResult:
        """Say whose a record is.

        An owner that cannot be judged refuses the whole answer, the fallback included: it might
        have been the one.

        Args:
            value: The record: Python data, a dataclass, pydantic or attrs object, or `Json`.
            cursor: Under `round_robin` the position to start at, a whole number of at least 0 (of
                any size: it counts modulo the number of owners); None: 0. Other strategies take no
                notice of it.
            verbose: Whether the result says how every owner fared.

        Raises:
            SpecInvalid: When the cursor is none.
        """
        answer = self._assigned(value, cursor)
        if verbose:
            reports = rule_reports(self._rules, value, 0, len(self._ids))
            answer = replace(answer, considered=tuple(self._considered(reports)))
        return answer

    def assign_many(
        self,
        records: Records,
        *,
        cursor: int | None = None,
        threads: int | None = None,
        json_columns: Sequence[str] = (),
    ) -> Batch[LeadResult]:
        """Assign each record, in order; the cursor of one answer goes into the next.

        Args:
            records: Records from any iterable, JSON Lines (bytes or a file's path), or Arrow data.
            cursor: The cursor for the first record.
            threads: How many read JSON Lines; the owners are picked one after the other.
            json_columns: Columns of Arrow data that hold JSON as text, by name.

        Raises:
            ConfigError: For a number of threads that is none, or records of another type.
            OSError: When the file or stream cannot be read.
        """

        def ask(record: object, held: bytes | None = None) -> LeadResult:
            nonlocal cursor
            answer = self._assigned(record, cursor, held)
            cursor = answer.next_cursor(cursor)
            return answer

        return decide_each(ask, self._rules, records, threads, json_columns, partial(ask, None))

    def _assigned(
        self, value: object, cursor: int | None, known: bytes | None = None
    ) -> LeadResult:
        refuse(cursor_problems(cursor))
        undecided, marks = self._rules.standing(value) if known is None else ((), known)
        held = _core.marked(self._positions, marks)
        reports = rule_reports(self._rules, value, 0, len(self._ids)) if undecided else ()
        return self._judged(undecided, held, reports, int(exact(cursor or 0)))

    def _judged(
        self,
        undecided: Sequence[int],
        held: Sequence[int],
        reports: Sequence[RuleReport],
        cursor: int,
    ) -> LeadResult:
        eligible = [owner for owner in held if self._standings[owner].eligible]
        unknown = [owner for owner in held if self._standings[owner].eligible is None]
        answer = replace(self._miss, eligible=self._named(eligible))
        if undecided or unknown:
            reasons = {owner: self._standings[owner].reason for owner in unknown}
            reasons |= {owner: open_reason(reports[owner]) for owner in undecided}
            conflict = "; ".join(reasons[owner] for owner in sorted(reasons))
            answer = _refused(answer, conflict)
            return replace(answer, undetermined=self._named(undecided))
        return self._picked(answer, eligible, cursor) if eligible else answer

    def _picked(self, answer: LeadResult, eligible: list[int], cursor: int) -> LeadResult:
        size, winner = len(self._ids), eligible[0]
        if answer.strategy == "specific":
            required = {owner: self._required(owner) for owner in eligible}
            top = max(required.values())
            rivals = [owner for owner in eligible if required[owner] == top]
            if len(rivals) > 1:
                named = ", ".join(map(_core.preview, self._named(rivals)))
                return _refused(answer, f"owners {named} are equally specific ({top})")
            winner = rivals[0]
        elif answer.strategy == "least_loaded":
            winner = min(eligible, key=lambda owner: self._standings[owner].load)
        elif answer.strategy == "round_robin":
            winner = min(eligible, key=lambda owner: (owner - cursor) % size)
        moved = (winner + 1) % size if answer.strategy == "round_robin" else None
        owner = self._ids[winner]
        return replace(answer, assigned=True, owner=owner, fallback=False, cursor=moved)

    def _required(self, owner: int) -> int:
        count, either = cast("tuple[int, bool]", self._rules.requirement(owner))
        return 1 if either else count

    def _considered(self, reports: Iterable[RuleReport]) -> Iterable[ConsideredOwner]:
        for report, stands in zip(reports, self._standings, strict=True):
            eligible = stands.eligible if report.ok else None if report.undetermined else False
            reason = stands.reason if report.ok else report.reason
            yield ConsideredOwner(
                id=report.name, eligible=eligible, reason=reason, matched=report.passed
            )

    def _named(self, owners: Iterable[int]) -> tuple[str, ...]:
        return tuple(self._ids[owner] for owner in owners)


def lead_assign(
    value: object,
    owners: Sequence[object],
    *,
    strategy: Strategy,
    cursor: int | None = None,
    fallback: Mapping[str, object] | None = None,
    version: str | None = None,
) -> LeadResult:
    """Say whose a value is; see `LeadAssign` for the shapes.

    Raises:
        SpecInvalid: With every problem found, before anything is evaluated.
    """
    problems = cursor_problems(cursor)
    try:
        roster = LeadAssign(owners, strategy=strategy, fallback=fallback, version=version)
    except SpecInvalid as error:
        raise SpecInvalid((*error.problems, *problems)) from None
    return roster.assign(value, cursor=cursor)


def _missed(strategy: Strategy, version: str | None, fallback: str | None) -> LeadResult:
    return LeadResult(
        ok=True,
        assigned=fallback is not None,
        owner=fallback,
        fallback=fallback is not None,
        strategy=strategy,
        version=version,
        eligible=(),
        cursor=None,
        conflict=None,
    )


def _refused(answer: LeadResult, conflict: str) -> LeadResult:
    return replace(answer, ok=False, assigned=False, owner=None, fallback=False, conflict=conflict)
