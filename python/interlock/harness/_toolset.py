"""What was passed as the tools of a loop: a bus, or any object with `invoke`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interlock import _core
from interlock.errors import UsageError
from interlock.harness._callables import Call, call_of, label_of
from interlock.harness._config import wrong
from interlock.harness.toolbus import ToolBus
from interlock.record.values import EFFECTS, Effect

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlock.errors import Problem

__all__ = ["Toolset", "read_tools"]

_EFFECTS = (None, *EFFECTS)


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
    def names(self) -> tuple[str, ...] | None:
        """The names of the tools; None where nobody tells."""
        names = getattr(self.given, "names", None)
        return None if names is None else tuple(names)

    def effect(self, name: str) -> Effect | None:
        """Return what a tool declared; None when it declared nothing, or cannot.

        Raises:
            UsageError: When it is told as something that is no effect.
        """
        told = self._told("effect", name)
        if told not in _EFFECTS:
            shown = _core.preview(told)
            raise UsageError(
                f"the effect of tool {_core.preview(name)} is told as {shown}; it must be one of "
                f"{', '.join(map(str, _EFFECTS))}"
            )
        return told

    def is_idempotent(self, name: str) -> bool:
        """Say whether calling a tool again with the same key does no harm."""
        return self._told("is_idempotent", name) is True

    def is_finish(self, name: str) -> bool:
        """Say whether a call of a tool ends the loop."""
        return getattr(self._told("get", name), "is_finish", False) is True

    def config(self) -> object:
        """Return what they are, as data."""
        return self.given.pin() if isinstance(self.given, ToolBus) else label_of(self.given)

    def _told(self, method: str, name: str) -> object:
        ask: Callable[[str], Any] | None = getattr(self.given, method, None)
        return ask(name) if callable(ask) else None


def read_tools(given: object, problems: list[Problem]) -> Toolset:
    """Read what was passed as tools; what cannot be invoked is added to the problems."""
    tools = ToolBus(()) if given is None else given
    invoke = getattr(tools, "invoke", None)
    if not callable(invoke):
        message = "must have a method `invoke(call)`, as toolbus([...]) has"
        problems.append(wrong(given, "tools", message))
        return Toolset(tools, Call(_nothing, takes_ctx=False, is_async=False))
    return Toolset(tools, call_of(invoke, "tools.invoke", problems))


def _nothing(_call: object) -> None:
    """Stand for an `invoke` that is none."""
