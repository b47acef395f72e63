"""The contract: V-40 to V-55, and one table for all cells."""

from __future__ import annotations

import itertools
import pickle
import re
from typing import Any

import pytest

from interlock import ConfigError
from interlock.supervise import (
    AdapterCoverage,
    Deployment,
    Policy,
    PolicyStep,
    Procedure,
    Refusal,
    at_least,
    derive_policy,
    effect_risk,
    implied_minimum,
    is_dangerous,
    lint,
    may_run_under,
    may_start,
    profile_of,
    refusals_to_start,
)

from .documents import changed

RISKS: Any = ("read-only", "reversible-write", "destructive", "irreversible")
PROFILES: Any = ("R0", "R1", "R2")
EXECUTIONS: Any = ("human-only", "human-with-agent", "agent-autonomous")
COVERAGES = [AdapterCoverage(*seen) for seen in itertools.product((False, True), repeat=3)]
FULL, PROXY = AdapterCoverage(True, True, True), AdapterCoverage(True, False, False)

LOW, COVER, CEILING, ALONE = (
    "runtime/profile-too-low",
    "runtime/coverage-insufficient",
    "runtime/risk-above-ceiling",
    "runtime/autonomous-unsupervised",
)

TABLE: dict[str, tuple[str, str]] = {
    #                    human-only, human-with-agent          agent-autonomous
    "read-only":        ("R0: .      R1: .      R2: .     ", "R0: LA     R1: .      R2: .     "),
    "reversible-write": ("R0: .      R1: .      R2: .     ", "R0: LA     R1: .      R2: .     "),
    "destructive":      ("R0: Lc     R1: Lc     R2: c     ", "R0: LAc    R1: Lc     R2: c     "),
    "irreversible":     ("R0: Lc     R1: Lc     R2: c     ", "R0: LAc    R1: Lc     R2: c     "),
}  # fmt: skip
"""What stands against a document that declares no minimum: the profile is too Low, the Agent is
alone, and `c`: the coverage, unless it is full. This is the one place where it is written down."""


def codes(procedure: Any, deployment: Deployment) -> set[str]:
    found = refusals_to_start(procedure, deployment)
    assert len(found) == len({one.code for one in found})
    return {one.code for one in found}


def by_table(risk: str, execution: str, profile: str, coverage: AdapterCoverage) -> set[str]:
    row = TABLE[risk][execution == "agent-autonomous"]
    cell = dict(re.findall(r"(R\d): (\S+)", row))[profile]
    letters = {"L": LOW, "A": ALONE, **({} if coverage == FULL else {"c": COVER})}
    return {letters[one] for one in cell if one in letters}


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize("risk", RISKS)
def test_every_cell_is_as_the_table_says(risk: Any, execution: Any) -> None:
    for profile, coverage in itertools.product(PROFILES, COVERAGES):
        cell = (risk, execution, profile, coverage)
        said = codes(Procedure(risk, execution), Deployment(profile, coverage))
        assert by_table(*cell) == said, cell


def test_V_40_profiles_rank_clients() -> None:
    assert at_least("R2", "R1")
    assert not at_least("R0", "R1")
    assert all(at_least(one, one) for one in PROFILES)
    assert [one for one in PROFILES if at_least(one, "R1")] == ["R1", "R2"]


def test_V_41_a_minimum_above_the_client_is_refused() -> None:
    asks = Procedure("read-only", "human-with-agent", min_runtime_profile="R2")

    assert {LOW} == codes(asks, Deployment("R1", FULL))
    assert set() == codes(asks, Deployment("R2", FULL))
    more = Procedure("read-only", "human-with-agent", min_runtime_profile="R1")
    assert set() == codes(more, Deployment("R2", FULL))


@pytest.mark.parametrize("risk", ["destructive", "irreversible"])
def test_V_42_dangerous_steps_need_every_call_observed(risk: Any) -> None:
    assert {COVER} == codes(Procedure(risk, "human-with-agent"), Deployment("R2", PROXY))


def test_V_43_a_claimed_r2_does_not_help() -> None:
    procedure = Procedure("irreversible", "human-with-agent", min_runtime_profile="R2")

    assert not may_start(procedure, Deployment("R2", PROXY))


