"""Finer points of the reference of ErrorClassify, on a small pack of its own."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from . import error_packs
from .error_bodies import error_objects
from .error_packs import evidence, says
from .error_program import program
from .error_waits import duration, named_wait, reset_wait
from .errors import classify

Wire = dict[str, Any]
AGAIN = {"class": "transient", "action": "retry"}
RULES: list[Wire] = [
    {"id": "spent", "codes": ["spent"], "class": "quota", "action": "escalate"},
    {"id": "slow", "phrases": ["slow down"], **AGAIN, "action": "retry_after", "waitMs": 60_000},
    {"id": "day", "matches": "per.?day", "class": "quota", "action": "escalate"},
    {"id": "head", "headers": {"x-should-retry": "false"}, "class": "bug", "action": "fail"},
    {"id": "busy", "status": [503], "class": "capacity", "action": "backoff"},
]
PROGRAM: list[Wire] = [{"id": "one", "exit": [1], "class": "ok", "action": "continue"}]
SHELL: list[Wire] = [{"id": "same", "commands": ["diff"], "exit": [1], **AGAIN}]


@pytest.fixture(autouse=True)
def packs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    made: dict[str, Wire] = {
        "openai": {"providers": ["openai", "oai"], "rules": RULES},
        "aws": {"providers": ["aws"], "rules": [{**RULES[0], "class": "bug"}]},
        "grep": {"commands": ["grep"], "rules": PROGRAM},
        "shell": {"commands": ["diff"], "rules": SHELL},
    }
    for name, pack in made.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"pack": name, **pack}))
    monkeypatch.setattr(error_packs, "PACKS", tmp_path)
    error_packs.load_packs.cache_clear()
    yield
    error_packs.load_packs.cache_clear()


@pytest.mark.parametrize(
    ("given", "matched"),
    [
        ({"status": 429, "body": {"error": {"code": "spent"}}}, "openai/spent"),
        ({"status": 429, "body": {"error": {"code": "Spent"}}}, "status:429"),
        ({"provider": "AWS", "body": {"error": "spent"}}, "aws/spent"),
        ({"provider": "OAI", "status": 503}, "openai/busy"),
        ({"provider": "nope", "status": 503}, "status:503"),
        ({"status": 400, "body": '[{"quotaId": "XPerDay"}]'}, "openai/day"),
        ({"status": 500, "headers": {"X-Should-Retry": " False "}}, "openai/head"),
        ({"status": 500, "headers": {"x-amzn-errortype": "a.b#spent:http://x"}}, "openai/spent"),
        ({"status": 400, "body": "<Error><Code>spent</Code></Error>"}, "openai/spent"),
        ({"status": 200, "body": {"text": "slow down"}}, "status:2xx"),
        ({"status": 200, "body": {"type": "error", "message": "slow down"}}, "openai/slow"),
        ({"status": 200, "body": {"error": {"message": "timeout"}}}, "message:timeout"),
        ({"status": 200, "body": {"error": {"code": 503}}, "provider": "oai"}, "openai/busy"),
        ({"exitCode": 0, "stdout": "slow down", "provider": "oai"}, "exit:0"),
        ({"exitCode": 1, "command": "sudo /bin/grep x"}, "grep/one"),
        ({"exitCode": 1, "command": "diff a b"}, "shell/same"),
        ({"exitCode": 1, "command": "cat"}, "default"),
        ({"status": 429, "message": "slow down"}, "status:429"),
        ({"errno": "ENOENT"}, "code:ENOENT"),
    ],
)
def test_what_decides(given: Wire, matched: str) -> None:
    assert matched == classify(given)["matched"]


def test_packs_are_chosen() -> None:
    given = {"status": 429, "body": {"error": {"code": "spent"}}}
    assert ["openai/spent", "aws/spent", "status:429"] == [
        classify(given, packs=packs)["matched"] for packs in (None, ["aws"], [])
    ]


def test_the_server_outranks_a_pack_and_a_caller_the_server() -> None:
    given = {"provider": "oai", "message": "slow down"}
    rule = {"id": "r", "contains": "slow", **AGAIN, "waitMs": 5}
    assert 60_000 == classify(given)["waitMs"]
    assert 7_000 == classify({**given, "retryAfter": 7})["waitMs"]
    assert 5 == classify({**given, "retryAfter": 7}, [rule])["waitMs"]
    found = classify({**given, "maxWaitMs": 59_999})
    assert ("escalate", 60_000, False) == (found["action"], found["waitMs"], found["retryable"])


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("git fetch", "git"),
        ("sudo env A=b /usr/bin/git", "git"),
        ("C:\\bin\\Git.EXE x", "Git"),
        ("python3.11 -m pip x", "pip"),
        ("python -c x", "python"),
        ("", None),
    ],
)
def test_the_program_of_a_command(command: str, name: str | None) -> None:
    assert name == program(command, None)


def test_phrases_stand_alone() -> None:
    assert says("x: SLOW DOWN!", "slow down")
    assert says("slow downs, slow down", "slow down")
    assert not says("slow downs", "slow down")
    assert not says("_slow down", "slow down")
    assert says("x[E1]x", "[E1]")


def test_error_objects() -> None:
    assert [{"a": 1}] == error_objects({"error": {"a": 1}, "code": "x"}, good=True)
    assert [{"a": 1}] == error_objects({"errors": [{"a": 1}, {}]}, good=True)
    mixed: Wire = {"errors": [{"a": 1}, "x"]}
    assert [{"a": 1}] == error_objects(mixed, good=True)
    assert [mixed | {"ok": False}] == error_objects(mixed | {"ok": False}, good=True)
    assert [] == error_objects({"error": None, "code": "x"}, good=True)
    assert [] == error_objects({"error": "x", "code": "y"}, good=True)
    body = {"error": "x", "error_description": "y"}
    assert [body] == error_objects(body, good=True)
    deep: Wire = {"code": "in"}
    for _ in range(6):
        deep = {"details": deep, "code": "out"}
    assert ["out"] * 6 == evidence({"body": {"error": deep}}).codes


@pytest.mark.parametrize(
    ("given", "wait"),
    [
        ({"headers": {"Retry-After": "soon", "retry-after-ms": "1.2"}}, 2),
        ({"headers": {"Retry-After": "5"}, "retryAfter": "soon"}, 5_000),
        ({"body": {"error": {"details": [{"retryDelay": "0.0001s"}]}}}, 1),
        ({"body": {"retry_after": "64.57"}}, 64_570),
        ({"body": {"retry_after": -1, "retryAfterMs": 7.5}}, 8),
        ({"body": {"resets_at": 10.0001}, "now": 5_000}, 5_001),
        ({"body": {"resets_at": 8_640_000_000_001}, "now": 0}, None),
        ({"body": {"resets_at": 5}, "now": 9_000}, 0),
    ],
)
def test_the_first_hint_that_reads(given: Wire, wait: int | None) -> None:
    assert wait == named_wait(given, evidence(given)).ms


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, 360_000),
        ({"x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-remaining-tokens": "3"}, None),
        ({"x-ratelimit-reset-tokens": "20ms", "x-ratelimit-remaining-tokens": "0"}, 20),
        ({"anthropic-ratelimit-tokens-reset": "2026-01-01T00:00:09Z"}, 9_000),
        ({"x-ratelimit-reset": "1767225605", "ratelimit-reset": "4"}, 5_000),
        ({"x-ratelimit-reset-after": "1.5"}, 1_500),
        ({"anthropic-ratelimit-unified-reset": "1767225607"}, 7_000),
        ({"x-ratelimit-reset": "Thu, 01 Jan 2026 00:00:06 GMT"}, 6_000),
        ({"x-ratelimit-reset": "soon"}, None),
    ],
)
def test_reset_headers(headers: dict[str, str], wait: int | None) -> None:
    given = {"headers": headers, "now": "2026-01-01T00:00:00Z"}
    assert wait == reset_wait(given, evidence(given)).ms


def test_durations() -> None:
    found = [duration(text) for text in ("1h2m3.5s", "1m20ms", "1.5m", "5", "", "s", "1s2m")]
    assert [3_723_500, 60_020, 90_000, None, None, None, None] == found
