"""The decision tools in the form a model harness takes: `call` and `definitions`.

Each tool has a room of its own below; their functions and classes are public in `interlock`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from interlock.tools._model_tools import call, definitions

__all__ = ["call", "definitions"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from interlock.tools import _model_tools

        return getattr(_model_tools, name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
