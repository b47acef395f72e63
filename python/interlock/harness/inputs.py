"""What a node of a graph or a worker of a plan is given, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 (read by the form of records)
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from interlock import _core
from interlock.conditions import resolve
from interlock.errors import PathInvalid, Problem
from interlock.record._data import Record
from interlock.record.usage import NOTHING, Usage
from interlock.record.values import ErrorInfo, Reply

if TYPE_CHECKING:
    from collections.abc import Collection

    from interlock.conditions import Checks

__all__ = ["Inputs", "NodeOutcome", "NodeState", "reading_problems", "told"]

NodeState = Literal[
    "completed", "failed", "skipped", "unreachable", "waiting", "undetermined", "cancelled"
]


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a node or worker is given; `inputs["fetch"]` is what the node `fetch` returned.

    Attributes:
        values: What the workflow was run with.
        results: What each node that this one needs returned, as it returned it.
        params: The parameters of the plan's step; None in a graph.
        data: What the node's own conditions read: `{"values": ..., "results": {...}}`, each result
            as its data or, where it has none, its text.
    """

    values: object
    results: Mapping[str, object]
    _: KW_ONLY
    params: object = None
    data: Mapping[str, object] = field(default_factory=dict[str, object], repr=False)

    def __getitem__(self, name: str) -> object:
        """Return what a needed node returned.

        Raises:
            KeyError: When this node does not need one of that name.
        """
        if name not in self.results:
            given = ", ".join(self.results) or "nothing"
            raise KeyError(f"{name!r} is not among the needs of this node, which are {given}")
        return self.results[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOutcome(Record):
    """What became of a node of a graph, or of a step of a plan.

    Attributes:
        id: Its name.
        state: `completed`; `failed`; `skipped`: its own condition does not hold; `unreachable`:
            behind one that failed, was skipped or is unreachable; `undetermined`: its own
            condition cannot be decided; `waiting`: behind one that is not done, before its time,
            or not started when the run ended; `cancelled`.
        answer: What it answered; None when it answered nothing.
        error: What went wrong in it.
        reason: Why it did not run, or the error.
        usage: What it used, and its condition.
    """

    id: str
    state: NodeState
    answer: Reply | None = None
    error: ErrorInfo | None = None
    reason: str = ""
    usage: Usage = NOTHING

    @property
    def output(self) -> str | None:
        """The text of its answer."""
        return None if self.answer is None else self.answer.output

    @property
    def data(self) -> object:
        """The data of its answer; the text, where that has none."""
        return None if self.answer is None else told(self.answer)


def told(reply: Reply) -> object:
    """Give an answer as data: its data or, where it has none, its text."""
    return reply.output if reply.data is None else reply.data


def reading_problems(checks: Checks, field: str, needs: Collection[str]) -> list[Problem]:
    """List the checks of a condition that read what is never there: a result it does not need.

    Results of other nodes are kept from it: what it says must not depend on what ran first.
    """
    listed = cast("list[dict[str, Any]]", checks.to_spec()["checks"])
    return [
        Problem("spec/unknown-choice", f"{field}[{at}].path", _core.preview(path), message)
        for at, path in enumerate(check.get("path", "") for check in listed)
        if (message := _never_there(path, needs))
    ]


def _never_there(path: str, needs: Collection[str]) -> str | None:
    record: dict[str, object] = {"values": None, "results": dict.fromkeys(needs)}
    try:
        missing = resolve(record, path).missing_at
    except PathInvalid:
        # The check itself says so.
        return None
    home, _, rest = (missing or "values").partition(".")
    if home == "values" or any(rest.startswith(f"{need}.") for need in needs):
        return None
    known = ", ".join(["values", *(f"results.{need}" for need in needs)])
    hint = "; a result is there once its node is in needs" if home == "results" else ""
    return f"is never there: a condition reads {known}{hint}"
