"""What an exception tells of itself, read by its shape: no library is imported for it."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["signals_of"]

_DEEPEST = 8
_TEXT = 64_000

# Kinds that have no code of their own, as the error number nearest to them.
_KINDS = {
    "TimeoutError": "ETIMEDOUT",
    "Timeout": "ETIMEDOUT",
    "TimeoutException": "ETIMEDOUT",
    "TimeoutExpired": "ETIMEDOUT",
    "APITimeoutError": "ETIMEDOUT",
    "HTTPClientTimeoutError": "ETIMEDOUT",
    "ConnectTimeoutError": "ETIMEDOUT",
    "ReadTimeoutError": "ETIMEDOUT",
    "FileNotFoundError": "ENOENT",
    "FileExistsError": "EEXIST",
    "PermissionError": "EACCES",
    "IsADirectoryError": "EISDIR",
    "NotADirectoryError": "ENOTDIR",
    "BlockingIOError": "EAGAIN",
    "BrokenPipeError": "EPIPE",
    "ConnectionResetError": "ECONNRESET",
    "ConnectionAbortedError": "ECONNABORTED",
    "ConnectionRefusedError": "ECONNREFUSED",
    "MemoryError": "ENOMEM",
    "NameResolutionError": "EAI_AGAIN",
    "RemoteProtocolError": "ECONNRESET",
    "ProtocolError": "ECONNRESET",
    "ChunkedEncodingError": "ECONNRESET",
    "IncompleteRead": "ECONNRESET",
    "ReadError": "ECONNRESET",
    "WriteError": "ECONNRESET",
    "ConnectionClosedError": "ECONNRESET",
    "ConnectError": "ECONNREFUSED",
    "ConnectionError": "ECONNREFUSED",
    "NewConnectionError": "ECONNREFUSED",
    "EndpointConnectionError": "ECONNREFUSED",
    "APIConnectionError": "ECONNREFUSED",
}
# What OpenSSL's verification says (openssl-verification-options(1)), as the codes of the table.
_CERTIFICATES = {
    10: "CERT_HAS_EXPIRED",
    18: "DEPTH_ZERO_SELF_SIGNED_CERT",
    19: "SELF_SIGNED_CERT_IN_CHAIN",
    62: "ERR_TLS_CERT_ALTNAME_INVALID",
}
# What looking up a name says (getaddrinfo(3)), with the numbers of Linux, macOS and Windows.
_LOOK_UPS = {
    **dict.fromkeys((-3, 2, 11002), "EAI_AGAIN"),
    **dict.fromkeys((-2, -5, 8, 7, 11001, 11004), "ENOTFOUND"),
}


def signals_of(error: BaseException) -> dict[str, object]:
    """Return the signals that an exception carries, or the first of its causes that does."""
    told: dict[str, object] = {}
    for one in _causes(error):
        told = _carried(one)
        if told:
            break
    else:
        kinds = (_kind(one) for one in _causes(error))
        told = next((kind for kind in kinds if kind), told)
    message = told.pop("message", None) or _text_of(error)
    return {**told, "message": message} if message else told


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, what it was raised from, what it wraps; each once."""
    seen: set[int] = set()
    queue: list[object] = [error]
    while queue and len(seen) < _DEEPEST:
        one = queue.pop(0)
        if not isinstance(one, BaseException) or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        queue += [one.__cause__, _get(one, "reason"), *one.args[:2]]
        if not one.__suppress_context__:
            queue.append(one.__context__)


def _carried(error: BaseException) -> dict[str, object]:
    """Read an answer, a process or an error number; nothing when there is none of them."""
    found = _answer(error) or _process(error) or _number(error)
    return {name: value for name, value in found.items() if value is not None}


def _answer(error: BaseException) -> dict[str, object]:
    response = _get(error, "response")
    if isinstance(response, Mapping):
        return _of_botocore(cast("Mapping[str, object]", response))
    status = _whole(_first(error, "status_code", "status", "http_status"))
    if status is None:
        status = _whole(_first(response, "status_code", "status"))
    code = _get(error, "code")
    if status is None and _get(error, "headers") is not None:
        # urllib's HTTPError keeps the status there.
        status = _whole(code)
    body = _body(error, response)
    if status is None and body is None:
        return {}
    headers = _get(response, "headers")
    headers = _get(error, "headers") if headers is None else headers
    return {
        "status": status,
        "headers": _headers(headers),
        "body": body,
        "code": code if isinstance(code, str) else None,
    }


