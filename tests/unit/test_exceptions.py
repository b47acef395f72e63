"""classify_exception over exceptions as the libraries themselves raise them.

Each row is how to come by an exception and what is said of it: `class/action matched`, with the
wait in milliseconds behind it where the answer names one.
"""

from __future__ import annotations

import asyncio  # noqa: TID251 (exceptions of the event loop)
import errno
import http.client
import io
import json
import socket
import sqlite3
import ssl
import struct
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import anthropic
import botocore.awsrequest
import botocore.config
import botocore.exceptions
import botocore.session
import botocore.stub
import httpx
import openai
import pytest
import requests
import urllib3
import urllib3.exceptions

from interlock import ErrorClassify, classify_exception

Run = Callable[[], object]

CHAT: Any = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


def caught(run: Run) -> BaseException:
    with pytest.raises(BaseException) as found:
        run()
    return found.value


def said(error: BaseException, **given: Any) -> str:
    found = classify_exception(error, **given)
    assert found == ErrorClassify().classify_exception(error, **given)
    wait = "" if found.wait_ms is None else f" {found.wait_ms}"
    return f"{found.error_class}/{found.action} {found.matched}{wait}"


# Servers.


@contextmanager
def listening() -> Iterator[tuple[socket.socket, str]]:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server, f"http://127.0.0.1:{server.getsockname()[1]}/"


def with_nobody(run: Callable[[str], object]) -> Run:
    """Run against a port where nobody listens."""

    def ran() -> None:
        with listening() as (_, url):
            pass
        run(url)

    return ran


def with_silence(run: Callable[[str], object]) -> Run:
    """Run against a server that takes connections and says nothing."""

    def ran() -> None:
        with listening() as (_, url):
            run(url)

    return ran


def with_reset(run: Callable[[str], object]) -> Run:
    """Run against a server that resets the connection when it is asked."""

    def ran() -> None:
        with listening() as (server, url):

            def reset() -> None:
                peer, _ = server.accept()
                peer.recv(1)
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                peer.close()

            thread = threading.Thread(target=reset)
            thread.start()
            try:
                run(url)
            finally:
                thread.join()

    return ran


# httpx, and openai and anthropic, which bring one of their own.


