"""Cascade: cheap first, dear only where the cheap answer is not good enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from interlock.errors import Problem
from interlock.harness._callables import Call, call_of, label_of
from interlock.harness._config import (
    count_problems,
    keywords,
    name_problems,
    raise_problems,
    wrong,
)
from interlock.harness._workflow import LIMITED, End, Workflow, status_of
from interlock.harness.flow import Flow, Node
from interlock.harness.judge import Judge, judge_of
from interlock.harness.tier import Tier, read_tiers
from interlock.record._data import Record
from interlock.record.result import Result
from interlock.record.usage import NOTHING, Usage
from interlock.record.values import ErrorInfo, Reply, Verdict
from interlock.tools.error_classify import ErrorClassify

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlock.harness._frame import Outcome
    from interlock.harness._walk import Walk
    from interlock.harness.run import Run

__all__ = ["Cascade", "CascadeResult", "TierRecord", "cascade"]

Escalation = Literal["failed", "rejected", "unjudged"]

_ENDING = ("fail", "reauth", "skip")
"""Actions of an error that no dearer tier can mend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TierRecord(Record):
    """How one tier fared.

    Attributes:
        name: Its name.
        status: That of its step.
        answer: What it answered; None when it raised.
        verdict: What the judge said; None when it was not asked.
        escalated_by: Why the next one was asked: `failed`, `rejected`, `unjudged`; None for the
            tier that was accepted.
        error: What went wrong, in the tier or in its judge.
        usage: What tier and judge used.
    """

    name: str
    status: str
    answer: Reply | None = None
    verdict: Verdict | None = None
    escalated_by: Escalation | None = None
    error: ErrorInfo | None = None
    usage: Usage = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeResult(Result):
    """What a cascade came to.

    `stopped_by`: accepted, exhausted, failed, or a limit (tokens, cost, steps, deadline,
    unmetered).

    Attributes:
        tier: The tier whose answer this is; None without an answer.
        escalated: The tiers that were tried and did not give it, in order.
        accepted: Whether the judge said yes to it.
        history: How every tier that was tried fared, in order.
    """

    tier: str | None = None
    escalated: tuple[str, ...] = ()
    accepted: bool = False
    history: tuple[TierRecord, ...] = ()


@dataclass(slots=True)
class _State:
    history: list[TierRecord] = field(default_factory=list[TierRecord])
    answered: TierRecord | None = None
    """The latest tier that gave an answer, or the one that was accepted."""


