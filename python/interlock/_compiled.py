"""What every compiled spec has in common: frozen, comparable by content, picklable, readable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from interlock import _core
from interlock.errors import ConfigError, Problem, SpecInvalid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from interlock._lines import Pieces
    from interlock._wire import WireForm
    from interlock.typing import JSON, Limits

__all__ = [
    "CompiledSpec",
    "beside",
    "field_name",
    "payload_problems",
    "plain_problems",
    "refuse",
    "unknown_fields",
]

_PICKLE_FORMAT = 2
_RESTORED_LIMIT = 256
_restored: dict[tuple[type, bytes], CompiledSpec] = {}


class CompiledSpec:
    """A spec compiled once and evaluated many times.

    Immutable, safe to share between threads, equal and hashed by content, picklable: its spec goes
    over with a digest, and is read and compiled once per process however often it comes.
    """

    __slots__ = (
        "__weakref__",
        "_fingerprint",
        "_limits",
        "_pickled",
        "_rules",
        "_spec",
        "_warnings",
    )

    tool: ClassVar[str]
    """The name of the tool in data."""
    spec_fields: ClassVar[tuple[str, ...]]
    """The fields of a spec, the first of which holds its list of checks, arms or rows."""
    entries_required: ClassVar[bool] = True
    """Whether that list must be there."""

    _rules: _core.RuleSet
    _spec: dict[str, JSON]
    _limits: dict[str, int]
    _warnings: tuple[Problem, ...]
    _fingerprint: str | None
    _pickled: tuple[bytes, bytes] | None
    """The digest of its spec as pickled, and the spec."""

    def _freeze(
        self,
        rules: _core.RuleSet | None,
        spec: dict[str, JSON],
        limits: Limits | None,
        warnings: tuple[Problem, ...],
    ) -> None:
        """Set the parts that every compiled spec has."""
        self._set("_rules", rules)
        self._set("_spec", spec)
        self._set("_limits", dict(limits or {}))
        self._set("_warnings", warnings)
        self._set("_fingerprint", None)
        self._set("_pickled", None)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: a compiled spec does not change."""
        message = f"{type(self).__name__} is frozen: {name} cannot be set; compile another"
        raise AttributeError(message)

    def __delattr__(self, name: str) -> None:
        """Refuse: a compiled spec does not change."""
        message = f"{type(self).__name__} is frozen: {name} cannot be deleted"
        raise AttributeError(message)

    @property
    def fingerprint(self) -> str:
        """SHA-256 (64 hexadecimal digits) of the spec's canonical form and its limits."""
        if self._fingerprint is None:
            whole = {"tool": self.tool, "spec": self._spec, "limits": self._limits}
            self._set("_fingerprint", _core.fingerprint(whole))
        return cast("str", self._fingerprint)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        counted = self.spec_fields[0]
        entries = cast("list[JSON]", self._spec[counted])
        return f"<{type(self).__name__} {counted}={len(entries)} {self.fingerprint[:16]}>"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        if self._pickled is None:
            import pickle
            from hashlib import sha256

            # The text, not the fingerprint: `1` and `1.0` are equal, but not the same to hand back.
            spec = pickle.dumps((self.to_spec(), dict(self._limits)), 4)
            self._set("_pickled", (sha256(spec).digest(), spec))
        return _restore, (_PICKLE_FORMAT, type(self), *cast("tuple[bytes, bytes]", self._pickled))

    def to_spec(self) -> dict[str, JSON]:
        """Return the spec as plain data of the caller's own, without the tool's name."""
        return cast("dict[str, JSON]", _core.plain(self._spec))

    @classmethod
    def from_spec(
        cls,
        spec: Mapping[str, object] | str | PathLike[str],
        *,
        strict: bool = False,
        limits: Limits | None = None,
    ) -> Self:
        """Compile a spec given as a mapping, or read from a YAML or JSON file.

        Args:
            spec: The mapping, or the path of a file. A `tool` field must name this tool.
            strict: Whether a broken check refuses the spec too. Files are strict on the command
                line and lenient here.
            limits: Limits to lower or raise, by name.

        Raises:
            SpecInvalid: With every problem found.
        """
        fields = dict(_read(spec))
        named = fields.pop("tool", cls.tool)
        problems = unknown_fields(fields, cls.spec_fields)
        if named != cls.tool:
            message = f'must be "{cls.tool}" here'
            problems.append(Problem("spec/unknown-choice", "tool", _core.preview(named), message))
        entries = fields.pop(cls.spec_fields[0], None)
        if entries is None and cls.entries_required:
            problems.append(Problem("spec/missing-field", cls.spec_fields[0], None, "is required"))
        known = {name: fields[name] for name in cls.spec_fields[1:] if name in fields}
        try:
            compiled = cls._from_fields(entries, known, strict=strict, limits=limits)
        except ConfigError as error:
            raise SpecInvalid((*problems, *beside(problems, error.problems))) from None
        refuse(problems)
        return compiled

    @classmethod
    def _from_fields(cls, entries: object, fields: dict[str, object], **options: Any) -> Self:
        """Compile from the fields of a spec, by their names; the first one apart."""
        return cast("Callable[..., Self]", cls)(entries, **fields, **options)

    @classmethod
    def lint_spec(
        cls, spec: Mapping[str, object] | str | PathLike[str], *, limits: Limits | None = None
    ) -> tuple[Problem, ...]:
        """Return every fault and warning of a spec; nothing is raised for a faulty one."""
        try:
            compiled = cls.from_spec(spec, strict=True, limits=limits)
        except ConfigError as error:
            return error.problems
        return compiled.lint()

    def lint(self) -> tuple[Problem, ...]:
        """Return what was found and did not refuse the spec.

        Broken checks (compiled without `strict`), and warnings: operands and flags that their op
        does not read.
        """
        return self._warnings

    def answer_blocks(
        self,
        pieces: Pieces,  # noqa: ARG002 (nobody answers them here)
        threads: int,  # noqa: ARG002 (as above)
    ) -> Iterator[Iterable[WireForm]] | None:
        """Answer JSON Lines or rows piece by piece; None where they are answered one at a time."""
        return None

    def check_rows(self, rows: _core.ArrowRows) -> None:
        """Refuse rows with a column that a check asks for and whose type JSON has not."""
        # Without rules of the core no path is asked for.
        if cast("object", self._rules) is not None:
            _core.check_rows(self._rules, rows)

    @classmethod
    def json_schema(cls) -> dict[str, JSON]:
        """Return the JSON Schema (2020-12) of a spec of this tool."""
        from interlock.tools import _schema

        return _schema.spec(cls.tool)


