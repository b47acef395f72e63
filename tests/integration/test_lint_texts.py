"""What `interlock lint` says of texts that are no spec, and what YAML's traps become."""

import json
from pathlib import Path

import pytest

from .command import Row, interlock

HEAD = "tool: Branch\narms:\n  - name: a\n    when: [{op: equals, expected: 1}]\n"

YAML_TRAPS: dict[str, tuple[str, str, str]] = {
    # what it is: place, code, text
    "repeated key": ("5:5", "spec/repeated-key", f"{HEAD}    name: b\n"),
    "repeated key of the spec": ("2:1", "spec/repeated-key", "tool: Branch\ntool: Branch\n"),
    "repeated key in flow": ("1:16", "spec/repeated-key", "{tool: Branch, tool: Branch}"),
    "alias": ("4:5", "spec/unreadable", "tool: Branch\narms:\n  - &x {name: a}\n  - *x\n"),
    "merged alias": ("5:9", "spec/unreadable", f"{HEAD}    <<: *x\n"),
    "tab": ("3:1", "spec/unreadable", "tool: Branch\narms:\n\t- name: a\n"),
    "python object": ("2:7", "spec/unreadable", "tool: Branch\narms: !!python/name:os.system\n"),
    "own tag": ("1:7", "spec/unreadable", "tool: !mine Branch\n"),
    "two documents": ("2:1", "spec/unreadable", "tool: Branch\n---\ntool: Branch\n"),
    "open bracket": ("3:1", "spec/unreadable", "tool: Branch\narms: [\n"),
    "bad indentation": ("4:4", "spec/unreadable", "tool: Branch\narms:\n - a\n  b: 1\n"),
    "nul": ("1:13", "spec/unreadable", "tool: Branch\0\n"),
    "not utf-8": ("2:7", "spec/unreadable", "tool: Branch\narms: \udcff\n"),
    "binary": ("5:13", "spec/not-json", f"{HEAD}    result: !!binary aGVsbG8=\n"),
    "set": ("5:13", "spec/not-json", f"{HEAD}    result: !!set {{a, b}}\n"),
    "whole number as key": ("5:13", "spec/not-json", f"{HEAD}    result: {{1: x}}\n"),
    "list as key": ("5:13", "spec/not-json", f"{HEAD}    result: {{[1]: x}}\n"),
    "infinity": ("5:13", "spec/not-json", f"{HEAD}    result: .inf\n"),
    "no number": ("5:13", "spec/not-json", f"{HEAD}    result: .nan\n"),
    "no float": ("5:13", "spec/unreadable", f"{HEAD}    result: !!float x\n"),
    "no boolean": ("5:13", "spec/unreadable", f"{HEAD}    result: !!bool x\n"),
}

JSON_TRAPS: dict[str, tuple[str, str, str]] = {
    "syntax": ("2:10", "json/syntax", '{"tool": "Branch",\n "arms": ,}'),
    "early end": ("1:18", "json/syntax", '{"tool": "Branch"'),
    "empty": ("1:1", "json/syntax", ""),
    "repeated key": ("2:2", "spec/repeated-key", '{"tool": "Branch",\n "tool": "Branch"}'),
    "comment": ("2:1", "json/syntax", '{"tool": "Branch",\n// no\n"arms": []}'),
    "nan": ("1:10", "json/syntax", '{"tool": NaN}'),
}

WITHOUT_PLACE = {
    "empty": "",
    "comment alone": "# nothing\n",
    "list at the top": "- tool: Branch\n",
    "text at the top": "Branch\n",
    "null": "~\n",
}

HALF = "\\ud800"


def said_of(path: Path, text: str) -> Row:
    """Give the one problem of a text; a `\\udcff` in it is a byte that is no UTF-8."""
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    ran = interlock("lint", "--json", path)
    (row,) = ran.rows
    assert (1, "", str(path)) == (ran.code, ran.err, row["file"])
    return row


