//! Instants as they are called from Python: epoch milliseconds in and out.

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::errors::raised;
use super::scalar::text_of;
use super::with_node;
use crate::error::{Code, Problem};
use crate::instant::{self, Instant, Refusal};
use crate::preview::{REPORT, preview};
use crate::value::{Node, View};

/// Epoch milliseconds of a number of them or of ISO-8601 text with an offset.
#[pyfunction]
#[pyo3(signature = (value, /, field = "value"))]
pub(super) fn parse_instant(value: &Bound<'_, PyAny>, field: &str) -> PyResult<i64> {
    with_node!(value, &[], |node| read(&node).map(Instant::millis).map_err(|refusal| refused(
        value.py(),
        field,
        &node,
        refusal
    )))
}

/// `YYYY-MM-DDTHH:MM:SS.mmmZ` of epoch milliseconds.
#[pyfunction]
pub(super) fn format_instant(ms: &Bound<'_, PyAny>) -> PyResult<String> {
    with_node!(ms, &[], |node| match node.view() {
        Ok(View::Number(number)) => Instant::from_number(&number),
        _ => Err(Refusal::Form),
    }
    .map(|instant| instant.to_string())
    .map_err(|refusal| refused(ms.py(), "ms", &node, refusal)))
}

/// What a `Retry-After` header says: milliseconds to wait, and the instant of a date.
#[pyfunction]
#[pyo3(signature = (raw, now_ms = None))]
pub(super) fn retry_after(
    raw: &Bound<'_, PyString>,
    now_ms: Option<i64>,
) -> PyResult<(Option<i64>, Option<i64>)> {
    let now = now_ms.and_then(|millis| Instant::from_millis(millis).ok());
    let found = instant::retry_after(text_of(raw)?.as_bytes(), now);
    Ok((found.wait, found.until.map(Instant::millis)))
}

fn read<N: Node>(node: &N) -> Result<Instant, Refusal> {
    match node.view() {
        Ok(View::Number(number)) => Instant::from_number(&number),
        Ok(View::String(text)) => Instant::parse(text.as_bytes()),
        _ => Err(Refusal::Form),
    }
}

fn refused<N: Node>(py: Python<'_>, field: &str, node: &N, refusal: Refusal) -> PyErr {
    let value = Some(preview(node, REPORT));
    let problem = Problem::new(Code::NoInstant, field, value, refusal.to_string());
    raised(py, "ConfigError", &[problem])
}
