"""What a report says, whatever it is written as: facts, budgets and answers in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from interlock.supervise.asked import Approval
    from interlock.supervise.called import CallList
    from interlock.supervise.report import Report

__all__ = ["answers", "ended", "facts", "people", "share", "uses"]


def ended(report: Report) -> str:
    """Say what a run came to."""
    return report.outcome or "no end yet"


def facts(report: Report) -> Iterator[tuple[str, str]]:
    """Yield the facts of a run, each with its name."""
    policy = report.policy
    yield "run", report.run_id
    yield "policy", " ".join(filter(None, (policy.id, policy.version, policy.digest[:12])))
    yield "status", report.status
    if report.budgets.wall_clock.elapsed is not None:
        yield "took", seconds(report.budgets.wall_clock.elapsed)
    if report.waited_seconds:
        yield "of that waiting for people", seconds(report.waited_seconds)
    counts = report.calls
    told = [f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if count]
    yield "calls", ", ".join(told) or "none"
    if report.called is not None:
        yield "calls list", _called(report.called)
    claimed, computed = report.profile.claimed, report.profile.computed
    if claimed is not None:
        is_so = computed in (None, claimed)
        yield "profile", claimed if is_so else f"{computed}, and said to be {claimed}"
    if report.max_moves is not None:
        yield "ends within", f"{report.max_moves:,} moves"
    if report.chain.ok is not None:
        yield "log", "every entry comes to what it says" if report.chain.ok else "is not sound"


def _called(calls: CallList) -> str:
    told = [str(calls)]
    told += [f"{calls.running} runs"] if calls.running else []
    told += [f"{one} failed" for one in calls.failed]
    told += [f"{one} has not begun" for one in calls.open]
    told += [f"{one.step} {one.reason}" for one in calls.waiting]
    more = len(told) - _CALLS
    return "; ".join(told[:_CALLS]) + (f"; and {more} more" if more > 0 else "")


_CALLS = 20


def seconds(value: float) -> str:
    """Write a number of seconds."""
    return f"{value:,.10g} s"


def uses(report: Report) -> Iterator[tuple[str, str, float, float | None, str]]:
    """Yield every budget: of what, its name, what is used, its limit, and both as `2/3`."""
    budgets = report.budgets
    for edge in budgets.retries:
        yield "edge", edge.edge, edge.used, edge.max, of(edge.used, edge.max)
    for kind, group in (("visits", budgets.visits), ("calls", budgets.calls)):
        for use in group:
            # These are told with a policy at hand: without a limit there is none.
            told = f"{use.used:,}, no bound" if use.max is None else of(use.used, use.max)
            if use.max is not None or use.used:
                yield kind, use.name, use.used, use.max, told
    clock = budgets.wall_clock
    if clock.limit is not None:
        elapsed = 0 if clock.elapsed is None else clock.elapsed
        told = f"{elapsed:,.10g}/{clock.limit:,.10g} s"
        yield "time", "wall clock", elapsed, clock.limit, told


def of(used: int, most: int | None) -> str:
    """Write what is used of a budget, such as `2/3`; a limit that is not known is `?`."""
    return f"{used:,}/{'?' if most is None else f'{most:,}'}"


def share(used: float, most: float) -> float:
    """Return what is used of a budget in per cent, at most 100."""
    return 100 * min(1, max(0, used / most))


def people(who: Iterable[str]) -> str:
    """Name people; where nobody is named, anybody may who is identified."""
    return ", ".join(who) or "anybody who is identified"


def answers(report: Report) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield what was answered: question, outcome, its tone, who said what, and what used it."""
    for one in report.approvals:
        said = (
            "agreed to" if one.approved else "refused" if one.votes else "nobody answered in time"
        )
        tone = "completed" if one.approved else "blocked"
        yield one.question_id, said, tone, _voted(one), one.used_by or ""


def _voted(one: Approval) -> str:
    return "; ".join(
        f"{vote.by} {'agrees' if vote.approve else 'does not agree'}"
        + (f": {vote.note}" if vote.note else "")
        for vote in one.votes
    )
