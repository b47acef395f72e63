"""What an error says beside its status, and the rules of packs that ask about it.

Codes and texts are taken from a body only where it is an error object: an answer that went well may
hold any words.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from . import patterns
from .number_text import number_text
from .values import exact, is_finite_number, is_whole

PACKS = Path(__file__).parents[2] / "src" / "classify" / "packs"
ORDER = (
    *("openai", "anthropic", "google", "azure", "aws", "mistral", "cohere", "openrouter"),
    *("github", "docker", "kubectl", "postgres"),
)
SHELL = "shell"
FIELDS = ("provider", "body", "headers", "command", "errno", "stdout")
CODE_KEYS = (
    *("code", "type", "status", "reason", "__type", "Code", "quotaId", "error_code"),
    *("errorCode", "errorType", "sqlstate"),
)
TEXT_KEYS = (
    *("message", "Message", "detail", "details", "title", "error_description", "errorMessage"),
    *("msg", "description", "raw", "error"),
)
STATUS_KEYS = ("code", "status", "statusCode")
CODE_HEADERS = ("x-amzn-errortype", "x-ms-error-code", "x-amz-error-code")
WRAPPERS = ("sudo", "env", "time", "nohup")
MAX_DEPTH, MAX_NODES, MAX_CHARACTERS = 6, 256, 64_000
WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
CAPITALS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")

Json = Mapping[str, Any]


class Evidence(NamedTuple):
    """What is known of an error beside its numbers."""

    codes: list[str]
    """The given one, the errno, then those of the body, then those of headers."""
    texts: list[str]
    """The message, then those of the body, then what was printed."""
    body_texts: list[str]
    fields: list[tuple[str, Any]]
    """The members of the error objects, in the order they stand there."""
    headers: dict[str, str]
    contradicted: bool
    """Whether a status of success came with an error object."""
    succeeded: bool
    """Whether there is nothing for packs to say."""
    status: int | None
    """The status that is heard."""


def is_given(signals: Json) -> bool:
    """Tell whether packs apply at all."""
    return any(signals.get(field) is not None for field in FIELDS)


def evidence(signals: Json) -> Evidence:
    """Collect what the signals say."""
    status: int | None = signals.get("status")
    good = signals.get("exitCode") == 0 if status is None else 200 <= status < 300
    body = parsed(signals.get("body"))
    body = first_event(body) if isinstance(body, str) else body
    plain = isinstance(body, str)
    objects = [] if plain else error_objects(body, good=good)
    fields = members(objects)
    headers = read_headers(signals.get("headers"))
    body_codes = [code for name, value in fields for code in code_of(name, value)]
    body_texts = [value for name, value in fields if name in TEXT_KEYS and is_text(value)]
    failed = plain and is_error_document(body)
    if plain and (failed or not good):
        body_codes = contents(body, "Code")
        whole = [body] if body.lstrip("\ufeff \t\r\n") else []
        body_texts = contents(body, "Message") or whole
    given = [signals.get(name) for name in ("code", "errno")]
    texts = [signals.get("message"), *body_texts, signals.get("stdout")]
    contradicted = good and (bool(objects) or failed)
    stated = next((value for name, value in fields if is_error_status(name, value)), None)
    if status is None or contradicted:
        status = None if stated is None else int(stated)
    return Evidence(
        codes=[code for code in (*given, *body_codes, *header_codes(headers)) if code],
        texts=[text for text in texts if text],
        body_texts=body_texts,
        fields=fields,
        headers=headers,
        contradicted=contradicted,
        succeeded=good and not contradicted,
        status=status,
    )


def parsed(body: Any) -> Any:
    """Read a text that is a JSON object or array; any other text stays one."""
    if not isinstance(body, str):
        return body
    try:
        value = json.loads(body, parse_constant=refuse)
    except (ValueError, RecursionError):
        return body
    return value if isinstance(value, dict | list) else body


def first_event(text: str) -> Any:
    """Of a stream of events, give the first one that is an error; of other text, the text."""
    stream = text.lstrip("\ufeff \t\r\n")
    if not stream.startswith(("data:", "event:")):
        return text
    lines = re.split("\r?\n", stream)
    events = [parsed(line[5:].lstrip()) for line in lines if line.startswith("data:")]
    return next((event for event in events if error_objects(event, good=True)), {})


def refuse(word: str) -> None:
    """NaN and the infinities are no JSON."""
    raise ValueError(word)


def error_objects(body: Any, *, good: bool) -> list[Any]:
    """Give the error objects of a body; after a success it has to be marked as one."""
    if isinstance(body, list):
        entries = [entry for entry in body if isinstance(entry, dict)]
        return [found for entry in entries for found in error_objects(entry, good=good)]
    if not isinstance(body, dict):
        return []
    own = [body.get("error")]
    if body.get("type") == "response.failed" and isinstance(body.get("response"), dict):
        own.append(body["response"].get("error"))
    found = filled(own)
    if found:
        return found
    if not good or is_marked(body):
        return [body]
    errors = body.get("errors")
    return filled(errors) if isinstance(errors, list) else []


def filled(parts: list[Any]) -> list[Any]:
    """Give those that are objects with something in them."""
    return [part for part in parts if isinstance(part, dict) and part]


def is_marked(body: Json) -> bool:
    """Tell whether an object says of itself that it is an error."""
    failed = body.get("kind") == "Status" and body.get("status") == "Failure"
    named = "__type" in body or "error" in (body.get("type"), body.get("object"))
    errors = body.get("errors")
    listed = isinstance(errors, list) and any(isinstance(entry, str) for entry in errors)
    return failed or named or listed or is_text(body.get("error"))


def is_error_document(text: str) -> bool:
    """Tell whether the root of an XML document is an error."""
    text = text.lstrip("\ufeff \t\r\n")
    if text.startswith("<?xml") and "?>" in text:
        text = text.partition("?>")[2].lstrip()
    return text.startswith(("<Error>", "<ErrorResponse"))


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


def read_headers(headers: Any) -> dict[str, str]:
    """Give headers by their names in lower case, white space around values dropped."""
    pairs = list(headers.items()) if isinstance(headers, dict) else []
    return {
        name.lower(): str(value).strip(" \t\r\n")
        for name, value in reversed(pairs)
        if isinstance(value, str) or is_finite_number(value)
    }


def header_codes(headers: Mapping[str, str]) -> list[str]:
    """Give the codes that headers name."""
    return [short_name(headers[name].partition(":")[0]) for name in CODE_HEADERS if name in headers]


def program(command: str) -> str | None:
    """Name the program that a command line runs."""
    words = (word.strip("\"'") for word in re.findall(r"""(?:"[^"]*"|'[^']*'|\S)+""", command))
    for word in words:
        name = last_part(word)
        if name in WRAPPERS or re.match(r"[A-Za-z_][A-Za-z0-9_]*=", word):
            continue
        if re.fullmatch(r"python[0-9.]*", name) and next(words, "") == "-m":
            return next(words, name)
        return name
    return None


