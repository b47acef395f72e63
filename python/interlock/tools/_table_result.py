"""What a DecisionTable says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock import _core
from interlock._wire import WireForm

if TYPE_CHECKING:
    from interlock.tools._rules import RuleReport
    from interlock.typing import JSON, Policy

__all__ = ["TableResult"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableResult(WireForm):
    """What a table says of a record.

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
