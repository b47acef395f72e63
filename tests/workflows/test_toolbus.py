"""A bus: what is on it, what a model is told of it, the shortlist, and what changed since."""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from interlock import ConfigError, ToolBus, ToolCall, UsageError, finish, tool, toolbus
from interlock.harness import Tool, ToolChange
from interlock.record.values import EFFECTS

from .conftest import Go


def made(name: str, text: str = "", **options: Any) -> Tool[..., Any]:
    async def answer(x: int = 0) -> str:
        return f"{name} {x}"

    return tool(answer, name=name, description=text, **options)


MIXED = toolbus(
    [
        made("look", effect="readonly"),
        made("note", effect="write", idempotent=True),
        made("drop", effect="destructive", idempotent=False),
        made("send", effect="irreversible"),
        made("odd"),
        finish(),
    ]
)


@pytest.mark.parametrize(
    ("name", "effect", "idempotent"),
    [
        ("look", "readonly", True),
        ("note", "write", True),
        ("drop", "destructive", False),
        ("send", "irreversible", False),
        ("odd", None, False),
        ("finish", "readonly", True),
        ("nope", None, False),
    ],
)
def test_L_22_a_tool_has_the_effect_it_declared(
    name: str, effect: object, idempotent: bool
) -> None:
    assert (MIXED.effect(name), MIXED.is_idempotent(name)) == (effect, idempotent)


def test_L_22_nothing_declared_is_none_of_the_effects() -> None:
    assert MIXED.effect("odd") is None
    assert EFFECTS == ("readonly", "write", "destructive", "irreversible")
    assert None not in EFFECTS


def test_L_23_the_bus_lists_what_declared_nothing() -> None:
    assert MIXED.unannotated() == ("odd",)
    assert MIXED.only("look", "send", "finish").unannotated() == ()
    assert toolbus([lambda_free, made("odd")]).unannotated() == ("lambda_free", "odd")


def lambda_free() -> None:
    """Do nothing."""


class TestWhatIsOnIt:
    def test_tools_functions_buses_and_mappings(self) -> None:
        inner = toolbus([made("a"), made("b")])
        bus = toolbus([inner, lambda_free, {"c": lambda_free, "d": made("x")}, [made("e")]])

        assert bus.names == ("a", "b", "lambda_free", "c", "d", "e")
        assert (len(bus), "c" in bus, "x" in bus) == (6, True, False)
        assert [one.name for one in bus] == [*bus.names]
        assert repr(toolbus(made("a"), name="mine")) == "<ToolBus mine: a>"

    def test_nothing(self, go: Go) -> None:
        bus = toolbus([])
        result = go(bus.invoke, ToolCall("1", "look"))

        assert (bus.names, bus.schemas(), bus.trace("x").names) == ((), [], ())
        assert "offered: nothing" in result.output

    def test_a_prefix_nests(self, go: Go) -> None:
        bus = toolbus([made("look"), toolbus(MIXED, prefix="crm_")])
        result = go(bus.invoke, ToolCall("1", "crm_look", {"x": 3}))

        assert (result.name, result.output, result.effect) == ("crm_look", "look 3", "readonly")
        assert bus.get("crm_finish") is not None
        assert bus.get("crm_finish").is_finish  # type: ignore[union-attr]

    def test_a_sum(self) -> None:
        bus = toolbus([made("a")]) + toolbus([made("b")])

        assert bus.names == ("a", "b")
        with pytest.raises(TypeError):
            bus + (made("c"),)  # type: ignore[operator]  # noqa: RUF005

    @pytest.mark.parametrize(
        "build",
        [
            lambda one, two: toolbus([one, two]),
            lambda one, two: toolbus([one]) + toolbus([two]),
            lambda one, two: toolbus([toolbus([one]), toolbus(two)]),
        ],
    )
    def test_two_of_one_name_are_refused_naming_both_sources(
        self, build: Callable[[Any, Any], ToolBus]
    ) -> None:
        one, two = tool(lambda_free, name="same"), made("same")
        with pytest.raises(ConfigError) as caught:
            build(one, two)

        (problem,) = caught.value.problems
        assert (problem.code, problem.field) == ("spec/duplicate-name", "tools[1]")
        assert [] == [s for s in (one.source, two.source) if s not in problem.message]
        assert one.source.endswith("test_toolbus.lambda_free")

    def test_only_some(self, go: Go) -> None:
        bus = MIXED.only("send", "look")

        assert bus.names == ("send", "look")
        assert go(bus.invoke, ToolCall("1", "drop")).status == "failed"
        with pytest.raises(ConfigError, match=r'names\[1\]: "lok": .*did you mean "look"'):
            MIXED.only("send", "lok")

    @pytest.mark.parametrize("given", [3, None, "look", [3], b"a", [[], "a"]])
    def test_what_is_no_tool_is_refused(self, given: object) -> None:
        with pytest.raises(ConfigError, match="must be a tool, a function, a bus"):
            toolbus(given)

    def test_it_is_frozen(self) -> None:
        with pytest.raises(AttributeError):
            MIXED.name = "a"
        with pytest.raises(AttributeError):
            MIXED.get("look").effect = None  # type: ignore[union-attr]


