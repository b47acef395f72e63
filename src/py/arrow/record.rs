//! A row as `dict`, `list` and scalars of Python.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyList, PyString};

use crate::error::{Code, Problem};
use crate::py::errors::raised;
use crate::py::plain::json_to_python;
use crate::py::scalar::to_python_text;
use crate::value::arrow::ArrowNode;
use crate::value::{MemberName, Node as _, Number, Read, View};

/// What stands where a value is that JSON has not.
#[pyclass(module = "interlock._core", frozen)]
#[derive(Debug)]
pub(in crate::py) struct ArrowForeign(Box<str>);

#[pymethods]
impl ArrowForeign {
    fn __repr__(&self) -> String {
        format!("<a value of the Arrow type {}>", self.0)
    }
}

/// Copies a value; recursion is as deep as its type, which is bounded.
pub(super) fn to_python<'py>(py: Python<'py>, node: &ArrowNode<'_>) -> PyResult<Bound<'py, PyAny>> {
    if let ArrowNode::Json(json) = node {
        return json_to_python(py, *json);
    }
    let text = |text: &[u8]| to_python_text(py, text).map(Bound::into_any);
    Ok(match read(py, node.view())? {
        View::Null => py.None().into_bound(py),
        View::Boolean(boolean) => PyBool::new(py, boolean).to_owned().into_any(),
        View::Number(Number::Int(int)) => int.into_pyobject(py)?.into_any(),
        View::Number(Number::Float(float)) => PyFloat::new(py, float).into_any(),
        View::Number(Number::Exact(exact)) => {
            py.import("decimal")?.getattr("Decimal")?.call1((exact.text(),))?
        }
        View::String(string) => text(string.as_bytes())?,
        View::Opaque(kind) => Bound::new(py, ArrowForeign(kind))?.into_any(),
        View::Array => {
            let list = PyList::empty(py);
            let mut raised = None;
            read(
                py,
                node.any_item(&mut |item| {
                    raised = to_python(py, &item).and_then(|item| list.append(item)).err();
                    Ok(raised.is_some())
                }),
            )?;
            raised.map_or(Ok(list.into_any()), Err)?
        }
        View::Object => {
            let dict = PyDict::new(py);
            for (name, member) in read(py, node.members(usize::MAX))? {
                let name = match name {
                    MemberName::Text(name) => text(&name)?,
                    MemberName::Other(_) => PyString::new(py, "null").into_any(),
                };
                dict.set_item(name, to_python(py, &member)?)?;
            }
            dict.into_any()
        }
    })
}

fn read<T>(py: Python<'_>, found: Read<T>) -> PyResult<T> {
    found.map_err(|fault| {
        let problem = Problem::new(Code::WrongType, "records", None, fault.reason);
        raised(py, "ConfigError", &[problem])
    })
}
