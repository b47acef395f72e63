"""Judges: callables and decision tools that say whether an answer is good enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from interlock import _core
from interlock.conditions import CheckReport, Checks
from interlock.errors import Problem, UsageError
from interlock.harness._ballot import VotingResult
from interlock.harness._callables import Call, call_of, label_of
from interlock.harness._config import keywords, wrong
from interlock.harness._frame import Reading
from interlock.record._providers import provider_reply
from interlock.record.usage import NOTHING, Usage
from interlock.record.values import Reply, Verdict
from interlock.tools._table_result import TableResult
from interlock.tools.branch import Branch, BranchResult
from interlock.tools.consensus_vote import VoteResult
from interlock.tools.decision_table import DecisionTable
from interlock.tools.rule_score import RuleScore, ScoreResult

if TYPE_CHECKING:
    from interlock._wire import WireForm

__all__ = ["Gate", "Judge", "is_score", "judge_of"]

_YES, _NO = ("allow", "accept", "pass", "ok", "yes"), ("block", "reject", "fail", "no", "ask")


@dataclass(frozen=True, slots=True)
class Gate:
    """A decision tool as a judge: the arms, bands or answers that pass.

    Args:
        tool: A Branch, DecisionTable, RuleScore or Checks.
        pass_: Names of arms or bands, or outputs of rows, that are a yes; all else is a no.
    """

    tool: Branch | DecisionTable | RuleScore | Checks
    pass_: Sequence[object] = ()


Gate.__init__ = keywords(Gate.__init__)  # type: ignore[method-assign]


class Judge(NamedTuple):
    """A judge as a workflow uses it.

    Attributes:
        call: What is called with the answer.
        read: How what it says is read.
        label: What it is, for the digest of the workflow.
    """

    call: Call
    read: Callable[..., Reading]
    label: str


def judge_of(given: object, field: str, problems: list[Problem]) -> Judge:
    """Read what was given as a judge; what is none is added to the problems.

    Decision tools look at the data of an answer; where it has none, at the answer itself
    (`output`, `status`, `usage` and so on).
    """
    tool, passing = given, None
    if isinstance(given, Gate):
        tool, passing = given.tool, _passing(given.pass_, field, problems)
    if _asked(tool) is None:
        if isinstance(given, Gate):
            message = "must be a Branch, DecisionTable, RuleScore or Checks"
            problems.append(wrong(given.tool, f"{field}.tool", message))
            given = bool
        return Judge(call_of(given, field, problems), _Reader(None), label_of(given))
    problems += _tool_problems(tool, passing, field)
    call = Call(_Asker(tool), takes_ctx=False, is_async=False)
    return Judge(call, _Reader(passing), f"{label_of(tool)} {list(passing or ())}")


def _passing(given: object, field: str, problems: list[Problem]) -> tuple[object, ...]:
    if isinstance(given, Sequence) and not isinstance(given, (str, bytes)):
        return tuple(cast("Sequence[object]", given))
    problems.append(wrong(given, f"{field}.pass_", 'must be a list, such as ["ok"]'))
    return ()


def _asked(tool: object) -> Callable[[object], object] | None:
    if isinstance(tool, Checks):
        return tool.report
    if isinstance(tool, (Branch, DecisionTable)):
        return tool.decide
    return tool.score if isinstance(tool, RuleScore) else None


def _tool_problems(tool: object, passing: tuple[object, ...] | None, field: str) -> list[Problem]:
    """Say what a tool cannot answer as a judge, before it is asked."""
    if isinstance(tool, DecisionTable) and passing is None:
        rows = cast("list[dict[str, Any]]", tool.to_spec()["rows"])
        return [
            wrong(row.get("outputs"), f"{field}.rows[{at}].outputs", "must be allow or block here")
            for at, row in enumerate(rows)
            if _yes_or_no(row.get("outputs")) is None
        ]
    names = _names(tool)
    if names is None:
        return []
    if passing is None:
        if isinstance(tool, RuleScore) and len(names) == 1:
            return []
        message = f"say which pass: Gate(..., pass_=[...]) of {', '.join(names)}"
        return [Problem("spec/missing-field", field, None, message)]
    return [
        Problem(
            "spec/unknown-choice",
            f"{field}.pass_",
            _core.preview(name),
            f"must be one of {', '.join(names)}",
        )
        for name in passing
        if name not in names
    ]


def _names(tool: object) -> list[str] | None:
    """Give the names of what a tool can answer; None where it answers no names."""
    if isinstance(tool, Branch):
        spec = cast("dict[str, Any]", tool.to_spec())
        named = [*spec["arms"], *([spec["otherwise"]] if "otherwise" in spec else [])]
        return [arm["name"] for arm in named]
    if isinstance(tool, RuleScore):
        bands = cast("list[dict[str, Any]]", tool.to_spec().get("bands", []))
        return [band["name"] for band in bands]
    return None


def _yes_or_no(outputs: object) -> bool | None:
    """Read the outputs of a row: a word, true or false, or a mapping with a `decision`."""
    if isinstance(outputs, Mapping):
        outputs = cast("Mapping[str, object]", outputs).get("decision")
    if type(outputs) is bool:
        return outputs
    return True if outputs in _YES else False if outputs in _NO else None


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads what a judge says; `passing` is what counts as a yes where a tool answers names."""

    passing: tuple[object, ...] | None

    def __call__(self, value: object, *, step: str) -> Reading:
        return _read(value, self.passing, step)


