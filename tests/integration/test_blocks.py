"""Files are answered block by block: in everything as records that come one by one."""

from pathlib import Path
from typing import Any

import pytest

from .command import BIG, BRANCH, SMALL, Ran, interlock

TABLE = """\
tool: DecisionTable
policy: first
version: "7"
rows:
  - { id: big, when: [{ path: total, op: greaterThan, expected: 1000 }], outputs: { to: [b, "é"] } }
  - { id: named, when: [{ path: total, op: isType, expected: string }], outputs: null }
"""
COLLECT = TABLE.replace("policy: first", "policy: collect")
ERRORS = "tool: ErrorClassify\nrules:\n  - { id: r, class: quota, action: fail, contains: spent }\n"

LINES = (
    *(b'{"total":1200}', b'{"total":1}', b"{bad", b"", b" \t\r", b'{"total":"x"}', b"[]", b"null"),
    *(b'{"total":1%s}' % (b"0" * 20_001), b'  {"total":2}  \r', b'{"total":2', b'{"total":"\xff"}'),
    *(b"\xef\xbb\xbf{}", b"\x0c", b'{"total":1}\x0c', b'{"status":429,"retryAfter":"7"}', b"{} {}"),
    *(b'{"status":"x","colour":1}', b'{"code":"ECONNRESET"}', b'{"message":"all spent"}'),
    *(b'{"status":429,"body":{"error":{"message":"\\ud83d"}}}', b'{"status":503.0,"attempt":1}'),
)


def compared(room: Path, spec: str | None, text: bytes, *options: str) -> Ran:
    """Give what comes of a file, which is what comes of a pipe."""
    records = room / "records.jsonl"
    records.write_bytes(text)
    command = ["classify"]
    if spec is not None:
        (room / "spec.yaml").write_text(spec, encoding="utf-8")
        command = ["decide", str(room / "spec.yaml")]
    by_file = interlock(*command, records, *options)
    by_pipe = interlock(*command, *options, stdin=text)
    assert (by_pipe.code, by_pipe.out) == (by_file.code, by_file.out)
    assert by_pipe.err.replace("standard input:", f"{records}:") == by_file.err
    return by_file


SPECS = pytest.mark.parametrize(
    "spec",
    [BRANCH, TABLE, COLLECT, ERRORS, None],
    ids=["branch", "first", "collect", "errors", "classify"],
)


@SPECS
@pytest.mark.parametrize("options", [(), ("--threads", "3"), ("--strict",)])
def test_a_file_gives_what_a_pipe_gives(
    tmp_path: Path, spec: str | None, options: tuple[str, ...]
) -> None:
    ran = compared(tmp_path, spec, b"\n".join(LINES), *options)
    assert ran.code == 1
    compared(tmp_path, spec, b"\xef\xbb\xbf" + b"\r\n".join(LINES[::-1]) + b"\n", *options)


@SPECS
def test_many_blocks(tmp_path: Path, spec: str | None) -> None:
    """More than a block of each, so that numbers and order go on from one to the next."""
    short = [line for line in LINES if len(line) < 100]
    lines = b"\n".join([*short, b" " * (200 << 10)]) + b"\n"
    text = lines * (1 + (9 << 20) // len(lines))
    records = tmp_path / "records.jsonl"
    records.write_bytes(text)
    (tmp_path / "spec.yaml").write_text(spec or "", encoding="utf-8")
    command = ["classify"] if spec is None else ["decide", str(tmp_path / "spec.yaml")]
    once = interlock(*command, stdin=lines)
    every = interlock(*command, records, "--threads", "4")
    times = text.count(lines)
    bad = [at for at, row in enumerate(once.rows) if "error" in row]
    numbers = [row["line"] for row in every.rows if "error" in row]
    step = lines.count(b"\n")
    first = [once.rows[at]["line"] for at in bad]
    assert numbers == [number + step * turn for turn in range(times) for number in first]
    good = [row for row in once.rows if "error" not in row]
    assert [row for row in every.rows if "error" not in row] == good * times
    assert f"{len(bad) * times} bad lines of {len(once.rows) * times}" in every.err


class TestThreads:
    @pytest.mark.parametrize("count", ["0", "-1", "two", "1.5", ""])
    def test_a_number_that_is_none(self, spec: Path, count: str) -> None:
        ran = interlock("decide", spec, "--threads", count, stdin=BIG)
        assert (2, b"") == (ran.code, ran.out)
        assert "--threads" in ran.err

    @pytest.mark.parametrize("count", ["0", "two"])
    def test_a_variable_that_is_none(self, spec: Path, count: str) -> None:
        for command in (("decide", spec), ("classify",)):
            ran = interlock(*command, stdin=b"{}", INTERLOCK_THREADS=count)
            assert (2, b"") == (ran.code, ran.out)
            assert "INTERLOCK_THREADS" in ran.err

    @pytest.mark.parametrize("changes", [{}, {"INTERLOCK_THREADS": "2"}, {"INTERLOCK_THREADS": ""}])
    def test_a_variable(self, spec: Path, changes: dict[str, Any]) -> None:
        assert 1 == len(interlock("decide", spec, stdin=BIG, **changes).rows)

    def test_the_option_outranks_the_variable(self, spec: Path) -> None:
        ran = interlock("decide", spec, "--threads", "2", stdin=BIG, INTERLOCK_THREADS="none")
        assert (0, "") == (ran.code, ran.err)


def test_the_summary_tells_how_fast_it_went(tmp_path: Path, spec: Path) -> None:
    records = tmp_path / "records.jsonl"
    records.write_bytes(b"\n".join((BIG, SMALL, BIG)))
    plain = interlock("decide", spec, records)
    told = interlock("decide", spec, records, "--summary")
    assert (plain.out, "") == (told.out, plain.err)
    last = told.err.splitlines()[-1]
    assert last.startswith("3 records in ")
    assert last.endswith(" a second")
