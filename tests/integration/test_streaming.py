"""Records that come one by one: each is answered before the next one is there."""

import os
import pty
import subprocess
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from .command import BIG, BIG_LINE, COMMAND, NORMAL_LINE, SMALL, environment, interlock, strict_json

MOST_SECONDS = 60

Open = Callable[[list[str], Path], "tuple[subprocess.Popen[bytes], IO[bytes]]"]


def by_pipe(arguments: list[str], _: Path) -> tuple["subprocess.Popen[bytes]", IO[bytes]]:
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdin is not None
    return process, process.stdin


def by_named_pipe(arguments: list[str], room: Path) -> tuple["subprocess.Popen[bytes]", IO[bytes]]:
    os.mkfifo(room / "pipe")
    process, unused = by_pipe([*arguments, str(room / "pipe")], room)
    unused.close()
    return process, (room / "pipe").open("wb")


def by_terminal(arguments: list[str], _: Path) -> tuple["subprocess.Popen[bytes]", IO[bytes]]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    os.close(theirs)
    return process, os.fdopen(ours, "wb")


@contextmanager
def running(
    opened: Open, arguments: list[str], room: Path
) -> Generator[tuple[IO[bytes], IO[bytes]]]:
    """Run the command; one that never answers is ended, so that the test fails and not hangs."""
    process, given = opened(arguments, room)
    watch = threading.Timer(MOST_SECONDS, process.kill)
    watch.start()
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        yield given, process.stdout
    finally:
        watch.cancel()
        process.kill()
        process.wait()
        given.close()
        process.stdout.close()
        process.stderr.close()


OPENED = pytest.mark.parametrize("opened", [by_pipe, by_named_pipe, by_terminal])


def send(given: IO[bytes], text: bytes) -> None:
    given.write(text)
    given.flush()


@OPENED
def test_each_is_answered_before_the_next(spec: Path, tmp_path: Path, opened: Open) -> None:
    with running(opened, ["decide", str(spec)], tmp_path) as (given, answers):
        for record, expected in ((BIG, BIG_LINE), (SMALL, NORMAL_LINE)) * 3:
            send(given, record + b"\n")
            assert expected == strict_json(answers.readline().decode())


@OPENED
def test_so_does_classify(tmp_path: Path, opened: Open) -> None:
    with running(opened, ["classify"], tmp_path) as (given, answers):
        for status in (404, 429, 503):
            send(given, b'{"status":%d}\n' % status)
            assert f"status:{status}" == strict_json(answers.readline().decode())["matched"]
        send(given, b"{oops\n")
        assert 4 == strict_json(answers.readline().decode())["line"]


@OPENED
def test_half_a_line_holds_nothing_back(spec: Path, tmp_path: Path, opened: Open) -> None:
    with running(opened, ["decide", str(spec)], tmp_path) as (given, answers):
        for _ in range(3):
            send(given, BIG + b"\n\n" + SMALL + b"\n" + BIG[:5])
            assert BIG_LINE == strict_json(answers.readline().decode())
            assert NORMAL_LINE == strict_json(answers.readline().decode())
            send(given, BIG[5:] + b"\n")
            assert BIG_LINE == strict_json(answers.readline().decode())


def test_what_is_more_than_a_block_comes_whole(spec: Path, tmp_path: Path) -> None:
    many = 5_000
    with running(by_pipe, ["decide", str(spec)], tmp_path) as (given, answers):
        writer = threading.Thread(target=send, args=(given, (BIG + b"\n") * many))
        writer.start()
        for _ in range(many):
            assert BIG_LINE == strict_json(answers.readline().decode())
        writer.join()
        send(given, SMALL + b"\n")
        assert NORMAL_LINE == strict_json(answers.readline().decode())


def test_into_a_file_too(spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "pipe.out"
    os.mkfifo(out)
    arguments = ["decide", str(spec), "--output", str(out)]
    with running(by_pipe, arguments, tmp_path) as (given, _), out.open("rb") as answers:
        for _ in range(3):
            send(given, BIG + b"\n")
            assert BIG_LINE == strict_json(answers.readline().decode())


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_pipe_gives_what_a_file_gives(spec: Path, tmp_path: Path, end: bytes) -> None:
    text = b"\xef\xbb\xbf" + (BIG + b"\n\n" + SMALL + b"\n{oops\n") * 3_000 + BIG + end
    (tmp_path / "records").write_bytes(text)
    by_file = interlock("decide", spec, tmp_path / "records")
    assert by_file.out == interlock("decide", spec, stdin=text).out
    assert 9_001 == len(by_file.rows)
