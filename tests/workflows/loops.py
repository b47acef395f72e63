"""Parts of loops for tests: calls, replies, tools that count, turns that remember."""

from __future__ import annotations

from typing import Any

from interlock import Reply, ToolCall, Usage, finish, tool, toolbus
from interlock.harness import LoopState
from interlock.testing import Script, scripted


def call(name: str, ident: str = "", **args: object) -> ToolCall:
    return ToolCall(ident or f"id_{name}", name, args)


def asks(*calls: ToolCall, text: str = "", tokens: int = 0) -> Reply:
    return Reply(text, calls=calls, usage=Usage(tokens))


def says(text: str, tokens: int = 0) -> Reply:
    return Reply(text, usage=Usage(tokens))


class Desk:
    """Tools that remember how often they ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []

        @tool(effect="readonly")
        def lookup(key: str = "") -> str:
            """Look something up."""
            self.ran.append(f"lookup {key}")
            return f"found {key}"

        @tool(effect="destructive")
        def remove(key: str = "") -> str:
            """Remove something."""
            self.ran.append(f"remove {key}")
            return "removed"

        @tool(effect="readonly")
        def broken() -> str:
            """Fail."""
            self.ran.append("broken")
            raise ValueError("no such key")

        def undeclared() -> str:
            """Do who knows what."""
            self.ran.append("undeclared")
            return "done"

        self.lookup, self.remove, self.broken, self.undeclared = lookup, remove, broken, undeclared
        self.bus = toolbus([lookup, remove, broken, undeclared, finish()])


class Turns:
    """A turn that answers from a script, and remembers the states it was given."""

    def __init__(self, *answers: object, repeat: bool = False) -> None:
        self.script: Script = scripted(*answers, repeat=repeat)

    async def __call__(self, state: LoopState) -> object:
        return await self.script(state)

    @property
    def states(self) -> list[LoopState]:
        return [state for state in self.script.calls if isinstance(state, LoopState)]


def paths(result: Any) -> list[str]:
    return [step.path for step in result.rollout.steps]


def statuses(result: Any) -> list[tuple[str, str]]:
    return [(step.name, step.status) for step in result.rollout.steps]