@pytest.mark.parametrize("risk", ["read-only", "reversible-write"])
def test_V_44_what_is_not_dangerous_may_run_under_partial_coverage(risk: Any) -> None:
    assert may_start(Procedure(risk, "human-with-agent"), Deployment("R1", PROXY))


def test_V_45_destructive_may_run_when_all_is_observed() -> None:
    assert may_start(Procedure("destructive", "human-with-agent"), Deployment("R2", FULL))


def test_V_46_the_coverage_rule_is_stated_once() -> None:
    said: set[bool] = set()
    for risk, coverage in itertools.product(RISKS, COVERAGES):
        may = may_run_under(risk, coverage)
        refused = COVER in codes(
            Procedure(risk, "human-with-agent", min_runtime_profile="R2"),
            Deployment("R2", coverage),
        )
        assert may is not refused
        said.add(may)
    assert {True, False} == said


def test_V_47_the_ceiling_of_the_operator_holds() -> None:
    procedure = Procedure("destructive", "human-with-agent")

    assert {CEILING} == codes(procedure, Deployment("R2", FULL, risk_ceiling="reversible-write"))
    assert set() == codes(procedure, Deployment("R2", FULL, risk_ceiling="destructive"))
    assert set() == codes(procedure, Deployment("R2", FULL))


def test_V_48_an_agent_alone_is_not_left_unsupervised() -> None:
    alone = Procedure("read-only", "agent-autonomous", min_runtime_profile="R0")

    assert {ALONE} == codes(alone, Deployment("R0", FULL))
    assert set() == codes(Procedure("read-only", "human-only"), Deployment("R0", PROXY))
    found = lint(changed(("execution", "agent-autonomous"), ("min_runtime_profile", "R0")))
    assert "runbook/unsupervised" in {one.code for one in found if not one.is_warning}


BREAKS_ALL = Procedure("irreversible", "agent-autonomous", min_runtime_profile="R2")
WORST = Deployment("R0", PROXY, risk_ceiling="read-only")


def test_V_49_all_reasons_are_given_at_once() -> None:
    assert {LOW, COVER, CEILING, ALONE} == codes(BREAKS_ALL, WORST)


def test_V_50_may_start_is_having_no_refusals() -> None:
    answers: set[bool] = set()
    for risk, execution, minimum, profile, coverage, ceiling in itertools.product(
        RISKS, EXECUTIONS, (None, *PROFILES), PROFILES, COVERAGES, (None, *RISKS)
    ):
        procedure = Procedure(risk, execution, min_runtime_profile=minimum)
        deployment = Deployment(profile, coverage, risk_ceiling=ceiling)
        answer = may_start(procedure, deployment)
        assert answer is (refusals_to_start(procedure, deployment) == ())
        answers.add(answer)
    assert {True, False} == answers


def test_V_51_messages_name_the_remedy() -> None:
    remedies = {
        LOW: "run it on a client",
        COVER: "put a tool-call hook",
        CEILING: "raise the ceiling",
        ALONE: "have a person beside it",
    }
    for refusal in refusals_to_start(BREAKS_ALL, WORST):
        assert remedies[refusal.code] in refusal.message
        assert not re.search(r"invalid|went wrong|error|fail", refusal.message, re.IGNORECASE)


def test_V_52_messages_carry_the_facts() -> None:
    said = {one.code: one.message for one in refusals_to_start(BREAKS_ALL, WORST)}

    assert all(fact in said[LOW] for fact in ("R2", "R0"))
    assert all(fact in said[COVER] for fact in ("irreversible", "shell", "file edits"))
    assert "MCP" not in said[COVER]
    assert all(fact in said[CEILING] for fact in ("irreversible", "read-only"))


@pytest.mark.parametrize(
    ("risk", "execution", "minimum"),
    [
        ("destructive", "human-with-agent", "R2"),
        ("irreversible", "human-only", "R2"),
        ("reversible-write", "agent-autonomous", "R1"),
        ("reversible-write", "human-with-agent", "R0"),
        ("read-only", "human-only", "R0"),
    ],
)
def test_V_53_risk_and_execution_imply_a_minimum(risk: Any, execution: Any, minimum: Any) -> None:
    assert minimum == implied_minimum(Procedure(risk, execution))
    steps = {"a": PolicyStep(id="a", risk=risk, transitions=("end",))}
    policy = Policy(id="p", steps=steps, terminals={"end": "done"}, execution=execution)
    assert minimum == policy.implied_minimum == implied_minimum(policy)


