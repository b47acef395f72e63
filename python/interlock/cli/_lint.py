"""A spec file compiled, and all that is wrong with it, each with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock import _core
from interlock._wire import to_json
from interlock.errors import ConfigError, Problem
from interlock.spec import Placed, SpecFile, read

if TYPE_CHECKING:
    from interlock._compiled import CompiledSpec
    from interlock.typing import JSON

__all__ = ["as_json", "compiled", "shown"]


def compiled(path: str) -> tuple[CompiledSpec | None, list[Placed]]:
    """Compile a spec file strictly: the spec when it has no fault, and every fault and warning."""
    try:
        spec = read(path)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        return None, [Placed(Problem("spec/unreadable", "file", None, message), None, None)]
    if not isinstance(spec, SpecFile):
        return None, spec
    tool = _tool_of(spec)
    if isinstance(tool, Problem):
        return None, [spec.placed(tool)]
    try:
        made = tool.from_spec(spec.fields, strict=True)
    except ConfigError as error:
        return None, _in_order(spec, error.problems)
    return made, _in_order(spec, made.lint())


def _in_order(spec: SpecFile, problems: tuple[Problem, ...]) -> list[Placed]:
    """Place problems and order them as the file is read."""
    placed = [spec.placed(problem) for problem in problems]
    return sorted(placed, key=lambda found: (found.line or 0, found.column or 0))


def shown(path: str, found: Placed) -> str:
    """Return `file:line:column: problem` as far as the place is known."""
    places = (str(part) for part in (found.line, found.column) if part is not None)
    return f"{':'.join((path, *places))}: {found.problem}"


def as_json(path: str, found: Placed) -> str:
    """Return a problem and its place as one line of JSON."""
    severity = "warning" if found.problem.is_warning else "error"
    place: dict[str, JSON] = {"file": path, "line": found.line, "column": found.column}
    return to_json({**place, "severity": severity, **found.problem._asdict()})


def _tool_of(spec: SpecFile) -> type[CompiledSpec] | Problem:
    """Return the class that a spec names in its field `tool`."""
    from interlock.tools._model_tools import TOOLS

    known = ", ".join(TOOLS)
    if "tool" not in spec.fields:
        return Problem("spec/missing-field", "tool", None, f"is required: one of {known}")
    named = spec.fields["tool"]
    if isinstance(named, str) and named in TOOLS:
        return TOOLS[named]
    near = _core.nearest(named, list(TOOLS)) if isinstance(named, str) else None
    hint = f'; did you mean "{near}"?' if near else ""
    message = f"no tool of that name{hint} (known: {known})"
    return Problem("spec/unknown-choice", "tool", _core.preview(named), message)
