"""The engine: conditions, patterns, formats, canonical form. Not public but for `Json`, `Pattern`."""

from collections.abc import Callable, Mapping
from typing import Any, Self, TypeAlias, TypeVar, final

from interlock._patterns import PatternExplanation
from interlock.errors import Problem
from interlock.typing import JSON

__all__ = [
    "ArrowAnswers",
    "ArrowForeign",
    "ArrowRows",
    "ArrowStream",
    "Classifier",
    "ErrorRows",
    "Json",
    "Pattern",
    "Points",
    "RuleSet",
    "__version__",
    "canonical",
    "check_rows",
    "codes",
    "compile_checks",
    "compile_rules",
    "digest",
    "error_names",
    "error_packs",
    "find_format",
    "fingerprint",
    "first_of_lines",
    "first_of_many",
    "first_of_rows",
    "format_instant",
    "formats",
    "limits",
    "marked",
    "nearest",
    "ops",
    "parse_instant",
    "plain",
    "preview",
    "resolve",
    "retry_after",
    "standing_of_lines",
    "standing_of_rows",
    "to_json",
]

_T = TypeVar("_T")
__version__: str

_Headers: TypeAlias = list[tuple[str, str]]
_More: TypeAlias = tuple[str | None, object, _Headers | None, str | None, str | None, str | None]
_ErrorRow: TypeAlias = tuple[str, str, bool, int | None, str | None, str, str, bool, str | None]

@final
class ArrowAnswers:
    """Answers as an array of structs: outcome, index, undetermined, error."""

    def __new__(
        cls,
        column: bytes,
        outcomes: list[str],
        lists: int,
        undetermined: dict[int, str],
        errors: dict[int, str],
    ) -> Self:
        """Of the 32-bit codes in the column, those below `lists` are positions."""
    def array(self) -> tuple[object, object]:
        """A capsule with the schema and one with the array."""
    def stream(self) -> object:
        """A capsule with a stream of one array."""

@final
class ArrowForeign:
    """What stands in plain data where a value is that JSON has not."""

@final
class ArrowRows:
    """Some records as rows of columns."""

    def __len__(self) -> int: ...
    def record(self, row: int) -> object:
        """A row as plain data; or a `str` that says what is wrong with it."""

@final
class ArrowStream:
    """Records from an object that hands over Arrow data, some rows at a time."""

    def __new__(cls, records: object, json_columns: list[str]) -> Self:
        """Asks for a stream, or an array where there is none."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> ArrowRows: ...

@final
class Classifier:
    """Caller rules and packs before the error tables.

    A rule is: id, contains, pattern, whether the pattern is undetermined, status, exit code, class,
    action, wait in milliseconds. Packs are chosen by name; None for all.
    """

    def __new__(
        cls,
        rules: list[
            tuple[
                str, str | None, Pattern | None, bool, int | None, int | None, str, str, int | None
            ]
        ],
        packs: list[str] | None = None,
    ) -> Self: ...
    def classify(
        self,
        status: int | None,
        exit_code: int | None,
        signal: str | None,
        code: str | None,
        message: str | None,
        retry_after: str | None,
        now_ms: int | None,
        exhausted: bool,
        max_wait_ms: int | None,
        more: _More | None,
    ) -> _ErrorRow:
        """Class, action, retryable, wait, instant, matched, source, exhausted, message.

        `more` is provider, body, headers, command, errno, stdout.
        """
    def classify_many(
        self,
        records: list[object],
        one: Callable[[int], tuple[object, ...] | None],
        refused: Callable[[int, BaseException], None] | None = None,
    ) -> ErrorRows:
        """The answers for a list of records.

        One that is not plain is read by `one`, which takes its place and gives the arguments of
        `classify`, or nothing for what has no answer; `refused`, if given, is told of what is
        raised: place, error.
        """
    def classify_lines(
        self,
        text: bytes,
        threads: int,
        one: Callable[[bytes], tuple[object, ...]],
        refused: Callable[[int, int, Exception], None],
    ) -> tuple[ErrorRows, list[tuple[int, int, int, str]], int]:
        """The answers for a JSON Lines text, the bad lines (record, line, column, message), and how
        many lines there are.

        A record that is not plain is read by `one`, which takes its text and gives the arguments of
        `classify`; `refused` is told of what is raised then: record, line, error.
        """

@final
class ErrorRows:
    """The answers of a batch, in the order of its records."""

    def __len__(self) -> int: ...
    def row(self, place: int) -> _ErrorRow:
        """The answer at a place."""
    def counts(self) -> list[tuple[tuple[str, str], int]]:
        """How often each class and action were answered."""

@final
class Json:
    """A record as parsed JSON text (RFC 8259).

    Parsed once, read as often as needed; takes the place of a record everywhere. The last of a
    repeated key counts; a number with a fraction or exponent is a float, one without an integer of
    up to 20,000 digits; a lone surrogate half in an escape is kept; any nesting is read.

    Args:
        text: `bytes` in UTF-8, or `str`.
        unique_keys: Whether a repeated key is refused.

    Raises:
        InputInvalid: Where the text is no JSON, with line and column.
    """

    def __new__(cls, text: bytes | str, /, *, unique_keys: bool = False) -> Self: ...
    def to_python(self) -> JSON:
        """Return the value as plain Python data; nesting beyond 200 is a `ConfigError`."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: object) -> Self: ...

