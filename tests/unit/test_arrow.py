"""Records as Arrow columns: what is taken, what is refused, what is handed over."""

from __future__ import annotations

import gc
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import arro3.core as arro3
import pytest
from arro3.core import DataType

from interlock import (
    Branch,
    ConfigError,
    DecisionTable,
    ErrorClassify,
    LeadAssign,
    RuleScore,
    SequenceRun,
)


def _check(path: str, op: str, expected: object) -> dict[str, object]:
    return {"path": path, "op": op, "expected": expected}


ARMS: list[dict[str, Any]] = [
    {"name": "big", "when": [_check("n", "greaterThan", 1)]},
    {"name": "odd", "when": [_check("t", "matches", r"^(a)\1?$")]},
]
ROUTE: Any = Branch(ARMS, otherwise={"name": "small"})


FIELD = arro3.Field("n", DataType.int64())


def ints(*values: int | None) -> Any:
    return arro3.Array(values, DataType.int64())


def texts(*values: str | None) -> Any:
    return arro3.Array(values, DataType.utf8())


def table(**columns: Any) -> Any:
    return arro3.Table.from_pydict(columns)


class Handing:
    """Hands over what it was given, whoever asks."""

    def __init__(self, handed: object) -> None:
        self.handed = handed

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.handed


class HandingArray:
    def __init__(self, handed: object) -> None:
        self.handed = handed

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self.handed


