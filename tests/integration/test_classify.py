"""`interlock classify`: which verdicts come out for which errors in."""

import json
from pathlib import Path
from typing import Any

import pytest

from interlock import ErrorClassify

from .command import interlock, without_rate

SPENT = {"status": 429, "body": {"error": {"type": "insufficient_quota"}}}
ERRORS: list[dict[str, Any]] = [
    SPENT,
    {"status": 503, "retryAfter": "30"},
    {"exitCode": 137},
    {"code": "ENOSPC", "message": "half \ud83d \u00e4 \u2028"},
    {},
    {"command": ["git", "push"], "exit_code": 128, "message": "fatal: not a git repository"},
]
MIXED = b'{"status":404}\n{"status":"404","code":1}\n\n{oops\n[1]\n{"status":410}\n'
MISSING = ["not_found", None, None, None, "not_found"]


def lines(records: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def verdicts(records: list[dict[str, Any]], packs: list[str] | None = None) -> list[object]:
    return [ErrorClassify(packs=packs).classify_data(record).to_dict() for record in records]


class TestLines:
    def test_one_for_each_error_in_order(self) -> None:
        ran = interlock("classify", stdin=lines(ERRORS))
        assert (0, "", verdicts(ERRORS)) == (ran.code, ran.err, ran.rows)
        assert ran == interlock("classify", "-", stdin=lines(ERRORS))

    def test_a_file_gives_what_standard_input_gives(self, tmp_path: Path) -> None:
        errors = tmp_path / "errors.jsonl"
        errors.write_bytes(MIXED)
        from_file, from_stdin = interlock("classify", errors), interlock("classify", stdin=MIXED)
        assert (from_file.code, from_file.out) == (from_stdin.code, from_stdin.out)
        assert from_file.err == from_stdin.err.replace("standard input:", f"{errors}:")

    def test_it_is_decide_by_a_spec_without_rules(self, tmp_path: Path) -> None:
        spec = tmp_path / "spec.json"
        spec.write_text('{"tool": "ErrorClassify"}', encoding="utf-8")
        for given in (MIXED, lines(ERRORS), b""):
            decided = interlock("decide", spec, "--summary", stdin=given)
            classified = interlock("classify", "--summary", stdin=given)
            assert decided[:2] == classified[:2]
            assert without_rate(decided.err) == without_rate(classified.err)

    def test_a_bad_line_becomes_an_error(self) -> None:
        ran = interlock("classify", stdin=MIXED)
        assert (1, MISSING) == (ran.code, [row.get("class") for row in ran.rows])
        assert [2, 4, 5] == [row["line"] for row in ran.rows[1:4]]
        assert [{"error", "line"}] * 3 == [set(row) for row in ran.rows[1:4]]
        assert "3 bad lines of 5" == ran.err.splitlines()[-1]

    def test_every_fault_of_a_line_is_told(self) -> None:
        told = interlock("classify", stdin=MIXED).rows[1]["error"]
        assert 'status: "404": must be a whole number; code: 1: must be a string' == told

    @pytest.mark.parametrize(
        "error",
        [
            b'{"retryAfter":%s}' % (b"9" * 5_000),
            b'{"status":%s}' % (b"9" * 25_000),
            b'{"headers":{"a":%s}}' % (b"9" * 5_000),
            b'{"body":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
            b'{"status":404.5}',
            b"null",
        ],
        ids=["wait", "status", "header", "deep", "fraction", "null"],
    )
    def test_hostile_lines_are_bad_lines(self, error: bytes) -> None:
        ran = interlock("classify", stdin=error + b'\n{"status":404}\n')
        assert (1, 1) == (ran.code, ran.rows[0]["line"])
        assert "not_found" == ran.rows[1]["class"]
        assert len(ran.rows[0]["error"]) < 500

    def test_no_clock_is_read(self) -> None:
        dated = {"status": 503, "retryAfter": "Fri, 31 Dec 2999 23:59:59 GMT"}
        found = interlock("classify", stdin=lines([dated])).rows[0]
        assert (None, "2999-12-31T23:59:59.000Z") == (found["waitMs"], found["retryAt"])


class TestOptions:
    def test_summary_counts_class_and_action(self) -> None:
        ran = interlock("classify", "--summary", stdin=MIXED)
        assert interlock("classify", stdin=MIXED).out == ran.out
        words = ran.err.split()
        assert ["5", "records"] == words[:2]
        assert "2" == words[words.index("not_found") + 4]
        assert "3" == words[words.index("(error)") + 2]

    def test_strict_stops_at_the_first(self) -> None:
        ran = interlock("classify", "--strict", stdin=MIXED)
        assert (1, 2, 2) == (ran.code, len(ran.rows), ran.rows[-1]["line"])

    def test_output_goes_to_the_file_alone(self, tmp_path: Path) -> None:
        out = tmp_path / "verdicts.jsonl"
        ran = interlock("classify", "--output", out, "--no-progress", stdin=MIXED)
        assert (1, b"") == (ran.code, ran.out)
        assert interlock("classify", stdin=MIXED).out == out.read_bytes()

    def test_a_strict_stop_leaves_the_old_file(self, tmp_path: Path) -> None:
        out = tmp_path / "verdicts.jsonl"
        out.write_bytes(b"old\n")
        assert 1 == interlock("classify", "--strict", "--output", out, stdin=MIXED).code
        assert b"old\n" == out.read_bytes()

    @pytest.mark.parametrize(
        ("options", "packs"),
        [
            (("--no-packs",), []),
            (("--packs", "git"), ["git"]),
            (("--packs", "git", "--packs", "openai"), ["git", "openai"]),
        ],
    )
    def test_packs_are_chosen(self, options: tuple[str, ...], packs: list[str]) -> None:
        assert verdicts(ERRORS, packs) == interlock("classify", *options, stdin=lines(ERRORS)).rows


class TestUsage:
    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (("--packs", "openay"), 'did you mean "openai"?'),
            (("--packs", "git", "--no-packs"), "exclude each other"),
            (("a", "b"), "unexpected extra argument"),
            (("--explain",), "No such option"),
        ],
        ids=["pack", "both", "two", "option"],
    )
    def test_is_told(self, arguments: tuple[str, ...], told: str) -> None:
        ran = interlock("classify", *arguments)
        assert (2, b"") == (ran.code, ran.out)
        assert told in ran.err
        assert ran.err.startswith("Usage: interlock classify")

    def test_missing_errors(self, tmp_path: Path) -> None:
        ran = interlock("classify", tmp_path / "none.jsonl")
        assert (1, b"") == (ran.code, ran.out)
        assert "none.jsonl" in ran.err
