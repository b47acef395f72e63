"""The helpers for tests: a script, a clock that is moved by hand, a check that nothing is left."""

from __future__ import annotations

import asyncio  # noqa: TID251 (what is left behind is left on one backend)
import math
import threading
from typing import Any

import anyio
import pytest
import trio

from interlock import ConfigError
from interlock.testing import ManualClock, run_checked, scripted

BACKENDS = pytest.mark.parametrize("backend", ["asyncio", "trio"])


class TestRunChecked:
    @BACKENDS
    def test_it_gives_what_is_returned(self, backend: str) -> None:
        async def add(one: int, two: int) -> int:
            return await anyio.to_thread.run_sync(lambda: one + two)

        assert run_checked(add, 1, 2, backend=backend) == 3

    @BACKENDS
    def test_what_is_raised_goes_on(self, backend: str) -> None:
        async def fail() -> None:
            raise KeyError("a")

        with pytest.raises(KeyError):
            run_checked(fail, backend=backend)

    def test_a_task_that_is_left_is_named(self) -> None:
        tasks: list[Any] = []

        async def leave() -> None:
            tasks.append(asyncio.create_task(asyncio.sleep(60), name="left behind"))

        with pytest.raises(AssertionError, match=r"tasks left running: \['left behind'\]"):
            run_checked(leave)
        assert tasks[0].cancelled()

    def test_on_trio_too(self) -> None:
        async def leave() -> None:
            trio.lowlevel.spawn_system_task(trio.sleep, 60, name="left behind")

        with pytest.raises(AssertionError, match=r"tasks left running: \['left behind'\]"):
            run_checked(leave, backend="trio")

    @BACKENDS
    def test_a_thread_that_is_left_is_named(
        self, backend: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("interlock.testing._leaks._JOIN_SECONDS", 0.01)
        end = threading.Event()
        thread = threading.Thread(target=end.wait, name="left behind")

        async def leave() -> None:
            thread.start()

        with pytest.raises(AssertionError, match=r"threads left running: \['left behind'\]"):
            run_checked(leave, backend=backend)
        end.set()
        thread.join()

    @BACKENDS
    def test_a_thread_that_is_about_to_end_is_waited_for(self, backend: str) -> None:
        end = threading.Event()
        thread = threading.Thread(target=end.wait)

        async def leave() -> None:
            thread.start()
            threading.Timer(0.05, end.set).start()

        run_checked(leave, backend=backend)

        assert not thread.is_alive()


class TestManualClock:
    def test_it_stands_still_until_it_is_moved(self) -> None:
        clock = ManualClock(1_000, ids="r")
        read = [(clock.now(), clock.monotonic())]
        clock.advance(1.5)
        read.append((clock.now(), clock.monotonic()))

        assert read == [(1_000, 0.0), (2_500, 1.5)]
        assert [clock.new_id(), clock.new_id()] == ["r-1", "r-2"]

    @BACKENDS
    def test_waiting_moves_it_and_ends_what_is_due(self, backend: str) -> None:
        clock = ManualClock()
        ended: list[tuple[str, bool]] = []

        async def work() -> None:
            for name, seconds in (("short", 5), ("long", 20)):
                with clock.limit(seconds) as scope:
                    await clock.sleep(10)
                ended.append((name, scope.cancelled_caught))

        run_checked(work, backend=backend)

        assert ended == [("short", True), ("long", False)]
        assert clock.slept == [10, 10]

    @pytest.mark.parametrize("seconds", [-1, -0.001, math.nan, math.inf, "1", None])
    def test_it_never_goes_back(self, seconds: Any) -> None:
        clock = ManualClock()
        with pytest.raises(ConfigError, match="seconds: "):
            clock.advance(seconds)

        assert clock.monotonic() == 0


class TestScripted:
    @BACKENDS
    def test_answers_in_order_and_what_was_asked(self, backend: str) -> None:
        script = scripted("a", ValueError("b"), "c")

        async def work() -> None:
            assert await script(1) == "a"
            with pytest.raises(ValueError, match="b"):
                await script(2, "ctx")
            assert await script(3) == "c"
            with pytest.raises(AssertionError, match="call 4 of a script of 3 answers"):
                await script(4)

        run_checked(work, backend=backend)

        assert script.calls == [1, (2, "ctx"), 3, 4]

    def test_the_last_again_and_again(self) -> None:
        script = scripted("a", "b", repeat=True)

        async def work() -> list[object]:
            return [await script(at) for at in range(4)]

        assert run_checked(work) == ["a", "b", "b", "b"]

    def test_an_answer_takes_its_time(self) -> None:
        clock = ManualClock()
        run_checked(scripted("a", seconds=7, clock=clock), 1)

        assert clock.slept == [7]

    @pytest.mark.parametrize(
        ("options", "fields"),
        [
            ({"repeat": True}, ["answers"]),
            ({"seconds": 3}, ["clock"]),
            ({"seconds": -3, "clock": ManualClock()}, ["seconds"]),
            ({"seconds": math.nan, "repeat": True}, ["seconds", "clock", "answers"]),
        ],
    )
    def test_what_cannot_be_is_refused(self, options: Any, fields: list[str]) -> None:
        with pytest.raises(ConfigError) as refused:
            scripted(**options)

        assert [problem.field for problem in refused.value.problems] == fields
