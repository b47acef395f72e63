"""`interlock decide` as a process: exit codes, pipes, signals, terminals, memory."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from .command import BIG, BIG_LINE, COMMAND, SMALL, Ran, environment, interlock, strict_json

MEBIBYTE = 1 << 20
LINE_LIMIT = 256 * MEBIBYTE

PEAK = """\
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(done.returncode)
"""
"""A small parent, since a child's peak counts what its parent held when it was started."""


@contextmanager
def interruptible() -> Generator[None]:
    """Have children take SIGINT, also where this process was started without."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def everything(terminal: int) -> bytes:
    """Read a terminal until no one has its other end any more."""
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            return shown
        if not piece:
            return shown
        shown += piece


class TestExitCodes:
    def test_usage(self, spec: Path, tmp_path: Path) -> None:
        for arguments in (["decide"], ["decide", spec, "--nope"], ["decide", tmp_path]):
            ran = interlock(*arguments)
            assert (2, b"") == (ran.code, ran.out)
            assert "Usage: interlock decide" in ran.err

    def test_missing_records(self, spec: Path, tmp_path: Path) -> None:
        ran = interlock("decide", spec, tmp_path / "none.jsonl")
        assert (1, b"") == (ran.code, ran.out)
        assert "none.jsonl" in ran.err

    def test_missing_spec(self, tmp_path: Path) -> None:
        ran = interlock("decide", tmp_path / "none.yaml", stdin=BIG)
        assert (1, b"") == (ran.code, ran.out)
        assert "none.yaml: file: cannot be read: " in ran.err

    def test_all_faults_of_the_spec(self, tmp_path: Path) -> None:
        spec = tmp_path / "bad.yaml"
        lines = ("tool: Assert", "checks:", "  - {op: exist}", "  - {op: matches, expected: '('}")
        spec.write_text("\n".join(lines), encoding="utf-8")
        ran = interlock("decide", spec, stdin=BIG)
        assert (1, b"") == (ran.code, ran.out)
        assert ran.err.splitlines() == interlock("lint", spec).lines
        assert 2 == len(ran.err.splitlines())

    def test_output_that_cannot_be_written(self, spec: Path, tmp_path: Path) -> None:
        ran = interlock("decide", spec, "--output", tmp_path / "none" / "out", stdin=BIG)
        assert (1, b"") == (ran.code, ran.out)
        assert "none" in ran.err

    @pytest.mark.skipif(
        not Path("/dev/full").exists(), reason="the device that is always full is one of Linux"
    )
    def test_no_room_left(self, spec: Path) -> None:
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                [*COMMAND, "decide", str(spec)],
                input=BIG,
                stdout=full,
                stderr=subprocess.PIPE,
                check=False,
            )
        assert 1 == done.returncode
        assert b"No space left on device" in done.stderr
        assert b"Traceback" not in done.stderr

    def test_a_spec_that_can_be_read_only_once(self, tmp_path: Path) -> None:
        records = tmp_path / "records.jsonl"
        records.write_bytes(BIG)
        ran = interlock("decide", "/dev/stdin", records, stdin=b"tool: Branch\narms: []\n")
        assert 1 == ran.code
        assert "arms" in ran.err


class TestPipes:
    def test_a_closed_pipe_ends_quietly(self, spec: Path, tmp_path: Path) -> None:
        records = tmp_path / "records.jsonl"
        records.write_bytes((BIG + b"\n") * 50_000)
        process = subprocess.Popen(
            [*COMMAND, "decide", spec, records], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
        process.stderr.close()
        assert BIG_LINE == strict_json(first.decode())
        assert (0, b"") == (process.wait(), err)

    @pytest.mark.parametrize("closed", ["<&-", ">&-"], ids=["input", "output"])
    def test_a_stream_that_was_never_open(self, spec: Path, closed: str) -> None:
        line = f'"$@" {closed}'
        shell = ["/bin/sh", "-c", line, "sh", *COMMAND, "decide", str(spec)]
        done = subprocess.run(shell, input=b"", capture_output=True, check=False)
        assert b"Traceback" not in done.stderr

    def test_an_interrupt_ends_with_130(self, spec: Path) -> None:
        ours, theirs = pty.openpty()
        with interruptible(), closing(os.fdopen(ours, "rb", 0)) as shown:
            process = subprocess.Popen(
                [*COMMAND, "decide", spec],
                stdin=subprocess.PIPE,
                stdout=theirs,
                stderr=subprocess.PIPE,
            )
            os.close(theirs)
            assert process.stdin is not None
            process.stdin.write(BIG + b"\n")
            process.stdin.flush()
            # On a terminal each decision is shown at once, so now it waits for the next record.
            assert BIG_LINE == strict_json(shown.readline().decode())
            process.send_signal(signal.SIGINT)
            err = process.communicate()[1]
        assert 130 == process.returncode
        assert b"Traceback" not in err

    def test_an_interrupt_leaves_the_old_file(self, spec: Path, tmp_path: Path) -> None:
        out = tmp_path / "decisions.jsonl"
        out.write_bytes(b"old\n")
        before = set(tmp_path.iterdir())
        with interruptible():
            process = subprocess.Popen(
                [*COMMAND, "decide", spec, "--output", out],
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        while set(tmp_path.iterdir()) == before:
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.communicate()
        assert (130, b"old\n") == (process.returncode, out.read_bytes())


class TestTerminal:
    @staticmethod
    def on_terminal(spec: Path, *options: str, **changes: str) -> tuple[Ran, bytes]:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [*COMMAND, "decide", spec, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=theirs,
            env=environment(**changes),
        )
        os.close(theirs)
        out = process.communicate(SMALL + b"\n")[0]
        shown = everything(ours)
        os.close(ours)
        return Ran(process.returncode, out, ""), shown

    @pytest.mark.parametrize("value", [None, "", "0"])
    def test_progress_on_a_terminal(self, spec: Path, value: str | None) -> None:
        changes = {} if value is None else {"INTERLOCK_NO_PROGRESS": value}
        ran, shown = self.on_terminal(spec, **changes)
        assert interlock("decide", spec, stdin=SMALL) == ran
        assert b"deciding" in shown

    def test_the_option_turns_it_off(self, spec: Path) -> None:
        assert b"" == self.on_terminal(spec, "--no-progress")[1]

    def test_the_environment_turns_it_off(self, spec: Path) -> None:
        assert b"" == self.on_terminal(spec, INTERLOCK_NO_PROGRESS="1")[1]

    @pytest.mark.parametrize(
        "changes", [{"TERM": "dumb"}, {"NO_COLOR": "1"}], ids=["dumb", "no colour"]
    )
    def test_no_colour_where_none_is_wanted(self, spec: Path, changes: dict[str, str]) -> None:
        assert b"\x1b[3" not in self.on_terminal(spec, **changes)[1]


class TestSize:
    @staticmethod
    def peak(spec: Path, records: Path) -> int:
        """Give the peak of resident memory in bytes."""
        command = [sys.executable, "-c", PEAK, *COMMAND, "decide", str(spec), str(records)]
        done = subprocess.run(command, capture_output=True, check=True)
        return int(done.stdout) * 1024

    def test_memory_does_not_follow_the_number_of_records(self, spec: Path, tmp_path: Path) -> None:
        few, many = tmp_path / "few.jsonl", tmp_path / "many.jsonl"
        few.write_bytes((BIG + b"\n") * 2_000)
        many.write_bytes((BIG + b"\n") * 200_000)
        assert self.peak(spec, many) < self.peak(spec, few) + 16 * MEBIBYTE

    def test_none_of_many_is_lost(self, spec: Path) -> None:
        records = b"".join(b'{"total":%d}\n' % total for total in range(50_000))
        ran = interlock("decide", spec, stdin=records)
        assert (0, "", 50_000) == (ran.code, ran.err, ran.out.count(b"\n"))
        assert 1_001 == ran.out.count(b'"normal"')
        assert 1_001 == ran.out[: ran.out.index(b'"big"')].count(b"\n")

    def test_an_overlong_line_is_one_bad_line(self, spec: Path, tmp_path: Path) -> None:
        records = tmp_path / "records.jsonl"
        with records.open("wb") as file:
            file.truncate(LINE_LIMIT + MEBIBYTE)
            file.seek(0, os.SEEK_END)
            file.write(b"\n" + BIG + b"\n")
        ran = interlock("decide", spec, records)
        records.unlink()
        assert (1, 1, [BIG_LINE]) == (ran.code, ran.rows[0]["line"], ran.rows[1:])
        assert str(LINE_LIMIT) in ran.rows[0]["error"]

    def test_a_record_behind_too_much_space_is_not_lost(self, spec: Path, tmp_path: Path) -> None:
        records = tmp_path / "records.jsonl"
        with records.open("wb") as file:
            for _ in range(LINE_LIMIT // MEBIBYTE):
                file.write(b" " * MEBIBYTE)
            file.write(b" " + BIG + b"\n" + SMALL + b"\n")
        ran = interlock("decide", spec, records)
        records.unlink()
        assert (1, 2) == (ran.code, len(ran.rows))
