"""The tools in the hands of a real MCP client: listed, called, and told what is wrong."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from mcp import types
from mcp.client import Client
from mcp.server import Server
from mcp.server.context import ServerRequestContext

from interlock import InputInvalid
from interlock.tools import call, definitions

Wire = dict[str, Any]
Context = ServerRequestContext[Any]

CALLS: dict[str, Wire] = {
    "Branch": {"value": 3, "arms": [{"name": "a", "when": [{"op": "exists"}], "result": [1]}]},
    "DecisionTable": {
        "value": {"total": 7},
        "policy": "collect",
        "rows": [{"id": "a", "when": [{"path": "total", "op": "exists"}], "outputs": {"b": None}}],
    },
    "ErrorClassify": {
        "status": 429,
        "headers": {"Retry-After": ["30"]},
        "body": {
            "error": {"type": "insufficient_quota", "message": "No credit \u00e4 \u2028 left."}
        },
        "rules": [{"id": "a", "contains": "x", "class": "bug", "action": "fail"}],
    },
    "ConsensusVote": {"votes": [{"value": "a"}, {"value": "b", "weight": 0.5}]},
    "StallDetect": {"history": [{"tests": "a"}, {"tests": "b"}], "maxCycle": 2},
    "RuleScore": {"value": 1, "rules": [{"id": "a", "when": [{"op": "exists"}], "points": 0.7}]},
    "LeadAssign": {
        "value": 1,
        "strategy": "first",
        "owners": [{"id": "a", "when": [{"op": "exists"}]}],
        "verbose": True,
    },
    "DeadlineCheck": {"budgetMs": 10, "now": 3, "startedAt": 0},
    "SequenceRun": {"value": 1, "steps": [{"id": "a"}, {"id": "b", "needs": ["a"]}], "now": 0},
    "Assert": {"value": 1, "checks": [{"op": "equals", "expected": 2}]},
}


async def list_tools(
    context: Context, params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    assert context is not None
    assert params is None or params.cursor is None
    return types.ListToolsResult(tools=[types.Tool.model_validate(t) for t in definitions("mcp")])


async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    assert context is not None
    try:
        answer = call(params.name, params.arguments or {})
    except InputInvalid as error:
        told = types.TextContent(text=str(error))
        return types.CallToolResult(content=[told], is_error=True)
    text = types.TextContent(text=json.dumps(answer))
    return types.CallToolResult(content=[text], structured_content=answer)


@pytest.fixture(params=["legacy", "auto"])
def ask(request: pytest.FixtureRequest) -> Callable[[Callable[[Client], Awaitable[Any]]], Any]:
    """Run a client against a server of our tools, in memory, in both modes of the protocol."""

    def run(asked: Callable[[Client], Awaitable[Any]]) -> Any:
        async def session() -> Any:
            server = Server("interlock", on_list_tools=list_tools, on_call_tool=call_tool)
            async with Client(server, mode=request.param) as client:
                return await asked(client)

        return anyio.run(session)

    return run


Ask = Callable[[Callable[[Client], Awaitable[Any]]], Any]


def test_ten_tools_are_listed(ask: Ask) -> None:
    listed = ask(lambda client: client.list_tools())
    given = [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools]
    assert definitions("mcp") == given
    assert [*CALLS] == [tool.name for tool in listed.tools]
    assert 10 == len(listed.tools)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_the_wire_form(ask: Ask, name: str) -> None:
    answer = ask(lambda client: client.call_tool(name, CALLS[name]))
    expected = call(name, CALLS[name])
    assert not answer.is_error
    assert (expected, expected) == (answer.structured_content, json.loads(answer.content[0].text))


@pytest.mark.parametrize(
    ("name", "arguments", "fields"),
    [
        ("ErrorClassify", {"status": "404", "packs": ["openay"]}, ["status", "packs[0]"]),
        ("Branch", {"arms": [{"name": "a", "when": []}]}, ["value", "arms[0].when"]),
        ("Brnch", {}, ["name"]),
    ],
)
def test_a_faulty_call_names_every_field(
    ask: Ask, name: str, arguments: Wire, fields: list[str]
) -> None:
    answer = ask(lambda client: client.call_tool(name, arguments))
    assert answer.is_error
    told = answer.content[0].text
    assert [] == [field for field in fields if f"{field}: " not in told]
