//! Python objects walked in place: nothing is converted or copied, only own data is visible.

use std::cell::RefCell;

use pyo3::exceptions::{PyException, PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyIterator, PyList, PyMapping,
    PyMemoryView, PySequence, PyString, PyTuple, PyType,
};

use crate::value::number::Decimal;
use crate::value::text::{code_points, from_points};
use crate::value::{MemberName, Node, Number, Read, Step, Text, Unreadable, View};

/// What one walk needs beside the object: prepared keys, and what must be raised afterwards.
pub(super) struct Context<'k> {
    keys: &'k [Py<PyString>],
    /// An interrupt or exit that came up while reading: never turned into an answer.
    pending: RefCell<Option<PyErr>>,
}

impl<'k> Context<'k> {
    pub(super) fn new(keys: &'k [Py<PyString>]) -> Self {
        Self { keys, pending: RefCell::new(None) }
    }

    /// Raises what was held back.
    pub(super) fn finish(&self) -> PyResult<()> {
        self.pending.borrow_mut().take().map_or(Ok(()), Err)
    }

    /// A raised exception as an answer; what is no `Exception` is held back to be raised.
    fn fault(&self, py: Python<'_>, error: PyErr) -> Box<Unreadable> {
        let reason = describe(py, &error);
        if !error.is_instance_of::<PyException>(py) {
            self.pending.borrow_mut().get_or_insert(error);
        }
        Unreadable::new(reason)
    }
}

/// `TypeName: message`, bounded, whatever the exception does when it is shown.
fn describe(py: Python<'_>, error: &PyErr) -> String {
    let kind = error.get_type(py);
    let kind = kind.name().map_or_else(|_| "exception".to_owned(), |name| name.to_string());
    match error.value(py).str() {
        Ok(text) => {
            let text = text.to_string_lossy().into_owned();
            format!("{kind}: {}", text.chars().take(200).collect::<String>())
        }
        Err(_) => kind,
    }
}

/// A Python object as a node.
#[derive(Clone)]
pub(super) struct PyNode<'py, 'c> {
    object: Bound<'py, PyAny>,
    context: &'c Context<'c>,
}

/// What a Python object is to the grammar. Exact built-in types come first: they are the hot path.
enum Kind<'a, 'py> {
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

impl<'py, 'c> PyNode<'py, 'c> {
    pub(super) fn new(object: Bound<'py, PyAny>, context: &'c Context<'c>) -> Self {
        Self { object, context }
    }

    /// The object itself; of an enum member its value.
    pub(super) fn object(&self) -> PyResult<Bound<'py, PyAny>> {
        match self.kind()? {
            Kind::Member(value) => Self::new(value, self.context).object(),
            _ => Ok(self.object.clone()),
        }
    }

