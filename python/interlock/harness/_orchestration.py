"""An orchestrate in progress: what was planned, what is done, whether it still moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from interlock import _core
from interlock.conditions import Checks
from interlock.harness._frame import input_digest
from interlock.harness._jobs import Done, Job
from interlock.harness.inputs import NodeOutcome
from interlock.harness.judge import Gate, Judge, judge_of
from interlock.record.rollout import Step
from interlock.record.values import ErrorInfo
from interlock.tools._steps import read_steps
from interlock.tools.branch import Branch
from interlock.tools.stall_detect import stall_detect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlock.errors import Problem
    from interlock.harness._dag import Dag
    from interlock.harness._frame import Outcome
    from interlock.harness._walk import Walk
    from interlock.harness.plan import Entry, Plan
    from interlock.harness.work import Part
    from interlock.typing import JSON

__all__ = ["Orchestration", "asked", "is_amendable", "is_stalled", "jobs_of"]

_AMENDABLE = ("failed", "unreachable", "undetermined")
"""States of steps about which a lead could do something."""
_LOOKED_AT = 16
"""How many of the last plans are looked at for a stall."""


@dataclass(slots=True)
class Orchestration:
    values: object
    plan: Plan | None = None
    under: str = ""
    dag: Dag | None = None
    earlier: dict[str, NodeOutcome] = field(default_factory=dict[str, NodeOutcome])
    entries: dict[str, Entry] = field(default_factory=dict[str, "Entry"])
    """The steps that are completed, as they were written."""
    done: dict[str, Done] = field(default_factory=dict[str, Done])
    history: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    faults: tuple[Problem, ...] = ()
    plans: int = 0
    answer: Outcome | None = None
    error: ErrorInfo | None = None

    def outcomes(self) -> dict[str, NodeOutcome]:
        """Say what became of every step so far: those of earlier plans, and of this one."""
        return {**self.earlier, **(self.dag.outcomes() if self.dag is not None else {})}

    def keep(self, entries: list[Entry]) -> None:
        """Note what is completed: an amended plan cannot change it."""
        dag = cast("Dag", self.dag)
        for at, entry in enumerate(entries):
            if at in dag.done and dag.done[at].outcome.state == "completed":
                self.entries[entry["id"]], self.done[entry["id"]] = entry, dag.done[at]
        self.earlier = self.outcomes()


def jobs_of(entries: Sequence[Entry], workers: Mapping[str, Part]) -> list[Job]:
    """Make the jobs of a plan that was checked."""
    steps, _ = read_steps(cast("JSON", entries))
    jobs: list[Job] = []
    for entry, step in zip(entries, steps, strict=True):
        worker = workers[entry["worker"]]
        options = {**worker.options(), "meta": {"worker": entry["worker"]}}
        jobs.append(Job(step, worker.call, _judge(entry), options))
    return jobs


def _judge(entry: Entry) -> Judge | None:
    """Make the judge of a step's own conditions, which were checked."""
    if "when" not in entry:
        return None
    if entry.get("match") != "any":
        return judge_of(Checks(entry["when"]), "when", [])
    arm = {"name": entry["id"], "when": entry["when"], "match": "any"}
    return judge_of(Gate(Branch([arm]), pass_=[entry["id"]]), "when", [])


def asked(state: Orchestration, faults: tuple[Problem, ...]) -> str | None:
    """Digest what a lead is told beside the values, so that no two questions look the same."""
    values = input_digest(state.values)
    if values is None or not (faults or state.dag):
        return values
    told = [[one.id, one.state, input_digest(one.data)] for one in state.outcomes().values()]
    return _core.digest([values, [str(fault) for fault in faults], told])


def is_amendable(ended: str, state: Orchestration) -> bool:
    """Say whether the lead could do something about how a plan ended."""
    dag = cast("Dag", state.dag)
    states = {outcome.state for outcome in dag.outcomes().values()}
    return ended in ("halted", "waiting") and not states.isdisjoint(_AMENDABLE)


async def is_stalled(walk: Walk, state: Orchestration) -> bool:
    """Say whether the lead writes the same plans, which come to the same."""
    came_to = [[one.id, one.state, input_digest(one.data)] for one in state.earlier.values()]
    written = cast("Plan", state.plan).to_dict()
    state.history.append({"plan": _core.digest(written), "outcomes": _core.digest(came_to)})
    report = stall_detect(state.history[-_LOOKED_AT:], window=2)
    if report.stalled:
        message = f"amended plans come to the same: {report.reason}"
        state.error = ErrorInfo("stalled", message, "permission", "escalate", source="stall")
        await walk.note(
            Step(
                path=walk.place("stall"),
                name="stall",
                kind="decision",
                status="failed",
                error=state.error,
                decision=report.to_dict(),
            )
        )
    return report.stalled
