"""Route: classify first, then commit: exactly one arm runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from interlock import _core
from interlock.errors import Problem
from interlock.harness._config import count_problems, keywords, name_problems, raise_problems
from interlock.harness._frame import Reading
from interlock.harness._workflow import End, Workflow, status_of
from interlock.harness.classify import Classifier, RouteChoice, classifier_of, read_choice
from interlock.harness.flow import Flow, Node
from interlock.harness.work import Part, read_parts
from interlock.record.reply import as_json_reply
from interlock.record.result import Result
from interlock.record.values import ErrorInfo, Reply, Verdict
from interlock.tools.lead_assign import LeadAssign

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from interlock.harness._walk import Walk
    from interlock.harness.run import Run
    from interlock.harness.work import Work

__all__ = ["Route", "RouteResult", "route"]

_STEP = "classify"
_REASON = 1_000
"""Characters of a reason; it may list one for each arm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteResult(Result):
    """What a route came to.

    `stopped_by`: done, unrouted (no arm, which `error` explains), failed, or a limit (tokens, cost,
    steps, deadline, unmetered).

    Attributes:
        arm: The arm that was taken; None without one.
        by: What chose it: `callable`, a decision tool by its name, what a `RouteChoice` says, or
            `default` when nothing was said; None without an arm.
        fallback: Whether it was the last resort: the default, or that of a decision tool.
    """

    arm: str | None = None
    by: str | None = None
    fallback: bool = False


@dataclass(slots=True)
class _State:
    choice: RouteChoice | None = None
    arm: str | None = None
    by: str | None = None
    fallback: bool = False
    answer: Reply | None = None
    error: ErrorInfo | None = None


