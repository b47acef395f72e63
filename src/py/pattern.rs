//! `Pattern`: an ECMAScript pattern as a Python object.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::errors::{pattern_error, raised};
use super::ruleset::limits_from;
use super::scalar::{text_of, to_python_text};
use crate::error::{Code, Problem};
use crate::limits::Limits;
use crate::pattern::{self, Explanation, Note};
use crate::preview::{REPORT, quote};
use crate::value::text::{code_points, from_points};

/// Bytes of a text from which on other threads may run meanwhile.
const LONG: usize = 4_096;

/// A compiled pattern.
#[pyclass(module = "interlock._core", frozen, weakref, eq, hash)]
#[derive(Debug)]
pub(super) struct Pattern {
    source: Box<[u8]>,
    flags: Box<[u8]>,
    limits: Limits,
    compiled: Arc<pattern::Pattern>,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.flags == other.flags && self.limits == other.limits
    }
}

impl Eq for Pattern {}

impl std::hash::Hash for Pattern {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (&self.source, &self.flags, &self.limits).hash(state);
    }
}

type SourceAndFlags<'py> = (Bound<'py, PyString>, Bound<'py, PyString>);

impl Pattern {
    pub(super) fn compiled(&self) -> &Arc<pattern::Pattern> {
        &self.compiled
    }
}

#[pymethods]
impl Pattern {
    #[new]
    #[pyo3(signature = (source, flags = None, *, limits = None))]
    fn new(
        source: &Bound<'_, PyString>,
        flags: Option<&Bound<'_, PyString>>,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = source.py();
        let limits = limits_from(py, limits)?;
        let source: Box<[u8]> = text_of(source)?.as_bytes().into();
        let flags: Box<[u8]> = match flags {
            Some(flags) => text_of(flags)?.as_bytes().into(),
            None => Box::default(),
        };
        let compiled = pattern::compiled(&source, &flags, &limits)
            .map_err(|fault| pattern_error(py, &source, &fault))?;
        Ok(Self { source, flags, limits, compiled })
    }

    fn test(&self, text: &Bound<'_, PyString>) -> PyResult<bool> {
        let py = text.py();
        // A subclass may tell another length.
        let characters = text.is_exact_instance_of::<PyString>().then(|| text.len()).transpose()?;
        let text = text_of(text)?;
        let bytes = text.as_bytes();
        let is_ascii = characters == Some(bytes.len());
        let test = if is_ascii { pattern::Pattern::test_narrow } else { pattern::Pattern::test };
        let run = || test(&self.compiled, bytes);
        let found = if bytes.len() < LONG { run() } else { py.detach(run) };
        found.map_err(|fault| {
            let value = Some(quote(bytes, REPORT));
            let problem = Problem::new(Code::PatternUnsupported, "text", value, fault.to_string());
            raised(py, "PatternUnsupported", &[problem])
        })
    }

    fn explain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let explanation = self
            .compiled
            .explain(&self.source, &self.flags, &self.limits)
            .map_err(|fault| pattern_error(py, &self.source, &fault))?;
        let source: Vec<u32> = code_points(&self.source).collect();
        let classes = py.import("interlock._patterns")?;
        let note = classes.getattr("PatternNote")?;
        let notes: PyResult<Vec<_>> = explanation
            .notes
            .iter()
            .map(|Note { start, end, is_hint, text }| {
                let part = source.get(*start..*end).unwrap_or_default().iter().copied();
                let part = to_python_text(py, &from_points(part))?;
                note.call1((*start, *end, part, *is_hint, text))
            })
            .collect();
        let Explanation { engine, states, bytes, lookarounds, .. } = explanation;
        let notes = PyTuple::new(py, notes?)?;
        let (source, flags) = (self.source(py)?, self.flags(py)?);
        classes.getattr("PatternExplanation")?.call1((
            source,
            flags,
            engine,
            states,
            bytes,
            lookarounds,
            notes,
        ))
    }

    #[getter]
    fn source<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        to_python_text(py, &self.source)
    }

    #[getter]
    fn flags<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        to_python_text(py, &self.flags)
    }

    fn __repr__(&self) -> String {
        format!("Pattern({}, {})", quote(&self.source, REPORT), quote(&self.flags, REPORT))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, SourceAndFlags<'py>)> {
        let (py, this) = (slf.py(), slf.get());
        let changed = PyDict::new(py);
        for ((name, limit), (_, default)) in
            this.limits.entries().into_iter().zip(Limits::DEFAULT.entries())
        {
            if limit != default {
                changed.set_item(name, limit)?;
            }
        }
        let mut class = slf.as_any().get_type().into_any();
        if !changed.is_empty() {
            let given = PyDict::new(py);
            given.set_item("limits", changed)?;
            class = py.import("functools")?.getattr("partial")?.call((class,), Some(&given))?;
        }
        Ok((class, (this.source(py)?, this.flags(py)?)))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }
}
