//! Columns are answered as the walk answers each of their rows.

use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int8Array,
    Int64Array, LargeStringArray, StringArray, StringViewArray, StructArray, UInt64Array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{Field, Fields};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

use crate::ruleset::Memos;
use crate::ruleset::index::tests::{checks, compiled};
use crate::value::arrow::{Frame, Layout, Rows};

const COUNT: usize = 12;

fn column() -> impl Strategy<Value = ArrayRef> {
    let ints = || vec(of(select(&[0_i64, 1, 2, -3, 1 << 53, (1 << 53) + 1][..])), COUNT);
    let floats = || {
        let some = [
            0.0,
            -0.0,
            1.0,
            2.5,
            0.1,
            0.7,
            100.0,
            f64::NAN,
            f64::INFINITY,
            9_007_199_254_740_992.0,
        ];
        vec(of(select(some.to_vec())), COUNT)
    };
    let texts = || {
        let some = ["", "a", "ab", "abc", "b", "bc", "c", "é", "😀", "abcabcabcabcabc"];
        vec(of(select(some.to_vec())), COUNT)
    };
    let array = |array: ArrayRef| array;
    prop_oneof![
        ints().prop_map(move |v| array(Arc::new(Int64Array::from(v)))),
        ints().prop_map(move |v| {
            let small = v.iter().map(|v| v.and_then(|v| i8::try_from(v).ok()));
            array(Arc::new(small.collect::<Int8Array>()))
        }),
        vec(of(select(&[0, 1, u64::MAX][..])), COUNT)
            .prop_map(move |v| array(Arc::new(UInt64Array::from(v)))),
        floats().prop_map(move |v| array(Arc::new(Float64Array::from(v)))),
        floats().prop_map(move |v| {
            #[expect(clippy::cast_possible_truncation, reason = "some of them are rounded")]
            let narrow = v.iter().map(|v| v.map(|v| v as f32));
            array(Arc::new(narrow.collect::<Float32Array>()))
        }),
        texts().prop_map(move |v| array(Arc::new(StringArray::from(v)))),
        texts().prop_map(move |v| array(Arc::new(LargeStringArray::from(v)))),
        texts().prop_map(move |v| array(Arc::new(StringViewArray::from(v)))),
        texts().prop_map(move |v| array(Arc::new(
            v.into_iter().collect::<DictionaryArray<Int8Type>>()
        ))),
        vec(of(any::<bool>()), COUNT).prop_map(move |v| array(Arc::new(BooleanArray::from(v)))),
    ]
}

fn together(names: &[&str], columns: Vec<ArrayRef>, nulls: Option<Vec<bool>>) -> StructArray {
    let named = names.iter().zip(&columns);
    let fields: Fields =
        named.map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    StructArray::new(fields, columns, nulls.map(NullBuffer::from))
}

/// Rules of few checks, so that many are what decides.
fn sets() -> impl Strategy<Value = String> {
    // A pattern that is not run: undecided for every text.
    let open = select(&["p", "q", "r"][..])
        .prop_map(|path| format!(r#"{{"path":"{path}","op":"matches","expected":"(a*)\\1"}}"#));
    let rule = (vec(prop_oneof![3 => checks(), 1 => open], 1..4), select(&["all", "any"][..]));
    vec(rule, 1..6).prop_map(|rules| {
        let shown = rules.iter().enumerate().map(|(at, (checks, either))| {
            format!(r#"{{"id":"r{at}","when":[{}],"match":"{either}"}}"#, checks.join(","))
        });
        format!("[{}]", shown.collect::<Vec<_>>().join(","))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn columns_answer_as_the_walk(
        rules in sets(),
        flat in vec(column(), 3),
        below in column(),
        nulls in of(vec(any::<bool>(), COUNT)),
        outer in of(vec(any::<bool>(), COUNT)),
        is_deep in any::<bool>(),
    ) {
        let mut set = compiled(&rules);
        set.index = None;
        let mut columns = flat;
        if is_deep {
            columns[0] = Arc::new(together(&["p"], vec![below], nulls));
        }
        let array = together(&["p", "q", "r"], columns, outer);
        let rows = Rows::new(&array.to_data(), array.data_type(), 0..COUNT, &[]).unwrap();
        let layout = Layout::default();
        let frame = Frame::new(&rows, &layout, 0..COUNT);
        let query = set.of_rows(&rows).unwrap();
        let mut memos = Memos::default();
        for range in [0..COUNT, 3..COUNT - 2] {
            let walked = range.clone().map(|row| (row, set.walk_first(&frame.record(row))));
            let mut found = Vec::new();
            query.first(range.clone(), &mut memos, |row, answer| found.push((row, answer.unwrap())));
            prop_assert_eq!(found, walked.collect::<Vec<_>>());
        }
    }
}
