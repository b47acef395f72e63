//! Arrow data handed over in capsules (the Arrow C data interface and its Python protocol).
//!
//! The only file in which memory is trusted to be what somebody says it is: that is what the
//! interface consists of. What can be checked is: the name of a capsule, that it was not read
//! before, lengths; a producer whose numbers make no array is refused.
#![expect(unsafe_code, reason = "the C data interface hands over pointers")]

use std::ffi::{CStr, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// Arrays of one type, one after the other.
#[derive(Debug)]
pub(super) enum Source {
    /// One array, until it is given.
    Array(Option<ArrayData>),
    /// A stream, until its end.
    Stream(Option<FFI_ArrowArrayStream>, DataType),
}

/// Why nothing could be read.
#[derive(Debug)]
pub(super) enum Fault {
    /// What was handed over is not what it has to be.
    Handed(String),
    /// The stream said that it failed.
    Failed(String),
}

/// A pair of capsules with schema and array.
pub(super) type Pair<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);

impl Source {
    /// Takes the stream out of its capsule.
    pub(super) fn stream(capsule: &Bound<'_, PyAny>) -> Result<Self, Fault> {
        let pointer = pointer::<FFI_ArrowArrayStream>(capsule, STREAM)?;
        // SAFETY: a capsule of this name holds a pointer to such a struct, aligned as was checked,
        // which the capsule keeps alive during this call; what it held is replaced by an empty one.
        let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer) };
        let Some(get_schema) = stream.get_schema.filter(|_| stream.release.is_some()) else {
            return Err(read_before());
        };
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: the function is of this stream, which is not released; both outlive the call.
        let code = unsafe { get_schema(&raw mut stream, &raw mut schema) };
        if code != 0 {
            return Err(failed(&mut stream, code));
        }
        let kind = guarded(|| DataType::try_from(&schema))?;
        Ok(Self::Stream(Some(stream), kind))
    }

    /// Takes the array out of its capsules.
    pub(super) fn array(
        schema: &Bound<'_, PyAny>,
        array: &Bound<'_, PyAny>,
    ) -> Result<Self, Fault> {
        let schema = pointer::<FFI_ArrowSchema>(schema, SCHEMA)?;
        let array = pointer::<FFI_ArrowArray>(array, ARRAY)?;
        // SAFETY: as for a stream.
        let (schema, array) =
            unsafe { (FFI_ArrowSchema::from_raw(schema), FFI_ArrowArray::from_raw(array)) };
        if array.is_released() {
            return Err(read_before());
        }
        let kind = guarded(|| DataType::try_from(&schema))?;
        Ok(Self::Array(Some(imported(array, kind)?)))
    }

    /// The type of the arrays.
    pub(super) fn kind(&self) -> &DataType {
        match self {
            Self::Array(array) => array.as_ref().map_or(&DataType::Null, ArrayData::data_type),
            Self::Stream(_, kind) => kind,
        }
    }

    /// The next array; nothing more after a fault.
    pub(super) fn next(&mut self) -> Result<Option<ArrayData>, Fault> {
        let (stream, kind) = match self {
            Self::Array(array) => return Ok(array.take()),
            Self::Stream(stream, kind) => (stream, kind),
        };
        let Some(mut reading) = stream.take() else { return Ok(None) };
        let Some(get_next) = reading.get_next else { return Err(read_before()) };
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: as for the schema.
        let code = unsafe { get_next(&raw mut reading, &raw mut array) };
        if code != 0 {
            return Err(failed(&mut reading, code));
        }
        if array.is_released() {
            return Ok(None);
        }
        let array = imported(array, kind.clone())?;
        *stream = Some(reading);
        Ok(Some(array))
    }
}

/// The pointer in a capsule of that name.
fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &CStr) -> Result<*mut T, Fault> {
    let wanted = || format!("a capsule of the name {name:?}");
    let Ok(capsule) = capsule.cast::<PyCapsule>() else {
        let kind = super::super::scalar::type_name(capsule);
        return Err(Fault::Handed(format!("handed over {kind}, not {}", wanted())));
    };
    match capsule.pointer_checked(Some(name)) {
        Ok(pointer) if pointer.cast::<T>().is_aligned() => Ok(pointer.cast().as_ptr()),
        _ => Err(Fault::Handed(format!("handed over something else than {}", wanted()))),
    }
}

fn imported(array: FFI_ArrowArray, kind: DataType) -> Result<ArrayData, Fault> {
    // SAFETY: a producer keeps to the interface: the buffers are as long as type and length say.
    guarded(|| unsafe { from_ffi_and_data_type(array, kind) })
}

/// What makes no sense is refused, also where the library gives up.
fn guarded<T>(read: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, Fault> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(read) => read.map_err(|error| Fault::Handed(error.to_string())),
        Err(_) => Err(Fault::Handed("handed over an array that makes no sense".to_owned())),
    }
}

fn read_before() -> Fault {
    Fault::Handed("handed over a capsule that was read before".to_owned())
}

/// What a stream says of its last operation.
fn failed(stream: &mut FFI_ArrowArrayStream, code: c_int) -> Fault {
    let said = stream.get_last_error.and_then(|get_last_error| {
        // SAFETY: as for the schema; the text is valid until the next call, and copied before.
        let text =
            unsafe { get_last_error(&raw mut *stream).as_ref().map(|text| CStr::from_ptr(text)) };
        text.map(|text| text.to_string_lossy().into_owned())
    });
    Fault::Failed(said.unwrap_or_else(|| format!("error {code}")))
}

/// Hands an array over.
pub(super) fn exported<'py>(py: Python<'py>, data: &ArrayData) -> PyResult<Pair<'py>> {
    let (array, schema) = to_ffi(data).map_err(super::broken)?;
    Ok((
        PyCapsule::new_with_value(py, schema, SCHEMA)?,
        PyCapsule::new_with_value(py, array, ARRAY)?,
    ))
}

/// Hands a stream over.
pub(super) fn exported_stream(
    py: Python<'_>,
    stream: FFI_ArrowArrayStream,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, stream, STREAM)
}
