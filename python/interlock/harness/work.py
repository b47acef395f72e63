"""Work: a callable, and what its step may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from interlock.errors import Problem
from interlock.harness._callables import Call, call_of, label_of
from interlock.harness._config import (
    count_problems,
    keywords,
    names_problems,
    reserve_problems,
    seconds_problems,
    wrong,
)
from interlock.harness.retry import Retry

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlock.harness._frame import Reserve

__all__ = ["Part", "Work", "part_of", "read_parts"]


@dataclass(frozen=True, slots=True)
class Work:
    """A callable with what its step may use; it may stand wherever a workflow takes a callable.

    Args:
        run: The callable: sync or async, `(x)` or `(x, ctx)`.
        reserve: Tokens that it may use, or a function of its input that says how many: it starts
            only where they fit.
        timeout: Seconds; one that takes longer has failed.
        retry: How it is tried again; as the run says when None.
        limiter: A named capacity of the run.
        cost_ms: How long it takes; it does not start where that does not fit the deadline.
    """

    run: Callable[..., Any]
    _: KW_ONLY
    reserve: Reserve = None
    timeout: float | None = None
    retry: Retry | None = None
    limiter: str | None = None
    cost_ms: int | None = None


Work.__init__ = keywords(Work.__init__)  # type: ignore[method-assign]


class Part(NamedTuple):
    """Work as a workflow uses it: how it is called, and how its step is taken."""

    call: Call
    work: Work

    def options(self) -> dict[str, Any]:
        """Return what `Walk.step` is told."""
        work = self.work
        return {
            "reserve": work.reserve,
            "timeout": work.timeout,
            "retry": work.retry,
            "limiter": work.limiter,
            "cost_ms": work.cost_ms,
        }

    def reserve_for(self, value: object) -> int:
        """Return what it reserves for an input; nothing where a function does not say it."""
        reserve = self.work.reserve
        try:
            tokens = reserve(value) if callable(reserve) else reserve
        except Exception:  # noqa: BLE001 (raised again, and named, when the step starts)
            return 0
        return tokens or 0

    def config(self) -> dict[str, Any]:
        """Return how it is set up, as data."""
        work = self.work
        return {
            "run": label_of(work.run),
            "reserve": label_of(work.reserve) if callable(work.reserve) else work.reserve,
            "timeout": work.timeout,
            "attempts": work.retry.max_attempts if work.retry else None,
            "limiter": work.limiter,
            "cost_ms": work.cost_ms,
        }


def part_of(given: object, field: str, problems: list[Problem], call: Call | None = None) -> Part:
    """Read a callable or `Work(...)`; what is wrong with it is added to the problems.

    *call* says how it is called, where that is known already.
    """
    if not isinstance(given, Work):
        return Part(call or call_of(given, field, problems), Work(cast("Any", given)))
    problems += seconds_problems(given.timeout, f"{field}.timeout")
    problems += count_problems(given.cost_ms, f"{field}.cost_ms", least=1)
    problems += reserve_problems(given.reserve, f"{field}.reserve")
    if given.retry is not None and not isinstance(given.retry, Retry):  # pyright: ignore[reportUnnecessaryIsInstance]
        problems.append(wrong(given.retry, f"{field}.retry", "must be Retry(...)"))
    return Part(call or call_of(given.run, f"{field}.run", problems), given)


def read_parts(
    given: object, field: str, problems: list[Problem], *, listed: bool = False
) -> dict[str, Part]:
    """Read a mapping of names to callables, or a list of them, whose names are their positions.

    Args:
        given: What was given.
        field: What it is called in problems.
        problems: What is wrong with it is added here.
        listed: Whether a list will do.
    """
    entries = _entries(given, listed=listed)
    if entries is None:
        form = "a mapping of names to callables" + (", or a list of callables" if listed else "")
        problems.append(wrong(given, field, f"must be {form}"))
        return {}
    if not entries:
        problems.append(Problem("spec/empty-list", field, None, "must not be empty"))
    if isinstance(given, Mapping):
        problems += names_problems((f"{field}.{name}", name) for name, _ in entries)
        return {str(name): part_of(one, f"{field}.{name}", problems) for name, one in entries}
    return {str(at): part_of(one, f"{field}[{at}]", problems) for at, one in entries}


def _entries(given: object, *, listed: bool) -> list[tuple[object, object]] | None:
    if isinstance(given, Mapping):
        return list(cast("Mapping[object, object]", given).items())
    if listed and isinstance(given, Sequence) and not isinstance(given, (str, bytes)):
        return list(enumerate(cast("Sequence[object]", given)))
    return None
