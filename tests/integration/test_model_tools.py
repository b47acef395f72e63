"""`interlock.tools`: what a model's call gives, what it refuses, how the tools are described."""

import json
import pickle
import re
from typing import TYPE_CHECKING, Any, cast, get_args

import pytest

from interlock import (
    Branch,
    Checks,
    ConfigError,
    DecisionTable,
    InputInvalid,
    SequenceRun,
    _core,
)
from interlock.tools import _model_tools, call, definitions

from . import schemas

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlock.typing import JSON

Wire = dict[str, Any]

VALUE: Wire = {"total": 1200, "tier": "gold", "note": "ab" * 200_000}
HOLDS: Wire = {"path": "total", "op": "greaterThan", "expected": 1000}
FAILS: Wire = {"path": "tier", "op": "equals", "expected": "iron"}
# Too much pattern for a text of this size.
OPEN: Wire = {"path": "note", "op": "matches", "expected": "(?:a|b){9000}c"}

FALLBACK: Wire = {"name": "rest", "result": [1]}
ANSWERS: dict[str, tuple[str, Wire]] = {
    "branch": ("Branch", {"arms": [{"name": "a", "when": [HOLDS], "result": {"queue": 1}}]}),
    "branch miss": ("Branch", {"arms": [{"name": "a", "when": [FAILS]}]}),
    "branch otherwise": (
        "Branch",
        {"arms": [{"name": "a", "when": [FAILS]}], "otherwise": FALLBACK, "verbose": True},
    ),
    "branch open": ("Branch", {"arms": [{"name": "a", "when": [OPEN]}], "verbose": True}),
    "table": (
        "DecisionTable",
        {
            "rows": [
                {"id": "a", "when": [HOLDS], "outputs": None, "priority": 2},
                {"id": "b", "when": [FAILS, HOLDS], "match": "any", "outputs": [True]},
            ],
            "policy": "priority",
            "version": "v1",
        },
    ),
    "table conflict": (
        "DecisionTable",
        {"rows": [{"id": i, "when": [HOLDS], "outputs": i} for i in "ab"], "policy": "unique"},
    ),
    "table open": (
        "DecisionTable",
        {"rows": [{"id": "a", "when": [OPEN], "outputs": 1}], "policy": "collect"},
    ),
    "table miss": (
        "DecisionTable",
        {"rows": [{"id": "a", "when": [FAILS], "outputs": 1}], "policy": "first", "otherwise": 0},
    ),
    "sequence": (
        "SequenceRun",
        {
            "steps": [
                {"id": "a", "when": [HOLDS], "params": {"url": "/a"}},
                {"id": "b", "needs": ["a"], "after": "2026-01-31T09:00:00Z"},
                {"id": "c", "when": [FAILS]},
                {"id": "d", "when": [OPEN], "match": "any"},
            ],
            "version": "v1",
            "now": 0,
            "completed": ["a"],
        },
    ),
    "assert": ("Assert", {"checks": [HOLDS, FAILS, OPEN]}),
}


def in_library(tool: str, fields: Wire) -> "dict[str, JSON]":
    beside = ("verbose", "now", "completed")
    spec = {name: field for name, field in fields.items() if name not in beside}
    verbose = fields.get("verbose", False)
    if tool == "Branch":
        return Branch.from_spec(spec).decide(VALUE, verbose=verbose).to_dict()
    if tool == "DecisionTable":
        return DecisionTable.from_spec(spec).decide(VALUE).to_dict()
    if tool == "SequenceRun":
        run = SequenceRun.from_spec(spec)
        return run.plan(VALUE, now=fields["now"], completed=fields["completed"]).to_dict()
    return Checks.from_spec(spec).report(VALUE).to_dict()


def refused(tool: str, arguments: object) -> list[tuple[str, str]]:
    """Give code and field of every problem of a call that is refused."""
    with pytest.raises(InputInvalid) as caught:
        call(tool, cast("Mapping[str, object]", arguments))
    return [(problem.code, problem.field) for problem in caught.value.problems]


