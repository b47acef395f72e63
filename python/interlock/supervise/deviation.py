"""Deviations: the one place where a departure from the procedure is recorded."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from interlock.supervise._draft import Transition
from interlock.supervise.asked import Question
from interlock.supervise.capability import capability_class_of
from interlock.supervise.state import DeviationRecord, Event, RunState

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "DeviationInput",
    "count_by_class",
    "count_by_step",
    "record_deviation",
    "whether_to_go_on",
]


@dataclass(frozen=True, slots=True)
class DeviationInput:
    """A departure to record.

    Attributes:
        deviation_class: One of the seven classes.
        step: Where; the current step when None.
        capability: What was called; only its class is kept.
    """

    deviation_class: str
    step: str | None = None
    capability: str | None = None


def record_deviation(state: RunState, given: DeviationInput) -> Transition:
    """Record a departure, and do what the run's rules say of it.

    On a run that has ended it is added and nothing else happens. The count of all classes is
    looked at first, then the response to the class.

    Returns:
        The state, and one event of kind `escalated` where this ends the run; none where the run
        goes on. Where the response is `pause`, the question whether to go on is open.

    Raises:
        SpecInvalid: When the class is none of the seven.
    """
    here = None if state.current is None else state.place(state.current)
    record = DeviationRecord(
        given.deviation_class,
        here if given.step is None else given.step,
        capability_class_of(given.capability),
        len(state.deviations),
    )
    deviations = (*state.deviations, record)
    if state.is_over:
        return Transition(replace(state, deviations=deviations))
    seq = state.seq + 1
    noted = replace(state, deviations=deviations, seq=seq)
    rules = state.escalation
    count, name = len(deviations), record.deviation_class
    response = rules.responses.get(name, "abort")
    if count > rules.max_total:
        code = "run/deviation-limit"
        said = (
            f"{count} deviations where {rules.max_total} are allowed, the last one {name}: "
            "document and run no longer fit each other"
        )
    elif response == "block-and-continue":
        return Transition(noted)
    elif response == "pause":
        step = state.current or ""
        said = f"A deviation of class {name} at step {step}. Shall the run go on?"
        question = whether_to_go_on(noted, f"{record.sequence}", said)
        return Transition(replace(noted, pending=(*state.pending, question)), (), question)
    else:
        code = f"run/escalated-{name}"
        said = (
            f"a deviation of class {name}: where the run stands can no longer be trusted for "
            "judging what follows"
        )
    said += f" (step {record.step})" if record.step else ""
    event = Event(seq, "escalated", code, said, record.step)
    ended = replace(noted, status="ended", outcome=state.outcome or "aborted", pending=())
    return Transition(ended, (event,))


def count_by_class(records: Iterable[DeviationRecord]) -> dict[str, int]:
    """Count deviations by class."""
    return dict(Counter(record.deviation_class for record in records))


def count_by_step(records: Iterable[DeviationRecord]) -> dict[str, int]:
    """Count deviations by step; those without one are left out."""
    return dict(Counter(record.step for record in records if record.step is not None))


def whether_to_go_on(state: RunState, what: str, text: str) -> Question:
    """Make the question whether a run goes on.

    Args:
        state: Where it stands.
        what: What it is asked for, so that it is another question than those before it.
        text: The question.
    """
    from interlock.supervise.questions import question_id

    digest, name = question_id(state, "continue", what)
    return Question(
        id=name,
        kind="continue",
        step=state.current or "",
        visit=state.visit,
        text=text,
        action_digest=digest,
        requested_by=state.agent_identity,
        separate_from="requester",
        asked_at=state.last_now,
        on_refusal="the run is aborted",
    )
