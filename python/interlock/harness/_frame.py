"""A step as it is asked for, in progress, and as a workflow gets it back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from interlock import _core
from interlock.errors import ConfigError
from interlock.record.reply import as_reply, data_digest
from interlock.record.usage import NOTHING, Usage

if TYPE_CHECKING:
    from interlock.harness._callables import Call
    from interlock.harness._cue import Cue
    from interlock.harness._recorder import Recorder
    from interlock.harness._walk import Walk
    from interlock.harness.limits import Account
    from interlock.record.rollout import Kind, Step
    from interlock.record.values import Effect, Reply, ToolResult, Verdict
    from interlock.tools.error_classify import ErrorClassify

__all__ = [  # noqa: RUF022 (by code point, as every other list of names)
    "Frame",
    "NOTHING",
    "Outcome",
    "Plan",
    "Reader",
    "Reading",
    "Reserve",
    "current_frame",
    "input_digest",
    "unique",
]

current_frame: ContextVar[Frame | None] = ContextVar("interlock_step", default=None)
"""The step in progress, which a workflow inside it joins."""

Reserve = int | Callable[[Any], int] | None
"""Tokens that a step takes beforehand, or a function of its input that says how many."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the answer of a callable means.

    Attributes:
        reply: As a reply; its usage counts.
        decision: The full answer of what decided, as data.
        verdict: What a judge said.
        result: What a tool answered; its status, output and error are those of the step.
        returned: The reply as it came, where `reply` says what reading made of it.
    """

    reply: Reply
    decision: object = None
    verdict: Verdict | None = None
    result: ToolResult | None = None
    returned: Reply | None = None


class Reader(Protocol):
    """How the answer of a callable is read."""

    def __call__(self, value: object, *, step: str) -> Reply | Reading:
        """Say what it means, or raise a UsageError that names the step."""
        ...


@dataclass(slots=True)
class Plan:
    """A step as it is asked for; see `Walk.step`."""

    name: str
    kind: Kind
    call: Call
    value: object
    path: str
    digest: str | None
    outer: Frame | None
    _: KW_ONLY
    is_judgement: bool = False
    reserve: int = 0
    timeout: float | None = None
    cost_ms: int | None = None
    effect: Effect | None = None
    may_repeat: bool = True
    call_id: str | None = None
    read: Reader = as_reply
    holds: frozenset[str] = frozenset()
    classify: ErrorClassify | None = None
    decision: object = None
    meta: Mapping[str, object] = field(default_factory=dict[str, object])


class Frame:
    """A step in progress, and what was found in it."""

    __slots__ = (
        "counted",
        "cue",
        "inside",
        "is_abandoned",
        "is_unmetered",
        "left",
        "made",
        "made_key",
        "names",
        "nested",
        "plan",
        "readings",
        "walk",
    )

    def __init__(self, walk: Walk, plan: Plan, cue: Cue | None = None) -> None:
        """Begin with nothing found."""
        self.walk, self.plan, self.cue = walk, plan, cue
        self.names: dict[str, int] = {}
        self.nested: list[Recorder] = []
        self.counted: list[object] = []
        self.inside: Usage = NOTHING
        self.made: list[str] = []
        self.readings: list[int] = []
        self.left: list[float] = []
        self.made_key: str | None = None
        # Whether a provider's reply in it told no usage.
        self.is_unmetered = False
        # Whether it was ended while a thread of it may go on.
        self.is_abandoned = False

    def key(self) -> str:
        """Return the idempotency key, made when it is first asked for."""
        if self.made_key is None:
            plan = self.plan
            self.made_key = _core.digest([self.walk.run.run_id, plan.path, plan.name, plan.digest])
        return self.made_key

    def reading(self, read: Callable[[], int]) -> int:
        """Read an instant, which is recorded; one that is played again as it was."""
        self.readings.append(read() if self.cue is None else self.cue.reading())
        return self.readings[-1]

    def covered(self, account: Account) -> int:
        """Return what this step and those around it hold reserved in an account."""
        own = self.plan.reserve if account in self.walk.accounts else 0
        return own + (self.plan.outer.covered(account) if self.plan.outer is not None else 0)

    def abandon(self) -> None:
        """End the runs inside it that nobody waits for: the thread that did was left behind."""
        self.is_abandoned = True
        for inner in self.nested:
            if inner.ended is None:
                inner.scope.cancel()

    def has_counted(self, value: object) -> bool:
        """Say whether an answer came from a step or run inside this one, and was counted there."""
        return any(value is one for one in self.counted)


class Outcome(NamedTuple):
    """What became of a step.

    Attributes:
        step: As it is recorded; the last attempt.
        reply: What was answered; None when nothing was.
        value: What the callable returned, as it is.
        usage: What it used with everything in it, over all attempts.
        verdict: What a judge said; undetermined when it raised.
        exception: What was raised.
        result: What a tool answered; None when it raised.
    """

    step: Step
    reply: Reply | None
    value: object
    usage: Usage
    verdict: Verdict | None = None
    exception: Exception | None = None
    result: ToolResult | None = None

    @property
    def ok(self) -> bool:
        """Whether there is an answer that did not fail."""
        return self.reply is not None and self.reply.status != "failed"


def unique(names: dict[str, int], path: str) -> str:
    """Give a path of its own: the second of one name is `name.2`."""
    count = names.get(path, 0) + 1
    names[path] = count
    if count == 1:
        return path
    numbered = f"{path}.{count}"
    if numbered in names:
        return unique(names, path)
    names[numbered] = 1
    return numbered


def input_digest(value: object) -> str | None:
    """Return the digest of an input, as of `data_digest`; None when it has no canonical form."""
    try:
        return data_digest(value)
    except ConfigError:
        return None
