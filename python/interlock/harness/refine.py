"""Refine: draft, judge, feed back what was wrong, until it is good enough; the best comes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from interlock.errors import Problem
from interlock.harness._config import (
    count_problems,
    keywords,
    name_problems,
    raise_problems,
    wrong,
)
from interlock.harness._decided import note_decision
from interlock.harness._redraft import Again, redraft_of, takes_feedback
from interlock.harness._rounds import (
    RefineRound,
    best_of,
    feedback_digest,
    fingerprint,
    target_problems,
)
from interlock.harness._workflow import LIMITED, End, Workflow, status_of
from interlock.harness.flow import Flow, Node
from interlock.harness.judge import Judge, judge_of
from interlock.harness.work import Part, part_of
from interlock.record.reply import as_json_reply
from interlock.record.result import Result
from interlock.tools.stall_detect import stall_detect

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlock.harness._frame import Outcome
    from interlock.harness._walk import Walk
    from interlock.harness.run import Run
    from interlock.harness.work import Work
    from interlock.record.result import ResultStatus
    from interlock.record.rollout import Kind
    from interlock.record.values import Verdict

__all__ = ["Refine", "RefineResult", "RefineRound", "refine"]

_SAME = 2
"""So many equal drafts in a row move nothing any more."""
_LATEST = 8
"""So many drafts are looked at for that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefineResult(Result):
    """What a refinement came to.

    `stopped_by`: accepted, rounds, patience, stalled, failed, or a limit (tokens, cost, steps,
    deadline, unmetered).

    Attributes:
        accepted: Whether the draft that came back is good enough.
        score: Its score; None when it has none.
        rounds: How many drafts were begun.
        best_round: The round it is of, from 0; None without a draft.
        history: How every round fared, in order.
    """

    accepted: bool = False
    score: float | None = None
    rounds: int = 0
    best_round: int | None = None
    history: tuple[RefineRound, ...] = ()


@dataclass(slots=True)
class _State:
    rounds: list[RefineRound] = field(default_factory=list[RefineRound])
    value: object = None
    """What made the latest draft returned, as it is."""
    drafts: list[str] = field(default_factory=list[str])


