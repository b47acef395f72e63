"""Classifiers: callables and decision tools that say which arm of a route is taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from interlock import _core
from interlock.errors import ConfigError, Problem, UsageError
from interlock.harness._callables import Call, label_of
from interlock.harness.work import Part, Work, part_of
from interlock.record._data import Record
from interlock.record.reply import as_reply, plain_data
from interlock.record.usage import NOTHING, Usage
from interlock.record.values import Reply
from interlock.tools._score_result import ScoreResult
from interlock.tools._table_result import TableResult
from interlock.tools.branch import Branch, BranchResult
from interlock.tools.decision_table import DecisionTable
from interlock.tools.lead_assign import LeadAssign, LeadResult
from interlock.tools.rule_score import RuleScore

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlock._wire import WireForm
    from interlock.record.rollout import Kind

__all__ = ["Classifier", "RouteChoice", "classifier_of", "read_choice"]

_PLACES = (("arms", "name"), ("rows", "outputs"), ("bands", "name"), ("owners", "id"))
"""Where the spec of a tool says what it can answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteChoice(Record):
    """What a classifier says; one of your own may return it to be recorded in full.

    Attributes:
        arm: The arm; None when nothing was said.
        by: What said so.
        fallback: Whether it is a last resort of the classifier itself.
        refused: Whether there is no answer that may be used: neither an arm nor nothing.
        undetermined: Of a refused one, whether it could not be decided.
        reason: Why there is no arm.
        decision: The full answer, as data, for the record.
        usage: What it used.
    """

    arm: str | None = None
    by: str = "callable"
    fallback: bool = False
    refused: bool = False
    undetermined: bool = False
    reason: str = ""
    decision: object = None
    usage: Usage = NOTHING


class Classifier(NamedTuple):
    """A classifier as a route uses it.

    Attributes:
        part: What is called with the values, and what its step may use.
        kind: The kind of its step: that of `step_kind` of the object, or else `classify`.
        given: What it was made of.
    """

    part: Part
    kind: Kind
    given: object

    def config(self) -> dict[str, Any]:
        """Return how it is set up, as data."""
        return {**self.part.config(), "run": label_of(self.given)}


def classifier_of(
    given: object, field: str, arms: Iterable[str], problems: list[Problem]
) -> Classifier:
    """Read what was given as a classifier; what is wrong with it is added to the problems.

    Decision tools look at the values of the run. What a tool can answer must be an arm.
    """
    tool = given.run if isinstance(given, Work) else given
    ask = _ask(tool)
    call = None if ask is None else Call(ask, takes_ctx=False, is_async=False)
    part = part_of(given, field, problems, call)
    if ask is not None:
        problems += _tool_problems(tool, field, tuple(arms))
    # Judgement runs inline, sync or not; unlike other judgement it is held by every ceiling.
    inline = Call(part.call.judge, takes_ctx=True, is_async=True)
    kind: object = getattr(tool, "step_kind", None)
    return Classifier(
        Part(inline, part.work), "decision" if kind == "decision" else "classify", tool
    )


def _ask(tool: object) -> Callable[[object], object] | None:
    # With the reasons of all arms and owners, of which there are few.
    if isinstance(tool, Branch):
        return partial(tool.decide, verbose=True)
    if isinstance(tool, LeadAssign):
        return partial(tool.assign, verbose=True)
    if isinstance(tool, DecisionTable):
        return tool.decide
    return tool.score if isinstance(tool, RuleScore) else None


def _tool_problems(tool: object, field: str, arms: tuple[str, ...]) -> list[Problem]:
    """Say what a tool can answer that is no arm, before it is asked."""
    answers = _answers(cast("Branch", tool).to_spec())
    if isinstance(tool, RuleScore) and not answers:
        message = "must have bands, whose names are arms"
        return [Problem("spec/missing-field", f"{field}.bands", None, message)]
    message = f"must name an arm: one of {', '.join(arms)}"
    problems = [
        Problem("spec/unknown-choice", f"{field}.{place}", _core.preview(answer), message)
        for place, answer in answers
        if _named(answer) not in arms
    ]
    if cast("Branch", tool).to_spec().get("policy") == "collect":
        message = "gives the outputs of several rows, and a route takes one arm"
        problems.append(Problem("spec/conflict", f"{field}.policy", '"collect"', message))
    return problems


def _answers(spec: Mapping[str, Any]) -> list[tuple[str, object]]:
    """List what a tool can answer, each with its place in the spec."""
    found = [
        (f"{entries}[{at}].{name}", entry[name])
        for entries, name in _PLACES
        for at, entry in enumerate(spec.get(entries, ()))
    ]
    if "otherwise" in spec:
        last: object = spec["otherwise"]
        is_arm = "arms" in spec
        found.append(("otherwise", cast("dict[str, object]", last)["name"] if is_arm else last))
    if "fallback" in spec:
        found.append(("fallback.id", spec["fallback"]["id"]))
    return found


def _named(answer: object) -> object:
    """Give the arm that outputs or data name: a text, or a mapping with `arm`."""
    if isinstance(answer, Mapping):
        return cast("Mapping[str, object]", answer).get("arm")
    return answer


