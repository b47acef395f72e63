"""Stop rules: what ends a loop that goes on but gets nowhere, or has no time left."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from interlock import _core
from interlock.errors import Problem, UsageError
from interlock.harness._callables import Call, call_of, label_of
from interlock.harness._config import keywords, raise_problems, wrong
from interlock.harness._consult import consult
from interlock.harness._frame import current_frame, input_digest
from interlock.harness.limits import PASSING
from interlock.record.rollout import Step
from interlock.record.values import ErrorInfo
from interlock.tools._limits import HISTORY_LIMIT
from interlock.tools.deadline_check import deadline_check
from interlock.tools.stall_detect import stall_detect

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlock.harness._frame import Frame
    from interlock.harness._walk import Walk
    from interlock.harness.loop_state import Exchange, LoopState
    from interlock.tools.deadline_check import DeadlineResult
    from interlock.tools.stall_detect import StallResult
    from interlock.typing import Instant

__all__ = ["DeadlineCheck", "Stall", "StallDetect", "StopRule", "Stops", "read_rules"]

SIGNALS = ("calls", "results", "output")


@dataclass(frozen=True, slots=True)
class StallDetect:
    """Ends a loop whose turns repeat themselves; see `stall_detect`.

    Each turn has three signals: `calls` (names and arguments), `results` (statuses and outputs)
    and `output` (the text of the reply).

    Args:
        window: How many turns it takes to see a stall, 2 or more.
        max_cycle: The longest cycle that is looked for, 1 to 16.
        signals: The signals to look at; all three when None.

    Raises:
        ConfigError: With every problem found.
    """

    window: int = 3
    max_cycle: int = 3
    signals: Sequence[str] | None = None

    def __post_init__(self) -> None:
        """Refuse what detects nothing; a signal that there is not would always be the same."""
        self.detect([dict.fromkeys(SIGNALS, "")])
        unknown = [name for name in self.signals or () if name not in SIGNALS]
        message = f"must be one of {', '.join(SIGNALS)}"
        raise_problems(
            Problem("spec/unknown-choice", "signals", _core.preview(name), message)
            for name in unknown
        )

    def detect(self, history: Iterable[object]) -> StallResult:
        """Say whether the end of a history repeats itself.

        Raises:
            ConfigError: With every problem found.
        """
        return stall_detect(
            list(history), window=self.window, max_cycle=self.max_cycle, signals=self.signals
        )


@dataclass(frozen=True, slots=True)
class Stall(StallDetect):
    """A `StallDetect` that may tell before it ends the loop.

    Args:
        tell: Whether the first stall only sets `LoopState.notice` for the next turn. The caller
            may word it for the model; the loop writes into no message.
    """

    _: KW_ONLY
    tell: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlineCheck:
    """Ends a loop when no time is left, or not enough for one more turn; see `deadline_check`.

    Args:
        deadline: The end, as an instant; required unless *budget_ms* is given, and wins over it.
        budget_ms: Milliseconds from the start, by a clock that is never set back.
        started_at: The start; that of the loop when None.
        step_cost_ms: What one turn takes, in milliseconds.

    Raises:
        ConfigError: With every problem found.
    """

    deadline: Instant | None = None
    budget_ms: int | None = None
    started_at: Instant | None = None
    step_cost_ms: int | None = None

    def __post_init__(self) -> None:
        """Refuse what has no end."""
        self.check(now=0, started_at=0)

    def check(self, *, now: Instant, started_at: Instant) -> DeadlineResult:
        """Say what is left at an instant, for a loop that began at *started_at*.

        Raises:
            ConfigError: With every problem found.
        """
        return deadline_check(
            now=now,
            deadline=self.deadline,
            budget_ms=self.budget_ms,
            started_at=started_at if self.started_at is None else self.started_at,
            step_cost_ms=self.step_cost_ms,
        )


StallDetect.__init__ = keywords(StallDetect.__init__)  # type: ignore[method-assign]
Stall.__init__ = keywords(Stall.__init__)  # type: ignore[method-assign]
DeadlineCheck.__init__ = keywords(DeadlineCheck.__init__)  # type: ignore[method-assign]


class StopRule(NamedTuple):
    """A stop rule as a loop uses it.

    Attributes:
        name: Where it stands, such as `stop[0]`.
        given: The rule as it was given.
        call: How a callable is called; None for an object.
    """

    name: str
    given: object
    call: Call | None

    def config(self) -> object:
        """Return how it is set up, as data."""
        return label_of(self.given) if self.call is not None else repr(self.given)


class Said(NamedTuple):
    """What a stop rule says: the word of `stopped_by`, and why."""

    stopped_by: str
    report: dict[str, Any] | None = None
    error: ErrorInfo | None = None


def read_rules(given: object, problems: list[Problem]) -> tuple[StopRule, ...]:
    """Read the stop rules; what is wrong with them is added to the problems."""
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        message = "must be a list of StallDetect, Stall, DeadlineCheck or callables of the state"
        problems.append(wrong(given, "stop", message))
        return ()
    rules: list[StopRule] = []
    for at, one in enumerate(cast("Sequence[object]", given)):
        is_object = isinstance(one, (StallDetect, DeadlineCheck))
        call = None if is_object else call_of(one, f"stop[{at}]", problems)
        rules.append(StopRule(f"stop[{at}]", one, call))
    return tuple(rules)


class Stops:
    """The stop rules of a loop in progress.

    Attributes:
        notice: What a rule has to say to the next turn.
    """

    def __init__(self, rules: tuple[StopRule, ...], walk: Walk) -> None:
        """Start with nothing seen."""
        self._rules, self._walk = rules, walk
        self._seen: deque[dict[str, str]] = deque(maxlen=HISTORY_LIMIT)
        self._told: set[str] = set()
        self._started: int | None = None
        self._begun: tuple[int, float] | None = None
        self.notice: str | None = None

    def see(self, exchange: Exchange) -> None:
        """Take up what a turn came to."""
        if not self._rules:
            return
        calls = [[call.name, call.args] for call in exchange.reply.calls]
        results = [[one.name, one.status, one.output] for one in exchange.results]
        digests = (input_digest(calls) or "", input_digest(results) or "", exchange.reply.output)
        self._seen.append(dict(zip(SIGNALS, digests, strict=True)))

    async def said(self, state: LoopState, path: str) -> Said | None:
        """Ask every rule in order until one ends the loop."""
        self.notice = None
        for rule in self._rules:
            try:
                found = await self._asked(rule, state, path)
            except PASSING:
                raise
            except Exception as error:  # noqa: BLE001 (a guard that is broken guards nothing)
                return await self._broken(error, path)
            if found is not None:
                return found
        return None

    async def _asked(self, rule: StopRule, state: LoopState, path: str) -> Said | None:
        if isinstance(rule.given, StallDetect):
            return await self._stalled(rule, rule.given, path)
        if isinstance(rule.given, DeadlineCheck):
            return await self._expired(rule.given, path)
        answer = await consult(
            self._walk, "stop", cast("Call", rule.call), state, under=path, decision_of=_reason
        )
        if answer is None:
            return None
        if isinstance(answer, str) and answer:
            return Said("stalled", {"rule": rule.name, "reason": answer})
        raise UsageError(
            f"{rule.name} returned {_core.preview(answer)}; return the reason to stop as a text "
            "that is not empty, or None to go on"
        )

    async def _stalled(self, rule: StopRule, detect: StallDetect, path: str) -> Said | None:
        if not self._repeats(detect):
            return None
        found = detect.detect(self._seen)
        if not found.stalled:
            return None
        tells = isinstance(detect, Stall) and detect.tell and rule.name not in self._told
        report = {"rule": rule.name, **cast("dict[str, Any]", found.to_dict())}
        await self._note(path, {**report, "told": True} if tells else report)
        if not tells:
            return Said("stalled", report)
        self._told.add(rule.name)
        self.notice = _worded(found)
        return None

    def _repeats(self, detect: StallDetect) -> bool:
        """Say whether the last turn was the same as one shortly before, as in every stall."""
        # PERF: to compare a few turns is cheaper than to look at the whole history.
        names = SIGNALS if detect.signals is None else detect.signals
        recent = list(islice(reversed(self._seen), detect.max_cycle + 1))
        return any(all(one[name] == recent[0][name] for name in names) for one in recent[1:])

    async def _expired(self, check: DeadlineCheck, path: str) -> Said | None:
        def ask(_state: object) -> DeadlineResult:
            # Its reading of the clock is recorded, so that a replay answers the same.
            frame = cast("Frame", current_frame.get())
            now = frame.reading(partial(self._instant, check))
            self._started = now if self._started is None else self._started
            return check.check(now=now, started_at=self._started)

        call = Call(ask, takes_ctx=False, is_async=False)
        answer = await consult(self._walk, "stop", call, None, under=path, decision_of=_wire)
        found = cast("DeadlineResult", answer)
        if found.expired or found.fits is False:
            return Said("deadline", cast("dict[str, Any]", found.to_dict()))
        return None

    def _instant(self, check: DeadlineCheck) -> int:
        """Read the clock for a deadline; for a budget count from the first reading.

        The time of day may be set back, and a budget is none the longer for that.
        """
        clock = self._walk.run.clock
        now, seconds = clock.now(), clock.monotonic()
        self._begun = self._begun or (now, seconds)
        begun, begun_s = self._begun
        return begun + round((seconds - begun_s) * 1000) if check.deadline is None else now

    async def _broken(self, error: Exception, path: str) -> Said:
        info = ErrorInfo.of(error)
        await self._note(path, None, info)
        return Said("failed", error=info)

    async def _note(self, path: str, decision: object, error: ErrorInfo | None = None) -> None:
        await self._walk.note(
            Step(
                path=self._walk.place("stop", path),
                name="stop",
                kind="decision",
                status="completed" if error is None else "undetermined",
                decision=decision,
                error=error,
            )
        )


def _reason(answer: object) -> object:
    return {"reason": answer} if isinstance(answer, str) and answer else None


def _wire(answer: object) -> object:
    return cast("DeadlineResult", answer).to_dict()


def _worded(found: StallResult) -> str:
    if found.reason == "unchanged":
        return f"the last {found.repeats} turns were the same"
    length = found.cycle_length or 0
    return f"the last {2 * length} turns were the same {length} turns twice"
