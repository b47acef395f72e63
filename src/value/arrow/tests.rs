//! A row of columns reads as the JSON of it; what an array claims and has not is unreadable.

use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, Float64Array, Int32Array,
    Int64Array, LargeListArray, LargeStringArray, ListArray, MapArray, NullArray, RunArray,
    StringArray, StringViewArray, StructArray, UInt16Array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use super::cells::{Ints, Spans, Texts};
use super::column::{Cells, Column};
use super::{Frame, Layout, Rows};
use crate::canonical;
use crate::path::{Path, Resolved};
use crate::value::json::Document;
use crate::value::number::Number;
use crate::value::{Node, Scalar, Step, Value};

/// A column and the JSON of its cells.
#[derive(Clone, Debug)]
struct Told(ArrayRef, Vec<String>);

fn told<T: ToString>(values: &[Option<T>]) -> Vec<String> {
    let shown = |value: &Option<T>| value.as_ref().map_or("null".to_owned(), T::to_string);
    values.iter().map(shown).collect()
}

fn quoted(values: &[Option<String>]) -> Vec<String> {
    let quoted: Vec<_> = values.iter().map(|v| v.as_ref().map(|v| format!("\"{v}\""))).collect();
    told(&quoted)
}

fn scalars(count: usize) -> BoxedStrategy<Told> {
    let texts = || vec(of("[a-zé😀]{0,16}"), count);
    prop_oneof![
        vec(of(any::<bool>()), count)
            .prop_map(|v| Told(Arc::new(BooleanArray::from(v.clone())), told(&v))),
        vec(of(any::<i64>()), count)
            .prop_map(|v| Told(Arc::new(Int64Array::from(v.clone())), told(&v))),
        vec(of(any::<u16>()), count)
            .prop_map(|v| Told(Arc::new(UInt16Array::from(v.clone())), told(&v))),
        vec(of(-1e9..1e9_f64), count)
            .prop_map(|v| Told(Arc::new(Float64Array::from(v.clone())), told(&v))),
        texts().prop_map(|v| Told(Arc::new(StringArray::from(v.clone())), quoted(&v))),
        texts().prop_map(|v| Told(Arc::new(LargeStringArray::from(v.clone())), quoted(&v))),
        texts().prop_map(|v| Told(Arc::new(StringViewArray::from(v.clone())), quoted(&v))),
        Just(Told(Arc::new(NullArray::new(count)), vec!["null".to_owned(); count])),
    ]
    .boxed()
}

fn field(array: &ArrayRef) -> Arc<Field> {
    Arc::new(Field::new("item", array.data_type().clone(), true))
}

/// Lists of the items, two in the first and so on, some of them null.
fn listed(Told(items, cells): Told, nulls: &[bool], kind: u8) -> Told {
    let sizes: Vec<usize> = match kind {
        2 => vec![cells.len() / nulls.len(); nulls.len()],
        _ => (0..nulls.len()).map(|at| [2, 0, 1][at % 3]).collect(),
    };
    let mut rest = cells.iter();
    let shown = sizes.iter().zip(nulls).map(|(size, there)| {
        let items: Vec<String> = rest.by_ref().take(*size).cloned().collect();
        if *there { format!("[{}]", items.join(",")) } else { "null".to_owned() }
    });
    let shown = shown.collect();
    let nulls = Some(NullBuffer::from(nulls));
    let field = field(&items);
    let array: ArrayRef = match kind {
        0 => Arc::new(ListArray::new(field, OffsetBuffer::from_lengths(sizes), items, nulls)),
        1 => Arc::new(LargeListArray::new(field, OffsetBuffer::from_lengths(sizes), items, nulls)),
        _ => {
            let size = i32::try_from(sizes[0]).unwrap();
            let items = items.slice(0, sizes.iter().sum());
            Arc::new(FixedSizeListArray::new(field, size, items, nulls))
        }
    };
    Told(array, shown)
}

