"""The commands of routing by file; what each needs is loaded when it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from interlock.routing import Plan, Router, RunFolder, Selection, Source

__all__ = ["routes"]

_HEAD = ("router", "visit", "route", "next step", "decided by", "value", "at")


@click.group()
def routes() -> None:
    """Check plans with routers, and see which routes are taken and why."""


@routes.command()
@click.argument("plan", nargs=-1, required=True, type=click.Path())
@click.option("--warnings", is_flag=True, help="Print what is doubtful, too.")
@click.option("--workspace", type=click.Path(file_okay=False), help="Where shared files may be.")
@click.option("--json", "as_json", is_flag=True, help="Print the problems as JSON Lines.")
def check(plan: tuple[str, ...], *, warnings: bool, workspace: str | None, as_json: bool) -> int:
    """Find all errors of every PLAN (of a folder, every .json in it); exit 1 when there is one.

    A line names file, step and field. What is doubtful is counted, and printed with --warnings. A
    folder without a plan is a mistake in the call.
    """
    from interlock.routing import check_plans
    from interlock.routing._outside import plans_in

    found = [(each, plans_in(each)) for each in plan]
    empty = [each for each, paths in found if not paths]
    if empty:
        said = f"no plan in {', '.join(empty)}: a plan is a file that ends in .json"
        raise click.BadParameter(said, param_hint="PLAN")
    report = check_plans((path for _, paths in found for path in paths), workspace=workspace)
    if as_json:
        shown = report.problems if warnings else report.errors
        click.echo("".join(f"{problem.to_json()}\n" for problem in shown), nl=False)
    else:
        click.echo(report.to_text(warnings=warnings), nl=False)
    hidden = 0 if warnings else len(report.warnings)
    if hidden:
        said = "1 warning; --warnings shows it" if hidden == 1 else f"{hidden} warnings"
        click.echo(said if hidden == 1 else f"{said}; --warnings shows them", err=True)
    return report.exit_code


@routes.command()
@click.argument("plan", type=click.Path(dir_okay=False))
@click.argument("router")
@click.option(
    "--run",
    "folder",
    required=True,
    type=click.Path(file_okay=False),
    help="The folder of the run: WORKSPACE/runs/RUN.",
)
@click.option("--select", multiple=True, metavar="ROUTER=ROUTE", help="Choose; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print it as one line of JSON.")
def resolve(plan: str, router: str, folder: str, *, select: tuple[str, ...], as_json: bool) -> int:
    """Say which route ROUTER of PLAN would take now, and why; nothing is written."""
    from interlock.errors import RouteError
    from interlock.routing import resolve as resolved
    from interlock.routing.evidence import visited

    loaded, found = _loaded(plan, router)
    run = _run(folder)
    if not Path(folder).is_dir():
        click.echo(f"{folder}: there is no such run yet", err=True)
    sources = _sources(loaded, found, run, select)
    counts, entries = run.ledger.standing(found.id)
    try:
        selection = resolved(found, sources, visit=visited(counts, entries) + 1)
        run.guard(loaded, found, selection, counts)
    except RouteError:
        if not as_json:
            _show_sources(sources)
        raise
    if as_json:
        looked = [{"kind": one.kind, "path": one.path, "found": _is_there(one)} for one in sources]
        click.echo(json.dumps({"selection": selection.to_dict(), "sources": looked}))
    else:
        _show_sources(sources)
        click.echo(_shown(selection))
    return 0


def _loaded(path: str, router_id: str) -> tuple[Plan, Router]:
    from interlock.routing import Plan
    from interlock.routing._names import hint
    from interlock.routing.check import refuse_plan

    plan = Plan.load(path)
    refuse_plan(plan)
    found = next((one for one in plan.routers if one.id == router_id), None)
    if found is None:
        known = [one.id for one in plan.routers]
        said = f"no router {router_id} in {path}{hint(router_id, known)}"
        raise click.BadParameter(f"{said} (there are: {', '.join(known)})", param_hint="ROUTER")
    return plan, found


def _run(folder: str) -> RunFolder:
    """Take the folder of a run apart."""
    from interlock.errors import RouteError
    from interlock.routing import RunFolder

    path = Path(folder).absolute()
    if path.parent.name != "runs":
        message = f"{folder} is no folder of a run: those are WORKSPACE/runs/RUN"
        raise click.BadParameter(message, param_hint="RUN")
    try:
        return RunFolder(path.parent.parent, path.name)
    except RouteError as error:
        raise click.BadParameter(str(error), param_hint="RUN") from None


def _sources(
    plan: Plan, router: Router, run: RunFolder, select: tuple[str, ...]
) -> tuple[Source, ...]:
    from interlock.routing import sources_for
    from interlock.routing._selections import checked_selections

    chosen: dict[str, str] = {}
    for each in select:
        name, equals, value = each.partition("=")
        if not equals or name in chosen:
            said = "chooses twice" if equals else "must be ROUTER=ROUTE"
            raise click.BadParameter(f"{each}: {said}", param_hint="--select")
        chosen[name] = value
    given = {one.router_id: one.route_id for one in checked_selections(plan, chosen)}
    return sources_for(plan, router, run, {**run.selections(), **given})


def _show_sources(sources: tuple[Source, ...]) -> None:
    from interlock.record.report._text import line

    for source in sources:
        state = "found" if _is_there(source) else "absent"
        click.echo(line(f"{source.kind:18}  {state:6}  {source.path}"))


def _is_there(source: Source) -> bool:
    return source.content is not None


def _shown(selection: Selection) -> str:
    why = f"by {selection.source_kind}"
    return f"{selection.router_id}: {selection.route_id} -> {selection.next_step_id} ({why})"


@routes.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print the evidence as JSON Lines.")
def explain(run: str, *, as_json: bool) -> int:
    """Show which routes were taken in RUN (the folder WORKSPACE/runs/RUN), and why."""
    if not Path(run).is_dir():
        raise click.BadParameter(f"there is no folder {run}", param_hint="RUN")
    evidence = _run(run).evidence()
    if as_json:
        click.echo("".join(f"{entry.to_json()}\n" for entry in evidence), nl=False)
        return 0
    if not evidence:
        click.echo("no router has taken a route in this run", err=True)
        return 0
    from interlock.record.report._text import line

    rows = [
        (
            entry.router_id,
            str(entry.visit),
            entry.route_id,
            entry.next_step_id,
            entry.source_path or entry.source_kind,
            entry.raw_value,
            entry.at,
        )
        for entry in evidence
    ]
    # What a stranger wrote into a file must not talk to the terminal.
    shown = [_HEAD, *(tuple(map(line, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip())
    for entry in evidence:
        for step in entry.silent:
            said = f"{entry.router_id}, visit {entry.visit}: {step} ran and wrote no choice"
            click.echo(line(said))
    return 0


@routes.command()
@click.argument("plan", type=click.Path(dir_okay=False))
def graph(plan: str) -> None:
    """Print PLAN as a Mermaid diagram; a default route is dotted."""
    from interlock.routing import Plan, to_mermaid

    click.echo(to_mermaid(Plan.load(plan)), nl=False)
