"""Taking an edge: budgets first, then the step or terminal that it leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from interlock.supervise import deviation, questions
from interlock.supervise._frozen import FrozenMap
from interlock.supervise.deviation import DeviationInput
from interlock.supervise.state import CallFrame
from interlock.tools.stall_detect import stall_detect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlock.supervise._draft import Draft
    from interlock.supervise.asked import Question, QuestionKind
    from interlock.supervise.policy import Policy, PolicyStep
    from interlock.supervise.state import RunState

__all__ = ["arrive", "ask_to_pass", "asks_first", "deviate", "entering", "exhausted", "take_edge"]

_SNAPSHOTS = 128
"""What `stall_detect` is shown at most: more than two of the longest windows."""


def deviate(
    draft: Draft, name: str, code: str, message: str, *, capability: str | None = None
) -> None:
    """Note what was refused, and record it as a departure from the procedure."""
    draft.event("blocked", code, message)
    draft.take(deviation.record_deviation(draft.frozen(), DeviationInput(name, None, capability)))


def exhausted(draft: Draft, code: str, what: str) -> None:
    """End the run because a budget is spent."""
    said = f"{what}; this is the end of a budget, no verdict of the step and no failure of it"
    draft.end("budget-exhausted", code, said)
    draft.take(deviation.record_deviation(draft.frozen(), DeviationInput("budget-exhausted")))


def take_edge(draft: Draft, target: str, code: str, message: str = "") -> None:
    """Leave the current step for a target, or end the run where a budget is spent."""
    here, state = draft.here, draft.state
    key = f"{state.current}->{target}"
    limit, taken = here.budgets.get(key), state.retries.get(key, 0)
    if limit is not None and taken >= limit:
        exhausted(
            draft, "run/budget-exhausted", f"the edge {key} was taken {taken} times of {limit}"
        )
        return
    bound, visited = here.visit_budgets.get(target), state.visits.get(target, 0)
    if bound is not None and visited >= bound:
        said = f"the step {target} was entered {visited} times of {bound}"
        exhausted(draft, "run/visits-exhausted", said)
        return
    if limit is not None:
        draft.change(retries={**state.retries, key: taken + 1})
    draft.event("advanced", code, message or key)
    arrive(draft, target)


def arrive(draft: Draft, target: str) -> None:
    """Enter a step, or end at a terminal."""
    here = draft.here
    if target in here.terminals:
        state = draft.state
        draft.change(path=(*state.path, state.place(target)), current=target)
        _ended(draft, here.terminals[target])
        return
    _entered(draft, here.steps[target])


def _entered(draft: Draft, step: PolicyStep) -> None:
    state = draft.state
    visit = state.visits.get(step.id, 0) + 1
    draft.change(
        current=step.id,
        visit=visit,
        visits={**state.visits, step.id: visit},
        path=(*state.path, state.place(step.id)),
        verified=False,
        admitted=True,
        pending=(),
        entered_at=draft.now,
    )
    if step.progress is not None and _repeats(draft, step):
        said = f"step {step.id} was entered again and nothing that it watches has changed"
        draft.end("no-progress", "run/no-progress", said)
    elif asks_first(step):
        _admit(draft, step)
    elif step.calls is not None:
        _called(draft, step, visit)


def asks_first(step: PolicyStep) -> bool:
    """Say whether people must agree before a step is begun."""
    return step.kind == "approval" or (step.gate is not None and step.gate.on == "enter")


def _admit(draft: Draft, step: PolicyStep) -> None:
    """Begin a step that people have agreed to, else ask: it was come to without being asked for.

    So it is with the first step of a runbook, with what is led to by the end of a called one, and
    with a step that is nothing but the question.
    """
    state = draft.state
    digest = entering(state, step, state.visit)
    approval = questions.granted(state, digest, draft.now)
    if approval is not None and step.kind != "approval":
        draft.change(approvals=questions.used(state, approval, step.id))
        return
    draft.change(admitted=False)
    ask_to_pass(draft, step)


def entering(state: RunState, step: PolicyStep, visit: int) -> str:
    """Return the digest of beginning a step."""
    return questions.action_digest(
        state, step=step.id, tool=None, args=None, effect=None, visit=visit
    )


def ask_to_pass(draft: Draft, step: PolicyStep) -> Question | str:
    """Ask those who must agree before a step is left by its success edge, or begun."""
    gate = step.gate
    if gate is None:
        return "nobody is named who could agree"
    visit = draft.state.visit
    digest = entering(draft.state, step, visit)
    kind: QuestionKind = "approval" if step.kind == "approval" else "enter"
    return questions.ask(draft, gate, step, kind=kind, visit=visit, digest=digest)


def _repeats(draft: Draft, step: PolicyStep) -> bool:
    progress, state = step.progress, draft.state
    if progress is None:
        return False
    place = state.place(step.id)
    before = cast("list[object]", state.snapshots.get(place, []))
    now = {name: state.facts.get(name) for name in progress.signals}
    # A list, as it is read back from a state that was written.
    history = [*before, now][-_SNAPSHOTS:]
    draft.change(snapshots={**state.snapshots, place: history})
    return stall_detect(history, window=progress.window, signals=progress.signals).stalled


def _called(draft: Draft, step: PolicyStep, visit: int) -> None:
    """Begin the runbook that a step calls."""
    called, state = step.calls, draft.state
    policy = called.policy if called is not None else None
    if policy is None:
        draft.end(
            "aborted", "runbook/unknown-call", f"the runbook of step {step.id} is not at hand"
        )
        return
    frame = CallFrame(
        step=step.id,
        visit=visit,
        retries=state.retries,
        visits=state.visits,
        calls=state.calls.get("allowed", 0),
        tokens=state.tokens,
        calls_by_tool=state.calls_by_tool,
    )
    draft.change(stack=(*state.stack, frame), retries={}, visits={})
    draft.here = policy
    arrive(draft, policy.entry)


def _ended(draft: Draft, outcome: str) -> None:
    """End the run, or the runbook that was called and go on where it was."""
    state = draft.state
    if not state.stack:
        draft.end(outcome, "run/terminal", f"the run has come to {outcome}")
        return
    frame = state.stack[-1]
    draft.change(
        stack=state.stack[:-1],
        retries=frame.retries,
        visits=frame.visits,
        current=frame.step,
        visit=frame.visit,
    )
    draft.here = outer(draft.policy, draft.state.stack)
    step = draft.here.steps[frame.step]
    outcomes: Mapping[str, str] = step.calls.outcomes if step.calls else FrozenMap()
    otherwise = next((one.target for one in step.exits if one.via == "otherwise"), None)
    target = outcomes.get(outcome, otherwise)
    if target is None:
        said = f"the called runbook came to {outcome}, and step {step.id} does not say what then"
        deviate(draft, "unrouted-failure", "call/unrouted", said)
        return
    take_edge(draft, target, "call/ended", f"{frame.step}->{target}: the runbook came to {outcome}")


def outer(policy: Policy, stack: tuple[CallFrame, ...]) -> Policy:
    """Return the policy that a stack of called runbooks leads to."""
    for frame in stack:
        called = policy.steps[frame.step].calls
        if called is None or called.policy is None:
            raise KeyError(frame.step)
        policy = called.policy
    return policy
