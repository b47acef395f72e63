"""What the kind of an exception says, where it carries nothing: by the names of its classes."""

from __future__ import annotations

import errno

from interlock.tools._foreign import attribute, shown, whole

__all__ = ["is_mistake", "kind_of", "number_of", "wrapper_kind_of"]

# Names of classes, whatever library they are of, as the code nearest to them; the first name of
# the method resolution order that stands here decides. An empty code: the kind says nothing.
_KINDS = {
    **dict.fromkeys(
        (
            "TimeoutError",
            "Timeout",
            "TimeoutException",
            "TimeoutExpired",
            "APITimeoutError",
            "ConnectTimeout",
            "ConnectTimeoutError",
            "ReadTimeout",
            "ReadTimeoutError",
            "WriteTimeout",
            "PoolTimeout",
            "ServerTimeoutError",
            "HTTPTimeoutError",
            "ServiceRequestTimeoutError",
            "ServiceResponseTimeoutError",
            "NetworkTimeout",
            "ExecutionTimeout",
            "WTimeoutError",
            "WaitQueueTimeoutError",
            "ServerSelectionTimeoutError",
        ),
        "ETIMEDOUT",
    ),
    **dict.fromkeys(
        (
            "ConnectionResetError",
            "RemoteProtocolError",
            "ServerDisconnectedError",
            "ClientPayloadError",
            "IncompleteRead",
            "IncompleteReadError",
            "ConnectionClosedError",
            "ResponseStreamingError",
            "SSLEOFError",
            "SSLZeroReturnError",
        ),
        "ECONNRESET",
    ),
    "ConnectionAbortedError": "ECONNABORTED",
    "ConnectionRefusedError": "ECONNREFUSED",
    "BrokenPipeError": "EPIPE",
    "FileNotFoundError": "ENOENT",
    "FileExistsError": "EEXIST",
    "PermissionError": "EACCES",
    "IsADirectoryError": "EISDIR",
    "NotADirectoryError": "ENOTDIR",
    "BlockingIOError": "EAGAIN",
    "MemoryError": "ENOMEM",
    # redis and pymongo: subclasses of what is retried that must not be.
    "AuthenticationError": "authentication_error",
    "AuthenticationWrongNumberOfArgsError": "authentication_error",
    "AuthorizationError": "permission_error",
    "NoPermissionError": "permission_error",
    "MaxConnectionsError": "EMFILE",
    "TryAgainError": "EAGAIN",
    "DuplicateKeyError": "EEXIST",
}
# Kinds that mostly hold another exception, which knows more: asked when nothing else says anything.
_WRAPPERS = {
    **dict.fromkeys(
        (
            "ConnectionError",
            "ConnectError",
            "NewConnectionError",
            "EndpointConnectionError",
            "ClientConnectorError",
            "ServiceRequestError",
            "APIConnectionError",
            "ProxyError",
        ),
        "ECONNREFUSED",
    ),
    **dict.fromkeys(
        (
            "ProtocolError",
            "ChunkedEncodingError",
            "ReadError",
            "WriteError",
            "HTTPClientError",
            "ServerConnectionError",
            "ServiceResponseError",
            "AutoReconnect",
        ),
        "ECONNRESET",
    ),
    "NameResolutionError": "EAI_AGAIN",
    "ClientConnectorDNSError": "EAI_AGAIN",
    "LocalProtocolError": "",
    "SSLError": "",
}
# Codes that are no error numbers.
_CODES = {"authentication_error", "permission_error"}
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
    **dict.fromkeys((-2, -5, 1, 8, 7, 11001, 11004), "ENOTFOUND"),
}
# The results of SQLite, of which the extended ones begin with these (sqlite.org/rescode.html).
_SQLITE = {
    "SQLITE_BUSY": "EBUSY",
    "SQLITE_LOCKED": "EBUSY",
    "SQLITE_FULL": "ENOSPC",
    "SQLITE_READONLY": "EROFS",
    "SQLITE_NOMEM": "ENOMEM",
    "SQLITE_CONSTRAINT": "EEXIST",
}
_MISTAKES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    NotImplementedError,
    SyntaxError,
    TypeError,
)
_CANCELLED = {"KeyboardInterrupt", "CancelledError", "Cancelled"}


def kind_of(error: BaseException) -> dict[str, object]:
    """Read a kind that tells what it is."""
    names = _names(error)
    if not _CANCELLED.isdisjoint(names):
        return {"signal": "SIGINT"}
    return _nearest(names, _KINDS, _WRAPPERS)


def wrapper_kind_of(error: BaseException) -> dict[str, object]:
    """Read a kind that tells little."""
    return _nearest(_names(error), _WRAPPERS, _KINDS)


def is_mistake(error: BaseException) -> bool:
    """Whether it is one of Python's own kinds for a mistake in code, such as TypeError."""
    return issubclass(type(error), _MISTAKES) and type(error).__module__ == "builtins"


def number_of(error: BaseException) -> dict[str, object]:
    """Read the error number of a system call, of TLS, of a look-up of a name, of SQLite."""
    result = attribute(error, "sqlite_errorname")
    if isinstance(result, str):
        found = (code for name, code in _SQLITE.items() if result.startswith(name))
        return {"errno": next(found, None)}
    if not issubclass(type(error), OSError):
        return {}
    names = _names(error)
    if "SSLError" in names:
        # Its number is one of the TLS library, not of the system.
        verified = whole(attribute(error, "verify_code"))
        unknown = "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
        return {"errno": _CERTIFICATES.get(verified, unknown) if verified else None}
    number = whole(attribute(error, "errno"))
    if "gaierror" in names or "herror" in names:
        return {"errno": None if number is None else _LOOK_UPS.get(number)}
    if number is None:
        number = _written_number(shown(error) or "")
    name = None if number is None else errno.errorcode.get(number)
    # Windows has some under two names.
    return {"errno": name.removeprefix("WSA") if name else None}


def _written_number(text: str) -> int | None:
    """Read `[Errno 111]`: asyncio joins several failures into the text of one without a number."""
    _, _, rest = text.partition("[Errno ")
    digits, bracket, _ = rest.partition("]")
    return int(digits) if bracket and digits.isdecimal() and len(digits) < len("100000") else None


def _names(error: BaseException) -> list[str]:
    return [kind.__name__ for kind in type(error).__mro__]


def _nearest(names: list[str], wanted: dict[str, str], other: dict[str, str]) -> dict[str, object]:
    """Look a kind up; nothing when a name of the other table stands nearer."""
    name = next((name for name in names if name in wanted or name in other), "")
    code = wanted.get(name)
    if not code:
        return {}
    return {"code" if code in _CODES else "errno": code}
