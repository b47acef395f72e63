//! From faults of the core to the exceptions of `interlock.errors`.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::{Code, Problem};
use crate::pattern::{FaultKind, PatternFault};
use crate::preview::{REPORT, quote};

/// An exception of the named class with these problems.
pub(super) fn raised(py: Python<'_>, class: &str, problems: &[Problem]) -> PyErr {
    let built = || -> PyResult<PyErr> {
        let errors = py.import("interlock.errors")?;
        let problems = to_python(py, problems)?;
        Ok(PyErr::from_value(errors.getattr(class)?.call1((problems,))?))
    };
    built().unwrap_or_else(|error| error)
}

/// Problems as a tuple of `interlock.errors.Problem`.
pub(super) fn to_python<'py>(
    py: Python<'py>,
    problems: &[Problem],
) -> PyResult<Bound<'py, PyTuple>> {
    let class = py.import("interlock.errors")?.getattr("Problem")?;
    let problems: PyResult<Vec<_>> = problems
        .iter()
        .map(|problem| {
            let Problem { code, field, value, message } = problem;
            class.call1((code.slug(), field.as_str(), value.as_deref(), message.as_str()))
        })
        .collect();
    PyTuple::new(py, problems?)
}

/// The exception for a refused pattern.
pub(super) fn pattern_error(py: Python<'_>, source: &[u8], fault: &PatternFault) -> PyErr {
    let (class, code) = match fault.kind {
        FaultKind::Invalid => ("PatternInvalid", Code::PatternInvalid),
        FaultKind::Unsupported => ("PatternUnsupported", Code::PatternUnsupported),
        FaultKind::TooLarge => ("PatternTooLarge", Code::PatternTooLarge),
    };
    let field = if fault.slug == "invalid.flags" { "flags" } else { "source" };
    let value = Some(quote(source, REPORT));
    raised(py, class, &[Problem::new(code, field, value, fault.to_string())])
}
