"""Conditions of a document, compiled strictly, with their faults at the fields of the document."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from interlock.conditions import Checks
from interlock.errors import ConfigError, Problem
from interlock.supervise._gate_rules import score_problems, table_problems
from interlock.supervise.failed import ERRORS, ErrorRules
from interlock.tools.branch import Branch
from interlock.tools.decision_table import DecisionTable
from interlock.tools.error_classify import ErrorClassify
from interlock.tools.lead_assign import LeadAssign
from interlock.tools.rule_score import RuleScore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from interlock._compiled import CompiledSpec
    from interlock.spec.runbook import Case, Errors

__all__ = ["Compiler", "part_of", "paths_of"]

NEVER = Checks([{"op": "notExists"}])
"""Conditions that never hold: what a broken list comes to."""

Made = TypeVar("Made", bound="CompiledSpec")


class Compiler:
    """Compiles conditions and keeps what is wrong with them."""

    def __init__(self) -> None:
        """Begin without problems."""
        self.problems: list[Problem] = []

    def checks(self, given: Sequence[object] | None, field: str) -> Checks | None:
        """Compile a list of checks; one that is broken never holds."""
        if given is None:
            return None
        made = self._made(lambda: Checks(given, strict=True), "checks", field)
        return NEVER if made is None else made

    def branch(self, cases: Sequence[Case], otherwise: str | None, field: str) -> Branch | None:
        """Compile the arms of a decision; the result of each is a target."""
        arms = [
            {"name": f"case-{at + 1}", "when": case.when, "match": case.match, "result": case.to}
            for at, case in enumerate(cases)
        ]
        last = None if otherwise is None else {"name": "otherwise", "result": otherwise}
        return self._made(lambda: Branch(arms, otherwise=last, strict=True), "arms", field)

    def errors(self, given: Errors, field: str) -> ErrorRules:
        """Compile rules for errors; where one is broken the tables alone are asked."""
        made = self._made(lambda: ErrorClassify(given.rules, strict=True), "", f"{field}.")
        return ErrorRules(classify=made or ERRORS.classify, on_escalate=given.on_escalate)

    def roster(self, given: Mapping[str, object], field: str) -> LeadAssign | None:
        """Compile a roster of approvers."""
        return self._made(lambda: LeadAssign.from_spec(given, strict=True), "", f"{field}.")

    def table(self, given: Mapping[str, object], field: str) -> DecisionTable | None:
        """Compile the rules of a gate; broken ones free no call of it."""
        made = self._made(lambda: DecisionTable.from_spec(given, strict=True), "", f"{field}.")
        return None if self._refused(table_problems(given), field) else made

    def score(self, given: Mapping[str, object], field: str) -> RuleScore | None:
        """Compile the score of a gate; a broken one frees no call of it."""
        made = self._made(lambda: RuleScore.from_spec(given, strict=True), "", f"{field}.")
        return None if self._refused(score_problems(given), field) else made

    def _refused(self, problems: Iterable[Problem], field: str) -> bool:
        found = list(problems)
        self._keep(found, "", f"{field}.")
        return bool(found)

    def _made(self, make: Callable[[], Made], prefix: str, field: str) -> Made | None:
        try:
            made = make()
        except ConfigError as error:
            self._keep(error.problems, prefix, field)
            return None
        self._keep(made.lint(), prefix, field)
        return made

    def _keep(self, problems: Iterable[Problem], prefix: str, field: str) -> None:
        for problem in problems:
            at = field + problem.field.removeprefix(prefix)
            self.problems.append(problem._replace(field=at))


def paths_of(checks: object) -> Iterable[tuple[int, str]]:
    """Yield the position and the path of each check that has one."""
    for at, check in enumerate(cast("Sequence[object]", checks or ())):
        path = part_of(check, "path")
        if isinstance(path, str):
            yield at, path


def part_of(check: object, name: str) -> object:
    """Return a field of a check as it is written; None where it is no mapping or has none."""
    return cast("dict[str, object]", check).get(name) if isinstance(check, dict) else None
