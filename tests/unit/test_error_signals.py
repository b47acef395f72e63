"""Signals that are wrong, enormous, hostile or odd: a clear refusal, or a right answer."""

from __future__ import annotations

import copy
import json
import pickle
import signal
from collections import OrderedDict, UserDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum, IntEnum, StrEnum
from functools import partial
from itertools import product
from pathlib import Path, PureWindowsPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock import (
    ConfigError,
    ErrorClassify,
    ErrorVerdict,
    Json,
    SpecInvalid,
    error_classify,
)

CLASSIFIER = ErrorClassify()
SPENT = {"code": "insufficient_quota", "message": "No credit left."}
HUGE = 10_000_000
RULE: dict[str, Any] = {"id": "a", "contains": "x", "class": "bug", "action": "fail"}


def matched(**signals: Any) -> str:
    return CLASSIFIER.classify_data(signals).matched


def classified(records: Any) -> list[ErrorVerdict]:
    """The verdicts of many; there are no bad lines among them."""
    return [one for one in CLASSIFIER.classify_many(records) if isinstance(one, ErrorVerdict)]


def faults(ask: Callable[[], object]) -> list[tuple[str, str]]:
    """The code and field of every problem that an input is refused for."""
    with pytest.raises(ConfigError) as caught:
        ask()
    return [(problem.code, problem.field) for problem in caught.value.problems]


def label(value: object) -> str:
    """Name a parameter by what it is: it may be enormous, or not even printable."""
    is_short = isinstance(value, str) and len(value) < 40 and value.isprintable()
    return str(value) if is_short else type(value).__name__


def fields(ask: Callable[[], object]) -> list[str]:
    return [field for _, field in faults(ask)]


def snake_case(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


class Raising(Mapping[str, object]):
    """A mapping that raises whatever it is asked."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __getitem__(self, key: str) -> object:
        raise self.error

    def __iter__(self) -> Iterator[str]:
        raise self.error

    def __len__(self) -> int:
        return 1


class Items(Mapping[Any, Any]):
    """A mapping that shows as items what it is given."""

    def __init__(self, shown: object) -> None:
        self.shown = shown

    def items(self) -> Any:
        return self.shown

    def __getitem__(self, key: object) -> object:
        raise KeyError(key)

    def __iter__(self) -> Iterator[object]:
        return iter(())

    def __len__(self) -> int:
        return 0


class Text(str):
    """A text that cannot be compared."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared")

    __hash__ = str.__hash__


class Number(int):
    """A number that cannot be compared, counted or shown."""

    def __abs__(self) -> int:
        raise RuntimeError("counted")

    def __lt__(self, other: object) -> bool:
        raise RuntimeError("compared")

    def __ge__(self, other: object) -> bool:
        raise RuntimeError("compared")

    def __str__(self) -> str:
        raise RuntimeError("shown")


class Folder:
    """A path of somebody else's."""

    def __init__(self, path: object) -> None:
        self.path = path

    def __fspath__(self) -> Any:
        if isinstance(self.path, Exception):
            raise self.path
        return self.path


class Ended(Enum):
    """Signals with a name and something else."""

    SIGKILL = object()


class Spelled(StrEnum):
    """Signals whose value is the name."""

    KILL = "sigkill"


class Status(IntEnum):
    """A status with a name."""

    TOO_MANY = 429


def each(names: Iterable[str], values: Iterable[Any]) -> list[tuple[str, Any]]:
    return list(product(names, values))


NUMBERS = ("status", "exitCode", "attempt", "maxAttempts", "maxWaitMs")
TEXTS = ("signal", "code", "message", "provider", "stdout")
NO_NUMBERS: tuple[Any, ...] = (
    True,
    1.5,
    float("nan"),
    "1",
    b"1",
    [],
    {},
    object(),
    1 << 53,
    -(10**400),
    10**5000,
)
NO_TEXTS: tuple[Any, ...] = (True, 1, 1.5, b"x", bytearray(b"x"), ["x"], {}, object())
WRONG: list[tuple[str, Any]] = [
    *each(NUMBERS, NO_NUMBERS),
    *each(TEXTS, NO_TEXTS),
    *each(("maxAttempts",), (0, -1)),
    ("maxWaitMs", -1),
    *each(("retryAfter",), (10**400, 10**5000, True, b"1", [], {}, object())),
    *each(("now",), (True, "today", "2026-01-01T00:00:00", 10**400, [], b"1")),
    *each(("body",), (object(), {1, 2}, iter([]), 1j)),
    *each(("headers",), (1, "a: b", b"", {1}, [1], [("a",)], iter([]), object())),
    *each(("command",), (1, bytearray(b"git"), {"git"}, ["git", 1], ["git", None], {}, True)),
    *each(("errno",), (True, 1.5, b"EIO", [], 1 << 53, -(1 << 53), 10**5000)),
]


