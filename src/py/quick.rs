//! Copies of data that is made of exact built-in types, in one walk.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use smallvec::SmallVec;

use super::kind::exact;

/// A copy in the making; given up where a longer look is needed.
pub(super) struct Quick {
    /// How many more values it may hold.
    pub(super) left: usize,
    /// Whether NaN and the infinities are refused.
    pub(super) finite: bool,
}

impl Quick {
    /// A copy of a value nested at most so deep; `None` for anything that is not certain to be plain
    /// data within the limits.
    pub(super) fn copy<'py>(
        &mut self,
        value: &Bound<'py, PyAny>,
        depth: usize,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        if self.is_scalar(value) {
            return Ok(Some(value.clone()));
        }
        let Some(below) = depth.checked_sub(1) else { return Ok(None) };
        // The copy of the outer level is our own: nobody else changes it while it is gone through.
        if let Some(dict) = exact::<PyDict>(value) {
            self.dict(dict.copy()?, below)
        } else if let Some(list) = exact::<PyList>(value) {
            self.list(list.get_slice(0, list.len()), below)
        } else if let Some(tuple) = exact::<PyTuple>(value) {
            self.list(tuple.to_list(), below)
        } else {
            Ok(None)
        }
    }

    fn dict<'py>(
        &mut self,
        dict: Bound<'py, PyDict>,
        depth: usize,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut inner: SmallVec<[_; 4]> = SmallVec::new();
        for (key, value) in &dict {
            if exact::<PyString>(&key).is_none_or(|key| key.to_str().is_err()) {
                return Ok(None);
            }
            let Some(copied) = self.copy(&value, depth)? else { return Ok(None) };
            if !copied.is(&value) {
                inner.push((key, copied));
            }
        }
        for (key, value) in inner {
            dict.set_item(key, value)?;
        }
        Ok(Some(dict.into_any()))
    }

    fn list<'py>(
        &mut self,
        list: Bound<'py, PyList>,
        depth: usize,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        for (position, value) in list.iter().enumerate() {
            let Some(copied) = self.copy(&value, depth)? else { return Ok(None) };
            if !copied.is(&value) {
                list.set_item(position, copied)?;
            }
        }
        Ok(Some(list.into_any()))
    }

    fn is_scalar(&self, value: &Bound<'_, PyAny>) -> bool {
        if let Some(float) = exact::<PyFloat>(value) {
            return !self.finite || float.value().is_finite();
        }
        value.is_exact_instance_of::<PyString>()
            || value.is_none()
            || value.is_exact_instance_of::<PyBool>()
            || exact::<PyInt>(value).is_some_and(|int| int.extract::<i64>().is_ok())
    }
}
