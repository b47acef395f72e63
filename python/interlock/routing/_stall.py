"""Which steps of a loop write the same each time."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from interlock.errors import RouteFileError
from interlock.routing.evidence import EXECUTION
from interlock.tools.stall_detect import stall_detect

if TYPE_CHECKING:
    from interlock.routing._files import Parts
    from interlock.routing.folder import RunFolder
    from interlock.routing.shapes import Plan, PlanStep

__all__ = ["unchanged_steps"]


def unchanged_steps(run: RunFolder, plan: Plan) -> tuple[str, ...]:
    """Return the steps whose declared files were the same in all visits that are still there."""
    archived = set(run.files.names(run.path, ("archive",)))
    found: list[str] = []
    for step in plan.steps:
        folders = [("archive", name) for name in _visits(step.id, archived)]
        try:
            history = [_outputs(run, step, folder) for folder in (*folders, (EXECUTION, step.id))]
        except RouteFileError:
            # Of what cannot be read nobody knows whether it changed.
            continue
        is_known = len(history) > 1 and any(history[-1].values())
        if is_known and stall_detect(history, window=len(history)).reason == "unchanged":
            found.append(step.id)
    return tuple(found)


def _visits(step_id: str, archived: set[str]) -> list[str]:
    names: list[str] = []
    while (name := f"{step_id}.{len(names) + 1}") in archived:
        names.append(name)
    return names


def _outputs(run: RunFolder, step: PlanStep, folder: Parts) -> dict[str, str]:
    return {name: _digest(run, (*folder, name)) for name in step.context_output if "/" not in name}


def _digest(run: RunFolder, place: Parts) -> str:
    content = run.files.read(run.path, place)
    return "" if content is None else sha256(content).hexdigest()
