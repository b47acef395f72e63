"""Batches over what goes wrong: broken files, odd arguments, threads, forks."""

import io
import json
import mmap
import multiprocessing
import os
import pickle
import signal
import time
from collections import UserDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import pytest

from interlock import Branch, BranchResult, ConfigError, DecisionTable, Json, RuleScore, _lines
from interlock.tools import _first
from interlock.tools._batch import BadLine, Batch

CHECK = {"path": "n", "op": "greaterThan", "expected": 1}
ROUTE = Branch([{"name": "big", "when": [CHECK]}], otherwise={"name": "small"})
TABLE = DecisionTable(
    [{"id": "big", "when": [CHECK], "outputs": {"queue": ["P1"]}}],
    policy="first",
    otherwise={"queue": "P4"},
)
SCORE = RuleScore([{"id": "r", "when": [CHECK], "points": 1}])
ODD = Branch([{"name": "odd", "when": [{"path": "t", "op": "matches", "expected": "(?<=(a)\\1)"}]}])


def _names(batch: Batch[BranchResult]) -> list[str]:
    return [one.outcome for one in batch]


def _file(folder: Path, text: bytes) -> Path:
    path = folder / "records.jsonl"
    path.write_bytes(text)
    return path


BAD = {
    "the last line is cut short": (b'{"n": 2}\n{"n": ', 2, "the text ends too early (column 6)"),
    "a byte is no UTF-8": (b'{"n": 2}\n{"n": "\xff"}', 2, "invalid UTF-8 (column 8)"),
    "a mark at the second line": (
        b'{"n": 2}\n\xef\xbb\xbf{"n": 2}',
        2,
        "a byte-order mark; leave it out (column 1)",
    ),
    "two records on a line": (b'\n\n{"n": 2}\n{} {}\n', 4, "text after the value (column 4)"),
    "a form feed": (b'{"n": 2}\n\x0c\n', 2, "expected a value (column 1)"),
    "no number": (b'{"n": 2}\n{"n": NaN}', 2, "NaN and Infinity are not JSON (column 7)"),
}


@pytest.mark.parametrize(("text", "line", "message"), BAD.values(), ids=BAD)
def test_bad_lines_are_told_and_not_lost(
    tmp_path: Path, text: bytes, line: int, message: str
) -> None:
    bad = BadLine(line=line, message=message)
    for records in (text, bytearray(text), memoryview(text), _file(tmp_path, text)):
        batch = ROUTE.decide_many(records)
        assert batch.bad == {1: bad}
        assert batch.to_list() == [ROUTE.decide({"n": 2}), bad]
        assert batch.counts() == {"big": 1, "(error)": 1}
    assert SCORE.score_many(text)[1] == bad


def test_a_mark_before_the_text_is_passed_over(tmp_path: Path) -> None:
    text = b'\xef\xbb\xbf{"n": 2}\r\n\r\n{"n": 1}'
    for records in (text, _file(tmp_path, text)):
        assert _names(ROUTE.decide_many(records)) == ["big", "small"]


@pytest.mark.parametrize("text", [b"", b"\n", b"\xef\xbb\xbf", b" \r\n\t\n"])
def test_no_records(tmp_path: Path, text: bytes) -> None:
    forms: list[Any] = [text, _file(tmp_path, text), [], iter(())]
    for records in forms:
        batch = ROUTE.decide_many(records, threads=4)
        assert (len(batch), batch.to_list(), batch.counts()) == (0, [], {})
        assert batch.indices.tolist() == []
        assert not batch


@pytest.mark.parametrize("block", [1, 10, 4 << 20])
@pytest.mark.parametrize(("length", "is_long"), [(20, False), (21, True), (300, True)])
def test_a_line_over_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, length: int, *, is_long: bool
) -> None:
    """The limit is that of the line, wherever the file was cut."""
    monkeypatch.setattr(_lines, "LINE_LIMIT", 20)
    monkeypatch.setattr(_lines, "_BLOCK", block)
    line = b'{"n": 2}'.ljust(length - 1) + b"\n"
    text = b'{"n": 2}\n' + line + b'{"n": 1}\n[\n' + line
    batch = ROUTE.decide_many(_file(tmp_path, text))
    named = "(error)" if is_long else "big"
    assert _names(batch) == ["big", named, "small", "(error)", named]
    bad = [(one.line, "longer" in one.message) for one in batch.bad.values()]
    assert bad == ([(2, True), (4, False), (5, True)] if is_long else [(4, False)])


@pytest.mark.parametrize("threads", [0, -1, True, "2", 1.0, b""])
def test_a_number_of_threads_that_is_none(threads: Any) -> None:
    for ask in (ROUTE.decide_many, TABLE.decide_many):
        with pytest.raises(ConfigError, match=r"threads: .*: must be a whole number of at least 1"):
            ask([], threads=threads)


def test_threads_beyond_all_measure() -> None:
    assert _names(ROUTE.decide_many(b'{"n": 2}\n' * 3, threads=10**9)) == ["big"] * 3


