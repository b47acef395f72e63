"""as_reply: what a callable returned, as a Reply."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from hashlib import sha256
from inspect import isawaitable
from typing import Any, cast

from interlock import _core
from interlock.errors import ConfigError, UsageError
from interlock.record._data import Record
from interlock.record._providers import provider_reply
from interlock.record.result import Result
from interlock.record.rollout import SCHEMA, timeless
from interlock.record.values import Reply, ToolCall

__all__ = ["as_json_reply", "as_reply", "data_digest", "plain_data"]

_ROLLOUT = f'"schema":"{SCHEMA}"'
_SCALARS = frozenset((str, int, float, bool, type(None)))
_DEPTH = 100
_STATUS = {"completed": "completed", "incomplete": "incomplete", "paused": "incomplete"}


def as_reply(value: object, *, step: str = "the callable") -> Reply:
    """Turn what a callable returned into a Reply.

    Taken are a Reply, text, None (empty text), a mapping, dataclass or pydantic model (as `data`,
    with its JSON as `output`), the result of a workflow, and the responses of OpenAI, Anthropic,
    pydantic-ai and LangChain, which are known by the paths of their classes.

    Args:
        value: What was returned.
        step: Who returned it, for the error.

    Returns:
        The reply. Its calls have arguments of their own; those that JSON cannot hold are gone, and
        `args_error` says so.

    Raises:
        UsageError: For anything else, naming the step and the type.
    """
    if isinstance(value, Reply):
        return _with_calls(value, step) if value.calls else value
    if isinstance(value, str):
        return Reply(value, raw=value)
    if value is None:
        return Reply()
    reply = _result_reply(value) or provider_reply(value) or _data_reply(value, step)
    return _with_calls(reply, step) if reply.calls else reply


def as_json_reply(value: object, *, step: str = "the callable") -> Reply:
    """Turn what work returned into a Reply: as `as_reply`, and any JSON value as `data`.

    Raises:
        UsageError: For what is no JSON value.
    """
    if value.__class__ in (bool, int, float, list, tuple):
        return Reply(_written(value, step), data=value, raw=value)
    return as_reply(value, step=step)


def plain_data(value: object) -> Any:
    """Copy data to plain JSON data; pydantic models and the records in it write themselves.

    Raises:
        ConfigError: Where JSON cannot hold it.
    """
    if isinstance(value, Record):
        return value.to_dict()
    plain = cast("Any", value).model_dump(mode="json") if _is_model(value) else value
    return _core.plain(_with_records(plain), finite=True)


def data_digest(value: object) -> str:
    """Return the SHA-256 of data in canonical form (RFC 8785), as 64 hexadecimal digits.

    Of a result or rollout in it counts what happened: not when, and not in which run.

    Raises:
        ConfigError: Where JSON cannot hold it.
    """
    # PERF: what is plain already is read in place.
    in_place = type(value) in (str, dict, list)
    text = _core.canonical(_with_records(value) if in_place else plain_data(value))
    if _ROLLOUT in text:
        text = _core.canonical(timeless(plain_data(value)))
    return sha256(text.encode()).hexdigest()


def _with_records(value: object, depth: int = 0) -> object:
    """Write the records in data as they write themselves, which leaves out what is no data."""
    kind = type(value)
    if kind in _SCALARS or (kind is list and _SCALARS.issuperset(map(type, cast("Any", value)))):
        return value
    if depth > _DEPTH:
        # What holds itself is refused here, at once.
        return _core.plain(value)
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        return [_with_records(one, depth + 1) for one in cast("Sequence[object]", value)]
    members = _members(value)
    if members is None:
        return value
    return {name: _with_records(one, depth + 1) for name, one in members}


def _members(value: object) -> Iterable[tuple[object, object]] | None:
    """Give what a mapping or dataclass holds, by name; None for all else."""
    if isinstance(value, Mapping):
        return cast("Mapping[object, object]", value).items()
    if not is_dataclass(value) or isinstance(value, type):
        return None
    names = (field.name for field in fields(value))
    return [(name, getattr(value, name)) for name in names if hasattr(value, name)]


def _with_calls(reply: Reply, step: str) -> Reply:
    """Copy the calls, so that whoever still holds the reply cannot change what is run."""
    return replace(reply, calls=tuple(_call(one, step) for one in reply.calls))


def _call(call: object, step: str) -> ToolCall:
    if not (isinstance(call, ToolCall) and isinstance(cast("object", call.name), str)):
        raise UsageError(
            f"{step} returned {_core.preview(call)} as a call; make it a ToolCall(id, name, args)"
        )
    try:
        args: object = _core.plain(call.args, "arguments", finite=True)
        wrong = None if isinstance(args, dict) else "the arguments are no JSON object"
    except ConfigError as error:
        args, wrong = {}, f"the arguments are no JSON: {error.problems[0]}"
    if wrong is not None:
        return ToolCall(call.id, call.name, {}, call.args_error or wrong)
    return ToolCall(call.id, call.name, cast("dict[str, Any]", args), call.args_error)


def _result_reply(value: object) -> Reply | None:
    if not isinstance(value, Result):
        return None
    status = _STATUS.get(value.status, "failed")
    return Reply(
        value.output or "",
        data=value.data,
        calls=value.calls,
        usage=value.usage,
        status=cast("Any", status),
        error=value.error,
        raw=value,
    )


def _data_reply(value: object, step: str) -> Reply:
    if _is_data(value):
        return Reply(_written(value, step), data=value, raw=value)
    kind = type(value)
    if isawaitable(value):
        raise UsageError(f"{step} returned a {kind.__qualname__} that nobody waits for: await it")
    raise UsageError(
        f"{step} returned a {kind.__module__}.{kind.__qualname__}; return text, a mapping, a "
        "dataclass, a Reply, a workflow's result or a provider's response"
    )


def _written(value: object, step: str) -> str:
    try:
        return _core.to_json(plain_data(value))
    except ConfigError as error:
        raise UsageError(f"{step} returned data that JSON cannot hold: {error}") from None


def _is_data(value: object) -> bool:
    is_object = is_dataclass(value) and not isinstance(value, type)
    return isinstance(value, Mapping) or is_object or _is_model(value)


def _is_model(value: object) -> bool:
    return not isinstance(value, type) and hasattr(value, "model_dump")
