//! Text and numbers of Python as the core reads them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString};

use super::kind::{DECIMAL, named_type};
use crate::limits::Limits;
use crate::value::number::Decimal;
use crate::value::text::{code_points, from_points};
use crate::value::{Number, Text};

/// The text of a `str` without a copy where it is well formed, with halves where it is not.
pub(super) fn text_of<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Text<'a>> {
    if let Ok(text) = text.to_str() {
        return Ok(Text::borrowed(text));
    }
    // As `str` does it, whatever a subclass says.
    let plain = text.py().get_type::<PyString>();
    let encoded = plain.call_method1("encode", (text, "utf-8", "surrogatepass"))?;
    let bytes: &[u8] = encoded.cast::<PyBytes>()?.as_bytes();
    Ok(Text::from_generalised(from_points(code_points(bytes))))
}

/// A `str` from generalised UTF-8.
pub(super) fn to_python_text<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyString>> {
    if let Ok(text) = std::str::from_utf8(text) {
        return Ok(PyString::new(py, text));
    }
    let decoded = PyBytes::new(py, text).call_method1("decode", ("utf-8", "surrogatepass"))?;
    Ok(decoded.cast_into::<PyString>()?)
}

pub(super) fn int_number(int: &Bound<'_, PyAny>) -> PyResult<Number> {
    if let Ok(small) = int.extract::<i64>() {
        return Ok(Number::Int(small));
    }
    let py = int.py();
    let bits: usize = py.get_type::<PyInt>().call_method1("bit_length", (int,))?.extract()?;
    let too_long =
        || PyValueError::new_err(format!("an integer of more than {} digits", Limits::DIGITS));
    // A digit is less than four bits: this is decided before anything is converted.
    if bits > 4 * Limits::DIGITS {
        return Err(too_long());
    }
    // `str(int)` has a lower limit of its own; a `Decimal` of it has none.
    let decimal = named_type(py, &DECIMAL, "decimal", "Decimal")?.call1((int,))?;
    match decimal_number(&decimal)? {
        Number::Exact(exact) if exact.places() > Limits::DIGITS => Err(too_long()),
        number => Ok(number),
    }
}

pub(super) fn decimal_number(decimal: &Bound<'_, PyAny>) -> PyResult<Number> {
    // The text that `Decimal` itself gives: a subclass may show something else.
    let class = named_type(decimal.py(), &DECIMAL, "decimal", "Decimal")?;
    let text = class.call_method1("__str__", (decimal,))?;
    let text = text.cast::<PyString>()?.to_str()?;
    if let Some(exact) = Decimal::parse(text) {
        return Ok(Number::Exact(exact));
    }
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    if text.ends_with("Infinity") {
        Ok(Number::Float(sign * f64::INFINITY))
    } else if text.contains("NaN") {
        Ok(Number::Float(f64::NAN))
    } else {
        Err(PyValueError::new_err("a Decimal that cannot be read"))
    }
}

/// `module.Name`, without the module where it is built in.
pub(super) fn type_name(object: &Bound<'_, PyAny>) -> String {
    let kind = object.get_type();
    kind.fully_qualified_name()
        .map_or_else(|_| "object".to_owned(), |name| name.to_string_lossy().into_owned())
}
