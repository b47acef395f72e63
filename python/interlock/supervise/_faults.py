"""What is wrong with a document as a whole: its graph, its budgets, its inputs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from interlock import _core
from interlock.errors import Problem
from interlock.supervise._conditions import part_of, paths_of
from interlock.supervise._gate_rules import conditions_in, path_problem
from interlock.supervise._graph import components, ordered, reachable, shortest_cycle
from interlock.supervise._problems import budget_problems, unknown_key, unknown_target
from interlock.supervise.inputs import IN_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock.spec.runbook import Runbook, Step
    from interlock.supervise._build import Builder
    from interlock.supervise.policy import Policy

__all__ = ["edge_budgets", "entry_of", "faults_of", "inputs_in", "step_budgets"]

_LEFT_BY_NEXT = ("action", "check", "wait", "manual", "approval")


def entry_of(document: Runbook, built: Builder) -> tuple[str, list[Problem]]:
    """Return the step where a run begins, the first for one that is not there, and faults."""
    first = next(iter(built.steps), "")
    if not first:
        message = "is empty: there is nothing to begin with; write at least one step"
        return "", [Problem("runbook/no-entry", "steps", "[]", message)]
    if document.entry in built.steps or document.entry is None:
        return document.entry or first, []
    return first, [unknown_target("entry", document.entry, built.steps)]


def edge_budgets(document: Runbook, built: Builder) -> tuple[dict[str, int], list[Problem]]:
    """Return the budgets of edges that are there, and what is wrong with others."""
    there = {f"{source}->{target}" for source, target in built.fields}
    kept: dict[str, int] = {}
    problems: list[Problem] = []
    for key, budget in document.budgets.edges.items():
        field = f'budgets.edges["{key}"]'
        found = budget_problems(budget, field)
        if key not in there:
            problems.append(unknown_key(field, key, there))
        elif not found:
            kept[key] = budget
        problems += found
    return kept, problems


def step_budgets(document: Runbook, built: Builder) -> tuple[dict[str, int], list[Problem]]:
    """Return the budgets of visits of steps that are there, and what is wrong with others."""
    kept: dict[str, int] = {}
    problems: list[Problem] = []
    for id_, budget in document.budgets.steps.items():
        field = f"budgets.steps.{id_}"
        found = budget_problems(budget, field)
        if id_ not in built.steps:
            problems.append(unknown_key(field, id_, built.steps))
        elif not found:
            kept[id_] = budget
        problems += found
    return kept, problems


def faults_of(document: Runbook, built: Builder, policy: Policy) -> Iterator[Problem]:
    """Yield the faults that no single field shows."""
    yield from _ways(document, built)
    yield from _endless(document, built, policy)
    yield from _steps(document, built)
    yield from _unknown_inputs(document)
    yield from _gate_paths(document)
    if document.execution == "agent-autonomous" and document.min_runtime_profile == "R0":
        message = "an agent alone needs R1 at least: R0 enforces nothing"
        yield Problem("runbook/unsupervised", "min_runtime_profile", '"R0"', message)
    if (document.min_runtime_profile or policy.implied_minimum) == "R2":
        for at, tool in enumerate(document.tools):
            if tool.effect is None:
                message = "is required where the policy runs at R2: readonly, write, destructive "
                message += "or irreversible"
                yield Problem("runbook/effect-undeclared", f"tools[{at}].effect", None, message)


def _ways(document: Runbook, built: Builder) -> Iterator[Problem]:
    """Yield the steps that a run cannot leave, or not to an end."""
    stuck: set[str] = set()
    for at, step in enumerate(document.steps):
        has_exit = step.next is not None or step.kind not in _LEFT_BY_NEXT
        has_case = step.kind != "decision" or step.cases
        if not has_exit or not has_case:
            field = "next" if not has_exit else "cases"
            stuck.add(step.id)
            following = document.steps[at + 1].id if at + 1 < len(document.steps) else None
            hint = f", such as {following}" if following and not has_exit else ""
            message = f"is required: where the step leads when it is done{hint}"
            yield Problem("runbook/no-exit", f"steps[{at}].{field}", None, message)
    if not built.terminals:
        if built.steps:
            message = "is required: at least one place where the run ends"
            yield Problem("runbook/no-terminal", "terminals", None, message)
        return
    # A step with a fault of its own might have led to an end.
    ends = {*built.terminals, *stuck, *(id_ for id_ in built.steps if _has_lost_exit(built, id_))}
    leads_from: dict[str, list[str]] = {}
    for source, target in built.fields:
        leads_from.setdefault(target, []).append(source)
    ending = reachable(ends, leads_from)
    for id_ in built.steps:
        if id_ not in ending:
            message = "no terminal can be reached from here"
            field = f"steps[{built.places[id_]}]"
            yield Problem("runbook/no-terminal", field, _core.preview(id_), message)


def _has_lost_exit(built: Builder, id_: str) -> bool:
    prefix = f"steps[{built.places[id_]}]."
    return any(
        p.code == "runbook/unknown-target" and p.field.startswith(prefix) for p in built.problems
    )


def _endless(document: Runbook, built: Builder, policy: Policy) -> Iterator[Problem]:
    """Yield every cycle in which no edge has a budget, by one shortest of each knot of them."""
    budgeted = document.budgets.edges
    free = {
        step.id: [
            target
            for target in step.transitions
            if target in policy.steps and f"{step.id}->{target}" not in budgeted
        ]
        for step in policy.steps.values()
    }
    if ordered(list(free), free) is not None:
        return
    knots = [group for group in components(free) if len(group) > 1 or group[0] in free[group[0]]]
    for group in sorted(knots, key=lambda group: min(built.places[id_] for id_ in group)):
        first = min(group, key=lambda id_: built.places[id_])
        cycle = shortest_cycle(first, free) or [first, first]
        source, target = cycle[-2:]
        message = (
            f"no edge of {' -> '.join(cycle)} has a budget, so the run might never end; write "
            f'how often it may be taken, as in budgets.edges: {{"{source}->{target}": 3}}'
        )
        shown = _core.preview(target)
        yield Problem("runbook/endless-cycle", built.fields[source, target], shown, message)


def _steps(document: Runbook, built: Builder) -> Iterator[Problem]:
    """Yield steps that do not have what their kind needs."""
    for at, step in enumerate(document.steps):
        if step.kind == "check" and step.verify is None:
            message = "is required: a check decides by what it verifies"
            yield Problem("runbook/no-verify", f"steps[{at}].verify", None, message)
        if step.kind == "decision" and step.otherwise is None and step.cases:
            left = _left_open(step, document)
            if left is None or left:
                shown = "" if left is None else f" (nothing is said of {', '.join(sorted(left))})"
                message = f"is required: where the step leads when no case holds{shown}"
                yield Problem("runbook/not-exhaustive", f"steps[{at}].otherwise", None, message)
        called = built.steps[step.id].calls if step.id in built.steps else None
        if called is not None and called.policy is not None:
            yield from _called(called.policy, built, f"steps[{at}]")
            yield from _outcomes(step, called.policy, f"steps[{at}]")


def _left_open(step: Step, document: Runbook) -> set[str] | None:
    """Return the values of a declared enumeration that no case names; None where there is none.

    It is one where every case is a single check for equality on one input, and the checks of that
    input list what it may be (or it is a boolean).
    """
    covered: set[str] = set()
    paths: set[str] = set()
    for case in step.cases:
        if len(case.when) != 1:
            return None
        op, expected = part_of(case.when[0], "op"), part_of(case.when[0], "expected")
        if op not in ("equals", "oneOf"):
            return None
        covered.update(map(_core.fingerprint, _listed(expected) if op == "oneOf" else [expected]))
        paths.add(str(part_of(case.when[0], "path")))
    name = paths.pop().removeprefix("inputs.") if len(paths) == 1 else ""
    given = document.inputs.get(name)
    if given is None:
        return None
    declared: list[object] = [True, False] if given.type == "boolean" else []
    for check in given.checks or ():
        if part_of(check, "op") == "oneOf" and not part_of(check, "path"):
            declared = _listed(part_of(check, "expected"))
    if not declared:
        return None
    return {_core.preview(one, 40) for one in declared if _core.fingerprint(one) not in covered}


def _listed(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _called(policy: Policy, built: Builder, field: str) -> Iterator[Problem]:
    """Yield what stands against entering a runbook: its faults, and inputs that it is not given."""
    if policy.faults:
        message = f"{policy.id} has {len(policy.faults)} faults, the first: {policy.faults[0]}"
        yield Problem("runbook/faulty", f"{field}.calls.id", _core.preview(policy.id), message)
    for name, wanted in policy.inputs.items():
        given = built.inputs.get(name)
        if given is None or replace(given, required=True, default_json=None) != replace(
            wanted, required=True, default_json=None
        ):
            message = f"{policy.id} is given the inputs of this runbook: declare it as there"
            place = f"{field}.calls.id" if given is None else f"inputs.{name}"
            yield Problem("runbook/call-inputs", place, _core.preview(name), message)


def _outcomes(step: Step, policy: Policy, field: str) -> Iterator[Problem]:
    """Yield outcomes that a called runbook has not, and those that lead nowhere from the step."""
    named = step.calls.outcomes if step.calls is not None else {}
    there = sorted(set(policy.terminals.values()))
    for name in named:
        if name not in there:
            near = _core.nearest(name, there)
            hint = f'; did you mean "{near}"?' if near else ""
            message = f"{policy.id} comes to no such outcome{hint}"
            at = f"{field}.calls.outcomes.{name}"
            yield Problem("runbook/unknown-target", at, _core.preview(name), message)
    left = [one for one in there if one not in named]
    if left and step.otherwise is None:
        message = f"is required: nothing is said of the outcomes {', '.join(left)}"
        yield Problem("runbook/not-exhaustive", f"{field}.otherwise", None, message)


def inputs_in(step: Step) -> Iterator[tuple[str, str]]:
    """Yield the field and the name of every input that the texts of a step show."""
    texts = {"do": step.do, "title": step.title}
    if step.gate is not None and step.gate != "none":
        texts["gate.question"] = step.gate.question
    for field, text in texts.items():
        # PERF: most texts show none.
        if "{inputs." in text:
            yield from ((field, name) for name in IN_TEXT.findall(text))


def _unknown_inputs(document: Runbook) -> Iterator[Problem]:
    known = list(document.inputs)
    for at, step in enumerate(document.steps):
        used = list(inputs_in(step))
        for n, case in enumerate(step.cases):
            used += _inputs_of(case.when, f"cases[{n}].when")
        if step.verify is not None:
            used += _inputs_of(step.verify.checks, "verify.checks")
        if step.gate is not None and step.gate != "none":
            for where, when in conditions_in(step.gate):
                used += _inputs_of(when, where)
        for field, name in used:
            if name not in document.inputs:
                near = _core.nearest(name, known)
                hint = f'; did you mean "{near}"?' if near else ""
                place = f"steps[{at}].{field}"
                message = f"`inputs` does not declare it{hint}"
                yield Problem("runbook/unknown-input", place, _core.preview(name), message)


def _gate_paths(document: Runbook) -> Iterator[Problem]:
    """Yield the paths in the rules of gates that lead to nothing: such a rule never holds."""
    for at, step in enumerate(document.steps):
        if step.gate is None or step.gate == "none":
            continue
        for where, when in conditions_in(step.gate):
            for n, path in paths_of(when):
                found = path_problem(f"steps[{at}].{where}[{n}].path", path)
                if found is not None:
                    yield found
            for field, name in _inputs_of(when, where):
                if name in document.inputs and document.inputs[name].secret:
                    message = "is secret: no rule sees it, so this one would never hold"
                    yield Problem("runbook/secret", f"steps[{at}].{field}", name, message)


def _inputs_of(checks: object, field: str) -> list[tuple[str, str]]:
    return [
        (f"{field}[{at}].path", path.removeprefix("inputs.").partition(".")[0].partition("[")[0])
        for at, path in paths_of(checks)
        if path.startswith("inputs.")
    ]