@dataclass(frozen=True, slots=True)
class _Asker:
    """Asks a decision tool about a reply."""

    tool: object

    def __call__(self, reply: Reply) -> object:
        ask = _asked(self.tool)
        return None if ask is None else ask(reply.to_dict() if reply.data is None else reply.data)


def _read(value: object, passing: tuple[object, ...] | None, step: str) -> Reading:
    reading = _read_own(value, step) or _read_tool(value, passing) or _read_reply(value)
    if reading is not None:
        _check_score(cast("Verdict", reading.verdict).score, step)
        return reading
    if isawaitable(value):
        kind = type(value).__qualname__
        raise UsageError(f"{step} returned a {kind} that nobody waits for: await it")
    raise UsageError(
        f"{step} returned a {type(value).__name__}, which is no verdict: return True, False, "
        "a Verdict, (ok, reason) or the result of a decision tool"
    )


def is_score(value: object) -> bool:
    """Say whether a value can be compared as a score: a finite number."""
    return type(value) in (int, float) and math.isfinite(cast("float", value))


def _check_score(score: object, step: str) -> None:
    if score is not None and not is_score(score):
        shown = _core.preview(score)
        raise UsageError(f"{step} gave the score {shown}; a score is a finite number, or None")


def _read_own(value: object, step: str) -> Reading | None:
    if isinstance(value, Verdict):
        asked = value.data if isinstance(value.data, Reply) else None
        return _reading(value, _said(value), asked, value.usage)
    if type(value) is bool:
        return _reading(Verdict(value), value)
    if isinstance(value, tuple):
        return _read_pair(cast("tuple[object, ...]", value), step)
    return _read_ballot(value) if isinstance(value, VotingResult) else None


def _read_ballot(result: VotingResult) -> Reading | None:
    """Read what several judges settled on, each of whom said yes or no."""
    verdict = Verdict(ok=False, reason="the votes are not decided", undetermined=True)
    if result.decided:
        answer = _yes_or_no(result.winner)
        if answer is None:
            return None
        verdict = Verdict(answer, "" if answer else "the votes say no", result.agreement)
    # What it used and its record are those of the run inside the step.
    return _reading(verdict, {"decided": result.decided, **_said(verdict)})


def _read_tool(value: object, passing: tuple[object, ...] | None) -> Reading | None:
    for kind, verdict_of in _TOOLS.items():
        if isinstance(value, kind):
            verdict = verdict_of(value, passing)
            if verdict is not None:
                return _reading(verdict, cast("WireForm", value).to_dict())
    return None


def _read_reply(value: object) -> Reading | None:
    """Read a model's reply with `{"ok": true or false, "reason": ...}` as its data."""
    reply = value if isinstance(value, Reply) else provider_reply(value)
    data = reply.data if reply is not None else None
    if reply is not None and isinstance(data, Mapping):
        told = cast("Mapping[str, Any]", data)
        if type(told.get("ok")) is bool:
            verdict = Verdict(told["ok"], str(told.get("reason", "")))
            return _reading(verdict, _said(verdict), reply)
    return None


