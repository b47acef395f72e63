//! Many errors in one call: plain records are read in place, answers are kept as they are until
//! somebody looks at one.

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString};

use super::classify::{Answer, Row, row};
use super::kind::exact;
use crate::classify::{Action, Class, NUMBERS, PLAIN, Signals, TEXTS};

/// The answers of a batch, in the order of its records.
#[pyclass(module = "interlock._core", frozen)]
#[derive(Debug)]
pub(super) struct ErrorRows {
    /// None for a line that has none.
    pub(super) answers: Vec<Option<Answer>>,
}

#[pymethods]
impl ErrorRows {
    fn __len__(&self) -> usize {
        self.answers.len()
    }

    /// The answer at a place.
    fn row(&self, place: usize) -> PyResult<Row> {
        let answer = self.answers.get(place).and_then(Option::as_ref);
        answer.map(row).ok_or_else(|| PyIndexError::new_err("no such answer"))
    }

    /// How often each class and action were answered; what never was is left out.
    fn counts(&self) -> Vec<((&'static str, &'static str), usize)> {
        let mut counted: Vec<((Class, Action), usize)> = Vec::new();
        for answer in self.answers.iter().flatten() {
            let outcome = answer.outcome;
            let key = (outcome.class, outcome.action);
            match counted.iter_mut().find(|(known, _)| *known == key) {
                Some((_, count)) => *count += 1,
                None => counted.push((key, 1)),
            }
        }
        counted.into_iter().map(|((class, action), n)| ((class.name(), action.name()), n)).collect()
    }
}

/// Reads records of nothing but the plain signals, each of its own type.
#[derive(Default)]
pub(super) struct Plain<'py> {
    /// Names that were met, with the place of their field, dealt by address: records of one source
    /// share them.
    names: [Option<(Bound<'py, PyString>, usize)>; NAMES],
    numbers: [Option<i64>; NUMBERS],
    texts: [Option<Bound<'py, PyString>>; TEXTS],
}

/// Names that are kept.
const NAMES: usize = 32;

fn place(name: &str) -> Option<usize> {
    PLAIN.iter().find(|(known, _)| *known == name).map(|(_, place)| *place)
}

impl<'py> Plain<'py> {
    /// Hands over the signals of a record; `None` for whatever is not plain, which is read with
    /// every care elsewhere.
    pub(super) fn with<T>(
        &mut self,
        record: &Bound<'py, PyAny>,
        read: impl FnOnce(&Signals<'_>) -> T,
    ) -> Option<T> {
        self.numbers = [None; NUMBERS];
        self.texts = [const { None }; TEXTS];
        let mut seen = 0_u8;
        for (name, value) in exact::<PyDict>(record)? {
            let place = self.place(name)?;
            // A field in both spellings is not plain.
            if seen & (1 << place) != 0 {
                return None;
            }
            seen |= 1 << place;
            if value.is_none() {
                continue;
            }
            match place.checked_sub(self.numbers.len()) {
                None => *self.numbers.get_mut(place)? = Some(whole(&value)?),
                Some(place) => *self.texts.get_mut(place)? = Some(text(value)?),
            }
        }
        self.signals().map(|signals| read(&signals))
    }

    fn place(&mut self, name: Bound<'py, PyAny>) -> Option<usize> {
        let address = name.as_ptr().addr();
        let known = self.names.get_mut((address / 16 + address / 256) % NAMES)?;
        if let Some((known, place)) = known
            && known.is(&name)
        {
            return Some(*place);
        }
        let name = name.cast_into_exact::<PyString>().ok()?;
        let place = place(name.to_str().ok()?)?;
        *known = Some((name, place));
        Some(place)
    }

    fn signals(&self) -> Option<Signals<'_>> {
        let mut texts = [None; TEXTS];
        for (place, text) in texts.iter_mut().zip(&self.texts) {
            if let Some(text) = text {
                *place = Some(text.to_str().ok()?);
            }
        }
        Signals::plain(self.numbers, texts)
    }
}

fn whole(value: &Bound<'_, PyAny>) -> Option<i64> {
    exact::<PyInt>(value)?.extract().ok()
}

fn text(value: Bound<'_, PyAny>) -> Option<Bound<'_, PyString>> {
    value.cast_into_exact::<PyString>().ok()
}
