"""Objects that raise, change or pretend while they are read, and what is no value."""

import datetime as dt
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from interlock import Branch, Checks, ConfigError, canonical, resolve


def _result(value: object, check: dict[str, object]) -> Any:
    return Checks([check]).report(value).results[0]


def _holds(value: object, op: str, expected: object = None, path: str = "") -> bool:
    check = {"op": op, "path": path, "expected": expected}
    return bool(_result(value, check).ok)


class Raising(Mapping[str, object]):
    """A mapping of one key, with one method that raises."""

    def __init__(self, where: str, error: BaseException) -> None:
        self.where, self.error = where, error

    def _maybe(self, where: str) -> None:
        if where == self.where:
            raise self.error

    def __getitem__(self, key: str) -> object:
        self._maybe("getitem")
        return {"a": 1}[key]

    def __len__(self) -> int:
        self._maybe("len")
        return 1

    def __iter__(self) -> Iterator[str]:
        self._maybe("iter")
        return iter("a")


READS = [
    ("getitem", {"op": "exists", "path": "a"}),
    ("getitem", {"op": "equals", "expected": {"a": 1}}),
    ("getitem", {"op": "notContains", "expected": "a"}),
    ("len", {"op": "hasLength", "expected": 1}),
    ("len", {"op": "isEmpty"}),
    ("len", {"op": "notEquals", "expected": {"a": 1}}),
]


@pytest.mark.parametrize(("where", "check"), READS)
def test_what_raises_is_undetermined_and_says_so(where: str, check: dict[str, object]) -> None:
    hostile = Raising(where, RuntimeError("boom"))
    result = _result(hostile, check)
    assert (False, True) == (result.ok, result.undetermined)
    assert "RuntimeError: boom" in result.reason
    assert "undetermined" == Checks([check]).verdict(hostile)
    whole = Checks([check, {"op": "isType", "expected": "object"}]).report(hostile)
    assert [True, False] == [result.undetermined for result in whole.results]
    arms = [{"name": "a", "when": [check]}, {"name": "b", "when": [{"op": "exists"}]}]
    assert "boom" in str(Branch(arms).decide(hostile).undetermined)


@pytest.mark.parametrize(("where", "check"), READS)
@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()])
def test_an_exit_is_never_turned_into_an_answer(
    where: str, check: dict[str, object], error: BaseException
) -> None:
    checks = Checks([check])
    for ask in (checks.report, checks.verdict, checks.holds):
        with pytest.raises(type(error)):
            ask(Raising(where, error))


def test_an_error_that_cannot_be_shown_is_still_named() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    result = _result(Raising("getitem", Mute()), {"op": "exists", "path": "a"})
    assert result.undetermined
    assert "Mute" in result.reason


@pytest.mark.parametrize("where", ["getitem", "len", "iter"])
def test_what_raises_has_no_canonical_form(where: str) -> None:
    with pytest.raises(ConfigError, match="boom"):
        canonical(Raising(where, RuntimeError("boom")))
    with pytest.raises(KeyboardInterrupt):
        canonical(Raising(where, KeyboardInterrupt()))


class Shrinking(Sequence[Any]):
    """A sequence that empties itself when an item is read."""

    def __init__(self) -> None:
        self.items = [1, 2, 3]

    def __getitem__(self, index: Any) -> Any:
        item = self.items[index]
        self.items.clear()
        return item

    def __len__(self) -> int:
        return len(self.items)


class Meddler:
    """A key that has the hash of `a`, and empties its dict when it is compared."""

    def __init__(self, owner: dict[Any, Any]) -> None:
        self.owner = owner

    def __hash__(self) -> int:
        return hash("a")

    def __eq__(self, other: object) -> bool:
        self.owner.clear()
        return False


def test_a_sequence_that_shrinks_while_it_is_read() -> None:
    assert not _holds(Shrinking(), "contains", 3)
    assert not _holds(Shrinking(), "equals", [1, 2, 3])
    assert _holds(Shrinking(), "contains", 1)
    assert 2 == resolve(Shrinking(), "[1]").value


def test_a_dict_that_empties_itself_while_it_is_read() -> None:
    for op, expected in (("equals", {"a": 1}), ("contains", "a"), ("exists", None)):
        owner: dict[Any, Any] = {}
        owner[Meddler(owner)] = 1
        owner["b"] = 2
        assert Checks([{"op": op, "expected": expected}, {"op": "exists", "path": "a.b"}]).verdict(
            owner
        ) in ("fail", "undetermined")


def test_a_list_that_a_member_empties_while_it_is_read() -> None:
    items: list[Any] = []

    class Clearing(Raising):
        def __len__(self) -> int:
            items.clear()
            return 1

    items += [Clearing("", RuntimeError()), {"a": 2}]
    assert not _holds(items, "contains", {"a": 2})
    assert [] == items


OPAQUE = [
    *(dt.datetime(2024, 1, 1, tzinfo=dt.UTC), {1, 2}, frozenset(), io.StringIO("x")),
    *(b"ab", bytearray(b"ab"), memoryview(b"ab"), object(), len, int, 1j, iter([]), ...),
]
EVERY_OP = ("exists", "notExists", "isEmpty", "isNotEmpty", "equals", "notEquals", "isType")


@pytest.mark.parametrize("value", OPAQUE, ids=lambda value: type(value).__name__)
def test_what_is_no_value_fails_every_op_and_is_named(value: object) -> None:
    for op in EVERY_OP:
        result = _result({"a": [value]}, {"op": op, "path": "a[0]", "expected": "object"})
        assert (op, False, False) == (op, result.ok, result.undetermined)
        assert type(value).__name__ in result.reason
    assert not _holds([value], "equals", [1])
    with pytest.raises(ConfigError, match=type(value).__name__):
        canonical({"a": value})
    with pytest.raises(ConfigError, match=type(value).__name__):
        Checks([{"op": "equals", "expected": value}])


@pytest.mark.parametrize("value", OPAQUE, ids=lambda value: type(value).__name__)
def test_a_path_through_what_is_no_value_fails_every_op(value: object) -> None:
    for op in EVERY_OP:
        result = _result({"a": value}, {"op": op, "path": "a.real", "expected": "object"})
        assert (op, False, False) == (op, result.ok, result.undetermined)


@pytest.mark.parametrize("more", ["x", "x.y"])
@pytest.mark.parametrize("holder", ["", "a", "a.b", "a.b.c"])
def test_the_reason_names_the_place_of_what_is_no_value(holder: str, more: str) -> None:
    record: object = object()
    for key in filter(None, reversed(holder.split("."))):
        record = {key: record}
    path = f"{holder}.{more}" if holder else more
    for op in EVERY_OP:
        reason = _result(record, {"op": op, "path": path, "expected": "object"}).reason
        shown = holder or "value"
        assert f"{path}: {shown} holds object, which is not a JSON value" == reason


def test_what_cannot_be_listed_is_not_shown_as_empty() -> None:
    hostile = Raising("iter", RuntimeError("boom"))
    assert "{}" != _result(hostile, {"op": "isEmpty"}).actual
