"""What a model is told: an error without paths and tracebacks, an output within bounds."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from interlock import _core
from interlock.record.values import ErrorInfo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlock.errors import Problem

__all__ = ["cut", "error_of", "listed", "not_called", "shown"]

_LISTED = 100
_TRACEBACK = "Traceback (most recent call last)"
_PLACE = re.compile(
    # A drive or a home, folders, and the last `/`; not what follows a word, as in a URL.
    r"(?<![\w.:/\\~-])(?:[A-Za-z]:|~[\w-]*|\\)?(?:[/\\][^\s/\\'\"`<>|*?,;()]+)+[/\\]"
)


def error_of(error: BaseException) -> ErrorInfo:
    """Describe what a tool raised, classified; without the folders of paths and without traceback.

    A path tells a model, and whoever writes to it, what the machine looks like. The names of files
    stay, since they are what the message is about.
    """
    info = ErrorInfo.of(error)
    message = info.message
    for name in (getattr(error, "filename", None), getattr(error, "filename2", None)):
        if isinstance(error, OSError) and isinstance(name, str):
            # As it is quoted there, blanks and all.
            message = message.replace(repr(name)[1:-1], re.split(r"[/\\]", name)[-1])
    return replace(info, message=shown(message))


def shown(message: str) -> str:
    """Return a message as a model may read it."""
    before, traceback, after = message.partition(_TRACEBACK)
    if traceback:
        lines = [line for line in after.splitlines() if line.strip()]
        message = f"{before.strip()} {lines[-1].strip() if lines else ''}".strip()
    return _PLACE.sub("\N{HORIZONTAL ELLIPSIS}/", message)


def not_called(kind: str, message: str, cls: str = "bad_request") -> ErrorInfo:
    """Describe a call that was refused before the tool was entered."""
    return ErrorInfo(kind, message, cls, "escalate", source="interlock")


def listed(problems: Sequence[Problem]) -> str:
    """Write all problems on lines of their own."""
    lines = [str(problem) for problem in problems[:_LISTED]]
    left = len(problems) - len(lines)
    return "\n".join([*lines, f"and {left} more"] if left else lines)


def cut(output: object, most: int | None) -> tuple[object, int | None]:
    """Cut an output to so many characters; of what length it was, None where it is whole."""
    if most is None:
        return output, None
    text = output if isinstance(output, str) else _core.to_json(output)
    if len(text) <= most:
        return output, None
    return text[:most], len(text)
