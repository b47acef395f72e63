//! What a caller keeps for each list of a set, and what of it a record brings up.

use pyo3::Borrowed;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyTuple};
use smallvec::SmallVec;

use crate::bits::Bits;
use crate::ruleset::Standing;

/// The lists that hold, as bytes: a bit for each, the lowest first, up to the last word that has
/// one; no byte when none holds.
pub(super) fn marks<'py>(py: Python<'py>, standing: &Standing) -> Bound<'py, PyBytes> {
    let words = standing.words();
    let used = words.iter().rposition(|word| *word != 0).map_or(0, |last| last.saturating_add(1));
    let bytes: SmallVec<[[u8; 8]; 4]> =
        words.iter().take(used).map(|word| word.to_le_bytes()).collect();
    PyBytes::new(py, bytes.as_flattened())
}

/// The entries of a column, which has one for every list, of those that are marked.
#[pyfunction]
pub(super) fn marked<'py>(
    column: &Bound<'py, PyTuple>,
    marks: &[u8],
) -> PyResult<Bound<'py, PyTuple>> {
    let (words, _) = marks.as_chunks();
    let lists = Bits::of_words(words.iter().map(|word| u64::from_le_bytes(*word)));
    let mut entries: SmallVec<[Borrowed<'_, 'py, PyAny>; 64]> = SmallVec::new();
    for list in &lists {
        entries.push(column.get_borrowed_item(list)?);
    }
    PyTuple::new(column.py(), entries)
}

/// A column of whole numbers.
#[pyclass(module = "interlock._core", frozen)]
#[derive(Debug)]
pub(super) struct Points(Box<[i128]>);

#[pymethods]
impl Points {
    /// Takes a number for each list; all of them together must fit into 128 bits.
    #[new]
    fn new(points: Vec<i128>) -> PyResult<Self> {
        let whole =
            points.iter().try_fold(0_u128, |sum, each| sum.checked_add(each.unsigned_abs()));
        match whole.map(i128::try_from) {
            Some(Ok(_)) => Ok(Self(points.into())),
            _ => Err(PyOverflowError::new_err("the sum does not fit into 128 bits")),
        }
    }
}

impl Points {
    /// The sum over the lists that hold.
    pub(super) fn sum<'py>(
        &self,
        py: Python<'py>,
        standing: &Standing,
    ) -> PyResult<Bound<'py, PyInt>> {
        let points = standing.held().filter_map(|list| self.0.get(list));
        // All of them together fit.
        let sum = points.fold(0_i128, |sum, each| sum.wrapping_add(*each));
        // PERF: a short number is made in less time.
        Ok(match i64::try_from(sum) {
            Ok(short) => short.into_pyobject(py)?,
            Err(_) => sum.into_pyobject(py)?,
        })
    }
}
