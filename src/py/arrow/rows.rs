//! Arrays of records, one after the other, and what is asked about the rows of one.

use std::ops::Range;
use std::sync::{Mutex, PoisonError, TryLockError};

use arrow_data::ArrayData;
use arrow_schema::DataType;
use pyo3::exceptions::{PyIndexError, PyOSError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::capsule::{Fault, Source};
use super::record::to_python;
use crate::batch;
use crate::error::{Code, Problem, did_you_mean};
use crate::py::columns::marks;
use crate::py::errors::raised;
use crate::py::ruleset::RuleSet;
use crate::value::arrow::{ForeignColumn, Frame, Layout, Rows, RowsFault};
use crate::value::text::display;

/// Rows that are answered in one call: between calls an interrupt is noticed.
const TOGETHER: usize = 1 << 18;

/// Records from an object that hands over Arrow data, some rows at a time.
#[pyclass(module = "interlock._core", frozen)]
#[derive(Debug)]
pub(in crate::py) struct ArrowStream {
    json: Vec<String>,
    reading: Mutex<Reading>,
}

#[derive(Debug)]
struct Reading {
    source: Source,
    /// What is left of an array.
    rest: Option<(ArrayData, Range<usize>)>,
}

#[pymethods]
impl ArrowStream {
    /// Asks for a stream, or an array where there is none.
    #[new]
    fn new(records: &Bound<'_, PyAny>, json_columns: Vec<String>) -> PyResult<Self> {
        let py = records.py();
        let stream = intern!(py, "__arrow_c_stream__");
        let source = if records.get_type().hasattr(stream)? {
            Source::stream(&records.call_method0(stream)?)
        } else {
            let pair = records.call_method0(intern!(py, "__arrow_c_array__"))?;
            match pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() {
                Ok((schema, array)) => Source::array(&schema, &array),
                Err(_) => Err(Fault::Handed("handed over no pair of capsules".to_owned())),
            }
        };
        let source = source.map_err(|fault| refused(py, fault))?;
        if !matches!(source.kind(), DataType::Struct(_)) {
            let fault = RowsFault::NoStructs(source.kind().to_string().into());
            return Err(wrong_rows(py, fault));
        }
        Ok(Self { json: json_columns, reading: Mutex::new(Reading { source, rest: None }) })
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<ArrowRows>> {
        let found = py.detach(|| {
            let mut reading = match self.reading.try_lock() {
                Ok(reading) => reading,
                Err(TryLockError::Poisoned(reading)) => PoisonError::into_inner(reading),
                Err(TryLockError::WouldBlock) => {
                    return Err(Fault::Handed("is read by another thread".to_owned()));
                }
            };
            let next = reading.next()?;
            let kind = reading.source.kind();
            Ok(next.map(|(array, rows)| Rows::new(&array, kind, rows, &self.json)))
        });
        match found.map_err(|fault| refused(py, fault))? {
            None => Ok(None),
            Some(Ok(rows)) => Ok(Some(ArrowRows { rows })),
            Some(Err(fault)) => Err(wrong_rows(py, fault)),
        }
    }
}

impl Reading {
    fn next(&mut self) -> Result<Option<(ArrayData, Range<usize>)>, Fault> {
        let (array, mut rows) = match self.rest.take() {
            Some(rest) => rest,
            None => match self.source.next()? {
                Some(array) => {
                    let rows = 0..array.len();
                    (array, rows)
                }
                None => return Ok(None),
            },
        };
        let end = rows.end.min(rows.start.saturating_add(TOGETHER));
        if end < rows.end {
            self.rest = Some((array.clone(), end..rows.end));
        }
        rows.end = end;
        Ok(Some((array, rows)))
    }
}

fn refused(py: Python<'_>, fault: Fault) -> PyErr {
    match fault {
        Fault::Handed(what) => {
            raised(py, "ConfigError", &[Problem::new(Code::WrongType, "records", None, what)])
        }
        Fault::Failed(said) => PyOSError::new_err(format!("the Arrow stream failed: {said}")),
    }
}

fn wrong_rows(py: Python<'_>, fault: RowsFault) -> PyErr {
    let problem = match fault {
        RowsFault::NoStructs(kind) => {
            let message = format!(
                "a single column ({kind}), not records: wrap it, as `series.to_frame()` or \
                 `pyarrow.table({{\"name\": column}})` do"
            );
            Problem::new(Code::WrongType, "records", None, message)
        }
        RowsFault::Repeated(name) => {
            let message = "two columns have this name";
            Problem::new(Code::DuplicateName, "records", Some(format!("{name:?}")), message)
        }
        RowsFault::NoColumn(name, known) => {
            let known = || known.iter().map(|name| &**name);
            let near = did_you_mean(&name, known());
            let listed: Vec<&str> = known().take(20).collect();
            let message = format!("no such column{near} (the first ones: {})", listed.join(", "));
            Problem::new(Code::UnknownField, "json_columns", Some(format!("{name:?}")), message)
        }
        RowsFault::NoText(name) => {
            let message = "a column that holds no texts cannot be read as JSON";
            Problem::new(Code::WrongType, "json_columns", Some(format!("{name:?}")), message)
        }
    };
    raised(py, "ConfigError", &[problem])
}

/// Some records as rows of columns.
#[pyclass(module = "interlock._core", frozen, weakref)]
#[derive(Debug)]
pub(in crate::py) struct ArrowRows {
    rows: Rows,
}

#[pymethods]
impl ArrowRows {
    fn __len__(&self) -> usize {
        self.rows.len()
    }

    /// A row as plain data; or a `str` that says what is wrong with it.
    fn record<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyAny>> {
        if row >= self.rows.len() {
            return Err(PyIndexError::new_err("no such row"));
        }
        let layout = Layout::default();
        let frame = Frame::new(&self.rows, &layout, row..row + 1);
        match frame.bad().first() {
            Some((_, what)) => Ok(what.into_pyobject(py)?.into_any()),
            None => to_python(py, &frame.record(row)),
        }
    }
}

/// A column of 32-bit numbers; what is undecided: row and list; the rows that are no records and
/// what is wrong with them.
type Columns<'py> = (Bound<'py, PyBytes>, Vec<(usize, usize)>, Vec<(usize, String)>);

/// For each row the position of the first of n lists that holds; n for none, n + 1 where one before
/// any is undecided, n + 2 for a row that is no record.
#[pyfunction]
pub(in crate::py) fn first_of_rows<'py>(
    py: Python<'py>,
    rules: &Bound<'py, RuleSet>,
    rows: &Bound<'py, ArrowRows>,
    threads: usize,
) -> PyResult<Columns<'py>> {
    let (set, rows) = (&rules.get().set, &rows.get().rows);
    let query = set.of_rows(rows).map_err(|column| foreign(py, &column))?;
    let found = py.detach(|| batch::first_of_rows(&query, threads));
    Ok((column(py, &found.codes)?, found.open, found.bad))
}

