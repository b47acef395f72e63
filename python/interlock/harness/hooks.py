"""Hooks: code that is asked around the turns and tools of a loop, whatever a prompt says."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from interlock import _core
from interlock.errors import Problem
from interlock.harness._callables import Call, label_of, takes_ctx
from interlock.harness._config import (
    keywords,
    name_problems,
    raise_problems,
    seconds_problems,
    wrong,
)
from interlock.record.values import EFFECTS, Effect
from interlock.tools.decision_table import DecisionTable

if TYPE_CHECKING:
    from interlock.record.values import ToolCall

__all__ = ["Ask", "Block", "Hooks", "OnError", "Point", "hooks_problems", "word_of"]

OnError = Literal["allow", "block"]
Point = Literal["before_turn", "rewrite_tool", "before_tool", "after_tool", "after_turn"]

_WORDS: dict[object, OnError | Literal["ask"]] = {
    "allow": "allow",
    True: "allow",
    "block": "block",
    False: "block",
    "ask": "ask",
}
"""What the outputs of a table's row may say."""

_GIVEN: dict[Point, tuple[str, ...]] = {
    "before_turn": ("state",),
    "rewrite_tool": ("call", "effect"),
    "before_tool": ("call", "effect"),
    "after_tool": ("call", "result"),
    "after_turn": ("state",),
}
"""What each is called with; a context comes last where it is taken."""


@dataclass(frozen=True, slots=True)
class Block:
    """A refusal.

    Args:
        reason: Why; the model is shown it.
    """

    reason: str

    def __post_init__(self) -> None:
        """Refuse a reason that nobody can read."""
        _text_or_raise(self.reason, "reason")


@dataclass(frozen=True, slots=True)
class Ask:
    """A person must say whether it may run. Where nobody can be asked it does not.

    Args:
        question: What they are asked.
    """

    question: str

    def __post_init__(self) -> None:
        """Refuse a question that nobody can read."""
        _text_or_raise(self.question, "question")


