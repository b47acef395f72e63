"""A supervised agent: its tools behind the supervisor, and the runbook as tools."""

from __future__ import annotations

import inspect
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import anyio

from interlock._compiled import plain_problems
from interlock.errors import StaleState, UsageError
from interlock.harness._callables import Call
from interlock.harness.hooks import Block, Hooks
from interlock.harness.tool import Tool, tool
from interlock.harness.toolbus import ToolBus
from interlock.record.values import ErrorInfo, ToolResult
from interlock.supervise.calls import Decision, ProposedCall
from interlock.supervise.capability import matches
from interlock.supervise.card import way_out

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from interlock.harness._declare import Style
    from interlock.harness.ctx import Ctx
    from interlock.harness.toolbus import AnyTool
    from interlock.record.values import Effect, ToolCall, ToolStatus
    from interlock.supervise._draft import Transition
    from interlock.supervise.asked import Question
    from interlock.supervise.questions import Answer
    from interlock.supervise.supervisor import Supervisor

__all__ = ["SupervisedBus", "runbook_tools", "supervising_hooks"]

_SHIELD_SECONDS = 2.0


class SupervisedBus(ToolBus):
    """A bus on which nothing runs that the procedure does not allow where the run stands.

    What is out of the step's scope is not offered, and is blocked when it is called all the same.
    Tools that are taken from it run nowhere else: a shortlist, a nested bus or a sum made of it
    refuses them, so that nothing gets round the supervisor.
    """

    __slots__ = ("_own", "_runbook", "_supervisor")
    _own: ToolBus
    _runbook: ToolBus
    _supervisor: Supervisor

    def __init__(self, supervisor: Supervisor, tools: ToolBus) -> None:
        """Take the run and the tools."""
        runbook = runbook_tools(supervisor)
        held = [one if one.is_finish else _held_back(one) for one in tools]
        super().__init__((*held, *runbook), name=tools.name)
        self._set(_own=tools, _runbook=runbook, _supervisor=supervisor)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools that are offered where the run stands."""
        card = self._supervisor.card()
        scope = [one.id for one in card.tools]
        own = (one.name for one in self._own if one.is_finish or self._is_in(scope, one.name))
        return (*own, *self._runbook.names)

    def _is_in(self, scope: list[str], name: str) -> bool:
        return any(matches(one, capability(self._supervisor, name)) for one in scope)

    def schemas(self, style: Style = "openai") -> list[dict[str, Any]]:
        """Return the declarations of the tools that are offered where the run stands."""
        return (self._own + self._runbook).only(*self.names).schemas(style)

    async def invoke(self, call: ToolCall, ctx: Ctx | None = None) -> ToolResult:
        """Propose a call, run it where it is allowed, and observe what became of it."""
        if self._runbook.get(call.name) is not None:
            return await self._runbook.invoke(call, ctx)
        found = self._own.get(call.name)
        if call.args_error or (found is not None and found.is_finish):
            return await self._own.invoke(call, ctx)
        # A copy of its own: what is proposed is what runs, whoever changes the arguments meanwhile.
        plain, _ = plain_problems(call.args, "args", finite=True)
        call = replace(call, args=cast("Any", plain)) if isinstance(plain, dict) else call
        refused = await asked(self._supervisor, call, self._own.effect(call.name))
        if isinstance(refused, str):
            refusal = ErrorInfo("blocked", refused, "permission", "escalate", source="runbook")
            return _result(call, self.effect(call.name), "blocked", refusal)
        return await self._run(call, ctx, refused)

    async def _run(self, call: ToolCall, ctx: Ctx | None, decision: Decision) -> ToolResult:
        said = "it was cut off: it may or may not have happened"
        cut = ErrorInfo("cut_off", said, "cancelled", "escalate", source="runbook")
        result = _result(call, self.effect(call.name), "in_doubt", cut)
        with until_stopped(self._supervisor) as scope:
            try:
                result = await self._own.invoke(call, ctx)
            except BaseException:
                # Whoever ends this does not get to keep secret that it may have happened.
                with anyio.move_on_after(_SHIELD_SECONDS, shield=True), suppress(Exception):
                    await observe_result(self._supervisor, decision.call_id, result)
                raise
        if scope.cancelled_caught:
            return result
        try:
            await observe_result(self._supervisor, decision.call_id, result)
        except Exception as error:  # noqa: BLE001 (it has run, and what became of it is not in the log)
            said = f"it has run, and that could not be logged ({type(error).__name__})"
            fault = ErrorInfo("unlogged", said, "unknown", "escalate", source="runbook")
            return replace(result, status="in_doubt", error=fault)
        return result


async def _held(_args: object) -> None:
    """Stand for a tool that was taken from a supervised bus."""
    raise UsageError("this tool runs on its supervised bus alone")


_HELD = Call(_held, takes_ctx=False, is_async=True)


def _held_back(one: AnyTool) -> AnyTool:
    return Tool(
        name=one.name,
        function=one.function,
        call=_HELD,
        arguments=one.arguments,
        source=one.source,
        description=one.description,
        effect=one.effect,
        idempotent=one.idempotent,
        timeout=one.timeout,
        max_output=one.max_output,
    )


def capability(supervisor: Supervisor, name: str) -> str:
    """Return the capability of a tool."""
    return supervisor.capabilities.get(name, name)


async def asked(supervisor: Supervisor, call: ToolCall, effect: Effect | None) -> Decision | str:
    """Propose a call, and ask people where they must agree.

    Returns:
        The decision that allows it; or why it must not run.
    """
    proposed = ProposedCall(
        capability(supervisor, call.name), args=dict(call.args), effect=effect, call_id=call.id
    )
    decision = await supervisor.propose(proposed)
    if decision.verdict == "ask" and decision.question is not None:
        try:
            is_settled = await _answered(supervisor, decision.question)
        except StaleState:
            raise
        except Exception as error:  # noqa: BLE001 (nobody could be asked: the question stays open)
            return f"{decision.message} (asking failed: {type(error).__name__})"
        if is_settled:
            decision = await supervisor.propose(proposed)
    is_observing = supervisor.mode == "observe" and supervisor.state.outcome != "stopped"
    return decision if decision.verdict == "allow" or is_observing else decision.message


async def _answered(supervisor: Supervisor, question: Question) -> bool:
    """Ask people, and say whether the call is to be proposed again."""
    answer: Answer | None = None
    with until_stopped(supervisor):
        if supervisor.on_question is not None:
            said = supervisor.on_question(question)
            answer = await said if inspect.isawaitable(said) else said
    if answer is not None:
        await supervisor.answer(answer)
    return answer is not None or supervisor.state.is_over


@contextmanager
def until_stopped(supervisor: Supervisor) -> Generator[anyio.CancelScope]:
    """Do what a stop of the run cuts off."""
    with anyio.CancelScope() as scope:
        supervisor.running.add(scope)
        try:
            yield scope
        finally:
            supervisor.running.discard(scope)


def _result(
    call: ToolCall, effect: Effect | None, status: ToolStatus, error: ErrorInfo
) -> ToolResult:
    """Make the result of a call that gave none."""
    said = f"{error.type}: {error.message}"
    return ToolResult(call.id, call.name, status, said, error, effect)


async def observe_result(supervisor: Supervisor, call_id: str, result: ToolResult) -> None:
    """Tell the supervisor what became of a call, if it is one that it had allowed."""
    if all(one.call_id != call_id for one in supervisor.state.open):
        return
    outcome = result.status if result.status in ("completed", "in_doubt") else "failed"
    await supervisor.observe(
        call_id,
        cast("Any", outcome),
        output=result.output if outcome == "completed" else None,
        tokens=max(result.usage.total, 0),
        error=result.error.cls if result.error is not None else "",
        failure=None if result.error is None else _failure(result.error),
    )


def _failure(error: ErrorInfo) -> dict[str, object]:
    """Write what is known of an error, and what it was judged to be by all that it carried."""
    known = {"code": error.type, "message": error.message, "class": error.cls}
    return {**known, "action": error.action, "waitMs": error.wait_ms}


def supervising_hooks(supervisor: Supervisor, beside: frozenset[str]) -> Hooks:
    """Make hooks that decide every call of a loop's tools, and observe what became of it."""
    runbook = {one.name: one.effect for one in runbook_tools(supervisor)}

    def is_free(name: str, effect: Effect | None) -> bool:
        """Say whether a tool is beside the procedure: by its name, and by what it does."""
        if name in runbook:
            return supervisor.has_tools and effect == runbook[name]
        return name in beside and effect == "readonly"

    async def before_tool(call: ToolCall, effect: Effect | None) -> Block | None:
        if is_free(call.name, effect):
            return None
        refused = await asked(supervisor, call, effect)
        return Block(refused) if isinstance(refused, str) else None

    async def after_tool(call: ToolCall, result: ToolResult) -> None:
        await observe_result(supervisor, call.id, result)

    return Hooks(
        before_tool=before_tool,
        after_tool=after_tool,
        on_error="block",
        timeout=None,
        name="supervisor",
    )