class TestRefusals:
    @pytest.mark.parametrize(("field", "value"), WRONG, ids=label)
    def test_what_is_wrong_is_named_in_both_spellings(self, field: str, value: object) -> None:
        for name in (field, snake_case(field)):
            many: list[Any] = [{}, {name: value}]
            assert [field] == fields(partial(CLASSIFIER.classify_data, many[1]))
            assert [f"records[1].{field}"] == fields(partial(CLASSIFIER.classify_many, many))

    def test_all_faults_come_at_once(self) -> None:
        wrong = {**dict.fromkeys(NUMBERS, "1"), **dict.fromkeys(TEXTS, 1)}
        wrong |= {"retryAfter": [], "now": [], "body": 1j, "headers": 1, "command": 1, "errno": []}
        wrong |= {"stat": 1, "exit_code": 1}
        named = fields(lambda: CLASSIFIER.classify_data(wrong))
        assert sorted(set(wrong) - {"exit_code"}) == sorted(named)

    @pytest.mark.parametrize(
        "field", ["exitCode", "retryAfter", "maxAttempts", "maxWaitMs"], ids=label
    )
    def test_a_signal_in_both_spellings_is_refused(self, field: str) -> None:
        twice = {field: 1, snake_case(field): 1}
        assert [("spec/repeated-key", field)] == faults(lambda: CLASSIFIER.classify_data(twice))
        many = fields(lambda: CLASSIFIER.classify_many([twice]))
        assert [f"records[0].{field}"] == many

    @pytest.mark.parametrize(
        "record", [3, None, "status", b"", [("status", 1)], Json("[]")], ids=label
    )
    def test_what_is_no_mapping_is_refused_with_its_place(self, record: Any) -> None:
        assert ["signals"] == fields(lambda: CLASSIFIER.classify_data(record))
        assert ["records[2]"] == fields(lambda: CLASSIFIER.classify_many([{}, {}, record]))

    def test_names_that_are_none_are_refused(self) -> None:
        odd: dict[Any, Any] = {1: 2, None: 3, (1, 2): 4, "\ud800": 5, "Status": 6}
        found = faults(lambda: CLASSIFIER.classify_data(odd))
        assert [("spec/unknown-field", "[1]"), ("spec/unknown-field", "[null]")] == found[:2]
        assert len(odd) == len(found)

    @pytest.mark.parametrize("shown", [3, [1], [(1,)], [(1, 2, 3)], [([], 1)]], ids=label)
    def test_a_mapping_whose_items_are_none_is_refused(self, shown: object) -> None:
        assert ["signals"] == fields(lambda: CLASSIFIER.classify_data(Items(shown)))
        headers = fields(lambda: CLASSIFIER.classify_data({"headers": Items(shown)}))
        assert [True] == [field.startswith("headers") for field in headers]

    def test_what_raises_is_named(self) -> None:
        raising = Raising(RuntimeError("boom"))
        for field in ("body", "headers"):
            with pytest.raises(ConfigError, match="boom") as caught:
                CLASSIFIER.classify_data({field: raising})
            assert [field] == [problem.field for problem in caught.value.problems]
            many: list[Any] = [{}, {field: raising}]
            assert [f"records[1].{field}"] == fields(partial(CLASSIFIER.classify_many, many))
        assert ["signals"] == fields(lambda: CLASSIFIER.classify_data(raising))
        assert ["records[0]"] == fields(lambda: CLASSIFIER.classify_many([raising]))
        assert ["rules[0]"] == fields(lambda: ErrorClassify([raising]))

    def test_an_error_that_cannot_be_shown_is_still_named(self) -> None:
        class Mute(Exception):
            def __str__(self) -> str:
                raise RuntimeError

        with pytest.raises(ConfigError, match="Mute"):
            CLASSIFIER.classify_data({"headers": Raising(Mute())})

    @pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)], ids=label)
    def test_an_exit_is_never_turned_into_an_answer(self, error: BaseException) -> None:
        for signals in ({"body": Raising(error)}, {"headers": Raising(error)}, Raising(error)):
            with pytest.raises(type(error)):
                CLASSIFIER.classify_data(signals)
            with pytest.raises(type(error)):
                CLASSIFIER.classify_many([signals])

    def test_a_released_view_is_refused(self) -> None:
        view = memoryview(b"{}")
        view.release()
        assert ["body"] == fields(lambda: CLASSIFIER.classify(body=view))

    def test_what_is_shown_of_a_refused_value_is_short(self) -> None:
        deep: object = []
        for _ in range(100_000):
            deep = [deep]
        for value in (deep, dict.fromkeys(range(100_000)), ["x" * HUGE]):
            with pytest.raises(ConfigError) as caught:
                CLASSIFIER.classify_data({"status": value})
            assert len(str(caught.value)) < 300


