"""What a run is given: everything that is wrong with it, at once, and no secret shown."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.supervise import (
    PolicyInput,
    ProposedCall,
    card,
    check_inputs,
    derive_policy,
    propose,
    start_run,
)

from .documents import changed

Codes = list[tuple[str, str | None]]

DECLARED: Any = {
    "host": {"checks": [{"op": "hasFormat", "expected": "hostname"}]},
    "count": {"type": "integer", "default": 3},
    "ratio": {"type": "number", "required": False},
    "tags": {"type": "array", "default": ["a"]},
    "token": {"secret": True, "checks": [{"op": "minLength", "expected": 8}]},
}
INPUTS = derive_policy(
    changed(("inputs", {**DECLARED, "env": {"required": False}})), strict=False
).inputs

CASES: list[tuple[dict[str, Any], Codes]] = [
    ({"host": "a.b", "token": "12345678"}, []),
    ({}, [("input/missing", "host"), ("input/missing", "token")]),
    ({"host": 3, "token": "12345678"}, [("input/type", "host")]),
    ({"host": "-", "token": "short"}, [("input/check", "host"), ("input/check", "token")]),
    ({"host": "a", "token": "12345678", "hots": 1}, [("input/unknown", "hots")]),
    ({"host": "a", "token": "12345678", "count": True}, [("input/type", "count")]),
    ({"host": "a", "token": "12345678", "count": 3.0}, []),
    ({"host": "a", "token": "12345678", "count": 3.5}, [("input/type", "count")]),
    ({"host": "a", "token": "12345678", "ratio": float("nan")}, [("input/type", "ratio")]),
    ({"host": "a", "token": "12345678", "tags": {1, 2}}, [("input/type", "tags")]),
    ({"host": None, "token": object(), "x": 1, "count": "3"},
     [("input/type", "host"), ("input/type", "token"), ("input/unknown", "x"),
      ("input/type", "count")]),
]  # fmt: skip


@pytest.mark.parametrize(("given", "refused"), CASES)
def test_all_refusals_at_once(given: dict[str, Any], refused: Codes) -> None:
    found = check_inputs(INPUTS, given)

    assert refused == [(one.code, one.field) for one in found.refusals]
    assert all(str(one.field) in one.message for one in found.refusals)


def test_defaults_are_filled_in_and_each_run_has_its_own() -> None:
    first = check_inputs(INPUTS, {"host": "a", "token": "12345678"}).values
    assert {"host": "a", "token": "12345678", "count": 3, "tags": ["a"]} == first

    tags: Any = first["tags"]
    tags.append("b")
    assert ["a"] == check_inputs(INPUTS, {"host": "a", "token": "12345678"}).values["tags"]


def test_what_was_given_is_copied() -> None:
    given = {"host": "a", "token": "12345678", "tags": ["x"]}
    values = check_inputs(INPUTS, given).values
    assert given["tags"] == values["tags"]
    assert given["tags"] is not values["tags"]


@pytest.mark.parametrize("value", ["hunter2", 1234567, ["hunter2"]])
def test_a_secret_is_never_shown(value: object) -> None:
    (refused,) = check_inputs(INPUTS, {"host": "a", "token": value}).refusals

    assert "hunter2" not in refused.message
    assert "1234567" not in refused.message


def test_the_nearest_name_is_offered() -> None:
    (refused,) = check_inputs({"mount": PolicyInput()}, {"mout": "/", "mount": "/"}).refusals

    assert 'did you mean "mount"' in refused.message


def test_no_inputs_at_all() -> None:
    assert ({}, ()) == check_inputs({})


def test_a_text_shows_the_inputs_and_no_secret() -> None:
    shown = {"path": "used", "op": "equals", "expected": 1}
    text = "On {inputs.mount}, {inputs.size} left; {inputs.token} {inputs.none} {mount} {inputs.}."
    policy = derive_policy(
        {
            "runbook": "1",
            "id": "shown",
            "inputs": {
                "mount": {},
                "size": {"type": "integer"},
                "token": {"secret": True},
                "none": {"required": False},
            },
            "tools": [{"id": "cli:rm", "effect": "write"}],
            "steps": [
                {
                    "id": "a",
                    "title": "{inputs.mount}",
                    "do": text,
                    "tools": ["cli:rm"],
                    "verify": {"checks": [shown]},
                    "gate": {"approvers": ["ann"], "question": f"May it? {text}"},
                    "next": "end",
                }
            ],
            "terminals": [{"id": "end"}],
        }
    )
    given = {"mount": "/{inputs.token}", "size": 3, "token": "hunter2"}
    state = start_run(policy, agent_identity="agent", inputs=given).unwrap()
    said = "On /{inputs.token}, 3 left; {inputs.token} {inputs.none} {mount} {inputs.}."
    told = card(policy, state)
    assert (told.title, told.do) == ("/{inputs.token}", said)
    asked = propose(policy, state, ProposedCall("cli:rm"))
    assert asked.question is not None
    assert asked.question.text == f"May it? {said}"
