"""The error objects of a body, and what their members hold."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .error_program import SPACES
from .number_text import number_text
from .values import exact, is_finite_number, is_whole

CODE_KEYS = (
    *("code", "type", "status", "reason", "__type", "Code", "quotaId", "error_code"),
    *("errorCode", "errorType", "sqlstate"),
)
TEXT_KEYS = (
    *("message", "Message", "detail", "details", "title", "error_description", "errorMessage"),
    *("msg", "description", "raw", "error"),
)
STATUS_KEYS = ("code", "status", "statusCode")
PART_KEYS = (
    *("error", "errors", "Error", "Errors", "message", "detail", "details", "innererror"),
    *("innerError", "inner_error", "cause", "causes", "fault", "violations", "fieldViolations"),
    *("metadata", "exception", "response", "raw"),
)
MAX_DEPTH, MAX_NODES = 6, 256

Json = Mapping[str, Any]


def parsed(body: Any) -> Any:
    """Read a text that is a JSON object or array; any other text stays one."""
    if not isinstance(body, str):
        return body
    try:
        value = json.loads(body, parse_constant=refuse)
    except (ValueError, RecursionError):
        return body
    return value if isinstance(value, dict | list) else body


def stream_errors(text: str) -> list[Any]:
    """Give the error objects of the first part of a stream that is an error."""
    stream = text.lstrip("\ufeff \t\r\n")
    lines = re.split("\r?\n", stream)
    if re.match("(?:data|event|id|retry)?:", stream):
        found = (error_objects(part, good=True) for part in event_data(lines))
        return next(filter(None, found), [])
    full = [line for line in (line.strip(SPACES) for line in lines) if line]
    first = [parsed(line) for line in full[:2]]
    if not (len(first) > 1 and all(isinstance(part, dict) for part in first)):
        return []
    return next(filter(None, (error_objects(parsed(line), good=True) for line in full)), [])


def event_data(lines: list[str]) -> Iterator[Any]:
    """The lines of one event's data are one text; where that is no JSON, each is one of its own."""
    data: list[str] = []
    for line in (*lines, ""):
        if line.startswith("data:"):
            data.append(line[5:].strip(SPACES))
        elif not line:
            whole = parsed("\n".join(data))
            yield from [parsed(part) for part in data] if isinstance(whole, str) else [whole]
            data = []


def refuse(word: str) -> None:
    """NaN and the infinities are no JSON."""
    raise ValueError(word)


def error_objects(body: Any, *, good: bool) -> list[Any]:
    """Give the error objects of a body; after a success it has to be marked as one."""
    if isinstance(body, list):
        entries = [entry for entry in body if isinstance(entry, dict)]
        marked = [entry for entry in entries if not good or own_errors(entry)]
        return [found for entry in marked for found in error_objects(entry, good=good)]
    if not isinstance(body, dict):
        return []
    found = own_errors(body)
    if found:
        return found
    if not good or is_marked(body):
        return [body]
    errors = body.get("errors")
    return filled(errors) if isinstance(errors, list) else []


def own_errors(body: Json) -> list[Any]:
    """Give the error objects under their own names."""
    own, choices = [body.get("error")], body.get("choices")
    if body.get("type") == "response.failed" and isinstance(body.get("response"), dict):
        own.append(body["response"].get("error"))
    listed = choices if isinstance(choices, list) else []
    return filled([*own, *(one.get("error") for one in listed if isinstance(one, dict))])


def filled(parts: list[Any]) -> list[Any]:
    """Give those that are objects with something in them."""
    return [part for part in parts if isinstance(part, dict) and part]


def is_marked(body: Json) -> bool:
    """Tell whether an object says of itself that it is an error."""
    failed = body.get("kind") == "Status" and body.get("status") == "Failure"
    named = "__type" in body or "error" in (body.get("type"), body.get("object"))
    errors = body.get("errors")
    listed = isinstance(errors, list) and any(isinstance(entry, str) for entry in errors)
    denied = body.get("ok") is False or body.get("success") is False
    if denied or is_text(body.get("error_description")):
        return failed or named or listed or is_text(body.get("error"))
    return failed or named


def is_error_document(text: str) -> bool:
    """Tell whether the root of an XML document is an error."""
    text = text.lstrip("\ufeff \t\r\n")
    if text.startswith("<?xml") and "?>" in text:
        text = text.partition("?>")[2].lstrip()
    return re.match(r"<Error(Response)?[> \t\r\n]", text) is not None


def members(objects: list[Any]) -> list[tuple[str, Any]]:
    """Give the named members of objects, outer before inner, as they stand."""
    found: list[tuple[str, Any]] = []
    nodes = 0

    def walk(value: Any, under: str, depth: int) -> None:
        nonlocal nodes
        if depth > MAX_DEPTH:
            return
        inner = value.items() if isinstance(value, dict) else [("", item) for item in value]
        for name, member in inner:
            if nodes == MAX_NODES:
                return
            nodes += 1
            if isinstance(member, dict | list):
                if isinstance(value, dict) and name not in PART_KEYS:
                    continue
                walk(member, name, depth + 1)
            elif isinstance(value, dict):
                found.append((name, member))
                if name in TEXT_KEYS and is_text(member) and member[0] == "{":
                    passed_on = parsed(member)
                    walk({} if isinstance(passed_on, str) else passed_on, "", depth + 1)
            elif under in (*TEXT_KEYS, "errors") and is_text(member):
                found.append(("message", member))

    for value in objects:
        walk(value, "", 1)
    return found


def code_of(name: str, value: Any) -> Iterator[str]:
    """Give the code that a member holds, if any."""
    if is_text(value) and (name in CODE_KEYS or name == "error"):
        yield short_name(value) if name == "__type" else value
    elif is_finite_number(value) and is_whole(exact(value)) and name in CODE_KEYS:
        yield str(int(exact(value)))


def is_text(value: Any) -> bool:
    """Tell whether this is a text that is not empty."""
    return isinstance(value, str) and value != ""


def is_error_status(name: str, value: Any) -> bool:
    """Tell whether a member is the status of an error: a number, or three digits."""
    text = number_text(value) if is_finite_number(value) else value
    is_one = isinstance(text, str) and re.fullmatch("[45][0-9][0-9]", text) is not None
    return name in STATUS_KEYS and is_one


def short_name(code: str) -> str:
    """`a.b#Name` is `Name`."""
    return code.rpartition("#")[2]


def contents(text: str, tag: str) -> list[str]:
    """Give what stands between tags of XML."""
    return [inner for inner in re.findall(f"<{tag}>([^<]*)</{tag}>", text) if inner]