class TestSubclasses:
    @pytest.mark.parametrize("field", [*NUMBERS, "errno", "retryAfter", "now"], ids=label)
    def test_a_number_counts_as_what_it_is(self, field: str) -> None:
        signals = {"status": 503, field: Number(5)}
        assert CLASSIFIER.classify_data({**signals, field: 5}) == CLASSIFIER.classify_data(signals)

    def test_a_text_counts_as_what_it_is(self) -> None:
        odd: dict[Any, Any] = {Text(field): Text("insufficient_quota") for field in TEXTS}
        plain: dict[str, Any] = dict.fromkeys(TEXTS, "insufficient_quota")
        assert CLASSIFIER.classify_data(plain) == CLASSIFIER.classify_data(odd)
        assert [CLASSIFIER.classify_data(plain)] == CLASSIFIER.classify_many([odd]).to_list()
        rule = {Text(name): Text(value) for name, value in RULE.items()}
        assert "a" == ErrorClassify([rule]).classify(message="x").matched

    @pytest.mark.parametrize(
        "given", [signal.SIGKILL, signal.Signals(9), Ended.SIGKILL, Spelled.KILL], ids=label
    )
    def test_a_signal_with_a_name_is_its_name(self, given: Any) -> None:
        expected = error_classify(signal="SIGKILL")
        assert "signal:SIGKILL" == expected.matched
        assert expected == error_classify(signal=given)
        assert expected == CLASSIFIER.classify_data({Text("signal"): given})
        assert [expected] * 2 == CLASSIFIER.classify_many([{"signal": given}] * 2).to_list()

    @pytest.mark.parametrize("given", [9, Number(9), signal.Handlers, Ended], ids=label)
    def test_a_signal_without_a_name_is_refused(self, given: Any) -> None:
        assert ["signal"] == fields(lambda: CLASSIFIER.classify(signal=given))

    @pytest.mark.parametrize("path", [RuntimeError("boom"), 3, None], ids=label)
    def test_a_path_that_is_none_is_refused(self, path: object) -> None:
        for command in (Folder(path), ["git", Folder(path)]):
            given: Any = command
            assert ["command"] == fields(partial(CLASSIFIER.classify, command=given))

    def test_an_enumeration_is_a_number(self) -> None:
        assert "status:429" == matched(status=Status.TOO_MANY)


