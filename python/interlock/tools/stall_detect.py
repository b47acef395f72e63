"""StallDetect: is the loop still moving."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from interlock import _core
from interlock._compiled import refuse
from interlock._wire import WireForm
from interlock.errors import Problem
from interlock.tools._fields import (
    read_entries,
    read_list,
    repeated_problems,
    text_problems,
)
from interlock.tools._limits import CYCLE_LIMIT, HISTORY_LIMIT, SIGNALS_LIMIT
from interlock.tools._numbers import exact, whole_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from interlock.typing import JSON, StallReason

__all__ = ["StallResult", "stall_detect"]

_Forms: TypeAlias = "dict[str, str]"
_EMPTY = _core.fingerprint("")


@dataclass(frozen=True, slots=True, kw_only=True)
class StallResult(WireForm):
    """Whether a loop still moves.

    Attributes:
        stalled: Whether the end of the history is `unchanged` or `oscillating`.
        reason: `insufficient`: fewer snapshots than the window. `unchanged`: the last ones are
            identical, as many as the window or more. `oscillating`: the last ones are one cycle
            twice. `progressing`: none of these.
        repeats: How many snapshots at the end are identical; 0 when there are too few.
        cycle_length: 1 when unchanged, the length of the cycle when oscillating, else None.
        changed: The signals that differ between the last two snapshots, sorted.
        frozen: The signals that are equal in every snapshot, sorted.
        observed: How many snapshots there are.
    """

    stalled: bool
    reason: StallReason
    repeats: int
    cycle_length: int | None
    changed: tuple[str, ...]
    frozen: tuple[str, ...]
    observed: int

    @property
    def outcome(self) -> str:
        """A short label for counting."""
        return self.reason

    def to_dict(self) -> dict[str, JSON]:
        """Return the wire form."""
        return {
            "stalled": self.stalled,
            "reason": self.reason,
            "repeats": self.repeats,
            "cycleLength": self.cycle_length,
            "changed": list(self.changed),
            "frozen": list(self.frozen),
            "observed": self.observed,
        }


def stall_detect(
    history: Sequence[object],
    *,
    window: int = 3,
    max_cycle: int = 3,
    signals: Sequence[str] | None = None,
) -> StallResult:
    """Say whether the end of a history repeats itself.

    Args:
        history: Snapshots, oldest first: mappings of signal to fingerprint (a text, or any JSON
            value; equal values are one fingerprint), at most 64 signals each; 1 to 512 of them.
        window: How many snapshots it takes to see a stall, a whole number of at least 2.
        max_cycle: The longest cycle that is looked for, a whole number of 1 to 16. In data it is
            `maxCycle`.
        signals: The signals to look at, at most 64, each once; None: all that there are. In the
            comparison of snapshots a missing signal counts as the empty text; in `changed` and
            `frozen` the two differ.

    Raises:
        SpecInvalid: With every problem found.

    Example:
        >>> from interlock import stall_detect
        >>> states = ["3 failing", "1 failing", "3 failing", "1 failing"]
        >>> answer = stall_detect([{"tests": state} for state in states])
        >>> answer.stalled, answer.reason, answer.cycle_length
        (True, 'oscillating', 2)
    """
    forms, problems = _read_history(history)
    chosen, more = _read_signals(signals)
    refuse(
        [
            *problems,
            *whole_problems(window, "window", least=2),
            *whole_problems(max_cycle, "maxCycle", least=1, most=CYCLE_LIMIT),
            *more,
        ]
    )
    names = sorted({name for snapshot in forms for name in snapshot} if chosen is None else chosen)
    snapshots = [tuple(snapshot.get(name, _EMPTY) for name in names) for snapshot in forms]
    reason, repeats, cycle = _judged(snapshots, int(exact(window)), int(exact(max_cycle)))
    return StallResult(
        stalled=reason in ("unchanged", "oscillating"),
        reason=reason,
        repeats=repeats,
        cycle_length=cycle,
        changed=_named(names, forms[-2:], lambda kept: not kept),
        frozen=_named(names, forms, lambda kept: kept),
        observed=len(forms),
    )


def _judged(
    snapshots: list[tuple[str, ...]], window: int, max_cycle: int
) -> tuple[StallReason, int, int | None]:
    """Give the reason, the run of identical snapshots at the end, and the cycle's length."""
    if len(snapshots) < window:
        return "insufficient", 0, None
    last = snapshots[-1]
    run = (n for n, snapshot in enumerate(reversed(snapshots)) if snapshot != last)
    repeats = next(run, len(snapshots))
    if repeats >= window:
        return "unchanged", repeats, 1
    for length in range(2, max_cycle + 1):
        tail = snapshots[-2 * length :]
        # A constant tail of that length would have been unchanged.
        if len(tail) == 2 * length >= window and tail[:length] == tail[length:]:
            return "oscillating", repeats, length
    return "progressing", repeats, None


def _named(
    names: Iterable[str], forms: Sequence[_Forms], wanted: Callable[[bool], bool]
) -> tuple[str, ...]:
    """Name the signals that are wanted, being told whether one is the same in all snapshots."""
    if len(forms) < 2:  # noqa: PLR2004 (one snapshot has nothing to differ from)
        return ()
    kept = ((name, len({snapshot.get(name) for snapshot in forms}) == 1) for name in names)
    return tuple(name for name, same in kept if wanted(same))


def _read_history(history: object) -> tuple[list[_Forms], list[Problem]]:
    entries, problems = read_entries(history, "history", HISTORY_LIMIT, finite=True)
    found: list[_Forms] = []
    for place, entry in entries:
        if len(entry) > SIGNALS_LIMIT:
            message = f"{len(entry)} signals, over the limit of {SIGNALS_LIMIT}"
            problems.append(Problem("spec/over-limit", place, None, message))
            continue
        found.append({name: _core.fingerprint(value) for name, value in entry.items()})
    return found, problems


def _read_signals(signals: object) -> tuple[list[str] | None, list[Problem]]:
    if signals is None:
        return None, []
    names, problems = read_list(signals, "signals", SIGNALS_LIMIT, may_be_empty=True)
    places = [(f"signals[{index}]", cast("JSON", name)) for index, name in enumerate(names)]
    for place, name in places:
        problems += text_problems(name, place)
    problems += repeated_problems(places, "name")
    return cast("list[str]", names), problems
