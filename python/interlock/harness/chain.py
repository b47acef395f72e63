"""Chain: steps in a row, with gates between them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, cast

from interlock.errors import Problem
from interlock.harness._callables import Call, call_of, label_of
from interlock.harness._config import (
    count_problems,
    keywords,
    name_problems,
    names_problems,
    raise_problems,
    read_entries,
    reserve_problems,
    seconds_problems,
    wrong,
)
from interlock.harness._workflow import End, Workflow, status_of
from interlock.harness.flow import Flow, Node
from interlock.harness.judge import Judge, judge_of
from interlock.harness.retry import Retry
from interlock.record.reply import as_json_reply
from interlock.record.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlock.harness._frame import Outcome, Reserve
    from interlock.harness._walk import Walk
    from interlock.harness.run import Run
    from interlock.record.values import ErrorInfo, Reply, Verdict

__all__ = ["Chain", "ChainResult", "Stage", "chain"]


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a chain, and the gate behind it.

    Args:
        name: Its name, which is that of its step; the gate's is `gate_` and that.
        run: A callable of what the stage before returned: sync or async, `(x)` or `(x, ctx)`.
        gate: Whether its answer may go on: a callable of the `Reply`, or of it and a context, that
            returns True, False, a `Verdict` or `(ok, reason)`; or a decision tool, as in
            `Cascade`. None: everything goes on.
        reserve: Tokens that it may use, or a function of its input that says how many.
        timeout: Seconds; one that takes longer has failed.
        retry: How it is tried again; as the run says when None.
        limiter: A named capacity of the run.
        cost_ms: How long it takes; it does not start where that does not fit the deadline.
    """

    name: str
    run: Callable[..., Any]
    gate: object = None
    _: KW_ONLY
    reserve: Reserve = None
    timeout: float | None = None
    retry: Retry | None = None
    limiter: str | None = None
    cost_ms: int | None = None


Stage.__init__ = keywords(Stage.__init__)  # type: ignore[method-assign]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainResult(Result):
    """What a chain came to.

    `stopped_by`: done, gate, failed, or a limit (tokens, cost, steps, deadline, unmetered). The
    output is that of the last stage that answered, also where its gate refused.

    Attributes:
        ran: The stages that ran, in order; one that was refused or failed ran.
        stopped_at: The stage whose gate refused, or that failed; None when the chain got through,
            or a limit ended it.
        reason: What the gate said, or the error.
    """

    ran: tuple[str, ...] = ()
    stopped_at: str | None = None
    reason: str = ""


@dataclass(slots=True)
class _State:
    ran: list[str] = field(default_factory=list[str])
    answer: Reply | None = None
    stopped_at: str | None = None
    reason: str = ""
    error: ErrorInfo | None = None

    def stop(self, stage: Stage, outcome: Outcome, reason: str) -> None:
        self.stopped_at, self.reason, self.error = stage.name, reason, outcome.step.error


