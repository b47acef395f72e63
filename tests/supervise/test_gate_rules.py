"""Rules and scores of gates: the stricter holds, and what cannot be decided is never allowed."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from interlock import DecisionTable, RuleScore
from interlock.errors import ConfigError
from interlock.supervise import (
    AdapterCoverage,
    Answer,
    Deployment,
    Gate,
    Policy,
    ProposedCall,
    RunbookInvalid,
    RunState,
    StepCard,
    Supervisor,
    answer,
    card,
    derive_policy,
    lint,
    propose,
    runbook_schema,
    start_run,
    verify,
    verify_run,
)

from .docs import DISK, INPUTS
from .documents import changed
from .test_bad_input import SOME, VALUES

WORDS = ("allow", "ask", "block")
LARGE = {"path": "args.rows", "op": "greaterThan", "expected": 100}
LIVE = {"path": "inputs.env", "op": "equals", "expected": "live"}
NIGHT = {"path": "facts.hour", "op": "greaterThan", "expected": 21}
OPEN = {"path": "args.note", "op": "notMatches", "expected": r"(\w+) \1"}
"""A pattern that is valid and not run here: it is never decided of a text."""


def row(name: str, outputs: Any, *when: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": name, "when": list(when), "outputs": outputs, **more}


def table(*rows: dict[str, Any], policy: str = "unique", **more: Any) -> dict[str, Any]:
    return {"rows": list(rows), "policy": policy, **more}


RULES = table(
    row("small", "allow", {"path": "args.rows", "op": "lessThanOrEqual", "expected": 100}),
    row("large", "ask", LARGE, {**LIVE, "op": "notEquals"}),
    row("large-live", "block", LARGE, LIVE),
)
SCORE = {
    "rules": [
        {"id": "large", "points": 40, "when": [LARGE]},
        {"id": "night", "points": 40, "when": [NIGHT]},
    ],
    "bands": [
        {"name": "allow", "min": 0},
        {"name": "ask", "min": 40},
        {"name": "block", "min": 80},
    ],
}


def document(effect: str = "write", **gate: Any) -> dict[str, Any]:
    return {
        "runbook": "1",
        "id": "load",
        "inputs": {"env": {}, "key": {"secret": True, "required": False}},
        "tools": [{"id": "cli:load", "effect": effect}],
        "steps": [
            {
                "id": "load",
                "tools": ["cli:load"],
                "gate": {"approvers": ["ann"], **gate},
                "next": "done",
                "on_failure": "done",
            }
        ],
        "terminals": [{"id": "done"}],
    }


def made(effect: str = "write", **gate: Any) -> Policy:
    return derive_policy(document(effect, **gate))


def by_hand(effect: str = "write", **gate: Any) -> Policy:
    """Make a policy of rules that a document would refuse: they are not compiled strictly."""
    policy = made(effect)
    tools: dict[str, Any] = {"rules": DecisionTable, "score": RuleScore}
    compiled = {name: tools[name].from_spec(spec) for name, spec in gate.items()}
    step = replace(policy.steps["load"], gate=Gate(approvers=("ann",), **compiled))
    return replace(policy, steps={"load": step})


def begun(policy: Policy, env: str = "test", **facts: Any) -> RunState:
    state = start_run(policy, agent_identity="agent", inputs={"env": env}, now=0).unwrap()
    return verify(policy, state, facts, by="ann", now=1).state if facts else state


def call(rows: Any = 1, **args: Any) -> ProposedCall:
    return ProposedCall("cli:load", args={"rows": rows, **args})


@pytest.mark.parametrize(
    ("gate", "env", "facts", "rows", "verdict", "why"),
    [
        ({"rules": RULES}, "live", {}, 1, "allow", "the rule small says allow"),
        ({"rules": RULES}, "test", {}, 101, "ask", "the rule large says ask"),
        ({"rules": RULES}, "live", {}, 101, "block", "the rule large-live says block"),
        ({"rules": RULES}, "live", {}, "many", "ask", "no rule holds"),
        ({"rules": {**RULES, "otherwise": "block"}}, "live", {}, None, "block",
         "what holds otherwise says block"),
        ({"rules": {**RULES, "otherwise": "allow"}}, "live", {}, None, "allow",
         "what holds otherwise says allow"),
        ({"score": SCORE}, "test", {}, 1, "allow", "the score 0 is in the band allow"),
        ({"score": SCORE}, "test", {"hour": 23}, 1, "ask",
         "the score 40 (night) is in the band ask"),
        ({"score": SCORE}, "test", {"hour": 23}, 101, "block",
         "the score 80 (large + night) is in the band block"),
        ({"score": {**SCORE, "bands": SCORE["bands"][1:]}}, "test", {}, 1, "ask",
         "the score 0 is below every band"),
        ({"rules": RULES, "score": SCORE}, "test", {"hour": 23}, 1, "ask",
         "the rule small says allow; the score 40 (night) is in the band ask"),
        ({"rules": RULES, "score": SCORE}, "live", {}, 101, "block",
         "the rule large-live says block; the score 40 (large) is in the band ask"),
        ({"rules": RULES, "score": SCORE}, "test", {"hour": 23}, 101, "block",
         "the rule large says ask; the score 80 (large + night) is in the band block"),
        ({"rules": RULES, "score": SCORE}, "test", {}, 1, "allow",
         "the rule small says allow; the score 0 is in the band allow"),
    ],
)  # fmt: skip
def test_what_a_gate_says_of_a_call(
    gate: Any, env: str, facts: Any, rows: Any, verdict: str, why: str
) -> None:
    policy = made(**gate)
    decision = propose(policy, begun(policy, env, **facts), call(rows), now=2)
    code = {"allow": "call/allowed", "ask": "gate/asked", "block": "call/gate-rule"}[verdict]
    assert (decision.verdict, decision.code) == (verdict, code)
    shown = decision.question.text if decision.question else decision.message
    assert why in shown
    assert why in decision.events[-1].message
    assert (decision.state.status, decision.state.deviations) == ("running", ())
    counts = decision.state.calls
    assert counts[{"allow": "allowed", "ask": "asked", "block": "blocked"}[verdict]] == 1


UNDECIDED = [
    ({"rules": table(row("note", "allow", OPEN), otherwise="allow")}, "cannot be decided"),
    ({"rules": table(row("a", "allow", LARGE), row("b", "block", LARGE))}, "exclude each other"),
    ({"rules": table(row("a", "allow", LARGE), row("b", "allow", LARGE))}, "exclude each other"),
    ({"rules": table(row("a", "allow", LARGE, priority=1), row("b", "ask", LARGE, priority=1),
                     policy="priority")}, "exclude each other"),
    ({"score": {"rules": [{"id": "note", "points": 1, "when": [OPEN]}],
                "bands": [{"name": "allow", "min": -9}]}}, "cannot be told: note"),
    ({"rules": table(row("a", "allow", LARGE)),
      "score": {"rules": [{"id": "note", "points": 1, "when": [OPEN]}],
                "bands": [{"name": "allow", "min": -9}]}}, "cannot be told: note"),
]  # fmt: skip


@pytest.mark.parametrize(("gate", "why"), UNDECIDED)
@pytest.mark.parametrize("effect", ["readonly", "write", "irreversible"])
def test_what_excludes_itself_or_cannot_be_decided_blocks(gate: Any, why: str, effect: str) -> None:
    policy = by_hand(effect, **gate)
    decision = propose(policy, begun(policy), call(101, note="a text"), now=2)
    assert (decision.verdict, decision.code) == ("block", "call/gate-rule")
    assert why in decision.message


def test_a_text_that_is_too_long_to_decide_on_blocks() -> None:
    rules = table(row("note", "block", {"path": "args.note", "op": "matches", "expected": "x"}))
    policy = made(rules={**rules, "otherwise": "allow"})
    assert propose(policy, begun(policy), call(note="a" * 8_388_608)).verdict == "allow"
    assert propose(policy, begun(policy), call(note="a" * 8_388_609)).verdict == "block"


def test_the_highest_priority_decides() -> None:
    rules = table(
        row("any", "block", {"path": "args.rows", "op": "exists"}),
        row("few", "allow", {**LARGE, "op": "lessThan"}, priority=1),
        policy="priority",
    )
    policy = made(rules=rules)
    assert propose(policy, begun(policy), call(1)).verdict == "allow"
    assert propose(policy, begun(policy), call(101)).verdict == "block"


FREE = table(row("all", "allow", {"path": "args", "op": "exists"}))


@pytest.mark.parametrize("effect", ["readonly", "write", "destructive", "irreversible"])
def test_a_dangerous_step_is_asked_about_whatever_allows_it(effect: str) -> None:
    policy = made(effect, rules=FREE, score={**SCORE, "bands": SCORE["bands"][:1]})
    decision = propose(policy, begun(policy), call())
    if effect in ("readonly", "write"):
        assert decision.verdict == "allow"
        return
    assert decision.question is not None
    assert f"a step that is {effect} is asked about all the same" in decision.question.text
    agreed = answer(policy, decision.state, Answer(decision.question.id, "ann", approve=True)).state
    assert propose(policy, agreed, call()).code == "call/approved"


def test_an_approval_does_not_outlive_what_the_rules_say_by_then() -> None:
    policy = made(score=SCORE)
    state = begun(policy)
    asked = propose(policy, state, call(101), now=2)
    assert asked.question is not None
    agreed = answer(policy, asked.state, Answer(asked.question.id, "ann", approve=True)).state
    assert propose(policy, agreed, call(101), now=3).code == "call/approved"
    late = verify(policy, agreed, {"hour": 23}, by="ann", now=3).state
    assert propose(policy, late, call(101), now=3).code == "call/gate-rule"


def test_the_record_is_the_whole_call() -> None:
    seen = {
        "risk": "reversible-write", "effect": "write", "tool": "cli:load", "step": "load",
        "visit": 1, "args.rows": 1, "facts.hour": 3, "inputs.env": "test",
    }  # fmt: skip
    checks = [{"path": path, "op": "equals", "expected": value} for path, value in seen.items()]
    policy = made(rules=table(row("all", "allow", *checks)))
    assert propose(policy, begun(policy, hour=3), call(), now=2).verdict == "allow"


@pytest.mark.parametrize("path", ["args.key", "args.keys[0]", "inputs.key"])
def test_no_rule_sees_a_secret(path: str) -> None:
    told = row("told", "allow", {"path": path, "op": "equals", "expected": "hunter22"})
    policy = by_hand(rules=table(told))
    given = {"env": "test", "key": "hunter22"}
    state = start_run(policy, agent_identity="agent", inputs=given).unwrap()
    decision = propose(policy, state, call(key="hunter22", keys=["hunter22"]))
    assert (decision.verdict, "hunter22" in repr(decision)) == ("ask", False)


def test_a_secret_that_is_a_word_of_the_record_changes_no_rule() -> None:
    policy = made(rules=table(row("all", "allow", {"path": "risk", "op": "exists"})))
    for word in ("risk", "load", "cli:load"):
        given = {"env": "test", "key": word}
        state = start_run(policy, agent_identity="agent", inputs=given).unwrap()
        assert propose(policy, state, call()).verdict == "allow"


def test_facts_and_inputs_are_apart() -> None:
    policy = by_hand(rules=table(row("all", "block", {"path": "facts.inputs", "op": "exists"})))
    assert propose(policy, begun(policy), call()).verdict == "ask"


FAULTS: list[tuple[dict[str, Any], str, str, str]] = [
    ({"rules": table(row("a", "alow", LARGE))}, "spec/unknown-choice",
     "rules.rows[0].outputs", 'did you mean "allow"?'),
    ({"rules": table(row("a", {"say": "ask"}, LARGE))}, "spec/unknown-choice",
     "rules.rows[0].outputs", "must be one of allow, ask, block"),
    ({"rules": table(row("a", "ask", LARGE), otherwise="Block")}, "spec/unknown-choice",
     "rules.otherwise", 'did you mean "block"?'),
    ({"rules": table(row("a", "ask", LARGE), policy="first")}, "spec/unknown-choice",
     "rules.policy", "unique, priority"),
    ({"rules": table(row("a", "ask", LARGE), policy="collect")}, "spec/unknown-choice",
     "rules.policy", "unique, priority"),
    ({"rules": table(row("a", "ask", LARGE), policy="unqiue")}, "spec/unknown-choice",
     "rules.policy", "unique"),
    ({"rules": {"rows": [row("a", "ask", LARGE)]}}, "spec/missing-field", "rules.policy", ""),
    ({"rules": {"policy": "unique"}}, "spec/missing-field", "rules.rows", ""),
    ({"rules": {"policy": "unique", "rows": []}}, "spec/empty-list", "rules.rows", ""),
    ({"rules": table(row("a", "ask", LARGE), ruels=1)}, "spec/unknown-field", "rules.ruels", ""),
    ({"rules": table(row("a", "ask", {**LARGE, "op": "greatrThan"}))}, "spec/unknown-op",
     "rules.rows[0].when[0].op", 'did you mean "greaterThan"?'),
    ({"rules": table(row("a", "ask", {**LARGE, "path": "arg.rows"}))}, "spec/unknown-choice",
     "rules.rows[0].when[0].path", 'did you mean "args"?'),
    ({"rules": table(row("a", "ask", {**LIVE, "path": "inputs.evn"}))}, "runbook/unknown-input",
     "rules.rows[0].when[0].path", 'did you mean "env"?'),
    ({"rules": table(row("a", "ask", {**LIVE, "path": "inputs.key"}))}, "runbook/secret",
     "rules.rows[0].when[0].path", "no rule sees it"),
    ({"score": {**SCORE, "bands": [{"name": "aks", "min": 1}]}}, "spec/unknown-choice",
     "score.bands[0].name", 'did you mean "ask"?'),
    ({"score": {**SCORE, "bands": []}}, "spec/missing-field", "score.bands", "allow, ask, block"),
    ({"score": {"rules": SCORE["rules"]}}, "spec/missing-field", "score.bands", ""),
    ({"score": {"bands": SCORE["bands"]}}, "spec/missing-field", "score.rules", ""),
    ({"score": {**SCORE, "rules": [{"id": "a", "points": 1, "when": [{**LARGE, "path": "rows"}]}]}},
     "spec/unknown-choice", "score.rules[0].when[0].path", "must be one of risk"),
    ({"score": {**SCORE, "rules": [{"id": "a", "when": [LARGE]}]}}, "spec/missing-field",
     "score.rules[0].points", ""),
    ({"on": "enter", "rules": RULES}, "runbook/unread-field", "rules", "on: call"),
    ({"on": "enter", "score": SCORE}, "runbook/unread-field", "score", "on: call"),
    ({"rules": [1]}, "spec/wrong-type", "rules", ""),
    ({"score": "high"}, "spec/wrong-type", "score", ""),
]  # fmt: skip


@pytest.mark.parametrize(("gate", "code", "field", "message"), FAULTS)
def test_a_fault_is_told_at_its_field_once(
    gate: dict[str, Any], code: str, field: str, message: str
) -> None:
    told = [one for one in lint(document(**gate)) if not one.is_warning]
    assert [(one.code, one.field) for one in told] == [(code, f"steps[0].gate.{field}")]
    assert message in told[0].message


def test_all_faults_at_once_and_a_gate_that_is_broken_asks() -> None:
    rules = table(row("a", "alow", {**LARGE, "op": "no"}), policy="first")
    score = {**SCORE, "bands": [{"name": "low", "min": "x"}]}
    told = {one.field for one in lint(document(rules=rules, score=score)) if not one.is_warning}
    assert told == {
        f"steps[0].gate.{name}"
        for name in ("rules.policy", "rules.rows[0].outputs", "rules.rows[0].when[0].op",
                     "score.bands[0].name", "score.bands[0].min")
    }  # fmt: skip
    policy = derive_policy(document(rules={**FREE, "otherwise": "alow"}), strict=False)
    watched = Deployment("R0", AdapterCoverage(mcp_calls=True, shell=False, file_edits=False))
    given = {"inputs": {"env": "test"}, "deployment": watched}
    state = start_run(policy, agent_identity="agent", **given).unwrap()  # type: ignore[arg-type]
    assert propose(policy, state, call()).verdict == "ask"


def test_a_fault_has_its_line_and_the_schema_takes_what_is_sound() -> None:
    text = json.dumps(document(rules=table(row("a", "alow", LARGE))), indent=1)
    with pytest.raises(RunbookInvalid) as raised:
        derive_policy(text)
    lines = text.splitlines()
    assert ['"outputs": "alow"'] == [
        lines[(line or 0) - 1].strip() for line, _ in raised.value.places
    ]
    validator = Draft202012Validator(runbook_schema())
    assert validator.is_valid(document(rules=RULES, score=SCORE))
    assert not validator.is_valid(document(rules="RULES"))


WAYS = (
    "rules", "rules.rows", "rules.rows[0]", "rules.rows[0].when", "rules.rows[0].when[0]",
    "rules.rows[0].when[0].path", "rules.rows[0].outputs", "rules.rows[0].priority",
    "rules.policy", "rules.otherwise", "score", "score.rules", "score.rules[0]",
    "score.rules[0].when", "score.rules[0].when[0].path", "score.rules[0].points", "score.bands",
    "score.bands[0]", "score.bands[0].name", "score.bands[0].min", "score.min",
)  # fmt: skip


@SOME
@given(st.sampled_from(WAYS), VALUES)
def test_whatever_stands_in_rules_is_told_or_decides(way: str, value: Any) -> None:
    written = changed((f"steps[0].gate.{way}", value), of=document(rules=RULES, score=SCORE))
    told = [one for one in lint(written) if not one.is_warning]
    if told:
        with pytest.raises(RunbookInvalid):
            derive_policy(written)
        assert all(one.field.startswith("steps[0].gate.") for one in told)
        return
    policy = derive_policy(written)
    assert propose(policy, begun(policy), call(101), now=2).verdict in WORDS


def test_an_approval_step_has_no_rules() -> None:
    told = lint(changed(("steps[3].gate", {"approvers": ["ann"], "rules": RULES})))
    assert ("runbook/unread-field", "steps[3].gate.rules") in [
        (one.code, one.field) for one in told
    ]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        (
            {"rules": DecisionTable.from_spec(table(row("a", "yes", LARGE)))},
            "rules.rows[0].outputs",
        ),
        ({"rules": DecisionTable.from_spec({**FREE, "policy": "first"})}, "rules.policy"),
        ({"score": RuleScore(SCORE["rules"])}, "score.bands"),
        ({"rules": DecisionTable.from_spec(FREE), "on": "enter"}, "rules"),
    ],
)
def test_a_gate_built_by_hand_is_checked_as_well(fields: Any, field: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Gate(**fields)
    assert [one.field for one in raised.value.problems] == [field]


def test_rules_are_a_part_of_the_policy() -> None:
    plain, ruled = made(), made(rules=RULES, score=SCORE)
    assert plain.digest != ruled.digest != made(rules=RULES).digest
    again = pickle.loads(pickle.dumps(ruled))  # noqa: S301
    assert (again, again.digest) == (ruled, ruled.digest)
    gate: Any = ruled.to_dict()["steps"]["load"]["gate"]  # type: ignore[index, call-overload]
    assert (gate["rules"], gate["score"]) == (RULES, SCORE)
    assert "rules" not in made().to_dict()["steps"]["load"]["gate"]  # type: ignore[index, call-overload, operator]


def test_the_card_says_it_in_a_sentence() -> None:
    policy = made(rules=RULES, score=SCORE)
    shown = card(policy, begun(policy))
    assert shown.gate == (
        "Each call is allowed, asked about or blocked by rules (small: allow, large: ask, "
        "large-live: block, else ask) and a score (allow from 0, ask from 40, block from 80); "
        "the stricter holds."
    )
    assert StepCard.from_dict(shown.to_dict()) == shown
    assert card(made(), begun(made())).gate == ""
    grave = made("destructive", rules=FREE)
    assert card(grave, begun(grave)).gate == (
        "Each call is asked about or blocked by rules (all: allow, else ask)."
    )


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_run_with_rules_is_made_again_from_its_log(backend: str) -> None:
    policy = made(rules=RULES, score=SCORE)
    sup = Supervisor(policy)

    async def work() -> list[str]:
        await sup.start(agent_identity="agent", inputs={"env": "live", "key": "hunter22"})
        verdicts: list[str] = []
        for rows, key in ((1, "x"), (101, "hunter22"), (1, "hunter22")):
            verdicts.append((await sup.propose(call(rows, key=key))).verdict)
            await sup.verify({"hour": 23}, by="ann")
        return verdicts

    verdicts = anyio.run(work, backend=backend)
    assert verdicts == ["allow", "block", "ask"]
    assert verify_run(policy, sup.log).ok
    asked = [one for one in sup.log if one.verdict == "block"]
    assert [one.events[-1].code for one in asked] == ["call/gate-rule"]
    assert "hunter22" not in repr(sup.log)


CHECK = st.sampled_from([LARGE, LIVE, NIGHT, OPEN, {**LARGE, "op": "lessThan"}])
TABLE = st.builds(
    lambda rows, policy, otherwise: {
        "rows": [
            row(f"r{n}", word, *when, priority=priority)
            for n, (word, when, priority) in enumerate(rows)
        ],
        "policy": policy,
        "otherwise": otherwise,
    },
    st.lists(
        st.tuples(
            st.sampled_from(WORDS),
            st.lists(CHECK, min_size=1, max_size=2),
            st.integers(min_value=0, max_value=2),
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["unique", "priority"]),
    st.sampled_from(WORDS),
)
POINTS = st.builds(
    lambda rules: {
        "rules": [
            {"id": f"p{n}", "points": points, "when": [check]}
            for n, (points, check) in enumerate(rules)
        ],
        "bands": SCORE["bands"],
    },
    st.lists(st.tuples(st.integers(min_value=-50, max_value=90), CHECK), min_size=1, max_size=4),
)


def said(policy: Policy, env: str, hour: int, one: ProposedCall) -> str:
    return propose(policy, begun(policy, env, hour=hour), one, now=2).verdict


@SOME
@given(
    TABLE, POINTS, st.sampled_from(["test", "live"]), st.sampled_from([3, 23]),
    st.sampled_from([1, 101]), st.sampled_from(["write", "destructive"]), st.booleans(),
)  # fmt: skip
def test_the_stricter_holds_and_what_is_not_decided_is_not_allowed(
    rules: Any, score: Any, env: str, hour: int, rows: int, effect: str, has_note: bool
) -> None:
    one = call(rows, **({"note": "a text"} if has_note else {}))
    alone = [said(by_hand(effect, **{name: spec}), env, hour, one)
             for name, spec in (("rules", rules), ("score", score))]  # fmt: skip
    both = said(by_hand(effect, rules=rules, score=score), env, hour, one)
    assert both == max(alone, key=WORDS.index)
    record = {"args": one.args, "inputs": {"env": env}, "facts": {"hour": hour}}
    found, scored = DecisionTable.from_spec(rules).decide(record), RuleScore.from_spec(score)
    is_open = bool(not found.ok or scored.score(record).undetermined)
    assert (both == "block") >= is_open
    assert not (both == "allow" and effect == "destructive")


def test_a_gate_of_another_step_does_not_count() -> None:
    policy = derive_policy(DISK)
    ruled = replace(policy.steps["clean"], gate=Gate(rules=DecisionTable.from_spec(
        table(row("all", "block", {"path": "tool", "op": "exists"})))))  # fmt: skip
    policy = replace(policy, steps={**policy.steps, "clean": ruled})
    state = start_run(policy, agent_identity="agent", inputs=INPUTS).unwrap()
    assert propose(policy, state, ProposedCall("cli:df")).verdict == "allow"
