"""All problems of a spec file, each with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock import _core
from interlock.errors import ConfigError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock._compiled import CompiledSpec
    from interlock.spec import SpecFile

__all__ = ["place_of", "problems", "tool_of"]


def problems(path: str) -> Iterator[tuple[Problem, str]]:
    """Find every problem of a file, with `file:line:column` as far as it is known."""
    from interlock.spec import load

    try:
        spec = load(path)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        yield Problem("spec/unreadable", "file", None, message), path
        return
    except ConfigError as error:
        for problem in error.problems:
            # A fault of the text itself carries its place as its field.
            inside = problem.field.startswith(path)
            yield problem._replace(field="file"), problem.field if inside else path
        return
    tool = tool_of(spec)
    found = (tool,) if isinstance(tool, Problem) else tool.lint(spec.fields)
    for problem in found:
        yield problem, place_of(spec, problem)


def tool_of(spec: SpecFile) -> type[CompiledSpec] | Problem:
    """Return the class that a spec names in its field `tool`."""
    from interlock.tools._model_tools import TOOLS

    known = ", ".join(TOOLS)
    if "tool" not in spec.fields:
        return Problem("spec/missing-field", "tool", None, f"is required: one of {known}")
    named = spec.fields["tool"]
    if isinstance(named, str) and named in TOOLS:
        return TOOLS[named]
    near = _core.nearest(str(named), list(TOOLS))
    hint = f'; did you mean "{near}"?' if near else ""
    message = f"no tool of that name{hint} (known: {known})"
    return Problem("spec/unknown-choice", "tool", _core.preview(named), message)


def place_of(spec: SpecFile, problem: Problem) -> str:
    """Return `file:line:column` of a problem."""
    place = spec.place(problem.field)
    return spec.path if place is None else f"{spec.path}:{place[0]}:{place[1]}"
