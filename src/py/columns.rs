//! What a caller keeps for each list of a set, and what of it a record brings up.

use pyo3::Borrowed;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use smallvec::SmallVec;

use crate::bits::Bits;
use crate::ruleset::Standing;

/// The entries of some lists.
fn picked<'py>(
    column: &Bound<'py, PyTuple>,
    lists: impl Iterator<Item = usize>,
) -> PyResult<Bound<'py, PyTuple>> {
    let mut entries: SmallVec<[Borrowed<'_, 'py, PyAny>; 64]> = SmallVec::new();
    for list in lists {
        entries.push(column.get_borrowed_item(list)?);
    }
    PyTuple::new(column.py(), entries)
}

/// The lists that hold, as bytes: a bit for each, the lowest first.
pub(super) fn marks<'py>(py: Python<'py>, standing: &Standing) -> Bound<'py, PyBytes> {
    let words = standing.words().iter().map(|word| word.to_le_bytes());
    let bytes: SmallVec<[[u8; 8]; 4]> = words.collect();
    PyBytes::new(py, bytes.as_flattened())
}

/// The entries of a column, which has one for every list, of those that are marked.
#[pyfunction]
pub(super) fn marked<'py>(
    column: &Bound<'py, PyTuple>,
    marks: &[u8],
) -> PyResult<Bound<'py, PyTuple>> {
    picked(column, bits(marks).iter())
}

/// A column of whole numbers.
#[pyclass(module = "interlock._core", frozen)]
#[derive(Debug)]
pub(super) struct Points(Column);

#[derive(Debug)]
enum Column {
    /// All of them together fit.
    Short(Box<[i128]>),
    Long(Py<PyTuple>),
}

#[pymethods]
impl Points {
    /// Takes a number for each list.
    #[new]
    fn new(points: Bound<'_, PyTuple>) -> Self {
        Self(short(&points).map_or_else(|| Column::Long(points.unbind()), Column::Short))
    }

    /// The sum over the lists that are marked.
    #[pyo3(name = "sum")]
    fn sum_of_marked<'py>(&self, py: Python<'py>, marks: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        self.sum(py, bits(marks).iter())
    }
}

/// The lists that are marked.
fn bits(marks: &[u8]) -> Bits {
    let (words, _) = marks.as_chunks();
    Bits::of_words(words.iter().map(|word| u64::from_le_bytes(*word)))
}

/// Numbers whose sum fits, whichever of them are added.
fn short(points: &Bound<'_, PyTuple>) -> Option<Box<[i128]>> {
    let short: Box<[i128]> =
        points.iter().map(|each| each.extract().ok()).collect::<Option<_>>()?;
    let most = short.iter().try_fold(0_u128, |sum, each| sum.checked_add(each.unsigned_abs()))?;
    i128::try_from(most).is_ok().then_some(short)
}

impl Points {
    /// The sum over some lists.
    pub(super) fn sum<'py>(
        &self,
        py: Python<'py>,
        lists: impl Iterator<Item = usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match &self.0 {
            Column::Short(points) => {
                let held = lists.filter_map(|list| points.get(list));
                let sum = held.fold(0_i128, |sum, each| sum.wrapping_add(*each));
                // PERF: a number of 64 bits is made in less time.
                Ok(match i64::try_from(sum) {
                    Ok(sum) => sum.into_pyobject(py)?.into_any(),
                    Err(_) => sum.into_pyobject(py)?.into_any(),
                })
            }
            Column::Long(points) => {
                let held = picked(points.bind(py), lists)?;
                let nothing = 0_i64.into_pyobject(py)?.into_any();
                held.iter().try_fold(nothing, |sum, each| sum.add(each))
            }
        }
    }
}
