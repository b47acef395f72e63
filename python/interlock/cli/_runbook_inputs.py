"""What a run is given on the command line: values beside the command, or from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from interlock.cli._commands import standard_input
from interlock.cli._lint import shown
from interlock.spec import SpecFile, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlock.supervise import Policy

__all__ = ["inputs_of", "value_of"]

_WHAT = "inputs are a mapping of names to values"


def inputs_of(policy: Policy, pairs: Iterable[str], path: str | None) -> dict[str, object]:
    """Read inputs `name=value`, where a value is JSON unless the input is a text, and of a file.

    Raises:
        UsageError: For a pair or file that is none, and for a name that is given twice.
    """
    inputs: dict[str, object] = {} if path is None else _read(path)
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise click.BadParameter("must be NAME=VALUE", param_hint="--inputs")
        if name in inputs:
            raise click.BadParameter(f"{name} is given twice", param_hint="--inputs")
        declared = policy.inputs.get(name)
        is_text = declared is None or declared.type == "string"
        inputs[name] = value if is_text else value_of(value)
    return inputs


def _read(path: str) -> dict[str, object]:
    is_line = path == "-"
    raw = standard_input().readline() if is_line else Path(path).read_bytes()
    found = parse(raw, is_json=is_line or path.endswith(".json"), what=_WHAT)
    if isinstance(found, SpecFile):
        return dict(found.fields)
    said = "; ".join(shown(path, one) for one in found)
    raise click.BadParameter(said, param_hint="--inputs-file")


def value_of(text: str) -> object:
    """Read a value: JSON where it is some, else text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
