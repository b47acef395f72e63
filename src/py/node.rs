//! Python objects walked in place: nothing is converted or copied, only own data is visible.

use std::cell::RefCell;

use pyo3::exceptions::{PyException, PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyIterator, PyString, PyTuple};

use super::kind::{Kind, exact};
use super::scalar::{decimal_number, int_number, text_of, to_python_text, type_name};
use crate::value::text::{code_units, push_code_point};
use crate::value::{MemberName, Node, Number, Read, Scalar, Step, Text, Unreadable, View};

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
    #[expect(clippy::unnecessary_box_returns, reason = "the error of a read is boxed")]
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

impl<'py, 'c> PyNode<'py, 'c> {
    pub(super) fn new(object: Bound<'py, PyAny>, context: &'c Context<'c>) -> Self {
        Self { object, context }
    }

    /// The object itself; of an enum member its value.
    pub(super) fn object(&self) -> PyResult<Bound<'py, PyAny>> {
        match Kind::of(&self.object)? {
            Kind::Member(value) => Self::new(value, self.context).object(),
            _ => Ok(self.object.clone()),
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
        match Kind::of(&self.object)? {
            Kind::Dict(dict) => match dict.get_item(self.key(step)?)? {
                Some(found) => Ok(Some(found)),
                None => Self::split_key(dict, step),
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
            // Asked first, so that a `__missing__` is not run for a key that is not there.
            Kind::Mapping(mapping) => {
                let key = self.key(step)?;
                if mapping.contains(&key)? {
                    missing_is_none(mapping.get_item(key))
                } else {
                    Ok(None)
                }
            }
            Kind::Fields(fields) => fields.get_item(self.key(step)?),
            Kind::Member(value) => self.next(value).child_of(step),
            _ => Ok(None),
        }
    }

    /// A key that is spelled in halves in the dict: the same text, but not the same `str`.
    fn split_key(
        dict: &Bound<'py, PyDict>,
        step: &Step<'_>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if !step.key.iter().any(|byte| *byte >= 0xF0) {
            return Ok(None);
        }
        let mut halves = Vec::with_capacity(step.key.len() * 3 / 2);
        for unit in code_units(step.key) {
            push_code_point(&mut halves, u32::from(unit));
        }
        dict.get_item(to_python_text(dict.py(), &halves)?)
    }

    #[cold]
    fn other_child(&self, step: &Step<'_>) -> Read<Option<Self>> {
        Ok(self.read(self.child_of(step))?.map(|child| self.next(child)))
    }

    fn length_of(&self) -> PyResult<usize> {
        match Kind::of(&self.object)? {
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
        match Kind::of(&self.object)? {
            Kind::List(_) | Kind::Tuple(_) | Kind::Sequence(_) => self.child_of(&step),
            Kind::Member(value) => self.next(value).item_at(index),
            _ => Ok(None),
        }
    }

    fn members_of(&self, limit: usize) -> PyResult<Vec<(MemberName, Self)>> {
        let mut members = Vec::new();
        match Kind::of(&self.object)? {
            // The items of `dict` itself: a subclass may show something else than it holds.
            Kind::Dict(dict) => {
                for pair in dict.items().iter().take(limit) {
                    let pair = pair.cast_into::<PyTuple>()?;
                    members.push((member_name(&pair.get_item(0)?)?, self.next(pair.get_item(1)?)));
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
        Ok(match Kind::of(&self.object)? {
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

    #[inline]
    fn scalar(&self) -> Option<Scalar<'_>> {
        let object = &self.object;
        if let Some(text) = exact::<PyString>(object) {
            return Some(Scalar::Text(text.to_str().ok()?.as_bytes()));
        }
        if let Some(int) = exact::<PyInt>(object) {
            return int.extract().ok().map(Scalar::Int);
        }
        if let Some(float) = exact::<PyFloat>(object) {
            return Some(Scalar::Float(float.value()));
        }
        if object.is_none() {
            return Some(Scalar::Null);
        }
        exact::<PyBool>(object).map(|boolean| Scalar::Boolean(boolean.is_true()))
    }

    #[expect(clippy::inline_always, reason = "PERF: a call for each look-up costs a third of it")]
    #[inline(always)]
    fn child(&self, step: &Step<'_>) -> Read<Option<Self>> {
        // PERF: almost every step is a prepared key into a plain dict that has it.
        if let Some(dict) = exact::<PyDict>(&self.object)
            && let Some(prepared) = step.slot.and_then(|slot| self.context.keys.get(slot))
        {
            match dict.get_item(prepared.bind_borrowed(dict.py())) {
                Ok(Some(found)) => return Ok(Some(self.next(found))),
                Ok(None) => {}
                Err(error) => return self.read(Err(error)),
            }
        }
        self.other_child(step)
    }

    fn length(&self) -> Read<usize> {
        self.read(self.length_of())
    }

    fn any_item(&self, visit: &mut dyn FnMut(Self) -> Read<bool>) -> Read<bool> {
        // The length at the start: a list that grows while it is read still has an end.
        let length = self.length()?;
        if let Ok(Kind::Sequence(sequence)) = Kind::of(&self.object) {
            let items = self.read(sequence.try_iter())?;
            for item in items.take(length) {
                if visit(self.next(self.read(item)?))? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        for index in 0..length {
            let Some(item) = self.read(self.item_at(index))? else { break };
            if visit(self.next(item))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn foreign_key(&self) -> Read<Option<Box<str>>> {
        let named = |(name, _)| match name {
            MemberName::Other(kind) => Some(kind),
            MemberName::Text(_) => None,
        };
        Ok(self.members(usize::MAX)?.into_iter().find_map(named))
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

fn missing_is_none(outcome: PyResult<Bound<'_, PyAny>>) -> PyResult<Option<Bound<'_, PyAny>>> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(error) => Python::attach(|py| {
            let missing =
                error.is_instance_of::<PyKeyError>(py) || error.is_instance_of::<PyIndexError>(py);
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
