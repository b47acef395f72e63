"""Arguments are checked as the standard says, and within bounds."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, Literal

import jsonschema
import pytest
import referencing
from hypothesis import given
from hypothesis import strategies as st

from interlock import _core
from interlock.errors import ConfigError
from interlock.spec.arguments import of_schema
from interlock.spec.typed import Parameter, of_parameters

JSON = Mapping[str, Any]
D7 = "http://json-schema.org/draft-07/schema#"
D6 = "http://json-schema.org/draft-06/schema#"
D19 = "https://json-schema.org/draft/2019-09/schema"
D20 = "https://json-schema.org/draft/2020-12/schema"


def taking(inner: object, **more: object) -> dict[str, object]:
    """Make a schema of an object with the one property `x`."""
    return {"type": "object", "properties": {"x": inner}, **more}


def faults(schema: JSON, args: JSON) -> list[str]:
    _, problems = of_schema(schema).read(dict(args))
    return [str(one) for one in problems]


# What a schema says, arguments that fit, and arguments that do not with a part of what is told.
KEYWORDS: list[tuple[JSON, list[JSON], list[tuple[JSON, str]]]] = [
    (taking({"type": "integer"}), [{"x": 1}, {"x": 1.0}, {}], [({"x": "1"}, 'x: "1": must be of')]),
    (taking({"type": ["string", "null"]}), [{"x": None}], [({"x": 1}, "x: 1: must be one of")]),
    (taking({"enum": [1, "a", None]}), [{"x": None}], [({"x": True}, "x: true: must be one of")]),
    (taking({"const": {"a": [1]}}), [{"x": {"a": [1.0]}}], [({"x": 1}, "x: 1: must be ")]),
    (taking(True, required=["x", "y"]), [{"x": 1, "y": 2}], [({}, "x: is required")]),
    (taking({"minimum": 2, "maximum": 3}), [{"x": 2}, {"x": "a"}], [({"x": 1}, "minimum 2")]),
    (taking({"exclusiveMinimum": 2}), [{"x": 3}], [({"x": 2}, "exclusiveMinimum 2")]),
    (taking({"multipleOf": 0.01}), [{"x": 0.25}], [({"x": 0.255}, "multipleOf 0.01")]),
    (taking({"minLength": 2, "maxLength": 2}), [{"x": "ab"}], [({"x": "a"}, "minLength 2")]),
    (taking({"minItems": 1, "maxItems": 1}), [{"x": [1]}], [({"x": []}, "minItems 1")]),
    (taking({"uniqueItems": True}), [{"x": [1, True, "1"]}], [({"x": [[1], [1.0]]}, "twice")]),
    (taking({"pattern": "^a+$"}), [{"x": "aa"}, {"x": 1}], [({"x": "b"}, "does not match")]),
    (taking({"pattern": r"^\p{L}+$"}), [{"x": "\u00e9"}], [({"x": "1"}, "does not match")]),
    (taking({"pattern": r"^[\w\-]+$"}), [{"x": "a-b"}], [({"x": "a b"}, "does not match")]),
    (taking({"items": {"type": "integer"}}), [{"x": [1]}], [({"x": [1, "a"]}, 'x[1]: "a"')]),
    (
        taking({"prefixItems": [{"type": "string"}], "items": False}),
        [{"x": ["a"]}],
        [({"x": [1]}, "x[0]: 1"), ({"x": ["a", 1]}, "x")],
    ),
    (taking({"contains": {"const": 1}}), [{"x": [2, 1]}], [({"x": [2]}, "`contains`")]),
    (taking({"not": {"type": "null"}}), [{"x": 1}], [({"x": None}, "`not`")]),
    (taking({"anyOf": [{"const": 1}, {"const": 2}]}), [{"x": 2}], [({"x": 3}, "`anyOf`")]),
    (taking({"oneOf": [{"minimum": 1}, {"minimum": 5}]}), [{"x": 2}], [({"x": 6}, "`oneOf`")]),
    (taking({"allOf": [{"minimum": 1}, {"maximum": 5}]}), [{"x": 2}], [({"x": 6}, "maximum 5")]),
    (
        taking({"if": {"minimum": 5}, "then": {"multipleOf": 5}, "else": {"maximum": 3}}),
        [{"x": 10}, {"x": 3}],
        [({"x": 6}, "multipleOf"), ({"x": 4}, "maximum")],
    ),
    (
        taking(True, additionalProperties=False),
        [{"x": 1}],
        [({"y": 1, "xx": 2}, "y: 1: is not taken here"), ({"xx": 2}, 'did you mean "x"?')],
    ),
    (
        taking(True, additionalProperties={"type": "integer"}),
        [{"x": "a", "y": 1}],
        [({"y": "a"}, 'y: "a": must be of type integer')],
    ),
    (
        taking(True, patternProperties={"^n": {"type": "integer"}}, additionalProperties=False),
        [{"n1": 1}],
        [({"n1": "a"}, 'n1: "a"'), ({"m": 1}, "m: 1: is not taken here")],
    ),
    (taking(True, propertyNames={"maxLength": 1}), [{"y": 1}], [({"long": 1}, "maxLength 1")]),
    (taking(True, minProperties=1), [{"y": 1}], [({}, "arguments: {}: must have minProperties 1")]),
    (taking(True, dependentRequired={"x": ["y"]}), [{"y": 1}, {"x": 1, "y": 1}], [({"x": 1}, "y")]),
    (
        taking({"$ref": "#/$defs/tree"}, **{"$defs": {"tree": taking({"$ref": "#/$defs/tree"})}}),
        [{"x": {"x": {"x": {}}}}],
        [({"x": {"x": {"x": 1}}}, "x.x.x: 1")],
    ),
    (
        taking({"items": [{"type": "string"}], "additionalItems": False}, **{"$schema": D7}),
        [{"x": ["a"]}],
        [({"x": ["a", 1]}, "x")],
    ),
    (
        taking({"$ref": "#/definitions/a"}, definitions={"a": {"const": 1}}, **{"$schema": D6}),
        [{"x": 1}],
        [({"x": 2}, "x: 2")],
    ),
    (
        taking({"dependentRequired": {"a": ["b"]}}, **{"$schema": D19}),
        [{"x": {}}],
        [({"x": {"a": 1}}, "x")],
    ),
    (taking({"format": "date"}, **{"$schema": D20}), [{"x": "no date"}], []),
    (taking({"default": {"pattern": "("}, "examples": [{"pattern": "("}]}), [{"x": 1}], []),
    (taking({"properties": {"pattern": {"type": "string"}}}), [{"x": {"pattern": "("}}], []),
]


@pytest.mark.parametrize(("schema", "fitting", "_unfit"), KEYWORDS, ids=lambda one: str(one)[:60])
def test_what_fits_is_taken(schema: JSON, fitting: list[JSON], _unfit: object) -> None:
    assert [] == [fault for args in fitting for fault in faults(schema, args)]


@pytest.mark.parametrize(("schema", "_fitting", "unfit"), KEYWORDS, ids=lambda one: str(one)[:60])
def test_what_does_not_fit_is_told(
    schema: JSON, _fitting: object, unfit: list[tuple[JSON, str]]
) -> None:
    for args, told in unfit:
        assert told in "\n".join(faults(schema, args))


def test_every_fault_is_told() -> None:
    schema = taking({"type": "integer"}, required=["x", "y", "z"], additionalProperties=False)

    assert [one.split(":")[0] for one in faults(schema, {"x": "a", "b": 1})] == ["x", "y", "z", "b"]


def test_of_very_many_faults_the_first_are_told() -> None:
    told = faults(taking({"items": {"type": "integer"}}), {"x": ["a"] * 1_000})

    assert len(told) == 51
    assert "have more faults" in told[-1]


def looping(keyword: str, inner: object) -> JSON:
    """Make a schema that comes back to itself by way of a keyword."""
    defs = {"a": {keyword: inner}, "b": {"$anchor": "b", "$ref": "#/$defs/a"}}
    return taking({"$ref": "#/$defs/a"}, **{"$defs": defs})


REFUSED: list[tuple[Any, str]] = [
    ({}, "schema.type: "),
    ({"type": "array"}, 'schema.type: "array": must be "object"'),
    (taking({"type": "strng"}), 'schema.properties.x.type: "strng"'),
    (taking({"minimum": "1"}), "schema.properties.x.minimum"),
    (taking(3), "schema.properties.x: 3"),
    (taking(True, required="x"), "schema.required"),
    (taking({"pattern": "("}), "schema.properties.x.pattern"),
    (taking({"pattern": r"(a+)\1"}), "schema.properties.x.pattern"),
    (taking({"items": {"patternProperties": {"(": {}}}}), "items.patternProperties.("),
    (taking({"unevaluatedProperties": False}), "use additionalProperties"),
    (taking({"allOf": [{"unevaluatedItems": False}]}), "schema.properties.x.allOf[0].unevaluated"),
    (taking({"$ref": "https://example.com/a.json"}), "nothing is fetched"),
    (taking({"$ref": "other.json#/a"}), "nothing is fetched"),
    (taking({"$dynamicRef": "https://example.com/a#b"}), "nothing is fetched"),
    (taking(True, **{"$schema": "http://json-schema.org/draft-04/schema#"}), "must be JSON Schema"),
    (taking(True, **{"$schema": "https://example.com/mine"}), "must be JSON Schema"),
    (taking({"properties": {"default": {"pattern": "("}}}), "x.properties.default.pattern"),
    (taking(True, properties={"enum": {"$schema": D7}}), "stands at the top only"),
    (taking({"$schema": D7}), "schema.properties.x.$schema: stands at the top only"),
    (taking(True, default={"a": {"$schema": D7}}), "stands at the top only"),
    (taking({"enum": [float("nan")]}), "schema.properties.x.enum"),
    (taking({"enum": [object()]}), "schema.properties.x.enum"),
    (taking(True, **{f"a{n}": n for n in range(6_000)}), "schema: has over 5000 values"),
    (taking({"enum": list(range(6_000))}), "schema: has over 5000 values"),
    (taking({"$ref": "#/$defs/none"}), 'x.$ref: "#/$defs/none": must point to a schema in this'),
    (taking({"items": {"$ref": "#/properties/y"}}), "schema.properties.x.items.$ref"),
    (taking({"$ref": "#nowhere"}), "must point to a schema"),
    (taking({"$dynamicRef": "#nowhere"}), "x.$dynamicRef"),
    (taking({"$ref": "#/type"}), "must point to a schema"),
    (taking({"$ref": "#/required"}, required=["x"]), "must point to a schema"),
    (taking({"$ref": "#/allOf/one"}, allOf=[True]), "must point to a schema"),
    (taking({"$ref": "#/allOf/1"}, allOf=[True]), "must point to a schema"),
    (taking({"$ref": "#/default/a"}, default={"a": {"$ref": "#/b"}}), "x.$ref.$ref"),
    (taking({"$id": "http://[no"}, **{"$id": "http://a.example/"}), "has an `$id` that is no URI"),
    (taking({"$ref": "#/$defs/a"}, **{"$defs": {"a": {"$ref": "#/$defs/a"}}}), "schema.$defs.a: "),
    (taking({"$ref": "#/properties/x"}), "schema.properties.x: comes back to itself"),
    (taking(True, allOf=[{"$ref": "#"}]), "schema: comes back to itself"),
    (taking(True, **{"$ref": "#", "$schema": D7}), "schema: comes back to itself"),
    *(
        (looping(keyword, inner), "comes back to itself at the same value")
        for keyword, inner in [
            *((name, [{"type": "null"}, {"$ref": "#/$defs/b"}]) for name in ("allOf", "anyOf")),
            ("oneOf", [{"$ref": "#/$defs/b"}]),
            *((name, {"$ref": "#/$defs/b"}) for name in ("not", "if", "then", "else")),
            ("dependentSchemas", {"a": {"$ref": "#/$defs/b"}}),
            ("$dynamicRef", "#b"),
        ]
    ),
    (5, "schema: 5: must be a JSON Schema of an object, as a mapping"),
    (True, "schema: true: must be a JSON Schema of an object"),
    (False, "True and False, which take anything and nothing, name no arguments"),
]


@pytest.mark.parametrize(("schema", "told"), REFUSED, ids=[told for _, told in REFUSED])
def test_a_schema_that_cannot_be_checked_is_refused(schema: JSON, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        of_schema(schema)

    assert told in str(caught.value)


INNER = {**taking({"$ref": "#/$defs/t"}), "$id": "u:in", "$defs": {"t": {"type": "null"}}}
GOOD_REFERENCES: list[tuple[JSON, JSON]] = [
    (taking({"$ref": "#"}), {"x": {"x": {}}}),
    (taking({"items": {"$ref": "#/properties/x"}}), {"x": [[], [[]]]}),
    (taking({"$ref": "#/$defs/a"}, **{"$defs": {"a": True}}), {"x": 1}),
    (taking({"$ref": "#/$defs/a~1b%20c"}, **{"$defs": {"a/b c": {"type": "null"}}}), {"x": None}),
    (taking({"$ref": "#a"}, **{"$defs": {"a": {"$anchor": "a", "type": "null"}}}), {"x": None}),
    (taking({"$ref": "#/allOf/0"}, allOf=[{}]), {"x": 1}),
    (taking({"$ref": "#/$defs/in"}, **{"$defs": {"in": INNER}}), {"x": {"x": None}}),
    (taking({"x-mine": {"$id": 5}, "x-other": {"$id": "http://[no"}}), {"x": 1}),
    (taking({"const": {"$ref": "#/no"}}), {"x": {"$ref": "#/no"}}),
    (taking({"properties": {"$ref": {"type": "null"}}}), {"x": {"$ref": None}}),
    (taking({"$dynamicRef": "#a"}, **{"$defs": {"a": {"$dynamicAnchor": "a"}}}), {"x": 1}),
    (
        taking({"anyOf": [{"type": "null"}, {"items": {"$ref": "#/properties/x"}}]}),
        {"x": [None, [None]]},
    ),
]


@pytest.mark.parametrize(("schema", "args"), GOOD_REFERENCES, ids=lambda one: str(one)[:60])
def test_a_reference_to_a_schema_is_followed(schema: JSON, args: JSON) -> None:
    assert faults(schema, args) == []


@pytest.mark.parametrize("keyword", ["anyOf", "allOf", "oneOf"])
@pytest.mark.parametrize("levels", [15, 25, 60])
def test_a_small_schema_that_is_large_when_written_out_is_not_written_out(
    keyword: str, levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = {keyword: [schema, schema]}
    monkeypatch.setattr(_core, "plain", None)

    with pytest.raises(ConfigError, match="has over 5000 values"):
        of_schema(taking(schema))


def test_many_anchors_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    defs = {f"a{n}": {"$anchor": f"a{n}", "type": "null"} for n in range(300)}
    made = of_schema(taking({"allOf": [{"$ref": f"#{name}"} for name in defs]}, **{"$defs": defs}))
    monkeypatch.setattr(referencing.Registry, "crawl", None)

    assert made.read({"x": None})[1] == []


def nested(levels: int) -> Any:
    inner: Any = {"type": "string"}
    for _ in range(levels):
        inner = taking(inner)
    return inner


@pytest.mark.parametrize("levels", [90, 100, 150, 1_000, 100_000])
def test_a_schema_of_any_depth_is_taken_or_refused(levels: int) -> None:
    try:
        made = of_schema(nested(levels))
    except ConfigError:
        assert levels > 50
    else:
        assert made.schema["type"] == "object"


def doubling(keyword: str) -> JSON:
    """Make a small schema of which the whole is two to the fortieth."""
    deeper = {f"a{n}": {keyword: [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(40)}
    return taking({"$ref": "#/$defs/a0"}, **{"$defs": {**deeper, "a40": {"type": "string"}}})


EVIL = "^(a+)+$"
# Each would take for ever, or all memory, if it were checked as it says.
HOSTILE: list[tuple[JSON, JSON]] = [
    (doubling("allOf"), {"x": "a"}),
    (doubling("anyOf"), {"x": 1}),
    (doubling("oneOf"), {"x": "a"}),
    (taking({"$ref": "#"}, additionalProperties={"$ref": "#"}, required=["x"]), {"x": {}}),
    (taking({"pattern": EVIL}), {"x": "a" * 100_000 + "!"}),
    (taking({"items": {"pattern": EVIL}}), {"x": ["a" * 10_000 + "!"] * 100}),
    (
        taking({"patternProperties": {EVIL: False}, "additionalProperties": False}),
        {"x": {"a" * 99 + "!": 1}},
    ),
    (
        taking(
            {"$ref": "#/default"},
            default={"unevaluatedProperties": False, "patternProperties": {EVIL: {}}},
        ),
        {"x": {"a" * 99 + "!": 1}},
    ),
    (taking({"$ref": "#/default"}, default={"pattern": "("}), {"x": "a"}),
    (taking({"items": {"enum": list(range(4_000))}}), {"x": [-1] * 100_000}),
    (taking({"uniqueItems": True}), {"x": [*([n] for n in range(30_000)), [0]]}),
    (taking({"properties": {"y": {}}, "required": [f"r{n}" for n in range(4_000)]}), {"x": {}}),
]


@pytest.mark.parametrize(("schema", "args"), HOSTILE, ids=lambda one: str(one)[:60])
def test_a_hostile_schema_ends_in_a_refusal(schema: JSON, args: JSON) -> None:
    assert faults(schema, args) != []


def test_a_long_text_of_a_good_pattern_is_taken() -> None:
    assert faults(taking({"pattern": EVIL}), {"x": "a" * 100_000}) == []


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-4, 4), st.floats(-2, 2), st.text("ab", max_size=3)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abxy"), inner),
    max_leaves=8,
)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


def schemas() -> st.SearchStrategy[Any]:
    def above(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.fixed_dictionaries(
            {},
            optional={
                "type": TYPES,
                "properties": st.dictionaries(st.sampled_from("abxy"), inner, max_size=2),
                "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$", "x|y"]), inner),
                "additionalProperties": inner,
                "required": st.lists(st.sampled_from("abxy"), unique=True, max_size=2),
                "items": inner,
                "prefixItems": st.lists(inner, min_size=1, max_size=2),
                "contains": inner,
                "uniqueItems": st.booleans(),
                "enum": st.lists(VALUES, min_size=1, max_size=3),
                "minimum": st.integers(-2, 2),
                "maxLength": st.integers(0, 2),
                "pattern": st.sampled_from(["^a", "b$", "a{2}"]),
                "anyOf": st.lists(inner, min_size=1, max_size=2),
                "oneOf": st.lists(inner, min_size=1, max_size=2),
                "allOf": st.lists(inner, min_size=1, max_size=2),
                "not": inner,
                "if": inner,
                "then": inner,
                "else": inner,
                "propertyNames": inner,
                "dependentSchemas": st.dictionaries(st.sampled_from("ab"), inner, max_size=1),
            },
        )

    return st.recursive(st.booleans() | TYPES.map(lambda one: {"type": one}), above, max_leaves=5)


@given(schemas(), VALUES)
def test_bounds_change_no_answer(inner: Any, value: Any) -> None:
    schema = taking(inner)
    expected = jsonschema.Draft202012Validator(schema).is_valid({"x": value})

    assert (faults(schema, {"x": value}) == []) is expected


KINDS: list[Any] = [
    int,
    float,
    str,
    bool,
    None,
    list[int],
    dict[str, str],
    int | None,
    Literal["a", 1],
    tuple[int, str],
    str | list[str],
]


TYPED = [of_parameters({"x": Parameter(kind, required=True)}) for kind in KINDS]
BOTH = [(typed, of_schema(typed.schema)) for typed in TYPED]


@given(st.sampled_from(BOTH), st.dictionaries(st.sampled_from("xxy"), VALUES))
def test_an_annotation_and_its_schema_say_the_same(both: Any, args: Any) -> None:
    # The one thing the two do not agree on: whether 1.0 is an integer.
    if not any(isinstance(one, float) for one in flat(args)):
        typed, schemed = both
        assert (typed.read(args)[1] == []) is (schemed.read(args)[1] == [])


def flat(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [inner for one in value for inner in flat(one)]
    if isinstance(value, dict):
        return [inner for one in value.values() for inner in flat(one)]
    return [value]


def test_a_default_is_shown_where_json_can_hold_it() -> None:
    made = of_parameters(
        {
            "a": Parameter(int, required=False, default=3),
            "b": Parameter(dt.date | None, required=False, default=None),
            "c": Parameter(Any, required=False, default=object()),
        }
    )

    assert {name: one.get("default") for name, one in made.schema["properties"].items()} == {
        "a": 3,
        "b": None,
        "c": None,
    }