class TestLongTexts:
    """The first 64,000 characters of each text are read, however long it is."""

    @pytest.mark.parametrize("field", ["message", "body"], ids=label)
    def test_ten_megabytes_of_text(self, field: str) -> None:
        far, near = "x " * (HUGE // 2), "fatal: not a git repository "
        signals = {"command": "git", "exitCode": 128}
        assert "git/not_a_repository" == matched(**signals, **{field: near + far})
        assert "git/not_a_repository" != matched(**signals, **{field: far + near})

    @pytest.mark.parametrize("make", [str, str.encode, bytearray, Json, json.loads], ids=label)
    def test_ten_megabytes_of_json(self, make: Any) -> None:
        text = json.dumps({"error": {"message": "x" * HUGE, "code": "insufficient_quota"}})
        body = bytearray(text.encode()) if make is bytearray else make(text)
        for status in (200, 429):
            found = CLASSIFIER.classify_data({"status": status, "body": body})
            assert ("openai/insufficient_quota", 2_000) == (found.matched, len(found.message or ""))

    def test_json_over_its_limit_is_words(self) -> None:
        over = '{"error": {"code": "insufficient_quota"}}' + " " * (32 << 20)
        assert "status:429" == matched(status=429, body=over)
        assert "status:2xx" == matched(status=200, body=over)

    def test_a_million_members(self) -> None:
        wide = {f"k{n}": "insufficient_quota" for n in range(1_000_000)}
        for body in (wide, {"error": wide}, [wide], json.dumps(wide)):
            assert "status:429" == matched(status=429, body=body)
        assert "openai/insufficient_quota" == matched(status=429, body={**wide, "error": SPENT})
        many = [{"error": SPENT}] * 1_000_000
        assert "openai/insufficient_quota" == matched(status=429, body=many)
        assert "openai/insufficient_quota" == matched(status=429, body={"errors": [SPENT] * 1000})

    def test_one_long_text_in_many_places_is_kept_once_short(self) -> None:
        part = {"message": "x" * HUGE, "code": "y" * HUGE}
        assert "status:429" == matched(status=429, body={"errors": [part] * 100})

    def test_many_tags_and_many_events(self) -> None:
        tags = "<Error>" + "<Message>" * 500_000 + "<Code>SlowDown</Code>"
        assert "aws/SlowDown" == matched(status=503, body=tags)
        events = 'data: {"choices": []}\n\n' * 200_000 + f"data: {json.dumps({'error': SPENT})}\n"
        assert "openai/insufficient_quota" == matched(status=200, body=events)

    @pytest.mark.parametrize(
        ("pattern", "holds"),
        [
            (r"(a+)+$", False),
            (r"(a|a)*b", False),
            (r"(.*)*b", False),
            (r"(a*)*!", True),
            (r"^(([a-z])+.)+[A-Z]([a-z])+$", False),
            (r"(?:a?){50}a{50}", True),
        ],
        ids=label,
    )
    def test_a_hostile_pattern_is_answered(self, pattern: str, *, holds: bool) -> None:
        rule = {"id": "p", "matches": pattern, "class": "bug", "action": "fail"}
        message = "a" * 200_000 + "!?"
        found = error_classify(message=message, code=message, rules=[rule])
        assert ("custom" if holds else "default") == found.source


class TestDeepBodies:
    def test_levels_of_text(self) -> None:
        for body in ("[" * 100_000, "[" * 100_000 + "]" * 100_000):
            assert "status:429" == matched(status=429, body=body)
        deep = '{"error":' * 100_000 + json.dumps(SPENT) + "}" * 100_000
        assert "status:429" == matched(status=429, body=deep)

    def test_levels_of_values(self) -> None:
        member: Any = SPENT
        items: Any = [SPENT]
        for _ in range(100_000):
            member, items = {"error": member}, [items]
        for body in (member, items, {"error": items}):
            assert "status:429" == matched(status=429, body=body)

    def test_a_body_that_holds_itself(self) -> None:
        body: dict[str, Any] = {"code": "insufficient_quota"}
        body["error"] = body
        assert "openai/insufficient_quota" == matched(status=429, body=body)

    def test_json_inside_texts(self) -> None:
        body: Any = SPENT
        for depth in range(1, 9):
            body = {"message": json.dumps(body)}
            found = matched(status=429, body=body)
            assert ("openai/insufficient_quota" if depth < 6 else "status:429") == found


BODIES = [
    ("", None),
    (" \t\r\n\ufeff", None),
    (b"", None),
    ("null", None),
    ("{", None),
    ('{"error": {"code": "insufficient_quota"', None),
    ('{"error": NaN}', None),
    ('{"error": {"code": NaN}}', None),
    ("{'error': {'code': 'insufficient_quota'}}", None),
    (b"\xff\xfe{\x00}\x00", None),
    ("<html><body><h1>429 Too Many Requests</h1></body></html>", None),
    ("<Error><Code>SlowDown", None),
    ("<Code></Code><Message></Message>", None),
    ("data: x", None),
    ("data: [DONE]\n\n", None),
    ("event: error\n", None),
    ([], None),
    ({}, None),
    (1.5, None),
    (True, None),
    ({"error": object()}, None),
    ({"error": {1: 2, None: 3}}, None),
    ({"error": {"code": float("nan"), "status": float("inf")}}, None),
    ({"error": {"code": 10**5000}}, None),
    ({"error": {"code": "\ud800", "message": "\udfff"}}, None),
    ('{"error": {"code": "\\ud800"}}', None),
    (UserDict({"error": SPENT}), "openai/insufficient_quota"),
    (OrderedDict(error=SPENT), "openai/insufficient_quota"),
    (memoryview(json.dumps({"error": SPENT}).encode()), "openai/insufficient_quota"),
    (f"\ufeff {json.dumps({'error': SPENT})}", "openai/insufficient_quota"),
    (b'{"error": {"code": "insufficient_quota", "at": "\xff"}}', "openai/insufficient_quota"),
    ("<Error><Code>SlowDown</Code></Error>", "aws/SlowDown"),
    (
        '<?xml version="1.0"?>\n<ErrorResponse><Error><Code>SlowDown</Code></Error>',
        "aws/SlowDown",
    ),
    (f"event: error\ndata: {json.dumps({'error': SPENT})}\n\n", "openai/insufficient_quota"),
]


class TestBodies:
    @pytest.mark.parametrize(("body", "rule"), BODIES, ids=label)
    def test_a_body_of_any_make(self, body: object, rule: str | None) -> None:
        assert (rule or "status:429") == matched(status=429, body=body)

    @pytest.mark.parametrize(("body", "rule"), BODIES, ids=label)
    def test_a_success_is_contradicted_by_an_error_object_only(
        self, body: object, rule: str | None
    ) -> None:
        found = CLASSIFIER.classify_data({"status": 200, "body": body})
        if rule is not None:
            assert rule == found.matched
        elif found.message is None and found.source != "default":
            assert ("ok", "status:2xx") == (found.error_class, found.matched)

    @pytest.mark.parametrize(
        "text",
        [
            "429 rate limit exceeded, quota spent, timeout",
            "fatal: unable to access: Could not resolve host",
            '{"answer": "insufficient_quota", "error": null, "errors": []}',
            '{"message": {"content": "You exceeded your current quota"}, "error": {}}',
            "<p>TooManyRequestsException</p>",
        ],
        ids=label,
    )
    def test_the_words_of_an_answer_are_no_error(self, text: str) -> None:
        for success in ({"status": 200}, {"exitCode": 0}, {"status": 204, "exitCode": 1}):
            for field in ("body", "stdout"):
                found = CLASSIFIER.classify_data({**success, field: text})
                assert ("ok", "continue") == (found.error_class, found.action)

    def test_the_words_of_a_body_come_back(self) -> None:
        assert CLASSIFIER.classify(status=500, body="").message is None
        assert "<h1>Bad</h1>" == CLASSIFIER.classify(status=500, body="<h1>Bad</h1>").message
        assert "\\ud800" == CLASSIFIER.classify(status=500, body={"message": "\ud800"}).message

    def test_a_body_that_changes_while_it_is_read(self) -> None:
        class Growing(Mapping[str, object]):
            def __init__(self) -> None:
                self.held: dict[str, object] = {"error": SPENT, "a": 1, "b": {}}

            def __getitem__(self, key: str) -> object:
                self.held[f"k{len(self.held)}"] = SPENT
                self.held.pop("a", None)
                return self.held[key]

            def __iter__(self) -> Iterator[str]:
                return iter(list(self.held))

            def __len__(self) -> int:
                return len(self.held)

        growing = Growing()
        assert "openai/insufficient_quota" == matched(status=429, body=growing)
        outer: dict[str, object] = {}

        class Spoiling(Mapping[str, object]):
            def __getitem__(self, key: str) -> object:
                outer.clear()
                outer.update({f"k{n}": n for n in range(100)})
                raise KeyError(key)

            def __iter__(self) -> Iterator[str]:
                return iter(("message",))

            def __len__(self) -> int:
                return 1

        outer.update(error={"details": Spoiling(), "code": "insufficient_quota"}, a=1)
        assert ["body"] == fields(lambda: CLASSIFIER.classify(status=429, body=outer))


class TestHeaders:
    @pytest.mark.parametrize(
        ("headers", "wait_ms"),
        [
            ({}, None),
            ([], None),
            ({"RETRY-AFTER": "3"}, 3000),
            ({b"rEtRy-AfTeR": b" 3 "}, 3000),
            ({"retry-after": ["3", "9"]}, 3000),
            ([("retry-after", "3"), ("Retry-After", "9")], 3000),
            ((["retry-after", 3],), 3000),
            ({"retry-after": 3}, 3000),
            ({"retry-after": 3.0}, 3000),
            ({"retry-after": None}, None),
            ({"retry-after": []}, None),
            ({"retry-after": -3}, None),
            ({"retry-after": 10**300}, None),
            ({"retry-after": float("nan")}, None),
            ({"retry-after": float("inf")}, None),
            ({"retry-after": "\ud800"}, None),
            ({"retry-after-ms": 1.5}, 2),
            ({"retry-after-ms": "0.0001"}, 1),
            ({"retry-after-ms": "1e3"}, None),
            ({"retry-after-ms": "9" * 100_000}, None),
            ({"retry-after-ms": "x", "retry-after": "4"}, 4000),
            ({b"\xff": b"\xff", "a\ud800": "x", 1: 2, "retry-after": "4"}, 4000),
            (UserDict({"Retry-After": "9"}), 9000),
        ],
        ids=label,
    )
    def test_headers_of_any_make(self, headers: Any, wait_ms: int | None) -> None:
        found = CLASSIFIER.classify_data({"status": 503, "headers": headers})
        assert ("retry_after" if wait_ms else "backoff", wait_ms) == (found.action, found.wait_ms)

    def test_what_a_header_cannot_hold_is_named(self) -> None:
        wrong: dict[Any, Any] = {"a": {"b": 1}, None: "1", "c": [True], "d": "fine", "e": 10**5000}
        named = fields(lambda: CLASSIFIER.classify_data({"headers": wrong}))
        assert ["headers.a", "headers.null", "headers.c", "headers.e"] == named

    @pytest.mark.parametrize(
        "headers",
        [
            {f"h{n}": "x" for n in range(10_000)},
            [("a", "x")] * 10_000,
            {"a": ["x"] * 10_000},
        ],
        ids=label,
    )
    def test_ten_thousand_headers_are_too_many(self, headers: Any) -> None:
        found = faults(lambda: CLASSIFIER.classify(status=503, headers=headers))
        assert [("spec/over-limit", "headers")] == found

    def test_long_values(self) -> None:
        headers = {"retry-after": "9" * HUGE, "x-ratelimit-reset": "1d" * 100_000}
        assert CLASSIFIER.classify(status=429, headers=headers).wait_ms is None


class TestWaits:
    @pytest.mark.parametrize(
        ("value", "wait_ms"),
        [
            (7, 7000),
            (7.0, 7000),
            (" 7 ", 7000),
            (0, 0),
            ("007", 7000),
            (2.5, None),
            ("2.5", None),
            ("", None),
            ("soon", None),
            (-1, None),
            (-0.5, None),
            (10**300, None),
            (float("nan"), None),
            (float("inf"), None),
            (float("-inf"), None),
            ("9" * 1_000_000, None),
            ("\u0667", None),
            ("\ud800", None),
        ],
        ids=label,
    )
    def test_a_wait_is_read_or_left(self, value: Any, wait_ms: int | None) -> None:
        found = CLASSIFIER.classify(status=503, retry_after=value)
        wanted = "backoff" if wait_ms is None else "retry_after"
        assert (wanted, wait_ms) == (found.action, found.wait_ms)

    @pytest.mark.parametrize(
        "value", [-1, "-1", float("nan"), 10**400, "1e400", "x", "", None, []], ids=label
    )
    def test_a_field_of_a_body_that_names_no_wait(self, value: object) -> None:
        for field in ("retryDelay", "retry_after", "retry_after_ms", "resets_at"):
            body = {"error": {field: value}}
            assert CLASSIFIER.classify(status=503, body=body, now=0).wait_ms is None


class TestCommands:
    @pytest.mark.parametrize(
        ("command", "is_git"),
        [
            ("git", True),
            ("git status", True),
            (["git", "status"], True),
            (("git",), True),
            ("/usr/bin/git push", True),
            ("sudo LANG=C git push", True),
            (["env", "A=b c", "git"], True),
            (r"C:\Git\bin\git.exe push", True),
            (r'"C:\Program Files\Git\bin\GIT.EXE" push', False),
            (r'"C:\Program Files\Git\bin\git.EXE" push', True),
            ([r"C:\Program Files\Git\bin\git.exe", "push"], True),
            (["/opt/it's here/git", "push"], True),
            ("'/opt/my tools/git' push", True),
            ("", False),
            ([], False),
            ([""], False),
            (["", "git"], False),
            ("A=b", False),
            (["A=b"], False),
            ("sudo", False),
            ("/", False),
            ("'", False),
            ('"git', True),
            (" \t\n", False),
            ("git\ud800", False),
            ("gitk", False),
            ("echo git", False),
            ("x" * HUGE, False),
            ("'" * HUGE, False),
            ("'\"" * 1_000_000, False),
            (["x"] * 1_000_000, False),
            (b"git push", True),
            (b"/opt/\xff/git push", True),
            (Path("/usr/bin/git"), True),
            (Path("/opt/my tools/git"), True),
            (PureWindowsPath(r"C:\Program Files\Git\bin\git.exe"), True),
            (Path("git push"), False),
            ([Path("/opt/my tools/git"), "push"], True),
            ([b"env", "A=b", Path("git")], True),
            ((b"git",), True),
            (Folder("/usr/bin/git"), True),
            (Folder(b"/usr/bin/git"), True),
            ([Text("git"), Folder("push")], True),
        ],
        ids=label,
    )
    def test_a_command_line_of_any_shape(self, command: Any, *, is_git: bool) -> None:
        told = {"command": command, "exitCode": 128, "message": "fatal: not a git repository"}
        found = matched(**told)
        assert is_git == (found == "git/not_a_repository")
        assert [found] == [one.matched for one in classified([told])]

    @pytest.mark.parametrize(
        ("errno", "rule"),
        [
            (104, "shell/ECONNRESET"),
            (-104, "shell/ECONNRESET"),
            ("ECONNRESET", "shell/ECONNRESET"),
            ("econnreset", "code:econnreset"),
            (0, "default"),
            (41, "default"),
            (10**6, "default"),
            (-(10**6), "default"),
            ("", "default"),
            ("\ud800", "default"),
        ],
        ids=label,
    )
    def test_an_error_number_of_any_size(self, errno: Any, rule: str) -> None:
        assert rule == matched(errno=errno)


class TestSpecs:
    @pytest.mark.parametrize(
        "packs", ["git", {"git"}, {"git": 1}, 1, b"git", iter(["git"])], ids=label
    )
    def test_packs_are_a_list(self, packs: Any) -> None:
        assert [("spec/wrong-type", "packs")] == faults(lambda: ErrorClassify(packs=packs))

    @pytest.mark.parametrize(
        ("name", "nearest"),
        [("opnai", "openai"), ("OpenAI", "openai"), ("kubctl", "kubectl"), ("x", None)],
        ids=label,
    )
    def test_an_unknown_pack_is_refused_with_the_nearest(
        self, name: str, nearest: str | None
    ) -> None:
        with pytest.raises(SpecInvalid) as caught:
            ErrorClassify(packs=["git", name])
        (problem,) = caught.value.problems
        assert ("spec/unknown-choice", "packs[1]") == (problem.code, problem.field)
        assert (nearest is not None) == ("did you mean" in problem.message)
        assert nearest is None or f'"{nearest}"?' in problem.message

    @pytest.mark.parametrize("name", [None, 1, [], "", "\ud800", b"git"], ids=label)
    def test_what_is_no_name_of_a_pack(self, name: Any) -> None:
        assert ["packs[0]"] == fields(lambda: ErrorClassify(packs=[name]))
        assert ["packs[0]"] == fields(lambda: ErrorClassify.from_spec({"packs": [name]}))

    @pytest.mark.parametrize(
        ("packs", "named"),
        [
            (["git", "git"], [1]),
            (["git", "openai", "git", "openai", "git"], [2, 3, 4]),
            (("git", Text("git")), [1]),
        ],
        ids=label,
    )
    def test_a_pack_is_named_once(self, packs: Any, named: list[int]) -> None:
        expected = [("spec/duplicate-name", f"packs[{place}]") for place in named]
        assert expected == faults(lambda: ErrorClassify(packs=packs))
        assert expected == faults(lambda: ErrorClassify.from_spec({"packs": packs}))

    def test_a_pack_that_is_none_is_not_one_named_twice(self) -> None:
        codes = ["spec/unknown-choice"] * 2
        assert codes == [code for code, _ in faults(lambda: ErrorClassify(packs=["gti", "gti"]))]

    @pytest.mark.parametrize("field", ["contains", "matches"])
    def test_an_empty_text_would_hold_for_everything(self, field: str) -> None:
        rule = {"id": "rest", field: "", "class": "bug", "action": "fail"}
        for more in ({}, {"status": 404}, {"contains": "x", field: ""}):
            with pytest.raises(SpecInvalid) as caught:
                ErrorClassify([{**rule, **more}])
            (problem,) = caught.value.problems
            assert (f"rules[0].{field}", '""') == (problem.field, problem.value)
            assert 'of the rule "rest" is empty and would hold for everything' in problem.message
        assert "rest" == ErrorClassify([{**rule, field: " "}]).classify(message="a b").matched

    def test_257_rules_are_too_many(self) -> None:
        rules = [{**RULE, "id": str(n)} for n in range(257)]
        assert [("spec/over-limit", "rules")] == faults(lambda: ErrorClassify(rules))
        assert "0" == ErrorClassify(rules[:256]).classify(message="x").matched
        assert "0" == ErrorClassify(rules, limits={"rules": 257}).classify(message="x").matched

    def test_a_rule_in_both_spellings_is_refused(self) -> None:
        rule = {
            **RULE,
            "exitCode": 1,
            "exit_code": 2,
            "waitMs": 1,
            "wait_ms": 2,
            "error_class": "ok",
        }
        named = fields(lambda: ErrorClassify([rule]))
        assert ["rules[0].exitCode", "rules[0].waitMs", "rules[0].error_class"] == named

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            *each(("id",), (1, None, [], "", Text(""))),
            *each(("contains",), (1, b"x", [], "", Text(""))),
            *each(("matches",), (1, "(", b"x", "", Text(""))),
            *each(("status", "exitCode", "waitMs"), NO_NUMBERS),
            ("waitMs", -1),
            *each(("class", "action"), ("", "OK", 1, None, [])),
        ],
        ids=label,
    )
    def test_a_field_of_a_rule_that_is_wrong(self, field: str, value: object) -> None:
        assert f"rules[0].{field}" in fields(lambda: ErrorClassify([{**RULE, field: value}]))

    @pytest.mark.parametrize("packs", [None, [], ["git"], ["openai", "git"]], ids=label)
    def test_a_classifier_with_packs_is_a_value(self, packs: list[str] | None) -> None:
        first = ErrorClassify([RULE], packs)
        for again in (
            ErrorClassify.from_spec(first.to_spec()),
            ErrorClassify.from_spec({"tool": "ErrorClassify", "rules": [RULE], "packs": packs}),
            *(pickle.loads(pickle.dumps(first, version)) for version in range(6)),  # noqa: S301
        ):
            assert (first, hash(first)) == (again, hash(again))
            assert first.to_spec() == again.to_spec()
            case = {"status": 429, "body": {"error": SPENT}}
            assert first.classify_data(case) == again.classify_data(case)
        for other in (["github"], ["git", "openai"]):
            assert first != ErrorClassify([RULE], other)


