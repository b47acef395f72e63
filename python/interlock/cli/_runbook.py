"""`interlock runbook`: the commands about written procedures.

A command of this group is a function here with `@runbook.command()`; what it does is in a module of
its own, loaded when it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import click

if TYPE_CHECKING:
    from typing import Unpack

    from interlock.supervise.contract import RuntimeProfile

__all__ = ["RunOptions", "runbook"]

_FILE = click.Path(dir_okay=False)


@click.group()
def runbook() -> None:
    """Check, show and run written procedures.

    Exit codes: 0 fine; 1 findings, or a refused start; 2 usage; 3 a run that did not end at a
    terminal.
    """


class RunOptions(TypedDict):
    """How a procedure is driven."""

    inputs: tuple[str, ...]
    inputs_file: str | None
    profile: RuntimeProfile | None
    who: str | None
    run_id: str | None
    seconds: float | None
    log: str | None
    resume: bool
    rehearse: bool


def _with_others(command: click.decorators.FC) -> click.decorators.FC:
    """Give a command the option for the runbooks that its own may call."""
    return click.option(
        "--with",
        "others",
        multiple=True,
        type=_FILE,
        metavar="FILE",
        help="A runbook that this one may call; may be repeated, called ones first.",
    )(command)


@runbook.command()
@click.argument("file", nargs=-1, required=True, type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="Print the problems as JSON Lines.")
@_with_others
def lint(file: tuple[str, ...], others: tuple[str, ...], *, as_json: bool) -> int:
    """Find all faults and warnings of every runbook FILE; exit 1 when there is a fault."""
    from interlock.cli import _runbook_lint

    return _runbook_lint.linted(file, others, as_json=as_json)


@runbook.command()
@click.argument("file", type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="Print it as one line of JSON.")
@_with_others
def show(file: str, others: tuple[str, ...], *, as_json: bool) -> int:
    """Show the policy of FILE: its steps, what each may do, and how long a run can be."""
    from interlock.cli import _runbook_show

    return _runbook_show.shown(file, others, as_json=as_json)


@runbook.command()
def schema() -> None:
    """Print the JSON Schema of a runbook document."""
    import json

    from interlock.supervise import runbook_schema

    click.echo(json.dumps(runbook_schema(), ensure_ascii=False, indent=2))


@runbook.command()
@click.argument("file", type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="Print it as one line of JSON.")
@_with_others
def explore(file: str, others: tuple[str, ...], *, as_json: bool) -> int:
    """Walk everything that FILE allows: outcomes with a shortest path to each, dead ends."""
    from interlock.cli import _runbook_report

    return _runbook_report.explored(file, others, as_json=as_json)


@runbook.command()
@click.argument("file", type=_FILE)
@click.option("--inputs", multiple=True, metavar="NAME=VALUE", help="An input; may be repeated.")
@click.option(
    "--inputs-file",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Inputs as YAML or JSON; -: the first line of standard input, as JSON. For secrets: "
    "everybody on the machine can see the arguments of a command.",
)
@click.option(
    "--profile",
    type=click.Choice(["R0", "R1", "R2"]),
    help="What is enforced; R1 when left out.",
)
@click.option("--as", "who", metavar="NAME", help="Who works through it; operator when left out.")
@click.option("--run-id", metavar="ID", help="The id of the run; made when left out.")
@click.option("--seconds", type=float, metavar="S", help="How long it may take.")
@click.option("--log", type=_FILE, help="Write every operation to this file, as JSON Lines.")
@click.option("--resume", is_flag=True, help="Go on with the run of --log; give its secrets again.")
@click.option("--rehearse", is_flag=True, help="A clock from 0 that `wait` alone moves.")
@_with_others
def run(file: str, others: tuple[str, ...], **options: Unpack[RunOptions]) -> int:
    """Work through FILE in this terminal: a line is a command, `help` lists them.

    It shows the step where the run stands, says of every call whether it may be made, asks whoever
    must agree, and keeps count. Exit 3 when the run does not end at a terminal.
    """
    from interlock.cli import _runbook_run

    return _runbook_run.driven(file, others, options)


@runbook.command()
@click.argument("log", type=_FILE)
@click.option(
    "--policy", type=_FILE, help="The runbook: with it limits are known, and the log is checked."
)
@click.option("--html", type=_FILE, help="Write one page of HTML to this file.")
@click.option("--mermaid", "form", flag_value="mermaid", help="Print a state diagram.")
@click.option("--json", "form", flag_value="json", help="Print one line of JSON.")
@_with_others
def report(
    log: str, policy: str | None, html: str | None, form: str | None, others: tuple[str, ...]
) -> int:
    """Report on the run of LOG, as Markdown; exit 1 when the log is not sound."""
    from interlock.cli import _runbook_report

    return _runbook_report.reported(log, policy, others, html=html, form=form or "markdown")


@runbook.command()
@click.argument("file", type=_FILE)
@click.argument("logs", nargs=-1, required=True, type=_FILE, metavar="LOG...")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each log.")
@_with_others
def simulate(file: str, logs: tuple[str, ...], others: tuple[str, ...], *, as_json: bool) -> int:
    """Make recorded runs again by FILE, and print what comes out otherwise; exit 1 for any."""
    from interlock.cli import _runbook_report

    return _runbook_report.simulated(file, logs, others, as_json=as_json)
