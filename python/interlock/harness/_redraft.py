"""How a draft is made again: what it is called with, and by what."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from interlock.harness._callables import Call, is_async_callable
from interlock.harness._config import wrong
from interlock.harness.work import Part, Work, part_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlock.errors import Problem
    from interlock.harness.refine import RefineRound
    from interlock.record.values import Verdict

__all__ = ["Again", "redraft_of", "takes_feedback"]

_FED_BACK = 4


class Again(NamedTuple):
    """What a draft is made again from.

    Attributes:
        values: The values of the run.
        draft: What made the latest draft returned, as it is.
        verdict: What the judge said of it.
        history: All rounds so far.
    """

    values: object
    draft: object
    verdict: Verdict
    history: tuple[RefineRound, ...]


@dataclass(frozen=True, slots=True)
class _Spread:
    """Calls a function of several arguments with an `Again`."""

    function: Callable[..., Any]

    def __call__(self, again: Again, *ctx: object) -> object:
        return self.function(*again, *ctx)


def redraft_of(given: object, field: str, problems: list[Problem]) -> Part:
    """Read a callable of `(values, draft, verdict, history)`, or of these and a context.

    What does not fit is added to the problems.
    """
    function: object = given.run if isinstance(given, Work) else given
    if not callable(function):
        return part_of(given, field, problems)
    positional, required, is_open = _parameters(function)
    fits = required <= _FED_BACK + 1 and (is_open or len(positional) >= _FED_BACK)
    if not fits:
        message = "must take `(values, draft, verdict, history)`, or these and `ctx`"
        problems.append(wrong(function, field, message))
    fifth = positional[_FED_BACK] if len(positional) > _FED_BACK else None
    takes_ctx = fifth is not None and (fifth.default is fifth.empty or fifth.name == "ctx")
    call = Call(_Spread(function), takes_ctx=takes_ctx, is_async=is_async_callable(function))
    return part_of(given, field, problems, call)


def takes_feedback(given: object) -> bool:
    """Say whether a callable that drafts can be told of the draft before: it may take four."""
    function = given.run if isinstance(given, Work) else given
    return callable(function) and len(_parameters(function)[0]) >= _FED_BACK


def _parameters(function: Callable[..., Any]) -> tuple[list[inspect.Parameter], int, bool]:
    """Give what may be given by position, how many must be, and whether any number may."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [], 0, True
    by_name = [one for one in parameters if one.kind is one.KEYWORD_ONLY]
    positional = [
        one
        for one in parameters
        if one.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    ]
    required = sum(one.default is one.empty for one in positional)
    # One that must be given by name cannot be given at all.
    missed = sum(one.default is one.empty for one in by_name) * (_FED_BACK + 2)
    is_open = any(one.kind is one.VAR_POSITIONAL for one in parameters)
    return positional, required + missed, is_open
