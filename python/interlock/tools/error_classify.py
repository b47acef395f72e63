"""ErrorClassify: what kind of error, and what next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, cast

from interlock import _core
from interlock._compiled import CompiledSpec, plain_problems, refuse
from interlock._wire import WireForm
from interlock.tools._error_rules import read_rules
from interlock.tools._signals import read_signals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlock.typing import JSON, Instant, Limits

__all__ = ["ErrorClassify", "ErrorVerdict", "error_classify"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorVerdict(WireForm):
    """What kind of error it is, and what to do next.

    Attributes:
        error_class: One of the 19 classes (`class` in data), such as `rate_limited`.
        action: One of the 9 actions: continue retry retry_after backoff reauth reduce_input
            escalate skip fail.
        retryable: Whether the action tries again; it follows the action, never the class.
        wait_ms: How long to wait, in milliseconds; None when nobody said.
        retry_at: The instant the server named, `YYYY-MM-DDTHH:MM:SS.mmmZ`; else None.
        matched: The entry that decided, such as `status:429`, or a rule's id.
        source: What kind of entry: custom status signal exit code message default undetermined.
        exhausted: Whether the attempts are spent.
    """

    error_class: str
    action: str
    retryable: bool
    wait_ms: int | None
    retry_at: str | None
    matched: str
    source: str
    exhausted: bool

    @property
    def outcome(self) -> str:
        """A short label for counting."""
        return f"{self.error_class} / {self.action}"

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        return {
            "class": self.error_class,
            "action": self.action,
            "retryable": self.retryable,
            "waitMs": self.wait_ms,
            "retryAt": self.retry_at,
            "matched": self.matched,
            "source": self.source,
            "exhausted": self.exhausted,
        }


class ErrorClassify(CompiledSpec):
    """A classifier: a caller's rules before the tables.

    Asked in this order: rules, status, signal, exit code, code, message; the first that says
    anything decides.

    Args:
        rules: Mappings of `id`, `class`, `action`, at least one of `contains`, `matches`,
            `status`, `exitCode`, and optional `waitMs`; all conditions given must hold. `contains`
            and `matches` (an ECMAScript pattern) ignore case and look at message and code apart.
        strict: Whether a pattern that is not run here refuses the rules; else a rule that hangs on
            it answers `undetermined`.
        limits: Limits to lower or raise, by name.

    Raises:
        SpecInvalid: With every problem found.

    Example:
        >>> from interlock import ErrorClassify
        >>> ErrorClassify().classify(status=503, retry_after="7").wait_ms
        7000
    """

    __slots__ = ("_classifier",)

    tool = "ErrorClassify"
    spec_fields = ("rules",)
    entries_required = False

    _classifier: _core.Classifier

    def __init__(
        self,
        rules: Sequence[object] = (),
        *,
        strict: bool = False,
        limits: Limits | None = None,
    ) -> None:
        """Compile the rules."""
        rows, problems, faults = read_rules(rules, limits)
        plain, not_plain = plain_problems(rules, "rules")
        refuse([*problems, *(faults if strict else ()), *not_plain])
        self._set("_classifier", _core.Classifier(rows))
        self._freeze(None, {"rules": plain}, limits, tuple(faults))

    @classmethod
    def _from_fields(
        cls,
        entries: object,
        fields: dict[str, object],  # noqa: ARG003 (rules are all there is)
        *,
        strict: bool,
        limits: Limits | None,
    ) -> Self:
        rules = () if entries is None else cast("Sequence[object]", entries)
        return cls(rules, strict=strict, limits=limits)

    def classify(  # noqa: PLR0913 (one for each signal, all by name)
        self,
        *,
        status: int | None = None,
        exit_code: int | None = None,
        signal: str | None = None,
        code: str | None = None,
        message: str | None = None,
        retry_after: str | float | None = None,
        attempt: int | None = None,
        max_attempts: int | None = None,
        now: Instant | None = None,
    ) -> ErrorVerdict:
        """Classify an error by what is known of it; everything is optional.

        Args:
            status: An HTTP status. Below 200 it says nothing.
            exit_code: A process's exit code. 1 says nothing; 128 + n stands for a signal.
            signal: A signal's name, such as `SIGKILL`, in any case.
            code: An error code, such as `ECONNRESET` or `insufficient_quota`.
            message: What was said; the first 64,000 characters are read.
            retry_after: A `Retry-After` value (RFC 9110 section 10.2.3): seconds or a date.
            attempt: Which attempt this was, from 0 or 1 as the caller counts.
            max_attempts: How many are allowed, at least 1; without it nothing is ever spent.
            now: The instant that dates are counted from: epoch milliseconds, ISO 8601 text with an
                offset, or an aware datetime. Without it a date gives `retry_at` and no wait.

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
        }
        return self.classify_data(given)

    def classify_data(self, signals: Mapping[str, object]) -> ErrorVerdict:
        """Classify an error given as data: `status`, `exitCode`, `retryAfter` and so on.

        Raises:
            ConfigError: As `classify`; also for a field that is no signal.
        """
        read = read_signals(signals)
        found = self._classifier.classify(
            status=read.status,
            exit_code=read.exit_code,
            signal=read.signal,
            code=read.code,
            message=read.message,
            wait_ms=read.wait_ms,
            exhausted=read.exhausted,
        )
        error_class, action, retryable, wait_ms, matched, source = found
        return ErrorVerdict(
            error_class=error_class,
            action=action,
            retryable=retryable,
            wait_ms=wait_ms,
            retry_at=read.retry_at,
            matched=matched,
            source=source,
            exhausted=read.exhausted,
        )


def error_classify(  # noqa: PLR0913 (one for each signal, all by name)
    *,
    status: int | None = None,
    exit_code: int | None = None,
    signal: str | None = None,
    code: str | None = None,
    message: str | None = None,
    retry_after: str | float | None = None,
    attempt: int | None = None,
    max_attempts: int | None = None,
    now: Instant | None = None,
    rules: Sequence[object] = (),
) -> ErrorVerdict:
    """Classify an error by what is known of it; see `ErrorClassify` for rules and signals.

    Raises:
        ConfigError: With every problem found, before anything is looked at.
    """
    return ErrorClassify(rules).classify(
        status=status,
        exit_code=exit_code,
        signal=signal,
        code=code,
        message=message,
        retry_after=retry_after,
        attempt=attempt,
        max_attempts=max_attempts,
        now=now,
    )
