"""Tables of other people's engines are decided as the same records are here."""

from __future__ import annotations

from functools import cache
from typing import Any

import orders
import pytest
from engines import engine

import workloads
from interlock import Branch, ConfigError

COUNT = 100_000
ROUTE: Any = Branch(workloads.ARMS)


@cache
def records() -> list[dict[str, Any]]:
    return orders.orders(COUNT)


@cache
def expected() -> Any:
    return ROUTE.decide_many(records())


@cache
def table() -> Any:
    return engine("pyarrow").Table.from_pylist(records())


def test_pyarrow() -> None:
    pa = engine("pyarrow")
    for given in (table(), table().to_reader(), table().combine_chunks()):
        assert bytes(ROUTE.decide_many(given, threads=2).indices) == bytes(expected().indices)
    parts = [ROUTE.decide_many(part) for part in table().to_batches(max_chunksize=7_001)]
    answers = pa.Table.from_batches([pa.record_batch(part) for part in parts])
    assert answers.column("outcome").to_pylist() == [one.outcome for one in expected()]


def test_pyarrow_dictionaries() -> None:
    pa = engine("pyarrow")
    # A value that is null, one that nobody has, and one that stands twice.
    tiers = pa.array(["strategic", None, "nobody", "standard", "standard"])
    keys = pa.array([0, 1, None, 3, 4], pa.int8())
    given = pa.table({"tier": pa.DictionaryArray.from_arrays(keys, tiers)})
    ask = [{"path": "tier", "op": "equals", "expected": None}]
    route: Any = Branch(
        [
            {"name": "null", "when": ask},
            {
                "name": "odd",
                "when": [{"path": "tier", "op": "matches", "expected": "^s.*d$"}],
            },
        ]
    )
    answers = route.decide_many(given)
    assert [one.name for one in answers] == [None, "null", "null", "odd", "odd"]
    assert answers == route.decide_many(given.to_pylist())
    structs = pa.DictionaryArray.from_arrays(keys, pa.array([{"a": 1}, None, {"a": 2}] + [{}] * 2))
    deep: Any = Branch([{"name": "one", "when": [{"path": "s.a", "op": "equals", "expected": 1}]}])
    assert [one.name for one in deep.decide_many(pa.table({"s": structs}))] == ["one", *[None] * 4]


def test_pyarrow_types_json_has_not() -> None:
    pa = engine("pyarrow")
    kinds = [pa.duration("s"), pa.timestamp("ms"), pa.date32(), pa.time64("us"), pa.binary()]
    kinds += [pa.map_(pa.int32(), pa.string()), pa.month_day_nano_interval()]
    there: Any = Branch([{"name": "x", "when": [{"path": "x", "op": "exists"}]}])
    for kind in kinds:
        given = pa.table({"x": pa.nulls(2, kind), "y": pa.array([1, 2])})
        with pytest.raises(ConfigError, match=r"records\.x: a column of the type"):
            there.decide_many(given)
        # Within something that is compared whole it is no JSON value, as in plain data.
        rows: Any = Branch([{"name": "it", "when": [{"op": "hasLength", "expected": 2}]}])
        assert rows.decide_many(given).counts() == {"it": 2}


def test_polars() -> None:
    pl = engine("polars")
    frame = pl.DataFrame(records())
    answers = ROUTE.decide_many(frame)
    assert answers == expected()
    back = pl.DataFrame(answers)
    assert back["outcome"].to_list() == [one.outcome for one in expected()]
    assert back["index"].to_list() == [one.index for one in expected()]
    # A series of structs is rows, too.
    assert ROUTE.decide_many(frame.to_struct("order")) == expected()


def test_polars_categories_and_nulls() -> None:
    pl = engine("polars")
    frame = pl.DataFrame(
        {"t": pl.Series(["a", None, "b", "a"], dtype=pl.Categorical), "n": [1, 2, None, 4]}
    )
    route: Any = Branch(
        [
            {"name": "a", "when": [{"path": "t", "op": "equals", "expected": "a"}]},
            {"name": "two", "when": [{"path": "n", "op": "equals", "expected": 2}]},
        ]
    )
    assert [one.name for one in route.decide_many(frame)] == ["a", "two", None, "a"]


def test_duckdb() -> None:
    duckdb = engine("duckdb")
    given = table()
    with duckdb.connect() as connection:
        connection.register("given", given)
        relation = connection.sql("SELECT * FROM given")
        answers = ROUTE.decide_many(relation, threads=2)
        assert answers == expected()
        connection.register("answers", engine("pyarrow").table(answers))
        counted = connection.sql(
            "SELECT outcome, count(*) FROM answers GROUP BY outcome"
        ).fetchall()
        assert dict(counted) == expected().counts()


def test_json_columns() -> None:
    pa = engine("pyarrow")
    texts = [line.decode() for line in orders.lines(records()[:2_000]).splitlines()]
    given = pa.table({"doc": texts})
    arms = [
        {**arm, "when": [{**check, "path": f"doc.{check['path']}"} for check in arm["when"]]}
        for arm in workloads.ARMS
    ]
    route: Any = Branch(arms)
    answers = route.decide_many(given, json_columns=["doc"], threads=2)
    assert answers.counts() == ROUTE.decide_many(records()[:2_000]).counts()
