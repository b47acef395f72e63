//! What a caller keeps for each list of a set, and what of it a record brings up.

use pyo3::Borrowed;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;

use crate::ruleset::Standing;

/// The entries of the lists that hold.
pub(super) fn picked<'py>(
    column: &Bound<'py, PyTuple>,
    standing: &Standing,
) -> PyResult<Bound<'py, PyTuple>> {
    let mut entries: SmallVec<[Borrowed<'_, 'py, PyAny>; 64]> = SmallVec::new();
    for list in standing.held() {
        entries.push(column.get_borrowed_item(list)?);
    }
    PyTuple::new(column.py(), entries)
}

/// A column of whole numbers.
#[pyclass(module = "interlock._core", frozen)]
#[derive(Debug)]
pub(super) struct Points(Box<[i64]>);

#[pymethods]
impl Points {
    /// Takes a number for each list; all of them together must fit into 64 bits.
    #[new]
    fn new(points: Vec<i64>) -> PyResult<Self> {
        let whole = points.iter().try_fold(0_u64, |sum, each| sum.checked_add(each.unsigned_abs()));
        match whole.map(i64::try_from) {
            Some(Ok(_)) => Ok(Self(points.into())),
            _ => Err(PyOverflowError::new_err("the sum does not fit into 64 bits")),
        }
    }
}

impl Points {
    /// The sum over the lists that hold.
    pub(super) fn sum(&self, standing: &Standing) -> i64 {
        let points = standing.held().filter_map(|list| self.0.get(list));
        points.fold(0, |sum, each| sum.saturating_add(*each))
    }
}
