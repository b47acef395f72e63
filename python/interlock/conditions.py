"""Conditions: lists of checks over a record, paths, formats, canonical form.

The core's face. Nothing here evaluates a check; it shapes what the core answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self, cast

from interlock import _core
from interlock._compiled import CompiledSpec, beside, plain_problems, refuse
from interlock._wire import WireForm
from interlock.errors import ConfigError, Problem, Undetermined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlock.typing import JSON, Limits, Match, Verdict

__all__ = [
    "CheckReport",
    "CheckResult",
    "Checks",
    "FormatResult",
    "Resolution",
    "canonical",
    "check_format",
    "digest",
    "resolve",
]

_DIGEST_LENGTH = 64
_VERDICTS: dict[int, Verdict] = {1: "pass", 0: "fail", -1: "undetermined"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult(WireForm):
    """One check of a report.

    Attributes:
        index: Its position in the list, from 0.
        path: The path as written; empty for the value itself.
        op: The op's name.
        ok: Whether it holds.
        actual: A one-line preview of the value (80 characters at most); None where the path does
            not resolve.
        expected: A preview of the operand; None where there is none.
        reason: Why it does not hold; empty when it does.
        undetermined: Whether it could not be evaluated; never read as "does not hold".
    """

    index: int
    path: str
    op: str
    ok: bool
    actual: str | None
    expected: str | None
    reason: str
    undetermined: bool = False

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        wire: dict[str, JSON] = {
            "index": self.index,
            "path": self.path,
            "op": self.op,
            "ok": self.ok,
            "actual": self.actual,
            "expected": self.expected,
            "reason": self.reason,
        }
        if self.undetermined:
            wire["undetermined"] = True
        return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport(WireForm):
    """What every check of a list says of a record.

    Attributes:
        results: The checks in order; none is skipped.
    """

    results: tuple[CheckResult, ...]

    @property
    def ok(self) -> bool:
        """Whether all checks hold."""
        return self.failed == 0

    @property
    def passed(self) -> int:
        """How many checks hold."""
        return sum(result.ok for result in self.results)

    @property
    def failed(self) -> int:
        """How many do not, undetermined ones included."""
        return len(self.results) - self.passed

    @property
    def undetermined(self) -> int:
        """How many could not be evaluated."""
        return sum(result.undetermined for result in self.results)

    @property
    def outcome(self) -> str:
        """A short label for counting."""
        decided = self.failed > self.undetermined
        return "ok" if self.ok else "failed" if decided else "(undetermined)"

    @property
    def failures(self) -> tuple[CheckResult, ...]:
        """The checks that do not hold, in order."""
        return tuple(result for result in self.results if not result.ok)

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        return {
            "ok": self.ok,
            "passed": self.passed,
            "failed": self.failed,
            "undetermined": self.undetermined,
            "results": [result.to_dict() for result in self.results],
            "failures": [result.to_dict() for result in self.failures],
        }


def read_reports(
    rules: _core.RuleSet, value: object, start: int, end: int
) -> list[tuple[int, CheckReport]]:
    """Evaluate every check of some lists of a set: what each says (1, 0 or -1), and its report."""
    return [(verdict, _report(rows)) for verdict, rows in rules.reports(value, start, end)]


def _report(rows: list[tuple[str, str, bool, bool, str | None, str | None, str]]) -> CheckReport:
    return CheckReport(
        results=tuple(
            CheckResult(
                index=index,
                path=path,
                op=op,
                ok=ok,
                actual=actual,
                expected=expected,
                reason=reason,
                undetermined=undetermined,
            )
            for index, (path, op, ok, undetermined, actual, expected, reason) in enumerate(rows)
        )
    )


class Checks(CompiledSpec):
    """A list of checks, compiled.

    Args:
        checks: Mappings of `op` and, as the op needs, `path`, `expected`, `flags`, `message`;
            1 to 64 of them.
        strict: Whether a broken check (malformed path, invalid or unsupported pattern, an operand
            that the op can never accept) refuses the list. Else it fails, or is undetermined,
            with its reason.
        limits: Limits to lower or raise, by name.

    Raises:
        SpecInvalid: With every problem found.

    Example:
        >>> from interlock import Checks
        >>> checks = Checks([{"path": "total", "op": "greaterThan", "expected": 1000}])
        >>> checks.verdict({"total": 1200})
        'pass'
        >>> checks.report({"total": 5}).results[0].reason
        'total: 5 is not greater than 1000'
    """

    __slots__ = ()

    tool = "Assert"
    spec_fields = ("checks",)

    def __init__(
        self,
        checks: Sequence[object],
        *,
        strict: bool = False,
        limits: Limits | None = None,
    ) -> None:
        """Compile the list."""
        rules, problems, faults = _core.compile_checks(checks, field="checks", limits=limits)
        plain, not_plain = plain_problems(checks, "checks")
        refuse([*problems, *(faults if strict else ()), *beside(problems, not_plain)])
        self._freeze(cast("_core.RuleSet", rules), {"checks": plain}, limits, faults)

    @classmethod
    def compile(
        cls,
        spec: Sequence[object],
        *,
        strict: bool = False,
        limits: Limits | None = None,
    ) -> Self:
        """Compile a list of checks; the same as calling the class."""
        return cls(spec, strict=strict, limits=limits)

    def verdict(self, value: object, match: Match = "all") -> Verdict:
        """Say whether the list holds for a value, without building reasons.

        Args:
            value: The record: Python data, a dataclass, pydantic or attrs object, or `Json`.
            match: `all`: a failed check decides, else an undetermined one leaves it open. `any`: a
                passed check decides, else likewise.

        Returns:
            `pass`, `fail` or `undetermined`.
        """
        return _VERDICTS[self._rules.verdict(value, 0, _is_any(match))]

    def report(self, value: object) -> CheckReport:
        """Evaluate every check, with previews and reasons."""
        return read_reports(self._rules, value, 0, 1)[0][1]

    def holds(self, value: object, match: Match = "all") -> bool:
        """Say yes or no.

        Raises:
            Undetermined: When neither is true, with the first reason.
        """
        rules = self._rules
        verdict = (
            rules.verdict(value) if match == "all" else rules.verdict(value, 0, _is_any(match))
        )
        if verdict < 0:
            undecided = (r.reason for r in self.report(value).results if r.undetermined)
            raise Undetermined(next(undecided, "could not be decided"))
        return verdict > 0


def _is_any(match: object) -> bool:
    if match not in ("all", "any"):
        message = 'must be "all" or "any"'
        raise ConfigError((Problem("spec/unknown-choice", "match", _core.preview(match), message),))
    return match == "any"


class Resolution(NamedTuple):
    """Where a path led.

    Attributes:
        found: Whether anything is there; a null that is there is found.
        value: What is there; None also when nothing is.
        missing_at: The prefix up to and including the segment that failed, joined by dots.
    """

    found: bool
    value: object
    missing_at: str | None


def resolve(value: object, path: str) -> Resolution:
    """Follow a dotted path through a value.

    Args:
        value: Python data, a dataclass, pydantic or attrs object, or `Json`.
        path: Such as `order.items[0].sku` or `["odd.key"].x`; at most 1,024 characters and 64
            segments. Empty or `$`: the value itself.

    Raises:
        PathInvalid: When the path is malformed or over a limit.
    """
    return Resolution(*_core.resolve(value, path))


class FormatResult(NamedTuple):
    """Whether a text is of a format, and if not, what the format accepts."""

    valid: bool
    reason: str


def check_format(text: object, name: str) -> FormatResult:
    """Check a text against one of the twelve named formats.

    Args:
        text: The text; anything that is no string is not valid.
        name: email uri uri-reference hostname ipv4 ipv6 uuid date time date-time json-pointer
            regex; names are case-sensitive. Each is a stated subset of its standard; the reason of
            a refusal says which, and `docs/formats.md` lists them.

    Raises:
        ConfigError: When there is no format of that name.
    """
    checked = _core.find_format(text if isinstance(text, str) else "", name)
    if checked is None:
        near = _core.nearest(name, [known for known, _ in _core.formats()])
        hint = f'; did you mean "{near}"?' if near else ""
        problem = Problem("check/unknown-format", "name", _core.preview(name), f"no format{hint}")
        raise ConfigError((problem,))
    summary, valid = checked
    if not isinstance(text, str):
        return FormatResult(False, f"{name} is a format of strings")
    if valid is None:
        return FormatResult(False, "a pattern over a limit, or with syntax that is not known yet")
    return FormatResult(valid, "" if valid else f"not a valid {name}: {summary}")


def canonical(value: object) -> str:
    """Return the canonical form of a value (RFC 8785, JCS).

    Keys are sorted by UTF-16 code units, numbers are ECMAScript number text, there are no spaces.
    Equal values have one form: `1`, `1.0` and `Decimal("1.00")` are all `1`. Where JCS would
    round, this does not: a whole number outside ±2**53 keeps all its digits, unless it is exactly
    the text of a double of 1e21 or more, which is written as that double is (`1e+21`).

    Raises:
        ConfigError: Where JSON cannot hold the value: a foreign type, NaN, an infinity, a key that
            is no string, a lone surrogate half, nesting beyond 128.
    """
    return _core.canonical(value)


def digest(value: object, length: int = 64) -> str:
    """Return the first `length` hexadecimal digits (64 at most) of the SHA-256 of `canonical`.

    Raises:
        ConfigError: As `canonical`; also when the length is not between 1 and 64.
    """
    if not 1 <= length <= _DIGEST_LENGTH:
        message = "must be between 1 and 64"
        raise ConfigError((Problem("spec/wrong-type", "length", str(length), message),))
    return _core.digest(value, length)
