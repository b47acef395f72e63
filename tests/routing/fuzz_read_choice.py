"""Feeds random bytes to `read_choice`: nothing crashes it, and it takes the three shapes alone.

    python tests/routing/fuzz_read_choice.py --count 1000000 --seed 1

What it takes is judged by another JSON reader, and by the rule written down here.
"""

from __future__ import annotations

import argparse
import json
import random  # noqa: TID251 (chance with a seed)
import sys
from collections import Counter

from interlock.errors import RouteFileError
from interlock.routing import Choice, read_choice

FIELDS = ("select_route", "route_id", "selected_route_id")
PIECES = [
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b":",
    b",",
    b" ",
    b"\n",
    b"null",
    b"true",
    b"1",
    b"-1e9",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\x00",
    b'"select_route"',
    b'"route_id"',
    b'"selected_route_id"',
    b'"evidence"',
    b'"a"',
    b'"b"',
    b'""',
    b'" "',
    b'"select_route":"a"',
    b'"route_id":"a"',
    b'{"select_route":"',
    b'"}',
    b'{"a":',
    b"[" * 33,
    b"]" * 33,
    b'"evidence":true',
    b'"schema":"interlock.route-evidence/1"',
]
KEYS = [
    b'"select_route"',
    b'"route_id"',
    b'"selected_route_id"',
    b'"x"',
    b'"evidence"',
    b'"schema"',
]
VALUES = [
    b'"a"',
    b'" a"',
    b'"a\\n"',
    b'"b"',
    b'""',
    b'"\\t"',
    b"1",
    b"null",
    b"true",
    b'["a"]',
    b'{"a": "b"}',
    b"[" * 32 + b"]" * 32,
    b'"interlock.route-evidence/9"',
    b'"\\ud800"',
    b'"\xc3\xa9"',
    b"01",
    b"NaN",
]
WHOLE = [
    b'{"select_route":"a"}',
    b'{"route_id": "b", "x": [1, {"y": null}]}',
    b'{"selected_route_id":" a "}',
]


def made(chance: random.Random) -> bytes:
    """Make one input: noise, pieces of choices in a row, fields at random, or one with damage."""
    kind = chance.randrange(4)
    if kind == 0:
        return chance.randbytes(chance.randrange(40))
    if kind == 1:
        return b"".join(chance.choice(PIECES) for _ in range(chance.randrange(12)))
    if kind == 2:
        pairs = (
            b"%b:%b" % (chance.choice(KEYS), chance.choice(VALUES))
            for _ in range(chance.randrange(5))
        )
        return b"{" + b",".join(pairs) + b"}"
    content = bytearray(chance.choice(WHOLE))
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(content) + 1)
        content[at : at + chance.randrange(3)] = chance.choice(PIECES)
    return bytes(content)


def expected(content: bytes) -> Choice | None:
    """Say what a content means, by another reader; None for what must be refused."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("a key twice")
        return dict(pairs)

    def refuse(name: str) -> object:
        raise ValueError(name)

    try:
        text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
        data = json.loads(text, object_pairs_hook=once, parse_constant=refuse)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or depth(data) > 32 or data.get("evidence") is True:
        return None
    if str(data.get("schema", "")).startswith("interlock.route-evidence/"):
        return None
    found = [(name, data[name]) for name in FIELDS if name in data]
    if not found or not all(isinstance(value, str) and value.strip() for _, value in found):
        return None
    values = {value.strip() for _, value in found}
    return Choice(found[0][0], values.pop()) if len(values) == 1 else None


def depth(value: object) -> int:
    inner = list(value.values()) if isinstance(value, dict) else value
    return 1 + max(map(depth, inner), default=0) if isinstance(inner, list) else 0


def judge(content: bytes) -> str:
    """Read one input; give `taken`, or the code of the refusal."""
    found: Choice | None = None
    code = "taken"
    try:
        found = read_choice(content)
    except RouteFileError as error:
        code = error.code
    assert found == expected(content), (content, found, code)
    return code


def fuzz(count: int, seed: int) -> Counter[str]:
    """Feed so many inputs, and count what became of them."""
    chance = random.Random(seed)  # noqa: S311 (the same in every run)
    return Counter(judge(made(chance)) for _ in range(count))


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    for name, number in fuzz(given.count, given.seed).most_common():
        sys.stdout.write(f"{number:9,}  {name}\n")