def rows(count: int) -> list[Wire]:
    return [
        {"id": str(n), "when": [{"op": "equals", "expected": n}], "outputs": n}
        for n in range(count)
    ]


def arms(count: int) -> list[Wire]:
    return [{"name": str(n), "when": [{"op": "equals", "expected": n}]} for n in range(count)]


class TestCall:
    @pytest.mark.parametrize("case", ANSWERS)
    def test_gives_the_wire_form(self, case: str) -> None:
        tool, fields = ANSWERS[case]
        answer = call(tool, {"value": VALUE, **fields})
        assert in_library(tool, fields) == answer
        assert answer == json.loads(json.dumps(answer))

    def test_leaves_its_input_alone(self) -> None:
        tool, fields = ANSWERS["branch otherwise"]
        given = {"value": VALUE, **fields}
        before = json.dumps(given)
        cast("list[int]", call(tool, given)["result"]).append(2)
        assert before == json.dumps(given)

    def test_null_is_a_value(self) -> None:
        checks = [{"op": "equals", "expected": None}]
        assert call("Assert", {"value": None, "checks": checks})["ok"]

    def test_every_fault_at_once(self) -> None:
        bad: Wire = {
            "valu": 1,
            "policy": "frist",
            "version": 2,
            "rows": [{"id": "a", "when": [{"op": "exist"}]}, {"id": "a", "when": [], "outputs": 1}],
        }
        assert {
            ("spec/unknown-field", "valu"),
            ("spec/missing-field", "value"),
            ("spec/unknown-choice", "policy"),
            ("spec/wrong-type", "version"),
            ("spec/unknown-op", "rows[0].when[0].op"),
            ("spec/missing-field", "rows[0].outputs"),
            ("spec/duplicate-name", "rows[1].id"),
            ("spec/empty-list", "rows[1].when"),
        } == set(refused("DecisionTable", bad))

    def test_the_error_crosses_processes(self) -> None:
        with pytest.raises(ValueError, match="spec/missing-field") as caught:
            call("Branch", {})
        again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 (made here)
        assert isinstance(again, InputInvalid)
        assert cast("InputInvalid", caught.value).problems == again.problems

    @pytest.mark.parametrize("arguments", [None, [], "text", 3])
    def test_no_mapping(self, arguments: object) -> None:
        assert [("spec/wrong-type", "arguments")] == refused("Branch", arguments)

    def test_unknown_tool(self) -> None:
        with pytest.raises(InputInvalid, match='did you mean "DecisionTable"'):
            call("DecisonTable", {})

    @pytest.mark.parametrize("key", ["x" * 100, 1, "\ud800"], ids=["long", "number", "half"])
    def test_an_unknown_field_is_told_once(self, key: object) -> None:
        given = {"value": 1, "arms": arms(1), key: 1}
        assert ["spec/unknown-field"] == [code for code, _ in refused("Branch", given)]

    @pytest.mark.parametrize("number", [float("nan"), float("inf")], ids=["nan", "infinity"])
    def test_a_result_is_json(self, number: float) -> None:
        given = {"value": 1, "arms": [{**arms(1)[0], "result": number}]}
        assert [("spec/not-json", "arms[0].result")] == refused("Branch", given)


