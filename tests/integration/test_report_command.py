"""`interlock report`: a record, shown in each form; faults named by file and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlock import Chain, Reply, Stage, Usage
from interlock.testing import scripted

from .command import interlock


@pytest.fixture
def result() -> Any:
    made = Chain(
        [
            ("read", scripted(Reply("some <b> text", usage=Usage(12, 3)))),
            Stage("check", scripted("secret"), lambda _reply: (False, "no | good")),
        ]
    )
    return made.sync({"q": "question"})


def test_markdown_without_an_option(result: Any, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(result.rollout.to_json())
    ran = interlock("report", "run.json", cwd=tmp_path)

    assert (ran.code, ran.err) == (0, "")
    assert "# `chain` is `failed`" in ran.out.decode()
    assert "- `gate_check`: `no \\| good`" in ran.out.decode()


@pytest.mark.parametrize("form", ["json", "lines", "result", "spread", "bom"])
def test_what_is_read(result: Any, form: str) -> None:
    rollout = result.rollout
    texts = {
        "json": rollout.to_json(),
        "lines": rollout.to_json_lines(),
        "result": result.to_json(),
        "spread": json.dumps(rollout.to_dict(), indent=2),
        "bom": "\ufeff" + rollout.to_json_lines().replace("\n", "\r\n"),
    }
    ran = interlock("report", "-", "--json", stdin=texts[form].encode())

    assert ran.code == 0, ran.err
    assert [step["path"] for step in ran.rows[0]["steps"]] == ["read", "check", "gate_check"]


def test_forms_and_files(result: Any, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(result.rollout.to_json())
    page = interlock("report", "run.json", "--html", "run.html", cwd=tmp_path)
    chart = interlock("report", "run.json", "--mermaid", "--output", "run.mmd", cwd=tmp_path)

    assert (page.code, page.out, chart.code, chart.out) == (0, b"", 0, b"")
    assert (tmp_path / "run.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert (tmp_path / "run.mmd").read_text().startswith("flowchart TD")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.html", "run.json", "run.mmd"]


def test_without_content(result: Any, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(result.rollout.to_json())
    for form in ("--markdown", "--mermaid", "--json"):
        ran = interlock("report", "run.json", form, "--no-content", cwd=tmp_path)
        assert "gate_check" in ran.out.decode()
        assert not any(word in ran.out.decode() for word in ("secret", "question", "good", "text"))
    interlock("report", "run.json", "--html", "x.html", "--no-content", cwd=tmp_path)
    page = (tmp_path / "x.html").read_text("utf-8").partition("</style>")[2]

    assert not any(word in page for word in ("secret", "question", "no | good", "some"))


HEAD = (
    '{"schema":"interlock.rollout/1","run_id":"r","workflow":"w","status":"done","stopped_by":"x"}'
)
STEP = '{"path":"a","name":"a","kind":"tool","status":"completed"}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "standard input: there is no record in it"),
        ("  \n\n", "there is no record in it"),
        ("{oops}", "standard input: "),
        ('{"a": 1}', "unknown field"),
        ("[]", "must be a mapping"),
        (f"{HEAD}\n{STEP}\n" + '{"path": 1}\n', "standard input:3: "),
        (f"{HEAD}\n\n{STEP[:-2]}\n", "standard input:3: "),
        (f"{HEAD}\n{HEAD}\n", "standard input:2: another run begins here"),
        (HEAD.replace("rollout/1", "rollout/9"), "this version reads interlock.rollout/1"),
        (HEAD[:-1] + ',"steps":[{"kind":"dance"}]}', "steps[0].kind"),
        ('{"rollout": 5}', "must be a mapping"),
        ("[" * 10_000, "standard input: "),
    ],
)
def test_what_is_no_record(text: str, said: str) -> None:
    ran = interlock("report", "-", stdin=text.encode())

    assert (ran.code, ran.out) == (1, b"")
    assert said in ran.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["report"],
        ["report", "x", "--html", "y", "--json"],
        ["report", "x", "--html", "y", "--output", "z"],
        ["report", "x", "--pdf"],
    ],
)
def test_usage(arguments: list[str]) -> None:
    assert interlock(*arguments).code == 2


def test_a_file_that_is_not_there_and_one_that_stays(result: Any, tmp_path: Path) -> None:
    (tmp_path / "old.md").write_text("old")
    gone = interlock("report", "gone.json", "--output", "old.md", cwd=tmp_path)
    bad = interlock("report", "-", "--output", "old.md", stdin=b"{}", cwd=tmp_path)
    del result

    assert (gone.code, bad.code) == (1, 1)
    assert "gone.json" in gone.err
    assert (tmp_path / "old.md").read_text() == "old"
