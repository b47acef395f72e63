"""`interlock runbook`: the commands about written procedures.

A command of this group is a function here with `@runbook.command()`; what it does is in a module of
its own, loaded when it runs.
"""

from __future__ import annotations

import click

__all__ = ["runbook"]

_FILE = click.Path(dir_okay=False)


@click.group()
def runbook() -> None:
    """Check, show and run written procedures.

    Exit codes: 0 fine; 1 findings, or a refused start; 2 usage.
    """


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
