"""The command `report`: the record of a run, read from a file and shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import click

from interlock._core import Json
from interlock.cli._commands import BOM
from interlock.cli._files import destination, source
from interlock.errors import ConfigError
from interlock.record import Rollout, Step
from interlock.record.report import report
from interlock.tools._foreign import mapping

if TYPE_CHECKING:
    from interlock.record.report import Report

__all__ = ["written"]


def written(path: str, form: str, output: str | None, *, content: bool) -> int:
    """Read a record, and write a report of it in a form."""
    rollout = _read(path)
    if not content:
        rollout = replace(rollout, faults=tuple(replace(one, message="") for one in rollout.faults))
    made = report(rollout, redact=None if content else _without_content)
    text = _text(made, form)
    # What stands for the half of a pair cannot be written; no form but JSON leaves one in.
    data = text.encode("utf-8", "replace")
    with destination(output, lambda: True) as out:
        out.write(data)
    return 0


def _text(made: Report, form: str) -> str:
    from interlock._wire import to_json

    if form == "json":
        return f"{to_json(made.to_dict())}\n"
    return cast("str", getattr(made, f"to_{form}")())


def _read(path: str) -> Rollout:
    """Read a rollout: one JSON text, or JSON Lines of the run and its steps.

    Raises:
        ClickException: Naming the file, and the line where there are several.
    """
    with source(path) as lines:
        raw = lines.read().removeprefix(BOM)
    name = "standard input" if path == "-" else path
    numbered = [(at, line) for at, line in enumerate(raw.split(b"\n"), 1) if line.strip()]
    if not numbered:
        raise click.ClickException(f"{name}: there is no record in it")
    first = _parsed_line(numbered[0][1])
    if first is None:
        # One text over several lines.
        return _rollout(_parsed(raw, name), name)
    head = _rollout(first, f"{name}:{numbered[0][0]}" if len(numbered) > 1 else name)
    steps = [_step(line, f"{name}:{at}") for at, line in numbered[1:]]
    return replace(head, steps=(*head.steps, *steps)) if steps else head


def _parsed_line(line: bytes) -> object:
    try:
        return Json(line).to_python()
    except ConfigError:
        return None


def _parsed(raw: bytes, name: str) -> object:
    try:
        return Json(raw).to_python()
    except ConfigError as error:
        raise click.ClickException(f"{name}: {error}") from None


def _rollout(data: object, place: str) -> Rollout:
    found = mapping(data)
    # The result of a run holds its record.
    inner = found.get("rollout") if "schema" not in found else None
    try:
        return Rollout.from_dict(data if inner is None else inner)
    except ConfigError as error:
        raise click.ClickException(f"{place}: {error}") from None


def _step(line: bytes, place: str) -> Step:
    data = _parsed(line, place)
    if "schema" in mapping(data):
        message = "another run begins here; a report is of one run, so write each to a file"
        raise click.ClickException(f"{place}: {message}")
    try:
        return Step.from_dict(data)
    except ConfigError as error:
        raise click.ClickException(f"{place}: {error}") from None


def _without_content(step: Step) -> Step:
    """Leave out what was asked, answered and decided; what came of it stays."""
    error = step.error and replace(step.error, message="")
    return replace(step, output=None, decision=None, meta={}, error=error)
