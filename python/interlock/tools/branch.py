"""Branch: which arm."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from interlock import _core
from interlock._compiled import (
    CompiledSpec,
    beside,
    payload_problems,
    plain_problems,
    refuse,
    unknown_fields,
)
from interlock._wire import WireForm
from interlock.errors import Problem
from interlock.tools._first import First, decide_first, first_blocks
from interlock.tools._limits import ARMS_LIMIT
from interlock.tools._rules import RuleReport, rule_reports, undecided

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from interlock._lines import Pieces, Records
    from interlock.tools._batch import Batch
    from interlock.typing import JSON, Limits

__all__ = ["Branch", "BranchResult", "branch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchResult(WireForm):
    """Which arm was taken.

    Attributes:
        matched: Whether an arm or `otherwise` answers.
        name: Its name; None when nothing matched or an arm is undecided.
        index: The arm's position, from 0; None for `otherwise`.
        fallback: Whether `otherwise` answers.
        result: The arm's result; None also when it has none (see `has_result`).
        has_result: Whether the arm has a result; without one the wire form has none either.
        evaluated: With `verbose`, every arm that was looked at, up to the winner.
        undetermined: The undecided arm and why, when one stopped the search; else None.
    """

    matched: bool
    name: str | None = None
    index: int | None = None
    fallback: bool = False
    result: JSON = None
    has_result: bool = False
    evaluated: tuple[RuleReport, ...] | None = None
    undetermined: str | None = None

    @property
    def outcome(self) -> str:
        """A short label for counting."""
        if self.undetermined is not None:
            return "(undetermined)"
        return self.name if self.name is not None else "(no match)"

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        wire: dict[str, JSON] = {
            "matched": self.matched,
            "name": self.name,
            "index": self.index,
            "fallback": self.fallback,
        }
        if self.has_result:
            wire["result"] = _core.plain(self.result)
        if self.evaluated is not None:
            wire["evaluated"] = [arm.to_dict() for arm in self.evaluated]
        if self.undetermined is not None:
            wire["undetermined"] = self.undetermined
        return wire


class Branch(CompiledSpec):
    """Arms, compiled: the first whose conditions hold is taken.

    Args:
        arms: Mappings of `name`, `when` (1 to 64 checks), optional `match` (`all`, the default, or
            `any`) and optional `result` (any JSON value); 1 to 64 of them, names distinct.
        otherwise: A mapping of `name` and optional `result` that answers when no arm holds.
        strict: Whether a broken check refuses the arms; else it fails with its reason.
        limits: Limits to lower or raise, by name; `rules` is the number of arms.

    Raises:
        SpecInvalid: With every problem found.

    Example:
        >>> from interlock import Branch
        >>> route = Branch(
        ...     [
        ...         {
        ...             "name": "big",
        ...             "when": [{"path": "total", "op": "greaterThan", "expected": 1000}],
        ...         }
        ...     ],
        ...     otherwise={"name": "normal"},
        ... )
        >>> route.decide({"total": 1200}).name
        'big'
    """

    __slots__ = ("_answers", "_miss", "_shared")

    tool = "Branch"
    spec_fields = ("arms", "otherwise")

    _answers: tuple[BranchResult, ...]
    _miss: BranchResult
    _shared: tuple[BranchResult | None, ...]
    """The answers of all arms and of a miss; None where the result can be changed by whoever gets
    it, so that each gets its own."""

    def __init__(
        self,
        arms: Sequence[object],
        *,
        otherwise: Mapping[str, object] | None = None,
        strict: bool = False,
        limits: Limits | None = None,
    ) -> None:
        """Compile the arms."""
        bounds = {"rules": ARMS_LIMIT, **(limits or {})}
        rules, problems, faults = _core.compile_rules(
            arms, field="arms", label="name", extra=["result"], limits=bounds
        )
        fallback, more = _read_otherwise(otherwise)
        plain, not_plain = plain_problems(arms, "arms")
        more += [*beside(problems, not_plain), *payload_problems(plain, "arms", "result")]
        refuse([*problems, *more, *(faults if strict else ())])
        entries = cast("list[dict[str, JSON]]", plain)
        spec: dict[str, JSON] = {"arms": plain}
        if fallback is not None:
            spec["otherwise"] = fallback
        self._freeze(cast("_core.RuleSet", rules), spec, limits, faults)
        self._set("_answers", tuple(_answer(arm, index) for index, arm in enumerate(entries)))
        self._set(
            "_miss",
            _answer(fallback, None) if fallback else BranchResult(matched=False),
        )
        answers = (*self._answers, self._miss)
        shared = (None if isinstance(a.result, (dict, list)) else a for a in answers)
        self._set("_shared", tuple(shared))

    def decide(self, value: object, *, verbose: bool = False) -> BranchResult:
        """Take the first arm whose conditions hold; later arms are not looked at.

        An undecided arm stops the search: it might have been the one, so neither later arms nor
        `otherwise` are tried.

        Args:
            value: The record: Python data, a dataclass, pydantic or attrs object, or `Json`.
            verbose: Whether the result says how each arm fared, up to the winner.
        """
        answer: BranchResult = self._rules.pick(value, () if verbose else self._shared)
        # PERF: nothing more is called where an answer can be given again.
        if answer.__class__ is BranchResult:
            return answer
        return self._answered(value, cast("int", answer), verbose=verbose)

    def _answered(self, value: object, first: int, *, verbose: bool) -> BranchResult:
        """Answer by the arm that ended the search, as `RuleSet.first` gives it."""
        if first >= 0:
            answer = self._answers[first]
        elif first == -1:
            answer = self._miss
        else:
            reason = undecided(self._rules, value, -2 - first)
            answer = BranchResult(matched=False, undetermined=reason)
        if verbose:
            # Up to the arm that ended the search; all of them on a miss.
            ended = {-1: len(self._answers) - 1}.get(first, max(first, -2 - first))
            evaluated = rule_reports(self._rules, value, 0, ended + 1)
            answer = replace(answer, evaluated=evaluated)
        return _own(answer)

    def decide_many(
        self, records: Records, *, threads: int | None = None, json_columns: Sequence[str] = ()
    ) -> Batch[BranchResult]:
        """Decide each record, in order, as `decide` would.

        Args:
            records: Records from any iterable; or JSON Lines, as bytes or as the path of a file,
                which is read in blocks; or Arrow data: a table, reader or data frame.
            threads: How many threads read JSON Lines and Arrow data, at least 1; 1 when left out.
                Other records are decided on the calling thread.
            json_columns: Columns of Arrow data that hold JSON as text, by name.

        Raises:
            ConfigError: For a number of threads that is none, or records of another type.
            OSError: When the file or stream cannot be read.
        """
        return decide_first(self._first(), records, threads, json_columns)

    def answer_blocks(self, pieces: Pieces, threads: int) -> Iterator[Batch[BranchResult]]:
        """Answer JSON Lines or rows piece by piece, each as a batch of its own."""
        return first_blocks(self._first(), pieces, threads)

    def _first(self) -> First[BranchResult]:
        answers = (*self._answers, self._miss)
        return First(
            rules=self._rules,
            outcomes=tuple(answer.outcome for answer in answers),
            answers=answers,
            undetermined=self._undecided,
            fresh=_own,
        )

    def _undecided(self, value: object, arm: int) -> BranchResult:
        return BranchResult(matched=False, undetermined=undecided(self._rules, value, arm))


def branch(
    value: object,
    arms: Sequence[object],
    *,
    otherwise: Mapping[str, object] | None = None,
    verbose: bool = False,
) -> BranchResult:
    """Take the first arm whose conditions hold for a value; see `Branch` for the shapes.

    Raises:
        SpecInvalid: With every problem found, before anything is evaluated.
    """
    return Branch(arms, otherwise=otherwise).decide(value, verbose=verbose)


def _own(answer: BranchResult) -> BranchResult:
    """Give an answer whose result the caller may change; the compiled arms stay as they are."""
    if isinstance(answer.result, (dict, list)):
        return replace(answer, result=_core.plain(answer.result))
    return answer


def _answer(arm: Mapping[str, JSON], index: int | None) -> BranchResult:
    return BranchResult(
        matched=True,
        name=cast("str", arm["name"]),
        index=index,
        fallback=index is None,
        result=arm.get("result"),
        has_result="result" in arm,
    )


def _read_otherwise(otherwise: object) -> tuple[dict[str, JSON] | None, list[Problem]]:
    """Read `{name, result?}`; None is the same as leaving it out."""
    if otherwise is None:
        return None, []
    plain, problems = plain_problems(otherwise, "otherwise", finite=True)
    if problems:
        return None, list(problems)
    if not isinstance(plain, dict):
        message = "must be a mapping with name and, if wanted, result"
        shown = _core.preview(otherwise)
        return None, [Problem("spec/wrong-type", "otherwise", shown, message)]
    found = unknown_fields(plain, ("name", "result"), "otherwise.")
    name = plain.get("name")
    if name is None:
        found.append(Problem("spec/missing-field", "otherwise.name", None, "is required"))
    elif not isinstance(name, str):
        shown = _core.preview(name)
        found.append(Problem("spec/wrong-type", "otherwise.name", shown, "must be a string"))
    return plain, found
