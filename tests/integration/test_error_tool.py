"""ErrorClassify in the model-facing form, and as a spec file."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from interlock import ErrorClassify, InputInvalid, _core
from interlock.tools import _clock, _schema_errors, call, definitions
from interlock.tools._limits import PACKS_LIMIT

from . import schemas
from .command import interlock

if TYPE_CHECKING:
    from collections.abc import Mapping

Wire = dict[str, Any]

RULE: Wire = {"id": "cold", "contains": "warming up", "class": "transient", "action": "backoff"}
SPENT: Wire = {"status": 429, "body": {"error": {"type": "insufficient_quota"}}}
DATED: Wire = {"status": 503, "retryAfter": "Wed, 21 Oct 2015 07:28:00 GMT"}

SPEC = """\
tool: ErrorClassify
rules:
  - { id: cold, contains: warming up, class: transient, action: backoff }
packs: [openai]
"""

FAULTY: dict[str, object] = {
    "status": "404",
    "exit_code": 1,
    "exitCode": 1.5,
    "signal": 9,
    "code": 1,
    "message": ["x"],
    "retryAfter": {},
    "attempt": "1",
    "maxAttempts": 0,
    "now": "2026-01-01T00:00:00",
    "maxWaitMs": -1,
    "provider": 1,
    "headers": {"retry-after": {}},
    "command": [1],
    "errno": 1.5,
    "stdout": 1,
    "retry_aftr": "30",
    "rules": [
        {"id": "a"},
        {**RULE, "id": "a", "class": "bugg", "matches": "(", "waitMs": -1, "when": []},
        3,
        {**RULE, "id": "", "contains": "", "matches": ""},
    ],
    "packs": ["openay", 1, "git", "git"],
}
NAMED = {
    *("status", "exitCode", "signal", "code", "message", "retryAfter", "attempt", "maxAttempts"),
    *("now", "maxWaitMs", "provider", "headers.retry-after", "command", "errno", "stdout"),
    *("retry_aftr", "rules[0]", "rules[0].class", "rules[0].action", "rules[1].id"),
    *("rules[1].class", "rules[1].matches", "rules[1].waitMs", "rules[1].when", "rules[2]"),
    *("rules[3].id", "rules[3].contains", "rules[3].matches"),
    *("packs[0]", "packs[1]", "packs[3]"),
}


def classify(**given: object) -> Wire:
    return cast("Wire", call("ErrorClassify", given))


def refused(arguments: object) -> list[str]:
    """Give the field of every problem of a call that is refused."""
    with pytest.raises(InputInvalid) as caught:
        call("ErrorClassify", cast("Mapping[str, object]", arguments))
    return [problem.field for problem in caught.value.problems]


def input_schema() -> Wire:
    found = {tool["name"]: tool["inputSchema"] for tool in cast("list[Wire]", definitions())}
    return cast("Wire", found["ErrorClassify"])


class TestCall:
    def test_the_signals_stand_beside_rules_and_packs(self) -> None:
        assert "openai/insufficient_quota" == classify(**SPENT)["matched"]
        assert "status:429" == classify(**SPENT, packs=[])["matched"]
        found = classify(status=404, message="It is warming up", rules=[RULE])
        assert ("cold", "custom", "backoff") == (found["matched"], found["source"], found["action"])

    def test_nothing_is_an_answer(self) -> None:
        expected = ErrorClassify().classify().to_dict()
        assert expected == call("ErrorClassify", {})
        nothing = dict.fromkeys(input_schema()["properties"])
        assert expected == call("ErrorClassify", nothing)

    def test_both_spellings_of_a_name(self) -> None:
        one = classify(exitCode=1, retryAfter=7, maxAttempts=3, attempt=3, maxWaitMs=5)
        two = classify(exit_code=1, retry_after=7, max_attempts=3, attempt=3, max_wait_ms=5)
        assert one == two

    def test_a_whole_number_may_have_a_point(self) -> None:
        rule = {"id": "a", "status": 404.0, "class": "ok", "action": "skip", "waitMs": 5.0}
        assert ["status"] == refused({"status": 404.5, "rules": [rule]})
        assert "a" == classify(status=404.0, rules=[rule])["matched"]
        assert classify(exitCode=137) == classify(exitCode=137.0)

    def test_now_of_the_input_comes_first(self) -> None:
        at = 1_445_412_480_000
        assert None is classify(**DATED)["waitMs"]
        assert 1_000 == call("ErrorClassify", DATED, now=at - 1_000)["waitMs"]
        assert 2_000 == call("ErrorClassify", {**DATED, "now": at - 2_000}, now=at)["waitMs"]
        assert 1_000 == call("ErrorClassify", {**DATED, "now": None}, now=at - 1_000)["waitMs"]

    def test_no_clock_is_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def read() -> int:
            raise AssertionError("a clock was read")

        monkeypatch.setattr(_clock, "read", read)
        assert "2015-10-21T07:28:00.000Z" == classify(**DATED)["retryAt"]

    def test_the_callers_input_is_left_as_it_was(self) -> None:
        given = {**DATED, "rules": [RULE], "packs": []}
        before = json.dumps(given)
        call("ErrorClassify", given, now=0)
        assert before == json.dumps(given)


class TestRefusals:
    def test_every_fault_at_once(self) -> None:
        found = refused(FAULTY)
        assert sorted(NAMED) == sorted(found)

    @pytest.mark.parametrize("field", [name for name in FAULTY if name != "exit_code"])
    def test_each_fault_alone(self, field: str) -> None:
        other = {"exit_code": 1} if field == "exitCode" else {}
        found = set(refused({**other, field: FAULTY[field]}))
        assert {name for name in NAMED if name.split(".")[0].split("[")[0] == field} == found

    def test_now_of_the_caller_is_named_too(self) -> None:
        with pytest.raises(InputInvalid, match="now: ") as caught:
            call("ErrorClassify", {"status": "x"}, now="2026-01-01T00:00:00")
        assert {"status", "now"} == {problem.field for problem in caught.value.problems}

    def test_a_record_has_no_value(self) -> None:
        assert ["value"] == refused({"value": {"status": 429}})

    @pytest.mark.parametrize("field", ["retryAfter", "headers", "status", "errno", "attempt"])
    def test_a_number_of_thousands_of_digits(self, field: str) -> None:
        number = 10**5_000
        told = {"retry-after": number} if field == "headers" else number
        named = "headers.retry-after" if field == "headers" else field
        assert [named] == refused({field: told})


class TestLimits:
    def test_rules(self) -> None:
        rules = [{**RULE, "id": str(number)} for number in range(257)]
        assert "0" == classify(message="warming up", rules=rules[:256])["matched"]
        assert ["rules"] == refused({"rules": rules})

    def test_headers(self) -> None:
        headers = {str(number): "" for number in range(513)}
        assert ["headers"] == refused({"headers": headers})
        headers.pop("0")
        assert "default" == classify(headers=headers)["matched"]

    def test_packs(self) -> None:
        assert len(_core.error_packs()) <= PACKS_LIMIT
        assert "default" == classify(packs=[name for name, _, _ in _core.error_packs()])["matched"]
        assert ["packs[1]"] == refused({"packs": ["openai", "openai"]})
        assert ["packs"] == refused({"packs": ["openai"] * (PACKS_LIMIT + 1)})

    def test_a_message_is_read_so_far(self) -> None:
        told = [classify(message="x" * count + " forbidden") for count in (63_990, 63_992)]
        assert ["message:forbidden", "default"] == [found["matched"] for found in told]
        assert "64,000" in input_schema()["properties"]["message"]["description"]


class TestSchema:
    def test_names_are_those_of_the_core(self) -> None:
        classes, actions = _core.error_names()
        rule = schemas.properties_at(input_schema(), ".rules[]")
        assert (classes, actions) == (rule["class"]["enum"], rule["action"]["enum"])
        assert [*_schema_errors.ACTIONS] == actions
        packs = [name for name, _, _ in _core.error_packs()]
        assert packs == input_schema()["properties"]["packs"]["items"]["enum"]

    def test_the_spec_has_no_signals(self) -> None:
        spec, inputs = ErrorClassify.json_schema(), input_schema()
        properties = cast("Wire", spec["properties"])
        assert ["rules", "packs", "tool"] == [*properties]
        assert properties["rules"] == inputs["properties"]["rules"]
        assert [] == spec["required"] == inputs["required"]

    @pytest.mark.parametrize(
        "field", [*(name for name in FAULTY if name not in ("exit_code", "now"))]
    )
    def test_it_refuses_what_the_call_refuses(self, field: str) -> None:
        assert not schemas.is_taken(input_schema(), {field: FAULTY[field]})

    @pytest.mark.parametrize(
        "given",
        [
            {"retryAfter": 7.5, "errno": 104, "command": ["git", "push"], "body": []},
            {"headers": {"Retry-After": 30, "x": ["a", "b"]}, "body": "text", "errno": "EPIPE"},
            {"rules": [{**RULE, "matches": "^a", "status": 1, "exitCode": -1, "waitMs": 0}]},
            {"rules": [], "packs": [], "now": 0, "body": True, "attempt": -1},
        ],
    )
    def test_what_it_takes_is_taken(self, given: Wire) -> None:
        assert schemas.is_taken(input_schema(), given)
        assert call("ErrorClassify", given)


class TestSpecFile:
    @pytest.fixture
    def rules(self, tmp_path: Path) -> Path:
        path = tmp_path / "errors.yaml"
        path.write_text(SPEC, encoding="utf-8")
        return path

    def test_records_are_signals(self, rules: Path) -> None:
        given = [{"status": 404, "message": "warming up"}, SPENT, {"exitCode": 137}, {}]
        records = "\n".join(json.dumps(record) for record in given).encode()
        ran = interlock("decide", rules, "--summary", "--explain", stdin=records)
        expected = [
            ErrorClassify([RULE], packs=["openai"]).classify_data(record).to_dict()
            for record in given
        ]
        assert (0, expected) == (ran.code, ran.rows)
        assert "transient / backoff" in ran.err

    def test_one_without_rules(self, tmp_path: Path) -> None:
        path = tmp_path / "errors.json"
        path.write_text('{"tool": "ErrorClassify"}', encoding="utf-8")
        assert (0, []) == (interlock("lint", path).code, interlock("lint", path).lines)
        assert "status:429" == interlock("decide", path, stdin=b'{"status":429}').rows[0]["matched"]

    def test_lint_finds_every_fault_at_its_place(self, rules: Path) -> None:
        assert (0, []) == (interlock("lint", rules).code, interlock("lint", rules).lines)
        faulty = SPEC.replace("transient", "transent").replace("[openai]", "[openay]")
        rules.write_text(faulty.replace("id: cold", r"id: cold, matches: '(\w)\1'"), "utf-8")
        ran = interlock("lint", rules)
        places = [line.removeprefix(str(rules)).split(": ")[:2] for line in ran.lines]
        assert [[":3:26", "rules[0].matches"], ["rules[0].class"], ["packs[0]"]] == [
            places[0],
            places[1][1:],
            places[2][1:],
        ]
        assert 1 == ran.code
        assert 'did you mean "transient"?' in ran.lines[1]

    def test_a_record_that_is_no_mapping(self, rules: Path) -> None:
        ran = interlock("decide", rules, stdin=b'[1]\n{"status":"x","code":1}\n{}')
        assert (1, 3) == (ran.code, len(ran.rows))
        assert "signals: [1]: must be a mapping of signals" == ran.rows[0]["error"]
        assert "status: " in ran.rows[1]["error"]
        assert "code: " in ran.rows[1]["error"]