# The fields of records, some of them in the other spelling, and some wrong.
def records() -> st.SearchStrategy[Any]:
    texts = st.sampled_from(("", "ENOSPC", "SIGKILL", "quota", "timeout", "7", "\ud800", "x" * 99))
    odd_texts = st.one_of(texts, texts.map(Text))
    whole = st.one_of(st.sampled_from((0, 1, 137, 200, 404, 429, 503)), st.integers(-2, 600))
    numbers = st.one_of(whole, whole.map(Number), st.just(Status.TOO_MANY))
    wrong = st.sampled_from((True, 1.5, [], 1 << 60, {}))
    bodies = st.sampled_from(({"error": SPENT}, json.dumps({"error": SPENT}), "x", [], UserDict()))
    fields: dict[str, st.SearchStrategy[Any]] = {
        **dict.fromkeys(("status", "exitCode", "exit_code", "attempt"), numbers),
        **dict.fromkeys(("maxAttempts", "max_attempts"), numbers),
        **dict.fromkeys(("signal", "code", "message", "provider", "stdout"), odd_texts),
        **dict.fromkeys(("retryAfter", "retry_after"), st.one_of(odd_texts, numbers)),
        "maxWaitMs": numbers,
        "now": st.just("2026-01-31T09:00:00Z"),
        "body": bodies,
        "headers": st.sampled_from(({"retry-after": "3"}, [("Retry-After", 4)], {})),
        "command": st.sampled_from(("git", ["git", "push"], "")),
        "errno": st.one_of(odd_texts, numbers),
        "stat": numbers,
    }
    plain = ("status", "exitCode", "code", "message", "attempt", "retry_after", "max_attempts")

    @st.composite
    def record(draw: st.DrawFn) -> Any:
        known = plain if draw(st.booleans()) else tuple(fields)
        picked = draw(st.lists(st.sampled_from(known), max_size=4, unique=True))
        values = {
            name: draw(st.one_of(fields[name], fields[name], st.none(), fields[name], wrong))
            if draw(st.integers(0, 9)) == 0
            else draw(fields[name])
            for name in picked
        }
        kinds: tuple[Callable[[Any], Any], ...] = (dict, dict, OrderedDict, UserDict)
        return draw(st.sampled_from(kinds))(values)

    return record()


