"""ToolBus: the tools that a model is offered, by name; and `finish`, which ends a loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from interlock import _core
from interlock.errors import ConfigError, Problem, UsageError
from interlock.harness._by_name import source_of
from interlock.harness._callables import Call
from interlock.harness._config import Frozen, count_problems, keywords, raise_problems, wrong
from interlock.harness._declare import Style, ToolChange, changes, declared, pin_of
from interlock.harness._invoke import failed, invoke
from interlock.harness._rank import Ranking
from interlock.harness._told import not_called
from interlock.harness.tool import Tool, tool
from interlock.record.values import ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock.harness.ctx import Ctx
    from interlock.record.values import Effect, ToolResult

__all__ = ["ToolBus", "finish", "toolbus"]

AnyTool = Tool[..., Any]
_OFFERED = 100


class ToolBus(Frozen):
    """Tools by name; frozen. Made by `toolbus`.

    Attributes:
        name: What it is called in errors.
    """

    __slots__ = ("__weakref__", "_ranking", "_tools", "name")

    name: str
    _tools: dict[str, AnyTool]
    _ranking: Ranking | None

    def __init__(self, tools: Iterable[AnyTool], *, name: str | None = None) -> None:
        """Take the tools, no two of one name.

        Raises:
            ConfigError: For two tools of one name, naming where both come from.
        """
        kept: dict[str, AnyTool] = {}
        problems: list[Problem] = []
        for at, one in enumerate(tools):
            other = kept.setdefault(one.name, one)
            if other is not one:
                message = (
                    f"the name of two tools, of {other.source} and of {one.source}; rename one, "
                    "or nest it with toolbus(..., prefix=...)"
                )
                shown = _core.preview(one.name)
                problems.append(Problem("spec/duplicate-name", f"tools[{at}]", shown, message))
        raise_problems(problems)
        self._set(name=name or "toolbus", _tools=kept, _ranking=None)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order in which the tools were given."""
        return tuple(self._tools)

    def get(self, name: str) -> AnyTool | None:
        """Return a tool; None where there is none of that name."""
        return self._tools.get(name)

    def effect(self, name: str) -> Effect | None:
        """Return what a tool declared; None where it declared nothing, or there is none."""
        found = self._tools.get(name)
        return None if found is None else found.effect

    def is_idempotent(self, name: str) -> bool:
        """Say whether a tool may be called again with the same arguments: readonly is."""
        found = self._tools.get(name)
        return found is not None and found.may_repeat

    def unannotated(self) -> tuple[str, ...]:
        """Return the names of the tools that declared no effect."""
        return tuple(name for name, one in self._tools.items() if one.effect is None)

    def only(self, *names: str) -> ToolBus:
        """Return a bus of these tools alone, in this order.

        Raises:
            ConfigError: For a name that there is not.
        """
        raise_problems(
            Problem("spec/unknown-choice", f"names[{at}]", _core.preview(name), self._unknown(name))
            for at, name in enumerate(names)
            if not isinstance(name, str) or name not in self._tools  # pyright: ignore[reportUnnecessaryIsInstance]
        )
        return ToolBus((self._tools[name] for name in names), name=self.name)

    def trace(self, query: str, k: int = 8) -> ToolBus:
        """Return the shortlist for a question: the tools that fit it best, and those that finish.

        Ranked by BM25 over names and descriptions, ties by name: the same question gives the same
        list. Only what is on it can be called through it.

        Args:
            query: The question, in words.
            k: How many tools, those that finish aside.

        Raises:
            ConfigError: For a *k* that is no whole number of 1 or more.
        """
        if k is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise_problems([wrong(k, "k", "must be a whole number, 1 or more")])
        raise_problems(count_problems(k, "k", least=1))
        if not isinstance(query, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise_problems([wrong(query, "query", "must be a text")])
        if self._ranking is None:
            others = (one for one in self._tools.values() if not one.is_finish)
            self._set(_ranking=Ranking((one.name, one.description) for one in others))
        best = cast("Ranking", self._ranking).best(query, k)
        ends = (name for name, one in self._tools.items() if one.is_finish)
        return self.only(*best, *ends)

    def schemas(self, style: Style = "openai") -> list[dict[str, Any]]:
        """Return the declarations of the tools, as a model call takes them.

        Args:
            style: `openai` (chat completions), `openai-responses`, `anthropic`, or `mcp`, which
                carries the effects as annotations.

        Raises:
            ConfigError: For another style, and for names that the provider refuses.
        """
        return declared(tuple(self._tools.values()), style)

    def pin(self) -> dict[str, str]:
        """Return digests of what each tool is: description, effect, schema, by its name."""
        return {name: pin_of(one) for name, one in self._tools.items()}

    def verify(self, pins: Mapping[str, str]) -> tuple[ToolChange, ...]:
        """Return what changed since `pin`: tools that are gone, other than they were, or new.

        Raises:
            ConfigError: For pins that are none.
        """
        return changes(tuple(self._tools.values()), pins)

    async def invoke(self, call: ToolCall, ctx: Ctx | None = None) -> ToolResult:
        """Call a tool; whatever goes wrong is a result for the model to read.

        Never raises, but for what is no `Exception`, such as a cancellation, and for the end of the
        run around it, where a limit refuses a step of the tool's own. `failed`: no such tool,
        arguments that do not fit (every fault is told), a tool that raised or took too long, an
        output that was cut. `in_doubt`: a timeout of a tool that may not be repeated.

        Raises:
            UsageError: When *call* is no ToolCall.
        """
        if not isinstance(call, ToolCall):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"invoke() takes a ToolCall, not a {type(call).__name__}")
        found = self._tools.get(call.name)
        if found is None:
            return failed(call, not_called("unknown_tool", self._refusal(call.name), "not_found"))
        return await invoke(found, call, ctx)

    def _refusal(self, name: object) -> str:
        return f"{_core.preview(name)} is {self._unknown(name)}"

    def _unknown(self, name: object) -> str:
        near = _core.nearest(name, list(self._tools)) if isinstance(name, str) else None
        hint = f'; did you mean "{near}"?' if near else ""
        listed = ", ".join(self.names[:_OFFERED]) or "nothing"
        left = len(self._tools) - _OFFERED
        more = f" and {left} more" if left > 0 else ""
        return f"no tool that is offered here{hint} (offered: {listed}{more})"

    def __add__(self, other: ToolBus) -> ToolBus:
        """Return a bus of the tools of both.

        Raises:
            ConfigError: For a tool of the name of another.
        """
        if not isinstance(other, ToolBus):  # pyright: ignore[reportUnnecessaryIsInstance]
            return NotImplemented
        return ToolBus((*self, *other), name=self.name)

    def __iter__(self) -> Iterator[AnyTool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __repr__(self) -> str:
        return f"<ToolBus {self.name}: {', '.join(self._tools)}>"


@keywords
def toolbus(tools: Any, *, name: str | None = None, prefix: str | None = None) -> ToolBus:
    """Put tools on a bus.

    Args:
        tools: Tools, functions (which declare no effect), other buses; a list of these, or a
            mapping of names to functions.
        name: What the bus is called in errors.
        prefix: Stands before each name, as in `toolbus(other, prefix="crm_")`.

    Raises:
        ConfigError: With every problem found.
    """
    problems: list[Problem] = []
    for field, text in (("name", name), ("prefix", prefix)):
        if text is not None and not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            problems.append(wrong(text, field, "must be a text, or None"))
    found = list(_tools_of(tools, "tools", problems))
    raise_problems(problems)
    if prefix:
        found = [one.altered(name=prefix + one.name) for one in found]
    return ToolBus(found, name=name)


def _tools_of(given: object, field: str, problems: list[Problem]) -> Iterator[AnyTool]:
    if isinstance(given, Tool):
        yield cast("AnyTool", given)
    elif isinstance(given, ToolBus):
        yield from given
    elif isinstance(given, Mapping):
        for name, function in cast("Mapping[str, object]", given).items():
            yield from _made(function, f"{field}.{name}", problems, name)
    elif callable(given):
        yield from _made(given, field, problems, None)
    elif isinstance(given, Iterable) and not isinstance(given, (str, bytes)):
        for at, one in enumerate(cast("Iterable[object]", given)):
            yield from _tools_of(one, f"{field}[{at}]", problems)
    else:
        problems.append(wrong(given, field, "must be a tool, a function, a bus, or a list of them"))


def _made(
    function: Any, field: str, problems: list[Problem], name: str | None
) -> Iterator[AnyTool]:
    try:
        if function is finish:
            problems.append(wrong(function, field, "makes a tool and is none: write finish()"))
        elif isinstance(function, Tool):
            yield cast("AnyTool", function).altered(name=name)
        else:
            yield cast("AnyTool", tool(function, name=name))
    except ConfigError as error:
        problems += [one._replace(field=f"{field}: {one.field}") for one in error.problems]


@keywords
def finish(
    schema: Any = None, name: str = "finish", *, description: str | None = None
) -> Tool[..., Any]:
    """Make the tool that a model ends a loop with: its arguments are the answer.

    Args:
        schema: What the answer must be: a type (a pydantic model, a dataclass, `list[str]`), or a
            JSON Schema. An object is given as the arguments; anything else as the one argument
            `answer`. None: any JSON value as `answer`, or whatever other arguments come.
        name: What the model calls it by.
        description: What it is for; a sentence of ours when None.

    Raises:
        ConfigError: For a schema that is none.
        UsageError: For a JSON Schema where the package `jsonschema` is not installed.
    """
    from interlock.spec.answer import of_answer

    arguments, is_whole = of_answer(schema)

    return Tool(
        name=name,
        function=partial(_answer, is_whole),
        # Async: a thread would be a waste.
        call=Call(partial(_awaited_answer, is_whole), takes_ctx=False, is_async=True),
        arguments=arguments,
        source=source_of(finish),
        description="Give the final answer and end." if description is None else description,
        effect="readonly",
        is_finish=True,
    )


def _answer(is_whole: bool, values: dict[str, Any]) -> Any:
    return values if is_whole or values.keys() != {"answer"} else values["answer"]


async def _awaited_answer(is_whole: bool, values: dict[str, Any]) -> Any:
    return _answer(is_whole, values)
