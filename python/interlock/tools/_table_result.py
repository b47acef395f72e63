"""What a DecisionTable says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

from interlock import _core
from interlock._wire import LateForm

if TYPE_CHECKING:
    from interlock.tools._rules import RuleReport
    from interlock.typing import JSON, Policy

__all__ = ["Rows", "TableResult"]


class Rows(NamedTuple):
    """What the rows of a table say once they hold."""

    names: tuple[str, ...]
    outputs: tuple[JSON, ...]
    copied: frozenset[int]
    """Rows whose outputs can be changed by whoever gets them, so that each gets its own."""

    def named(self, marks: bytes) -> tuple[str, ...]:
        """Name the rows that are marked."""
        return _core.marked(self.names, marks)

    def collected(self, marks: bytes) -> list[JSON]:
        """List the outputs of the rows that are marked."""
        outputs = _core.marked(self.outputs, marks)
        return cast("list[JSON]", _core.plain(outputs)) if self.copied else list(outputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableResult(LateForm):
    """What a table says of a record.

    Under `collect`, names and outputs are listed when they are first read.

    Attributes:
        ok: False when rows conflict or one is undecided; a plain miss is ok.
        matched: Whether a row or `otherwise` answers.
        policy: The table's hit policy.
        version: The table's version; None when it has none.
        matched_ids: The rows that hold, in declared order; under `first` the one that decided.
        decided_by: The rows whose outputs are given; no part of the wire form.
        outputs: The outputs; under `collect` a list of them, one a row; None when nothing answers.
        fallback: Whether `otherwise` answers.
        conflict: The rows that exclude each other, and why; else None.
        table_hash: 16 hexadecimal digits that change with the policy or any row.
        undetermined: The undecided row and why, when it could change the answer; else None.
        evaluated: With `verbose`, how every row fared.
    """

    late: ClassVar[frozenset[str]] = frozenset({"matched_ids", "decided_by", "outputs"})

    ok: bool
    matched: bool
    policy: Policy
    version: str | None
    matched_ids: tuple[str, ...]
    outputs: JSON
    fallback: bool
    conflict: str | None
    table_hash: str
    decided_by: tuple[str, ...] = ()
    undetermined: str | None = None
    evaluated: tuple[RuleReport, ...] | None = None

    @property
    def outcome(self) -> str:
        """A short label for counting."""
        if self.undetermined is not None:
            return "(undetermined)"
        if self.conflict is not None:
            return "(conflict)"
        if self.fallback:
            return "(otherwise)"
        return " + ".join(self.decided_by) if self.matched else "(no match)"

    def _made(self, name: str) -> object:
        rows: Rows = self._source
        return rows.collected(self._marks) if name == "outputs" else rows.named(self._marks)

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        wire: dict[str, JSON] = {
            "ok": self.ok,
            "matched": self.matched,
            "policy": self.policy,
            "version": self.version,
            "matchedIds": list(self.matched_ids),
            "outputs": _core.plain(self.outputs),
            "fallback": self.fallback,
            "conflict": self.conflict,
            "tableHash": self.table_hash,
        }
        if self.undetermined is not None:
            wire["undetermined"] = self.undetermined
        if self.evaluated is not None:
            wire["evaluated"] = [row.to_dict() for row in self.evaluated]
        return wire
