//! `Json`: a record as parsed JSON text.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use super::errors::raised;
use super::plain::json_to_python;
use crate::error::{Code, Problem};
use crate::preview::{REPORT, preview};
use crate::value::json::{Document, INVALID_UTF8, JsonFault, JsonNode};

/// A parsed JSON document.
#[pyclass(module = "interlock._core", frozen, weakref)]
#[derive(Debug)]
pub(super) struct Json {
    document: Document,
}

impl Json {
    pub(super) fn root(&self) -> JsonNode<'_> {
        self.document.root()
    }
}

#[pymethods]
impl Json {
    #[new]
    #[pyo3(signature = (text, /, *, unique_keys = false))]
    fn new(text: &Bound<'_, PyAny>, unique_keys: bool) -> PyResult<Self> {
        let py = text.py();
        let encoded;
        let bytes = if let Ok(bytes) = text.cast::<PyBytes>() {
            bytes.as_bytes()
        } else if let Ok(text) = text.cast::<PyString>() {
            encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
            encoded.cast::<PyBytes>()?.as_bytes()
        } else {
            return Err(PyTypeError::new_err("Json takes bytes or str"));
        };
        // The field of a fault in a text is its line and column.
        let invalid = |code, offset, value, message: &'static str| {
            let (line, column) = JsonFault { offset, message }.place(bytes);
            let field = format!("{line}:{column}");
            raised(py, "InputInvalid", &[Problem::new(code, field, value, message)])
        };
        let document = py.detach(|| Document::parse(bytes)).map_err(|fault| {
            // A `str` cannot be in a wrong encoding, but it can hold half a character.
            let half = fault.message == INVALID_UTF8 && text.is_instance_of::<PyString>();
            let message = if half { "half a surrogate pair; escape it" } else { fault.message };
            invalid(Code::JsonSyntax, fault.offset, None, message)
        })?;
        if unique_keys && let Some((name, offset)) = document.root().repeated_name() {
            let value = Some(crate::preview::quote(name, REPORT));
            return Err(invalid(Code::RepeatedKey, offset, value, "stands twice in one mapping"));
        }
        Ok(Self { document })
    }

    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json_to_python(py, self.root())
    }

    fn __repr__(&self) -> String {
        format!("Json({})", preview(&self.root(), REPORT))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, pyo3::types::PyType>, (String,)) {
        (slf.as_any().get_type(), (slf.get().document.input().to_owned(),))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }
}
