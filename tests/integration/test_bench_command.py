"""`interlock bench`: what it measures and how it says so; never how long it took."""

from collections import Counter
from collections.abc import Iterator
from itertools import count

import pytest

from interlock import ErrorVerdicts, __version__
from interlock.cli import _bench

from .command import interlock

NAMES = [
    "five arms, dict",
    "five arms, JSON Lines",
    "table of 100 rows, dict",
    "errors, in one call",
    "pathological pattern, 10,000 letters",
]
SHORT = ("bench", "--seconds", "0.001")


def test_a_line_for_each_workload() -> None:
    ran = interlock(*SHORT)
    head, *lines = ran.lines
    assert (0, "") == (ran.code, ran.err)
    assert head.startswith(f"interlock {__version__}, CPython 3.")
    assert NAMES == [line[:38].rstrip() for line in lines]
    assert ["records/s"] * 4 + ["letters/s"] == [line.split()[-1] for line in lines]


def test_json() -> None:
    ran = interlock(*SHORT, "--json")
    [found] = ran.rows
    assert (0, "") == (ran.code, ran.err)
    assert {"interlock", "python", "system", "cpus", "workloads"} == set(found)
    assert NAMES == [one["name"] for one in found["workloads"]]
    for one in found["workloads"]:
        assert {"name", "unit", "nanoseconds", "perSecond"} == set(one)
        assert min(one["nanoseconds"], one["perSecond"]) > 0


@pytest.mark.parametrize("seconds", ["0", "-1", "3601", "long"])
def test_usage(seconds: str) -> None:
    ran = interlock("bench", "--seconds", seconds)
    assert (2, b"") == (ran.code, ran.out)
    assert "--seconds" in ran.err


class TestMeasured:
    """By a clock that goes on by one each time it is read."""

    @staticmethod
    def passes(seconds: float) -> tuple[float, int]:
        ran: Iterator[int] = count()
        ticks = count()
        took = _bench.measured(lambda: next(ran), seconds, lambda: float(next(ticks)))
        return took, next(ran)

    def test_a_first_pass_and_at_least_three(self) -> None:
        assert (1.0, 4) == self.passes(0.5)

    def test_as_many_as_there_is_time_for(self) -> None:
        assert (1.0, 11) == self.passes(27.0)

    def test_a_clock_that_stands_still(self) -> None:
        assert 0 < _bench.measured(lambda: None, -1.0, lambda: 0.0)


def test_the_work_is_real() -> None:
    arms, lines, table, errors, pattern = _bench.workloads()
    counted = lines.run()
    assert isinstance(counted, Counter)
    assert {"fraud", "vip", "legacy", "express", "known", "other"} == set(counted)
    assert lines.size == arms.size == table.size == counted.total()
    verdicts = errors.run()
    assert isinstance(verdicts, ErrorVerdicts)
    assert errors.size == len(verdicts)
    assert len(verdicts.counts()) > 5
    assert pattern.run() is False
