"""Run real programs that fail for real reasons, and write one JSON object per run.

The programs are data: see ``programs.toml`` beside this file. Each one runs in its own
directory under a fresh temporary one, with a small fixed environment. Nothing talks to
another machine: the only addresses used are closed ports on 127.0.0.1 and the small server
below. Programs that this machine does not have are left out, with a note on stderr.

Usage: ``python examples/collect_failures.py > failures.jsonl`` (or ``--output FILE``).
"""

from __future__ import annotations

import argparse
import contextlib
import getpass
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROGRAMS = Path(__file__).with_name("programs.toml")
STDERR_TAIL = 400
STDOUT_TAIL = 200
SLOW_SECONDS = 20.0
NOBODY = 65534
# What each limit is called in `ulimit`: only soft limits are lowered.
ULIMIT = {
    "cpuSeconds": "t",
    "fileBlocks": "f",
    "memoryKb": "v",
    "openFiles": "n",
}
# What differs between runs or machines and says nothing about the failure.
CHANGING = (
    (r"\b0x[0-9a-f]{6,}\b", "0xADDRESS"),
    (r"\bcc\w{6}(?=\.[os]\b)", "ccXXXXXX"),
    (r"\b\d+(?= (Killed|Terminated|Segmentation|Aborted))", "$PID"),
    (r"(?<=thread 'main' \()\d+(?=\))", "$PID"),
    (r"\b[0-9A-F]{16}(?=:error:)", "$THREAD"),
    (r"\bcrates\.io\b", "$REGISTRY"),
    (r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b", "$NOW"),
)
PRIVATE = (re.escape(str(Path.home())), re.escape(str(Path.cwd())), r"/home/", r"/Users/")


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the table: a command, and what must be so before it runs."""

    id: str
    command: str
    program: str = ""
    setup: str = ""
    timeout: float = 120.0
    nobody: bool = False
    needs: tuple[str, ...] = ()
    probe: str = ""
    limits: dict[str, int] = field(default_factory=dict)

    @property
    def argv(self) -> list[str]:
        """Return the command as the words that are run."""
        return shlex.split(self.command)


class Handler(BaseHTTPRequestHandler):
    """A server that answers badly on purpose; the path says how."""

    def do_GET(self) -> None:
        """Answer `/status/N`, `/slow`, `/empty`, `/partial` and `/loop`."""
        kind, _, rest = self.path.strip("/").partition("/")
        if kind == "empty":
            self.close_connection = True
            return
        if kind == "slow":
            time.sleep(SLOW_SECONDS)
        status = int(rest.partition("/")[0]) if kind == "status" else 200
        body = b'{"status": %d}\n' % status
        self.send_response(302 if kind == "loop" else status)
        self.send_header("Location", self.path)
        self.send_header("Retry-After", "7")
        self.send_header("Content-Length", str(len(body) + 1000 * (kind == "partial")))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep the terminal quiet."""


class Server(ThreadingHTTPServer):
    """The server on 127.0.0.1; a client that goes away is no news."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: object) -> None:
        """Say nothing: clients that give up are what is being tested."""


@contextlib.contextmanager
def serving() -> Iterator[int]:
    """Run the server for as long as the block lasts, and give its port."""
    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


class Scrubber:
    """Takes out of a text what belongs to this machine and not to the failure."""

    def __init__(self, tmp: Path, port: int) -> None:
        """Collect what is to be replaced: the longest path first."""
        home = str(Path.home())
        paths = {
            str(tmp): "$TMP",
            f"{tmp}/home": "$HOME",
            home: "$HOME",
            sys.executable: "python3",
            os.path.realpath(sys.executable): "python3",
            sys.prefix: "$PYTHON",
            sys.base_prefix: "$PYTHON",
            rustup_home(): "$RUSTUP",
        }
        words = {socket.gethostname(): "$HOST", getpass.getuser(): "$USER"}
        ordered = sorted(paths.items(), key=lambda pair: -len(pair[0]))
        self.rules = [(re.compile(re.escape(old)), new) for old, new in ordered if old != "/"]
        alone = r"(?<![\w/.-]){}(?![\w/.-])"  # `internal/vm` is not a host called `vm`
        self.rules += [(re.compile(alone.format(re.escape(w))), new) for w, new in words.items()]
        changing = (*CHANGING, (rf"\b{port}\b", "$PORT"))
        self.rules += [(re.compile(pattern), new) for pattern, new in changing]
        self.private = re.compile("|".join([*PRIVATE, re.escape(str(tmp)), re.escape(home)]))

    def clean(self, text: str, case_dir: Path) -> str:
        """Return the text with every rule applied; the case's own directory is `$TMP`."""
        text = text.replace(str(case_dir), "$TMP")
        for pattern, new in self.rules:
            text = pattern.sub(lambda _, new=new: new, text)  # type: ignore[misc]
        return text

    def leftovers(self, text: str) -> list[str]:
        """Return what still looks like a name or path of this machine."""
        return sorted({match.group() for match in self.private.finditer(text)})


def rustup_home() -> str:
    """Return where the Rust toolchains are."""
    return os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))


def note(text: str) -> None:
    """Say something to the person who runs this."""
    sys.stderr.write(f"collect_failures: {text}\n")


