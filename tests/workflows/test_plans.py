"""Plans as a model may write them, hostile ones too: what is told, and that nothing runs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import Orchestrate, ToolCall, Usage
from interlock.harness import Inputs, Plan, Reply
from interlock.testing import run_checked, scripted

from .conftest import Go

WORKERS = ("search", "write")
SOME = settings(max_examples=60, deadline=None, derandomize=True)


def made(lead: Any, worker: Any, **options: Any) -> Orchestrate:
    return Orchestrate(
        plan=lead,
        workers=dict.fromkeys(WORKERS, worker),
        merge=len,
        **{"plan_retries": 0, **options},
    )


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def step(name: Any, worker: Any = "search", **more: Any) -> dict[str, Any]:
    return {"id": name, "worker": worker, **more}


EXISTS = [{"path": "values", "op": "exists"}]

FAULTS: dict[str, tuple[list[Any], list[str], str]] = {
    "10,000 steps": (
        [step(f"s{at}") for at in range(10_000)], ["steps"], "10000 steps, over the limit of 20"),
    "one step too many": ([step(f"s{at}") for at in range(21)], ["steps"], "21 steps"),
    "an id with a slash": ([step("a/b")], ["steps[0].id"], "must have no `/`"),
    "an id with a line break": ([step("a\nb")], ["steps[0].id"], "no control characters"),
    "an empty id": ([step("")], ["steps[0].id"], "must not be empty"),
    "an id that is a number": ([step(3)], ["steps[0].id"], "must be"),
    "no id": ([{"worker": "search"}], ["steps[0].id"], "is required"),
    "a very long id": (
        [step("a" * 10**6)], ["steps[0].id"], "1000000 characters, over the limit of 128"),
    "an id twice": ([step("a"), step("b"), step("a")], ["steps[2].id"], "steps[0]"),
    "an id like the condition of another": (
        [step("a", when=EXISTS), step("when_a")], ["steps[1].id"], 'the condition of "a"'),
    "a worker in another case": (
        [step("a", "Search")], ["steps[0].worker"], 'did you mean "search"?'),
    "no such worker": ([step("a", "shell")], ["steps[0].worker"], '(workers: "search", "write")'),
    "two workers": (
        [step("a", ["search", "write"])], ["steps[0].worker"], "no worker has this name"),
    "no worker": ([{"id": "a"}], ["steps[0].worker"], 'one of "search", "write"'),
    "a need of itself": ([step("a", needs=["a"])], ["steps[0].needs[0]"], '"a" needs itself'),
    "a circle": (
        [step("a", needs=["c"]), step("b", needs=["a"]), step("c", needs=["b"])],
        ["steps[0].needs"], '"a", "b", "c" need each other'),
    "a need of nobody": (
        [step("abc"), step("b", needs=["abd"])], ["steps[1].needs[0]"], 'did you mean "abc"?'),
    "needs that are no list": ([step("a", needs="b")], ["steps[0].needs"], "must be a list"),
    "needs without end": (
        [step("a"), step("b", needs=["a"] * 10**5)], ["steps[1].needs"], "100000 needs"),
    "an unknown field": ([step("a", need=["b"])], ["steps[0].need"], 'did you mean "needs"?'),
    "an attribute of Python": ([step("a", __class__="x")], ["steps[0].__class__"], "unknown field"),
    "a condition of an unknown op": (
        [step("a", when=[{"path": "values", "op": "isTrue"}])], ["steps[0].when[0].op"],
        "unknown op"),
    "no condition": ([step("a", when=[])], ["steps[0].when"], "leave `when` out"),
    "a condition in words": ([step("a", when="if it rains")], ["steps[0].when"], "list"),
    "a pattern that cannot be run": (
        [step("a", when=[{"path": "values", "op": "matches", "expected": "(a+)\\1"}])],
        ["steps[0].when[0].expected"], ""),
    "a condition on what is never there": (
        [step("a"), step("b", when=[{"path": "results.a.n", "op": "exists"}])],
        ["steps[1].when[0].path"], "a result is there once its node is in needs"),
    "a condition on nothing": (
        [step("a", when=[{"path": "total", "op": "exists"}])], ["steps[0].when[0].path"],
        "never there"),
    "a match of neither kind": ([step("a", when=EXISTS, match="none")], ["steps[0].match"], "any"),
    "a time without an offset": (
        [step("a", after="2026-03-01T09:00:00")], ["steps[0].after"], "offset"),
    "a time that is none": ([step("a", after="tomorrow")], ["steps[0].after"], '"a"'),
    "a time that does not exist": (
        [step("a", after="2026-02-30T09:00:00Z")], ["steps[0].after"], '"a"'),
    "a step that is none": ([step("a"), None], ["steps[1]"], "must be"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("as_text", [True, False])
def test_a_fault_is_told_and_nothing_runs(go: Go, name: str, as_text: bool) -> None:
    steps, fields, said = FAULTS[name]
    worker, told = scripted(), []
    written = json.dumps({"steps": steps}) if as_text else {"steps": steps}

    def lead(_values: object, ctx: Any) -> object:
        told.append(ctx.faults)
        return written

    result = go(made(lead, worker, plan_retries=1).run, 1)

    assert (result.status, result.stopped_by, result.plans) == ("failed", "plan", 2)
    assert [fault.field for fault in told[1]] == fields
    assert said in told[1][0].message
    assert worker.calls == []
    assert len(str(result.error)) < 3_000


def test_all_faults_at_once(go: Go) -> None:
    steps = [
        step("a/b", "shell", needs=["a/b"]),
        step("c", needs=["d"], when=[{"op": "nope"}], after="soon", colour=1),
    ]
    result = go(made(scripted({"steps": steps}), scripted()).run, 1)

    assert sorted(fault.partition(":")[0] for fault in result.faults) == [
        "steps[0].id",
        "steps[0].needs[0]",
        "steps[0].worker",
        "steps[1].after",
        "steps[1].colour",
        "steps[1].needs[0]",
        "steps[1].when[0].op",
    ]


def test_of_very_many_faults_a_hundred_are_told(go: Go) -> None:
    steps = [step("a", **{f"x{at}": 1 for at in range(5_000)})]
    result = go(made(scripted({"steps": steps}), scripted()).run, 1)

    assert len(result.faults) == 101
    assert "4900 more faults, not listed" in result.faults[-1]


@pytest.mark.parametrize("returned", [{"steps": [step("a", params=nested(100_000))]},
                                      nested(100_000), {"steps": nested(100_000)}])  # fmt: skip
def test_what_is_nested_without_end_is_a_fault(go: Go, returned: object) -> None:
    result = go(made(scripted(returned), scripted()).run, 1)

    assert (result.stopped_by, result.plan) == ("plan", None)
    assert "deeper than the limit" in str(result.error)


@pytest.mark.parametrize("params", [object(), nested(100_000), {1}, float("nan")])
def test_so_is_a_plan_of_what_json_cannot_hold(go: Go, params: object) -> None:
    result = go(made(scripted(Plan([step("a", params=params)])), scripted()).run, 1)

    assert (result.stopped_by, result.plan) == ("plan", None)
    assert type(result).from_json(result.to_json()) == result


def test_so_is_text_that_is(go: Go) -> None:
    text = '{"steps": [{"id": "a", "worker": "search", "params": ' + "[" * 10**6
    result = go(made(scripted(text), scripted()).run, 1)

    assert (result.stopped_by, result.plan) == ("plan", None)


def test_numbers_that_json_has_not_are_a_fault(go: Go) -> None:
    result = go(
        made(scripted({"steps": [step("a", params={"x": float("nan")})]}), scripted()).run, 1
    )

    assert "steps[0].params.x" in result.faults[0]


ODD = ["__proto__", "__class__", "constructor", "plan", "merge", "a.2", "schlüssel", "values", "0"]


@pytest.mark.parametrize("name", [*ODD, "a b", "*", "..", "when_", "{}"])
def test_odd_names_are_names(go: Go, name: str) -> None:
    def worker(inputs: Inputs) -> object:
        return {"params": inputs.params, "got": dict(inputs.results)}

    params = {"__proto__": {"admin": True}, "$ref": "#/x"}
    steps = [step(name, params=params), step("then", needs=[name])]
    result = go(made(scripted(json.dumps({"steps": steps})), worker).run, 1)

    assert (result.stopped_by, result.output) == ("done", "2")
    assert result.rollout.step(f"plan/{name}").status == "completed"
    assert result.outcomes[name].data == {"params": params, "got": {}}
    assert result.outcomes["then"].data["got"][name]["params"] == params


def test_calls_of_tools_are_no_plan(go: Go) -> None:
    reply = Reply("", calls=(ToolCall("1", "search", {}),), usage=Usage(5), stop="tool_calls")
    result = go(made(scripted(reply), scripted()).run, 1)

    assert (result.stopped_by, result.usage) == ("plan", Usage(5))


names = st.sampled_from(["a", "b", "c", "d", "a/b", "", "when_a", "__proto__"])
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
entries = st.fixed_dictionaries(
    {"id": names | junk, "worker": st.sampled_from([*WORKERS, "nobody"]) | junk},
    optional={
        "needs": st.lists(names, max_size=3) | junk,
        "params": junk,
        "when": st.just(EXISTS) | junk,
        "after": st.just(0) | junk,
        "match": st.sampled_from(["all", "any"]) | junk,
    },
)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@SOME
@given(data=st.fixed_dictionaries({"steps": st.lists(entries | junk, max_size=4)}) | junk)
def test_whatever_a_model_writes_it_runs_or_is_told_why_not(backend: str, data: object) -> None:
    called: list[object] = []
    workflow = made(lambda _values: data, called.append)
    result = run_checked(lambda: workflow.run({"n": 1}), backend=backend)

    if result.stopped_by == "plan":
        assert called == []
        assert result.faults
    else:
        assert result.plan is not None
        assert result.faults == ()
        assert len(called) == sum(one.state == "completed" for one in result.outcomes.values())
    assert type(result).from_json(result.to_json()) == result
