"""Compiled objects in other processes: read and compiled once in each, with threads and without."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from typing import Any

import pytest

from interlock import (
    Branch,
    Checks,
    DecisionTable,
    ErrorClassify,
    LeadAssign,
    RuleScore,
    SequenceRun,
    SpecInvalid,
    _compiled,
)

WHEN = [{"path": "n", "op": "greaterThan", "expected": 1}]
ROUTE = Branch([{"name": "big", "when": WHEN}])
COMPILED: list[Any] = [
    Checks(WHEN),
    ROUTE,
    DecisionTable([{"id": "a", "when": WHEN, "outputs": 1}], policy="first"),
    RuleScore([{"id": "a", "when": WHEN, "points": 1}]),
    LeadAssign([{"id": "a", "when": WHEN}], strategy="first"),
    SequenceRun([{"id": "a", "when": WHEN}]),
    ErrorClassify([{"id": "a", "contains": "x", "class": "auth", "action": "fail"}]),
]
LINES = b'{"n": 2}\n{"n": 1}\n' * 60_000


def _again(data: bytes) -> Any:
    return pickle.loads(data)  # noqa: S301 (our own)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("compiled", COMPILED, ids=lambda one: type(one).__name__)
def test_a_spec_is_read_once(compiled: Any, protocol: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = pickle.dumps(compiled, protocol)
    first = _again(data)
    assert (first, hash(first), repr(first)) == (compiled, hash(compiled), repr(compiled))
    monkeypatch.setattr(type(compiled), "from_spec", None)
    assert _again(data) is first
    assert _again(pickle.dumps(first, protocol)) is first


def test_pickling_again_costs_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Branch([{"name": "other", "when": WHEN}])
    data = pickle.dumps(made)
    monkeypatch.setattr(Branch, "to_spec", None)
    assert pickle.dumps(made) == data


def test_lowered_limits_go_over() -> None:
    lowered = Branch([{"name": "a", "when": WHEN}], limits={"checks": 1})
    raised = Branch([{"name": "a", "when": WHEN}], limits={"checks": 70})
    ours, theirs = (_again(pickle.dumps(one)) for one in (lowered, raised))
    assert (ours, theirs) == (lowered, raised)
    assert ours is not theirs


def test_a_newer_form_is_refused() -> None:
    reduced: Any = ROUTE.__reduce__()
    function, (version, *rest) = reduced
    with pytest.raises(SpecInvalid, match="a newer interlock"):
        function(version + 1, *rest)


def test_few_are_kept() -> None:
    for number in range(_compiled._RESTORED_LIMIT + 20):
        _again(pickle.dumps(Checks([{"op": "equals", "expected": number}])))
    assert len(_compiled._restored) <= _compiled._RESTORED_LIMIT


def test_copies_are_itself() -> None:
    assert copy.copy(ROUTE) is copy.deepcopy(ROUTE) is ROUTE


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_another_process_decides_alike(method: str) -> None:
    # Threads of ours are gone when the call is over: a process that forks has none of them.
    expected = ROUTE.decide_many(LINES, threads=3).counts()
    context: Any = multiprocessing.get_context(method)
    with context.Pool(1) as pool:
        calls = [pool.apply_async(ROUTE.decide_many, (LINES,), {"threads": 3}) for _ in range(2)]
        assert [call.get(60).counts() for call in calls] == [expected] * 2