/// The cells of the values that the keys name.
fn by_keys(Told(values, cells): Told, keys: &[Option<i8>]) -> Told {
    let shown = |key: &Option<i8>| {
        key.map_or("null".to_owned(), |key| cells[usize::try_from(key).unwrap()].clone())
    };
    let keys_array = arrow_array::PrimitiveArray::<Int8Type>::from(keys.to_vec());
    Told(Arc::new(DictionaryArray::new(keys_array, values)), keys.iter().map(shown).collect())
}

/// Each value twice in a row.
fn in_runs(Told(values, cells): Told) -> Told {
    let ends: Vec<i32> = (1..).map(|at| at * 2).take(cells.len()).collect();
    let runs = RunArray::<Int32Type>::try_new(&Int32Array::from(ends), &values).unwrap();
    Told(Arc::new(runs), cells.into_iter().flat_map(|cell| [cell.clone(), cell]).collect())
}

/// Structs of columns, some of them null.
fn together(columns: Vec<Told>, nulls: Option<&[bool]>, count: usize) -> Told {
    let named = columns.iter().enumerate();
    let fields: Fields = named
        .map(|(at, Told(array, _))| Field::new(format!("c{at}"), array.data_type().clone(), true))
        .collect();
    let row = |row: usize| {
        if nulls.is_some_and(|nulls| !nulls[row]) {
            return "null".to_owned();
        }
        let members = columns.iter().enumerate();
        let members: Vec<String> =
            members.map(|(at, Told(_, cells))| format!("\"c{at}\":{}", cells[row])).collect();
        format!("{{{}}}", members.join(","))
    };
    let shown = (0..count).map(row).collect();
    let arrays = columns.into_iter().map(|Told(array, _)| array).collect();
    let nulls = nulls.map(NullBuffer::from);
    Told(Arc::new(StructArray::try_new_with_length(fields, arrays, nulls, count).unwrap()), shown)
}

/// Mappings of one name each to the values.
fn mapped(Told(values, cells): Told) -> Told {
    let count = cells.len();
    let names: ArrayRef = Arc::new(StringArray::from_iter_values((0..count).map(|_| "k")));
    let fields: Fields = [
        Field::new("keys", DataType::Utf8, false),
        Field::new("values", values.data_type().clone(), true),
    ]
    .into_iter()
    .collect();
    let entries = StructArray::try_new(fields.clone(), vec![names, values], None).unwrap();
    let field = Arc::new(Field::new("entries", DataType::Struct(fields), false));
    let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(1, count));
    let shown = cells.iter().map(|cell| format!("{{\"k\":{cell}}}")).collect();
    Told(Arc::new(MapArray::new(field, offsets, entries, None, false)), shown)
}

fn columns(count: usize, depth: u32) -> BoxedStrategy<Told> {
    if depth == 0 {
        return scalars(count);
    }
    let inner = columns(count * 2, depth - 1);
    let nulls = || vec(any::<bool>(), count);
    let last = i8::try_from(count * 2).unwrap();
    prop_oneof![
        3 => scalars(count),
        3 => (inner.clone(), nulls(), 0..3_u8).prop_map(|(i, n, kind)| listed(i, &n, kind)),
        1 => (inner.clone(), vec(of(0..last), count)).prop_map(|(i, keys)| by_keys(i, &keys)),
        1 => columns(count, depth - 1).prop_map(mapped),
        1 => columns(count.div_ceil(2), depth - 1).prop_map(in_runs).prop_map(move |told| {
            Told(told.0.slice(0, count), told.1[..count].to_vec())
        }),
        2 => (vec(columns(count, depth - 1), 0..3), nulls())
            .prop_map(move |(columns, n)| together(columns, Some(&n), count)),
    ]
    .boxed()
}

fn read<N: Node>(node: &N) -> String {
    canonical::canonical(node, 64).unwrap_or_else(|fault| format!("{fault:?}"))
}