class Route(Workflow[_State, RouteResult]):
    """Arms, of which a classifier names one: that one runs, whatever it answers.

    Args:
        classify: What names the arm: a callable of the values, sync or async, that returns a name
            (or a mapping with `arm`, a `RouteChoice`, the answer of a decision tool; None is
            nothing said); or a Branch, a DecisionTable whose outputs are names or have `arm`, a
            RuleScore whose bands are arms, or a LeadAssign whose owners are.
        arms: Callables, or `Work(...)`, by name; each would get the values.
        default: The arm for when nothing is said. Something said that is no arm, a conflict, or
            what cannot be decided is an error, and never the default.
        max_tokens: No step starts once so many tokens are used.
        name: The name of the workflow.

    Raises:
        ConfigError: With every problem found.
    """

    __slots__ = ("_arms", "_classifier", "default")

    kind = "route"
    default: str | None
    _arms: dict[str, Part]
    _classifier: Classifier

    @keywords
    def __init__(
        self,
        *,
        classify: object = None,
        arms: Mapping[str, Callable[..., Any] | Work],
        default: str | None = None,
        max_tokens: int | None = None,
        name: str = "route",
    ) -> None:
        """Check and keep everything."""
        problems = name_problems(name, "name")
        parts = read_parts(arms, "arms", problems)
        if _STEP in parts:
            shown = _core.preview(_STEP)
            message = "the name of the step that classifies; each must be its own"
            problems.append(Problem("spec/duplicate-name", f"arms.{_STEP}", shown, message))
        if classify is None:
            message = "is required: what names an arm, such as `lambda values: ...` or Branch(...)"
            problems.append(Problem("spec/missing-field", _STEP, None, message))
            classify = bool
        classifier = classifier_of(classify, _STEP, parts, problems)
        if default is not None and default not in parts:
            message = f"must name an arm: one of {', '.join(parts)}"
            problem = Problem("spec/unknown-choice", "default", _core.preview(default), message)
            problems.append(problem)
        problems += count_problems(max_tokens, "max_tokens")
        raise_problems(problems)
        self._set(name=name, max_tokens=max_tokens, default=default)
        self._set(_arms=parts, _classifier=classifier)

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms, in order."""
        return tuple(self._arms)

    def lint(self) -> tuple[Problem, ...]:
        """Warn of a single arm, and of turns that are never taken."""
        found: list[Problem] = []
        if len(self._arms) == 1:
            message = "a single arm: there is nothing to choose; call it"
            found.append(Problem("lint/unused", "arms", None, message))
        tool = self._classifier.given
        if isinstance(tool, LeadAssign) and tool.to_spec()["strategy"] == "round_robin":
            message = (
                "round_robin starts at the first owner in every run, as no cursor is kept: "
                "classify by a callable that calls assign(..., cursor=...)"
            )
            found.append(Problem("lint/unused", "classify.strategy", '"round_robin"', message))
        return tuple(found)

    def flow(self) -> Flow:
        """Return the classifier, and each arm after it."""
        arms = (Node(name, "arm", (_STEP,), self._arrow(name)) for name in self._arms)
        return Flow(self.name, (Node(_STEP, self._classifier.kind), *arms))

    def compile(self) -> Flow:
        """Return the route as a graph: the classifier, and the arms that need it."""
        return self.flow()

    def _arrow(self, arm: str) -> str:
        return f"{arm}, or nothing said" if arm == self.default else arm

    def _config(self) -> dict[str, Any]:
        return {
            "classify": self._classifier.config(),
            "arms": {name: part.config() for name, part in self._arms.items()},
            "default": self.default,
            "max_tokens": self.max_tokens,
        }

    def _begin(self, values: object) -> _State:
        del values
        return _State()

    async def _steps(self, walk: Walk, values: object, state: _State) -> str:
        classifier = self._classifier
        said = await walk.step(
            _STEP,
            classifier.kind,
            classifier.part.call,
            values,
            digest=walk.digest,
            read=partial(self._read, state),
            **classifier.part.options(),
        )
        choice = state.choice
        if choice is None:
            state.error = said.step.error
            return "failed"
        if not self._committed(choice, state):
            return "unrouted"
        part = self._arms[state.arm or ""]
        outcome = await walk.step(
            state.arm or "",
            "arm",
            part.call,
            values,
            digest=walk.digest,
            read=as_json_reply,
            **part.options(),
        )
        if not outcome.ok:
            state.error = outcome.step.error
            return "failed"
        state.answer = outcome.reply
        return "done"

    def _read(self, state: _State, value: object, *, step: str) -> Reading | Reply:
        """Read what the classifier returned; what it says is kept in the state."""
        state.choice = None
        choice, reply = read_choice(value, self._arms, step=step)
        if reply.status == "failed":
            return reply
        state.choice = choice
        if choice.decision is None and choice.refused:
            unrouted = replace(reply, status="failed", error=self._unrouted(choice.reason))
            return Reading(unrouted, returned=reply)
        verdict = None
        if choice.refused:
            verdict = Verdict(ok=False, reason=choice.reason, undetermined=choice.undetermined)
        return Reading(reply, choice.decision, verdict)

    def _committed(self, choice: RouteChoice, state: _State) -> bool:
        """Note the arm that is taken, or why there is none."""
        if choice.arm is not None and not choice.refused:
            state.arm, state.by, state.fallback = choice.arm, choice.by, choice.fallback
        elif self.default is not None and not choice.refused:
            state.arm, state.by, state.fallback = self.default, "default", True
        else:
            state.error = self._unrouted(choice.reason)
        return state.arm is not None

    def _unrouted(self, reason: str) -> ErrorInfo:
        message = f"{reason[:_REASON]}; the arms are {', '.join(self._arms)}"
        return ErrorInfo("unrouted", message, "bad_request", "escalate", source="route")

    def _result(self, state: _State, end: End) -> RouteResult:
        status = status_of(end.stopped_by, otherwise="completed")
        if end.stopped_by == "unrouted":
            status = "failed"
        rollout = end.close(status)
        answer = state.answer
        return RouteResult(
            status=status,
            stopped_by=end.stopped_by,
            output=answer.output if answer is not None else None,
            data=answer.data if answer is not None else None,
            usage=rollout.usage,
            error=state.error,
            rollout=rollout,
            arm=state.arm,
            by=state.by,
            fallback=state.fallback,
        )


@keywords
async def route(
    values: object,
    *,
    classify: object = None,
    arms: Mapping[str, Callable[..., Any] | Work],
    default: str | None = None,
    max_tokens: int | None = None,
    name: str = "route",
    run: Run | None = None,
) -> RouteResult:
    """Ask which arm, then run that one; see `Route`.

    Raises:
        ConfigError: With every problem found, before anything runs.
        UsageError: When a callable returned what has no meaning.
    """
    made = Route(classify=classify, arms=arms, default=default, max_tokens=max_tokens, name=name)
    return await made.run(values, run=run)