def _read_pair(value: tuple[object, ...], step: str) -> Reading:
    if len(value) == 2 and type(value[0]) is bool and isinstance(value[1], str):  # noqa: PLR2004
        verdict = Verdict(value[0], value[1])
        return _reading(verdict, _said(verdict))
    raise UsageError(f"{step} returned a tuple, which is a verdict only as (True or False, reason)")


def _reading(
    verdict: Verdict, decision: object, asked: Reply | None = None, usage: Usage = NOTHING
) -> Reading:
    """Make a reading; of the reply of a model that was asked, what it used counts."""
    if asked is None:
        return Reading(Reply(usage=usage), decision, verdict)
    return Reading(Reply(usage=usage + asked.usage, meta=asked.meta), decision, verdict)


def _said(verdict: Verdict) -> dict[str, object]:
    """Write a verdict for the record; data of any other kind than JSON is named only."""
    from interlock.harness._frame import input_digest

    wire = {"ok": verdict.ok, "reason": verdict.reason, "score": verdict.score}
    wire |= {"feedback": verdict.feedback, "undetermined": verdict.undetermined}
    if verdict.data is not None and input_digest(verdict.data) is not None:
        from interlock.record.reply import plain_data

        wire["data"] = plain_data(verdict.data)
    return {name: value for name, value in wire.items() if value not in (None, "")}


def _of_checks(report: CheckReport, _passing: object) -> Verdict:
    failures = report.failures
    is_open = bool(report.undetermined) and report.failed == report.undetermined
    return Verdict(
        report.ok,
        failures[0].reason if failures else "",
        report.passed / len(report.results),
        "; ".join(result.reason for result in failures),
        undetermined=is_open,
    )


def _of_table(result: TableResult, passing: tuple[object, ...] | None) -> Verdict | None:
    why = result.undetermined or result.conflict
    if why is not None:
        return Verdict(ok=False, reason=why, undetermined=result.undetermined is not None)
    if not result.matched:
        return Verdict(ok=False, reason="no row of the table holds")
    answer = _yes_or_no(result.outputs) if passing is None else result.outputs in passing
    if answer is None:
        return None
    told = cast("Mapping[str, object]", result.outputs if isinstance(result.outputs, dict) else {})
    said = str(told.get("reason", "")) or f"the table says so by {result.outcome}"
    return Verdict(answer, "" if answer else said)


def _of_branch(result: BranchResult, passing: tuple[object, ...] | None) -> Verdict | None:
    if result.undetermined is not None:
        return Verdict(ok=False, reason=result.undetermined, undetermined=True)
    if passing is None:
        return None
    ok = result.matched and result.name in passing
    return Verdict(ok, "" if ok else f"the arm is {result.outcome}")


def _of_score(result: ScoreResult, passing: tuple[object, ...] | None) -> Verdict:
    score = None if result.score is None else float(result.score)
    if result.undetermined:
        open_rule = result.undetermined[0]
        reason = f"{open_rule.id}: {open_rule.reason}"
        return Verdict(ok=False, reason=reason, score=score, undetermined=True)
    ok = result.band is not None and (passing is None or result.band in passing)
    return Verdict(ok, "" if ok else f"scores {result.score}, {result.outcome}", score)


def _of_vote(result: VoteResult, _passing: object) -> Verdict | None:
    if not result.decided:
        return Verdict(ok=False, reason="the votes are not decided", undetermined=True)
    answer = _yes_or_no(result.winner)
    if answer is None:
        return None
    return Verdict(answer, "" if answer else f"the votes say {_core.preview(result.winner)}")


_TOOLS: dict[type, Callable[[Any, tuple[object, ...] | None], Verdict | None]] = {
    CheckReport: _of_checks,
    TableResult: _of_table,
    BranchResult: _of_branch,
    ScoreResult: _of_score,
    VoteResult: _of_vote,
}
"""By the result of a decision tool, which a callable may return as well; None where the result
says neither yes nor no."""
