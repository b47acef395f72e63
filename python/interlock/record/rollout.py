"""Step and Rollout: what a run did, in order, with the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from interlock import _core
from interlock.errors import Problem, SpecInvalid, UsageError
from interlock.record._data import Record
from interlock.record.usage import NOTHING, Usage
from interlock.record.values import Effect, ErrorInfo, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [  # noqa: RUF022 (by code point, as every other list of names)
    "Kind",
    "Rollout",
    "SCHEMA",
    "Step",
    "StepStatus",
    "timeless",
]

SCHEMA = "interlock.rollout/1"

Kind = Literal[
    "tier",
    "accept",
    "stage",
    "gate",
    "turn",
    "tool",
    "compact",
    "classify",
    "arm",
    "draft",
    "judge",
    "revise",
    "branch",
    "vote",
    "plan",
    "worker",
    "merge",
    "node",
    "ask",
    "decision",
]
StepStatus = Literal[
    "completed",
    "failed",
    "blocked",
    "skipped",
    "cancelled",
    "paused",
    "in_doubt",
    "undetermined",
]
_FORM = ("form", "type", "record", "result", "run")
_UNTIMED = ("started_at", "ended_at", "duration_ms", "run_id", "idempotency_key", "order")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Record):
    """One step of a run.

    Attributes:
        path: Where it stands, from the root of the run: names joined by `/`, the second of one
            name as `name.2`. It never depends on what ran first.
        name: What it is called.
        kind: What it is for.
        status: How it ended.
        attempt: Which attempt it was, from 1; attempts share a path.
        started_at: When it began, `YYYY-MM-DDTHH:MM:SS.mmmZ`.
        ended_at: When it ended.
        duration_ms: How long it took, by a clock that never goes back.
        input_digest: SHA-256 of the canonical form of its input; None when it has none.
        output: What it answered: text, or the JSON of data; of a tool any JSON value.
        usage: What it used, nested runs included.
        error: What went wrong, or why it refused.
        effect: What a tool declared.
        call_id: The id of the call that a tool answers.
        idempotency_key: A key that is the same for every attempt.
        decision: The full answer of what decided: a verdict, a decision tool's result.
        child: The record of the run inside it.
        order: How many steps of its run had started and how many had ended when it ended; empty
            where it simply came next.
        meta: What else was seen; `reply` holds what a reply says beside its text, `inside` the
            paths of the steps that its callable made.
    """

    path: str
    name: str
    kind: Kind
    status: StepStatus
    attempt: int = 1
    started_at: str = ""
    ended_at: str = ""
    duration_ms: float = 0.0
    input_digest: str | None = None
    output: object = None
    usage: Usage = NOTHING
    error: ErrorInfo | None = None
    effect: Effect | None = None
    call_id: str | None = None
    idempotency_key: str | None = None
    decision: object = None
    child: Rollout | None = None
    order: tuple[int, ...] = ()
    meta: Mapping[str, object] = field(default_factory=dict[str, object])

    def canonical(self) -> dict[str, Any]:
        """Return what happened, as data: no times, no ids of the run, nested steps by path."""
        return {name: timeless(item) for name, item in _untimed(self.to_dict()).items()}

    def reply(self) -> Reply:
        """Rebuild the reply that was recorded; `raw` is gone.

        Raises:
            SpecInvalid: Where what stands in `meta` is none.
        """
        told = self.told()
        rest = {name: value for name, value in told.items() if name not in _FORM}
        usage = self.usage if self.child is None else NOTHING
        output = self.output if isinstance(self.output, str) else ""
        return Reply.from_dict({"output": output, "usage": usage.to_dict(), **rest})

    def told(self) -> Mapping[str, Any]:
        """Return what is recorded of the reply beside its text; empty where that was all.

        Raises:
            SpecInvalid: Where what stands there is no mapping.
        """
        told = self.meta.get("reply", {})
        if isinstance(told, Mapping):
            return cast("Mapping[str, Any]", told)
        shown = _core.preview(told)
        problem = Problem("spec/wrong-type", "meta.reply", shown, "must be a mapping")
        raise SpecInvalid((problem,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout(Record):
    """The record of one run of a workflow.

    Attributes:
        schema: The version of this form.
        run_id: The run.
        workflow: The workflow's name.
        kind: What workflow it is, such as `cascade`.
        config_digest: SHA-256 of how the workflow was set up.
        status: As of the result.
        stopped_by: As of the result.
        steps: The steps, in the order in which they started.
        usage: The sum over the steps.
        started_at: When it began, `YYYY-MM-DDTHH:MM:SS.mmmZ`.
        ended_at: When it ended.
        tags: The caller's own marks.
        faults: What went wrong beside the steps, such as in a listener.
        input: What the run was started with, as data; None of a nested run, under
            `content="digest"`, and where JSON cannot hold it.
        input_digest: SHA-256 of its canonical form; None of a nested run, and where it has none.
    """

    schema: str = SCHEMA
    run_id: str
    workflow: str
    kind: str = ""
    config_digest: str = ""
    status: str
    stopped_by: str
    steps: tuple[Step, ...] = ()
    usage: Usage = NOTHING
    started_at: str = ""
    ended_at: str = ""
    tags: Mapping[str, object] = field(default_factory=dict[str, object])
    faults: tuple[ErrorInfo, ...] = ()
    input: object = None
    input_digest: str | None = None

    def __post_init__(self) -> None:
        """Refuse a form that is not known."""
        if self.schema != SCHEMA:
            shown = _core.preview(self.schema)
            message = f"this version reads {SCHEMA}"
            raise SpecInvalid((Problem("spec/unknown-choice", "schema", shown, message),))

    def step(self, path: str) -> Step:
        """Return the last attempt at a path; the end of a path will do where it is the only one.

        Raises:
            UsageError: When there is no such step, naming the nearest.
        """
        exact = [step for step in self.steps if step.path == path]
        ending = [step for step in self.steps if step.path.endswith(f"/{path}")]
        if exact or len({step.path for step in ending}) == 1:
            return (exact or ending)[-1]
        near = _core.nearest(path, [step.path for step in self.steps])
        hint = f'; did you mean "{near}"?' if near else ""
        raise UsageError(f"no step {_core.preview(path)} in the rollout of {self.workflow}{hint}")

    def find(
        self, *, name: str | None = None, kind: Kind | None = None, status: StepStatus | None = None
    ) -> tuple[Step, ...]:
        """Return the steps of a name, kind and status, in order; None asks for any."""
        return tuple(
            step
            for step in self.steps
            if name in (None, step.name)
            and kind in (None, step.kind)
            and status in (None, step.status)
        )

    def blocked(self) -> tuple[Step, ...]:
        """Return the steps that were refused before they ran."""
        return self.find(status="blocked")

    def failed(self) -> tuple[Step, ...]:
        """Return the steps that failed."""
        return self.find(status="failed")

    def by_name(self) -> dict[str, tuple[Step, ...]]:
        """Return the steps by name, in the order of their first."""
        return {name: self.find(name=name) for name in dict.fromkeys(s.name for s in self.steps)}

    def all_steps(self) -> Iterator[Step]:
        """Yield every step, those of nested runs after the step they are in."""
        for step in self.steps:
            yield step
            if step.child is not None:
                yield from step.child.all_steps()

    def redacted(self, redact: Callable[[Step], Step]) -> Self:
        """Return the record with every step, nested ones too, as `redact` gives it.

        What the run was started with is left out; only its digest stays.
        """
        steps = [
            replace(step, child=step.child.redacted(redact)) if step.child else step
            for step in self.steps
        ]
        return replace(self, steps=tuple(map(redact, steps)), input=None)

    def canonical(self) -> dict[str, Any]:
        """Return what happened, as data: steps by path; no times, no ids of the run."""
        return cast("dict[str, Any]", timeless(self.to_dict()))

    def digest(self) -> str:
        """Return the SHA-256 of `canonical`, as 64 hexadecimal digits."""
        return _core.digest(self.canonical())

    def same_as(self, other: Rollout) -> bool:
        """Say whether the same happened in both, whenever it was and in whatever order."""
        return self.canonical() == other.canonical()

    def to_json_lines(self) -> str:
        """Return the record as JSON Lines: the run, then a line for each step."""
        head = replace(self, steps=()).to_json()
        return "".join(f"{line}\n" for line in (head, *(step.to_json() for step in self.steps)))

    @classmethod
    def from_json_lines(cls, text: str) -> Self:
        """Read a record from JSON Lines.

        Raises:
            ConfigError: As `from_json`; the fields of a step begin with `steps[...]`.
        """
        lines = [_core.Json(line).to_python() for line in text.splitlines() if line.strip()]
        head = lines[0] if lines else {}
        whole = {**head, "steps": lines[1:]} if isinstance(head, dict) else head
        return cls.from_dict(whole)


def timeless(value: object) -> object:
    """Leave times and ids of the run out of every rollout in data, and sort its steps by path."""
    if isinstance(value, list):
        return [timeless(item) for item in cast("list[object]", value)]
    if not isinstance(value, dict):
        return value
    wire = cast("dict[str, object]", value)
    if wire.get("schema") == SCHEMA:
        wire = {**_untimed(wire), "steps": _by_path(wire.get("steps", []))}
    return {name: timeless(item) for name, item in wire.items()}


def _untimed(wire: Mapping[str, object]) -> dict[str, object]:
    return {name: item for name, item in wire.items() if name not in _UNTIMED}


def _by_path(steps: object) -> object:
    """Sort steps; data that looks like a rollout may hold something else, which stays."""
    given = steps
    listed = cast("list[dict[str, object]]", steps if isinstance(steps, list) else [{}])
    known = all(
        isinstance(one, dict)  # pyright: ignore[reportUnnecessaryIsInstance]
        and isinstance(one.get("path"), str)
        and isinstance(one.get("attempt", 1), int)
        for one in listed
    )
    if not known:
        return given
    ordered = sorted(listed, key=lambda one: (one["path"], one.get("attempt", 1)))
    return [_untimed(one) for one in ordered]
