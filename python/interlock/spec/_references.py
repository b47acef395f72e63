"""References within a JSON Schema: each must point to a schema, and none back to itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from referencing.exceptions import Unresolvable

from interlock import _core
from interlock.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referencing import Resource, Specification
    from referencing._core import Resolved, Resolver

__all__ = ["DATA", "NAMED", "REFERENCES", "reference_problems"]

_Placed = tuple[str, dict[str, Any], "Resolver[Any]"]
"""A schema: its place, itself, and what looks references up there."""

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
"""Keywords whose keys are names, with schemas under them."""
DATA = ("enum", "const", "default", "examples")
"""Keywords that hold data and no schema."""
_IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
"""Keywords whose schemas look at the same value as the schema around them."""


def reference_problems(
    schema: dict[str, Any], resolver: Resolver[Any], specification: Specification[Any]
) -> Iterator[Problem]:
    """Say which references of a schema point to nothing, or lead back to themselves.

    A schema that comes back to itself at the same value would be checked without end; the standard
    leaves open what it means (JSON Schema 2020-12, core, section 9.4.1).
    """
    places: dict[int, str] = {}
    same: dict[int, list[int]] = {}
    waiting: list[_Placed] = [("schema", schema, resolver)]
    targets: list[_Placed] = []
    while waiting or targets:
        # What a reference points to is named by where it stands, where it stands in a schema.
        place, node, at = (waiting or targets).pop()
        if id(node) in places:
            continue
        places[id(node)] = place
        if place != "schema" and isinstance(node.get("$id"), str):
            at = _within(at, specification.create_resource(node))
        found, faults = _pointed(place, node, at)
        yield from faults
        inner = list(_below(place, node))
        targets += found
        waiting += [(where, one, at) for where, one, _ in inner]
        same[id(node)] = [id(one) for _, one, _ in found]
        same[id(node)] += [id(one) for _, one, is_same in inner if is_same]
    for one in dict.fromkeys(_looping(same)):
        message = "comes back to itself at the same value, so that checking it has no end"
        yield Problem("spec/conflict", places[one], None, message)


def _pointed(
    place: str, node: dict[str, Any], at: Resolver[Any]
) -> tuple[list[_Placed], list[Problem]]:
    """Give what the references of a schema point to, and those that point to none."""
    found: list[_Placed] = []
    faults: list[Problem] = []
    for name in REFERENCES:
        target = node.get(name)
        if not isinstance(target, str):
            continue
        resolved = _resolved(at, target)
        held: object = None if resolved is None else resolved.contents
        if resolved is None or not isinstance(held, (dict, bool)):
            message = "must point to a schema in this schema; there is none"
            shown = _core.preview(target)
            faults.append(Problem("spec/unknown-choice", f"{place}.{name}", shown, message))
        elif not isinstance(held, bool):
            found.append((f"{place}.{name}", cast("dict[str, Any]", held), resolved.resolver))
    return found, faults


def _within(at: Resolver[Any], resource: Resource[Any]) -> Resolver[Any]:
    try:
        return at.in_subresource(resource)
    except ValueError:
        # Under a keyword that is none: elsewhere an `$id` that is no URI was refused.
        return at


def _resolved(at: Resolver[Any], target: str) -> Resolved[Any] | None:
    try:
        return at.lookup(target)
    except (Unresolvable, LookupError, TypeError, ValueError):
        # The last: a position in a list that is no number, an `$id` that is no URI.
        return None


def _below(place: str, node: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yield the schemas right under one, and whether they look at the same value."""
    for keyword, told in node.items():
        if keyword in DATA:
            continue
        held: list[tuple[str, Any]] = [("", told)]
        if isinstance(told, list):
            held = [(f"[{at}]", one) for at, one in enumerate(cast("list[object]", told))]
        elif isinstance(told, dict) and keyword in NAMED:
            held = [(f".{name}", one) for name, one in cast("dict[str, Any]", told).items()]
        for inner, one in held:
            if isinstance(one, dict):
                schema = cast("dict[str, Any]", one)
                yield f"{place}.{keyword}{inner}", schema, keyword in _IN_PLACE


def _looping(same: dict[int, list[int]]) -> Iterator[int]:
    """Yield of every way that comes back to itself the schema where it does."""
    done: set[int] = set()
    for start in same:
        on_way: set[int] = set()
        stack = [(start, False)]
        while stack:
            one, is_left = stack.pop()
            if is_left:
                on_way.discard(one)
                done.add(one)
            elif one in on_way:
                yield one
            elif one not in done:
                on_way.add(one)
                stack.append((one, True))
                stack += [(after, False) for after in same[one]]
