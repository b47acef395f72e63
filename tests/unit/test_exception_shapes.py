"""classify_exception over shapes: libraries that are not here, wrappers, hostile objects."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import interlock
from interlock import ConfigError, classify_exception


def made(
    name: str, module: str = "app.errors", bases: tuple[type[Any], ...] = (Exception,), **own: Any
) -> Any:
    """Make an exception of a library that is not here: its module, its name, its attributes."""
    text = own.pop("text", "")
    return type(name, bases, {"__module__": module, "__str__": lambda _: text, **own})()


def thing(**own: Any) -> Any:
    return type("Thing", (), own)()


def said(error: BaseException) -> str:
    found = classify_exception(error)
    wait = "" if found.wait_ms is None else f" {found.wait_ms}"
    return f"{found.error_class}/{found.action} {found.matched}{wait}"


class Code(Enum):
    """As grpc.StatusCode."""

    CANCELLED = (1, "cancelled")
    DEADLINE_EXCEEDED = (4, "deadline exceeded")
    ALREADY_EXISTS = (6, "already exists")
    RESOURCE_EXHAUSTED = (8, "resource exhausted")
    UNAVAILABLE = (14, "unavailable")
    DATA_LOSS = (15, "data loss")


def rpc(code: Code, details: str = "", **metadata: str) -> Any:
    return made(
        "_InactiveRpcError",
        "grpc._channel",
        code=lambda _: code,
        details=lambda _: details,
        trailing_metadata=lambda _: tuple(metadata.items()),
    )


def google_said(**own: Any) -> Any:
    return made("ResourceExhausted", "google.api_core.exceptions", **own)


DELAY = thing(retry_delay=thing(seconds=14, nanos=500_000_000))
EXHAUSTED = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Slow down."}}
STATUS = '{"kind": "Status", "status": "Failure", "reason": "AlreadyExists", "code": 409}'

LIBRARIES: dict[str, tuple[BaseException, str]] = {
    "aiohttp: 429": (
        made(
            "ClientResponseError", "aiohttp.client_exceptions", status=429,
            headers={"Retry-After": "5"}, message="Too Many Requests",
        ),
        "rate_limited/retry_after status:429 5000",
    ),
    "aiohttp: the wrong type of an answer that is well": (
        made("ContentTypeError", "aiohttp", status=200, headers={}, text="unexpected mimetype"),
        "unknown/escalate default",
    ),
    "aiohttp: no connection": (
        made("ClientConnectorError", "aiohttp", (OSError,), errno=111),
        "unavailable/retry shell/ECONNREFUSED",
    ),
    "aiohttp: hung up": (
        made("ServerDisconnectedError", "aiohttp"),
        "transient/retry shell/ECONNRESET",
    ),
    "google-genai: a wait in the body": (
        made(
            "ClientError", "google.genai.errors", code=429, status="RESOURCE_EXHAUSTED",
            response=None,
            details={"error": {**EXHAUSTED["error"], "details": [{"retryDelay": "14s"}]}},
        ),
        "rate_limited/retry_after google/RESOURCE_EXHAUSTED 14000",
    ),
    "google-genai: overloaded": (
        made(
            "ServerError", "google.genai.errors", code=503, status="UNAVAILABLE", response=None,
            details={"error": {"message": "The model is overloaded.", "status": "UNAVAILABLE"}},
        ),
        "unavailable/backoff google/model_overloaded",
    ),
    "google.api_core: a wait in a message": (
        google_said(code=429, grpc_status_code=Code.RESOURCE_EXHAUSTED, details=[DELAY, thing()]),
        "rate_limited/retry_after google/RESOURCE_EXHAUSTED 14500",
    ),
    "google.api_core: over HTTP": (
        google_said(
            code=429, grpc_status_code=Code.RESOURCE_EXHAUSTED,
            response=thing(status_code=429, headers={"retry-after": "3"}, content=b"{}"),
        ),
        "rate_limited/retry_after status:429 3000",
    ),
    "google.api_core: no answer": (
        google_said(code=403, response=None, details=[]),
        "permission/escalate status:403",
    ),
    "google.api_core: a quota of the day": (
        google_said(
            code=429, grpc_status_code=Code.RESOURCE_EXHAUSTED,
            text='429 Quota. [violations { quota_id: "GenerateRequestsPerDayPerProject" }]',
        ),
        "quota/escalate google/per_day_quota",
    ),
    "google.api_core: retries were spent": (
        made("RetryError", "google.api_core.exceptions", cause=rpc(Code.UNAVAILABLE)),
        "unavailable/backoff google/UNAVAILABLE",
    ),
    "googleapiclient: a body in bytes, headers as the answer": (
        made(
            "HttpError", "googleapiclient.errors", status_code=403,
            resp={"status": "403", "retry-after": "2"},
            content=b'{"error": {"errors": [{"reason": "rateLimitExceeded"}], "code": 403}}',
        ),
        "rate_limited/retry_after google/userRateLimitExceeded 2000",
    ),
    "grpc: unavailable": (rpc(Code.UNAVAILABLE), "unavailable/backoff google/UNAVAILABLE"),
    "grpc: a deadline": (rpc(Code.DEADLINE_EXCEEDED), "timeout/retry google/DEADLINE_EXCEEDED"),
    "grpc: exhausted, with a wait": (
        rpc(Code.RESOURCE_EXHAUSTED, "Slow down.", **{"retry-after": "8"}),
        "rate_limited/retry_after google/RESOURCE_EXHAUSTED 8000",
    ),
    "grpc: a code without a rule": (rpc(Code.ALREADY_EXISTS), "conflict/escalate status:409"),
    "grpc: cancelled": (rpc(Code.CANCELLED), "cancelled/fail signal:SIGINT"),
    "grpc: lost data is not asked for again": (rpc(Code.DATA_LOSS), "unknown/escalate default"),
    "kubernetes: conflict": (
        made(
            "ApiException", "kubernetes.client.exceptions", status=409, reason="Conflict",
            body=STATUS, headers={"Content-Type": "application/json"},
        ),
        "conflict/escalate kubectl/status_already_exists",
    ),
    "kubernetes: no answer": (
        made("ApiException", "kubernetes.client", status=0, reason="SSLError", body=None),
        "unknown/escalate default",
    ),
    "psycopg: a deadlock": (
        made("DeadlockDetected", "psycopg.errors", sqlstate="40P01"),
        "conflict/retry postgres/deadlock_code",
    ),
    "psycopg2: unique": (
        made("UniqueViolation", "psycopg2.errors", pgcode="23505", text="duplicate key"),
        "conflict/escalate postgres/unique_violation_code",
    ),
    "psycopg: words without a code": (
        made(
            "OperationalError", "psycopg", sqlstate=None,
            text='connection failed: FATAL:  password authentication failed for user "x"',
        ),
        "auth/reauth postgres/invalid_password",
    ),
    "asyncpg: too many": (
        made("TooManyConnectionsError", "asyncpg.exceptions", sqlstate="53300", text="connections"),
        "capacity/backoff postgres/too_many_connections_code",
    ),
    "SQLAlchemy around psycopg, with a query that has words": (
        made(
            "OperationalError", "sqlalchemy.exc", code="e3q8",
            text="(psycopg) [SQL: SELECT quota FROM limits -- rate limit]",
            orig=made("SerializationFailure", "psycopg.errors", sqlstate="40001"),
        ),
        "conflict/retry postgres/serialization_failure_named",
    ),
    "MySQL's states are not those of Postgres": (
        made("ProgrammingError", "mysql.connector.errors", sqlstate="28000", errno=1045),
        "unknown/escalate default",
    ),
    "redis: refused": (
        made("ConnectionError", "redis.exceptions"),
        "unavailable/retry shell/ECONNREFUSED",
    ),
    "redis: wrong password, which is a ConnectionError too": (
        made("AuthenticationError", "redis", (type("ConnectionError", (Exception,), {}),)),
        "auth/reauth code:authentication_error",
    ),
    "redis: timeout": (made("TimeoutError", "redis.exceptions"), "timeout/retry shell/ETIMEDOUT"),
    "pymongo: nobody there": (
        made("ServerSelectionTimeoutError", "pymongo.errors"),
        "timeout/retry shell/ETIMEDOUT",
    ),
    "pymongo: a code that is no status": (
        made("OperationFailure", "pymongo.errors", code=262, details={"code": 262}),
        "unknown/escalate default",
    ),
    "stripe": (
        made(
            "RateLimitError", "stripe", http_status=429, code="rate_limit",
            http_body='{"error": {"code": "rate_limit"}}', headers={"retry-after": "1"},
        ),
        "rate_limited/retry_after status:429 1000",
    ),
    "azure: the code stands in an object": (
        made(
            "HttpResponseError", "azure.core.exceptions", status_code=400,
            error=thing(code="content_filter"), response=thing(headers={}),
        ),
        "bad_request/fail azure/content_filter",
    ),
    "litellm: who answered": (
        made(
            "BadRequestError", "litellm.exceptions", status_code=400, llm_provider="anthropic",
            text="AnthropicException - prompt is too long: 9 tokens > 8 maximum",
        ),
        "too_large/reduce_input anthropic/prompt_too_long",
    ),
    "GitPython: its status is an exit code": (
        made(
            "GitCommandError", "git.exc", command=["git", "fetch"], status=128, stdout="",
            stderr="stderr: 'fatal: Authentication failed for 'https://example.com/''",
        ),
        "auth/reauth git/authentication_failed",
    ),
    "httpx: a mistake of the caller": (
        made("LocalProtocolError", "httpx", (type("ProtocolError", (Exception,), {}),)),
        "unknown/escalate default",
    ),
    "a class named Timeout of nobody's": (made("Timeout"), "timeout/retry shell/ETIMEDOUT"),
}  # fmt: skip


def cause(outer: Any, inner: BaseException) -> Any:
    outer.__cause__ = inner
    return outer


def context(outer: BaseException, inner: BaseException) -> BaseException:
    outer.__context__ = inner
    return outer


def retried(error: BaseException | None) -> Any:
    """As tenacity has it."""
    attempt: Future[object] = Future()
    if error is None:
        attempt.set_result(None)
    else:
        attempt.set_exception(error)
    return made("RetryError", "tenacity", last_attempt=attempt)


def answered(status: int) -> Any:
    return made("HTTPError", status_code=status)


RESET = ConnectionResetError(104, "reset")
HELD: dict[str, tuple[BaseException, str]] = {
    "tenacity: the last attempt": (retried(answered(401)), "auth/reauth status:401"),
    "tenacity: a result that was not liked": (retried(None), "unknown/escalate default"),
    "tenacity: an attempt that goes on": (
        made("RetryError", "tenacity", last_attempt=Future()),
        "unknown/escalate default",
    ),
    "raised from": (cause(RuntimeError("x"), answered(429)), "rate_limited/backoff status:429"),
    "raised while handling": (
        context(RuntimeError("x"), answered(404)),
        "not_found/fail status:404",
    ),
    "the outer one translates": (
        cause(answered(409), answered(503)),
        "conflict/escalate status:409",
    ),
    "the outer kind says what it is": (
        context(TimeoutError("slow"), FileNotFoundError(2, "cache")),
        "timeout/retry shell/ETIMEDOUT",
    ),
    "a kind that only wraps gives way": (
        cause(made("APIConnectionError"), cause(made("ConnectError"), RESET)),
        "transient/retry shell/ECONNRESET",
    ),
    "a mistake in the handler is not what it handled": (
        context(TypeError("unexpected keyword argument 'timeout'"), answered(503)),
        "unknown/escalate default",
    ),
    "a mistake that was raised from an answer": (
        cause(KeyError("choices"), answered(503)),
        "unavailable/backoff status:503",
    ),
    "the names in a mistake are no message": (KeyError("quota"), "unknown/escalate default"),
    "words of an inner one": (
        cause(RuntimeError("no luck"), ValueError("rate limit exceeded")),
        "rate_limited/backoff message:rate limit",
    ),
    "a group: the first that says something": (
        ExceptionGroup("g", [ValueError("x"), answered(429), answered(401)]),
        "rate_limited/backoff status:429",
    ),
    "a group: with what its members hold": (
        ExceptionGroup("g", [cause(ValueError("x"), answered(503)), answered(401)]),
        "unavailable/backoff status:503",
    ),
    "a group in a group": (
        BaseExceptionGroup("g", [ExceptionGroup("h", [RESET]), KeyboardInterrupt()]),
        "transient/retry shell/ECONNRESET",
    ),
    "a group that says nothing": (
        ExceptionGroup("g", [ValueError("x")]),
        "unknown/escalate default",
    ),
}  # fmt: skip


class Raising:
    """Whatever is asked of it raises."""

    def __str__(self) -> str:
        raise RuntimeError("str")

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


class RaisingMapping(Mapping[str, object]):
    """A mapping of one key that cannot be read."""

    def __getitem__(self, key: str) -> object:
        raise RuntimeError(key)

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("iter")


def raising(*_: object) -> Any:
    raise RuntimeError("no")


class Everything(Exception):
    """Every attribute raises, and so does the text."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __str__(self) -> str:
        raise RuntimeError("str")