def read_choice(value: object, arms: Iterable[str], *, step: str) -> tuple[RouteChoice, Reply]:
    """Read what a classifier returned; a name that is no arm is refused.

    Raises:
        UsageError: When it is nothing that could name an arm.
    """
    choice, reply = _read(value, step)
    names = tuple(arms)
    if choice.arm is None or choice.refused or choice.arm in names:
        return choice, reply
    near = _core.nearest(choice.arm, list(names))
    hint = f'; did you mean "{near}"?' if near else ""
    reason = f"{_core.preview(choice.arm)} is no arm{hint}"
    return _refused(reason, choice), reply


def _read(value: object, step: str) -> tuple[RouteChoice, Reply]:
    if isinstance(value, RouteChoice):
        try:
            decision = plain_data(value.decision)
        except ConfigError as error:
            raise UsageError(f"{step} decided by what JSON cannot hold: {error}") from None
        return replace(value, decision=decision), Reply(value.arm or "", usage=value.usage)
    for kind, choice_of in _TOOLS.items():
        if isinstance(value, kind):
            choice = choice_of(value)
            return choice, Reply(choice.arm or "")
    if value is None:
        return RouteChoice(reason="the classifier said nothing"), Reply()
    try:
        reply = as_reply(value, step=step)
    except UsageError:
        kind = type(value)
        raise UsageError(
            f"{step} returned a {kind.__module__}.{kind.__qualname__}, which names no arm: return "
            "a name, None, a mapping with `arm`, a RouteChoice or the answer of a decision tool"
        ) from None
    return _said(reply), reply


def _said(reply: Reply) -> RouteChoice:
    """Read a model's reply: its text, or data with `arm`."""
    if reply.status == "incomplete":
        # What was cut off may be the name of another arm.
        return _refused("the answer was cut off")
    said = reply.output if reply.data is None else _data_arm(reply.data)
    if said is None:
        return RouteChoice(reason="the classifier said nothing")
    if not isinstance(said, str):
        return _refused(f"{_core.preview(said)} is no arm; a name is a text")
    name = str.__str__(said).strip()
    return RouteChoice(arm=name) if name else _refused("the classifier answered a blank text")


def _data_arm(data: object) -> object:
    if isinstance(data, str):
        return data
    try:
        plain: object = plain_data(data)
    except ConfigError:
        return data
    if not isinstance(plain, dict):
        return plain
    told = cast("dict[str, object]", plain)
    return told.get("arm", told)


def _refused(reason: str, choice: RouteChoice | None = None) -> RouteChoice:
    said = choice or RouteChoice()
    return RouteChoice(
        arm=said.arm,
        by=said.by,
        refused=True,
        reason=reason,
        decision=said.decision,
        usage=said.usage,
    )


def _of_tool(
    result: WireForm,
    *,
    arm: object = None,
    by: str,
    fallback: bool = False,
    refused: str | None = None,
    undetermined: str | None = None,
    missed: str = "",
) -> RouteChoice:
    why = undetermined or refused
    if why is None and arm is not None and not isinstance(arm, str):
        why = f"{_core.preview(arm)} is no arm; a name is a text"
    return RouteChoice(
        arm=arm if why is None and isinstance(arm, str) else None,
        by=by,
        fallback=fallback,
        refused=why is not None,
        undetermined=undetermined is not None,
        reason=why or (missed if arm is None else ""),
        decision=result.to_dict(),
    )


def _of_branch(result: BranchResult) -> RouteChoice:
    reasons = "; ".join(f"{arm.name}: {arm.reason}" for arm in result.evaluated or ())
    return _of_tool(
        result,
        by="Branch",
        arm=result.name,
        fallback=result.fallback,
        undetermined=result.undetermined,
        missed=f"no arm of the branch holds{reasons and f' ({reasons})'}",
    )


def _of_table(result: TableResult) -> RouteChoice:
    arm = _named(result.outputs)
    return _of_tool(
        result,
        by="DecisionTable",
        arm=result.outputs if arm is None else arm,
        fallback=result.fallback,
        refused=result.conflict,
        undetermined=result.undetermined,
        missed="no row of the table holds",
    )


def _of_score(result: ScoreResult) -> RouteChoice:
    open_rule = result.undetermined[0] if result.undetermined else None
    no_band = None if result.band is not None else f"scores {result.score}, in no band"
    return _of_tool(
        result,
        by="RuleScore",
        arm=result.band,
        refused=no_band,
        undetermined=f"{open_rule.id}: {open_rule.reason}" if open_rule else None,
    )


def _of_lead(result: LeadResult) -> RouteChoice:
    reasons = "; ".join(f"{one.id}: {one.reason}" for one in result.considered or ())
    return _of_tool(
        result,
        by="LeadAssign",
        arm=result.owner,
        fallback=result.fallback,
        refused=None if result.undetermined else result.conflict,
        undetermined=result.conflict if result.undetermined else None,
        missed=f"no owner is eligible{reasons and f' ({reasons})'}",
    )


_TOOLS: dict[type, Callable[[Any], RouteChoice]] = {
    BranchResult: _of_branch,
    TableResult: _of_table,
    ScoreResult: _of_score,
    LeadResult: _of_lead,
}
"""By the result of a decision tool, which a callable may return as well."""
