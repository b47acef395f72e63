"""Errors as signals: what tables and packs know, near misses of it, and noise."""

import json
from functools import cache
from typing import Any

from hypothesis import strategies as st
from laws import time_strategies as ts
from laws.pattern_strategies import patterns, subjects

from oracle.error_bodies import CODE_KEYS, TEXT_KEYS
from oracle.error_packs import load_packs
from oracle.errors import ACTIONS, CLASSES, tables

Wire = dict[str, Any]
PHRASES: list[str] = [phrase for phrase, *_ in tables()["message"]]
NOISE = (
    "",
    "x",
    "E_COLD",
    "ENOENT_",
    "req_429abc",
    "upstream failed",
    "1429 tokens",
    "\u212aelvin",
)


def _all(field: str) -> list[str]:
    """Every entry of one condition over all rules of all packs."""
    rules = [rule for pack in load_packs().values() for rule in pack["rules"]]
    return sorted({entry for rule in rules for entry in rule.get(field, ())})


def _names(field: str) -> list[str]:
    """Every provider or program that a pack serves."""
    return sorted({name for pack in load_packs().values() for name in pack.get(field, ())})


@cache
def _codes() -> st.SearchStrategy[str]:
    known = st.sampled_from([*tables()["code"], *_all("codes")])
    return st.one_of(known, known, known.map(str.swapcase), st.sampled_from(NOISE))


@cache
def texts() -> st.SearchStrategy[str]:
    """Texts with phrases in any case, some of them inside longer words."""
    known = st.sampled_from([*PHRASES, *_all("phrases")])
    cased = st.builds(
        lambda change, phrase: change(phrase), st.sampled_from((str, str.upper, str.title)), known
    )
    parts = st.lists(st.one_of(cased, cased, st.sampled_from(NOISE), subjects()), max_size=4)
    return st.builds(lambda glue, found: glue.join(found), st.sampled_from((" ", ": ", "")), parts)


@cache
def _status() -> st.SearchStrategy[int]:
    near = st.sampled_from([int(status) for status in tables()["status"]])
    return st.one_of(near, near, st.integers(-1, 700), st.sampled_from((200, 10**15)))


@cache
def _exit() -> st.SearchStrategy[int]:
    known = [int(code) for table in ("exit", "exit_signals") for code in tables()[table]]
    return st.one_of(st.sampled_from((*known, 1, 255)), st.integers(-10, 260))


@st.composite
def rules(draw: st.DrawFn) -> list[Wire]:
    """Rules of a caller: mostly sound, some that cannot be decided or are refused."""
    conditions: dict[str, st.SearchStrategy[object]] = {
        "contains": st.one_of(st.sampled_from(PHRASES), subjects().filter(bool)),
        "matches": patterns().map(lambda source: source.replace("(?m:", "(?:")).filter(bool),
        "status": _status(),
        "exitCode": _exit(),
    }
    found: list[Wire] = []
    for name in draw(st.lists(st.sampled_from("abc"), max_size=3, unique=True)):
        picked = draw(st.lists(st.sampled_from(list(conditions)), min_size=1, max_size=2))
        rule: Wire = {field: draw(conditions[field], field) for field in picked}
        rule["class"] = draw(st.sampled_from(CLASSES))
        rule["action"] = draw(st.sampled_from(ACTIONS))
        if draw(st.booleans()):
            rule["waitMs"] = draw(st.sampled_from((0, 1_500, 10**12)))
        found.append({"id": name, **rule})
    return found


@st.composite
def old_signals(draw: st.DrawFn) -> Wire:
    """Signals without a body, headers or a program."""
    names = st.sampled_from([*tables()["signal"], "SIGNOPE", ""])
    parts: dict[str, st.SearchStrategy[object]] = {
        "status": _status(),
        "exitCode": _exit(),
        "signal": st.one_of(names, names.map(str.lower)),
        "code": _codes(),
        "message": texts(),
        "retryAfter": st.one_of(ts.headers(), st.integers(0, 10**20), st.sampled_from((7.5, "30"))),
        "attempt": st.integers(0, 4),
        "maxAttempts": st.integers(1, 4),
        "now": st.builds(ts.formed, ts.millis(), st.sampled_from(("int", "text", "float"))),
    }
    picked = draw(st.lists(st.sampled_from(list(parts)), max_size=6, unique=True))
    return {field: draw(parts[field], field) for field in picked}


@cache
def _amounts() -> st.SearchStrategy[object]:
    """Waits, as numbers and as texts of every make."""
    numbers = st.one_of(
        st.integers(-1, 10_000),
        st.sampled_from((0.5, 64.57, 1e-9, 1_735_689_600, 8_640_000_000_001, 10**16, 10**30)),
    )
    made = st.sampled_from(
        (
            *("14s", "45.837906927s", "0.0000000001s", "-1s", "1s", "6m0s", "20ms", "1h2m3.5s"),
            *("1m20ms", "s", "1.5m", "5", "1.0005", "-3", "soon", " 9 ", "2026-10-01T00:00:00Z"),
            *("2015-10-21T07:28:00Z", "2015-10-21T07:28:00", "Wed, 21 Oct 2015 07:28:00 GMT"),
        )
    )
    return st.one_of(numbers, numbers.map(str), made)


