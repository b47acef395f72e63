"""Many records are answered as each of them is alone, however they come and are cut."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.json_texts import damaged_texts, json_texts
from laws.strategies import check_lists

from interlock import Branch, DecisionTable, InputInvalid, Json, LeadAssign, RuleScore, _lines
from interlock.tools._batch import BadLine
from interlock.typing import Policy

Rule = dict[str, Any]
Tool = Any

SHARE = 256 << 10
"""Bytes from which on another thread is worth it."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("batches") / "records.jsonl"


def _one_line(text: str) -> str:
    # Outside of strings white space is all the same, and in them no line end is raw.
    return text.replace("\n", " ")


_ALIKE = st.builds(
    '{{"a": {}, "b": [{}, {}], "c": {{"a": {}}}}}'.format,
    *[st.sampled_from(("1", "2.50", '"a"', "null", '"\\ud83d"', "1" * 30, "-0", "true"))] * 4,
)
"""Records of one shape, as most files have them."""

_BLANK = st.sampled_from(("", " ", "\t \r"))


@st.composite
def _texts(draw: st.DrawFn) -> tuple[list[str], str]:
    """Lines, and how they end."""
    good = st.one_of(_ALIKE, _ALIKE, json_texts().map(_one_line))
    any_line = st.one_of(good, good, damaged_texts().map(_one_line), _BLANK)
    lines = draw(st.lists(any_line, min_size=1, max_size=12))
    # At the very start of a text a byte-order mark is left out, which no record knows of.
    lines[0] = lines[0].lstrip("\ufeff")
    return lines, draw(st.sampled_from(("\n", "\r\n")))


def _read(line: str, number: int) -> object:
    try:
        return Json(line)
    except InputInvalid as error:
        (problem,) = error.problems
        column = problem.field.partition(":")[2]
        return BadLine(line=number, message=f"{problem.message} (column {column})")


def _records(lines: list[str]) -> list[object]:
    """The records of a text, read one at a time."""
    numbered = enumerate((line.rstrip(" \t\r") for line in lines), 1)
    return [_read(line, number) for number, line in numbered if line]


def _rules(draw: Any, records: list[object], least: int) -> list[Rule]:
    good = [record.to_python() for record in records if isinstance(record, Json)] or [{}]
    about = draw(st.sampled_from(good), "about")
    some = draw(st.lists(check_lists(about), min_size=1, max_size=8), "checks")
    match = st.sampled_from(("all", "any"))
    shapes = st.tuples(st.sampled_from(some), st.sampled_from(some), match)
    drawn = draw(st.lists(shapes, min_size=least, max_size=least + 6), "rules")
    return [
        {"id": f"r{at}", "when": [*left, *right], "match": match}
        for at, (left, right, match) in enumerate(drawn)
    ]


def _answers(tool: Tool, records: list[object]) -> list[object]:
    return [one if isinstance(one, BadLine) else tool.decide(one) for one in records]


def _tools(rules: list[Rule]) -> list[Tool]:
    rows = [{**rule, "outputs": [at]} for at, rule in enumerate(rules)]
    arms = [{"name": rule["id"], "when": rule["when"], "match": rule["match"]} for rule in rules]
    return [
        Branch(arms, otherwise={"name": "other", "result": {}}),
        DecisionTable(rows, policy="first"),
        DecisionTable(rows, policy="collect"),
    ]


def _check_columns(batch: Any, expected: list[object]) -> None:
    """The columns tell what the answers tell."""
    assert batch == expected
    assert [batch.outcomes[code] for code in batch.indices] == [one.outcome for one in batch]
    undetermined = {at: one for at, one in enumerate(expected) if _is_open(one)}
    assert batch.undetermined == undetermined
    bad = {at: one for at, one in enumerate(expected) if isinstance(one, BadLine)}
    assert batch.bad == bad
    assert sum(batch.counts().values()) == len(batch) == len(expected)


def _is_open(answer: Any) -> bool:
    return not isinstance(answer, BadLine) and bool(answer.undetermined)


