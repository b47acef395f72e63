"""The five arms of 100,000 orders in other people's engines; prints Markdown.

By hand in Polars and DuckDB on one thread, against interlock over the same data; then what each
engine's way of calling costs, by the clock of the wall. An engine that is not installed is left
out.
"""

from __future__ import annotations

import logging
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

import orders
from batches import COUNT, row
from ratios import per_call

import interlock
import workloads
from interlock import Branch
from interlock.integrations import arrow, dask, duckdb, polars, ray_data, spark

NONE = len(workloads.ARMS)
Run: TypeAlias = "Callable[[], object]"

BY_HAND_IN_SQL = r"""
SELECT CASE
    WHEN "order".total > 100 AND risk.score > 80 AND risk.flags IS NOT NULL THEN 0
    WHEN customer.tier IN ('enterprise', 'strategic') AND "order".total > 1000
        AND customer.days > 365 THEN 1
    WHEN "order".currency = 'EUR' AND "order".shipping.country = 'DE'
        AND regexp_matches(meta.version, '^1\.\d+') THEN 2
    WHEN starts_with("order".shipping.method, 'expr')
        AND regexp_matches(customer.email, '^[^@\s]+@example\.com$')
        AND "order".shipping.weight < 5 THEN 3
    WHEN starts_with(customer.id, 'c-') AND customer.days > 30 AND "order".total > 0 THEN 4
    ELSE 5 END AS arm
FROM orders
"""


def by_hand_in_polars(pl: Any, frame: Any) -> Any:
    """Give the position of the arm of each order, five for none."""

    def field(*path: str) -> Any:
        found = pl.col(path[0])
        for name in path[1:]:
            found = found.struct.field(name)
        return found

    total, days = field("order", "total"), field("customer", "days")
    arms = [
        (total > 100) & (field("risk", "score") > 80) & field("risk", "flags").is_not_null(),
        field("customer", "tier").is_in(["enterprise", "strategic"])
        & (total > 1000)
        & (days > 365),
        (field("order", "currency") == "EUR")
        & (field("order", "shipping", "country") == "DE")
        & field("meta", "version").str.contains(r"^1\.\d+"),
        field("order", "shipping", "method").str.starts_with("expr")
        & field("customer", "email").str.contains(r"^[^@\s]+@example\.com$")
        & (field("order", "shipping", "weight") < 5),
        field("customer", "id").str.starts_with("c-") & (days > 30) & (total > 0),
    ]
    chosen = pl.lit(NONE)
    for place, arm in reversed(list(enumerate(arms))):
        chosen = pl.when(arm).then(pl.lit(place)).otherwise(chosen)
    return frame.select(arm=chosen)["arm"]


def agree(name: str, expected: list[int], found: list[int | None]) -> None:
    if [NONE if one is None else one for one in found] != expected:
        raise AssertionError(f"{name}: not the same answers")


def hand_rows(table: Any, route: Branch) -> None:
    expected: list[int] = route.decide_many(table).indices.tolist()
    pl, engine = installed("polars"), installed("duckdb")
    print(f"| {COUNT:,} rows, one thread | by hand, a row | interlock | ratio |")
    print("|---|---|---|---|")
    if pl:
        frame = pl.DataFrame(table)
        by_hand = partial(by_hand_in_polars, pl, frame)
        expression = partial(frame.select, a=polars.decide(route))
        agree("Polars", expected, by_hand().to_list())
        agree("Polars", expected, expression()["a"].struct["index"].to_list())
        row("Polars, `decide_many(frame)`", by_hand, partial(route.decide_many, frame))
        row("Polars, expression", by_hand, expression)
    if engine:
        connection = engine.connect(config={"threads": 1})
        connection.register("given", table)
        connection.execute("CREATE TABLE orders AS FROM given")
        relation = connection.table("orders")
        fields = dict(zip(relation.columns, relation.types, strict=True))
        duckdb.register(connection, "route", route, fields)
        called = ", ".join(f'"{name}"' for name in fields)
        asked = f"SELECT unnest(route({called})) FROM orders"  # noqa: S608 (our own names)

        def sql(text: str) -> Any:
            return connection.sql(text).to_arrow_table()

        agree("DuckDB", expected, sql(BY_HAND_IN_SQL)["arm"].to_pylist())
        agree("DuckDB", expected, sql(asked)["index"].to_pylist())
        by_hand = partial(sql, BY_HAND_IN_SQL)
        row("DuckDB, `decide_many(relation)`", by_hand, lambda: route.decide_many(relation))
        row("DuckDB, function", by_hand, partial(sql, asked))


class Engine(NamedTuple):
    """How an engine is called: with batches of so many rows, so many of them, so often."""

    rows: int
    batches: int
    rounds: int
    prepared: Callable[[list[Any]], Run]


class Cost(NamedTuple):
    """What is paid, in seconds: for the call, for each batch in it, for each row."""

    call: float
    batch: float
    row: float


def seconds(run: Run, rounds: int) -> float:
    """The best of some rounds: what else the machine does only adds."""
    run()
    return min(per_call(run, 1, time.perf_counter) for _ in range(rounds))


