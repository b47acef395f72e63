"""Plan: steps that a lead declares, as data, and what is checked before any of it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from interlock import _core
from interlock._compiled import unknown_fields
from interlock.conditions import Checks
from interlock.errors import ConfigError, Problem
from interlock.harness._config import name_problems, wrong
from interlock.harness.inputs import reading_problems
from interlock.record._data import Record
from interlock.tools._steps import with_texts
from interlock.tools.sequence_run import SequenceRun

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["Entry", "Plan", "merged", "plan_problems", "written_plan"]

Entry = dict[str, Any]
"""A step of a plan, as data."""

_FIELDS = ("id", "worker", "params", "needs", "when", "match", "after")
_ID_LIMIT, _FAULTS = 128, 100


@dataclass(frozen=True, slots=True)
class Plan(Record):
    """Steps for workers, as data that a model can write.

    Args:
        steps: Mappings of `id`, `worker` (a name), and optional `params` (any JSON value), `needs`
            (a list of ids), `when` (1 to 64 checks of `values.…` and `results.….…`), `match`
            (`all`, the default, or `any`) and `after` (the instant before which it waits).

    Nothing is checked before a workflow is to run it.
    """

    steps: Sequence[Mapping[str, object]] = ()

    def __post_init__(self) -> None:
        """Keep a list as what cannot be changed, and times as text."""
        if isinstance(self.steps, (list, tuple)):
            steps = cast("list[object]", with_texts(self.steps))
            object.__setattr__(self, "steps", tuple(steps))


def written_plan(data: object) -> tuple[list[Entry], list[Problem]]:
    """Read the steps of a plan from what a lead returned, or say why that is none."""
    if not isinstance(data, Mapping):
        return [], [
            wrong(data, "plan", 'must be a mapping: {"steps": [{"id": ..., "worker": ...}]}')
        ]
    given = cast("Mapping[str, object]", data)
    problems = unknown_fields(given, ("steps",))
    steps = given.get("steps")
    if "steps" not in given:
        problems.append(Problem("spec/missing-field", "steps", None, "is required"))
    elif not isinstance(steps, list):
        problems.append(wrong(steps, "steps", "must be a list of steps"))
    elif not steps:
        problems.append(Problem("spec/empty-list", "steps", "[]", "must not be empty"))
    return (cast("list[Entry]", steps) if isinstance(steps, list) else []), problems


def plan_problems(
    steps: Sequence[object],
    *,
    workers: Collection[str],
    most: int,
    finished: Mapping[str, Entry],
) -> list[Problem]:
    """List everything that is wrong with the steps of a plan, up to 100 faults.

    Args:
        steps: The steps, plain data.
        workers: The names of the workers that there are.
        most: How many steps there may be.
        finished: The steps that are completed, by id: they can be needed, but not changed.
    """
    if len(steps) > most:
        message = f"{len(steps)} steps, over the limit of {most}"
        return [Problem("spec/over-limit", "steps", None, message)]
    entries = [cast("Entry", step) if isinstance(step, dict) else {} for step in steps]
    problems: list[Problem] = []
    for at, step in enumerate(entries):
        if step is not steps[at]:
            # Told with the other faults of the sequence.
            continue
        place = f"steps[{at}]"
        problems += unknown_fields(step, _FIELDS, f"{place}.")
        problems += _id_problems(step.get("id"), f"{place}.id", entries)
        problems += _worker_problems(step, f"{place}.worker", workers)
        problems += _changed(step, place, finished)
    whole = merged(cast("list[Entry]", steps), finished)
    problems += _sequence_problems(whole, most + len(finished))
    for at, step in enumerate(entries):
        problems += _reading_problems(step, f"steps[{at}].when")
    rest = len(problems) - _FAULTS
    if rest > 0:
        more = Problem("spec/over-limit", "steps", None, f"{rest} more faults, not listed")
        return [*problems[:_FAULTS], more]
    return problems


def merged(steps: Sequence[Entry], finished: Mapping[str, Entry]) -> list[Entry]:
    """Return the steps of a plan, and behind them the completed ones that it leaves out."""
    listed = [step.get("id") for step in steps if type(step) is dict]
    return [*steps, *(step for name, step in finished.items() if name not in listed)]


def _id_problems(name: object, field: str, entries: Sequence[Entry]) -> list[Problem]:
    if not isinstance(name, str) or not name:
        # Told with the other faults of the sequence.
        return []
    if len(name) > _ID_LIMIT:
        message = f"{len(name)} characters, over the limit of {_ID_LIMIT}"
        return [Problem("spec/over-limit", field, _core.preview(name), message)]
    problems = name_problems(name, field)
    if name.startswith("when_") and any(one.get("id") == name[5:] for one in entries):
        message = f"the condition of {_core.preview(name[5:])} is recorded under this name"
        problems.append(Problem("spec/duplicate-name", field, _core.preview(name), message))
    return problems


def _worker_problems(step: Entry, field: str, workers: Collection[str]) -> list[Problem]:
    known = ", ".join(_core.preview(name) for name in workers)
    if "worker" not in step:
        return [Problem("spec/missing-field", field, None, f"is required: one of {known}")]
    name = step["worker"]
    if isinstance(name, str) and name in workers:
        return []
    near = _core.nearest(name, list(workers)) if isinstance(name, str) else None
    hint = f"; did you mean {_core.preview(near)}?" if near else ""
    message = f"no worker has this name{hint} (workers: {known})"
    return [Problem("spec/unknown-choice", field, _core.preview(name), message)]


def _changed(step: Entry, place: str, finished: Mapping[str, Entry]) -> list[Problem]:
    name = step.get("id")
    was = finished.get(name) if isinstance(name, str) else None
    if was is None or _core.canonical(was) == _core.canonical(step):
        return []
    message = "is completed and cannot be changed: write it as it was, or leave it out"
    return [Problem("spec/conflict", place, _core.preview(name), message)]


def _sequence_problems(steps: Sequence[Entry], most: int) -> Sequence[Problem]:
    """Ask SequenceRun: ids, needs, circles, conditions, times, parameters."""
    problems: list[Problem] = []
    entries: list[object] = []
    for at, step in enumerate(steps):
        if type(step) is not dict:
            entries.append(step)
            continue
        entry = {name: one for name, one in step.items() if name in _FIELDS and name != "worker"}
        needs = entry.get("needs")
        if isinstance(needs, list) and len(cast("list[object]", needs)) > most:
            count = len(cast("list[object]", needs))
            message = f"{count} needs, over the limit of {most}"
            problems.append(Problem("spec/over-limit", f"steps[{at}].needs", None, message))
            del entry["needs"]
        entries.append(entry)
    try:
        SequenceRun(entries, strict=True, limits={"rules": most})
    except ConfigError as error:
        problems += error.problems
    return problems


def _reading_problems(step: Entry, field: str) -> list[Problem]:
    needs = step.get("needs", [])
    if "when" not in step or not isinstance(needs, list):
        return []
    try:
        checks = Checks(step["when"])
    except ConfigError:
        # Told with the other faults of the sequence.
        return []
    named = [need for need in cast("list[object]", needs) if isinstance(need, str)]
    return reading_problems(checks, field, named)
