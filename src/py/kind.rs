//! What a Python object is to the grammar: classified by type, only own data looked at.

use pyo3::PyTypeInfo;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyMemoryView,
    PySequence, PyString, PyTuple, PyType,
};

/// What a Python object is to the grammar. Exact built-in types come first: they are the hot path.
pub(super) enum Kind<'a, 'py> {
    Null,
    Boolean(bool),
    Int(&'a Bound<'py, PyAny>),
    Float(f64),
    Decimal(&'a Bound<'py, PyAny>),
    Text(&'a Bound<'py, PyString>),
    List(&'a Bound<'py, PyList>),
    Tuple(&'a Bound<'py, PyTuple>),
    Sequence(&'a Bound<'py, PySequence>),
    Dict(&'a Bound<'py, PyDict>),
    Mapping(&'a Bound<'py, PyMapping>),
    /// The value of an enum member.
    Member(Bound<'py, PyAny>),
    /// The fields of a dataclass, pydantic model or attrs class.
    Fields(Bound<'py, PyDict>),
    Opaque,
}

impl<'a, 'py> Kind<'a, 'py> {
    pub(super) fn of(object: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        if let Some(text) = exact::<PyString>(object) {
            return Ok(Self::Text(text));
        }
        if let Some(dict) = exact::<PyDict>(object) {
            return Ok(Self::Dict(dict));
        }
        if object.is_exact_instance_of::<PyInt>() {
            return Ok(Self::Int(object));
        }
        if let Some(float) = exact::<PyFloat>(object) {
            return Ok(Self::Float(float.value()));
        }
        if object.is_none() {
            return Ok(Self::Null);
        }
        if let Some(boolean) = exact::<PyBool>(object) {
            return Ok(Self::Boolean(boolean.is_true()));
        }
        if let Some(list) = exact::<PyList>(object) {
            return Ok(Self::List(list));
        }
        if let Some(tuple) = exact::<PyTuple>(object) {
            return Ok(Self::Tuple(tuple));
        }
        Self::foreign(object)
    }

    /// Subclasses, abstract types, records with fields.
    fn foreign(object: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        let py = object.py();
        if object.is_instance(named_type(py, &ENUM, "enum", "Enum")?)? {
            let mut value = generic_attribute(object, "_value_")?;
            // A member of one enum may be the value of another; a few steps are enough for any.
            for _ in 0..8 {
                if !value.is_instance(named_type(py, &ENUM, "enum", "Enum")?)? {
                    return Ok(Self::Member(value));
                }
                value = generic_attribute(&value, "_value_")?;
            }
            return Ok(Self::Opaque);
        }
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Self::Text(text));
        }
        if object.is_instance_of::<PyInt>() {
            return Ok(Self::Int(object));
        }
        if let Ok(float) = object.cast::<PyFloat>() {
            return Ok(Self::Float(float.value()));
        }
        if let Ok(dict) = object.cast::<PyDict>() {
            return Ok(Self::Dict(dict));
        }
        if let Ok(list) = object.cast::<PyList>() {
            return Ok(Self::List(list));
        }
        if let Ok(tuple) = object.cast::<PyTuple>() {
            return Ok(Self::Tuple(tuple));
        }
        if object.is_instance(named_type(py, &DECIMAL, "decimal", "Decimal")?)? {
            return Ok(Self::Decimal(object));
        }
        if let Some(fields) = fields(object)? {
            return Ok(Self::Fields(fields));
        }
        if let Ok(mapping) = object.cast::<PyMapping>() {
            return Ok(Self::Mapping(mapping));
        }
        let bytes_like = object.is_instance_of::<PyBytes>()
            || object.is_instance_of::<PyByteArray>()
            || object.is_instance_of::<PyMemoryView>();
        match object.cast::<PySequence>() {
            Ok(sequence) if !bytes_like => Ok(Self::Sequence(sequence)),
            _ => Ok(Self::Opaque),
        }
    }
}

/// An object of exactly this type. For any other, `cast_exact` would make an error first.
pub(super) fn exact<'a, 'py, T: PyTypeInfo>(
    object: &'a Bound<'py, PyAny>,
) -> Option<&'a Bound<'py, T>> {
    if object.is_exact_instance_of::<T>() { object.cast_exact().ok() } else { None }
}

static SLOT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static ENUM: PyOnceLock<Py<PyType>> = PyOnceLock::new();
pub(super) static DECIMAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();

pub(super) fn named_type<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyType>>,
    module: &str,
    name: &str,
) -> PyResult<&'py Bound<'py, PyType>> {
    cell.import(py, module, name)
}

/// An attribute as plain objects have it: no `__getattr__`, no override.
fn generic_attribute<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let plain = object.py().get_type::<PyAny>();
    plain.call_method1("__getattribute__", (object, name))
}

/// The fields of a dataclass, pydantic model or attrs class with their values.
fn fields<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let (py, kind) = (object.py(), object.get_type());
    let names: Vec<String> = if let Some(fields) = kind.getattr_opt("__pydantic_fields__")? {
        fields.cast::<PyDict>()?.keys().extract()?
    } else if kind.hasattr("__dataclass_fields__")? {
        let fields = py.import("dataclasses")?.call_method1("fields", (object,))?;
        field_names(&fields)?
    } else if let Some(fields) = kind.getattr_opt("__attrs_attrs__")? {
        field_names(&fields)?
    } else {
        return Ok(None);
    };
    let values = PyDict::new(py);
    let own = generic_attribute(object, "__dict__").ok();
    let own = own.as_ref().and_then(|own| own.cast::<PyDict>().ok());
    let slot_type = named_type(py, &SLOT, "types", "MemberDescriptorType")?;
    for name in names {
        if let Some(value) = own.map(|own| own.get_item(&name)).transpose()?.flatten() {
            values.set_item(name, value)?;
        } else if let Some(slot) = kind.getattr_opt(&*name)?
            && slot.is_instance(slot_type)?
        {
            // Data kept in a slot; a property or a method is code and is not run.
            match generic_attribute(object, &name) {
                Ok(value) => values.set_item(name, value)?,
                Err(error) if error.is_instance_of::<PyAttributeError>(py) => {}
                Err(error) => return Err(error),
            }
        }
    }
    if let Ok(extra) = generic_attribute(object, "__pydantic_extra__")
        && let Ok(extra) = extra.cast::<PyDict>()
    {
        values.update(extra.as_mapping())?;
    }
    Ok(Some(values))
}

fn field_names(fields: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    fields.try_iter()?.map(|field| field?.getattr("name")?.extract()).collect()
}