def _read(spec: Mapping[str, object] | str | PathLike[str]) -> Mapping[str, object]:
    from collections.abc import Mapping as AnyMapping

    if isinstance(spec, AnyMapping):
        return spec
    from interlock.spec import load

    return load(spec).fields


def _restore(version: int, cls: type[CompiledSpec], digest: bytes, spec: bytes) -> object:
    """Compile a pickled spec, once per process however often it is unpickled."""
    if version > _PICKLE_FORMAT:
        message = (
            f"pickled by a newer interlock (format {version}, this one reads {_PICKLE_FORMAT})"
        )
        raise SpecInvalid((Problem("spec/unreadable", "pickle", None, message),))
    known = _restored.get((cls, digest))
    if known is None:
        import pickle

        fields, limits = pickle.loads(spec)  # noqa: S301 (a part of what is being unpickled)
        known = cls.from_spec(fields, limits=limits)
        object.__setattr__(known, "_pickled", (digest, spec))
        if len(_restored) >= _RESTORED_LIMIT:
            _restored.pop(next(iter(_restored)), None)
        _restored[cls, digest] = known
    return known


def unknown_fields(
    fields: Mapping[str, object], known: Sequence[str], place: str = ""
) -> list[Problem]:
    """List the fields that are not of the vocabulary, with the nearest name.

    `place` is what stands before a field's name, such as `otherwise.`.
    """
    problems: list[Problem] = []
    for name, value in fields.items():
        if name in known:
            continue
        near = _core.nearest(str(name), list(known))
        hint = f'; did you mean "{near}"?' if near else ""
        message = f"unknown field{hint} (known: {', '.join(known)})"
        shown = _core.preview(value)
        problems.append(Problem("spec/unknown-field", place + field_name(name), shown, message))
    return problems


def refuse(problems: Sequence[Problem]) -> None:
    """Raise with everything found when any of it is more than a warning."""
    if any(not problem.is_warning for problem in problems):
        raise SpecInvalid(tuple(problems))


def field_name(name: object) -> str:
    """Write a key as a segment of a field: quoted when it is not plain."""
    shown = _core.preview(name, 60)
    plain = isinstance(name, str) and name.replace("-", "_").isidentifier()
    return shown.strip('"') if plain else f"[{shown}]"


def beside(found: Sequence[Problem], more: Sequence[Problem]) -> list[Problem]:
    """Return those of `more` whose field nothing was found at yet."""
    fields = {problem.field for problem in found}
    return [problem for problem in more if problem.field not in fields]


def payload_problems(entries: JSON, place: str, field: str) -> list[Problem]:
    """Check what entries hand back: it must be writable as JSON, so NaN is not."""
    problems: list[Problem] = []
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        # PERF: most of what is handed back is text.
        if isinstance(entry, dict) and field in entry and entry[field].__class__ is not str:
            found = plain_problems(entry[field], f"{place}[{index}].{field}", finite=True)
            problems += found[1]
    return problems


def plain_problems(
    value: object, field: str, *, finite: bool = False
) -> tuple[JSON, tuple[Problem, ...]]:
    """Copy a value to plain data, or say what JSON cannot hold (`finite`: NaN neither)."""
    try:
        return _core.plain(value, field, finite=finite), ()
    except ConfigError as error:
        return None, error.problems
