"""The rollout of a supervised loop against a runbook: its calls are proposed again, in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from interlock.errors import UsageError
from interlock.supervise import calls, moves, observed, shown
from interlock.supervise.card import card, way_out
from interlock.tools._foreign import mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock.record.rollout import Rollout, Step
    from interlock.supervise.policy import Policy
    from interlock.supervise.state import Event, RunState

__all__ = ["Again", "calls_in"]

_BESIDE = ("runbook_card", "finish")
Told = tuple[str, str, str, "tuple[Event, ...]"]


def calls_in(rollout: Rollout) -> Iterator[tuple[str, dict[str, Any], Step | None]]:
    """Yield the calls that a model asked for: name, arguments, and what became of each.

    Raises:
        UsageError: When the arguments are not in the record.
    """
    made = {(one.path.partition("/")[0], one.call_id): one for one in rollout.steps
            if one.kind == "tool"}  # fmt: skip
    for turn in rollout.steps:
        if turn.kind != "turn":
            continue
        reply = cast("Mapping[str, Any]", turn.meta.get("reply") or {})
        for call in cast("list[Mapping[str, Any]]", reply.get("calls") or ()):
            args = call.get("args", {})
            if not isinstance(args, Mapping):
                raise UsageError(f"{turn.path}: the arguments of its calls are not in the record")
            read = dict(cast("Mapping[str, Any]", args))
            yield str(call["name"]), read, made.get((turn.path, str(call["id"])))


class Again:
    """A run that is made again by the calls of a rollout.

    Args:
        policy: What it follows.
        state: Where it begins.
        capabilities: The capability of each tool, by its name.
    """

    def __init__(self, policy: Policy, state: RunState, capabilities: Mapping[str, str]) -> None:
        """Begin."""
        self.policy, self.state, self.capabilities = policy, state, capabilities

    def made(self, name: str, args: dict[str, Any], step: Step | None) -> Told | None:
        """Make a call again: what it is, what it was and what it is now; None for no part of it."""
        is_beside = name in _BESIDE and name not in self.capabilities
        if is_beside or step is None:
            return None
        if name.startswith("runbook_"):
            return self._move(name, args, step)
        tool = self.capabilities.get(name, name)
        proposed = calls.ProposedCall(tool, args=args, effect=step.effect)
        decision = calls.propose(self.policy, self.state, proposed)
        self.state = decision.state
        was = "block" if step.status == "blocked" else "allow"
        if decision.verdict == "allow":
            # What was not run in the record has no outcome, and none is made up.
            ran = step.status if step.status in ("completed", "failed") else "in_doubt"
            self.state = observed.observe(
                self.policy, self.state, decision.call_id, cast("Any", ran), output=step.output
            ).state
        return tool, was, decision.verdict, decision.events

    def _move(self, name: str, args: dict[str, Any], step: Step) -> Told:
        policy, state = self.policy, self.state
        if name == "runbook_failed":
            moved = moves.fail(policy, state, str(args.get("reason", ""))[:200])
        elif name == "runbook_done":
            target, via = way_out(card(policy, state), args.get("to"))
            moved = moves.advance(policy, state, target, via=via)
        elif not state.is_over and card(policy, state).kind == "decision":
            moved = shown.decide(policy, state, args.get("evidence", {}))
        else:
            moved = shown.verify(policy, state, args.get("evidence", {}), by=state.agent_identity)
        self.state = moved.state
        now = moved.state.outcome or moved.state.current or ""
        return name, _stood(step) or now, now, moved.events


def _stood(step: Step) -> str | None:
    """Return where the recorded run stood after a move, as its tool said it."""
    told = mapping(mapping(step.output).get("card"))
    return cast("str | None", told.get("outcome") or told.get("step"))
