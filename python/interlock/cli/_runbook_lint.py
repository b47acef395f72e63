"""All that is wrong with runbooks, each fault with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from interlock.cli._lint import as_json as placed_json
from interlock.cli._lint import shown
from interlock.errors import Problem
from interlock.spec import Placed
from interlock.supervise import derive_policy
from interlock.supervise.derive import examine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlock.supervise import Policy

__all__ = ["linted", "policies"]


def linted(files: Sequence[str], others: Sequence[str], *, as_json: bool) -> int:
    """Print the problems of some files, and how long a run of each that is sound can be."""
    called = policies(others)
    faults = 0
    for path in files:
        found, policy = _examined(path, called)
        for placed in found:
            click.echo(placed_json(path, placed) if as_json else shown(path, placed))
        bad = sum(not placed.problem.is_warning for placed in found)
        faults += bad
        if policy is not None and not bad and not as_json:
            click.echo(f"{path}: every run ends within {policy.max_moves} moves")
    return 1 if faults else 0


def policies(files: Sequence[str]) -> list[Policy]:
    """Derive the policies of files; each may call those before it."""
    found: list[Policy] = []
    for path in files:
        found.append(derive_policy(path, runbooks=found))
    return found


def _examined(path: str, called: Sequence[Policy]) -> tuple[Sequence[Placed], Policy | None]:
    try:
        examined = examine(path, called)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        return [Placed(Problem("spec/unreadable", "file", None, message), None, None)], None
    return examined.placed, examined.policy
