"""`interlock decide` and `classify` on files of columns."""

import json
import random  # noqa: TID251 (where to cut, by a seed)
from pathlib import Path
from typing import Any

import pytest
from engines import engine

from .command import interlock, without_rate

pytestmark = pytest.mark.engine

SCORE = """\
tool: RuleScore
rules:
  - { id: big, points: 2, when: [{ path: total, op: greaterThan, expected: 1000 }] }
"""
ROWS = [{"total": place % 2_000, "note": {"x": None}} for place in range(70_000)]


def write(path: Path, given: Any) -> Path:
    """Write a table in the form that a name says."""
    pa = engine("pyarrow")
    if path.suffix in (".parquet", ".pq"):
        engine("pyarrow.parquet").write_table(given, path, row_group_size=30_000)
    elif path.suffix == ".feather":
        engine("pyarrow.feather").write_feather(given, str(path))
    else:
        new = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
        with new(path, given.schema) as out:
            out.write_table(given)
    return path


@pytest.fixture(scope="module")
def table() -> Any:
    return engine("pyarrow").Table.from_pylist(ROWS)


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lines") / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["r.parquet", "r.PQ", "r.arrow", "r.ipc", "r.arrows", "r.feather"])
def test_as_the_same_rows_in_json_lines(
    name: str, spec: Path, table: Any, lines: Path, tmp_path: Path
) -> None:
    path = write(tmp_path / name.lower(), table).rename(tmp_path / name)
    from_lines = interlock("decide", spec, lines, "--summary", "--threads", "2")
    ran = interlock("decide", spec, path, "--summary", "--threads", "2")
    assert (0, from_lines.out) == (ran.code, ran.out)
    assert without_rate(from_lines.err) == without_rate(ran.err)


def test_one_by_one(spec: Path, table: Any, lines: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "r.parquet", table.slice(0, 1_500))
    some = b"\n".join(lines.read_bytes().split(b"\n")[:1_500])
    score = tmp_path / "score.yaml"
    score.write_text(SCORE, encoding="utf-8")
    for arguments in ((spec, "--explain"), (score,)):
        from_lines = interlock("decide", *arguments, "-", stdin=some)
        ran = interlock("decide", arguments[0], path, *arguments[1:])
        assert (0, from_lines.out) == (ran.code, ran.out)


def test_classify(tmp_path: Path) -> None:
    pa = engine("pyarrow")
    columns: dict[str, list[Any]] = {"status": [503, None, 404], "attempt": [1.0, None, 1.5]}
    given = pa.table({name: cells * 2_000 for name, cells in columns.items()})
    path = write(tmp_path / "errors.parquet", given)
    stdin = "".join(json.dumps(row) + "\n" for row in given.to_pylist()).encode()
    for more in ((), ("--strict",)):
        from_lines = interlock("classify", "--summary", *more, stdin=stdin)
        ran = interlock("classify", path, "--summary", *more)
        assert (1, from_lines.out) == (ran.code, ran.out)
        told = from_lines.err.replace("standard input", str(path))
        assert without_rate(ran.err) == without_rate(told)


class TestColumnsOfJson:
    TEXTS = ('{"total": 1200}', "{oops", None, '{"total": 7}', "") * 14_000

    @pytest.mark.parametrize("more", [(), ("--explain",), ("--strict",), ("--threads", "2")])
    def test_as_the_same_texts_in_json_lines(
        self, more: tuple[str, ...], spec: Path, tmp_path: Path
    ) -> None:
        texts = self.TEXTS if "--explain" not in more else self.TEXTS[:1_000]
        of_payload = tmp_path / "payload.yaml"
        of_payload.write_text(spec.read_text("utf-8").replace("total", "payload.total"), "utf-8")
        path = write(tmp_path / "r.parquet", engine("pyarrow").table({"payload": texts}))
        ran = interlock("decide", of_payload, path, "--json-column", "payload", *more)
        written = ("null" if text is None else text for text in texts)
        lines = "".join(f'{{"payload":{text}}}\n' for text in written).encode()
        from_lines = interlock("decide", of_payload, "-", *more, stdin=lines)
        # What is wrong with a text is told from its own start.
        assert [row if "error" not in row else row["line"] for row in ran.rows] == [
            row if "error" not in row else row["line"] for row in from_lines.rows
        ]
        assert ran.code == 1
        assert f"{path}:2: payload: expected" in ran.err

    def test_of_errors(self, tmp_path: Path) -> None:
        given = engine("pyarrow").table({"body": ['{"code":"rate_limit_exceeded"}', "{", None]})
        path = write(tmp_path / "errors.parquet", given)
        ran = interlock("classify", path, "--json-column", "body")
        assert ["error" in row for row in ran.rows] == [False, True, False]

    def test_columns_that_are_none(self, spec: Path, table: Any, tmp_path: Path) -> None:
        path = write(tmp_path / "r.parquet", table)
        for name, said in (("totl", 'did you mean "total"'), ("total", "holds no texts")):
            ran = interlock("decide", spec, path, "--json-column", name)
            assert (1, b"") == (ran.code, ran.out)
            assert said in ran.err
        ran = interlock("decide", spec, "-", "--json-column", "note", stdin=b"{}")
        assert (2, b"") == (ran.code, ran.out)
        assert "--json-column is for a file of columns" in ran.err


