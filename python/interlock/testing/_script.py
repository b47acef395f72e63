"""Callables that answer from a script, and remember what they were asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from interlock.errors import Problem
from interlock.harness._config import raise_problems, seconds_problems

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlock.harness import Clock

__all__ = ["Script", "scripted"]


class Script:
    """An async callable that gives the answers of a script, one a call.

    Attributes:
        calls: What it was called with, in order; several arguments stand as a tuple.
    """

    def __init__(
        self,
        answers: Iterable[object],
        *,
        repeat: bool = False,
        seconds: float = 0.0,
        clock: Clock | None = None,
    ) -> None:
        """Take the answers; an exception among them is raised.

        Raises:
            ConfigError: For an answer to repeat that there is not, and for seconds without a clock.
        """
        self._answers = list(answers)
        problems = seconds_problems(seconds or None, "seconds")
        if seconds and clock is None:
            problems.append(Problem("spec/missing-field", "clock", None, "is what `seconds` go by"))
        if repeat and not self._answers:
            problems.append(Problem("spec/empty-list", "answers", "[]", "none is there to repeat"))
        raise_problems(problems)
        self._repeat = repeat
        self._seconds, self._clock = seconds, clock
        self.calls: list[object] = []

    async def __call__(self, value: object, *more: object) -> object:
        """Give the next answer.

        Raises:
            AssertionError: When the script is at its end.
        """
        self.calls.append((value, *more) if more else value)
        if self._seconds and self._clock is not None:
            await self._clock.sleep(self._seconds)
        else:
            await anyio.lowlevel.checkpoint()
        at = len(self.calls) - 1
        if at >= len(self._answers) and not self._repeat:
            raise AssertionError(f"call {at + 1} of a script of {len(self._answers)} answers")
        answer = self._answers[min(at, len(self._answers) - 1)]
        if isinstance(answer, BaseException):
            raise answer
        return answer


def scripted(
    *answers: object, repeat: bool = False, seconds: float = 0.0, clock: Clock | None = None
) -> Script:
    """Make a model or tool that gives these answers, one a call.

    Args:
        answers: What is returned: anything a callable may return; an exception is raised.
        repeat: Whether the last answer is given again and again; else one call more is an error.
        seconds: How long each answer takes, by *clock*.
        clock: The clock to wait by, such as a `ManualClock`.

    Raises:
        ConfigError: For an answer to repeat that there is not, and for seconds without a clock.
    """
    return Script(answers, repeat=repeat, seconds=seconds, clock=clock)