@dataclass(frozen=True, slots=True, eq=False)
class Hooks:
    """Code that is asked before and after the turns and tools of a loop.

    Judgement, sync or async: it runs inline and must be quick. Each may take a context as one more
    argument.

    Args:
        before_turn: Called with the `LoopState`; a `Block` ends the run before that turn.
        before_tool: Called with the call and the effect that the tool declared (None for none);
            returns None, `Block(reason)` or `Ask(question)`. Or a `DecisionTable` over `name`,
            `args`, `effect` and `id`, whose outputs are `allow`, `block` or `ask`, or a mapping
            with one of them as `decision` and a `reason`. A conflict or an undecided row blocks.
        after_tool: Called with the call and the `ToolResult`, or with the result alone.
        after_turn: Called with the `LoopState` after each turn that gave a reply.
        rewrite_tool: Called as `before_tool`, before any of these; returns new arguments, or None.
        on_error: What it means when a hook that may refuse raises or takes too long: `allow`,
            `block`, or one of them by the effect of the tool, `allow` where nothing is said.
        timeout: Seconds for each; sync code cannot be ended and is waited for. None: no limit.
        name: What it is called in the record; `hooks` when None.

    Raises:
        ConfigError: With every problem found.
    """

    before_turn: Callable[..., Any] | None = None
    before_tool: Callable[..., Any] | DecisionTable | None = None
    after_tool: Callable[..., Any] | None = None
    after_turn: Callable[..., Any] | None = None
    _: KW_ONLY
    rewrite_tool: Callable[..., Any] | None = None
    on_error: OnError | Mapping[Effect | None, OnError] = "allow"
    timeout: float | None = 5.0
    name: str | None = None
    calls: Mapping[Point, Call] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check everything, and read how each is called."""
        problems: list[Problem] = []
        calls = {
            point: _call_of(given, point, problems)
            for point in _GIVEN
            if (given := getattr(self, point)) is not None
        }
        problems += _on_error_problems(self.on_error)
        problems += seconds_problems(self.timeout, "hooks.timeout")
        if self.name is not None:
            problems += name_problems(self.name, "hooks.name")
        raise_problems(problems)
        object.__setattr__(self, "calls", calls)

    @property
    def label(self) -> str:
        """What it is called."""
        return self.name or "hooks"

    def is_closed(self, effect: Effect | None) -> bool:
        """Say whether a fault of a hook refuses a tool of that effect."""
        if isinstance(self.on_error, str):
            return self.on_error == "block"
        return self.on_error.get(effect) == "block"

    def config(self) -> dict[str, Any]:
        """Return how it is set up, as data."""
        on_error = self.on_error
        return {
            "points": {point: label_of(getattr(self, point)) for point in self.calls},
            "on_error": on_error
            if isinstance(on_error, str)
            else {str(effect): said for effect, said in on_error.items()},
            "timeout": self.timeout,
            "name": self.name,
        }


Hooks.__init__ = keywords(Hooks.__init__)  # type: ignore[method-assign]


def hooks_problems(given: object, name: str) -> list[Problem]:
    """Check a list of hooks."""
    if isinstance(given, Sequence) and not isinstance(given, (str, bytes)):
        return [
            wrong(one, f"{name}[{at}]", "must be Hooks(...)")
            for at, one in enumerate(cast("Sequence[object]", given))
            if not isinstance(one, Hooks)
        ]
    return [wrong(given, name, "must be a list of Hooks(...)")]


@dataclass(frozen=True, slots=True)
class _Spread:
    """Calls a hook with what it is given, one by one."""

    function: Callable[..., Any]
    has_ctx: bool
    last_only: bool = False

    def __call__(self, given: tuple[object, ...], ctx: object = None) -> object:
        if self.has_ctx:
            return self.function(*given, ctx)
        return self.function(given[-1]) if self.last_only else self.function(*given)


@dataclass(frozen=True, slots=True)
class _Table:
    """Asks a table about a call."""

    table: DecisionTable

    def __call__(self, call: ToolCall, effect: Effect | None) -> object:
        return self.table.decide(
            {"name": call.name, "args": call.args, "effect": effect, "id": call.id}
        )


def _call_of(function: object, point: Point, problems: list[Problem]) -> Call:
    name, given = f"hooks.{point}", _GIVEN[point]
    if point == "before_tool" and isinstance(function, DecisionTable):
        problems += _table_problems(function, name)
        function = _Table(function)
    shape = f"({', '.join(given)})` or `({', '.join(given)}, ctx)"
    if not callable(function):
        problems.append(wrong(function, name, f"must be a callable of `{shape}`"))
        return Call(_nothing, takes_ctx=False, is_async=False)
    has_ctx = takes_ctx(function, len(given))
    # An observer may look at the result alone, which names its call.
    last_only = has_ctx is None and point == "after_tool" and takes_ctx(function, 1) is False
    if has_ctx is None and not last_only:
        problems.append(
            wrong(function, name, f"must take `{shape}`; it takes {inspect.signature(function)}")
        )
    spread = _Spread(function, bool(has_ctx), last_only)
    return Call(spread, takes_ctx=bool(has_ctx), is_async=False)


def _nothing(_given: object) -> None:
    """Stand for a callable that is none."""


def _on_error_problems(given: object) -> list[Problem]:
    choices = get_args(OnError)
    if isinstance(given, str) and given in choices:
        return []
    if not isinstance(given, Mapping):
        message = "must be allow or block, or a mapping of effects to these"
        return [Problem("spec/unknown-choice", "hooks.on_error", _core.preview(given), message)]
    effects = (None, *EFFECTS)
    problems: list[Problem] = []
    for effect, said in cast("Mapping[object, object]", given).items():
        place = f"hooks.on_error.{effect}"
        if effect not in effects:
            message = f"must be one of {', '.join(map(str, effects))}"
            problems.append(Problem("spec/unknown-choice", place, _core.preview(effect), message))
        elif said not in choices:
            message = "must be allow or block"
            problems.append(Problem("spec/unknown-choice", place, _core.preview(said), message))
    return problems


def word_of(outputs: object) -> str | None:
    """Read the outputs of a row: allow, block or ask; None where they say none of these."""
    if isinstance(outputs, Mapping):
        outputs = cast("Mapping[str, object]", outputs).get("decision")
    is_word = isinstance(outputs, (str, bool))
    return _WORDS.get(outputs) if is_word else None


def _table_problems(table: DecisionTable, name: str) -> list[Problem]:
    spec = cast("dict[str, Any]", table.to_spec())
    said = [(f"rows[{at}].outputs", row.get("outputs")) for at, row in enumerate(spec["rows"])]
    if "otherwise" in spec:
        said.append(("otherwise", spec["otherwise"]))
    return [
        wrong(outputs, f"{name}.{place}", "must be allow, block or ask here")
        for place, outputs in said
        if word_of(outputs) is None
    ]


def _text_or_raise(value: object, name: str) -> None:
    if not isinstance(value, str) or not value:
        raise_problems([wrong(value, name, "must be a text that is not empty")])
