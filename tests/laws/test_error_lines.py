"""Errors from JSON Lines are classified as each of them is alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from laws.error_strategies import rules, signals
from laws.json_texts import damaged_texts, json_texts

from interlock import ConfigError, ErrorClassify, Json, _lines
from interlock.errors import Problem
from interlock.tools._batch import BadLine

_PLAIN = ("status", "exitCode", "exit_code", "signal", "code", "message", "retryAfter", "attempt")
_NAMES = (*_PLAIN, "retry_after", "maxAttempts", "max_attempts", "now", "body", "statu\\u0073", "x")
_VALUES = (
    *("429", "503", "1", "0", "-0", "137", "2", "1.0", "1e2", "null", "true", "9007199254740992"),
    *('"ECONNRESET"', '"SIGKILL"', '"rate limit exceeded"', '"rate\\u0020limit"', '"30"', '"x"'),
    *('"\\ud83d"', '"2026-01-01T00:00:00Z"', "[]", "{}", '{"error": {"code": "x"}}', "1" * 30),
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("errors") / "errors.jsonl"


def _one_line(text: str) -> str:
    return text.replace("\n", " ")


@st.composite
def _odd(draw: st.DrawFn) -> str:
    """Signals of right and wrong types, in both spellings, known and unknown."""
    pair = st.tuples(st.sampled_from(_NAMES), st.sampled_from(_VALUES))
    members = draw(st.lists(pair, max_size=4))
    return "{" + ", ".join(f'"{name}": {value}' for name, value in members) + "}"


def _texts() -> st.SearchStrategy[list[str]]:
    alike = st.builds('{{"status": {}, "message": {}}}'.format, *[st.sampled_from(_VALUES)] * 2)
    others = st.one_of(json_texts(), damaged_texts(), st.sampled_from(("", "\t ", "[]", "7")))
    told = signals().map(json.dumps)
    one = st.one_of(told, alike, alike, _odd(), _odd(), others)
    # A byte-order mark is left out at the very start of a text, which no record knows of.
    return st.lists(one.map(_one_line).map(lambda line: line.lstrip("\ufeff")), max_size=12)


def _alone(tool: ErrorClassify, line: str, number: int) -> Any:
    try:
        return tool.classify_data(Json(line))
    except ConfigError as error:
        return BadLine(line=number, message="; ".join(map(_told, error.problems)))


def _told(problem: Problem) -> str:
    if problem.field.startswith("1:"):
        return f"{problem.message} (column {problem.field[2:]})"
    value = "" if problem.value is None else f"{problem.value}: "
    return f"{problem.field}: {value}{problem.message}"


@given(st.data())
def test_every_way_in_answers_alike(path: Path, data: st.DataObject) -> None:
    lines = data.draw(_texts(), "lines")
    try:
        tool = ErrorClassify(data.draw(rules(), "rules"))
    except ConfigError:
        reject()
    end = data.draw(st.sampled_from(("\n", "\r\n")), "end")
    text = (end.join(lines) + data.draw(st.sampled_from(("", end)), "last")).encode()
    path.write_bytes(text)
    expected = [
        _alone(tool, line.rstrip(" \t\r"), number)
        for number, line in enumerate(lines, 1)
        if line.strip(" \t\r")
    ]
    threads = data.draw(st.integers(1, 4), "threads")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lines, "_BLOCK", data.draw(st.sampled_from((1, 50, 4 << 20)), "block"))
        every = [tool.classify_many(one, threads=threads) for one in (text, path)]
    for answers in every:
        assert answers.to_list() == expected
        assert [answers[place] for place in range(-len(expected), len(expected))] == expected * 2
        bad = {at: one for at, one in enumerate(expected) if isinstance(one, BadLine)}
        assert answers.bad == bad
        assert sum(answers.counts().values()) == len(expected) - len(bad)
        outcomes = [answers.outcomes[code] for code in answers.indices]
        assert outcomes == [one.outcome for one in expected]
        open_ones = [one for one in answers if getattr(one, "source", "") == "undetermined"]
        assert open_ones == list(answers.undetermined.values())
    assert every[0] == every[1]
