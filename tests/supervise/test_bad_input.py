"""Documents that nobody should write: a clear error with its line, never a crash or a hang."""

from __future__ import annotations

import copy
import json
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock import ConfigError
from interlock.supervise import (
    PolicyMismatch,
    RunbookInvalid,
    StaleState,
    StateVersion,
    derive_policy,
    document_profile,
    lint,
    runbook_schema,
)

from .documents import ALL_EXAMPLES, SOUND, changed

TEXT = """\
runbook: "1"
id: broken
steps:
  - id: one
    kind: acton
    next: two
  - id: two
    nxt: done
    verify: { checks: [{ path: ok, op: equlas }] }
terminals:
  - { id: done }
"""

FAULTY = TEXT.replace("acton", "action")

FAULTY_LINES = {
    "7:5": ("steps[1].next", "runbook/no-exit", ""),
    "8:10": ("steps[1].nxt", "spec/unknown-field", "next"),
    "9:40": ("steps[1].verify.checks[0].op", "spec/unknown-op", "equals"),
}
LINES = {"5:11": ("steps[0].kind", "spec/unknown-choice", "action"), **FAULTY_LINES}


@pytest.mark.parametrize(("text", "lines"), [(TEXT, LINES), (FAULTY, FAULTY_LINES)])
def test_every_fault_has_its_line(text: str, lines: dict[str, tuple[str, str, str]]) -> None:
    with pytest.raises(RunbookInvalid) as raised:
        derive_policy(text)

    error = raised.value
    told = {
        f"{line}:{column}": (one.field, one.code)
        for one, (line, column) in zip(error.problems, error.places, strict=True)
    }
    assert {at: (field, code) for at, (field, code, _) in lines.items()} == told
    for at, (_, _, near) in lines.items():
        assert f"{at}: " in str(error)
        assert not near or f'did you mean "{near}"' in str(error)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own)
    assert (str(error), error.places) == (str(again), again.places)


