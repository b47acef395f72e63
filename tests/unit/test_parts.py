"""Large files as numbered parts, without an engine: cut, decided, found again, refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock import Branch, Checks, ConfigError, ErrorClassify, InterlockError, RuleScore
from interlock.integrations import _parts
from interlock.integrations._parts import Job, decide_part, finished, open_job, plan, swept

ARMS = [{"name": "big", "when": [{"path": "v", "op": "greaterThan", "expected": 500}]}]
ROUTE = Branch(ARMS)


def lines(count: int, first: int = 0) -> bytes:
    return b"".join(b'{"v":%d}\n' % (n * 7919 % 1000) for n in range(first, first + count))


def job_of(*files: Path, part_bytes: int = 100, spec: Any = ROUTE) -> Job:
    return plan(spec, files, json_columns=(), part_bytes=part_bytes)


def decided(job: Job, out: Path, spec: Any = ROUTE) -> bytes:
    open_job(job, out)
    for part in job.parts:
        decide_part(spec, job, part, out)
    return b"".join(path.read_bytes() for path, _ in finished(job, out).values())


def locally(text: bytes, spec: Any = ROUTE) -> bytes:
    names = {"RuleScore": "score_many", "ErrorClassify": "classify_many"}
    many = getattr(spec, names.get(spec.tool, "decide_many"))
    return b"".join(one.to_json().encode() + b"\n" for one in many(text))


class TestCutting:
    @given(
        text=st.lists(
            st.sampled_from([b"{}", b"", b"\r", b"[1]", b"x" * 40, b'{"v":"\xc3\xa9"}'])
        ).map(b"\n".join),
        part_bytes=st.integers(1, 60),
    )
    def test_ranges_are_the_file_and_end_behind_lines(self, text: bytes, part_bytes: int) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "a.jsonl"
            path.write_bytes(text)
            cut = list(_parts._ranges(path, _parts.Source.of(path), part_bytes))
        pieces = [text[start:end] for start, end in cut]

        assert b"".join(pieces) == text
        assert all(piece.endswith(b"\n") for piece in pieces[:-1])
        assert all(pieces)

    def test_a_line_longer_than_a_part_is_one(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(b'{"v":"' + b"x" * 5_000_000 + b'"}\n{"v":501}\n')
        job = job_of(path)

        assert [part.end for part in job.parts] == [5_000_009, 5_000_019]

    def test_nothing_makes_no_part(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.touch()

        assert job_of(path).parts == ()
        assert decided(job_of(path), tmp_path / "out") == b""

    def test_numbers_go_on_from_file_to_file(self, tmp_path: Path) -> None:
        one, two = tmp_path / "b.jsonl", tmp_path / "a.ndjson"
        one.write_bytes(lines(30))
        two.write_bytes(lines(30, first=30))
        job = job_of(one, two)

        assert [part.number for part in job.parts] == list(range(len(job.parts)))
        assert decided(job, tmp_path / "out") == locally(lines(60))

    @pytest.mark.parametrize(
        ("files", "message"),
        [
            ("a.jsonl", "must be a list of paths"),
            (Path("a.jsonl"), "must be a list of paths"),
            ([], "at least one file"),
            (["a.jsonl", "./a.jsonl"], "the same file as a.jsonl"),
            (["a.csv"], r"must end with one of .jsonl, .ndjson, .parquet"),
            ([5], "files: 5: must be the path of a file"),
            ([b"a.jsonl"], "must be the path of a file"),
            (["folder.jsonl"], "must be a file"),
        ],
    )
    def test_refused(
        self, files: object, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("a.jsonl").touch()
        Path("folder.jsonl").mkdir()
        with pytest.raises(ConfigError, match=message):
            plan(ROUTE, files, json_columns=(), part_bytes=1)

    def test_a_link_is_the_same_file(self, tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").touch()
        (tmp_path / "b.jsonl").symlink_to(tmp_path / "a.jsonl")
        (tmp_path / "c.jsonl").hardlink_to(tmp_path / "a.jsonl")

        for other in ("b.jsonl", "c.jsonl"):
            with pytest.raises(ConfigError, match="the same file"):
                job_of(tmp_path / "a.jsonl", tmp_path / other)

    def test_what_never_ends_is_not_opened(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "a.jsonl")
        with pytest.raises(ConfigError, match="must be a file"):
            job_of(tmp_path / "a.jsonl")

    def test_other_tools_are_refused(self, tmp_path: Path) -> None:
        spec = Checks(ARMS[0]["when"])
        with pytest.raises(ConfigError, match="must be one of Branch, DecisionTable, RuleScore, E"):
            job_of(tmp_path / "a.jsonl", spec=spec)

    @pytest.mark.parametrize("part_bytes", [0, -1, 1.5, True, "9"])
    def test_parts_of_no_bytes_are_refused(self, tmp_path: Path, part_bytes: Any) -> None:
        with pytest.raises(ConfigError, match=r"part_bytes: .*: must be a whole number"):
            job_of(tmp_path / "a.jsonl", part_bytes=part_bytes)

    @pytest.mark.parametrize("text", [b"", b"PAR1xxxx"])
    def test_columns_that_are_none_are_named(self, tmp_path: Path, text: bytes) -> None:
        pytest.importorskip("pyarrow")
        path = tmp_path / "a.parquet"
        path.write_bytes(text)
        with pytest.raises(ConfigError, match=r"a\.parquet.*: .*Parquet"):
            job_of(path)


class TestDeciding:
    TEXT = b'\xef\xbb\xbf{"v":501}\n\n \r\n{"v":\n\xef\xbb\xbf{"v":1}\n[]\n{"v":null}\n{"v":9e9}'

    @pytest.mark.parametrize("part_bytes", [1, 20, 1000])
    @pytest.mark.parametrize(
        "spec",
        [
            ROUTE,
            RuleScore([{"id": "v", "when": ARMS[0]["when"], "points": 2}]),
            ErrorClassify(),
        ],
    )
    def test_bad_lines_and_blank_ones(self, tmp_path: Path, part_bytes: int, spec: Any) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(self.TEXT)
        job = job_of(path, part_bytes=part_bytes, spec=spec)
        there = [json.loads(line) for line in decided(job, tmp_path / "out", spec).splitlines()]
        here = [json.loads(line) for line in locally(self.TEXT, spec).splitlines()]

        # A line is numbered within its part, and its faults told from there.
        assert [one.keys() for one in there] == [one.keys() for one in here]
        assert [one for one in there if "error" not in one] == [
            one for one in here if "error" not in one
        ]

    @pytest.mark.parametrize("line", [b"", b" \r", b"{}"])
    def test_a_mark_that_stands_before_nothing(self, tmp_path: Path, line: bytes) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(b"\xef\xbb\xbf" + line + b'\n{"v":501}\n')

        assert decided(job_of(path), tmp_path / "out") == locally(line + b'\n{"v":501}\n')

    def test_a_changed_file_is_an_error(self, tmp_path: Path) -> None:
        path, out = tmp_path / "a.jsonl", tmp_path / "out"
        path.write_bytes(lines(10))
        job = job_of(path)
        open_job(job, out)
        path.write_bytes(lines(11))

        with pytest.raises(InterlockError, match="has changed since the job began"):
            decide_part(ROUTE, job, job.parts[0], out)
        assert [place.name for place in out.iterdir()] == ["manifest.json"]

    def test_rows_in_are_rows_out(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path, out = tmp_path / "a.jsonl", tmp_path / "out"
        path.write_bytes(lines(10))
        job = job_of(path, part_bytes=1000)
        open_job(job, out)
        whole = _parts._answer_lines
        monkeypatch.setattr(_parts, "_answer_lines", lambda *given: whole(*given)[1:])

        with pytest.raises(InterlockError, match="10 rows in, 9 out"):
            decide_part(ROUTE, job, job.parts[0], out)
        assert finished(job, out) == {}


class TestFolder:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "a.jsonl"
        path.write_bytes(lines(10))
        return path

    def test_the_same_job_goes_on(self, path: Path, tmp_path: Path) -> None:
        for _ in range(2):
            open_job(job_of(path), tmp_path / "out")

    @pytest.mark.parametrize(
        ("what", "message"),
        [
            ("spec", "other spec: "),
            ("size", "a.jsonl has changed since"),
            ("touched", "a.jsonl has changed since"),
            ("more", "b.jsonl is none of its files"),
            ("fewer", "a.jsonl is one of its files"),
            ("parts", "other parts"),
        ],
    )
    def test_another_job_is_refused(
        self, path: Path, tmp_path: Path, what: str, message: str
    ) -> None:
        other, out = tmp_path / "b.jsonl", tmp_path / "out"
        other.write_bytes(lines(3))
        open_job(job_of(path, *([other] if what == "fewer" else [])), out)
        job = job_of(path, part_bytes=50 if what == "parts" else 100)
        if what == "spec":
            job = job_of(path, spec=Branch([*ARMS, {**ARMS[0], "name": "too"}]))
        elif what == "size":
            path.write_bytes(lines(11))
            job = job_of(path)
        elif what == "touched":
            os.utime(path, ns=(1, 1))
            job = job_of(path)
        elif what == "more":
            job = job_of(path, other)
        elif what == "fewer":
            job = job_of(other)

        with pytest.raises(ConfigError, match=f"holds another job \\(.*{message}"):
            open_job(job, out)

    def test_a_folder_of_something_else_is_refused(self, path: Path, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="is not empty and holds no job"):
            open_job(job_of(path), tmp_path)

    @pytest.mark.parametrize("text", ["", "[", "\udcff", "[]", "5", "null", "[" * 100_000])
    def test_a_broken_manifest_is_refused(self, path: Path, tmp_path: Path, text: str) -> None:
        (tmp_path / "manifest.json").write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(ConfigError, match="cannot be read"):
            open_job(job_of(path), tmp_path)

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("part-00000-9.jsonl", "is there twice"),
            *(
                (name, "none of this job's")
                for name in (
                    "part-00001-9.jsonl",
                    "part-00000-9.parquet",
                    "part-00000-9",
                    "part-00000-\u0661.jsonl",
                )
            ),
        ],
    )
    def test_what_is_not_of_the_job(
        self, path: Path, tmp_path: Path, name: str, message: str
    ) -> None:
        out = tmp_path / "out"
        job = job_of(path, part_bytes=1000)
        decided(job, out)
        (out / name).touch()

        with pytest.raises(InterlockError, match=message):
            finished(job, out)

    def test_what_was_left_by_ended_workers_goes(self, path: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        decided(job_of(path, part_bytes=1000), out)
        (out / ".beside-1").touch()
        swept(out)

        assert sorted(p.name for p in out.iterdir()) == ["manifest.json", "part-00000-10.jsonl"]
