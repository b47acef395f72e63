"""DecisionTable: what the policy says (hit policies of DMN 1.3 section 8.2.8, a subset)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, cast

from interlock import _core
from interlock._compiled import (
    CompiledSpec,
    beside,
    payload_problems,
    plain_problems,
    refuse,
)
from interlock._wire import draft_of
from interlock.tools._fields import ABSENT, choice_problems, version_problems
from interlock.tools._first import First, decide_first, first_blocks
from interlock.tools._numbers import exact
from interlock.tools._records import decide_each
from interlock.tools._rows import Together, row_problems
from interlock.tools._rules import rule_reports, undecided
from interlock.tools._table_result import TableResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from decimal import Decimal

    from interlock._lines import Pieces, Records
    from interlock.tools._batch import Batch
    from interlock.typing import JSON, Limits, Policy

__all__ = ["DecisionTable", "TableResult", "decision_table"]

_POLICIES = ("first", "unique", "priority", "collect")

_Draft = draft_of(TableResult)


class DecisionTable(CompiledSpec):
    """Rows, compiled: the hit policy says which of those that hold decide.

    Args:
        rows: Mappings of `id`, `when` (1 to 64 checks), `outputs` (any JSON value), optional
            `match` (`all`, the default, or `any`) and optional `priority` (a finite number,
            default 0); ids distinct.
        policy: `first`: the first row that holds. `unique`: at most one may hold. `priority`: the
            highest priority, which must not be shared. `collect`: all of them.
        otherwise: The outputs of a miss; None is the same as leaving it out.
        version: A text that comes back with every answer.
        strict: Whether a broken check refuses the table; else it fails with its reason.
        limits: Limits to lower or raise, by name.

    Raises:
        SpecInvalid: With every problem found.

    Example:
        >>> from interlock import DecisionTable
        >>> table = DecisionTable(
        ...     [
        ...         {
        ...             "id": "vip",
        ...             "when": [{"path": "tier", "op": "equals", "expected": "enterprise"}],
        ...             "outputs": {"queue": "P1"},
        ...         }
        ...     ],
        ...     policy="first",
        ...     otherwise={"queue": "P4"},
        ... )
        >>> table.decide({"tier": "enterprise"}).outputs
        {'queue': 'P1'}
    """

    __slots__ = (
        "_copied",
        "_every",
        "_hits",
        "_miss",
        "_names",
        "_outputs",
        "_policy",
        "_positions",
        "_priorities",
        "_together",
        "_version",
        "table_hash",
    )

    tool = "DecisionTable"
    spec_fields = ("rows", "policy", "otherwise", "version")

    table_hash: str
    """16 hexadecimal digits of the SHA-256 of the canonical form of `{policy, rows}`."""
    _names: tuple[str, ...]
    _outputs: tuple[JSON, ...]
    _copied: frozenset[int]
    """Rows whose outputs can be changed by whoever gets them, so that each gets its own."""
    _every: tuple[TableResult, ...] | None
    """The answers of all rows and of a miss, for a batch; None until the first one."""
    _priorities: tuple[Decimal, ...]
    _policy: Policy
    _version: str | None
    _miss: TableResult
    _positions: tuple[int, ...]
    _hits: dict[int, TableResult]
    """Answers under `first` that were given before and can be given again."""
    _together: Together

    def __init__(
        self,
        rows: Sequence[object],
        *,
        policy: Policy,
        otherwise: object = None,
        version: str | None = None,
        strict: bool = False,
        limits: Limits | None = None,
    ) -> None:
        """Compile the rows."""
        rules, problems, faults = _core.compile_rules(
            rows, field="rows", label="id", extra=["priority", "outputs"], limits=limits
        )
        more = [*choice_problems(policy, "policy", _POLICIES), *version_problems(version)]
        fallback, not_json = plain_problems(otherwise, "otherwise", finite=True)
        plain, not_plain = plain_problems(rows, "rows")
        more += [*not_json, *beside(problems, not_plain), *row_problems(plain)]
        more += payload_problems(plain, "rows", "outputs")
        refuse([*problems, *more, *(faults if strict else ())])
        entries = cast("list[dict[str, JSON]]", plain)
        spec: dict[str, JSON] = {"rows": plain, "policy": policy}
        if otherwise is not None:
            spec["otherwise"] = fallback
        if version is not None:
            spec["version"] = version
        self._freeze(cast("_core.RuleSet", rules), spec, limits, faults)
        self._set("table_hash", _core.fingerprint({"policy": policy, "rows": plain}, 16))
        self._set("_names", tuple(row["id"] for row in entries))
        self._set("_outputs", tuple(row["outputs"] for row in entries))
        copied = (i for i, row in enumerate(entries) if isinstance(row["outputs"], (dict, list)))
        self._set("_copied", frozenset(copied))
        self._set("_priorities", tuple(exact(row.get("priority", 0)) for row in entries))
        self._set("_policy", policy)
        self._set("_version", version)
        self._set("_miss", self._missing(policy, version, fallback))
        self._set("_positions", tuple(range(len(entries))))
        self._set("_hits", {})
        self._set("_every", None)
        self._set("_together", Together(self._names, self._outputs))

    def _missing(self, policy: Policy, version: str | None, fallback: JSON) -> TableResult:
        return TableResult(
            ok=True,
            matched=fallback is not None,
            policy=policy,
            version=version,
            matched_ids=(),
            outputs=fallback,
            fallback=fallback is not None,
            conflict=None,
            table_hash=self.table_hash,
        )

    @classmethod
    def _from_fields(cls, entries: object, fields: dict[str, object], **options: Any) -> Self:
        return super()._from_fields(entries, {"policy": ABSENT, **fields}, **options)

    def decide(self, value: object, *, verbose: bool = False) -> TableResult:
        """Say what the table says of a record.

        An undecided row that could change the answer makes it undetermined: under `first` one
        before the first hit, under `priority` one whose priority is not below a hit's, else any.

        Args:
            value: The record: Python data, a dataclass, pydantic or attrs object, or `Json`.
            verbose: Whether the result says how every row fared.
        """
        if self._policy == "first":
            first = self._rules.first(value)
            # PERF: nothing is called and nothing made where an answer can be given again.
            answer = self._hits.get(first) or self._first(value, first)
        else:
            answer = self._stood(value, *self._rules.standing(value))
        if verbose:
            evaluated = rule_reports(self._rules, value, 0, len(self._rules))
            answer = replace(answer, evaluated=evaluated)
        return answer

    def decide_many(
        self, records: Records, *, threads: int | None = None, json_columns: Sequence[str] = ()
    ) -> Batch[TableResult]:
        """Decide each record, in order, as `decide` would.

        Args:
            records: Records from any iterable, JSON Lines (bytes or a file), or Arrow data.
            threads: How many read JSON Lines, and Arrow data under `first`; 1 reads all else.
            json_columns: Columns of Arrow data that hold JSON as text, by name.

        Raises:
            ConfigError: For a number of threads that is none, or records of another type.
            OSError: When they cannot be read.
        """
        if self._policy != "first":
            stood = partial(self._stood, None, ())
            return decide_each(self.decide, self._rules, records, threads, json_columns, stood)
        return decide_first(self._as_first(), records, threads, json_columns)

    def answer_blocks(self, pieces: Pieces, threads: int) -> Iterator[Batch[TableResult]] | None:
        """Answer lines or rows piece by piece, each as its own batch; None but under `first`."""
        return first_blocks(self._as_first(), pieces, threads) if self._policy == "first" else None

    def _as_first(self) -> First[TableResult]:
        # PERF: of a hundred thousand rows, made once.
        if self._every is None:
            rows = zip(self._names, self._outputs, strict=True)
            hits = tuple(self._hit((name,), output) for name, output in rows)
            self._set("_every", (*hits, self._miss))
        return First(
            rules=self._rules,
            outcomes=(*self._names, self._miss.outcome),
            answers=cast("tuple[TableResult, ...]", self._every),
            undetermined=partial(self._open, ids=()),
            fresh=_own,
        )

    def _first(self, value: object, first: int) -> TableResult:
        if first == -1:
            return self._missed()
        if first < 0:
            return self._open(value, -2 - first, ())
        answer = self._hit((self._names[first],), self._output(first))
        if first not in self._copied:
            self._hits[first] = answer
        return answer

    def _stood(self, value: object, open_rows: tuple[int, ...], marks: bytes) -> TableResult:
        """Answer by the rows that are undecided and those that hold."""
        if self._policy != "collect":
            return self._ranked(value, open_rows, marks)
        # PERF: the same rows often hold together.
        ids, outputs = self._together[marks]
        if open_rows:
            return self._open(value, open_rows[0], ids)
        if not ids:
            return self._missed()
        return self._hit(ids, _core.plain(outputs) if self._copied else list(outputs))

    def _ranked(self, value: object, open_rows: tuple[int, ...], marks: bytes) -> TableResult:
        ids, hits = _core.marked(self._names, marks), _core.marked(self._positions, marks)
        by_priority = self._policy == "priority"
        top = max(self._priorities[row] for row in hits) if by_priority and hits else None
        if top is not None:
            open_rows = tuple(row for row in open_rows if self._priorities[row] >= top)
        if open_rows:
            return self._open(value, open_rows[0], ids)
        if not hits:
            return self._missed()
        rivals = [row for row in hits if top is None or self._priorities[row] == top]
        if len(rivals) > 1:
            return self._conflict(ids, rivals)
        return self._hit(ids, self._output(rivals[0]), (self._names[rivals[0]],))

    def _missed(self) -> TableResult:
        miss = self._miss
        return replace(miss, outputs=_core.plain(miss.outputs)) if miss.fallback else miss

    def _output(self, row: int) -> JSON:
        outputs = self._outputs[row]
        return _core.plain(outputs) if row in self._copied else outputs

    def _hit(
        self, ids: tuple[str, ...], outputs: JSON, deciding: tuple[str, ...] | None = None
    ) -> TableResult:
        """Answer by rows; those of `deciding` give the outputs, or else all of them."""
        answer = _Draft()
        answer.ok = answer.matched = True
        answer.policy = self._policy
        answer.version = self._version
        answer.matched_ids = ids
        answer.decided_by = ids if deciding is None else deciding
        answer.outputs = outputs
        answer.fallback = False
        answer.conflict = answer.undetermined = answer.evaluated = None
        answer.table_hash = self.table_hash
        answer.__class__ = TableResult
        return answer  # type: ignore[no-any-return]  # a draft no more

    def _refused(self, ids: tuple[str, ...]) -> TableResult:
        return replace(
            self._miss,
            ok=False,
            matched=False,
            matched_ids=ids,
            outputs=None,
            fallback=False,
        )

    def _conflict(self, ids: tuple[str, ...], rivals: list[int]) -> TableResult:
        named = ", ".join(_core.preview(self._names[row]) for row in rivals)
        shared = self._priorities[rivals[0]]
        why = (
            f"rows {named} share the top priority {_core.preview(shared)}"
            if self._policy == "priority"
            else f"rows {named} all hold, and the policy unique allows one"
        )
        return replace(self._refused(ids), conflict=why)

    def _open(self, value: object, row: int, ids: tuple[str, ...]) -> TableResult:
        return replace(self._refused(ids), undetermined=undecided(self._rules, value, row))


def _own(answer: TableResult) -> TableResult:
    """Give an answer whose outputs the caller may change; the compiled rows stay as they are."""
    if isinstance(answer.outputs, (dict, list)):
        return replace(answer, outputs=_core.plain(answer.outputs))
    return answer


def decision_table(
    value: object,
    rows: Sequence[object],
    *,
    policy: Policy,
    otherwise: object = None,
    version: str | None = None,
) -> TableResult:
    """Say what a table says of a value; see `DecisionTable` for the shapes.

    Raises:
        SpecInvalid: With every problem found, before anything is evaluated.
    """
    table = DecisionTable(rows, policy=policy, otherwise=otherwise, version=version)
    return table.decide(value)
