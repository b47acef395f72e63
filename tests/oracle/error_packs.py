"""What an error says beside its status, and the rules of packs that ask about it.

Codes and texts are taken from a body only where it is an error object: an answer that went well may
hold any words.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from . import patterns
from .error_bodies import (
    TEXT_KEYS,
    code_of,
    contents,
    error_objects,
    is_error_document,
    is_error_status,
    is_text,
    members,
    parsed,
    short_name,
    stream_errors,
)
from .error_program import program
from .values import is_finite_number

PACKS = Path(__file__).parents[2] / "src" / "classify" / "packs"
ORDER = (
    *("openai", "anthropic", "google", "azure", "aws", "mistral", "cohere", "openrouter"),
    *("github", "docker", "kubectl", "postgres"),
)
SHELL = "shell"
FIELDS = ("provider", "body", "headers", "command", "errno", "stdout")
CODE_HEADERS = ("x-amzn-errortype", "x-ms-error-code", "x-amz-error-code")
MAX_CHARACTERS = 64_000
WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
CAPITALS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")

Json = Mapping[str, Any]


class Evidence(NamedTuple):
    """What is known of an error beside its numbers."""

    codes: list[str]
    """The given one, the errno, then those of the body, then those of headers."""
    texts: list[str]
    """The message, then those of the body."""
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
    streamed = stream_errors(body) if isinstance(body, str) else []
    plain = isinstance(body, str) and not streamed
    objects = streamed or ([] if plain else error_objects(body, good=good))
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
    texts = [signals.get("message"), *body_texts]
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
    running = None if command is None else program(command, signals.get("exitCode"))
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
    printed = [signals["stdout"]] if signals.get("stdout") else []
    with_stdout = known._replace(texts=[*known.texts, *printed])
    for pack, by_name in asked(signals, chosen):
        heard = with_stdout if pack.get("stdout") else known
        for rule in pack["rules"]:
            if rule_holds(rule, signals, heard, by_name=by_name):
                return f"{pack['pack']}/{rule['id']}", rule
    return None


def rule_holds(rule: Json, signals: Json, known: Evidence, *, by_name: bool) -> bool:
    """Tell whether all conditions of a rule hold."""
    narrow = set(rule) & {"codes", "phrases", "matches", "headers", "commands"}
    if not by_name and (rule.get("named") or not narrow):
        return False
    texts = [end for text in known.texts for end in ends(text)]
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
        "commands": lambda wanted: (
            command is not None and program(command, signals.get("exitCode")) in wanted
        ),
    }
    return all(holds(rule[name]) for name, holds in answers.items() if name in rule)


def ends(text: str) -> list[str]:
    """Give both ends of a long text, or the whole of another."""
    half = MAX_CHARACTERS // 2
    return [text] if len(text) <= MAX_CHARACTERS else [text[:half], text[-half:]]


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
