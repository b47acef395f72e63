"""Arguments by annotations: the JSON Schema of a function's parameters, and values read by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, NotRequired, Required, cast

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict

from interlock import _core
from interlock.errors import ConfigError, Problem
from interlock.spec.arguments import ANSWER, placed, refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic_core import ErrorDetails

    from interlock.spec.arguments import Arguments

__all__ = ["Parameter", "of_parameters", "of_type"]


class Parameter(NamedTuple):
    """A parameter of a function: its annotation, whether it must be given, and its default."""

    annotation: Any
    required: bool
    default: object = None


class _Untitled(GenerateJsonSchema):
    """Without the titles that repeat the names: a model reads, and somebody pays, each word."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        del schema
        return False


class _Typed:
    """Arguments of annotated parameters, read strictly: no text is taken for a number.

    Strictly as JSON (pydantic's strict mode for JSON), so that what a JSON text can only write as
    text or list, such as an instant or a tuple, is read as what it is.
    """

    def __init__(
        self,
        adapter: TypeAdapter[Any],
        schema: dict[str, Any],
        made_of: tuple[Callable[[Any], Any], object],
        handed: Callable[[Any], dict[str, Any]] | None = None,
    ) -> None:
        self.schema = schema
        self._adapter, self._made_of, self._handed = adapter, made_of, handed

    def __reduce__(self) -> Any:
        make, given = self._made_of
        return make, (given,)

    def read(self, args: dict[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
        try:
            value = self._adapter.validate_json(_core.to_json(args), strict=True)
            return (value if self._handed is None else self._handed(value)), []
        except ValidationError as error:
            return {}, _problems(error, tuple(self.schema.get("properties", ())))
        except Exception as error:  # noqa: BLE001 (a validator of the user's own may raise anything)
            return {}, [refused(f"could not be read: {type(error).__name__}: {error}")]


def of_parameters(parameters: Mapping[str, Parameter]) -> Arguments:
    """Describe and read the parameters of a function.

    Raises:
        ConfigError: For annotations that have no JSON Schema, naming the parameters.
    """
    kind = _keyed(
        {
            name: (Required if one.required else NotRequired)[one.annotation]
            for name, one in parameters.items()
        }
    )
    try:
        adapter = _adapter(kind)
        schema = _schema(adapter)
    except ConfigError as error:
        told = {name: _unfit(one.annotation) for name, one in parameters.items()}
        found = (one._replace(field=name) for name, problems in told.items() for one in problems)
        raise ConfigError(tuple(found) or error.problems) from None
    for name, one in parameters.items():
        if not one.required and one.default is not None:
            _note_default(schema["properties"][name], one.default)
    return _Typed(adapter, schema, (of_parameters, dict(parameters)))


def _unfit(annotation: Any) -> tuple[Problem, ...]:
    try:
        _schema(_adapter(annotation))
    except ConfigError as error:
        return error.problems
    return ()


def _keyed(fields: dict[str, Any]) -> Any:
    """Make a type of dicts with these keys alone, which may be any name of a parameter."""
    kind = cast("Any", TypedDict)("Arguments", fields)
    kind.__pydantic_config__ = ConfigDict(extra="forbid")
    return kind


def of_type(kind: Any) -> tuple[Arguments, bool]:
    """Describe and read arguments of a type; say whether they are an object of it as a whole.

    What is no object in JSON is the one argument `answer`. Read are JSON data, defaults filled in.

    Raises:
        ConfigError: For a type that has no JSON Schema.
    """
    adapter = _adapter(kind)
    schema = _schema(adapter)
    if schema.get("type") == "object":
        return _Typed(adapter, schema, (_arguments_of, kind), _dumped_by(adapter)), True
    wrapped = _adapter(_keyed({ANSWER: Annotated[kind, Field(description="The answer.")]}))
    return _Typed(wrapped, _schema(wrapped), (_arguments_of, kind), _dumped_by(wrapped)), False


def _arguments_of(kind: Any) -> Arguments:
    return of_type(kind)[0]


def _dumped_by(adapter: TypeAdapter[Any]) -> Callable[[Any], dict[str, Any]]:
    def dumped(value: Any) -> dict[str, Any]:
        read: dict[str, Any] = adapter.dump_python(value, mode="json", by_alias=True)
        return read

    return dumped


def _adapter(kind: Any) -> TypeAdapter[Any]:
    try:
        return TypeAdapter(kind)
    except (PydanticUserError, NameError, TypeError) as error:
        raise _no_schema(error) from None


def _schema(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    try:
        schema = adapter.json_schema(schema_generator=_Untitled)
    except PydanticUserError as error:
        raise _no_schema(error) from None
    if "$ref" in schema:
        # A type that holds itself; a model's providers want the object at the top.
        schema = {**schema["$defs"][schema["$ref"].rsplit("/", 1)[1]], "$defs": schema["$defs"]}
    schema.pop("title", None)
    return schema


def _no_schema(error: Exception) -> ConfigError:
    said = str(error).split("\n", 1)[0].split(". ", 1)[0]
    message = f"has no JSON Schema: {said}; take data, a dataclass or a pydantic model"
    return ConfigError((Problem("spec/wrong-type", "schema", None, message),))


def _note_default(schema: dict[str, Any], default: object) -> None:
    try:
        schema["default"] = _core.plain(default)
    except ConfigError:
        # It is filled in by the function; a model does not have to see it.
        return


def _problems(error: ValidationError, known: tuple[str, ...]) -> list[Problem]:
    return [_problem(one, known) for one in error.errors(include_url=False, include_context=False)]


_CODES = {
    "missing": "spec/missing-field",
    "extra_forbidden": "spec/unknown-field",
    "literal_error": "spec/unknown-choice",
    "enum": "spec/unknown-choice",
}


def _problem(error: ErrorDetails, known: tuple[str, ...]) -> Problem:
    code = _CODES.get(error["type"], "spec/wrong-type")
    field = placed(error["loc"])
    if code == "spec/missing-field":
        return Problem(code, field, None, "is required")
    shown = _core.preview(error["input"])
    if code == "spec/unknown-field":
        near = _core.nearest(str(error["loc"][-1]), list(known)) if len(error["loc"]) == 1 else None
        hint = f'; did you mean "{near}"?' if near else ""
        return Problem(code, field, shown, f"is no argument of this tool{hint}")
    message = error["msg"]
    return Problem(code, field, shown, message[:1].lower() + message[1:])
