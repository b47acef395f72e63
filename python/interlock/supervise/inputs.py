"""What a run is given before it starts, checked: all that is wrong, at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from interlock import _core
from interlock._compiled import plain_problems
from interlock._wire import to_json
from interlock.conditions import Checks
from interlock.errors import Problem
from interlock.supervise._secrets import Withheld
from interlock.supervise.contract import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlock.supervise.parts import PolicyInput
    from interlock.typing import JSON

__all__ = ["InputCheck", "check_inputs", "default_problems", "filled"]

IN_TEXT = re.compile(r"\{inputs\.([A-Za-z_][A-Za-z0-9_]*)\}")
"""How a text of a document names an input, to show its value."""


class InputCheck(NamedTuple):
    """What came of checking inputs.

    Attributes:
        values: What the run is given, with defaults filled in; what was refused is not in it.
        refusals: Why it does not start; empty when nothing is wrong.
    """

    values: dict[str, JSON]
    refusals: tuple[Refusal, ...]


def check_inputs(
    declared: Mapping[str, PolicyInput], given: Mapping[str, object] | None = None
) -> InputCheck:
    """Check what a run is given against what its policy declares.

    Args:
        declared: `policy.inputs`.
        given: By name; None: nothing.

    Returns:
        The values and every refusal: `input/missing`, `input/type`, `input/check`,
        `input/unknown`. A value of a secret input is never shown.
    """
    values: dict[str, JSON] = {}
    refusals: list[Refusal] = []
    for name, value in dict(given or {}).items():
        if name not in declared:
            near = _core.nearest(str(name), list(declared))
            hint = f'; did you mean "{near}"?' if near else ""
            message = f"{name}: the runbook declares no such input{hint}"
            refusals.append(Refusal("input/unknown", message, str(name)))
            continue
        if isinstance(value, Withheld) and declared[name].secret:
            # It was looked at when the run was started; a log has its digest alone.
            values[name] = cast("JSON", value)
            continue
        plain, problems = plain_problems(value, name, finite=True)
        found = (
            tuple(_faults(declared[name], plain)) if not problems else (_no_json(declared[name]),)
        )
        refusals += (Refusal(code, f"{name}: {said}", name) for code, said in found)
        if not found:
            values[name] = plain
    refusals += _left_out(declared, dict(given or {}), values)
    return InputCheck(values, tuple(refusals))


def filled(text: str, inputs: object) -> str:
    """Write inputs into a text; one that is secret or was not given stays named."""
    if not isinstance(inputs, Mapping) or "{inputs." not in text:
        return text
    given = cast("Mapping[str, JSON]", inputs)

    def value(found: re.Match[str]) -> str:
        one = given.get(found[1], found[0])
        return one if isinstance(one, str) else to_json(one)

    return IN_TEXT.sub(value, text)


def _left_out(
    declared: Mapping[str, PolicyInput], given: Mapping[str, object], values: dict[str, JSON]
) -> Iterator[Refusal]:
    """Fill in defaults; yield a refusal for each that is missing."""
    for name, entry in declared.items():
        if name in given:
            continue
        if entry.default_json is not None:
            values[name] = _core.Json(entry.default_json).to_python()
        elif entry.required:
            message = f"{name}: is required ({entry.type}); give it when the run is started"
            yield Refusal("input/missing", message, name)


def default_problems(entry: PolicyInput, field: str) -> list[Problem]:
    """Say what is wrong with a default: of a secret, or against the input's own type and checks."""
    if entry.default_json is None:
        return []
    if entry.secret:
        message = "a secret has no default: it would stand in the document"
        return [Problem("runbook/default", field, "not shown (secret)", message)]
    value = _core.Json(entry.default_json).to_python()
    return [
        Problem("runbook/default", field, _shown(entry, value), said)
        for _, said in _faults(entry, value)
    ]


def _no_json(entry: PolicyInput) -> tuple[str, str]:
    return "input/type", f"must be {entry.type}, and this is no JSON value"


def _faults(entry: PolicyInput, value: Any) -> Iterator[tuple[str, str]]:
    """Yield code and words of what is wrong with a value."""
    if not _is_of(entry.type).holds(value):
        yield "input/type", f"must be {entry.type}, and is {_shown(entry, value)}"
    elif entry.checks is not None:
        for result in entry.checks.report(value).failures:
            said = result.reason if not entry.secret else f"does not hold {result.op}"
            yield "input/check", said


@lru_cache(maxsize=16)
def _is_of(kind: str) -> Checks:
    return Checks([{"op": "isType", "expected": kind}])


def _shown(entry: PolicyInput, value: object) -> str:
    return "not shown (secret)" if entry.secret else _core.preview(value)
