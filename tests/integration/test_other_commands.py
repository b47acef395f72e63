"""call, schema, tools, version, --help, and the two ways to start the command."""

import json
import os
import subprocess
import sys
from pathlib import Path
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
    __version__,
    _core,
)
from interlock._compiled import CompiledSpec
from interlock.tools import call, definitions

from . import schemas
from .command import BIG_LINE, COMMAND, Ran, Row, environment, interlock

COMMANDS = (
    *("decide", "classify", "lint", "runbook", "pattern"),
    *("call", "schema", "tools", "bench", "version"),
)
COMPILED: dict[str, type[CompiledSpec]] = {
    "Branch": Branch,
    "DecisionTable": DecisionTable,
    "ErrorClassify": ErrorClassify,
    "RuleScore": RuleScore,
    "LeadAssign": LeadAssign,
    "SequenceRun": SequenceRun,
    "Assert": Checks,
}
CHECKS_AT = {
    "Branch": ".arms[].when[]",
    "DecisionTable": ".rows[].when[]",
    "RuleScore": ".rules[].when[]",
    "LeadAssign": ".owners[].when[]",
    "SequenceRun": ".steps[].when[]",
    "Assert": ".checks[]",
}
WITHOUT_SPEC: dict[str, Row] = {
    "ConsensusVote": {"votes": [{"value": "a"}, {"value": "b", "weight": 0.5}]},
    "StallDetect": {"history": [{"tests": "a"}, {"tests": "b"}], "max_cycle": 2},
    "DeadlineCheck": {"budget_ms": 10, "now": 3, "startedAt": 0},
}

INPUT: Row = {
    "value": {"total": 1200},
    "arms": [
        {"name": "big", "when": [{"path": "total", "op": "greaterThan", "expected": 1000}]},
    ],
}


def encoded(value: object) -> bytes:
    return json.dumps(value).encode()


class TestCall:
    @pytest.mark.parametrize("arguments", [(), ("-",)], ids=["nothing", "dash"])
    def test_standard_input(self, arguments: tuple[str, ...]) -> None:
        ran = interlock("call", "Branch", *arguments, stdin=encoded(INPUT))
        assert (0, "", [BIG_LINE]) == (ran.code, ran.err, ran.rows)

    def test_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "input.json"
        path.write_bytes(b"\xef\xbb\xbf" + encoded(INPUT))
        assert [BIG_LINE] == interlock("call", "Branch", path).rows

    def test_text_beyond_ascii_is_utf8_everywhere(self) -> None:
        arms = [{**INPUT["arms"][0], "result": "ä😀"}]
        stdin = encoded({**INPUT, "arms": arms})
        ran = interlock("call", "Branch", stdin=stdin, PYTHONIOENCODING="ascii")
        assert [{**BIG_LINE, "result": "ä😀"}] == ran.rows

    @pytest.mark.parametrize(
        ("result", "written"),
        [("\ud800", '"\\ud800"'), (None, "9" * 5000), (None, "1.5e3"), (None, "[null,{}]")],
        ids=["half", "digits", "float", "nested"],
    )
    def test_any_result_comes_back(self, result: object, written: str) -> None:
        arms = [{**INPUT["arms"][0], "result": "R"}]
        stdin = json.dumps({**INPUT, "arms": arms}).replace('"R"', written).encode()
        ran = interlock("call", "Branch", stdin=stdin)
        assert 0 == ran.code
        line = ran.out.decode()
        if len(written) > 1000:
            assert written in line
        else:
            assert (json.loads(written) if result is None else result) == json.loads(line)["result"]

    @pytest.mark.parametrize("text", [b"", b"{", b"{'value': 1}", b"\xff", b'{"value": NaN}'])
    def test_no_json(self, text: bytes) -> None:
        ran = interlock("call", "Branch", stdin=text)
        assert (1, b"") == (ran.code, ran.out)
        assert ran.err.startswith("interlock: 1:")
        assert "[json/syntax]" in ran.err

    @pytest.mark.parametrize("text", [b"[]", b"null", b"1", b'"text"'])
    def test_no_object(self, text: bytes) -> None:
        ran = interlock("call", "Branch", stdin=text)
        assert (1, b"") == (ran.code, ran.out)
        assert "[spec/wrong-type]" in ran.err

    def test_an_integer_beyond_the_limit(self) -> None:
        ran = interlock("call", "ErrorClassify", stdin=b'{"status": %s}' % (b"9" * 25_000))
        assert (1, b"") == (ran.code, ran.out)
        assert "20000 digits [spec/over-limit]" in ran.err

    def test_every_fault_is_listed(self) -> None:
        arms: list[Row] = [
            {"name": "a", "when": []},
            {"name": "a", "whn": [], "when": [{"op": "exist"}]},
        ]
        given: Row = {"valu": 1, "arms": arms, "verbose": 3, "otherwise": {"nam": 1}}
        ran = interlock("call", "Branch", stdin=encoded(given))
        fields = {line.split(":")[0].strip() for line in ran.err.splitlines()[1:]}
        assert {
            "valu",
            "value",
            "verbose",
            "arms[0].when",
            "arms[1].whn",
            "arms[1].when[0].op",
            "arms[1].name",
            "otherwise.nam",
            "otherwise.name",
        } == fields
        assert (1, b"") == (ran.code, ran.out)
        assert ran.err.startswith(f"interlock: {len(fields)} problems:\n")

    @pytest.mark.parametrize("tool", WITHOUT_SPEC)
    def test_a_tool_without_a_spec(self, tool: str) -> None:
        ran = interlock("call", tool, stdin=encoded(WITHOUT_SPEC[tool]))
        assert [call(tool, WITHOUT_SPEC[tool])] == ran.rows

    def test_unknown_tool(self) -> None:
        ran = interlock("call", "Brnch", stdin=b"{}")
        assert (1, b"") == (ran.code, ran.out)
        assert 'did you mean "Branch"?' in ran.err

    def test_no_file(self, tmp_path: Path) -> None:
        for path in (tmp_path / "none.json", tmp_path):
            ran = interlock("call", "Branch", path)
            assert (1, b"") == (ran.code, ran.out)
            assert path.name in ran.err

    def test_usage(self) -> None:
        assert 2 == interlock("call").code


