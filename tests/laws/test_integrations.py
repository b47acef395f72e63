"""What engines hand over is answered as plain data, whatever its types and nulls."""

from typing import Any

import pytest
from engines import engine
from hypothesis import given
from hypothesis import strategies as st
from laws.arrow_strategies import arrays
from laws.test_arrow import plain, rules

from interlock import Branch
from interlock.integrations import arrow, duckdb, polars

pytestmark = pytest.mark.engine
pa: Any = engine("pyarrow")


def route_for(data: st.DataObject, records: list[object]) -> Branch:
    drawn = rules(data.draw, records, 1)
    arms = [{"name": one["id"], "when": one["when"], "match": one["match"]} for one in drawn]
    return Branch(arms, otherwise={"name": "other"})


def table_of(data: st.DataObject) -> Any:
    """Records in columns; a null record has none there."""
    array = data.draw(arrays(pa), "array")
    chunks = [pa.RecordBatch.from_struct_array(chunk) for chunk in array.chunks]
    return pa.Table.from_batches(chunks, pa.schema(array.type.fields))


def outcomes(route: Branch, records: list[object]) -> list[str]:
    return [route.decide(record).outcome for record in records]


@given(data=st.data())
def test_tables(data: st.DataObject) -> None:
    table = table_of(data)
    records = plain(table)
    route = route_for(data, records)
    assert arrow.for_batches(route)(table)["outcome"].to_pylist() == outcomes(route, records)


def polars_kinds(pl: Any) -> list[tuple[Any, st.SearchStrategy[Any]]]:
    texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    inner = st.fixed_dictionaries({"a": st.one_of(st.none(), texts), "b": st.none()})
    return [
        (pl.Null, st.none()),
        (pl.Boolean, st.booleans()),
        (pl.Int8, st.integers(-128, 127)),
        (pl.UInt64, st.integers(0, 2**64 - 1)),
        (pl.Float32, st.floats(width=32)),
        (pl.Float64, st.floats()),
        (pl.Decimal(20, 3), st.decimals(-999_999, 999_999, places=3)),
        (pl.String, texts),
        (pl.Categorical, st.sampled_from(["a", "b", "a longer text of many letters"])),
        (pl.Enum(["x", "y", "z"]), st.sampled_from(["x", "z"])),
        (pl.List(pl.String), st.lists(st.one_of(st.none(), texts), max_size=3)),
        (pl.Struct({"a": pl.String, "b": pl.Null}), inner),
        (pl.List(pl.Null), st.lists(st.none(), max_size=3)),
        (pl.Array(pl.Null, 2), st.lists(st.none(), min_size=2, max_size=2)),
    ]


@given(data=st.data())
def test_polars(data: st.DataObject) -> None:
    pl = engine("polars")
    drawn = data.draw(st.lists(st.sampled_from(polars_kinds(pl)), min_size=1, max_size=4), "kinds")
    size = data.draw(st.integers(0, 8), "size")
    columns = [
        pl.Series(
            f"f{at}",
            data.draw(st.lists(st.one_of(st.none(), values), min_size=size, max_size=size)),
            dtype=kind,
        )
        for at, (kind, values) in enumerate(drawn)
    ]
    frame = pl.DataFrame(columns)
    records = frame.to_dicts()
    route = route_for(data, records)
    answers = frame.lazy().select(a=polars.decide(route)).collect()["a"]
    assert answers.struct["outcome"].to_list() == outcomes(route, records)
    assert [one.outcome for one in route.decide_many(frame)] == outcomes(route, records)


KINDS = [
    ("BOOLEAN", st.booleans()),
    ("TINYINT", st.integers(-128, 127)),
    ("UBIGINT", st.integers(0, 2**64 - 1)),
    ("DOUBLE", st.floats()),
    ("DECIMAL(9, 3)", st.decimals(-999_999, 999_999, places=3)),
    ("VARCHAR", st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))),
    ("VARCHAR[]", st.lists(st.one_of(st.none(), st.sampled_from(["", "a"])), max_size=3)),
    ("STRUCT(a INTEGER, b VARCHAR)", st.fixed_dictionaries({"a": st.none(), "b": st.just("x")})),
]


@given(data=st.data())
def test_duckdb(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4), "kinds")
    fields = {f"f{at}": kind for at, (kind, _) in enumerate(kinds)}
    cells = [st.one_of(st.none(), values) for _, values in kinds]
    rows = data.draw(st.lists(st.tuples(*cells), min_size=1, max_size=8), "rows")
    with engine("duckdb").connect() as connection:
        columns = ", ".join(f"{name} {kind}" for name, kind in fields.items())
        connection.execute(f"CREATE TABLE given ({columns})")
        places = ", ".join("?" * len(fields))
        connection.executemany(f"INSERT INTO given VALUES ({places})", rows)  # noqa: S608
        records = plain(connection.sql("FROM given").to_arrow_table())
        route = route_for(data, records)
        duckdb.register(connection, "route", route, fields)
        called = f"SELECT route({', '.join(fields)}).outcome FROM given"  # noqa: S608
        assert [row[0] for row in connection.sql(called).fetchall()] == outcomes(route, records)
