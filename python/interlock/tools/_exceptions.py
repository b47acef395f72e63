"""What an exception tells of itself, read by its shape: no library is imported for it.

An exception may hold others: those that a wrapper keeps, the one it was raised from, the members
of a group, the one that was being handled. They are asked in this order, each with all that it
holds before the next one; what was merely being handled comes last. The first that carries
something decides, or the first of a kind that tells what it is; when there is none, the first of a
kind that only wraps, such as `requests.ConnectionError`.

Alternatives that were turned down: the innermost exception decides (a wrapper that translates, say
into another status, means what it says); of a group the gravest member decides (which is graver, a
spent quota or a full disk?).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from interlock.tools._exception_evidence import carried_by, provider_of
from interlock.tools._exception_kinds import is_mistake, kind_of, wrapper_kind_of
from interlock.tools._foreign import attribute, called, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["signals_of"]

_MOST = 32
# Where wrappers keep what they wrap: urllib3 and urllib, SQLAlchemy, google.api_core, azure,
# aiohttp.
_HELD = ("reason", "orig", "cause", "inner_exception", "certificate_error", "os_error")


def signals_of(error: BaseException) -> dict[str, object]:
    """Return the signals that an exception, or one that it holds, carries."""
    heard: list[BaseException] = []
    told: dict[str, object] = {}
    for one in _all_of(error):
        heard.append(one)
        told = carried_by(one) or kind_of(one)
        if told:
            break
    else:
        told = next((kind for one in heard if (kind := wrapper_kind_of(one))), told)
    provider = next((name for one in heard if (name := provider_of(one))), None)
    texts = _texts(heard, cast("str | None", told.pop("message", None)), "command" in told)
    given = {"provider": provider, "message": "\n".join(texts) or None, **told}
    return {name: value for name, value in given.items() if value is not None}


def _texts(heard: list[BaseException], output: str | None, is_process: bool) -> list[str]:
    """Collect what was said: by a process, then by each exception down to the one that decided.

    Not read: what a mistake in code says (it quotes names: `unexpected keyword argument
    'timeout'`), what SQLAlchemy says around a database's error (it quotes the query), and what
    subprocess says of a process (it quotes the command line).
    """
    texts = [output] if output else []
    for one in heard[:-1] if is_process else heard:
        text = shown(one)
        is_quoting = is_mistake(one) or attribute(one, "orig") is not None
        if text and not is_quoting and not any(text in known for known in texts):
            texts.append(text)
    return texts


def _all_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and those that it holds, each once, not more than `_MOST`."""
    seen: set[int] = set()
    stack: list[object] = [error]
    handled: list[object] = []
    while (stack or handled) and len(seen) < _MOST:
        one = stack.pop() if stack else handled.pop(0)
        # Not `isinstance`: it asks an object for its class, which may raise.
        if not issubclass(type(one), BaseException) or id(one) in seen:
            continue
        one = cast("BaseException", one)
        seen.add(id(one))
        yield one
        stack += reversed(_held_by(one))
        # A mistake in the code that handles an error is not that error.
        if not attribute(one, "__suppress_context__") and not is_mistake(one):
            handled.append(attribute(one, "__context__"))


def _held_by(error: BaseException) -> list[object]:
    held = [attribute(error, name) for name in _HELD]
    attempt = attribute(error, "last_attempt")
    if called(attempt, "done") is True:
        # tenacity's RetryError: asking an attempt that is not done would wait.
        held.append(called(attempt, "exception"))
    args = attribute(error, "args")
    held += cast("tuple[object, ...]", args)[:2] if isinstance(args, tuple) else ()
    held.append(attribute(error, "__cause__"))
    if issubclass(type(error), BaseExceptionGroup):
        members = attribute(error, "exceptions")
        held += cast("tuple[object, ...]", members)[:_MOST] if isinstance(members, tuple) else ()
    return held
