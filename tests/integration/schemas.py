"""What a JSON Schema must be like to be taken by the harnesses of models."""

from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator

META = Draft202012Validator(Draft202012Validator.META_SCHEMA)
"""Says what is no JSON Schema of the dialect 2020-12."""


def nodes(schema: dict[str, Any], at: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every schema within a schema, with its place."""
    yield at, schema
    for name, member in schema.get("properties", {}).items():
        yield from nodes(member, f"{at}.{name}")
    if "items" in schema:
        yield from nodes(schema["items"], f"{at}[]")


def is_closed(node: dict[str, Any]) -> bool:
    """Say whether an object has its own fields alone, or described ones under any name."""
    more = node["additionalProperties"]
    return more is False or ("properties" not in node and bool(more["description"]))


def faults(schema: dict[str, Any]) -> list[str]:
    """List what is wrong with a schema: what the dialect forbids, and what misleads a model."""
    found = [f"{error.json_path}: {error.message}" for error in META.iter_errors(schema)]
    for at, node in nodes(schema):
        told = {
            "open object": node.get("type") != "object" or is_closed(node),
            "required": set(node.get("required", ())) <= set(node.get("properties", {})),
            "enum": "enum" not in node or len(set(node["enum"])) == len(node["enum"]) > 0,
            "items": ("items" in node) == (node.get("type") == "array"),
            "description": at == "" or bool(node.get("description")) or at.endswith("[]"),
            "lengths": node.get("minItems", 0) <= node.get("maxItems", 1 << 30),
        }
        found += [f"{at}: {name}" for name, well in told.items() if not well]
    return found


def is_taken(schema: dict[str, Any], value: Any) -> bool:
    """Say whether a value is as a schema says."""
    return Draft202012Validator(schema).is_valid(value)


def properties_at(schema: dict[str, Any], place: str) -> dict[str, Any]:
    """Give the properties of the object at a place such as `.arms[].when[]`."""
    found: dict[str, Any] = dict(nodes(schema))[place]["properties"]
    return found
