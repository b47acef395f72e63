"""`interlock runbook run` at a real terminal: prompts, slips of the hand, and the ways to leave."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="a pseudo-terminal is one of POSIX")

FLAKY = Path(__file__).parents[2] / "examples" / "runbooks" / "flaky-check.yaml"
COMMAND = (
    sys.executable, "-m", "interlock", "runbook", "run", str(FLAKY), "--rehearse",
    "--inputs", "repository=acme/shop", "--inputs", "run=1", "--log",
)  # fmt: skip
PROMPT = b"\n> "


class Terminal:
    """The command at a terminal; what it shows is read until it asks again, or ends."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.pid, self.at = pty.fork()
        if self.pid == 0:
            os.execv(COMMAND[0], (*COMMAND, str(log)))  # noqa: S606 (our own)

    def read(self) -> str:
        """Return what is shown until the next prompt; all of it when the command ends."""
        shown = b""
        while not shown.replace(b"\r", b"").endswith(PROMPT):
            try:
                part = os.read(self.at, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part
        return shown.decode("utf-8", "replace")

    def types(self, keys: bytes) -> str:
        os.write(self.at, keys)
        return self.read()

    def ended(self) -> int:
        """Return the exit code."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    made = Terminal(tmp_path / "log.jsonl")
    assert "Run the failed jobs of run 1 in acme/shop again" in made.read()
    return made


@pytest.mark.parametrize(
    ("keys", "code"),
    [(b"\x03", 130), (b"call mcp:ci\x03", 130), (b"\x04", 3), (b"quit\n", 3), (b"stop\n", 3)],
    ids=["interrupt", "interrupt in a line", "end of input", "quit", "stop"],
)
def test_a_run_is_left_and_its_log_says_where(terminal: Terminal, keys: bytes, code: int) -> None:
    terminal.types(keys)
    assert terminal.ended() == code
    *_, last = terminal.log.read_text("utf-8").splitlines()
    assert last.startswith('{"state":')


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_ended_from_outside_says_where_it_stands(
    terminal: Terminal, number: signal.Signals
) -> None:
    os.kill(terminal.pid, number)
    terminal.read()
    assert terminal.ended() == 128 + number
    assert '{"state":' in terminal.log.read_text("utf-8")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (b"hlep\n", "the step where the run stands"),
        (b"\xff\xfe\n", "the step where the run stands"),
        (b"\x1b[A\n", "the step where the run stands"),
        (b"done s9\n", "there is no step or terminal s9"),
        (b"done s2 via=nxt\n", "via is one of next, failure"),
        (b"done s2 s3\n", "say where to"),
        (b"fail it went wrong\n", "fail CODE [by=NAME]"),
        (b"call 'mcp\n", "No closing quotation"),
    ],
)
def test_a_slip_of_the_hand_moves_nothing(terminal: Terminal, keys: bytes, said: str) -> None:
    assert said in terminal.types(keys)
    terminal.types(b"quit\n")
    assert terminal.ended() == 3
    assert len(terminal.log.read_text("utf-8").splitlines()) == 2
