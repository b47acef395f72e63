"""Vote: one question asked several times over, and what the answers settle on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from interlock.errors import Problem
from interlock.harness._ballot import (
    VotingResult,
    digested,
    groups_of,
    text_of,
    vote_of,
    weight_of,
)
from interlock.harness._branches import BranchOutcome, error_of, outcomes_listed
from interlock.harness._callables import label_of
from interlock.harness._config import (
    count_problems,
    keywords,
    name_problems,
    raise_problems,
    wrong,
)
from interlock.harness._decided import note_decision
from interlock.harness._fan_out import FanOut
from interlock.harness._workflow import End, Workflow, status_of
from interlock.harness.flow import Flow, Node
from interlock.harness.limits import Stopped, fits_later
from interlock.harness.work import Part, part_of
from interlock.record.reply import as_json_reply
from interlock.tools._limits import VOTES_LIMIT
from interlock.tools.consensus_vote import ConsensusVote

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlock.harness._walk import Walk
    from interlock.harness.run import Run
    from interlock.harness.work import Work
    from interlock.record.result import ResultStatus
    from interlock.record.values import Reply
    from interlock.tools.consensus_vote import VoteResult

__all__ = ["Vote", "VotingResult", "vote"]

_MAJORITY = ConsensusVote()


@dataclass(slots=True)
class _State:
    names: tuple[str, ...]
    outcomes: dict[int, BranchOutcome] = field(default_factory=dict[int, BranchOutcome])
    votes: dict[int, dict[str, object]] = field(default_factory=dict[int, dict[str, object]])
    stopped: str | None = None
    counted: VoteResult | None = None
    decided: bool = False

    def cast(self) -> list[dict[str, object]]:
        """List the votes in the order of the voters."""
        return [self.votes[at] for at in sorted(self.votes)]


class Vote(Workflow[_State, VotingResult]):
    """One callable asked several times with the same values; its answers are votes.

    Args:
        run_one: A callable of the values, or `Work(...)`. What it returns is its vote: the data of
            the answer, or else its text. One that fails abstains.
        n: How often it is asked, 1 to 512.
        agree: The rules by which votes are counted; a majority when None.
        early_stop: Whether the rest is cancelled once it can change neither the winner nor whether
            there is one. With `weight` nobody knows that beforehand.
        weight: A callable of the `Reply` that says what the vote weighs, a number of at least 0;
            1 when None.
        concurrency: How many run at once; as the run says when None.
        max_tokens: No voter starts once so many tokens are used.
        name: The name of the workflow.

    Raises:
        ConfigError: With every problem found.
    """

    __slots__ = ("_voter", "agree", "concurrency", "early_stop", "n", "weight")

    kind = "vote"
    n: int
    agree: ConsensusVote
    early_stop: bool
    weight: Callable[[Reply], Any] | None
    concurrency: int | None
    _voter: Part

    @keywords
    def __init__(
        self,
        run_one: Callable[..., Any] | Work,
        *,
        n: int = 3,
        agree: ConsensusVote | None = None,
        early_stop: bool = True,
        weight: Callable[[Reply], Any] | None = None,
        concurrency: int | None = None,
        max_tokens: int | None = None,
        name: str = "vote",
    ) -> None:
        """Check and keep everything."""
        problems = name_problems(name, "name")
        voter = part_of(run_one, "run_one", problems)
        if type(n) is not int or not 1 <= n <= VOTES_LIMIT:
            problems.append(wrong(n, "n", f"must be a whole number between 1 and {VOTES_LIMIT}"))
        if agree is not None and not isinstance(agree, ConsensusVote):  # pyright: ignore[reportUnnecessaryIsInstance]
            problems.append(wrong(agree, "agree", "must be ConsensusVote(...)"))
        if type(early_stop) is not bool:
            problems.append(wrong(early_stop, "early_stop", "must be True or False"))
        if weight is not None and not callable(weight):
            problems.append(wrong(weight, "weight", "must be a callable of the Reply"))
        problems += count_problems(concurrency, "concurrency", least=1)
        problems += count_problems(max_tokens, "max_tokens")
        raise_problems(problems)
        self._set(name=name, max_tokens=max_tokens, n=n, agree=agree or _MAJORITY)
        self._set(early_stop=early_stop, weight=weight, concurrency=concurrency, _voter=voter)

    def lint(self) -> tuple[Problem, ...]:
        """Warn of a single voter."""
        if self.n > 1:
            return ()
        message = "a single vote is always unanimous; call it"
        return (Problem("lint/unused", "n", "1", message),)

    def flow(self) -> Flow:
        """Return the voters, and the count after them."""
        names = self._names()
        voters = (Node(name, "vote") for name in names)
        return Flow(self.name, (*voters, Node("consensus", "decision", names)))

    def _names(self) -> tuple[str, ...]:
        return tuple(f"vote_{number}" for number in range(self.n))

    def _config(self) -> dict[str, Any]:
        return {
            "run_one": self._voter.config(),
            "n": self.n,
            "agree": self.agree.fingerprint,
            "early_stop": self.early_stop,
            "weight": label_of(self.weight) if self.weight else None,
            "concurrency": self.concurrency,
            "max_tokens": self.max_tokens,
        }

    def _begin(self, values: object) -> _State:
        del values
        return _State(self._names())

    async def _steps(self, walk: Walk, values: object, state: _State) -> str:
        fan = FanOut(self.n, self.concurrency or walk.run.concurrency)

        def waits(_number: int) -> bool:
            return fits_later(walk.accounts, self._voter.reserve_for(values), walk.outer)

        async def work(number: int) -> None:
            try:
                await self._voted(walk, number, values, state)
            except Stopped as stop:
                state.stopped = state.stopped or stop.reason
                fan.close()
            if self.early_stop and self._is_settled(state):
                fan.stop()

        await fan.run(work, waits)
        return await self._counted(walk, state)

    async def _voted(self, walk: Walk, number: int, values: object, state: _State) -> None:
        name = state.names[number]
        outcome = await walk.step(
            name,
            "vote",
            self._voter.call,
            values,
            digest=walk.digest,
            read=as_json_reply,
            **self._voter.options(),
        )
        state.outcomes[number] = BranchOutcome(
            name=name,
            status=outcome.step.status,
            answer=outcome.reply,
            error=outcome.step.error,
            usage=outcome.usage,
        )
        if outcome.ok and outcome.reply is not None:
            state.votes[number] = {
                "value": vote_of(outcome.reply, name),
                "weight": weight_of(self.weight, outcome.reply, name),
                "voter": name,
            }

    def _is_settled(self, state: _State) -> bool:
        """Say whether those who have not answered yet can change nothing any more."""
        heard = len(state.outcomes)
        pending = self.n - heard
        if not pending:
            return True
        # PERF: so many to come outvote those that are there, and can decide by themselves.
        if len(state.votes) <= pending and pending >= self.agree.threshold * self.n:
            return False
        is_behind = self.agree.is_orderless or max(state.outcomes, default=0) < heard
        return self.weight is None and is_behind and self.agree.is_settled(state.cast(), pending)

    async def _counted(self, walk: Walk, state: _State) -> str:
        """Count the votes; those that are missing must not have made a difference."""
        if not state.votes:
            return state.stopped or "failed"
        state.counted = self.agree.count(state.cast())
        state.decided = state.counted.decided and self._is_settled(state)
        told = state.counted if walk.run.content == "full" else digested(state.counted)
        if state.decided:
            await note_decision(walk, "consensus", told)
            return "decided"
        await note_decision(walk, "consensus", told, "undetermined")
        return state.stopped or "undecided"

    def _result(self, state: _State, end: End) -> VotingResult:
        status = self._status(state, end.stopped_by)
        outcomes = outcomes_listed(end.walk, state.names, state.outcomes, end.stopped_by)
        rollout = end.close(status)
        counted = state.counted
        winner = cast("object", counted.winner) if counted and state.decided else None
        return VotingResult(
            status=status,
            stopped_by=end.stopped_by,
            output=text_of(winner) if state.decided else None,
            data=None if isinstance(winner, str) else winner,
            usage=rollout.usage,
            error=None if status == "completed" else error_of(outcomes),
            rollout=rollout,
            decided=state.decided,
            winner=winner,
            agreement=counted.agreement if counted else 0.0,
            groups=groups_of(counted),
            dissenters=counted.dissenters if counted else (),
            abstained=tuple(
                state.names[at] for at in sorted(state.outcomes) if at not in state.votes
            ),
            outcomes=outcomes,
        )

    def _status(self, state: _State, stopped_by: str) -> ResultStatus:
        if not state.votes and stopped_by != "cancelled":
            return "failed"
        is_whole = state.decided or len(state.votes) == self.n
        return status_of(stopped_by, otherwise="completed" if is_whole else "incomplete")


@keywords
async def vote(  # noqa: PLR0913 (all but values and callable by name)
    values: object,
    run_one: Callable[..., Any] | Work,
    *,
    n: int = 3,
    agree: ConsensusVote | None = None,
    early_stop: bool = True,
    weight: Callable[[Reply], Any] | None = None,
    concurrency: int | None = None,
    max_tokens: int | None = None,
    name: str = "vote",
    run: Run | None = None,
) -> VotingResult:
    """Ask one callable several times and count the answers; see `Vote`.

    Raises:
        ConfigError: With every problem found, before anybody is asked.
        UsageError: When a callable returned what has no meaning.
    """
    made = Vote(
        run_one,
        n=n,
        agree=agree,
        early_stop=early_stop,
        weight=weight,
        concurrency=concurrency,
        max_tokens=max_tokens,
        name=name,
    )
    return await made.run(values, run=run)
