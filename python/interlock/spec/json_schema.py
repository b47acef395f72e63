"""Arguments by a given JSON Schema, which may be somebody else's: checked within bounds.

The checking is that of the package `jsonschema`. Replaced is what a hostile schema could hang a
process with: patterns are ECMAScript in linear time, `uniqueItems` is linear, no reference is
fetched, and the work of one check is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from jsonschema import validators
from referencing.jsonschema import EMPTY_REGISTRY, specification_with

from interlock import _core
from interlock.errors import ConfigError, PatternError, Problem
from interlock.spec._keywords import UNBOUNDED, WORK_LIMIT, TooMuch, bounded, pattern_of, work
from interlock.spec._references import DATA, NAMED, REFERENCES, reference_problems
from interlock.spec.arguments import placed, refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from jsonschema.protocols import Validator

    from interlock.spec.arguments import Arguments

__all__ = ["read_schema"]

NODES_LIMIT = 5_000
"""Values in a schema; the largest of real tools have some hundreds."""
FAULTS_LIMIT = 50
"""Faults of one check; a model that sees fifty has enough to do."""

_Kind = Literal["schema", "names", "data"]
_DRAFTS = ("Draft202012Validator", "Draft201909Validator", "Draft7Validator", "Draft6Validator")


class _Schemed:
    """Arguments by a JSON Schema, handed on as the plain data they are."""

    def __init__(self, schema: dict[str, Any], validator: Validator) -> None:
        self.schema = schema
        self._validator = validator

    def __reduce__(self) -> Any:
        return read_schema, (self.schema,)

    def read(self, args: dict[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
        token = work.set([WORK_LIMIT])
        try:
            problems = self._problems(args)
        except TooMuch:
            problems = [refused(f"checking them takes more than {WORK_LIMIT} steps")]
        except RecursionError:
            problems = [refused("are nested too deep to be checked")]
        except Exception as error:  # noqa: BLE001 (what cannot be checked is not called)
            problems = [refused(f"could not be checked: {type(error).__name__}: {error}")]
        finally:
            work.reset(token)
        return args, problems

    def _problems(self, args: dict[str, Any]) -> list[Problem]:
        problems: list[Problem] = []
        for error in self._validator.iter_errors(args):
            if len(problems) == FAULTS_LIMIT:
                problems.append(refused("have more faults"))
                break
            problems.append(_problem(error))
        return problems


def read_schema(schema: Mapping[str, object]) -> Arguments:
    """Read arguments by a JSON Schema; see `arguments.of_schema`."""
    _raise(_too_large(schema))
    plain = cast("dict[str, Any]", _core.plain(schema, "schema", finite=True))
    _raise(_unfit(plain))
    return _Schemed(plain, _validator(plain))


def _raise(problems: Iterable[Problem]) -> None:
    found = tuple(problems)
    if found:
        raise ConfigError(found)


def _too_large(schema: object) -> Iterator[Problem]:
    """Count the values, a part that stands there twice twice, before anything is done with them."""
    waiting, seen = [schema], 0
    while waiting and seen <= NODES_LIMIT:
        node = waiting.pop()
        seen += 1
        if isinstance(node, Mapping):
            waiting += cast("Mapping[str, object]", node).values()
        elif isinstance(node, (list, tuple)):
            waiting += cast("list[object]", node)
    if seen > NODES_LIMIT:
        yield Problem("spec/over-limit", "schema", None, f"has over {NODES_LIMIT} values")


def _unfit(schema: dict[str, Any]) -> Iterator[Problem]:
    """Say what a schema asks for that is not done here."""
    if schema.get("type") != "object":
        shown = _core.preview(schema.get("type"))
        yield Problem("spec/wrong-type", "schema.type", shown, 'must be "object"')
    waiting: list[tuple[str, Any, _Kind]] = [("schema", schema, "schema")]
    while waiting:
        place, node, kind = waiting.pop()
        if isinstance(node, dict):
            told = cast("dict[str, Any]", node)
            yield from _misplaced_draft(told, place)
            if kind == "schema":
                yield from _unfit_keywords(told, place)
        waiting += _below(place, node, kind)


def _below(place: str, node: Any, kind: _Kind) -> Iterator[tuple[str, Any, _Kind]]:
    if isinstance(node, dict):
        for name, one in cast("dict[str, Any]", node).items():
            yield f"{place}.{name}", one, _kind(kind, name)
    elif isinstance(node, list):
        for at, one in enumerate(cast("Any", node)):
            yield f"{place}[{at}]", one, kind


def _kind(around: _Kind, name: str) -> _Kind:
    """Say what stands under a key: `pattern` may be the name of a property, or data."""
    if around == "schema":
        return "names" if name in NAMED else "data" if name in DATA else "schema"
    return "schema" if around == "names" else "data"


def _misplaced_draft(node: dict[str, Any], place: str) -> Iterator[Problem]:
    # It would hand the rest over to a checker without bounds.
    if place != "schema" and isinstance(node.get("$schema"), str):
        yield Problem("spec/unknown-field", f"{place}.$schema", None, "stands at the top only")


def _unfit_keywords(node: dict[str, Any], place: str) -> Iterator[Problem]:
    for name in UNBOUNDED:
        if name in node:
            message = "is not checked here; use additionalProperties or items"
            yield Problem("spec/unknown-field", f"{place}.{name}", None, message)
    for name in REFERENCES:
        target = node.get(name)
        if isinstance(target, str) and not target.startswith("#"):
            message = "must be in this schema, as in `#/$defs/name`; nothing is fetched"
            yield Problem("spec/unknown-choice", f"{place}.{name}", _core.preview(target), message)
    for field, source in _patterns(node, place):
        try:
            pattern_of(source)
        except PatternError as error:
            yield from (problem._replace(field=field) for problem in error.problems)


def _patterns(node: dict[str, Any], place: str) -> Iterator[tuple[str, str]]:
    if isinstance(source := node.get("pattern"), str):
        yield f"{place}.pattern", source
    if isinstance(keys := node.get("patternProperties"), dict):
        for key in cast("dict[str, Any]", keys):
            yield f"{place}.patternProperties.{key}", key


def _validator(schema: dict[str, Any]) -> Validator:
    kinds = [getattr(validators, name) for name in _DRAFTS]
    named = schema.get("$schema")
    kind = next((one for one in kinds if _same_draft(one.META_SCHEMA["$schema"], named)), None)
    if named is not None and kind is None:
        message = "must be JSON Schema 2020-12, 2019-09, 7 or 6"
        shown = _core.preview(named)
        raise ConfigError((Problem("spec/unknown-choice", "schema.$schema", shown, message),))
    kind = kind or kinds[0]
    try:
        faults = list(_faults(kind, schema))
    except RecursionError:
        faults = [Problem("spec/over-limit", "schema", None, "is nested too deep to be checked")]
    _raise(faults)
    # Nothing is ever fetched, and anchors are looked for once. Without `$schema`, which names
    # another checker.
    bare = {name: one for name, one in schema.items() if name != "$schema"}
    specification = specification_with(kind.META_SCHEMA["$schema"])
    resource = specification.create_resource(bare)
    try:
        registry = EMPTY_REGISTRY.with_resource(resource.id() or "", resource).crawl()
    except ValueError as error:
        message = f"has an `$id` that is no URI: {error}"
        raise ConfigError((Problem("spec/wrong-type", "schema", None, message),)) from None
    resolver = registry.resolver(resource.id() or "")
    _raise(reference_problems(bare, resolver, specification))
    return cast("Validator", bounded(kind)(bare, registry=registry))


def _faults(kind: Any, schema: dict[str, Any]) -> Iterator[Problem]:
    for one in kind(kind.META_SCHEMA).iter_errors(schema):
        place = _inside("schema", one)
        yield Problem("spec/wrong-type", place, _core.preview(one.instance), _said(one))


def _same_draft(draft: str, named: object) -> bool:
    return isinstance(named, str) and draft.rstrip("#") == named.rstrip("#")


def _problem(error: Any) -> Problem:
    parts = tuple(error.absolute_path)
    if error.validator == "required":
        named = next((one for one in error.validator_value if _is_missing(one, error)), None)
        return Problem("spec/missing-field", placed((*parts, named or "?")), None, "is required")
    code = "spec/unknown-field" if error.validator == "additionalProperties" else _CODE
    return Problem(code, placed(parts), _core.preview(error.instance), _said(error))


_CODE = "spec/wrong-type"


def _is_missing(name: str, error: Any) -> bool:
    # One error a name: the message starts with it.
    return name not in error.instance and str(error.message).startswith(repr(name))


def _said(error: Any) -> str:
    """Say what a keyword asks for, without the whole of the value and of the schema."""
    wanted = error.validator_value
    if error.validator == "type" and isinstance(wanted, str):
        return f"must be of type {wanted}"
    if error.validator in ("type", "enum", "const"):
        choice = "" if error.validator == "const" else "one of "
        return f"must be {choice}{_core.preview(wanted, 200)}"
    if error.validator in _BOUNDS:
        return f"must have {error.validator} {_core.preview(wanted)}"
    if error.validator in ("anyOf", "oneOf", "not", "if", "contains"):
        return f"does not fit `{error.validator}` of the schema"
    return str(error.message)[:200]


_BOUNDS = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
)


def _inside(place: str, error: Any) -> str:
    return f"{place}.{placed(tuple(error.absolute_path))}" if error.absolute_path else place
