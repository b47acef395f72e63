"""mcp_tools: the tools of an MCP server on a bus.

The session is known by what it can do, so that the package `mcp` is not imported: a `ClientSession`
or `Client`, of its versions 1 and 2.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple, cast

from anyio import BrokenResourceError, ClosedResourceError, EndOfStream, lowlevel

from interlock import _core
from interlock.errors import ConfigError, Problem
from interlock.harness._callables import Call
from interlock.harness._cancelled import CancelledError, no_false_cancellation
from interlock.harness._clock import SystemClock
from interlock.harness._config import keywords, raise_problems, seconds_problems, wrong
from interlock.harness._declare import effect_of_hints
from interlock.harness._invoke import Unanswered
from interlock.harness.tool import Tool
from interlock.harness.toolbus import ToolBus
from interlock.record.values import EFFECTS, Effect
from interlock.spec.arguments import of_schema

__all__ = ["mcp_tools"]

_PAGES_LIMIT = 1_000
_TOOLS_LIMIT = 10_000
_LOST = (-32000, -32001, 408)
"""Codes of the package mcp for a connection that was closed, and an answer that did not come; the
last is what version 1 says of its own timeout."""
_LOST_KINDS = (
    ConnectionError,
    EndOfStream,
    ClosedResourceError,
    BrokenResourceError,
    CancelledError,
)


class ToolError(Exception):
    """A tool of a server says that it failed."""


@keywords
async def mcp_tools(
    session: Any,
    *,
    trust_hints: bool = False,
    prefix: str | None = None,
    effects: Mapping[str, Effect | None] | None = None,
    only: Collection[str] | None = None,
    timeout: float | None = 60.0,  # noqa: ASYNC109 (of each call too)
    max_output: int | None = None,
) -> ToolBus:
    """List the tools of an MCP server, and put them on a bus.

    What a server says of its tools are hints, which anybody can write: they count only where
    *trust_hints* says so. Without it every effect is None, unless *effects* says otherwise.
    Arguments are checked by the server's schema, within bounds, before they are sent.

    Args:
        session: A connected `ClientSession` or `Client` of the package `mcp`.
        trust_hints: Whether `readOnlyHint`, `destructiveHint` and `idempotentHint` count.
        prefix: Stands before each name. In a name every character that is no letter, digit, `_` or
            `-` becomes `_`, since providers refuse it.
        effects: Your own effects by the server's names; they outrank its hints.
        only: The server's names of the tools that are wanted; all when None.
        timeout: Seconds for the listing, and for each call; None for no limit.
        max_output: Characters of output that a model is shown, as in `tool`.

    Raises:
        ConfigError: With every problem found: two tools of one name, an effect for a tool that
            there is not, a schema that cannot be checked within bounds.
        TimeoutError: When the server does not list its tools in time.
        UsageError: Where the package `jsonschema` is not installed.
    """
    problems = [*seconds_problems(timeout, "timeout"), *_effect_problems(effects)]
    if not callable(getattr(session, "list_tools", None)):
        problems.append(wrong(session, "session", "must be a ClientSession or Client of mcp"))
    if prefix is not None and not isinstance(prefix, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        problems.append(wrong(prefix, "prefix", "must be a text, or None"))
    raise_problems(problems)
    server = _Server(session, effects or {}, trust_hints, prefix or "", timeout, max_output)
    if timeout is None:
        return ToolBus(await server.tools(only), name=server.name)
    with SystemClock().limit(timeout):
        return ToolBus(await server.tools(only), name=server.name)
    raise TimeoutError(f"{server.name} did not list its tools within {timeout:g} s")


class _Server(NamedTuple):
    """A server, and what counts of what it says."""

    session: Any
    effects: Mapping[str, Effect | None]
    trust_hints: bool
    prefix: str
    timeout: float | None
    max_output: int | None

    @property
    def name(self) -> str:
        try:
            return f"MCP server {self.session.server_info.name}"
        except Exception:  # noqa: BLE001 (a name for errors, which some sessions do not tell)
            return "MCP server"

    async def tools(self, only: Collection[str] | None) -> list[Tool[..., Any]]:
        """Make tools of what the server lists."""
        told = await _pages(self.session)
        listed = {str(one.name): one for one in told}
        problems = [
            Problem("spec/duplicate-name", "session", _core.preview(name), "two tools have it")
            for name, count in Counter(str(one.name) for one in told).items()
            if count > 1 and (only is None or name in only)
        ]
        problems += _unknown(self.effects, "effects", listed) + _unknown(only or (), "only", listed)
        made: list[Tool[..., Any]] = []
        for name, one in listed.items():
            if only is None or name in only:
                try:
                    made.append(self._tool(name, one))
                except ConfigError as error:
                    problems += [
                        found._replace(field=f"{name}.{found.field}") for found in error.problems
                    ]
                # A large schema takes a while to look through.
                await lowlevel.checkpoint()
        raise_problems(problems)
        return made

    def _tool(self, name: str, told: Any) -> Tool[..., Any]:
        effect, idempotent = _hinted(told) if self.trust_hints else (None, None)
        call = _caller(self.session, name)
        return Tool(
            name=self.prefix + re.sub(r"[^A-Za-z0-9_-]", "_", name),
            function=call,
            call=Call(_called(call), takes_ctx=False, is_async=True),
            arguments=of_schema(_one_of(told, "input_schema", "inputSchema") or {}),
            source=f"{self.name}, tool {_core.preview(name)}",
            description=told.description or "",
            effect=self.effects.get(name, effect),
            idempotent=idempotent,
            timeout=self.timeout,
            max_output=self.max_output,
        )


def _effect_problems(effects: object) -> list[Problem]:
    if effects is None:
        return []
    if not isinstance(effects, Mapping):
        return [wrong(effects, "effects", "must be a mapping of names to effects, or None")]
    message = f"must be one of {', '.join(EFFECTS)}, or None"
    return [
        Problem("spec/unknown-choice", f"effects.{name}", _core.preview(effect), message)
        for name, effect in cast("Mapping[str, object]", effects).items()
        if effect is not None and effect not in EFFECTS
    ]


def _unknown(names: Iterable[str], field: str, listed: Mapping[str, object]) -> list[Problem]:
    known = list(listed)
    return [
        Problem(
            "spec/unknown-choice",
            field,
            _core.preview(name),
            f"no tool of this server (known: {', '.join(known[:100])})",
        )
        for name in names
        if name not in listed
    ]


async def _pages(session: Any) -> list[Any]:
    """Read page after page; a listing without an end has one here."""
    tools: list[Any] = []
    page = await session.list_tools()
    seen: set[str] = set()
    while True:
        tools += page.tools
        cursor: str | None = _one_of(page, "next_cursor", "nextCursor")
        if cursor is None:
            return tools
        if cursor in seen or len(seen) >= _PAGES_LIMIT or len(tools) > _TOOLS_LIMIT:
            message = f"the listing has no end after {len(tools)} tools"
            raise ConfigError((Problem("spec/over-limit", "session", None, message),))
        seen.add(cursor)
        page = await _next_page(session, page, cursor)


async def _next_page(session: Any, page: object, cursor: str) -> Any:
    listing: Callable[..., Awaitable[Any]] = session.list_tools
    if "cursor" in inspect.signature(listing).parameters:
        return await listing(cursor=cursor)
    # Its parameters are a class beside that of the page.
    params: Any = vars(sys.modules[type(page).__module__])["PaginatedRequestParams"]
    return await listing(params=params(cursor=cursor))


def _one_of(value: object, name: str, older: str) -> Any:
    """Read a field by the name of version 2 or of version 1."""
    return getattr(value, name) if hasattr(value, name) else getattr(value, older, None)


def _hinted(told: Any) -> tuple[Effect | None, bool | None]:
    given = told.annotations
    hints = {
        "readOnlyHint": _one_of(given, "read_only_hint", "readOnlyHint"),
        "destructiveHint": _one_of(given, "destructive_hint", "destructiveHint"),
    }
    idempotent = _one_of(given, "idempotent_hint", "idempotentHint")
    # What is no yes and no no says nothing, as of the others.
    return effect_of_hints(hints), idempotent if type(idempotent) is bool else None


def _caller(session: Any, name: str) -> Callable[..., Awaitable[object]]:
    async def call(**arguments: object) -> object:
        try:
            with no_false_cancellation():
                result = await session.call_tool(name, arguments)
        except Exception as error:
            if isinstance(error, _LOST_KINDS) or _code_of(error) in _LOST:
                raise Unanswered(str(error) or type(error).__name__) from error
            raise
        try:
            texts, others = _content(result)
        except (AttributeError, TypeError) as error:
            raise Unanswered(f"the answer is no result of a tool: {error}") from error
        if _one_of(result, "is_error", "isError"):
            raise ToolError("\n".join([*texts, *others]) or "the tool says that it failed")
        return _output(texts, others, _one_of(result, "structured_content", "structuredContent"))

    return call


def _code_of(error: Exception) -> object:
    """Read the code of an error of the package mcp: its own, or beside it in version 1."""
    return getattr(error, "code", getattr(getattr(error, "error", None), "code", None))


def _called(call: Callable[..., Awaitable[object]]) -> Callable[[dict[str, Any]], Any]:
    async def called(values: dict[str, Any]) -> object:
        return await call(**values)

    return called


def _content(result: Any) -> tuple[list[str], list[str]]:
    """Give the texts of a result, those of embedded resources too, and what else, by its type."""
    texts: list[str] = []
    others: list[str] = []
    for block in result.content or ():
        held = block.resource if block.type == "resource" else block
        if block.type == "text" or hasattr(held, "text"):
            texts.append(str(held.text))
        else:
            kind = _one_of(held, "mime_type", "mimeType")
            others.append(f"[{block.type} {kind}]" if kind else f"[{block.type}]")
    return texts, others


def _output(texts: list[str], others: list[str], structured: object) -> object:
    """Make one output of a result: data where the texts only say it again, else all of it."""
    if structured is not None:
        if not others and (not texts or _repeats(texts, structured)):
            return structured
        others = [*others, _core.to_json(_core.plain(structured))]
    return "\n".join([*texts, *others])


def _repeats(texts: list[str], structured: object) -> bool:
    """Say whether texts are data written once more, also where a server wraps a `result`."""
    read = [_read(text) for text in texts]
    wrapped = [{"result": one} for one in (texts, read, texts[0], read[0])]
    return structured in (read[0], *wrapped)


def _read(text: str) -> object:
    try:
        return _core.Json(text).to_python()
    except ConfigError:
        return text
