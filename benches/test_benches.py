"""Timings by pytest-benchmark: `make bench`. In the test run each is called once, to stay true."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import errors
import growth
import instructions
import orders
import pytest
import scoring

import pattern_cases
import workloads
from interlock import (
    Branch,
    Checks,
    DecisionTable,
    ErrorClassify,
    ErrorVerdict,
    Json,
    Pattern,
    RuleScore,
)
from pattern_cases import Case
from pattern_peers import re2_search


class Benchmark(Protocol):
    """What the `benchmark` fixture is to us."""

    def __call__(self, function: Callable[..., object], *arguments: object) -> object: ...


RECORD = workloads.order()
TEXT = json.dumps(RECORD).encode()
TABLE = workloads.rows(100, 80)


@pytest.mark.benchmark(group="one check")
class TestOneCheck:
    def test_by_hand(self, benchmark: Benchmark) -> None:
        assert benchmark(workloads.one_check_by_hand, RECORD) is True

    def test_objects(self, benchmark: Benchmark) -> None:
        assert benchmark(Checks(workloads.ONE_CHECK).holds, RECORD) is True

    def test_bytes(self, benchmark: Benchmark) -> None:
        checks = Checks(workloads.ONE_CHECK)

        assert benchmark(lambda: checks.holds(Json(TEXT))) is True


@pytest.mark.benchmark(group="five arms")
class TestFiveArms:
    def test_by_hand(self, benchmark: Benchmark) -> None:
        assert benchmark(workloads.branch5_by_hand, RECORD) == "express"

    def test_by_hand_from_bytes(self, benchmark: Benchmark) -> None:
        decided = benchmark(lambda: workloads.branch5_by_hand(json.loads(TEXT)))

        assert decided == "express"

    def test_objects(self, benchmark: Benchmark) -> None:
        branch = Branch(workloads.ARMS)

        assert benchmark(lambda: branch.decide(RECORD).name) == "express"

    def test_bytes(self, benchmark: Benchmark) -> None:
        branch = Branch(workloads.ARMS)

        assert benchmark(lambda: branch.decide(Json(TEXT)).name) == "express"

    def test_compile(self, benchmark: Benchmark) -> None:
        assert isinstance(benchmark(Branch, workloads.ARMS), Branch)


@pytest.mark.benchmark(group="table of 100 rows")
class TestTable:
    def test_by_hand(self, benchmark: Benchmark) -> None:
        assert benchmark(workloads.table_by_hand(TABLE), RECORD) == 80

    def test_first_objects(self, benchmark: Benchmark) -> None:
        table = DecisionTable(TABLE, policy="first")

        assert benchmark(lambda: table.decide(RECORD).outputs) == 80

    def test_first_bytes(self, benchmark: Benchmark) -> None:
        table = DecisionTable(TABLE, policy="first")

        assert benchmark(lambda: table.decide(Json(TEXT)).outputs) == 80

    def test_collect_objects(self, benchmark: Benchmark) -> None:
        table = DecisionTable(TABLE, policy="collect")

        assert benchmark(lambda: table.decide(RECORD).outputs) == [80, 84, 88, 92, 96]

    def test_collect_by_hand(self, benchmark: Benchmark) -> None:
        assert benchmark(workloads.collect_by_hand(TABLE), RECORD) == [80, 84, 88, 92, 96]


@pytest.mark.benchmark(group="tables of many rows")
class TestRows:
    @pytest.mark.parametrize("count", [10, 100, 1_000, 10_000])
    def test_first_objects(self, benchmark: Benchmark, count: int) -> None:
        hit = count - count // 10
        table = DecisionTable(workloads.rows(count, hit), policy="first")

        assert benchmark(lambda: table.decide(RECORD).outputs) == hit


@pytest.mark.benchmark(group="fifty rules with points")
class TestScore:
    def test_by_hand(self, benchmark: Benchmark) -> None:
        assert (
            benchmark(scoring.score50_by_hand, RECORD)
            == RuleScore(scoring.RULES).score(RECORD).score
        )

    def test_objects(self, benchmark: Benchmark) -> None:
        assert benchmark(RuleScore(scoring.RULES).score, RECORD)


@pytest.mark.benchmark(group="pathological pattern")
class TestPathological:
    @pytest.mark.parametrize("letters", [20, 60, 1_000, 100_000])
    def test_linear(self, benchmark: Benchmark, letters: int) -> None:
        pattern = Pattern(workloads.PATHOLOGICAL)

        assert benchmark(pattern.test, "a" * letters) is False

    # `re` doubles its time with every letter: 20 is as far as a bench can go.
    @pytest.mark.parametrize("letters", [12, 16, 20])
    def test_backtracking(self, benchmark: Benchmark, letters: int) -> None:
        pattern = re.compile(workloads.PATHOLOGICAL)

        assert benchmark(pattern.search, "a" * letters) is None


CASES = [
    pytest.param(case, length, found, id=f"{case.name}, {length}, {'hit' if found else 'no hit'}")
    for case in (*pattern_cases.ORDINARY, *pattern_cases.LOOKAROUND)
    for length in (pattern_cases.SHORT, pattern_cases.LONG)
    for found in (True, False)
]


@pytest.mark.parametrize(("case", "length", "found"), CASES)
class TestPatterns:
    def test_all_engines_answer_alike(self, case: Case, length: int, found: bool) -> None:
        text = case.text(length, found=found)
        searches = [pattern_cases.python_pattern(case).search, re2_search(case)]

        assert length == len(text)
        assert [found] * 2 == [
            Pattern(case.pattern, case.flags).test(text),
            *{bool(search(text)) for search in searches if search is not None},
        ]


@pytest.mark.benchmark(group="50 characters, no hit")
@pytest.mark.parametrize("case", pattern_cases.ORDINARY, ids=lambda case: case.name)
class TestShortTexts:
    def test_ours(self, benchmark: Benchmark, case: Case) -> None:
        text = case.text(pattern_cases.SHORT, found=False)

        assert benchmark(Pattern(case.pattern, case.flags).test, text) is False

    def test_re(self, benchmark: Benchmark, case: Case) -> None:
        text = case.text(pattern_cases.SHORT, found=False)

        assert benchmark(pattern_cases.python_pattern(case).search, text) is None


@pytest.mark.benchmark(group="10,000 errors")
class TestErrors:
    RECORDS = errors.records(10_000)

    def test_by_hand(self, benchmark: Benchmark) -> None:
        assert benchmark(errors.answers, self.RECORDS)

    def test_in_one_call(self, benchmark: Benchmark) -> None:
        benchmark(ErrorClassify().classify_many, self.RECORDS)

    def test_both_answer_alike(self) -> None:
        ours = [
            (one.error_class, one.action, one.retryable, one.wait_ms, one.matched, one.source)
            for one in ErrorClassify().classify_many(self.RECORDS)
            if isinstance(one, ErrorVerdict)
        ]
        assert ours == errors.answers(self.RECORDS)


ORDERS = orders.orders(3_000)
UNLIKE = orders.unlike(ORDERS)


@pytest.mark.benchmark(group="3,000 orders")
class TestBatches:
    BRANCH = Branch(workloads.ARMS)

    @pytest.mark.parametrize("records", [ORDERS, UNLIKE], ids=["alike", "unlike"])
    def test_every_way_answers_as_by_hand(self, records: list[workloads.Record]) -> None:
        by_hand = list(map(workloads.branch5_by_hand, records))
        text = orders.lines(records)
        ways: list[list[workloads.Record] | bytes] = [records, text]
        for threads in (1, 2):
            for way in ways:
                batch = self.BRANCH.decide_many(way, threads=threads)
                assert by_hand == [getattr(one, "name", one) for one in batch]
                assert orders.counts_by_hand(records) == batch.counts()

    def test_no_arm_is_rare(self) -> None:
        counted = orders.counts_by_hand(ORDERS)
        assert {arm["name"] for arm in workloads.ARMS} | {"(no match)"} == set(counted)
        assert all(count > len(ORDERS) / 100 for count in counted.values())

    def test_by_hand(self, benchmark: Benchmark) -> None:
        assert benchmark(orders.counts_by_hand, ORDERS)

    def test_dicts(self, benchmark: Benchmark) -> None:
        assert benchmark(self.BRANCH.decide_many, ORDERS)

    @pytest.mark.parametrize("records", [ORDERS, UNLIKE], ids=["alike", "unlike"])
    def test_lines(self, benchmark: Benchmark, records: list[workloads.Record]) -> None:
        assert benchmark(self.BRANCH.decide_many, orders.lines(records))


class TestInstructions:
    def test_the_committed_table_has_every_path(self) -> None:
        committed = instructions.read(instructions.COMMITTED.read_text("utf-8"))
        assert list(instructions.PATHS) == list(committed)
        assert committed == instructions.read(instructions.written(committed))

    def test_what_has_grown_is_named(self) -> None:
        before = {"a": 1_000, "b": 1_000}
        assert [] == instructions.grown(before, {"a": 1_050, "b": 10, "new": 5})
        [told] = instructions.grown(before, {"a": 1_051, "b": 1_000})
        assert told.startswith("a: ")

    @pytest.mark.parametrize("name", instructions.PATHS)
    def test_every_path_can_be_called(self, name: str) -> None:
        instructions.run(name, 1)


class TestGrowth:
    def test_a_file_is_decided_in_a_process_of_its_own(self, tmp_path: Path) -> None:
        measured = growth.of_records(tmp_path / "orders.jsonl", 50)
        assert 50 == measured.records
        assert [] == list(tmp_path.iterdir())

    def test_a_long_file_repeats_its_lines(self, tmp_path: Path) -> None:
        path = tmp_path / "orders.jsonl"
        growth.write_lines(path, 3 * growth.DISTINCT, b"{}\n")
        assert b"{}\n" * 3 == path.read_bytes()
