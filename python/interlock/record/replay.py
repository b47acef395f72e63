"""replay: a run once more from its record, without asking any model, tool or clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from interlock import _core
from interlock.errors import ConfigError, Problem, ReplayDivergence, UsageError
from interlock.record.reply import data_digest
from interlock.record.rollout import Rollout

if TYPE_CHECKING:
    from interlock.record.result import Result

__all__ = ["Replayable", "replay"]

R_co = TypeVar("R_co", bound="Result", covariant=True)
_RECORDED: Any = object()


class Replayable(Protocol[R_co]):
    """A workflow, as far as a replay asks of it."""

    async def replayed(
        self, rollout: Rollout, values: object, *, strict: bool = True, run: Any = None
    ) -> R_co:
        """Run as it was recorded."""
        ...


async def replay(
    rollout: Rollout,
    workflow: Replayable[R_co],
    *,
    strict: bool = True,
    values: object = _RECORDED,
    run: Any = None,
) -> R_co:
    """Run a workflow as it was recorded: every step answers what it answered then.

    Work is answered by path and checked by the digest of its input; nothing is called for it. Sync
    judgement (accept, gate, decision tools) and nested workflows run for real. A judge that is
    async, or told a usage, asked a model, so that it is answered from the record too.

    Args:
        rollout: The record of the run, as it was or read back from data.
        workflow: What was run.
        strict: Whether every difference ends the replay. Else the recorded answers are taken by
            path for whatever is asked, and only a step that the record lacks ends it.
        values: What the run was started with; what the record holds when left out.
        run: A `Run(...)` with the limits, hooks and retries of the run, where judgement depends on
            them, or a limit held a step of a run that came to another end. Its id, clock and tags
            are those of the record.

    Returns:
        The result; under `strict` with a rollout that is equal to the recorded one.

    Raises:
        ReplayDivergence: At the first difference, naming the step.
        UsageError: For a record that cannot be replayed, and where the run itself ended so.
        ConfigError: For what is no rollout or no workflow.
    """
    problems: list[Problem] = []
    if not isinstance(rollout, Rollout):  # pyright: ignore[reportUnnecessaryIsInstance]
        problems.append(_wrong(rollout, "rollout", "must be a Rollout"))
    if not callable(getattr(workflow, "replayed", None)):
        problems.append(_wrong(workflow, "workflow", "must be a workflow, such as Cascade(...)"))
    if problems:
        raise ConfigError(tuple(problems))
    if rollout.status == "running":
        raise UsageError("the record is of a run that still goes on; replay it when it has ended")
    started_with = _recorded_values(rollout) if values is _RECORDED else values
    return await workflow.replayed(rollout, started_with, strict=strict, run=run)


def _recorded_values(rollout: Rollout) -> object:
    if rollout.input_digest is None:
        raise UsageError(
            "the record does not hold what the run was started with, since JSON cannot hold it or "
            "the run was inside another one: give it as values="
        )
    found = data_digest(rollout.input)
    if found == rollout.input_digest:
        return rollout.input
    if rollout.input is None:
        raise UsageError(
            "the record holds digests in place of what was asked and answered, or was redacted, so "
            "that it cannot be replayed; record with content='full'"
        )
    raise ReplayDivergence("", {"input_digest": rollout.input_digest}, {"input_digest": found})


def _wrong(value: object, field: str, message: str) -> Problem:
    return Problem("spec/wrong-type", field, _core.preview(value), message)
