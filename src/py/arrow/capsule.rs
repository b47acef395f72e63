//! Arrow data handed over in capsules (the Arrow C data interface and its Python protocol).
//!
//! The only file in which memory is trusted to be what somebody says it is: that is what the
//! interface consists of. What can be checked is: the name of a capsule, that it was not read
//! before, lengths; a producer whose numbers make no array is refused.
#![expect(unsafe_code, reason = "the C data interface hands over pointers")]

use std::ffi::{CStr, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, FieldRef, Fields};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use super::sound::{check_array, check_buffers, check_schema};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// Arrays of one type, one after the other.
#[derive(Debug)]
pub(super) struct Source {
    /// As it was told.
    kind: DataType,
    /// As the arrays are read.
    read_as: DataType,
    rest: Rest,
}

#[derive(Debug)]
enum Rest {
    /// One array, until it is given.
    Array(Option<ArrayData>),
    /// A stream, until its end.
    Stream(Option<FFI_ArrowArrayStream>),
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
        let (kind, read_as) = kinds(&schema)?;
        Ok(Self { kind, read_as, rest: Rest::Stream(Some(stream)) })
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
        let (kind, read_as) = kinds(&schema)?;
        let array = imported(array, read_as.clone())?;
        Ok(Self { kind, read_as, rest: Rest::Array(Some(array)) })
    }

    /// The type of the arrays; nulls of no type stand as structs of no fields in them.
    pub(super) fn kind(&self) -> &DataType {
        &self.kind
    }

    /// The next array; nothing more after a fault.
    pub(super) fn next(&mut self) -> Result<Option<ArrayData>, Fault> {
        let stream = match &mut self.rest {
            Rest::Array(array) => return Ok(array.take()),
            Rest::Stream(stream) => stream,
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
        let array = imported(array, self.read_as.clone())?;
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

/// The type that a schema tells, and the one as which arrays of it are read.
fn kinds(schema: &FFI_ArrowSchema) -> Result<(DataType, DataType), Fault> {
    let kind = guarded(|| {
        check_schema(schema)?;
        DataType::try_from(schema)
    })?;
    let read_as = nulls_as_structs(&kind);
    Ok((kind, read_as))
}

/// Has structs of no fields for nulls of no type.
///
/// Such nulls have no buffers, yet some producers (Polars) hand over one for which of them are
/// null, and the library refuses it. A struct of no fields may have it or not, and no other.
fn nulls_as_structs(kind: &DataType) -> DataType {
    let of = |field: &FieldRef| {
        let kind = nulls_as_structs(field.data_type());
        Arc::new(field.as_ref().clone().with_data_type(kind))
    };
    match kind {
        DataType::Null => DataType::Struct(Fields::empty()),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(of).collect()),
        DataType::List(item) => DataType::List(of(item)),
        DataType::LargeList(item) => DataType::LargeList(of(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(of(item), *size),
        DataType::ListView(item) => DataType::ListView(of(item)),
        DataType::LargeListView(item) => DataType::LargeListView(of(item)),
        DataType::Map(entries, sorted) => DataType::Map(of(entries), *sorted),
        DataType::Dictionary(keys, values) => {
            DataType::Dictionary(keys.clone(), Box::new(nulls_as_structs(values)))
        }
        DataType::RunEndEncoded(ends, values) => DataType::RunEndEncoded(ends.clone(), of(values)),
        DataType::Union(fields, mode) => {
            let fields = fields.iter().map(|(id, field)| (id, of(field)));
            DataType::Union(fields.collect(), *mode)
        }
        _ => kind.clone(),
    }
}

fn imported(array: FFI_ArrowArray, kind: DataType) -> Result<ArrayData, Fault> {
    guarded(|| {
        check_array(&array, &kind)?;
        // SAFETY: a producer keeps to the interface: the buffers are as long as type and length
        // say, and these can be.
        let array = unsafe { from_ffi_and_data_type(array, kind) }?;
        check_buffers(&array)?;
        Ok(array)
    })
}

/// What makes no sense is refused, also where the library gives up.
fn guarded<T>(read: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, Fault> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(read) => read.map_err(|error| {
            Fault::Handed(match error {
                ArrowError::CDataInterface(what) => what,
                error => error.to_string(),
            })
        }),
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