def cost(engine: Engine, table: Any) -> Cost:
    """Tell apart what a call, a batch and a row cost, by three sizes."""
    rows, batches = engine.rows, engine.batches

    def took(size: int, count: int) -> float:
        given = [table.slice(at * rows % COUNT, size) for at in range(count)]
        return seconds(engine.prepared(given), engine.rounds)

    one, few, many = took(1, 1), took(1, batches), took(rows, batches)
    of_batch = (few - one) / (batches - 1) if batches > 1 else 0
    return Cost(one - of_batch, of_batch, (many - few) / batches / (rows - 1))


def print_cost(name: str, paid: Cost) -> None:
    batch = f"{paid.batch * 1e6:,.0f} µs" if paid.batch else "-"
    print(f"| {name} | {paid.call * 1e6:,.0f} µs | {batch} | {paid.row * 1e9:,.0f} ns |")


def of_duckdb(engine: Any, route: Branch, pa: Any, parts: list[Any]) -> Run:
    connection = engine.connect(config={"threads": 1})
    connection.register("given", pa.concat_tables(parts))
    connection.execute("CREATE TABLE orders AS FROM given")
    relation = connection.table("orders")
    fields = dict(zip(relation.columns, relation.types, strict=True))
    duckdb.register(connection, "route", route, fields)
    called = ", ".join(f'"{name}"' for name in fields)
    asked = f"SELECT unnest(route({called})) FROM orders"  # noqa: S608 (our own names)
    return lambda: connection.sql(asked).to_arrow_table()


def of_spark(session: Any, route: Branch, pa: Any, parts: list[Any]) -> Run:
    frame = session.createDataFrame(pa.concat_tables(parts)).repartition(len(parts)).cache()
    frame.count()
    answers = spark.decide(frame, route)
    return lambda: answers.write.format("noop").mode("overwrite").save()


def light(pa: Any, route: Branch) -> Iterator[tuple[str, Engine]]:
    """Give the ways of calling that stay in this process."""

    def direct(parts: list[Any]) -> Run:
        return lambda: [route.decide_many(part) for part in parts]

    def tables(parts: list[Any]) -> Run:
        over = arrow.for_batches(route)
        return lambda: [over(part) for part in parts]

    yield "`decide_many`, directly", Engine(2_048, 48, 50, direct)
    yield "`arrow.for_batches`", Engine(2_048, 48, 50, tables)
    if pl := installed("polars"):

        def expression(parts: list[Any]) -> Run:
            frame = pl.DataFrame(parts[0])
            return partial(frame.select, a=polars.decide(route))

        yield "Polars", Engine(COUNT, 1, 50, expression)
    if engine := installed("duckdb"):
        yield "DuckDB", Engine(COUNT, 1, 50, partial(of_duckdb, engine, route, pa))


@contextmanager
def ray_running() -> Generator[Any]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray: Any = import_module("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    data: Any = import_module("ray.data")
    data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel("ERROR")
    try:
        yield data
    finally:
        ray.shutdown()


def heavy(pa: Any, table: Any, route: Branch) -> None:
    """Print what engines cost that have processes of their own."""
    if installed("ray"):
        with ray_running() as data:

            def blocks(parts: list[Any]) -> Run:
                given = data.from_arrow(parts)
                return lambda: ray_data.decide(given, route).materialize()

            print_cost("Ray Data", cost(Engine(COUNT // 2, 8, 7, blocks), table))
    if distributed := installed("distributed"):
        with distributed.Client(
            n_workers=1, threads_per_worker=1, dashboard_address=None
        ) as client:

            def futures(parts: list[Any]) -> Run:
                given = client.scatter(parts, hash=False)
                return lambda: client.gather(dask.decide(client, given, route))

            print_cost("Dask", cost(Engine(COUNT // 2, 8, 7, futures), table))
    if sql := installed("pyspark.sql"):
        os.environ["PYSPARK_PYTHON"] = sys.executable
        quiet = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.execution.arrow.maxRecordsPerBatch": str(COUNT),
        }
        session = sql.SparkSession.builder.master("local[1]").config(map=quiet).getOrCreate()
        try:
            print_cost(
                "Spark",
                cost(Engine(COUNT // 2, 8, 7, partial(of_spark, session, route, pa)), table),
            )
        finally:
            session.stop()


def installed(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        print(f"{name} is not installed: pip install '.[test-engines]'\n")
        return None


def main() -> None:
    # Read when it is first imported.
    os.environ["POLARS_MAX_THREADS"] = "1"
    warnings.simplefilter("ignore")
    if (pa := installed("pyarrow")) is None:
        return
    pa.set_cpu_count(1)
    print(
        f"interlock {interlock.__version__}, CPython {platform.python_version()}, "
        f"{platform.machine()}, {os.cpu_count()} CPUs\n"
    )
    route = Branch(workloads.ARMS)
    table = pa.Table.from_pylist(orders.orders(COUNT)).combine_chunks()
    hand_rows(table, route)
    print("\n| engine | a call | a batch | a row |")
    print("|---|---|---|---|")
    for name, engine in light(pa, route):
        print_cost(name, cost(engine, table))
    heavy(pa, table, route)


if __name__ == "__main__":
    main()
