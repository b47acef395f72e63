"""What may be meant otherwise in a document, and refuses nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from interlock import _core
from interlock.errors import Problem
from interlock.supervise._faults import inputs_in
from interlock.supervise._graph import components, reachable
from interlock.supervise.capability import capability_class_of, meets
from interlock.supervise.contract import at_least
from interlock.supervise.risk import is_dangerous

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from interlock.spec.runbook import Runbook, Step
    from interlock.supervise._build import Builder
    from interlock.supervise.policy import Policy, PolicyStep

__all__ = ["RESERVED_OUTCOMES", "warnings_of"]

RESERVED_OUTCOMES = ("budget-exhausted", "timed-out", "aborted", "stopped", "no-progress")
"""What a run comes to when the supervisor ends it."""

_DAY = 86_400
_TRANSITIONS = 7
_ACTING = ("action", "check", "wait", "manual")
_CALLING = ("action", "check", "wait")
_HOST = re.compile(r"\bhttps?://([A-Za-z0-9.-]+)")
_PATH = re.compile(r"(?<![\w:/.~<}\])-])/(?:[\w.-]+/)*[\w-][\w.-]*")
_COMMAND = re.compile(r"`([A-Za-z0-9_.-]++)[^`]*+`")


def warnings_of(document: Runbook, built: Builder, policy: Policy) -> Iterator[Problem]:
    """Yield all warnings, those of the whole document first."""
    yield from _of_document(document, policy)
    yield from _of_budgets(policy)
    reached = reachable([policy.entry], {s.id: s.transitions for s in policy.steps.values()})
    for at, written in enumerate(document.steps):
        step = policy.steps[written.id]
        if built.places[written.id] != at:
            continue
        field = f"steps[{at}]"
        if step.id not in reached:
            yield _warning("unreachable-step", field, step.id, "no way leads here from the entry")
        yield from _of_step(written, step, field)
        yield from _of_gate(written, step, field)
        yield from _of_text(written, step, policy, built, field)


def _warning(name: str, field: str, value: object, message: str) -> Problem:
    return Problem(f"lint/{name}", field, None if value is None else _core.preview(value), message)


def _of_document(document: Runbook, policy: Policy) -> Iterator[Problem]:
    if document.duration is None:
        yield _warning("no-duration", "duration", None, "is absent: how long does it usually take")
    declared, implied = document.min_runtime_profile, policy.implied_minimum
    if declared is not None and not at_least(declared, implied):
        message = f"risk {policy.max_risk} and {policy.execution} ask for {implied}"
        yield _warning("profile-below-implied", "min_runtime_profile", declared, message)
    used = {one for step in policy.steps.values() for one in step.tools}
    for at, tool in enumerate(document.tools):
        if tool.id not in used and not any(meets(tool.id, one) for one in used):
            yield _warning("unused-tool", f"tools[{at}].id", tool.id, "no step uses it")
    seen: dict[str, str] = {}
    for id_, outcome in policy.terminals.items():
        if outcome in seen:
            message = f"the outcome of {seen[outcome]} too: a report cannot tell them apart"
            yield _warning("shared-outcome", _terminal(document, id_), outcome, message)
        seen.setdefault(outcome, id_)
        if outcome in RESERVED_OUTCOMES:
            message = "is what the supervisor calls an end of its own; take another word"
            yield _warning("reserved-outcome", _terminal(document, id_), outcome, message)


def _terminal(document: Runbook, id_: str) -> str:
    """Return the field of the outcome of a terminal, which may be a step of kind end."""
    listed = (f"terminals[{at}]" for at, one in enumerate(document.terminals) if one.id == id_)
    steps = (f"steps[{at}]" for at, one in enumerate(document.steps) if one.id == id_)
    return f"{next(listed, None) or next(steps)}.outcome"


def _of_budgets(policy: Policy) -> Iterator[Problem]:
    if not policy.budgets:
        return
    inner = {
        step.id: [one for one in step.transitions if one in policy.steps]
        for step in policy.steps.values()
    }
    knot_of = {id_: at for at, group in enumerate(components(inner)) for id_ in group}
    for edge in policy.edges:
        is_inside = knot_of.get(edge.source) == knot_of.get(edge.target, -1)
        if edge.budget is not None and not is_inside:
            field = f'budgets.edges["{edge.key}"]'
            message = "the edge is on no cycle: it is taken once at most anyway"
            yield _warning("idle-budget", field, edge.budget, message)


def _of_step(written: Step, step: PolicyStep, field: str) -> Iterator[Problem]:
    if step.kind == "action" and written.on_failure is None:
        message = "is absent: a failure here ends the run"
        yield _warning("no-failure-route", f"{field}.on_failure", None, message)
    if step.kind in _ACTING and is_dangerous(step.risk):
        message = f"is absent, and the step is {step.risk}"
        if written.verify is None:
            yield _warning("no-verify", f"{field}.verify", None, message)
        if written.rollback is None:
            yield _warning("no-rollback", f"{field}.rollback", None, message)
        if written.gate == "none":
            message = f"nobody is asked, and the step is {step.risk}: {written.reason}"
            yield _warning("gate-off", f"{field}.gate", "none", message)
    if len(step.transitions) > _TRANSITIONS:
        message = f"leads to {len(step.transitions)} places; split it, so that it can be followed"
        yield _warning("many-transitions", field, step.id, message)


def _of_gate(written: Step, step: PolicyStep, field: str) -> Iterator[Problem]:
    gate = step.gate
    if gate is None or gate.is_implied or written.gate in (None, "none"):
        return
    if gate.separate_from is None:
        message = "is absent: who asks may also approve; write requester"
        yield _warning("own-approval", f"{field}.gate.separate_from", None, message)
    if gate.expires_s is not None and gate.expires_s > _DAY:
        message = f"stays open for more than a day ({_DAY} seconds)"
        yield _warning("long-expiry", f"{field}.gate.expires_s", gate.expires_s, message)


def _of_text(
    written: Step, step: PolicyStep, policy: Policy, built: Builder, field: str
) -> Iterator[Problem]:
    for place, name in inputs_in(written):
        if name in policy.inputs and policy.inputs[name].secret:
            message = "is secret, and stands in a text that is shown; name it in words"
            yield _warning("secret-in-text", f"{field}.{place}", name, message)
    if step.kind not in _CALLING:
        return
    for said in dict.fromkeys(_out_of_scope(step, policy, built.named.get(step.id, ()))):
        message = "the text names it, and the step may not use it"
        yield _warning("out-of-scope-text", f"{field}.do", said, message)


def _out_of_scope(step: PolicyStep, policy: Policy, named: Iterable[str]) -> Iterator[str]:
    """Yield the tools, hosts and paths that a text names and its step may not use."""
    classes = {capability_class_of(one) for one in step.tools}
    for capability in named:
        is_usable = any(meets(capability, tool) for tool in step.tools)
        if not is_usable and capability not in step.undeclared:
            yield capability
    if "shell" not in classes:
        commands = (word for word in _COMMAND.findall(step.do) if policy.tool_of(f"cli:{word}"))
        yield from (word for word in commands if not step.allows(f"cli:{word}"))
        yield from _hosts(step)
    if not classes & {"cli", "file", "mcp", "shell"}:
        yield from _PATH.findall(_HOST.sub("", step.do))


def _hosts(step: PolicyStep) -> Iterator[str]:
    hosts = [host for host in _HOST.findall(step.do) if not step.allows(f"http:{host}")]
    if hosts and not any(step.allows(program) for program in ("cli:curl", "cli:wget")):
        yield from hosts
