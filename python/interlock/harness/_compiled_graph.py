"""A graph that was checked: frozen, and run as often as wished."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from interlock import _core
from interlock.conditions import Checks
from interlock.errors import Problem
from interlock.harness._config import (
    count_problems,
    name_problems,
    names_problems,
    raise_problems,
    wrong,
)
from interlock.harness._dag import Dag
from interlock.harness._jobs import Job, status_by
from interlock.harness._workflow import End, Workflow
from interlock.harness.flow import Flow, Node
from interlock.harness.inputs import NodeOutcome, reading_problems
from interlock.harness.judge import judge_of
from interlock.harness.work import Part, Work, part_of
from interlock.record.reply import plain_data
from interlock.record.result import Result
from interlock.tools._steps import read_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlock.harness._walk import Walk
    from interlock.harness.inputs import NodeState
    from interlock.typing import JSON

__all__ = ["CompiledGraph", "Declared", "Fail", "GraphResult"]

Fail = Literal["continue", "stop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphResult(Result):
    """What a graph came to.

    `stopped_by`: `done`: every node ran, or was skipped by its own condition; `halted`: some
    failed or cannot be reached; `waiting`: some wait behind a condition that cannot be decided;
    `failed`: one failed under `fail="stop"`; or a limit (tokens, cost, steps, deadline,
    unmetered). `status` is `completed` for the first alone, `failed` where nodes failed and none
    was completed.

    The output is that of the node that no other needs; where there are several of those, the data
    are their answers by name.

    Attributes:
        outcomes: What became of every node, by name, in declared order.
    """

    outcomes: Mapping[str, NodeOutcome] = field(default_factory=dict[str, NodeOutcome])

    @property
    def states(self) -> dict[str, NodeState]:
        """The state of every node, by name."""
        return {name: outcome.state for name, outcome in self.outcomes.items()}


@dataclass(frozen=True, slots=True)
class Declared:
    """A node as it was declared."""

    name: str
    run: Callable[..., Any] | Work
    needs: Sequence[str]
    when: object


@dataclass(slots=True)
class _State:
    dag: Dag | None = None


class CompiledGraph(Workflow[_State, GraphResult]):
    """A graph that was checked: frozen, run as often as wished. `Graph.compile` makes it."""

    __slots__ = ("_entries", "_jobs", "_parts", "concurrency", "fail", "max_steps")

    kind = "graph"
    fail: Fail
    max_steps: int
    concurrency: int | None
    _entries: tuple[Declared, ...]
    _jobs: tuple[Job, ...]
    _parts: tuple[Part, ...]

    def __init__(
        self,
        entries: Sequence[Declared],
        *,
        name: str,
        fail: Fail,
        max_steps: int,
        concurrency: int | None,
        max_tokens: int | None,
    ) -> None:
        """Check and keep everything."""
        problems = name_problems(name, "name")
        if fail not in ("continue", "stop"):
            message = "must be one of continue, stop"
            problems.append(Problem("spec/unknown-choice", "fail", _core.preview(fail), message))
        is_count = type(max_steps) is int and max_steps > 0
        if not is_count:
            problems.append(wrong(max_steps, "max_steps", "must be a whole number, 1 or more"))
        problems += count_problems(concurrency, "concurrency", least=1)
        problems += count_problems(max_tokens, "max_tokens")
        jobs, parts = _jobs_of(entries, max_steps if is_count else len(entries), problems)
        raise_problems(problems)
        self._set(name=name, max_tokens=max_tokens, fail=fail, max_steps=max_steps)
        self._set(concurrency=concurrency, _entries=tuple(entries), _jobs=jobs, _parts=parts)

    def flow(self) -> Flow:
        """Return the nodes, each with its condition before it."""
        nodes: list[Node] = []
        for entry in self._entries:
            needs = tuple(entry.needs)
            if entry.when is not None:
                nodes.append(Node(f"when_{entry.name}", "decision", needs))
                needs = (nodes[-1].id,)
            nodes.append(Node(entry.name, "node", needs))
        return Flow(self.name, tuple(nodes))

    def _config(self) -> dict[str, Any]:
        declared = zip(self._entries, self._jobs, self._parts, strict=True)
        return {
            "nodes": [
                {
                    **part.config(),
                    "name": entry.name,
                    "needs": list(entry.needs),
                    "when": None if job.judge is None else job.judge.label,
                }
                for entry, job, part in declared
            ],
            "fail": self.fail,
            "max_steps": self.max_steps,
            "concurrency": self.concurrency,
            "max_tokens": self.max_tokens,
        }

    def _begin(self, values: object) -> _State:
        del values
        return _State()

    async def _steps(self, walk: Walk, values: object, state: _State) -> str:
        state.dag = Dag(
            walk,
            self._jobs,
            values,
            kind="node",
            concurrency=self.concurrency or walk.run.concurrency,
            stops=self.fail == "stop",
        )
        return await state.dag.run()

    def _result(self, state: _State, end: End) -> GraphResult:
        outcomes = state.dag.outcomes() if state.dag is not None else {}
        status = status_by(end.stopped_by, outcomes.values())
        rollout = end.close(status)
        output, data = self._answer(outcomes)
        return GraphResult(
            status=status,
            stopped_by=end.stopped_by,
            output=output,
            data=data,
            usage=rollout.usage,
            error=next((one.error for one in outcomes.values() if one.error), None),
            rollout=rollout,
            outcomes=outcomes,
        )

    def _answer(self, outcomes: Mapping[str, NodeOutcome]) -> tuple[str | None, object]:
        """Give the answer of the last node; of several last ones, all by name."""
        needed = {need for entry in self._entries for need in entry.needs}
        last = [entry.name for entry in self._entries if entry.name not in needed]
        answers = {
            name: outcomes[name].answer
            for name in last
            if name in outcomes and outcomes[name].state == "completed"
        }
        if not answers:
            return None, None
        if len(last) == 1:
            (answer,) = answers.values()
            return (answer.output, answer.data) if answer is not None else (None, None)
        data = {name: outcomes[name].data for name in answers}
        return _written(data), data


def _written(data: Mapping[str, object]) -> str:
    return _core.to_json({name: plain_data(one) for name, one in data.items()})


def _jobs_of(
    entries: Sequence[Declared], max_steps: int, problems: list[Problem]
) -> tuple[tuple[Job, ...], tuple[Part, ...]]:
    """Read the nodes; what is wrong with them is added to the problems."""
    if not entries:
        problems.append(Problem("spec/empty-list", "nodes", "[]", "must not be empty"))
    if len(entries) > max_steps:
        message = f"{len(entries)} nodes, over the limit of {max_steps}: see max_steps"
        problems.append(Problem("spec/over-limit", "nodes", None, message))
        return (), ()
    names = [(f"nodes[{at}].name", entry.name) for at, entry in enumerate(entries)]
    problems += names_problems(names, beside="when_")
    plain: list[JSON] = [_planned(entry) for entry in entries]
    steps, found = read_steps(plain)
    problems += [
        fault._replace(field=f"nodes{fault.field.removeprefix('steps')}")
        for fault in found
        if not fault.field.endswith(".id")
    ]
    jobs: list[Job] = []
    parts: list[Part] = []
    for at, (entry, step) in enumerate(zip(entries, steps, strict=True)):
        place = f"nodes[{at}]"
        part = part_of(entry.run, f"{place}.run", problems)
        judge = None
        if entry.when is not None:
            judge = judge_of(entry.when, f"{place}.when", problems)
        if isinstance(entry.when, Checks):
            problems += reading_problems(entry.when, f"{place}.when", entry.needs)
        jobs.append(Job(step, part.call, judge, part.options()))
        parts.append(part)
    return tuple(jobs), tuple(parts)


def _planned(entry: Declared) -> JSON:
    needs = cast("object", entry.needs)
    listed = cast("JSON", list(cast("Any", needs)) if isinstance(needs, tuple) else needs)
    return {"id": cast("JSON", entry.name), "needs": listed}
