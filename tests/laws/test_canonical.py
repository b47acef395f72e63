"""One text for equal values (RFC 8785), paths that can be written, JSON text that is read."""

import hashlib
import json
import math
import struct
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from laws.json_texts import damaged_texts, json_texts
from laws.strategies import keys, numbers, paths, quoted, texts, values

import oracle
from interlock import ConfigError, Json, PathInvalid, canonical, digest, resolve

VECTORS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}
"""RFC 8785, appendix B: the bits of a double and its text."""

SORTED = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\xf6": 7}
SORTED_TEXT = '{"\\r":2,"1":4,"\x80":6,"\xf6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}'


def _canonical(value: object) -> str | None:
    try:
        return canonical(value)
    except ConfigError:
        return None


def _reference(value: object) -> str | None:
    try:
        return oracle.canonical(value)
    except ValueError:
        return None


@pytest.mark.parametrize(("bits", "text"), VECTORS.items())
def test_the_number_vectors_of_the_rfc(bits: str, text: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert text == canonical(number)
    assert text == canonical(Decimal(text))
    assert text == canonical(Json(json.dumps(number)))


@pytest.mark.parametrize("bits", ["7fffffffffffffff", "7ff0000000000000", "fff0000000000000"])
def test_what_is_not_finite_has_no_form(bits: str) -> None:
    with pytest.raises(ConfigError, match="value"):
        canonical(struct.unpack(">d", bytes.fromhex(bits)))


def test_the_sorting_example_of_the_rfc() -> None:
    assert SORTED_TEXT == canonical(SORTED)


@given(values())
def test_as_the_reference_writes_it(value: object) -> None:
    assert _reference(value) == _canonical(value)


@given(values())
def test_reading_it_and_writing_it_again_changes_nothing(value: object) -> None:
    text = _canonical(value)
    if text is not None:
        assert text == canonical(json.loads(text, parse_float=Decimal))


@given(numbers(), numbers())
def test_numbers_are_equal_where_their_texts_are(left: object, right: object) -> None:
    assert oracle.equal(left, right) == (canonical(left) == canonical(right))


@given(values(), values())
def test_values_are_equal_where_their_texts_are(left: object, right: object) -> None:
    texts_ = _canonical(left), _canonical(right)
    if None not in texts_:
        assert oracle.equal(left, right) == (texts_[0] == texts_[1])


def _respelled(value: Any) -> Any:
    """An equal value with other types of numbers and arrays, and keys in another order."""
    if isinstance(value, dict):
        return {key: _respelled(member) for key, member in reversed(value.items())}
    if isinstance(value, list | tuple):
        return tuple(map(_respelled, value))
    if oracle.is_finite_number(value):
        return oracle.exact(value)
    return value


@given(values())
def test_equal_values_have_one_text(value: object) -> None:
    assert _canonical(value) == _canonical(_respelled(value))


@given(values(), st.integers(1, 64))
def test_a_digest_is_the_sha_256_of_the_text(value: object, length: int) -> None:
    text = _canonical(value)
    if text is not None:
        expected = hashlib.sha256(text.encode("utf-8")).hexdigest()
        assert expected == digest(value)
        assert expected[:length] == digest(value, length)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        ({}, "{}"),
        ({"b": [1.0, True], "a": "\u20ac"}, '{"a":"\u20ac","b":[1,true]}'),
    ],
)
def test_digests_of_known_texts(value: object, text: str) -> None:
    assert hashlib.sha256(text.encode("utf-8")).hexdigest() == digest(value)


@pytest.mark.parametrize("length", [0, -1, 65])
def test_a_digest_has_1_to_64_digits(length: int) -> None:
    with pytest.raises(ConfigError, match="length"):
        digest(1, length)


@given(st.lists(st.one_of(keys(), texts()).map(oracle.joined), max_size=5), st.booleans())
@example(["\ud83d", "\ude00"], False)
@example(["\\", '"', "]", "'"], True)
def test_a_quoted_path_finds_any_key(names: list[str], single: bool) -> None:
    value: object = "found"
    for name in reversed(names):
        value = {name: value, name + "x": None}
    path = "".join(quoted(name, "'" if single else '"') for name in names)
    assert (True, "found", None) == resolve(value, path)
    assert (True, "found", None) == resolve(Json(json.dumps(value)), path)
    shorter = "".join(quoted(name) for name in names[:-1])
    missing = ".".join([*names[:-1], "nope"])
    assert (not names, missing) == (not names, resolve(value, shorter + '["nope"]').missing_at)


@given(st.data())
def test_paths_lead_where_the_reference_goes(data: st.DataObject) -> None:
    value = data.draw(values(), "value")
    path = data.draw(paths(value), "path")
    try:
        found, reached, missing_at = oracle.resolve(value, path)
    except oracle.PathError:
        with pytest.raises(PathInvalid):
            resolve(value, path)
        return
    resolution = resolve(value, path)
    assert (found, missing_at) == (resolution.found, resolution.missing_at)
    assert reached is resolution.value


def _exactly(value: object) -> str:
    """A text that tells int from float and keeps the order of keys."""
    return json.dumps(value)


@given(json_texts())
@example('{"a":1,"b":2,"a":3}')
@example("[-0,-0.0,1e400,-1e-400,123456789012345678901234567890,1E5,0.10]")
def test_json_text_is_read_as_by_python(text: str) -> None:
    expected = _exactly(json.loads(text))
    assert expected == _exactly(Json(text).to_python())
    assert expected == _exactly(Json(text.encode("utf-8")).to_python())


def _refuse(constant: str) -> float:
    raise ValueError(constant)


@given(damaged_texts())
@example("NaN")
@example("[1,]")
@example("\ufeff1")
@example('"\\ud83d"')
@example("01")
@example('"\t"')
@example("1\x0b")
def test_text_is_refused_where_python_refuses_it(text: str) -> None:
    try:
        expected: object = _exactly(json.loads(text, parse_constant=_refuse))
    except ValueError:
        expected = "refused"
    try:
        actual: object = _exactly(Json(text).to_python())
    except ConfigError:
        actual = "refused"
    assert expected == actual


def test_a_repeated_key_is_refused_on_request() -> None:
    assert {"a": 2} == Json('{"a":1,"\\u0061":2}').to_python()
    with pytest.raises(ConfigError, match="a"):
        Json('{"a":1,"\\u0061":2}', unique_keys=True)
    assert math.inf == Json("1e999").to_python()
