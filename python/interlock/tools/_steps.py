"""What a sequence has beside its conditions: needs, times, parameters, and what is done of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NamedTuple, cast

from interlock import _core
from interlock._instant import read_instant, written
from interlock.errors import Problem

if TYPE_CHECKING:
    from interlock.typing import JSON

__all__ = ["Progress", "Step", "ordered", "read_progress", "read_steps", "step_ids", "with_texts"]


class Step(NamedTuple):
    """One step as it is planned with.

    Attributes:
        id: Its id.
        needs: The positions of the steps it needs, as written, each once.
        after: The instant before which it waits, in epoch milliseconds.
        params: What it hands back when it is ready.
        has_params: Whether it has any; null is one.
    """

    id: str
    needs: tuple[int, ...]
    after: int | None
    params: JSON
    has_params: bool


class Progress(NamedTuple):
    """Positions of the steps that were reported."""

    completed: frozenset[int]
    failed: frozenset[int]


def with_texts(steps: object) -> object:
    """Write the times of steps that are `datetime` objects as text, which data can hold."""
    if not isinstance(steps, (list, tuple)):
        return steps
    return [_with_text(step) for step in cast("Sequence[object]", steps)]


def _with_text(step: object) -> object:
    if not isinstance(step, dict):
        return step
    entry = cast("dict[object, object]", step)
    return {**entry, "after": written(entry["after"])} if "after" in entry else entry


def step_ids(plain: JSON) -> list[str]:
    """Give the ids of steps by position; what is no id is empty."""
    entries = plain if isinstance(plain, list) else []
    named = (entry.get("id") if isinstance(entry, dict) else None for entry in entries)
    return [name if isinstance(name, str) else "" for name in named]


def read_steps(plain: JSON) -> tuple[tuple[Step, ...], list[Problem]]:
    """Read steps, or say what is wrong with them; what is no step at all is told elsewhere."""
    ids = step_ids(plain)
    positions = _positions(ids)
    steps: list[Step] = []
    problems: list[Problem] = []
    for index, entry in enumerate(plain if isinstance(plain, list) else ()):
        step = entry if isinstance(entry, dict) else {}
        place, owner = f"steps[{index}]", _core.preview(ids[index])
        if step.get("id") == "":
            problems.append(Problem("spec/wrong-type", f"{place}.id", '""', "must not be empty"))
        needs, found = _read_needs(step, index, positions)
        problems += found
        after, found = _read_after(step, f"{place}.after", owner)
        problems += found
        steps.append(Step(ids[index], needs, after, step.get("params"), "params" in step))
    problems += _circle_problems(steps)
    return tuple(steps), problems


def _positions(ids: Sequence[str]) -> dict[str, int]:
    """Give the position of each id; of two steps with one id the first counts."""
    return {name: index for index, name in reversed(list(enumerate(ids))) if name}


def _read_needs(
    step: Mapping[str, JSON], index: int, positions: Mapping[str, int]
) -> tuple[tuple[int, ...], list[Problem]]:
    needs = step.get("needs", [])
    field, owner = f"steps[{index}].needs", _core.preview(step.get("id"))
    if not isinstance(needs, list):
        message = f"the needs of {owner} must be a list of ids"
        return (), [Problem("spec/wrong-type", field, _core.preview(needs), message)]
    found: dict[int, None] = {}
    problems: list[Problem] = []
    for position, need in enumerate(needs):
        shown, place = _core.preview(need), f"{field}[{position}]"
        if not isinstance(need, str):
            problems.append(Problem("spec/wrong-type", place, shown, "must be the id of a step"))
        elif need not in positions:
            message = f"{owner} needs a step that is not there{_hint(need, positions)}"
            problems.append(Problem("spec/unknown-choice", place, shown, message))
        elif positions[need] == index:
            problems.append(Problem("spec/cycle", place, shown, f"{owner} needs itself"))
        else:
            found[positions[need]] = None
    return tuple(found), problems


def _read_after(
    step: Mapping[str, JSON], field: str, owner: str
) -> tuple[int | None, list[Problem]]:
    if "after" not in step:
        return None, []
    after, problems = read_instant(step["after"], field)
    return after, [
        problem._replace(message=f"the time of {owner} {problem.message}") for problem in problems
    ]


def _hint(name: str, positions: Mapping[str, int]) -> str:
    near = _core.nearest(name, list(positions))
    return f"; did you mean {_core.preview(near)}?" if near else ""


def ordered(steps: Sequence[Step]) -> tuple[int, ...]:
    """Give the positions of steps, prerequisites first; those in or behind a circle are left out.

    Source: A. B. Kahn, "Topological sorting of large networks" (1962).
    """
    dependents: list[list[int]] = [[] for _ in steps]
    open_needs = [len(step.needs) for step in steps]
    for index, step in enumerate(steps):
        for need in step.needs:
            dependents[need].append(index)
    order = [index for index, count in enumerate(open_needs) if count == 0]
    # The list is its own queue.
    for index in order:
        for dependent in dependents[index]:
            open_needs[dependent] -= 1
            if open_needs[dependent] == 0:
                order.append(dependent)
    return tuple(order)


def _circle_problems(steps: Sequence[Step]) -> list[Problem]:
    """Name the steps of every circle; two circles with a step in common are one."""
    rest = sorted({*range(len(steps))} - {*ordered(steps)})
    # What each of the rest needs, directly or further down, as bits: Warshall's closure.
    needed = {index: sum(1 << need for need in steps[index].needs) for index in rest}
    for middle in rest:
        for index in rest:
            if needed[index] >> middle & 1:
                needed[index] |= needed[middle]
    problems: list[Problem] = []
    told: set[int] = set()
    for index in rest:
        if index in told or not needed[index] >> index & 1:
            continue
        circle = [i for i in rest if needed[index] >> i & 1 and needed[i] >> index & 1]
        told.update(circle)
        names = ", ".join(_core.preview(steps[i].id) for i in circle)
        message = f"steps {names} need each other in a circle: none of them could be first"
        own = [steps[need].id for need in steps[index].needs]
        field = f"steps[{index}].needs"
        problems.append(Problem("spec/cycle", field, _core.preview(own), message))
    return problems


def read_progress(
    ids: Sequence[str], completed: object, failed: object
) -> tuple[Progress, list[Problem]]:
    """Read which steps are completed and which failed; a step in both is refused."""
    positions = _positions(ids)
    done, problems = _reported(completed, "completed", positions)
    broken, more = _reported(failed, "failed", positions)
    problems += more
    for index, place in broken.items():
        if index in done:
            message = f"is completed too, by {done[index]}; a step is one or the other"
            problems.append(Problem("spec/conflict", place, _core.preview(ids[index]), message))
    return Progress(frozenset(done), frozenset(broken)), problems


def _reported(
    names: object, field: str, positions: Mapping[str, int]
) -> tuple[dict[int, str], list[Problem]]:
    """Give the positions of reported steps, each with where it was first reported."""
    shown = _core.preview(names)
    if isinstance(names, (str, bytes, Mapping)) or not isinstance(names, Iterable):
        message = "must be a list of ids"
        return {}, [Problem("spec/wrong-type", field, shown, message)]
    # A set has no order of its own; what is told about it has one.
    given = cast("Iterable[object]", names)
    listed = sorted(given, key=str) if isinstance(given, AbstractSet) else given
    found: dict[int, str] = {}
    problems: list[Problem] = []
    for number, name in enumerate(listed):
        place, shown = f"{field}[{number}]", _core.preview(name)
        if not isinstance(name, str):
            problems.append(Problem("spec/wrong-type", place, shown, "must be the id of a step"))
        elif name not in positions:
            message = f"no step has this id{_hint(name, positions)}"
            problems.append(Problem("spec/unknown-choice", place, shown, message))
        else:
            found.setdefault(positions[name], place)
    return found, problems
