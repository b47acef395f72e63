//! Plain copies: a value of any representation as `dict`, `list` and scalars of Python.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use super::errors::raised;
use super::node::{Context, PyNode};
use super::quick::Quick;
use super::scalar::to_python_text;
use crate::error::{Code, Problem};
use crate::limits::Limits;
use crate::preview::{REPORT, preview};
use crate::value::json::JsonNode;
use crate::value::owned::{Found, NotAValue};
use crate::value::{MemberName, Node, Number, Unreadable, Value, View};

/// Copies a value whole; scalars stay the objects they are.
#[pyfunction]
#[pyo3(signature = (value, /, field = "value", *, finite = false))]
pub(super) fn plain<'py>(
    value: &Bound<'py, PyAny>,
    field: &str,
    finite: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let depth = Limits::DEEPEST;
    if let Ok(json) = value.cast::<super::document::Json>() {
        return json_to_python(value.py(), json.get().root());
    }
    // PERF: data of plain types is copied in one go.
    if let Some(copied) = (Quick { left: Limits::NODES, finite }).copy(value, depth)? {
        return Ok(copied);
    }
    let context = Context::new(&[]);
    let node = PyNode::new(value.clone(), &context);
    // The walk that finds what JSON cannot hold; what it passes can be copied.
    let checked = Value::copy(&node, depth);
    context.finish()?;
    let fault = match checked {
        Err(fault) => Some(fault),
        Ok(checked) if finite => checked.not_finite(),
        Ok(_) => None,
    };
    if let Some(fault) = fault {
        return Err(not_a_value(value.py(), field, &node, &fault));
    }
    let copied = copy(&node, depth);
    context.finish()?;
    copied
}

/// The exception for a value that JSON cannot hold.
pub(super) fn not_a_value<N: Node>(
    py: Python<'_>,
    field: &str,
    node: &N,
    fault: &NotAValue,
) -> PyErr {
    let found = NotAValue::here(fault.found.clone());
    let code = match fault.found {
        Found::TooDeep(_) | Found::TooMany(_) => Code::OverLimit,
        _ => Code::NotJson,
    };
    let value = Some(preview(node, REPORT));
    raised(py, "ConfigError", &[Problem::new(code, fault.below(field), value, found.to_string())])
}

fn copy<'py>(node: &PyNode<'py, '_>, left: usize) -> PyResult<Bound<'py, PyAny>> {
    let object = node.object()?;
    let py = object.py();
    let below = left.saturating_sub(1);
    match node.view().map_err(|fault| read_error(&fault))? {
        _ if left == 0 => Ok(py.None().into_bound(py)),
        View::Array => {
            let list = PyList::empty(py);
            let mut raised = None;
            let read = node.any_item(&mut |item| {
                let appended = copy(&item, below).and_then(|item| list.append(item));
                raised = appended.err();
                Ok(raised.is_some())
            });
            read.map_err(|fault| read_error(&fault))?;
            raised.map_or(Ok(list.into_any()), Err)
        }
        View::Object => {
            let dict = PyDict::new(py);
            for (name, member) in node.members(usize::MAX).map_err(|fault| read_error(&fault))? {
                if let MemberName::Text(name) = name {
                    dict.set_item(to_python_text(py, &name)?, copy(&member, below)?)?;
                }
            }
            Ok(dict.into_any())
        }
        _ => Ok(object),
    }
}

/// A JSON value as Python objects: a number with a fraction or exponent is a `float`.
pub(super) fn json_to_python<'py>(
    py: Python<'py>,
    node: JsonNode<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    json_copy(py, node, Limits::DEEPEST)
}

fn json_copy<'py>(py: Python<'py>, node: JsonNode<'_>, left: usize) -> PyResult<Bound<'py, PyAny>> {
    let too_deep = || {
        let fault = NotAValue::here(Found::TooDeep(Limits::DEEPEST));
        not_a_value(py, "value", &node, &fault)
    };
    let view = node.view().map_err(|fault| unreadable(py, &fault))?;
    Ok(match view {
        View::Null | View::Opaque(_) => py.None().into_bound(py),
        View::Boolean(boolean) => PyBool::new(py, boolean).to_owned().into_any(),
        View::Number(Number::Int(int)) => int.into_pyobject(py)?.into_any(),
        View::Number(Number::Float(float)) => PyFloat::new(py, float).into_any(),
        // Through `Decimal`, which has no limit on digits and no quadratic cost.
        View::Number(Number::Exact(exact)) => {
            let decimal = py.import("decimal")?.getattr("Decimal")?.call1((exact.text(),))?;
            py.get_type::<PyInt>().call1((decimal,))?
        }
        View::String(text) => to_python_text(py, text.as_bytes())?.into_any(),
        _ if left == 0 => return Err(too_deep()),
        View::Array => {
            let list = PyList::empty(py);
            let mut raised = None;
            let read = node.any_item(&mut |item| {
                let appended = json_copy(py, item, left - 1).and_then(|item| list.append(item));
                raised = appended.err();
                Ok(raised.is_some())
            });
            read.map_err(|fault| unreadable(py, &fault))?;
            if let Some(error) = raised {
                return Err(error);
            }
            list.into_any()
        }
        View::Object => {
            let dict = PyDict::new(py);
            let members = node.members(usize::MAX).map_err(|fault| unreadable(py, &fault))?;
            for (name, member) in members {
                if let MemberName::Text(name) = name {
                    let name: Bound<'py, PyString> = to_python_text(py, &name)?;
                    dict.set_item(name, json_copy(py, member, left - 1)?)?;
                }
            }
            dict.into_any()
        }
    })
}

/// JSON text holds only what can be read, but for a number with too many digits.
fn unreadable(py: Python<'_>, fault: &Unreadable) -> PyErr {
    let problem = Problem::new(Code::OverLimit, "value", None, fault.reason.clone());
    raised(py, "ConfigError", &[problem])
}

fn read_error(fault: &Unreadable) -> PyErr {
    pyo3::exceptions::PyRuntimeError::new_err(fault.reason.clone())
}