def prepare(tmp: Path, fixed: dict[str, str]) -> dict[str, str]:
    """Lay out the temporary directory and return the environment of every run."""
    tmp.chmod(0o755)
    for name in ("home", "bin", "tmp"):
        (tmp / name).mkdir()
    (tmp / "tmp").chmod(0o1777)
    python = tmp / "bin" / "python3"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    found = [shutil.which(name) for name in ("cargo", "go", "node")]
    places = [
        str(python.parent),
        "/usr/local/bin",
        "/usr/bin",
        "/bin",
        "/usr/sbin",
        "/sbin",
    ]
    places += sorted({str(Path(path).parent) for path in found if path})
    env = {name: value.replace("{tmp}", str(tmp)) for name, value in fixed.items()}
    return {**env, "PATH": ":".join(places), "RUSTUP_HOME": rustup_home()}


def quiet(script: str, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a shell script that prepares or probes something."""
    words = ["/bin/sh", "-ec", script]
    return subprocess.run(  # noqa: S603  (the scripts are the ones in programs.toml)
        words,
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def why_not(case: Case, cwd: Path, env: dict[str, str]) -> str | None:
    """Set the case up; return the reason to leave it out, or None when it can run."""
    for name in case.needs or (case.argv[0],):
        if shutil.which(name, path=env["PATH"]) is None:
            return f"{name} is not on this machine"
    for script in filter(None, (case.probe, case.setup)):
        done = quiet(script, cwd, env)
        if done.returncode != 0:
            why = (done.stderr.strip() or "no message").splitlines()[-1]
            return f"its preparation does not succeed here: {why}"
    return None


def start(case: Case, cwd: Path, env: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start the command in a process group of its own, under its limits."""
    limits = "".join(f"ulimit -S -{ULIMIT[name]} {value}; " for name, value in case.limits.items())
    words = ["/bin/sh", "-c", f'ulimit -c 0; {limits}exec "$@"', "sh", *case.argv]
    how: dict[str, Any] = {"start_new_session": True}
    if case.nobody and os.geteuid() == 0:  # root may do everything: nobody may not
        how |= {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    null, pipe = subprocess.DEVNULL, subprocess.PIPE
    return subprocess.Popen(  # noqa: S603  (the commands are the ones in programs.toml)
        words, cwd=cwd, env=env, stdin=null, stdout=pipe, stderr=pipe, **how
    )


def finish(process: subprocess.Popen[bytes], timeout: float) -> tuple[str, str, bool]:
    """Wait for the command; past its time, end its whole process group."""
    timed_out = False
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        timed_out = True
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
    return out.decode(errors="replace"), err.decode(errors="replace"), timed_out


def run(case: Case, cwd: Path, env: dict[str, str], scrubber: Scrubber) -> dict[str, object]:
    """Run one case and return its record."""
    began = time.monotonic()
    process = start(case, cwd, env)
    out, err, timed_out = finish(process, case.timeout)
    duration = round((time.monotonic() - began) * 1000)
    code = process.returncode
    out, err = (scrubber.clean(text, cwd).strip() for text in (out, err))
    return {
        "id": case.id,
        "program": case.program or Path(case.argv[0]).name,
        "command": scrubber.clean(case.command, cwd),
        "argv": [scrubber.clean(word, cwd) for word in case.argv],
        "limits": case.limits,
        "exitCode": code if code >= 0 else None,
        "signal": signal.Signals(-code).name if code < 0 else None,
        "timedOut": timed_out,
        "durationMs": duration,
        "stderrLines": len(err.splitlines()),
        "stdoutLines": len(out.splitlines()),
        "stderr": err[-STDERR_TAIL:].lstrip(),
        "stdout": out[-STDOUT_TAIL:].lstrip(),
    }


def collect(cases: Sequence[Case], fixed: dict[str, str]) -> Iterator[dict[str, object]]:
    """Run the cases in the order of the table, and give one record for each that ran."""
    with tempfile.TemporaryDirectory(prefix="failures-") as name, serving() as port:
        tmp = Path(name).resolve()
        env = prepare(tmp, fixed) | {"PORT": str(port)}
        scrubber = Scrubber(tmp, port)
        for case in cases:
            cwd = tmp / "cases" / case.id
            cwd.mkdir(parents=True)
            if reason := why_not(case, cwd, env):
                note(f"left out {case.id}: {reason}")
                continue
            filled = replace(case, command=case.command.replace("{port}", str(port)))
            record = run(filled, cwd, env, scrubber)
            if left := scrubber.leftovers(json.dumps(record)):
                note(f"WARNING: {case.id} still names {', '.join(left)}")
            yield record


def read_table(path: Path) -> tuple[list[Case], dict[str, str]]:
    """Read the cases, and the environment they all share."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    rows = [{**row, "needs": tuple(row.get("needs", ()))} for row in table["case"]]
    return [Case(**row) for row in rows], table["environment"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Collect the records and write them, one JSON object per line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, help="write to this file, not to stdout")
    options = parser.parse_args(arguments)
    cases, fixed = read_table(PROGRAMS)
    records = list(collect(cases, fixed))
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    note(f"{len(records)} records of {len(cases)} cases")
    return 0


if __name__ == "__main__":
    sys.exit(main())
