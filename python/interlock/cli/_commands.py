"""The commands; what each needs is loaded when it runs, so that `--help` is quick."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypedDict, TypeVar, cast

import click

from interlock.cli._routes import routes
from interlock.cli._runbook import runbook

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from interlock.typing import JSON

BOM = b"\xef\xbb\xbf"
"""A byte-order mark, which some editors put before UTF-8."""

__all__ = ["BOM", "ClosedPipe", "Options", "cli", "standard_input"]


class ClosedPipe(Exception):
    """Whoever read the output stopped reading; click would make an error of it."""


class _Group(click.Group):
    """Commands that end quietly when their output is no longer read."""

    def invoke(self, ctx: click.Context) -> object:
        if sys.stdout is None:
            raise OSError("standard output is closed")
        try:
            return cast("object", super().invoke(ctx))
        except BrokenPipeError:
            raise ClosedPipe from None


def standard_input() -> BinaryIO:
    """Return standard input as bytes."""
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin.buffer


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Decisions that have a right answer, made by code.

    Exit codes: 0 done; 1 faults in the data or a spec; 2 usage; 130 interrupted; 143 terminated.
    """


cli.add_command(routes)

_Command = TypeVar("_Command", bound="Callable[..., object]")


class Options(TypedDict):
    """The options of each command that reads many records."""

    output: str | None
    summary: bool
    strict: bool
    no_progress: bool
    threads: int
    json_column: tuple[str, ...]


