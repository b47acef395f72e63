"""What a recorded run came to, what another runbook makes of it, and what a runbook allows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from interlock._wire import to_json
from interlock.cli._runbook_lint import policies
from interlock.cli._runbook_log import fault_of, read_log, state_of
from interlock.record.report._text import visible
from interlock.supervise import derive_policy, report, simulate
from interlock.supervise import explore as explored_of
from interlock.supervise.log import start_deployment
from interlock.supervise.report import Chain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlock.supervise import Report

__all__ = ["explored", "reported", "simulated"]


def reported(
    log: str, policy: str | None, others: Sequence[str], *, html: str | None, form: str
) -> int:
    """Report on the run of a log; 1 when the log does not come to what it says."""
    told = _report(log, policy, others)
    if html is not None:
        Path(html).write_text(told.to_html(), "utf-8")
    else:
        written = {"markdown": told.to_markdown, "mermaid": told.to_mermaid, "json": told.to_json}
        click.echo(written[form]().rstrip("\n"))
    return 1 if told.chain.ok is False else 0


def _report(path: str, policy: str | None, others: Sequence[str]) -> Report:
    log = read_log(path)
    entries = log.entries
    followed = None if policy is None else derive_policy(policy, runbooks=policies(others))
    state = state_of(path, log, followed)
    told = report(state, entries, policy=followed, deployment=start_deployment(entries[0]))
    fault = fault_of(followed, log)
    if fault:
        click.echo(f"{path}: {visible(fault)}", err=True)
    elif followed is None:
        # Without the runbook it is not known whether the entries come to what they say.
        return told
    return replace(told, chain=Chain(ok=not fault, head=entries[-1].digest))


def simulated(file: str, logs: Sequence[str], others: Sequence[str], *, as_json: bool) -> int:
    """Print what would come out otherwise; 1 when anything would."""
    policy = derive_policy(file, runbooks=policies(others))
    found = 0
    for path in logs:
        told = simulate(policy, read_log(path).entries)
        found += len(told.differences) + len(told.refusals)
        if as_json:
            click.echo(to_json({"log": path, **told.to_dict()}))
            continue
        for refusal in told.refusals:
            click.echo(f"{path}: would not start: {visible(refusal)}")
        for one in told.differences:
            said = f"{one.operation} {one.what}: was {one.was}, now {one.now}: {one.message}"
            click.echo(f"{path}:{one.seq + 1}: {visible(said)}")
        if not told.refusals:
            outcome = told.outcome or "no end yet"
            count = len(told.differences)
            click.echo(f"{path}: {told.operations} operations, {count} differ; comes to {outcome}")
    return 1 if found else 0


def explored(file: str, others: Sequence[str], *, as_json: bool) -> int:
    """Print every outcome with a shortest path to it; 1 for dead ends and steps never reached."""
    policy = derive_policy(file, runbooks=policies(others))
    told = explored_of(policy)
    if as_json:
        click.echo(to_json(told.to_dict()))
        return 1 if told.dead_ends or told.unreached else 0
    for outcome, path in told.outcomes.items():
        click.echo(f"{outcome}: {' -> '.join(path)}")
    for name, steps in (("dead end", told.dead_ends), ("never reached", told.unreached)):
        for step in steps:
            click.echo(f"{name}: {step}")
    calls = "calls are not bounded" if told.max_calls is None else f"{told.max_calls} calls"
    if not told.complete:
        click.echo(f"no budget is spent within the first {told.states} states; a later one may be")
    click.echo(f"at most {told.max_moves} moves, {calls}")
    return 1 if told.dead_ends or told.unreached else 0