    fn kind(&self) -> PyResult<Kind<'_, 'py>> {
        let object = &self.object;
        if let Ok(text) = object.cast_exact::<PyString>() {
            return Ok(Kind::Text(text));
        }
        if let Ok(dict) = object.cast_exact::<PyDict>() {
            return Ok(Kind::Dict(dict));
        }
        if object.is_exact_instance_of::<PyInt>() {
            return Ok(Kind::Int(object));
        }
        if let Ok(float) = object.cast_exact::<PyFloat>() {
            return Ok(Kind::Float(float.value()));
        }
        if object.is_none() {
            return Ok(Kind::Null);
        }
        if let Ok(boolean) = object.cast_exact::<PyBool>() {
            return Ok(Kind::Boolean(boolean.is_true()));
        }
        if let Ok(list) = object.cast_exact::<PyList>() {
            return Ok(Kind::List(list));
        }
        if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            return Ok(Kind::Tuple(tuple));
        }
        self.foreign_kind()
    }

    /// Subclasses, abstract types, records with fields.
    fn foreign_kind(&self) -> PyResult<Kind<'_, 'py>> {
        let (object, py) = (&self.object, self.object.py());
        if object.is_instance(named_type(py, &ENUM, "enum", "Enum")?)? {
            let value = generic_attribute(object, "_value_")?;
            let nested = value.is_instance(named_type(py, &ENUM, "enum", "Enum")?)?;
            return Ok(if nested { Kind::Opaque } else { Kind::Member(value) });
        }
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Kind::Text(text));
        }
        if object.is_instance_of::<PyInt>() {
            return Ok(Kind::Int(object));
        }
        if let Ok(float) = object.cast::<PyFloat>() {
            return Ok(Kind::Float(float.value()));
        }
        if let Ok(dict) = object.cast::<PyDict>() {
            return Ok(Kind::Dict(dict));
        }
        if let Ok(list) = object.cast::<PyList>() {
            return Ok(Kind::List(list));
        }
        if let Ok(tuple) = object.cast::<PyTuple>() {
            return Ok(Kind::Tuple(tuple));
        }
        if object.is_instance(named_type(py, &DECIMAL, "decimal", "Decimal")?)? {
            return Ok(Kind::Decimal(object));
        }
        if let Some(fields) = fields(object)? {
            return Ok(Kind::Fields(fields));
        }
        if let Ok(mapping) = object.cast::<PyMapping>() {
            return Ok(Kind::Mapping(mapping));
        }
        let bytes_like = object.is_instance_of::<PyBytes>()
            || object.is_instance_of::<PyByteArray>()
            || object.is_instance_of::<PyMemoryView>();
        match object.cast::<PySequence>() {
            Ok(sequence) if !bytes_like => Ok(Kind::Sequence(sequence)),
            _ => Ok(Kind::Opaque),
        }
    }

    fn read<T>(&self, outcome: PyResult<T>) -> Read<T> {
        outcome.map_err(|error| self.context.fault(self.object.py(), error))
    }

    fn next(&self, object: Bound<'py, PyAny>) -> Self {
        Self { object, context: self.context }
    }

    fn key(&self, step: &Step<'_>) -> PyResult<Bound<'py, PyString>> {
        let py = self.object.py();
        match step.slot.and_then(|slot| self.context.keys.get(slot)) {
            Some(prepared) => Ok(prepared.bind(py).clone()),
            None => to_python_text(py, step.key),
        }
    }

    fn child_of(&self, step: &Step<'_>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.kind()? {
            Kind::Dict(dict) => match step.slot.and_then(|slot| self.context.keys.get(slot)) {
                Some(prepared) => dict.get_item(prepared.bind(dict.py())),
                None => dict.get_item(self.key(step)?),
            },
            Kind::List(list) => match step.index {
                Some(index) if index < list.len() => missing_is_none(list.get_item(index)),
                _ => Ok(None),
            },
            Kind::Tuple(tuple) => match step.index {
                Some(index) if index < tuple.len() => missing_is_none(tuple.get_item(index)),
                _ => Ok(None),
            },
            Kind::Sequence(sequence) => match step.index {
                Some(index) if index < sequence.len()? => missing_is_none(sequence.get_item(index)),
                _ => Ok(None),
            },
            Kind::Mapping(mapping) => missing_is_none(mapping.get_item(self.key(step)?)),
            Kind::Fields(fields) => fields.get_item(self.key(step)?),
            Kind::Member(value) => self.next(value).child_of(step),
            _ => Ok(None),
        }
    }

    fn length_of(&self) -> PyResult<usize> {
        match self.kind()? {
            Kind::Dict(dict) => Ok(dict.len()),
            Kind::List(list) => Ok(list.len()),
            Kind::Tuple(tuple) => Ok(tuple.len()),
            Kind::Sequence(sequence) => sequence.len(),
            Kind::Mapping(mapping) => mapping.len(),
            Kind::Fields(fields) => Ok(fields.len()),
            Kind::Member(value) => self.next(value).length_of(),
            _ => Ok(0),
        }
    }

    /// The item at a position; `None` at the end, also when a list shrank meanwhile.
    fn item_at(&self, index: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        let step = Step { key: &[], index: Some(index), slot: None };
        match self.kind()? {
            Kind::List(_) | Kind::Tuple(_) | Kind::Sequence(_) => self.child_of(&step),
            Kind::Member(value) => self.next(value).item_at(index),
            _ => Ok(None),
        }
    }

    fn members_of(&self, limit: usize) -> PyResult<Vec<(MemberName, Self)>> {
        let py = self.object.py();
        let mut members = Vec::new();
        match self.kind()? {
            // The method of `dict` itself: a subclass may show something else than it holds.
            Kind::Dict(dict) => {
                let items = py.get_type::<PyDict>().call_method1("items", (dict,))?;
                for pair in items.try_iter()?.take(limit) {
                    let (key, value): (Bound<'py, PyAny>, Bound<'py, PyAny>) = pair?.extract()?;
                    members.push((member_name(&key)?, self.next(value)));
                }
            }
            Kind::Fields(fields) => {
                for (key, value) in fields.iter().take(limit) {
                    members.push((member_name(&key)?, self.next(value)));
                }
            }
            Kind::Mapping(mapping) => {
                let keys = PyIterator::from_object(mapping.as_any())?;
                for key in keys.take(limit.min(mapping.len()?)) {
                    let key = key?;
                    let value = mapping.get_item(&key)?;
                    members.push((member_name(&key)?, self.next(value)));
                }
            }
            Kind::Member(value) => return self.next(value).members_of(limit),
            _ => {}
        }
        Ok(members)
    }

    fn view_of(&self) -> PyResult<View<'_>> {
        Ok(match self.kind()? {
            Kind::Null => View::Null,
            Kind::Boolean(boolean) => View::Boolean(boolean),
            Kind::Int(int) => View::Number(int_number(int)?),
            Kind::Float(float) => View::Number(Number::Float(float)),
            Kind::Decimal(decimal) => View::Number(decimal_number(decimal)?),
            Kind::Text(text) => View::String(text_of(text)?),
            Kind::List(_) | Kind::Tuple(_) | Kind::Sequence(_) => View::Array,
            Kind::Dict(_) | Kind::Mapping(_) | Kind::Fields(_) => View::Object,
            Kind::Member(value) => owned_view(self.next(value).view_of()?),
            Kind::Opaque => View::Opaque(type_name(&self.object).into()),
        })
    }
}