def test_V_54_it_fills_in_what_is_left_out_and_measures_what_is_declared() -> None:
    left_out = derive_policy(changed(("min_runtime_profile", None)))
    too_low = changed(("min_runtime_profile", "R1"))

    assert "R2" == left_out.min_runtime_profile
    warned = [one for one in lint(too_low) if one.code == "lint/profile-below-implied"]
    assert ["min_runtime_profile"] == [one.field for one in warned]
    assert "R2" in warned[0].message
    assert "R1" == derive_policy(too_low).min_runtime_profile


def test_V_55_risks_have_an_order_and_two_are_dangerous() -> None:
    above = [
        [CEILING in codes(Procedure(risk, "human-only"), Deployment("R2", FULL, risk_ceiling=top))
         for risk in RISKS]
        for top in RISKS
    ]  # fmt: skip

    assert [[at > top for at in range(4)] for top in range(4)] == above
    assert [False, False, True, True] == [is_dangerous(risk) for risk in RISKS]


class TestDangerousAtTheLowest:
    @pytest.mark.parametrize("risk", RISKS)
    def test_a_document_cannot_ask_for_r0_with_dangerous_steps(self, risk: Any) -> None:
        asks = Procedure(risk, "human-with-agent", min_runtime_profile="R0")

        assert is_dangerous(risk) == (LOW in codes(asks, Deployment("R0", FULL)))
        assert set() == codes(asks, Deployment("R1", FULL))


class TestProfileOf:
    R1: Any = ("record", "tools", "order", "gates", "budgets")
    R2: Any = (
        *R1,
        "hash-chain",
        "anchors",
        "bound-approvals",
        "arguments",
        "order-rules",
        "verify",
    )
    PROBED = AdapterCoverage(True, True, True, source="probed")

    def test_it_is_what_a_client_does(self) -> None:
        assert "R0" == profile_of((), FULL)
        assert "R0" == profile_of(self.R1[:-1], FULL)
        assert "R1" == profile_of(self.R1, FULL)
        assert "R1" == profile_of(self.R2[:-1], self.PROBED)
        assert "R2" == profile_of(self.R2, self.PROBED)

    def test_coverage_bounds_it(self) -> None:
        assert "R1" == profile_of(self.R2, FULL)
        assert "R1" == profile_of(self.R2, AdapterCoverage(True, True, False, source="probed"))
        assert "R0" == profile_of(self.R2, AdapterCoverage())

    def test_more_features_never_lower_it(self) -> None:
        for coverage in (*COVERAGES, self.PROBED):
            ranks = [PROFILES.index(profile_of(self.R2[:n], coverage)) for n in range(12)]
            assert sorted(ranks) == ranks

    def test_a_feature_that_is_none_is_refused(self) -> None:
        with pytest.raises(ConfigError, match='did you mean "gates"'):
            profile_of(("gate",), FULL)


class TestBadInput:
    @pytest.mark.parametrize(
        "ask",
        [
            lambda: at_least("R3", "R1"),  # type: ignore[arg-type]
            lambda: at_least("R1", None),  # type: ignore[arg-type]
            lambda: is_dangerous("deadly"),  # type: ignore[arg-type]
            lambda: may_run_under(3, PROXY),  # type: ignore[arg-type]
            lambda: refusals_to_start(Procedure("read-only", "human-only"), Deployment("R9", FULL)),  # type: ignore[arg-type]
        ],
    )
    def test_what_is_none_is_refused(self, ask: Any) -> None:
        with pytest.raises(ConfigError, match="must be one of"):
            ask()

    def test_an_effect_that_is_not_declared_counts_as_destructive(self) -> None:
        effects: Any = ("readonly", "write", "destructive", "irreversible", None)

        assert [*RISKS, "destructive"] == [effect_risk(one) for one in effects]

    @pytest.mark.parametrize(
        "value",
        [
            FULL,
            Deployment("R1", PROXY, risk_ceiling="destructive"),
            Procedure("irreversible", "human-only", min_runtime_profile="R2"),
            Refusal("input/missing", "mount: is required", "mount"),
        ],
    )
    def test_all_of_it_is_data(self, value: Any) -> None:
        assert value == type(value).from_dict(value.to_dict())
        assert value == pickle.loads(pickle.dumps(value))  # noqa: S301 (our own)
