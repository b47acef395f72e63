"""What counts as evidence of an error: whole kinds of signals, in the core as in the reference."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlock import ErrorClassify
from oracle import classify as reference
from oracle.error_bodies import PART_KEYS
from oracle.error_packs import load_packs

CLASSIFIER = ErrorClassify()

COMPOUND = (
    *("grep a b; ls", "grep a b && ls", "grep a b || ls", "grep a b | ls", "grep a b &"),
    *("grep a b\nls", "ls;grep a b", "cd x&&grep a b", "grep 2>&1 a|ls"),
)
WRAPPED = (
    *("grep a b", "grep a b 2>&1", "grep.exe a", "C:\\bin\\GREP.cmd".replace("GREP", "grep")),
    *("env -u X A=1 grep a", "env -i grep a", "sudo -E grep a", "sudo -u me -- grep a"),
    *("timeout 60 grep a", "timeout -k 5 --signal=INT 60 grep a", "uv run grep a"),
    *("poetry run grep a", "python -X dev -m grep", "nice -n 5 nohup grep a", "grep \\; a"),
    *("uv run --frozen python3.12 -m grep", "sudo env A=1 timeout 5 grep a"),
)
UNCLEAR = (
    *("sudo -x grep a", "env -S grep", "timeout --new 5 grep a", "uv run --new x grep a"),
    *("uv --new run grep a", "python -x -m grep", "sudo", "timeout 60", "sudo -u", "python -m"),
)


def answer(**signals: Any) -> dict[str, object]:
    """The answer, which the reference gives too."""
    found: dict[str, Any] = dict(CLASSIFIER.classify_data(signals).to_dict())
    assert reference(signals) == found
    return found


def matched(**signals: Any) -> object:
    return answer(**signals)["matched"]


ERROR = {"error": {"code": 429, "message": "Rate limit exceeded"}}
LINE = json.dumps(ERROR)
CHUNK = json.dumps({"choices": [{"delta": {"content": "rate limit exceeded"}}]})
BROKEN = [
    f"data: {CHUNK}\n\ndata: {LINE}\n\n",
    f": hello\n\ndata: {LINE}\n\n",
    f"id: 1\r\nevent: error\r\ndata: {LINE}\r\n\r\n",
    f"retry: 10\ndata:{LINE}",
    "data: {\ndata: " + LINE[1:] + "\n\n",
    f"data: {CHUNK}\ndata: {LINE}\n",
    f"{CHUNK}\n\n{LINE}\n",
    f"{CHUNK}\n{CHUNK}\nnoise\n{LINE}",
    {"choices": [{"index": 0, "error": {"code": 429, "message": "x"}}]},
    [1, ERROR],
    {"ok": False, "error": "RESOURCE_EXHAUSTED"},
    {"success": False, "errors": ["rate limit exceeded"]},
    {"error": "slow_down", "error_description": "rate limit exceeded"},
    {"type": "error", "message": "rate limit exceeded"},
    '<Error xmlns="x"><Code>SlowDown</Code></Error>',
    '<?xml version="1.0"?>\n<ErrorResponse\nxmlns="x"><Error><Code>SlowDown</Code></Error>',
]
ORDINARY = [
    {"valid": False, "errors": ["rate limit must be a number"]},
    {"error": "none"},
    {"error": "rate limit exceeded", "ok": True},
    [{"type": "error", "message": "rate limit exceeded"}],
    [{"ok": False, "error": "rate limit exceeded"}],
    {"choices": [{"error": None}, {"error": {}}, 1, {"text": "rate limit exceeded"}]},
    {"choices": {"error": {"code": 429}}},
    f"data: {CHUNK}\n\ndata: [DONE]\n\n",
    f"{CHUNK}\n{CHUNK}\n",
    f"{CHUNK}\nrate limit exceeded\n{LINE}",
    "<Errors><Code>SlowDown</Code></Errors>",
    "id: rate limit exceeded",
]


class TestBodies:
    @pytest.mark.parametrize("body", BROKEN, ids=repr)
    @pytest.mark.parametrize("success", [{"status": 200}, {"exitCode": 0}], ids=repr)
    def test_an_error_contradicts_a_success(self, body: object, success: dict[str, Any]) -> None:
        assert "rate_limited" == answer(**success, body=body)["class"]
        assert "rate_limited" == answer(status=429, body=body)["class"]

    @pytest.mark.parametrize("body", ORDINARY, ids=repr)
    def test_an_ordinary_answer_is_none(self, body: object) -> None:
        assert "status:2xx" == matched(status=200, body=body)
        assert "exit:0" == matched(exitCode=0, body=body)

    @pytest.mark.parametrize(
        "name", ["input", "param", "items", "data", "request", "ctx", "parameters", "content"]
    )
    def test_what_is_quoted_does_not_decide(self, name: str) -> None:
        quoted = {"code": "insufficient_quota", "message": "rate limit", "status": 429}
        for given in (quoted, [quoted], {"error": quoted}):
            for body in ({"error": {"code": "x", name: given}}, {"detail": [{name: given}]}):
                assert "status:422" == matched(status=422, body=body)

    @pytest.mark.parametrize("name", PART_KEYS)
    def test_what_tells_of_the_error_is_read(self, name: str) -> None:
        told = {"code": "insufficient_quota"}
        for given in (told, [told], [[told]]):
            body = {"error": {"code": "x", name: given}}
            assert "openai/insufficient_quota" == matched(status=429, body=body)

    def test_under_a_failure_they_are_read(self) -> None:
        for body in ({"error": "rate limit exceeded"}, [{"message": "rate limit exceeded"}]):
            assert "rate_limited" == answer(exitCode=1, body=body)["class"]
        for text in (f"data: {LINE}", f"{CHUNK}\n{LINE}", "data: rate limit exceeded"):
            assert "rate_limited" == answer(exitCode=1, body=text)["class"]


class TestPacks:
    @pytest.mark.parametrize(
        ("name", "text", "signals"),
        [
            ("git", "fatal: not a git repository", {"command": "git", "exitCode": 128}),
            ("shell", "No space left on device", {"command": "cat notes.txt", "exitCode": 1}),
            ("docker", "write: no space left on device", {"command": "docker", "exitCode": 9}),
        ],
    )
    def test_what_a_program_prints_is_no_evidence(
        self, name: str, text: str, signals: dict[str, Any]
    ) -> None:
        assert str(matched(**signals, message=text)).startswith(f"{name}/")
        assert matched(**signals, stdout=text) == matched(**signals)

    def test_some_programs_print_their_errors(self) -> None:
        text = "Interrupted: 2 errors during collection"
        for field in ("stdout", "message"):
            signals = {"exitCode": 2, field: f"ERROR collecting a.py\n{text}"}
            assert "pytest/collection_error" == matched(command="pytest", **signals)
        assert {"pytest", "terraform"} == {n for n, p in load_packs().items() if p.get("stdout")}

    def test_a_named_rule_needs_the_name_of_its_pack(self) -> None:
        full = {"message": "write: no space left on device"}
        for signals in ({"command": "podman build ."}, {"provider": "DockerHub"}):
            assert "docker/disk_full" == matched(**full, **signals)
        others: list[dict[str, Any]] = [{"command": "ls"}, {"headers": {}}, {"provider": "nobody"}]
        for other in others:
            assert "docker/disk_full" != matched(**full, **other)

    @pytest.mark.parametrize("form", COMPOUND)
    def test_of_more_than_one_command_none_is_the_program(self, form: str) -> None:
        assert "default" == matched(exitCode=1, command=form)
        assert "shell/no_match" == matched(exitCode=1, command=f"grep '{form}' a")
        for words in (["grep", form], ["grep", "-e", form, "a\\"], ["grep", f'"{form}', "x\\ y\\"]):
            found = CLASSIFIER.classify_data({"exitCode": 1, "command": words})
            assert "shell/no_match" == found.matched
        said = {"message": "cat: a: No space left on device"}
        assert str(matched(exitCode=1, command=form, **said)).startswith("shell/")

    @pytest.mark.parametrize("form", WRAPPED)
    def test_what_stands_before_a_program_is_seen_through(self, form: str) -> None:
        assert "shell/no_match" == matched(exitCode=1, command=form)
        words = {"exitCode": 1, "command": form.split(" ")}
        assert "shell/no_match" == CLASSIFIER.classify_data(words).matched

    @pytest.mark.parametrize("form", UNCLEAR)
    def test_what_is_not_certain_is_no_program(self, form: str) -> None:
        assert "default" == matched(exitCode=1, command=form)

    def test_no_rule_repeats_the_programs_of_its_pack(self) -> None:
        for pack in load_packs().values():
            programs = sorted(pack.get("commands", ()))
            for rule in pack["rules"]:
                assert not programs or sorted(rule.get("commands", ())) != programs
                assert rule.get("named", True) is True


DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


class TestWaits:
    def test_a_wait_of_a_rule_stands_alone(self) -> None:
        rule = {"id": "a", "status": 503, "class": "transient", "action": "retry", "waitMs": 5}
        for now in ({}, {"now": 0}):
            signals = {"status": 503, "retryAfter": DATE, "rules": [rule], **now}
            expected = reference(signals)
            del signals["rules"]
            found = ErrorClassify([rule]).classify_data(signals).to_dict()
            assert expected == found
            assert (5, None, "retry_after") == (
                found["waitMs"],
                found["retryAt"],
                found["action"],
            )

    def test_a_date_without_a_present_is_no_wait_that_may_be(self) -> None:
        found = answer(status=503, retryAfter=DATE, maxWaitMs=10**9)
        assert ("escalate", None) == (found["action"], found["waitMs"])
        assert found["retryAt"] is not None
        assert "retry_after" == answer(status=503, retryAfter=DATE)["action"]
        now = {"now": "2026-10-21T07:27:59Z"}
        assert (
            "retry_after" == answer(status=503, retryAfter=DATE, maxWaitMs=1_000, **now)["action"]
        )
        assert "escalate" == answer(status=503, retryAfter=DATE, maxWaitMs=999, **now)["action"]
        assert "fail" == answer(status=404, retryAfter=DATE, maxWaitMs=1)["action"]


def test_a_long_output_ends_with_its_error() -> None:
    text = "progress\n" * 10_000 + "fatal: unable to access: Could not resolve host: example.test\n"
    found = ErrorClassify().classify_data(
        {"command": "git fetch", "exitCode": 128, "message": text}
    )
    assert (found.error_class, found.source) == ("transient", "pack")


@pytest.mark.parametrize(
    ("signals", "wait_ms"),
    [
        ({"headers": {"X-RateLimit-Reset-After": "1.5"}}, 1_500),
        ({"headers": {"anthropic-ratelimit-unified-reset": "1767225607"}}, 7_000),
        ({"headers": {"x-ratelimit-reset": "Thu, 01 Jan 2026 00:00:06 GMT"}}, 6_000),
        ({"headers": {"x-ratelimit-reset": "soon"}}, None),
        (
            {"body": {"kind": "Status", "status": "Failure", "details": {"retryAfterSeconds": 3}}},
            3_000,
        ),
    ],
)
def test_a_limit_says_when_it_is_lifted(signals: dict[str, Any], wait_ms: int | None) -> None:
    given = {"status": 429, "now": "2026-01-01T00:00:00Z", **signals}
    found = ErrorClassify().classify_data(given)
    assert (found.error_class, found.wait_ms) == ("rate_limited", wait_ms)
    assert found.to_dict() == reference(given)