impl Node for PyNode<'_, '_> {
    fn view(&self) -> Read<View<'_>> {
        self.read(self.view_of())
    }

    fn child(&self, step: &Step<'_>) -> Read<Option<Self>> {
        Ok(self.read(self.child_of(step))?.map(|child| self.next(child)))
    }

    fn length(&self) -> Read<usize> {
        self.read(self.length_of())
    }

    fn any_item(&self, visit: &mut dyn FnMut(Self) -> Read<bool>) -> Read<bool> {
        let mut index = 0;
        while let Some(item) = self.read(self.item_at(index))? {
            if visit(self.next(item))? {
                return Ok(true);
            }
            index += 1;
        }
        Ok(false)
    }

    fn members(&self, limit: usize) -> Read<Vec<(MemberName, Self)>> {
        self.read(self.members_of(limit))
    }
}

/// The text of a view that must outlive the object it was read from.
fn owned_view(view: View<'_>) -> View<'static> {
    match view {
        View::String(text) => View::String(Text::from_generalised(text.as_bytes().to_vec())),
        View::Null => View::Null,
        View::Boolean(boolean) => View::Boolean(boolean),
        View::Number(number) => View::Number(number),
        View::Array => View::Array,
        View::Object => View::Object,
        View::Opaque(name) => View::Opaque(name),
    }
}

static ENUM: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static DECIMAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();

fn named_type<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyType>>,
    module: &str,
    name: &str,
) -> PyResult<&'py Bound<'py, PyType>> {
    cell.import(py, module, name)
}

/// An attribute as plain objects have it: no `__getattr__`, no override.
fn generic_attribute<'py>(
    object: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
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
    for name in names {
        // A field that was deleted or never set is not there.
        if let Ok(value) = generic_attribute(object, &name) {
            values.set_item(name, value)?;
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

fn missing_is_none<'py>(
    outcome: PyResult<Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(error) => Python::attach(|py| {
            let missing = error.is_instance_of::<PyKeyError>(py)
                || error.is_instance_of::<PyIndexError>(py);
            if missing { Ok(None) } else { Err(error) }
        }),
    }
}

fn member_name(key: &Bound<'_, PyAny>) -> PyResult<MemberName> {
    Ok(match key.cast::<PyString>() {
        Ok(text) => MemberName::Text(text_of(text)?.as_bytes().into()),
        Err(_) => MemberName::Other(type_name(key).into()),
    })
}

/// The text of a `str` without a copy where it is well formed, with halves where it is not.
pub(super) fn text_of<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Text<'a>> {
    if let Ok(text) = text.to_str() {
        return Ok(Text::borrowed(text));
    }
    let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
    let bytes: &[u8] = encoded.cast::<PyBytes>()?.as_bytes();
    Ok(Text::from_generalised(from_points(code_points(bytes))))
}

/// A `str` from generalised UTF-8.
pub(super) fn to_python_text<'py>(
    py: Python<'py>,
    text: &[u8],
) -> PyResult<Bound<'py, PyString>> {
    if let Ok(text) = std::str::from_utf8(text) {
        return Ok(PyString::new(py, text));
    }
    let decoded = PyBytes::new(py, text).call_method1("decode", ("utf-8", "surrogatepass"))?;
    Ok(decoded.cast_into::<PyString>()?)
}

fn int_number(int: &Bound<'_, PyAny>) -> PyResult<Number> {
    if let Ok(small) = int.extract::<i64>() {
        return Ok(Number::Int(small));
    }
    // `str(int)` has a length limit and quadratic cost; a `Decimal` of it has neither.
    let decimal = named_type(int.py(), &DECIMAL, "decimal", "Decimal")?.call1((int,))?;
    decimal_number(&decimal)
}

fn decimal_number(decimal: &Bound<'_, PyAny>) -> PyResult<Number> {
    let text = decimal.str()?;
    let text = text.to_str()?;
    if let Some(exact) = Decimal::parse(text) {
        return Ok(Number::Exact(exact));
    }
    let infinite = text.ends_with("Infinity");
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    Ok(Number::Float(if infinite { sign * f64::INFINITY } else { f64::NAN }))
}

/// `module.Name`, without the module where it is built in.
pub(super) fn type_name(object: &Bound<'_, PyAny>) -> String {
    let kind = object.get_type();
    kind.fully_qualified_name()
        .map_or_else(|_| "object".to_owned(), |name| name.to_string_lossy().into_owned())
}
