//! Answers as Arrow columns.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int32Array, LargeStringArray, RecordBatch,
    RecordBatchIterator, StringArray, StructArray,
};
use arrow_schema::{Field, Fields, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};

use super::broken;
use super::capsule::{Pair, exported, exported_stream};

/// Texts of some of the answers, by position.
type Notes = BTreeMap<usize, String>;

/// Answers as an array of structs: `outcome`, `index`, `undetermined`, `error`.
#[pyclass(module = "interlock._core", frozen)]
#[derive(Debug)]
pub(in crate::py) struct ArrowAnswers(StructArray);

#[pymethods]
impl ArrowAnswers {
    /// Of the 32-bit codes in the column, those below `lists` are positions.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "arguments are extracted by value")]
    fn new(
        column: &Bound<'_, PyBytes>,
        outcomes: Vec<String>,
        lists: usize,
        undetermined: Notes,
        errors: Notes,
    ) -> PyResult<Self> {
        answers(column.as_bytes(), &outcomes, lists, &undetermined, &errors).map(Self)
    }

    /// A capsule with the schema and one with the array.
    fn array<'py>(&self, py: Python<'py>) -> PyResult<Pair<'py>> {
        exported(py, &self.0.to_data())
    }

    /// A capsule with a stream of one array.
    fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = Arc::new(Schema::new(self.0.fields().clone()));
        let batches = RecordBatchIterator::new([Ok(RecordBatch::from(self.0.clone()))], schema);
        exported_stream(py, FFI_ArrowArrayStream::new(Box::new(batches)))
    }
}

fn answers(
    column: &[u8],
    outcomes: &[String],
    lists: usize,
    undetermined: &Notes,
    errors: &Notes,
) -> PyResult<StructArray> {
    let codes: Vec<i32> = column.chunks_exact(4).map(code).collect();
    let place = |code: i32| usize::try_from(code).unwrap_or(usize::MAX);
    let index = |code: &i32| (place(*code) < lists).then_some(*code);
    let index: Int32Array = codes.iter().map(index).collect();
    let count = codes.len();
    let columns: [(&str, ArrayRef); 4] = [
        ("outcome", Arc::new(named(&codes, outcomes)?)),
        ("index", Arc::new(index)),
        ("undetermined", Arc::new(noted(count, undetermined))),
        ("error", Arc::new(noted(count, errors))),
    ];
    let field = |(name, array): &(&str, ArrayRef)| {
        Field::new(*name, array.data_type().clone(), *name != "outcome")
    };
    let fields: Fields = columns.iter().map(field).collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    StructArray::try_new_with_length(fields, arrays, None, count).map_err(broken)
}

fn code(bytes: &[u8]) -> i32 {
    bytes.try_into().map_or(-1, i32::from_ne_bytes)
}

/// Outcomes by code; those of one name are one.
fn named(codes: &[i32], outcomes: &[String]) -> PyResult<DictionaryArray<Int32Type>> {
    let mut names: Vec<&str> = Vec::new();
    let mut known = BTreeMap::new();
    let mut by_code = Vec::with_capacity(outcomes.len());
    for outcome in outcomes {
        by_code.push(*known.entry(outcome).or_insert_with(|| {
            names.push(outcome);
            i32::try_from(names.len()).unwrap_or(i32::MAX) - 1
        }));
    }
    let key = |code: &i32| by_code.get(usize::try_from(*code).ok()?).copied();
    let keys: Int32Array = codes.iter().map(key).collect();
    DictionaryArray::try_new(keys, Arc::new(StringArray::from(names))).map_err(broken)
}

fn noted(count: usize, notes: &Notes) -> LargeStringArray {
    let mut array: Vec<Option<&str>> = vec![None; count];
    for (place, note) in notes {
        if let Some(entry) = array.get_mut(*place) {
            *entry = Some(note);
        }
    }
    LargeStringArray::from(array)
}
