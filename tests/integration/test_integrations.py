"""Each engine gives the answers that the same records get here, in its own way of calling."""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

import orders
import pytest
from engines import engine

import workloads
from interlock import Branch, ConfigError, DecisionTable, ErrorClassify, LeadAssign, RuleScore
from interlock.conditions import Checks
from interlock.integrations import arrow, dask, duckdb, polars, ray_data, spark

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

COUNT = 100_000
ROUTE: Any = Branch(workloads.ARMS)


@cache
def records() -> list[dict[str, Any]]:
    return [{**order, "n": place} for place, order in enumerate(orders.orders(COUNT))]


@cache
def expected() -> list[tuple[str, int | None]]:
    return [(one.outcome, one.index) for one in ROUTE.decide_many(records())]


@cache
def table() -> Any:
    return engine("pyarrow").Table.from_pylist(records())


def parts() -> list[Any]:
    return [table().slice(start, 30_000) for start in range(0, COUNT, 30_000)]


def pairs(answers: Any) -> list[tuple[str, int | None]]:
    """The answers of a table, by the number of their records."""
    ordered = answers.sort_by("n")
    assert ordered.column("n").to_pylist() == list(range(COUNT))
    outcomes, indices = ordered.column("outcome"), ordered.column("index")
    return list(zip(outcomes.to_pylist(), indices.to_pylist(), strict=True))


def test_arrow() -> None:
    pa = engine("pyarrow")
    over = pickle.loads(pickle.dumps(arrow.for_batches(ROUTE, keep=["n"], threads=2)))  # noqa: S301 (our own)
    assert pairs(over(table())) == expected()
    assert pairs(pa.concat_tables(map(over, table().to_batches()))) == expected()
    assert over(table().slice(0, 0)).schema == over(table()).schema


def test_polars() -> None:
    pl = engine("polars")
    frame = pl.DataFrame(records())
    for made in (frame, frame.lazy()):
        answers = made.select("n", answer=polars.decide(ROUTE)).lazy().collect().unnest("answer")
        assert pairs(answers.to_arrow()) == expected()
    # Only these are the record's fields.
    some = frame.head(50).select(a=polars.decide(ROUTE, "customer", pl.col("order")))["a"]
    alone = [{"customer": one["customer"], "order": one["order"]} for one in records()[:50]]
    assert some.struct["outcome"].to_list() == [one.outcome for one in ROUTE.decide_many(alone)]


def test_polars_says_what_is_refused() -> None:
    pl = engine("polars")
    frame = pl.DataFrame({"total": pl.Series([1], dtype=pl.Date)})
    route = Branch([{"name": "a", "when": [{"path": "total", "op": "equals", "expected": 1}]}])
    with pytest.raises(
        ConfigError, match=r"^records\.total: a column of the type Date32, of which"
    ):
        frame.select(polars.decide(route))


def test_duckdb_of_no_columns() -> None:
    with pytest.raises(ConfigError, match=r"columns: {}: must name at least one"):
        duckdb.register(None, "route", ROUTE, {})


def test_polars_columns_of_nothing_but_nulls() -> None:
    pl = engine("polars")
    route = Branch([{"name": "a", "when": [{"path": "a", "op": "equals", "expected": None}]}])
    deep = pl.Series([[None], None], dtype=pl.List(pl.Struct({"x": pl.Null})))
    for size in (2, 0):
        frame = pl.DataFrame({"a": [None, None], "b": deep}).head(size)
        made = frame.select(answer=polars.decide(route))["answer"]
        assert made.struct["outcome"].to_list() == ["a"] * size
        assert [one.outcome for one in route.decide_many(frame)] == ["a"] * size


def test_duckdb() -> None:
    with engine("duckdb").connect() as connection:
        connection.register("given", table())
        given = connection.sql("SELECT * FROM given")
        fields = dict(zip(given.columns, given.types, strict=True))
        duckdb.register(connection, "route", ROUTE, fields)
        called = ", ".join(f'"{name}"' for name in fields)
        answers = connection.sql(f"SELECT n, unnest(route({called})) FROM given")  # noqa: S608
        assert pairs(answers.to_arrow_table()) == expected()


def test_duckdb_gives_nulls_as_they_are() -> None:
    route = Branch([{"name": "null", "when": [{"path": "a", "op": "equals", "expected": None}]}])
    with engine("duckdb").connect() as connection:
        duckdb.register(connection, "route", route, {"a": "INTEGER"})
        asked = connection.sql("SELECT route(a).outcome FROM (VALUES (1), (NULL)) AS given(a)")
        assert asked.fetchall() == [("(no match)",), ("null",)]


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray = engine("ray")
        engine("ray.data")
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            object_store_memory=150 << 20,
        )
        yield ray
        ray.shutdown()