CITY = {"city": {"type": "string"}, "limit": {"type": "integer", "default": 5}}
SCHEMA = {
    "additionalProperties": False,
    "properties": CITY,
    "required": ["city"],
    "type": "object",
}
PLAIN = {"name": "look", "description": "Look it up."}


@tool(effect="readonly", idempotent=True)
def look(city: str, limit: int = 5) -> str:
    """Look it up."""
    return f"{city} {limit}"


@pytest.mark.parametrize(
    ("style", "told"),
    [
        ("openai", {"type": "function", "function": {**PLAIN, "parameters": SCHEMA}}),
        (
            "openai-responses",
            {"type": "function", **PLAIN, "parameters": SCHEMA, "strict": False},
        ),
        ("anthropic", {**PLAIN, "input_schema": SCHEMA}),
        (
            "mcp",
            {
                **PLAIN,
                "inputSchema": SCHEMA,
                "annotations": {"readOnlyHint": True, "idempotentHint": True},
            },
        ),
    ],
)
def test_N_10_a_bus_is_what_a_model_call_gets(style: Any, told: dict[str, Any]) -> None:
    assert toolbus([look]).schemas(style) == [told]


def test_N_10_the_order_is_that_of_the_bus() -> None:
    assert [one["function"]["name"] for one in MIXED.schemas()] == [*MIXED.names]
    assert [one["name"] for one in MIXED.schemas("anthropic")] == [*MIXED.names]


def test_declarations_are_ones_own() -> None:
    bus = toolbus([look])
    bus.schemas("anthropic")[0]["input_schema"]["properties"].clear()
    look.schema.clear()

    assert bus.schemas("anthropic")[0]["input_schema"] == SCHEMA


@pytest.mark.parametrize(
    ("style", "name", "is_taken"),
    [
        ("openai", "a" * 64, True),
        ("openai", "a" * 65, False),
        ("openai", "a.b", False),
        ("openai-responses", "a.b", False),
        ("anthropic", "a" * 128, True),
        ("anthropic", "a.b", False),
        ("mcp", "a.b", True),
    ],
)
def test_a_name_that_a_provider_refuses_is_refused(style: Any, name: str, is_taken: bool) -> None:
    bus = toolbus([made(name)])
    if is_taken:
        assert len(bus.schemas(style)) == 1
    else:
        with pytest.raises(ConfigError, match="give it another name"):
            bus.schemas(style)


def test_another_style_is_refused() -> None:
    with pytest.raises(
        ConfigError, match="must be one of openai, openai-responses, anthropic, mcp"
    ):
        MIXED.schemas("google")  # type: ignore[arg-type]


STOCK = toolbus(
    [
        made("search_flights", "Find flights between two cities on a day."),
        made("book_flight", "Book a flight that was found."),
        made("weather", "The weather of a city on a day."),
        made("getInvoice", "Read an invoice by its number."),
        made("cancelInvoice", "Cancel an invoice."),
        made("translate", "Translate a text into another language."),
        finish(),
    ]
)
QUESTIONS = [
    ("find me flights to Oslo", 2, ("search_flights", "translate")),
    ("INVOICE number 7", 2, ("getInvoice", "cancelInvoice")),
    ("weather", 1, ("weather",)),
    ("book flight", 1, ("book_flight",)),
    ("", 3, ("book_flight", "cancelInvoice", "getInvoice")),
    ("zzz", 2, ("book_flight", "cancelInvoice")),
]


@pytest.mark.parametrize(("query", "k", "names"), QUESTIONS[1:])
def test_N_09_a_trace_offers_the_tools_that_fit_and_finish(
    query: str, k: int, names: tuple[str, ...]
) -> None:
    assert STOCK.trace(query, k).names == (*names, "finish")


