"""`--output`: which file it is, its permissions, and what a run that is cut short leaves."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from .command import BIG, BIG_LINE, COMMAND, environment, strict_json

OLD = b"old\n"


def shell(line: str, spec: Path, cwd: Path) -> "subprocess.CompletedProcess[bytes]":
    """Run a line of a shell in which `"$@"` is the command on one record."""
    (cwd / "records").write_bytes(BIG + b"\n")
    return subprocess.run(
        ["/bin/sh", "-c", line, "sh", *COMMAND, "decide", str(spec), "records", "--output"],
        capture_output=True,
        check=False,
        cwd=cwd,
        env=environment(),
    )


def decided(text: bytes) -> list[object]:
    return [strict_json(line) for line in text.decode().splitlines()]


def names(room: Path) -> list[str]:
    return sorted(path.name for path in room.iterdir())


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """Give an empty directory, so that what is left behind shows."""
    path = tmp_path / "room"
    path.mkdir()
    return path


class TestWhatIsOpenIsWrittenTo:
    @pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link", "out"])
    def test_standard_output_in_a_file(self, spec: Path, room: Path, name: str) -> None:
        (room / "link").symlink_to("/dev/stdout")
        out = room / "out"
        out.write_bytes(OLD)
        before = out.stat().st_ino
        done = shell(f'"$@" {name} > out; echo last >> out', spec, room)
        assert (0, b"", b"") == (done.returncode, done.stdout, done.stderr)
        first, last = out.read_bytes().splitlines()
        assert (BIG_LINE, b"last") == (strict_json(first.decode()), last)
        assert before == out.stat().st_ino
        assert ["link", "out", "records"] == names(room)

    @pytest.mark.parametrize("name", ["/dev/stdout", "link", "out"])
    def test_what_stands_before_it_stays(self, spec: Path, room: Path, name: str) -> None:
        (room / "link").symlink_to("/proc/self/fd/1")
        (room / "out").write_bytes(OLD)
        assert 0 == shell(f'"$@" {name} >> out', spec, room).returncode
        assert OLD == (room / "out").read_bytes()[: len(OLD)]
        assert [BIG_LINE] == decided((room / "out").read_bytes()[len(OLD) :])

    @pytest.mark.parametrize("name", ["/dev/fd/3", "/proc/self/fd/3", "link"])
    def test_another_that_is_open(self, spec: Path, room: Path, name: str) -> None:
        (room / "link").symlink_to("/dev/fd/3")
        done = shell(f'exec 3> out; echo first >&3; "$@" {name}', spec, room)
        assert (0, b"") == (done.returncode, done.stdout)
        assert b"first\n" == (room / "out").read_bytes()[:6]
        assert [BIG_LINE] == decided((room / "out").read_bytes()[6:])

    @pytest.mark.parametrize("line", ['"$@" /dev/stdout | cat', '"$@" /dev/fd/3 3>&1 | cat'])
    def test_a_pipe(self, spec: Path, room: Path, line: str) -> None:
        assert [BIG_LINE] == decided(shell(line, spec, room).stdout)

    def test_a_named_pipe(self, spec: Path, room: Path) -> None:
        os.mkfifo(room / "pipe")
        done = shell('cat pipe & "$@" pipe; wait', spec, room)
        assert [BIG_LINE] == decided(done.stdout)
        assert (room / "pipe").is_fifo()


class TestPermissions:
    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
    @pytest.mark.parametrize("mask", ["000", "077"])
    def test_a_file_keeps_its_own(self, spec: Path, room: Path, mode: int, mask: str) -> None:
        out = room / "out"
        out.write_bytes(OLD)
        out.chmod(mode)
        assert 0 == shell(f'umask {mask}; "$@" out', spec, room).returncode
        assert (mode, [BIG_LINE]) == (out.stat().st_mode & 0o777, decided(out.read_bytes()))

    @pytest.mark.parametrize(("mask", "mode"), [("022", 0o644), ("077", 0o600), ("000", 0o666)])
    def test_a_new_file_has_those_of_the_umask(
        self, spec: Path, room: Path, mask: str, mode: int
    ) -> None:
        assert 0 == shell(f'umask {mask}; "$@" out', spec, room).returncode
        assert mode == (room / "out").stat().st_mode & 0o777

    def test_a_link_stays_one(self, spec: Path, room: Path) -> None:
        (room / "out").write_bytes(OLD)
        (room / "out").chmod(0o600)
        (room / "link").symlink_to("out")
        assert 0 == shell('"$@" link', spec, room).returncode
        assert (room / "link").is_symlink()
        assert 0o600 == (room / "out").stat().st_mode & 0o777
        assert [BIG_LINE] == decided((room / "out").read_bytes())


class TestCutShort:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
    @pytest.mark.parametrize("command", ["decide", "classify"])
    def test_no_part_is_left(
        self, spec: Path, room: Path, number: signal.Signals, command: str
    ) -> None:
        (room / "out").write_bytes(OLD)
        before = signal.signal(number, signal.SIG_DFL)
        try:
            process = subprocess.Popen(
                [*COMMAND, command, *([spec] * (command == "decide")), "--output", room / "out"],
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        finally:
            signal.signal(number, before)
        while 1 == len(names(room)):
            assert process.poll() is None
        process.send_signal(number)
        err = process.communicate()[1]
        assert 128 + number == process.returncode
        assert b"Traceback" not in err
        assert (["out"], OLD) == (names(room), (room / "out").read_bytes())

    def test_what_is_ignored_stays_ignored(self, spec: Path, room: Path) -> None:
        line = "trap '' TERM; (sleep 0.3; kill -TERM $$) & exec \"$@\" out < slow"
        os.mkfifo(room / "slow")
        process = subprocess.Popen(
            ["/bin/sh", "-c", line, "sh", *COMMAND, "decide", str(spec), "-", "--output"], cwd=room
        )
        with (room / "slow").open("wb") as slow:
            assert process.poll() is None
            slow.write(BIG)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(timeout=1)
        assert 0 == process.wait()

    def test_a_part_of_an_earlier_run_is_no_hindrance(self, spec: Path, room: Path) -> None:
        assert 0 == shell('echo old > out.$$.part; exec "$@" out', spec, room).returncode
        assert [BIG_LINE] == decided((room / "out").read_bytes())
        assert ["out", "records"] == names(room)
