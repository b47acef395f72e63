"""Ctx: what a callable may know and do beside its input."""

from __future__ import annotations

import math
import random  # noqa: TID251 (the chance of a callable, and the same in every replay)
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

from interlock import _core
from interlock.errors import Problem, UsageError
from interlock.harness._callables import Call, is_async_callable
from interlock.harness._config import name_problems, wrong
from interlock.harness._consume import consumed
from interlock.harness.limits import Remaining, remaining
from interlock.record.reply import as_json_reply
from interlock.record.rollout import Kind
from interlock.record.values import EFFECTS, Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlock.harness._frame import Frame
    from interlock.record.values import Effect

__all__ = ["Ctx"]


class Ctx:
    """The step that a callable runs in.

    Attributes:
        run_id: The run.
        path: The step's path.
        attempt: Which attempt it is, from 1.
    """

    def __init__(self, frame: Frame, attempt: int) -> None:
        """Take the step in progress."""
        self._frame = frame
        self.run_id = frame.walk.run.run_id
        self.path = frame.plan.path
        self.attempt = attempt

    @property
    def idempotency_key(self) -> str:
        """A key for this step, the same for every attempt at it."""
        return self._frame.key()

    @property
    def remaining(self) -> Remaining:
        """What is left of every limit around the step; of judgement, the time is recorded."""
        frame = self._frame
        left = remaining(frame.walk.accounts, frame.walk.run.clock)
        if frame.cue is not None:
            left = replace(left, ms=frame.cue.time_left())
        if left.ms != math.inf and (frame.plan.is_judgement or frame.plan.kind == "classify"):
            frame.left.append(left.ms)
        return left

    @property
    def deadline(self) -> int | None:
        """The end of the run, in milliseconds from 1970; None when there is none."""
        left = self.remaining.ms
        return None if left == math.inf else self.now() + int(left)

    def now(self) -> int:
        """Return the instant, in milliseconds from 1970; it is recorded."""
        return self._frame.reading(self._frame.walk.run.clock.now)

    @cached_property
    def random(self) -> random.Random:
        """Chance that is the same whenever this attempt is run again."""
        seed = _core.digest([self.run_id, self.path, self.attempt])
        return random.Random(seed)  # noqa: S311 (chance for experiments, not for secrets)

    async def emit(self, text: str) -> None:
        """Tell whoever watches the run of a piece of output.

        Raises:
            UsageError: For what is no text.
        """
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"ctx.emit() takes text, not {_core.preview(text)}")
        await self._frame.walk.tell("delta", self.path, {"text": text})

    async def consume(self, stream: object) -> Reply:
        """Read a stream to its end, emit its text piece by piece, and return the reply.

        Read are streams of OpenAI (chat completions, responses) and Anthropic (messages), which
        are known by their shape, and iterators of text; async or sync, those of sync clients in a
        worker thread. The stream is closed afterwards, however it ends.

        Returns:
            The reply with its usage. One of a stream that breaks has failed: it holds the text so
            far, an estimated usage (a token for every 4 bytes of text, and what the provider had
            told), and `usage_estimated` in its meta.

        Raises:
            UsageError: For what is no such stream.
        """
        return await consumed(stream, self.emit, self._frame.walk.run)

    async def step(
        self,
        name: str,
        function: Callable[..., Any],
        *args: object,
        effect: Effect | None = None,
        kind: Kind = "tool",
    ) -> Any:
        """Make a recorded step inside this one: call `function(*args)` and return its answer.

        What the function raises is recorded and raised again.

        Raises:
            UsageError: For a name that cannot stand in a path, what cannot be called, and an effect
                or kind that there is not.
        """
        problems = [*name_problems(name, "name"), *_step_problems(function, effect, kind)]
        if problems:
            raise UsageError(f"ctx.step(): {'; '.join(map(str, problems))}")
        outcome = await self._frame.walk.step(
            name,
            kind,
            _direct(function, args),
            list(args),
            under=self._frame,
            effect=effect,
            read=_anything,
        )
        if outcome.exception is not None:
            raise outcome.exception
        return outcome.value


def _step_problems(function: object, effect: object, kind: object) -> list[Problem]:
    problems: list[Problem] = []
    if not callable(function):
        problems.append(wrong(function, "function", "must be a callable"))
    for field, given, known in (
        ("effect", effect, (*EFFECTS, None)),
        ("kind", kind, get_args(Kind)),
    ):
        if given not in known:
            message = f"must be one of {', '.join(map(str, known))}"
            problems.append(Problem("spec/unknown-choice", field, _core.preview(given), message))
    return problems


def _direct(function: Callable[..., Any], args: tuple[object, ...]) -> Call:
    """Make a call that ignores the input of the step, which is there for its digest."""
    if is_async_callable(function):

        async def called(_value: object) -> object:
            return await function(*args)

        return Call(called, takes_ctx=False, is_async=True)

    def worked(_value: object) -> object:
        return function(*args)

    return Call(worked, takes_ctx=False, is_async=False)


def _anything(value: object, *, step: str) -> Reply:
    """Read what a step inside a callable gave: it is handed back as it is, whatever it is."""
    try:
        return as_json_reply(value, step=step)
    except UsageError:
        return Reply(raw=value, meta={"type": type(value).__qualname__})