class TestSchema:
    @pytest.mark.parametrize("tool", COMPILED)
    def test_is_that_of_the_class(self, tool: str) -> None:
        ran = interlock("schema", tool)
        schema = json.loads(ran.out)
        assert (0, "", COMPILED[tool].json_schema()) == (ran.code, ran.err, schema)
        assert "https://json-schema.org/draft/2020-12/schema" == schema["$schema"]
        assert [] == schemas.faults(schema)
        assert {"const": tool} == {"const": schema["properties"]["tool"]["const"]}

    @pytest.mark.parametrize("tool", WITHOUT_SPEC)
    def test_is_that_of_the_input_where_there_is_no_spec(self, tool: str) -> None:
        inputs = {d["name"]: d["inputSchema"] for d in definitions("mcp")}
        assert inputs[tool] == json.loads(interlock("schema", tool).out)

    @pytest.mark.parametrize("tool", CHECKS_AT)
    def test_has_every_op(self, tool: str) -> None:
        check = schemas.properties_at(json.loads(interlock("schema", tool).out), CHECKS_AT[tool])
        names = [name for name, _, _ in _core.ops()]
        assert (23, names) == (len(names), check["op"]["enum"])

    def test_unknown_tool(self) -> None:
        ran = interlock("schema", "decisiontable")
        assert (2, b"") == (ran.code, ran.out)
        assert 'did you mean "DecisionTable"?' in ran.err


class TestTools:
    def test_for_people(self) -> None:
        ran = interlock("tools")
        assert (0, "") == (ran.code, ran.err)
        listed = [line.split()[0] for line in ran.lines]
        assert list(COMPILED) == [name for name in listed if name in COMPILED]
        assert {*COMPILED, *WITHOUT_SPEC} == set(listed)
        assert 10 == len(listed)

    def test_each_style(self) -> None:
        given: dict[str, Any] = {
            "mcp": definitions("mcp"),
            "openai": definitions("openai"),
            "anthropic": definitions("anthropic"),
        }
        assert given == {
            style: json.loads(interlock("tools", "--style", style).out) for style in given
        }

    def test_unknown_style(self) -> None:
        ran = interlock("tools", "--style", "nope")
        assert (2, b"") == (ran.code, ran.out)
        assert "'mcp', 'openai', 'anthropic'" in ran.err


class TestTheCommand:
    def test_version(self) -> None:
        assert (0, f"{__version__}\n".encode(), "") == interlock("version")
        assert [{"version": __version__}] == interlock("version", "--json").rows

    def test_help_names_every_command_and_exit_code(self) -> None:
        ran = interlock("--help")
        assert (0, "") == (ran.code, ran.err)
        assert set(COMMANDS) <= set(ran.out.decode().split("Commands:")[1].split())
        told = " ".join(ran.out.decode().split())
        for code in ("0 done", "1 faults", "2 usage", "130 interrupted"):
            assert code in told

    @pytest.mark.parametrize("command", COMMANDS)
    def test_help_of_each(self, command: str) -> None:
        ran = interlock(command, "--help")
        assert (0, "") == (ran.code, ran.err)
        assert ran.lines[0].startswith(f"Usage: interlock {command}")
        assert ran == interlock(command, "-h")

    @pytest.mark.parametrize("arguments", [(), ("nope",), ("--nope",)])
    def test_usage(self, arguments: tuple[str, ...]) -> None:
        ran = interlock(*arguments)
        assert (2, b"") == (ran.code, ran.out)
        assert ran.err.startswith("Usage: interlock ")

    @pytest.mark.parametrize(
        "arguments",
        [("--help",), ("version",), ("call", "Branch"), ("lint",), ("lint", "none.yaml")],
    )
    def test_both_ways_to_start_it_agree(self, arguments: tuple[str, ...]) -> None:
        script = Path(sys.executable).with_name("interlock")
        done = subprocess.run(
            [script, *arguments],
            input=encoded(INPUT),
            capture_output=True,
            check=False,
            env=environment(),
        )
        as_script = Ran(done.returncode, done.stdout, done.stderr.decode())
        assert as_script == interlock(*arguments, stdin=encoded(INPUT))

    @pytest.mark.parametrize("arguments", [("--help",), ("version",), ("decide", "--help")])
    def test_quick_ones_load_little(self, arguments: tuple[str, ...]) -> None:
        command = [COMMAND[0], "-X", "importtime", *COMMAND[1:], *arguments]
        done = subprocess.run(
            command, capture_output=True, check=True, env={**os.environ, **environment()}
        )
        loaded = {line.split("|")[-1].strip() for line in done.stderr.decode().splitlines()}
        assert "click" in loaded
        assert set() == loaded & {"rich", "ruamel.yaml", "pydantic", "asyncio", "interlock.tools"}
