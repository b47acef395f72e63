//! Many records in one call, answered as columns.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::columns::marks;
use super::ruleset::RuleSet;
use super::with_node;
use crate::batch::{FirstOf, Marked, StandingOf, ask_lines};
use crate::ruleset::First;

/// Record, line, column of the fault, message.
pub(super) type BadRow = (usize, usize, usize, &'static str);
/// Record, the list that is undecided, where the record starts and ends.
type OpenRow = (usize, usize, usize, usize);
/// A column of 32-bit numbers, what is undecided, the lines that are not JSON, and how many lines
/// there are.
type LineColumns<'py> = (Bound<'py, PyBytes>, Vec<OpenRow>, Vec<BadRow>, usize);
/// Sets of lists, a column of 32-bit numbers, what is undecided (record, start, end), the lines that
/// are not JSON, and how many lines there are.
type StandingColumns<'py> =
    (Vec<Bound<'py, PyBytes>>, Bound<'py, PyBytes>, Vec<(usize, usize, usize)>, Vec<BadRow>, usize);
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

/// The lists that hold in the lines of a JSON Lines text, each such set once, as `marked` reads it;
/// for each line the position of its set, or -1 where a list is undecided or the line is not JSON;
/// record, start and end of the undecided ones, the lines that are not JSON, how many lines there are.
#[pyfunction]
pub(super) fn standing_of_lines<'py>(
    rules: &Bound<'py, RuleSet>,
    text: &Bound<'py, PyBytes>,
    threads: usize,
) -> PyResult<StandingColumns<'py>> {
    let (py, set, bytes) = (text.py(), &rules.get().set, text.as_bytes());
    let found = py.detach(|| ask_lines(&StandingOf::new(set), bytes, threads));
    let (mut known, mut sets) = (BTreeMap::new(), Vec::new());
    let mut column = Vec::with_capacity(found.answers.len() * size_of::<i32>());
    for answer in &found.answers {
        let code = match answer {
            Some(standing) if standing.open().len() == 0 => {
                let next = i32::try_from(sets.len())?;
                *known.entry(standing.words()).or_insert_with(|| {
                    sets.push(marks(py, standing));
                    next
                })
            }
            _ => -1,
        };
        column.extend(code.to_ne_bytes());
    }
    let open =
        found.marked.iter().map(|Marked { record, place, .. }| (*record, place.start, place.end));
    let bad = found.bad.iter().map(|bad| (bad.record, bad.line, bad.column, bad.message));
    Ok((sets, PyBytes::new(py, &column), open.collect(), bad.collect(), found.lines))
}

/// As `first_of_lines` for a list of records in memory: the column, and what is undecided.
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
