"""Writing a choice down, and reading it in a workflow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from anyio import to_thread

from interlock import _core
from interlock.errors import Problem, RouteError, UsageError
from interlock.harness._config import keywords, raise_problems
from interlock.routing._graph import references
from interlock.routing._names import SELECTION, id_fault
from interlock.routing._typed import must_be
from interlock.routing.choice import written
from interlock.routing.evidence import EXECUTION
from interlock.routing.folder import RunFolder
from interlock.routing.resolve import A_ROUTER, match
from interlock.routing.shapes import Plan, PlanStep, Router
from interlock.tools._table_result import TableResult
from interlock.tools.branch import BranchResult
from interlock.tools.consensus_vote import VoteResult
from interlock.tools.lead_assign import LeadResult
from interlock.tools.rule_score import ScoreResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlock._wire import WireForm
    from interlock.harness.classify import RouteChoice
    from interlock.harness.ctx import Ctx

__all__ = ["ByFile", "by_file", "write_choice"]

DECISION = "route_decision.json"
"""The full answer of the decision tool that chose, beside the choice."""


@keywords
def write_choice(
    run: RunFolder,
    step_id: str,
    route_id: str | None = None,
    *,
    router: Router | None = None,
    from_: WireForm | None = None,
    by: str | None = None,
    reason: str = "",
) -> str:
    """Write the choice of a step into its folder, whole or not at all.

    Args:
        run: The folder of the run.
        step_id: The step that decides.
        route_id: The route; or the destination of one route alone, where the router is given.
        router: The router that will read it; given, what it would refuse is refused here already.
        from_: The answer of a decision tool (a Branch, a table, a score, a roster, a vote), which
            names the route in place of `route_id`; it is kept in full beside the choice.
        by: Who decided, for readers.
        reason: Why, for readers.

    Returns:
        The id of the route, as it is written.

    Raises:
        RouteError: For what is no route of the router, or no id.
        UsageError: For an answer that decides nothing.
        ConfigError: When there is neither a route nor an answer, or both.
        StoreError: When it cannot be written.
    """
    must_be(run, RunFolder, "run", "a RunFolder(...)")
    must_be(router, Router | None, "router", f"{A_ROUTER}, or None")
    for field, text in (("by", "" if by is None else by), ("reason", reason)):
        must_be(text, str, field, "text")
    if (route_id is None) == (from_ is None):
        message = "give the route, or the answer of a decision tool as from_; one of them"
        raise_problems([Problem("spec/conflict", "route_id", None, message)])
    chosen = _named(from_) if route_id is None else route_id
    _refuse_step(step_id)
    if router is not None:
        chosen = match(router, chosen).route_id
    elif id_fault(chosen) is not None:
        fault = id_fault(chosen) or ""
        raise RouteError("route/unsafe-path", f"route_id: {fault}", value=_core.preview(chosen))
    told = {name: text for name, text in (("by", by), ("reason", reason)) if text}
    home = (EXECUTION, step_id)
    if from_ is not None:
        # First, so that a choice never stands without its reasons.
        run.files.write(run.path, (*home, DECISION), from_.to_json().encode() + b"\n")
    run.files.write(run.path, (*home, SELECTION), written(chosen, **told))
    return chosen


def _refuse_step(step_id: str) -> None:
    fault = id_fault(step_id)
    if fault is not None:
        raise RouteError("route/unsafe-path", f"step_id: {fault}", value=_core.preview(step_id))


def _named(answer: object) -> str:
    """Give the name that an answer settles on; one that settles on none is no choice."""
    for kind, name in _NAMES.items():
        if isinstance(answer, kind):
            found: object = name(answer)
            if isinstance(found, str) and found:
                return found
            shown = _core.preview(cast("WireForm", answer).to_dict())
            raise UsageError(f"from_: {type(answer).__name__} names no route: {shown}")
    raise UsageError(
        f"from_ is a {type(answer).__name__}; it must be the answer of a Branch, a DecisionTable "
        "whose outputs are a name, a RuleScore with bands, a LeadAssign or a ConsensusVote"
    )


_NAMES: dict[type, Callable[[Any], object]] = {
    BranchResult: lambda answer: answer.name,
    TableResult: lambda answer: answer.outputs if answer.ok and answer.matched else None,
    ScoreResult: lambda answer: answer.band,
    LeadResult: lambda answer: answer.owner,
    VoteResult: lambda answer: answer.winner if answer.decided else None,
}


class ByFile:
    """A classifier of a `route` that reads what was decided; see `by_file`."""

    step_kind = "decision"

    def __init__(self, router: Router, run: RunFolder, plan: Plan | None) -> None:
        """Take the router, the folder, and the plan around it."""
        self.router, self.folder, self.plan = router, run, plan

    @property
    def digest(self) -> str:
        """SHA-256 of the router as data."""
        return _core.digest(Plan((PlanStep.of(self.router),)).to_dict())

    async def __call__(self, values: object, ctx: Ctx | None = None) -> RouteChoice:
        """Read the choice, write the evidence, and name the arm; the values are not looked at."""
        del values
        from interlock.harness.classify import RouteChoice

        key = "" if ctx is None else ctx.idempotency_key
        try:
            taken = await to_thread.run_sync(
                partial(self.folder.take, self.plan, self.router, key=key)
            )
        except RouteError as error:
            return RouteChoice(by="file", refused=True, reason=str(error))
        return RouteChoice(
            arm=taken.route_id,
            by="file",
            fallback=taken.source_kind == "default",
            decision=taken.to_dict(),
        )


@keywords
def by_file(router: Router, run: RunFolder, *, plan: Plan | None = None) -> ByFile:
    """Return a classifier for `route`: its arms are named as the routes are.

    What is there and bad leaves the route unrouted; its own default is never taken. A step that is
    taken once more under the same key (`ctx.idempotency_key`: another attempt, or a workflow that
    was killed and is run again with the id of its run and the same values) is the same visit: it is
    answered from the evidence, and counted once.

    Args:
        router: The router.
        run: The folder of the run.
        plan: The plan, where a dependency names a file without its step.

    Raises:
        ConfigError: For a dependency that needs the plan; for what is no router, folder or plan.
    """
    must_be(router, Router, "router", A_ROUTER)
    must_be(run, RunFolder, "run", "a RunFolder(...)")
    must_be(plan, Plan | None, "plan", "a Plan(...), or None")
    bare = [one for one in references(router) if "/" not in one]
    if bare and plan is None:
        message = f"names no step: write `step/{SELECTION}`, or give the plan"
        shown = _core.preview(bare[0])
        raise_problems([Problem("spec/missing-field", "context_dependencies", shown, message)])
    return ByFile(router, run, plan)
