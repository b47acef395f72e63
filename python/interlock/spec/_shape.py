"""What is wrong with the shape of a document, as problems: field, preview, what to write."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Literal, cast, get_args, get_origin

from pydantic import BaseModel

from interlock import _core
from interlock.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic_core import ErrorDetails

    from interlock.typing import JSON

__all__ = ["shape_problems"]

_MISSING = object()


def shape_problems(
    model: type[BaseModel], data: JSON, errors: Sequence[ErrorDetails]
) -> tuple[list[Problem], JSON]:
    """Turn the faults that a model found into problems, in the order of the document.

    Returns:
        The problems; and the data without what is at fault, so that the rest can be looked at; None
        where something is missing.
    """
    problems: dict[str, Problem] = {}
    without: JSON = None
    if all(error["type"] != "missing" for error in errors):
        without = copy.deepcopy(data)
    places = [_place(data, error["loc"]) for error in errors]
    for error, place in zip(errors, places, strict=True):
        if _is_shadowed(error["loc"], place, places):
            continue
        field = _written(place)
        problem = _problem(model, data, field, place, error)
        known = problems.get(field)
        if known is not None and known.message not in problem.message:
            # Each member of a union says what it would take.
            message = f"{known.message}, or {problem.message.removeprefix('must be ')}"
            problem = known._replace(message=message)
        problems[field] = problem
        if without is not None:
            _drop(without, place)
    return list(problems.values()), without


def _place(data: JSON, loc: tuple[int | str, ...]) -> list[int | str]:
    """Give the keys and positions of a fault that are in the data.

    What a model puts between them (the name of a member of a union, the word for a key) is left
    out. The last one need not be there: it may be what is missing.
    """
    place: list[int | str] = []
    node: Any = data
    for at, segment in enumerate(loc):
        found = _child(node, segment)
        is_last = at == len(loc) - 1
        if found is not _MISSING:
            place.append(segment)
            node = found
        elif is_last and isinstance(node, dict) and segment != "[key]" and not _is_member(segment):
            place.append(segment)
    return place


def _is_shadowed(
    loc: tuple[int | str, ...], place: list[int | str], places: list[list[int | str]]
) -> bool:
    """Whether a fault is that of the other member of a union, whose parts have faults too."""
    if len(loc) == len(place) or "[key]" in loc:
        return False
    return any(len(one) > len(place) and one[: len(place)] == place for one in places)


def _is_member(segment: int | str) -> bool:
    """Whether a segment names a member of a union, as models write it."""
    return isinstance(segment, str) and (
        segment[:1].isupper() or "[" in segment or segment in _KINDS
    )


_KINDS = {"str", "int", "float", "bool", "any"}


def _child(node: Any, segment: int | str) -> Any:
    if isinstance(node, dict):
        return cast("Mapping[Any, Any]", node).get(segment, _MISSING)
    if isinstance(node, list) and isinstance(segment, int):
        items = cast("Sequence[Any]", node)
        return items[segment] if segment < len(items) else _MISSING
    return _MISSING


def _written(place: Sequence[int | str]) -> str:
    """Write a place as a field: `steps[2].next`; a key that is no plain word is quoted."""
    text = ""
    for segment in place:
        if isinstance(segment, int):
            text += f"[{segment}]"
        elif segment.replace("-", "_").isidentifier():
            text += f".{segment}"
        else:
            text += f"[{_core.preview(segment, 60)}]"
    return text.removeprefix(".") or "document"


def _drop(data: JSON, place: list[int | str]) -> None:
    """Take a field out; of a list's entry the whole list, so that no other changes its place."""
    while place and isinstance(place[-1], int):
        place = place[:-1]
    node: Any = data
    for segment in place[:-1]:
        node = _child(node, segment)
    if place and _child(node, place[-1]) is not _MISSING:
        del node[place[-1]]


def _problem(
    model: type[BaseModel],
    data: JSON,
    field: str,
    place: list[int | str],
    error: ErrorDetails,
) -> Problem:
    kind = error["type"]
    shown = _core.preview(_value(data, place))
    if kind == "missing":
        return Problem("spec/missing-field", field, None, "is required")
    if kind == "extra_forbidden":
        known = _fields_at(model, place[:-1])
        near = _core.nearest(str(place[-1]), known)
        hint = f'; did you mean "{near}"?' if near else ""
        message = f"unknown field{hint} (known: {', '.join(known)})"
        return Problem("spec/unknown-field", field, shown, message)
    if kind == "literal_error":
        return _choice(field, shown, _value(data, place), error)
    if kind in ("too_long", "string_too_long"):
        context = error.get("ctx", {})
        message = f"more than {context['max_length']} are not read"
        return Problem("spec/over-limit", field, shown, message)
    if kind == "too_short":
        return Problem("spec/empty-list", field, shown, "must not be empty")
    return Problem("spec/wrong-type", field, shown, _said(error))


def _choice(field: str, shown: str, value: object, error: ErrorDetails) -> Problem:
    allowed = str(error.get("ctx", {}).get("expected", ""))
    names = [name.strip(" '") for name in allowed.replace(" or ", ",").split(",")]
    near = _core.nearest(value, names) if isinstance(value, str) else None
    hint = f'; did you mean "{near}"?' if near else ""
    said = f"one of {', '.join(names)}" if len(names) > 1 else f'the text "{names[0]}"'
    return Problem("spec/unknown-choice", field, shown, f"must be {said}{hint}")


_WORDS = {
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "string_too_short": "must not be empty",
    "finite_number": "must be a finite number",
}


def _said(error: ErrorDetails) -> str:
    """Say what a value must be, in our words where there are some."""
    context = error.get("ctx", {})
    bounds = {
        "greater_than": "more than {gt}",
        "greater_than_equal": "{ge} or more",
        "less_than_equal": "{le} or less",
    }
    kind = error["type"]
    if kind in bounds:
        return f"must be {bounds[kind].format(**context)}"
    if kind == "string_pattern_mismatch":
        return "must be letters, digits, `_`, `.` or `-`, at most 64, the first no `.` or `-`"
    return _WORDS.get(kind) or error["msg"][:1].lower() + error["msg"][1:]


def _value(data: JSON, place: Sequence[int | str]) -> object:
    node: Any = data
    for segment in place:
        node = _child(node, segment)
    return None if node is _MISSING else node


def _fields_at(model: type[BaseModel], place: Sequence[int | str]) -> list[str]:
    """Name the fields of the part that stands at a place."""
    part: type[BaseModel] | None = model
    hint: Any = model
    for segment in place:
        if part is not None and isinstance(segment, str):
            names = {field.alias or name: field for name, field in part.model_fields.items()}
            hint = names[segment].annotation if segment in names else None
        else:
            hint = _inner(hint)
        part = _part(hint)
    return [] if part is None else [f.alias or n for n, f in part.model_fields.items()]


def _part(hint: Any) -> type[BaseModel] | None:
    """Give the part that an annotation allows, through unions."""
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return hint
    if get_origin(hint) in (list, dict, Literal):
        return None
    return next(filter(None, map(_part, get_args(hint))), None)


def _inner(hint: Any) -> Any:
    """Give what a list or mapping holds, through unions."""
    if get_origin(hint) in (list, dict):
        return get_args(hint)[-1]
    return next((_inner(one) for one in get_args(hint) if get_origin(one) is not None), None)