class Refine(Workflow[_State, RefineResult]):
    """Drafts, each judged and fed back into the next, until one is good enough.

    Args:
        draft: A callable of the values, or `Work(...)`. Without `revise` it is called for every
            round: with `(values, draft, verdict, history)` where it may take four arguments, with
            the values alone where it takes one.
        judge: What judges a draft, as `accept` of a `Cascade`: a callable of the `Reply`, or a
            decision tool; Checks give the share of checks that hold as a score.
        revise: A callable of `(values, draft, verdict, history)`, and a context if it wants one:
            what drafts from the second round on. `draft` is what made the one before returned.
        max_rounds: How many drafts there are at most, 1 or more.
        target: The score that is good enough; it takes the place of the judge's yes.
        patience: Ends it after so many rounds without a better score; None: never.
        max_tokens: No step starts once so many tokens are used.
        name: The name of the workflow.

    Raises:
        ConfigError: With every problem found.
    """

    __slots__ = (
        "_again",
        "_draft",
        "_judge",
        "_kind",
        "_tells",
        "max_rounds",
        "patience",
        "target",
    )

    kind = "refine"
    max_rounds: int
    target: float | None
    patience: int | None
    _draft: Part
    _again: Part
    _judge: Judge
    _kind: Kind
    """Of the steps that draft again."""
    _tells: bool
    """Whether what drafts again is told of the draft before."""

    @keywords
    def __init__(
        self,
        *,
        draft: Callable[..., Any] | Work,
        judge: object = None,
        revise: Callable[..., Any] | Work | None = None,
        max_rounds: int = 3,
        target: float | None = None,
        patience: int | None = None,
        max_tokens: int | None = None,
        name: str = "refine",
    ) -> None:
        """Check and keep everything."""
        problems = name_problems(name, "name")
        drafts = part_of(draft, "draft", problems)
        if judge is None:
            message = "is required: a judge of drafts, such as `lambda reply: ...` or Checks"
            problems.append(Problem("spec/missing-field", "judge", None, message))
            judge = bool
        judges = judge_of(judge, "judge", problems)
        again, tells = drafts, revise is not None or takes_feedback(draft)
        if revise is not None:
            again = redraft_of(revise, "revise", problems)
        elif tells:
            again = redraft_of(draft, "draft", problems)
        kind: Kind = "draft" if revise is None else "revise"
        if type(max_rounds) is not int or max_rounds < 1:
            problems.append(wrong(max_rounds, "max_rounds", "must be a whole number, 1 or more"))
        problems += target_problems(target)
        problems += count_problems(patience, "patience", least=1)
        problems += count_problems(max_tokens, "max_tokens")
        raise_problems(problems)
        self._set(name=name, max_tokens=max_tokens, max_rounds=max_rounds, target=target)
        self._set(patience=patience, _draft=drafts, _again=again, _judge=judges, _tells=tells)
        self._set(_kind=kind)

    def lint(self) -> tuple[Problem, ...]:
        """Warn of a single round, and of drafts that are told nothing."""
        if self.max_rounds == 1:
            message = "a single round: nothing is refined; call it, and judge its answer"
            return (Problem("lint/unused", "max_rounds", "1", message),)
        if self._tells:
            return ()
        message = "no `revise`, and `draft` takes the values alone: nothing is fed back to it"
        return (Problem("lint/unused", "draft", None, message),)

    def flow(self) -> Flow:
        """Return the first round, and the one that is made again and again."""
        nodes = [Node("draft_0", "draft"), Node("judge_0", "judge", ("draft_0",))]
        if self.max_rounds > 1:
            nodes.append(Node("draft_n", self._kind, ("judge_0", "judge_n"), "no"))
            nodes.append(Node("judge_n", "judge", ("draft_n",)))
        return Flow(self.name, tuple(nodes))

    def _config(self) -> dict[str, Any]:
        return {
            "draft": self._draft.config(),
            "judge": self._judge.label,
            "revise": self._again.config(),
            "max_rounds": self.max_rounds,
            "target": self.target,
            "patience": self.patience,
            "max_tokens": self.max_tokens,
        }

    def _begin(self, values: object) -> _State:
        del values
        return _State()

    async def _steps(self, walk: Walk, values: object, state: _State) -> str:
        for number in range(self.max_rounds):
            outcome = await self._drafted(walk, values, state, number)
            if not outcome.ok:
                return "failed"
            await self._judged(walk, outcome, state)
            if state.rounds[-1].accepted:
                return "accepted"
            if await self._stalled(walk, state):
                return "stalled"
            if self._is_out_of_patience(state):
                return "patience"
        return "rounds"

    async def _drafted(self, walk: Walk, values: object, state: _State, number: int) -> Outcome:
        """Draft: first of the values, then of what was said of the draft before."""
        part, value, digest = self._draft, values, walk.digest
        if number and self._tells:
            latest = state.rounds[-1]
            verdict = cast("Verdict", latest.verdict)
            part = self._again
            value = Again(values, state.value, verdict, tuple(state.rounds))
            digest = feedback_digest(values, latest)
        outcome = await walk.step(
            f"draft_{number}",
            self._kind if number else "draft",
            part.call,
            value,
            digest=digest,
            read=as_json_reply,
            **part.options(),
        )
        state.value = outcome.value
        state.rounds.append(
            RefineRound(
                round=number,
                status=outcome.step.status,
                answer=outcome.reply,
                error=outcome.step.error,
                usage=outcome.usage,
            )
        )
        return outcome

    async def _judged(self, walk: Walk, outcome: Outcome, state: _State) -> None:
        """Ask the judge; whatever it says, the draft is there."""
        drafted = state.rounds[-1]
        said = await walk.step(
            f"judge_{drafted.round}",
            "judge",
            self._judge.call,
            outcome.reply,
            is_judgement=True,
            read=self._judge.read,
        )
        verdict = cast("Verdict", said.verdict)
        state.rounds[-1] = RefineRound(
            round=drafted.round,
            status=drafted.status,
            answer=drafted.answer,
            verdict=verdict,
            accepted=self._accepts(verdict),
            error=said.step.error if verdict.undetermined else None,
            usage=drafted.usage + said.usage,
        )

    def _accepts(self, verdict: Verdict) -> bool:
        if verdict.undetermined or self.target is None:
            return verdict.ok
        return verdict.score is not None and verdict.score >= self.target

    async def _stalled(self, walk: Walk, state: _State) -> bool:
        """Say whether drafts repeat themselves, which is recorded."""
        state.drafts.append(fingerprint(state.rounds[-1].answer))
        *before, latest = state.drafts[-_LATEST:]
        # PERF: a draft that is new is no stall.
        if latest not in before:
            return False
        report = stall_detect([{"draft": one} for one in (*before, latest)], window=_SAME)
        if report.stalled:
            await note_decision(walk, "stalled", report)
        return report.stalled

    def _is_out_of_patience(self, state: _State) -> bool:
        if self.patience is None:
            return False
        best, latest = best_of(state.rounds), state.rounds[-1]
        since = best.round if best is not None and best.score is not None else 0
        return latest.round - since >= self.patience

    def _result(self, state: _State, end: End) -> RefineResult:
        best = best_of(state.rounds)
        status = _status(end.stopped_by, best)
        answer = best.answer if best is not None else None
        rollout = end.close(status)
        errors = (one.error for one in reversed(state.rounds) if one.error is not None)
        return RefineResult(
            status=status,
            stopped_by=end.stopped_by,
            output=answer.output if answer is not None else None,
            data=answer.data if answer is not None else None,
            usage=rollout.usage,
            error=next(errors, None) if status == "failed" else None,
            rollout=rollout,
            accepted=best is not None and best.accepted,
            score=best.score if best is not None else None,
            rounds=len(state.rounds),
            best_round=best.round if best is not None else None,
            history=tuple(state.rounds),
        )


def _status(stopped_by: str, best: RefineRound | None) -> ResultStatus:
    if stopped_by in LIMITED and best is None:
        return "failed"
    otherwise: ResultStatus = "completed" if stopped_by == "accepted" else "incomplete"
    return status_of(stopped_by, otherwise=otherwise)


@keywords
async def refine(  # noqa: PLR0913 (all but the values by name)
    values: object,
    *,
    draft: Callable[..., Any] | Work,
    judge: object = None,
    revise: Callable[..., Any] | Work | None = None,
    max_rounds: int = 3,
    target: float | None = None,
    patience: int | None = None,
    max_tokens: int | None = None,
    name: str = "refine",
    run: Run | None = None,
) -> RefineResult:
    """Draft, judge and draft again until it is good enough; see `Refine`.

    Raises:
        ConfigError: With every problem found, before anything is drafted.
        UsageError: When a callable returned what has no meaning.
    """
    made = Refine(
        draft=draft,
        judge=judge,
        revise=revise,
        max_rounds=max_rounds,
        target=target,
        patience=patience,
        max_tokens=max_tokens,
        name=name,
    )
    return await made.run(values, run=run)
