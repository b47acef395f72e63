"""Lint: a case for every code, with the field it is told at; and what it must not say."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.supervise import RunbookInvalid, derive_policy, lint
from interlock.supervise._codes import CODES

from .documents import SOUND, Document, changed

BROKEN = [{"op": "equlas"}, {"path": "a[", "op": "exists"}]
MANY = [{"id": f"t{at}"} for at in range(9)]
RULE = {"id": "full", "contains": "no space", "class": "capacity", "action": "fail"}
GATE = {"approvers": ["ann"], "separate_from": "requester"}

ERRORS: list[tuple[str, str, list[tuple[str, Any]]]] = [
    ("runbook/unknown-target", "steps[0].next", [("steps[0].next", "sea")]),
    ("runbook/unknown-target", "steps[0].on_failure", [("steps[0].on_failure", "x")]),
    ("runbook/unknown-target", "steps[2].cases[1].to", [("steps[2].cases[1].to", "drp")]),
    ("runbook/unknown-target", "steps[5].on_timeout", [("steps[5].on_timeout", "x")]),
    ("runbook/unknown-target", "steps[4].rollback", [("steps[4].rollback", "x")]),
    ("runbook/unknown-target", "entry", [("entry", "tri")]),
    ("runbook/unknown-target", "entry", [("entry", "done")]),
    ("runbook/duplicate-id", "steps[7].id", [("steps[7].id", "undo")]),
    ("runbook/duplicate-id", "terminals[1].id", [("terminals[1].id", "done")]),
    ("runbook/duplicate-id", "steps[3].id", [("steps[3].id", "done")]),
    (
        "runbook/duplicate-id",
        "steps[8].id",
        [("steps[8]", {"id": "done", "kind": "end", "outcome": "other"})],
    ),
    (
        "runbook/duplicate-id",
        "steps[9].id",
        [("steps[8]", {"id": "e", "kind": "end"}), ("steps[9]", {"id": "e", "kind": "end"})],
    ),
    (
        "runbook/duplicate-id",
        "steps[8].id",
        [("steps[8]", {"id": "undo", "kind": "end"})],
    ),
    ("runbook/duplicate-id", "tools[1].id", [("tools[1].id", "cli:look")]),
    ("runbook/no-entry", "steps", [("steps", [])]),
    ("runbook/no-exit", "steps[0].next", [("steps[0].next", ...)]),
    ("runbook/no-exit", "steps[2].cases", [("steps[2].cases", [])]),
    ("runbook/no-terminal", "terminals", [("terminals", [])]),
    (
        "runbook/no-terminal",
        "steps[7]",
        [("steps[7].next", "by-hand"), ("steps[7].on_failure", "by-hand")],
    ),
    ("runbook/endless-cycle", "steps[1].on_failure", [("budgets", {})]),
    ("runbook/endless-cycle", "steps[0].on_failure", [("steps[0].on_failure", "try")]),
    ("runbook/unknown-edge", 'budgets.edges["see->tyr"]', [("budgets.edges.see->tyr", 1)]),
    ("runbook/unknown-edge", 'budgets.edges["x"]', [("budgets.edges.x", 1)]),
    ("runbook/unknown-edge", "budgets.steps.sea", [("budgets.steps", {"sea": 1})]),
    (
        "runbook/unknown-edge",
        'budgets.calls.tools["cli:x"]',
        [("budgets.calls", {"tools": {"cli:x": 1}})],
    ),
    (
        "runbook/unknown-edge",
        'budgets.calls.steps["x"]',
        [("budgets.calls", {"steps": {"x": 1}})],
    ),
    (
        "runbook/unknown-edge",
        "never[0].then.step",
        [("never", [{"after": {"tool": "cli:look"}, "then": {"step": "drp"}}])],
    ),
    *(
        ("runbook/budget", 'budgets.edges["see->try"]', [("budgets.edges.see->try", budget)])
        for budget in (0, -1, 1.5, 2.0, True, "3", None)
    ),
    ("runbook/budget", "budgets.steps.try", [("budgets.steps", {"try": 0})]),
    ("runbook/budget", "budgets.calls", [("budgets.calls", 0)]),
    ("runbook/budget", "budgets.calls.total", [("budgets.calls", {"total": -2})]),
    ("runbook/budget", "budgets.tokens", [("budgets.tokens", "many")]),
    ("runbook/capability", "tools[0].id", [("tools[0].id", "CLI:look")]),
    ("runbook/capability", "tools[0].id", [("tools[0].id", "cli:")]),
    ("runbook/capability", "tools[0].id", [("tools[0].id", "cli:rm -rf")]),
    ("runbook/capability", "tools[0].id", [("tools[0].id", "*")]),
    ("runbook/undeclared-tool", "steps[0].tools[0]", [("steps[0].tools[0]", "cli:lok")]),
    ("runbook/undeclared-tool", "steps[0].do", [("steps[0].do", "Use mcp:crm/get.")]),
    (
        "runbook/undeclared-tool",
        'steps[0].args["cli:drop"]',
        [("steps[0].args", {"cli:drop": [{"op": "exists"}]})],
    ),
    (
        "runbook/undeclared-tool",
        "never[0].after.tool",
        [("never", [{"after": {"tool": "http:x"}, "then": {"tool": "cli:drop"}}])],
    ),
    (
        "runbook/undeclared-tool",
        "never[0].then.label",
        [("never", [{"after": {"tool": "cli:look"}, "then": {"label": "x"}}])],
    ),
    ("runbook/risk-below-tools", "steps[0].risk", [("steps[0].risk", "read-only")]),
    (
        "runbook/risk-below-tools",
        "steps[0].risk",
        [("tools[0].effect", ...), ("steps[0].risk", "reversible-write")],
    ),
    ("runbook/effect-undeclared", "tools[0].effect", [("tools[0].effect", ...)]),
    ("runbook/unread-field", "steps[0].wait", [("steps[0].wait", {"max_s": 1})]),
    ("runbook/unread-field", "steps[7].tools", [("steps[7].tools", ["cli:look"])]),
    ("runbook/unread-field", "steps[2].next", [("steps[2].next", "done")]),
    ("runbook/no-verify", "steps[1].verify", [("steps[1].verify", ...)]),
    (
        "runbook/not-exhaustive",
        "steps[2].otherwise",
        [("steps[2].cases[1].when[0].expected", "tset")],
    ),
    ("runbook/not-exhaustive", "steps[2].otherwise", [("inputs.env.checks", ...)]),
    (
        "runbook/not-exhaustive",
        "steps[2].otherwise",
        [("steps[2].cases[0].when[0].op", "startsWith")],
    ),
    ("runbook/no-wait-bound", "steps[5].wait.max_s", [("steps[5].wait", {"poll_s": 3})]),
    ("runbook/no-wait-bound", "steps[5].wait.max_s", [("steps[5].wait", ...)]),
    ("runbook/no-approvers", "steps[3].gate", [("steps[3].gate", ...)]),
    (
        "runbook/no-approvers",
        "steps[3].gate",
        [("steps[3].gate", "none"), ("steps[3].reason", "trusted")],
    ),
    ("runbook/no-approvers", "steps[3].gate.approvers", [("steps[3].gate.approvers", [])]),
    ("runbook/no-approvers", "steps[3].gate.approvers", [("steps[3].gate.approvers", ...)]),
    ("runbook/no-approvers", "steps[3].gate.quorum", [("steps[3].gate.quorum", 3)]),
    (
        "runbook/no-approvers",
        "steps[3].gate.quorum",
        [("steps[3].gate.quorum", 2), ("steps[3].gate.approvers", ["ann", "ann"])],
    ),
    ("runbook/gate-reason", "steps[4].reason", [("steps[4].gate", "none")]),
    (
        "runbook/unsupervised",
        "min_runtime_profile",
        [("execution", "agent-autonomous"), ("min_runtime_profile", "R0")],
    ),
    (
        "runbook/unknown-input",
        "steps[2].cases[0].when[0].path",
        [("steps[2].cases[0].when[0].path", "inputs.evn")],
    ),
    ("runbook/unknown-input", "steps[0].do", [("steps[0].do", "On {inputs.host}.")]),
    (
        "runbook/unknown-input",
        "steps[1].verify.checks[0].path",
        [("steps[1].verify.checks[0].path", "inputs.x.y")],
    ),
    (
        "runbook/unknown-input",
        "steps[3].gate.question",
        [("steps[3].gate.question", "{inputs.who}?")],
    ),
    ("runbook/default", "inputs.env.default", [("inputs.env.default", "prod")]),
    ("runbook/default", "inputs.env.default", [("inputs.env.default", 3)]),
    *(
        ("runbook/secret", "inputs.pin.type", [("inputs.pin", {"type": kind, "secret": True})])
        for kind in ("integer", "number", "boolean", "array", "object", "null")
    ),
    (
        "runbook/default",
        "inputs.key.default",
        [("inputs.key", {"secret": True, "default": "hunter2"})],
    ),
    ("spec/unknown-op", "steps[1].verify.checks[0].op", [("steps[1].verify.checks", BROKEN)]),
    ("check/path-malformed", "tools[0].args[1].path", [("tools[0].args", BROKEN)]),
    ("spec/unknown-op", "steps[0].args[0].op", [("steps[0].args", BROKEN)]),
    ("spec/unknown-op", "steps[2].cases[0].when[0].op", [("steps[2].cases[0].when", BROKEN)]),
    ("spec/unknown-op", "inputs.env.checks[0].op", [("inputs.env.checks", BROKEN)]),
    (
        "spec/unknown-choice",
        "steps[3].gate.approvers.strategy",
        [("steps[3].gate.approvers", {"owners": [{"id": "a", "when": []}], "strategy": "x"})],
    ),
    (
        "spec/missing-field",
        "steps[7].calls",
        [("steps[7]", {"id": "by-hand", "kind": "call", "otherwise": "done"})],
    ),
    *(
        (code, f"errors.rules[0]{field}", [("errors", {"rules": [{**RULE, **part}]})])
        for code, field, part in (
            ("spec/unknown-choice", ".class", {"class": "capcity"}),
            ("spec/unknown-choice", ".action", {"action": "abort"}),
            ("spec/unknown-field", ".contain", {"contain": "x"}),
            ("spec/wrong-type", ".status", {"status": "503"}),
            ("pattern/invalid", ".matches", {"matches": "("}),
        )
    ),
    ("spec/wrong-type", "errors.rules[0]", [("errors", {"rules": [3]})]),
    (
        "spec/missing-field",
        "never[0].after",
        [("never", [{"after": {}, "then": {"class": "cli"}}])],
    ),
]

WARNINGS: list[tuple[str, str, list[tuple[str, Any]]]] = [
    ("lint/unreachable-step", "steps[7]", [("steps[5].on_timeout", ...), ("steps[6]", {
        "id": "undo", "tools": ["mcp:store/put"], "next": "done", "on_failure": "gave-up"})]),
    ("lint/unused-tool", "tools[3].id", [("tools[3]", {"id": "cli:spare", "effect": "write"})]),
    ("lint/idle-budget", 'budgets.edges["try->see"]',
     [("budgets.edges", {"try->see": 1, "see->gave-up": 1}), ("steps[1].on_failure", "gave-up")]),
    ("lint/no-failure-route", "steps[0].on_failure", [("steps[0].on_failure", ...)]),
    ("lint/no-verify", "steps[4].verify", [("steps[4].verify", ...)]),
    ("lint/no-rollback", "steps[4].rollback", [("steps[4].rollback", ...)]),
    ("lint/no-rollback", "steps[7].rollback", [("steps[7].risk", "destructive")]),
    ("lint/gate-off", "steps[4].gate", [("steps[4].gate", "none"), ("steps[4].reason", "kept")]),
    ("lint/profile-below-implied", "min_runtime_profile", [("min_runtime_profile", "R1")]),
    ("lint/out-of-scope-text", "steps[1].do", [("steps[1].do", "Then run `drop --all`.")]),
    ("lint/out-of-scope-text", "steps[1].do", [("steps[1].do", "Ask mcp:store/get for it.")]),
    ("lint/out-of-scope-text", "steps[1].do", [("steps[1].do", "See https://wiki.example.org/x.")]),
    ("lint/out-of-scope-text", "steps[5].do", [("steps[5].do", "Look into /var/log/app.log.")]),
    ("lint/secret-in-text", "steps[0].do",
     [("inputs.key", {"secret": True}), ("steps[0].do", "Sign in with {inputs.key}.")]),
    ("lint/secret-in-text", "steps[7].do",
     [("inputs.key", {"secret": True}), ("steps[7].do", "Sign in with {inputs.key}.")]),
    ("lint/own-approval", "steps[3].gate.separate_from", [("steps[3].gate.separate_from", ...)]),
    ("lint/long-expiry", "steps[3].gate.expires_s", [("steps[3].gate.expires_s", 86_401)]),
    ("lint/no-duration", "duration", [("duration", ...)]),
    ("lint/shared-outcome", "terminals[1].outcome", [("terminals[1].outcome", "dropped")]),
    ("lint/reserved-outcome", "terminals[1].outcome", [("terminals[1].outcome", "timed-out")]),
    ("lint/many-transitions", "steps[2]",
     [("terminals", [*SOUND["terminals"], *MANY]),
      ("steps[2].cases", [{"when": [{"path": "n", "op": "equals", "expected": at}], "to": f"t{at}"}
                          for at in range(8)]),
      ("steps[2].otherwise", "ask")]),
    ("lint/unused", "steps[1].verify.checks[0].expected",
     [("steps[1].verify.checks", [{"path": "ok", "op": "exists", "expected": 1}])]),
    ("lint/pattern", "steps[1].verify.checks[0].expected",
     [("steps[1].verify.checks", [{"path": "ok", "op": "matches", "expected": r"\Ax"}])]),
]  # fmt: skip

CLEAN: dict[str, list[tuple[str, Any]]] = {
    "the document itself": [],
    "an end as a step": [
        ("steps[8]", {"id": "stop", "kind": "end", "outcome": "stopped-early"}),
        ("steps[0].on_failure", "stop"),
    ],
    "a boolean is an enumeration": [
        ("inputs.env", {"type": "boolean"}),
        ("steps[2].cases[0].when[0].expected", True),
        ("steps[2].cases[1].when[0].expected", False),
    ],
    "one case for all values": [
        ("steps[2].cases", [{"when": [
            {"path": "inputs.env", "op": "oneOf", "expected": ["live", "test"]}], "to": "ask"}]),
    ],
    "a host that the step may ask": [
        ("tools[3]", {"id": "http:wiki.example.org", "effect": "readonly"}),
        ("steps[1].tools", ["cli:look", "http:wiki.example.org"]),
        ("steps[1].do", "See https://wiki.example.org/x."),
    ],
    "a path that the step may read": [("steps[1].do", "Look into /var/log/app.log.")],
    "slashes that are no paths": [("steps[5].do", "Either and/or both, 24/7, at 3/4 of it.")],
    "a person may be told everything": [("steps[7].do", "Run `drop` on https://a.example/x /srv.")],
    "a colon in prose": [("steps[1].do", "file: it. note:this, see the cli: it says so; 10:30")],
    "the shell reaches everything": [
        ("tools[3]", {"id": "shell", "effect": "readonly"}),
        ("steps[1].tools", ["shell"]),
        ("steps[1].do", "Run `drop` on https://a.example/x and /srv/x."),
    ],
    "a declared pattern covers what is named": [
        ("steps[0].tools", ["mcp:store/get", "mcp:store/*", "cli:look"])
    ],
    "null is as left out": [("steps[0].wait", None), ("entry", None), ("budgets.calls", None)],
}  # fmt: skip


def found(document: Document) -> list[tuple[str, str]]:
    return [(one.code, one.field) for one in lint(document)]


@pytest.mark.parametrize(("code", "field", "changes"), ERRORS)
def test_a_fault(code: str, field: str, changes: list[tuple[str, Any]]) -> None:
    document = changed(*changes)

    assert (code, field) in found(document)
    with pytest.raises(RunbookInvalid) as raised:
        derive_policy(document)
    assert (code, field) in [(one.code, one.field) for one in raised.value.problems]
    assert not any(one.is_warning for one in raised.value.problems)


@pytest.mark.parametrize(("code", "field", "changes"), WARNINGS)
def test_a_warning(code: str, field: str, changes: list[tuple[str, Any]]) -> None:
    document = changed(*changes)

    assert (code, field) in found(document)
    assert (code, field) in [(one.code, one.field) for one in derive_policy(document).warnings]


@pytest.mark.parametrize("name", CLEAN)
def test_nothing_is_said_of(name: str) -> None:
    assert () == lint(changed(*CLEAN[name]))


def test_every_code_has_a_case() -> None:
    elsewhere = {f"runbook/{name}" for name in ("unknown-call", "call-digest", "call-inputs")}
    elsewhere.add("runbook/faulty")
    families = ("runbook/", "lint/")
    tried = {code for code, _, _ in (*ERRORS, *WARNINGS)} | elsewhere

    assert {code for code in CODES if code.startswith(families)} <= tried


class TestCycles:
    @pytest.mark.parametrize(
        ("edges", "budgets", "cycles"),
        [
            ({"a": "b", "b": "a"}, (), ["a -> b -> a"]),
            ({"a": "a"}, (), ["a -> a"]),
            ({"a": "b", "b": "c", "c": "a"}, ("b->c",), []),
            ({"a": "b", "b": "a", "c": "d", "d": "c"}, ("a->b",), ["c -> d -> c"]),
            ({"a": "b", "b": "a", "c": "d", "d": "c"}, (), ["a -> b -> a", "c -> d -> c"]),
        ],
    )
    def test_each_knot_is_told_by_one_cycle(
        self, edges: dict[str, str], budgets: tuple[str, ...], cycles: list[str]
    ) -> None:
        steps = [{"id": one, "next": "end", "on_failure": to} for one, to in edges.items()]
        document = {
            "runbook": "1",
            "id": "x",
            "steps": steps,
            "terminals": [{"id": "end"}],
            "budgets": {"edges": dict.fromkeys(budgets, 1)},
        }
        told = [one.message for one in lint(document) if one.code == "runbook/endless-cycle"]

        assert len(cycles) == len(told)
        for cycle, message in zip(cycles, told, strict=True):
            assert f"no edge of {cycle} has a budget" in message

    def test_a_budget_of_visits_is_not_enough(self) -> None:
        document = changed(("budgets", {"steps": {"try": 2}}))

        assert "runbook/endless-cycle" in {one.code for one in lint(document)}

    def test_the_message_is_what_to_write(self) -> None:
        (fault,) = [one for one in lint(changed(("budgets", {}))) if not one.is_warning]

        assert '"see->try": 3' in fault.message
        assert () == lint(changed(("budgets", {"edges": {"see->try": 3}})))


def test_a_field_of_a_wrong_type_does_not_hide_the_rest() -> None:
    document = changed(
        ("duration", "soon"),
        ("steps[0].next", 3),
        ("steps[0].tools[1]", None),
        ("steps[1].verify.checks", BROKEN),
        ("steps[3].gate.quorum", 9),
        ("steps[4].on_failure", "nowhere"),
        ("budgets.edges.see->tyr", "many"),
    )

    assert {
        ("spec/unknown-choice", "duration"),
        ("spec/wrong-type", "steps[0].next"),
        ("spec/wrong-type", "steps[0].tools[1]"),
        ("spec/unknown-op", "steps[1].verify.checks[0].op"),
        ("check/path-malformed", "steps[1].verify.checks[1].path"),
        ("runbook/no-approvers", "steps[3].gate.quorum"),
        ("runbook/unknown-target", "steps[4].on_failure"),
        ("runbook/budget", 'budgets.edges["see->tyr"]'),
    } == set(found(document))
    for strict in (True, False):
        with pytest.raises(RunbookInvalid):
            derive_policy(document, strict=strict)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tools[0].effect", 3),
        ("tools", {}),
        ("tools[0]", 3),
        ("inputs.env", []),
        ("inputs.env.checks", {}),
        ("terminals", 3),
        ("budgets", []),
        ("budgets.edges", 3),
        ("steps[0].next", {}),
        ("steps[2].cases", 1),
        ("steps[3].kind", "aproval"),
        ("min_runtime_profile", "R9"),
    ],
)
def test_one_fault_is_not_told_as_several(field: str, value: Any) -> None:
    assert [field] == [one.field for one in lint(changed((field, value)))]


def test_a_secret_default_is_not_shown() -> None:
    document = changed(("inputs.key", {"secret": True, "default": "hunter2", "type": "integer"}))

    assert not any("hunter2" in str(one) for one in lint(document))


def test_all_faults_at_once() -> None:
    few = [
        ("steps[0].nxt", "see"),
        ("steps[0].next", "sea"),
        ("steps[1].verify", ...),
        ("steps[3].gate.quorum", 9),
        ("steps[4].risk", "read-only"),
        ("budgets.edges.x->y", 0),
        ("tools[0].args", BROKEN),
    ]
    faults = [one.code for one in lint(changed(*few)) if not one.is_warning]

    assert [
        "check/path-malformed",
        "runbook/budget",
        "runbook/no-approvers",
        "runbook/no-verify",
        "runbook/risk-below-tools",
        "runbook/unknown-edge",
        "runbook/unknown-target",
        "spec/unknown-field",
        "spec/unknown-op",
    ] == sorted(faults)


@pytest.mark.parametrize(
    ("change", "near"),
    [
        (("steps[0].next", "sea"), "see"),
        (("steps[0].tools[0]", "cli:lok"), "cli:look"),
        (("budgets.edges.see->tyr", 1), "see->try"),
        (("steps[0].do", "{inputs.evn}"), "env"),
        (("duraton", 1), "duration"),
        (("steps[0].kind", "acton"), "action"),
    ],
)
def test_the_nearest_name_is_offered(change: tuple[str, Any], near: str) -> None:
    assert any(f'did you mean "{near}"' in one.message for one in lint(changed(change)))
