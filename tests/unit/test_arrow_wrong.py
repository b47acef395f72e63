"""Arrays whose numbers no array can have: each is refused, and nothing is read for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from capsules import Array, Handing, Schema, array, ints, schema

from interlock import Branch, ConfigError

ROUTE = Branch(
    [
        {"name": "big", "when": [{"path": "n", "op": "greaterThan", "expected": 1}]},
        {"name": "text", "when": [{"path": "n", "op": "contains", "expected": "b"}]},
    ]
)
INT = b"l"
VIEW = ints(20, 0, 0, 0, width=32)


def rows(kind: Schema, column: Array, length: int = 3, **more: Any) -> Handing:
    return Handing(schema(b"+s", [kind]), array(length, [None], [column], **more))


def numbers(length: int = 3, **more: Any) -> Array:
    return array(length, [None, ints(1, 2, 3)], **more)


def texts(kind: bytes, *offsets: int) -> Handing:
    width = 32 if kind == b"u" else 64
    return rows(schema(kind), array(3, [None, ints(*offsets, width=width), b"abc"]))


def views(*more: bytes | None, **fields: Any) -> Handing:
    return rows(schema(b"vu"), array(3, [None, VIEW * 3, *more], **fields))


def keyed(values: Array, kind: bytes = b"u") -> Handing:
    column = array(3, [None, ints(0, 1, 2**40)], dictionary=values)
    return rows(schema(INT, dictionary=schema(kind)), column)


def nested(kind: bytes, levels: int) -> Handing:
    """The array of so deep a type need not be there: it is not looked at."""
    of = schema(INT)
    for _ in range(levels):
        of = schema(INT, dictionary=of) if kind == INT else schema(kind, [of])
    return rows(of, numbers())


def doubled() -> Handing:
    of = schema(INT)
    for _ in range(60):
        of = schema(b"+s", [of, of])
    return rows(of, numbers())


LENGTH = "length or offset cannot be"
SENSE = "makes no sense"
WRONG: dict[str, tuple[Callable[[], Handing], str]] = {
    "rows below none": (lambda: rows(schema(INT), numbers(), -1), LENGTH),
    "rows and cells below none": (lambda: rows(schema(INT), numbers(-1), -1), LENGTH),
    "no columns, rows below none": (lambda: Handing(schema(b"+s"), array(-5, [None])), LENGTH),
    "cells below none": (lambda: rows(schema(INT), numbers(-3)), LENGTH),
    "more than there can be": (lambda: rows(schema(INT), numbers(2**61 + 3)), LENGTH),
    "offset below none": (lambda: rows(schema(INT), numbers(offset=-1)), LENGTH),
    "offset of rows below none": (lambda: rows(schema(INT), numbers(), offset=-1), LENGTH),
    "offset beyond the cells": (lambda: rows(schema(INT), numbers(), offset=5), LENGTH),
    "offset without end": (lambda: rows(schema(INT), numbers(offset=2**63 - 1)), LENGTH),
    "fewer cells than rows": (lambda: rows(schema(INT), numbers(2)), LENGTH),
    "no cells": (lambda: rows(schema(INT), array(0, [None, None])), LENGTH),
    "fewer bits than rows": (lambda: rows(schema(b"b"), array(3, [None, b"\3"]), 100), LENGTH),
    "no buffers": (lambda: rows(schema(INT), array(3, [])), "too few buffers"),
    "one buffer": (lambda: rows(schema(INT), array(3, [None])), "too few buffers"),
    "buffers below none": (lambda: rows(schema(INT), numbers(n_buffers=-1)), "too few buffers"),
    "buffer of no address": (lambda: rows(schema(INT), array(3, [None, None])), "is null"),
    "children below none": (lambda: rows(schema(INT), numbers(), n_children=-1), SENSE),
    "types below none": (
        lambda: Handing(schema(b"+s", [schema(INT)], n_children=-1), array(3, [None])),
        "more than",
    ),
    "released within": (lambda: rows(schema(INT), numbers(release=None)), "released"),
    "text that ends below none": (lambda: texts(b"u", 0, 1, 2**31 - 1, -1), "negative length"),
    "long text that ends below none": (lambda: texts(b"U", 0, 1, 2**62, -1), "negative length"),
    "views without lengths": (lambda: views(b"a" * 30, None), "too few buffers"),
    "views without buffers": (views, "too few buffers"),
    "views, buffers below none": (lambda: views(ints(0), n_buffers=-1), "too few buffers"),
    "views, length below none": (lambda: views(b"a" * 30, ints(-1)), "negative length"),
    "values below none": (lambda: keyed(array(-1, [None, ints(0, 0), b""])), LENGTH),
    "lists without end": (lambda: nested(b"+l", 10_000), "nested deeper than 200"),
    "structs without end": (lambda: nested(b"+s", 10_000), "nested deeper than 200"),
    "values of values without end": (lambda: nested(INT, 10_000), "nested deeper than 200"),
    "columns without end": (doubled, "more than"),
}


@pytest.mark.parametrize("name", WRONG)
def test_refused(name: str) -> None:
    make, message = WRONG[name]
    with pytest.raises(ConfigError, match=message):
        ROUTE.decide_many(make())


def test_what_is_right_is_taken() -> None:
    for records in (rows(schema(INT), numbers()), rows(schema(INT), numbers(2, offset=1), 2)):
        outcomes = [one.outcome for one in ROUTE.decide_many(records)]
        assert outcomes == ["(no match)", "big", "big"][-len(outcomes) :]
    outcomes = [one.outcome for one in ROUTE.decide_many(texts(b"u", 0, 1, 2, 3))]
    assert outcomes == ["(no match)", "text", "(no match)"]


def test_a_place_outside_is_refused_where_a_check_looks() -> None:
    far = (texts(b"u", 0, 2, 1, 3), texts(b"u", 0, -2, 1, 3), texts(b"u", 0, 2**30, 1, 3))
    for records in (*far, keyed(array(1, [None, ints(0, 1, width=32), b"b"]))):
        with pytest.raises(ConfigError, match="records: the array is shorter than it says"):
            ROUTE.decide_many(records)


def test_more_values_than_rows_are_not_all_noted() -> None:
    """Nulls of no type have no memory, however many there are."""
    assert ROUTE.decide_many(keyed(array(2**50, []), b"n")).counts() == {"(no match)": 3}
