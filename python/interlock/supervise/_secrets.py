"""Secret inputs: known by their digests, and left out of whatever is decided on, shown and kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from interlock import _core
from interlock._compiled import plain_problems
from interlock.errors import ConfigError, Problem

if TYPE_CHECKING:
    from interlock.supervise.parts import PolicyInput

__all__ = [
    "Withheld",
    "digest_of",
    "kept_of",
    "masked",
    "read_withheld",
    "texts_again",
    "texts_of",
    "withheld",
]

_SHORTEST = 4
"""Shorter secrets stand by chance in other text; they are left out as a whole value alone."""
_LITERAL = re.compile(r"\((?=\(*secret [0-9a-f]{12}\))")


@dataclass(frozen=True, slots=True)
class Withheld:
    """A secret input in a log: its digest in its place."""

    digest: str


def digest_of(value: object) -> str:
    """Return the digest by which a secret is known."""
    return value.digest if isinstance(value, Withheld) else _core.digest(value)


def _mask(digest: str) -> str:
    # It names the secret: an approval of a call with one of two secrets is none for the other.
    return f"(secret {digest[:12]})"


def texts_of(declared: Mapping[str, PolicyInput], inputs: Mapping[str, object]) -> dict[str, str]:
    """Return what stands in place of each secret text that is given, the longest first."""
    texts = [
        value
        for name, value in inputs.items()
        if name in declared and declared[name].secret
        and isinstance(value, str) and len(value) >= _SHORTEST
    ]  # fmt: skip
    return {text: _mask(_core.digest(text)) for text in sorted(texts, key=len, reverse=True)}


def texts_again(
    declared: Mapping[str, PolicyInput], secrets: Mapping[str, object], digests: tuple[str, ...]
) -> dict[str, str]:
    """Return `texts_of` the secrets that a run was started with, which are given once more.

    Raises:
        ConfigError: For every one that is missing, another, or no secret input; no value is shown.
    """
    secret = [name for name, one in declared.items() if one.secret]
    said = "is no secret input of this runbook: leave it out"
    problems = [
        Problem("input/unknown", f"secrets.{name}", None, said)
        for name in secrets
        if name not in secret
    ]
    given = {name: _core.digest(secrets[name]) for name in secret if name in secrets}
    if set(digests) - set(given.values()):
        said = "must be what the run was started with, so that it can be left out of what is logged"
        problems += (
            Problem("input/missing", f"secrets.{name}", None, said)
            for name in secret
            if given.get(name) not in digests
        )
    if problems:
        raise ConfigError(tuple(problems))
    return texts_of(declared, secrets)


def masked(
    value: object, digests: tuple[str, ...], texts: Mapping[str, str] | None = None
) -> object:
    """Return JSON values with every secret left out.

    Args:
        value: Any JSON value.
        digests: Of the secrets: a text or number that is one is left out.
        texts: The secrets that are at hand: left out inside of other text, too.
    """
    if not digests or value is None or isinstance(value, bool):
        return value
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return {str(masked(key, digests, texts)): masked(one, digests, texts) for key, one in items}
    if isinstance(value, (list, tuple)):
        return [masked(one, digests, texts) for one in cast("list[object]", value)]
    digest = _core.digest(value)
    if digest in digests:
        return _mask(digest)
    if not isinstance(value, str):
        return value
    # What only looks like a mask is told from one, so that it cannot stand for the secret.
    value = _LITERAL.sub("((", value)
    for text, mask in (texts or {}).items():
        value = value.replace(text, mask)
    return value


def withheld(declared: Mapping[str, PolicyInput], inputs: object) -> object:
    """Return inputs as a log keeps them: of a secret one its digest."""
    if not isinstance(inputs, Mapping):
        return inputs
    return {
        name: {"secret": _core.digest(value)}
        if name in declared and declared[name].secret
        else value
        for name, value in cast("Mapping[str, object]", inputs).items()
    }


def read_withheld(declared: Mapping[str, PolicyInput], inputs: object) -> object:
    """Read inputs from a log; a secret that stands there itself is taken as it is."""
    if not isinstance(inputs, Mapping):
        return inputs
    return {
        name: Withheld(digest) if name in declared and declared[name].secret and digest else value
        for name, value in cast("Mapping[str, object]", inputs).items()
        for digest in [_written(value)]
    }


def _written(value: object) -> str:
    if not isinstance(value, Mapping):
        return ""
    digest = cast("Mapping[str, object]", value).get("secret")
    return digest if isinstance(digest, str) else ""


def kept_of(
    operation: str, given: Mapping[str, object], digests: tuple[str, ...], texts: Mapping[str, str]
) -> dict[str, object]:
    """Return what an operation is given as plain data, without secrets and what was not said.

    Raises:
        ConfigError: For what is no JSON; a call of that is blocked, and what a tool answered
            counts as not readable.
    """
    kept: dict[str, object] = {}
    for name, value in given.items():
        if value is None:
            continue
        plain, problems = plain_problems(value, name, finite=True)
        if problems and operation not in ("propose", "observe"):
            raise ConfigError(problems)
        read = f"(no JSON: {problems[0].message})" if problems else plain
        kept[name] = masked(read, digests, texts)
    return kept
