"""What one exception carries: an answer of a server, a process, a database's or the system's code.

| library | its exception is known by | what is read |
|---|---|---|
| httpx, requests, openai, anthropic, aiohttp, kubernetes, stripe | a status | headers, body, code |
| botocore | a mapping as `response` | `Error`, `ResponseMetadata` |
| urllib, tornado, google-genai | a whole number as `code` beside headers or response | as above |
| grpc, google.api_core | `code()` with `details()`, or `grpc_status_code` | name, status |
| urllib3, requests | "too many 503 error responses" | the status that was retried |
| subprocess, sh, plumbum, GitPython, docker | a command beside `stderr` | exit code, output |
| psycopg, asyncpg, psycopg2 | `sqlstate` or `pgcode` | the code |
| OSError, ssl, socket, sqlite3 | an error number | its name |
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import cast

from interlock.tools._exception_kinds import kind_of, number_of
from interlock.tools._foreign import (
    attribute,
    called,
    decoded,
    headers_of,
    mapping,
    root,
    shown,
    whole,
)

__all__ = ["carried_by", "provider_of"]

_BODY = 1 << 20
# Of an output the end counts: what went wrong is said last.
_OUTPUT = 48_000
_WORDS = 64
_SQLSTATE = 5
# Packages whose exceptions are of one provider, whatever they say. Not openai and anthropic: many
# others are reached through them.
_PROVIDERS = {
    "asyncpg": "postgres",
    "azure": "azure",
    "botocore": "aws",
    "cohere": "cohere",
    "docker": "docker",
    "github": "github",
    "google": "google",
    "googleapiclient": "google",
    "kubernetes": "kubernetes",
    "kubernetes_asyncio": "kubernetes",
    "mistralai": "mistral",
    "psycopg": "postgres",
    "psycopg2": "postgres",
    "psycopg_pool": "postgres",
}
# The status of each gRPC code (google/rpc/code.proto). CANCELLED is a signal here, and DATA_LOSS
# has none: it is not retried. Whoever serves, the codes are those of Google's pack.
_GRPC = {
    "UNKNOWN": 500,
    "INVALID_ARGUMENT": 400,
    "DEADLINE_EXCEEDED": 504,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "PERMISSION_DENIED": 403,
    "RESOURCE_EXHAUSTED": 429,
    "FAILED_PRECONDITION": 400,
    "ABORTED": 409,
    "OUT_OF_RANGE": 400,
    "UNIMPLEMENTED": 501,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "UNAUTHENTICATED": 401,
}


def carried_by(error: BaseException) -> dict[str, object]:
    """Read what an exception carries; nothing when there is nothing, or it cannot be read."""
    for read in (_process, _rpc, _answer, _retried, _database, number_of):
        try:
            found = {name: value for name, value in read(error).items() if value is not None}
        except Exception:  # noqa: BLE001 (objects that pretend to be what they are not)
            found = {}
        if found:
            return found
    return {}


def provider_of(error: BaseException) -> str | None:
    """Return whose exception it is."""
    told = attribute(error, "llm_provider")  # litellm
    known = (_PROVIDERS.get(root(kind)) for kind in type(error).__mro__)
    return told if isinstance(told, str) and told else next(filter(None, known), None)


def _answer(error: BaseException) -> dict[str, object]:
    response = attribute(error, "response", "resp")
    if "Error" in mapping(response):
        return _of_botocore(mapping(response))
    status, body = _status(error, response), attribute(error, "body")
    if status is None:
        # An error in the middle of a stream has an error object and no status.
        return {"body": body, "code": _code(error)} if _is_data(body) else {}
    headers = headers_of(attribute(response, "headers"))
    headers = headers_of(attribute(error, "headers")) if headers is None else headers
    return {
        "status": status,
        "headers": headers_of(response) if headers is None else headers,
        "body": _body(error, response),
        "code": _code(error),
    }


def _status(error: BaseException, response: object) -> int | None:
    given = [attribute(error, name) for name in ("status_code", "status", "http_status", "errcode")]
    given += [attribute(response, name) for name in ("status_code", "status")]
    code = attribute(error, "code")
    if code is not None:
        has_answer = response is not None or attribute(error, "headers") is not None
        given.append(code if has_answer or provider_of(error) == "google" else None)
    return next((status for value in given if (status := _as_status(value)) is not None), None)


def _as_status(value: object) -> int | None:
    if isinstance(value, str) and value.isdecimal() and value.isascii():
        value = int(value) if len(value) == len("200") else None
    status = whole(value)
    return status if status is not None and 100 <= status <= 599 else None  # noqa: PLR2004


def _code(error: BaseException) -> str | None:
    names = ("code", "error_code", "status")
    given = [attribute(attribute(error, "error"), "code")]
    given += [attribute(error, name) for name in names]
    texts = (code for code in given if isinstance(code, str) and code and not code.isdecimal())
    return next(texts, None)


def _body(error: BaseException, response: object) -> object:
    # The error object that a client took out of an answer stands before the whole of it.
    given = [attribute(error, "body")]
    if attribute(response, "_content") is not False:
        # An answer of requests that was not read yet is left alone: asking would read it.
        given += [attribute(response, name) for name in ("content", "text", "body")]
    names = ("http_body", "details", "response_json", "data", "content")
    given += [attribute(error, name) for name in names]
    for body in given:
        if isinstance(body, (str, bytes)) and body:
            return body[:_BODY]
        if _is_data(body):
            items = cast("list[object]", body)
            return [_detail(item) for item in items] if isinstance(body, list) else items
    return None


def _is_data(body: object) -> bool:
    return isinstance(body, (Mapping, list)) and len(cast("list[object]", body)) > 0


def _detail(detail: object) -> object:
    """Give a message of google.rpc.RetryInfo the form it has in JSON; other messages have none."""
    if isinstance(detail, (Mapping, str)):
        return cast("object", detail)
    delay = attribute(detail, "retry_delay")
    if delay is None:
        return None
    seconds, nanos = whole(attribute(delay, "seconds")), whole(attribute(delay, "nanos"))
    return {"retryDelay": f"{seconds or 0}.{nanos or 0:09}s"}


def _of_botocore(response: Mapping[str, object]) -> dict[str, object]:
    told, about = mapping(response.get("Error")), mapping(response.get("ResponseMetadata"))
    if not told:
        return {}
    code = told.get("Code")
    return {
        "provider": "aws",
        "status": _as_status(about.get("HTTPStatusCode")),
        "headers": headers_of(about.get("HTTPHeaders")),
        "body": {"error": dict(told)},
        "code": code if isinstance(code, str) else None,
    }


def _rpc(error: BaseException) -> dict[str, object]:
    if attribute(attribute(error, "response"), "status_code") is not None:
        # google.api_core over HTTP.
        return {}
    code = attribute(error, "grpc_status_code")
    if code is None and callable(attribute(error, "details")):
        code = called(error, "code")
    name = attribute(code, "name")
    if not isinstance(name, str) or not name.isupper():
        return {}
    if name == "CANCELLED":
        return {"signal": "SIGINT"}
    told: dict[str, object] = {"status": name, "message": decoded(called(error, "details"))}
    details = attribute(error, "details")
    if isinstance(details, list):
        told["details"] = [_detail(item) for item in cast("list[object]", details)]
    return {
        "provider": "google",
        "status": _GRPC.get(name),
        "code": name,
        "headers": headers_of(called(error, "trailing_metadata")),
        "body": {"error": told},
    }


def _retried(error: BaseException) -> dict[str, object]:
    """Read the status that urllib3 gave up on: it stands in the text only."""
    if type(error).__name__ != "ResponseError":
        return {}
    before, _, rest = (shown(error) or "").partition("too many ")
    status, _, after = rest.partition(" ")
    fits = not before and after == "error responses"
    return {"status": _as_status(status)} if fits else {}


def _process(error: BaseException) -> dict[str, object]:
    if issubclass(type(error), SystemExit):
        ended = attribute(error, "code") or 0
        return {"exitCode": whole(int(ended)) if isinstance(ended, int) else None}
    command = _command(attribute(error, "cmd", "command", "full_cmd", "argv"))
    if command is None or not _has_output(error):
        return {}
    names = ("returncode", "exit_code", "exit_status", "retcode", "status")
    code = whole(attribute(error, *names))
    said: dict[str, object] = {
        "command": command,
        "message": _end(attribute(error, "stderr")),
        "stdout": _end(attribute(error, "stdout", "output")),
    }
    if code is None:
        # It was stopped because its time was over, or it was never there.
        return {**said, **kind_of(error)}
    if code < 0:
        return {**said, "signal": _signal_name(-code)}
    # Nothing went wrong, and yet there is an exception.
    return {**said, "exitCode": code or None}


def _has_output(error: BaseException) -> bool:
    try:
        return hasattr(error, "stderr")
    except Exception:  # noqa: BLE001 (it is there, and raises)
        return True


def _command(command: object) -> str | None:
    if isinstance(command, (list, tuple)):
        words = [_word(word) for word in cast("list[object]", command)[:_WORDS]]
        return " ".join(words)
    whole: object = command
    is_one = isinstance(command, (str, bytes, PathLike))
    return _word(whole)[: 1 << 10] if is_one else None


def _word(word: object) -> str:
    return decoded(word) or shown(word) or ""


def _end(output: object) -> str | None:
    text = decoded(output)
    return text[-_OUTPUT:] if text else None


def _signal_name(number: int) -> str | None:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return None


def _database(error: BaseException) -> dict[str, object]:
    state = attribute(error, "pgcode", "sqlstate")
    if not isinstance(state, str) or len(state) != _SQLSTATE:
        return {}
    # MySQL has states too, and means other things by them.
    others = ("mysql", "mariadb", "pymysql", "MySQLdb")
    provider = None if root(type(error)) in others else "postgres"
    return {"code": state, "provider": provider}
