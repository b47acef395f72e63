"""Types of Arrow with values of them: nested, with nulls, dictionaries, sliced, in chunks."""

import math
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from laws.strategies import floats, ints, keys, texts


def _fits(bits: int, *, signed: bool) -> st.SearchStrategy[int]:
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return st.one_of(ints().filter(lambda n: least <= n <= most), st.integers(least, most))


def _written() -> st.SearchStrategy[str]:
    """Texts that UTF-8 can hold."""
    return texts().map(lambda text: text.encode("utf-8", "replace").decode())


def names() -> st.SearchStrategy[str]:
    """Names that the interface can hand over: it ends them with a NUL."""
    return keys().map(lambda key: key.encode("utf-8", "replace").decode().replace("\0", "0"))


def _decimals(digits: int, scale: int) -> st.SearchStrategy[Decimal]:
    whole = st.integers(1 - 10**digits, 10**digits - 1)
    return st.one_of(st.integers(-9, 9), whole).map(lambda n: Decimal(f"{n}E-{scale}"))


def _scalars(pa: Any) -> list[tuple[Any, st.SearchStrategy[Any]]]:
    any_float = st.one_of(floats(), st.sampled_from((math.nan, math.inf, -math.inf)))
    return [
        (pa.null(), st.none()),
        (pa.bool_(), st.booleans()),
        *((getattr(pa, f"int{bits}")(), _fits(bits, signed=True)) for bits in (8, 16, 32, 64)),
        *((getattr(pa, f"uint{bits}")(), _fits(bits, signed=False)) for bits in (8, 16, 32, 64)),
        (pa.float16(), st.floats(width=16)),
        (pa.float32(), st.floats(width=32)),
        (pa.float64(), any_float),
        (pa.decimal128(5, 2), _decimals(5, 2)),
        (pa.decimal128(38, 0), _decimals(38, 0)),
        (pa.decimal256(50, 20), _decimals(50, 20)),
        (pa.string(), _written()),
        (pa.large_string(), _written()),
        (pa.string_view(), _written()),
    ]


def _is_there(value: object) -> bool:
    """Whether it is no NaN, of which a dictionary would have many."""
    return not isinstance(value, float) or not math.isnan(value)


@st.composite
def _types(draw: st.DrawFn, pa: Any, depth: int = 3) -> tuple[Any, st.SearchStrategy[Any]]:
    """A type, and a strategy for its values, null among them."""
    kind = draw(st.integers(0, 9 if depth else 5))
    if kind <= 4:
        of, values = draw(st.sampled_from(_scalars(pa)))
        return of, st.one_of(st.none(), values, values, values)
    if kind == 5:
        # Of these pyarrow makes dictionaries from plain data.
        of, values = draw(st.sampled_from([_scalars(pa)[at] for at in (2, 5, 9, 12, 16)]))
        some = draw(st.lists(values.filter(_is_there), min_size=1, max_size=3))
        index = draw(st.sampled_from((pa.int8(), pa.uint16(), pa.int32(), pa.int64())))
        return pa.dictionary(index, of), st.one_of(st.none(), st.sampled_from(some))
    inner, items = draw(_types(pa, depth - 1))
    if kind == 6:
        size = draw(st.integers(0, 3))
        lists = st.lists(items, min_size=size, max_size=size)
        return pa.list_(inner, size), st.one_of(st.none(), lists)
    if kind == 7:
        make = draw(st.sampled_from((pa.list_, pa.large_list, pa.list_view, pa.large_list_view)))
        return make(inner), st.one_of(st.none(), st.lists(items, max_size=3))
    if kind == 8:
        pairs = st.lists(st.tuples(names(), items), max_size=3, unique_by=lambda pair: pair[0])
        return pa.map_(pa.string(), inner), st.one_of(st.none(), pairs)
    return draw(structs(pa, depth - 1))


@st.composite
def structs(draw: st.DrawFn, pa: Any, depth: int = 3) -> tuple[Any, st.SearchStrategy[Any]]:
    """A type of structs, and a strategy for them."""
    named = draw(st.lists(names(), max_size=4, unique=True))
    inner = [(name, *draw(_types(pa, depth))) for name in named]
    of = pa.struct([pa.field(name, kind) for name, kind, _ in inner])
    rows = st.fixed_dictionaries({name: values for name, _, values in inner})
    return of, st.one_of(rows, rows, rows, st.none())


@st.composite
def arrays(draw: st.DrawFn, pa: Any) -> Any:
    """An array of structs, in one piece, cut out of a longer one, or in chunks."""
    of, rows = draw(structs(pa))
    chunks = draw(st.lists(st.lists(rows, max_size=6), min_size=1, max_size=3))
    made = [pa.array(chunk, of) for chunk in chunks]
    skip = draw(st.integers(0, 2))
    return pa.chunked_array([one.slice(skip) for one in made], of)
