"""What was passed as the tools of a loop: a bus, or any object with `invoke`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock.harness._callables import Call, call_of, label_of
from interlock.harness._config import wrong
from interlock.harness.toolbus import ToolBus

if TYPE_CHECKING:
    from interlock.errors import Problem
    from interlock.record.values import Effect

__all__ = ["Toolset", "read_tools"]


@dataclass(frozen=True, slots=True)
class Toolset:
    """Tools as a loop uses them.

    Attributes:
        given: What was passed.
        call: How it is invoked.
    """

    given: object
    call: Call

    @property
    def bus(self) -> ToolBus | None:
        """The bus; None for any other object, which declares nothing, whatever it says."""
        return self.given if isinstance(self.given, ToolBus) else None

    def effect(self, name: str) -> Effect | None:
        """Return what a tool declared; None when it declared nothing, or cannot."""
        return None if self.bus is None else self.bus.effect(name)

    def is_idempotent(self, name: str) -> bool:
        """Say whether calling a tool again with the same key does no harm."""
        return self.bus is not None and self.bus.is_idempotent(name)

    def is_finish(self, name: str) -> bool:
        """Say whether a call of a tool ends the loop."""
        found = None if self.bus is None else self.bus.get(name)
        return found is not None and found.is_finish

    def config(self) -> object:
        """Return what they are, as data."""
        return label_of(self.given) if self.bus is None else self.bus.pin()


def read_tools(given: object, problems: list[Problem]) -> Toolset:
    """Read what was passed as tools; what cannot be invoked is added to the problems."""
    tools = ToolBus(()) if given is None else given
    invoke = getattr(tools, "invoke", None)
    if callable(invoke) and not isinstance(tools, type):
        return Toolset(tools, call_of(invoke, "tools.invoke", problems))
    problems.append(wrong(given, "tools", "must have `invoke(call)`, as toolbus([...]) has"))
    return Toolset(tools, Call(_nothing, takes_ctx=False, is_async=False))


def _nothing(_call: object) -> None:
    """Stand for an `invoke` that is none."""