def transport_of(library: Any, answer: object, **more: Any) -> Any:
    """Answer whatever is asked: with an exception, or with a status, a body and headers."""

    def answered(request: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        content = body if isinstance(body, (str, bytes)) else json.dumps(body)
        return library.Response(status, content=content, request=request, **more)

    return library.Client(transport=library.MockTransport(answered))


def httpx_answered(status: int, body: object = "", **headers: str) -> Run:
    def run() -> None:
        with transport_of(httpx, (status, body), headers=headers) as client:
            client.get("http://localhost/").raise_for_status()

    return run


def httpx_streamed() -> None:
    with (
        transport_of(httpx, (503, "busy"), headers={"retry-after": "3"}) as client,
        client.stream("GET", "http://localhost/") as answer,
    ):
        answer.raise_for_status()


def base_of(sdk: Any) -> Any:
    """Give the HTTP library that an SDK is built on."""
    kinds = sdk.DefaultHttpxClient.__mro__
    module = next(kind.__module__ for kind in kinds if kind.__name__ == "Client")
    return import_module(module.partition(".")[0])


def openai_said(answer: object, *, stream: bool = False, **headers: str) -> Run:
    def run() -> None:
        more = {"headers": {name.replace("_", "-"): value for name, value in headers.items()}}
        transport = transport_of(base_of(openai), answer, **more)
        with openai.OpenAI(api_key="k", max_retries=0, http_client=transport) as client:
            found: Any = client.chat.completions.create(**CHAT, stream=stream)
            list(found)

    return run


def anthropic_said(answer: object, *, stream: bool = False, **headers: str) -> Run:
    def run() -> None:
        more = {"headers": {name.replace("_", "-"): value for name, value in headers.items()}}
        transport = transport_of(base_of(anthropic), answer, **more)
        with anthropic.Anthropic(api_key="k", max_retries=0, http_client=transport) as client:
            found: Any = client.messages.create(**CHAT, max_tokens=9, stream=stream)
            list(found)

    return run


def of_openai(message: str, kind: str, code: str | None = None) -> dict[str, object]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def of_anthropic(kind: str, message: str) -> dict[str, object]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def event(data: object, name: str = "") -> str:
    return f"{name}data: {json.dumps(data)}\n\n"


OVERLOADED = of_anthropic("overloaded_error", "Overloaded")
STREAM: Any = {"stream": True, "content_type": "text/event-stream"}

MODEL_APIS: dict[str, tuple[Run, str]] = {
    "openai: the context is too long": (
        openai_said(
            (
                400,
                of_openai(
                    "This model's maximum context length is 8192 tokens.",
                    "invalid_request_error",
                    "context_length_exceeded",
                ),
            )
        ),
        "too_large/reduce_input openai/context_length_exceeded",
    ),
    "openai: 401": (
        openai_said((401, of_openai("Wrong key.", "invalid_request_error", "invalid_api_key"))),
        "auth/reauth openai/invalid_api_key",
    ),
    "openai: 403 without a code": (
        openai_said((403, of_openai("No.", "invalid_request_error"))),
        "permission/escalate status:403",
    ),
    "openai: 404": (
        openai_said((404, of_openai("No.", "invalid_request_error", "model_not_found"))),
        "not_found/fail openai/model_not_found",
    ),
    "openai: 429 with a spent quota": (
        openai_said((429, of_openai("Quota.", "insufficient_quota", "insufficient_quota"))),
        "quota/escalate openai/insufficient_quota",
    ),
    "openai: 429 with a wait": (
        openai_said(
            (429, of_openai("Slow down.", "requests", "rate_limit_exceeded")), retry_after="7"
        ),
        "rate_limited/retry_after openai/rate_limit_exceeded 7000",
    ),
    "openai: 500": (
        openai_said((500, of_openai("Our fault.", "server_error"))),
        "transient/retry openai/server_error",
    ),
    "openai: the page of a gateway": (
        openai_said((502, "<html>502 Bad Gateway</html>")),
        "unavailable/retry status:502",
    ),
    "openai: a list, as Gemini answers": (
        openai_said((429, [{"error": {"status": "RESOURCE_EXHAUSTED", "code": 429}}])),
        "rate_limited/backoff google/RESOURCE_EXHAUSTED",
    ),
    "openai: an error in a stream": (
        openai_said(event(of_openai("Our fault.", "server_error")), **STREAM),
        "transient/retry openai/server_error",
    ),
    "openai: a timeout": (
        openai_said(base_of(openai).ReadTimeout("slow")),
        "timeout/retry shell/ETIMEDOUT",
    ),
    "openai: no connection": (
        openai_said(base_of(openai).ConnectError("no")),
        "unavailable/retry shell/ECONNREFUSED",
    ),
    "openai: a server that hung up": (
        openai_said(base_of(openai).RemoteProtocolError("Server disconnected.")),
        "transient/retry shell/ECONNRESET",
    ),
    "anthropic: the context is too long": (
        anthropic_said(
            (400, of_anthropic("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"))
        ),
        "too_large/reduce_input anthropic/prompt_too_long",
    ),
    "anthropic: 401": (
        anthropic_said((401, of_anthropic("authentication_error", "invalid x-api-key"))),
        "auth/reauth anthropic/authentication_error",
    ),
    "anthropic: 403": (
        anthropic_said((403, of_anthropic("permission_error", "No."))),
        "permission/escalate anthropic/permission_error",
    ),
    "anthropic: 404": (
        anthropic_said((404, of_anthropic("not_found_error", "model: m"))),
        "not_found/fail anthropic/not_found_error",
    ),
    "anthropic: no credit": (
        anthropic_said(
            (400, of_anthropic("invalid_request_error", "Your credit balance is too low."))
        ),
        "quota/escalate anthropic/credit_balance_too_low",
    ),
    "anthropic: 429 with a wait": (
        anthropic_said((429, of_anthropic("rate_limit_error", "Slow down.")), retry_after="11"),
        "rate_limited/retry_after anthropic/rate_limit_error 11000",
    ),
    "anthropic: 500": (
        anthropic_said((500, of_anthropic("api_error", "Internal."))),
        "transient/retry anthropic/api_error",
    ),
    "anthropic: 529": (
        anthropic_said((529, OVERLOADED)),
        "unavailable/backoff anthropic/overloaded_error",
    ),
    "anthropic: 529 with nothing to read": (
        anthropic_said((529, "")),
        "unavailable/backoff status:529",
    ),
    "anthropic: an error in a stream of status 200": (
        anthropic_said(event(OVERLOADED, "event: error\n"), **STREAM),
        "unavailable/backoff anthropic/overloaded_error",
    ),
    "anthropic: a timeout": (
        anthropic_said(base_of(anthropic).ConnectTimeout("slow")),
        "timeout/retry shell/ETIMEDOUT",
    ),
    "anthropic: no connection": (
        anthropic_said(base_of(anthropic).ConnectError("no")),
        "unavailable/retry shell/ECONNREFUSED",
    ),
}


# requests, urllib3, urllib.


def requests_answered(status: int, body: bytes = b"", **headers: str) -> Run:
    def run() -> None:
        answer = requests.Response()
        answer.status_code = status
        answer.raw = io.BytesIO(body)
        answer.headers.update({name.replace("_", "-"): value for name, value in headers.items()})
        assert answer.content == body
        answer.raise_for_status()

    return run


def urllib_answered(status: int, **headers: str) -> Run:
    def run() -> None:
        told = http.client.HTTPMessage()
        for name, value in headers.items():
            told[name.replace("_", "-")] = value
        with urllib.error.HTTPError("http://localhost/", status, "No", told, None) as error:
            raise error

    return run


def gave_up() -> None:
    reason = urllib3.exceptions.ResponseError("too many 503 error responses")
    try:
        raise urllib3.exceptions.MaxRetryError(urllib3.HTTPConnectionPool("h"), "/", reason)
    except urllib3.exceptions.MaxRetryError as error:
        raise requests.exceptions.RetryError(error, request=None) from None


def wrapped_twice() -> None:
    reset = ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
    inner = requests.ConnectionError(urllib3.exceptions.ProtocolError("Connection aborted.", reset))
    raise requests.ConnectionError(inner)


def from_urllib3(url: str) -> None:
    with urllib3.PoolManager(retries=False) as pool:
        pool.request("GET", url, timeout=0.1)


def from_requests(url: str) -> None:
    with requests.Session() as session:
        session.trust_env = False
        session.get(url, timeout=0.1)


def from_httpx(url: str) -> None:
    with httpx.Client(trust_env=False, timeout=0.1) as client:
        client.get(url)


def from_urllib(url: str) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.open(url, timeout=0.1)


REFUSED = "unavailable/retry shell/ECONNREFUSED"
RESET = "transient/retry shell/ECONNRESET"
TIMED_OUT = "timeout/retry shell/ETIMEDOUT"

HTTP: dict[str, tuple[Run, str]] = {
    "httpx: 429 with a wait": (
        httpx_answered(429, {"error": "slow"}, **{"retry-after": "2"}),
        "rate_limited/retry_after status:429 2000",
    ),
    "httpx: an error object outranks the status": (
        httpx_answered(429, of_openai("Quota.", "insufficient_quota")),
        "quota/escalate openai/insufficient_quota",
    ),
    "httpx: an answer that was not read": (
        httpx_streamed,
        "unavailable/retry_after status:503 3000",
    ),
    "httpx: 302": (httpx_answered(302), "redirect/fail status:3xx"),
    "httpx: a mistake of the caller": (
        lambda: httpx.get("ftp://localhost/"),
        "unknown/escalate default",
    ),
    "requests: 404": (requests_answered(404), "not_found/fail status:404"),
    "requests: 503 with a wait": (
        requests_answered(503, b"{}", retry_after="4"),
        "unavailable/retry_after status:503 4000",
    ),
    "requests: a body that is not UTF-8": (
        requests_answered(400, b"\xff\xfe prompt is too long: 9"),
        "too_large/reduce_input anthropic/prompt_too_long",
    ),
    "requests: an error in XML": (
        requests_answered(403, b"<Error><Code>AccessDenied</Code></Error>"),
        "permission/escalate aws/AccessDeniedException",
    ),
    "requests: retries were spent": (gave_up, "unavailable/backoff status:503"),
    "requests: a reset in two wrappers": (wrapped_twice, RESET),
    "urllib: 503": (
        urllib_answered(503, retry_after="6"),
        "unavailable/retry_after status:503 6000",
    ),
    "urllib: 404": (urllib_answered(404), "not_found/fail status:404"),
    "urllib: 429 with a limit's end": (
        urllib_answered(429, x_ratelimit_reset="9", x_ratelimit_remaining="0"),
        "rate_limited/retry_after github/primary_headers 9000",
    ),
    "httpx: refused": (with_nobody(from_httpx), REFUSED),
    "requests: refused": (with_nobody(from_requests), REFUSED),
    "urllib3: refused": (with_nobody(from_urllib3), REFUSED),
    "urllib: refused": (with_nobody(from_urllib), REFUSED),
    "httpx: silence": (with_silence(from_httpx), TIMED_OUT),
    "requests: silence": (with_silence(from_requests), TIMED_OUT),
    "urllib3: silence": (with_silence(from_urllib3), TIMED_OUT),
    "urllib: silence": (with_silence(from_urllib), TIMED_OUT),
    "httpx: reset": (with_reset(from_httpx), RESET),
    "requests: reset": (with_reset(from_requests), RESET),
    "urllib3: reset": (with_reset(from_urllib3), RESET),
    "urllib: reset": (with_reset(from_urllib), RESET),
}


# botocore.


class Raw(io.BytesIO):
    """What botocore reads an answer from."""

    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.read()


def aws_client(service: str, **options: Any) -> Any:
    session = botocore.session.Session()
    session.set_credentials("access", "secret")
    limits = {"retries": {"total_max_attempts": 1}, "read_timeout": 0.1, "connect_timeout": 0.1}
    config = botocore.config.Config(**limits)
    return session.create_client(service, region_name="eu-west-1", config=config, **options)


def aws_answered(
    service: str, operation: str, status: int, body: str, headers: Any = (), **arguments: Any
) -> Run:
    """Have botocore read an answer as it comes over the wire."""

    def answer(request: Any, **_: object) -> Any:
        raw = Raw(body.encode())
        return botocore.awsrequest.AWSResponse(request.url, status, dict(headers), raw)

    def run() -> None:
        client = aws_client(service)
        client.meta.events.register("before-send", answer)
        getattr(client, operation)(**arguments)

    return run


def aws_stubbed() -> None:
    client = aws_client("sts")
    with botocore.stub.Stubber(client) as stub:
        stub.add_client_error("get_caller_identity", "ExpiredToken", "It expired.", 403)
        client.get_caller_identity()


def aws_called(url: str) -> None:
    aws_client("sqs", endpoint_url=url).list_queues()


CONVERSE: Any = {"modelId": "m", "messages": [{"role": "user", "content": [{"text": "hello"}]}]}
OBJECT = {"Bucket": "bucket", "Key": "key"}

BOTOCORE: dict[str, tuple[Run, str]] = {
    "s3: no such key": (
        aws_answered(
            "s3",
            "get_object",
            404,
            "<Error><Code>NoSuchKey</Code><Message>No key.</Message></Error>",
            **OBJECT,
        ),
        "not_found/fail aws/ResourceNotFoundException",
    ),
    "s3: an answer to HEAD has no body": (
        aws_answered("s3", "head_object", 404, "", **OBJECT),
        "not_found/fail aws/client_error_not_found",
    ),
    "s3: an error under the status 200": (
        aws_answered(
            "s3",
            "copy_object",
            200,
            "<Error><Code>SlowDown</Code><Message>Reduce your rate.</Message></Error>",
            **OBJECT,
            CopySource="bucket/other",
        ),
        "rate_limited/backoff aws/SlowDown",
    ),
    "dynamodb: throughput": (
        aws_answered(
            "dynamodb",
            "list_tables",
            400,
            '{"__type": "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",'
            ' "message": "Too much."}',
        ),
        "rate_limited/backoff aws/ProvisionedThroughputExceededException",
    ),
    "bedrock: throttled": (
        aws_answered(
            "bedrock-runtime",
            "converse",
            429,
            '{"message": "Too many tokens, please wait before trying again."}',
            {"x-amzn-ErrorType": "ThrottlingException", "Retry-After": "5"},
            **CONVERSE,
        ),
        "rate_limited/retry_after aws/ThrottlingException 5000",
    ),
    "bedrock: the input is too long": (
        aws_answered(
            "bedrock-runtime",
            "converse",
            400,
            '{"message": "Input is too long for requested model."}',
            {"x-amzn-ErrorType": "ValidationException"},
            **CONVERSE,
        ),
        "too_large/reduce_input aws/input_too_long",
    ),
    "sqs: 503 with a page": (
        aws_answered("sqs", "list_queues", 503, "<html>no</html>"),
        "unavailable/backoff aws/client_error_unavailable",
    ),
    "sts: stubbed": (aws_stubbed, "auth/reauth aws/ExpiredToken"),
    "sqs: refused": (with_nobody(aws_called), REFUSED),
    "sqs: silence": (with_silence(aws_called), TIMED_OUT),
    "sqs: reset": (with_reset(aws_called), RESET),
}


# Processes, the system, the event loop.


def ran(script: str, **options: Any) -> Run:
    command = [sys.executable, "-c", script]
    return lambda: subprocess.run(command, check=True, capture_output=True, **options)


def shell(command: str) -> Run:
    return lambda: subprocess.run(["/bin/sh", "-c", command], check=True, capture_output=True)


def failed(command: object, code: int, stderr: object = None, stdout: object = None) -> Run:
    def run() -> None:
        raise subprocess.CalledProcessError(code, command, stdout, stderr)  # type: ignore[arg-type]

    return run


PROCESSES: dict[str, tuple[Run, str]] = {
    "stderr in bytes": (
        ran("import sys; sys.exit('OSError: No space left on device')"),
        "capacity/escalate shell/no_space_left",
    ),
    "stderr in text": (
        ran("import sys; sys.exit('OSError: No space left on device')", text=True),
        "capacity/escalate shell/no_space_left",
    ),
    "exit 1 and silence": (ran("raise SystemExit(1)"), "unknown/escalate default"),
    "words of a command line are no message": (
        failed(["tool", "--timeout", "quota"], 1, ""),
        "unknown/escalate default",
    ),
    "the end of a long output": (
        failed("make", 2, "x" * 200_000 + "\nNo space left on device"),
        "capacity/escalate shell/no_space_left",
    ),
    "killed": (
        ran("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"),
        "capacity/escalate signal:SIGKILL",
    ),
    "a signal of no name": (failed("x", -200), "unknown/escalate default"),
    "out of time": (ran("import time; time.sleep(9)", timeout=0.1), TIMED_OUT),
    "no such command": (shell("no-such-command"), "not_found/fail exit:127"),
    "grep 1 is no error": (failed(["grep", b"x", Path("f")], 1), "ok/continue shell/no_match"),
    "a path is a command": (failed(Path("/usr/bin/grep"), 1), "ok/continue shell/no_match"),
    "git says it": (
        failed("git push", 128, b"fatal: Authentication failed for 'https://example.com/'\n"),
        "auth/reauth git/authentication_failed",
    ),
    "exit 0 and yet an exception": (failed("x", 0), "unknown/escalate default"),
    "sys.exit": (lambda: sys.exit(127), "not_found/fail exit:127"),
    "sys.exit with a text": (
        lambda: sys.exit("permission denied"),
        "permission/escalate message:permission denied",
    ),
    "no such program": (
        lambda: subprocess.run(["/no/such/program"], check=True),
        "not_found/fail shell/ENOENT",
    ),
}


def number(kind: type[BaseException], *args: object) -> Run:
    def run() -> None:
        raise kind(*args)

    return run


def verified() -> None:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_code = 10
    raise urllib.error.URLError(error)


def timed_out() -> None:
    async def wait() -> None:
        async with asyncio.timeout(0):
            await asyncio.sleep(1)

    asyncio.run(wait())


def cancelled() -> None:
    async def wait() -> None:
        task = asyncio.ensure_future(asyncio.sleep(1))
        await asyncio.sleep(0)
        task.cancel()
        await task

    asyncio.run(wait())


def two_refused() -> None:
    """As asyncio has it for a name with two addresses."""
    each = (f"[Errno 111] Connect call failed ({host!r}, 1)" for host in ("::1", "127.0.0.1"))
    raise OSError(f"Multiple exceptions: {', '.join(each)}")


def twice() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("create table t (a primary key)")
        connection.execute("insert into t values (1)")
        connection.execute("insert into t values (1)")


SYSTEM: dict[str, tuple[Run, str]] = {
    "no such file": (lambda: Path("/no/such").read_text("utf-8"), "not_found/fail shell/ENOENT"),
    "a directory": (lambda: Path("/").read_text("utf-8"), "bad_request/fail shell/EISDIR"),
    "no space": (number(OSError, errno.ENOSPC, "No space"), "capacity/escalate shell/ENOSPC"),
    "no memory": (number(MemoryError), "capacity/escalate shell/ENOMEM"),
    "no permission": (
        number(PermissionError, errno.EACCES, "No"),
        "permission/escalate shell/EACCES",
    ),
    "no permission, without a number": (
        number(PermissionError, "No"),
        "permission/escalate shell/EACCES",
    ),
    "a broken pipe": (number(BrokenPipeError, errno.EPIPE, "x"), "transient/retry shell/EPIPE"),
    "a reset": (number(ConnectionResetError, errno.ECONNRESET, "x"), RESET),
    "two addresses refused": (two_refused, REFUSED),
    "a number of no name": (number(OSError, 99_999, "?"), "unknown/escalate default"),
    "a name that is not there": (
        number(socket.gaierror, socket.EAI_NONAME, "Name or service not known"),
        "transient/retry shell/name_resolution",
    ),
    "a resolver that is not there": (
        number(socket.gaierror, socket.EAI_AGAIN, "Temporary failure"),
        "transient/retry shell/EAI_AGAIN",
    ),
    "a certificate": (verified, "integrity/fail code:CERT_HAS_EXPIRED"),
    "TLS that ended": (number(ssl.SSLEOFError, 8, "EOF occurred"), RESET),
    "TLS that is none": (
        number(ssl.SSLError, 1, "[SSL: WRONG_VERSION_NUMBER] wrong version number"),
        "unknown/escalate default",
    ),
    "a timeout of asyncio": (timed_out, TIMED_OUT),
    "a timeout of a socket": (number(TimeoutError, "timed out"), TIMED_OUT),
    "a cancelled task": (cancelled, "cancelled/fail signal:SIGINT"),
    "a cancelled future": (
        number(asyncio.CancelledError),
        "cancelled/fail signal:SIGINT",
    ),
    "a key": (number(KeyboardInterrupt), "cancelled/fail signal:SIGINT"),
    "an answer cut short": (number(http.client.IncompleteRead, b"x", 9), RESET),
    "a peer that hung up": (number(http.client.RemoteDisconnected, "Remote end closed"), RESET),
    "a stream cut short": (number(asyncio.IncompleteReadError, b"x", 9), RESET),
    "a row that is there": (twice, "conflict/escalate shell/EEXIST"),
}

CASES = {**MODEL_APIS, **HTTP, **BOTOCORE, **PROCESSES, **SYSTEM}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said_of_an_exception(name: str) -> None:
    run, wanted = CASES[name]
    assert wanted == said(caught(run))


def test_an_answer_that_was_not_read_is_not_read_now() -> None:
    answer = requests.Response()
    answer.status_code = 503
    answer.raw = io.BytesIO(b"busy")
    assert "unavailable/backoff status:503" == said(caught(answer.raise_for_status))
    assert b"busy" == answer.content


def test_an_answer_that_claims_success_explains_nothing() -> None:
    body = {"object": "report", "message": "too many requests"}
    request = httpx.Request("GET", "http://localhost/")
    answer = httpx.Response(200, json=body, request=request)
    strange = httpx.HTTPStatusError("Not what was wanted.", request=request, response=answer)
    assert "unknown/escalate default" == said(strange)


def test_a_name_decides_over_what_the_exception_tells() -> None:
    error = caught(httpx_answered(400, {"message": "prompt is too long: 9"}))
    assert "too_large/reduce_input aws/input_too_long" == said(error, provider="bedrock")
    assert "too_large/reduce_input anthropic/prompt_too_long" == said(error)


def test_attempts_and_waits_are_the_callers() -> None:
    error = caught(httpx_answered(429, **{"retry-after": "60"}))
    spent = classify_exception(error, attempt=3, max_attempts=3)
    assert (True, "escalate") == (spent.exhausted, spent.action)
    capped = classify_exception(error, max_wait_ms=1_000)
    assert ("escalate", 60_000) == (capped.action, capped.wait_ms)
