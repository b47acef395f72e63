//! Many records in one call, answered as columns.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::ruleset::RuleSet;
use super::with_node;
use crate::batch::{FirstOf, Marked, ask_lines};
use crate::ruleset::First;

/// Record, line, column of the fault, message.
pub(super) type BadRow = (usize, usize, usize, &'static str);
/// Record, the list that is undecided, where the record starts and ends.
type OpenRow = (usize, usize, usize, usize);
/// A column of 32-bit numbers, what is undecided, the lines that are not JSON, and how many lines
/// there are.
type LineColumns<'py> = (Bound<'py, PyBytes>, Vec<OpenRow>, Vec<BadRow>, usize);
/// A column of 32-bit numbers, and what is undecided: record and list.
type Columns<'py> = (Bound<'py, PyBytes>, Vec<(usize, usize)>);

/// For each line of a JSON Lines text the position of the first of n lists that holds; n for none,
/// n + 1 where one before any is undecided, n + 2 for a line that is not JSON.
#[pyfunction]
pub(super) fn first_of_lines<'py>(
    rules: &Bound<'py, RuleSet>,
    text: &Bound<'py, PyBytes>,
    threads: usize,
) -> PyResult<LineColumns<'py>> {
    let (py, set, bytes) = (text.py(), &rules.get().set, text.as_bytes());
    let found = py.detach(|| ask_lines(&FirstOf::new(set), bytes, threads));
    let bad = found.bad.iter().map(|bad| (bad.record, bad.line, bad.column, bad.message));
    let open = found.marked.iter().filter_map(|Marked { record, place, .. }| {
        match found.answers.get(*record)? {
            Some(First::Undetermined(rule)) => Some((*record, *rule, place.start, place.end)),
            _ => None,
        }
    });
    Ok((column(py, set.len(), &found.answers)?, open.collect(), bad.collect(), found.lines))
}

/// The same column for a list of records in memory, and what is undecided.
#[pyfunction]
pub(super) fn first_of_many<'py>(
    rules: &Bound<'py, RuleSet>,
    records: &Bound<'py, PyList>,
) -> PyResult<Columns<'py>> {
    let RuleSet { set, keys } = rules.get();
    let mut answers = Vec::with_capacity(records.len());
    let mut open = Vec::new();
    for (place, record) in records.iter().enumerate() {
        let first = with_node!(record, keys, |node| set.first(&node));
        if let First::Undetermined(rule) = first {
            open.push((place, rule));
        }
        answers.push(Some(first));
    }
    Ok((column(records.py(), set.len(), &answers)?, open))
}

fn column<'py>(
    py: Python<'py>,
    lists: usize,
    answers: &[Option<First>],
) -> PyResult<Bound<'py, PyBytes>> {
    let lists = i32::try_from(lists.saturating_add(3))? - 3;
    let mut bytes = Vec::with_capacity(answers.len() * size_of::<i32>());
    for answer in answers {
        let number = match answer {
            Some(First::Hit(rule)) => i32::try_from(*rule)?,
            Some(First::Miss) => lists,
            Some(First::Undetermined(_)) => lists + 1,
            None => lists + 2,
        };
        bytes.extend(number.to_ne_bytes());
    }
    Ok(PyBytes::new(py, &bytes))
}
