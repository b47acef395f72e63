"""`interlock decide`: which lines come out for which lines in."""

import json
from pathlib import Path

import pytest

from .command import BIG, BIG_LINE, NORMAL_LINE, SMALL, interlock

MIXED = b'{"total":1200}\n{"total":1}\n{bad\n{"total":2}\n{"total":3000}\n'


class TestRecords:
    def test_one_line_for_each_record_in_order(self, spec: Path) -> None:
        totals = [1, 1001, 1000, 5000, 0]
        records = "".join(f'{{"total":{total}}}\n' for total in totals).encode()
        ran = interlock("decide", spec, stdin=records)
        names = ["normal", "big", "normal", "big", "normal"]
        assert (0, "", names) == (ran.code, ran.err, [row["name"] for row in ran.rows])

    def test_the_whole_line(self, spec: Path) -> None:
        ran = interlock("decide", spec, stdin=BIG + b"\n" + SMALL + b"\n")
        assert [BIG_LINE, NORMAL_LINE] == ran.rows

    @pytest.mark.parametrize("arguments", [(), ("-",)], ids=["nothing", "dash"])
    def test_standard_input(self, spec: Path, arguments: tuple[str, ...]) -> None:
        assert [BIG_LINE] == interlock("decide", spec, *arguments, stdin=BIG).rows

    def test_a_file_gives_what_standard_input_gives(self, spec: Path, tmp_path: Path) -> None:
        records = tmp_path / "records.jsonl"
        records.write_bytes(MIXED)
        from_file = interlock("decide", spec, records)
        from_stdin = interlock("decide", spec, stdin=MIXED)
        assert (from_file.code, from_file.out) == (from_stdin.code, from_stdin.out)
        assert from_file.err == from_stdin.err.replace("standard input:", f"{records}:")

    @pytest.mark.parametrize(
        "records",
        [
            b"\n\n{R}\n   \n\t\n{R}\n\n",
            b"{R}\r\n\r\n{R}\r\n",
            b"{R}\n{R}",
            b"\xef\xbb\xbf{R}\n{R}\n",
            b"\xef\xbb\xbf\n{R}\n{R}\n",
            b"  {R}  \n\t{R}\t\n",
        ],
        ids=["blank", "crlf", "no final newline", "bom", "bom on a blank line", "spaces"],
    )
    def test_forms_of_lines(self, spec: Path, records: bytes) -> None:
        ran = interlock("decide", spec, stdin=records.replace(b"{R}", BIG))
        assert (0, [BIG_LINE, BIG_LINE]) == (ran.code, ran.rows)

    @pytest.mark.parametrize("records", [b"", b"\n\n", b"\xef\xbb\xbf"], ids=["0", "blank", "bom"])
    def test_nothing_in_nothing_out(self, spec: Path, records: bytes) -> None:
        assert (0, b"", "") == interlock("decide", spec, stdin=records)

    @pytest.mark.parametrize(
        "record",
        [
            b"null",
            b'"text"',
            b'{"total":1e400}',
            b'{"other":"\\ud800"}',
            b'{"total":"\\udfff\\ud800"}',
            b'{"total":' + b"9" * 5000 + b',"total":1}',
            b"[" * 5000 + b"]" * 5000,
            b'{"total":' * 5000 + b"1" + b"}" * 5000,
        ],
        ids=["null", "text", "beyond double", "half", "halves", "digits", "arrays", "objects"],
    )
    def test_hostile_records_are_decided(self, spec: Path, record: bytes) -> None:
        ran = interlock("decide", spec, "--explain", stdin=record + b"\n" + SMALL)
        assert (0, ["normal", "normal"]) == (ran.code, [row["name"] for row in ran.rows])

    @pytest.mark.parametrize("result", ['"\\ud800"', "7" * 5000, '["ä",{"b":1.5e3}]', "null"])
    def test_a_result_comes_back(self, result: str, tmp_path: Path) -> None:
        spec = tmp_path / "spec.json"
        arm = '{"name": "a", "when": [{"op": "exists"}], "result": ' + result + "}"
        spec.write_text('{"tool": "Branch", "arms": [' + arm + "]}", encoding="utf-8")
        ran = interlock("decide", spec, stdin=b"1")
        assert (0, json.loads(result, parse_int=str)) == (
            ran.code,
            json.loads(ran.out.decode(), parse_int=str)["result"],
        )


