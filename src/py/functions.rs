//! Functions of the core as they are called from Python.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::errors::raised;
use super::node::{Context, PyNode};
use super::plain::{json_to_python, not_a_value};
use super::scalar::{text_of, to_python_text};
use super::with_node;
use crate::canonical as forms;
use crate::check::Op;
use crate::error::{self, Code, Problem};
use crate::format::Format;
use crate::limits::Limits;
use crate::path::{Path, Resolved};
use crate::preview::{self as previews, REPORT, quote};
use crate::value::{Node, Value};

/// The canonical form (RFC 8785) of a value.
#[pyfunction]
pub(super) fn canonical(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let depth = Limits::DEFAULT.depth;
    with_node!(value, &[], |node| forms::canonical(&node, depth).map_err(|fault| not_a_value(
        value.py(),
        "value",
        &node,
        &fault
    )))
}

/// The first hexadecimal digits of the SHA-256 of the canonical form.
#[pyfunction]
#[pyo3(signature = (value, length = 64))]
pub(super) fn digest(value: &Bound<'_, PyAny>, length: usize) -> PyResult<String> {
    let depth = Limits::DEFAULT.depth;
    with_node!(value, &[], |node| forms::digest(&node, depth, length).map_err(|fault| not_a_value(
        value.py(),
        "value",
        &node,
        &fault
    )))
}

/// As `digest`, also for values without a canonical form (NaN, lone halves).
#[pyfunction]
#[pyo3(signature = (value, length = 64))]
pub(super) fn fingerprint(value: &Bound<'_, PyAny>, length: usize) -> PyResult<String> {
    // A spec stands a few levels down in what is told apart.
    let depth = Limits::DEEPEST + 8;
    with_node!(value, &[], |node| forms::fingerprint(&node, depth, length)
        .map_err(|fault| not_a_value(value.py(), "value", &node, &fault)))
}

/// A one-line preview of a value.
#[pyfunction]
#[pyo3(signature = (value, limit = 80))]
pub(super) fn preview(value: &Bound<'_, PyAny>, limit: usize) -> PyResult<String> {
    Ok(with_node!(value, &[], |node| previews::preview(&node, limit)))
}

type Resolution<'py> = (bool, Option<Bound<'py, PyAny>>, Option<Bound<'py, PyString>>);

/// Compact JSON of a value in its own key order: every digit kept, lone halves as escapes.
#[pyfunction]
pub(super) fn to_json(value: &Bound<'_, PyAny>) -> PyResult<String> {
    // A result wraps the values it carries in a few levels of its own.
    let depth = Limits::DEEPEST + 8;
    with_node!(value, &[], |node| Value::copy(&node, depth)
        .map(|value| previews::compact(&&value))
        .map_err(|fault| not_a_value(value.py(), "value", &node, &fault)))
}

/// Where a path leads: whether anything is there, the value, and where it stopped.
#[pyfunction]
pub(super) fn resolve<'py>(
    value: &Bound<'py, PyAny>,
    path: &Bound<'py, PyString>,
) -> PyResult<Resolution<'py>> {
    let py = value.py();
    let source = text_of(path)?;
    let path = Path::parse(source.as_bytes(), &Limits::DEFAULT).map_err(|fault| {
        let shown = Some(quote(source.as_bytes(), REPORT));
        let problem = Problem::new(Code::PathMalformed, "path", shown, fault.message);
        raised(py, "PathInvalid", &[problem])
    })?;
    if let Ok(json) = value.cast::<super::document::Json>() {
        let to_python = |node| json_to_python(py, node);
        return resolution(py, &path, &json.get().root(), to_python);
    }
    let context = Context::new(&[]);
    let found = resolution(py, &path, &PyNode::new(value.clone(), &context), |node| node.object());
    context.finish()?;
    found
}

fn resolution<'py, N: Node>(
    py: Python<'py>,
    path: &Path,
    root: &N,
    to_python: impl FnOnce(N) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Resolution<'py>> {
    match path.resolve(root) {
        Resolved::Found(node) => Ok((true, Some(to_python(node)?), None)),
        Resolved::Unreadable(fault) => {
            let errors = py.import("interlock.errors")?;
            let reason = format!("value: reading it failed: {}", fault.reason);
            Err(PyErr::from_value(errors.getattr("Undetermined")?.call1((reason,))?))
        }
        stopped => {
            let at = stopped.stopped_at();
            Ok((false, None, Some(to_python_text(py, &path.prefix(at))?)))
        }
    }
}

/// Whether a text is of a named format: the format's summary, and the answer (`None`: cannot be
/// told); nothing for a format that does not exist.
#[pyfunction]
pub(super) fn find_format(
    text: &Bound<'_, PyString>,
    name: &Bound<'_, PyString>,
) -> PyResult<Option<(&'static str, Option<bool>)>> {
    let name = text_of(name)?;
    let Some(format) = name.as_str().and_then(Format::named) else {
        return Ok(None);
    };
    Ok(Some((format.summary(), format.accepts(text_of(text)?.as_bytes()))))
}

/// Every op: name, what it takes, when it holds.
#[pyfunction]
pub(super) fn ops() -> Vec<(&'static str, &'static str, &'static str)> {
    Op::ALL.iter().map(|op| (op.name(), op.operand().name(), op.summary())).collect()
}

/// Every format: name and accepted subset.
#[pyfunction]
pub(super) fn formats() -> Vec<(&'static str, &'static str)> {
    Format::all().collect()
}

/// Every code of the catalogue of faults: slug and meaning.
#[pyfunction]
pub(super) fn codes() -> Vec<(&'static str, &'static str)> {
    Code::ALL.iter().map(|code| (code.slug(), code.meaning())).collect()
}

/// The default limits by name.
#[pyfunction]
pub(super) fn limits(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, limit) in Limits::DEFAULT.entries().into_iter().filter(|(_, n)| *n < usize::MAX) {
        dict.set_item(name, limit)?;
    }
    Ok(dict)
}

/// The nearest of the known names, when one is near enough to be meant.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments are extracted by value")]
pub(super) fn nearest(name: &Bound<'_, PyString>, known: Vec<String>) -> PyResult<Option<String>> {
    let name = text_of(name)?;
    let near = name
        .as_str()
        .and_then(|name| error::nearest(name, known.iter().map(String::as_str)).map(str::to_owned));
    Ok(near)
}