/// Sets of lists, a column of 32-bit numbers, and the rows that are no records.
type StandingColumns<'py> = (Vec<Bound<'py, PyBytes>>, Bound<'py, PyBytes>, Vec<(usize, String)>);

/// The lists that hold in rows, each such set once, as `marked` reads it; for each row the position
/// of its set, or -1 where a list is undecided or the row is no record.
#[pyfunction]
pub(in crate::py) fn standing_of_rows<'py>(
    py: Python<'py>,
    rules: &Bound<'py, RuleSet>,
    rows: &Bound<'py, ArrowRows>,
) -> PyResult<StandingColumns<'py>> {
    let (set, rows) = (&rules.get().set, &rows.get().rows);
    let query = set.of_rows(rows).map_err(|column| foreign(py, &column))?;
    let found = py.detach(|| batch::standing_of_rows(&query));
    let sets = found.sets.iter().map(|standing| marks(py, standing));
    Ok((sets.collect(), column(py, &found.codes)?, found.bad))
}

fn column<'py>(py: Python<'py>, codes: &[i32]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, size_of_val(codes), |bytes| {
        for (bytes, code) in bytes.chunks_exact_mut(size_of::<i32>()).zip(codes) {
            bytes.copy_from_slice(&code.to_ne_bytes());
        }
        Ok(())
    })
}

fn foreign(py: Python<'_>, column: &ForeignColumn) -> PyErr {
    let path: Vec<_> = column.path.iter().map(|key| display(key)).collect();
    let field = format!("records.{}", path.join("."));
    let message = format!(
        "a column of the type {}, of which JSON has no values: cast it to a string or a number \
         that the checks are written for",
        column.kind
    );
    raised(py, "ConfigError", &[Problem::new(Code::NotJson, field, None, message)])
}

/// Refuses columns that a set asks for and that are of a type JSON has not.
#[pyfunction]
pub(in crate::py) fn check_rows(
    py: Python<'_>,
    rules: &Bound<'_, RuleSet>,
    rows: &Bound<'_, ArrowRows>,
) -> PyResult<()> {
    let query = rules.get().set.of_rows(&rows.get().rows);
    query.map(drop).map_err(|column| foreign(py, &column))
}
