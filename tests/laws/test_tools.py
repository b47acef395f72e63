"""Branch and DecisionTable answer as the reference does, whatever form the record has."""

import copy
import json
import pickle
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from laws.strategies import check_lists, json_values, tidy, values

import oracle
from interlock import Branch, DecisionTable, Json, branch, decision_table

Wire = dict[str, Any]
Entry = dict[str, Any]
POLICIES = ("first", "unique", "priority", "collect")
FORMS = (lambda value: value, lambda value: Json(json.dumps(value)))


def _pickled(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))  # noqa: S301  # made on the spot


def _reordered(value: Any) -> Any:
    """The value with the keys of every object the other way round."""
    if isinstance(value, dict):
        return {key: _reordered(member) for key, member in reversed(value.items())}
    return list(map(_reordered, value)) if isinstance(value, list) else value


@st.composite
def _entries(draw: st.DrawFn, value: object, label: str) -> list[Entry]:
    names = draw(st.lists(st.sampled_from("abcd\U0001f600"), min_size=1, max_size=4, unique=True))
    entries: list[Entry] = []
    for name in names:
        entry: Entry = {label: name, "when": draw(check_lists(value))}
        if draw(st.booleans()):
            entry["match"] = draw(st.sampled_from(("all", "any", "any")))
        if label == "id" or draw(st.booleans()):
            entry["result" if label == "name" else "outputs"] = draw(json_values())
        if label == "id" and draw(st.booleans()):
            entry["priority"] = draw(st.sampled_from((-1, 0, 0.0, 1, 1.0, 2.5, Decimal(1), 2**64)))
        entries.append(entry)
    tidied: list[Entry] = tidy(entries)
    return tidied


def _otherwise() -> st.SearchStrategy[Entry | None]:
    named = st.fixed_dictionaries({"name": st.just("z")}, optional={"result": json_values()})
    return st.one_of(st.none(), named)


def _comparable(wire: Wire) -> Wire:
    """The answer without the wording of reasons, which each side is free to choose."""
    answer = {**wire, "undetermined": "undetermined" in wire}
    if "evaluated" in wire:
        fields = ("name", "index", "ok", "passed", "failed")
        answer["evaluated"] = [
            {name: entry[name] for name in fields} | {"reason": bool(entry["reason"])}
            for entry in wire["evaluated"]
        ]
    if wire.get("conflict") is not None:
        answer["conflict"] = True
    return answer


@given(st.data())
def test_branch_answers_as_the_reference(data: st.DataObject) -> None:
    value = data.draw(values(), "value")
    arms, otherwise = data.draw(_entries(value, "name")), data.draw(_otherwise())
    given_ = {"value": value, "arms": arms, "otherwise": otherwise, "verbose": True}
    expected = oracle.branch(given_)
    actual = branch(value, arms, otherwise=otherwise, verbose=True).to_dict()
    assert _comparable(expected) == _comparable(actual)
    if "undetermined" in expected:
        culprit = str(expected["undetermined"]).split(":")[0]
        assert culprit in str(actual["undetermined"])


@given(st.data(), st.sampled_from(POLICIES))
def test_a_table_answers_as_the_reference(data: st.DataObject, policy: Any) -> None:
    value = data.draw(values(), "value")
    rows, otherwise = data.draw(_entries(value, "id")), data.draw(json_values())
    given_ = {"value": value, "rows": rows, "policy": policy, "otherwise": otherwise}
    expected = oracle.decision_table({**given_, "version": "7"})
    table = decision_table(value, rows, policy=policy, otherwise=otherwise, version="7")
    actual = table.to_dict()
    assert _comparable(expected) == _comparable(actual)
    if expected["conflict"] is not None:
        named = str(expected["conflict"]).split(": ")[1].split(", ")
        ids = {row["id"] for row in rows}
        assert set(named) == {name for name in ids if f'"{name}"' in str(actual["conflict"])}


@given(st.data(), st.sampled_from(POLICIES))
def test_both_forms_of_a_record_have_one_answer(data: st.DataObject, policy: Any) -> None:
    value = data.draw(json_values(), "value")
    arms, rows = data.draw(_entries(value, "name")), data.draw(_entries(value, "id"))
    route, table = Branch(arms), DecisionTable(rows, policy=policy)
    routed = [route.decide(form(value), verbose=True).to_dict() for form in FORMS]
    assert routed[0] == routed[1]
    looked_up = [table.decide(form(value), verbose=True).to_dict() for form in FORMS]
    assert looked_up[0] == looked_up[1]