def deep(levels: int) -> Any:
    error: BaseException = answered(503)
    for _ in range(levels):
        error = cause(RuntimeError("x"), error)
    return error


def cyclic() -> Any:
    one, other = RuntimeError("x"), RuntimeError("y")
    return cause(one, context(cause(other, one), one))


def holding(value: object) -> Any:
    """Make an exception that has this value wherever something is looked for."""
    names = (
        "response status_code status http_status code body headers details data content reason "
        "orig cause last_attempt cmd stderr stdout returncode sqlstate pgcode errno llm_provider "
        "grpc_status_code error resp sqlite_errorname verify_code exceptions args"
    )
    own: dict[str, Any] = dict.fromkeys(names.split(), value)
    return made("Held", **own)


HALF = "\ud800"
MANY = {f"x-{number}": "1" for number in range(2_000)}
HOSTILE: dict[str, tuple[Callable[[], BaseException], str | None]] = {
    "everything raises": (Everything, "unknown/escalate default"),
    "attributes that raise": (
        lambda: made("E", response=property(raising), status_code=503, body=property(raising)),
        "unavailable/backoff status:503",
    ),
    "a cause that raises": (
        lambda: made("E", __cause__=property(raising), text="x"),
        "unknown/escalate default",
    ),
    "a text that raises": (
        lambda: made("E", __str__=raising, status_code=404),
        "not_found/fail status:404",
    ),
    "an answer that was not read": (
        lambda: made("E", response=thing(status_code=503, text=property(raising))),
        "unavailable/backoff status:503",
    ),
    "a cycle": (cyclic, "unknown/escalate default"),
    "ten thousand causes": (lambda: deep(10_000), "unknown/escalate default"),
    "thirty causes": (lambda: deep(30), "unavailable/backoff status:503"),
    "headers that are no mapping": (
        lambda: made("E", status_code=429, headers=7),
        "rate_limited/backoff status:429",
    ),
    "headers that are pairs of bytes": (
        lambda: made("E", status_code=429, headers=[(b"Retry-After", b"9")]),
        "rate_limited/retry_after status:429 9000",
    ),
    "headers that raise": (
        lambda: made("E", status_code=429, headers=RaisingMapping()),
        "rate_limited/backoff status:429",
    ),
    "two thousand headers": (
        lambda: made("E", status_code=429, headers=MANY),
        "rate_limited/backoff status:429",
    ),
    "half a surrogate pair": (
        lambda: made("E", status_code=429, headers={HALF: HALF}, body=HALF, code=HALF),
        "rate_limited/backoff status:429",
    ),
    "a status in text": (lambda: made("E", status="404"), "not_found/fail status:404"),
    "a status that is a word": (lambda: made("E", status="failed"), "unknown/escalate default"),
    "a status that is true": (lambda: made("E", status=True), "unknown/escalate default"),
    "a huge status": (lambda: made("E", status_code=10**400), "unknown/escalate default"),
    "a status that is none": (lambda: made("E", status=7), "unknown/escalate default"),
    "a status of digits that are not ASCII": (
        lambda: made("E", status="\u0664\u0660\u0664"),
        "unknown/escalate default",
    ),
    "a body of ten megabytes": (
        lambda: made("E", status_code=400, body="prompt is too long: " + "x" * 10_000_000),
        "too_large/reduce_input anthropic/prompt_too_long",
    ),
    "a text of ten megabytes": (
        lambda: RuntimeError("quota " + "x" * 10_000_000),
        "quota/escalate message:quota",
    ),
    "a body that cannot be read": (
        lambda: made("E", status_code=503, body=RaisingMapping()),
        "unavailable/backoff status:503",
    ),
    "a body that holds itself": (
        lambda: made("E", status_code=503, body=(body := {"a": 1}) | {"b": [body]}),
        "unavailable/backoff status:503",
    ),
    "a body of things": (
        lambda: made("E", status_code=503, body={"error": {"message": thing(), "x": {1, 2}}}),
        None,
    ),
    "a subclass of int that lies": (
        lambda: made("E", status_code=type("N", (int,), {"__abs__": raising})(503)),
        "unknown/escalate default",
    ),
    "a command of things": (
        lambda: made("E", cmd=[Raising(), b"\xff", Path("x")], returncode=2, stderr=b"\xff"),
        None,
    ),
    **{
        f"nothing but {label}": (lambda value=value: holding(value), None)  # type: ignore[misc]
        for label, value in {
            "raising objects": Raising(),
            "raising mappings": RaisingMapping(),
            "functions that raise": raising,
            "classes": Raising,
            "numbers": 429,
            "huge numbers": 10**30,
            "fractions": float("nan"),
            "texts": "x",
            "five letters": "40P01",
            "bytes": b"\xff\xfe",
            "lists": [Raising(), [None]],
            "mappings": {"Error": {"Code": 7}, 1: 2},
            "exceptions": ValueError("x"),
            "modules": sys,
        }.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_that_is_not_here(name: str) -> None:
    error, wanted = LIBRARIES[name]
    assert wanted == said(error)


@pytest.mark.parametrize("name", HELD)
def test_which_of_several_exceptions_decides(name: str) -> None:
    error, wanted = HELD[name]
    assert wanted == said(error)


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_is_raised_whatever_it_holds(name: str) -> None:
    make, wanted = HOSTILE[name]
    found = said(make())
    assert wanted in {found, None}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"provider": 5}, "provider"),
        ({"command": 5}, "command"),
        ({"now": "yesterday"}, "now"),
        ({"attempt": "1"}, "attempt"),
        ({"max_attempts": 0}, "maxAttempts"),
        ({"max_wait_ms": -1}, "maxWaitMs"),
    ],
)
def test_only_the_callers_own_are_refused(given: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError) as caught:
        classify_exception(made("E", body=RaisingMapping()), **given)
    assert [field] == [problem.field for problem in caught.value.problems]


def test_a_rule_sees_what_the_outermost_says() -> None:
    rule = {"id": "cold", "contains": "cold start", "class": "unavailable", "action": "retry"}
    error = cause(RuntimeError("a Cold Start"), answered(401))
    assert "cold" == classify_exception(error, rules=[rule]).matched


LOADED = """\
import sys
sys.path.insert(0, {home!r})
import interlock
interlock.classify_exception(FileNotFoundError(2, "x"))
before = set(sys.modules)
found = interlock.classify_exception(ConnectionResetError(104, "x"), packs=None)
assert found.error_class == "transient"
names = {{name.partition(".")[0] for name in sys.modules}}
print(*sorted(names - set(sys.stdlib_module_names)))
"""


def test_no_library_is_loaded() -> None:
    home = str(Path(interlock.__file__).parent.parent)
    command = [sys.executable, "-S", "-I", "-c", LOADED.format(home=home)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert {"__main__", "interlock"} >= set(done.stdout.split())