def problem(records: object, **more: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        ROUTE.decide_many(records, **more)
    (found,) = caught.value.problems
    return f"{found.field}: {found.value}: {found.message}"


RECORDS = table(n=ints(2, None, 0), t=texts("x", "aa", None))


class TestTaken:
    def test_a_decideda_batch_a_reader(self) -> None:
        (batch,) = RECORDS.to_batches()
        expected = ROUTE.decide_many([{"n": 2, "t": "x"}, {"n": None, "t": "aa"}, {"n": 0}])
        for records in (RECORDS, batch, RECORDS.to_reader(), batch.to_struct_array()):
            assert ROUTE.decide_many(records) == expected

    def test_rows_that_are_null(self) -> None:
        rows = arro3.struct_array(
            [ints(2, 2)], fields=[FIELD], mask=arro3.Array([False, True], DataType.bool())
        )
        there: Any = Branch([{"name": "null", "when": [_check("", "equals", None)]}])
        assert [one.outcome for one in there.decide_many(rows)] == ["(no match)", "null"]
        assert [one.outcome for one in ROUTE.decide_many(rows)] == ["big", "small"]

    def test_no_rows(self) -> None:
        assert ROUTE.decide_many(RECORDS.slice(0, 0)).to_list() == []
        assert ROUTE.decide_many(arro3.RecordBatchReader.from_batches(RECORDS.schema, [])) == []

    def test_a_column_that_is_missing(self) -> None:
        gone: Any = Branch([{"name": "gone", "when": [{"path": "x.y", "op": "notExists"}]}])
        assert gone.decide_many(RECORDS).counts() == {"gone": 3}

    def test_chunks_and_slices(self) -> None:
        column = arro3.ChunkedArray([ints(9, 2, 0).slice(1), ints(3), ints()])
        records = arro3.Table.from_pydict({"n": column})
        names = [one.outcome for one in ROUTE.decide_many(records)]
        assert names == ["big", "small", "big"]

    def test_lists_and_structs_below_each_other(self) -> None:
        inner = arro3.struct_array([ints(1, 5, 7)], fields=[FIELD])
        lists = arro3.list_array(ints(0, 2, 2, 3).cast(DataType.int32()), inner)
        second: Any = Branch([{"name": "five", "when": [_check("l[1].n", "equals", 5)]}])
        outcomes = second.decide_many(table(l=lists).to_batches()[0])
        assert [one.outcome for one in outcomes] == ["five", "(no match)", "(no match)"]

    @pytest.mark.parametrize(
        "kind", [DataType.utf8(), DataType.large_utf8(), DataType.string_view()]
    )
    def test_texts_short_and_long(self, kind: Any) -> None:
        long = "a" * 13
        records = table(t=arro3.Array(["a" * 12, long, "", None], kind).slice(1))
        route: Any = Branch([{"name": "long", "when": [_check("t", "equals", long)]}])
        assert [one.index for one in route.decide_many(records)] == [0, None, None]

    def test_unsigned_numbers_above_64_bits_with_a_sign(self) -> None:
        records = table(n=arro3.Array([2**64 - 1, 2], DataType.uint64()))
        most: Any = Branch([{"name": "most", "when": [_check("n", "equals", 2**64 - 1)]}])
        assert [one.index for one in most.decide_many(records)] == [0, None]

    def test_threads(self) -> None:
        records = table(n=ints(*range(-25_000, 25_000)))
        once = ROUTE.decide_many(records)
        assert once.counts() == {"small": 25_002, "big": 24_998}
        assert ROUTE.decide_many(records, threads=3) == once
        with ThreadPoolExecutor(4) as pool:
            assert [once] * 4 == list(pool.map(ROUTE.decide_many, [records] * 4))

    def test_many_lists_are_indexed(self) -> None:
        arms = [
            {"name": str(at), "when": [_check("n", "equals", at), _check("t", "equals", "x")]}
            for at in range(40)
        ]
        records = table(n=ints(7, 7, None), t=texts("x", None, "x"))
        route: Any = Branch(arms)
        assert [one.name for one in route.decide_many(records)] == ["7", None, None]


class TestOtherTools:
    def test_a_decidedunder_every_policy(self) -> None:
        rows = [
            {"id": "a", "when": [_check("n", "greaterThan", 1)], "outputs": 1},
            {"id": "b", "when": [_check("t", "equals", "x")], "outputs": 2},
        ]
        plain = [{"n": 2, "t": "x"}, {"n": None, "t": "aa"}, {"n": 0, "t": None}]
        policies: list[Any] = ["first", "unique", "priority", "collect"]
        for policy in policies:
            decided: Any = DecisionTable(rows, policy=policy)
            assert decided.decide_many(RECORDS).to_list() == [decided.decide(one) for one in plain]

    def test_scores_owners_and_sequences(self) -> None:
        when = [_check("n", "greaterThan", 1)]
        score: Any = RuleScore([{"id": "a", "when": when, "points": 3}])
        assert [one.score for one in score.score_many(RECORDS)] == [3, 0, 0]
        roster: Any = LeadAssign([{"id": "ann", "when": when}], strategy="round_robin")
        assert [one.owner for one in roster.assign_many(RECORDS)] == ["ann", None, None]
        run: Any = SequenceRun([{"id": "s", "when": when}])
        assert [one.state for one in run.decide_many(RECORDS, now=None)] == [
            "ready",
            "finished",
            "finished",
        ]

    def test_errors(self) -> None:
        told = table(status=ints(429, None, 404), message=texts(None, "connection reset", "x"))
        plain = [
            {"status": 429},
            {"message": "connection reset"},
            {"status": 404, "message": "x"},
        ]
        tool: Any = ErrorClassify()
        assert tool.classify_many(told) == tool.classify_many(plain)
        with pytest.raises(ConfigError, match=r"records\[0\].id"):
            tool.classify_many(table(id=ints(1)))

    def test_errors_in_columns_of_json(self) -> None:
        bodies = ('{"error": {"type": "overloaded_error"}}', "{", None) * 2_000
        told = table(status=ints(*(529, 529, 529) * 2_000), body=texts(*bodies))
        tool: Any = ErrorClassify()
        found = tool.classify_many(told, json_columns=["body"])
        assert list(found.bad) == list(range(1, 6_000, 3))
        assert found.bad[4_099].line == 4_100
        # What is bad is no answer, and not counted as one.
        assert sum(found.counts().values()) == 4_000


class TestJson:
    TEXTS = table(doc=texts('{"n": 2}', None, '{"n":', '{"n": 1}'), n=ints(1, 2, 3, 4))
    DOC: Any = Branch([{"name": "two", "when": [_check("doc.n", "equals", 2)]}])

    def test_a_text_that_is_json(self) -> None:
        batch = self.DOC.decide_many(self.TEXTS, json_columns=["doc"])
        assert [one.outcome for one in batch] == ["two", "(no match)", "(error)", "(no match)"]
        assert batch.bad[2].line == 3
        assert batch.bad[2].message == "doc: the text ends too early (column 6)"

    def test_a_text_that_is_none_spoils_its_record_whatever_is_asked(self) -> None:
        policies: list[Any] = ["first", "collect"]
        for policy in policies:
            rows = [{"id": "a", "when": [_check("n", "greaterThan", 0)], "outputs": 1}]
            answers: Any = DecisionTable(rows, policy=policy).decide_many(
                self.TEXTS, json_columns=["doc"]
            )
            assert [one.outcome for one in answers] == ["a", "a", "(error)", "a"]
        classified: Any = ErrorClassify().classify_many(
            table(body=texts('{"error": {"code": 1}}', "{")), json_columns=["body"]
        )
        assert list(classified.bad) == [1]

    def test_without_being_told_a_text_is_a_text(self) -> None:
        text: Any = Branch([{"name": "text", "when": [_check("doc", "isType", "string")]}])
        assert text.decide_many(self.TEXTS).counts() == {"text": 3, "(no match)": 1}

    @pytest.mark.parametrize(
        "text",
        ["[" * 201 + "]" * 201, "9" * 20_001, '{"a": [' + "9" * 20_001 + "]}"],
        ids=["deep", "digits", "digits below"],
    )
    def test_what_cannot_be_plain_data_is_bad(self, text: str) -> None:
        records = table(doc=texts(text))
        batch = self.DOC.decide_many(records, json_columns=["doc"])
        assert list(batch.bad) == [0]

    def test_lone_halves_and_long_numbers_are_kept(self) -> None:
        records = table(doc=texts('{"n": "\\ud83d"}', '{"n": 123456789012345678901234567890}'))
        for at, expected in enumerate(("\ud83d", 123456789012345678901234567890)):
            one: Any = Branch([{"name": "it", "when": [_check("doc.n", "equals", expected)]}])
            assert one.decide_many(records, json_columns=["doc"])[at].matched

    def test_columns_that_are_none(self) -> None:
        assert 'json_columns: "dco"' in problem(self.TEXTS, json_columns=["dco"])
        assert 'did you mean "doc"?' in problem(self.TEXTS, json_columns=["dco"])
        assert "holds no texts" in problem(self.TEXTS, json_columns=["n"])
        assert "only records that come as columns" in problem([{"n": 1}], json_columns=["n"])
        assert "must be a list of the names" in problem(self.TEXTS, json_columns="doc")
        assert "must be the name" in problem(self.TEXTS, json_columns=[1])


class TestRefused:
    def test_a_column_of_a_type_json_has_not(self) -> None:
        when = arro3.Array([1, 2], DataType.int64()).cast(DataType.timestamp("us"))
        records = table(n=when, t=texts("a", "b"))
        assert problem(records).startswith("records.n: None: a column of the type Timestamp(")
        # Where no check looks there, it is no concern.
        text: Any = Branch(ARMS[1:])
        assert [one.name for one in text.decide_many(records)] == ["odd", None]
        rows = [{"id": "a", "when": [_check("n", "equals", 1)], "outputs": 1}]
        with pytest.raises(ConfigError, match=r"records\.n"):
            DecisionTable(rows, policy="collect").decide_many(records)

    def test_a_single_column(self) -> None:
        assert "a single column (Int64)" in problem(ints(1))
        assert "wrap it" in problem(arro3.ChunkedArray([ints(1)]))

    def test_two_columns_of_one_name(self) -> None:
        twice = arro3.RecordBatch.from_arrays(
            [ints(1), ints(2)],
            schema=arro3.Schema(
                [arro3.Field("n", DataType.int64()), arro3.Field("n", DataType.int64())]
            ),
        )
        assert problem(twice) == 'records: "n": two columns have this name'

    def test_a_capsule_that_was_read(self) -> None:
        capsule = RECORDS.__arrow_c_stream__()
        assert len(ROUTE.decide_many(Handing(capsule))) == 3
        assert "read before" in problem(Handing(capsule))
        (batch,) = RECORDS.to_batches()
        pair = batch.__arrow_c_array__()
        assert len(ROUTE.decide_many(HandingArray(pair))) == 3
        assert "read before" in problem(HandingArray(pair))

    def test_a_reader_that_was_read_has_nothing_more(self) -> None:
        reader = RECORDS.to_reader()
        assert len(ROUTE.decide_many(reader)) == 3
        with pytest.raises(Exception, match=r"[Cc]losed|already"):
            ROUTE.decide_many(reader)

    @pytest.mark.parametrize("handed", [None, 7, "arrow_array_stream", b"x", object()])
    def test_what_is_no_capsule(self, handed: object) -> None:
        assert "not a capsule of the name" in problem(Handing(handed))
        assert problem(HandingArray(handed)).startswith("records: None: handed over")

    def test_a_capsule_of_another_name(self) -> None:
        (batch,) = RECORDS.to_batches()
        schema, array = batch.__arrow_c_array__()
        for wrong in (Handing(schema), HandingArray((array, schema)), HandingArray((array,))):
            assert "handed over" in problem(wrong)
        assert "handed over" in problem(HandingArray(RECORDS.__arrow_c_stream__()))
        # What was not taken is still there.
        assert len(ROUTE.decide_many(HandingArray((schema, array)))) == 3

    def test_an_array_with_the_schema_of_another(self) -> None:
        (batch,) = RECORDS.to_batches()
        schema, _ = table(n=ints(1), t=texts(""), x=ints(1)).to_batches()[0].__arrow_c_array__()
        _, array = batch.__arrow_c_array__()
        assert "makes no sense" in problem(HandingArray((schema, array)))

    def test_a_build_without_arrow_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr("interlock._core.ArrowStream")
        assert "built without Arrow" in problem(RECORDS)

    def test_what_raises_when_it_is_asked(self) -> None:
        class Raising:
            def __arrow_c_stream__(self, requested_schema: object = None) -> object:
                raise RuntimeError("not today")

        with pytest.raises(RuntimeError, match="not today"):
            ROUTE.decide_many(Raising())

    def test_a_stream_that_fails_on_the_way(self) -> None:
        def batches() -> Any:
            yield RECORDS.to_batches()[0]
            raise ValueError("the disk is gone")

        reader = arro3.RecordBatchReader.from_batches(RECORDS.schema, batches())
        with pytest.raises(OSError, match="Arrow stream failed"):
            ROUTE.decide_many(reader)


class TestHandedOver:
    BATCH = ROUTE.decide_many([{"n": 2}, {"n": 0}, {"t": "aa"}, {"t": "a" * 9_000_000}])

    def test_columns(self) -> None:
        columns = arro3.Table.from_arrow(self.BATCH)
        assert columns.column_names == ["outcome", "index", "undetermined", "error"]
        assert columns.column("outcome").to_pylist() == ["big", "small", "odd", "(undetermined)"]
        assert columns.column("index").to_pylist() == [0, None, 1, None]
        undetermined = columns.column("undetermined").to_pylist()
        assert undetermined == [None, None, None, self.BATCH[3].undetermined]
        assert columns.column("error").to_pylist() == [None] * 4

    def test_the_array_and_the_stream_are_alike(self) -> None:
        array = arro3.RecordBatch.from_arrow_pycapsule(*self.BATCH.__arrow_c_array__())
        (batch,) = arro3.Table.from_arrow_pycapsule(self.BATCH.__arrow_c_stream__()).to_batches()
        assert array == batch

    def test_bad_lines_and_halves(self) -> None:
        half: Any = Branch([{"name": "\ud83d", "when": [_check("n", "equals", 1)]}])
        columns = arro3.Table.from_arrow(half.decide_many(b'{"n": 1}\n{\n'))
        assert columns.column("outcome").to_pylist() == ["\\ud83d", "(error)"]
        assert columns.column("error").to_pylist()[1].endswith("(column 2)")

    def test_outcomes_of_one_name_are_one(self) -> None:
        twice: Any = Branch(ARMS[:1], otherwise={"name": "big"})
        columns = arro3.Table.from_arrow(twice.decide_many([{"n": 2}, {}]))
        assert columns.column("outcome").to_pylist() == ["big", "big"]
        assert columns.column("index").to_pylist() == [0, None]

    def test_of_other_tools(self) -> None:
        when = [_check("t", "matches", "a")]
        score: Any = RuleScore([{"id": "s", "when": when, "points": 1}])
        long = {"t": "a" * 9_000_000}
        columns = arro3.Table.from_arrow(score.score_many([{"t": "a"}, long]))
        assert columns.column("undetermined").to_pylist()[1].startswith("s: t: could not be")
        roster: Any = LeadAssign([{"id": "ann", "when": when}], strategy="first")
        columns = arro3.Table.from_arrow(roster.assign_many([{"t": "a"}, long]))
        assert columns.column("outcome").to_pylist()[0] == "ann"
        assert '"ann": t: could not be' in columns.column("undetermined").to_pylist()[1]

    def test_what_is_handed_over_outlives_the_batch(self) -> None:
        batch = ROUTE.decide_many([{"n": 2}] * 1000)
        columns = arro3.Table.from_arrow(batch)
        del batch
        gc.collect()
        assert columns.column("outcome").to_pylist() == ["big"] * 1000

    def test_capsules_that_nobody_reads(self) -> None:
        for _ in range(100):
            self.BATCH.__arrow_c_stream__()
            self.BATCH.__arrow_c_array__()
        gc.collect()

    def test_pickled(self) -> None:
        again = pickle.loads(pickle.dumps(self.BATCH))  # noqa: S301 (our own)
        assert arro3.Table.from_arrow(again) == arro3.Table.from_arrow(self.BATCH)
