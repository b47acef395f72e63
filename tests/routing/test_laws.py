"""What holds for any router and any sources."""

from __future__ import annotations

import json
import pickle
from contextlib import suppress
from dataclasses import FrozenInstanceError, replace
from dataclasses import fields as fields_of
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.errors import ConfigError, RouteFileError
from interlock.routing import (
    Choice,
    Plan,
    Route,
    RouteError,
    Router,
    Selection,
    Source,
    check_plan,
    match,
    read_choice,
    resolve,
)
from interlock.routing.shapes import SourceKind

from .fuzz_read_choice import expected, fuzz
from .plans import data

NAMES = ["a", "b", "c", "end", "A"]
KINDS: tuple[SourceKind, ...] = ("caller", "preseed", "route_source_file", "context_dependency")

routes = st.lists(
    st.builds(Route, st.sampled_from(NAMES), st.sampled_from(NAMES)),
    min_size=1,
    max_size=4,
    unique_by=lambda route: route.route_id,
)
routers = st.builds(
    Router,
    st.just("r"),
    routes.map(tuple),
    default_route_id=st.none() | st.sampled_from(NAMES),
)
contents = st.one_of(
    st.none(),
    st.sampled_from(NAMES).map(lambda name: json.dumps({"select_route": name}).encode()),
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).map(
        lambda pair: json.dumps({"route_id": pair[0], "select_route": pair[1]}).encode()
    ),
    st.binary(max_size=20),
)
sources = st.lists(contents, max_size=5).map(
    lambda found: [Source(KINDS[n % 4], f"p{n}", one) for n, one in enumerate(found)]
)


def named(of: Router, value: str) -> str | None:
    ids = [route.route_id for route in of.routes]
    leading = [route.route_id for route in of.routes if route.next_step_id == value]
    return value if value in ids else leading[0] if len(leading) == 1 else None


def reference(of: Router, given_: list[Source]) -> str | None:
    """Say which route is taken, in five lines; None for an error."""
    present = [one.content for one in given_ if one.content is not None]
    if not present:
        return (
            of.default_route_id if of.default_route_id in [r.route_id for r in of.routes] else None
        )
    found = fields(present[0])
    routes_named = {named(of, value) for value in found}
    return routes_named.pop() if len(routes_named) == 1 else None


def fields(content: bytes) -> list[str]:
    """Read all the values of a choice; nothing for what is none."""
    one = expected(content)
    if one is not None:
        return [one.value]
    try:
        read = json.loads(content)
    except ValueError:
        return []
    return list(read.values()) if isinstance(read, dict) and "select_route" in read else []


@given(routers, sources, st.integers(1, 9))
def test_it_is_the_reference(of: Router, found: list[Source], visit: int) -> None:
    wanted = reference(of, found)
    if wanted is None:
        with pytest.raises(RouteError) as caught:
            resolve(of, found, visit=visit)
        assert "r" == caught.value.router_id
        return
    taken = resolve(of, found, visit=visit)
    (route,) = (one for one in of.routes if one.route_id == wanted)

    assert (wanted, route.next_step_id, visit) == (taken.route_id, taken.next_step_id, taken.visit)
    looked = [one.path for one in found]
    absent = [one.path for one in found if one.content is None]
    assert list(taken.absent) == absent[: len(taken.absent)] == looked[: len(taken.absent)]


@given(routers, sources, sources)
def test_what_stands_behind_the_first_source_changes_nothing(
    of: Router, found: list[Source], more: list[Source]
) -> None:
    decided = [Source("caller", "first", b'{"select_route": "a"}'), *more]

    assert outcome(of, decided) == outcome(of, decided[:1])
    assert outcome(of, found) == outcome(of, found)


def outcome(of: Router, found: list[Source]) -> object:
    try:
        return resolve(of, found)
    except RouteError as error:
        return error.code, error.message, error.source_path


@given(routers, st.text(max_size=5))
def test_match_gives_a_declared_route_or_an_error(of: Router, value: str) -> None:
    wanted = named(of, value)
    if wanted is not None:
        assert wanted == match(of, value).route_id
        return
    with pytest.raises(RouteError) as caught:
        match(of, value)
    assert caught.value.code in ("route/unknown", "route/ambiguous")
    assert of.available == caught.value.available


@given(st.binary(max_size=200))
def test_any_bytes_are_a_choice_or_a_refusal(content: bytes) -> None:
    found: Choice | None = None
    with suppress(RouteFileError):
        found = read_choice(content)

    assert expected(content) == found


def test_random_bytes_in_number() -> None:
    counts = fuzz(20_000, seed=7)

    assert 20_000 == sum(counts.values())
    # All kinds were met, so that the number means something.
    codes = (
        "unreadable",
        "not-json",
        "not-object",
        "duplicate-key",
        "field-missing",
        "not-string",
        "blank",
        "conflicting-fields",
        "evidence-as-source",
    )
    assert {"taken", *(f"route/{code}" for code in codes)} == set(counts)