class TestMany:
    @given(st.lists(records(), max_size=5), st.sampled_from((list, tuple, iter)))
    def test_many_are_answered_as_one_by_one(
        self, found: list[Any], kind: Callable[[list[Any]], Any]
    ) -> None:
        expected: list[ErrorVerdict] = []
        refused: object = None
        for place, record in enumerate(found):
            try:
                expected.append(CLASSIFIER.classify_data(record))
            except ConfigError as error:
                refused = tuple(
                    problem._replace(field=f"records[{place}].{problem.field}")
                    for problem in error.problems
                )
                break
        if refused is not None:
            with pytest.raises(ConfigError) as caught:
                CLASSIFIER.classify_many(kind(found))
            assert refused == caught.value.problems
            return
        answers = CLASSIFIER.classify_many(kind(found))
        assert expected == answers.to_list() == list(answers)
        assert len(expected) == len(answers) == answers.counts().total()
        assert expected == [answers[place] for place in range(len(answers))]

    def test_the_answers_are_a_sequence(self) -> None:
        told: list[Any] = [{"status": status} for status in (200, 429, 503, 429)]
        classes = [answer.error_class for answer in classified(iter(told))]
        assert ["ok", "rate_limited", "unavailable", "rate_limited"] == classes
        answers = CLASSIFIER.classify_many(told)
        assert answers[-1] == answers[1] == answers[1:2][0]
        assert answers[1] in answers
        assert 1 == answers.index(answers[-1])
        assert 2 == answers.counts()["rate_limited", "backoff"]
        for place in (4, -5):
            with pytest.raises(IndexError):
                answers[place]

    def test_none_are_answered(self) -> None:
        answers = CLASSIFIER.classify_many([])
        assert ([], 0, {}) == (answers.to_list(), len(answers), answers.counts())

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    @pytest.mark.parametrize("copied", [False, True])
    def test_the_answers_are_a_value(self, protocol: int, *, copied: bool) -> None:
        some: list[Any] = [{"status": 429, "body": {"error": SPENT}}, {}, {"status": 503}, {}]
        for told in (some[:0], some):
            first = CLASSIFIER.classify_many(told)
            again = pickle.loads(pickle.dumps(first, protocol))  # noqa: S301
            if copied:
                again = copy.deepcopy(pickle.loads(pickle.dumps(again, protocol)))  # noqa: S301
            assert type(first) is type(again)
            assert (first, hash(first), repr(first)) == (again, hash(again), repr(again))
            assert first == CLASSIFIER.classify_many(told)
            assert (first.to_list(), first.counts()) == (again.to_list(), again.counts())
            assert first[1:] == again[1:]
            with pytest.raises(IndexError):
                again[len(told)]

    def test_answers_that_differ_are_not_equal(self) -> None:
        first = CLASSIFIER.classify_many([{"status": 429}, {"status": 503}])
        others: list[list[Any]] = [
            [{"status": 503}, {"status": 429}],
            [{"status": 429}],
            [],
            [{}] * 2,
        ]
        for other in others:
            assert first != CLASSIFIER.classify_many(other)
        # As a tuple and a list of the same are not equal either.
        assert first != first.to_list()

    @pytest.mark.parametrize("records", [None, 3, "{}"], ids=label)
    def test_what_is_no_list_is_no_list(self, records: Any) -> None:
        assert ["records"] == fields(lambda: CLASSIFIER.classify_many(records))

    def test_one_record_instead_of_many_is_refused(self) -> None:
        one: Any = {"status": 429}
        assert ["records"] == fields(lambda: CLASSIFIER.classify_many(one))

    def test_a_list_that_changes_while_it_is_read(self) -> None:
        found: list[Any] = []

        class Clearing(UserDict[str, object]):
            def items(self) -> Any:
                found.clear()
                return super().items()

        found += [Clearing(status=429), Clearing(status=503), {"status": 404}]
        entries = [one.matched for one in classified(found)]
        assert ["status:429", "status:503", "status:404"] == entries
