"""The errors of interlock: a small tree, each naming what is wrong, where, and what to write.

InterlockError
├── ConfigError (also a ValueError): carries every problem found
│   ├── InputInvalid     arguments of a call, or text that is no JSON
│   ├── SpecInvalid      a spec of a tool or a list of checks
│   ├── PathInvalid      a malformed path
│   ├── RunbookInvalid   a runbook document, or a policy built by hand
│   └── PatternError
│       ├── PatternInvalid       not ECMAScript
│       ├── PatternUnsupported   ECMAScript that is not run in linear time here
│       └── PatternTooLarge      over a size limit
├── PolicyMismatch       a state belongs to another policy
├── StateVersion         a state was written by a newer interlock
├── StaleState           somebody else has moved the run meanwhile
├── UsageError           the library is used, or answered, in a way that has no meaning
├── RunFailed            a result was unwrapped that is not completed
├── ReplayDivergence     a run that is played again went another way than its record
├── RouteError           a router that cannot go on: what it read, or what its plan says
│   └── RouteFileError       a file of a choice that is there and is none
├── StoreError           what is kept of a run cannot be had
│   └── RunBusy              somebody else has the run
└── Undetermined         a yes-or-no answer was asked for and there is none
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "ConfigError",
    "InputInvalid",
    "InterlockError",
    "PathInvalid",
    "PatternError",
    "PatternInvalid",
    "PatternTooLarge",
    "PatternUnsupported",
    "PolicyMismatch",
    "Problem",
    "ReplayDivergence",
    "RouteError",
    "RouteFileError",
    "RunBusy",
    "RunFailed",
    "RunbookInvalid",
    "SpecInvalid",
    "StaleState",
    "StateVersion",
    "StoreError",
    "Undetermined",
    "UsageError",
]


class Problem(NamedTuple):
    """One fault of an input.

    Attributes:
        code: Its stable entry in the catalogue, such as `spec/unknown-op`.
        field: Where, as a path into the input, such as `arms[2].when[0].op`.
        value: A one-line preview of what stands there; None where nothing does.
        message: What is wrong and what to write instead.
    """

    code: str
    field: str
    value: str | None
    message: str

    def __str__(self) -> str:
        """`field: value: message [code]`."""
        shown = "" if self.value is None else f" {self.value}:"
        return f"{self.field}:{shown} {self.message} [{self.code}]"

    @property
    def is_warning(self) -> bool:
        """Whether it only warns."""
        return self.code.startswith("lint/")


class InterlockError(Exception):
    """The root of every error that interlock raises on purpose."""


class ConfigError(InterlockError, ValueError):
    """An input that is refused, with every problem found in it."""

    def __init__(self, problems: tuple[Problem, ...] | str) -> None:
        """Take the problems, at least one; or only their text, as Polars raises it again."""
        super().__init__(problems)
        self.problems: tuple[Problem, ...] = () if isinstance(problems, str) else problems

    def __str__(self) -> str:
        """One problem on one line, several below each other."""
        if not self.problems:
            return str(self.args[0])
        if len(self.problems) == 1:
            return str(self.problems[0])
        lines = [
            f"{len(self.problems)} problems:",
            *(f"  {problem}" for problem in self.problems),
        ]
        return "\n".join(lines)


class InputInvalid(ConfigError):
    """The arguments of a call, all the input of a model-facing one, or text that is no JSON."""


class SpecInvalid(ConfigError):
    """A spec that cannot be compiled."""


class RunbookInvalid(ConfigError):
    """A runbook document with faults, or a policy built by hand that leads nowhere.

    Attributes:
        places: For each problem its line and column in the text, from 1; None where the document
            was given as data. Empty when none is known.
    """

    def __init__(
        self,
        problems: tuple[Problem, ...],
        places: tuple[tuple[int | None, int | None], ...] = (),
    ) -> None:
        """Take the problems, and where they stand."""
        super().__init__(problems)
        self.places = places

    def __str__(self) -> str:
        """As every error of an input, each problem after its line and column."""
        if not self.places:
            return super().__str__()
        shown = [
            ":".join((*(str(part) for part in place if part is not None), f" {problem}"))
            if place[0] is not None
            else str(problem)
            for problem, place in zip(self.problems, self.places, strict=True)
        ]
        return shown[0] if len(shown) == 1 else "\n  ".join((f"{len(shown)} problems:", *shown))


class PathInvalid(ConfigError):
    """A malformed path."""


class PatternError(ConfigError):
    """A pattern that is not run."""


class PatternInvalid(PatternError):
    """A pattern that is not ECMAScript."""


class PatternUnsupported(PatternError):
    """A pattern or text that is valid but not run in linear time here."""


class PatternTooLarge(PatternError):
    """A pattern over a size limit."""


class Undetermined(InterlockError):
    """A yes-or-no answer was asked for and there is none; the text says why."""


class PolicyMismatch(InterlockError):
    """A state, or a log, belongs to another policy than the one it is used with."""


class StateVersion(InterlockError):
    """A state was written by a version of interlock that this one cannot read."""


class StaleState(InterlockError):
    """The run was moved by somebody else since its state was read; read it again."""


class UsageError(InterlockError):
    """The library is used wrongly, or a callable returned what has no meaning there."""


class StoreError(InterlockError):
    """What is kept of a run cannot be read or written."""


class RunBusy(StoreError):
    """Somebody else has the run; the text says how long it was waited for."""


class RouteError(InterlockError):
    """A router that takes no route; nothing falls back to a later source or the default.

    Attributes:
        code: What is wrong, such as `route/unknown`.
        message: What is wrong and what to write instead.
        router_id: The router; None where none is known.
        source_kind: `caller`, `preseed`, `route_source_file` or `context_dependency`.
        source_path: Where it was read.
        value: A one-line preview of what stands there.
        available: The routes that there are.
        problems: Every fault, where there may be several.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        router_id: str | None = None,
        source_kind: str | None = None,
        source_path: str | None = None,
        value: str | None = None,
        available: tuple[str, ...] = (),
        problems: tuple[Problem, ...] = (),
    ) -> None:
        """Take what is wrong, and where."""
        super().__init__(code, message)
        self.code, self.message = code, message
        self.router_id, self.source_kind, self.source_path = router_id, source_kind, source_path
        self.value, self.available, self.problems = value, available, problems

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with everything that is known."""
        return type(self), self.args, self.__dict__

    def __str__(self) -> str:
        """`router: file: value: message [code]`; several problems below each other."""
        if len(self.problems) > 1:
            return "\n".join([self.message, *(f"  {problem}" for problem in self.problems)])
        known = (self.router_id, self.source_path, self.value)
        return ": ".join([*filter(None, known), f"{self.message} [{self.code}]"])


class RouteFileError(RouteError):
    """A file of a choice that is there and is none, or cannot be read."""


class RunFailed(InterlockError):
    """A result was unwrapped that is not completed.

    Attributes:
        result: The result, with its record.
    """

    def __init__(self, message: str, result: object = None) -> None:
        """Take what is said, and the result."""
        super().__init__(message, result)
        self.result = result

    def __str__(self) -> str:
        """What ended the run, and why."""
        return str(self.args[0])


class ReplayDivergence(InterlockError):
    """A run that is played again went another way than its record.

    Attributes:
        path: The step where they first differ; empty for the run as a whole.
        expected: What the record holds there, as data; None where it holds nothing.
        got: What the replay came to, as data; None where it came to nothing.
    """

    def __init__(self, path: str, expected: object, got: object) -> None:
        """Take the place and both sides."""
        super().__init__(path, expected, got)
        self.path, self.expected, self.got = path, expected, got

    def __str__(self) -> str:
        """Name the place, and show both sides, cut to a line."""
        where = f"at `{self.path}`" if self.path else "in the run as a whole"
        told, got = _shown(self.expected), _shown(self.got)
        return f"the replay differs {where}: {told} in the record, {got} now"


def _shown(value: object) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


_SHOWN = 200