def _of_botocore(response: Mapping[str, object]) -> dict[str, object]:
    """Read botocore's ClientError.response: `Error` and `ResponseMetadata`."""
    told, about = _mapping(response.get("Error")), _mapping(response.get("ResponseMetadata"))
    if not told:
        return {}
    code = told.get("Code")
    return {
        "provider": "aws",
        "status": _whole(about.get("HTTPStatusCode")),
        "headers": _headers(about.get("HTTPHeaders")),
        "body": {"error": dict(told)},
        "code": code if isinstance(code, str) else None,
    }


def _process(error: BaseException) -> dict[str, object]:
    command = _get(error, "cmd")
    if isinstance(command, (list, tuple)):
        command = " ".join(str(word) for word in cast("list[object]", command))
    if not isinstance(command, str):
        return {}
    returned = _whole(_get(error, "returncode"))
    said = {
        "command": command,
        "message": _decoded(_get(error, "stderr")),
        "stdout": _decoded(_get(error, "stdout")),
    }
    if returned is None:
        # It was stopped because its time was over.
        return {**said, "errno": _KINDS["TimeoutExpired"]} if _kind(error) else {}
    if returned >= 0:
        return {**said, "exitCode": returned}
    return {**said, "signal": _signal_name(-returned)}


def _number(error: BaseException) -> dict[str, object]:
    if not isinstance(error, OSError):
        return {}
    names = {kind.__name__ for kind in type(error).__mro__}
    if "SSLError" in names:
        # Its number is one of the TLS library, not of the system.
        verified = _whole(_get(error, "verify_code"))
        unknown = "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
        return {} if not verified else {"errno": _CERTIFICATES.get(verified, unknown)}
    number = error.errno
    if not isinstance(number, int):
        return {}
    if "gaierror" in names:
        return {"errno": _LOOK_UPS.get(number)}
    return {"errno": errno.errorcode.get(number)}


def _signal_name(number: int) -> str | None:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return None


def _kind(error: BaseException) -> dict[str, object]:
    """Read an exception that carries nothing by its kind."""
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "CancelledError":
        return {"signal": "SIGINT"}
    names = (kind.__name__ for kind in type(error).__mro__)
    code = next((_KINDS[name] for name in names if name in _KINDS), None)
    return {} if code is None else {"errno": code}


def _body(error: BaseException, response: object) -> object:
    for owner, name in (
        (error, "body"),
        (response, "text"),
        (response, "content"),
        (error, "data"),
    ):
        body = _get(owner, name)
        if isinstance(body, (str, bytes)) and body:
            return body[: 1 << 20]
        if isinstance(body, (Mapping, list)):
            return cast("object", body)
    return None


def _headers(headers: object) -> dict[str, object] | None:
    items = _get(headers, "items")
    if not callable(items):
        return None
    try:
        pairs = cast("Mapping[object, object]", headers).items()
        return {str(name): str(value) for name, value in pairs}
    except Exception:  # noqa: BLE001 (whatever somebody's headers raise: they are not there)
        return None


def _text_of(error: BaseException) -> str | None:
    try:
        return str(error)[:_TEXT] or None
    except Exception:  # noqa: BLE001 (whatever somebody's exception raises: it says nothing)
        return None


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _decoded(text: object) -> str | None:
    if isinstance(text, bytes):
        return text.decode("utf-8", "replace")
    return text if isinstance(text, str) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _first(owner: object, *names: str) -> object:
    return next((value for name in names if (value := _get(owner, name)) is not None), None)


def _get(owner: object, name: str) -> object:
    """Get an attribute; None when it is not there, or when asking for it raises."""
    try:
        return cast("object", getattr(owner, name, None))
    except Exception:  # noqa: BLE001 (an answer that was not read yet, and the like)
        return None
