"""The branches of a fan-out: what is called with what, and what became of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from interlock import _core
from interlock.errors import ConfigError, Problem, UsageError
from interlock.harness._callables import label_of
from interlock.harness._config import wrong
from interlock.harness._frame import input_digest
from interlock.harness.work import Part, part_of, read_parts
from interlock.record._data import Record
from interlock.record.reply import plain_data
from interlock.record.rollout import Step, StepStatus
from interlock.record.usage import NOTHING, Usage, total_usage
from interlock.record.values import ErrorInfo, Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlock.harness._walk import Walk

__all__ = ["BranchOutcome", "Branches", "branches_of", "error_of", "outcomes_listed", "values_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchOutcome(Record):
    """What became of a branch.

    Attributes:
        name: Its key, or its position.
        status: That of its step; `cancelled` also for one that was never started.
        answer: What it answered; None when it did not.
        error: What went wrong, or what kept it from starting.
        usage: What it used.
    """

    name: str
    status: StepStatus
    answer: Reply | None = None
    error: ErrorInfo | None = None
    usage: Usage = NOTHING

    @property
    def ok(self) -> bool:
        """Whether there is an answer that did not fail."""
        return self.status == "completed"

    @property
    def value(self) -> object:
        """What it answered, as data or else as text; None when it did not."""
        if self.answer is None or not self.ok:
            return None
        return self.answer.output if self.answer.data is None else self.answer.data


@dataclass(frozen=True, slots=True)
class Branches:
    """Callables that get the same values; or one, `each`, that gets an item of `over` each time.

    Attributes:
        named: Whether the branches have names, and not positions.
        parts: The callables by name; empty where there is `each`.
        each: The one callable.
        over: The items, or a callable of the values that gives them.
    """

    named: bool
    parts: Mapping[str, Part]
    each: Part | None = None
    over: tuple[object, ...] | Callable[[object], object] = ()

    @property
    def count(self) -> int | None:
        """How many there are; None when only the values say so."""
        if self.each is None:
            return len(self.parts)
        return None if callable(self.over) else len(self.over)

    def listed(self, values: object, step: str) -> list[tuple[str, Part, object]]:
        """List name, callable and input of each.

        Raises:
            UsageError: When `over` gives no items, or raises.
        """
        if self.each is None:
            return [(name, part, values) for name, part in self.parts.items()]
        items = _given(self.over, values, step) if callable(self.over) else self.over
        return [(str(at), self.each, item) for at, item in enumerate(items)]

    def config(self) -> dict[str, object]:
        """Return how they are set up, as data."""
        over = label_of(self.over) if callable(self.over) else input_digest(list(self.over))
        return {
            "branches": {name: part.config() for name, part in self.parts.items()},
            "named": self.named,
            "each": self.each and self.each.config(),
            "over": over if self.each else None,
        }


def branches_of(branches: object, over: object, each: object, problems: list[Problem]) -> Branches:
    """Read the branches; what is wrong with them is added to the problems."""
    if branches is not None:
        for field, given in (("over", over), ("each", each)):
            if given is not None:
                message = "cannot stand beside `branches`: these, or `each` of `over`"
                problems.append(Problem("spec/conflict", field, _core.preview(given), message))
        named = isinstance(branches, Mapping)
        return Branches(named, read_parts(branches, "branches", problems, listed=True))
    if over is None and each is None:
        message = "is required: a mapping or list of callables; or `each` of `over`"
        problems.append(Problem("spec/missing-field", "branches", None, message))
        return Branches(named=False, parts={})
    for field, given in (("over", over), ("each", each)):
        if given is None:
            message = "is required: `each` is called with every item of `over`"
            problems.append(Problem("spec/missing-field", field, None, message))
    part = part_of(bool if each is None else each, "each", problems)
    return Branches(named=False, parts={}, each=part, over=_read_over(over, problems))


def _read_over(
    over: object, problems: list[Problem]
) -> tuple[object, ...] | Callable[[object], object]:
    if callable(over):
        return cast("Callable[[object], object]", over)
    items = _items(over)
    if items is None and over is not None:
        message = "must be items, such as a list, or a callable of the values that gives them"
        problems.append(wrong(over, "over", message))
    return items or ()


def _given(over: Callable[[object], object], values: object, step: str) -> tuple[object, ...]:
    try:
        given = over(values)
        items = _items(given)
    except Exception as error:
        raise UsageError(f"{step}: `over` raised: {error!r}") from error
    if items is None:
        kind = type(given).__name__
        raise UsageError(f"{step}: `over` gave a {kind}; it must give items, such as a list")
    return items


def _items(given: object) -> tuple[object, ...] | None:
    """List the items of what has any; a text or a mapping is one thing."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        return None
    return tuple(cast("Iterable[object]", given))


def outcomes_listed(
    walk: Walk, names: Sequence[str], outcomes: Mapping[int, BranchOutcome], reason: str
) -> tuple[BranchOutcome, ...]:
    """List what became of every branch, in order; of those that were cut short, what is recorded.

    Args:
        walk: The workflow.
        names: The names of the branches.
        outcomes: Those that came to an end, by their number.
        reason: What ended the others.
    """
    taken: dict[str, list[Step]] = {}
    if len(outcomes) < len(names):
        for step in walk.steps:
            if step is not None:
                name = step.path.removeprefix(walk.prefix).split("/", 1)[0]
                taken.setdefault(name, []).append(step)
    why = ErrorInfo("stopped", reason, "cancelled", "escalate")
    return tuple(
        outcomes.get(at) or _cut_short(name, taken.get(name, ()), why)
        for at, name in enumerate(names)
    )


def _cut_short(name: str, steps: Sequence[Step], why: ErrorInfo) -> BranchOutcome:
    """Tell what became of a branch by its attempts, and by the steps inside them."""
    own = [step for step in steps if step.path.count("/") == steps[0].path.count("/")]
    if not own:
        return BranchOutcome(name=name, status="cancelled", error=why)
    status, error = own[-1].status, own[-1].error
    return BranchOutcome(
        name=name,
        status="cancelled" if status == "failed" else status,
        error=error or why,
        usage=total_usage(step.usage for step in steps),
    )


def error_of(outcomes: Sequence[BranchOutcome]) -> ErrorInfo | None:
    """Return the first error, of a branch that failed rather than of one that was cut short."""
    ranked = sorted(outcomes, key=lambda one: one.status == "cancelled")
    return next((one.error for one in ranked if one.error is not None), None)


def values_of(outcomes: Sequence[BranchOutcome], *, named: bool) -> tuple[object, str | None]:
    """Give what branches answered, by name or in a list, and its JSON where there can be one."""
    data: object = [one.value for one in outcomes]
    if named:
        data = {one.name: one.value for one in outcomes}
    try:
        plain = [plain_data(one.value) for one in outcomes]
    except ConfigError:
        return data, None
    names = [one.name for one in outcomes]
    return data, _core.to_json(dict(zip(names, plain, strict=True)) if named else plain)