WAIT_FIELDS = (
    *("retryDelay", "retry_after", "retryAfter", "retry_after_seconds", "resets_in_seconds"),
    *("retry_after_ms", "retryAfterMs", "resets_at"),
)
WAIT_HEADERS = ("Retry-After", "retry-after-ms", "x-ms-retry-after-ms")
_PER = ("requests", "tokens", "input-tokens", "output-tokens")
RESETS = (
    *((f"x-ratelimit-reset-{what}", f"x-ratelimit-remaining-{what}") for what in _PER[:2]),
    *(
        (f"anthropic-ratelimit-{what}-reset", f"anthropic-ratelimit-{what}-remaining")
        for what in _PER
    ),
    ("X-RateLimit-Reset", "X-RateLimit-Remaining"),
    ("x-rate-limit-reset", "x-rate-limit-remaining"),
    ("RateLimit-Reset", "RateLimit-Remaining"),
)


@st.composite
def _error_objects(draw: st.DrawFn, depth: int = 2) -> Wire:
    """An error object with codes, texts, waits, a status, and more inside."""
    found: Wire = {}
    for _ in range(draw(st.integers(0, 4))):
        sort = draw(st.integers(0, 9))
        if sort < 4:
            found[draw(st.sampled_from(CODE_KEYS))] = draw(_codes())
        elif sort < 7:
            found[draw(st.sampled_from(TEXT_KEYS))] = draw(texts())
        elif sort == 7:
            found[draw(st.sampled_from(WAIT_FIELDS))] = draw(_amounts())
        elif sort == 8:
            status = st.one_of(_status(), st.sampled_from(("429", 429.5, True, None)))
            found[draw(st.sampled_from(("code", "status", "statusCode")))] = draw(status)
        elif depth:
            inner = _error_objects(depth - 1)
            found[draw(st.sampled_from(("details", "metadata", "innererror")))] = draw(
                st.one_of(inner, st.lists(inner, max_size=3))
            )
    return found


@st.composite
def _bodies(draw: st.DrawFn) -> object:
    """Bodies of errors in their shapes, as JSON or as text, and those of success."""
    inner = draw(_error_objects())
    shape = draw(st.integers(0, 9))
    if shape == 0:
        words = f"<Error><Code>{draw(_codes())}</Code><Message>{draw(texts())}</Message></Error>"
        return draw(st.sampled_from((words, words.replace("Message", "Note"))))
    if shape == 1:
        return draw(texts())
    wrapped: object = (
        {"error": inner},
        {"errors": [inner, "x", draw(_error_objects())]},
        inner,
        {"type": "error", "error": inner, "request_id": "req_429abc"},
        {"error": draw(_codes()), **inner},
        {"kind": "Status", "status": "Failure", **inner},
        [{"error": inner}, 1],
        {"choices": [{"message": {"content": draw(texts())}}], "error": None},
    )[shape - 2]
    return json.dumps(wrapped) if draw(st.booleans()) else wrapped


@st.composite
def _headers(draw: st.DrawFn) -> dict[str, str]:
    """Headers that name waits, resets, codes, and what packs ask for."""
    found: dict[str, str] = {"Content-Type": "application/json"}
    for name in draw(st.lists(st.sampled_from(WAIT_HEADERS), max_size=2)):
        found[name] = str(draw(st.one_of(_amounts(), ts.headers())))
    for name, twin in draw(st.lists(st.sampled_from(RESETS), max_size=3)):
        found[name] = str(draw(_amounts()))
        if draw(st.booleans()):
            found[twin] = draw(st.sampled_from(("0", "0", "1", "39", "")))
    if draw(st.booleans()):
        coded = st.sampled_from(("x-amzn-ErrorType", "x-ms-error-code", "x-amz-error-code"))
        tail = draw(st.sampled_from(("", ":http://example.test/")))
        found[draw(coded)] = draw(_codes()) + tail
    asked: list[tuple[str, str]] = [
        pair
        for pack in load_packs().values()
        for rule in pack["rules"]
        for pair in rule.get("headers", {}).items()
    ]
    if draw(st.booleans()) and asked:
        name, value = draw(st.sampled_from(asked))
        found[name.upper()] = f" {value.upper()} "
    return found


@cache
def _commands() -> st.SearchStrategy[str]:
    known = st.sampled_from([*_names("commands"), *_all("commands"), "nope", "git"])
    line = ("{}", "/usr/bin/{} run", "sudo {} x", "A=b env {}", "python3 -m {} -q", "C:\\x\\{}.exe")
    more = (*line, "timeout 60 {}", "env -u A {}", "uv run {}", "sudo -E {}", "a; {}", "{} 'a;b'")
    return st.builds(lambda form, name: form.format(name), st.sampled_from((*more, " ")), known)


@st.composite
def new_signals(draw: st.DrawFn) -> Wire:
    """Signals of every kind."""
    known = st.sampled_from([*_names("providers"), "nope"])
    parts: dict[str, st.SearchStrategy[object]] = {
        "provider": st.one_of(known, known.map(str.upper)),
        "body": _bodies(),
        "headers": _headers(),
        "command": _commands(),
        "errno": _codes(),
        "stdout": texts(),
        "maxWaitMs": st.sampled_from((0, 1_000, 60_000, 600_000)),
    }
    picked = draw(st.lists(st.sampled_from(list(parts)), min_size=1, max_size=4, unique=True))
    found = draw(old_signals())
    found.update((field, draw(parts[field], field)) for field in picked)
    return found


def signals() -> st.SearchStrategy[Wire]:
    """Signals that the library takes."""
    return st.one_of(old_signals(), new_signals())
