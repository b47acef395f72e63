"""From a document to its policy, and what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from interlock import _core
from interlock.errors import Problem, RunbookInvalid
from interlock.supervise._build import Builder
from interlock.supervise._faults import edge_budgets, entry_of, faults_of, step_budgets
from interlock.supervise._frozen import FrozenMap
from interlock.supervise._problems import budget_problems, certain, unknown_key
from interlock.supervise._source import Document, Source, placed, read_source
from interlock.supervise._warnings import warnings_of
from interlock.supervise.capability import meets
from interlock.supervise.parts import Ceilings, Escalation, OrderRule, Selector
from interlock.supervise.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from interlock.spec import Placed
    from interlock.spec.runbook import Runbook
    from interlock.spec.runbook import Selector as WrittenSelector
    from interlock.typing import JSON

__all__ = ["Examined", "derive_policy", "examine", "lint", "runbook_schema"]

_SECONDS = {"<5m": 300, "5-15m": 900, "15-60m": 3600, "1-4h": 14_400, ">4h": None, None: None}


class Examined(NamedTuple):
    """What came of reading a document.

    Attributes:
        source: Where it comes from.
        problems: Every fault and warning.
        policy: Its policy, also one with faults; None where there is nothing to derive from.
    """

    source: Source
    problems: tuple[Problem, ...]
    policy: Policy | None

    @property
    def placed(self) -> tuple[Placed, ...]:
        """The problems with line and column, in the order of the text."""
        return placed(self.source, self.problems)


def derive_policy(
    document: Document, *, strict: bool = True, runbooks: Iterable[Policy] = ()
) -> Policy:
    """Derive the policy of a runbook document; the same document gives an equal policy.

    Args:
        document: Plain data, the path of a YAML or JSON file, or a text (with a line break, or
            beginning with a brace).
        strict: Whether any fault refuses the document. Without it a policy is derived as far as
            possible; it keeps its `faults`, and starts at R0 alone.
        runbooks: The policies of the runbooks that steps of kind call enter.

    Raises:
        RunbookInvalid: With every fault found, and its line where the document is a text. Also
            without `strict` where there is nothing to derive from: a text that is not well formed
            or over 1 MiB, fields of a wrong type, no steps, more than 500.
        OSError: When it is the path of a file that cannot be read.
    """
    examined = examine(document, runbooks)
    faults = tuple(one for one in examined.problems if not one.is_warning)
    if examined.policy is None or (faults and strict):
        found = placed(examined.source, faults)
        places = tuple((one.line, one.column) for one in found)
        has_places = any(line for line, _ in places)
        raise RunbookInvalid(tuple(one.problem for one in found), places if has_places else ())
    return examined.policy


def lint(document: Document, *, runbooks: Iterable[Policy] = ()) -> tuple[Problem, ...]:
    """Return every fault and warning of a document; nothing is raised for a faulty one.

    Args:
        document: As `derive_policy` takes it.
        runbooks: As `derive_policy` takes them.

    Raises:
        OSError: When it is the path of a file that cannot be read.
    """
    return tuple(one.problem for one in examine(document, runbooks).placed)


def runbook_schema() -> dict[str, JSON]:
    """Return the JSON Schema (2020-12) of a runbook document."""
    from interlock.spec.runbook import runbook_schema as schema_of
    from interlock.tools._schema_errors import error_rule
    from interlock.tools._schema_parts import check

    return schema_of(check(), error_rule())


def examine(document: Document, runbooks: Iterable[Policy] = ()) -> Examined:
    """Read a document and find all that is wrong with it.

    Raises:
        OSError: When it is the path of a file that cannot be read.
    """
    from interlock.spec.runbook import read_runbook

    source = read_source(document)
    if source.data is None:
        return Examined(source, tuple(one.problem for one in source.faults), None)
    read, shape = read_runbook(source.data)
    if read is None:
        return Examined(source, tuple(shape), None)
    built = Builder(read, source.data, {policy.id: policy for policy in runbooks})
    entry, problems = entry_of(read, built)
    problems = [*shape, *built.problems, *problems]
    if not entry:
        return Examined(source, tuple(problems), None)
    policy, found = _policy(read, built, entry)
    problems += [*found, *faults_of(read, built, policy), *warnings_of(read, built, policy)]
    dropped = [one.field for one in shape if one.code != "spec/unknown-field"]
    if dropped:
        # What was read is not what is written: it is good for finding more faults, and no more.
        return Examined(source, (*shape, *certain(problems[len(shape) :], dropped)), None)
    return Examined(source, tuple(problems), _with_problems(policy, read, problems))


def _policy(document: Runbook, built: Builder, entry: str) -> tuple[Policy, list[Problem]]:
    edges, problems = edge_budgets(document, built)
    visits, more = step_budgets(document, built)
    ceilings, others = _ceilings(document, built)
    rules, unknown = _order_rules(document, built)
    policy = Policy(
        id=document.id,
        version=document.version,
        title=document.title or document.id,
        steps=built.steps,
        entry=entry,
        terminals=built.terminals,
        budgets=FrozenMap(edges),
        visit_budgets=FrozenMap(visits),
        ceilings=ceilings,
        tools=built.tools,
        execution=document.execution,
        inputs=built.inputs,
        suggested_wall_clock_seconds=_SECONDS[document.duration],
        escalation=Escalation(
            responses={str(name): one for name, one in document.escalation.responses.items()},
            max_total=document.escalation.max_total,
        ),
        never=rules,
        errors=built.errors,
    )
    return policy, [*problems, *more, *others, *unknown]


def _with_problems(policy: Policy, document: Runbook, problems: Iterable[Problem]) -> Policy:
    """Fill in what the finished policy and its lint say."""
    from dataclasses import replace

    found = tuple(problems)
    return replace(
        policy,
        min_runtime_profile=document.min_runtime_profile or policy.implied_minimum,
        warnings=tuple(one for one in found if one.is_warning),
        faults=tuple(one for one in found if not one.is_warning),
    )


def _ceilings(document: Runbook, built: Builder) -> tuple[Ceilings, list[Problem]]:
    """Read what a run may spend in all; what is wrong with it is left out."""
    given, problems = document.budgets, list[Problem]()
    calls = given.calls

    def kept(value: object, field: str) -> int | None:
        found = [] if value is None else budget_problems(value, field)
        problems.extend(found)
        return value if isinstance(value, int) and not found else None

    by_tool: dict[str, int] = {}
    by_step: dict[str, int] = {}
    total = calls if calls is None or isinstance(calls, int) else calls.total
    if calls is not None and not isinstance(calls, int):
        groups = (("tools", calls.tools, by_tool), ("steps", calls.steps, by_step))
        for name, budgets, into in groups:
            for key, value in budgets.items():
                field = f'budgets.calls.{name}["{key}"]'
                is_there = key in built.steps if name == "steps" else _is_met(key, built)
                if not is_there:
                    known = built.steps if name == "steps" else built.tools
                    problems.append(unknown_key(field, key, known))
                number = kept(value, field)
                if number is not None and is_there:
                    into[key] = number
    field = "budgets.calls" if isinstance(calls, int) else "budgets.calls.total"
    ceilings = Ceilings(
        calls=kept(total, field),
        calls_by_tool=FrozenMap(by_tool),
        calls_by_step=FrozenMap(by_step),
        tokens=kept(given.tokens, "budgets.tokens"),
        seconds=given.seconds,
    )
    return ceilings, problems


def _is_met(capability: str, built: Builder) -> bool:
    return any(meets(capability, tool) for tool in built.tools)


def _order_rules(document: Runbook, built: Builder) -> tuple[tuple[OrderRule, ...], list[Problem]]:
    problems: list[Problem] = []
    for at, rule in enumerate(document.never):
        for name, selector in (("after", rule.after), ("then", rule.then)):
            problems += _selector_problems(selector, f"never[{at}].{name}", built)
    rules = (
        OrderRule(after=_selector(rule.after), then=_selector(rule.then), message=rule.message)
        for rule in document.never
    )
    return tuple(rules), problems


def _selector(given: WrittenSelector) -> Selector:
    return Selector(
        tool=given.tool,
        capability_class=given.class_,
        effect=given.effect,
        step=given.step,
        label=given.label,
    )


def _selector_problems(given: WrittenSelector, field: str, built: Builder) -> Iterator[Problem]:
    """Yield what an order rule names and is not there: it would never hold."""
    if given == type(given)():
        message = "is required: one of tool, class, effect, step, label"
        yield Problem("spec/missing-field", field, None, message)
    if given.tool is not None and not _is_met(given.tool, built):
        message = "`tools` does not declare it, so the rule would never hold"
        yield Problem(
            "runbook/undeclared-tool", f"{field}.tool", _core.preview(given.tool), message
        )
    if given.step is not None and given.step not in built.steps:
        yield unknown_key(f"{field}.step", given.step, built.steps)
    labels = {label for tool in built.tools.values() for label in tool.labels}
    if given.label is not None and given.label not in labels:
        message = "no tool has this label, so the rule would never hold"
        yield Problem("runbook/undeclared-tool", f"{field}.label", given.label, message)