class TestLimits:
    def test_arms(self) -> None:
        assert 63 == call("Branch", {"value": 63, "arms": arms(64)})["index"]
        assert [("spec/over-limit", "arms")] == refused("Branch", {"value": 1, "arms": arms(65)})

    @pytest.mark.parametrize("kind", [list, tuple])
    def test_rows(self, kind: type[list[Wire]] | type[tuple[Wire, ...]]) -> None:
        given: Wire = {"value": 511, "policy": "first"}
        assert 511 == call("DecisionTable", {**given, "rows": kind(rows(512))})["outputs"]
        over = refused("DecisionTable", {**given, "rows": kind(rows(513))})
        assert [("spec/over-limit", "rows")] == over

    def test_rows_of_the_library_have_none(self) -> None:
        assert 599 == DecisionTable(rows(600), policy="first").decide(599).outputs

    def test_checks(self) -> None:
        check = {"op": "exists"}
        assert 64 == call("Assert", {"value": 1, "checks": [check] * 64})["passed"]
        over = refused("Assert", {"value": 1, "checks": [check] * 65})
        assert [("spec/over-limit", "checks")] == over

    def test_the_number_and_the_limit_are_told(self) -> None:
        with pytest.raises(InputInvalid, match=r"513 .*512"):
            call("DecisionTable", {"value": 1, "policy": "first", "rows": rows(513)})


class TestDefinitions:
    def test_names_and_descriptions(self) -> None:
        for tool in definitions():
            assert re.fullmatch("[A-Za-z0-9_-]{1,64}", str(tool["name"]))
            assert " Not for " in str(tool["description"])
        assert [*_model_tools.DESCRIPTIONS] == [tool["name"] for tool in definitions()]
        assert {*_model_tools.TOOLS, *_model_tools.INPUT_TOOLS} == {*_model_tools.DESCRIPTIONS}
        assert 10 == len(definitions())

    def test_schemas(self) -> None:
        for tool in cast("list[Wire]", definitions("mcp")):
            schema = tool["inputSchema"]
            assert [] == schemas.faults(schema)
            has_record = {*_model_tools.TOOLS} - {"ErrorClassify"}
            assert ("value" in schema["required"]) == (tool["name"] in has_record)
            for _, node in schemas.nodes(schema):
                if "op" in node.get("properties", {}):
                    ops = [name for name, _, _ in _core.ops()]
                    assert ops == node["properties"]["op"]["enum"]

    def test_schemas_have_the_fields_that_are_read(self) -> None:
        for tool in cast("list[Wire]", definitions("mcp")):
            name, described = tool["name"], tool["inputSchema"]["properties"]
            with pytest.raises(InputInvalid) as caught:
                call(name, {"unknown": 1})
            told = next(p for p in caught.value.problems if p.field == "unknown").message
            assert set(described) == set(told.partition("known: ")[2].strip(")").split(", "))

    def test_styles_differ_in_shape_only(self) -> None:
        mcp = cast("list[Wire]", definitions("mcp"))
        openai = cast("list[Wire]", definitions("openai"))
        anthropic = cast("list[Wire]", definitions("anthropic"))
        for one, two, three in zip(mcp, openai, anthropic, strict=True):
            plain = {"name": one["name"], "description": one["description"]}
            schema = one["inputSchema"]
            function = {**plain, "parameters": schema}
            assert {"type": "function", "function": function} == two
            assert {**plain, "input_schema": schema} == three
            hints = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
            assert hints == one["annotations"]

    @pytest.mark.parametrize("style", ["mcp", "openai", "anthropic"])
    def test_every_style_holds_json_schemas(self, style: "_model_tools.Style") -> None:
        for tool in cast("list[Wire]", definitions(style)):
            told: Wire = tool.get("function", tool)
            held = [part for part in told.values() if isinstance(part, dict) and "$schema" in part]
            assert [[]] == [schemas.faults(schema) for schema in held]

    def test_the_callers_copy_is_its_own(self) -> None:
        cast("list[Wire]", definitions())[0]["inputSchema"]["properties"].clear()
        assert cast("list[Wire]", definitions())[0]["inputSchema"]["properties"]

    def test_unknown_style(self) -> None:
        assert {"mcp", "openai", "anthropic"} == set(get_args(_model_tools.Style))
        with pytest.raises(ConfigError, match=r"mcp, openai, anthropic.*spec/unknown-choice"):
            definitions(cast("_model_tools.Style", "opnai"))