@given(st.integers(0, 200), st.integers(1, 40))
def test_the_limits_are_where_they_say(size: int, levels: int) -> None:
    content = b'{"select_route": "a"}' + b" " * size
    nested = b'{"select_route": "a", "x": ' + b"[" * levels + b"]" * levels + b"}"
    is_small = _is_taken(content, limit=100)

    assert is_small == (len(content) <= 100)
    assert _is_taken(nested) == (levels <= 31)


def _is_taken(content: bytes, **options: int) -> bool:
    with suppress(RouteFileError):
        return bool(read_choice(content, **options))
    with pytest.raises(RouteFileError, match="route/unreadable"):
        read_choice(content, **options)
    return False


@pytest.mark.parametrize("content", ["{}", None, bytearray(b"{}"), memoryview(b"{}"), {}])
def test_a_choice_is_read_from_bytes_alone(content: object) -> None:
    with pytest.raises(ConfigError, match="content"):
        read_choice(content)  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [0, -1, None, 1.5, "9", True])
def test_a_limit_is_a_number(limit: object) -> None:
    with pytest.raises(ConfigError, match="limit"):
        read_choice(b"{}", limit=limit)  # type: ignore[arg-type]


def test_values_survive_pickling_and_data() -> None:
    chosen = Choice("select_route", "a")
    taken = Selection("r", "a", "x", "caller", "p", "select_route", "a", 1, ("q",), "00")
    error = RouteError(
        "route/unknown", "is none", router_id="r", value='"x"', available=("a -> b",)
    )
    of = Plan.load(data(default_route_id="search"))

    for value in (chosen, taken):
        assert value == again(value) == type(value).from_dict(value.to_dict())
    for problem in check_plan(replace(of, steps=of.steps[1:])):
        assert problem == type(problem).from_dict(problem.to_dict())
    assert (str(error), vars(error)) == (str(again(error)), vars(again(error)))
    file_error = again(RouteFileError("route/blank", "is blank"))
    assert ("route/blank", RouteFileError) == (file_error.code, type(file_error))
    assert of == again(of)


def test_values_are_frozen() -> None:
    of = Plan.load(data(default_route_id="search"))
    (pick,) = of.routers
    values: list[Any] = [
        of,
        of.steps[0],
        pick,
        pick.routes[0],
        Source("preseed", "p", b"{}"),
        Choice("select_route", "a"),
        Selection("r", "a", "x", "caller", "p", "select_route", "a", 1, (), ""),
        *check_plan(replace(of, steps=of.steps[1:])),
    ]
    for value in values:
        for field in fields_of(value):
            with pytest.raises(FrozenInstanceError):
                setattr(value, field.name, None)
    given_ = [Route("a", "x"), Route("b", "end")]
    made = Router("r", given_)
    given_.clear()
    assert 2 == len(made.routes)


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 (what was pickled here)


texts = st.text(max_size=5)
plans = st.fixed_dictionaries(
    {
        "steps": st.lists(
            st.fixed_dictionaries(
                {"id": st.sampled_from(NAMES) | texts},
                optional={
                    "kind": st.sampled_from(["routing", "branch", "agent"]) | texts,
                    "title": texts,
                    "description": texts,
                    "next_step_id": st.sampled_from(NAMES),
                    "context_output": texts | st.lists(texts, max_size=2),
                    "context_dependencies": st.lists(
                        st.sampled_from(["route_selection.json", "a/route_selection.json", "../x"])
                    ),
                    "default_route_id": st.sampled_from(NAMES),
                    "value_from": texts,
                    "route_source_file": texts,
                    "other": st.integers(),
                    "routes": st.lists(
                        st.fixed_dictionaries(
                            {"route_id": st.sampled_from(NAMES), "next_step_id": texts},
                            optional={"when": st.lists(st.just({"op": "exists"})), "more": texts},
                        ),
                        max_size=3,
                    ),
                },
            ),
            max_size=4,
        )
    }
)


@given(plans)
def test_any_plan_is_read_written_and_checked(given_: dict[str, object]) -> None:
    of = Plan.load(given_)
    found = check_plan(of)

    assert of.to_dict() == Plan.load(of.to_dict()).to_dict()
    assert found == check_plan(of)
    assert all(one.message and one.code.startswith("route/") for one in found)
    assert "flowchart TD" in _mermaid(of)


def _mermaid(of: Plan) -> str:
    from interlock.routing import to_mermaid

    return to_mermaid(of)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["steps", "id", "routes", "kind", "when"]), inner, max_size=4
        )
    ),
)


@given(json_values | json_values.map(lambda inner: {"steps": [inner]}))
def test_any_data_is_a_plan_or_a_refusal(given_: object) -> None:
    with suppress(ConfigError):
        check_plan(Plan.load(json.dumps(given_).encode()))
