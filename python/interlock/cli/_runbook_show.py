"""A policy as a person reads it, or as data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from interlock._wire import to_json
from interlock.cli._runbook_lint import policies
from interlock.record.report._text import visible
from interlock.supervise import derive_policy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from interlock.supervise import Edge, Policy, PolicyStep

__all__ = ["shown"]


def shown(file: str, others: Sequence[str], *, as_json: bool) -> int:
    """Print the policy of a file."""
    policy = derive_policy(file, runbooks=policies(others))
    if as_json:
        click.echo(to_json(policy.to_dict()))
        return 0
    for line in _lines(policy):
        click.echo(visible(line))
    return 0


def _lines(policy: Policy) -> Iterator[str]:
    version = f" version {policy.version}" if policy.version else ""
    yield f"{policy.id}{version}: {policy.title}"
    yield f"  digest     {policy.digest}"
    yield f"  risk       {policy.max_risk}"
    yield f"  execution  {policy.execution}, on {policy.min_runtime_profile} or above"
    yield f"  ends       within {policy.max_moves} moves: {_outcomes(policy)}"
    if policy.inputs:
        yield f"  inputs     {', '.join(policy.inputs)}"
    for step in policy.steps.values():
        yield ""
        yield from _step(policy, step)


def _outcomes(policy: Policy) -> str:
    return ", ".join(dict.fromkeys(policy.terminals.values()))


def _step(policy: Policy, step: PolicyStep) -> Iterator[str]:
    begin = "*" if step.id == policy.entry else " "
    yield f"{begin} {step.id} ({step.kind}, {step.risk}): {step.title}"
    if step.tools:
        yield f"      uses {', '.join(step.tools)}"
    if step.gate is not None:
        who = ", ".join(step.gate.approvers) or "anybody who is identified"
        ruled = step.gate.rules is not None or step.gate.score is not None
        where = " where its rules say so" if ruled else ""
        yield f"      asks {step.gate.quorum} of {who}, on {step.gate.on}{where}"
    if step.verify is not None:
        yield f"      verifies {step.verify.source}"
    for edge in policy.edges:
        if edge.source == step.id:
            yield f"      {edge.via} -> {edge.target}{_budget(edge)}"


def _budget(edge: Edge) -> str:
    return "" if edge.budget is None else f" (at most {edge.budget} times)"
