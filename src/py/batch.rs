//! Many records in one call, answered as columns.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::ruleset::RuleSet;
use super::with_node;
use crate::batch::{FirstOf, ask_lines, first_code};

/// Record, line, column, message.
type BadRow = (usize, usize, usize, &'static str);
/// A column of 32-bit numbers, the records that are undecided with where they stand, the lines
/// that are not JSON, and how many lines there are.
type LineColumns<'py> = (Bound<'py, PyBytes>, Vec<(usize, usize, usize)>, Vec<BadRow>, usize);

/// For each line of a JSON Lines text the position of the first list that holds; -1 for none;
/// -2 - n when list n is undecided; the least number of all for a line that is not JSON.
#[pyfunction]
pub(super) fn first_of_lines<'py>(
    rules: &Bound<'py, RuleSet>,
    text: &Bound<'py, PyBytes>,
    threads: usize,
) -> LineColumns<'py> {
    let (py, set, bytes) = (text.py(), &rules.get().set, text.as_bytes());
    let found = py.detach(|| ask_lines(&FirstOf::new(set), bytes, threads));
    let bad = found.bad.into_iter().map(|bad| (bad.record, bad.line, bad.column, bad.message));
    (column(py, &found.answers), found.marked, bad.collect(), found.lines)
}

/// The same column for a list of records in memory.
#[pyfunction]
pub(super) fn first_of_many<'py>(
    rules: &Bound<'py, RuleSet>,
    records: &Bound<'py, PyList>,
) -> PyResult<Bound<'py, PyBytes>> {
    let RuleSet { set, keys } = rules.get();
    let mut codes = Vec::with_capacity(records.len());
    for record in records {
        codes.push(first_code(with_node!(record, keys, |node| set.first(&node))));
    }
    Ok(column(records.py(), &codes))
}

fn column<'py>(py: Python<'py>, numbers: &[i32]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    PyBytes::new(py, &bytes)
}