@pytest.mark.parametrize("records", ["{}", 7, None, object()])
def test_no_records_at_all(records: Any) -> None:
    with pytest.raises(ConfigError, match=r"^records: "):
        ROUTE.decide_many(records)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ROUTE.decide_many(tmp_path / "none.jsonl")
    with pytest.raises(IsADirectoryError):
        ROUTE.decide_many(tmp_path)


@pytest.mark.parametrize("after", [0, 1, 5000])
@pytest.mark.parametrize("error", [ValueError("no more"), KeyboardInterrupt()])
def test_an_iterator_that_raises(after: int, error: BaseException) -> None:
    def records() -> Iterator[object]:
        yield from ({"n": 2} for _ in range(after))
        raise error

    for ask in (ROUTE.decide_many, TABLE.decide_many):
        with pytest.raises(type(error)) as raised:
            ask(records())
        assert raised.value is error


def test_an_interrupt_from_a_record() -> None:
    class Interrupts(UserDict[str, int]):
        def __getitem__(self, key: str) -> int:
            raise KeyboardInterrupt(key)

    one = Interrupts(n=1)
    for ask in (ROUTE.decide, lambda record: ROUTE.decide_many([{"n": 2}, record])):
        with pytest.raises(KeyboardInterrupt):
            ask(one)


def test_a_batch_is_a_sequence() -> None:
    batch = ROUTE.decide_many(b'{"n": 2}\n{"n": 1}\n[\n{"n": 3}\n')
    listed = batch.to_list()
    assert len(listed) == 4
    assert [batch[at] for at in (-1, -4, 3)] == [listed[-1], listed[-4], listed[3]]
    for places in (slice(None), slice(1, 3), slice(None, None, -1), slice(-2, None), slice(9, 2)):
        assert batch[places] == listed[places]
    for place in (4, -5, 10**30):
        with pytest.raises(IndexError):
            batch[place]
    assert list(reversed(batch)) == listed[::-1]
    assert batch.index(listed[1]) == 1
    assert batch == listed
    assert batch != listed[:-1]
    assert batch != 7
    assert batch == ROUTE.decide_many(b'{"n": 2}\n{"n": 1}\n[\n{"n": 3}\n')


def test_columns() -> None:
    batch = ROUTE.decide_many(b'{"n": 2}\n{"n": 1}\n[\n{"n": 3}\n')
    assert batch.outcomes == ("big", "small", "(undetermined)", "(error)")
    assert isinstance(batch.indices, memoryview)
    assert (batch.indices.format, batch.indices.itemsize) == ("i", 4)
    assert batch.indices.tolist() == [0, 1, 3, 0]
    assert batch.indices.readonly
    assert batch.counts() == {"big": 2, "small": 1, "(error)": 1}


@pytest.mark.parametrize("tool", [ROUTE, TABLE, SCORE])
def test_batches_pickle(tool: Any) -> None:
    ask = tool.score_many if isinstance(tool, RuleScore) else tool.decide_many
    batch = ask(b'{"n": 2}\n{"n": "x"}\n[\n{"n": 3}\n')
    again = pickle.loads(pickle.dumps(batch))  # noqa: S301
    assert again == batch
    assert hash(again) == hash(batch)
    assert (again.outcomes, again.bad, again.undetermined) == (
        batch.outcomes,
        batch.bad,
        batch.undetermined,
    )
    assert again.indices == batch.indices


def test_what_comes_back_is_the_callers_own() -> None:
    batch: Any = TABLE.decide_many([{"n": 2}, {"n": 2}, {"n": 1}])
    for place, own in ((0, {"queue": ["P1"]}), (2, {"queue": "P4"})):
        first = batch[place].outputs
        assert first == own
        first["queue"] = "spoiled"
        assert batch[place].outputs == own
    assert TABLE.decide({"n": 2}).outputs == {"queue": ["P1"]}
    assert TABLE.decide_many([{"n": 2}]) == [TABLE.decide({"n": 2})]