def runbook_tools(supervisor: Supervisor) -> ToolBus:
    """Make the tools by which a model works through a runbook: none skips, none forces."""

    def told(moved: Transition) -> dict[str, Any]:
        shown = supervisor.card().to_dict()
        return {"said": [event.message for event in moved.events], "card": shown}

    async def runbook_card() -> dict[str, Any]:
        """Show the current step: what to do, its tools, its exits and what is left."""
        return supervisor.card().to_dict()

    async def runbook_evidence(evidence: dict[str, Any]) -> dict[str, Any]:
        """Show what the current step must show, or the facts that a decision goes by."""
        state = supervisor.state
        at = None if state.is_over else supervisor.card().kind
        if at == "decision":
            return told(await supervisor.decide(evidence))
        return told(await supervisor.verify(evidence, by=state.agent_identity))

    async def runbook_done(to: str | None = None) -> dict[str, Any]:
        """Leave the current step; say where to, when it has more than one exit."""
        target, via = way_out(supervisor.card(), to)
        return told(await supervisor.advance(target, via=via))

    async def runbook_failed(reason: str) -> dict[str, Any]:
        """Say that the current step has failed, and why."""
        return told(await supervisor.fail(reason[:200]))

    made: tuple[Any, ...] = (runbook_card, runbook_evidence, runbook_done, runbook_failed)
    effects: Mapping[str, Effect] = {"runbook_card": "readonly"}
    return ToolBus(
        [tool(effect=effects.get(one.__name__, "write"))(one) for one in made], name="runbook"
    )