@pytest.mark.parametrize("least", [1, 20])
@given(data=st.data())
def test_every_way_in_answers_alike(path: Path, least: int, data: st.DataObject) -> None:
    lines, end = data.draw(_texts(), "text")
    text = end.join(lines).encode() + data.draw(st.sampled_from((b"", end.encode())), "last")
    path.write_bytes(text)
    records = _records(lines)
    threads = data.draw(st.integers(1, 4), "threads")
    block = data.draw(st.sampled_from((1, 7, 64, 4 << 20)), "block")
    plain = [one.to_python() for one in records if isinstance(one, Json)]
    for tool in _tools(_rules(data.draw, records, least)):
        expected = _answers(tool, records)
        _check_columns(tool.decide_many(text, threads=threads), expected)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_lines, "_BLOCK", block)
            _check_columns(tool.decide_many(path, threads=threads), expected)
        good = [one for one in expected if not isinstance(one, BadLine)]
        _check_columns(tool.decide_many(iter(plain)), good)
        parsed = [one for one in records if isinstance(one, Json)]
        _check_columns(tool.decide_many(parsed, threads=threads), good)


@given(st.data())
def test_threads_keep_order_and_numbers(data: st.DataObject) -> None:
    lines, end = data.draw(_texts(), "text")
    records = _records(lines)
    tool = _tools(_rules(data.draw, records, 1))[0]
    once = _answers(tool, records)
    text = (end.join(lines) + end).encode()
    threads = data.draw(st.integers(2, 4), "threads")
    times = 1 + threads * SHARE // max(len(text), SHARE >> 6)
    batch = tool.decide_many(text * times, threads=threads)
    assert len(batch) == len(once) * times
    assert batch.indices.tolist() == tool.decide_many(text).indices.tolist() * times
    bad = [one for one in once if isinstance(one, BadLine)]
    every = [one.line + len(lines) * turn for turn in range(times) for one in bad]
    assert [one.line for one in batch.bad.values()] == every
    if once:
        places = data.draw(st.lists(st.integers(0, len(batch) - 1), max_size=8), "places")
        for place in places:
            if not isinstance(batch[place], BadLine):
                assert batch[place] == once[place % len(once)]


@given(st.data())
def test_scores_and_owners(data: st.DataObject) -> None:
    lines, _ = data.draw(_texts(), "text")
    text, records = "\n".join(lines).encode(), _records(lines)
    drawn = _rules(data.draw, records, 1)
    score = RuleScore([{**rule, "points": at, "match": "all"} for at, rule in enumerate(drawn)])
    assign = LeadAssign([{**rule, "id": rule["id"]} for rule in drawn], strategy="first")
    good = [one for one in records if isinstance(one, Json)]
    rows = [{**rule, "outputs": [at], "priority": at % 2} for at, rule in enumerate(drawn)]
    policies: tuple[Policy, ...] = ("collect", "unique", "priority")
    tables = [DecisionTable(rows, policy=policy) for policy in policies]
    asked: list[tuple[Any, Any]] = [(table.decide, table.decide_many) for table in tables]
    asked += [(score.score, score.score_many), (assign.assign, assign.assign_many)]
    for ask, many in asked:
        expected = [one if isinstance(one, BadLine) else ask(one) for one in records]
        assert many(text, threads=2) == expected
        assert many(iter(good)) == [ask(one) for one in good]
    turns = LeadAssign([{**rule, "id": rule["id"]} for rule in drawn], strategy="round_robin")
    told = turns.assign_many(text, cursor=1, threads=2)
    assert [one for one in told if not isinstance(one, BadLine)] == turns.assign_many(
        good, cursor=1
    )


@given(st.lists(json_texts().map(_one_line), max_size=6))
def test_texts_are_read_as_the_one_record_reader_reads_them(texts: list[str]) -> None:
    arms = [{"name": "it", "when": [{"path": "a", "op": "equals", "expected": 1}]}]
    records = [{"a": json.loads(text)} for text in texts]
    text = "\n".join(f'{{"a": {one}}}' for one in texts).encode()
    assert Branch(arms).decide_many(text) == Branch(arms).decide_many(records)
