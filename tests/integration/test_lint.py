"""`interlock lint`: every fault of every file, each with its place."""

import cProfile
import re
from pathlib import Path

import pytest

from interlock.cli import _lint

from .command import BRANCH, interlock

Fault = tuple[str, str, str]
"""Line and column, field, code."""

LINE = re.compile(r"(?P<file>[^:]+):(?P<at>\d+:\d+): (?P<field>\S+): .*\[(?P<code>[a-z/-]+)\]")

TABLE = """\
tool: DecisionTable
policy: frist
rows:
  - id: one
    when:
      - { path: a.b, op: greaterThen, expected: 1 }
      - path: "a["
        op: equals
        expected: 1
      - path: x
        op: matches
        expected: "("
        flag: i
  - id: one
    whn: []
  - id: three
    when: []
    outputs: 3
    priority: high
extra: 1
"""

TABLE_FAULTS = {
    ("2:9", "policy", "spec/unknown-choice"),
    ("4:5", "rows[0].outputs", "spec/missing-field"),
    ("6:26", "rows[0].when[0].op", "spec/unknown-op"),
    ("7:15", "rows[0].when[1].path", "check/path-malformed"),
    ("12:19", "rows[0].when[2].expected", "pattern/invalid"),
    ("13:15", "rows[0].when[2].flag", "spec/unknown-field"),
    ("14:9", "rows[1].id", "spec/duplicate-name"),
    ("14:5", "rows[1].when", "spec/missing-field"),
    ("14:5", "rows[1].outputs", "spec/missing-field"),
    ("15:10", "rows[1].whn", "spec/unknown-field"),
    ("17:11", "rows[2].when", "spec/empty-list"),
    ("19:15", "rows[2].priority", "spec/wrong-type"),
    ("20:8", "extra", "spec/unknown-field"),
}

ASSERT = """\
{"tool": "Assert",
 "checks": [
   {"op": "hasFormat", "expected": "emial"},
   {"op": "isType", "expected": ["strng"]},
   {"op": "greaterThan", "expected": "5"},
   {"op": "matches", "expected": "(a+)\\\\1"}
 ]}
"""

ASSERT_FAULTS = {
    ("3:36", "checks[0].expected", "check/unknown-format"),
    ("4:33", "checks[1].expected", "check/unknown-type"),
    ("5:38", "checks[2].expected", "check/operand"),
    ("6:34", "checks[3].expected", "pattern/unsupported"),
}

WARNED = "tool: Assert\nchecks:\n  - op: exists\n    path: a\n    expected: 1\n"

NEAREST = {
    "Branch": BRANCH.replace("Branch", "Brnch"),
    "arms": BRANCH.replace("arms", "amrs"),
    "otherwise": BRANCH.replace("otherwise", "otherwize"),
    "when": BRANCH.replace("when", "whn"),
    "expected": BRANCH.replace("expected", "expcted"),
    "greaterThan": BRANCH.replace("greaterThan", "greaterthan"),
    "path": BRANCH.replace("path", "pth"),
    "email": BRANCH.replace("greaterThan, expected: 1000", "hasFormat, expected: emial"),
    "string": BRANCH.replace("greaterThan, expected: 1000", "isType, expected: strng"),
    "name": BRANCH.replace("{ name: normal", "{ naem: normal"),
}