@pytest.mark.filterwarnings("ignore")
def test_ray_data(ray: Any) -> None:
    given = ray.data.from_arrow(parts())
    answers = ray_data.decide(given, ROUTE, keep=["n"])
    made = [table for ref in answers.to_arrow_refs() for table in [ray.get(ref)]]
    assert pairs(engine("pyarrow").concat_tables(made)) == expected()


@pytest.mark.filterwarnings("ignore")
def test_dask() -> None:
    client = engine("distributed").Client(
        n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
    )
    with client:
        futures = dask.decide(client, parts(), ROUTE, keep=["n"])
        made = client.gather(futures)
    assert [one["n"][0].as_py() for one in made] == [0, 30_000, 60_000, 90_000]
    assert pairs(engine("pyarrow").concat_tables(made)) == expected()


@pytest.mark.filterwarnings("ignore")
def test_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    sql = engine("pyspark.sql")
    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1"}
    session = sql.SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    try:
        answers = spark.decide(session.createDataFrame(table()), ROUTE, keep=["n"])
        assert pairs(answers.toArrow()) == expected()
    finally:
        session.stop()


class TestTools:
    WHEN = ({"path": "a", "op": "greaterThan", "expected": 1},)

    def outcomes(self, spec: Any, given: Any, **options: Any) -> list[str]:
        made = arrow.for_batches(spec, **options)(engine("pyarrow").table(given))
        answers: list[str] = made["outcome"].to_pylist()
        return answers

    def test_each_that_answers_many(self) -> None:
        rows = [{"id": "r", "when": self.WHEN, "outputs": 1, "points": 2}]
        given, plain = {"a": [1, 2, None]}, [{"a": 1}, {"a": 2}, {"a": None}]
        table = DecisionTable([{k: v for k, v in rows[0].items() if k != "points"}], policy="first")
        score = RuleScore([{k: v for k, v in rows[0].items() if k != "outputs"}])
        lead = LeadAssign([{"id": "r", "when": self.WHEN}], strategy="first")
        assert self.outcomes(table, given) == [one.outcome for one in table.decide_many(plain)]
        assert self.outcomes(score, given) == [one.outcome for one in score.score_many(plain)]
        assert self.outcomes(lead, given) == [one.outcome for one in lead.assign_many(plain)]

    def test_errors(self) -> None:
        assert self.outcomes(ErrorClassify(), {"status": [503, 404]}) == [
            one.outcome for one in ErrorClassify().classify_many([{"status": 503}, {"status": 404}])
        ]
        # A rule that cannot be judged is named, as it is of the other tools.
        spec = {"rules": [{"id": "r", "matches": r"(\w+)=\1", "class": "auth", "action": "fail"}]}
        rules = ErrorClassify.from_spec(spec)
        made = arrow.for_batches(rules)(engine("pyarrow").table({"message": ["aa"]}))
        assert made["undetermined"].to_pylist() == ["r"]

    def test_a_spec_as_data(self) -> None:
        spec = {"tool": "Branch", "arms": [{"name": "big", "when": self.WHEN}]}
        assert self.outcomes(spec, {"a": [1, 2]}) == ["(no match)", "big"]

    def test_json_columns(self) -> None:
        spec = Branch([{"name": "x", "when": [{"path": "a.b", "op": "exists"}]}])
        given = {"a": ['{"b":1}', "{", "{}"]}
        made = self.outcomes(spec, given, json_columns=["a"])
        assert made == ["x", "(error)", "(no match)"]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"arms": []}, "tool"),
        ({"tool": "Brnch", "arms": []}, "did you mean"),
        ({"tool": "Branch", "arms": [{"name": "x", "when": [{"op": "no"}]}]}, "op"),
        (Checks([{"path": "a", "op": "exists"}]), "does not answer many"),
        (
            LeadAssign([{"id": "r", "when": [{"op": "exists"}]}], strategy="round_robin"),
            "turns go from record to record",
        ),
    ],
)
def test_what_is_no_spec_of_batches(spec: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        arrow.for_batches(spec)


def test_columns_to_keep() -> None:
    pa = engine("pyarrow")
    with pytest.raises(ConfigError, match="a column of the answers has that name"):
        arrow.for_batches(ROUTE, keep=["outcome"])
    for given in (pa.table({"b": [1]}), pa.table([[1], [2]], names=["a", "a"])):
        with pytest.raises(ConfigError, match="no such column, or more than one"):
            arrow.for_batches(ROUTE, keep=["a"])(given)


def test_a_missing_engine_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"pip install 'interlock\[polars\]'"):
        polars.decide(ROUTE)