class Cascade(Workflow[_State, CascadeResult]):
    """Tiers, cheapest first: each is asked the same, until the judge says yes.

    Args:
        tiers: `Tier(...)` or pairs of name and callable, in the order in which they are asked.
        accept: Whether an answer is good enough: a callable of the `Reply` (sync or async) that
            returns True, False, a `Verdict` or `(ok, reason)`; or Checks, a DecisionTable, a
            RuleScore, or `Gate(branch, pass_=[...])`.
        max_tokens: No tier starts once so many tokens are used.
        on_error: Ends the walk at an error that no dearer tier can mend (actions fail, reauth,
            skip); without it every error hands on.
        name: The name of the workflow.

    Raises:
        ConfigError: With every problem found.
    """

    __slots__ = ("_calls", "_judge", "on_error", "tiers")

    kind = "cascade"
    tiers: tuple[Tier, ...]
    on_error: ErrorClassify | None
    _calls: tuple[Call, ...]
    _judge: Judge

    @keywords
    def __init__(
        self,
        tiers: Sequence[Tier | tuple[str, Callable[..., Any]]],
        *,
        accept: object = None,
        max_tokens: int | None = None,
        on_error: ErrorClassify | None = None,
        name: str = "cascade",
    ) -> None:
        """Check and keep everything."""
        problems = name_problems(name, "name")
        read = read_tiers(tiers, problems)
        problems += count_problems(max_tokens, "max_tokens")
        calls = tuple(
            call_of(tier.run, f"tiers[{at}].run", problems) for at, tier in enumerate(read)
        )
        if accept is None:
            message = "is required: a judge of answers, such as `lambda reply: ...` or Checks"
            problems.append(Problem("spec/missing-field", "accept", None, message))
            accept = bool
        if on_error is not None and not isinstance(on_error, ErrorClassify):  # pyright: ignore[reportUnnecessaryIsInstance]
            problems.append(wrong(on_error, "on_error", "must be an ErrorClassify"))
        judge = judge_of(accept, "accept", problems)
        raise_problems(problems)
        self._set(name=name, max_tokens=max_tokens, tiers=read, on_error=on_error)
        self._set(_calls=calls, _judge=judge)

    def lint(self) -> tuple[Problem, ...]:
        """Warn of a cascade that hands on to nobody."""
        if len(self.tiers) > 1:
            return ()
        message = "a single tier: there is none to hand on to; call it, and judge its answer"
        return (Problem("lint/unused", "tiers", None, message),)

    def flow(self) -> Flow:
        """Return tiers and judges in order."""
        nodes: list[Node] = []
        for tier in self.tiers:
            before = (nodes[-1].id,) if nodes else ()
            nodes.append(Node(tier.name, "tier", before, "no" if before else ""))
            nodes.append(Node(f"accept_{tier.name}", "accept", (tier.name,)))
        return Flow(self.name, tuple(nodes))

    def _config(self) -> dict[str, Any]:
        return {
            "tiers": [tier.config() for tier in self.tiers],
            "accept": self._judge.label,
            "max_tokens": self.max_tokens,
            "on_error": label_of(self.on_error) if self.on_error else None,
        }

    def _begin(self, values: object) -> _State:
        del values
        return _State()

    async def _steps(self, walk: Walk, values: object, state: _State) -> str:
        for tier, call in zip(self.tiers, self._calls, strict=True):
            outcome = await walk.step(
                tier.name,
                "tier",
                call,
                values,
                digest=walk.digest,
                reserve=tier.reserve,
                timeout=tier.timeout,
                limiter=tier.limiter,
                cost_ms=tier.cost_ms,
                classify=self.on_error,
            )
            if not outcome.ok:
                error = self._error(outcome)
                state.history.append(_failed(tier, outcome, error))
                if self.on_error is not None and error is not None and error.action in _ENDING:
                    return "failed"
                continue
            await self._judged(walk, tier, outcome, state)
            if state.history[-1].escalated_by is None:
                return "accepted"
        return "exhausted" if state.answered is not None else "failed"

    async def _judged(self, walk: Walk, tier: Tier, outcome: Outcome, state: _State) -> None:
        """Ask the judge; whatever it says, the answer is there."""
        record = TierRecord(
            name=tier.name,
            status=outcome.step.status,
            answer=outcome.reply,
            escalated_by="unjudged",
            usage=outcome.usage,
        )
        state.history.append(record)
        state.answered = record
        said = await walk.step(
            f"accept_{tier.name}",
            "accept",
            self._judge.call,
            outcome.reply,
            is_judgement=True,
            read=self._judge.read,
        )
        verdict = cast("Verdict", said.verdict)
        unless: Escalation = "unjudged" if verdict.undetermined else "rejected"
        state.answered = state.history[-1] = TierRecord(
            name=tier.name,
            status=outcome.step.status,
            answer=outcome.reply,
            verdict=verdict,
            escalated_by=None if verdict.ok else unless,
            error=said.step.error if verdict.undetermined else None,
            usage=outcome.usage + said.usage,
        )

    def _error(self, outcome: Outcome) -> ErrorInfo | None:
        """Return the error of a tier, classified by `on_error` where there is one."""
        error, classify = outcome.step.error, self.on_error
        # What was raised is classified where it is recorded.
        if classify is None or error is None or outcome.exception is not None:
            return error
        verdict = classify.classify(code=error.type, message=error.message)
        if verdict.source == "default":
            return error
        return ErrorInfo.judged(error.type, error.message, verdict)

    def _result(self, state: _State, end: End) -> CascadeResult:
        record = state.answered
        status = status_of(end.stopped_by, otherwise="completed")
        if record is None and end.stopped_by in LIMITED:
            status = "failed"
        answer = record.answer if record is not None else None
        rollout = end.close(status)
        return CascadeResult(
            status=status,
            stopped_by=end.stopped_by,
            output=answer.output if answer is not None else None,
            data=answer.data if answer is not None else None,
            calls=answer.calls if answer is not None else (),
            usage=rollout.usage,
            error=_latest_error(state) if answer is None or status == "failed" else None,
            rollout=rollout,
            tier=record.name if record is not None else None,
            escalated=tuple(one.name for one in state.history if one is not record),
            accepted=record is not None and record.escalated_by is None,
            history=tuple(state.history),
        )


def _latest_error(state: _State) -> ErrorInfo | None:
    return next((one.error for one in reversed(state.history) if one.error), None)


def _failed(tier: Tier, outcome: Outcome, error: ErrorInfo | None) -> TierRecord:
    return TierRecord(
        name=tier.name,
        status=outcome.step.status,
        answer=outcome.reply,
        escalated_by="failed",
        error=error,
        usage=outcome.usage,
    )


@keywords
async def cascade(
    values: object,
    tiers: Sequence[Tier | tuple[str, Callable[..., Any]]],
    *,
    accept: object = None,
    max_tokens: int | None = None,
    on_error: ErrorClassify | None = None,
    name: str = "cascade",
    run: Run | None = None,
) -> CascadeResult:
    """Ask tiers, cheapest first, until one's answer is accepted; see `Cascade`.

    Raises:
        ConfigError: With every problem found, before any tier is asked.
        UsageError: When a callable returned what has no meaning.
    """
    made = Cascade(tiers, accept=accept, max_tokens=max_tokens, on_error=on_error, name=name)
    return await made.run(values, run=run)