def test_no_rows_and_no_such_column(spec: Path, table: Any, tmp_path: Path) -> None:
    none = write(tmp_path / "none.parquet", table.slice(0, 0))
    assert (0, b"", "") == interlock("decide", spec, none)
    # A column that is not there is a field that is not there.
    other = write(tmp_path / "other.parquet", engine("pyarrow").table({"x": [1]}))
    assert ["normal"] == [row["name"] for row in interlock("decide", spec, other).rows]


class TestFaults:
    def fails(self, spec: Path, path: Path, *said: str) -> None:
        out = path.with_name("out.jsonl")
        out.write_text("old", encoding="utf-8")
        ran = interlock("decide", spec, path, "--output", out)
        assert (1, b"", "old") == (ran.code, ran.out, out.read_text(encoding="utf-8"))
        for part in said:
            assert part in ran.err

    @pytest.mark.parametrize("name", ["r.parquet", "r.arrow", "r.arrows", "r.feather"])
    def test_a_file_that_ends_too_early(
        self, name: str, spec: Path, table: Any, tmp_path: Path
    ) -> None:
        path = write(tmp_path / name, table)
        whole = path.read_bytes()
        chance = random.Random(name)  # noqa: S311 (as above)
        for size in (0, 3, len(whole) - 9, *(chance.randrange(len(whole) - 8) for _ in range(4))):
            path.write_bytes(whole[:size])
            self.fails(spec, path, f"Error: {path}: ")

    def test_a_file_that_is_broken_further_on(self, spec: Path, table: Any, tmp_path: Path) -> None:
        path = write(tmp_path / "r.parquet", table)
        whole = bytearray(path.read_bytes())
        second = engine("pyarrow.parquet").ParquetFile(path).metadata.row_group(1).column(0)
        start = second.dictionary_page_offset or second.data_page_offset
        whole[start : start + 20] = b"\xff" * 20
        path.write_bytes(whole)
        self.fails(spec, path, f"Error: {path}: ")

    def test_what_is_of_another_kind(self, spec: Path, tmp_path: Path) -> None:
        for name in ("r.parquet", "r.arrow", "r.feather"):
            (tmp_path / name).write_bytes(b'{"total": 1200}\n')
            self.fails(spec, tmp_path / name, name)

    def test_a_type_that_json_has_not(self, spec: Path, tmp_path: Path) -> None:
        pa = engine("pyarrow")
        score = tmp_path / "score.yaml"
        score.write_text(SCORE, encoding="utf-8")
        given = pa.table({"total": pa.array([1, 2], pa.timestamp("ms"))})
        path = write(tmp_path / "r.parquet", given)
        for one in (spec, score):
            self.fails(one, path, "records.total: a column of the type", "[spec/not-json]")

    def test_no_such_file(self, spec: Path, tmp_path: Path) -> None:
        engine("pyarrow")
        ran = interlock("decide", spec, tmp_path / "no.parquet")
        assert (1, b"") == (ran.code, ran.out)
        assert "No such file" in ran.err

    def test_the_extra_is_named(self, spec: Path, tmp_path: Path) -> None:
        (tmp_path / "pyarrow.py").write_text("raise ImportError('not here')", encoding="utf-8")
        ran = interlock("decide", spec, "r.parquet", cwd=tmp_path, PYTHONPATH=str(tmp_path))
        assert (1, b"") == (ran.code, ran.out)
        assert "pip install 'interlock[arrow]'" in ran.err