def test_hostile_nesting_in_a_line() -> None:
    deep = 1_000_000
    lines = [b"[" * deep, b"[" * deep + b"]" * deep, b'{"n":' * deep + b"2" + b"}" * deep]
    text = b"\n".join([*lines, b'{"n": 2}'])
    batch = ROUTE.decide_many(text, threads=2)
    assert _names(batch) == ["(error)", "small", "small", "big"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows starts processes anew and has no fork")
def test_a_fork_after_a_batch_with_threads() -> None:
    text = b'{"n": 2}\n' * 100_000
    assert ROUTE.decide_many(text, threads=4).counts() == {"big": 100_000}
    with multiprocessing.get_context("fork").Pool(2) as pool:
        counts = pool.map(_counted, [text, text])
    assert counts == [100_000] * 2


def _counted(text: bytes) -> int:
    return ROUTE.decide_many(text, threads=4).counts()["big"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_fork_while_threads_are_at_work() -> None:
    """The child has no thread that would give back what was held at the fork."""
    name = "\u00e9" * 800
    text = "".join(f"(?<{name}{at}>a)" for at in range(10))
    lines = (json.dumps({"t": text}).encode() + b"\n") * 60
    route = Branch(
        [{"name": "it", "when": [{"path": "t", "op": "hasFormat", "expected": "regex"}]}]
    )
    ask = partial(route.decide_many, lines, threads=2)
    with ThreadPoolExecutor(1) as pool:
        for _ in range(5):
            asked = pool.submit(ask)
            # Likely at work by then; on no account does the test need it.
            time.sleep(0.01)
            child = os.fork()
            if child == 0:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(20)
                ask()
                os._exit(0)
            assert (child, 0) == os.waitpid(child, 0)
            assert len(asked.result()) == 60


def test_many_threads_at_once() -> None:
    text = (b'{"n": 2}\n{"n": 1}\n[\n{"n": "x"}\n' * 20_000)[:-20]
    expected = ROUTE.decide_many(text)
    with ThreadPoolExecutor(8) as pool:
        batches = list(pool.map(lambda _: ROUTE.decide_many(text, threads=3), range(8)))
    for batch in batches:
        assert batch.indices == expected.indices
        assert batch.bad == expected.bad
        assert batch.undetermined == expected.undetermined


def test_bad_lines_write_as_the_command_line_writes_them() -> None:
    bad = BadLine(line=3, message="expected a value (column 1)")
    assert bad.to_json() == '{"error":"expected a value (column 1)","line":3}'
    assert pickle.loads(pickle.dumps(bad)) == bad  # noqa: S301


def test_an_undetermined_record_is_told_why() -> None:
    batch: Any = ODD.decide_many(b'{"t": "aa"}\n{}\n')
    assert batch[0] == ODD.decide({"t": "aa"})
    assert list(batch.undetermined) == [at for at, one in enumerate(batch) if one.undetermined]


def _mapped(file: IO[bytes]) -> Any:
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


OPEN = {"file": lambda file: file, "map": _mapped, "buffer": lambda file: io.BytesIO(file.read())}


@pytest.mark.parametrize("form", OPEN.values(), ids=OPEN)
def test_an_open_file_is_read_from_where_it_is(tmp_path: Path, form: Any) -> None:
    text = b'\xef\xbb\xbf{"n": 2}\n{"n":\r\n\n{"n": 0}'
    expected = ROUTE.decide_many(text)
    with _file(tmp_path, text).open("rb") as file:
        assert ROUTE.decide_many(form(file), threads=2) == expected
    with _file(tmp_path, text).open("rb") as file:
        assert SCORE.score_many(form(file)) == SCORE.score_many(text)
    with _file(tmp_path, text).open("rb") as file:
        records = form(file)
        records.readline()
        assert _names(ROUTE.decide_many(records)) == ["(error)", "small"]
        assert not records.closed
        assert not ROUTE.decide_many(records)


def test_a_file_of_text_is_refused(tmp_path: Path) -> None:
    records: Any = io.StringIO('{"n": 2}\n')
    for ask in (ROUTE.decide_many, TABLE.decide_many, SCORE.score_many):
        with pytest.raises(ConfigError, match=r"^records: .*: open it in binary mode"):
            ask(records)
    with _file(tmp_path, b"{}").open(encoding="utf-8") as file, pytest.raises(ConfigError):
        ROUTE.decide_many(cast("Any", file))


@pytest.mark.parametrize("one", [{"n": 2}, {}, UserDict(n=2), Json(b'{"n": 2}')])
def test_one_record_is_not_many(one: Any) -> None:
    """The names of a mapping are no records."""
    for ask in (ROUTE.decide_many, TABLE.decide_many, SCORE.score_many):
        with pytest.raises(ConfigError, match=r"^records: "):
            ask(one)


def test_more_records_than_are_held_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_first, "_CHUNK", 3)
    records = [{"n": at % 3} for at in range(10)]
    assert ROUTE.decide_many(iter(records)) == [ROUTE.decide(one) for one in records]


def test_other_answers_are_another_batch() -> None:
    batch = ROUTE.decide_many([{"n": 2}, {"n": 0}])
    assert batch == ROUTE.decide_many(b'{"n": 2}\n{"n": 0}')
    assert batch == batch.to_list()
    assert hash(batch) == hash(ROUTE.decide_many(b'{"n": 2}\n{"n": 0}'))
    for other in ([{"n": 0}, {"n": 2}], [{"n": 2}], []):
        assert batch != ROUTE.decide_many(other)
        assert batch != ROUTE.decide_many(other).to_list()


def test_equal_batches_hash_alike_whatever_their_outcomes() -> None:
    arms = [{"name": name, "when": [CHECK]} for name in ("big", "bigger")]
    lines = b'{"n": 2}\n{}\n[\n'
    few, many = Branch(arms[:1]).decide_many(lines), Branch(arms).decide_many(lines)
    assert few == many
    assert hash(few) == hash(many)


def test_outcomes_of_one_name_are_counted_together() -> None:
    arm = {"name": "(no match)", "when": [{"path": "n", "op": "exists"}]}
    assert {"(no match)": 3} == Branch([arm]).decide_many([{"n": 1}, {}, {"n": 2}]).counts()
