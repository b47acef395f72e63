"""Supervisor: a run that an agent works through, one operation after the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

import anyio

from interlock.errors import StaleState, UsageError
from interlock.harness._clock import SystemClock
from interlock.supervise import start
from interlock.supervise._draft import policy_in_force
from interlock.supervise._secrets import kept_of, texts_again, texts_of, withheld
from interlock.supervise.calls import Decision
from interlock.supervise.card import card
from interlock.supervise.log import LogEntry, apply, written
from interlock.supervise.parts import WATCHING
from interlock.supervise.report import report
from interlock.supervise.state import EscalationRules
from interlock.supervise.store import MemoryStore

if TYPE_CHECKING:
    from interlock.harness._clock import Clock
    from interlock.harness.hooks import Hooks
    from interlock.harness.toolbus import ToolBus
    from interlock.supervise._draft import Transition
    from interlock.supervise.asked import Question
    from interlock.supervise.bus import SupervisedBus
    from interlock.supervise.calls import ProposedCall
    from interlock.supervise.card import StepCard
    from interlock.supervise.contract import Deployment
    from interlock.supervise.parts import Escalation, Via
    from interlock.supervise.policy import Policy
    from interlock.supervise.questions import Answer
    from interlock.supervise.report import Report
    from interlock.supervise.start import StartResult
    from interlock.supervise.state import RunState
    from interlock.supervise.store import RunStore

__all__ = ["Supervisor"]

Asker = Callable[["Question"], "Awaitable[Answer | None] | Answer | None"]


class Supervisor:
    """A run of a procedure: what an agent asks for is decided here, and everything is logged.

    Args:
        policy: What the run follows.
        store: Where it is kept; in memory when None.
        deployment: The client as it is run; None: the contract is not looked at.
        clock: The clock, which tests replace.
        on_question: Asks people, and returns their answer; None where it comes later, by `answer`.
            Without it questions stay open.
        mode: `enforce`; or `observe`: everything is decided and logged. Before the run is stopped
            nothing is blocked, and no deviation ends it unless `start` says so.
        capabilities: The capability of each tool of a bus, by its name; a name that is not there
            is its own.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        store: RunStore | None = None,
        deployment: Deployment | None = None,
        clock: Clock | None = None,
        on_question: Asker | None = None,
        mode: Literal["enforce", "observe"] = "enforce",
        capabilities: Mapping[str, str] | None = None,
    ) -> None:
        """Set it up; `start` begins the run, `load` goes on with one."""
        if mode not in ("enforce", "observe"):
            raise UsageError(f"mode must be enforce or observe, and is {mode!r}")
        self.policy = policy
        self.deployment = deployment
        self.on_question = on_question
        self.mode = mode
        self.capabilities = dict(capabilities or {})
        self._store: RunStore = MemoryStore() if store is None else store
        self._clock: Clock = clock or SystemClock()
        self._state: RunState | None = None
        self._log: list[LogEntry] = []
        self._texts: dict[str, str] = {}
        self.has_tools = False
        self.running: set[anyio.CancelScope] = set()
        self._lock: anyio.Lock | None = None

    @property
    def state(self) -> RunState:
        """Where the run stands.

        Raises:
            UsageError: When it was not started.
        """
        if self._state is None:
            raise UsageError("the run was not started: await start(...) first")
        return self._state

    @property
    def log(self) -> tuple[LogEntry, ...]:
        """Every operation so far."""
        return tuple(self._log)

    def now(self) -> float:
        """Return the instant, in seconds from 1970."""
        return self._clock.now() / 1000

    async def start(
        self,
        *,
        agent_identity: str,
        inputs: Mapping[str, object] | None = None,
        wall_clock_seconds: float | None = None,
        escalation: Escalation | None = None,
        run_id: str | None = None,
    ) -> StartResult:
        """Begin the run, or say everything that stands against it; see `start_run`.

        Raises:
            UsageError: When it was started already.
            StaleState: When the store has a run of this id.
        """
        if escalation is None and self.mode == "observe":
            escalation = WATCHING
        given: dict[str, Any] = {
            "agent_identity": agent_identity,
            "inputs": inputs,
            "now": self.now(),
            "wall_clock_seconds": wall_clock_seconds,
            "deployment": self.deployment,
            "escalation": escalation,
            "run_id": run_id or self._clock.new_id(),
        }
        async with self._turn():
            return await self._begun(given)

    async def _begun(self, given: Mapping[str, Any]) -> StartResult:
        if self._state is not None:
            raise UsageError(f"the run {self._state.run_id} was started already")
        escalation, inputs = given["escalation"], given["inputs"]
        began = start.start_run(self.policy, **given)
        if began.state is not None:
            rules = None if escalation is None else EscalationRules.of(escalation)
            kept = {**given, "escalation": rules, "inputs": withheld(self.policy.inputs, inputs)}
            entry = LogEntry(
                seq=0,
                operation="start_run",
                given=written(kept),
                events=began.events,
                digest=began.state.digest(),
            )
            await self._store.append(began.state, entry)
            self._state, self._log = began.state, [entry]
            self._texts = texts_of(self.policy.inputs, dict(inputs or {}))
        return began

    async def load(self, run_id: str, *, secrets: Mapping[str, object] | None = None) -> RunState:
        """Go on with a run that the store has.

        Args:
            run_id: The run.
            secrets: The secret inputs that it was started with, which are not in the store: they
                are left out of what is logged. Not needed where this supervisor has them.

        Raises:
            UsageError: When it has none of this id.
            ConfigError: When a secret is missing or another (`input/missing`), or none.
        """
        kept = await self._store.load(run_id)
        if kept is None:
            raise UsageError(f"there is no run {run_id} in the store")
        if secrets is not None or self._state is None or self._state.run_id != run_id:
            self._texts = texts_again(self.policy.inputs, secrets or {}, kept.state.secrets)
        self._state, self._log = kept.state, list(kept.log)
        return kept.state

    async def propose(self, call: ProposedCall) -> Decision:
        """Decide one call of a tool; see `propose`. What cannot be decided is blocked.

        Raises:
            StaleState: When the run has moved elsewhere since.
            UsageError: When it was not started.
        """
        before = self.state
        given = {"tool": call.tool, "args": call.args, "effect": call.effect}
        given |= {"call_id": call.call_id, "actor": call.actor}
        try:
            return cast("Decision", await self._make("propose", given))
        except StaleState:
            raise
        except Exception as error:  # noqa: BLE001 (nothing here fails open)
            said = f"the call could not be decided or logged ({type(error).__name__})"
            return Decision("block", "audit/unavailable", said, before)

    async def observe(
        self,
        call_id: str,
        outcome: Literal["completed", "failed", "in_doubt"],
        *,
        output: object = None,
        tokens: int = 0,
        error: str = "",
        failure: Mapping[str, object] | None = None,
    ) -> Transition:
        """Say what became of a call; see `observe`. An output is kept where a step asks for it."""
        kept = output if self._is_verified_by_tool() else None
        given = {"call_id": call_id, "outcome": outcome, "output": kept}
        given |= {"tokens": tokens, "error": error, "failure": failure}
        return await self._moved("observe", given)

    async def advance(
        self, to: str, *, via: Via | None = None, by: str | None = None
    ) -> Transition:
        """Leave the current step; see `advance`."""
        return await self._moved("advance", {"to": to, "via": via, "by": by})

    async def verify(self, evidence: Mapping[str, object], *, by: str) -> Transition:
        """Show what the current step must show; see `verify`."""
        return await self._moved("verify", {"evidence": evidence, "by": by})

    async def decide(self, facts: Mapping[str, object]) -> Transition:
        """Add facts, and say where a decision leads; see `decide`."""
        return await self._moved("decide", {"facts": facts})

    async def fail(self, code: str, *, by: str | None = None) -> Transition:
        """Say that the current step has failed; see `fail`."""
        return await self._moved("fail", {"code": code, "by": by})

    async def finish(self) -> Transition:
        """Say that the work is done; see `finish`."""
        return await self._moved("finish", {})

    async def answer(self, given: Answer) -> Transition:
        """Take what a person says to an open question; see `answer`."""
        data = {"question_id": given.question_id, "by": given.by, "approve": given.approve}
        return await self._moved(
            "answer", data | {"note": given.note, "action_digest": given.action_digest}
        )

    async def stop(self, code: str = "operator/stopped", *, by: str) -> Transition:
        """End the run from outside, and cut off the calls of `bus` that run; see `stop`.

        They are in doubt. They are cut off also where the end cannot be logged, which is raised.
        """
        try:
            return await self._moved("stop", {"code": code, "by": by})
        finally:
            for scope in tuple(self.running):
                scope.cancel()

    def card(self) -> StepCard:
        """Show the step where the run stands, and nothing of later ones."""
        return card(self.policy, self.state, now=self.now())

    def report(self) -> Report:
        """Report on the run."""
        return report(
            self.state,
            self._log,
            policy=self.policy,
            now=self.now(),
            deployment=self.deployment,
            observed_only=self.mode == "observe",
        )

    def bus(self, tools: ToolBus) -> SupervisedBus:
        """Return a bus for a loop: every call is proposed, run where it may, and observed.

        Beside the tools of the current step it offers those of the runbook (`tools`).
        """
        from interlock.supervise.bus import SupervisedBus

        return SupervisedBus(self, tools)

    def tools(self) -> ToolBus:
        """Return the tools by which a model works through the runbook, one step at a time."""
        from interlock.supervise.bus import runbook_tools

        self.has_tools = True
        return runbook_tools(self)

    def hooks(self, *, beside: Sequence[str] = ("finish",)) -> Hooks:
        """Return hooks that decide every tool call of a loop; a fault in them is a block.

        Args:
            beside: Names of tools that are no part of the procedure, such as the one that ends
                the loop; those of `tools` are not, either.
        """
        from interlock.supervise.bus import supervising_hooks

        return supervising_hooks(self, frozenset(beside))

    def over(self, _state: object = None) -> str | None:
        """Say what the run has come to; None while it runs. A stop rule for a loop."""
        return f"the run has come to {self.state.outcome}" if self.state.is_over else None

    def _is_verified_by_tool(self) -> bool:
        if self.state.is_over:
            return False
        here = policy_in_force(self.policy, self.state)
        verify = here.steps[self.state.current or ""].verify
        return verify is not None and verify.source == "tool"

    def _turn(self) -> anyio.Lock:
        """Return what lets one operation be made at a time."""
        if self._lock is None:
            self._lock = anyio.Lock()
        return self._lock

    async def _moved(self, operation: str, given: dict[str, Any]) -> Transition:
        return cast("Transition", await self._make(operation, given))

    async def _make(self, operation: str, given: dict[str, Any]) -> Transition | Decision:
        """Make an operation: decided, kept with its log entry, and only then in force.

        What is decided on is what is logged, so that the log can be made again: secrets are left
        out before.
        """
        async with self._turn():
            before = self.state
            kept = kept_of(operation, given, before.secrets, self._texts) | {"now": self.now()}
            asked = LogEntry(seq=len(self._log), operation=operation, given=kept)
            moved = apply(self.policy, before, asked)
            if moved.state is before:
                # The run is over and nothing changed, so that there is nothing to keep.
                return moved
            question = moved.question
            entry = replace(
                asked,
                events=moved.events,
                verdict=moved.verdict if isinstance(moved, Decision) else None,
                question=None if question is None else question.id,
                digest=moved.state.digest(),
            )
            try:
                await self._store.append(moved.state, entry)
            except StaleState:
                await self.load(before.run_id)
                raise
            self._state = moved.state
            self._log.append(entry)
            return moved