def place_of(row: Row) -> str:
    return f"{row['line']}:{row['column']}"


@pytest.mark.parametrize("trap", YAML_TRAPS)
def test_yaml(trap: str, tmp_path: Path) -> None:
    place, code, text = YAML_TRAPS[trap]
    row = said_of(tmp_path / "spec.yaml", text)
    assert (place, code) == (place_of(row), row["code"])
    assert "\n" not in row["message"]


@pytest.mark.parametrize("trap", JSON_TRAPS)
def test_json(trap: str, tmp_path: Path) -> None:
    place, code, text = JSON_TRAPS[trap]
    row = said_of(tmp_path / "spec.json", text)
    assert (place, code) == (place_of(row), row["code"])


@pytest.mark.parametrize("trap", WITHOUT_PLACE)
def test_what_is_no_mapping(trap: str, tmp_path: Path) -> None:
    row = said_of(tmp_path / "spec.yaml", WITHOUT_PLACE[trap])
    assert ("spec/wrong-type", "file") == (row["code"], row["field"])
    assert "tool" in row["message"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("flow.yaml", "tool: Branch\narms: " + "[" * 5000 + "]" * 5000),
        ("block.yaml", "tool: Branch\narms:\n" + "- " * 5000 + "a\n"),
        ("keys.yaml", "".join("  " * level + "a:\n" for level in range(5000))),
        ("spec.json", '{"tool": "Branch", "arms": ' + "[" * 5000 + "]" * 5000 + "}"),
    ],
    ids=["flow", "block", "keys", "json"],
)
def test_five_thousand_levels(name: str, text: str, tmp_path: Path) -> None:
    assert "spec/over-limit" == said_of(tmp_path / name, text)["code"]


def test_nesting_over_the_limit_names_the_limit(tmp_path: Path) -> None:
    nested = "[" * 600 + "]" * 600
    in_yaml = said_of(tmp_path / "spec.yaml", f"tool: Branch\narms: {nested}\n")
    in_json = said_of(tmp_path / "spec.json", f'{{"tool": "Branch", "arms": {nested}}}')
    assert ["spec/over-limit"] * 2 == [in_yaml["code"], in_json["code"]]
    assert "nested too deep" in in_yaml["message"]
    assert "limit of 200" in in_json["message"]


@pytest.mark.parametrize(
    ("kept", "written"),
    [
        ("no", "no"),
        ("on", "on"),
        ("2024-01-01", "2024-01-01"),
        ("2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"),
        ("12:30:45", "12:30:45"),
        (True, "true"),
        (None, "~"),
        (10, "010"),
        (8, "0o10"),
        (31, "0x1F"),
        (1000.0, "1e3"),
        ("1", '"1"'),
        ("a", "&anchor a"),
        (12345678901234567890, "12345678901234567890"),
    ],
)
def test_yaml_scalars(kept: object, written: str, tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(f"{HEAD}    result: {written}\n", encoding="utf-8")
    (row,) = interlock("decide", spec, stdin=b"1").rows
    assert (type(kept), kept) == (type(row["result"]), row["result"])


@pytest.mark.parametrize(
    ("field", "spec"),
    [
        ("tool", {"tool": "H"}),
        ("policy", {"tool": "DecisionTable", "policy": "H", "rows": []}),
        ("arms[0].when[0].op", {"tool": "Branch", "arms": [{"name": "a", "when": [{"op": "H"}]}]}),
        (f'["{HALF}"]', {"tool": "Assert", "checks": [{"op": "exists"}], "H": 1}),
    ],
    ids=["tool", "policy", "op", "field"],
)
def test_half_a_surrogate_pair(field: str, spec: Row, tmp_path: Path) -> None:
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(spec).replace("H", HALF), encoding="utf-8")
    ran = interlock("lint", "--json", path)
    assert 1 == ran.code
    assert field in {row["field"] for row in ran.rows}