fn at<N: Node>(root: &N, path: &str) -> Option<String> {
    let path = Path::parse(path.as_bytes(), &crate::limits::Limits::DEFAULT).unwrap();
    match path.resolve(root) {
        Resolved::Found(node) => {
            let whole = read(&node);
            // What is told in less time is the same.
            if let Some(scalar) = node.scalar() {
                let text = match scalar {
                    Scalar::Null => "null".to_owned(),
                    Scalar::Boolean(boolean) => boolean.to_string(),
                    Scalar::Int(int) => read(&&Value::Number(Number::Int(int))),
                    Scalar::Float(float) => read(&&Value::Number(Number::Float(float))),
                    Scalar::Text(text) => read(&&Value::String(text.into())),
                };
                assert_eq!(text, whole);
            }
            Some(whole)
        }
        _ => None,
    }
}

const PATHS: [&str; 9] =
    ["", "c0", "c1", "c0.c0", "c0[1]", "c0[0].c0", "c0.k", "c1.c1[0].c0", "c0.c0.c0"];

proptest! {
    #[test]
    fn a_row_reads_as_its_json(
        told in vec(columns(7, 2), 1..3),
        nulls in vec(any::<bool>(), 7),
        from in 0..7_usize,
        cut in 0..7_usize,
    ) {
        let Told(array, cells) = together(told, Some(&nulls), 7);
        let (from, cut) = (from.min(cut), from.max(cut));
        // Cut by the producer, and again by us.
        let data = array.slice(from, 7 - from).to_data();
        let rows = Rows::new(&data, data.data_type(), 0..cut - from, &[]).unwrap();
        prop_assert_eq!(rows.len(), cut - from);
        let layout = Layout::default();
        let frame = Frame::new(&rows, &layout, 0..rows.len());
        for row in 0..rows.len() {
            let document = Document::parse(cells[from + row].as_bytes()).unwrap();
            for path in PATHS {
                let (ours, theirs) = (frame.record(row), document.root());
                prop_assert_eq!(at(&ours, path), at(&theirs, path), "{} of {}", path, cells[from + row]);
            }
        }
    }
}

fn column(cells: Cells, length: usize) -> Column {
    Column { nulls: None, cells, length }
}

fn texts(offsets: Vec<i32>) -> Cells {
    Cells::Text(Texts::Short(offsets.into(), Buffer::from_slice_ref([b'a'; 2])))
}

#[test]
fn an_array_that_is_shorter_than_it_says_is_unreadable() {
    let view = |length: u128, at: u128| vec![length | (at << 96)].into();
    let long = Buffer::from_slice_ref([b'a'; 26]);
    let items = || Box::new(column(texts(vec![0, 1]), 1));
    for cells in [
        texts(vec![0, 9]),
        texts(vec![2, 1]),
        texts(vec![-1, 1]),
        texts(vec![0]),
        texts(vec![]),
        Cells::Text(Texts::Views(view(20, 7), [long].into())),
        Cells::Text(Texts::Views(view(20, 0), [].into())),
        Cells::Int(Ints::I8(vec![].into())),
        Cells::Boolean(BooleanBuffer::new_set(0)),
        Cells::List(Spans::Short(vec![0, 2].into()), items()),
        Cells::List(Spans::Short(vec![1, 0].into()), items()),
        Cells::List(Spans::Long(vec![-2, 1].into()), items()),
        Cells::List(Spans::Fixed(usize::MAX, 3), items()),
        Cells::List(Spans::ShortViews(vec![1].into(), vec![i32::MAX].into()), items()),
        Cells::Map(Spans::Short(vec![0, 2].into()), items(), items()),
        Cells::Dictionary(Ints::I8(vec![5].into()), items()),
        Cells::Dictionary(Ints::I64(vec![-1].into()), items()),
        Cells::Runs(Ints::I32(vec![0].into()), 0, items()),
    ] {
        let shown = format!("{cells:?}");
        let root = column(Cells::Struct([("c".into(), column(cells, 1))].into()), 1);
        let rows = Rows { root, documents: 0 };
        let layout = Layout::default();
        let frame = Frame::new(&rows, &layout, 0..1);
        let node = frame.record(0).child(&Step::key(b"c")).unwrap().unwrap();
        let seen = node.view().and_then(|_| node.length());
        assert_eq!(seen.unwrap_err().reason, "the array is shorter than it says", "{shown}");
        assert!(
            node.any_item(&mut |item| item.view().map(|_| false)).is_err()
                || !shown.starts_with("List")
        );
    }
}
