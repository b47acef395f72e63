"""The one way in which a workflow takes a step: tested, recorded, counted, cancelled, retried."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import anyio

from interlock import _core
from interlock.errors import Problem, UsageError
from interlock.harness._ending import Ending
from interlock.harness._frame import (
    NOTHING,
    Frame,
    Outcome,
    Plan,
    Reader,
    Reserve,
    current_frame,
    input_digest,
)
from interlock.harness._recorder import Recorder
from interlock.harness.ctx import Ctx
from interlock.harness.limits import PASSING, RunRefused, Stopped, admit, settle
from interlock.record.reply import as_reply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlock.harness._callables import Call
    from interlock.harness.retry import Retry
    from interlock.record.rollout import Kind
    from interlock.record.values import Effect
    from interlock.tools.error_classify import ErrorClassify

__all__ = ["SHIELD_SECONDS", "Walk"]

SHIELD_SECONDS = 2.0


class Walk(Recorder):
    """A workflow in progress: takes its steps and keeps its record."""

    async def step(  # noqa: PLR0913 (all by name)
        self,
        name: str,
        kind: Kind,
        call: Call,
        value: object,
        *,
        under: Frame | str | None = None,
        path: str | None = None,
        digest: str | None = None,
        is_judgement: bool = False,
        reserve: Reserve = None,
        timeout: float | None = None,  # noqa: ASYNC109 (of the step, not of the wait for it)
        cost_ms: int | None = None,
        limiter: str | None = None,
        retry: Retry | None = None,
        effect: Effect | None = None,
        idempotent: bool | None = None,
        call_id: str | None = None,
        classify: ErrorClassify | None = None,
        read: Reader = as_reply,
        decision: object = None,
        meta: Mapping[str, object] | None = None,
    ) -> Outcome:
        """Take a step: call, and record what comes of it.

        Args:
            name: The last part of its path; a second one of that name gets `.2`.
            kind: What it is for.
            call: What is called: work in a worker thread if it is sync, judgement inline.
            value: What it is called with.
            under: The step that this one belongs to, as a frame or a path; else it stands at the
                top of the workflow.
            path: Its path, where `place` gave it beforehand.
            digest: The digest of the input, where it is known; that of *value* when None.
            is_judgement: Whether it judges an answer that was paid for: then the ceilings of
                tokens and cost do not keep it from starting.
            reserve: Tokens to take beforehand.
            timeout: Seconds; the run's `step_timeout` and deadline hold as well.
            cost_ms: How long it takes; it does not start where that does not fit.
            limiter: A named capacity of the run.
            retry: How it is tried again; as the run says when None.
            effect: What a tool declared.
            idempotent: Whether calling it again with the same key does no harm.
            call_id: The id of the call that it answers.
            classify: What says of what kind an error is that it raises.
            read: How the answer is read.
            decision: What was decided before it, which it records.
            meta: What else was seen before it.

        Returns:
            The outcome: an answer, or an error that was raised, timed out or was answered.

        Raises:
            Stopped: When it may not start.
            UsageError: When the answer is of no use as one.
            ConfigError: For a limiter that there is not; for a step without a price under
                `max_cost`.
        """
        outer = under if isinstance(under, Frame) else self.outer
        held: frozenset[str] = outer.plan.holds if outer is not None else frozenset()
        place = self._capacity(limiter, held)
        plan = Plan(
            name=name,
            kind=kind,
            call=call,
            value=value,
            path=self.place(name, under) if path is None else path,
            digest=input_digest(value) if digest is None else digest,
            is_judgement=is_judgement,
            reserve=_reserved(reserve, value, name),
            timeout=timeout,
            cost_ms=cost_ms,
            effect=effect,
            may_repeat=kind != "tool" or effect == "readonly" or idempotent is True,
            call_id=call_id,
            read=read,
            outer=outer,
            holds=held if limiter is None else held | {limiter},
            classify=classify,
            decision=decision,
            meta=meta or {},
        )
        return await self._attempts(plan, retry or self.run.retry, place)

    def may_start(self, path: str) -> None:
        """Test the ceilings before a step of that path.

        Raises:
            Stopped: When it could not start.
        """
        for account in self.accounts:
            covered = 0 if self.outer is None else self.outer.covered(account)
            reason = account.reached(0, covered, self.run.clock, None)
            if reason is not None:
                raise Stopped(reason, path)

    async def _attempts(self, plan: Plan, retry: Retry | None, place: _Place | None) -> Outcome:
        attempt, usage = 1, NOTHING
        while True:
            if place is None:
                outcome = await self._attempt(plan, attempt, retry)
            else:
                async with place:
                    outcome = await self._attempt(plan, attempt, retry)
            usage = usage + outcome.usage
            may_repeat = retry is not None and plan.may_repeat and not outcome.ok
            wait = retry.wait(outcome.step.error, attempt) if retry and may_repeat else None
            if self.reel is not None:
                wait = self.reel.wait(outcome.step, wait)
            if wait is None:
                break
            if wait > self.time_left():
                raise Stopped("deadline")
            await self.tell("retry", plan.path, {"attempt": attempt, "wait_ms": int(wait * 1000)})
            await self.run.clock.sleep(wait)
            attempt += 1
        return outcome if attempt == 1 else outcome._replace(usage=usage)

    def _capacity(self, name: str | None, held: frozenset[str]) -> _Place | None:
        """Return what is held while a step runs: a place of a limiter, or nothing."""
        # INVARIANT: a step inside one that holds a place takes no second one, or both wait.
        if name is None or name in held or self.reel is not None:
            return None
        for run in reversed(self.runs):
            limiter = run.limiter(name)
            if limiter is not None:
                return _Place(limiter)
        message = "no such limiter; name it in Run(limiters={...})"
        raise RunRefused((Problem("spec/unknown-choice", "limiter", _core.preview(name), message),))

    async def _attempt(self, plan: Plan, attempt: int, retry: Retry | None) -> Outcome:
        clock = self.run.clock
        if self.reel is not None:
            await self.reel.ready(plan)
        admit(self.accounts, plan, clock, attempt, is_replayed=self.reel is not None)
        slot = len(self.steps)
        self.steps.append(None)
        frame = Frame(self, plan)
        if self.reel is not None:
            frame.cue = self.reel.cue(plan, attempt)
        ending = Ending(frame, attempt, clock.now(), clock.monotonic())
        try:
            if self.is_heard():
                await self.tell("step_started", plan.path)
            if frame.cue is None:
                await self._answer(ending, retry)
            else:
                await frame.cue.answer(ending, partial(self._answer, ending, retry))
        except BaseException as error:
            ending.interrupted(error)
            raise
        finally:
            step = self.steps[slot] = ending.step(slot)
            self.finished += 1
            settle(self.accounts, plan.reserve, ending.own)
            if plan.outer is not None and plan.outer is not self.outer:
                plan.outer.inside = plan.outer.inside + ending.usage + frame.inside
            if self.is_heard():
                with anyio.move_on_after(SHIELD_SECONDS, shield=True):
                    await self.tell("step_ended", plan.path, step=step)
        self._refuse_unpriced(ending)
        return ending.outcome(step)

    async def _answer(self, ending: Ending, retry: Retry | None) -> None:
        """Call, and read the answer."""
        plan = ending.frame.plan
        ctx = Ctx(ending.frame, ending.attempt) if plan.call.takes_ctx else None
        seconds, by_run = self._allowance(plan.timeout)
        token = current_frame.set(ending.frame)
        try:
            if seconds == math.inf:
                ending.value = await self._called(plan, ctx)
            else:
                with self.run.clock.limit(seconds) as scope:
                    ending.value = await self._called(plan, ctx)
                if scope.cancelled_caught:
                    ending.timed_out(seconds, retry, self.run.clock.now())
                    self.overrun |= by_run
                    return
        except PASSING:
            raise
        except Exception as error:  # noqa: BLE001 (recorded and handed to the workflow)
            ending.raised(error, retry, self.run.clock.now())
            return
        finally:
            current_frame.reset(token)
        ending.read()
        if ending.frame.is_unmetered:
            for account in self.accounts:
                limits = account.limits
                account.unmetered |= limits.max_tokens is not None and not limits.allow_unmetered

    async def _called(self, plan: Plan, ctx: Ctx | None) -> object:
        if plan.is_judgement:
            return await plan.call.judge(plan.value, ctx)
        return await plan.call.work(plan.value, ctx, self.run)

    def time_left(self) -> float:
        """Return the seconds until the earliest deadline; `math.inf` where there is none."""
        return min(one.remaining_ms(self.run.clock) for one in self.accounts) / 1000

    def _allowance(self, timeout: float | None) -> tuple[float, bool]:
        """Return the seconds that a step may take, and whether the run's end is what limits it."""
        own = self.step_timeout if timeout is None else min(timeout, self.step_timeout)
        left = self.time_left() if self.is_timed else math.inf
        return (left, True) if left < own else (own, False)

    def _refuse_unpriced(self, ending: Ending) -> None:
        own = ending.own
        if own.is_nothing or (own.cost is not None and not own.cost_incomplete):
            return
        for account in self.accounts:
            limits = account.limits
            if limits.max_cost is not None and not limits.allow_unpriced:
                message = (
                    f"step `{ending.frame.plan.path}` told no cost, and an unknown price is not "
                    "free: set usage.cost, or allow_unpriced=True"
                )
                shown = str(limits.max_cost)
                raise RunRefused(
                    (Problem("spec/missing-field", "limits.max_cost", shown, message),)
                )


def _reserved(reserve: Reserve, value: object, name: str) -> int:
    """Say what a step takes beforehand; a function that does not say it is misuse."""
    if not callable(reserve):
        return reserve or 0
    try:
        tokens: object = reserve(value)
    except Exception as error:
        raise UsageError(f"the reserve of step `{name}` raised: {error!r}") from error
    if type(tokens) is not int or tokens < 0:
        shown = _core.preview(tokens)
        raise UsageError(
            f"the reserve of step `{name}` is {shown}; it must be a whole number, 0 or more"
        )
    return tokens


class _Place:
    """A place of a limiter, held by a step and not by the task it runs in."""

    def __init__(self, limiter: anyio.CapacityLimiter) -> None:
        self._limiter = limiter

    async def __aenter__(self) -> None:
        await self._limiter.acquire_on_behalf_of(self)

    async def __aexit__(self, *_: object) -> None:
        self._limiter.release_on_behalf_of(self)
