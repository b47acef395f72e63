"""Loop: a model and its tools, turn after turn, with an end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from interlock import _core
from interlock.errors import Problem
from interlock.harness._compact import Compact, Compactions
from interlock.harness._config import (
    count_problems,
    keywords,
    name_problems,
    raise_problems,
    wrong,
)
from interlock.harness._cycle import Cycle, Parts, Progress
from interlock.harness._stops import DeadlineCheck, read_rules
from interlock.harness._toolset import read_tools
from interlock.harness._workflow import End, Workflow, status_of
from interlock.harness.flow import Flow, Node
from interlock.harness.hooks import Hooks, hooks_problems
from interlock.harness.work import Work, part_of
from interlock.record.result import Result
from interlock.tools.decision_table import DecisionTable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlock.harness._toolset import Toolset
    from interlock.harness._walk import Walk
    from interlock.harness.run import Run
    from interlock.record.values import Effect

__all__ = ["Loop", "LoopResult", "loop"]

_RISKY = ("destructive", "irreversible", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopResult(Result):
    """What a loop came to.

    `stopped_by`: finished, quiet (a reply without any call), turns, stalled, failed, blocked, or a
    limit (tokens, cost, steps, deadline, unmetered). The output is that of the last turn; of a
    loop that is finished, its answer.

    Attributes:
        answer: What `finish` was called with; None unless the loop is finished.
        turns: The turns that were taken.
        compactions: How often older results were put into one, and how many.
        hook_errors: How many hooks raised or took too long.
        report: What the stop rule that ended the loop had to say; None when none did.
    """

    answer: object = None
    turns: int = 0
    compactions: Compactions = field(default_factory=Compactions)
    hook_errors: int = 0
    report: Mapping[str, object] | None = None


class Loop(Workflow[Progress, LoopResult]):
    """Turns of a model, each followed by the tools that it asks for, until it asks for none.

    Args:
        turn: A callable of the `LoopState`: sync or async, `(state)` or `(state, ctx)`. What it
            returns is read as a `Reply`, whose calls are run. Or `Work(...)`, which also says what
            a turn may use.
        tools: What runs them: a `toolbus`, or any object with `invoke(call)`; no tools when None.
        max_turns: The most turns; None only beside another ceiling.
        max_tokens: No step starts once so many tokens are used.
        hooks: Asked around turns and tools, after those of the runs and loops around this one.
        compact: When and how older results are put into one.
        stop: `StallDetect`, `Stall` and `DeadlineCheck` objects, or callables of the state that
            return the reason to stop, or None.
        parallel_tools: Whether readonly calls that follow each other may overlap.
        name: The name of the workflow.

    Raises:
        ConfigError: With every problem found.
    """

    __slots__ = ("_parts", "hooks")

    kind = "loop"
    hooks: tuple[Hooks, ...]
    _parts: Parts

    @keywords
    def __init__(  # noqa: PLR0913 (all by name)
        self,
        turn: Callable[..., Any] | Work | None = None,
        *,
        tools: object = None,
        max_turns: int | None = 8,
        max_tokens: int | None = None,
        hooks: Sequence[Hooks] = (),
        compact: Compact | None = None,
        stop: Sequence[object] = (),
        parallel_tools: bool = False,
        name: str = "loop",
    ) -> None:
        """Check and keep everything."""
        problems = name_problems(name, "name")
        parts = Parts(
            part_of(turn, "turn", problems),
            read_tools(tools, problems),
            max_turns,
            max_tokens,
            compact,
            read_rules(stop, problems),
            parallel_tools,
        )
        problems += count_problems(max_turns, "max_turns", least=1)
        problems += count_problems(max_tokens, "max_tokens")
        problems += hooks_problems(hooks, "hooks")
        problems += _compact_problems(compact, max_tokens)
        if type(parallel_tools) is not bool:
            problems.append(wrong(parallel_tools, "parallel_tools", "must be True or False"))
        raise_problems(problems)
        self._set(name=name, max_tokens=max_tokens, hooks=tuple(hooks), _parts=parts)

    def lint(self) -> tuple[Problem, ...]:
        """Warn of tools that can do harm where a hook that fails lets them pass."""
        return (*self._open_guards(), *self._open_tables())

    def flow(self) -> Flow:
        """Return turn and tools, each after the other."""
        last = "tools" if self._parts.compact is None else "compact"
        nodes = [Node("turn", "turn", (last,)), Node("tools", "tool", ("turn",))]
        if self._parts.compact is not None:
            nodes.append(Node("compact", "compact", ("tools",)))
        return Flow(self.name, tuple(nodes))

    def _config(self) -> dict[str, Any]:
        parts = self._parts
        return {
            "turn": parts.turn.config(),
            "tools": parts.tools.config(),
            "max_turns": parts.max_turns,
            "max_tokens": parts.max_tokens,
            "hooks": [hooks.config() for hooks in self.hooks],
            "compact": None if parts.compact is None else parts.compact.config(),
            "stop": [rule.config() for rule in parts.stop],
            "parallel_tools": parts.parallel_tools,
        }

    def _begin(self, values: object) -> Progress:
        del values
        return Progress()

    async def _steps(self, walk: Walk, values: object, state: Progress) -> str:
        self._refuse_endless(walk)
        walk.add_hooks(self.hooks)
        return await Cycle(self._parts, walk, values, state).run()

    def _refuse_endless(self, walk: Walk) -> None:
        """Refuse a loop that nothing ends.

        Raises:
            ConfigError: Naming `max_turns`.
        """
        limits = [account.limits for account in walk.accounts]
        is_limited = any(
            one is not None
            for limit in limits
            for one in (limit.max_tokens, limit.max_cost, limit.max_steps, limit.timeout)
        )
        is_timed = any(isinstance(rule.given, DeadlineCheck) for rule in self._parts.stop)
        if self._parts.max_turns is None and not is_limited and not is_timed:
            message = (
                "may be None only beside another ceiling: max_tokens, Run(limits=Limits(...)) or "
                "a DeadlineCheck"
            )
            raise_problems([Problem("spec/missing-field", "max_turns", None, message)])

    def _result(self, state: Progress, end: End) -> LoopResult:
        is_over = end.stopped_by in ("finished", "quiet")
        status = status_of(end.stopped_by, otherwise="completed" if is_over else "incomplete")
        rollout = end.close(status)
        finish = state.finish if end.stopped_by == "finished" else None
        last, compactor = state.last, state.compactor
        return LoopResult(
            status=status,
            stopped_by=end.stopped_by,
            output=_text(finish.output) if finish else last.output if last else None,
            data=finish.output if finish else last.data if last else None,
            usage=rollout.usage,
            error=state.error,
            rollout=rollout,
            answer=finish.output if finish else None,
            turns=state.turns,
            compactions=Compactions(compactor.count, compactor.replaced)
            if compactor
            else Compactions(),
            hook_errors=state.guard.errors if state.guard else 0,
            report=state.report,
        )

    def _open_guards(self) -> list[Problem]:
        risky = _risky(self._parts.tools)
        problems: list[Problem] = []
        for at, hooks in enumerate(self.hooks):
            is_guard = bool({"before_tool", "rewrite_tool"} & hooks.calls.keys())
            passed = [name for name, effect in risky if is_guard and not hooks.is_closed(effect)]
            if passed:
                message = (
                    f"when a hook fails these may run: {', '.join(passed)} (destructive, or with "
                    'no declared effect); write on_error="block", or a mapping by effect'
                )
                problems.append(Problem("lint/unused", f"hooks[{at}].on_error", None, message))
        return problems

    def _open_tables(self) -> list[Problem]:
        message = "no otherwise: a call that no row holds for passes"
        return [
            Problem("lint/unused", f"hooks[{at}].before_tool", None, message)
            for at, hooks in enumerate(self.hooks)
            if isinstance(hooks.before_tool, DecisionTable)
            and "otherwise" not in hooks.before_tool.to_spec()
        ]


def _risky(tools: Toolset) -> list[tuple[str, Effect | None]]:
    """Name the tools that can do harm, or do not say."""
    if tools.bus is None:
        return [("any tool", None)]
    return [(one.name, one.effect) for one in tools.bus if one.effect in _RISKY]


def _compact_problems(compact: object, max_tokens: int | None) -> list[Problem]:
    if compact is None:
        return []
    if not isinstance(compact, Compact):
        return [wrong(compact, "compact", "must be Compact(...)")]
    if compact.at is None or compact.window is not None or max_tokens is not None:
        return []
    message = "is a fraction of window or of max_tokens; give one of them"
    return [Problem("spec/missing-field", "compact.at", _core.preview(compact.at), message)]


def _text(answer: object) -> str:
    return answer if isinstance(answer, str) else _core.to_json(cast("Any", answer))


@keywords
async def loop(  # noqa: PLR0913 (all by name)
    values: object = None,
    *,
    turn: Callable[..., Any] | Work | None = None,
    tools: object = None,
    max_turns: int | None = 8,
    max_tokens: int | None = None,
    hooks: Sequence[Hooks] = (),
    compact: Compact | None = None,
    stop: Sequence[object] = (),
    parallel_tools: bool = False,
    name: str = "loop",
    run: Run | None = None,
) -> LoopResult:
    """Take turns of a model and run the tools that it asks for; see `Loop`.

    Raises:
        ConfigError: With every problem found, before any turn is taken.
        UsageError: When a callable returned what has no meaning.
    """
    made = Loop(
        turn,
        tools=tools,
        max_turns=max_turns,
        max_tokens=max_tokens,
        hooks=hooks,
        compact=compact,
        stop=stop,
        parallel_tools=parallel_tools,
        name=name,
    )
    return await made.run(values, run=run)
