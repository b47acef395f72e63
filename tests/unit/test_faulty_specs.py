"""Every fault of a spec at once, frozen results, and one spec shared by threads."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from interlock import Branch, Checks, Json, Pattern, SpecInvalid

EXISTS = {"op": "exists"}


def _pickled(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))  # noqa: S301  # made on the spot


TEN_FAULTS = [
    {"name": "a", "when": [{"op": "equal", "expected": 1}]},
    {"name": "a", "when": [{"op": "equals", "expected": 1, "path": "a]b"}]},
    {"name": "b", "when": []},
    {"when": [{"op": "matches", "expected": "("}]},
    {"name": "c", "when": [EXISTS], "match": "some"},
    {"name": "d", "when": [{"op": "hasFormat", "expected": "e-mail"}]},
    {"name": "e", "when": [{"op": "isType", "expected": "text"}, EXISTS, {"path": "a"}]},
    {"name": "f", "wen": [EXISTS]},
    {"name": "g", "when": [{"op": "lessThan", "expected": "5"}]},
]
FAULTY_FIELDS = {
    *("arms[0].when[0].op", "arms[1].name", "arms[1].when[0].path", "arms[2].when"),
    *("arms[3].name", "arms[3].when[0].expected", "arms[4].match", "arms[5].when[0].expected"),
    *("arms[6].when[0].expected", "arms[6].when[2].op", "arms[7].wen", "arms[7].when"),
    "arms[8].when[0].expected",
}


def test_every_fault_of_a_spec_is_listed_with_its_field() -> None:
    with pytest.raises(SpecInvalid) as caught:
        Branch(TEN_FAULTS, strict=True)
    assert FAULTY_FIELDS == {problem.field for problem in caught.value.problems}
    assert FAULTY_FIELDS == {p.field for p in Branch.lint_spec({"arms": TEN_FAULTS})}
    again = _pickled(caught.value)
    assert (SpecInvalid, caught.value.problems) == (type(again), again.problems)
    assert str(caught.value) == str(again)


def test_frozen_objects_refuse_to_change() -> None:
    checks = Checks([EXISTS])
    report = checks.report(1)
    result = Branch([{"name": "a", "when": [EXISTS]}]).decide(1)
    for frozen, name in ((checks, "_spec"), (report, "results"), (result, "name")):
        with pytest.raises(AttributeError):
            setattr(frozen, name, None)
        with pytest.raises(AttributeError):
            delattr(frozen, name)
        with pytest.raises((AttributeError, TypeError)):
            setattr(frozen, "other", None)  # noqa: B010  # the point is that it is unknown
    for core in (Pattern("a"), Json("1")):
        with pytest.raises(AttributeError):
            setattr(core, name, "b")


def test_threads_get_the_answers_that_one_gets() -> None:
    arms = [
        {"name": str(i), "when": [{"path": "n", "op": "lessThan", "expected": 10 * i}]}
        for i in range(1, 60)
    ]
    arms[30]["when"] = [{"path": "t", "op": "matches", "expected": "^(a|b)*7$"}]
    route = Branch(arms)
    records = [{"n": i, "t": "ab" * (i % 50) + str(i)} for i in range(2000)]
    expected = [route.decide(record) for record in records]
    with ThreadPoolExecutor(8) as pool:
        assert [expected] * 8 == list(pool.map(lambda _: route.decide_many(records), range(8)))