@final
class Pattern:
    """An ECMAScript pattern, compiled to run in time linear in the text.

    Means what `new RegExp(source, flags).test(text)` answers on a fresh object.

    Args:
        source: The pattern, without slashes; at most 10,000 characters.
        flags: Letters of `d g i m s u v y`; `g` and `d` change nothing.
        limits: Limits to lower or raise, by name.

    Raises:
        PatternInvalid: It is not ECMAScript.
        PatternUnsupported: It is ECMAScript that is not run here.
        PatternTooLarge: It is over a size limit.
    """

    def __new__(
        cls,
        source: str,
        flags: str | None = None,
        *,
        limits: Mapping[str, int] | None = None,
    ) -> Self: ...
    def test(self, text: str) -> bool:
        """Say whether the pattern is found in a text.

        Raises:
            PatternUnsupported: The text is over the limit (8 MiB), or it and the pattern together are.
        """

    def explain(self) -> PatternExplanation:
        """Say how the pattern is run, how its parts are read, and what was probably meant otherwise."""

    @property
    def source(self) -> str:
        """The pattern as it was given."""

    @property
    def flags(self) -> str:
        """The flags as they were given."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: object) -> Self: ...

@final
class Points:
    """A column of whole numbers."""

    def __new__(cls, points: tuple[int, ...]) -> Self:
        """Take a number for each list."""

    def sum(self, marks: bytes) -> int:
        """Add up those of the lists that are marked."""

@final
class RuleSet:
    """N condition lists, compiled."""

    def first(self, value: object) -> int:
        """The position of the first list that holds; -1 for none; -2 - n when list n is undecided."""

    def standing(self, value: object) -> tuple[tuple[int, ...], bytes]:
        """The positions of the lists that are undecided, in order, and the lists that hold, for
        `marked`."""

    def score(self, value: object, points: Points) -> tuple[bytes, int | None]:
        """The lists that hold, for `marked`, and the sum of their points; None when one is
        undecided."""

    def pick(self, value: object, column: tuple[object, ...]) -> Any:
        """What a column has for the first list that holds: an entry for every list and a last one
        for none. Where that is None or left out, and for an undecided list, the number of `first`."""

    def verdict(self, value: object, rule: int = 0, either: bool | None = None) -> int:
        """What one list says: 1 holds, 0 does not, -1 undecided; `either` replaces its own match: one
        check is enough."""

    def reports(
        self, value: object, start: int = 0, end: int = 1
    ) -> list[tuple[int, list[tuple[str, str, bool, bool, str | None, str | None, str]]]]:
        """Lists from `start` to before `end`: what each says, and every check of it: path, op, ok,
        undetermined, actual, expected, reason."""

    def requirement(self, rule: int) -> tuple[int, bool] | None:
        """How many checks a list has, and whether one of them is enough."""

    def names(self) -> list[str | None]:
        """The names of the lists in order."""

    def __len__(self) -> int: ...

def marked(column: tuple[_T, ...], marks: bytes) -> tuple[_T, ...]:
    """The entries of a column, which has one for every list, of those that are marked."""

_Compiled: TypeAlias = tuple[RuleSet | None, tuple[Problem, ...], tuple[Problem, ...]]

def compile_rules(
    rules: object,
    *,
    field: str,
    label: str,
    extra: list[str],
    optional_when: bool = False,
    limits: Mapping[str, int] | None = None,
) -> _Compiled:
    """Compiles `[{label, when, match?, …}]`: the set or nothing, the problems, the faults of checks.

    With `optional_when`, a rule that leaves `when` out always holds.
    """

def compile_checks(
    checks: object, *, field: str, limits: Mapping[str, int] | None = None
) -> _Compiled:
    """Compiles one list of checks: the set or nothing, the problems, the faults of checks."""

def canonical(value: object) -> str:
    """The canonical form (RFC 8785) of a value."""

def digest(value: object, length: int = 64) -> str:
    """The first hexadecimal digits of the SHA-256 of the canonical form."""

def fingerprint(value: object, length: int = 64) -> str:
    """As `digest`, also for values without a canonical form (text with lone halves)."""

def preview(value: object, limit: int = 80) -> str:
    """A one-line preview of a value."""

def plain(value: object, /, field: str = "value", *, finite: bool = False) -> JSON:
    """Copies a value whole; scalars stay the objects they are. With `finite`, NaN and the infinities
    are refused."""

def to_json(value: object) -> str:
    """Compact JSON of a value in its own key order: every digit kept, lone halves as escapes."""

def resolve(value: object, path: str) -> tuple[bool, object, str | None]:
    """Where a path leads: whether anything is there, the value, and where it stopped."""

def find_format(text: str, name: str) -> tuple[str, bool | None] | None:
    """Whether a text is of a named format: the format's summary, and the answer (`None`: cannot be
    told); nothing for a format that does not exist."""

def ops() -> list[tuple[str, str, str]]:
    """Every op: name, what it takes, when it holds."""

def formats() -> list[tuple[str, str]]:
    """Every format: name and accepted subset."""

def codes() -> list[tuple[str, str]]:
    """Every code of the catalogue of faults: slug and meaning."""

def limits() -> dict[str, int]:
    """The default limits by name."""

def nearest(name: str, known: list[str]) -> str | None:
    """The nearest of the known names, when one is near enough to be meant."""

def parse_instant(value: object, /, field: str = "value") -> int:
    """Epoch milliseconds of a number of them or of ISO-8601 text with an offset."""

def format_instant(ms: object) -> str:
    """`YYYY-MM-DDTHH:MM:SS.mmmZ` of epoch milliseconds."""

def retry_after(raw: str, now_ms: int | None = None) -> tuple[int | None, int | None]:
    """What a `Retry-After` header says: milliseconds to wait, and the instant of a date."""

def error_names() -> tuple[list[str], list[str]]:
    """The names of all classes, and of all actions."""

def error_packs() -> list[tuple[str, str, int]]:
    """Name, version and number of rules of every pack, in the order in which they are asked."""

def first_of_lines(
    rules: RuleSet, text: bytes, threads: int
) -> tuple[bytes, list[tuple[int, int, int, int]], list[tuple[int, int, int, str]], int]:
    """For each line the first of n lists that holds, as 32-bit numbers: n for none, n + 1 undecided,
    n + 2 no JSON. The undecided: record, list, start, end. The bad: record, line, column, message.
    How many lines there are.
    """

def standing_of_lines(
    rules: RuleSet, text: bytes, threads: int
) -> tuple[list[bytes], bytes, list[tuple[int, int, int]], list[tuple[int, int, int, str]], int]:
    """The sets of lists that hold, as `marked` reads them, each once; for each line the position of
    its set, -1 for one that is undecided or bad, as 32-bit numbers. The undecided: record, start, end.
    The bad: record, line, column, message. How many lines there are.
    """

def first_of_many(rules: RuleSet, records: list[object]) -> tuple[bytes, list[tuple[int, int]]]:
    """The same column for records in memory, and the undecided: record, list."""

def first_of_rows(
    rules: RuleSet, rows: ArrowRows, threads: int
) -> tuple[bytes, list[tuple[int, int]], list[tuple[int, str]]]:
    """The same column for rows, n + 2 for one that is no record. The undecided: row, list. The bad:
    row, message.
    """

def standing_of_rows(
    rules: RuleSet, rows: ArrowRows
) -> tuple[list[bytes], bytes, list[tuple[int, str]]]:
    """The sets of lists that hold, as `marked` reads them, each once; for each row the position of
    its set, -1 for one that is undecided or bad, as 32-bit numbers. The bad: row, message.
    """

def check_rows(rules: RuleSet, rows: ArrowRows) -> None:
    """Refuses columns that a set asks for and that are of a type JSON has not."""