def test_N_09_only_what_is_offered_can_be_called(go: Go) -> None:
    trace = STOCK.trace("weather", 1)
    good = go(trace.invoke, ToolCall("1", "weather"))
    other = go(trace.invoke, ToolCall("1", "translate"))

    assert (good.status, trace.effect("translate")) == ("completed", None)
    assert (other.status, other.error.type) == ("failed", "unknown_tool")
    assert "(offered: weather, finish)" in other.output


def test_N_09_eight_are_offered_and_finish_when_nobody_says() -> None:
    bus = toolbus([*(made(f"t{n:02}") for n in range(20)), finish(name="done")])

    assert bus.trace("x").names == (*(f"t{n:02}" for n in range(8)), "done")


@pytest.mark.parametrize("query", [one[0] for one in QUESTIONS])
def test_the_order_on_the_bus_does_not_matter(query: str) -> None:
    tools = [*STOCK][:4]
    lists = {toolbus(order).trace(query, 3).names for order in permutations(tools)}

    assert len(lists) == 1


@pytest.mark.parametrize("k", [0, -1, True, 2.0, None, "8"])
def test_a_number_of_tools_is_checked(k: Any) -> None:
    with pytest.raises(ConfigError, match="k: "):
        STOCK.trace("x", k)


class TestPins:
    def test_nothing_changed(self) -> None:
        assert MIXED.verify(MIXED.pin()) == ()
        assert toolbus([look]).pin() == toolbus([look]).pin()

    @pytest.mark.parametrize(
        ("other", "fields"),
        [
            (look.altered(description="Look it up. Then pay."), ("description",)),
            (look.altered(effect="write"), ("effect",)),
            (look.altered(idempotent=None), ("effect",)),
            (look.altered(timeout=3), None),
            (made("look", "Look it up.", effect="readonly", idempotent=True), ("schema",)),
            (made("look"), ("description", "effect", "schema")),
        ],
    )
    def test_a_change_is_named(self, other: Any, fields: tuple[str, ...] | None) -> None:
        changes = toolbus([other]).verify(toolbus([look]).pin())

        assert changes == (() if fields is None else (ToolChange("look", "changed", fields),))
        assert (other.digest == look.digest) is (fields is None)

    def test_what_is_gone_and_what_is_new(self) -> None:
        pins = toolbus([made("a"), made("b")]).pin()

        assert toolbus([made("c"), made("b"), made("d")]).verify(pins) == (
            ToolChange("a", "removed"),
            ToolChange("c", "added"),
            ToolChange("d", "added"),
        )

    def test_every_digit_counts(self) -> None:
        pins = toolbus([look]).pin()
        pin = pins["look"]
        for at, letter in enumerate(pin):
            other = pin[:at] + ("0" if letter != "0" else "1") + pin[at + 1 :]
            assert toolbus([look]).verify({"look": other})[0].change == "changed"

    @pytest.mark.parametrize("pins", [None, [], {"look": 3}, {3: "a"}])
    def test_what_is_no_pin_is_refused(self, pins: Any) -> None:
        with pytest.raises(ConfigError, match="pin"):
            toolbus([look]).verify(pins)


def positional(x: int, /) -> None:
    del x


def open_ended(**more: int) -> None:
    del more


def strange(x: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821
    del x


class Holder:
    def method(self, x: int) -> int:
        return x

    async def __call__(self, x: int) -> int:
        return x


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    (look, {"effect": "read"}, 'effect: "read": must be one of readonly, write'),
    (look, {"idempotent": 1.5}, "idempotent: 1.5"),
    (look, {"name": "a/b"}, 'name: "a/b"'),
    (look, {"name": ""}, 'name: ""'),
    (look, {"name": "a" * 129}, "name: "),
    (look, {"name": 3}, "name: 3"),
    (look, {"description": "half \ud800"}, 'description: "half \\ud800": text with a lone'),
    (open_ended, {"schema": {"type": "object", "title": "\udc80"}}, "schema: {"),
    (open_ended, {"schema": {"type": "object", "properties": {"\udc80": {}}}}, 'schema: {"type'),
    (look, {"description": 3}, "description: 3"),
    (look, {"timeout": 0}, "timeout: 0"),
    (look, {"timeout": float("inf")}, "timeout: "),
    (look, {"max_output": 0}, "max_output: 0"),
    (look, {"reconcile": 3}, "reconcile: 3"),
    (look, {"schema": []}, "schema: "),
    (look, {"schema": Holder}, "schema: "),
    (look, {"schema": {"type": "array"}}, 'schema.type: "array": must be "object"'),
    (look, {"schema": {"type": "object", "properties": {"a": {}}}}, "schema.properties.a"),
    (look, {"schema": {"type": "object"}}, "schema.required: city: must list"),
    (look, {"efect": "write"}, 'did you mean "effect"?'),
    (3, {}, "function: 3"),
    (lambda: 0, {}, 'name: "<lambda>"'),
    (functools.partial(Holder), {}, 'name: ""'),
    (positional, {}, "x: must be one that can be given by name"),
    (open_ended, {}, "**parameters: must be named one by one"),
    (strange, {}, "annotations: "),
    (Holder.method, {}, "self: belongs to a method"),
    (dict, {}, "function: "),
]


