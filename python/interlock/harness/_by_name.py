"""Functions by name: called with arguments by name, and found by the name they stand under."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ByName", "at_name", "label", "name_of", "source_of"]


@dataclass(frozen=True, slots=True)
class ByName:
    """A function that is handed its arguments by name, and its context where it takes one."""

    function: Callable[..., Any]
    context: str | None

    def __call__(self, values: dict[str, Any], ctx: object = None) -> Any:
        """Call the function."""
        if self.context is None:
            return self.function(**values)
        return self.function(**values, **{self.context: ctx})


def label(function: object) -> str:
    """Return what a function calls itself, or a workflow."""
    return cast("str", getattr(function, "__name__", None) or getattr(function, "name", ""))


def source_of(function: object) -> str:
    """Say where a function comes from: module and name."""
    named = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', type(function).__module__)}.{named}"


def name_of(function: object) -> tuple[str, str] | None:
    """Return the module and the name in it that a function says it stands under."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None)
    return (module, name) if isinstance(module, str) and isinstance(name, str) else None


def at_name(module: str, name: str) -> object:
    """Return what stands under a name; None where there is nothing."""
    try:
        return attrgetter(name)(import_module(module))
    except (ImportError, AttributeError):
        return None
