"""One call of a tool: arguments read, the tool called, what comes of it as a result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from interlock import _core
from interlock.errors import ConfigError
from interlock.harness._clock import SystemClock
from interlock.harness._frame import current_frame
from interlock.harness._nesting import one_deeper
from interlock.harness._told import cut, error_of, listed, not_called, shown
from interlock.harness.limits import RunRefused, Stopped
from interlock.record.reply import as_json_reply, plain_data
from interlock.record.result import Result
from interlock.record.usage import NOTHING
from interlock.record.values import ErrorInfo, Reply, ToolCall, ToolResult

if TYPE_CHECKING:
    from interlock.harness._frame import Frame
    from interlock.harness.ctx import Ctx
    from interlock.harness.tool import Tool
    from interlock.record.usage import Usage
    from interlock.record.values import ToolStatus

__all__ = ["Unanswered", "failed", "invoke"]

_DOUBT = "; it may or may not have happened: find out before you call it again"
_RAN = "the call ran to its end, so do not repeat it for this"


class Unanswered(Exception):
    """A call went out, and no answer came: the connection was lost."""


async def invoke(tool: Tool[..., Any], call: ToolCall, ctx: Ctx | None) -> ToolResult:
    """Call a tool; whatever goes wrong is a result."""
    if call.args_error is not None:
        message = f"the arguments could not be read: {shown(str(call.args_error))}"
        return failed(call, not_called("invalid_arguments", message), tool)
    values, refusal = _read(tool, call)
    if refusal is not None:
        return failed(call, refusal, tool)
    frame = current_frame.get()
    try:
        with one_deeper(f"tool `{tool.name}`"):
            value, is_late = await _called(tool, values, ctx, frame)
    except (Stopped, RunRefused):
        # No failure of the tool: the run around it ends.
        raise
    except Exception as error:  # noqa: BLE001 (a failed tool is a result for the next turn to read)
        return _raised(call, tool, error)
    if is_late:
        if frame is not None:
            frame.abandon()
        return _raised(call, tool, TimeoutError(f"no answer within {tool.timeout:g} s"))
    return _answered(call, tool, value, frame)


def _read(tool: Tool[..., Any], call: ToolCall) -> tuple[dict[str, Any], ErrorInfo | None]:
    """Read the arguments; every fault of them is in the refusal."""
    try:
        args = cast("dict[str, Any]", _core.plain(dict(call.args), "arguments", finite=True))
    except ConfigError as error:
        return {}, not_called("invalid_arguments", listed(error.problems))
    except Exception as error:  # noqa: BLE001 (arguments that are no mapping)
        return {}, not_called("invalid_arguments", f"no arguments by name: {error}")
    values, problems = tool.arguments.read(args)
    return values, not_called("invalid_arguments", listed(problems)) if problems else None


async def _called(
    tool: Tool[..., Any], values: dict[str, Any], ctx: Ctx | None, frame: Frame | None
) -> tuple[object, bool]:
    """Call, and say whether the time was over first."""
    run = None if frame is None else frame.walk.run
    if tool.timeout is None:
        return await tool.call.work(values, ctx, run), False
    clock = SystemClock() if run is None else run.clock
    value: object = None
    with clock.limit(tool.timeout) as scope:
        value = await tool.call.work(values, ctx, run)
    return value, scope.cancelled_caught


def _raised(call: ToolCall, tool: Tool[..., Any], error: Exception) -> ToolResult:
    """Make a result of what was raised: after a timeout nobody knows whether it happened."""
    info = error_of(error)
    is_open = isinstance(error, (TimeoutError, Unanswered)) or info.cls == "timeout"
    if is_open and not tool.may_repeat:
        return _result(call, tool, "in_doubt", _said(info) + _DOUBT, error=info)
    return failed(call, info, tool)


def _answered(
    call: ToolCall, tool: Tool[..., Any], value: object, frame: Frame | None
) -> ToolResult:
    try:
        reply = as_json_reply(value, step=tool.name)
        output = _output(value, reply)
    except Exception as error:  # noqa: BLE001 (what was returned may be anything)
        said = f"{error_of(error).message}; {_RAN}"
        info = ErrorInfo("unreadable_output", said, "bug", source="interlock")
        return failed(call, info, tool)
    usage = NOTHING if _is_counted(value, reply, frame) else reply.usage
    if frame is not None and reply.meta.get("usage_missing"):
        frame.is_unmetered = True
    if reply.status == "failed":
        info = reply.error or ErrorInfo("failed", reply.output)
        return failed(call, _clean(info), tool, usage)
    output, length = cut(output, tool.max_output)
    if length is None:
        return _result(call, tool, "completed", output, usage=usage)
    said = f"cut: the first {tool.max_output} of {length} characters; {_RAN}"
    info = ErrorInfo("output_too_long", said, "too_large", "reduce_input", source="interlock")
    return _result(call, tool, "failed", f"{output}\n[{said}]", error=info, usage=usage)


def _output(value: object, reply: Reply) -> object:
    """Give what a model is shown: data as data, the rest as text."""
    if value is None:
        return None
    if reply.data is None:
        return reply.output
    return _core.plain(plain_data(reply.data), "output", finite=True)


def _is_counted(value: object, reply: Reply, frame: Frame | None) -> bool:
    """Say whether the run has counted what an answer used: it came from a step or run inside."""
    if frame is None:
        return False
    if isinstance(value, Result):
        return any(walk.ended is value.rollout for walk in frame.nested)
    return frame.has_counted(value) or frame.has_counted(reply)


def failed(
    call: ToolCall, error: ErrorInfo, tool: Tool[..., Any] | None = None, usage: Usage = NOTHING
) -> ToolResult:
    """Make a failed result that tells the model why."""
    return _result(call, tool, "failed", _said(error), error=error, usage=usage)


def _said(error: ErrorInfo) -> str:
    return f"{error.type}: {error.message}" if error.message else error.type


def _clean(error: ErrorInfo) -> ErrorInfo:
    return replace(error, message=shown(error.message))


def _result(
    call: ToolCall,
    tool: Tool[..., Any] | None,
    status: ToolStatus,
    output: object,
    *,
    error: ErrorInfo | None = None,
    usage: Usage = NOTHING,
) -> ToolResult:
    effect = None if tool is None else tool.effect
    return ToolResult(call.id, call.name, status, output, error, effect, usage)
