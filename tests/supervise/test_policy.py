"""Deriving a policy: V-01 to V-04, V-07; what a policy is and how it is built by hand."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any, ClassVar

import pytest

from interlock.supervise import (
    AdapterCoverage,
    Deployment,
    Edge,
    Escalation,
    Policy,
    PolicyStep,
    RunbookInvalid,
    check_inputs,
    derive_policy,
    lint,
    refusals_to_start,
)

from .documents import ALL_EXAMPLES, DISK, FLAKY, SOUND, changed

RULE = {"id": "full", "contains": "no space", "class": "capacity", "action": "fail"}
LOOP = {
    "a": PolicyStep(id="a", transitions=("a", "b")),
    "b": PolicyStep(id="b", transitions=("b", "end")),
}
HAND: dict[str, Any] = {"id": "hand", "steps": LOOP, "terminals": {"end": "done"}}


def test_V_01_a_policy_is_derived_from_a_document_alone() -> None:
    once, again = derive_policy(SOUND), derive_policy(copy.deepcopy(SOUND))

    assert (once, once.digest, hash(once)) == (again, again.digest, hash(again))
    assert 64 == len(once.digest)
    other = derive_policy(changed(("steps[0].title", "Try it")))
    assert (once == other, once.digest == other.digest) == (False, False)


def test_V_02_a_policy_holds_its_steps_its_entry_its_terminals_and_its_budgets() -> None:
    policy = derive_policy(SOUND)
    step = policy.steps["drop"]

    assert (policy.entry, dict(policy.budgets)) == ("try", {"see->try": 2})
    assert {"done": "dropped", "gave-up": "gave-up"} == policy.terminals
    assert list(policy.steps) == [one["id"] for one in SOUND["steps"]]
    assert ("drop", "action", "destructive", ("cli:drop",), (), True, "drop") == (
        step.id,
        step.kind,
        step.risk,
        step.tools,
        step.undeclared,
        step.gated,
        step.title,
    )
    assert ("settle", "undo") == step.transitions
    assert Edge("see", "try", "failure", 2) in policy.edges


def test_V_03_a_declared_loop_has_a_budget_and_both_ways() -> None:
    policy = derive_policy(FLAKY)

    assert policy.budgets["s2->s1"] > 0
    assert "s2" in policy.steps["s1"].transitions
    assert "s1" in policy.steps["s2"].transitions


@pytest.mark.parametrize(
    ("bucket", "seconds"),
    [("<5m", 300), ("5-15m", 900), ("15-60m", 3600), ("1-4h", 14400), (">4h", None), (None, None)],
)
def test_V_04_a_duration_is_suggested(bucket: str | None, seconds: int | None) -> None:
    policy = derive_policy(changed(("duration", bucket)))

    assert seconds == policy.suggested_wall_clock_seconds


def test_V_07_without_a_required_input_there_is_a_refusal_that_names_it() -> None:
    policy = derive_policy(DISK)

    refused = check_inputs(policy.inputs, {"host": "db1.example.org"}).refusals
    assert [("input/missing", "mount")] == [(one.code, one.field) for one in refused]
    assert "mount" in refused[0].message
    given = {"host": "db1.example.org", "mount": "/var"}
    assert (given, ()) == check_inputs(policy.inputs, given)


class TestDerived:
    @pytest.mark.parametrize("path", ALL_EXAMPLES, ids=lambda path: path.stem)
    def test_the_examples_are_without_faults_and_warnings(self, path: Any) -> None:
        policy = derive_policy(path)

        assert () == lint(path) == policy.warnings == policy.faults
        assert isinstance(policy.max_moves, int)
        assert policy == pickle.loads(pickle.dumps(policy))  # noqa: S301 (our own)
        assert policy.digest == pickle.loads(pickle.dumps(policy)).digest  # noqa: S301 (our own)

    def test_it_cannot_be_changed(self) -> None:
        policy = derive_policy(SOUND)

        with pytest.raises(FrozenInstanceError):
            policy.id = "other"  # type: ignore[misc]
        with pytest.raises(TypeError):
            policy.budgets["see->try"] = 99  # type: ignore[index]
        with pytest.raises(AttributeError):
            policy.budgets._entries = {}  # type: ignore[attr-defined]

    def test_a_changed_policy_has_another_digest(self) -> None:
        policy = derive_policy(SOUND)
        assert policy.digest

        fewer = replace(policy, budgets={"see->try": 1})

        assert fewer.digest != policy.digest
        assert replace(fewer, budgets={"see->try": 2}) == policy

    def test_the_digest_depends_on_every_part(self) -> None:
        changes: list[tuple[str, Any]] = [
            ("steps[1].verify.checks[0].expected", False),
            ("steps[3].gate.quorum", 2),
            ("steps[5].wait.max_s", 61),
            ("tools[0].args", [{"path": "x", "op": "exists"}]),
            ("never", [{"after": {"tool": "cli:look"}, "then": {"tool": "cli:drop"}}]),
            ("escalation", {"max_total": 4}),
            ("errors", {"on_escalate": "pause"}),
            ("errors", {"rules": [RULE]}),
            ("budgets.calls", 9),
            ("inputs.env.secret", True),
            ("steps[2].cases[0].when[0].op", "notEquals"),
        ]
        made = {derive_policy(changed(one), strict=False).digest for one in changes}

        assert len(changes) == len(made - {derive_policy(SOUND).digest})

    def test_errors_that_say_nothing_are_no_part_of_the_digest(self) -> None:
        said = changed(("errors", {"rules": [], "on_escalate": "tell"}))

        assert derive_policy(SOUND).digest == derive_policy(said).digest

    def test_lint_is_no_part_of_the_digest(self) -> None:
        policy = derive_policy(changed(("duration", ...)))

        assert replace(policy, warnings=()).digest == policy.digest
        assert 1 == len(policy.warnings)

    def test_edges_are_in_the_order_of_the_document(self) -> None:
        step = derive_policy(
            changed(("steps[0]", {"id": "try", "on_failure": "gave-up", "next": "see"}))
        ).steps["try"]

        assert (("gave-up", "failure"), ("see", "next")) == step.exits

    def test_the_minimum_is_filled_in(self) -> None:
        assert "R2" == derive_policy(SOUND).min_runtime_profile

    def test_text_path_and_data_are_one_document(self) -> None:
        text = FLAKY.read_text("utf-8")

        assert derive_policy(text) == derive_policy(FLAKY) == derive_policy(str(FLAKY))


class TestFaulty:
    FAULTY = changed(("steps[0].next", "nowhere"))

    def test_strict_raises_with_all(self) -> None:
        with pytest.raises(RunbookInvalid) as raised:
            derive_policy(changed(("entry", "tyr"), of=self.FAULTY))

        assert ["steps[0].next", "entry"] == [one.field for one in raised.value.problems]

    def test_else_it_starts_at_r0_alone(self) -> None:
        policy = derive_policy(changed(("tools[2].effect", "write"), of=self.FAULTY), strict=False)
        full = AdapterCoverage(True, True, True)

        assert ["runbook/unknown-target"] == [one.code for one in policy.faults]
        assert () == refusals_to_start(policy, Deployment("R0", full))
        refused = refusals_to_start(policy, Deployment("R1", full))
        assert ["runbook/faulty"] == [one.code for one in refused]
        assert "nowhere" in refused[0].message

    def test_broken_conditions_never_hold(self) -> None:
        broken = changed(("steps[1].verify.checks", [{"op": "equlas"}]))
        verify = derive_policy(broken, strict=False).steps["see"].verify

        assert verify is not None
        assert "fail" == verify.checks.verdict({"ok": True})


class TestByHand:
    def test_transitions_alone_are_enough(self) -> None:
        policy = Policy(**HAND, budgets={"a->a": 1, "b->b": 1})

        assert ("a", ("a", "b")) == (policy.entry, policy.steps["a"].transitions)
        assert {None} == {edge.via for edge in policy.edges}
        assert [1, None, 1, None] == [edge.budget for edge in policy.edges]
        assert (4, "read-only", "R0") == (policy.max_moves, policy.max_risk, policy.implied_minimum)

    def test_a_list_of_steps_does_as_well(self) -> None:
        listed: Any = list(LOOP.values())

        assert Policy(**HAND) == Policy(**{**HAND, "steps": listed})

    def test_without_budgets_there_is_no_bound(self) -> None:
        assert Policy(**HAND).max_moves is None

    def test_what_leads_nowhere_is_refused_all_at_once(self) -> None:
        steps = {"a": PolicyStep(id="a", transitions=("b", "edn"))}
        with pytest.raises(RunbookInvalid) as raised:
            Policy(
                id="x",
                steps=steps,
                entry="c",
                terminals={"end": "done"},
                budgets={"a->c": 1, "a->b": 0},
                visit_budgets={"b": 1},
            )

        assert [
            ("runbook/no-entry", "entry"),
            ("runbook/unknown-target", "steps.a.transitions[0]"),
            ("runbook/unknown-target", "steps.a.transitions[1]"),
            ("runbook/unknown-edge", 'budgets["a->c"]'),
            ("runbook/budget", 'budgets["a->b"]'),
            ("runbook/unknown-edge", 'visit_budgets["b"]'),
        ] == [(one.code, one.field) for one in raised.value.problems]
        assert 'did you mean "end"' in str(raised.value)

    def test_escalation_is_filled_up(self) -> None:
        given = Escalation(responses={"undeclared-tool": "pause"})

        assert ("pause", "block-and-continue", "abort") == tuple(
            given.responses[name]
            for name in ("undeclared-tool", "out-of-scope-tool", "out-of-order-step")
        )
        assert hash(given) == hash(Escalation(responses={"undeclared-tool": "pause"}))


class TestTools:
    DECLARED: ClassVar = [
        {"id": "mcp:crm/*", "effect": "write"},
        {"id": "mcp:crm/get_*", "effect": "readonly"},
        {"id": "mcp:crm/delete", "effect": "irreversible"},
    ]

    @pytest.mark.parametrize(
        ("tools", "risk"),
        [
            (["mcp:crm/get_person"], "read-only"),
            (["mcp:crm/get_*"], "read-only"),
            (["mcp:crm/put"], "reversible-write"),
            (["mcp:crm/delete"], "irreversible"),
            (["mcp:crm/*"], "irreversible"),
            (["mcp:*"], "irreversible"),
            ([], "read-only"),
        ],
    )
    def test_the_risk_is_that_of_all_that_a_pattern_reaches(
        self, tools: list[str], risk: str
    ) -> None:
        document = changed(
            ("tools", self.DECLARED),
            ("steps", [{"id": "a", "tools": tools, "next": "done"}]),
            ("budgets", {}),
        )
        policy = derive_policy(document)

        assert risk == policy.steps["a"].risk == policy.max_risk

    @pytest.mark.parametrize(
        ("capability", "tool"),
        [
            ("mcp:crm/get_person", "mcp:crm/get_*"),
            ("mcp:crm/delete", "mcp:crm/delete"),
            ("mcp:crm/deleted", "mcp:crm/*"),
            ("mcp:cr", None),
        ],
    )
    def test_the_most_specific_declares_a_call(self, capability: str, tool: str | None) -> None:
        policy = derive_policy(changed(("tools", [*SOUND["tools"], *self.DECLARED])))
        found = policy.tool_of(capability)

        assert tool == (found.id if found else None)

    def test_scopes_are_those_of_the_tool_and_of_the_step(self) -> None:
        checks = [{"path": "n", "op": "exists"}]
        policy = derive_policy(
            changed(
                ("tools[0].args", checks), ("steps[0].args", {"cli:look": checks, "mcp:*": checks})
            )
        )
        step = policy.steps["try"]

        assert ["cli:look", "cli:look"] == [s.tool for s in policy.scopes_of(step, "cli:look")]
        assert ["mcp:*"] == [s.tool for s in policy.scopes_of(step, "mcp:store/put")]


class TestGates:
    def test_a_dangerous_step_has_one_whether_written_or_not(self) -> None:
        gate = derive_policy(SOUND).steps["drop"].gate

        assert gate is not None
        assert ("call", (), "requester", True) == (
            gate.on,
            gate.approvers,
            gate.separate_from,
            gate.is_implied,
        )

    def test_it_can_be_taken_off_with_a_reason(self) -> None:
        off = changed(("steps[4].gate", "none"), ("steps[4].reason", "a copy is kept"))

        assert not derive_policy(off).steps["drop"].gated
        assert ["lint/gate-off"] == [one.code for one in lint(off)]

    def test_a_roster_names_the_approvers(self) -> None:
        roster = {"strategy": "first", "owners": [{"id": "ann", "when": [{"op": "exists"}]}]}
        gate = derive_policy(changed(("steps[3].gate.approvers", roster))).steps["ask"].gate

        assert gate is not None
        assert gate.roster is not None
        assert (("ann",), "ann") == (gate.approvers, gate.roster.assign({}).owner)

    def test_an_approval_asks_on_entering(self) -> None:
        gate = derive_policy(SOUND).steps["ask"].gate

        assert gate is not None
        assert "enter" == gate.on


class TestCalls:
    INNER = derive_policy(SOUND)

    def calling(self, **calls: Any) -> dict[str, Any]:
        step = {
            "id": "inner",
            "kind": "call",
            "calls": {"id": "sound", "digest": self.INNER.digest, **calls},
            "otherwise": "end",
        }
        return {
            "runbook": "1",
            "id": "outer",
            "duration": ">4h",
            "inputs": SOUND["inputs"],
            "steps": [step],
            "terminals": [{"id": "end"}],
        }

    def test_its_risk_and_its_moves_count(self) -> None:
        policy = derive_policy(self.calling(outcomes={"dropped": "end"}), runbooks=[self.INNER])
        inner_moves = self.INNER.max_moves

        assert inner_moves is not None
        assert ("destructive", inner_moves + 1) == (policy.max_risk, policy.max_moves)
        assert (("end", "case"), ("end", "otherwise")) == policy.steps["inner"].exits

    def test_it_is_known_by_its_digest(self) -> None:
        wrong = self.calling(digest="0" * 64)

        assert ["runbook/call-digest"] == [p.code for p in lint(wrong, runbooks=[self.INNER])]
        assert ["runbook/unknown-call"] == [p.code for p in lint(self.calling())]

    def test_every_outcome_leads_on(self) -> None:
        document = self.calling(outcomes={"dropped": "end"})
        del document["steps"][0]["otherwise"]

        found = lint(document, runbooks=[self.INNER])
        assert ["runbook/not-exhaustive"] == [one.code for one in found]
        assert "gave-up" in found[0].message
