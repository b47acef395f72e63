//! Records as rows of Arrow columns, from whatever hands them over; answers as columns.

mod answers;
mod capsule;
mod record;
mod rows;
mod sound;

pub(super) use answers::ArrowAnswers;
pub(super) use record::ArrowForeign;
pub(super) use rows::{ArrowRows, ArrowStream, check_rows, first_of_rows, standing_of_rows};

use arrow_schema::ArrowError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What cannot be, unless the library is wrong.
#[expect(clippy::needless_pass_by_value, reason = "as `map_err` hands it over")]
fn broken(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
