"""The command line: data on standard output, everything else on standard error.

Exit codes: 0 done; 1 faults in the data or a spec; 2 usage; 130 interrupted, 143 terminated and
129 hung up (128 and the number of the signal).
"""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Run the `interlock` command; a closed pipe ends it quietly."""
    _end_in_order()
    try:
        sys.exit(_run())
    except KeyboardInterrupt:
        sys.exit(130)


def _end_in_order() -> None:
    """Have the signals that end a process unwind it, so that nothing half written is left."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # One that is ignored, as under nohup, stays ignored.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _ended)


def _ended(number: int, _: object) -> NoReturn:
    # A second one would cut short what cleans up after the first.
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def _run() -> int:
    from interlock.cli._commands import ClosedPipe, cli

    try:
        status = cli.main(prog_name="interlock", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except (BrokenPipeError, ClosedPipe):
        _forget_output()
        return 0
    except Exception as error:  # noqa: BLE001 (what is not foreseen is raised again)
        return _explained(error)
    return status if isinstance(status, int) else 0


def _explained(error: Exception) -> int:
    """Say what went wrong in one or a few lines; what was not foreseen keeps its traceback."""
    import click

    from interlock.errors import InterlockError

    if isinstance(error, click.exceptions.Abort):
        return 130
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, (InterlockError, OSError)):
        from interlock.record.report._text import visible

        # It may quote what a stranger wrote, which must not talk to the terminal.
        click.echo(f"interlock: {visible(str(error))}", err=True)
        return 1
    raise error


def _forget_output() -> None:
    """Keep the interpreter from writing to the closed pipe again at exit."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
