"""`interlock runbook`: lint, show, schema."""

import json
from pathlib import Path

import pytest

from interlock.supervise import derive_policy, runbook_schema

from .command import interlock

EXAMPLES = Path(__file__).parents[2] / "examples" / "runbooks"
FLAKY = EXAMPLES / "flaky-check.yaml"

BROKEN = """\
runbook: "1"
id: broken
duration: <5m
steps:
  - id: one
    next: tow
    on_failure: two
terminals:
  - { id: two }
"""


def test_the_examples_are_without_faults() -> None:
    paths = sorted(EXAMPLES.glob("*.yaml"))
    ran = interlock("runbook", "lint", *paths)

    assert (0, "") == (ran.code, ran.err)
    assert [
        f"{path}: every run ends within {derive_policy(path).max_moves} moves" for path in paths
    ] == ran.lines


def test_a_fault_has_its_place_and_ends_with_one(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text(BROKEN)
    ran = interlock("runbook", "lint", "broken.yaml", FLAKY, cwd=tmp_path)

    assert 1 == ran.code
    assert ran.lines[0].startswith("broken.yaml:6:11: steps[0].next: ")
    assert ran.lines[0].endswith('did you mean "two"? [runbook/unknown-target]')
    assert [str(FLAKY)] == [line.split(": ")[0] for line in ran.lines[1:]]


def test_faults_as_data(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text(BROKEN)
    ran = interlock("runbook", "lint", "--json", "broken.yaml", FLAKY, cwd=tmp_path)

    (row,) = ran.rows
    assert ("broken.yaml", 6, 11, "error", "runbook/unknown-target") == tuple(
        row[name] for name in ("file", "line", "column", "severity", "code")
    )


def test_warnings_alone_are_fine(tmp_path: Path) -> None:
    text = BROKEN.replace("tow", "two").replace("duration: <5m\n", "")
    (tmp_path / "warned.yaml").write_text(text)
    ran = interlock("runbook", "lint", "warned.yaml", cwd=tmp_path)

    assert (0, 2) == (ran.code, len(ran.lines))
    assert "lint/no-duration" in ran.lines[0]


@pytest.mark.parametrize("command", ["lint", "show"])
def test_a_file_that_is_not_there(command: str, tmp_path: Path) -> None:
    ran = interlock("runbook", command, tmp_path / "none.yaml")

    assert 1 == ran.code
    assert "none.yaml" in ran.err + ran.out.decode()


def test_show_as_data_is_the_policy() -> None:
    ran = interlock("runbook", "show", "--json", FLAKY)
    policy = derive_policy(FLAKY)

    (row,) = ran.rows
    assert (0, policy.digest, policy.max_moves) == (ran.code, row["digest"], row["max_moves"])
    assert {"s2->s1": 3} == row["budgets"]


def test_a_title_cannot_steer_the_terminal(tmp_path: Path) -> None:
    text = BROKEN.replace("tow", "two").replace("id: one", 'id: one\n    title: "a\\e[2J\\u202eb"')
    (tmp_path / "loud.yaml").write_text(text)
    for command in ("show", "lint", "explore"):
        ran = interlock("runbook", command, "loud.yaml", cwd=tmp_path)
        assert not {"\x1b", "\u202e"} & set(ran.out.decode() + ran.err)
    assert "U+001B" in interlock("runbook", "show", "loud.yaml", cwd=tmp_path).out.decode()


def test_show_of_a_broken_one_tells_why(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text(BROKEN)
    ran = interlock("runbook", "show", "broken.yaml", cwd=tmp_path)

    assert (1, b"") == (ran.code, ran.out)
    assert "6:11: steps[0].next" in ran.err


def test_called_runbooks_are_given(tmp_path: Path) -> None:
    digest = derive_policy(FLAKY).digest
    (tmp_path / "outer.yaml").write_text(
        'runbook: "1"\nid: outer\nduration: <5m\nterminals: [{ id: end }]\n'
        f"steps:\n  - id: inner\n    kind: call\n    otherwise: end\n"
        f"    calls: {{ id: flaky-check, digest: {digest} }}\n"
        "inputs:\n"
        "  repository: { type: string, checks: [{ op: matches, "
        "expected: '^[\\w.-]+/[\\w.-]+$' }] }\n"
        "  run: { type: integer }\n"
    )
    without = interlock("runbook", "lint", "outer.yaml", cwd=tmp_path)
    ran = interlock("runbook", "lint", "outer.yaml", "--with", FLAKY, cwd=tmp_path)

    assert (1, 0) == (without.code, ran.code)
    assert ["outer.yaml: every run ends within 10 moves"] == ran.lines


def test_the_schema() -> None:
    ran = interlock("runbook", "schema")

    assert runbook_schema() == json.loads(ran.out)


def test_wrong_usage() -> None:
    assert 2 == interlock("runbook", "lint").code
    assert 2 == interlock("runbook", "nothing").code
