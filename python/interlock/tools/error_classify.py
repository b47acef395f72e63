"""ErrorClassify: what kind of error, and what next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from interlock import _core
from interlock._compiled import CompiledSpec, beside, plain_problems, refuse
from interlock.errors import ConfigError
from interlock.tools._error_lines import error_blocks, many
from interlock.tools._error_rules import read_packs, read_rules
from interlock.tools._error_verdict import ErrorVerdict, ErrorVerdicts
from interlock.tools._exceptions import signals_of
from interlock.tools._records import read_threads
from interlock.tools._signals import read_signals

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from enum import Enum

    from interlock._lines import Pieces, Records
    from interlock.typing import JSON, Command, Instant, Limits

__all__ = [
    "ErrorClassify",
    "ErrorVerdict",
    "ErrorVerdicts",
    "classify_exception",
    "error_classify",
]


class ErrorClassify(CompiledSpec):
    """A classifier: a caller's rules, then packs, then the tables.

    Asked in this order: rules, packs, status, signal, exit code, code, message; the first that
    says anything decides. Packs are rules for the errors of one provider or program; they are
    asked only when at least one of `provider`, `body`, `headers`, `command`, `errno`, `stdout` is
    given.

    Args:
        rules: Mappings of `id`, `class`, `action`, at least one of `contains`, `matches`,
            `status`, `exitCode`, and optional `waitMs`; all conditions given must hold. `contains`
            and `matches` (an ECMAScript pattern) ignore case and look at message and code apart.
        packs: Names of the packs that may be asked; all when None, none when empty.
        strict: Whether a pattern that is not run here refuses the rules; else a rule that hangs on
            it answers `undetermined`.
        limits: Limits to lower or raise, by name.

    Raises:
        SpecInvalid: With every problem found.

    Example:
        >>> from interlock import ErrorClassify
        >>> ErrorClassify().classify(status=503, retry_after="7").wait_ms
        7000
        >>> body = {"error": {"type": "insufficient_quota", "message": "No credit left."}}
        >>> ErrorClassify().classify(status=429, body=body).matched
        'openai/insufficient_quota'
    """

    __slots__ = ("_classifier",)

    tool = "ErrorClassify"
    spec_fields = ("rules", "packs")
    entries_required = False

    _classifier: _core.Classifier

    def __init__(
        self,
        rules: Sequence[object] = (),
        packs: Sequence[str] | None = None,
        *,
        strict: bool = False,
        limits: Limits | None = None,
    ) -> None:
        """Compile the rules."""
        rows, problems, faults = read_rules(rules, limits)
        names, unknown = read_packs(packs)
        plain, not_plain = plain_problems(rules, "rules")
        refuse([*problems, *unknown, *(faults if strict else ()), *beside(problems, not_plain)])
        self._set("_classifier", _core.Classifier(rows, names))
        chosen: dict[str, JSON] = {} if names is None else {"packs": [*names]}
        self._freeze(None, {"rules": plain, **chosen}, limits, tuple(faults))

    @classmethod
    def _from_fields(cls, entries: object, fields: dict[str, object], **options: Any) -> Self:
        return super()._from_fields(() if entries is None else entries, fields, **options)

    def classify(  # noqa: PLR0913 (one for each signal, all by name)
        self,
        *,
        status: int | None = None,
        exit_code: int | None = None,
        signal: str | Enum | None = None,
        code: str | None = None,
        message: str | None = None,
        retry_after: str | float | None = None,
        attempt: int | None = None,
        max_attempts: int | None = None,
        now: Instant | None = None,
        max_wait_ms: int | None = None,
        provider: str | None = None,
        body: object = None,
        headers: Mapping[str, object] | Sequence[tuple[str, object]] | None = None,
        command: Command | None = None,
        errno: int | str | None = None,
        stdout: str | None = None,
    ) -> ErrorVerdict:
        """Classify an error by what is known of it; everything is optional.

        Args:
            status: An HTTP status. Below 200 it says nothing.
            exit_code: A process's exit code. 1 says nothing; 128 + n stands for a signal.
            signal: A signal's name, such as `SIGKILL`, in any case, or a member of an enumeration,
                such as `signal.SIGKILL`. A bare number is refused: systems count differently.
            code: An error code, such as `ECONNRESET` or `insufficient_quota`.
            message: What was said; the first 64,000 characters are read.
            retry_after: A `Retry-After` value (RFC 9110 section 10.2.3): seconds or a date.
            attempt: Which attempt this was, from 0 or 1 as the caller counts.
            max_attempts: How many are allowed, at least 1; without it nothing is ever spent.
            now: The instant that dates are counted from: epoch milliseconds, ISO 8601 text with an
                offset, or an aware datetime. Without it a date gives `retry_at` and no wait.
            max_wait_ms: The longest wait the caller takes, in milliseconds; a longer one is
                reported and the action is `escalate`.
            provider: Who answered, such as `openai` or `aws`: chooses a pack.
            body: The body of an answer: JSON as text or data, or other text. An error object in it
                outranks a status of 2xx.
            headers: The headers of an answer, in any case; waits are read from them.
            command: The program that ran, as a path, or its command line, as text, bytes or a list
                of words: chooses a pack.
            errno: The name of an error number, or the number as Linux has it.
            stdout: What the program printed.

        Raises:
            ConfigError: With every signal of a wrong type or out of range.
        """
        given: dict[str, object] = {
            "status": status,
            "exitCode": exit_code,
            "signal": signal,
            "code": code,
            "message": message,
            "retryAfter": retry_after,
            "attempt": attempt,
            "maxAttempts": max_attempts,
            "now": now,
            "maxWaitMs": max_wait_ms,
            "provider": provider,
            "body": body,
            "headers": headers,
            "command": command,
            "errno": errno,
            "stdout": stdout,
        }
        return self.classify_data(given)

    def classify_data(self, signals: Mapping[str, object] | _core.Json) -> ErrorVerdict:
        """Classify an error given as data: `status`, `exitCode`, `retryAfter` and so on.

        Raises:
            ConfigError: As `classify`; also for a field that is no signal, and for data that is no
                mapping.
        """
        return ErrorVerdict(*self._classifier.classify(*read_signals(signals)))

    def classify_many(
        self, records: Records, *, threads: int | None = None, json_columns: Sequence[str] = ()
    ) -> ErrorVerdicts:
        """Classify many errors given as data, in one call; as `classify_data` one by one.

        Args:
            records: Mappings or `Json` from any iterable, JSON Lines (bytes or a file's path), of
                which a line that is refused is a bad line, or Arrow data.
            threads: How many threads read JSON Lines, at least 1; 1 when left out.
            json_columns: Columns of Arrow data that hold JSON as text, by name.

        Raises:
            ConfigError: As `classify_data` for the first record that is refused, at `records[…]`.
            OSError: When the file or stream cannot be read.
        """
        return many(self._classifier, records, read_threads(threads), json_columns)

    def answer_blocks(self, pieces: Pieces, threads: int) -> Iterator[ErrorVerdicts]:
        """Classify JSON Lines piece by piece."""
        return error_blocks(self._classifier, pieces, threads)

    def classify_exception(
        self,
        error: BaseException,
        *,
        attempt: int | None = None,
        max_attempts: int | None = None,
        now: Instant | None = None,
        max_wait_ms: int | None = None,
        provider: str | None = None,
        command: Command | None = None,
    ) -> ErrorVerdict:
        """Classify an exception by what it carries; see `interlock.classify_exception`.

        Raises:
            ConfigError: As `classify`.
        """
        given = {
            "attempt": attempt,
            "maxAttempts": max_attempts,
            "now": now,
            "maxWaitMs": max_wait_ms,
            "provider": provider,
            "command": command,
        }
        known = {name: value for name, value in given.items() if value is not None}
        read_signals(known)
        told = signals_of(error)
        try:
            verdict = self.classify_data({**told, **known})
        except ConfigError:
            # The caller's own are right: it is a body of somebody's type that cannot be read.
            told.pop("body", None)
            verdict = self.classify_data({**told, **known})
        if verdict.source == "status" and verdict.error_class == "ok":
            # An answer that claims that all is well explains no exception.
            rest = {name: told[name] for name in told if name not in {"status", "body"}}
            verdict = self.classify_data({**rest, **known})
        return verdict


def error_classify(  # noqa: PLR0913 (one for each signal, all by name)
    *,
    status: int | None = None,
    exit_code: int | None = None,
    signal: str | Enum | None = None,
    code: str | None = None,
    message: str | None = None,
    retry_after: str | float | None = None,
    attempt: int | None = None,
    max_attempts: int | None = None,
    now: Instant | None = None,
    rules: Sequence[object] = (),
    max_wait_ms: int | None = None,
    provider: str | None = None,
    body: object = None,
    headers: Mapping[str, object] | Sequence[tuple[str, object]] | None = None,
    command: Command | None = None,
    errno: int | str | None = None,
    stdout: str | None = None,
    packs: Sequence[str] | None = None,
) -> ErrorVerdict:
    """Classify an error by what is known of it; see `ErrorClassify` for rules, packs and signals.

    Raises:
        ConfigError: With every problem found, before anything is looked at.
    """
    return ErrorClassify(rules, packs).classify(
        status=status,
        exit_code=exit_code,
        signal=signal,
        code=code,
        message=message,
        retry_after=retry_after,
        attempt=attempt,
        max_attempts=max_attempts,
        now=now,
        max_wait_ms=max_wait_ms,
        provider=provider,
        body=body,
        headers=headers,
        command=command,
        errno=errno,
        stdout=stdout,
    )


def classify_exception(  # noqa: PLR0913 (what the exception cannot tell, all by name)
    error: BaseException,
    *,
    rules: Sequence[object] = (),
    packs: Sequence[str] | None = None,
    attempt: int | None = None,
    max_attempts: int | None = None,
    now: Instant | None = None,
    max_wait_ms: int | None = None,
    provider: str | None = None,
    command: Command | None = None,
) -> ErrorVerdict:
    """Classify an exception by what it carries, whatever library it is of.

    No library is imported: an exception is known by its attributes and by the names of its
    classes. Read are an answer's status, headers, body and code (httpx, requests, urllib,
    openai, anthropic, botocore, aiohttp, google, grpc, kubernetes, azure, stripe), a process's
    command, exit code or signal, and output (subprocess and its like; of a long output the end), a
    database's code (psycopg, asyncpg), an error number (OSError, ssl, socket, sqlite3). Without any
    of these an exception is read as the code nearest to its kind: a timeout as `ETIMEDOUT`, a
    refused connection as `ECONNREFUSED`. An answer that was not read yet is not read now.

    Where several say something:

    - Status, error object and code of one answer are one piece of evidence, weighed as `classify`
      weighs it: the error object says more than the status (429 with `insufficient_quota` is a
      quota). Of `body` and the whole answer, the object that the client took out counts.
    - Nearest first: an exception that carries something decides, even if it was raised from one
      that carries something else. One that carries nothing gives way to what it wraps (urllib3's
      `reason`, the last attempt of tenacity, SQLAlchemy's `orig`), then to its cause, then to the
      members of a group in their order, at last to what was being handled. 32 are looked at.
    - A kind that only wraps, such as `requests.ConnectionError`, is heard when nothing else is.
    - Texts of all exceptions down to the one that decides are the message.
    - A mistake in code (`TypeError`, `KeyError` and the like) is not what it interrupted, and its
      text is not read: it quotes names.
    - A status of 2xx explains no exception: without an error object the answer is left out.

    Args:
        error: The exception.
        rules: As in `ErrorClassify`.
        packs: As in `ErrorClassify`.
        attempt: As in `ErrorClassify.classify`, as all that follow.
        max_attempts: How many attempts are allowed.
        now: The instant that dates are counted from.
        max_wait_ms: The longest wait the caller takes.
        provider: Who answered; outranks what the exception tells.
        command: The program that ran; outranks what the exception tells.

    Raises:
        ConfigError: With every problem of the arguments; never because of what an exception holds.
        BaseException: A `KeyboardInterrupt`, `SystemExit` or the like that an attribute raises when
            it is looked at; one that raises an `Exception` counts as not there.

    Example:
        >>> import interlock
        >>> interlock.classify_exception(ConnectionResetError(104, "reset by peer")).error_class
        'transient'
    """
    return ErrorClassify(rules, packs).classify_exception(
        error,
        attempt=attempt,
        max_attempts=max_attempts,
        now=now,
        max_wait_ms=max_wait_ms,
        provider=provider,
        command=command,
    )