UNREADABLE: dict[str, tuple[Any, str]] = {
    "a repeated key": ('runbook: "1"\nid: a\nid: b\n', "spec/repeated-key"),
    "a repeated key in JSON": ('{"runbook": "1",\n "id": 1, "id": 2}', "spec/repeated-key"),
    "an alias": ('runbook: "1"\nid: &a x\ntitle: *a\n', "spec/unreadable"),
    "a bomb": (
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"{b}: &{b} [{f'*{a},' * 9}]\n" for a, b in zip("abcd", "bcde", strict=True)),
        "spec/unreadable",
    ),
    "a merge key": ('runbook: "1"\nid: x\n<<: {id: y}\n', "spec/unreadable"),
    "no YAML": ("a: [\n", "spec/unreadable"),
    "a list": ("- a\n- b\n", "spec/wrong-type"),
    "prose": ("Just do\nsomething.\n", "spec/wrong-type"),
    "an object of Python": ("a: !!python/object:os.system x\nb: 1\n", "spec/unreadable"),
    "an infinity": ("duration: .inf\nid: x\n", "spec/not-json"),
    "keys that are no text": ("1: a\n2: b\n", "spec/not-json"),
    "nested too deep": ("a: " + "[" * 3_000 + "\n", "spec/over-limit"),
    "over a mebibyte": ("a: " + "x" * (1 << 20) + "\n", "spec/over-limit"),
    "half a character": ("a: \ud800\nb: 1\n", "spec/unreadable"),
    "a number": (3, "spec/wrong-type"),
    "nothing": (None, "spec/wrong-type"),
    "bytes": (b"runbook: 1\n", "spec/wrong-type"),
    "a set in it": ({"runbook": {1, 2}}, "spec/not-json"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read(name: str) -> None:
    document, code = UNREADABLE[name]

    assert [code] == [one.code for one in lint(document)]
    for strict in (True, False):
        with pytest.raises(RunbookInvalid):
            derive_policy(document, strict=strict)
    if code != "spec/over-limit":
        assert "P0" == document_profile(document)


WRONG: list[tuple[str, Any, str]] = [
    ("runbook", "2", "spec/unknown-choice"),
    ("runbook", 1, "spec/unknown-choice"),
    ("runbook", ..., "spec/missing-field"),
    ("id", ..., "spec/missing-field"),
    ("id", "a b", "spec/wrong-type"),
    ("id", "a->b", "spec/wrong-type"),
    ("id", "", "spec/wrong-type"),
    ("steps", ..., "spec/missing-field"),
    ("steps", {}, "spec/wrong-type"),
    ("steps", [3], "spec/wrong-type"),
    ("steps[0].id", None, "spec/wrong-type"),
    ("steps[0].tools", "cli:look", "spec/wrong-type"),
    ("steps[0].do", ["x"], "spec/wrong-type"),
    ("steps[0].gate", "some", "spec/wrong-type"),
    ("steps[0].gate", {"on": "maybe"}, "spec/unknown-choice"),
    ("steps[1].verify.checks", [], "spec/empty-list"),
    ("steps[5].wait.max_s", 0, "spec/wrong-type"),
    ("steps[5].wait.max_s", "60", "spec/wrong-type"),
    ("steps[5].wait.max_s", True, "spec/wrong-type"),
    ("steps[3].gate.quorum", 0, "spec/wrong-type"),
    ("steps[3].gate.quorum", 1.5, "spec/wrong-type"),
    ("inputs.env.type", "text", "spec/unknown-choice"),
    ("inputs.a b", {}, "spec/wrong-type"),
    ("tools[0].effect", "none", "spec/unknown-choice"),
    ("execution", "robot", "spec/unknown-choice"),
    ("duration", "10m", "spec/unknown-choice"),
    ("escalation", {"responses": {"undeclared-tool": "shrug"}}, "spec/unknown-choice"),
    ("escalation", {"responses": {"late-tool": "abort"}}, "spec/unknown-choice"),
    ("escalation", {"max_total": -1}, "spec/wrong-type"),
    ("errors", [], "spec/wrong-type"),
    ("errors", {"rule": []}, "spec/unknown-field"),
    ("errors", {"rules": {}}, "spec/wrong-type"),
    ("errors", {"on_escalate": "abort"}, "spec/unknown-choice"),
    ("budgets.edges", [], "spec/wrong-type"),
    ("title", "x" * 201, "spec/over-limit"),
]


@pytest.mark.parametrize(("field", "value", "code"), WRONG)
def test_a_field_of_a_wrong_type(field: str, value: Any, code: str) -> None:
    found = lint(changed((field, value)))

    assert code in [one.code for one in found]
    assert all(one.message and one.field for one in found)


@pytest.mark.parametrize(("count", "is_read"), [(500, True), (501, False)])
def test_at_most_500_steps(*, count: int, is_read: bool) -> None:
    steps = [{"id": f"s{at}", "next": f"s{at + 1}"} for at in range(count)]
    steps[-1]["next"] = "done"
    found = lint(changed(("steps", steps), ("budgets", {})))

    told = [one for one in found if one.code == "spec/over-limit"]
    assert is_read == (told == [])
    assert is_read or ("steps" == told[0].field and "500" in told[0].message)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        derive_policy(tmp_path / "none.yaml")
    with pytest.raises(FileNotFoundError):
        lint(str(tmp_path / "none.yaml"))


def test_a_document_is_left_as_it_was() -> None:
    given = changed(("steps[0].nxt", "x"))
    before = copy.deepcopy(given)
    lint(given)

    assert before == given


def test_numbers_of_any_kind_are_read() -> None:
    verify = {"checks": [{"path": "n", "op": "lessThan", "expected": Decimal("0.1")}]}

    assert derive_policy(changed(("steps[1].verify", verify))).digest


# Time never decides a test.
SOME = settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
PLACES = sorted(
    {
        "runbook", "id", "inputs", "inputs.env", "inputs.env.checks", "inputs.env.default", "tools",
        "tools[0]", "tools[0].args", "steps", "steps[0]", "steps[0].args", "steps[0].tools",
        "steps[1].verify", "steps[1].verify.checks", "steps[1].verify.checks[0]", "steps[2].cases",
        "steps[2].cases[0]", "steps[2].cases[0].when", "steps[3].gate", "steps[3].gate.approvers",
        "steps[5].wait", "steps[6].calls", "steps[0].progress", "terminals", "budgets",
        "budgets.edges", "budgets.calls", "budgets.steps", "never", "escalation", "entry", "owner",
        "errors", "errors.rules",
    }
)  # fmt: skip


@SOME
@given(st.sampled_from(PLACES), VALUES)
def test_whatever_stands_anywhere_is_told_and_never_a_crash(field: str, value: Any) -> None:
    document = changed(("errors", {"rules": []}), (field, value))
    found = lint(document)

    faults = [one for one in found if not one.is_warning]
    if faults:
        with pytest.raises(RunbookInvalid) as raised:
            derive_policy(document)
        assert faults == list(raised.value.problems)
    else:
        policy = derive_policy(document)
        assert policy.max_moves is not None
        assert 64 == len(policy.digest)


@SOME
@given(st.text(max_size=200))
def test_any_text_is_told_of(text: str) -> None:
    assert lint(text + "\n")
    assert document_profile(text + "\n") in ("P0", "P1")


@pytest.mark.parametrize("kind", [PolicyMismatch, StaleState, StateVersion])
def test_errors_pickle(kind: type[Exception]) -> None:
    again = pickle.loads(pickle.dumps(kind("why")))  # noqa: S301 (our own)
    assert (kind, "why") == (type(again), str(again))


def test_an_error_of_a_document_is_one_of_configuration() -> None:
    with pytest.raises(ConfigError):
        derive_policy({})


LONG = 20_000


@pytest.mark.parametrize(
    "text",
    [
        "`" + "a" * LONG,
        "/" + "a." * (LONG // 2),
        "/a" * (LONG // 2),
        "cli:" * (LONG // 4),
        "https://" * (LONG // 8),
        "{inputs." * (LONG // 8),
        " " * LONG,
    ],
    ids=lambda text: text[:9],
)
def test_a_text_made_to_take_long_does_not(text: str) -> None:
    given = text[:LONG]
    document = changed(*((f"steps[{at}].do", given) for at in range(len(SOUND["steps"]))))

    assert isinstance(lint(document), tuple)
    for line in (f"# a{given}b", f"1{given}x", f"# 1. {given}", f"```sh\n{given}"):
        assert document_profile(f"{line * 40}\n") in ("P0", "P1")


class TestSchema:
    def test_it_takes_what_is_sound(self) -> None:
        from jsonschema import Draft202012Validator
        from ruamel.yaml import YAML

        schema = runbook_schema()
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema)
        for document in (SOUND, *(YAML(typ="safe").load(path) for path in ALL_EXAMPLES)):
            assert [] == [error.message for error in validator.iter_errors(document)]

    @pytest.mark.parametrize(
        ("field", "value"),
        [row[:2] for row in WRONG if row[1] != 1.5]
        + [
            ("steps[0].nxt", "see"),
            ("budgets.edges.see->try", 0),
            ("tools[0].args", [{"op": "x"}]),
        ],
    )
    def test_it_refuses_what_is_refused(self, field: str, value: Any) -> None:
        from jsonschema import Draft202012Validator

        assert not Draft202012Validator(runbook_schema()).is_valid(changed((field, value)))

    def test_the_published_one_is_this_one(self) -> None:
        path = Path(__file__).parents[2] / "docs" / "runbook.schema.json"

        assert json.loads(path.read_text("utf-8")) == runbook_schema()