@given(st.data())
def test_first_is_the_head_of_collect(data: st.DataObject) -> None:
    value = data.draw(json_values(), "value")
    rows = data.draw(_entries(value, "id"))
    collected = DecisionTable(rows, policy="collect").decide(value)
    assume(collected.ok)
    first = DecisionTable(rows, policy="first").decide(value)
    assert collected.matched_ids[:1] == first.matched_ids
    outputs = collected.outputs if isinstance(collected.outputs, list) else [None]
    assert outputs[0] == first.outputs
    assert collected.matched == first.matched


@given(st.data(), st.sampled_from(POLICIES))
def test_the_order_of_keys_says_nothing(data: st.DataObject, policy: Any) -> None:
    value = data.draw(json_values(), "value")
    arms, rows = data.draw(_entries(value, "name")), data.draw(_entries(value, "id"))
    turned = _reordered(value)
    expected = _comparable(Branch(arms).decide(value, verbose=True).to_dict())
    assert expected == _comparable(Branch(_reordered(arms)).decide(turned, verbose=True).to_dict())
    table = DecisionTable(rows, policy=policy)
    other = DecisionTable(_reordered(rows), policy=policy)
    assert _comparable(table.decide(value).to_dict()) == _comparable(other.decide(turned).to_dict())
    assert (table, hash(table), table.table_hash) == (other, hash(other), other.table_hash)


@given(st.data(), st.sampled_from(POLICIES))
def test_copies_are_equal_and_answer_alike(data: st.DataObject, policy: Any) -> None:
    value = data.draw(json_values(), "value")
    arms, rows = data.draw(_entries(value, "name")), data.draw(_entries(value, "id"))
    for compiled in (Branch(arms), DecisionTable(rows, policy=policy, version="1")):
        answer = compiled.decide(value)
        copies = (_pickled(compiled), copy.copy(compiled), copy.deepcopy(compiled))
        for other in (*copies, type(compiled).from_spec(compiled.to_spec())):
            assert (compiled, hash(compiled)) == (other, hash(other))
            assert answer == other.decide(value)
        for result in (_pickled(answer), copy.deepcopy(answer)):
            assert answer == result


@given(st.data())
def test_a_changed_entry_makes_another_spec(data: st.DataObject) -> None:
    arms = data.draw(_entries(data.draw(json_values()), "name"))
    changed = copy.deepcopy(arms)
    changed[-1]["result"] = [arms[-1].get("result")]
    assert Branch(arms) != Branch(changed)
    assert Branch(arms) != Branch(arms, otherwise={"name": "z"})


def _wreck(value: Any) -> None:
    """Change everything that can be changed, all the way down."""
    if isinstance(value, dict | list):
        for member in list(value.values()) if isinstance(value, dict) else list(value):
            _wreck(member)
        value.clear()


@given(st.data(), st.sampled_from(POLICIES))
def test_nothing_a_caller_changes_reaches_the_compiled(data: st.DataObject, policy: Any) -> None:
    value = data.draw(json_values(), "value")
    arms, rows = data.draw(_entries(value, "name")), data.draw(_entries(value, "id"))
    otherwise = {"name": "z", "result": {"a": [1]}}
    route = Branch(arms, otherwise=otherwise)
    table = DecisionTable(rows, policy=policy, otherwise=otherwise)
    expected = copy.deepcopy([route.decide(value).to_dict(), table.decide(value).to_dict()])
    specs = copy.deepcopy([route.to_spec(), table.to_spec()])
    _wreck([arms, rows, otherwise])
    for answer in (route.decide(value).to_dict(), table.decide(value).to_dict()):
        _wreck(answer)
    _wreck([route.decide(value).result, table.decide(value).outputs])
    _wreck([route.to_spec(), table.to_spec()])
    assert expected == [route.decide(value).to_dict(), table.decide(value).to_dict()]
    assert specs == [route.to_spec(), table.to_spec()]


@given(st.data())
def test_a_record_decides_as_it_does_among_others(data: st.DataObject) -> None:
    records = data.draw(st.lists(json_values(), min_size=1, max_size=4))
    route = Branch(data.draw(_entries(records[0], "name")))
    assert [route.decide(record) for record in records] == route.decide_many(records)


@pytest.mark.parametrize(
    ("left", "right", "shared"),
    [
        (0.1, Decimal("0.1"), True),
        (2**70, 2.0**70, False),
        (10**400, 10**400 + 1, False),
        (10**400, Decimal("1E+400"), True),
        (2**53 + 1, 2.0**53, False),
    ],
    ids=["tenths", "2**70", "neighbours", "10**400", "2**53"],
)
def test_priorities_are_the_decimal_numbers_they_are_written_as(
    left: object, right: object, shared: bool
) -> None:
    rows = [
        {"id": name, "when": [{"op": "exists"}], "priority": priority, "outputs": name}
        for name, priority in (("a", left), ("b", right))
    ]
    result = decision_table(1, rows, policy="priority")
    assert shared == (result.conflict is not None)
