"""Records known by their fields, and subclasses that claim to be something else."""

import enum
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

import pytest

from interlock import Checks, Json, Pattern, canonical, resolve


def _result(value: object, check: dict[str, object]) -> Any:
    return Checks([check]).report(value).results[0]


def _holds(value: object, op: str, expected: object = None, path: str = "") -> bool:
    check = {"op": op, "path": path, "expected": expected}
    return bool(_result(value, check).ok)


class Colour(enum.Enum):
    RED = "red"
    PAIR = ("a", 2)


class Level(enum.IntEnum):
    HIGH = 3


class Flag(enum.Flag):
    ON = 1


@dataclass
class Plain:
    a: int
    b: list[Any]


@dataclass(frozen=True, slots=True)
class Slotted:
    a: int
    b: object = None


class Pair(NamedTuple):
    a: int
    b: int


class Typed(TypedDict):
    a: int


class Field(NamedTuple):
    name: str


class Attrs:
    __attrs_attrs__ = (Field("a"), Field("unset"))

    def __init__(self) -> None:
        self.a = 1
        self.hidden = 2


class Model:
    __pydantic_fields__ = {"a": object(), "b": object()}  # noqa: RUF012  # as pydantic has it

    def __init__(self) -> None:
        self.a, self.b = 1, Slotted(2)
        self.__pydantic_extra__ = {"more": 3}

    @property
    def secret(self) -> str:
        raise AssertionError


class Text(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class Number(int):
    def __eq__(self, other: object) -> bool:
        raise AssertionError

    __hash__ = int.__hash__


class Fields(dict[str, object]):
    def __getitem__(self, key: str) -> object:
        raise AssertionError

    def __missing__(self, key: str) -> object:
        return 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Colour.RED, '"red"'),
        ({"a": Colour.PAIR}, '{"a":["a",2]}'),
        (Level.HIGH, "3"),
        (Flag.ON, "1"),
        (Plain(1, [Slotted(2)]), '{"a":1,"b":[{"a":2,"b":null}]}'),
        (Pair(1, 2), "[1,2]"),
        (Typed(a=1), '{"a":1}'),
        (Attrs(), '{"a":1}'),
        (Model(), '{"a":1,"b":{"a":2,"b":null},"more":3}'),
        (Text("x"), '"x"'),
        (Number(7), "7"),
        (Fields(a=Number(1)), '{"a":1}'),
        (range(3), "[0,1,2]"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_records_are_their_own_data(value: object, text: str) -> None:
    assert text == canonical(value)
    assert _holds(value, "equals", Json(text).to_python())
    assert text == _result(value, {"op": "notExists"}).actual


@pytest.mark.parametrize("name", ["secret", "hidden", "unset", "__class__", "__init__", "zz"])
@pytest.mark.parametrize("value", [Attrs(), Model(), Fields(), Plain(1, []), Pair(1, 2)])
def test_only_own_data_is_seen(value: object, name: str) -> None:
    assert not resolve(value, name).found


def test_text_that_claims_to_equal_everything_does_not() -> None:
    assert not _holds(Text("x"), "equals", "y")
    assert not _holds({"a": Text("x")}, "oneOf", ["y"], path="a")


class Claiming(str):
    """Claims another length and another encoding."""

    __slots__ = ()

    def __len__(self) -> int:
        return 4

    def encode(self, *_args: object, **_options: object) -> bytes:
        return b"zzzz"


@pytest.mark.parametrize("text", ["a\ud800", "\ud83d\ude00", "\U0001f600", "\u00e9", "zzzz", ""])
@pytest.mark.parametrize("source", ["^..$", "^a", "z", "[^]{4}", "^[^]*$"])
@pytest.mark.parametrize("flags", ["", "u"])
def test_patterns_read_what_a_text_is(source: str, flags: str, text: str) -> None:
    pattern, claiming = Pattern(source, flags), Claiming(text)
    assert pattern.test(text) is pattern.test(claiming)
    check: dict[str, object] = {"op": "matches", "expected": source, "flags": flags}
    assert pattern.test(text) is bool(_result(claiming, check).ok)


def test_a_field_that_is_computed_is_not_run() -> None:
    class Computed:
        __pydantic_fields__ = {"a": object()}  # noqa: RUF012  # as pydantic has it

        @property
        def a(self) -> int:
            raise KeyboardInterrupt

    assert "fail" == Checks([{"op": "exists", "path": "a"}]).verdict(Computed())
