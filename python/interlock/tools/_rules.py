"""How named condition lists fared: what arms, rows and their like have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock import _core
from interlock._wire import WireForm
from interlock.conditions import CheckReport, read_reports

if TYPE_CHECKING:
    from interlock.typing import JSON

__all__ = ["RuleReport", "open_reason", "rule_reports", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleReport(WireForm):
    """How one arm or row fared.

    Attributes:
        name: Its name or id.
        index: Its position, from 0.
        ok: Whether its conditions hold.
        passed: How many of its checks hold.
        failed: How many do not.
        reason: The reason of its first check that does not hold; empty when it is ok.
        undetermined: Whether it could not be decided.
    """

    name: str
    index: int
    ok: bool
    passed: int
    failed: int
    reason: str
    undetermined: bool = False

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        wire: dict[str, JSON] = {
            "name": self.name,
            "index": self.index,
            "ok": self.ok,
            "passed": self.passed,
            "failed": self.failed,
            "reason": self.reason,
        }
        if self.undetermined:
            wire["undetermined"] = True
        return wire


def rule_reports(
    rules: _core.RuleSet, value: object, start: int, end: int
) -> tuple[RuleReport, ...]:
    """Say how the lists from `start` to before `end` fared; none of their checks is skipped."""
    names = rules.names()
    return tuple(
        RuleReport(
            name=names[index] or "",
            index=index,
            ok=verdict > 0,
            passed=report.passed,
            failed=report.failed,
            reason="" if verdict > 0 else _first_reason(report, undetermined=verdict < 0),
            undetermined=verdict < 0,
        )
        for index, (verdict, report) in enumerate(read_reports(rules, value, start, end), start)
    )


def _first_reason(report: CheckReport, *, undetermined: bool) -> str:
    """Give the first reason; of an undecided list, that of its first undecided check."""
    wanted = (r.reason for r in report.failures if r.undetermined or not undetermined)
    return next(wanted, "")


def undecided(rules: _core.RuleSet, value: object, index: int) -> str:
    """Name an undecided list and say why."""
    (report,) = rule_reports(rules, value, index, index + 1)
    return open_reason(report)


def open_reason(report: RuleReport) -> str:
    """Name the undecided list of a report and say why."""
    return f"{_core.preview(report.name)}: {report.reason}"