class TestBadLines:
    def test_the_others_are_decided(self, spec: Path) -> None:
        ran = interlock("decide", spec, stdin=MIXED)
        names = ["big", "normal", None, "normal", "big"]
        assert (1, names) == (ran.code, [row.get("name") for row in ran.rows])

    def test_the_line_says_which_and_why(self, spec: Path) -> None:
        bad = interlock("decide", spec, stdin=b"\n\n" + MIXED).rows[2]
        assert ({"error", "line"}, 5) == (set(bad), bad["line"])
        assert "key" in bad["error"]

    def test_standard_error_names_line_and_count(self, spec: Path) -> None:
        first, last = interlock("decide", spec, stdin=b"\n\n" + MIXED).err.splitlines()
        assert ":5: " in first
        assert "1 bad line of 5" == last

    def test_many_are_counted_and_the_first_shown(self, spec: Path) -> None:
        ran = interlock("decide", spec, stdin=b"{\n" * 100 + SMALL)
        assert (1, 101) == (ran.code, len(ran.rows))
        assert [*range(1, 101)] == [row["line"] for row in ran.rows[:100]]
        assert "100 bad lines of 101" == ran.err.splitlines()[-1]
        assert len(ran.err.splitlines()) < 20

    @pytest.mark.parametrize(
        "line",
        [
            b'{"total":NaN}',
            b'{"total":-Infinity}',
            b"\xff",
            b'{"a":"\xed\xa0\x80"}',
            b"{'total':1}",
            b'{"total":1} {"total":2}',
            b'{"total":1,}',
            b"\x00",
            b"01",
        ],
        ids=["nan", "infinity", "utf8", "raw half", "quotes", "two", "comma", "nul", "zero"],
    )
    def test_what_is_not_json(self, spec: Path, line: bytes) -> None:
        ran = interlock("decide", spec, stdin=line + b"\n" + BIG + b"\n")
        assert (1, 1, BIG_LINE) == (ran.code, ran.rows[0]["line"], ran.rows[1])
        assert ran.rows[0]["error"]

    def test_strict_stops_at_the_first(self, spec: Path) -> None:
        ran = interlock("decide", spec, "--strict", stdin=MIXED)
        assert (1, [BIG_LINE, NORMAL_LINE]) == (ran.code, ran.rows[:-1])
        assert 3 == ran.rows[-1]["line"]
        assert ":3: " in ran.err

    def test_strict_minds_no_good_record(self, spec: Path) -> None:
        assert 0 == interlock("decide", spec, "--strict", stdin=SMALL + b"\n" + BIG).code

    def test_undetermined_is_an_answer(self, tmp_path: Path) -> None:
        spec = tmp_path / "assert.yaml"
        check = "{ path: note, op: greaterThan, expected: 1 }"
        spec.write_text(f"tool: Assert\nchecks:\n  - {check}\n", encoding="utf-8")
        # A number of more digits than are read as one.
        records = b'{"note":1%s}\n{"note":2}\n' % (b"0" * 20_001)
        ran = interlock("decide", spec, "--strict", "--summary", stdin=records)
        told = [(row["ok"], row["undetermined"]) for row in ran.rows]
        assert (0, [(False, 1), (True, 0)]) == (ran.code, told)
        assert "(undetermined)" in ran.err


class TestOptions:
    def test_summary_is_on_standard_error_only(self, spec: Path) -> None:
        plain = interlock("decide", spec, stdin=MIXED)
        counted = interlock("decide", spec, "--summary", stdin=MIXED)
        assert (plain.code, plain.out) == (counted.code, counted.out)
        words = counted.err.split()
        for name, count in (("big", "2"), ("normal", "2"), ("(error)", "1")):
            assert count == words[words.index(name) + 2]
        assert ["5", "records"] == words[:2]

    def test_summary_shows_names_as_they_are(self, tmp_path: Path) -> None:
        spec = tmp_path / "odd.json"
        arm = {"name": "[red]x[/red]", "when": [{"op": "exists"}]}
        spec.write_text(json.dumps({"tool": "Branch", "arms": [arm]}), encoding="utf-8")
        assert "[red]x[/red]" in interlock("decide", spec, "--summary", stdin=BIG).err

    def test_explain_says_how_arms_fared(self, spec: Path) -> None:
        ran = interlock("decide", spec, "--explain", stdin=SMALL + b"\n" + BIG)
        small, big = (row["evaluated"] for row in ran.rows)
        assert [(1, False, 1), (1, True, 0)] == [
            (len(arms), arms[0]["ok"], arms[0]["failed"]) for arms in (small, big)
        ]
        assert "total: 1 is not greater than 1000" == small[0]["reason"]

    def test_output_goes_to_the_file_alone(self, spec: Path, tmp_path: Path) -> None:
        out = tmp_path / "decisions.jsonl"
        ran = interlock("decide", spec, "--output", out, stdin=MIXED)
        assert (1, b"") == (ran.code, ran.out)
        assert interlock("decide", spec, stdin=MIXED).out == out.read_bytes()
        assert {spec, out} == set(tmp_path.iterdir())

    def test_output_may_be_the_records(self, spec: Path, tmp_path: Path) -> None:
        records = tmp_path / "records.jsonl"
        records.write_bytes(BIG)
        assert 0 == interlock("decide", spec, records, "--output", records).code
        assert BIG_LINE == json.loads(records.read_bytes())

    def test_a_strict_stop_leaves_the_old_file(self, spec: Path, tmp_path: Path) -> None:
        out = tmp_path / "decisions.jsonl"
        out.write_bytes(b"old\n")
        assert 1 == interlock("decide", spec, "--strict", "--output", out, stdin=MIXED).code
        assert b"old\n" == out.read_bytes()


class TestSequences:
    def test_each_record_is_planned_from_the_start(self, tmp_path: Path) -> None:
        spec = tmp_path / "plan.json"
        steps = [
            {"id": "a", "when": [{"path": "go", "op": "equals", "expected": True}]},
            {"id": "b", "after": "2000-01-01T00:00:00Z"},
            {"id": "c", "after": 8_640_000_000_000_000},
        ]
        spec.write_text(json.dumps({"tool": "SequenceRun", "steps": steps}), "utf-8")
        ran = interlock("decide", spec, "--summary", stdin=b'{"go": true}\n{"go": false}\n')
        assert 0 == ran.code
        assert [["a", "b"], ["b"]] == [[step["id"] for step in row["ready"]] for row in ran.rows]
        assert ran.rows[0]["waiting"] == ran.rows[1]["waiting"]
        assert "ready" in ran.err
