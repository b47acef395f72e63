"""An error has one verdict, whether the library, a model or the command line asks."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from laws import error_strategies as es

from interlock import ConfigError, ErrorClassify, Json
from interlock.tools import call, definitions

Wire = dict[str, Any]

COMMAND = (sys.executable, "-m", "interlock", "classify")
SCHEMA = next(tool["inputSchema"] for tool in definitions() if tool["name"] == "ErrorClassify")
INPUT = Draft202012Validator(SCHEMA)  # type: ignore[arg-type]  # a schema is a mapping here


def snake_case(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def lines(records: list[Wire]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def answer_or_problems(answer: Callable[[], Wire]) -> object:
    try:
        return answer()
    except ConfigError as error:
        return error.problems


@given(es.signals(), es.rules())
def test_a_model_is_told_what_the_library_says(signals: Wire, rules: list[Wire]) -> None:
    said = answer_or_problems(lambda: ErrorClassify(rules).classify_data(signals).to_dict())
    spelled = {snake_case(name): value for name, value in signals.items()}
    for beside in (signals, spelled):
        arguments = {**beside, "rules": rules}
        assert said == answer_or_problems(lambda: call("ErrorClassify", arguments))  # noqa: B023
    assert INPUT.is_valid({**signals, "rules": rules})


@given(es.signals())
def test_text_says_what_data_says(signals: Wire) -> None:
    expected = ErrorClassify().classify_data(signals)
    text = json.dumps(signals)
    assert expected == ErrorClassify().classify_data(Json(text))
    assert [expected] == ErrorClassify().classify_many([Json(text)]).to_list()


@settings(max_examples=8)
@given(st.lists(es.signals(), min_size=20, max_size=60))
@example([{"message": "half \ud83d"}, {"body": {"error": {"message": "\u2028\x85"}}}])
def test_a_line_says_what_the_library_says(records: list[Wire]) -> None:
    done = subprocess.run(COMMAND, input=lines(records), capture_output=True, check=True)
    expected = [ErrorClassify().classify_data(record).to_json() for record in records]
    assert (expected, b"") == (done.stdout.decode().split("\n")[:-1], done.stderr)