class Chain(Workflow[_State, ChainResult]):
    """Stages in a row: each is handed what the one before returned, unless a gate refuses it.

    Args:
        steps: `Stage(...)` or pairs of name and callable, in order.
        name: The name of the workflow.
        max_tokens: No stage starts once so many tokens are used.

    Raises:
        ConfigError: With every problem found.
    """

    __slots__ = ("_calls", "_gates", "steps")

    kind = "chain"
    steps: tuple[Stage, ...]
    _calls: tuple[Call, ...]
    _gates: tuple[Judge | None, ...]

    @keywords
    def __init__(
        self,
        steps: Sequence[Stage | tuple[str, Callable[..., Any]]],
        *,
        name: str = "chain",
        max_tokens: int | None = None,
    ) -> None:
        """Check and keep everything."""
        problems = name_problems(name, "name")
        read = _stages(steps, problems)
        problems += count_problems(max_tokens, "max_tokens")
        calls = [call_of(one.run, f"steps[{at}].run", problems) for at, one in enumerate(read)]
        gates = [
            None if one.gate is None else judge_of(one.gate, f"steps[{at}].gate", problems)
            for at, one in enumerate(read)
        ]
        raise_problems(problems)
        self._set(name=name, max_tokens=max_tokens, steps=read)
        self._set(_calls=tuple(calls), _gates=tuple(gates))

    def lint(self) -> tuple[Problem, ...]:
        """Warn of a chain without any gate."""
        if any(stage.gate is not None for stage in self.steps):
            return ()
        message = "no gate anywhere: a chain gains nothing here over a graph, which runs the same"
        return (Problem("lint/unused", "steps", None, message),)

    def flow(self) -> Flow:
        """Return stages and gates in order."""
        nodes: list[Node] = []
        for stage in self.steps:
            before = (nodes[-1].id,) if nodes else ()
            nodes.append(Node(stage.name, "stage", before))
            if stage.gate is not None:
                nodes.append(Node(f"gate_{stage.name}", "gate", (stage.name,)))
        return Flow(self.name, tuple(nodes))

    def compile(self) -> Flow:
        """Return the chain as a line of nodes, each needing the one before."""
        return self.flow()

    def _config(self) -> dict[str, Any]:
        return {
            "steps": [
                {
                    "name": stage.name,
                    "run": label_of(stage.run),
                    "gate": None if gate is None else gate.label,
                    "reserve": label_of(stage.reserve)
                    if callable(stage.reserve)
                    else stage.reserve,
                    "timeout": stage.timeout,
                    "attempts": stage.retry.max_attempts if stage.retry else None,
                    "limiter": stage.limiter,
                    "cost_ms": stage.cost_ms,
                }
                for stage, gate in zip(self.steps, self._gates, strict=True)
            ],
            "max_tokens": self.max_tokens,
        }

    def _begin(self, values: object) -> _State:
        del values
        return _State()

    async def _steps(self, walk: Walk, values: object, state: _State) -> str:
        value = values
        for stage, call, gate in zip(self.steps, self._calls, self._gates, strict=True):
            outcome = await walk.step(
                stage.name,
                "stage",
                call,
                value,
                reserve=stage.reserve,
                timeout=stage.timeout,
                retry=stage.retry,
                limiter=stage.limiter,
                cost_ms=stage.cost_ms,
                read=as_json_reply,
            )
            state.ran.append(stage.name)
            if not outcome.ok:
                state.stop(stage, outcome, str(outcome.step.error or "failed"))
                return "failed"
            state.answer = outcome.reply
            if gate is not None and not await self._passed(walk, stage, gate, outcome, state):
                return "gate"
            value = outcome.value
        return "done"

    async def _passed(
        self, walk: Walk, stage: Stage, gate: Judge, outcome: Outcome, state: _State
    ) -> bool:
        """Ask the gate; one that raises or cannot decide refuses."""
        said = await walk.step(
            f"gate_{stage.name}",
            "gate",
            gate.call,
            outcome.reply,
            is_judgement=True,
            read=gate.read,
        )
        verdict = cast("Verdict", said.verdict)
        if not verdict.ok:
            state.stop(stage, said, verdict.reason)
        return verdict.ok

    def _result(self, state: _State, end: End) -> ChainResult:
        status = status_of(end.stopped_by, otherwise="completed")
        if end.stopped_by == "gate":
            status = "failed"
        rollout = end.close(status)
        answer = state.answer
        return ChainResult(
            status=status,
            stopped_by=end.stopped_by,
            output=answer.output if answer is not None else None,
            data=answer.data if answer is not None else None,
            calls=answer.calls if answer is not None else (),
            usage=rollout.usage,
            error=state.error,
            rollout=rollout,
            ran=tuple(state.ran),
            stopped_at=state.stopped_at,
            reason=state.reason,
        )


def _stages(given: object, problems: list[Problem]) -> tuple[Stage, ...]:
    """Read the stages; what is wrong with them is added to the problems."""
    stages = read_entries(given, "steps", Stage, problems)
    names = [(f"steps[{at}].name", stage.name) for at, stage in enumerate(stages)]
    problems += names_problems(names, beside="gate_")
    for at, stage in enumerate(stages):
        problems += seconds_problems(stage.timeout, f"steps[{at}].timeout")
        problems += count_problems(stage.cost_ms, f"steps[{at}].cost_ms", least=1)
        problems += reserve_problems(stage.reserve, f"steps[{at}].reserve")
        if stage.retry is not None and not isinstance(stage.retry, Retry):  # pyright: ignore[reportUnnecessaryIsInstance]
            problems.append(wrong(stage.retry, f"steps[{at}].retry", "must be Retry(...)"))
    return tuple(stages)


@keywords
async def chain(
    values: object,
    steps: Sequence[Stage | tuple[str, Callable[..., Any]]],
    *,
    name: str = "chain",
    max_tokens: int | None = None,
    run: Run | None = None,
) -> ChainResult:
    """Run stages in a row, each handed what the one before returned; see `Chain`.

    Raises:
        ConfigError: With every problem found, before any stage runs.
        UsageError: When a callable returned what has no meaning.
    """
    return await Chain(steps, name=name, max_tokens=max_tokens).run(values, run=run)