def write(folder: Path, **files: str) -> list[Path]:
    """Write files whose names are their letters, a `_` for the dot."""
    paths = [folder / name.replace("_", ".") for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_bytes(text.encode())
    return paths


def faults_in(lines: list[str], file: Path) -> list[Fault]:
    """Read what is said of one file."""
    matches = [LINE.fullmatch(line) for line in lines]
    assert None not in matches, lines
    found = [match for match in matches if match and match["file"] == str(file)]
    return [(match["at"], match["field"], match["code"]) for match in found]


class TestFaults:
    def test_of_a_table(self, tmp_path: Path) -> None:
        (table,) = write(tmp_path, table_yaml=TABLE)
        ran = interlock("lint", table)
        found = faults_in(ran.lines, table)
        assert (1, "", TABLE_FAULTS) == (ran.code, ran.err, set(found))
        assert len(TABLE_FAULTS) == len(found)

    def test_of_several_files(self, tmp_path: Path) -> None:
        files = write(tmp_path, a_json=ASSERT, b_yaml=BRANCH, c_yaml=WARNED)
        ran = interlock("lint", *files)
        assert 1 == ran.code
        found = [set(faults_in(ran.lines, file)) for file in files]
        assert [ASSERT_FAULTS, set(), {("5:15", "checks[0].expected", "lint/unused")}] == found

    def test_a_file_that_is_not_there_stops_nothing(self, tmp_path: Path) -> None:
        (spec,) = write(tmp_path, spec_json=ASSERT)
        missing = tmp_path / "none.yaml"
        first, *others = interlock("lint", missing, spec).lines
        assert first.startswith(f"{missing}: file: cannot be read: ")
        assert ASSERT_FAULTS == set(faults_in(others, spec))

    def test_checks_behind_an_unreadable_one_keep_their_position(self, tmp_path: Path) -> None:
        text = "tool: Assert\nchecks:\n  - op: nope\n  - 3\n  - { op: matches, expected: '(' }\n"
        (spec,) = write(tmp_path, spec_yaml=text)
        assert {
            ("3:9", "checks[0].op", "spec/unknown-op"),
            ("4:5", "checks[1]", "spec/wrong-type"),
            ("5:30", "checks[2].expected", "pattern/invalid"),
        } == set(faults_in(interlock("lint", spec).lines, spec))

    @pytest.mark.parametrize("nearest", NEAREST)
    def test_the_nearest_name_is_offered(self, nearest: str, tmp_path: Path) -> None:
        (spec,) = write(tmp_path, spec_yaml=NEAREST[nearest])
        ran = interlock("lint", spec)
        assert 1 == ran.code
        assert f'did you mean "{nearest}"?' in ran.out.decode()

    @pytest.mark.parametrize(
        ("column", "text"),
        [
            ("3:44", "tool: Branch\r\narms:\r\n  - {name: a, when: [{op: exists}], resul: 1}\r\n"),
            ("3:44", "\ufefftool: Branch\narms:\n  - {name: a, when: [{op: exists}], resul: 1}\n"),
            ("3:46", 'tool: Branch\narms:\n  - {name: "😀", when: [{op: exists}], resul: 1}\n'),
        ],
        ids=["crlf", "bom", "astral"],
    )
    def test_columns_are_characters(self, column: str, text: str, tmp_path: Path) -> None:
        (spec,) = write(tmp_path, spec_yaml=text)
        found = faults_in(interlock("lint", spec).lines, spec)
        assert [(column, "arms[0].resul", "spec/unknown-field")] == found

    def test_the_order_is_that_of_the_file(self, tmp_path: Path) -> None:
        text = "tool: Assert\nchecks:\n  - {op: matches, expected: '('}\n  - {op: nope}\n"
        (spec,) = write(tmp_path, spec_yaml=f"{text}  - {{op: matches, expected: ')'}}\n")
        found = [line.removeprefix(f"{spec}:")[:2] for line in interlock("lint", spec).lines]
        assert ["3:", "4:", "5:"] == found

    def test_a_key_with_a_dot_has_a_place(self, tmp_path: Path) -> None:
        (spec,) = write(tmp_path, spec_yaml=f"odd.key: 1\n{BRANCH}")
        assert interlock("lint", spec).lines[0].startswith(f"{spec}:1:10: ")

    def test_work_does_not_multiply_with_the_faults(self, tmp_path: Path) -> None:
        def calls(op: str) -> int:
            row = "  - id: r{}\n    when: [{{op: {}}}, {{op: exists}}]\n    outputs: 1\n"
            rows = "".join(row.format(n, "nope" if n == 0 else op) for n in range(8))
            (spec,) = write(tmp_path, s_yaml=f"tool: DecisionTable\npolicy: first\nrows:\n{rows}")
            with cProfile.Profile() as profile:
                _lint.compiled(str(spec))
            return sum(entry.callcount for entry in profile.getstats())

        calls("exists")  # what is loaded on first use is loaded now
        assert calls("nope") < 3 * calls("exists")


class TestAnswers:
    def test_no_fault(self, tmp_path: Path) -> None:
        assert (0, b"", "") == interlock("lint", *write(tmp_path, spec_yaml=BRANCH))

    def test_a_warning_is_no_fault(self, tmp_path: Path) -> None:
        (spec,) = write(tmp_path, spec_yaml=WARNED)
        ran = interlock("lint", spec)
        assert [("5:15", "checks[0].expected", "lint/unused")] == faults_in(ran.lines, spec)
        assert (0, "") == (ran.code, ran.err)

    def test_usage(self, tmp_path: Path) -> None:
        for arguments in (["lint"], ["lint", "--json"], ["lint", tmp_path], ["lint", "--nope"]):
            ran = interlock(*arguments)
            assert (2, b"") == (ran.code, ran.out)

    def test_as_json(self, tmp_path: Path) -> None:
        files = write(tmp_path, a_json=ASSERT, b_yaml=WARNED)
        shown, ran = interlock("lint", *files), interlock("lint", "--json", *files)
        keys = {"file", "line", "column", "severity", "code", "field", "value", "message"}
        assert {frozenset(keys)} == {frozenset(row) for row in ran.rows}
        again = [
            "{file}:{line}:{column}: {field}: {value}: {message} [{code}]".format(**row)
            for row in ran.rows
        ]
        assert (shown.code, shown.lines) == (ran.code, again)
        assert ["error"] * 4 + ["warning"] == [row["severity"] for row in ran.rows]

    def test_as_json_of_files_without_places(self, tmp_path: Path) -> None:
        files = write(tmp_path, empty_yaml="", none_json="[]")
        ran = interlock("lint", "--json", *files, tmp_path / "none.yaml")
        assert (1, 3) == (ran.code, len(ran.rows))
        assert {None} == {row["value"] for row in ran.rows}

    def test_any_file_name_will_do(self, tmp_path: Path) -> None:
        text = BRANCH.replace("1000", "!!binary aGVsbG8=")
        write(tmp_path, spec=text)
        (row,) = interlock("lint", "--json", "spec", cwd=tmp_path).rows
        assert ("spec", "spec/not-json") == (row["file"], row["code"])
