"""SequenceRun: what can run now."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from interlock import _core
from interlock._compiled import CompiledSpec, beside, payload_problems, plain_problems, refuse
from interlock._instant import read_instant
from interlock.errors import ConfigError, InputInvalid, Problem, SpecInvalid
from interlock.tools._fields import version_problems
from interlock.tools._limits import STEPS_LIMIT
from interlock.tools._plan import HeldStep, ReadyStep, SequencePlan
from interlock.tools._records import decide_each
from interlock.tools._rules import rule_reports
from interlock.tools._standing import held, standing, state_of
from interlock.tools._steps import (
    Step,
    ordered,
    read_progress,
    read_steps,
    step_ids,
    with_texts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from interlock._lines import Records
    from interlock.tools._batch import Batch
    from interlock.typing import JSON, Instant, Limits

__all__ = ["SequenceRun", "input_problems", "sequence_run"]


class SequenceRun(CompiledSpec):
    """Steps, compiled: which of them can run now, and why the others cannot. Nothing is ever run.

    Args:
        steps: Mappings of `id` (not empty), optional `when` (1 to 64 checks; a step without it has
            no conditions), optional `match` (`all`, the default, or `any`), optional `needs` (a
            list of ids), optional `after` (the instant before which it waits) and optional
            `params` (any JSON value, handed back); 1 to 256 of them, ids distinct.
        version: A text that comes back with every answer.
        strict: Whether a broken check refuses the steps; else it fails with its reason.
        limits: Limits to lower or raise, by name; `rules` is the number of steps.

    Raises:
        SpecInvalid: With every problem found, among them needs that name no step and steps that
            need each other in a circle.

    Example:
        >>> from interlock import SequenceRun
        >>> release = SequenceRun(
        ...     [
        ...         {"id": "build"},
        ...         {"id": "test", "needs": ["build"]},
        ...         {"id": "publish", "needs": ["test"], "after": "2026-03-01T09:00:00Z"},
        ...     ]
        ... )
        >>> plan = release.plan({}, now="2026-03-01T08:00:00Z", completed=["build"])
        >>> plan.next.id, plan.waiting[0].reason
        ('test', 'needs "test", which is not done')
    """

    __slots__ = ("_order", "_positions", "_steps", "_version", "uses_now")

    tool = "SequenceRun"
    spec_fields = ("steps", "version")

    uses_now: bool
    """Whether a step has a time, so that `plan` needs to know the present instant."""
    _steps: tuple[Step, ...]
    _order: tuple[int, ...]
    _positions: tuple[int, ...]
    _version: str | None

    def __init__(
        self,
        steps: Sequence[object],
        *,
        version: str | None = None,
        strict: bool = False,
        limits: Limits | None = None,
    ) -> None:
        """Compile the steps."""
        entries = with_texts(steps)
        rules, problems, faults = _core.compile_rules(
            entries,
            field="steps",
            label="id",
            extra=["needs", "params", "after"],
            optional_when=True,
            limits={"rules": STEPS_LIMIT, **(limits or {})},
        )
        plain, not_plain = plain_problems(entries, "steps")
        read, more = _read_unless_oversized(plain, problems)
        more += [*version_problems(version), *beside(problems, not_plain)]
        more += payload_problems(plain, "steps", "params")
        refuse([*problems, *more, *(faults if strict else ())])
        spec: dict[str, JSON] = {"steps": plain}
        if version is not None:
            spec["version"] = version
        self._freeze(cast("_core.RuleSet", rules), spec, limits, faults)
        self._set("_steps", read)
        self._set("_order", ordered(read))
        self._set("_positions", tuple(range(len(read))))
        self._set("_version", version)
        self._set("uses_now", any(step.after is not None for step in read))

    def plan(
        self,
        value: object,
        *,
        now: Instant | None,
        completed: Iterable[str] = (),
        failed: Iterable[str] = (),
    ) -> SequencePlan:
        """Say where every step stands.

        A step that was reported is what was reported. Else, prerequisites first: a need that
        failed, was skipped or is unreachable makes it unreachable; a need that is not done makes
        it wait; so does a time that has not come; then its own conditions decide.

        Args:
            value: The record that the conditions look at: Python data, a dataclass, pydantic or
                attrs object, or `Json`.
            now: The present instant; None only where no step has a time.
            completed: The ids of steps that are done.
            failed: The ids of steps that failed.

        Raises:
            InputInvalid: When *now* is no instant, an id is no step's, or a step is in both lists.
        """
        moment, problems = _read_now(now, required=self.uses_now)
        progress, more = read_progress([step.id for step in self._steps], completed, failed)
        if problems or more:
            raise InputInvalid((*problems, *more))
        known = dict.fromkeys(progress.completed, "completed")
        known |= dict.fromkeys(progress.failed, "failed")
        undecided, marks = self._rules.standing(value)
        holding = _core.marked(self._positions, marks)
        own = dict.fromkeys(holding, "ready")
        own |= dict.fromkeys(undecided, "undetermined")
        for index in self._order:
            if index not in known:
                state = standing(self._steps[index], known, moment)
                known[index] = state or own.get(index, "skipped")
        return self._planned(value, known, moment)

    def decide_many(
        self,
        records: Records,
        *,
        now: Instant | None,
        completed: Iterable[str] = (),
        failed: Iterable[str] = (),
        threads: int | None = None,
        json_columns: Sequence[str] = (),
    ) -> Batch[SequencePlan]:
        """Plan for each record, in order, at one instant and with the same steps reported.

        Args:
            records: Records from any iterable; or JSON Lines, as bytes or as the path of a file;
                or Arrow data: a table, reader or data frame.
            now: As in `plan`.
            completed: As in `plan`.
            failed: As in `plan`.
            threads: At least 1; taken for the sake of likeness, all is planned on the calling one.
            json_columns: Columns of Arrow data that hold JSON as text, by name.

        Raises:
            ConfigError: As `plan`; also for a number of threads that is none, or records of
                another type.
            OSError: When the file or stream cannot be read.
        """
        done, broken = tuple(completed), tuple(failed)

        def ask(record: object) -> SequencePlan:
            return self.plan(record, now=now, completed=done, failed=broken)

        return decide_each(ask, self._rules, records, threads, json_columns)

    def _planned(self, value: object, known: dict[int, str], now: int) -> SequencePlan:
        by_state: dict[str, list[int]] = {}
        for index in range(len(self._steps)):
            by_state.setdefault(known[index], []).append(index)
        plan = SequencePlan(
            state=state_of(by_state),
            ready=tuple(self._ready(index) for index in by_state.get("ready", ())),
            waiting=self._held(by_state.get("waiting", ()), known, now),
            unreachable=self._held(by_state.get("unreachable", ()), known, now),
            skipped=(),
            undetermined=(),
            completed=tuple(self._steps[index].id for index in by_state.get("completed", ())),
            failed=tuple(self._steps[index].id for index in by_state.get("failed", ())),
            version=self._version,
            total=len(self._steps),
        )
        if not {"skipped", "undetermined"} & by_state.keys():
            return plan
        reports = rule_reports(self._rules, value, 0, len(self._steps))
        skipped, undetermined = (
            tuple(
                HeldStep(id=reports[index].name, reason=reports[index].reason)
                for index in by_state.get(state, ())
            )
            for state in ("skipped", "undetermined")
        )
        return replace(plan, skipped=skipped, undetermined=undetermined)

    def _ready(self, index: int) -> ReadyStep:
        step = self._steps[index]
        # The caller may change what it gets; the compiled steps stay as they are.
        params = _core.plain(step.params) if isinstance(step.params, (dict, list)) else step.params
        return ReadyStep(id=step.id, index=index, params=params, has_params=step.has_params)

    def _held(
        self, indices: Iterable[int], known: dict[int, str], now: int
    ) -> tuple[HeldStep, ...]:
        return tuple(held(self._steps, index, known, now) for index in indices)


def _read_now(now: object, *, required: bool) -> tuple[int, tuple[Problem, ...]]:
    if now is not None:
        return read_instant(now, "now")
    message = "is required: a step has a time"
    return 0, (Problem("spec/missing-field", "now", None, message),) if required else ()


def _read_unless_oversized(
    plain: JSON, problems: Sequence[Problem]
) -> tuple[tuple[Step, ...], list[Problem]]:
    """Read the steps, broken ones too; of too many, nothing more is told."""
    oversized = any(p.code == "spec/over-limit" and p.field == "steps" for p in problems)
    return read_steps([] if oversized else plain)


def input_problems(steps: object, now: object, completed: object, failed: object) -> list[Problem]:
    """Say what is wrong with the input of a plan whose steps are refused."""
    plain, _ = plain_problems(with_texts(steps), "steps")
    _, problems = _read_now(now, required=False)
    ids = step_ids(plain)
    _, more = read_progress(ids, completed, failed)
    return [*problems, *(more if ids else ())]


def sequence_run(
    value: object,
    steps: Sequence[object],
    *,
    now: Instant | None,
    completed: Iterable[str] = (),
    failed: Iterable[str] = (),
    version: str | None = None,
) -> SequencePlan:
    """Say what of some steps can run now; see `SequenceRun` for the shapes.

    Raises:
        SpecInvalid: With every problem found, when it is the steps or *version*.
        InputInvalid: Likewise, when it is *now*, *completed* or *failed* alone.
    """
    try:
        compiled = SequenceRun(steps, version=version)
    except ConfigError as error:
        more = input_problems(steps, now, completed, failed)
        raise SpecInvalid((*error.problems, *more)) from None
    return compiled.plan(value, now=now, completed=completed, failed=failed)