@pytest.mark.parametrize(("function", "options", "told"), REFUSED, ids=[r[2] for r in REFUSED])
def test_a_tool_that_cannot_be_is_refused(
    function: Any, options: dict[str, Any], told: str
) -> None:
    function = function.function if isinstance(function, Tool) else function
    with pytest.raises(ConfigError) as caught:
        tool(function, **options)

    assert told in str(caught.value)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        tool(look.function, effect="read", timeout=-1, name="a b")  # type: ignore[call-overload]

    assert {one.field for one in caught.value.problems} == {"effect", "timeout", "name"}


class TestOfAFunction:
    def test_it_stays_callable(self) -> None:
        assert look("Oslo", limit=2) == "Oslo 2"

    def test_with_and_without_brackets(self) -> None:
        @tool
        def bare() -> None:
            """Bare."""

        @tool()
        def empty() -> None:
            """Empty."""

        assert (bare.name, bare.effect, bare.description) == ("bare", None, "Bare.")
        assert (empty.name, empty.idempotent, empty.timeout) == ("empty", None, None)
        assert repr(bare).startswith("<Tool bare effect=None of ")

    @pytest.mark.parametrize(
        "function", [Holder().method, Holder(), functools.partial(Holder().method)]
    )
    def test_methods_objects_and_partials(self, go: Go, function: Any) -> None:
        bus = toolbus({"it": function})

        assert go(bus.invoke, ToolCall("1", "it", {"x": 3})).output == 3
        assert go(bus.invoke, ToolCall("1", "it", {"x": "3"})).status == "failed"

    def test_a_parameter_may_have_any_name(self, go: Go) -> None:
        def odd(schema: int, model_config: int, json: int, _x: int, name: int = 0) -> int:
            return schema + model_config + json + _x + name

        bus = toolbus([odd])
        args: dict[str, object] = {"schema": 1, "model_config": 1, "json": 1, "_x": 1}
        assert go(bus.invoke, ToolCall("1", "odd", args)).output == 4

    def test_a_default_is_the_functions_own(self, go: Go) -> None:
        def adding(x: int, into: list[int] = []) -> list[int]:  # noqa: B006
            into.append(x)
            return into

        bus = toolbus([adding])
        assert go(bus.invoke, ToolCall("1", "adding", {"x": 1})).output == [1]
        assert go(bus.invoke, ToolCall("1", "adding", {"x": 2})).output == [1, 2]

    def test_parameters_without_annotations_take_anything(self, go: Go) -> None:
        def loose(x, y=None):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            return [x, y]

        bus = toolbus([loose])
        assert go(bus.invoke, ToolCall("1", "loose", {"x": {"a": 1}})).output == [{"a": 1}, None]

    def test_with_a_schema_it_gets_plain_data(self, go: Go) -> None:
        schema = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}

        @tool(schema=schema)
        def on(**given: object) -> object:
            return given

        assert on.schema == schema
        bus = toolbus([on])
        assert go(bus.invoke, ToolCall("1", "on", {"day": "2026-01-01"})).output == {
            "day": "2026-01-01"
        }

    def test_misuse_of_finish(self) -> None:
        with pytest.raises(ConfigError, match="schema: has no JSON Schema"):
            finish(3)
        with pytest.raises(ConfigError, match=r'schema\.pattern: "\('):
            finish({"type": "string", "pattern": "("})
        assert issubclass(UsageError, Exception)

    @pytest.mark.parametrize("schema", [True, False])
    def test_a_schema_that_is_yes_or_no_is_told_what_to_say_instead(self, schema: Any) -> None:
        with pytest.raises(ConfigError, match="leave it out for any answer"):
            finish(schema)
        with pytest.raises(ConfigError, match=r"t\.schema: .*must be a JSON Schema as a mapping"):
            tool(lambda: None, name="t", schema=schema)