def _over_records(command: _Command) -> _Command:
    """Give a command the options that each has which reads many records."""
    options = (
        click.option("--output", type=click.Path(dir_okay=False), help="Write to this file."),
        click.option("--summary", is_flag=True, help="Print counts per outcome on standard error."),
        click.option("--strict", is_flag=True, help="Stop at the first bad line."),
        click.option("--no-progress", is_flag=True, help="Show no progress bar on a terminal."),
        click.option(
            "--threads",
            type=click.IntRange(min=1),
            default=1,
            envvar="INTERLOCK_THREADS",
            show_envvar=True,
            metavar="N",
            help="Read a file by so many threads; 1 when left out.",
        ),
        click.option(
            "--json-column",
            multiple=True,
            metavar="NAME",
            help="Read the texts of this column as JSON; may be repeated.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@cli.command()
@click.argument("spec", type=click.Path(dir_okay=False))
@click.argument("records", default="-", type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--explain", is_flag=True, help="Say how every arm, row, rule or owner fared.")
@_over_records
def decide(spec: str, records: str, *, explain: bool, **options: Unpack[Options]) -> int:
    """Decide RECORDS (JSON Lines; `-` or nothing: standard input) by SPEC (YAML or JSON).

    A file that ends in .parquet, .pq, .arrow, .arrows, .feather or .ipc is read as columns.
    One line out for each record in, in order; blank lines are passed over. A line that cannot be
    decided becomes a line with `error`, and the exit code is 1 at the end.
    """
    from interlock.cli import _decide, _lint

    compiled, found = _lint.compiled(spec)
    if compiled is None:
        for placed in found:
            click.echo(_lint.shown(spec, placed), err=True)
        return 1
    return _decide.pass_over(compiled, records, explain=explain, **options)


@cli.command()
@click.argument("errors", default="-", type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--packs", multiple=True, metavar="NAME", help="Ask this pack only; may be repeated.")
@click.option("--no-packs", is_flag=True, help="Ask no pack.")
@_over_records
def classify(
    errors: str, *, packs: tuple[str, ...], no_packs: bool, **options: Unpack[Options]
) -> int:
    """Classify ERRORS (JSON Lines; `-` or nothing: standard input): what kind, and what next.

    A line is what is known of one error, such as {"status": 503, "retryAfter": "30"}. One line out
    for each line in, in order; blank lines are passed over. A line that cannot be classified
    becomes a line with `error`, and the exit code is 1 at the end. No clock is read: a date gives a
    wait only where the line has `now`. For rules of your own, `decide` by a spec of ErrorClassify.
    """
    from interlock.cli import _decide
    from interlock.errors import ConfigError
    from interlock.tools.error_classify import ErrorClassify

    if packs and no_packs:
        raise click.UsageError("--packs and --no-packs exclude each other.")
    try:
        compiled = ErrorClassify(packs=packs or ([] if no_packs else None))
    except ConfigError as error:
        raise click.BadParameter(str(error), param_hint="--packs") from None
    return _decide.pass_over(compiled, errors, **options)


@cli.command()
@click.argument("spec", nargs=-1, required=True, type=click.Path(dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print the problems as JSON Lines.")
def lint(spec: tuple[str, ...], *, as_json: bool) -> int:
    """Find all faults and warnings of every SPEC; exit 1 when there is a fault."""
    from interlock.cli import _lint

    faults = 0
    for path in spec:
        for placed in _lint.compiled(path)[1]:
            faults += not placed.problem.is_warning
            click.echo(_lint.as_json(path, placed) if as_json else _lint.shown(path, placed))
    return 1 if faults else 0


@cli.command()
@click.argument("source")
@click.argument("flags", default="")
@click.argument("text", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print it as one line of JSON.")
def pattern(source: str, flags: str, text: str | None, *, as_json: bool) -> int:
    """Explain the pattern SOURCE with FLAGS, and say whether it is found in TEXT.

    Exit code 1 when it is not run, or is not found. Write `--` before a source that starts with a
    hyphen, and "" for no flags before a text.
    """
    from interlock.cli import _pattern

    return _pattern.explained(source, flags, text, as_json=as_json)


@cli.command()
@click.argument("rollout", type=click.Path(dir_okay=False, allow_dash=True))
@click.option(
    "--markdown", "form", flag_value="markdown", help="Markdown; so without any of these."
)
@click.option("--mermaid", "form", flag_value="mermaid", help="A Mermaid flowchart.")
@click.option("--json", "form", flag_value="json", help="One line of JSON.")
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="A page, to FILE.")
@click.option("--output", type=click.Path(dir_okay=False), help="Write to this file.")
@click.option("--no-content", is_flag=True, help="Leave out what was asked, answered and decided.")
def report(
    rollout: str, *, form: str | None, html: str | None, output: str | None, no_content: bool
) -> int:
    """Show the record of a run: ROLLOUT is JSON or JSON Lines (`-`: standard input).

    What was refused, retried and in doubt, where tokens and time went, and every step.
    """
    from interlock.cli import _report

    if html is not None and (form is not None or output is not None):
        raise click.UsageError("--html FILE says what is written and where; give no other.")
    form = "html" if html is not None else form or "markdown"
    return _report.written(rollout, form, html or output, content=not no_content)


@cli.command()
@click.argument("tool")
@click.argument("source", default="-", metavar="[INPUT]", type=click.Path(allow_dash=True))
def call(tool: str, source: str) -> None:
    """Call TOOL as a model would: JSON in (`-` or nothing: standard input), JSON out."""
    from interlock._core import Json
    from interlock._wire import to_json
    from interlock.tools import call as call_tool

    raw = standard_input().read() if source == "-" else Path(source).read_bytes()
    arguments = cast("dict[str, object]", Json(raw.removeprefix(BOM)).to_python())
    click.echo(to_json(call_tool(tool, arguments)))


@cli.command()
@click.argument("tool")
def schema(tool: str) -> None:
    """Print the JSON Schema of a spec file of TOOL, or of its input when it takes no spec."""
    from interlock.tools._model_tools import DESCRIPTIONS, unknown_tool
    from interlock.tools._model_tools import schema as schema_of

    if tool not in DESCRIPTIONS:
        problem = unknown_tool(tool, "TOOL")
        raise click.BadParameter(f"{problem.value}: {problem.message}", param_hint="TOOL")
    _print_json(schema_of(tool))


@cli.command()
@click.option(
    "--style",
    type=click.Choice(["mcp", "openai", "anthropic"]),
    help="Print the definitions that this kind of harness takes, as JSON.",
)
def tools(*, style: str | None) -> None:
    """List the tools."""
    from interlock.tools._model_tools import DESCRIPTIONS, definitions

    if style is None:
        for name, description in DESCRIPTIONS.items():
            click.echo(f"{name:14} {description}")
    else:
        _print_json(cast("JSON", definitions(cast("_Style", style))))


@cli.command()
@click.option(
    "--seconds",
    type=click.FloatRange(0, 3600, min_open=True),
    default=1.0,
    show_default=True,
    help="How long each workload is measured.",
)
@click.option("--json", "as_json", is_flag=True, help="Print it as one line of JSON.")
def bench(seconds: float, *, as_json: bool) -> None:
    """Measure how fast this machine decides: a few workloads, made here, on one thread."""
    from interlock.cli import _bench

    _bench.report(seconds, as_json=as_json)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def version(*, as_json: bool) -> None:
    """Print the version."""
    from interlock import __version__

    click.echo(json.dumps({"version": __version__}) if as_json else __version__)


cli.add_command(runbook)


def _print_json(value: JSON) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


if TYPE_CHECKING:
    from interlock.tools._model_tools import Style as _Style
