"""Parallel: branches side by side; every one has its outcome, and none is lost with another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from interlock import _core
from interlock.errors import Problem
from interlock.harness._branches import (
    Branches,
    BranchOutcome,
    branches_of,
    error_of,
    outcomes_listed,
    values_of,
)
from interlock.harness._config import count_problems, keywords, name_problems, raise_problems
from interlock.harness._fan_out import FanOut
from interlock.harness._frame import input_digest
from interlock.harness._workflow import End, Workflow
from interlock.harness.flow import Flow, Node
from interlock.harness.limits import Stopped, fits_later
from interlock.harness.work import Part, part_of
from interlock.record.reply import as_json_reply
from interlock.record.result import Result
from interlock.record.values import ErrorInfo, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from interlock.harness._walk import Walk
    from interlock.harness.run import Run
    from interlock.harness.work import Work
    from interlock.record.result import ResultStatus

__all__ = ["Parallel", "ParallelResult", "parallel"]

Fail = Literal["collect", "first"]

_JOIN = "join"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelResult(Result):
    """What branches side by side came to.

    `stopped_by`: done, quorum, failed, or a limit (tokens, cost, steps, deadline, unmetered).
    `data` is what `join` made of it; without one what the branches answered, by name or in a list,
    None for each that did not.

    Attributes:
        outcomes: What became of every branch, in the order in which they are declared.
    """

    outcomes: tuple[BranchOutcome, ...] = ()

    @property
    def outputs(self) -> tuple[object, ...]:
        """What each branch answered, as data or else as text; None for each that did not."""
        return tuple(one.value for one in self.outcomes)


@dataclass(slots=True)
class _State:
    branches: list[tuple[str, Part, object]] = field(default_factory=list[tuple[str, Part, object]])
    outcomes: dict[int, BranchOutcome] = field(default_factory=dict[int, BranchOutcome])
    completed: int = 0
    stopped_by: str = "done"
    joined: Reply | None = None
    error: ErrorInfo | None = None

    def listed(self, walk: Walk) -> tuple[BranchOutcome, ...]:
        """List the outcomes in order, those that did not come to an end included."""
        names = [name for name, _, _ in self.branches]
        return outcomes_listed(walk, names, self.outcomes, self.stopped_by)


class Parallel(Workflow[_State, ParallelResult]):
    """Branches that run side by side, at most so many at once.

    Args:
        branches: Callables of the values, or `Work(...)`: a mapping by name, or a list.
        over: In place of branches, items of which each is given to `each`; or a callable of the
            values that gives them.
        each: A callable of an item, or `Work(...)`.
        join: A callable of the outcomes, all of them and in order, that makes one answer of them;
            it is asked when the branches are done, or the quorum is there.
        fail: `collect`: every branch runs, whatever becomes of the others. `first`: once one has
            failed the others are cancelled, and those that wait never start.
        quorum: How many must succeed; once they have, or no longer can, the others are cancelled.
            None: all.
        concurrency: How many run at once; as the run says when None, which is 8 when it does not.
        max_tokens: No branch starts once so many tokens are used.
        name: The name of the workflow.

    Raises:
        ConfigError: With every problem found.
    """

    __slots__ = ("_branches", "_join", "concurrency", "fail", "quorum")

    kind = "parallel"
    fail: Fail
    quorum: int | None
    concurrency: int | None
    _branches: Branches
    _join: Part | None

    @keywords
    def __init__(  # noqa: PLR0913 (all but the branches by name)
        self,
        branches: Mapping[str, Callable[..., Any] | Work]
        | Sequence[Callable[..., Any] | Work]
        | None = None,
        *,
        over: Iterable[object] | Callable[[Any], Iterable[object]] | None = None,
        each: Callable[..., Any] | Work | None = None,
        join: Callable[..., Any] | Work | None = None,
        fail: Fail = "collect",
        quorum: int | None = None,
        concurrency: int | None = None,
        max_tokens: int | None = None,
        name: str = "parallel",
    ) -> None:
        """Check and keep everything."""
        problems = name_problems(name, "name")
        read = branches_of(branches, over, each, problems)
        joins = None if join is None else part_of(join, _JOIN, problems)
        if joins is not None and _JOIN in read.parts:
            message = "the name of the step that joins; each must be its own"
            shown = _core.preview(_JOIN)
            problems.append(Problem("spec/duplicate-name", f"branches.{_JOIN}", shown, message))
        problems += _rule_problems(fail, quorum, read.count)
        problems += count_problems(concurrency, "concurrency", least=1)
        problems += count_problems(max_tokens, "max_tokens")
        raise_problems(problems)
        self._set(name=name, max_tokens=max_tokens, fail=fail, quorum=quorum)
        self._set(concurrency=concurrency, _branches=read, _join=joins)

    def lint(self) -> tuple[Problem, ...]:
        """Warn of a single branch."""
        if self._branches.each is not None or self._branches.count != 1:
            return ()
        message = "a single branch: nothing runs beside it; call it"
        return (Problem("lint/unused", "branches", None, message),)

    def flow(self) -> Flow:
        """Return the branches, or the one that stands for all, and what joins them."""
        names = ("each",) if self._branches.each is not None else tuple(self._branches.parts)
        nodes = [Node(name, "branch") for name in names]
        if self._join is not None:
            nodes.append(Node(_JOIN, "merge", names))
        return Flow(self.name, tuple(nodes))

    def _config(self) -> dict[str, Any]:
        return {
            **self._branches.config(),
            "join": self._join and self._join.config(),
            "fail": self.fail,
            "quorum": self.quorum,
            "concurrency": self.concurrency,
            "max_tokens": self.max_tokens,
        }

    def _begin(self, values: object) -> _State:
        del values
        return _State()

    async def _steps(self, walk: Walk, values: object, state: _State) -> str:
        state.branches = self._branches.listed(values, self.name)
        count = len(state.branches)
        if self.quorum is not None and self.quorum > count:
            message = f"{count} branches cannot give the {self.quorum} successes of the quorum"
            state.error = ErrorInfo("quorum", message, "bad_request", "escalate", source="parallel")
            return self._ended(state, "failed")
        fan = FanOut(count, self.concurrency or walk.run.concurrency)
        digest = walk.digest if self._branches.each is None else None

        def waits(number: int) -> bool:
            _, part, value = state.branches[number]
            return fits_later(walk.accounts, part.reserve_for(value), walk.outer)

        async def work(number: int) -> None:
            await self._branch(walk, number, digest, state, fan)

        await fan.run(work, waits)
        return await self._joined(walk, state)

    async def _branch(
        self, walk: Walk, number: int, digest: str | None, state: _State, fan: FanOut
    ) -> None:
        name, part, value = state.branches[number]
        try:
            outcome = await walk.step(
                name,
                "branch",
                part.call,
                value,
                digest=digest,
                read=as_json_reply,
                **part.options(),
            )
        except Stopped as stop:
            # What runs is paid for and may end; what has not started would be stopped as well.
            self._ended(state, stop.reason)
            fan.close()
            return
        state.outcomes[number] = BranchOutcome(
            name=name,
            status=outcome.step.status,
            answer=outcome.reply,
            error=outcome.step.error,
            usage=outcome.usage,
        )
        state.completed += outcome.ok
        reason = self._is_over(state)
        if reason is not None:
            self._ended(state, reason)
            fan.stop()

    def _is_over(self, state: _State) -> str | None:
        """Say what ends it before all branches are done, if anything does."""
        completed = state.completed
        failed = len(state.outcomes) - completed
        if self.quorum is None:
            return "failed" if failed and self.fail == "first" else None
        if completed >= self.quorum:
            return "quorum"
        return "failed" if failed > len(state.branches) - self.quorum else None

    def _ended(self, state: _State, reason: str) -> str:
        if state.stopped_by == "done":
            state.stopped_by = reason
        return reason

    async def _joined(self, walk: Walk, state: _State) -> str:
        """Join what there is, if it is what was asked for."""
        if state.stopped_by == "done" and state.branches and not state.completed:
            state.stopped_by = "failed"
        if self._join is None or state.stopped_by not in ("done", "quorum"):
            return state.stopped_by
        outcomes = state.listed(walk)
        joined = await walk.step(
            _JOIN,
            "merge",
            self._join.call,
            outcomes,
            digest=input_digest([[one.name, one.status, one.value] for one in outcomes]),
            read=as_json_reply,
            **self._join.options(),
        )
        if not joined.ok:
            state.error, state.stopped_by = joined.step.error, "failed"
        state.joined = joined.reply if joined.ok else None
        return state.stopped_by

    def _result(self, state: _State, end: End) -> ParallelResult:
        state.stopped_by = end.stopped_by
        outcomes = state.listed(end.walk)
        status = self._status(state, end.stopped_by)
        rollout = end.close(status)
        data, output = None, None
        if state.joined is not None:
            data, output = state.joined.data, state.joined.output
        elif self._join is None and (state.completed or not outcomes):
            data, output = values_of(outcomes, named=self._branches.named)
        return ParallelResult(
            status=status,
            stopped_by=end.stopped_by,
            output=output,
            data=data,
            usage=rollout.usage,
            error=state.error or (None if status == "completed" else error_of(outcomes)),
            rollout=rollout,
            outcomes=outcomes,
        )

    def _status(self, state: _State, stopped_by: str) -> ResultStatus:
        if stopped_by == "cancelled":
            return "cancelled"
        completed = state.completed
        needed = len(state.branches) if self.quorum is None else self.quorum
        if stopped_by in ("done", "quorum") and completed >= needed:
            return "completed"
        return "incomplete" if completed and state.error is None else "failed"


def _rule_problems(fail: object, quorum: object, count: int | None) -> list[Problem]:
    problems: list[Problem] = []
    if fail not in ("collect", "first"):
        message = "must be one of collect, first"
        problems.append(Problem("spec/unknown-choice", "fail", _core.preview(fail), message))
    found = count_problems(quorum, "quorum", least=1)
    if quorum is not None and not found:
        if count is not None and cast("int", quorum) > count:
            message = f"must be at most {count}, the number of branches"
            found = [Problem("spec/over-limit", "quorum", _core.preview(quorum), message)]
        if fail == "first":
            message = "says how many may fail; it cannot stand beside fail='first'"
            found.append(Problem("spec/conflict", "quorum", _core.preview(quorum), message))
    return problems + found


@keywords
async def parallel(  # noqa: PLR0913 (all but values and branches by name)
    values: object,
    branches: Mapping[str, Callable[..., Any] | Work]
    | Sequence[Callable[..., Any] | Work]
    | None = None,
    *,
    over: Iterable[object] | Callable[[Any], Iterable[object]] | None = None,
    each: Callable[..., Any] | Work | None = None,
    join: Callable[..., Any] | Work | None = None,
    fail: Fail = "collect",
    quorum: int | None = None,
    concurrency: int | None = None,
    max_tokens: int | None = None,
    name: str = "parallel",
    run: Run | None = None,
) -> ParallelResult:
    """Run branches side by side; see `Parallel`.

    Raises:
        ConfigError: With every problem found, before any branch runs.
        UsageError: When a callable returned what has no meaning.
    """
    made = Parallel(
        branches,
        over=over,
        each=each,
        join=join,
        fail=fail,
        quorum=quorum,
        concurrency=concurrency,
        max_tokens=max_tokens,
        name=name,
    )
    return await made.run(values, run=run)