def last_part(word: str) -> str:
    """The file name of a path, without `.exe`."""
    name = re.split(r"[/\\]", word)[-1]
    return name[:-4] if name.lower().endswith(".exe") else name


@cache
def load_packs() -> dict[str, Json]:
    """Read every pack; the fixed order first, then the others by name."""
    files = {file.stem: file for file in PACKS.glob("*.json")}
    ordered = [*(name for name in ORDER if name in files), *sorted(set(files) - set(ORDER))]
    return {name: json.loads(files[name].read_text("utf-8")) for name in ordered}


def asked(signals: Json, chosen: list[str] | None) -> list[tuple[Json, bool]]:
    """List the packs that are asked, in order, and whether each was chosen by its name."""
    packs = load_packs()
    provider, command = signals.get("provider"), signals.get("command")
    running = None if command is None else program(command)
    by_command = [name for name, pack in packs.items() if running in pack.get("commands", ())]
    of_providers = [name for name, pack in packs.items() if "providers" in pack]
    wanted = None if provider is None else provider.lower()
    by_provider = [name for name in of_providers if wanted in packs[name]["providers"]]
    names = list(by_command)
    if any(signals.get(field) is not None for field in ("body", "headers", "provider")):
        names += by_provider or of_providers
    if any(signals.get(field) is not None for field in ("command", "errno", "stdout")):
        names += [SHELL] if SHELL in packs else []
    return [
        (packs[name], name in by_command or name in by_provider)
        for name in dict.fromkeys(names)
        if chosen is None or name in chosen
    ]


def find_rule(signals: Json, chosen: list[str] | None = None) -> tuple[str, Json] | None:
    """Find the first rule that holds, with its name as `pack/rule`."""
    if not is_given(signals):
        return None
    known = evidence(signals)
    if known.succeeded:
        return None
    for pack, by_name in asked(signals, chosen):
        for rule in pack["rules"]:
            if rule_holds(rule, signals, known, by_name=by_name):
                return f"{pack['pack']}/{rule['id']}", rule
    return None


def rule_holds(rule: Json, signals: Json, known: Evidence, *, by_name: bool) -> bool:
    """Tell whether all conditions of a rule hold."""
    narrow = set(rule) & {"codes", "phrases", "matches", "headers", "commands"}
    if not narrow and not by_name:
        return False
    texts = [text[:MAX_CHARACTERS] for text in known.texts]
    command = signals.get("command")
    answers: dict[str, Callable[[Any], bool]] = {
        "status": lambda wanted: known.status in wanted,
        "exit": lambda wanted: signals.get("exitCode") in wanted,
        "codes": lambda wanted: any(code in wanted for code in known.codes),
        "phrases": lambda wanted: any(says(text, part) for text in texts for part in wanted),
        "matches": lambda wanted: any(
            patterns.test(wanted, "i", text) for text in (*known.codes, *texts)
        ),
        "headers": lambda wanted: all(
            known.headers.get(name, "").lower() == value.strip().lower() and name in known.headers
            for name, value in wanted.items()
        ),
        "providers": lambda wanted: (signals.get("provider") or "").lower() in wanted,
        "commands": lambda wanted: command is not None and program(command) in wanted,
    }
    return all(holds(rule[name]) for name, holds in answers.items() if name in rule)


def says(text: str, phrase: str) -> bool:
    """Tell whether a phrase stands in a text, not inside a longer word; ASCII case is ignored."""
    text, phrase = text.translate(CAPITALS), phrase.translate(CAPITALS)
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        inside = phrase[0] in WORD and text[at - 1 : at] in WORD if at else False
        if not inside and not (phrase[-1] in WORD and text[end : end + 1] in WORD):
            return True
        at = text.find(phrase, at + 1)
    return False
